/* The pooled engine: one common queue, first come, first served, before equal servers that may switch off
 * (rules in policy/pooled.c).
 *
 * Jobs get their sizes when they arrive, from the same streams as in the event engine, so that a common queue
 * and a dispatch policy are compared on the same jobs. Completions wait in one heap, ends of standby and of
 * set-up in another. While jobs wait no server stands by, and as many are in set-up as jobs wait, or all that
 * are not busy if those are fewer. Which of several servers standing by takes a job, or which set-up is
 * cancelled, does not matter while those times are exponential; it is drawn uniformly. */
#include "ballast/set.h"
#include "base/heap.h"
#include "base/queues.h"
#include "engine/engine.h"
#include "engine/tally.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARRIVAL, SIZE, WORDS }; /* the words of a job that waits */

/* Jobs that wait are in the queue, but at no server: they are counted beyond the levels that are shown. */
enum { WAITING = LEVELS - 1 };

struct pooled {
    uint32_t servers;
    double per_speed; /* 1 / speed of the servers */
    bool powered;     /* servers switch off */
    const struct bal_law *size;
    const struct bal_curve *curve;
    double per_most;
    struct bal_law standby_law, setup_law;
    struct bal_arrival_source arrivals;
    struct bal_rng sizes, thinning, choices, power;
    struct bal_queues waiting; /* a single one */
    struct bal_heap completions, timers;
    struct bal_set *standby, *setup, *off;
    double *arrival; /* of the job in service at each server */
    struct tally tally;
    const struct bal_run *run;
};

static uint32_t waiting(const struct pooled *p) {
    return p->waiting.length[0];
}

/* ---- power ---- */

static void stand_by(struct pooled *p, double now, uint32_t server) {
    bal_set_insert(p->standby, server);
    tally_power_up(&p->tally, now, POWER_STANDBY);
    if (p->powered && isfinite(p->standby_law.mean))
        bal_heap_insert(&p->timers, server, now + bal_law_sample(&p->standby_law, &p->power));
}

static void leave(struct pooled *p, double now, struct bal_set *set, uint32_t server, unsigned state) {
    bal_set_remove(set, server);
    tally_power_down(&p->tally, now, state);
    if (p->timers.place[server] != BAL_HEAP_ABSENT)
        bal_heap_remove(&p->timers, server);
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
    bal_heap_insert(&p->timers, server, now + bal_law_sample(&p->setup_law, &p->power));
}

static void cancel_excess(struct pooled *p, double now) {
    while (p->setup->count > waiting(p)) {
        const uint32_t server = bal_set_uniform(p->setup, &p->choices);
        leave(p, now, p->setup, server, POWER_SETUP);
        switch_off(p, now, server);
    }
}

/* ---- jobs ---- */

static void serve(struct pooled *p, double now, uint32_t server, double arrival, double size) {
    p->arrival[server] = arrival;
    tally_up(&p->tally, now, 1);
    bal_heap_insert(&p->completions, server, now + size * p->per_speed);
}

static enum bal_code arrive(struct pooled *p, double now) {
    if (p->curve->kind != BAL_CURVE_CONSTANT && p->arrivals.first &&
        bal_rng_uniform(&p->thinning) >= bal_curve_at(p->curve, now) * p->per_most) {
        bal_arrival_source_drop(&p->arrivals); /* a batch is real as a whole */
        return BAL_OK;
    }
    const double size = bal_law_sample(p->size, &p->sizes);
    if (p->standby->count > 0) {
        const uint32_t server = bal_set_uniform(p->standby, &p->choices);
        leave(p, now, p->standby, server, POWER_STANDBY);
        serve(p, now, server, now, size);
        tally_join(&p->tally, 1);
        return BAL_OK;
    }
    union bal_word *item = bal_queues_push(&p->waiting, 0, WORDS);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = now;
    item[SIZE].real = size;
    tally_up(&p->tally, now, WAITING);
    if (p->off->count > 0)
        start_setup(p, now);
    return BAL_OK;
}

