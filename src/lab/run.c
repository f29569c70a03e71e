/* SPDX-License-Identifier: BSD-2-Clause */
/* Replications of cases: in rounds when a precision is wanted, each round a list of trials for the pool; and
 * all of it again with longer runs where those were too short to settle. */
#include "lab/control_variates.h"
#include "lab/doubt.h"
#include "lab/draws.h"
#include "lab/fluid_trial.h"
#include "lab/run_length.h"

#include "ballast/predict.h"
#include "stats/drift.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The trials of one case so far. */
struct run_record {
    struct bli_trial *trial;
    bool *complete;
    unsigned wanted; /* replications in all after this round */
    unsigned kept;   /* of these, when the lab was stopped */
    unsigned capacity;
    struct run_length_state run_length_state;
};

struct task {
    unsigned which_case;
    unsigned replication;
    double cost;
};

struct lab {
    struct bli_case *cases; /* those given, their runs as long as they have become */
    size_t count;
    const struct bli_lab_options *options;
    struct run_record *record;
    unsigned *before; /* replications of each case before this round */
    struct task *task;
    size_t tasks;
    pthread_mutex_t lock; /* guards what follows */
    double cost_done, cost_known;
    struct bal_error first_error;
};

/* Time spent in a slot goes to its servers; jobs are handled by the batch, but where they are scattered or
 * water-filled. */
static double slotted_cost(const struct bli_case *c) {
    const double servers = bli_servers_count(&c->model.servers);
    const double per_slot = servers * (c->model.split ? 0.3 : 0.1) + 3;
    return c->run.time * per_slot + 1e3 + servers;
}

double bli_case_cost(const struct bli_case *c) {
    if (c->model.clock == BLI_CLOCK_SLOTTED)
        return slotted_cost(c);
    enum bli_engine engine = c->run.engine;
    if (engine == BLI_ENGINE_AUTO) /* otherwise it is the one that was chosen, or it will not run */
        bli_simulate_check(&c->model, &c->policy, engine, &engine, NULL);
    const double jobs = c->run.time * bli_model_arrival_rate(&c->model);
    const double possible = jobs / c->model.load; /* completions of servers that are never idle */
    return (engine == BLI_ENGINE_MARKOV ? (jobs + possible) / 2 : 4 * jobs) + 1e3 +
           bli_servers_count(&c->model.servers);
}

enum bal_code bli_case_trial(const struct bli_case *c, const struct bli_run *run, struct bli_trial *trial,
                             struct bal_error *err) {
    return c->fluid       ? bli_case_fluid_trial(c, run, trial, err)
           : c->draws > 1 ? bli_case_drawn_trial(c, run, trial, err)
                          : bli_simulate(&c->model, &c->policy, run, trial, err);
}

static void run_task(void *context, size_t i) {
    struct lab *lab = context;
    const struct task *task = &lab->task[i];
    const struct bli_case *c = &lab->cases[task->which_case];
    struct run_record *record = &lab->record[task->which_case];
    struct bli_run run = c->run;
    run.replication = task->replication;
    run.stop = lab->options->stop;
    if (task->replication > 0)
        run.history = NULL;
    struct bal_error err = {0};
    const enum bal_code code = bli_case_trial(c, &run, &record->trial[task->replication], &err);
    record->complete[task->replication] = code == BAL_OK;
    pthread_mutex_lock(&lab->lock);
    if (code && code != BAL_E_STOPPED && !lab->first_error.code)
        lab->first_error = err;
    lab->cost_done += task->cost;
    if (lab->options->progress)
        lab->options->progress(lab->options->progress_context, lab->cost_done / lab->cost_known);
    pthread_mutex_unlock(&lab->lock);
}

static bool reserve_trials(struct run_record *record, unsigned capacity) {
    if (capacity <= record->capacity)
        return true;
    struct bli_trial *trial = realloc(record->trial, capacity * sizeof *trial);
    if (trial)
        record->trial = trial;
    bool *complete = realloc(record->complete, capacity * sizeof *complete);
    if (complete)
        record->complete = complete;
    if (!trial || !complete)
        return false;
    memset(trial + record->capacity, 0, (capacity - record->capacity) * sizeof *trial);
    memset(complete + record->capacity, 0, (capacity - record->capacity) * sizeof *complete);
    record->capacity = capacity;
    return true;
}

