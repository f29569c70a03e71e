/* SPDX-License-Identifier: BSD-2-Clause */
/* The pooled engine: one common queue, first come, first served, in front of equal servers that may switch
 * off (rules in common_queue.c).
 *
 * Jobs get their sizes when they arrive, from the same streams as in the event engine, so that a common queue
 * and a dispatch policy are compared on the same jobs. Completions wait in one heap, ends of standby and of
 * set-up in another. While jobs wait no slot of a server that is on is free, and as many servers are in
 * set-up as the jobs that wait can fill, or all that are not busy if those are fewer. Which of several
 * servers with a free slot takes a job, or which set-up is cancelled, does not matter while those times are
 * exponential and a server has one slot; it is drawn uniformly.
 *
 * Where a rule decides how many servers are on (window_autoscaler.h), it starts and cancels set-ups and
 * switches off idle servers. If that is not enough, servers that complete a job take no more (they leave),
 * and switch off when they have none; if the rule later wants more servers, they take jobs again.
 *
 * Recorded jobs come when they came and take what they took; the run ends when the last of them has left. */
#include "ballast/set.h"
#include "base/heap.h"
#include "engine/engine.h"
#include "engine/patience.h"
#include "engine/queues.h"
#include "engine/span_history.h"
#include "engine/window_autoscaler.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ARRIVAL,
    SIZE,
    NUMBER,
    WORDS
}; /* the words of a job that waits; NUMBER among those that may give up, and above 32 bits its kind */

/* Jobs that wait are in the queue, but at no server: they are counted beyond the levels that are shown. */
enum { WAITING = LEVELS - 1 };

struct pooled {
    uint32_t servers, slots; /* of each server */
    double per_speed;        /* 1 / speed of the servers */
    bool powered;            /* servers switch off */
    const struct bli_dist *size;
    const struct bli_curve *curve;
    double per_max;
    struct bli_dist standby_law, setup_law;
    struct bli_arrival_source arrivals;
    struct bal_rng sizes, thinning, choices, power;
    struct bli_queues waiting; /* a single one */
    uint32_t wait;             /* jobs in it that have not given up */
    bool patient;              /* do jobs give up? */
    struct patience patience;
    struct bli_heap completions, timers;
    struct bal_set *standby, *setup, *off;
    struct bal_set *open;    /* servers with some jobs and a free slot, ... */
    struct bal_set *leaving; /* ... and those that take no more jobs */
    uint32_t *jobs;          /* of each server */
    uint32_t *vacant;        /* slots of each server; those behind its jobs are free */
    double *arrival;         /* of the job in service in each slot ... */
    uint8_t *kind;           /* ... and its kind */
    bool ruled;              /* the rule decides how many servers are on */
    struct window_autoscaler rule;
    struct bli_trace_cursor *cursor; /* NULL: jobs are drawn */
    struct bli_trace_job recorded;   /* the next job; of size 0: there is none */
    int64_t first;                   /* time of the first */
    double seconds;                  /* of a nanosecond of the trace */
    struct tally tally;
    struct history history;
    const struct bli_run *run;
    struct bal_error *err;
};

static uint32_t count_waiting(const struct pooled *p) {
    return p->wait;
}

/* ---- power ---- */

static void enter_standby(struct pooled *p, double now, uint32_t server) {
    bal_set_insert(p->standby, server);
    tally_power_up(&p->tally, now, POWER_STANDBY);
    if (p->powered && isfinite(p->standby_law.mean))
        bli_heap_insert(&p->timers, server, now + bli_dist_sample(&p->standby_law, &p->power));
}

static void leave_power_state(struct pooled *p, double now, struct bal_set *set, uint32_t server,
                              unsigned state) {
    bal_set_remove(set, server);
    tally_power_down(&p->tally, now, state);
    if (p->timers.place[server] != BLI_HEAP_ABSENT)
        bli_heap_remove(&p->timers, server);
}

static void switch_off(struct pooled *p, double now, uint32_t server) {
    bal_set_insert(p->off, server);
    tally_power_up(&p->tally, now, POWER_OFF);
}

static void start_setup(struct pooled *p, double now) {
    const uint32_t server = bal_set_uniform(p->off, &p->choices);
    bal_set_remove(p->off, server);
    bal_set_insert(p->setup, server);
    tally_power_change(&p->tally, now, POWER_OFF, POWER_SETUP);
    bli_heap_insert(&p->timers, server, now + bli_dist_sample(&p->setup_law, &p->power));
}

