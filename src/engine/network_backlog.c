/* Jobs that are held at one of several dispatchers of the network engine, and who gets a free slot.
 *
 * The rules are those of live fleets, and the same code decides: policy/backlog.h to which servers a
 * dispatcher sends backlog messages and when to all, policy/claim.h for which dispatcher a server reserves a
 * slot that it has offered. This file has the messages. An idle server has one holder, the dispatcher to
 * which it reported last. */
#include "engine/network.h"

#include <stdlib.h>

enum { BEATS_VALID = 3, DRAWS = 16 };

static double heartbeat_of(const struct network *net) {
    return net->wire->heartbeat > 0 ? net->wire->heartbeat : INFINITY;
}

static struct claimant *claimant_at(const struct network *net, uint32_t server, uint32_t dispatcher) {
    return &net->claimant[(size_t)server * net->dispatchers + dispatcher];
}

/* ---- what a dispatcher sends ---- */

static void send_backlog(struct network *net, uint32_t dispatcher, uint32_t server, uint32_t held,
                         bool alone) {
    net->system.tally.totals.reports++;
    network_send(net, (struct message){.type = BACKLOG,
                                       .detail = alone,
                                       .server = server,
                                       .dispatcher = dispatcher,
                                       .other = held,
                                       .version = ++net->dispatcher[dispatcher].sequence});
}

/* It cannot use offers of that server for now. */
static void decline_offers(struct network *net, uint32_t dispatcher, uint32_t server) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    d->seen[server].token = false;
    d->seen[server].declined_until = net->now + BEATS_VALID * heartbeat_of(net);
    d->said[server] = BAL_REPORT_BUSY;
    send_backlog(net, dispatcher, server, 0, true);
}

static void announce_backlog(struct network *net, uint32_t dispatcher) {
    const struct dispatcher *d = &net->dispatcher[dispatcher];
    const uint32_t held = net_dispatcher_held(d);
    for (uint32_t server = 0; server < net->system.servers; server++) {
        send_backlog(net, dispatcher, server, held, false);
        if (held && !bal_set_contains(d->eligible, server))
            decline_offers(net, dispatcher, server);
    }
}

static bool looks_idle(const void *host, uint32_t server) {
    const struct dispatcher *d = host;
    const struct seen *seen = &d->seen[server];
    return !seen->token && seen->asked_until == 0 && !seen->rests && !seen->busy &&
           d->own[server] < d->net->system.slots;
}

static void request_slot(struct network *net, uint32_t dispatcher, uint32_t server) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    bal_backlog_asked(&d->backlog);
    d->seen[server].asked_until = net->now + net->timeout;
    network_schedule(
        net, d->seen[server].asked_until,
        (struct message){.type = SLOT_REQUEST_TIMEOUT, .dispatcher = dispatcher, .server = server});
    send_backlog(net, dispatcher, server, 1, true);
}

static enum bal_backlog_step next_step(const struct network *net, struct dispatcher *d) {
    return bal_backlog_next(&d->backlog, net_dispatcher_held(d), net->now,
                            bal_backlog_patience(net->system.servers, net->timeout), heartbeat_of(net));
}

void bal_network_backlog_update(struct network *net, uint32_t dispatcher) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    if (!d->seen)
        return;
    const double planned = d->backlog.announce_at;
    enum bal_backlog_step step = next_step(net, d);
    if (step == BAL_BACKLOG_ANNOUNCE)
        announce_backlog(net, dispatcher);
    while (step == BAL_BACKLOG_ASK) {
        const uint32_t server = bal_backlog_find(d->eligible, looks_idle, d, &net->wires);
        if (server == BAL_SET_ABSENT)
            break;
        request_slot(net, dispatcher, server);
        step = next_step(net, d);
    }
    if (d->backlog.announce_at != planned && d->backlog.announce_at < INFINITY)
        network_schedule(net, d->backlog.announce_at,
                         (struct message){.type = BACKLOG_TIMER, .dispatcher = dispatcher});
}

void bal_network_backlog_timer(struct network *net, uint32_t dispatcher) {
    if (net->dispatcher[dispatcher].backlog.announce_at == net->now)
        bal_network_backlog_update(net, dispatcher);
}

/* ---- what it receives ---- */

static void close_slot_request(struct dispatcher *d, uint32_t server) {
    if (d->seen[server].asked_until == 0)
        return;
    d->seen[server].asked_until = 0;
    bal_backlog_answered(&d->backlog, d->seen[server].token);
}

void bal_network_backlog_request_timeout(struct network *net, uint32_t dispatcher, uint32_t server) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    if (d->seen[server].asked_until != net->now)
        return;
    close_slot_request(d, server);
    bal_network_backlog_update(net, dispatcher);
}

