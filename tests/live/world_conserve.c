/* SPDX-License-Identifier: BSD-2-Clause */
/* Work conservation, up to a bounded time: no app has a free slot while a dispatcher that can reach it holds
 * requests, for longer than it takes to notice what is wrong and to repair it. And what is known of stations
 * comes from datagrams: none is taken for heard that cannot have been. Where none is heard nothing is held.
 *
 * A dispatcher reaches a server when requests pass, and datagrams both ways; and when none at all come to it
 * from any station, for then it must go by its own requests. Looked at whenever time has been told to a
 * dispatcher. */
#include "world.h"
#include "world_inside.h"

/* Lost datagrams are sent again with every beat; of the worst weather's 0.2 lost and 0.05 damaged, both ways,
 * all of twenty get lost once in 10^8 times. */
enum { BEATS = 25, BEATS_VALID = 3 };

/* Of heartbeats, where dispatchers ask for seldom ones. */
static uint64_t longest_interval(const struct world *w) {
    const uint64_t asked = (w->servers + 1) * w->dispatcher_config.gap_ns;
    return asked > BEAT ? asked : BEAT;
}

bool datagrams_pass(const struct world *w, uint32_t from, uint32_t to) {
    return !w->cut[from][to] && !w->lost[from][to] && !w->host[from].mute && !w->host[to].deaf &&
           w->host[from].wrong_key == w->host[to].wrong_key;
}

static bool hears_nobody(const struct world *w, const struct host *h) {
    for (uint32_t server = w->dispatchers; server < w->hosts; server++)
        if (datagrams_pass(w, server, number_of(w, h)))
            return false;
    return true;
}

static bool reaches(const struct world *w, const struct host *h, const struct host *station) {
    const uint32_t a = number_of(w, h), b = number_of(w, station);
    return !w->cut[a][b] && ((datagrams_pass(w, a, b) && datagrams_pass(w, b, a)) || hears_nobody(w, h));
}

/* Does it hold requests, and may each of them go to any server? Those that have been tried somewhere may not.
 */
static bool holds_any(const struct world *w, const struct host *h, const struct bal_dispatcher *d) {
    uint32_t held = 0;
    for (uint32_t i = w->oldest; i < w->requests; i++) {
        const struct leg *leg = &w->request[i].leg[0];
        if (leg->state != LEG_WAITING || leg->host != number_of(w, h) || !inside_is_held(d, leg->ticket))
            continue;
        if (w->request[i].tries)
            return false;
        held++;
    }
    return held > 0;
}

/* A station whose app has a free slot. */
static const struct bal_station *idle_station(const struct world *w, const struct host *h) {
    const struct app *app = &w->app[h->index];
    const struct bal_station *s = NULL;
    for (uint32_t i = 0; h->up && i < WORKERS_MAX; i++)
        if (h->worker[i].alive)
            s = h->worker[i].view;
    if (!s || !app->up || app->fails)
        return NULL;
    const struct bal_station_view view = bal_station_view(s);
    return view.power == BAL_POWER_ON && view.running < (w->found ? 1 : w->slots) ? s : NULL;
}

/* Has a slot of this server been free, and unused, since the last time? */
static bool stays_idle(const struct world *w, struct host *h, const struct host *station) {
    const struct bal_station *s = idle_station(w, station);
    if (!s)
        return false;
    const uint64_t arrived = bal_station_counts(s).arrived;
    const bool same = arrived == h->arrived_seen[station->index];
    h->arrived_seen[station->index] = arrived;
    return same;
}

static void check_pair(struct world *w, struct host *h, const struct bal_dispatcher *d, uint32_t number) {
    const struct bal_server_view view = bal_dispatcher_server(d, number);
    if (!view.name || view.leaving)
        return;
    const uint32_t server = world_server_of(w, view.name);
    const struct host *station = station_host(w, server);
    const bool idle = stays_idle(w, h, station);
    if (!idle || view.ejected || view.full || !reaches(w, h, station) || !holds_any(w, h, d)) {
        h->wasted_since[server].world = w->now;
        h->wasted_since[server].here = h->told;
        h->wasted_since[server].there = station->told;
        return;
    }
    const uint64_t bound = BEATS * longest_interval(w);
    if (w->now > h->wasted_since[server].world + bound && h->told > h->wasted_since[server].here + bound &&
        station->told > h->wasted_since[server].there + bound)
        world_break(
            w, "dispatcher %u holds requests, and server %u, which it can reach, has been idle for %d ms",
            h->index, server, (int)((w->now - h->wasted_since[server].world) / MS));
}

/* Where nothing has been heard of a station for longer than anything that it said was valid, it is silent. */
static void check_heard(struct world *w, const struct host *h, const struct bal_dispatcher *d,
                        uint32_t number) {
    const struct bal_server_view view = bal_dispatcher_server(d, number);
    if (!view.name || view.leaving || view.silent)
        return;
    const uint32_t server = world_server_of(w, view.name);
    const uint64_t begun = h->begun + w->dispatcher_config.grace_ns;
    const uint64_t heard = h->heard[server] + BEATS_VALID * longest_interval(w);
    if (h->told > (begun > heard ? begun : heard))
        world_break(w, "dispatcher %u takes server %u for heard, of which nothing has come for %d ms",
                    h->index, server, (int)((h->told - h->heard[server]) / MS));
}

/* Where no station is heard requests go by those in flight: none is held, unless servers elsewhere take over
 * or no server can be had at all. */
static void check_unheard(struct world *w, const struct host *h, const struct bal_dispatcher *d) {
    bool usable = false;
    for (uint32_t i = 0; i < w->servers; i++) {
        const struct bal_server_view view = bal_dispatcher_server(d, i);
        if (!view.name || view.leaving || view.down)
            continue;
        if (!view.silent)
            return;
        usable |= !view.full && !view.ejected && view.status != BAL_SERVER_GONE;
    }
    if (usable && !w->dispatcher_config.backed && holds_any(w, h, d))
        world_break(w, "dispatcher %u hears no station and holds requests", h->index);
}

void check_conservation(struct world *w, struct host *h) {
    const struct bal_dispatcher *d = NULL;
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        if (h->worker[i].alive)
            d = h->worker[i].view;
    if (!d || !w->stations || h->deafened || h->reshaped)
        return;
    check_unheard(w, h, d);
    for (uint32_t i = 0; i < w->servers; i++) {
        check_heard(w, h, d, i);
        if (w->station_config.offer_ns == 0)
            check_pair(w, h, d, i);
    }
}
