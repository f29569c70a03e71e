/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers at which a job has failed: it does not go there again, as far as it remembers.
 *
 * After BLI_TRIES_KEPT servers it forgets the one that it tried first. The host bounds the number of tries.
 * Live dispatchers and those of the lab's network engine both use it. */
#ifndef POLICY_TRIES_H
#define POLICY_TRIES_H

#include <stdbool.h>
#include <stdint.h>

enum { BLI_TRIES_KEPT = 4 };

struct bli_tries {
    uint32_t count; /* failures; no more than UINT32_MAX */
    uint32_t server[BLI_TRIES_KEPT];
};

/* Those that are remembered: the first so many. */
static inline uint32_t tries_kept(const struct bli_tries *t) {
    return t->count < BLI_TRIES_KEPT ? t->count : BLI_TRIES_KEPT;
}

static inline void tries_add(struct bli_tries *t, uint32_t server) {
    t->server[t->count % BLI_TRIES_KEPT] = server;
    t->count += t->count < UINT32_MAX;
}

static inline bool tries_contain(const struct bli_tries *t, uint32_t server) {
    for (uint32_t i = 0; i < tries_kept(t); i++)
        if (t->server[i] == server)
            return true;
    return false;
}

#endif