/* Servers that the jobs which wait can fill, the last one perhaps in part. */
static uint32_t wanted_by_waiting(const struct pooled *p) {
    return count_waiting(p) / p->slots + (count_waiting(p) % p->slots > 0);
}

static void cancel_excess(struct pooled *p, double now) {
    while (p->setup->count > wanted_by_waiting(p)) {
        const uint32_t server = bal_set_uniform(p->setup, &p->choices);
        leave_power_state(p, now, p->setup, server, POWER_SETUP);
        switch_off(p, now, server);
    }
}

/* And not about to go. */
static uint32_t count_on(const struct pooled *p) {
    return p->servers - p->off->count - p->leaving->count;
}

static uint32_t count_busy(const struct pooled *p) {
    return p->servers - p->off->count - p->setup->count - p->standby->count;
}

static void serve_waiting(struct pooled *p, double now, uint32_t server);

/* As many on as the rule wants, but for busy ones, which go when they have done their jobs. */
static void apply_autoscaler(struct pooled *p, double now) {
    while (count_on(p) > p->rule.wanted && p->setup->count > 0) {
        const uint32_t server = bal_set_uniform(p->setup, &p->choices);
        leave_power_state(p, now, p->setup, server, POWER_SETUP);
        switch_off(p, now, server);
    }
    while (count_on(p) > p->rule.wanted && p->standby->count > 0) {
        const uint32_t server = bal_set_uniform(p->standby, &p->choices);
        leave_power_state(p, now, p->standby, server, POWER_STANDBY);
        switch_off(p, now, server);
    }
    while (count_on(p) < p->rule.wanted && p->leaving->count > 0) {
        const uint32_t server = bal_set_uniform(p->leaving, &p->choices);
        bal_set_remove(p->leaving, server);
        bal_set_insert(p->open, server);
        serve_waiting(p, now, server);
    }
    while (count_on(p) < p->rule.wanted)
        start_setup(p, now);
}

/* ---- jobs ---- */

/* A server that is on, in no set unless in that of the open ones, has a free slot. */
static void start_service(struct pooled *p, double now, uint32_t server, double arrival, double size,
                          uint8_t kind) {
    const size_t first = (size_t)server * p->slots;
    const uint32_t slot = p->vacant[first + p->jobs[server]++];
    p->arrival[slot] = arrival;
    p->kind[slot] = kind;
    tally_up(&p->tally, now, p->jobs[server]);
    if (p->slots > 1)
        tally_work_up(&p->tally, now);
    bli_heap_insert(&p->completions, slot, now + size * p->per_speed);
    if (p->jobs[server] == p->slots)
        bal_set_remove(p->open, server);
    else
        bal_set_insert(p->open, server);
}

/* Any server with a free slot. */
static uint32_t draw_free(struct pooled *p, double now) {
    const uint64_t i = bal_rng_below(&p->choices, p->standby->count + p->open->count);
    if (i >= p->standby->count)
        return p->open->slot[i - p->standby->count];
    const uint32_t server = p->standby->slot[i];
    leave_power_state(p, now, p->standby, server, POWER_STANDBY);
    return server;
}

/* A job has come that no server can serve yet. */
static void ask_for_server(struct pooled *p, double now) {
    if (!p->ruled && p->off->count > 0 && p->setup->count < wanted_by_waiting(p))
        start_setup(p, now);
    if (!p->ruled || p->rule.wanted > 0)
        return;
    p->rule.wanted = 1;
    apply_autoscaler(p, now);
}