static int longest_first(const void *a, const void *b) {
    const struct task *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? 1 : -1;
    if (x->replication != y->replication)
        return x->replication < y->replication ? -1 : 1;
    return x->which_case < y->which_case ? -1 : 1;
}

/* Lists the trials from before[i] up to what each record wants. */
static enum bal_code list_tasks(struct lab *lab) {
    const unsigned *before = lab->before;
    size_t tasks = 0;
    for (size_t i = 0; i < lab->count; i++)
        tasks += lab->record[i].wanted - before[i];
    struct task *task = realloc(lab->task, (tasks + 1) * sizeof *task);
    if (!task)
        return BAL_E_MEMORY;
    lab->task = task;
    lab->tasks = 0;
    for (size_t i = 0; i < lab->count; i++) {
        if (!reserve_trials(&lab->record[i], lab->record[i].wanted))
            return BAL_E_MEMORY;
        const double cost = bli_case_cost(&lab->cases[i]);
        for (unsigned r = before[i]; r < lab->record[i].wanted; r++) {
            lab->task[lab->tasks++] = (struct task){(unsigned)i, r, cost};
            lab->cost_known += cost;
        }
    }
    qsort(lab->task, lab->tasks, sizeof *lab->task, longest_first);
    return BAL_OK;
}

/* The estimate over the complete trials of one metric, as bli_estimate_mean has it. */
static struct bli_estimate estimate_metric(const struct bli_trial *trial, size_t count, int metric) {
    struct bli_moments moments = {0};
    for (size_t r = 0; r < count; r++)
        if (!isnan(trial[r].metric[metric]))
            bli_moments_add(&moments, trial[r].metric[metric]);
    return bli_moments_estimate(&moments);
}

/* The same of all percentiles that were asked for. */
static void estimate_percentiles(const struct bli_trial *trial, size_t count, unsigned asked,
                                 struct bli_result *result) {
    for (unsigned d = 0; d < BLI_DISTRIBUTIONS; d++)
        for (unsigned i = 0; i < asked; i++) {
            struct bli_moments moments = {0};
            for (size_t r = 0; r < count; r++)
                if (!isnan(trial[r].percentile[d][i]))
                    bli_moments_add(&moments, trial[r].percentile[d][i]);
            result->percentile[d][i] = bli_moments_estimate(&moments);
        }
}

struct bli_estimate bli_result_quantile(const struct bli_case *c, const struct bli_result *result,
                                        enum bli_distribution distribution, double quantile) {
    const enum bli_metric metric = bli_distribution_metric(distribution, quantile);
    if (metric < BLI_METRIC_COUNT)
        return result->metric[metric];
    const struct bli_percentiles *asked = c->run.percentiles;
    for (unsigned i = 0; asked && i < asked->count; i++)
        if (asked->quantile[i] == quantile)
            return result->percentile[distribution][i];
    return (struct bli_estimate){NAN, NAN};
}

static double service_time(const struct bli_model *model) {
    return model->clock == BLI_CLOCK_SLOTTED ? 1
                                             : model->size.mean * bli_servers_count(&model->servers) /
                                                   bli_servers_capacity(&model->servers);
}

/* May the queue be stable, for all that is known? */
static bool may_be_stable(const struct bli_case *c) {
    return !(c->model.load >= fmin(1, bli_theory_critical_load(&c->model, &c->policy)));
}

/* Near load 1 a stable queue from an idle fleet grows for a long time as one at critical load does. What is
 * not known to be unstable must grow more than that can; and what is known to be stable cannot be called
 * unstable by runs in which it does not settle. */
static double border_of(const struct bli_case *c) {
    const struct bli_dist *size = &c->model.size;
    const double services = c->run.time / service_time(&c->model);
    if (!may_be_stable(c) || c->run.trace)
        return 0;
    const double variation =
        c->model.clock == BLI_CLOCK_SLOTTED ? 1 : bli_dist_moment(size, 2) / (size->mean * size->mean) / 2;
    return bli_drift_border(services, variation);
}

