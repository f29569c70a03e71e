/* SPDX-License-Identifier: BSD-2-Clause */
/* What dispatcher and station share for their worker processes: the table of processes that use the block,
 * and each process's outbox: messages to be sent and processes to be woken. */
#ifndef LIVE_WORKERS_H
#define LIVE_WORKERS_H

#include "ballast/live/wire.h"
#include "live/ledger.h"

enum {
    BLI_WORKER_SLOTS = 256,
    BLI_OUT_ROOM = 256
}; /* OUT_ROOM: next to what one request may ask of a fleet */

/* A registered process, in the block. */
struct bli_worker {
    uint64_t pid, start;
    uint32_t used;        /* written last */
    struct bli_list news; /* its requests with a decision that it does not know yet */
};

/* Outgoing messages and wake-ups of one process, in its view. */
struct bli_outbox {
    bool wakes; /* a process is to be woken */
    uint32_t outs, room;
    uint64_t woken[BLI_WORKER_SLOTS / 64];
    struct bal_message *out; /* `room` of them, in the same view */
};

/* A free row among `count` for this process; BLI_NOBODY: there is none. O(count). */
static inline uint32_t bli_worker_join(struct bli_worker *owner, uint32_t count, uint64_t pid,
                                       uint64_t start) {
    uint32_t i = 0;
    while (i < count && owner[i].used)
        i++;
    if (i == count)
        return BLI_NOBODY;
    owner[i].pid = pid;
    owner[i].start = start;
    __atomic_store_n(&owner[i].used, 1, __ATOMIC_RELEASE);
    return i;
}

static inline void bli_worker_leave(struct bli_worker *owner) {
    __atomic_store_n(&owner->used, 0, __ATOMIC_RELEASE);
}

/* Stamps a message and queues it for sending. False: the outbox is full, and the message is lost. */
static inline bool bli_outbox_add(struct bli_outbox *box, struct bal_sender *sender,
                                  const struct bal_message *message) {
    if (box->outs == box->room)
        return false;
    box->out[box->outs] = *message;
    bal_sender_stamp(sender, &box->out[box->outs++]);
    return true;
}

static inline const struct bal_message *bli_outbox_drain(struct bli_outbox *box, uint32_t *count) {
    *count = box->outs;
    box->outs = 0;
    return box->out;
}

static inline void bli_outbox_wake(struct bli_outbox *box, uint32_t owner) {
    box->woken[owner / 64] |= UINT64_C(1) << owner % 64;
    box->wakes = true;
}

/* The next process to be woken, or BLI_NOBODY; each is returned once. */
static inline uint32_t bli_outbox_next_to_wake(struct bli_outbox *box) {
    for (uint32_t word = 0; box->wakes && word < BLI_WORKER_SLOTS / 64; word++)
        if (box->woken[word]) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(box->woken[word]);
            box->woken[word] &= box->woken[word] - 1;
            return 64 * word + bit;
        }
    box->wakes = false;
    return BLI_NOBODY;
}

/* Nanoseconds as the milliseconds of a message. */
static inline uint32_t bli_milliseconds(uint64_t ns) {
    const uint64_t ms = (ns + 999999) / 1000000;
    return ms < 1 ? 1 : ms > BAL_VALID_MAX ? BAL_VALID_MAX : (uint32_t)ms;
}

#endif