static void update_seen(struct seen *seen, const struct message *message, uint32_t slots) {
    const bool report = message->type == REPORT;
    const bool loaded = !report || message->detail == BAL_REPORT_LOAD;
    if (loaded)
        seen->busy = message->load.length >= slots;
    if (message->type == HEARTBEAT) {
        seen->rests = message->detail != BAL_SERVER_ON;
        seen->token = !seen->rests && !seen->busy && !message->offered_elsewhere;
    }
    if (!report || loaded)
        return;
    seen->rests = message->detail == BAL_REPORT_OFF || message->detail == BAL_REPORT_SETUP;
    seen->token = !seen->rests && message->detail != BAL_REPORT_BUSY;
    seen->busy = seen->busy && !seen->token; /* a server that takes back its offer may still be idle */
}

void bal_network_backlog_server_reported(struct network *net, const struct message *message) {
    struct dispatcher *d = &net->dispatcher[message->dispatcher];
    if (!d->seen)
        return;
    update_seen(&d->seen[message->server], message, net->system.slots);
    close_slot_request(d, message->server);
}

void bal_network_backlog_return_slot(struct network *net, struct dispatcher *d, uint32_t server) {
    if (d->seen && d->seen[server].token && !bal_set_contains(d->eligible, server))
        decline_offers(net, (uint32_t)(d - net->dispatcher), server);
}

void bal_network_backlog_server_ineligible(struct network *net, struct dispatcher *d, uint32_t server) {
    if (d->seen && (d->seen[server].token || d->backlog.announced))
        decline_offers(net, (uint32_t)(d - net->dispatcher), server);
}

void bal_network_backlog_server_eligible(struct network *net, struct dispatcher *d, uint32_t server) {
    if (!d->seen || d->seen[server].declined_until <= net->now)
        return;
    d->seen[server].declined_until = 0;
    net->system.tally.totals.reports++;
    network_send(net, (struct message){
                          .type = RESUME, .server = server, .dispatcher = (uint32_t)(d - net->dispatcher)});
}

/* ---- what servers know of dispatchers ---- */

/* What changes of a claim is counted: most servers know of none that has a backlog. */
static void recount_claims(struct network *net, uint32_t server, const struct bal_claim *claim, bool before) {
    net->net_server[server].backlogged += claim->held > 0;
    net->net_server[server].backlogged -= before;
}

static void clear_claim(struct network *net, uint32_t server, struct bal_claim *claim) {
    const bool before = claim->held > 0;
    claim->held = 0;
    recount_claims(net, server, claim, before);
}

static bool is_barred(const struct network *net, uint32_t server, uint32_t dispatcher) {
    return claim_is_barred(&claimant_at(net, server, dispatcher)->claim, net->now);
}

/* A uniform one of those that have a backlog; NO_INDEX: there is none. */
static uint32_t draw_backlogged(struct network *net, uint32_t server) {
    uint32_t chosen = NO_INDEX, found = 0;
    for (uint32_t d = 0; net->net_server[server].backlogged && d < net->dispatchers; d++) {
        struct bal_claim *claim = &claimant_at(net, server, d)->claim;
        if (!claim_has_backlog(claim, net->now))
            clear_claim(net, server, claim);
        else if (!claim_is_barred(claim, net->now) && bal_rng_below(&net->wires, ++found) == 0)
            chosen = d;
    }
    return chosen;
}

uint32_t bal_network_backlog_draw_dispatcher(struct network *net, uint32_t server) {
    return net->claimant ? draw_backlogged(net, server) : NO_INDEX;
}

uint32_t bal_network_backlog_redraw_dispatcher(struct network *net, uint32_t server, uint32_t dispatcher) {
    for (int i = 0; net->claimant && i < DRAWS && is_barred(net, server, dispatcher); i++)
        dispatcher = bal_rng_below(&net->wires, net->dispatchers);
    return dispatcher;
}

void bal_network_backlog_slot_offered(struct network *net, uint32_t server, uint32_t dispatcher) {
    net->net_server[server].holder = dispatcher;
    if (net->claimant)
        claimant_at(net, server, dispatcher)->claim.offered_at = net->now;
}

void bal_network_backlog_slot_used(struct network *net, uint32_t server, uint32_t dispatcher) {
    if (!net->claimant)
        return;
    struct bal_claim *claim = &claimant_at(net, server, dispatcher)->claim;
    const bool before = claim->held > 0;
    claim_slot_used(claim);
    recount_claims(net, server, claim, before);
}

void bal_network_backlog_clear_claims(struct network *net, uint32_t server) {
    for (uint32_t d = 0; net->claimant && d < net->dispatchers; d++) {
        clear_claim(net, server, &claimant_at(net, server, d)->claim);
        claimant_at(net, server, d)->claim.barred_until = 0;
    }
}

/* ---- who gets a free slot ---- */

/* It is offered to this dispatcher, if need be after it has been taken back from another one. False: it
 * cannot be had. */
