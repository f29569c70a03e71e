/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is offered the free slots of a server. */
#include "policy/offers.h"

static bool is_barred(const struct bli_offers *o, uint32_t dispatcher) {
    return claim_is_barred(&offers_party(o, dispatcher)->claim, o->now);
}

static bool has_backlog(const struct bli_offers *o, uint32_t dispatcher) {
    return claim_has_backlog(&offers_party(o, dispatcher)->claim, o->now);
}

/* ---- counts and sets ---- */

void bli_offers_set(const struct bli_offers *o, uint32_t dispatcher, uint32_t offered) {
    struct bli_offer_party *party = offers_party(o, dispatcher);
    if (party->offered == 0 || offered < party->offered)
        party->claim.offered_at = o->now;
    *o->offered += offered - party->offered;
    party->offered = offered;
    if (offered)
        bal_set_insert(o->holders, dispatcher);
    else
        bal_set_remove(o->holders, dispatcher);
    if (party->claim.held > offered)
        bal_set_insert(o->backlogged, dispatcher);
    else if (o->backlogged->count) /* mostly there are none */
        bal_set_remove(o->backlogged, dispatcher);
}

void bli_offers_clear(const struct bli_offers *o) {
    for (uint32_t i = 0; i < o->dispatchers->count; i++)
        bli_offers_set(o, o->dispatchers->slot[i], 0);
}

void bli_offers_rebuild(const struct bli_offers *o) {
    *o->offered = 0;
    bal_set_init(o->holders, o->dispatchers->capacity);
    bal_set_init(o->backlogged, o->dispatchers->capacity);
    for (uint32_t i = 0; i < o->dispatchers->count; i++) {
        const uint32_t dispatcher = o->dispatchers->slot[i];
        const struct bli_offer_party *party = offers_party(o, dispatcher);
        *o->offered += party->offered;
        if (party->offered)
            bal_set_insert(o->holders, dispatcher);
        if (party->claim.held > party->offered)
            bal_set_insert(o->backlogged, dispatcher);
    }
}

/* ---- who gets the next one ---- */

/* Those that have no backlog any longer are removed on the way, and those that are barred, until they report
 * a backlog again. */
uint32_t bli_offers_draw_backlogged(const struct bli_offers *o) {
    while (o->backlogged->count) {
        const uint32_t dispatcher = bal_set_uniform(o->backlogged, o->rng);
        if (has_backlog(o, dispatcher) && !is_barred(o, dispatcher))
            return dispatcher;
        if (!has_backlog(o, dispatcher))
            offers_party(o, dispatcher)->claim.held = 0;
        bal_set_remove(o->backlogged, dispatcher);
    }
    return BAL_SET_ABSENT;
}

/* One of those that are not barred, uniformly. Where almost all are barred, a barred one may be drawn: its
 * offer can be taken back at any time. */
static uint32_t draw_any(const struct bli_offers *o) {
    enum { DRAWS = 16 };
    uint32_t dispatcher = o->choose ? o->choose(o->host) : bal_set_uniform(o->dispatchers, o->rng);
    for (int i = 0; i < DRAWS && is_barred(o, dispatcher); i++)
        dispatcher = bal_set_uniform(o->dispatchers, o->rng);
    return dispatcher;
}

uint32_t bli_offers_draw(const struct bli_offers *o) {
    const uint32_t backlogged = bli_offers_draw_backlogged(o);
    if (backlogged != BAL_SET_ABSENT || o->dispatchers->count == 0)
        return backlogged;
    return draw_any(o);
}

/* ---- offers ---- */

void bli_offers_make(const struct bli_offers *o, uint32_t dispatcher) {
    struct bli_offer_party *party = offers_party(o, dispatcher);
    party->offers++;
    bli_offers_set(o, dispatcher, party->offered + 1);
    o->send(o->host, dispatcher, BLI_OFFER_MADE);
}

static bool may_offer_more(const struct bli_offers *o) {
    return !o->at_rate && *o->offered < o->slots;
}

void bli_offers_fill(const struct bli_offers *o) {
    while (may_offer_more(o)) {
        const uint32_t dispatcher = bli_offers_draw(o);
        if (dispatcher == BAL_SET_ABSENT)
            return;
        bli_offers_make(o, dispatcher);
    }
}

/* The same for an offer that was returned. Where no other dispatcher can use it either, it is offered again
 * with the next beat only: otherwise it would come back at once, again and again. */
static void offer_elsewhere(const struct bli_offers *o) {
    while (may_offer_more(o)) {
        const uint32_t dispatcher = bli_offers_draw(o);
        if (dispatcher == BAL_SET_ABSENT || is_barred(o, dispatcher))
            return;
        bli_offers_make(o, dispatcher);
    }
}

void bli_offers_move(const struct bli_offers *o) {
    const uint32_t dispatcher = bli_offers_draw(o);
    if (dispatcher == BAL_SET_ABSENT || o->slots == 0)
        return;
    while (o->holders->count)
        bli_offers_set(o, o->holders->slot[0], 0);
    bli_offers_make(o, dispatcher);
}

void bli_offers_use(const struct bli_offers *o, uint32_t dispatcher) {
    struct bli_offer_party *party = offers_party(o, dispatcher);
    claim_slot_used(&party->claim);
    bli_offers_set(o, dispatcher, party->offered - (party->offered > 0));
}

