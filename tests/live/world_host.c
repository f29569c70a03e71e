/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines and their processes: they share a block, die with the lock in their hand or without, are reaped
 * and begun again. A machine that crashes loses the block; a process that dies does not. */
#include "world.h"
#include "world_inside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REAP_EVERY = 20, RESPAWN_AFTER = 10 }; /* ms */

static bool is_dispatcher(const struct host *h) {
    return h->kind == DISPATCHER_HOST;
}

/* Plain servers have no station, and so no processes of ours. */
static bool has_processes(const struct world *w, const struct host *h) {
    return is_dispatcher(h) || w->stations;
}

uint32_t host_find(const struct host *h, uint64_t pid) {
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        if (h->worker[i].alive && h->worker[i].pid == pid)
            return i;
    return NOBODY;
}

uint32_t host_any(struct world *w, struct host *h) {
    uint32_t found = NOBODY, seen = 0;
    for (uint32_t i = 0; h->up && i < WORKERS_MAX; i++)
        if (h->worker[i].alive && !h->worker[i].retiring && bal_rng_below(&w->rng, ++seen) == 0)
            found = i;
    return found;
}

static uint32_t host_active(const struct host *h) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        count += h->worker[i].alive && !h->worker[i].retiring;
    return count;
}

/* ---- operations ---- */

void op_begin(struct world *w, struct host *h) {
    h->doomed = w->storm && world_chance(w, w->weather.death);
    if (h->doomed)
        memcpy(h->before, h->block, h->block_size);
    twin_begin(w, h);
}

/* Sends what was said, wakes who is to be woken, and sees to it that time passes. */
static void hand_out(struct world *w, struct host *h, uint32_t worker) {
    void *view = h->worker[worker].view;
    uint32_t count, owner;
    const struct bal_message *out =
        is_dispatcher(h) ? bal_dispatcher_outgoing(view, &count) : bal_station_outgoing(view, &count);
    for (uint32_t i = 0; i < count; i++)
        world_post(w, h, &out[i]);
    while ((owner = is_dispatcher(h) ? bal_dispatcher_next_to_wake(view) : bal_station_next_to_wake(view)) !=
           NOBODY) {
        uint64_t pid, start;
        if (is_dispatcher(h) ? bal_dispatcher_worker(view, owner, &pid, &start)
                             : bal_station_worker(view, owner, &pid, &start)) {
            world_at(w, w->now + bal_rng_below(&w->rng, 50) * US,
                     (struct event){.what = NEWS, .host = number_of(w, h), .pid = pid});
            if (host_find(h, pid) != NOBODY)
                h->worker[host_find(h, pid)].news_due = true;
        }
    }
}

bool op_end(struct world *w, struct host *h, uint32_t worker) {
    w->steps++;
    if (h->doomed) {
        world_note(w, "host %u: process %" PRIu64 " dies with the lock in its hand", number_of(w, h),
                   h->worker[worker].pid);
        if (is_dispatcher(h))
            inside_tear_dispatcher(h->worker[worker].view, h->before, &w->rng);
        else
            inside_tear_station(h->worker[worker].view, h->before, &w->rng);
        h->torn = true;
        twin_torn(h, worker);
        host_kill(w, h, worker);
        return false;
    }
    hand_out(w, h, worker);
    check_host(w, h);
    twin_check(w, h);
    return true;
}

/* ---- processes ---- */

/* What a machine is configured with: all servers, but for the one that is left out for now. */
void host_configure(struct world *w, struct host *h, uint32_t worker) {
    struct bal_error err;
    void *view = h->worker[worker].view;
    enum bal_code code;
    op_begin(w, h);
    if (is_dispatcher(h)) {
        struct bal_dispatcher_server servers[STATIONS_MAX];
        char names[STATIONS_MAX][16];
        uint32_t count = 0;
        for (uint32_t i = 0; i < w->servers; i++) {
            if (i == h->left_out || w->servers_join)
                continue;
            snprintf(names[i], sizeof names[i], "server%u", i % 100);
            servers[count++] = (struct bal_dispatcher_server){.name = names[i],
                                                              .station = station_host(w, i)->id,
                                                              .weight = w->weight[i],
                                                              .max_conns = w->most[i],
                                                              .max_fails = w->max_fails,
                                                              .fail_ns = w->fail_ns};
        }
        code = bal_dispatcher_configure(view, host_now(w, h), servers, count, &err);
        h->absent = w->servers_join ? NOBODY : h->left_out;
        bal_dispatcher_configure_slow_start(view, host_now(w, h), w->slow_start_ns);
        if (w->checked)
            bal_dispatcher_configure_checks(view, host_now(w, h),
                                            &(struct bal_check_config){.interval_ns = 20 * MS,
                                                                       .timeout_ns = 10 * MS,
                                                                       .rises = 1,
                                                                       .falls = CHECK_FALLS,
                                                                       .mandatory = w->seed % 5 == 0});
    } else {
        uint64_t dispatchers[DISPATCHERS_MAX], stations[STATIONS_MAX];
        uint32_t others = 0;
        for (uint32_t i = 0; i < w->dispatchers; i++)
            dispatchers[i] = w->host[i].id;
        for (uint32_t i = 0; i < w->servers; i++)
            if (i != h->index)
                stations[others++] = station_host(w, i)->id;
        code =
            bal_station_configure(view, host_now(w, h), dispatchers,
                                  w->joins && !w->servers_join ? 0 : w->dispatchers, stations, others, &err);
    }
    if (code)
        world_break(w, "host %u cannot be configured: %s", number_of(w, h), err.text);
    if (op_end(w, h, worker))
        twin_configured(w, h);
}

