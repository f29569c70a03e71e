/* A process that is killed in the middle of an operation, with the lock in its hand.
 *
 * Whatever follows from the requests may be half written: each word of the block is as it was before the
 * operation or as it is after it. Requests change in one store each. What is known of servers is written
 * before the requests that use it, so that either no request has changed, or all servers have. */
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
static inline void tear_part(const struct torn_part *part, const char *before, const char *after, bool old,
                             bool new, struct bal_rng *rng) {
    for (size_t i = 0; i + part->stride <= part->size; i += part->stride) {
        const bool is_new = new || (!old && bal_rng_below(rng, 2));
        memcpy(part->at + i, (is_new ? after : before) + i, part->stride);
    }
}

/* block: as it is after the operation; before: a copy of it before; facts: what is known of servers or
 * dispatchers, entries: the requests. */
static inline void tear(char *block, const char *before, size_t size, const struct torn_part *facts,
                        const struct torn_part *entries, struct bal_rng *rng) {
    char *after = malloc(size);
    if (!after)
        abort();
    memcpy(after, block, size);
    const bool published = bal_rng_below(rng, 2);
    tear_words(block, before, size, rng);
    tear_part(facts, before + (facts->at - block), after + (facts->at - block), false, published, rng);
    tear_part(entries, before + (entries->at - block), after + (entries->at - block), !published, false, rng);
    free(after);
}

#endif
