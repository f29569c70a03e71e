/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that is killed in the middle of an operation, with the lock in its hand.
 *
 * Whatever follows from the requests may be half written: each word of the block is as it was before the
 * operation or as it is after it. Requests change in one store each, one after the other: first those that
 * end, then those that go on because of it, in the order in which their processes are told. What is known of
 * servers is written before the requests that use it, so that either no request has changed, or all servers
 * have. */
#ifndef TESTS_LIVE_TEAR_H
#define TESTS_LIVE_TEAR_H

#include "live/ledger.h"

#include "ballast/random.h"

#include <stdlib.h>
#include <string.h>

/* Parts of a block that are written as a whole. */
struct torn_part {
    char *at;
    size_t size, stride;
};

static inline void tear_words(char *block, const char *before, size_t size, struct bal_rng *rng) {
    for (size_t i = 0; i + 8 <= size; i += 8)
        if (memcmp(block + i, before + i, 8) != 0 && bal_rng_below(rng, 2))
            memcpy(block + i, before + i, 8);
}

/* Each element as before or as after; `all`: as after. */
static inline void tear_facts(const struct torn_part *part, const char *before, const char *after, bool all,
                              struct bal_rng *rng) {
    for (size_t i = 0; i + part->stride <= part->size; i += part->stride) {
        const bool new = all || bal_rng_below(rng, 2);
        memcpy(part->at + i, (new ? after : before) + i, part->stride);
    }
}

/* Does the entry at a change before the one at b? Both have been changed. */
static inline bool tear_is_sooner(const char *after, size_t a, size_t b) {
    const struct bli_ledger_entry *x = (const void *)(after + a), *y = (const void *)(after + b);
    const bool x_ends = x->state == BLI_ENTRY_FREE, y_ends = y->state == BLI_ENTRY_FREE;
    if (x_ends != y_ends)
        return x_ends;
    return x_ends ? a < b : x->order < y->order;
}

/* The first `changes` changes have been made, and no others; returns how many there were. */
static inline size_t tear_entries(const struct torn_part *part, const char *before, const char *after,
                                  size_t changes) {
    size_t changed = 0;
    for (size_t i = 0; i + part->stride <= part->size; i += part->stride) {
        const bool differs = memcmp(before + i, after + i, part->stride) != 0;
        size_t sooner = 0;
        for (size_t k = 0; differs && k + part->stride <= part->size; k += part->stride)
            sooner += memcmp(before + k, after + k, part->stride) != 0 && tear_is_sooner(after, k, i);
        memcpy(part->at + i, (differs && sooner < changes ? after : before) + i, part->stride);
        changed += differs;
    }
    return changed;
}

/* block: as it is after the operation; before: a copy of it before; facts: what is known of servers or
 * dispatchers, entries: the requests, owners: who takes part. */
static inline void tear(char *block, const char *before, size_t size, const struct torn_part *facts,
                        const struct torn_part *entries, const struct torn_part *workers,
                        struct bal_rng *rng) {
    char *after = malloc(size);
    if (!after)
        abort();
    memcpy(after, block, size);
    tear_words(block, before, size, rng);
    const char *entries_before = before + (entries->at - block),
               *entries_after = after + (entries->at - block);
    const size_t changed = tear_entries(entries, entries_before, entries_after, 0);
    const size_t changes = bal_rng_below(rng, (uint32_t)changed + 1);
    tear_entries(entries, entries_before, entries_after, changes);
    tear_facts(facts, before + (facts->at - block), after + (facts->at - block), changes > 0, rng);
    const bool all_changed = changes == changed;
    memcpy(workers->at, (all_changed && bal_rng_below(rng, 2) ? after : before) + (workers->at - block),
           workers->size);
    free(after);
}

#endif
