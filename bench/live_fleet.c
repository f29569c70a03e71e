/* SPDX-License-Identifier: BSD-2-Clause */
/* A live fleet in simulated time. */
#include "live_fleet.h"

#include "ballast/live/dispatcher.h"
#include "ballast/live/station.h"
#include "base/event_list.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS UINT64_C(1000000)
enum {
    DISPATCHER_ID = 1,
    STATION_ID = 1000,
    HOSTS_MAX = LIVE_FLEET_SERVERS_MAX + LIVE_FLEET_DISPATCHERS_MAX
};

enum what { ARRIVAL, DATAGRAM, REQUEST, DONE, RESPONSE, PASS };

struct event {
    enum what what;
    uint32_t host;    /* a dispatcher, or behind them a station */
    uint32_t request; /* of REQUEST, DONE and RESPONSE; DATAGRAM: its place among the messages */
    uint32_t next;    /* free one */
};

/* A message under way, to so many receivers. */
struct parcel {
    uint32_t receivers, next; /* next: free one */
    struct bal_message message;
};

struct request {
    uint64_t came, ticket, station_ticket;
    uint32_t dispatcher, server, next;
    bool promised;
    struct bal_message promise;
};

struct fleet {
    uint32_t dispatchers, servers, slots;
    double load, service, delay; /* in nanoseconds */
    bool delays_vary;
    double loss;
    uint64_t now, fleet_fini;
    struct bal_rng rng;
    void *host[HOSTS_MAX], *block[HOSTS_MAX];
    uint64_t pass_at[HOSTS_MAX];
    uint32_t *of_ticket[HOSTS_MAX]; /* the request of each place in the host's ledger */
    struct bli_event_list event_list;
    struct event *event;
    struct request *request;
    struct parcel *parcel;
    uint32_t events, requests, parcels, free_event, free_request, free_parcel;
    uint64_t gap_ns;
    bool timed;
    size_t block_size; /* of a dispatcher */
    /* since the warm-up */
    bool counting;
    uint64_t datagrams, received, answered, arrived, held; /* received: datagrams, by dispatchers */
    double response, processor_ns, clock_ns;
    double *responses; /* each of them */
};

static void *check_memory(void *memory) {
    if (!memory) {
        fprintf(stderr, "a live fleet in simulated time: no memory\n");
        exit(1);
    }
    return memory;
}

/* ---- events and requests ---- */

static struct event *schedule_event(struct fleet *f, double after, struct event event) {
    uint32_t i = f->free_event;
    if (i == BAL_NONE) {
        if ((f->events & (f->events - 1)) == 0)
            f->event = check_memory(realloc(f->event, (f->events ? 2 * f->events : 1) * sizeof *f->event));
        i = f->events++;
    } else {
        f->free_event = f->event[i].next;
    }
    f->event[i] = event;
    if (!bli_event_list_add(&f->event_list, (double)f->now + after, i))
        check_memory(NULL);
    return &f->event[i];
}

/* Of a datagram, or of a request or its response. */
static double draw_delay(struct fleet *f) {
    return f->delays_vary ? bal_rng_exp(&f->rng) * f->delay : f->delay;
}

static bool is_lost(struct fleet *f) {
    return f->loss > 0 && bal_rng_uniform(&f->rng) < f->loss;
}

static uint32_t new_request(struct fleet *f) {
    uint32_t i = f->free_request;
    if (i != BAL_NONE) {
        f->free_request = f->request[i].next;
        return i;
    }
    if ((f->requests & (f->requests - 1)) == 0)
        f->request =
            check_memory(realloc(f->request, (f->requests ? 2 * f->requests : 1) * sizeof *f->request));
    return f->requests++;
}

/* The longest message but for GRANT, which nothing sends here. */
enum { MESSAGE_BYTES = offsetof(struct bal_message, load) + sizeof(struct bal_message_load) };