static bool is_too_short_to_tell(const struct bli_case *c) {
    return c->model.load < bli_theory_critical_load(&c->model, &c->policy) &&
           c->run.time < BLI_TIME_CONSTANTS_MIN * bli_time_constant_of(c, NULL).constant;
}

/* Where no job was measured there is nothing to judge, unless all are still there and more and more of them;
 * and before a few services could be over every queue grows, whatever the load (docs/statistics.md). */
static enum bli_verdict verdict_of(const struct bli_case *c, const struct bli_drift *drift,
                                   const struct bli_result *result) {
    enum { SERVICES = 10 };
    if (c->run.time < SERVICES * service_time(&c->model))
        return BLI_UNDECIDED;
    const enum bli_verdict verdict = bli_drift_verdict(drift);
    if (verdict == BLI_UNSTABLE && is_too_short_to_tell(c))
        return BLI_UNDECIDED;
    return result->jobs == 0 && verdict == BLI_STABLE ? BLI_UNDECIDED : verdict;
}

void bli_result_of(const struct bli_case *c, const struct bli_trial *trial, size_t count,
                   struct bli_result *result) {
    const struct bal_policy_context setting = {bli_servers_count(&c->model.servers), c->model.load};
    *result = (struct bli_result){.replications = (unsigned)count,
                                  .memory_bits = bal_policy_memory_bits(&c->policy, &setting),
                                  .precise = true,
                                  .time = c->run.time,
                                  .outlasted = c->run.time > bli_curve_end(&c->model.curve)};
    struct bli_drift drift = {.border = border_of(c)};
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        result->metric[m] = estimate_metric(trial, count, m);
    if (c->run.percentiles)
        estimate_percentiles(trial, count, c->run.percentiles->count, result);
    for (size_t r = 0; r < count; r++) {
        bli_drift_add(&drift, trial[r].quarter);
        for (int i = 0; i < BLI_TAIL_LEVELS; i++)
            result->tail[i] += trial[r].tail[i];
        result->warmup += trial[r].warmup / c->run.time / (double)count;
        result->jobs += trial[r].jobs;
        result->events += trial[r].events;
        result->seconds += trial[r].seconds;
    }
    for (int i = 0; i < BLI_TAIL_LEVELS && count > 0; i++) /* the sum is divided, so that tail[0] is 1 */
        result->tail[i] /= (double)count;
    result->settling = bli_time_constant_of(c, result);
    if (count == 0)
        return;
    result->verdict = verdict_of(c, &drift, result);
    result->engine = trial[0].engine;
    if (c->precision > 0)
        bli_result_apply_control_variates(c, trial, count, result);
    bli_result_doubt(c, result);
}

/* Moves the complete trials to the front, in order, and returns how many there are. */
static unsigned keep_complete(struct run_record *record) {
    unsigned kept = 0;
    for (unsigned r = 0; r < record->capacity; r++)
        if (record->complete[r])
            record->trial[kept++] = record->trial[r];
    return kept;
}

/* Are there too few complete trials of another length than those that the result is of? */
static bool is_overtaken(const struct lab *lab, size_t i, const struct bli_result *result) {
    return result->replications > 0 && lab->record[i].kept < lab->cases[i].replications;
}

/* What there is when the lab is stopped. Where runs of another length have been begun, what those before them
 * gave is better until there are as many as were asked for; and cases that have one length keep one. */
static void summarize_stopped(struct lab *lab, struct bli_result *result) {
    bool any = false;
    for (size_t i = 0; i < lab->count; i++) {
        lab->record[i].kept = keep_complete(&lab->record[i]);
        any = any || is_overtaken(lab, i, &result[i]);
    }
    for (size_t i = 0; i < lab->count; i++)
        if (lab->options->independent_lengths ? !is_overtaken(lab, i, &result[i]) : !any)
            bli_result_of(&lab->cases[i], lab->record[i].trial, lab->record[i].kept, &result[i]);
}

