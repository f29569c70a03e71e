/* The event engine: Poisson arrivals, sizes of any law, servers of any speed.
 *
 * Each job gets its size when it arrives, from a stream of its own, so that every policy sees the same jobs.
 * The next completion of each busy server waits in a heap. */
#include "base/heap.h"
#include "base/tournament.h"
#include "engine/engine.h"
#include "engine/system.h"

#include <math.h>
#include <stdlib.h>

enum { ARRIVAL, LEFT, WORDS }; /* the words of a queued job; LEFT is the work that is left of it */

struct event {
    struct system system; /* first: the policy's view of the fleet points to it */
    struct bal_heap completions;
    struct bal_rng arrivals, sizes;
    const struct bal_law *law;
    double mean_gap;
    double *per_speed; /* 1 / speed of each server; NULL when all are 1 */
    double *since;     /* when the service of the current job began or went on (LANED) */
    /* for policies that ask for work */
    double *free_at;             /* when each server will have finished what it has */
    struct bal_tournament least; /* by free_at; idle servers share the key IDLE */
    /* for policies that switch servers off */
    struct bal_heap timers; /* ends of standby and of set-up */
    struct bal_law standby, setup;
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

/* The job at the front of the queue in service is worked on from now on. */
static inline void work_on(struct event *event, double now, uint32_t server, const union bal_word *item,
                           unsigned features) {
    const double end = now + duration(event, server, item[LEFT].real);
    if (features & LANED)
        event->since[server] = now;
    if (event->completions.place[server] == BAL_HEAP_ABSENT)
        bal_heap_insert(&event->completions, server, end);
    else
        bal_heap_change(&event->completions, server, end);
}

/* A low job is interrupted: it keeps what is left of its work. */
static void interrupt(struct event *event, double now, uint32_t server, uint32_t words) {
    union bal_word *item = bal_queues_at(&event->system.queues, 2 * server + 1, words, 0);
    const double spent = now - event->since[server];
    const double done = event->per_speed ? spent / event->per_speed[server] : spent;
    item[LEFT].real = item[LEFT].real > done ? item[LEFT].real - done : 0;
}

/* A job, or a task of one, joins a server; if it is first there its service begins. */
static inline enum bal_code join(struct event *event, double now, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    if (!system_admits(system, server, features))
        return BAL_OK;
    const uint32_t words = item_words(WORDS, features);
    const uint32_t rank = system->job.rank;
    const double size = bal_law_sample(event->law, &event->sizes);
    const uint32_t before = system->length[server];
    const bool interrupts = (features & (LANED | HOLDING)) == LANED && rank == 0 && before > 0 &&
                            system->queues.length[2 * server] == 0;
    if (interrupts)
        interrupt(event, now, server, words);
    union bal_word *item = system_push(system, now, server, rank, words, features);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = now;
    item[LEFT].real = size;
    if (knows_work(event))
        add_work(event, server, now, size);
    if (!(features & RANKED))
        tally_join(&system->tally, before + 1);
    if (before > 0 && !interrupts)
        return BAL_OK;
    if (features & HOLDING)
        system->serving[server] = (uint8_t)rank;
    if (features & RANKED)
        system_serve(system, now, item, words);
    work_on(event, now, server, item, features);
    return BAL_OK;
}

static inline enum bal_code move(struct event *event, double now, uint32_t from, uint32_t to,
                                 unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features);
    union bal_word *item;
    if (!system_move(system, now, from, to, words, features, &item))
        return BAL_E_MEMORY;
    if (!item || system->length[to] > 1)
        return BAL_OK;
    if (features & HOLDING)
        system->serving[to] = 1;
    system_serve(system, now, item, words);
    work_on(event, now, to, item, features);
    return BAL_OK;
}

static inline enum bal_code arrive(struct event *event, double now, unsigned features) {
    struct system *system = &event->system;
    if (features & VARYING && !system_arrival_is_real(system, now))
        return BAL_OK;
    event->now = now;
    const struct bal_decision decision = system_route(system, now, features);
    enum bal_code code = BAL_OK;
    if (features & TASKS && decision.parts) {
        system_check_parts(system, now, decision.parts);
        for (uint32_t part = 0; part < decision.parts; part++)
            for (uint32_t i = 0; i < system->fleet.shares[part].count && !code; i++)
                code = join(event, now, system->fleet.shares[part].server, features);
        return code;
    }
    for (uint32_t i = 0; i < (features & TASKS ? system->job.count : 1) && !code; i++)
        code = join(event, now, decision.server, features);
    if (features & LANED && decision.move_to != BAL_NONE && !code)
        code = move(event, now, decision.server, decision.move_to, features);
    return code;
}

static inline void complete(struct event *event, double now, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features);
    const uint32_t server = event->completions.slot[0].id;
    if (system_complete(system, now, server, words, features) > 0) {
        work_on(event, now, server, system_next(system, now, server, words, features), features);
        return;
    }
    bal_heap_remove(&event->completions, server);
    if (knows_work(event)) {
        event->free_at[server] = IDLE;
        bal_tournament_set(&event->least, server, IDLE);
    }
}

