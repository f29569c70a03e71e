/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes wrong, besides the network and the deaths in the middle of operations; and what makes it right
 * again. */
#include "world.h"

#include <inttypes.h>

enum fault {
    KILL,
    CRASH,
    RELOAD,
    CLOCK,
    CUT,
    LOST,
    DEAF,
    MUTE,
    KEY,
    VANISH,
    NONSENSE,
    DEAFEN,
    SLOW,
    HANG,
    FAIL,
    DRAIN,
    APP,
    KEEPER,
    HOOKS_FAIL,
    HOOKS_HANG,
    FAULTS
};

static void set_drain(struct world *w, struct host *h, bool on) {
    const uint32_t worker = host_any(w, h);
    if (!w->stations || worker == NOBODY)
        return;
    world_note(w, "station %u drains: %d", h->index, on);
    op_begin(w, h);
    bal_station_drain(h->worker[worker].view, host_now(w, h), on);
    op_end(w, h, worker);
}

static void heal_later(struct world *w, enum fault fault, uint32_t host, uint32_t other) {
    world_at(w, w->now + 1 + world_time(w, 100 * MS),
             (struct event){.what = HEAL, .bytes = fault, .host = host, .number = other});
}

static void set_app(struct world *w, enum fault fault, struct app *app, bool wrong) {
    world_note(w, "the app of server %u: fault %d is %d", (uint32_t)(app - w->app), fault, wrong);
    if (fault == SLOW)
        app->slow = wrong ? 30 : 1;
    if (fault == HANG)
        app->hangs = wrong;
    if (fault == FAIL)
        app->fails = wrong;
    if (fault == HOOKS_FAIL)
        app->hooks_fail = wrong;
    if (fault == HOOKS_HANG)
        app->hooks_hang = wrong;
}

static void kill_one(struct world *w, struct host *h) {
    const uint32_t worker = host_any(w, h);
    if (worker != NOBODY)
        host_kill(w, h, worker);
}

/* A reload may leave a server out, or take it in again. */
static void reload(struct world *w, struct host *h) {
    if (h->kind == DISPATCHER_HOST) {
        h->left_out = h->left_out == NOBODY && w->servers > 1 ? bal_rng_below(&w->rng, w->servers) : NOBODY;
        h->reshaped = true;
    }
    host_reload(w, h);
}

static void step_clock(struct world *w, struct host *h) {
    const int64_t most = 200 * (int64_t)MS;
    const int64_t step =
        (int64_t)bal_rng_below(&w->rng, 2 * (uint32_t)(most / (int64_t)US)) * (int64_t)US - most;
    h->clock = h->clock + step > 0 ? h->clock + step : 0;
    world_note(w, "the clock of host %u is %" PRId64 " ns ahead", number_of(w, h), h->clock);
}

static void cut(struct world *w, uint32_t a, uint32_t b, bool on) {
    world_note(w, "hosts %u and %u: cut %d", a, b, on);
    w->cut[a][b] = w->cut[b][a] = on;
}

/* Datagrams are lost, and requests pass: from one host to another, all to a host, all from it; or its key is
 * wrong. Half of these last until the storm is over. */
static void set_datagrams(struct world *w, enum fault fault, uint32_t number, uint32_t other, bool wrong) {
    struct host *h = &w->host[number];
    world_note(w, "host %u: fault %d of datagrams is %d (%u)", number, fault, wrong, other);
    if (fault == LOST)
        w->lost[number][other] = wrong;
    if (fault == DEAF)
        h->deaf = wrong;
    if (fault == MUTE)
        h->mute = wrong;
    if (fault == KEY)
        host_set_key(w, h, wrong);
}

static void break_datagrams(struct world *w, enum fault fault, uint32_t number, uint32_t other) {
    if (fault == KEY && w->host[number].kind != DISPATCHER_HOST) /* its keeper has the same key */
        return;
    set_datagrams(w, fault, number, other, true);
    if (bal_rng_below(&w->rng, 2))
        heal_later(w, fault, number, other);
}

/* A dispatcher is gone, with all that it holds and was offered. One at least stays. */
static void vanish(struct world *w) {
    struct host *h = &w->host[bal_rng_below(&w->rng, w->dispatchers)];
    uint32_t left = 0;
    for (uint32_t i = 0; i < w->dispatchers; i++)
        left += !w->host[i].vanished;
    if (!h->up || left < 2)
        return;
    world_note(w, "host %u vanishes", number_of(w, h));
    h->vanished = true;
    host_crash(w, h);
}