static enum bal_code handle_arrival(struct pooled *p, double now) {
    if (p->curve->kind != BLI_CURVE_CONSTANT && p->arrivals.first &&
        bal_rng_uniform(&p->thinning) >= bli_curve_at(p->curve, now) * p->per_max) {
        bli_arrival_source_drop(&p->arrivals); /* a batch is real as a whole */
        return BAL_OK;
    }
    const double size = p->cursor ? (double)p->recorded.size * 1e-9 : bli_dist_sample(p->size, &p->sizes);
    const double endures = p->patient ? patience_draw(&p->patience) : INFINITY;
    if (p->ruled)
        window_autoscaler_count(&p->rule, now, 1);
    if (p->standby->count + p->open->count > 0) {
        start_service(p, now, draw_free(p, now), now, size, p->recorded.kind);
        tally_join(&p->tally, 1);
        return BAL_OK;
    }
    union bli_claim_word *item = bli_queues_push(&p->waiting, 0, WORDS);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = now;
    item[SIZE].real = size;
    item[NUMBER].bits = p->patient ? bli_patience_wait(&p->patience, now + endures, 0, false) : 0;
    if (item[NUMBER].bits == PATIENCE_NONE)
        return BAL_E_MEMORY;
    item[NUMBER].bits |= (uint64_t)p->recorded.kind << 32;
    p->wait++;
    tally_up(&p->tally, now, WAITING);
    ask_for_server(p, now);
    return BAL_OK;
}

/* The first job that has not given up; those before it are dropped. */
static const union bli_claim_word *first_waiting(struct pooled *p) {
    for (;;) {
        const union bli_claim_word *head = bli_queues_front(&p->waiting, 0, WORDS);
        const uint32_t number = (uint32_t)head[NUMBER].bits;
        if (!p->patient || !patience_is_gone(&p->patience, number))
            return head;
        bli_patience_end(&p->patience, number);
        bli_queues_drop(&p->waiting, 0, WORDS);
    }
}

/* The job whose time has come leaves; no server needs to be set up for it. */
static void give_up(struct pooled *p, double now) {
    patience_leave(&p->patience);
    p->wait--;
    tally_down(&p->tally, now, WAITING);
    p->tally.totals.gave_up++;
    p->tally.all.gave_up++;
    if (p->ruled)
        window_autoscaler_count(&p->rule, now, -1);
    else
        cancel_excess(p, now);
    for (uint32_t gone = p->wait == 0 ? p->waiting.length[0] : 0; gone > 0; gone--) {
        bli_patience_end(&p->patience, (uint32_t)bli_queues_front(&p->waiting, 0, WORDS)[NUMBER].bits);
        bli_queues_drop(&p->waiting, 0, WORDS);
    }
}

static void serve_head(struct pooled *p, double now, uint32_t server) {
    const union bli_claim_word *head = first_waiting(p);
    const double arrival = head[ARRIVAL].real, size = head[SIZE].real;
    const uint8_t kind = (uint8_t)(head[NUMBER].bits >> 32);
    if (p->patient)
        bli_patience_end(&p->patience, (uint32_t)head[NUMBER].bits);
    bli_queues_drop(&p->waiting, 0, WORDS);
    p->wait--;
    tally_down(&p->tally, now, WAITING);
    tally_start(&p->tally, &p->tally.all, now - arrival, true);
    start_service(p, now, server, arrival, size, kind);
}

/* A server that is on takes jobs from the head of the queue while it has slots for them. */
static void serve_waiting(struct pooled *p, double now, uint32_t server) {
    while (count_waiting(p) > 0 && p->jobs[server] < p->slots)
        serve_head(p, now, server);
    if (!p->ruled)
        cancel_excess(p, now);
}

/* A server has become ready, or has completed a job: it takes more, or stands by; one too many goes. */
static void reuse_server(struct pooled *p, double now, uint32_t server) {
    const bool leaves = bal_set_contains(p->leaving, server) || (p->ruled && count_on(p) > p->rule.wanted);
    bal_set_remove(p->leaving, server);
    bal_set_remove(p->open, server);
    if (leaves && p->jobs[server] > 0) {
        bal_set_insert(p->leaving, server);
    } else if (leaves) {
        switch_off(p, now, server);
    } else if (count_waiting(p) > 0) {
        serve_waiting(p, now, server);
    } else if (p->jobs[server] > 0) {
        bal_set_insert(p->open, server);
    } else {
        enter_standby(p, now, server);
    }
}

static void complete_job(struct pooled *p, double now) {
    const uint32_t slot = p->completions.slot[0].id, server = slot / p->slots;
    const double response = now - p->arrival[slot];
    bli_heap_remove(&p->completions, slot);
    tally_complete(&p->tally, &p->tally.all, response);
    if (p->history.to)
        history_complete(&p->history, &p->tally, p->arrival[slot], response);
    if (p->history.to && p->history.to->kind)
        history_complete_kind(&p->history, &p->tally, p->kind[slot], response);
    tally_down(&p->tally, now, p->jobs[server]);
    if (p->slots > 1)
        tally_work_down(&p->tally, now);
    p->vacant[(size_t)server * p->slots + --p->jobs[server]] = slot;
    if (p->ruled)
        window_autoscaler_count(&p->rule, now, -1);
    reuse_server(p, now, server);
}