/* A server that is on takes the job at the head of the queue, or stands by. */
static void take_next(struct pooled *p, double now, uint32_t server) {
    if (waiting(p) == 0) {
        stand_by(p, now, server);
        return;
    }
    const union bal_word *head = bal_queues_at(&p->waiting, 0, WORDS, 0);
    const double arrival = head[ARRIVAL].real, size = head[SIZE].real;
    bal_queues_drop(&p->waiting, 0);
    tally_down(&p->tally, now, WAITING);
    tally_start(&p->tally, &p->tally.all, now - arrival, true);
    serve(p, now, server, arrival, size);
    cancel_excess(p, now);
}

static void complete(struct pooled *p, double now) {
    const uint32_t server = p->completions.slot[0].id;
    bal_heap_remove(&p->completions, server);
    tally_complete(&p->tally, &p->tally.all, now - p->arrival[server]);
    tally_down(&p->tally, now, 1);
    take_next(p, now, server);
}

static void run_timer(struct pooled *p, double now) {
    const uint32_t server = p->timers.slot[0].id;
    if (bal_set_contains(p->setup, server)) {
        leave(p, now, p->setup, server, POWER_SETUP);
        take_next(p, now, server);
    } else {
        leave(p, now, p->standby, server, POWER_STANDBY);
        switch_off(p, now, server);
    }
}

/* ---- time ---- */

static double first_of(const struct bal_heap *heap) {
    return heap->count ? heap->slot[0].time : INFINITY;
}

/* What must hold at all times: see the head of this file. */
static void check_state(const struct pooled *p, double now) {
    const uint32_t idle = p->servers - p->completions.count;
    const uint32_t wanted = waiting(p) < idle ? waiting(p) : idle;
    const bool whole = p->standby->count + p->setup->count + p->off->count == idle;
    if (whole && (waiting(p) == 0 || p->standby->count == 0) && (!p->powered || p->setup->count == wanted))
        return;
    fprintf(stderr,
            "ballast: internal error: a common queue of %u jobs with %u servers standing by, %u in set-up, "
            "%u off of %u "
            "without work (seed %llu, replication %llu, simulation time %.17g)\n",
            waiting(p), p->standby->count, p->setup->count, p->off->count, idle,
            (unsigned long long)p->run->seed, (unsigned long long)p->run->replication, now);
    abort();
}

static enum bal_code advance(struct pooled *p, double now) {
    check_state(p, now);
    while (now >= p->tally.slice_end) {
        if (!bal_tally_close_slice(&p->tally, 0))
            return BAL_E_MEMORY;
        if (tally_done(&p->tally))
            return BAL_E_STOPPED;
    }
    return p->run->stop && *p->run->stop ? BAL_E_STOPPED : BAL_OK;
}

static enum bal_code run_all(struct pooled *p) {
    double next_arrival = bal_arrival_source_next(&p->arrivals, 0);
    for (;;) {
        const double next_completion = first_of(&p->completions), next_timer = first_of(&p->timers);
        const double now = fmin(next_arrival, fmin(next_completion, next_timer));
        if (__builtin_expect(now >= p->tally.slice_end, 0)) {
            const enum bal_code code = advance(p, now);
            if (code)
                return code;
        }
        if (now == next_arrival) {
            const enum bal_code code = arrive(p, now);
            if (code)
                return code;
            next_arrival = bal_arrival_source_next(&p->arrivals, now);
        } else if (now == next_completion) {
            complete(p, now);
        } else {
            run_timer(p, now);
        }
    }
}

/* ---- setting up ---- */

/* Exponential at the rate of the policy (per mean service time), unless the model has a law of its own;
 * without either it takes for ever. */
static struct bal_law timer_law(const struct bal_law *own, double rate, double unit) {
    if (own->mean > 0)
        return *own;
    struct bal_law law;
    bal_law_parse("exp", &law, NULL);
    if (rate > 0)
        bal_law_scale(&law, unit / rate);
    else
        law.mean = INFINITY;
    return law;
}

static void set_up_power(struct pooled *p, const struct bal_model *model,
                         const struct bal_policy_spec *policy) {
    p->tally.watts = bal_watts_of(&model->watts);
    p->tally.powered = true;
    p->powered = policy->policy->power != NULL;
    if (!p->powered)
        return;
    const struct bal_power power = policy->policy->power(policy->value);
    const double unit = model->size.mean * p->per_speed;
    p->standby_law = timer_law(&model->standby, power.standby_rate, unit);
    p->setup_law = timer_law(&model->setup, power.setup_rate, unit);
}

