/* SPDX-License-Identifier: BSD-2-Clause */
/* Where stability ends: a bisection whose every step is a sequential test.
 *
 * The error is divided evenly among all looks that may be taken, POINTS x LOOKS of them (Bonferroni), whether
 * they are taken or not: easy points are decided by the first look with any share, and hard ones need the
 * last look to be as strong as the others.
 *
 * Two tests. With the generators of the stealing chain on k hosts in equal shares and f bounded, a large load
 * is a load of the hosts alone: the other processors never have more than f allows. As long as the hosts have
 * much, what happens does not depend on how much, and the load moves like a sum of stationary steps. With one
 * host this is a random walk modulated by a finite chain, which is positive recurrent if its drift is
 * negative and transient if it is positive: the sign of the drift is stability itself. So runs begin with
 * more tasks at each host than it can lose, and the drift is measured.
 *
 * Elsewhere it is not known which servers overflow, but equal ones do so together. So for each group of equal
 * servers runs begin with long queues at these, so long that they would not run out on the border, and none
 * at the others: the total queue then moves as this group drifts while the others do their best. If it rises
 * for one group the system is unstable. It is called stable if it falls for each, or is soon as if it had
 * begun empty, and if runs that do begin empty grow less than they would on the border. */
#include "ballast/frontier.h"

#include "ballast/predict.h"
#include "ballast/theory.h"
#include "stats/drift.h"
#include "study/sequential_test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS = BLI_FRONTIER_LOOKS, RUNS = BLI_FRONTIER_REPLICATIONS, UNDECIDED_MAX = 4 };

#define LOAD_MAX 0.999
#define CONSTANT_MAX 1e5
#define QUEUE_MAX 2e9 /* at a server; engines count in 32 bits */

struct load_search {
    const struct bli_frontier_question *question;
    const struct bli_lab_options *options;
    struct bli_frontier *frontier;
    double look_error;
    bool whole;          /* points are whole numbers */
    double below, above; /* nearest decided points on either side of the border; where there is none, ... */
    bool below_known, above_known; /* ... the end of the range */
    double first, last;            /* undecided points between them; NaN: none */
    unsigned undecided;
    /* of the point that is being tried */
    struct bli_model model;
    struct bli_run run;
    double (*from_long)[4], (*from_empty)[4]; /* quarters of the runs from either start ... */
    double (*quarters)[4];                    /* ... and those that are being run */
    uint32_t *initial;
    pthread_mutex_t lock; /* guards what follows */
    struct bal_error first_error;
};

/* ---- one point ---- */

static bool hosts_share_equally(const struct bli_frontier_question *q) {
    const struct bal_placement *placement = &q->model.placement;
    return bli_scheme_of(q->policy.policy) == BLI_SCHEME_GENERATED &&
           placement->kind == BAL_PLACEMENT_HOSTS &&
           bli_servers_count(&q->model.servers) % placement->hosts == 0;
}

static void run_one(void *context, size_t i) {
    struct load_search *s = context;
    struct bli_run run = s->run;
    run.replication += i;
    struct bli_trial trial = {0};
    struct bal_error err = {0};
    const enum bal_code code = bli_simulate(&s->model, &s->question->policy, &run, &trial, &err);
    memcpy(s->quarters[i], trial.quarter, sizeof s->quarters[i]);
    pthread_mutex_lock(&s->lock);
    if (code && code != BAL_E_STOPPED && !s->first_error.code)
        s->first_error = err;
    s->frontier->seconds += code ? 0 : trial.seconds;
    pthread_mutex_unlock(&s->lock);
}

/* More than a host can lose in so many steps: f at a time, or all that n processors serve and hold. A
 * function that grows takes more from a longer queue: what cannot be served at the longest cannot be at any
 * that one will see, and what can be there need not be at a shorter one. */
static double queue_at_host(const struct bli_model *model, double time) {
    const double n = bli_servers_count(&model->servers), most = bli_steal_max(&model->steal);
    if (isinf(most))
        return fmax(QUEUE_MAX, 2 * n * time / model->placement.hosts);
    return fmin(time * (most + 1), n * (time + most)) + 4 * most;
}

