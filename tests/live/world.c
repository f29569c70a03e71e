/* SPDX-License-Identifier: BSD-2-Clause */
/* Worlds: see world.h.
 *
 *     live-world [--seed N] [--count K] [--trace] [--twice]
 *
 * Runs K worlds from seed N on; N alone is one world, and without either it is 1000. One in which something
 * is wrong is told with its seed, and the end of its history is printed; --seed N --trace prints all of it.
 * --twice runs each world twice and compares the histories byte by byte. */
#include "world.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The storm, then traffic in calm weather, then nothing. */
static const uint64_t storm_ends = 1500 * MS, traffic_ends = 2500 * MS, all_ends = 5000 * MS;

/* ---- time ---- */

static bool sooner(const struct event *a, const struct event *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void world_at(struct world *w, uint64_t time, struct event event) {
    if (w->in_heap == w->heap_room) {
        w->heap_room = w->heap_room ? 2 * w->heap_room : 256;
        w->heap = realloc(w->heap, w->heap_room * sizeof *w->heap);
        if (!w->heap)
            abort();
    }
    event.time = time;
    event.order = w->order++;
    uint32_t i = w->in_heap++;
    for (; i > 0 && sooner(&event, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = event;
}

static struct event take_first(struct world *w) {
    const struct event first = w->heap[0], last = w->heap[--w->in_heap];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= w->in_heap)
            break;
        if (child + 1 < w->in_heap && sooner(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!sooner(&w->heap[child], &last))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return first;
}

bool world_chance(struct world *w, double probability) {
    return probability > 0 && bal_rng_uniform(&w->rng) < probability;
}

uint64_t world_time(struct world *w, uint64_t mean) {
    return (uint64_t)(bal_rng_exp(&w->rng) * (double)mean);
}

/* ---- history ---- */

void world_note(struct world *w, const char *format, ...) {
    if (!w->trace && !w->digest)
        return;
    char line[1024];
    int size = snprintf(line, sizeof line, "%10.6f  ", (double)w->now / 1e9);
    va_list arguments;
    va_start(arguments, format);
    size += vsnprintf(line + size, sizeof line - (size_t)size, format, arguments);
    va_end(arguments);
    for (int i = 0; i < size && i < (int)sizeof line; i++)
        w->digest = (w->digest ^ (uint8_t)line[i]) * UINT64_C(0x100000001b3);
    if (w->trace)
        fprintf(w->trace, "%s\n", line);
}

void world_break(struct world *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->fault, sizeof w->fault, format, arguments);
    va_end(arguments);
    longjmp(w->broken, 1);
}

/* ---- what kind of world it is ---- */

static const struct {
    const char *text;
    double probes; /* for a request; with jsq, of each server */
} policies[] = {
    {"random", 0},
    {"round-robin", 0},
    {"jsq", STATIONS_MAX},
    {"pod:d=2", 2},
    {"jiq:else=hold", 0},
    {"pod-memory:d=1,b=1", 2},
    {"jiq", 0},
    {"jiq:else=least-conn", 0},
    {"pi", 0},
    {"rcpb:c=2,mu=1", 0},
    {"pod-scp", 8},
    {"pod-sep", 8},
    {"pod-ssp", 8},
    {"least-conn", 0},
    {"least-conn:d=2", 0},
    {"lsq", 0},
    {"lsq:p=1,d=2", 2},
    {"ewma", 0},
    {"prequal", 4},
    {"jiq:else=hold", 0},
    {"jiq:else=hold", 0},
};
static const char *const power_policies[] = {"tabs", "tabs:else=least-conn", "tabs:else=hold"};

static void choose_policy(struct world *w) {
    struct bal_error err;
    if (w->single) {
        snprintf(w->policy_text, sizeof w->policy_text, "jiq:else=%s",
                 bal_rng_below(&w->rng, 4) ? "hold" : "least-conn");
        if (bal_policy_parse(w->policy_text, &w->policy, &err))
            world_break(w, "%s", err.text);
        return;
    }
    if (w->keepers && bal_rng_below(&w->rng, 4)) {
        snprintf(w->policy_text, sizeof w->policy_text, "%s", power_policies[bal_rng_below(&w->rng, 3)]);
        if (bal_policy_parse(w->policy_text, &w->policy, &err))
            world_break(w, "%s", err.text);
        return;
    }
    for (;;) {
        const uint32_t i = bal_rng_below(&w->rng, sizeof policies / sizeof *policies);
        snprintf(w->policy_text, sizeof w->policy_text, "%s", policies[i].text);
        w->probes_each = policies[i].probes;
        if (bal_policy_parse(w->policy_text, &w->policy, &err))
            world_break(w, "%s", err.text);
        if (!bal_dispatcher_check(&w->policy, &w->dispatcher_config, &err))
            return;
    }
}

static void choose_weather(struct world *w) {
    w->faultless = bal_rng_below(&w->rng, 8) == 0;
    w->single = !w->faultless && bal_rng_below(&w->rng, 6) == 0;
    w->weather.delay = 200 * US;
    if (w->faultless || w->single)
        return;
    const bool wet = bal_rng_below(&w->rng, 4) > 0, deadly = bal_rng_below(&w->rng, 4) > 0;
    w->weather.loss = wet ? 0.2 * bal_rng_uniform(&w->rng) : 0;
    w->weather.doubling = wet ? 0.1 * bal_rng_uniform(&w->rng) : 0;
    w->weather.damage = wet ? 0.05 * bal_rng_uniform(&w->rng) : 0;
    w->weather.replay = bal_rng_below(&w->rng, 3) == 0 ? 0.05 * bal_rng_uniform(&w->rng) : 0;
    w->look_every = bal_rng_below(&w->rng, 2) ? 10 * MS : 500 * MS;
    w->weather.delay = wet ? (50 + bal_rng_below(&w->rng, 3000)) * US : w->weather.delay;
    w->weather.death = deadly ? 0.005 * bal_rng_uniform(&w->rng) : 0;
    w->weather.fault_every = bal_rng_below(&w->rng, 4) ? (20 + bal_rng_below(&w->rng, 200)) * MS : 0;
}

/* In half of the worlds longer than anything needs to be repaired. */
static uint64_t hold_time(struct world *w) {
    return (bal_rng_below(&w->rng, 2) ? 10 + bal_rng_below(&w->rng, 100) : 1500) * MS;
}

/* Weights and max_conns: of all servers or of none. */
static void choose_limits(struct world *w) {
    const bool weighted = bal_rng_below(&w->rng, 3) == 0, limited = bal_rng_below(&w->rng, 3) == 0;
    for (uint32_t i = 0; i < w->servers; i++) {
        w->weight[i] = weighted ? 1 + bal_rng_below(&w->rng, 4) : 0;
        w->most[i] = limited ? 1 + bal_rng_below(&w->rng, 2 * w->slots) : 0;
    }
}

/* In half of the worlds, classes have limits and times of their own. */
static void choose_class_limits(struct world *w) {
    if (w->single || bal_rng_below(&w->rng, 2))
        return;
    w->station_config.queue_ns = bal_rng_below(&w->rng, 2) ? hold_time(w) : 0;
    for (uint32_t rank = 0; rank < w->classes; rank++) {
        const struct bal_class_limit limit = {bal_rng_below(&w->rng, 8), hold_time(w)}, none = {0};
        w->dispatcher_config.class_limit[rank] = bal_rng_below(&w->rng, 2) ? limit : none;
        w->station_config.class_limit[rank] = bal_rng_below(&w->rng, 2) ? limit : none;
    }
}

static void choose_fleet(struct world *w) {
    static const char *const steals[] = {"none", "half", "one", "log2"};
    w->stations = bal_rng_below(&w->rng, 4) > 0 || w->single;
    w->keepers = w->stations && !w->single && bal_rng_below(&w->rng, 3) == 0;
    w->dispatchers = w->stations ? 1 + bal_rng_below(&w->rng, DISPATCHERS_MAX) : 1;
    w->dispatchers += w->single && w->dispatchers == 1;
    w->servers = 1 + bal_rng_below(&w->rng, STATIONS_MAX);
    w->hosts = w->dispatchers + w->servers;
    w->slots = 1 + bal_rng_below(&w->rng, 3);
    w->classes = 1 + bal_rng_below(&w->rng, 3);
    w->gap = (uint64_t)(4e6 / (w->servers * w->slots * (0.3 + bal_rng_uniform(&w->rng))));
    w->dispatcher_config =
        (struct bal_dispatcher_config){.servers = w->servers + 1,
                                       .workers = 2 * WORKERS_MAX,
                                       .requests = 64,
                                       .classes = w->classes,
                                       .slots = w->slots,
                                       .held = bal_rng_below(&w->rng, 40),
                                       .hold_ns = hold_time(w),
                                       .refuse_beyond = bal_rng_below(&w->rng, 2),
                                       .backed = bal_rng_below(&w->rng, 2),
                                       .failures = 3 * bal_rng_below(&w->rng, 2),
                                       .back_off_ns = bal_rng_below(&w->rng, 2) ? MS : 5 * MS,
                                       .stations = w->stations,
                                       .probe_ns = (bal_rng_below(&w->rng, 4) ? 5 : 50) * MS,
                                       .grace_ns = 100 * MS,
                                       .beat_ns = BEAT,
                                       .gap_ns = w->gap % 3 * BEAT / 2,
                                       .fleet = FLEET,
                                       .id = 1,
                                       .boot = 1};
    if (w->single) {
        w->dispatcher_config.held = 40;
        w->dispatcher_config.hold_ns = 1500 * MS;
        w->dispatcher_config.backed = false;
    }
    choose_limits(w);
    w->two_keys = bal_rng_below(&w->rng, 3) == 0;
    w->tries = 1 + bal_rng_below(&w->rng, 2 * BAL_TRIES_MAX);
    w->max_fails = bal_rng_below(&w->rng, 4);
    w->fail_ns = (bal_rng_below(&w->rng, 4) ? 5 + bal_rng_below(&w->rng, 50) : 2000) * MS; /* nginx: 10 s */
    choose_policy(w);
    w->station_config = (struct bal_station_config){.workers = 2 * WORKERS_MAX,
                                                    .slots = w->slots,
                                                    .queue = 2 + bal_rng_below(&w->rng, 20),
                                                    .classes = w->classes,
                                                    .peers = DISPATCHERS_MAX + STATIONS_MAX,
                                                    .beat_ns = BEAT,
                                                    .steal_ns = 10 * MS,
                                                    .fleet = FLEET,
                                                    .id = 1,
                                                    .boot = 1};
    /* Only a policy that knows of power may let its servers rest. */
    if (w->keepers && w->policy.policy->wants & BAL_WANTS_POWER)
        w->station_config.standby_ns = (20 + bal_rng_below(&w->rng, 200)) * MS;
    if (w->policy.policy->wants & BAL_WANTS_STILL_IDLE)
        w->station_config.offer_ns = 4 * MS;
    bal_steal_parse(steals[bal_rng_below(&w->rng, 4)], &w->station_config.steal, NULL);
    choose_class_limits(w);
    w->found = w->seed % 5 == 2 && !w->single;
    w->station_config.min_slots = w->found;
    w->dispatcher_config.min_slots = w->found && !w->stations;
    w->dispatcher_view = bal_dispatcher_view_size(&w->policy, &w->dispatcher_config);
    for (uint32_t i = 0; i < w->servers; i++)
        w->app[i] = (struct app){.up = !w->keepers, .slow = 1};
}

/* ---- joins ---- */

struct bal_address world_address(uint32_t host) {
    return (struct bal_address){4, 8080, 0, 0x0a000001 + host};
}

uint32_t world_server_of(const struct world *w, const char *name) {
    unsigned host;
    if (sscanf(name, "10.0.0.%u:", &host) == 1)
        return host - 1 - w->dispatchers;
    return (uint32_t)(name[strlen("server")] - '0');
}

/* In half of the worlds with stations no list names the dispatchers, or none names the servers. No random
 * number is drawn for it: other worlds stay what they are. */
static void choose_joins(struct world *w) {
    w->joins = w->stations && !w->single && w->seed % 4 < 2;
    w->servers_join = w->joins && w->seed % 4 == 0;
    const struct bal_join_config join = {.most = w->servers_join ? w->servers : w->dispatchers,
                                         .ranges = 1,
                                         .range = {{{4, 0, 0, 0x0a000000}, 24}},
                                         .silent_ns = 15 * BEAT};
    if (w->servers_join)
        w->dispatcher_config.join = join;
    else if (w->joins)
        w->station_config.join = join;
    for (uint32_t i = 0; w->servers_join && i < w->servers; i++)
        w->weight[i] = w->most[i] = 0;
}

/* ---- the course of a world ---- */

static void happen(struct world *w, const struct event *event) {
    struct host *h = &w->host[event->host];
    switch (event->what) {
    case DATAGRAM:
        world_deliver(w, event);
        break;
    case PASS:
    case REAP:
    case RESPAWN:
    case RESTART:
        host_on(w, event);
        break;
    case NEWS:
        if (host_find(h, event->pid) != NOBODY)
            request_news(w, h, host_find(h, event->pid));
        break;
    case FAULT:
    case HEAL:
        fault_on(w, event);
        break;
    case HOOK:
    case KEEP:
        power_on(w, event);
        break;
    default:
        request_on(w, event);
    }
}

static void run_until(struct world *w, uint64_t time) {
    while (w->in_heap && w->heap[0].time <= time) {
        const struct event event = take_first(w);
        w->now = event.time;
        happen(w, &event);
    }
    w->now = time;
}

/* Of fleets without stations. What least-conn compares is checked after a decision, which may open servers
 * that start slowly, so those start at once. */
static void choose_checks(struct world *w) {
    w->checked = !w->stations && w->seed % 3 > 0;
    w->slow_start_ns =
        !w->stations && w->seed % 2 && strcmp(w->policy_text, "least-conn") != 0 ? 100 * MS : 0;
}

static void run(struct world *w) {
    const struct weather calm = {.delay = 200 * US};
    w->storm = w->arrivals = true;
    choose_weather(w);
    choose_fleet(w);
    choose_checks(w);
    choose_joins(w);
    world_note(w, "%s; %u dispatchers, %u servers with%s stations%s, %s%u slots, %u classes, max_fails %u%s",
               w->policy_text, w->dispatchers, w->servers, w->stations ? "" : "out",
               w->keepers ? " and keepers" : "", w->found ? "up to " : "", w->slots, w->classes, w->max_fails,
               w->dispatcher_config.refuse_beyond ? ", refuses" : "");
    for (uint32_t i = 0; i < w->hosts; i++)
        host_begin(w, i);
    world_at(w, MS, (struct event){.what = ARRIVE});
    if (w->weather.fault_every)
        world_at(w, world_time(w, w->weather.fault_every), (struct event){.what = FAULT});
    if (w->single) {
        run_until(w, (200 + bal_rng_below(&w->rng, 300)) * MS);
        fault_single(w);
    }
    run_until(w, storm_ends);
    world_note(w, "the storm ends");
    w->storm = false;
    w->weather = calm;
    fault_heal_all(w);
    w->gap = 4 * w->gap;
    run_until(w, traffic_ends);
    world_note(w, "the traffic ends");
    w->arrivals = false;
    run_until(w, all_ends);
    check_end(w);
}

struct result {
    bool wrong;
    uint64_t time, digest, steps, requests;
    char fault[256];
};

static struct result try(uint64_t seed, FILE *trace, bool digested) {
    struct world *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    w->seed = seed;
    w->trace = trace;
    w->digest = digested ? 1 : 0;
    w->free_datagram = NOBODY;
    bal_rng_init(&w->rng, seed, 0, BAL_STREAM_TEST);
    for (size_t i = 0; i < sizeof w->key.bytes; i++)
        w->key.bytes[i] = (uint8_t)bal_rng_next(&w->rng);
    w->other_key = w->second_key = w->key;
    w->other_key.bytes[0] ^= 1;
    w->second_key.bytes[0] ^= 2;
    if (setjmp(w->broken) == 0)
        run(w);
    struct result result = {.wrong = w->fault[0] != '\0',
                            .time = w->now,
                            .digest = w->digest,
                            .steps = w->steps,
                            .requests = w->requests};
    memcpy(result.fault, w->fault, sizeof result.fault);
    for (uint32_t i = 0; i < w->hosts; i++)
        host_end(&w->host[i]);
    free(w->request);
    free(w->heap);
    free(w->datagram);
    free(w);
    return result;
}

/* ---- telling it ---- */

/* The last lines of the history of a world. */
static void print_end(uint64_t seed) {
    enum { LINES = 60, WIDTH = 1024 };
    static char last[LINES][WIDTH];
    FILE *history = tmpfile();
    if (!history)
        return;
    try(seed, history, false);
    rewind(history);
    unsigned count = 0;
    while (fgets(last[count % LINES], WIDTH, history))
        count++;
    for (unsigned i = count > LINES ? count - LINES : 0; i < count; i++)
        fputs(last[i % LINES], stdout);
    fclose(history);
}

/* A world takes some hundredths of a second of processor time. One that takes so many seconds of it does not
 * end: an operation of the core does not return. */
enum { TOO_LONG = 20 };
static char complaint[64];

static void give_up(int number) {
    (void)number;
    _exit(write(STDOUT_FILENO, complaint, strlen(complaint)) > 0 ? 1 : 3);
}

static void limit_time(uint64_t seed) {
    const struct itimerval limit = {.it_value = {.tv_sec = TOO_LONG}};
    snprintf(complaint, sizeof complaint, "seed %" PRIu64 ": does not end\n", seed);
    signal(SIGVTALRM, give_up);
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static bool is_right(uint64_t seed, bool twice, uint64_t *steps, uint64_t *requests) {
    limit_time(seed);
    const struct result result = try(seed, NULL, twice);
    *steps += result.steps;
    *requests += result.requests;
    if (result.wrong) {
        print_end(seed);
        printf("seed %" PRIu64 ", at %.6f s: %s\n", seed, (double)result.time / 1e9, result.fault);
        printf("the whole history: build/tests/live-world --seed %" PRIu64 " --trace\n", seed);
        return false;
    }
    if (twice && try(seed, NULL, true).digest != result.digest) {
        printf("seed %" PRIu64 ": two runs have different histories\n", seed);
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    uint64_t seed = 0, count = 0, steps = 0, requests = 0, wrong = 0;
    bool trace = false, twice = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0)
            trace = true;
        else if (strcmp(argv[i], "--twice") == 0)
            twice = true;
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--count") == 0 && i + 1 < argc)
            count = strtoull(argv[++i], NULL, 10);
        else {
            fprintf(stderr, "live-world: '%s': use --seed N, --count K, --trace or --twice\n", argv[i]);
            return 2;
        }
    }
    count = count ? count : seed ? 1 : 1000;
    seed = seed ? seed : 1;
    if (trace) {
        const struct result result = try(seed, stdout, false);
        printf("%s\n", result.wrong ? result.fault : "nothing is wrong");
        return result.wrong;
    }
    for (uint64_t i = 0; i < count && wrong < 10; i++) {
        wrong += !is_right(seed + i, twice, &steps, &requests);
        if (isatty(STDERR_FILENO) && (i + 1) % 100 == 0)
            fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " worlds", i + 1, count);
    }
    if (isatty(STDERR_FILENO) && count >= 100)
        fputc('\n', stderr);
    printf("%" PRIu64 " worlds from seed %" PRIu64 ", %" PRIu64 " requests, %" PRIu64 " operations: %" PRIu64
           " wrong\n",
           count, seed, requests, steps, wrong);
    return wrong > 0;
}
