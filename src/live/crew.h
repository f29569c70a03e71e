/* What processes that share a block have in common: who takes part, and what each hands out: messages to be
 * sent and processes to be woken. */
#ifndef LIVE_CREW_H
#define LIVE_CREW_H

#include "ballast/live/wire.h"
#include "live/ledger.h"

enum { BAL_CREW_MOST = 256, BAL_OUT_ROOM = 256 };

/* A process that takes part, in the block. */
struct bal_owner {
    uint64_t pid, start;
    uint32_t used;        /* written last */
    struct bal_list news; /* its requests on which there is a verdict that it does not know yet */
};

/* What one process hands out, in its view. */
struct bal_outbox {
    bool wakes; /* somebody is to be woken */
    uint32_t outs;
    uint64_t woken[BAL_CREW_MOST / 64];
    struct bal_message out[BAL_OUT_ROOM];
};

/* A place among `count` for this process; BAL_NOBODY: there is none. O(count). */
static inline uint32_t bal_crew_join(struct bal_owner *owner, uint32_t count, uint64_t pid, uint64_t start) {
    uint32_t i = 0;
    while (i < count && owner[i].used)
        i++;
    if (i == count)
        return BAL_NOBODY;
    owner[i].pid = pid;
    owner[i].start = start;
    __atomic_store_n(&owner[i].used, 1, __ATOMIC_RELEASE);
    return i;
}

static inline void bal_crew_leave(struct bal_owner *owner) {
    __atomic_store_n(&owner->used, 0, __ATOMIC_RELEASE);
}

/* Leaves a message to be sent, stamped. False: there is no room, and it is lost. */
static inline bool bal_outbox_say(struct bal_outbox *box, struct bal_sender *sender,
                                  const struct bal_message *message) {
    if (box->outs == BAL_OUT_ROOM)
        return false;
    box->out[box->outs] = *message;
    bal_sender_stamp(sender, &box->out[box->outs++]);
    return true;
}

static inline const struct bal_message *bal_outbox_take(struct bal_outbox *box, uint32_t *count) {
    *count = box->outs;
    box->outs = 0;
    return box->out;
}

static inline void bal_outbox_wake(struct bal_outbox *box, uint32_t owner) {
    box->woken[owner / 64] |= UINT64_C(1) << owner % 64;
    box->wakes = true;
}

/* Somebody to be woken, or BAL_NOBODY; each is told once. */
static inline uint32_t bal_outbox_woken(struct bal_outbox *box) {
    for (uint32_t word = 0; box->wakes && word < BAL_CREW_MOST / 64; word++)
        if (box->woken[word]) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(box->woken[word]);
            box->woken[word] &= box->woken[word] - 1;
            return 64 * word + bit;
        }
    box->wakes = false;
    return BAL_NOBODY;
}

/* A span of time as messages tell it. */
static inline uint32_t bal_milliseconds(uint64_t ns) {
    const uint64_t ms = (ns + 999999) / 1000000;
    return ms < 1 ? 1 : ms > BAL_VALID_MAX ? BAL_VALID_MAX : (uint32_t)ms;
}

#endif