static uint32_t new_parcel(struct fleet *f, const struct bal_message *message, uint32_t receivers) {
    uint32_t i = f->free_parcel;
    if (i != BAL_NONE) {
        f->free_parcel = f->parcel[i].next;
    } else {
        if ((f->parcels & (f->parcels - 1)) == 0)
            f->parcel =
                check_memory(realloc(f->parcel, (f->parcels ? 2 * f->parcels : 1) * sizeof *f->parcel));
        i = f->parcels++;
    }
    f->parcel[i].receivers = receivers;
    memcpy(&f->parcel[i].message, message, MESSAGE_BYTES);
    return i;
}

static void free_parcel(struct fleet *f, uint32_t i) {
    if (--f->parcel[i].receivers > 0)
        return;
    f->parcel[i].next = f->free_parcel;
    f->free_parcel = i;
}

/* ---- what hosts hand out ---- */

static uint32_t host_of(const struct fleet *f, uint64_t id) {
    return id >= STATION_ID ? f->dispatchers + (uint32_t)(id - STATION_ID) : (uint32_t)(id - DISPATCHER_ID);
}

static void send_messages(struct fleet *f, uint32_t host) {
    const bool dispatcher = host < f->dispatchers;
    uint32_t count;
    const struct bal_message *out = dispatcher ? bal_dispatcher_outgoing(f->host[host], &count)
                                               : bal_station_outgoing(f->host[host], &count);
    for (uint32_t i = 0; i < count; i++) {
        const bool all = out[i].receiver == BAL_EVERYONE;
        const uint32_t first = !all ? host_of(f, out[i].receiver) : dispatcher ? f->dispatchers : 0;
        const uint32_t number = !all ? 1 : dispatcher ? f->servers : f->dispatchers;
        const uint32_t parcel = new_parcel(f, &out[i], number + 1); /* one is ours */
        for (uint32_t k = 0; k < number; k++)
            if (is_lost(f))
                free_parcel(f, parcel);
            else
                schedule_event(f, draw_delay(f),
                               (struct event){.what = DATAGRAM, .host = first + k, .request = parcel});
        free_parcel(f, parcel);
        f->datagrams += f->counting ? number : 0;
        f->received += f->counting && !dispatcher ? number : 0;
    }
}

static void run_timers(struct fleet *f, uint32_t host);

static void send_request(struct fleet *f, uint32_t i, const struct bal_dispatch *to) {
    f->request[i].ticket = to->ticket;
    f->of_ticket[f->request[i].dispatcher][(uint32_t)to->ticket] = i;
    if (to->verdict == BAL_SEND) {
        f->request[i].server = to->server;
        schedule_event(f, draw_delay(f),
                       (struct event){.what = REQUEST, .host = f->dispatchers + to->server, .request = i});
    }
    f->held += f->counting && to->verdict == BAL_WAIT;
}

/* Held requests that have a place now. */
static void read_decisions(struct fleet *f, uint32_t d) {
    struct bal_dispatch to;
    while (bal_dispatcher_next_decision(f->host[d], f->now, &to))
        send_request(f, f->of_ticket[d][(uint32_t)to.ticket], &to);
}

static void read_granted_tasks(struct fleet *f, uint32_t host) {
    struct bal_station_task task;
    while (bal_station_next_decision(f->host[host], f->now, &task))
        schedule_event(
            f, bal_rng_exp(&f->rng) * f->service,
            (struct event){.what = DONE, .host = host, .request = f->of_ticket[host][(uint32_t)task.ticket]});
}

/* After every operation of a host. */
static void flush_host(struct fleet *f, uint32_t host) {
    if (host < f->dispatchers)
        read_decisions(f, host);
    else
        read_granted_tasks(f, host);
    send_messages(f, host);
    run_timers(f, host);
}

/* ---- what happens ---- */

static void run_timers(struct fleet *f, uint32_t host) {
    for (;;) {
        const uint64_t next = host < f->dispatchers ? bal_dispatcher_run_timers(f->host[host], f->now)
                                                    : bal_station_run_timers(f->host[host], f->now);
        if (host < f->dispatchers)
            read_decisions(f, host);
        send_messages(f, host);
        if (next <= f->now)
            continue;
        if (next < f->pass_at[host] || f->pass_at[host] <= f->now) {
            f->pass_at[host] = next;
            if (next != UINT64_MAX)
                schedule_event(f, (double)(next - f->now), (struct event){.what = PASS, .host = host});
        }
        return;
    }
}