static void *new_view(const struct world *w, const struct host *h) {
    void *view = malloc(is_dispatcher(h) ? w->dispatcher_view : bal_station_view_size(&w->station_config));
    if (!view)
        abort();
    return view;
}

/* One more process, if there is room: else it is tried again later, when the dead have been reaped. */
static bool spawn(struct world *w, struct host *h) {
    uint32_t i = 0;
    while (i < WORKERS_MAX && h->worker[i].alive)
        i++;
    if (i == WORKERS_MAX)
        return false;
    struct worker *worker = &h->worker[i];
    free(worker->view);
    *worker = (struct worker){.alive = true, .pid = ++w->pids, .view = new_view(w, h)};
    const uint64_t seed = bal_rng_next(&w->rng);
    if (is_dispatcher(h) ? bal_dispatcher_open(worker->view, h->block, seed, NULL)
                         : bal_station_open(worker->view, h->block, seed, NULL))
        world_break(w, "host %u: a process cannot open the block", number_of(w, h));
    twin_begin(w, h);
    const uint64_t now = host_now(w, h);
    const enum bal_code code = is_dispatcher(h) ? bal_dispatcher_join(worker->view, now, worker->pid, 1, NULL)
                                                : bal_station_join(worker->view, now, worker->pid, 1, NULL);
    hand_out(w, h, i); /* it may have found an operation that was not finished */
    if (code) {
        worker->alive = false;
        return false;
    }
    world_note(w, "host %u: process %" PRIu64 " begins", number_of(w, h), worker->pid);
    host_configure(w, h, i);
    return true;
}

static void later(struct world *w, struct host *h, enum what what, uint64_t after) {
    world_at(w, w->now + after, (struct event){.what = what, .host = number_of(w, h), .number = h->boot});
}

static void for_each_leg(struct world *w, const struct host *h, uint64_t pid,
                         void (*what)(struct world *w, uint32_t request, uint32_t leg)) {
    for (uint32_t i = 0; i < w->requests; i++)
        for (uint32_t k = 0; k < LEGS; k++) {
            const struct leg *leg = &w->request[i].leg[k];
            if (leg->state != LEG_NONE && leg->state != LEG_OVER && leg->state != LEG_ON_WAY &&
                leg->host == number_of(w, h) && leg->pid == pid)
                what(w, i, k);
        }
}

void host_spend(struct host *h, uint64_t pid, uint64_t ticket) {
    h->spent[h->spent_count++ % SPENT] = (struct spent){ticket, pid};
}

void host_kill(struct world *w, struct host *h, uint32_t worker) {
    h->worker[worker].alive = false;
    world_note(w, "host %u: process %" PRIu64 " is dead", number_of(w, h), h->worker[worker].pid);
    for_each_leg(w, h, h->worker[worker].pid, request_leg_dies);
    later(w, h, RESPAWN, RESPAWN_AFTER * MS);
}

/* The block is new; its knowledge is gone. */
static void boot(struct world *w, struct host *h) {
    h->up = true;
    h->torn = h->deafened = false;
    h->reshaped = h->left_out != NOBODY || w->servers_join;
    memset(h->closing, 0, sizeof h->closing);
    world_note(w, "host %u begins, boot %" PRIu64, number_of(w, h), h->boot);
    if (!has_processes(w, h))
        return;
    if (is_dispatcher(h)) {
        struct bal_dispatcher_config config = w->dispatcher_config;
        config.id = h->id;
        config.boot = h->boot;
        if (w->joins)
            config.join.own = world_address(number_of(w, h));
        bal_dispatcher_create(h->block, &w->policy, &config, host_now(w, h));
    } else {
        struct bal_station_config config = w->station_config;
        config.id = h->id;
        config.boot = h->boot;
        if (w->joins)
            config.join.own = world_address(number_of(w, h));
        config.keeper = w->keepers ? KEEPER_ID + h->index : 0;
        bal_station_create(h->block, &config, host_now(w, h));
    }
    twin_boot(w, h);
    host_set_key(w, h, h->wrong_key);
    later(w, h, RESPAWN, 0);
    later(w, h, REAP, REAP_EVERY * MS);
    h->pass_at = w->now;
    later(w, h, PASS, 0);
    if (w->keepers && h->kind == STATION_HOST)
        power_boot(w, h->index);
}

