/* SPDX-License-Identifier: BSD-2-Clause */
/* What a server knows of a dispatcher that may want its free slots, and whether a slot that it has offered to
 * the dispatcher is reserved for it.
 *
 * A dispatcher that holds jobs sends a backlog message, to all servers or to this one alone. A slot goes to a
 * dispatcher with a backlog, and is taken back from one without. A dispatcher that holds jobs uses an offer
 * as soon as it receives it; so an offer is reserved for one beat, and a dispatcher with a backlog that has
 * not used it by then cannot: it is barred for three beats, in which it is chosen last. A dispatcher that
 * knows that it cannot use offers sends a message. A job that comes from it ends that.
 *
 * No clock: times are handed in, in any unit. Live stations and the lab's network engine both use it. */
#ifndef POLICY_CLAIM_H
#define POLICY_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

enum { BLI_CLAIM_BEATS_BARRED = 3 };

struct bli_slot_claim {
    double backlog_valid_until;
    double offered_at;   /* since when it has had an offer and used none */
    double barred_until; /* it cannot use offers, by its own message or because it has not used one */
    uint32_t held;       /* jobs that it holds, by its last message */
    uint32_t asked;      /* its message went to this server alone: it wants a slot for one job */
};

static inline bool claim_is_barred(const struct bli_slot_claim *c, double now) {
    return now < c->barred_until;
}

static inline bool claim_has_backlog(const struct bli_slot_claim *c, double now) {
    return c->held && now < c->backlog_valid_until;
}

/* Is what it has been offered its own? It has a backlog and has had no time yet to use it. */
static inline bool claim_is_reserved(const struct bli_slot_claim *c, double now, double beat) {
    return claim_has_backlog(c, now) && !claim_is_barred(c, now) && now < c->offered_at + beat;
}

/* A backlog message has come: how many jobs it holds. */
static inline void claim_update(struct bli_slot_claim *c, uint32_t held, double until) {
    c->held = held;
    c->backlog_valid_until = until;
    c->asked = 0;
}

/* A job of it has come. */
static inline void claim_slot_used(struct bli_slot_claim *c) {
    c->barred_until = 0;
    if (c->asked)
        c->held = 0;
}

/* A slot is taken back. If it reported a backlog and has not used the slot, it cannot use slots for now. */
static inline void claim_retract(struct bli_slot_claim *c, double now, double beat) {
    if (claim_has_backlog(c, now))
        c->barred_until = now + BLI_CLAIM_BEATS_BARRED * beat;
}

/* The dispatcher has been restarted. */
static inline void claim_reset(struct bli_slot_claim *c) {
    c->held = 0;
    c->barred_until = 0;
}

#endif
