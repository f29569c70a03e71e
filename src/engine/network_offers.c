/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers of the network engine that offer their free slots to dispatchers, as stations do.
 *
 * policy/offers.h decides who is offered a slot and when it is taken back; the same code decides in live
 * stations. This file has what a server keeps and the messages. With one dispatcher and a perfect network
 * nothing is offered: there every free slot is reported, as in the event engine. */
#include "engine/cacheline_alloc.h"
#include "engine/network_engine.h"

#include <stdlib.h>

enum { BEATS_VALID = BLI_CLAIM_BEATS_BARRED };

/* A call of policy/offers.h, for one server. */
struct offering {
    struct network *net;
    uint32_t server;
    enum bal_report report; /* that tells of an offer */
};

static double heartbeat_of(const struct network *net) {
    return net->wire->heartbeat > 0 ? net->wire->heartbeat : INFINITY;
}

/* ---- what a server keeps: two sets of dispatchers, then a row for each of them ---- */

static size_t set_size(const struct network *net) {
    return (bal_set_size(net->dispatchers) + 7) & ~(size_t)7;
}

/* Whole cache lines: so the sets of a few dispatchers lie in one. */
static size_t book_size(const struct network *net) {
    const size_t bytes = 2 * set_size(net) + net->dispatchers * sizeof(struct bli_offer_party);
    return (bytes + BLI_CACHELINE - 1) / BLI_CACHELINE * BLI_CACHELINE;
}

static char *book_of(const struct network *net, uint32_t server) {
    return net->books + server * net->book_size;
}

static struct bli_offer_party *party_of(const struct network *net, uint32_t server, uint32_t dispatcher) {
    return (struct bli_offer_party *)(void *)(book_of(net, server) + 2 * set_size(net)) + dispatcher;
}

static uint32_t free_slots(const struct network *net, uint32_t server) {
    const uint32_t length = net->system.length[server];
    return bli_net_server_is_idle(net, server) ? net->system.slots - length : 0;
}

/* ---- the messages ---- */

static void send_offer(const struct offering *o, uint32_t dispatcher) {
    struct network *net = o->net;
    const struct bli_offer_party *party = party_of(net, o->server, dispatcher);
    net->system.tally.totals.reports++;
    __builtin_prefetch(&net->dispatcher[dispatcher].seen[o->server]);
    network_send(net, (struct message){.type = REPORT,
                                       .detail = (uint8_t)o->report,
                                       .server = o->server,
                                       .dispatcher = dispatcher,
                                       .offered = party->offered,
                                       .number = net_server_next_statement(net, o->server),
                                       .token = party->offers});
}

static void send_offer_news(void *host, uint32_t dispatcher, enum bli_offer_news news) {
    const struct offering *o = host;
    switch (news) {
    case BLI_OFFER_MADE:
        send_offer(o, dispatcher);
        break;
    case BLI_OFFER_CHANGED:
        bli_net_server_send_state(o->net, o->server, dispatcher);
        break;
    case BLI_OFFER_REFUSED:
        bli_net_server_send_heartbeat(o->net, o->server, dispatcher);
        break;
    }
}

/* jiq:report=d: that with the fewest tokens of some, which tell how many they have. */
static uint32_t choose_poorest(void *host) {
    struct network *net = ((const struct offering *)host)->net;
    const uint32_t choices = bal_policy_report_choices(net->spec);
    uint32_t best = bal_rng_below(&net->wires, net->dispatchers);
    for (uint32_t i = 1; i < choices; i++) {
        const uint32_t other = bal_rng_below(&net->wires, net->dispatchers);
        if (bal_policy_tokens(net->spec, net->dispatcher[other].state) <
            bal_policy_tokens(net->spec, net->dispatcher[best].state))
            best = other;
    }
    net->system.fleet.probes += choices;
    return best;
}

static struct bli_offers offers_of(struct offering *o) {
    struct network *net = o->net;
    char *sets = book_of(net, o->server);
    const bool chooses = net->dispatchers > 1 && bal_policy_report_choices(net->spec) > 1;
    return (struct bli_offers){.party = party_of(net, o->server, 0),
                               .stride = sizeof(struct bli_offer_party),
                               .dispatchers = net->everyone,
                               .holders = (struct bal_set *)(void *)sets,
                               .backlogged = (struct bal_set *)(void *)(sets + set_size(net)),
                               .offered = &net->net_server[o->server].offered,
                               .slots = free_slots(net, o->server),
                               .at_rate = !(net->system.features & IDLE_REPORTS),
                               .now = net->now,
                               .beat = heartbeat_of(net),
                               .rng = &net->wires,
                               .choose = chooses ? choose_poorest : NULL,
                               .send = send_offer_news,
                               .host = o};
}

/* ---- what happens at the server ---- */

void bli_network_offers_fill(struct network *net, uint32_t server, enum bal_report report) {
    struct offering offering = {net, server, report};
    const struct bli_offers offers = offers_of(&offering);
    if (offers.at_rate)
        bli_offers_move(&offers);
    else
        bli_offers_fill(&offers);
}