/* Shorter runs may not have forgotten how they began, and would make wrong claims with any error. */
static double shortest_time(const struct load_search *s) {
    const struct bli_model *model = &s->model;
    const double n = bli_servers_count(&model->servers);
    if (s->frontier->test == BLI_FRONTIER_SATURATED) {
        /* What is stolen is served in so many steps as there are tasks; a quarter is ten times as long. */
        const double most = bli_steal_max(&model->steal);
        return fmax(2000, isinf(most) ? 0 : 40 * most);
    }
    const double unit =
        model->clock == BLI_CLOCK_SLOTTED ? 1 : model->size.mean * n / bli_servers_capacity(&model->servers);
    return 4000 * unit * fmin(1, fmax(100 / n, 0.05));
}

/* Runs are doubled from here on. If the longest are given, so that the last look has these. */
static double first_time(const struct load_search *s) {
    const double shortest = shortest_time(s);
    if (!(s->question->longest > 0))
        return shortest;
    double time = s->question->longest;
    for (unsigned look = 1; look < LOOKS && time / 2 >= shortest; look++)
        time = s->model.clock == BLI_CLOCK_SLOTTED ? floor(time / 2) : time / 2;
    return fmax(time, shortest);
}

/* Longer runs than were asked for, or than the engine can count the tasks of? */
static bool is_too_long(const struct load_search *s, double time) {
    return (s->question->longest > 0 && time > s->question->longest) ||
           (s->frontier->test == BLI_FRONTIER_SATURATED && queue_at_host(&s->model, time) > QUEUE_MAX);
}

/* Four standard deviations of what comes to a server on the border and leaves it in a run. Batches that are
 * not divided come whole, and so does what is stolen. In the chain a function that grows is measured at the
 * longest queues, as above. */
static double long_queue(const struct bli_model *model, bool chain, double time) {
    const double n = bli_servers_count(&model->servers), rate = bli_model_arrival_rate(model);
    const double most = bli_steal_max(&model->steal);
    if (chain && isinf(most))
        return QUEUE_MAX;
    const bool whole = chain || (model->clock == BLI_CLOCK_SLOTTED && !model->split);
    const double variance =
        (2 * rate + (whole ? rate * rate : 0)) / n + (isinf(most) ? 0 : fmin(most * most, time) / 4);
    return fmin(ceil(4 * sqrt(variance * time)) + 1, QUEUE_MAX);
}

/* The generators that the most loaded processors of the chain have. */
static uint32_t most_generators(const struct bal_placement *placement, uint32_t servers) {
    uint32_t most = placement->kind == BAL_PLACEMENT_HOSTS ? (servers - 1) / placement->hosts + 1 : 0;
    for (unsigned i = 0; placement->kind == BAL_PLACEMENT_MAP && i < placement->entries; i++)
        most = placement->count[i] > most ? placement->count[i] : most;
    return most;
}

/* Puts jobs at the servers of a group. Those of the chain that are equal are those with equally many
 * generators; if one kind of them overflows, then the one with most. */
static void fill_group(struct load_search *s, unsigned group, double jobs) {
    const struct bal_placement *placement = &s->model.placement;
    const struct bli_servers *servers = &s->model.servers;
    const uint32_t n = bli_servers_count(servers), length = (uint32_t)jobs;
    memset(s->initial, 0, n * sizeof *s->initial);
    uint32_t first = 0, count = n;
    if (bli_scheme_of(s->question->policy.policy) == BLI_SCHEME_GENERATED) {
        const uint32_t most = most_generators(placement, n);
        for (unsigned i = 0; placement->kind == BAL_PLACEMENT_MAP && i < placement->entries; i++)
            if (placement->count[i] == most)
                s->initial[placement->host[i]] = length;
        if (placement->kind == BAL_PLACEMENT_MAP)
            return;
        if (placement->kind == BAL_PLACEMENT_HOSTS)
            count = n % placement->hosts ? n % placement->hosts : placement->hosts;
    } else {
        for (unsigned g = 0; g < group; g++)
            first += servers->group[g].count;
        count = servers->group[group].count;
    }
    for (uint32_t i = 0; i < count; i++)
        s->initial[first + i] = length;
}

/* Runs of one look at a point, from s->initial if requested. Every look at every point has replications of
 * its own: which point is tried next depends on what was seen, and what is seen there must not. */