static bool offer_slot_to(struct network *net, uint32_t server, uint32_t dispatcher) {
    const uint32_t holder = net->net_server[server].holder;
    if (!bal_net_server_is_idle(net, server) || holder == dispatcher)
        return false;
    if (holder != NO_INDEX) {
        struct bal_claim *claim = &claimant_at(net, server, holder)->claim;
        if (claim_is_reserved(claim, net->now, heartbeat_of(net)))
            return false;
        claim_retract(claim, net->now, heartbeat_of(net));
        bal_net_server_send_report(net, server, BAL_REPORT_BUSY, holder);
    }
    bal_network_backlog_slot_offered(net, server, dispatcher);
    bal_net_server_send_report(net, server, BAL_REPORT_IDLE, dispatcher);
    return true;
}

void bal_network_backlog_offer_slot(struct network *net, uint32_t server) {
    if (!net->claimant || net->net_server[server].holder == NO_INDEX)
        return;
    const uint32_t backlogged = draw_backlogged(net, server);
    if (backlogged != NO_INDEX)
        offer_slot_to(net, server, backlogged);
}

/* A slot that no one has been offered, or that was given back, is offered to one that can use it. */
static void offer_to_another(struct network *net, uint32_t server) {
    if (!bal_net_server_is_idle(net, server) || net->net_server[server].holder != NO_INDEX)
        return;
    uint32_t to = draw_backlogged(net, server);
    if (to == NO_INDEX)
        to = bal_network_backlog_redraw_dispatcher(net, server, bal_rng_below(&net->wires, net->dispatchers));
    if (is_barred(net, server, to))
        return;
    bal_network_backlog_slot_offered(net, server, to);
    bal_net_server_send_report(net, server, BAL_REPORT_IDLE, to);
}

static void take_back_slot(struct network *net, uint32_t server, uint32_t dispatcher) {
    if (net->net_server[server].holder == dispatcher)
        net->net_server[server].holder = NO_INDEX;
    offer_to_another(net, server);
}

/* To this server alone: it is answered in any case. */
static void receive_slot_request(struct network *net, uint32_t server, uint32_t dispatcher, uint32_t held) {
    struct bal_claim *claim = &claimant_at(net, server, dispatcher)->claim;
    claim->asked = 1;
    if (held == 0) {
        claim->barred_until = net->now + BEATS_VALID * heartbeat_of(net);
        take_back_slot(net, server, dispatcher);
    } else if (!offer_slot_to(net, server, dispatcher)) {
        clear_claim(net, server, claim);
        bal_net_server_send_heartbeat(net, server, dispatcher);
    }
}

void bal_network_backlog_receive(struct network *net, const struct message *message) {
    const uint32_t server = message->server, dispatcher = message->dispatcher;
    struct claimant *from = claimant_at(net, server, dispatcher);
    if (net->net_server[server].power == DOWN || (int32_t)(message->version - from->sequence) <= 0)
        return;
    from->sequence = message->version;
    const bool before = from->claim.held > 0, alone = message->detail && message->other;
    claim_update(&from->claim, message->other,
                 net->now + (alone ? net->timeout : BEATS_VALID * heartbeat_of(net)));
    recount_claims(net, server, &from->claim, before);
    if (message->detail)
        receive_slot_request(net, server, dispatcher, message->other);
    else if (message->other && !claim_is_barred(&from->claim, net->now))
        offer_slot_to(net, server, dispatcher);
    if (message->other == 0) /* what it was offered may be of use to another one now */
        bal_network_backlog_offer_slot(net, server);
}

void bal_network_backlog_resume(struct network *net, const struct message *message) {
    const uint32_t server = message->server;
    if (net->net_server[server].power == DOWN)
        return;
    struct bal_claim *claim = &claimant_at(net, server, message->dispatcher)->claim;
    clear_claim(net, server, claim);
    claim->barred_until = 0;
    if (net->net_server[server].holder == message->dispatcher)
        net->net_server[server].holder = NO_INDEX;
    bal_net_server_send_heartbeat(net, server, message->dispatcher);
    offer_to_another(net, server);
}

/* ---- setting up ---- */

enum bal_code bal_network_backlog_init(struct network *net) {
    if (!(net->flags & BAL_MAY_HOLD) || net->dispatchers == 1)
        return BAL_OK;
    net->claimant = calloc((size_t)net->system.servers * net->dispatchers, sizeof *net->claimant);
    for (uint32_t d = 0; d < net->dispatchers; d++) {
        net->dispatcher[d].seen = calloc(net->system.servers, sizeof *net->dispatcher[d].seen);
        if (!net->dispatcher[d].seen)
            return BAL_E_MEMORY;
        bal_backlog_init(&net->dispatcher[d].backlog);
    }
    return net->claimant ? BAL_OK : BAL_E_MEMORY;
}