uint32_t bli_network_offers_reserve(struct network *net, uint32_t server, uint32_t job,
                                    struct message *response) {
    const uint32_t to = net->job[job].dispatcher;
    const struct net_server *s = &net->net_server[server];
    if (!net->offers || net->job[job].server != server) /* it was moved or stolen */
        return NO_INDEX;
    struct offering offering = {net, server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    if (!offers_fit_response(&offers, net->system.length[server] - s->running))
        return NO_INDEX;
    const uint32_t reserved_for = bli_offers_reserve(&offers, to);
    if (reserved_for == to) {
        response->offered = party_of(net, server, to)->offered + 1;
        response->token = party_of(net, server, to)->offers;
        response->number = net_server_next_statement(net, server);
    }
    return reserved_for;
}

void bli_network_offers_end_reservation(struct network *net, uint32_t server, uint32_t dispatcher,
                                        bool rides) {
    struct offering offering = {net, server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    bli_offers_end_reservation(&offers, dispatcher, rides ? BLI_RIDE_NEWEST : BLI_RIDE_NONE);
}

void bli_network_offers_use(struct network *net, uint32_t server, uint32_t dispatcher) {
    struct offering offering = {net, server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    bli_offers_use(&offers, dispatcher);
}

void bli_network_offers_trim(struct network *net, uint32_t server) {
    if (!net->offers || net->net_server[server].offered == 0)
        return;
    struct offering offering = {net, server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    bli_offers_trim(&offers);
}

void bli_network_offers_clear(struct network *net, uint32_t server, bool forget) {
    if (!net->offers)
        return;
    struct offering offering = {net, server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    for (uint32_t d = 0; forget && d < net->dispatchers; d++)
        claim_reset(&party_of(net, server, d)->claim);
    bli_offers_clear(&offers);
}

uint32_t bli_network_offers_draw(struct network *net, uint32_t server) {
    struct offering offering = {net, server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    return bli_offers_draw(&offers);
}

void bli_network_offers_beat(struct network *net, uint32_t server) {
    if (!net->offers)
        return;
    struct offering offering = {net, server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    bli_offers_beat(&offers);
}

struct bli_offer_party *bli_network_offers_party(const struct network *net, uint32_t server,
                                                 uint32_t dispatcher) {
    return party_of(net, server, dispatcher);
}

void bli_network_offers_prefetch(const struct network *net, uint32_t server) {
    enum { MAX = 5 * BLI_CACHELINE }; /* the sets and rows of four dispatchers */
    const char *book = book_of(net, server);
    for (size_t at = 0; at < net->book_size && at < MAX; at += BLI_CACHELINE)
        __builtin_prefetch(book + at);
}

/* ---- what is received ---- */

void bli_network_offers_receive_backlog(struct network *net, const struct message *message) {
    uint32_t *newest = &net->newest_backlog[(size_t)message->server * net->dispatchers + message->dispatcher];
    if (net->net_server[message->server].power == DOWN || !statement_is_newest(message->number, *newest))
        return;
    *newest = message->number;
    struct offering offering = {net, message->server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    const bool alone = message->detail;
    const double valid = alone && message->other ? net->timeout : BEATS_VALID * heartbeat_of(net);
    bli_offers_receive_backlog(&offers, message->dispatcher, message->other, net->now + valid, alone);
}

void bli_network_offers_resume(struct network *net, const struct message *message) {
    if (net->net_server[message->server].power == DOWN)
        return;
    if (!net->offers) {
        bli_net_server_send_state(net, message->server, message->dispatcher);
        return;
    }
    struct offering offering = {net, message->server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    bli_offers_reset(&offers, message->dispatcher);
}

/* ---- setting up ---- */

uint32_t bli_network_offers_start(struct network *net, uint32_t server, uint32_t slots) {
    struct offering offering = {net, server, BAL_REPORT_IDLE};
    const struct bli_offers offers = offers_of(&offering);
    const uint32_t most = offers.at_rate && slots ? 1 : slots;
    for (uint32_t i = 0; i < most; i++) {
        const uint32_t to = bal_rng_below(&net->wires, net->dispatchers);
        struct bli_offer_party *party = bli_network_offers_party(net, server, to);
        party->offers++;
        bli_offers_set(&offers, to, party->offered + 1);
    }
    return most;
}

/* Nothing is offered without a network between them, or to a policy that wants no such reports. */
enum bal_code bli_network_offers_init(struct network *net) {
    const unsigned wants =
        net->spec->policy->wants & (BAL_WANTS_IDLE | BAL_WANTS_STILL_IDLE | BAL_WANTS_POWER);
    net->offers = wants && !bli_network_is_plain(net->wire);
    if (!net->offers)
        return BAL_OK;
    net->book_size = book_size(net);
    net->books = bli_cacheline_alloc(net->system.servers, net->book_size);
    net->newest_backlog = calloc((size_t)net->system.servers * net->dispatchers, sizeof *net->newest_backlog);
    net->everyone = malloc(bal_set_size(net->dispatchers));
    if (!net->books || !net->newest_backlog || !net->everyone)
        return BAL_E_MEMORY;
    bal_set_init(net->everyone, net->dispatchers);
    for (uint32_t d = 0; d < net->dispatchers; d++)
        bal_set_insert(net->everyone, d);
    for (uint32_t server = 0; server < net->system.servers; server++) {
        struct offering offering = {net, server, BAL_REPORT_IDLE};
        const struct bli_offers offers = offers_of(&offering);
        bli_offers_rebuild(&offers);
    }
    return BAL_OK;
}

void bli_network_offers_fini(struct network *net) {
    free(net->books);
    free(net->newest_backlog);
    free(net->everyone);
}
