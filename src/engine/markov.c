/* SPDX-License-Identifier: BSD-2-Clause */
/* The markov engine: Poisson arrivals and exponential sizes, so that the system is a Markov chain on queue
 * lengths.
 *
 * The chain is uniformised: arrivals at rate lambda and *possible* completions at the full rate of every
 * server, busy or not, form one Poisson process that does not depend on the policy; a possible completion at
 * an idle server has no effect. One uniform number decides which of them an event is and at which server. So
 * every policy sees the same arrivals and the same possible completions: the strongest coupling there is for
 * comparing them.
 *
 * Nothing in the chain depends on when its events happen, only on their order. So the time is either drawn,
 * one exponential for each event, and jobs keep their arrival times; or, which is faster and has less noise,
 * it is the number of events so far (COUNTED): k events later is an Erlang time of k stages later, whose mean
 * is known, and tally.c makes distributions of those numbers. The events themselves are the same in both. */
#include "engine/engine.h"
#include "engine/prefetch.h"
#include "engine/system.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 }; /* a queued job is its arrival time, unless events are counted */

/* The streams of random numbers: what events are, and the times between them. */
struct streams {
    struct bal_rng events, gaps;
};

struct rates {
    double arrivals; /* an event below this is an arrival */
    double total;
    /* servers of group g are possible at [start[g], start[g+1]) above it, width[g] each */
    unsigned groups;
    double start[BLI_GROUPS_MAX + 1];
    double per_width[BLI_GROUPS_MAX];
    uint32_t first[BLI_GROUPS_MAX + 1];
};

static struct rates rates_of(const struct bli_model *model) {
    const struct bli_servers *servers = &model->servers;
    struct rates rates = {.arrivals = bli_model_arrival_rate(model) * bli_curve_max(&model->curve) /
                                      (model->tasks > 1 ? model->tasks : 1),
                          .groups = servers->groups};
    for (unsigned g = 0; g < servers->groups; g++) {
        const double width = servers->group[g].speed / model->size.mean;
        rates.per_width[g] = 1 / width;
        rates.start[g + 1] = rates.start[g] + width * servers->group[g].count;
        rates.first[g + 1] = rates.first[g] + servers->group[g].count;
    }
    rates.total = rates.arrivals + rates.start[rates.groups];
    return rates;
}

/* The server at which a possible completion happens, x being uniform on [0, start[groups]); any server for
 * an x below 0. */
ALWAYS_INLINE uint32_t server_at(const struct rates *rates, double x, unsigned features) {
    unsigned g = 0;
    if (features & MIXED_SPEEDS)
        while (g + 1 < rates->groups && x >= rates->start[g + 1])
            g++;
    const uint32_t first = features & MIXED_SPEEDS ? rates->first[g] : 0;
    const double start = features & MIXED_SPEEDS ? rates->start[g] : 0;
    const uint32_t last = rates->first[g + 1] - 1 - first;
    const uint32_t place = (uint32_t)(int64_t)((x - start) * rates->per_width[g]);
    return first + (place < last ? place : last); /* rounding may reach the end */
}

/* Events lie ahead in a circle, drawn a half of it at a time, so that the draws overlap. Where completions
 * are possible is then known early enough to fetch those queues into the cache, which pays on fleets that do
 * not fit there. They are fetched in bursts: the processor waits for the addresses of pages together, and
 * not for each alone, but more lines than it can have under way would make it wait for memory too. */
enum { AHEAD = 128, BURST = PREFETCH_EVENTS };

struct ahead {
    double gap[AHEAD];
    uint32_t server[AHEAD]; /* of a possible completion; BAL_NONE: an arrival */
};

ALWAYS_INLINE void draw_half(struct ahead *ahead, unsigned first, const struct rates *rates,
                             struct bal_rng *rng, unsigned features) {
    struct bal_rng local = *rng;
    const struct rates copy = *rates; /* that no event can overwrite, as far as the compiler knows */
    for (unsigned i = first; i < first + AHEAD / 2; i++) {
        const double which = bal_rng_uniform(&local) * copy.total - copy.arrivals;
        /* without a branch, which could not be predicted */
        ahead->server[i] = server_at(&copy, which, features) | -(uint32_t)(which < 0);
    }
    *rng = local;
}

static __attribute__((noinline)) void draw_events(struct ahead *ahead, unsigned first,
                                                  const struct rates *rates, struct bal_rng *rng) {
    if (rates->groups > 1)
        draw_half(ahead, first, rates, rng, MIXED_SPEEDS);
    else
        draw_half(ahead, first, rates, rng, 0);
}

static __attribute__((noinline)) void draw_gaps(struct ahead *ahead, unsigned first,
                                                const struct rates *rates, struct bal_rng *rng) {
    struct bal_rng local = *rng;
    const double mean_gap = 1 / rates->total;
    for (unsigned i = first; i < first + AHEAD / 2; i++)
        ahead->gap[i] = bal_rng_exp(&local) * mean_gap;
    *rng = local;
}