/* A server begins to stand by or to be set up, or leaves standby for a job (state POWER_STATES). */
static void power_timer(struct system *system, uint32_t server, double now, unsigned state) {
    struct event *event = (struct event *)system;
    if (state == POWER_STATES) {
        if (event->timers.place[server] != BAL_HEAP_ABSENT)
            bal_heap_remove(&event->timers, server);
        return;
    }
    const struct bal_law *law = state == POWER_STANDBY ? &event->standby : &event->setup;
    if (isfinite(law->mean)) /* a standby without end needs no timer */
        bal_heap_insert(&event->timers, server, now + bal_law_sample(law, &system->power_rng));
}

/* The timers that run out before the next event. */
static void run_timers(struct event *event, double until) {
    struct system *system = &event->system;
    while (event->timers.count > 0 && event->timers.slot[0].time < until) {
        const struct bal_pending first = event->timers.slot[0];
        if (first.time >= system->next_stop)
            bal_system_sample(system, first.time);
        bal_heap_remove(&event->timers, first.id);
        if (bal_set_contains(system->setup, first.id))
            system_end_setup(system, first.time, first.id);
        else
            system_switch_off(system, first.time, first.id);
    }
}

/* The laws of standby and set-up: the model's, or else exponential at the policy's rates. */
static enum bal_code set_up_timers(struct event *event, const struct bal_model *model) {
    struct system *system = &event->system;
    if (!(system->features & POWERED))
        return BAL_OK;
    if (bal_heap_init(&event->timers, system->servers))
        return BAL_E_MEMORY;
    bal_law_parse("exp", &event->standby, NULL);
    event->setup = event->standby;
    if (model->standby.mean > 0)
        event->standby = model->standby;
    else if (system->standby_rate > 0)
        bal_law_scale(&event->standby, 1 / system->standby_rate);
    else
        event->standby.mean = INFINITY;
    if (model->setup.mean > 0)
        event->setup = model->setup;
    else
        bal_law_scale(&event->setup, 1 / system->setup_rate);
    system->power_timer = power_timer;
    for (uint32_t i = 0; i < system->standby->count; i++)
        power_timer(system, system->standby->slot[i], 0, POWER_STANDBY);
    for (uint32_t i = 0; i < system->setup->count; i++)
        power_timer(system, system->setup->slot[i], 0, POWER_SETUP);
    return BAL_OK;
}

static inline __attribute__((always_inline)) enum bal_code loop(struct event *event,
                                                                const unsigned features) {
    struct system *system = &event->system;
    double next_arrival = bal_rng_exp(&event->arrivals) * event->mean_gap;
    for (double before = 0;;) {
        const double next_completion = event->completions.count ? event->completions.slot[0].time : INFINITY;
        const bool arrival = next_arrival < next_completion;
        const double now = arrival ? next_arrival : next_completion;
        if (features & RATED)
            system_report(system, before, now);
        if (features & POWERED)
            run_timers(event, now);
        before = now;
        if (__builtin_expect(now >= system->next_stop, 0)) {
            const enum bal_code code = bal_system_advance(system, now);
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

static enum bal_code join_first(struct system *system, uint32_t server) {
    return join((struct event *)system, 0, server, system->features);
}

static enum bal_code run_loop(struct event *event) {
    switch (event->system.run->plain ? UNSPECIALISED : event->system.features & ~(unsigned)MIXED) {
    case 0:
        return loop(event, 0);
    case REPORTING:
        return loop(event, REPORTING);
    default:
        return loop(event, event->system.features);
    }
}

enum bal_code bal_engine_event(const struct bal_model *model, const struct bal_policy_spec *policy,
                               const struct bal_run *run, struct bal_trial *trial, struct bal_error *err) {
    struct event *event = calloc(1, sizeof *event);
    if (!event)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    enum bal_code code = bal_system_init(&event->system, model, policy, run, WORDS, err);
    if (code)
        goto out;
    event->law = &model->size;
    event->mean_gap =
        event->system.per_most * (model->tasks > 1 ? model->tasks : 1) / bal_model_arrival_rate(model);
    bal_rng_init(&event->arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&event->sizes, run->seed, run->replication, BAL_STREAM_SIZES);
    event->since =
        event->system.features & LANED ? calloc(event->system.servers, sizeof *event->since) : NULL;
    if (bal_heap_init(&event->completions, event->system.servers) || set_up_work(event, run->plain) ||
        set_up_speeds(event, &model->servers) || set_up_timers(event, model) ||
        (event->system.features & LANED && !event->since))
        code = BAL_E_MEMORY;
    if (!code)
        code = bal_system_begin(&event->system, join_first);
    code = bal_system_end(&event->system, code ? code : run_loop(event), trial, err);
    bal_system_fini(&event->system);
out:
    bal_heap_fini(&event->completions);
    bal_heap_fini(&event->timers);
    bal_tournament_fini(&event->least);
    free(event->free_at);
    free(event->per_speed);
    free(event->since);
    free(event);
    return code;
}