static enum bal_code run_all(struct load_search *s, const struct bli_frontier_point *point, bool from_initial,
                             double (*quarters)[4]) {
    s->quarters = quarters;
    s->run = (struct bli_run){.seed = s->question->seed,
                              .replication = ((uint64_t)s->frontier->points * LOOKS + point->looks) * RUNS,
                              .time = point->time,
                              .warmup = 0,
                              .engine = s->question->engine,
                              .stop = s->options->stop,
                              .initial = from_initial ? s->initial : NULL};
    const enum bal_code code = bli_pool_run(s->options->threads, RUNS, run_one, s, s->options->stop);
    if (code || s->first_error.code)
        return code ? code : s->first_error.code;
    return s->options->stop && *s->options->stop ? BAL_E_STOPPED : BAL_OK;
}

static enum bal_code look_saturated(struct load_search *s, struct bli_frontier_point *point) {
    fill_group(s, 0, queue_at_host(&s->model, point->time));
    const enum bal_code code = run_all(s, point, true, s->from_long);
    if (code)
        return code;
    const struct look look =
        bli_test_drift((const double(*)[4])s->from_long, RUNS, point->time, s->look_error);
    point->drift = look.seen;
    point->verdict = look.verdict;
    return BAL_OK;
}

/* One group begins with long queues. The drift that a point shows is the largest of those that have not yet
 * forgotten their start. */
static enum bal_code look_at_group(struct load_search *s, struct bli_frontier_point *point, unsigned group,
                                   double error, bool *falls) {
    const bool chain = bli_scheme_of(s->question->policy.policy) == BLI_SCHEME_GENERATED;
    const double jobs = long_queue(&s->model, chain, point->time);
    fill_group(s, group, jobs);
    const enum bal_code code = run_all(s, point, true, s->from_long);
    if (code)
        return code;
    const double(*from_long)[4] = (const double(*)[4])s->from_long;
    const struct look look = bli_test_drift(from_long, RUNS, point->time, error);
    const bool met = bli_test_has_met(from_long, (const double(*)[4])s->from_empty, RUNS, jobs, error);
    if (!met && !(look.seen.mean <= point->drift.mean))
        point->drift = look.seen;
    *falls = *falls && (met || look.verdict == BLI_STABLE);
    if (!met && look.verdict == BLI_UNSTABLE)
        point->verdict = BLI_UNSTABLE;
    return BAL_OK;
}

/* How many groups can begin with long queues. A common queue cannot be handed out to servers, and a limited
 * one cannot be long: then there is none. */
static unsigned group_count(const struct load_search *s) {
    const enum bli_scheme scheme = bli_scheme_of(s->question->policy.policy);
    if (scheme == BLI_SCHEME_POOLED || s->model.buffer > 0)
        return 0;
    return scheme == BLI_SCHEME_GENERATED ? 1 : s->model.servers.groups;
}

/* The growth of runs from empty queues that is beyond what critical load can show. */
static double border_of(const struct load_search *s, double time) {
    const struct bli_model *model = &s->model;
    if (model->clock == BLI_CLOCK_SLOTTED)
        return bli_drift_border(time, 1);
    const double unit =
        model->size.mean * bli_servers_count(&model->servers) / bli_servers_capacity(&model->servers);
    const double squares = bli_dist_moment(&model->size, 2) / (model->size.mean * model->size.mean);
    return bli_drift_border(time / unit, squares / 2);
}

/* A look from empty queues and one from each group's long ones share the error. */
static enum bal_code look_from_all_starts(struct load_search *s, struct bli_frontier_point *point) {
    const unsigned groups = group_count(s);
    const double error = s->look_error / (groups + 1);
    enum bal_code code = run_all(s, point, false, s->from_empty);
    if (code)
        return code;
    const struct look growth =
        bli_test_growth((const double(*)[4])s->from_empty, RUNS, border_of(s, point->time), error);
    point->growth = growth.seen;
    point->drift = (struct bli_estimate){NAN, NAN};
    bool falls = true;
    for (unsigned g = 0; g < groups && !point->verdict && !code; g++)
        code = look_at_group(s, point, g, error, &falls);
    if (code || point->verdict)
        return code;
    const bool grows = growth.verdict == BLI_UNSTABLE;
    if (groups == 0)
        point->verdict = growth.verdict;
    else if (falls && !grows)
        point->verdict = BLI_STABLE;
    else if (grows && !falls)
        point->verdict = BLI_UNSTABLE;
    return BAL_OK;
}

static void set_point(struct load_search *s, double at) {
    s->model = s->question->model;
    if (s->question->axis == BLI_FRONTIER_LOAD)
        s->model.load = at;
    else
        s->model.steal = (struct bal_steal){.kind = BAL_STEAL_CONSTANT, .amount = at};
}