static void on_arrival(struct fleet *f, uint32_t d) {
    const double rate = f->load * f->servers * f->slots / f->service / f->dispatchers;
    schedule_event(f, bal_rng_exp(&f->rng) / rate, (struct event){.what = ARRIVAL, .host = d});
    const uint32_t i = new_request(f);
    f->request[i] = (struct request){.came = f->now, .dispatcher = d, .server = BAL_NONE};
    f->arrived += f->counting;
    struct bal_dispatch to;
    bal_dispatcher_arrive(f->host[d], f->now, 0, &to);
    send_request(f, i, &to);
    flush_host(f, d);
}

static void reach_station(struct fleet *f, const struct event *event) {
    struct request *r = &f->request[event->request];
    struct bal_station_task task;
    bal_station_arrive(f->host[event->host], f->now, 0, DISPATCHER_ID + r->dispatcher, false, &task);
    r->station_ticket = task.ticket;
    f->of_ticket[event->host][(uint32_t)task.ticket] = event->request;
    r->promised = false;
    if (task.verdict == BAL_RUN)
        schedule_event(f, bal_rng_exp(&f->rng) * f->service,
                       (struct event){.what = DONE, .host = event->host, .request = event->request});
    flush_host(f, event->host);
}

static void end_service(struct fleet *f, const struct event *event) {
    struct request *r = &f->request[event->request];
    struct bal_station *s = f->host[event->host];
    r->promised = bal_station_piggyback_offer(s, f->now, r->station_ticket, &r->promise);
    bal_station_done(s, f->now, r->station_ticket, false);
    schedule_event(f, draw_delay(f),
                   (struct event){.what = RESPONSE, .host = r->dispatcher, .request = event->request});
    flush_host(f, event->host);
}

static void on_response(struct fleet *f, const struct event *event) {
    struct request *r = &f->request[event->request];
    bal_dispatcher_respond(f->host[event->host], f->now, r->ticket, BAL_OUTCOME_GOOD);
    if (r->promised)
        bal_dispatcher_receive_piggyback(f->host[event->host], f->now, &r->promise);
    if (f->counting) {
        f->responses[f->answered++] = (double)(f->now - r->came);
        f->response += (double)(f->now - r->came);
    }
    *r = (struct request){.dispatcher = BAL_NONE, .server = BAL_NONE, .next = f->free_request};
    f->free_request = event->request;
    flush_host(f, event->host);
}

static void handle_event(struct fleet *f, const struct event *event) {
    switch (event->what) {
    case ARRIVAL:
        on_arrival(f, event->host);
        break;
    case DATAGRAM:
        if (event->host < f->dispatchers)
            bal_dispatcher_receive(f->host[event->host], f->now, &f->parcel[event->request].message);
        else
            bal_station_receive(f->host[event->host], f->now, &f->parcel[event->request].message);
        free_parcel(f, event->request);
        flush_host(f, event->host);
        break;
    case REQUEST:
        reach_station(f, event);
        break;
    case DONE:
        end_service(f, event);
        break;
    case RESPONSE:
        on_response(f, event);
        break;
    case PASS:
        if (f->pass_at[event->host] == f->now)
            run_timers(f, event->host);
        break;
    }
}

static double thread_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* What reading the clock takes, between two readings. */
static double clock_cost(void) {
    enum { READINGS = 10000 };
    const double from = thread_ns();
    for (int i = 0; i < READINGS; i++)
        thread_ns();
    return (thread_ns() - from) / READINGS;
}

