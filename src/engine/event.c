/* SPDX-License-Identifier: BSD-2-Clause */
/* The event engine: arrivals of any kind or recorded ones, sizes of any distribution, servers of any speed,
 * of one or several slots, with or without stealing.
 *
 * Each job gets its size when it arrives, from a stream of its own or from the record, so that every policy
 * sees the same jobs. The next completion of each busy server, or slot, waits in a calendar. */
#include "engine/engine.h"
#include "engine/event_stealing.h"

#include <math.h>
#include <stdlib.h>

ALWAYS_INLINE enum bal_code arrive(struct event_engine *event, double now, unsigned features) {
    struct system *system = &event->system;
    const bool single = !(features & NON_POISSON) || event->arrivals.first; /* a batch is real as a whole */
    if (features & VARYING_RATE && single && !system_arrival_is_real(system, now)) {
        bli_arrival_source_drop(&event->arrivals);
        return BAL_OK;
    }
    event->now = now;
    if ((features & (TRACE_JOBS | HAS_CLASSES)) == (TRACE_JOBS | HAS_CLASSES))
        system->job.rank = !event->recorded.high;
    if (features & JOB_GROUPS)
        system->kind_tag = (uint64_t)event->recorded.kind << TAG_KIND;
    if (features & RARE && system->holds)
        return bli_event_route_or_hold(event, now);
    return system_dispatch(system, now, features, join_server, move_job);
}

ALWAYS_INLINE enum bal_code complete(struct event_engine *event, double now, unsigned features) {
    struct system *system = &event->system;
    const uint32_t id = event->completions.first;
    const uint32_t server =
        (features & (MULTISERVER | PROCESSOR_SHARING)) == MULTISERVER ? id / system->slots : id;
    uint32_t victim = BAL_NONE;
    if (features & STEALING && system->length[server] == 1) {
        if (features & PROCESSOR_SHARING)
            keep_first(event, server, features);
        const enum bal_code code = steal_jobs(event, now, server, &victim, features);
        if (code)
            return code;
    }
    if (features & PROCESSOR_SHARING)
        complete_sharing(event, now, id, features);
    else if (features & MULTISERVER)
        complete_many(event, now, id, features);
    else
        complete_one(event, now, id, features);
    if (features & STEALING && victim != BAL_NONE && knows_work(event)) {
        bli_event_recount_work(event, victim, now, item_words(WORDS, features));
        bli_event_recount_work(event, server, now, item_words(WORDS, features));
    }
    return BAL_OK;
}

/* The time of the next arrival after `now`; INFINITY: there is none. */
ALWAYS_INLINE enum bal_code next_arrival(struct event_engine *event, double now, double *next,
                                         unsigned features) {
    if (features & NON_POISSON) {
        *next = bli_arrival_source_next(&event->arrivals, now);
        return BAL_OK;
    }
    if (!(features & TRACE_JOBS)) {
        *next = now + bal_rng_exp(&event->arrivals.rng) * event->arrivals.mean_gap;
        return BAL_OK;
    }
    const enum bal_code code = bli_trace_next(event->cursor, &event->recorded, event->err);
    const uint64_t since = (uint64_t)event->recorded.time - (uint64_t)event->first; /* may be above 2^63 */
    *next = event->recorded.size > 0 ? (double)since * event->seconds : INFINITY;
    return code;
}

/* On fleets that do not fit into the cache: fetches what completions of coming days will look at, many at a
 * time as in markov.c: first of those who lead their buckets, later of those behind them. */
enum { SEEN_DAYS = 16 };

ALWAYS_INLINE void prefetch_server(const struct event_engine *event, uint32_t server) {
    const struct bli_queues *queues = &event->system.queues;
    __builtin_prefetch(&event->completions.entry[server]);
    __builtin_prefetch(&queues->length[server]);
    __builtin_prefetch(bli_queues_ring(queues, server, WORDS));
}

static __attribute__((noinline)) void look_ahead(struct event_engine *event, double now) {
    const struct bli_calendar *calendar = &event->completions;
    const uint64_t today = bli_calendar_day(calendar, now);
    const uint32_t servers = event->system.servers;
    for (uint64_t day = today + 2 * SEEN_DAYS; day < today + 3 * SEEN_DAYS; day++)
        prefetch_server(event, bli_calendar_near(calendar, day));
    for (uint64_t day = today + SEEN_DAYS; day < today + 2 * SEEN_DAYS; day++) {
        const uint32_t next = calendar->entry[bli_calendar_near(calendar, day)].next;
        prefetch_server(event, next < servers ? next : 0);
    }
    event->next_prefetch = (double)(today + SEEN_DAYS) / calendar->per_day;
}