static void run_timer(struct pooled *p, double now) {
    const uint32_t server = p->timers.slot[0].id;
    if (bal_set_contains(p->setup, server)) {
        leave_power_state(p, now, p->setup, server, POWER_SETUP);
        reuse_server(p, now, server);
    } else {
        leave_power_state(p, now, p->standby, server, POWER_STANDBY);
        switch_off(p, now, server);
    }
}

/* ---- time ---- */

static double first_of(const struct bli_heap *heap) {
    return heap->count ? heap->slot[0].time : INFINITY;
}

/* What must hold at all times: see the head of this file. */
static void check_state(const struct pooled *p, double now) {
    const uint32_t idle = p->servers - count_busy(p);
    const uint32_t wanted = wanted_by_waiting(p) < idle ? wanted_by_waiting(p) : idle;
    const bool whole =
        count_busy(p) <= p->completions.count && p->completions.count <= (uint64_t)count_busy(p) * p->slots;
    const bool as_ruled = count_on(p) >= p->rule.wanted &&
                          (count_on(p) == p->rule.wanted || p->setup->count + p->standby->count == 0);
    const bool powered_well = p->ruled ? as_ruled : !p->powered || p->setup->count == wanted;
    if (whole && (count_waiting(p) == 0 || p->standby->count + p->open->count == 0) && powered_well)
        return;
    fprintf(stderr,
            "ballast: internal error: a common queue of %u jobs with %u servers standing by, %u in set-up, "
            "%u off of %u "
            "without work (seed %llu, replication %llu, simulation time %.17g)\n",
            count_waiting(p), p->standby->count, p->setup->count, p->off->count, idle,
            (unsigned long long)p->run->seed, (unsigned long long)p->run->replication, now);
    abort();
}

static enum bal_code advance_time(struct pooled *p, double now) {
    check_state(p, now);
    while (now >= p->tally.slice_end && p->tally.slice < p->tally.slices) {
        if (!bli_tally_close_slice(&p->tally, 0))
            return BAL_E_MEMORY;
        if (tally_done(&p->tally))
            return BAL_E_STOPPED;
    }
    bli_history_advance(&p->history, &p->tally, p->servers, now);
    return bli_tally_is_enough(&p->tally) ? BAL_E_STOPPED : BAL_OK;
}

/* No slice and no span of the history ends before this. */
static double next_stop(const struct pooled *p) {
    const double slice = p->tally.slice < p->tally.slices ? p->tally.slice_end : INFINITY;
    return fmin(slice, history_next(&p->history));
}

/* The time of the next arrival after `now`; INFINITY: there is none. */
static enum bal_code next_arrival(struct pooled *p, double now, double *next) {
    if (!p->cursor) {
        *next = bli_arrival_source_next(&p->arrivals, now);
        return BAL_OK;
    }
    const enum bal_code code = bli_trace_next(p->cursor, &p->recorded, p->err);
    const uint64_t since = (uint64_t)p->recorded.time - (uint64_t)p->first; /* may be above 2^63 */
    *next = p->recorded.size > 0 ? (double)since * p->seconds : INFINITY;
    return code;
}

/* When the next thing happens that servers, jobs or the rule do by themselves. */
static double next_change(const struct pooled *p) {
    const double servers = fmin(first_of(&p->timers), p->ruled ? window_autoscaler_next(&p->rule) : INFINITY);
    return p->patient ? fmin(servers, patience_next(&p->patience)) : servers;
}

static void handle_change(struct pooled *p, double now) {
    if (now == first_of(&p->timers)) {
        run_timer(p, now);
        return;
    }
    if (p->patient && now == patience_next(&p->patience)) {
        give_up(p, now);
        return;
    }
    bli_window_autoscaler_decide(&p->rule, count_on(p) - p->setup->count);
    apply_autoscaler(p, now);
}

