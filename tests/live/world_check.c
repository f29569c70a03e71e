/* SPDX-License-Identifier: BSD-2-Clause */
/* What must hold, after every step, after the reaper and at the end. */
#include "world.h"
#include "world_inside.h"

#include <inttypes.h>
#include <string.h>

static bool holds(const struct world *w) {
    return bal_policy_flags(&w->policy) & BAL_MAY_HOLD;
}

/* ---- after every operation ---- */

void *any_view(const struct host *h) {
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        if (h->worker[i].alive)
            return h->worker[i].view;
    return NULL;
}

uint32_t server_number(const struct world *w, const struct bal_dispatcher *d, uint32_t server) {
    for (uint32_t number = 0; number <= w->servers; number++) {
        const struct bal_server_view view = bal_dispatcher_server(d, number);
        if (view.name && world_server_of(w, view.name) == server)
            return number;
    }
    return NOBODY;
}

/* Offers that stations have ever made to this dispatcher. */
static uint64_t offers_to(struct world *w, const struct host *dispatcher) {
    uint64_t offers = 0;
    for (uint32_t server = 0; server < w->servers; server++) {
        const struct host *h = station_host(w, server);
        const struct bal_station *s = any_view(h);
        uint32_t open;
        offers += h->offers_lost[dispatcher->index];
        const uint64_t now = h->up && s ? bal_station_offered(s, dispatcher->id, &open) : 0;
        const uint64_t seen = h->offers_now[dispatcher->index]; /* one that has left is not known any longer
                                                                 */
        offers += now > seen ? now : seen;
    }
    return offers;
}

static void check_dispatcher(struct world *w, const struct host *h, const struct bal_dispatcher *d) {
    const char *fault = bal_dispatcher_find_inconsistency(d);
    if (fault)
        world_break(w, "dispatcher %u: %s", h->index, fault);
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(d);
    if (bal_dispatcher_held(d, BAL_CLASSES_MAX) > w->dispatcher_config.held)
        world_break(w, "dispatcher %u holds more requests than it may", h->index);
    if (h->torn)
        return;
    if (counts.used + counts.expired > counts.tokens)
        world_break(w, "dispatcher %u has used %" PRIu64 " tokens and let %" PRIu64 " expire, of %" PRIu64,
                    h->index, counts.used, counts.expired, counts.tokens);
    const uint64_t beyond = w->dispatcher_config.refuse_beyond ? 0 : counts.overdue + counts.overflow;
    const uint64_t at_once = beyond + counts.unheard;
    if (w->stations && holds(w) && !h->deafened && counts.sent > counts.used + at_once)
        world_break(w, "dispatcher %u has sent %" PRIu64 " requests with %" PRIu64 " tokens", h->index,
                    counts.sent, counts.used);
    if (w->stations && counts.tokens > offers_to(w, h))
        world_break(w, "dispatcher %u counts %" PRIu64 " tokens; it was offered %" PRIu64, h->index,
                    counts.tokens, offers_to(w, h));
    for (uint32_t i = 0; !w->stations && holds(w) && i < w->servers; i++)
        if (bal_dispatcher_server(d, i).in_flight > w->slots + at_once)
            world_break(w, "dispatcher %u sends to a server that has no free slot", h->index);
}

void check_host(struct world *w, struct host *h) {
    const void *view = any_view(h);
    if (!view)
        return;
    if (h->kind == DISPATCHER_HOST) {
        check_dispatcher(w, h, view);
        return;
    }
    const char *fault = bal_station_find_inconsistency(view);
    if (fault)
        world_break(w, "station %u: %s", h->index, fault);
    const struct bal_station_view s = bal_station_view(view);
    if (s.power == BAL_POWER_DRAINING && s.offered && !h->torn) /* else with the next beat */
        world_break(w, "station %u drains, and offers %u slots", h->index, s.offered);
    for (uint32_t i = 0; i < w->dispatchers; i++) {
        uint32_t open;
        const uint64_t now = bal_station_offered(view, w->host[i].id, &open);
        h->offers_now[i] = now > h->offers_now[i] ? now : h->offers_now[i];
    }
}

void check_before_crash(struct world *w, struct host *h) {
    for (uint32_t i = 0; h->kind == STATION_HOST && i < w->dispatchers; i++) {
        h->offers_lost[i] += h->offers_now[i];
        h->offers_now[i] = 0;
    }
}

/* How long a request may be held. */
static uint64_t hold_ns_of(const struct world *w, uint32_t request) {
    const struct bal_dispatcher_config *config = &w->dispatcher_config;
    const uint64_t own_ns = config->class_limit[w->request[request].rank].wait_ns;
    return config->refuse_beyond && own_ns ? own_ns : config->hold_ns;
}

