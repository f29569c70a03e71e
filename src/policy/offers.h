/* SPDX-License-Identifier: BSD-2-Clause */
/* To which dispatchers the free slots of a server have been offered, and who gets the next one.
 *
 * A free slot is offered to one dispatcher: one that holds jobs (a backlog), else one chosen uniformly at
 * random. A slot that is offered to one without a backlog is taken back for one that has a backlog. The
 * invariant: an idle slot is not reserved for a dispatcher that cannot use it while another one has reported
 * a backlog, for longer than two beats. The reason: a dispatcher that holds jobs uses an offer as
 * soon as it receives it. One that has reported a backlog and has not used its offer for a beat is dead, cut
 * off, or has closed this server. When another one requests the slot it gets it, and the one that did not use
 * it is barred for three beats: it is chosen last, and its offers may be taken back at once. A job from it
 * ends the bar. A dispatcher that knows that it cannot use offers reports that itself, which bars it for as
 * long as it says.
 *
 * At the other end an offer is a token. Tokens are numbered by the server for each dispatcher, so that one
 * that has been used, or was received before, is not counted again.
 *
 * No clock, no messages: times are handed in, in any unit, and `send` is called for each message. The numbers
 * may lie in memory that processes share; a struct bli_offers is a view of them that is made for a call or a
 * few. Live stations and the servers of the lab's network engine both use it. All calls are O(1) unless
 * stated otherwise. */
#ifndef POLICY_OFFERS_H
#define POLICY_OFFERS_H

#include "ballast/set.h"
#include "policy/claim.h"

/* What a server keeps of each dispatcher. All zeros: nothing. */
struct bli_offer_party {
    uint64_t offers;  /* ever: the number of the last one */
    uint32_t offered; /* slots that it has been offered and has not used */
    struct bli_slot_claim claim;
};

enum bli_offer_news {
    BLI_OFFER_MADE,    /* it has been offered one more slot */
    BLI_OFFER_CHANGED, /* an offer has been taken back, or it has restarted: it needs the present state */
    BLI_OFFER_REFUSED, /* it has requested a slot and gets none: a heartbeat to it alone */
};

struct bli_offers {
    struct bli_offer_party *party; /* of dispatcher 0; the others lie `stride` bytes apart */
    size_t stride;
    const struct bal_set *dispatchers;
    struct bal_set *holders;    /* those that have offers */
    struct bal_set *backlogged; /* those that hold more jobs than they have offers, and maybe others */
    uint32_t *offered;          /* to all together */
    uint32_t slots;             /* that may be offered now, those included that have been */
    bool at_rate; /* slots are offered at a rate (bli_offers_move), and not when they become free */
    double now, beat;
    struct bal_rng *rng;
    uint32_t (*choose)(void *host); /* a dispatcher when none has a backlog; NULL: a uniform one */
    void (*send)(void *host, uint32_t dispatcher, enum bli_offer_news news);
    void *host;
};

static inline struct bli_offer_party *offers_party(const struct bli_offers *o, uint32_t dispatcher) {
    return (struct bli_offer_party *)(void *)((char *)o->party + dispatcher * o->stride);
}

/* So many are its offers now; no message. */
void bli_offers_set(const struct bli_offers *o, uint32_t dispatcher, uint32_t offered);
/* No one has offers any longer; no messages. O(dispatchers). */
void bli_offers_clear(const struct bli_offers *o);
/* Sets and total are set up again from what is kept of each dispatcher. O(dispatchers). */
void bli_offers_rebuild(const struct bli_offers *o);

/* A dispatcher with a backlog that is not barred, uniformly; BAL_SET_ABSENT: there is none. */
uint32_t bli_offers_draw_backlogged(const struct bli_offers *o);
/* The same; where there is none, any dispatcher, but a barred one only where almost all are.
 * BAL_SET_ABSENT: there are no dispatchers. */
uint32_t bli_offers_draw(const struct bli_offers *o);

/* Offers it one more slot. */
void bli_offers_make(const struct bli_offers *o, uint32_t dispatcher);
/* Offers all free slots that have not been offered. */
void bli_offers_fill(const struct bli_offers *o);
/* Takes all offers back, without a message, and makes one. */
void bli_offers_move(const struct bli_offers *o);
/* A job of this dispatcher has come: it uses what it was offered. */
void bli_offers_use(const struct bli_offers *o, uint32_t dispatcher);
/* A slot that was offered may be in use by another job: withdraws offers, uniformly, until no more are left
 * than there are free slots. No message: the next heartbeat says so. */
void bli_offers_trim(const struct bli_offers *o);
/* A heartbeat is about to be sent: unused offers get new numbers, because the message may have been lost. */
static inline void offer_renew(struct bli_offer_party *party) {
    party->offers += party->offered;
}

/* A dispatcher has reported that it holds so many jobs, valid until then. alone: to this server alone, which
 * requests one slot and is always answered; with held 0 it means that it cannot use offers until then. */
void bli_offers_receive_backlog(const struct bli_offers *o, uint32_t dispatcher, uint32_t held, double until,
                                bool alone);
/* It has restarted, or can use offers again: it gets the present state. */
void bli_offers_reset(const struct bli_offers *o, uint32_t dispatcher);
/* The server's heartbeats have been sent: offers what is free and not offered; and slots that are no longer
 * reserved go to dispatchers with a backlog. O(dispatchers with a backlog). */
void bli_offers_beat(const struct bli_offers *o);

/* ---- offers that are sent with responses: they cost no message ----
 *
 * Before a response is sent it is decided who gets the slot that its end will free. If it is the dispatcher
 * that gets the response, the offer is sent with it. It takes effect when the response ends. */

/* Will a slot be free that may be offered, when a job has ended and nothing else happens? waiting: jobs that
 * would use it. */
static inline bool offers_fit_response(const struct bli_offers *o, uint32_t waiting) {
    return !o->at_rate && waiting == 0 && *o->offered <= o->slots;
}
/* Who gets the slot. If it is this dispatcher, to which the response goes, the offer has its number now. */
uint32_t bli_offers_reserve(const struct bli_offers *o, uint32_t dispatcher);

enum bli_offer_ride {
    BLI_RIDE_NONE,     /* the slot is reserved for a dispatcher that does not get the response */
    BLI_RIDE_NEWEST,   /* the offer was sent with the response */
    BLI_RIDE_OUTDATED, /* the same, but a message to a dispatcher was sent since, and the offer may look late
                        */
};
/* The response has ended, and this dispatcher had the reservation: it is offered the slot, unless the slot is
 * not free or others hold jobs. True: the offer that was sent with the response is valid. */
bool bli_offers_end_reservation(const struct bli_offers *o, uint32_t dispatcher, enum bli_offer_ride ride);

/* ---- at a dispatcher ---- */

struct bli_tokens {
    uint64_t seen;  /* the last one that was offered to us */
    uint32_t count; /* at hand */
};

/* The last `free` tokens up to this number are ours. Returns how many are new. */
static inline uint32_t tokens_receive(struct bli_tokens *tokens, uint64_t number, uint32_t free) {
    const uint64_t unseen = number > tokens->seen ? number - tokens->seen : 0;
    const uint32_t fresh = unseen < free ? (uint32_t)unseen : free;
    const uint64_t count = (uint64_t)tokens->count + fresh;
    tokens->seen = number > tokens->seen ? number : tokens->seen;
    tokens->count = count < free ? (uint32_t)count : free;
    return fresh;
}

#endif