void bli_offers_trim(const struct bli_offers *o) {
    while (*o->offered > o->slots) {
        const uint32_t dispatcher = bal_set_uniform(o->holders, o->rng);
        bli_offers_set(o, dispatcher, offers_party(o, dispatcher)->offered - 1);
    }
}

/* ---- dispatchers that hold jobs ---- */

/* A dispatcher whose offer may be taken back, drawn uniformly or nearly so; BAL_SET_ABSENT: there is none. */
static uint32_t find_holder(const struct bli_offers *o, uint32_t but) {
    const uint32_t count = o->holders->count;
    const uint32_t first = count ? bal_rng_below(o->rng, count) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t dispatcher = o->holders->slot[(first + i) % count];
        if (dispatcher != but && !claim_is_reserved(&offers_party(o, dispatcher)->claim, o->now, o->beat))
            return dispatcher;
    }
    return BAL_SET_ABSENT;
}

static void retract_offer(const struct bli_offers *o, uint32_t dispatcher) {
    struct bli_offer_party *party = offers_party(o, dispatcher);
    claim_retract(&party->claim, o->now, o->beat);
    bli_offers_set(o, dispatcher, party->offered - 1);
    o->send(o->host, dispatcher, BLI_OFFER_CHANGED);
}

/* As many slots as a dispatcher with a backlog holds jobs are offered to it, if need be after they have been
 * taken back from others. True: at least one has been. */
static bool offer_to_backlogged(const struct bli_offers *o, uint32_t dispatcher) {
    const struct bli_offer_party *party = offers_party(o, dispatcher);
    const uint32_t before = party->offered;
    const uint32_t wanted = party->claim.held < o->slots ? party->claim.held : o->slots;
    while (!o->at_rate && party->offered < wanted) {
        if (*o->offered >= o->slots) {
            const uint32_t holder = find_holder(o, dispatcher);
            if (holder == BAL_SET_ABSENT)
                break;
            retract_offer(o, holder);
        }
        bli_offers_make(o, dispatcher);
    }
    return party->offered > before;
}

/* Where dispatchers have a backlog while free slots are offered to others: those that are no longer reserved
 * go to them. Iterates backwards, because one that gets an offer may leave the set. */
static void serve_backlogged(const struct bli_offers *o) {
    for (uint32_t i = o->holders->count && o->slots ? o->backlogged->count : 0; i-- > 0;) {
        const uint32_t dispatcher = o->backlogged->slot[i];
        if (!has_backlog(o, dispatcher)) {
            offers_party(o, dispatcher)->claim.held = 0;
            bal_set_remove(o->backlogged, dispatcher);
        } else if (!is_barred(o, dispatcher)) {
            offer_to_backlogged(o, dispatcher);
        }
    }
}

void bli_offers_beat(const struct bli_offers *o) {
    bli_offers_fill(o);
    serve_backlogged(o);
}

static void receive_question(const struct bli_offers *o, uint32_t dispatcher, double until) {
    struct bli_offer_party *party = offers_party(o, dispatcher);
    party->claim.asked = 1;
    if (party->claim.held == 0) {
        party->claim.barred_until = until;
        bli_offers_set(o, dispatcher, 0);
        offer_elsewhere(o);
    } else if (!offer_to_backlogged(o, dispatcher)) {
        party->claim.held = 0;
        bli_offers_set(o, dispatcher, party->offered);
        o->send(o->host, dispatcher, BLI_OFFER_REFUSED);
    }
}

void bli_offers_receive_backlog(const struct bli_offers *o, uint32_t dispatcher, uint32_t held, double until,
                                bool alone) {
    struct bli_offer_party *party = offers_party(o, dispatcher);
    claim_update(&party->claim, held, until);
    bli_offers_set(o, dispatcher, party->offered);
    if (alone)
        receive_question(o, dispatcher, until);
    else if (!is_barred(o, dispatcher))
        offer_to_backlogged(o, dispatcher);
    if (party->claim.held == 0) /* another dispatcher may be able to use its offer now */
        serve_backlogged(o);
}

void bli_offers_reset(const struct bli_offers *o, uint32_t dispatcher) {
    claim_reset(&offers_party(o, dispatcher)->claim);
    bli_offers_set(o, dispatcher, 0);
    o->send(o->host, dispatcher, BLI_OFFER_CHANGED);
    bli_offers_fill(o);
}

/* ---- offers that are sent with responses ---- */

uint32_t bli_offers_reserve(const struct bli_offers *o, uint32_t dispatcher) {
    const uint32_t to = bli_offers_draw(o);
    if (to == dispatcher)
        offers_party(o, to)->offers++;
    return to;
}

bool bli_offers_end_reservation(const struct bli_offers *o, uint32_t dispatcher, enum bli_offer_ride ride) {
    const bool others_wait =
        bli_offers_draw_backlogged(o) != BAL_SET_ABSENT && !bal_set_contains(o->backlogged, dispatcher);
    if (others_wait || *o->offered >= o->slots) {
        if (ride != BLI_RIDE_NONE)
            o->send(o->host, dispatcher, BLI_OFFER_CHANGED);
        return false;
    }
    if (ride != BLI_RIDE_NEWEST) {
        bli_offers_make(o, dispatcher);
        return false;
    }
    bli_offers_set(o, dispatcher, offers_party(o, dispatcher)->offered + 1);
    return true;
}