void check_ages(struct world *w, struct host *h) {
    const uint64_t slack = 30 * MS;
    const struct bal_dispatcher *d = any_view(h);
    if (h->kind != DISPATCHER_HOST)
        return;
    if (inside_has_stale_token(d, slack))
        world_break(w, "dispatcher %u still has a token that has expired", h->index);
    for (uint32_t i = w->oldest; i < w->requests; i++) {
        const struct leg *leg = &w->request[i].leg[0];
        if (leg->state == LEG_WAITING && leg->host == number_of(w, h) && inside_is_held(d, leg->ticket) &&
            h->told > leg->since + hold_ns_of(w, i) + w->dispatcher_config.probe_ns + slack)
            world_break(w, "request %u has been held for too long", i);
    }
}

/* ---- where requests go ---- */

/* Servers that max_fails closes, as the header says: those without stations. Not where the block was torn. */
static bool closes(const struct world *w, const struct host *h) {
    return !w->stations && w->max_fails && (w->servers > 1 || w->dispatcher_config.backed) && !h->torn &&
           !h->reshaped;
}

/* A server with a station that could not be reached gets nothing before the station is heard again. */
static void check_suspect(struct world *w, const struct host *h, uint32_t server, enum bal_outcome outcome) {
    const struct bal_dispatcher *d = any_view(h);
    const uint32_t number = server_number(w, d, server);
    if (outcome != BAL_OUTCOME_FAILED || !w->stations || h->deafened || h->torn || number == NOBODY)
        return;
    if (bal_dispatcher_server(d, number).open)
        world_break(w, "dispatcher %u may send to server %u, which could not be reached just now", h->index,
                    server);
}

void check_outcome(struct world *w, struct host *h, uint32_t server, enum bal_outcome outcome) {
    const uint64_t now = h->told;
    twin_answered(w, h, server, outcome != BAL_OUTCOME_GOOD);
    check_suspect(w, h, server, outcome);
    if (!closes(w, h) || h->closing[server].failing)
        return;
    const bool long_ago = now >= h->closing[server].failed + w->fail_ns;
    if (outcome != BAL_OUTCOME_FAILED) {
        if (long_ago) {
            h->closing[server].failures = 0;
            h->closing[server].failed = h->closing[server].closed_until = 0;
        }
        return;
    }
    if (long_ago && !h->closing[server].closed_until)
        h->closing[server].failures = 0;
    h->closing[server].failed = now;
    if (++h->closing[server].failures >= w->max_fails)
        h->closing[server].closed_until = now + w->fail_ns;
}

/* The result of a check has been told. One that closes or opens the server ends what requests knew of it, and
 * while it is closed they decide nothing. */
void check_checked(struct world *w, struct host *h, uint32_t server, bool passed) {
    const struct bal_dispatcher *d = any_view(h);
    const uint32_t number = server_number(w, d, server), row = h->closing[server].row;
    const uint32_t failed = passed ? 0 : h->closing[server].failed_checks + 1;
    const bool failing = !passed && (h->closing[server].failing || failed >= CHECK_FALLS);
    if (failing != h->closing[server].failing) {
        memset(&h->closing[server], 0, sizeof h->closing[server]);
        h->closing[server].row = row;
        h->closing[server].failing_since = h->told;
    }
    h->closing[server].failed_checks = failed;
    h->closing[server].failing = failing;
    if (h->torn || h->reshaped)
        return;
    if ((bal_dispatcher_check_view(d, number).state == BAL_CHECK_FAILING) != failing)
        world_break(w, "dispatcher %u takes server %u for %s after %u failed checks", h->index, server,
                    failing ? "well" : "failing", failed);
    if (failing && bal_dispatcher_server(d, number).open)
        world_break(w, "dispatcher %u may send to server %u, whose checks fail", h->index, server);
}

/* Nothing goes to a server whose checks fail. */
static void check_well(struct world *w, const struct host *h, uint32_t request) {
    const struct request *r = &w->request[request];
    if (h->closing[r->server].failing && r->sent > h->closing[r->server].failing_since && !h->torn &&
        !h->reshaped)
        world_break(w, "request %u goes to server %u, whose checks fail", request, r->server);
}

/* One request at a time proves a server well. */
static void check_trial(struct world *w, const struct host *h, uint32_t request) {
    const uint32_t server = w->request[request].server;
    const uint64_t closed_until = h->closing[server].closed_until;
    if (!closes(w, h) || !closed_until)
        return;
    if (w->request[request].sent > h->closing[server].failed && w->request[request].sent < closed_until)
        world_break(w, "request %u goes to server %u, which max_fails has closed", request, server);
    for (uint32_t i = w->oldest; i < w->requests; i++)
        if (i != request && w->request[i].leg[0].state == LEG_SENT &&
            w->request[i].leg[0].host == number_of(w, h) && w->request[i].server == server &&
            w->request[i].sent >= closed_until)
            world_break(w, "requests %u and %u both try server %u", i, request, server);
}