/* How much of the search is done, by how far it has come and where it is. */
static void report_progress(const struct load_search *s, unsigned look) {
    if (!s->options->progress)
        return;
    const double step = (look + 1.0) / (LOOKS + 1), points = s->frontier->points;
    s->options->progress(s->options->progress_context, (points + step) / (points + step + 4));
}

static void insert_point(struct bli_frontier *f, const struct bli_frontier_point *point) {
    unsigned i = f->points++;
    for (; i > 0 && f->point[i - 1].at > point->at; i--)
        f->point[i] = f->point[i - 1];
    f->point[i] = *point;
}

/* Not even one look can be taken. */
static enum bal_code check_shortest_run(struct load_search *s) {
    const double time = first_time(s);
    if (s->question->longest > 0 && time > s->question->longest)
        return bal_fail(&s->first_error, BAL_E_RANGE,
                        "runs of at most %g; here they must be %g long to forget how they began",
                        s->question->longest, time);
    return bal_fail(&s->first_error, BAL_E_RANGE,
                    "runs of %g slots must begin with %.3g tasks at a host; at most %g can be counted", time,
                    queue_at_host(&s->model, time), QUEUE_MAX);
}

/* Looks until there is a verdict. A point that was interrupted is not kept. */
static enum bal_code try_point(struct load_search *s, double at, enum bli_verdict *verdict) {
    set_point(s, at);
    const bool saturated = s->frontier->test == BLI_FRONTIER_SATURATED;
    struct bli_frontier_point point = {.at = at, .drift = {NAN, NAN}, .growth = {NAN, NAN}};
    for (double time = first_time(s); point.looks < LOOKS && !is_too_long(s, time); time *= 2) {
        point.time = time;
        report_progress(s, point.looks);
        const enum bal_code code = (saturated ? look_saturated : look_from_all_starts)(s, &point);
        if (code)
            return code;
        point.looks++;
        if (point.verdict)
            break;
    }
    if (point.looks == 0 && s->frontier->points == 0)
        return check_shortest_run(s);
    *verdict = point.verdict;
    insert_point(s->frontier, &point);
    return BAL_OK;
}

/* ---- the search ---- */

static double last_point(const struct bli_frontier_question *q) {
    const double most = q->axis == BLI_FRONTIER_CONSTANT ? CONSTANT_MAX : LOAD_MAX;
    return q->high == 0 ? most : q->high;
}

static enum bli_verdict verdict_below(const struct load_search *s) {
    return s->question->axis == BLI_FRONTIER_LOAD ? BLI_STABLE : BLI_UNSTABLE;
}

/* Takes a verdict in. Undecided points outside the new interval no longer matter. */
static void add_verdict(struct load_search *s, double at, enum bli_verdict verdict) {
    if (verdict == BLI_UNDECIDED) {
        s->first = fmin(s->first, at); /* either is NaN at first, which fmin and fmax pass over */
        s->last = fmax(s->last, at);
        s->undecided++;
        return;
    }
    const bool below = verdict == verdict_below(s);
    *(below ? &s->below : &s->above) = at;
    *(below ? &s->below_known : &s->above_known) = true;
    if (below ? s->last < at : s->first > at)
        s->first = s->last = NAN;
    else if (!isnan(s->first))
        *(below ? &s->first : &s->last) = below ? fmax(s->first, at) : fmin(s->last, at);
}

static double wanted_width(const struct load_search *s) {
    const double width = s->question->width > 0 ? s->question->width : s->whole ? 1 : 0.005;
    return fmax(width, s->question->relative * s->below);
}

/* The middle of a gap, rounded as the axis demands; NaN when it is narrow enough. */
static double gap_middle(const struct load_search *s, double low, double high) {
    if (high - low <= wanted_width(s) * (1 + 1e-9))
        return NAN;
    return s->whole ? floor((low + high) / 2) : (low + high) / 2;
}

/* Loads look best with few digits: the roundest number in the middle half of the gap. */
static double round_load(double low, double high) {
    const double quarter = (high - low) / 4;
    for (double scale = 10; scale < 1e9; scale *= 10)
        for (double part = 1; part < 10; part *= part < 2 ? 2 : 2.5) { /* tenths, twentieths, fiftieths */
            const double at = round((low + high) / 2 * scale * part) / (scale * part);
            if (fabs(at - (low + high) / 2) <= quarter / 2)
                return at;
        }
    return (low + high) / 2;
}