/* How many replications the case needs, judged from its trials; the half-width falls like 1/sqrt(n). A queue
 * that grows without bound has no mean to be precise about, and more replications do not remove the reasons
 * to doubt a narrow interval. */
static double replications_for_precision(const struct bli_case *c, const struct bli_result *result) {
    const struct bli_estimate response = result->metric[BLI_RESPONSE_MEAN];
    const double now = result->replications;
    if (bli_result_is_narrow(c, result) || result->verdict == BLI_UNSTABLE)
        return now;
    const double ratio = response.half_width / (c->precision * response.mean);
    return fmax(isfinite(ratio) ? ceil(1.1 * now * ratio * ratio) : 2 * now, now + 1);
}

unsigned bli_replications_needed(const struct bli_case *c, const struct bli_result *result,
                                 unsigned max_replications) {
    const unsigned now = result->replications;
    const double needed = replications_for_precision(c, result);
    return now >= max_replications ? now : (unsigned)fmin(fmin(needed, 4.0 * now + 1), max_replications);
}

static unsigned max_replications_of(const struct lab *lab) {
    return lab->options->max_replications ? lab->options->max_replications : 1000;
}

/* One round; returns through *more whether another is needed. */
static enum bal_code run_round(struct lab *lab, struct bli_result *result, bool *more) {
    enum bal_code code = list_tasks(lab);
    if (!code)
        code = bli_pool_run(lab->options->threads, lab->tasks, run_task, lab, lab->options->stop);
    *more = false;
    if (code)
        return code;
    if (lab->options->stop && *lab->options->stop) {
        summarize_stopped(lab, result);
        return lab->first_error.code ? lab->first_error.code : BAL_E_STOPPED;
    }
    for (size_t i = 0; i < lab->count; i++) {
        struct run_record *record = &lab->record[i];
        bli_result_of(&lab->cases[i], record->trial, record->wanted, &result[i]);
        lab->before[i] = record->wanted;
        if (lab->first_error.code)
            continue;
        record->wanted = bli_replications_needed(&lab->cases[i], &result[i], max_replications_of(lab));
        *more = *more || record->wanted > lab->before[i];
    }
    return lab->first_error.code;
}

/* All of it again with runs of another length. */
static void restart_case(struct lab *lab, size_t i, double time, unsigned wanted) {
    struct run_record *record = &lab->record[i];
    lab->cases[i].run.time = time;
    lab->before[i] = 0;
    record->wanted = wanted;
    memset(record->complete, 0, record->capacity * sizeof *record->complete);
}

static void double_run_length(struct lab *lab, size_t i) {
    restart_case(lab, i, 2 * lab->cases[i].run.time, lab->cases[i].replications);
}

/* Makes runs longer that are too short; returns whether there are any. */
static bool lengthen_unsettled(struct lab *lab, const struct bli_result *result) {
    bool any = false;
    for (size_t i = 0; i < lab->count; i++) {
        if (!bli_run_length_should_double(&lab->record[i].run_length_state, &lab->cases[i], &result[i]))
            continue;
        any = true;
        if (lab->options->independent_lengths)
            double_run_length(lab, i);
    }
    for (size_t i = 0; any && !lab->options->independent_lengths && i < lab->count; i++)
        if (lab->cases[i].max_run_length > 0)
            double_run_length(lab, i);
    return any;
}

/* How many times as long runs of these cases should be. The one that needs fewest replications shall do with
 * TARGET_REPLICATIONS of them, and the one that needs most with those that are allowed: longer runs would be
 * more than the former needs, and shorter ones spend more on their warm-ups. */
static double length_factor(const struct lab *lab, size_t from, size_t to, const struct bli_result *result) {
    enum { TARGET_REPLICATIONS = 20 };
    double least = INFINITY, greatest = 0, limit = INFINITY;
    for (size_t i = from; i < to; i++) {
        const struct bli_case *c = &lab->cases[i];
        if (lab->record[i].run_length_state.planned || !(c->precision > 0))
            return 1;
        const double needed = replications_for_precision(c, &result[i]);
        least = fmin(least, needed);
        greatest = fmax(greatest, needed);
        limit = fmin(limit, c->max_run_length / c->run.time);
    }
    return fmin(fmax(least / TARGET_REPLICATIONS, greatest / max_replications_of(lab)), limit);
}