static void check_refusal(struct world *w, uint32_t request, const struct bal_dispatch *to) {
    const struct bal_dispatcher_config *config = &w->dispatcher_config;
    const bool beyond = to->reason == BAL_REASON_NO_ROOM || to->reason == BAL_REASON_TOO_LONG;
    if (to->reason < BAL_REASON_NONE_OPEN || (beyond && !config->refuse_beyond))
        world_break(w, "request %u is refused: %s", request, bal_reason_name(to->reason));
    if (to->reason == BAL_REASON_TOO_LONG && to->waited_ns < hold_ns_of(w, request))
        world_break(w, "request %u is refused after %" PRIu64 " ns", request, to->waited_ns);
}

void check_dispatched(struct world *w, const struct host *h, uint32_t request,
                      const struct bal_dispatch *to) {
    const struct request *r = &w->request[request];
    if (to->rank != r->rank)
        world_break(w, "request %u of class %u is told to be of class %u", request, r->rank, to->rank);
    if (to->verdict == BAL_REFUSE) {
        check_refusal(w, request, to);
        return;
    }
    if (to->reason >= BAL_REASON_NONE_OPEN || (r->tries > 0) != (to->reason == BAL_REASON_RETRY))
        world_break(w, "request %u is sent: %s, after %u tries", request, bal_reason_name(to->reason),
                    r->tries);
    for (uint32_t i = 0; !h->reshaped && r->tries <= BAL_TRIES_MAX && i < r->tries; i++)
        if (r->tried[i] == r->server)
            world_break(w, "request %u is sent to server %u again", request, r->server);
    check_trial(w, h, request);
    check_well(w, h, request);
}

/* ---- first come, first served ---- */

void check_order(struct world *w, uint32_t request, uint32_t leg) {
    const struct request *r = &w->request[request];
    const struct leg *mine = &r->leg[leg];
    const struct host *h = &w->host[mine->host];
    for (uint32_t i = w->oldest; mine->number != UINT64_MAX && i < w->requests; i++)
        for (uint32_t k = 0; k < LEGS; k++) {
            const struct leg *other = &w->request[i].leg[k];
            if (other->state != LEG_WAITING || other->host != mine->host || w->request[i].rank != r->rank ||
                other->number >= mine->number)
                continue;
            const void *view = any_view(h);
            if (h->kind == DISPATCHER_HOST ? inside_is_held(view, other->ticket)
                                           : inside_is_waiting(view, other->ticket))
                world_break(w, "request %u goes before request %u, which came before it", request, i);
        }
}

/* ---- after the reaper ---- */

static uint32_t legs_at(const struct world *w, const struct host *h, uint32_t sent_to) {
    uint32_t count = 0;
    for (uint32_t i = w->oldest; i < w->requests; i++)
        for (uint32_t k = 0; k < LEGS; k++) {
            const struct leg *leg = &w->request[i].leg[k];
            if (leg->state == LEG_NONE || leg->state == LEG_OVER || leg->state == LEG_ON_WAY ||
                leg->host != number_of(w, h))
                continue;
            count += sent_to == NOBODY || (leg->state == LEG_SENT && w->request[i].server == sent_to);
        }
    return count;
}

void check_counts(struct world *w, struct host *h) {
    const void *view = any_view(h);
    const uint32_t here = legs_at(w, h, NOBODY);
    if (h->kind == STATION_HOST) {
        const struct bal_station_view s = bal_station_view(view);
        const uint32_t counted = s.running + s.waiting + s.away + inside_turned_away(view);
        if (counted != here)
            world_break(w, "station %u counts %u requests, and has %u", h->index, counted, here);
        return;
    }
    if (inside_requests(view) != here)
        world_break(w, "dispatcher %u counts %u requests, and has %u", h->index, inside_requests(view), here);
    for (uint32_t i = 0; i < w->servers; i++) {
        const struct bal_server_view s = bal_dispatcher_server(view, i);
        if (!s.name)
            continue;
        const uint32_t server = world_server_of(w, s.name);
        const uint32_t sent = legs_at(w, h, server);
        if (s.in_flight != sent + inside_decided(view, i))
            world_break(w, "dispatcher %u counts %u requests at server %u, and has %u there", h->index,
                        s.in_flight, server, sent);
    }
}

/* ---- at the end ---- */

/* What a server is, as a dispatcher should know it. */
static enum bal_server_status standing_of(struct world *w, const struct bal_server_view *s) {
    if (!w->keepers)
        return BAL_SERVER_ON;
    const uint32_t server = world_server_of(w, s->name);
    return bal_station_view(any_view(station_host(w, server))).power == BAL_POWER_ON ? BAL_SERVER_ON
                                                                                     : BAL_SERVER_OFF;
}

