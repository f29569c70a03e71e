/* SPDX-License-Identifier: BSD-2-Clause */
/* The work-stealing chain (Berenbrink, Friedetzky and Goldberg 2001), step by step. The engine runs it; tests
 * look at it between two steps.
 *
 * In slot t = 1, 2, ...: (1) each of n generators makes a job with probability lambda and puts it on the
 * server where it sits; (2) every server that is empty now names a victim, uniformly; (3) a victim that was
 * named by several picks one of them uniformly, and gives it f(l) of its l jobs, the last ones of its queue,
 * whose order stays as it was; (4) every server serves one job. A job made and served in the same slot has
 * response time 1 and waits 0 slots.
 *
 * What is drawn, from which stream and in which order (tests repeat it):
 *   arrivals  in each slot a coin for each generator, 64 at a time (base/bernoulli_bits.h), the same
 *             for every placement and f;
 *   places    `moving`: the host of the slot (`longest`, `shortest` and `cycling` draw nothing); `walk`: a
 *             word for 64 generators each, which move before they
 *             make a job: to the next server where a bit is set, to the one before where it is not;
 *   stealing  for each empty server in turn the victim, a number below n; among the others a number below
 *             n - 1, where those from its own on stand for the next server each. A victim that has something
 *             to give draws a number below k when it is named for the k-th time, k > 1: at 0 it changes its
 *             choice to the newcomer. */
#ifndef ENGINE_STEALING_CHAIN_H
#define ENGINE_STEALING_CHAIN_H

#include "base/bernoulli_bits.h"
#include "engine/queues.h"
#include "engine/tally.h"

enum { STEALING_COUNTED = 1 << 14 }; /* response times below this are counted by value */

/* What a victim knows of its thieves. */
struct steal_request {
    uint32_t askers;
    uint32_t thief; /* one of them: the choice so far */
};

/* Generators that stay at one server, one after the other. */
struct site {
    uint32_t host;
    uint32_t first, count; /* generators */
};

/* A server that only works off its queue is not touched: it is known when it will be empty. What it has
 * served meanwhile is counted ("settled") when it gets or loses jobs, and at the end of a slice. */
struct stealing {
    uint32_t servers;
    uint64_t slot;     /* the current one, or the last */
    uint64_t *end;     /* with which slot a server is empty: after `slot` it has end - slot jobs, or none */
    uint64_t *settled; /* up to which slot its services are counted */
    struct bli_queues runs; /* its jobs, but for those: arrival slot << 32 | jobs, slots modulo 2^32 */

    const struct bli_model *model;
    struct bal_rng arrivals, places, choices;
    struct bli_bernoulli coin;
    uint64_t *made;    /* jobs of this slot, a bit for each generator */
    uint32_t *place;   /* `walk`: where each generator is */
    struct site *site; /* `hosts` and `map` */
    uint32_t sites;
    uint32_t *asker;                     /* the empty servers */
    uint32_t *victim;                    /* the servers that are robbed in this slot */
    uint64_t *stolen_from;               /* which they are, a bit for each server; clear between slots */
    struct steal_request *steal_request; /* of each that is */

    uint64_t created, served; /* jobs, since the start */
    uint64_t sum;             /* of the total queue, over the slots of the slice, at the end of each */

    /* of what is settled in this slice: */
    int64_t finished[STEALING_COUNTED + 1]; /* jobs by response time; each is a step from the one before */
    uint32_t longest;                       /* there are no steps behind */
    int64_t held[LEVELS + 1]; /* slots x servers by length of queue, in steps; not the last level */
    int64_t held_top;         /* those with LEVELS - 1 jobs or more */
    struct tally tally;
};

/* The model must have passed bli_simulate_check. On failure, too, it has to be torn down. */
enum bal_code bli_stealing_init(struct stealing *s, const struct bli_model *model, const struct bli_run *run);
void bli_stealing_fini(struct stealing *s);

/* One slot, in O(servers). Fails only without memory; the chain must not be used after that. */
enum bal_code bli_stealing_step(struct stealing *s);

/* Closes the slice that ends with this slot. */
enum bal_code bli_stealing_close_slice(struct stealing *s);

/* Jobs of a server after the last slot, and of all. */
static inline uint64_t stealing_length(const struct stealing *s, uint32_t server) {
    return s->end[server] > s->slot ? s->end[server] - s->slot : 0;
}

static inline uint64_t stealing_queue(const struct stealing *s) {
    return s->created - s->served;
}

#endif