/* Ten pilot runs show roughly how many are needed; two or three show almost nothing. */
static bool has_enough_pilot_runs(const struct lab *lab, size_t from, size_t to,
                                  const struct bli_result *result) {
    enum { PILOT_RUNS = 10 };
    for (size_t i = from; i < to; i++)
        if (lab->record[i].wanted > lab->before[i] && result[i].replications < PILOT_RUNS)
            return false;
    return true;
}

/* Fewer, longer runs where a precision takes many: what is there is thrown away, so it is asked once, when
 * there is least that tells how many are needed; roughly, so some of these wait until the others tell. */
static bool lengthen_for_precision(struct lab *lab, size_t from, size_t to, const struct bli_result *result) {
    static const double at_first = 0.65;
    if (!has_enough_pilot_runs(lab, from, to, result))
        return false;
    const double factor = length_factor(lab, from, to, result);
    for (size_t i = from; i < to; i++) {
        const struct bli_case *c = &lab->cases[i];
        lab->record[i].run_length_state.planned = true;
        if (factor < 2)
            continue;
        const double needed = ceil(at_first * replications_for_precision(c, &result[i]) / factor);
        restart_case(lab, i, bli_scaled_run_length(c, factor),
                     (unsigned)fmax(fmin(needed, max_replications_of(lab)), c->replications));
    }
    return factor >= 2;
}

static bool lengthen_all_for_precision(struct lab *lab, const struct bli_result *result) {
    if (!lab->options->independent_lengths)
        return lengthen_for_precision(lab, 0, lab->count, result);
    bool any = false;
    for (size_t i = 0; i < lab->count; i++)
        any = lengthen_for_precision(lab, i, i + 1, result) || any;
    return any;
}

static enum bal_code run_rounds(struct lab *lab, struct bli_result *result) {
    for (bool more = true; more;) {
        const enum bal_code code = run_round(lab, result, &more);
        if (code)
            return code;
        if (lengthen_unsettled(lab, result) || (more && lengthen_all_for_precision(lab, result)))
            more = true;
    }
    return BAL_OK;
}

/* Once for all trials of a case. Those that ask for more than a model and a policy choose for themselves, and
 * so do those that cannot be: they say why. */
static void choose_engine(struct bli_case *c) {
    struct bli_run *run = &c->run;
    if (!run->engine_fits && !run->trace && !run->history && run->failing == 0)
        run->engine_fits = !bli_simulate_check(&c->model, &c->policy, run->engine, &run->engine, NULL);
}

enum bal_code bli_lab_run(const struct bli_case *cases, size_t count, const struct bli_lab_options *options,
                          struct bli_result *result, struct bal_error *err) {
    struct lab lab = {.count = count, .options = options};
    lab.cases = malloc((count + 1) * sizeof *lab.cases);
    lab.record = calloc(count + 1, sizeof *lab.record);
    lab.before = calloc(count + 1, sizeof *lab.before);
    pthread_mutex_init(&lab.lock, NULL);
    enum bal_code code = lab.cases && lab.record && lab.before ? BAL_OK : BAL_E_MEMORY;
    for (size_t i = 0; !code && i < count; i++) {
        lab.cases[i] = cases[i];
        choose_engine(&lab.cases[i]);
        result[i] = (struct bli_result){0};
        lab.record[i].wanted = cases[i].replications;
    }
    if (!code)
        code = run_rounds(&lab, result);
    if (code == BAL_E_STOPPED)
        bal_fail(err, code, "stopped before the end");
    else if (lab.first_error.code && err)
        *err = lab.first_error;
    else if (code)
        bal_fail(err, code, "not enough memory for %zu cases", count);
    for (size_t i = 0; lab.record && i < count; i++) {
        free(lab.record[i].trial);
        free(lab.record[i].complete);
    }
    free(lab.cases);
    free(lab.record);
    free(lab.before);
    free(lab.task);
    pthread_mutex_destroy(&lab.lock);
    return code;
}