static void run_until(struct fleet *f, uint64_t requests) {
    while (f->answered < requests) {
        f->now = (uint64_t)bli_event_list_next_time(&f->event_list);
        const uint32_t i = bli_event_list_pop(&f->event_list);
        const struct event event = f->event[i];
        f->event[i].next = f->free_event;
        f->free_event = i;
        if (f->timed && f->counting && event.host == 0) {
            const double before = thread_ns();
            handle_event(f, &event);
            f->processor_ns += thread_ns() - before - f->clock_ns;
        } else {
            handle_event(f, &event);
        }
    }
}

/* ---- setting up ---- */

static void exit_on_error(enum bal_code code, const struct bal_error *err) {
    if (code) {
        fprintf(stderr, "a live fleet in simulated time: %s\n", err->text);
        exit(1);
    }
}

static void begin_dispatcher(struct fleet *f, uint32_t d, const struct bal_policy_spec *policy,
                             uint64_t seed) {
    struct bal_dispatcher_server *servers = check_memory(calloc(f->servers, sizeof *servers));
    char(*names)[24] = check_memory(calloc(f->servers, sizeof *names));
    struct bal_error err;
    const struct bal_dispatcher_config config = {.servers = f->servers,
                                                 .workers = 1,
                                                 .requests = 1 << 13,
                                                 .held = 1 << 12,
                                                 .hold_ns = 1000000 * MS,
                                                 .stations = true,
                                                 .probe_ns = 10 * MS,
                                                 .grace_ns = 1000 * MS,
                                                 .beat_ns = 100 * MS,
                                                 .gap_ns = f->gap_ns,
                                                 .fleet = 1,
                                                 .id = DISPATCHER_ID + d,
                                                 .boot = 1};
    for (uint32_t i = 0; i < f->servers; i++) {
        snprintf(names[i], sizeof names[i], "10.0.%u.%u:80", i / 256, i % 256);
        servers[i] = (struct bal_dispatcher_server){.name = names[i], .station = STATION_ID + i};
    }
    f->of_ticket[d] = check_memory(calloc(config.requests, sizeof *f->of_ticket[d]));
    exit_on_error(bal_dispatcher_check(policy, &config, &err), &err);
    f->block_size = bal_dispatcher_size(policy, &config);
    f->block[d] = check_memory(aligned_alloc(64, (f->block_size + 63) / 64 * 64));
    bal_dispatcher_create(f->block[d], policy, &config, f->now);
    f->host[d] = check_memory(malloc(bal_dispatcher_view_size(policy, &config)));
    exit_on_error(bal_dispatcher_open(f->host[d], f->block[d], (seed - 1) * 100000 + 1 + d, &err), &err);
    exit_on_error(bal_dispatcher_join(f->host[d], f->now, 1, 1, &err), &err);
    exit_on_error(bal_dispatcher_configure(f->host[d], f->now, servers, f->servers, &err), &err);
    free(servers);
    free(names);
}

static void begin_station(struct fleet *f, uint32_t server, uint64_t seed) {
    uint64_t dispatchers[LIVE_FLEET_DISPATCHERS_MAX];
    struct bal_error err;
    const uint32_t host = f->dispatchers + server;
    const struct bal_station_config config = {.workers = 1,
                                              .slots = f->slots,
                                              .queue = f->servers > 1000 ? 1 << 6 : 1 << 10,
                                              .peers = f->dispatchers,
                                              .beat_ns = 100 * MS,
                                              .fleet = 1,
                                              .id = STATION_ID + server,
                                              .boot = 1};
    for (uint32_t d = 0; d < f->dispatchers; d++)
        dispatchers[d] = DISPATCHER_ID + d;
    f->of_ticket[host] = check_memory(calloc(config.queue + config.slots, sizeof *f->of_ticket[host]));
    exit_on_error(bal_station_check(&config, &err), &err);
    f->block[host] = check_memory(aligned_alloc(64, (bal_station_size(&config) + 63) / 64 * 64));
    bal_station_create(f->block[host], &config, f->now);
    f->host[host] = check_memory(malloc(bal_station_view_size(&config)));
    exit_on_error(bal_station_open(f->host[host], f->block[host], (seed - 1) * 100000 + 1000 + server, &err),
                  &err);
    exit_on_error(bal_station_join(f->host[host], f->now, 1, 1, &err), &err);
    exit_on_error(bal_station_configure(f->host[host], f->now, dispatchers, f->dispatchers, NULL, 0, &err),
                  &err);
}

