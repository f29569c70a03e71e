/* The event engine: Poisson arrivals, sizes of any law, servers of any speed.
 *
 * Each job gets its size when it arrives, from a stream of its own, so that every policy sees the same jobs. The next completion of each
 * busy server waits in a heap. */
#include "base/heap.h"
#include "base/tournament.h"
#include "engine/engine.h"
#include "engine/system.h"

#include <math.h>
#include <stdlib.h>

enum { ARRIVAL, SIZE, WORDS }; /* the words of a queued job */

struct event {
    struct system system; /* first: the policy's view of the fleet points to it */
    struct bal_heap completions;
    struct bal_rng arrivals, sizes;
    const struct bal_law *law;
    double mean_gap;
    double *per_speed; /* 1 / speed of each server; NULL when all are 1 */
    /* for policies that ask for work */
    double *free_at; /* when each server will have finished what it has */
    struct bal_tournament least; /* by free_at; idle servers share the key IDLE */
    double now;
};

#define IDLE (-1.0)

static double work(struct bal_fleet *fleet, uint32_t server) {
    const struct event *event = fleet->host;
    const double left = event->free_at[server] - event->now;
    return left > 0 ? left : 0;
}

static uint32_t least_work(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct event *event = fleet->host;
    return bal_tournament_draw(&event->least, rng);
}

static bool knows_work(const struct event *event) {
    return event->free_at != NULL;
}

static enum bal_code set_up_work(struct event *event, bool plain) {
    struct system *system = &event->system;
    if (!(system->policy->flags & BAL_NEEDS_WORK))
        return BAL_OK;
    event->free_at = calloc(system->servers, sizeof *event->free_at);
    if (!event->free_at || bal_tournament_init(&event->least, system->servers, IDLE))
        return BAL_E_MEMORY;
    system->fleet.work = work;
    system->fleet.least_work = plain ? NULL : least_work;
    return BAL_OK;
}

static enum bal_code set_up_speeds(struct event *event, const struct bal_servers *servers) {
    if (servers->groups == 1 && servers->group[0].speed == 1)
        return BAL_OK;
    event->per_speed = malloc(event->system.servers * sizeof *event->per_speed);
    if (!event->per_speed)
        return BAL_E_MEMORY;
    uint32_t server = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++)
            event->per_speed[server++] = 1 / servers->group[g].speed;
    return BAL_OK;
}

static inline double duration(const struct event *event, uint32_t server, double size) {
    return event->per_speed ? size * event->per_speed[server] : size;
}

static void add_work(struct event *event, uint32_t server, double now, double size) {
    const double start = event->free_at[server] > now ? event->free_at[server] : now;
    event->free_at[server] = start + duration(event, server, size);
    bal_tournament_set(&event->least, server, event->free_at[server]);
}

static inline enum bal_code arrive(struct event *event, double now, unsigned features) {
    struct system *system = &event->system;
    const double size = bal_law_sample(event->law, &event->sizes);
    event->now = now;
    uint32_t server;
    union bal_word *job = system_arrive(system, now, WORDS, features, &server);
    if (!job)
        return BAL_E_MEMORY;
    job[ARRIVAL].real = now;
    job[SIZE].real = size;
    if (knows_work(event))
        add_work(event, server, now, size);
    tally_join(&system->tally, system->queues.length[server]);
    if (system->queues.length[server] == 1)
        bal_heap_insert(&event->completions, server, now + duration(event, server, size));
    return BAL_OK;
}

static inline void complete(struct event *event, double now, unsigned features) {
    struct system *system = &event->system;
    const uint32_t server = event->completions.slot[0].id;
    tally_complete(&system->tally, now - bal_queues_at(&system->queues, server, WORDS, 0)[ARRIVAL].real);
    if (system_depart(system, now, server, features) > 0) {
        const union bal_word *next = bal_queues_at(&system->queues, server, WORDS, 0);
        tally_start(&system->tally, now - next[ARRIVAL].real, true);
        bal_heap_delay_first(&event->completions, now + duration(event, server, next[SIZE].real));
    } else {
        bal_heap_remove(&event->completions, server);
        if (knows_work(event)) {
            event->free_at[server] = IDLE;
            bal_tournament_set(&event->least, server, IDLE);
        }
    }
}

static inline __attribute__((always_inline)) enum bal_code loop(struct event *event, const unsigned features) {
    struct system *system = &event->system;
    double next_arrival = bal_rng_exp(&event->arrivals) * event->mean_gap;
    for (;;) {
        const double next_completion = event->completions.count ? event->completions.slot[0].time : INFINITY;
        const bool arrival = next_arrival < next_completion;
        const double now = arrival ? next_arrival : next_completion;
        if (__builtin_expect(now >= system->tally.slice_end, 0)) {
            const enum bal_code code = system_advance(system, now);
            if (code)
                return code;
        }
        if (arrival) {
            const enum bal_code code = arrive(event, now, features);
            if (code)
                return code;
            next_arrival = now + bal_rng_exp(&event->arrivals) * event->mean_gap;
        } else {
            complete(event, now, features);
        }
    }
}

static enum bal_code run_loop(struct event *event) {
    switch (event->system.features & (INDEXED | REPORTING)) {
    case 0:
        return loop(event, 0);
    case REPORTING:
        return loop(event, REPORTING);
    default:
        return loop(event, event->system.features);
    }
}

enum bal_code engine_event(const struct bal_model *model, const struct bal_policy_spec *policy,
                           const struct bal_run *run, struct bal_trial *trial, struct bal_error *err) {
    struct event *event = calloc(1, sizeof *event);
    if (!event)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    enum bal_code code = system_init(&event->system, model, policy, run, WORDS, err);
    if (code)
        goto out;
    event->law = &model->size;
    event->mean_gap = 1 / bal_model_arrival_rate(model);
    bal_rng_init(&event->arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&event->sizes, run->seed, run->replication, BAL_STREAM_SIZES);
    if (bal_heap_init(&event->completions, event->system.servers) || set_up_work(event, run->plain) ||
        set_up_speeds(event, &model->servers))
        code = BAL_E_MEMORY;
    code = system_end(&event->system, code ? code : run_loop(event), trial, err);
    system_fini(&event->system);
out:
    bal_heap_fini(&event->completions);
    bal_tournament_fini(&event->least);
    free(event->free_at);
    free(event->per_speed);
    free(event);
    return code;
}