void host_set_key(struct world *w, struct host *h, bool wrong) {
    h->wrong_key = wrong;
    const struct bal_keys keys = {h->swapped ? w->second_key : w->key, h->swapped ? w->key : w->second_key};
    if (wrong || !w->two_keys)
        bal_receiver_init(&h->ear, FLEET, h->id, wrong ? &w->other_key : &w->key);
    else
        bal_receiver_init_keys(&h->ear, FLEET, h->id, &keys);
}

void host_return(struct world *w, struct host *h) {
    if (h->vanished)
        later(w, h, RESTART, 0);
    h->vanished = false;
}

void host_crash(struct world *w, struct host *h) {
    if (!h->up)
        return;
    world_note(w, "host %u crashes", number_of(w, h));
    h->up = false;
    check_before_crash(w, h);
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        if (h->worker[i].alive) {
            h->worker[i].alive = false;
            for_each_leg(w, h, h->worker[i].pid, request_leg_dies);
        }
    if (h->kind == STATION_HOST)
        request_app_dies(w, h->index);
    h->boot = bal_rng_next(&w->rng) | 1;
    if (!h->vanished)
        later(w, h, RESTART, 10 * MS + world_time(w, 100 * MS));
}

/* Some of those that retire say that they check no more; of others it shows. */
static void release_checks(struct world *w, struct host *h) {
    for (uint32_t i = 0; w->checked && is_dispatcher(h) && i < WORKERS_MAX; i++) {
        if (!h->worker[i].alive || h->worker[i].retiring || world_chance(w, 0.5))
            continue;
        op_begin(w, h);
        bal_dispatcher_release_checks(h->worker[i].view, host_now(w, h));
        op_end(w, h, i);
    }
}

/* New processes take over; the old ones finish what they have. */
void host_reload(struct world *w, struct host *h) {
    if (!h->up || !has_processes(w, h) || host_active(h) == 0)
        return;
    world_note(w, "host %u reloads", number_of(w, h));
    release_checks(w, h);
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        h->worker[i].retiring = h->worker[i].alive;
    for (uint32_t i = 0; i < h->workers; i++)
        if (!spawn(w, h))
            later(w, h, RESPAWN, RESPAWN_AFTER * MS);
}

static bool has_legs(const struct world *w, const struct host *h, uint64_t pid) {
    for (uint32_t i = 0; i < w->requests; i++)
        for (uint32_t k = 0; k < LEGS; k++) {
            const struct leg *leg = &w->request[i].leg[k];
            if (leg->state != LEG_NONE && leg->state != LEG_OVER && leg->state != LEG_ON_WAY &&
                leg->host == number_of(w, h) && leg->pid == pid)
                return true;
        }
    return false;
}

/* Processes that have finished what they had leave. */
static void retire(struct world *w, struct host *h) {
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        struct worker *worker = &h->worker[i];
        if (!worker->alive || !worker->retiring || has_legs(w, h, worker->pid))
            continue;
        world_note(w, "host %u: process %" PRIu64 " leaves", number_of(w, h), worker->pid);
        op_begin(w, h);
        h->doomed = false;
        if (is_dispatcher(h))
            bal_dispatcher_leave(worker->view, host_now(w, h));
        else
            bal_station_leave(worker->view, host_now(w, h));
        op_end(w, h, i);
        worker->alive = false;
    }
}

/* Somebody looks who of those that take part is dead. */
static void reap(struct world *w, struct host *h) {
    later(w, h, REAP, REAP_EVERY * MS);
    retire(w, h);
    for (uint32_t i = 0; i < 2 * WORKERS_MAX; i++) {
        const uint32_t worker = host_any(w, h);
        uint64_t pid, start;
        if (worker == NOBODY)
            return;
        void *view = h->worker[worker].view;
        if (!(is_dispatcher(h) ? bal_dispatcher_worker(view, i, &pid, &start)
                               : bal_station_worker(view, i, &pid, &start)) ||
            host_find(h, pid) != NOBODY)
            continue;
        world_note(w, "host %u: process %" PRIu64 " is reaped", number_of(w, h), pid);
        op_begin(w, h);
        if (is_dispatcher(h))
            bal_dispatcher_reap(view, host_now(w, h), i);
        else
            bal_station_reap(view, host_now(w, h), i);
        if (!op_end(w, h, worker))
            return;
    }
    check_counts(w, h);
}