/* Where to try next; NaN: nowhere. Beside undecided points it is the wider gap. */
static double next_point(const struct load_search *s) {
    if (s->frontier->points == BLI_FRONTIER_POINTS || s->undecided > UNDECIDED_MAX)
        return NAN;
    double low = s->below, high = s->above;
    if (!isnan(s->first)) {
        const bool left = s->first - s->below >= s->above - s->last;
        low = left ? s->below : s->last;
        high = left ? s->first : s->above;
    }
    const double at = gap_middle(s, low, high);
    return isnan(at) || s->whole ? at : round_load(low, high);
}

static enum bal_code test_point(struct load_search *s, double at) {
    enum bli_verdict verdict = BLI_UNDECIDED;
    const enum bal_code code = try_point(s, at, &verdict);
    if (!code)
        add_verdict(s, at, verdict);
    return code;
}

static enum bal_code bisect_interval(struct load_search *s) {
    enum bal_code code = BAL_OK;
    for (double at = next_point(s); !code && !isnan(at); at = next_point(s))
        code = test_point(s, at);
    return code;
}

/* Constants have no natural upper end: from where it could be according to theory, upwards until it is
 * stable. */
static enum bal_code bracket_constant(struct load_search *s, double high) {
    const struct bli_model *model = &s->question->model;
    const uint32_t n = bli_servers_count(&model->servers), hosts = model->placement.hosts;
    const double start = model->placement.kind == BAL_PLACEMENT_HOSTS
                             ? bli_stealing_frontier_asked(n, model->load, hosts, model->others)
                             : 1;
    double at = fmin(fmax(ceil(start), fmax(1, s->below + 1)), high);
    for (;;) {
        const enum bal_code code = test_point(s, at);
        if (code || s->above_known || at == high || s->undecided > UNDECIDED_MAX)
            return code;
        at = fmin(2 * at, high);
    }
}

static enum bal_code search_frontier(struct load_search *s) {
    const struct bli_frontier_question *q = s->question;
    const double high = last_point(q);
    s->below = q->low;
    s->above = high;
    enum bal_code code = s->whole ? bracket_constant(s, high) : BAL_OK;
    if (!code && (!s->whole || s->above_known || !isnan(s->first)))
        code = bisect_interval(s);
    /* The ends were taken for granted. */
    if (!code && !s->above_known && !s->whole && isnan(s->first))
        code = test_point(s, high);
    if (!code && !s->below_known && s->above_known && s->below > 0)
        code = test_point(s, q->low);
    return code;
}

static const struct bli_frontier_point *point_at(const struct bli_frontier *f, double at) {
    for (unsigned i = 0; i < f->points; i++)
        if (f->point[i].at == at)
            return &f->point[i];
    return NULL;
}

/* A test by Student's law needs variances: that of the jobs which a server finishes in a run is finite if
 * the second moment of their sizes is. */
static unsigned doubts_of(const struct load_search *s) {
    const struct bli_frontier_question *q = s->question;
    const struct bli_frontier *f = s->frontier;
    const bool continuous = q->model.clock == BLI_CLOCK_CONTINUOUS;
    return (continuous && isinf(bli_dist_moment(&q->model.size, 2)) ? BLI_DOUBT_TAIL : 0) |
           (f->stable > f->critical_load || f->unstable < f->critical_load ? BLI_DOUBT_THEORY : 0);
}

static void finish_frontier(const struct load_search *s) {
    struct bli_frontier *f = s->frontier;
    const double below = s->below_known ? s->below : NAN, above = s->above_known ? s->above : NAN;
    const bool up = verdict_below(s) == BLI_STABLE;
    f->stable = up ? below : above;
    f->unstable = up ? above : below;
    for (unsigned i = 0; i < f->points; i++)
        f->undecided +=
            f->point[i].verdict == BLI_UNDECIDED && !(f->point[i].at < below) && !(f->point[i].at > above);
    const struct bli_frontier_point *a = point_at(f, below), *b = point_at(f, above);
    if (a && b && a->drift.mean * b->drift.mean < 0)
        f->estimate = a->at - a->drift.mean * (b->at - a->at) / (b->drift.mean - a->drift.mean);
    const struct bli_frontier_question *q = s->question;
    f->critical_load = q->axis == BLI_FRONTIER_LOAD ? bli_theory_critical_load(&q->model, &q->policy) : NAN;
    f->doubts = doubts_of(s);
}