/* Another one hears stations in its place, until it begins again. */
static void deafen(struct world *w, struct host *h) {
    const uint32_t worker = host_any(w, h);
    if (worker == NOBODY)
        return;
    world_note(w, "dispatcher %u is deafened", h->index);
    op_begin(w, h);
    h->deafened = true;
    bal_dispatcher_detach_stations(h->worker[worker].view, host_now(w, h));
    op_end(w, h, worker);
}

static void fault(struct world *w) {
    const uint32_t number = bal_rng_below(&w->rng, w->hosts), other = bal_rng_below(&w->rng, w->hosts);
    const uint32_t server = bal_rng_below(&w->rng, w->servers);
    struct host *h = &w->host[number];
    const enum fault what = (enum fault)bal_rng_below(&w->rng, w->keepers ? FAULTS : APP);
    switch (what) {
    case KILL:
        kill_one(w, h);
        break;
    case CRASH:
        host_crash(w, h);
        break;
    case RELOAD:
        reload(w, h);
        break;
    case CLOCK:
        step_clock(w, h);
        break;
    case CUT:
        if (number != other) {
            cut(w, number, other, true);
            heal_later(w, CUT, number, other);
        }
        break;
    case LOST:
    case DEAF:
    case MUTE:
    case KEY:
        if (w->stations)
            break_datagrams(w, what, number, other);
        break;
    case VANISH:
        vanish(w);
        break;
    case NONSENSE:
        if (w->stations)
            nonsense(w);
        break;
    case DEAFEN:
        if (w->stations && world_chance(w, 0.5))
            deafen(w, &w->host[number % w->dispatchers]);
        break;
    case FAIL:
        set_app(w, what, &w->app[server], true);
        if (bal_rng_below(&w->rng, 4)) /* the others last until the storm is over */
            heal_later(w, what, server, 0);
        break;
    case SLOW:
    case HANG:
    case HOOKS_FAIL:
    case HOOKS_HANG:
        set_app(w, what, &w->app[server], true);
        heal_later(w, what, server, 0);
        break;
    case DRAIN:
        set_drain(w, station_host(w, server), true);
        heal_later(w, DRAIN, server, 0);
        break;
    case APP:
        power_crash_app(w, server);
        break;
    case KEEPER:
        power_crash_keeper(w, server);
        break;
    case FAULTS:
        break;
    }
}

void fault_single(struct world *w) {
    static const enum fault faults[] = {VANISH, DEAF, KEY, CUT, LOST, FAIL};
    const enum fault what = faults[bal_rng_below(&w->rng, sizeof faults / sizeof *faults)];
    const uint32_t number = bal_rng_below(&w->rng, w->dispatchers);
    const uint32_t other = w->dispatchers + bal_rng_below(&w->rng, w->servers);
    if (what == VANISH)
        vanish(w);
    else if (what == CUT)
        cut(w, number, other, true);
    else if (what == FAIL)
        set_app(w, what, &w->app[other - w->dispatchers], true);
    else
        set_datagrams(w, what, number, other, true);
}

void fault_on(struct world *w, const struct event *event) {
    if (event->what == FAULT) {
        if (!w->storm)
            return;
        fault(w);
        world_at(w, w->now + 1 + world_time(w, w->weather.fault_every), (struct event){.what = FAULT});
        return;
    }
    const enum fault what = (enum fault)event->bytes;
    if (what == CUT)
        cut(w, event->host, (uint32_t)event->number, false);
    else if (what >= LOST && what <= KEY)
        set_datagrams(w, what, event->host, (uint32_t)event->number, false);
    else if (what == DRAIN)
        set_drain(w, station_host(w, event->host), false);
    else
        set_app(w, what, &w->app[event->host], false);
}

void fault_heal_all(struct world *w) {
    for (uint32_t a = 0; a < w->hosts; a++)
        for (uint32_t b = 0; b < w->hosts; b++)
            w->cut[a][b] = w->lost[a][b] = false;
    for (uint32_t i = 0; i < w->hosts; i++) {
        w->host[i].deaf = w->host[i].mute = false;
        host_set_key(w, &w->host[i], false);
        host_return(w, &w->host[i]);
    }
    for (uint32_t server = 0; server < w->servers; server++) {
        w->app[server].slow = 1;
        w->app[server].fails = w->app[server].hangs = false;
        w->app[server].hooks_fail = w->app[server].hooks_hang = false;
        set_drain(w, station_host(w, server), false);
    }
    for (uint32_t i = 0; i < w->dispatchers; i++) {
        if (w->host[i].deafened)
            host_crash(w, &w->host[i]);
        w->host[i].reshaped |= w->host[i].left_out != NOBODY;
        w->host[i].left_out = NOBODY;
        host_reload(w, &w->host[i]);
    }
}