/* Offers that came with responses, so far. */
static uint64_t piggybacked_offers(const struct fleet *f) {
    uint64_t sum = 0;
    for (uint32_t server = 0; server < f->servers; server++)
        sum += bal_station_counts(f->host[f->dispatchers + server]).piggybacked;
    return sum;
}

static void fleet_init(struct fleet *f, const char *text, uint64_t seed) {
    struct bal_policy_spec policy;
    struct bal_error err;
    exit_on_error(bal_policy_parse(text, &policy, &err), &err);
    bal_rng_init(&f->rng, seed, 0, BAL_STREAM_TEST);
    f->now = MS;
    f->free_event = f->free_request = f->free_parcel = BAL_NONE;
    for (uint32_t d = 0; d < f->dispatchers; d++)
        begin_dispatcher(f, d, &policy, seed);
    for (uint32_t server = 0; server < f->servers; server++)
        begin_station(f, server, seed);
    for (uint32_t host = 0; host < f->dispatchers + f->servers; host++) {
        /* Beats are not all at one time. */
        schedule_event(f, bal_rng_uniform(&f->rng) * 100e6, (struct event){.what = PASS, .host = host});
        f->pass_at[host] = 0;
        flush_host(f, host);
    }
    for (uint32_t d = 0; d < f->dispatchers; d++)
        schedule_event(f, bal_rng_uniform(&f->rng) * f->service, (struct event){.what = ARRIVAL, .host = d});
}

static void fleet_fini(struct fleet *f) {
    for (uint32_t host = 0; host < f->dispatchers + f->servers; host++) {
        free(f->host[host]);
        free(f->block[host]);
        free(f->of_ticket[host]);
    }
    bli_event_list_fini(&f->event_list);
    free(f->event);
    free(f->request);
    free(f->parcel);
    free(f->responses);
    free(f);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct live_fleet_measured live_fleet_measure(const struct live_fleet_setting *setting) {
    struct fleet *f = check_memory(calloc(1, sizeof *f));
    *f = (struct fleet){.dispatchers = setting->dispatchers,
                        .servers = setting->servers,
                        .slots = setting->slots ? setting->slots : 1,
                        .load = setting->load,
                        .service = setting->service_ns,
                        .delay = setting->delay_ns,
                        .delays_vary = setting->delays_vary,
                        .loss = setting->loss,
                        .gap_ns = setting->gap_ns,
                        .timed = setting->timed,
                        .clock_ns = clock_cost()};
    f->responses = check_memory(malloc(setting->requests * sizeof *f->responses));
    fleet_init(f, setting->policy, setting->seed);
    f->counting = true;
    run_until(f, setting->requests / 10);
    const uint64_t piggybacked_before = piggybacked_offers(f);
    f->datagrams = f->received = f->answered = f->arrived = f->held = 0;
    f->response = f->processor_ns = 0;
    const uint64_t began = f->now;
    run_until(f, setting->requests);
    const double answered = (double)f->answered, ns = (double)(f->now - began);
    qsort(f->responses, f->answered, sizeof *f->responses, by_value);
    const struct live_fleet_measured measured = {
        .datagrams = (double)f->datagrams / answered,
        .piggybacked = (double)(piggybacked_offers(f) - piggybacked_before) / answered,
        .mean_ns = f->response / answered,
        .held = (double)f->held / (double)f->arrived,
        .p99_ns = f->responses[f->answered - 1 - f->answered / 100],
        .received = 1e9 * (double)f->received / ns / f->dispatchers,
        .sent = 1e9 * (double)(f->datagrams - f->received) / ns / f->dispatchers,
        .processor = f->processor_ns / ns,
        .block = (double)f->block_size};
    fleet_fini(f);
    return measured;
}