static enum bal_code check_question(const struct bli_frontier_question *q, struct bal_error *err) {
    const bool constant = q->axis == BLI_FRONTIER_CONSTANT;
    const double high = last_point(q);
    if (!(q->error > 0 && q->error < 0.5))
        return bal_fail(err, BAL_E_RANGE, "error probability %g; it must lie between 0 and 0.5", q->error);
    if (!(q->low >= 0 && high > q->low))
        return bal_fail(err, BAL_E_RANGE, "a search from %g to %g; it must go up from 0 or more", q->low,
                        high);
    if (constant && bli_scheme_of(q->policy.policy) != BLI_SCHEME_GENERATED)
        return bal_fail(err, BAL_E_MODEL, "a critical constant is sought for policy stealing, not for '%s'",
                        q->policy.policy->name);
    const double odd = q->low != floor(q->low) ? q->low : high;
    if (constant && (odd != floor(odd) || odd > CONSTANT_MAX))
        return bal_fail(err, BAL_E_RANGE,
                        "a search for constants from or to %g; they are whole numbers up to %g", odd,
                        CONSTANT_MAX);
    struct bli_model model = q->model;
    if (constant)
        model.steal = (struct bal_steal){.kind = BAL_STEAL_CONSTANT, .amount = 1};
    else
        model.load = high;
    enum bli_engine engine;
    return bli_simulate_check(&model, &q->policy, q->engine, &engine, err);
}

/* Nothing is found yet. */
static void clear_frontier(const struct bli_frontier_question *question, struct bli_frontier *frontier) {
    *frontier = (struct bli_frontier){.stable = NAN,
                                      .unstable = NAN,
                                      .estimate = NAN,
                                      .critical_load = NAN,
                                      .proof = bli_frontier_prove(question)};
}

enum bal_code bli_frontier_find(const struct bli_frontier_question *question,
                                const struct bli_lab_options *options, struct bli_frontier *frontier,
                                struct bal_error *err) {
    clear_frontier(question, frontier);
    enum bal_code code = check_question(question, err);
    if (code)
        return code;
    frontier->test = hosts_share_equally(question) ? BLI_FRONTIER_SATURATED : BLI_FRONTIER_STARTS;
    struct load_search s = {.question = question,
                            .options = options,
                            .frontier = frontier,
                            .look_error = question->error / (BLI_FRONTIER_POINTS * LOOKS),
                            .whole = question->axis == BLI_FRONTIER_CONSTANT,
                            .first = NAN,
                            .last = NAN,
                            .from_long = calloc(RUNS, sizeof *s.from_long),
                            .from_empty = calloc(RUNS, sizeof *s.from_empty),
                            .initial =
                                calloc(bli_servers_count(&question->model.servers), sizeof *s.initial)};
    pthread_mutex_init(&s.lock, NULL);
    code = s.from_long && s.from_empty && s.initial ? search_frontier(&s) : BAL_E_MEMORY;
    finish_frontier(&s);
    frontier->cut_short = code == BAL_E_STOPPED;
    if (s.first_error.code && err)
        *err = s.first_error;
    else if (code)
        bal_fail(err, code, code == BAL_E_STOPPED ? "stopped before the end" : "not enough memory");
    pthread_mutex_destroy(&s.lock);
    free(s.from_long);
    free(s.from_empty);
    free(s.initial);
    return code;
}

/* ---- the map ---- */

struct part {
    const struct bli_lab_options *options;
    unsigned done, count;
};

static void report_part(void *context, double part) {
    const struct part *p = context;
    if (p->options->progress)
        p->options->progress(p->options->progress_context, (p->done + part) / p->count);
}

enum bal_code bli_frontier_map(const struct bli_frontier_question *question, const double *load,
                               unsigned count, const struct bli_lab_options *options,
                               struct bli_frontier *frontier, struct bal_error *err) {
    struct bli_frontier_question q = *question;
    q.axis = BLI_FRONTIER_CONSTANT;
    q.error = question->error / count;
    for (unsigned i = 0; i < count; i++) {
        q.model.load = load[i];
        clear_frontier(&q, &frontier[i]);
    }
    struct part part = {options, 0, count};
    struct bli_lab_options inner = *options;
    inner.progress = report_part;
    inner.progress_context = &part;
    enum bal_code code = BAL_OK;
    for (; part.done < count && !code; part.done++) {
        q.model.load = load[part.done];
        code = bli_frontier_find(&q, &inner, &frontier[part.done], err);
    }
    return code;
}