/* What servers do by themselves between two steps of the loop. */
ALWAYS_INLINE enum bal_code between(struct event_engine *event, double before, double now,
                                    unsigned features) {
    enum bal_code code = BAL_OK;
    if (features & POISSON_IDLE_REPORTS)
        code = system_report(&event->system, before, now);
    if (features & RARE && event->system.report_timer && !code)
        code = bli_event_run_reports(event, now);
    if (features & POWER_SWITCHING && !code)
        code = bli_event_run_timers(event, now);
    if (features & ABANDONMENT && !code)
        code = abandon_waiting(event, now, features);
    return code;
}

/* No recorded job is left. Servers that switch off or report do so until the end of the run. */
static enum bal_code finish_drained(struct event_engine *event, double last, unsigned features) {
    struct system *system = &event->system;
    const double end = fmax(last, system->run->time);
    const enum bal_code code = between(event, last, end, features);
    return code ? code : bli_system_drained(system, end);
}

ALWAYS_INLINE enum bal_code loop(struct event_engine *event, const unsigned features) {
    struct system *system = &event->system;
    double arrives;
    enum bal_code code = next_arrival(event, 0, &arrives, features);
    for (double before = 0; !code;) {
        const double completes = event->completions.next;
        const bool arrival = arrives < completes;
        const double next = arrival ? arrives : completes;
        const bool held = features & REPAIRABLE && bli_tally_queue(&system->tally) > 0; /* by servers that are
                                                                                           down */
        if (features & TRACE_JOBS && next == INFINITY && !held)
            return finish_drained(event, before, features);
        const bool fails = features & FAIL_STOP && event->fails_at <= next;
        const bool changes = features & REPAIRABLE && next_change(event) <= next;
        const double now = fails ? event->fails_at : changes ? next_change(event) : next;
        code = between(event, before, now, features);
        if (__builtin_expect(code || (code = system_reach(system, now)), 0))
            return code;
        before = now;
        if (features & PREFETCH && now >= event->next_prefetch)
            look_ahead(event, now);
        if (fails) {
            code = bli_event_fail_servers(event, now, features);
        } else if (changes) {
            code = bli_event_change_server(event, now, features);
        } else if (arrival) {
            code = arrive(event, now, features);
            if (features & ASYNC_PROBES)
                system_answer_probes(system);
            if (!code)
                code = next_arrival(event, now, &arrives, features);
        } else {
            code = complete(event, now, features);
            if (features & RARE && system->holds && !code)
                code = bli_event_send_held(event, now);
        }
    }
    return code;
}

static enum bal_code add_initial_job(struct system *system, uint32_t server) {
    return join_server(system, 0, server, system->features);
}

/* Each in a function of its own, which the compiler does better than several in one. */
#define LOOP(name, features)                                                                                 \
    static __attribute__((noinline)) enum bal_code name(struct event_engine *event) {                        \
        return loop(event, features);                                                                        \
    }
LOOP(loop_plain, 0)
LOOP(loop_indexed, LENGTH_INDEX)
LOOP(loop_reporting, IDLE_REPORTS)
LOOP(loop_far, PREFETCH)
LOOP(loop_far_reporting, PREFETCH | IDLE_REPORTS)
LOOP(loop_recorded, TRACE_JOBS)
LOOP(loop_log, TRACE_JOBS | TIME_SERIES)
LOOP(loop_log_indexed, TRACE_JOBS | TIME_SERIES | LENGTH_INDEX)
LOOP(loop_log_reporting, TRACE_JOBS | TIME_SERIES | IDLE_REPORTS)
LOOP(loop_replayed, (event->system.features & ~(unsigned)SLOW_PATH) | TRACE_JOBS | TIME_SERIES)
LOOP(loop_usual, event->system.features & ~(unsigned)SLOW_PATH)
LOOP(loop_any, event->system.features)

static enum bal_code run_loop(struct event_engine *event) {
    const unsigned features = event->system.features & ~(unsigned)MIXED_SPEEDS;
    if (event->system.run->reference)
        return loop_any(event);
    switch (features) {
    case 0:
        return loop_plain(event);
    case LENGTH_INDEX:
        return loop_indexed(event);
    case IDLE_REPORTS:
        return loop_reporting(event);
    case PREFETCH:
        return loop_far(event);
    case PREFETCH | IDLE_REPORTS:
        return loop_far_reporting(event);
    case TRACE_JOBS:
        return loop_recorded(event);
    case TRACE_JOBS | TIME_SERIES:
        return loop_log(event);
    case TRACE_JOBS | TIME_SERIES | LENGTH_INDEX:
        return loop_log_indexed(event);
    case TRACE_JOBS | TIME_SERIES | IDLE_REPORTS:
        return loop_log_reporting(event);
    default:
        return (features & SLOW_PATH) == (TRACE_JOBS | TIME_SERIES) ? loop_replayed(event)
               : features & SLOW_PATH                               ? loop_any(event)
                                                                    : loop_usual(event);
    }
}