static void respawn(struct world *w, struct host *h) {
    while (h->up && host_active(h) < h->workers)
        if (!spawn(w, h)) {
            later(w, h, RESPAWN, RESPAWN_AFTER * MS);
            return;
        }
}

/* Checks that are due are made at once: they pass where the app is up and well, are lost now and then, and
 * lie during the storm. */
static void check_server(struct world *w, struct host *h, struct bal_dispatcher *d,
                         const struct bal_check_order *order) {
    const uint32_t server = world_server_of(w, bal_dispatcher_server(d, order->server).name);
    const struct app *app = &w->app[server];
    const bool well = app->up && !app->hangs && !(w->storm && world_chance(w, 0.2));
    if (w->storm && !world_chance(w, 0.9))
        return;
    bal_dispatcher_finish_check(d, host_now(w, h), order->ticket,
                                well ? BAL_CHECK_PASSED : BAL_CHECK_REFUSED);
    check_checked(w, h, server, well);
}

/* All processes ask what they are to check. Returns when the next check is due, by the clock of the host. */
static uint64_t check_servers(struct world *w, struct host *h) {
    uint64_t due = UINT64_MAX;
    for (uint32_t i = 0; w->checked && i < WORKERS_MAX; i++) {
        struct bal_dispatcher *d = h->worker[i].view;
        struct bal_check_order order;
        if (!h->worker[i].alive || h->worker[i].retiring)
            continue;
        op_begin(w, h);
        while (bal_dispatcher_next_check(d, host_now(w, h), &order))
            check_server(w, h, d, &order);
        const uint64_t own = bal_dispatcher_check_due(d);
        if (op_end(w, h, i) && own < due)
            due = own;
    }
    return due;
}

/* Processes that check ask four times a second at least. */
static uint64_t longest_pause(const struct world *w) {
    const uint64_t most = w->look_every ? w->look_every : 10 * MS;
    return w->checked && most > 250 * MS ? 250 * MS : most;
}

static void pass(struct world *w, struct host *h) {
    uint64_t next = w->now + MS;
    twin_try_spent(w, h);
    const uint32_t worker = host_any(w, h);
    if (worker != NOBODY) {
        void *view = h->worker[worker].view;
        const uint64_t now = host_now(w, h);
        op_begin(w, h);
        uint64_t asked =
            is_dispatcher(h) ? bal_dispatcher_run_timers(view, now) : bal_station_run_timers(view, now);
        if (op_end(w, h, worker)) {
            const uint64_t most = longest_pause(w);
            check_ages(w, h);
            if (is_dispatcher(h)) {
                check_conservation(w, h);
                const uint64_t due = check_servers(w, h);
                asked = due < asked ? due : asked;
            }
            next = w->now + (asked <= now ? 1 : asked - now < most ? asked - now : most);
        }
    }
    h->pass_at = next;
    later(w, h, PASS, next - w->now);
}

void host_on(struct world *w, const struct event *event) {
    struct host *h = &w->host[event->host];
    if (event->number != h->boot)
        return;
    if (event->what == RESTART)
        boot(w, h);
    else if (!h->up)
        return;
    else if (event->what == PASS && w->now == h->pass_at)
        pass(w, h);
    else if (event->what == REAP)
        reap(w, h);
    else if (event->what == RESPAWN)
        respawn(w, h);
}

void host_begin(struct world *w, uint32_t number) {
    struct host *h = &w->host[number];
    h->kind = number < w->dispatchers ? DISPATCHER_HOST : STATION_HOST;
    h->index = is_dispatcher(h) ? number : number - w->dispatchers;
    h->id = is_dispatcher(h) ? 1 + h->index : 101 + h->index;
    if (w->joins) {
        char text[BAL_ADDRESS_TEXT];
        const struct bal_address address = world_address(number);
        h->id = bal_address_id(text, bal_address_print(&address, text));
    }
    h->boot = bal_rng_next(&w->rng) | 1;
    h->left_out = NOBODY;
    h->swapped = w->two_keys && bal_rng_below(&w->rng, 2);
    h->workers = 1 + bal_rng_below(&w->rng, 3);
    h->block_size = is_dispatcher(h) ? bal_dispatcher_size(&w->policy, &w->dispatcher_config)
                                     : bal_station_size(&w->station_config);
    h->block = aligned_alloc(64, h->block_size);
    h->before = malloc(h->block_size);
    if (!h->block || !h->before)
        abort();
    boot(w, h);
}

void host_end(struct host *h) {
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        free(h->worker[i].view);
    free(h->block);
    free(h->before);
}