/* The last recorded job has left. Servers switch off until the end of the run. */
static enum bal_code finish_drained(struct pooled *p, double last) {
    const double end = fmax(last, p->run->time);
    enum bal_code code = BAL_OK;
    for (double now; !code && (now = next_change(p)) < end;) {
        code = now >= next_stop(p) ? advance_time(p, now) : BAL_OK;
        if (!code)
            handle_change(p, now);
    }
    if (!code)
        code = advance_time(p, end);
    if (code)
        return code;
    bli_history_advance(&p->history, &p->tally, p->servers, INFINITY);
    return bli_tally_end(&p->tally, end, 0) ? BAL_E_STOPPED : BAL_E_MEMORY;
}

static enum bal_code run_all(struct pooled *p) {
    double arrives, before = 0;
    enum bal_code code = next_arrival(p, 0, &arrives);
    while (!code) {
        const double completes = first_of(&p->completions);
        const double now = fmin(arrives, fmin(completes, next_change(p)));
        if (p->cursor && arrives == INFINITY && completes == INFINITY && count_waiting(p) == 0)
            return finish_drained(p, before);
        if (__builtin_expect(now >= next_stop(p), 0) && (code = advance_time(p, now)))
            return code;
        before = now;
        if (now == arrives) {
            code = handle_arrival(p, now);
            if (!code)
                code = next_arrival(p, now, &arrives);
        } else if (now == completes) {
            complete_job(p, now);
        } else {
            handle_change(p, now);
        }
    }
    return code;
}

/* ---- setting up ---- */

/* Exponential at the rate of the policy (per mean service time), unless the model has a distribution of its
 * own; without either it takes for ever. */
static struct bli_dist timer_dist(const struct bli_dist *own, double rate, double unit) {
    if (own->mean > 0)
        return *own;
    return bli_dist_exponential(rate > 0 ? unit / rate : INFINITY);
}

static void set_up_power(struct pooled *p, const struct bli_model *model,
                         const struct bal_policy_spec *policy) {
    p->tally.watts = bli_watts_of(&model->watts);
    p->tally.powered = true;
    p->powered = policy->policy->power != NULL;
    if (!p->powered)
        return;
    const struct bal_power power = policy->policy->power(policy->value);
    const double unit = model->size.mean * p->per_speed;
    p->standby_law = timer_dist(p->ruled ? &(struct bli_dist){0} : &model->standby, power.standby_rate, unit);
    p->setup_law = timer_dist(&model->setup, power.setup_rate, unit);
}

/* A set-up that no job waits for is cancelled, so those of the start are off. */
static void set_initial_state(struct pooled *p, const struct bli_start *start) {
    const double most = p->servers;
    const uint32_t busy = (uint32_t)lrint(start->busy * most);
    const uint32_t on = (uint32_t)lrint((start->busy + start->setup + start->off) * most);
    for (uint32_t server = 0; server < p->servers; server++) {
        if (server < busy) {
            start_service(p, 0, server, 0, bli_dist_sample(p->size, &p->sizes), 0);
            tally_join(&p->tally, 1);
        } else if (p->powered && server < on) {
            switch_off(p, 0, server);
        } else {
            enter_standby(p, 0, server);
        }
    }
}

static enum bal_code allocate_sets(struct pooled *p) {
    struct bal_set **const sets[] = {&p->standby, &p->setup, &p->off, &p->open, &p->leaving};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        *sets[i] = malloc(bal_set_size(p->servers));
        if (!*sets[i])
            return BAL_E_MEMORY;
        bal_set_init(*sets[i], p->servers);
    }
    const uint32_t slots = p->servers * p->slots; /* at most BLI_SLOTS_MAX */
    p->jobs = calloc(p->servers, sizeof *p->jobs);
    p->vacant = malloc(slots * sizeof *p->vacant);
    p->arrival = calloc(slots, sizeof *p->arrival);
    p->kind = calloc(slots, sizeof *p->kind);
    if (!p->jobs || !p->vacant || !p->arrival || !p->kind || bli_queues_init(&p->waiting, 1, WORDS) ||
        bli_heap_init(&p->completions, slots) || bli_heap_init(&p->timers, p->servers))
        return BAL_E_MEMORY;
    for (uint32_t slot = 0; slot < slots; slot++)
        p->vacant[slot] = slot;
    return bli_history_init(&p->history, p->run->history, p->run->time);
}

