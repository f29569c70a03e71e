/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may join, for dispatchers and stations alike: the part of their blocks that knows no members, only
 * whether one more is accepted. */
#ifndef LIVE_JOIN_PRIVATE_H
#define LIVE_JOIN_PRIVATE_H

#include "ballast/live/join.h"
#include "ballast/random.h"

struct bli_joins {
    uint64_t secret[2];  /* of the numbers in challenges; zeros: not drawn yet */
    uint64_t departures; /* members that have left */
    uint64_t version;    /* one more whenever the members change */
    uint32_t members;
    uint64_t challenged; /* since `counted_at`: a bit for each of BAL_JOIN_CHALLENGES groups of senders */
    uint64_t counted_at;
};

/* What becomes of a message of a sender that is not known. FRESH: a JOIN that is proved; the caller adds the
 * member. UNPROVEN: with *challenged, *challenge is to be sent. */
enum bal_receipt bli_joins_receive(struct bli_joins *joins, const struct bal_join_config *config,
                                   enum bal_join_kind wanted, uint64_t now, struct bal_rng *rng,
                                   const struct bal_message *message, struct bal_message *challenge,
                                   bool *challenged);

/* May this one, which was a member of the block that ours replaces, be one here without a proof? */
bool bli_joins_may_adopt(const struct bli_joins *joins, const struct bal_join_config *config,
                         const struct bal_member *member);

static inline void bli_joins_add(struct bli_joins *joins) {
    joins->members++;
    joins->version++;
}

/* forgotten: it has left; else it is listed now. */
static inline void bli_joins_remove(struct bli_joins *joins, bool forgotten) {
    joins->members--;
    joins->version++;
    joins->departures += forgotten;
}

/* The message with which one asks to join. nonce: that of the challenge, or 0. */
static inline struct bal_message bli_join_message(const struct bal_join_config *config,
                                                  enum bal_join_kind kind, uint64_t receiver,
                                                  uint64_t nonce) {
    return (struct bal_message){.type = BAL_MSG_JOIN,
                                .receiver = receiver,
                                .join = {.nonce = nonce, .kind = kind, .address = config->own}};
}

#endif
