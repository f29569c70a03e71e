/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the jobs of coming events will go, under policies that keep a pool of idle servers, on fleets far too
 * large for the cache.
 *
 * Such a policy looks at a uniform place of its pool, and the engine at the queue of the server that it finds
 * there: two waits for memory, one after the other. But it is known what the next events are and, of the
 * completions among them, which leave a server idle; hence how large the pool will be at each arrival and,
 * with a copy of the policy's random numbers, which place it will look at. This errs where an event changes
 * what another one does, as when both are at one server; nothing rests on it but what is fetched.
 *
 * Places are fetched two bursts of events ahead, and the queues of the servers that are there one burst
 * later. */
#ifndef ENGINE_PREFETCH_H
#define ENGINE_PREFETCH_H

#include "engine/system.h"

enum {
    PREFETCH_EVENTS = 16,        /* events of a burst */
    PREFETCH_ROUND = 4,          /* bursts for which random numbers are copied in one go */
    PREFETCH_MIN_BYTES = 3 << 20 /* bytes of queues; with fewer it takes longer than it spares */
};

struct prefetch_burst {
    uint32_t place[PREFETCH_EVENTS]; /* in the pool, of each job */
    uint32_t jobs;
    uint32_t joining; /* servers that will be idle */
};

struct prefetch {
    const struct bal_set *pool;     /* NULL: nothing is foreseen */
    unsigned bursts;                /* so far */
    struct prefetch_burst burst[2]; /* the next two */
    uint32_t number[PREFETCH_ROUND * PREFETCH_EVENTS];
    uint32_t used; /* of the numbers */
};

static inline struct prefetch prefetch_init(const struct system *system) {
    const bool worth = bli_queues_bytes(&system->queues) > PREFETCH_MIN_BYTES &&
                       !(system->features & (HAS_CLASSES | TASKS)) && !system->run->reference;
    const struct bal_set *pool = worth && system->policy->pool ? system->policy->pool(system->state) : NULL;
    return (struct prefetch){.pool = pool && pool->capacity == system->servers ? pool : NULL};
}

/* The numbers that the policy will draw for the jobs behind those of the next two bursts. */
static __attribute__((noinline)) void prefetch_draw_numbers(struct prefetch *prefetch, struct bal_rng rng) {
    for (uint32_t i = prefetch->burst[0].jobs + prefetch->burst[1].jobs; i > 0; i--)
        bal_rng_next(&rng);
    for (unsigned i = 0; i < PREFETCH_ROUND * PREFETCH_EVENTS; i++)
        prefetch->number[i] = (uint32_t)(bal_rng_next(&rng) >> 32);
    prefetch->used = 0;
}

/* Predicts the events of a burst: `server` has the server of each possible completion, BAL_NONE for an
 * arrival. Without branches, which could not be predicted. */
ALWAYS_INLINE void prefetch_predict_burst(struct prefetch *prefetch, struct prefetch_burst *burst,
                                          const uint32_t *server, const uint32_t *length) {
    const struct bal_set *pool = prefetch->pool;
    const uint32_t capacity = pool->capacity, last = capacity - 1;
    const struct prefetch_burst *before = prefetch->burst;
    uint32_t count = pool->count + before[0].joining + before[1].joining - before[0].jobs - before[1].jobs;
    uint32_t jobs = 0, joining = 0;
    const uint32_t *number = prefetch->number + prefetch->used;
    for (unsigned i = 0; i < PREFETCH_EVENTS; i++) {
        const bool arrival = server[i] == BAL_NONE;
        const uint32_t queue = arrival ? last : server[i];
        const bool idle = !arrival & (length[queue] == 1);
        const uint32_t places = count <= capacity ? count : 0; /* it may be wrong, but it must exist */
        burst->place[jobs] = (uint32_t)((uint64_t)number[jobs] * places >> 32); /* as bal_rng_below */
        __builtin_prefetch(&pool->slot[burst->place[jobs]]);
        __builtin_prefetch(&pool->slot[(size_t)capacity + queue]);
        jobs += arrival;
        joining += idle;
        count += (uint32_t)idle - arrival;
    }
    prefetch->used += jobs;
    burst->jobs = jobs;
    burst->joining = joining;
}

/* Fetches the queues of the servers that are at the places of a burst now. */
ALWAYS_INLINE void prefetch_queues(const struct prefetch *prefetch, const struct prefetch_burst *burst,
                                   const struct bli_queues *queues, uint32_t words) {
    const struct bal_set *pool = prefetch->pool;
    for (uint32_t i = 0; i < burst->jobs; i++) {
        const uint32_t server = pool->slot[burst->place[i]];
        __builtin_prefetch(&pool->slot[(size_t)pool->capacity + server]);
        __builtin_prefetch(&queues->length[server]);
        __builtin_prefetch(bli_queues_ring(queues, server, words));
    }
}

/* Before each burst of events: `server` are those of the next burst but one, whose queues have come. */
ALWAYS_INLINE void prefetch_next_burst(struct prefetch *prefetch, const struct system *system,
                                       const uint32_t *server, uint32_t words) {
    if (prefetch->bursts % PREFETCH_ROUND == 0)
        prefetch_draw_numbers(prefetch, system->rng);
    struct prefetch_burst *const past = &prefetch->burst[prefetch->bursts++ % 2];
    prefetch_predict_burst(prefetch, past, server, system->queues.length);
    prefetch_queues(prefetch, &prefetch->burst[prefetch->bursts % 2], &system->queues, words);
}

#endif