static enum bal_code set_up_rule(struct pooled *p, const struct bal_policy_spec *policy) {
    struct bli_window_rule rule;
    p->ruled = bli_window_rule_of(policy, &rule);
    if (!p->ruled)
        return BAL_OK;
    rule.target *= p->slots; /* it is a part of what a server can take */
    return bli_window_autoscaler_init(&p->rule, &rule, p->servers);
}

static enum bal_code set_up_trace(struct pooled *p) {
    const struct bli_run *run = p->run;
    if (!run->trace)
        return BAL_OK;
    p->first = bli_trace_info(run->trace)->first;
    p->seconds = 1e-9 / (run->speedup > 0 ? run->speedup : 1);
    const enum bal_code code = bli_trace_cursor_new(run->trace, &p->cursor, p->err);
    if (!code) /* every policy of a replication sees the same draw */
        bli_trace_cursor_redraw(p->cursor, &p->arrivals.rng);
    return code;
}

static enum bal_code set_up(struct pooled *p, const struct bli_model *model,
                            const struct bal_policy_spec *policy) {
    const uint64_t seed = p->run->seed, replication = p->run->replication;
    p->servers = bli_servers_count(&model->servers);
    p->slots = model->slots > 1 ? model->slots : 1;
    p->per_speed = 1 / model->servers.group[0].speed;
    p->size = &model->size;
    p->curve = &model->curve;
    p->per_max = 1 / bli_curve_max(&model->curve);
    struct bal_rng arrivals;
    bal_rng_init(&arrivals, seed, replication, BAL_STREAM_ARRIVALS);
    bli_arrival_source_init(&p->arrivals, &model->arrivals, p->per_max / bli_model_arrival_rate(model),
                            &arrivals);
    bal_rng_init(&p->sizes, seed, replication, BAL_STREAM_SIZES);
    bal_rng_init(&p->thinning, seed, replication, BAL_STREAM_THINNING);
    bal_rng_init(&p->choices, seed, replication, BAL_STREAM_POLICY);
    bal_rng_init(&p->power, seed, replication, BAL_STREAM_POWER);
    p->patient = model->patience.mean > 0;
    bli_patience_init(&p->patience, &model->patience, seed, replication);
    enum bal_code code = allocate_sets(p);
    if (!code)
        code = set_up_rule(p, policy);
    if (!code)
        code = bli_tally_init(&p->tally, p->run, model->size.mean, false);
    p->tally.patient = p->patient;
    if (code)
        return bal_fail(p->err, code, "not enough memory for %u servers", p->servers);
    p->tally.slots = p->slots;
    code = set_up_trace(p);
    if (code)
        return code;
    set_up_power(p, model, policy);
    set_initial_state(p, &model->start);
    return BAL_OK;
}

static void tear_down(struct pooled *p) {
    bli_tally_fini(&p->tally);
    bli_history_fini(&p->history);
    bli_window_autoscaler_fini(&p->rule);
    bli_trace_cursor_free(p->cursor);
    bli_queues_fini(&p->waiting);
    bli_patience_fini(&p->patience);
    bli_heap_fini(&p->completions);
    bli_heap_fini(&p->timers);
    free(p->standby);
    free(p->setup);
    free(p->off);
    free(p->open);
    free(p->leaving);
    free(p->jobs);
    free(p->vacant);
    free(p->arrival);
    free(p->kind);
}

enum bal_code bli_engine_pooled(const struct bli_model *model, const struct bal_policy_spec *policy,
                                const struct bli_run *run, struct bli_trial *trial, struct bal_error *err) {
    struct pooled *p = calloc(1, sizeof *p);
    if (!p)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    p->run = run;
    p->err = err;
    enum bal_code code = set_up(p, model, policy);
    if (code)
        goto out;
    code = run_all(p);
    if (code == BAL_E_MEMORY) {
        bal_fail(err, code, "not enough memory: %u jobs wait in the common queue", count_waiting(p));
    } else if (code == BAL_E_STOPPED && !tally_done(&p->tally)) {
        bal_fail(err, code, "stopped before the end");
    } else if (code == BAL_E_STOPPED) {
        bli_history_finish(&p->history, &p->tally);
        bli_tally_finish(&p->tally, p->servers, trial);
        code = BAL_OK;
    }
out:
    tear_down(p);
    free(p);
    return code;
}