/* A set-up that no job waits for is cancelled, so those of the start are off. */
static void begin(struct pooled *p, const struct bal_start *start) {
    const double most = p->servers;
    const uint32_t busy = (uint32_t)lrint(start->busy * most);
    const uint32_t on = (uint32_t)lrint((start->busy + start->setup + start->off) * most);
    for (uint32_t server = 0; server < p->servers; server++) {
        if (server < busy) {
            serve(p, 0, server, 0, bal_law_sample(p->size, &p->sizes));
            tally_join(&p->tally, 1);
        } else if (p->powered && server < on) {
            switch_off(p, 0, server);
        } else {
            stand_by(p, 0, server);
        }
    }
}

static enum bal_code allocate(struct pooled *p) {
    struct bal_set **const sets[] = {&p->standby, &p->setup, &p->off};
    for (int i = 0; i < 3; i++) {
        *sets[i] = malloc(bal_set_size(p->servers));
        if (!*sets[i])
            return BAL_E_MEMORY;
        bal_set_init(*sets[i], p->servers);
    }
    p->arrival = calloc(p->servers, sizeof *p->arrival);
    if (!p->arrival || bal_queues_init(&p->waiting, 1, WORDS) || bal_heap_init(&p->completions, p->servers) ||
        bal_heap_init(&p->timers, p->servers))
        return BAL_E_MEMORY;
    return BAL_OK;
}

static enum bal_code set_up(struct pooled *p, const struct bal_model *model,
                            const struct bal_policy_spec *policy) {
    const uint64_t seed = p->run->seed, replication = p->run->replication;
    p->servers = bal_servers_count(&model->servers);
    p->per_speed = 1 / model->servers.group[0].speed;
    p->size = &model->size;
    p->curve = &model->curve;
    p->per_most = 1 / bal_curve_most(&model->curve);
    struct bal_rng arrivals;
    bal_rng_init(&arrivals, seed, replication, BAL_STREAM_ARRIVALS);
    bal_arrival_source_init(&p->arrivals, &model->arrivals, p->per_most / bal_model_arrival_rate(model),
                            &arrivals);
    bal_rng_init(&p->sizes, seed, replication, BAL_STREAM_SIZES);
    bal_rng_init(&p->thinning, seed, replication, BAL_STREAM_THINNING);
    bal_rng_init(&p->choices, seed, replication, BAL_STREAM_POLICY);
    bal_rng_init(&p->power, seed, replication, BAL_STREAM_POWER);
    enum bal_code code = allocate(p);
    if (!code)
        code = bal_tally_init(&p->tally, p->run, model->size.mean, false);
    if (code)
        return code;
    set_up_power(p, model, policy);
    begin(p, &model->start);
    return BAL_OK;
}

static void tear_down(struct pooled *p) {
    bal_tally_fini(&p->tally);
    bal_queues_fini(&p->waiting);
    bal_heap_fini(&p->completions);
    bal_heap_fini(&p->timers);
    free(p->standby);
    free(p->setup);
    free(p->off);
    free(p->arrival);
}

enum bal_code bal_engine_pooled(const struct bal_model *model, const struct bal_policy_spec *policy,
                                const struct bal_run *run, struct bal_trial *trial, struct bal_error *err) {
    struct pooled *p = calloc(1, sizeof *p);
    if (!p)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    p->run = run;
    enum bal_code code = set_up(p, model, policy);
    if (code) {
        bal_fail(err, code, "not enough memory for %u servers", p->servers);
        goto out;
    }
    code = run_all(p);
    if (code == BAL_E_MEMORY)
        bal_fail(err, code, "not enough memory: %u jobs wait in the common queue", waiting(p));
    else if (!tally_done(&p->tally))
        code = bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    else
        bal_tally_finish(&p->tally, p->servers, trial), code = BAL_OK;
out:
    tear_down(p);
    free(p);
    return code;
}
