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
#ifndef ENGINE_FORESIGHT_H
#define ENGINE_FORESIGHT_H

#include "engine/system.h"

enum {
    FORESEEN = 16,            /* events of a burst */
    FORESEEN_ROUND = 4,       /* bursts for which random numbers are copied in one go */
    FORESIGHT_LEAST = 3 << 20 /* bytes of queues; with fewer it takes longer than it spares */
};

struct foreseen {
    uint32_t place[FORESEEN]; /* in the pool, of each job */
    uint32_t jobs;
    uint32_t joining; /* servers that will be idle */
};

struct foresight {
    const struct bal_set *pool; /* NULL: nothing is foreseen */
    unsigned bursts;            /* so far */
    struct foreseen burst[2];   /* the next two */
    uint32_t number[FORESEEN_ROUND * FORESEEN];
    uint32_t used; /* of the numbers */
};

static inline struct foresight foresight_of(const struct system *system) {
    const bool worth = bal_queues_bytes(&system->queues) > FORESIGHT_LEAST &&
                       !(system->features & (RANKED | TASKS)) && !system->run->plain;
    const struct bal_set *pool = worth && system->policy->pool ? system->policy->pool(system->state) : NULL;
    return (struct foresight){.pool = pool && pool->capacity == system->servers ? pool : NULL};
}

/* The numbers that the policy will draw for the jobs behind those of the next two bursts. */
static __attribute__((noinline)) void foresight_draw(struct foresight *foresight, struct bal_rng rng) {
    for (uint32_t i = foresight->burst[0].jobs + foresight->burst[1].jobs; i > 0; i--)
        bal_rng_next(&rng);
    for (unsigned i = 0; i < FORESEEN_ROUND * FORESEEN; i++)
        foresight->number[i] = (uint32_t)(bal_rng_next(&rng) >> 32);
    foresight->used = 0;
}

/* Foresees the events of a burst, of which `server` tells the possible completions, BAL_NONE being an
 * arrival. Without branches, which could not be predicted. */
FOLDED void foresight_look(struct foresight *foresight, struct foreseen *burst, const uint32_t *server,
                           const uint32_t *length) {
    const struct bal_set *pool = foresight->pool;
    const uint32_t capacity = pool->capacity, last = capacity - 1;
    const struct foreseen *before = foresight->burst;
    uint32_t count = pool->count + before[0].joining + before[1].joining - before[0].jobs - before[1].jobs;
    uint32_t jobs = 0, joining = 0;
    const uint32_t *number = foresight->number + foresight->used;
    for (unsigned i = 0; i < FORESEEN; i++) {
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
    foresight->used += jobs;
    burst->jobs = jobs;
    burst->joining = joining;
}

/* Fetches the queues of the servers that are at the places of a burst now. */
FOLDED void foresight_fetch(const struct foresight *foresight, const struct foreseen *burst,
                            const struct bal_queues *queues, uint32_t words) {
    const struct bal_set *pool = foresight->pool;
    for (uint32_t i = 0; i < burst->jobs; i++) {
        const uint32_t server = pool->slot[burst->place[i]];
        __builtin_prefetch(&pool->slot[(size_t)pool->capacity + server]);
        __builtin_prefetch(&queues->length[server]);
        __builtin_prefetch(bal_queues_ring(queues, server, words));
    }
}

/* Before each burst of events: `server` are those of the next burst but one, whose queues have come. */
FOLDED void foresight_go(struct foresight *foresight, const struct system *system, const uint32_t *server,
                         uint32_t words) {
    if (foresight->bursts % FORESEEN_ROUND == 0)
        foresight_draw(foresight, system->rng);
    struct foreseen *const past = &foresight->burst[foresight->bursts++ % 2];
    foresight_look(foresight, past, server, system->queues.length);
    foresight_fetch(foresight, &foresight->burst[foresight->bursts % 2], &system->queues, words);
}

#endif