/* Nothing is under way: what dispatchers know is what is so. */
static void check_knowledge(struct world *w, const struct host *h) {
    const struct bal_dispatcher *d = any_view(h);
    uint32_t with_tokens = 0;
    for (uint32_t server = 0; server < w->servers; server++) {
        const uint32_t i = w->servers_join ? server_number(w, d, server) : server;
        if (i == NOBODY)
            world_break(w, "in the end server %u has not joined dispatcher %u", server, h->index);
        const struct bal_server_view s = bal_dispatcher_server(d, i);
        if (!s.name || s.leaving || !s.open || s.in_flight || s.status != standing_of(w, &s))
            world_break(w, "in the end dispatcher %u takes server %u for %s, %s, %u under way", h->index, i,
                        s.open ? "open" : "closed", s.status == BAL_SERVER_ON ? "on" : "not on", s.in_flight);
        if (!w->stations)
            continue;
        uint32_t open;
        bal_station_offered(any_view(station_host(w, world_server_of(w, s.name))), h->id, &open);
        if (s.tokens != open && w->station_config.offer_ns == 0)
            world_break(w, "in the end dispatcher %u has %u tokens of server %u, which offers it %u",
                        h->index, s.tokens, world_server_of(w, s.name), open);
        with_tokens += open > 0;
    }
    const uint32_t idle = inside_idle(d);
    if (idle != UINT32_MAX && w->station_config.offer_ns == 0 &&
        idle != (w->stations ? with_tokens : w->servers))
        world_break(w, "in the end the policy of dispatcher %u knows %u idle servers of %u", h->index, idle,
                    w->stations ? with_tokens : w->servers);
    if (inside_requests(d) || bal_dispatcher_held(d, BAL_CLASSES_MAX))
        world_break(w, "in the end dispatcher %u still has requests", h->index);
}

static void check_station(struct world *w, const struct host *h) {
    const struct bal_station_view s = bal_station_view(any_view(h));
    if (s.running + s.waiting + s.away)
        world_break(w, "in the end station %u still has requests", h->index);
    const bool rests = w->station_config.standby_ns > 0;
    if (s.power != (rests ? BAL_POWER_OFF : BAL_POWER_ON) || w->app[h->index].up == rests)
        world_break(w, "in the end station %u is %s", h->index, rests ? "not at rest" : "not on");
    const bool all = w->found ? s.offered > 0 && s.offered <= w->slots : s.offered == w->slots;
    if (w->station_config.offer_ns == 0 && (rests ? s.offered > 0 : !all))
        world_break(w, "in the end station %u offers %u of %u slots", h->index, s.offered, w->slots);
    if (w->app[h->index].running)
        world_break(w, "in the end the app of server %u still runs", h->index);
}

/* What is said: no more than the policy's cost and the heartbeats. */
static void check_messages(struct world *w) {
    uint64_t probes = 0, asked = 0, offers = 0, left = 0;
    const double each =
        w->policy.policy->sample || bal_policy_flags(&w->policy) & BAL_ASKS ? w->probes_each : 0;
    for (uint32_t i = 0; i < w->dispatchers; i++) {
        const struct bal_dispatcher_counts counts = bal_dispatcher_counts(any_view(&w->host[i]));
        probes += w->host[i].sent[BAL_MSG_PROBE];
        asked += counts.arrived + counts.retried;
    }
    for (uint32_t i = 0; i < w->servers; i++) {
        const struct bal_station_counts counts = bal_station_counts(any_view(station_host(w, i)));
        offers += counts.offers;
        /* All slots at the beginning, and again when a dispatcher that begins asks for the present. */
        left += counts.answered + counts.cancelled + counts.reaped + w->slots * (1 + w->dispatchers);
    }
    if ((double)probes > each * (double)asked)
        world_break(w, "%" PRIu64 " probes for %" PRIu64 " requests", probes, asked);
    if (w->station_config.offer_ns == 0 && !holds(w) && !w->joins && !w->found && offers > left)
        world_break(w, "%" PRIu64 " offers, though %" PRIu64 " slots have become free", offers, left);
}

void check_end(struct world *w) {
    for (uint32_t i = 0; i < w->requests; i++)
        if (w->request[i].outcome == OPEN)
            world_break(w, "in the end request %u has no answer", i);
    for (uint32_t i = 0; i < w->hosts; i++) {
        struct host *h = &w->host[i];
        if (h->kind == DISPATCHER_HOST)
            check_knowledge(w, h);
        else if (w->stations)
            check_station(w, h);
    }
    if (w->stations && w->faultless && !w->keepers)
        check_messages(w);
}