ALWAYS_INLINE void draw(struct ahead *ahead, unsigned first, const struct rates *rates,
                        struct streams *streams, unsigned features) {
    draw_events(ahead, first, rates, &streams->events);
    if (!(features & COUNTED))
        draw_gaps(ahead, first, rates, &streams->gaps);
}

/* Of an arrival the last queue, which is as good as any. */
ALWAYS_INLINE void fetch_queues(const struct bli_queues *queues, const uint32_t *server, uint32_t words) {
    const uint32_t *const length = queues->length, last = queues->count - 1;
    for (unsigned i = 0; i < BURST; i++) {
        const uint32_t queue = server[i] < last ? server[i] : last;
        __builtin_prefetch(bli_queues_ring(queues, queue, words));
        __builtin_prefetch(&length[queue]);
    }
}

/* Their first jobs, which lie elsewhere where queues are long. */
ALWAYS_INLINE void fetch_jobs(const struct bli_queues *queues, const uint32_t *server, uint32_t words) {
    const uint32_t last = queues->count - 1;
    for (unsigned i = 0; i < BURST; i++)
        __builtin_prefetch(bli_queues_front(queues, server[i] < last ? server[i] : last, words));
}

/* Before the events from `at` on, which is a multiple of BURST. Queues are fetched `early` bursts before. */
ALWAYS_INLINE void look_ahead(struct ahead *ahead, unsigned at, const struct rates *rates,
                              struct streams *streams, const struct bli_queues *fetched, unsigned early,
                              unsigned features) {
    const uint32_t words = item_words(WORDS, features);
    if (at % (AHEAD / 2) == 0)
        draw(ahead, (at + AHEAD / 2) % AHEAD, rates, streams, features);
    if (!fetched)
        return;
    fetch_queues(fetched, &ahead->server[(at + early * BURST) % AHEAD], words);
    if (fetched->used > fetched->count / 2)
        fetch_jobs(fetched, &ahead->server[(at + BURST) % AHEAD], words);
}

/* A job, or a task of one, joins a server; if it is first there its service begins. */
ALWAYS_INLINE enum bal_code join(struct system *system, double now, uint32_t server, unsigned features) {
    if (!system_admits(system, server, features))
        return BAL_OK;
    const uint32_t words = item_words(WORDS, features);
    const uint32_t rank = system->job.rank;
    union bli_claim_word *item = system_push(system, now, server, rank, words, features);
    if (__builtin_expect(!item, 0))
        return BAL_E_MEMORY;
    if (features & COUNTED)
        *item_stamp(item) = (uint32_t)(int32_t)now << STAMP_EVENT | rank << TAG_RANK;
    else
        item[0].real = now;
    if (!(features & HAS_CLASSES)) {
        tally_join(&system->tally, system_lengths(system, features)[server]);
        return BAL_OK;
    }
    if (features & NONPREEMPTIVE && system->length[server] == 1)
        system->serving[server] = (uint8_t)rank;
    const uint32_t lane = lane_of(system, server, rank, features);
    const bool alone = system->queues.length[lane] == 1;
    system_serve_at_once(system, item, words, alone & (lane == lane_in_service(system, server, features)));
    return BAL_OK;
}

ALWAYS_INLINE enum bal_code move(struct system *system, double now, const struct bal_move *move,
                                 unsigned features) {
    const uint32_t words = item_words(WORDS, features), to = move->to;
    union bli_claim_word *item;
    if (!system_move(system, now, move, words, features, &item))
        return BAL_E_MEMORY;
    if (!item) {
        system->fleet.moves = 0; /* the others gave way to it */
        return BAL_OK;
    }
    if (features & NONPREEMPTIVE && system->length[to] == 1)
        system->serving[to] = (uint8_t)move->rank;
    const uint32_t lane = lane_of(system, to, move->rank, features);
    if (features & GRADED ? system->queues.length[lane] == 1 && lane == lane_in_service(system, to, features)
                          : system->length[to] == 1)
        system_serve(system, now, item, words, true);
    return BAL_OK;
}

ALWAYS_INLINE enum bal_code arrive(struct system *system, double now, unsigned features) {
    if (features & VARYING_RATE && !system_arrival_is_real(system, now))
        return BAL_OK;
    return system_dispatch(system, now, features, join, move);
}

ALWAYS_INLINE void complete(struct system *system, double now, uint32_t server, unsigned features) {
    const uint32_t words = item_words(WORDS, features);
    const uint32_t left = system_complete(system, now, server, words, features);
    system_next(system, now, server, words, features, left > 0); /* no branch: it could not be predicted */
}