static enum bal_code set_up_speeds(struct event_engine *event, const struct bli_servers *servers) {
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

static enum bal_code set_up_sharing(struct event_engine *event, const struct bli_speeds *speeds) {
    if (!(event->system.features & PROCESSOR_SHARING))
        return BAL_OK;
    event->sharing = calloc(event->system.servers, sizeof *event->sharing);
    return event->sharing ? bli_stretch_init(&event->stretch, speeds) : BAL_E_MEMORY;
}

static enum bal_code set_up_trace(struct event_engine *event, const struct bli_run *run,
                                  struct bal_error *err) {
    if (!run->trace)
        return BAL_OK;
    event->err = err;
    event->first = bli_trace_info(run->trace)->first;
    event->seconds = 1e-9 / (run->speedup > 0 ? run->speedup : 1);
    const enum bal_code code = bli_trace_cursor_new(run->trace, &event->cursor, err);
    if (!code) /* every policy of a replication sees the same draw */
        bli_trace_cursor_redraw(event->cursor, &event->arrivals.rng);
    return code;
}

/* What only some systems have. */
static enum bal_code set_up_parts(struct event_engine *event, const struct bli_model *model,
                                  const struct bli_run *run) {
    const struct system *system = &event->system;
    const unsigned features = system->features;
    enum bal_code code = BAL_OK;
    if (system->policy->flags & BAL_NEEDS_WORK)
        code = bli_event_set_up_work(event, run->reference || run->failing > 0);
    if (!code && features & POWER_SWITCHING)
        code = bli_event_set_up_timers(event, model);
    if (!code && features & RARE && system->policy->wants & BAL_WANTS_STILL_IDLE)
        code = bli_event_set_up_reports(event, model);
    if (!code && system->holds)
        code = bli_event_set_up_backlog(event, model->backlog);
    if (!code && run->failing > 0)
        code = bli_event_set_up_failure(event, run);
    if (!code && features & REPAIRABLE)
        code = bli_event_set_up_repairs(event, model);
    return code;
}

static enum bal_code set_up(struct event_engine *event, const struct bli_model *model,
                            const struct bli_run *run) {
    struct system *system = &event->system;
    event->dist = &model->size;
    event->fails_at = INFINITY;
    const double mean_gap =
        system->per_max * (model->tasks > 1 ? model->tasks : 1) / bli_model_arrival_rate(model);
    struct bal_rng arrivals;
    bal_rng_init(&arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bli_arrival_source_init(&event->arrivals, &model->arrivals, mean_gap, &arrivals);
    if (system->features & ABANDONMENT)
        bli_patience_init(&event->patience, &model->patience, run->seed, run->replication);
    event->steal = &model->steal;
    event->others = model->others;
    bal_rng_init(&event->sizes, run->seed, run->replication, BAL_STREAM_SIZES);
    bal_rng_init(&event->stealing, run->seed, run->replication, BAL_STREAM_STEALING);
    const double rate = bli_model_capacity(model) / model->size.mean;
    const uint32_t timers = system->features & PROCESSOR_SHARING ? 1 : system->slots;
    event->since = system->features & CLASS_QUEUES ? calloc(system->servers, sizeof *event->since) : NULL;
    if (bli_calendar_init(&event->completions, system->servers * timers, rate) ||
        set_up_speeds(event, &model->servers) || set_up_parts(event, model, run) ||
        (system->features & CLASS_QUEUES && !event->since) || set_up_sharing(event, &model->speeds))
        return BAL_E_MEMORY;
    if (bli_calendar_is_large(&event->completions) &&
        !(system->features & ~(unsigned)(MIXED_SPEEDS | IDLE_REPORTS)) && !run->reference) {
        system->features |= PREFETCH;
        system->prefetch_base = (const char *)event->completions.entry;
        system->prefetch_size = sizeof *event->completions.entry;
    }
    return BAL_OK;
}

enum bal_code bli_engine_event(const struct bli_model *model, const struct bal_policy_spec *policy,
                               const struct bli_run *run, struct bli_trial *trial, struct bal_error *err) {
    struct event_engine *event = calloc(1, sizeof *event);
    if (!event)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    enum bal_code code = bli_system_init(&event->system, model, policy, run, WORDS, 0, err);
    if (code)
        goto out;
    code = set_up(event, model, run);
    if (!code)
        code = set_up_trace(event, run, err);
    if (!code)
        code = bli_system_begin(&event->system, add_initial_job);
    if (!code)
        code = run_loop(event);
    code = bli_system_end(&event->system, code, trial, err);
    bli_system_fini(&event->system);
out:
    bli_trace_cursor_free(event->cursor);
    bli_calendar_fini(&event->completions);
    bli_heap_fini(&event->timers);
    bli_heap_fini(&event->reports);
    free(event->backlog.job);
    if (event->system.features & ABANDONMENT)
        bli_patience_fini(&event->patience);
    if (event->repairs)
        bli_event_fini_repairs(event);
    free(event->least);
    free(event->free_at);
    free(event->per_speed);
    free(event->since);
    free(event->sharing);
    bli_stretch_fini(&event->stretch);
    free(event->eligible);
    free(event);
    return code;
}