ALWAYS_INLINE enum bal_code loop(struct system *system, const struct rates *rates, struct streams *streams,
                                 const unsigned features) {
    struct ahead ahead;
    draw(&ahead, 0, rates, streams, features);
    const struct bli_queues *fetched = system->large && !(features & HAS_CLASSES) ? &system->queues : NULL;
    const unsigned step = fetched ? BURST : AHEAD / 2;
    struct prefetch prefetch = prefetch_init(system);
    const bool foresees = features & IDLE_REPORTS && prefetch.pool; /* by queues that have come already */
    double now = 0;
    for (unsigned at = 0;; at = (at + step) % AHEAD) {
        look_ahead(&ahead, at, rates, streams, fetched, foresees ? 3 : 2, features);
        if (foresees)
            prefetch_next_burst(&prefetch, system, &ahead.server[(at + 2 * BURST) % AHEAD],
                                item_words(WORDS, features));
        for (unsigned i = at; i < at + step; i++) {
            const double before = now;
            now += features & COUNTED ? 1 : ahead.gap[i];
            enum bal_code code = BAL_OK;
            if (features & POISSON_IDLE_REPORTS)
                code = system_report(system, before, now);
            if (features & POWER_SWITCHING && !code)
                code = system_power(system, before, now);
            if (__builtin_expect(code || (code = system_reach(system, now)), 0))
                return code;
            const uint32_t server = ahead.server[i];
            if (server == BAL_NONE) {
                code = arrive(system, now, features);
                if (__builtin_expect(code, 0))
                    return code;
                if (features & ASYNC_PROBES)
                    system_answer_probes(system);
            } else if (system_lengths(system, features)[server] > 0) {
                complete(system, now, server, features);
            }
        }
    }
}

static enum bal_code add_initial_job(struct system *system, uint32_t server) {
    return join(system, 0, server, system->features);
}

/* Each in a function of its own, which the compiler does better than several in one. */
#define LOOP(name, features)                                                                                 \
    static __attribute__((noinline)) enum bal_code name(struct system *system, const struct rates *rates,    \
                                                        struct streams *streams) {                           \
        return loop(system, rates, streams, features);                                                       \
    }
LOOP(loop_plain, COUNTED)
LOOP(loop_reporting, COUNTED | IDLE_REPORTS)
LOOP(loop_indexed, COUNTED | LENGTH_INDEX)
LOOP(loop_tasks, COUNTED | TASKS)
LOOP(loop_classes, COUNTED | HAS_CLASSES | CLASS_QUEUES)
LOOP(loop_timed, 0)
LOOP(loop_timed_reporting, IDLE_REPORTS)
LOOP(loop_rated, POISSON_IDLE_REPORTS)
LOOP(loop_powered, IDLE_REPORTS | POWER_SWITCHING)
LOOP(loop_any, system->features)

static enum bal_code run_loop(struct system *system, const struct rates *rates, struct streams *streams) {
    /* That speeds differ is known where events are drawn, and nowhere else. */
    switch (system->run->reference ? UNSPECIALISED : system->features & ~(unsigned)MIXED_SPEEDS) {
    case COUNTED:
        return loop_plain(system, rates, streams);
    case COUNTED | IDLE_REPORTS:
        return loop_reporting(system, rates, streams);
    case COUNTED | LENGTH_INDEX:
        return loop_indexed(system, rates, streams);
    case COUNTED | TASKS:
        return loop_tasks(system, rates, streams);
    case COUNTED | HAS_CLASSES | CLASS_QUEUES:
        return loop_classes(system, rates, streams);
    case 0:
        return loop_timed(system, rates, streams);
    case IDLE_REPORTS:
        return loop_timed_reporting(system, rates, streams);
    case POISSON_IDLE_REPORTS:
        return loop_rated(system, rates, streams);
    case IDLE_REPORTS | POWER_SWITCHING:
        return loop_powered(system, rates, streams);
    default:
        return loop_any(system, rates, streams);
    }
}

enum bal_code bli_engine_markov(const struct bli_model *model, const struct bal_policy_spec *policy,
                                const struct bli_run *run, struct bli_trial *trial, struct bal_error *err) {
    struct system *system = malloc(sizeof *system);
    if (!system)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    const struct rates rates = rates_of(model);
    enum bal_code code = bli_system_init(system, model, policy, run, WORDS, rates.total, err);
    if (code)
        goto out;
    struct streams streams;
    bal_rng_init(&streams.events, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&streams.gaps, run->seed, run->replication, BAL_STREAM_GAPS);
    system->power_left = bal_rng_exp(&system->power_rng); /* event timers draw theirs from the same stream */
    code = bli_system_begin(system, add_initial_job);
    code = bli_system_end(system, code ? code : run_loop(system, &rates, &streams), trial, err);
    bli_system_fini(system);
out:
    free(system);
    return code;
}
