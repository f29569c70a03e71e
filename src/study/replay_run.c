/* SPDX-License-Identifier: BSD-2-Clause */
/* A replay keeps a histogram of response times for each part of the log and for each kind of jobs. They are
 * large, so each trial takes what is needed from them at once and lets them go. */
#include "study/blocks.h"
#include "study/replay_try.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What is kept of a trial in addition to its metrics. */
struct extract {
    double time[BLI_REPLAY_TIMES];
    struct bli_confidence_range log[BLI_REPLAY_TIMES];
    struct bli_estimate apart[BLI_REPLAY_TIMES];
    uint64_t kind_jobs[BLI_TRACE_KINDS];
    double kind_time[BLI_TRACE_KINDS][BLI_REPLAY_TIMES];
    double target_ratio;
    bool given_up;
};

/* The memory of a trial that is under way. */
struct memory {
    double values[4][BLI_REPLAY_SPANS];
    struct bli_histogram spans[BLI_REPLAY_SPANS];
    struct bli_histogram all;
    struct bli_kind_times kind[];
};

struct runs {
    const struct bli_replay *replay;
    const struct bli_case *cases;
    const enum bli_effort *effort; /* of each of them; NULL: everything, and strains are not wanted */
    size_t count;
    const struct bli_lab_options *options;
    size_t kinds;
    unsigned replications;
    struct bli_trial *trial; /* replications of each case, one behind the other */
    struct extract *extract;
    bool *complete;
    double *value;        /* one for each replication */
    pthread_mutex_t lock; /* guards what follows */
    double done;
    struct bal_error first_error;
};

static size_t count_kinds(const struct bli_trace *trace) {
    size_t kinds = BLI_TRACE_KINDS;
    while (kinds > 1 && bli_trace_info(trace)->kind[kinds - 1] == 0)
        kinds--;
    return kinds > 1 ? kinds : 0;
}

/* 0: the mean; NaN: not wanted. */
static double quantile_of(int which, const struct bli_replay *replay) {
    static const double quantiles[] = {0, 0.5, 0.9, 0.99, 0.999};
    const unsigned asked = (unsigned)(which - BLI_TIME_ASKED);
    if (which < BLI_TIME_WANTED)
        return quantiles[which];
    if (which == BLI_TIME_WANTED)
        return replay->target ? replay->target->quantile : NAN;
    return asked < replay->percentiles.count ? replay->percentiles.quantile[asked] : NAN;
}

/* ---- from histograms to numbers ---- */

double bli_count_above(const struct bli_histogram *h, double value) {
    const unsigned bin = bli_histogram_bin(value);
    uint64_t count = 0;
    for (unsigned i = bin + 1; i < BLI_HISTOGRAM_BINS; i++)
        count += h->count[i];
    const double above = (double)count;
    if (bin == 0 || bin + 1 == BLI_HISTOGRAM_BINS)
        return above;
    const double low = bli_histogram_edge(bin), high = bli_histogram_edge(bin + 1);
    return above + (double)h->count[bin] * (high - value) / (high - low);
}

/* Response times, in units of the mean size, of jobs that took longer than some of them, part by part. */
static void sum_above(const struct memory *memory, double value, struct bli_span_sums *sums) {
    for (int s = 0; s < BLI_REPLAY_SPANS; s++) {
        sums->top[s] = bli_count_above(&memory->spans[s], value);
        sums->bottom[s] = memory->values[0][s];
    }
}

static void sum_times(const struct memory *memory, struct bli_span_sums *sums) {
    for (int s = 0; s < BLI_REPLAY_SPANS; s++) {
        const double jobs = memory->values[0][s];
        sums->top[s] = jobs > 0 ? memory->values[1][s] * jobs : 0;
        sums->bottom[s] = jobs;
    }
}

/* The share of jobs above a quantile varies from log to log by some factor. The quantile of another log lies
 * where this one has so many times as many jobs above, or as few (Woodruff 1952). */
static struct bli_confidence_range quantile_range(const struct memory *memory,
                                                  const struct bli_blocks_memory *blocks, double quantile,
                                                  double value, double unit) {
    struct bli_span_sums sums;
    sum_above(memory, value / unit, &sums);
    const struct bli_confidence_range share = bli_blocks_range(&sums, blocks);
    const double factor = sqrt(share.high / share.low);
    if (!(factor <= BLI_LATE_MAX) || bli_blocks_spells(&sums, blocks) < BLI_BLOCKS_SPELLS)
        return (struct bli_confidence_range){NAN, NAN};
    const struct bli_histogram *all = &memory->all;
    return (struct bli_confidence_range){
        unit * bli_histogram_quantile(all, fmax(1 - (1 - quantile) * factor, 0)),
        unit * bli_histogram_quantile(all, 1 - (1 - quantile) / factor)};
}

/* So many jobs at least must lie on each side of what a range is of, and in so many blocks, each counted by
 * its weight: fewer are not enough to estimate their variation. */
enum { JOBS_MIN = 10, BLOCKS_MIN = 6 };

static bool has_enough_blocks(const struct memory *memory, double quantile) {
    enum { LENGTH = BLI_REPLAY_SPANS / BLI_BLOCKS_IN_LOG };
    double jobs = 0, squares = 0;
    for (int b = 0; b < BLI_BLOCKS_IN_LOG; b++) {
        double block = 0;
        for (int i = 0; i < LENGTH; i++)
            block += memory->values[0][b * LENGTH + i];
        jobs += block;
        squares += block * block;
    }
    if (jobs * jobs < BLOCKS_MIN * squares)
        return false;
    return quantile == 0 ? jobs >= 10 * JOBS_MIN : jobs * fmin(quantile, 1 - quantile) >= JOBS_MIN;
}

static void extract_times(const struct runs *runs, const struct memory *memory, const struct bli_trial *trial,
                          double unit, const struct bli_blocks_fleet *fleet, struct extract *extract) {
    struct bli_span_sums times;
    sum_times(memory, &times);
    const struct bli_blocks_memory blocks = bli_blocks_memory(&times, fleet);
    for (int t = 0; t < BLI_REPLAY_TIMES; t++) {
        const double quantile = quantile_of(t, runs->replay);
        extract->time[t] = NAN;
        extract->log[t] = (struct bli_confidence_range){NAN, NAN};
        if (isnan(quantile))
            continue;
        if (quantile == 0) {
            extract->time[t] = trial->metric[BLI_RESPONSE_MEAN];
            extract->log[t] = bli_blocks_range(&times, &blocks);
            if (extract->log[t].low < fleet->service) /* sizes alone take that long */
                extract->log[t].low = fmin(extract->time[t], fleet->service);
        } else {
            extract->time[t] = bli_histogram_quantile(&memory->all, quantile) / (1 / unit); /* as the engine
                                                                                               does it */
            extract->log[t] = quantile_range(memory, &blocks, quantile, extract->time[t], unit);
        }
        if (!has_enough_blocks(memory, quantile))
            extract->log[t] = (struct bli_confidence_range){NAN, NAN};
    }
}

/* ---- compared with what was measured ---- */

enum { FIRST_BLOCK = 1, FIRST_SPAN = FIRST_BLOCK * BLI_REPLAY_SPANS / BLI_BLOCKS_IN_LOG };

void bli_interval_sums_add(struct bli_interval_sums *measured, double after, double span, double response) {
    const double place = span > 0 ? after / span * BLI_REPLAY_SPANS : 0;
    const int s = (int)fmin(fmax(place, 0), BLI_REPLAY_SPANS - 1);
    measured->jobs[s]++;
    measured->response[s] += response;
    bli_histogram_add(&measured->spans[s], response / measured->unit);
}

static struct bli_estimate mean_apart(const struct memory *memory, const struct bli_interval_sums *measured) {
    double apart[BLI_REPLAY_SPANS], sum = 0, jobs = 0;
    for (int s = 0; s < BLI_REPLAY_SPANS; s++) {
        const double count = memory->values[0][s], seen = measured->jobs[s];
        apart[s] = count > 0 && seen > 0 ? count * (measured->response[s] / seen - memory->values[1][s]) : 0;
        if (s < FIRST_SPAN)
            continue;
        sum += apart[s];
        jobs += count;
    }
    return (struct bli_estimate){sum / jobs, bli_blocks_half(apart, FIRST_BLOCK) / jobs};
}

static double quantile_from(const struct bli_histogram *spans, double quantile) {
    struct bli_histogram all = {0};
    for (int s = FIRST_SPAN; s < BLI_REPLAY_SPANS; s++)
        bli_histogram_merge(&all, &spans[s]);
    return bli_histogram_quantile(&all, quantile);
}

/* How many more than expected are above the quantile tells how sure its place is (Woodruff 1952). */
static struct bli_estimate quantile_apart(const struct memory *memory,
                                          const struct bli_interval_sums *measured, double quantile,
                                          double unit) {
    const double predicted = unit * quantile_from(memory->spans, quantile);
    double apart[BLI_REPLAY_SPANS], jobs = 0;
    for (int s = 0; s < BLI_REPLAY_SPANS; s++) {
        const double count = memory->values[0][s], seen = measured->jobs[s];
        const double above = bli_count_above(&measured->spans[s], predicted / measured->unit);
        apart[s] = count > 0 && seen > 0
                       ? count / seen * above - bli_count_above(&memory->spans[s], predicted / unit)
                       : 0;
        jobs += s < FIRST_SPAN ? 0 : count;
    }
    const double share = bli_blocks_half(apart, FIRST_BLOCK) / jobs;
    const double above = unit * quantile_from(memory->spans, fmin(quantile + share, 1)) - predicted;
    const double below = predicted - unit * quantile_from(memory->spans, fmax(quantile - share, 0));
    return (struct bli_estimate){measured->unit * quantile_from(measured->spans, quantile) - predicted,
                                 fmax(above, below)};
}

static void extract_apart(const struct runs *runs, const struct memory *memory, double unit,
                          struct extract *extract) {
    for (int t = 0; t < BLI_REPLAY_TIMES; t++) {
        const double quantile = quantile_of(t, runs->replay);
        if (!runs->replay->measured || isnan(quantile) || !has_enough_blocks(memory, quantile))
            extract->apart[t] = (struct bli_estimate){NAN, NAN};
        else if (quantile == 0)
            extract->apart[t] = mean_apart(memory, runs->replay->measured);
        else
            extract->apart[t] = quantile_apart(memory, runs->replay->measured, quantile, unit);
    }
}

static void extract_kinds(const struct runs *runs, const struct memory *memory, double unit,
                          struct extract *extract) {
    for (size_t k = 0; k < runs->kinds; k++) {
        const struct bli_kind_times *kind = &memory->kind[k];
        extract->kind_jobs[k] = kind->jobs;
        for (int t = 0; t < BLI_REPLAY_TIMES; t++) {
            const double quantile = quantile_of(t, runs->replay);
            extract->kind_time[k][t] = isnan(quantile) ? NAN
                                       : quantile == 0
                                           ? kind->response / (double)kind->jobs
                                           : unit * bli_histogram_quantile(&kind->responses, quantile);
        }
    }
}

/* ---- missed beyond doubt ---- */

enum {
    LOOKS = 16, /* of so many times that it might it looks once */
};

/* Of a trial under way. */
struct early_stop {
    const struct bli_target *target;
    double unit, jobs; /* how many there will be at most */
    unsigned replications;
    bool ends; /* the trial, when it is certain */
    unsigned asked;
    bool decided;
    double target_ratio; /* then */
};

static double target_ratio_of(const struct bli_target *target, const struct bli_histogram *responses,
                              double mean, double jobs, double unit) {
    if (target->quantile == 0)
        return mean / target->seconds;
    return bli_count_above(responses, target->seconds / unit) / ((1 - target->quantile) * jobs);
}

/* Jobs that are late for certain: a bin further up, whatever is rounded. Values beyond the last bin are not
 * distinguished, and neither is a percentile among them. */
static double count_late(const struct early_stop *early_stop, const struct bli_histogram *h) {
    uint64_t late = 0;
    for (unsigned i =
             bli_histogram_bin(early_stop->replications * early_stop->target->seconds / early_stop->unit) + 2;
         i < BLI_HISTOGRAM_BINS; i++)
        late += h->count[i];
    return h->count[BLI_HISTOGRAM_BINS - 1] > 0 ? 0 : (double)late;
}

static bool is_decided(const struct early_stop *early_stop, const struct bli_so_far *so_far) {
    const double quantile = early_stop->target->quantile, most = BLI_LATE_MAX * (1 + 1e-9) * early_stop->jobs;
    if (so_far->refused > 0)
        return true;
    if (quantile == 0)
        return so_far->response > early_stop->replications * early_stop->target->seconds * most;
    return count_late(early_stop, so_far->responses) > (1 - quantile) * most + 1;
}

static bool stop_early(void *context, const struct bli_so_far *so_far) {
    struct early_stop *early_stop = context;
    if (early_stop->decided || ++early_stop->asked % LOOKS > 0 || !is_decided(early_stop, so_far))
        return false;
    const double jobs = (double)so_far->jobs;
    early_stop->decided = true;
    early_stop->target_ratio = so_far->refused > 0
                                   ? NAN
                                   : target_ratio_of(early_stop->target, so_far->responses,
                                                     so_far->response / jobs, jobs, early_stop->unit);
    return early_stop->ends;
}

/* ---- trials ---- */

static struct bli_history history_of(const struct runs *runs, struct memory *memory) {
    return (struct bli_history){.spans = BLI_REPLAY_SPANS,
                                .jobs = memory->values[0],
                                .response = memory->values[1],
                                .p99 = memory->values[2],
                                .watts = memory->values[3],
                                .responses = memory->spans,
                                .kind = runs->kinds > 0 ? memory->kind : NULL,
                                .kinds = runs->kinds};
}

static void copy_history(const struct memory *memory, const struct bli_history *to) {
    const size_t size = BLI_REPLAY_SPANS * sizeof *to->jobs;
    memcpy(to->jobs, memory->values[0], size);
    memcpy(to->response, memory->values[1], size);
    memcpy(to->p99, memory->values[2], size);
    memcpy(to->watts, memory->values[3], size);
}

/* Does the dispatcher look at nothing, so that each server is a queue of its own? */
static bool is_blind(const struct bal_policy_spec *policy, const struct bli_trial *trial) {
    return policy->policy->route && trial->metric[BLI_MESSAGES_PER_JOB] == 0 &&
           !(bal_policy_flags(policy) & (BAL_NEEDS_OWN | BAL_NEEDS_WORK | BAL_MAY_HOLD));
}

static void extract_all(const struct runs *runs, const struct memory *memory, const struct bli_trial *trial,
                        const struct bli_case *c, struct extract *extract) {
    const struct bli_model *model = &c->model;
    const double unit = model->size.mean, servers = bli_servers_count(&model->servers);
    const double slots = bli_replay_server_rate(model),
                 speed = bli_servers_capacity(&model->servers) / servers;
    const struct bli_blocks_fleet fleet = {servers * slots, unit / speed, bli_replay_time(runs->replay),
                                           is_blind(&c->policy, trial)};
    extract_times(runs, memory, trial, unit, &fleet, extract);
    extract_apart(runs, memory, unit, extract);
    extract_kinds(runs, memory, unit, extract);
}

/* As far as trials that are tried have come. */
static void extract_target_ratio(const struct early_stop *early_stop, const struct memory *memory,
                                 const struct bli_trial *trial, struct extract *extract) {
    extract->given_up = early_stop->decided && early_stop->ends;
    extract->target_ratio = early_stop->decided ? early_stop->target_ratio
                                                : target_ratio_of(early_stop->target, &memory->all,
                                                                  trial->metric[BLI_RESPONSE_MEAN],
                                                                  (double)trial->jobs, early_stop->unit);
}

/* No range, and no part of the log or kind of jobs of its own. */
static void extract_rough(const struct early_stop *early_stop, const struct memory *memory,
                          const struct bli_trial *trial, struct extract *extract) {
    const double quantile = early_stop->target->quantile;
    extract->time[BLI_TIME_WANTED] =
        quantile == 0 ? trial->metric[BLI_RESPONSE_MEAN]
                      : bli_histogram_quantile(&memory->all, quantile) / (1 / early_stop->unit);
}

static enum bal_code run_trial(struct runs *runs, size_t i, struct bal_error *err) {
    const size_t which = i / runs->replications;
    const struct bli_case *c = &runs->cases[which];
    const bool tried = runs->effort, rough = tried && runs->effort[which] == BLI_EFFORT_ROUGH;
    /* Most bins are never used, and what is not touched takes no memory. */
    struct memory *memory = calloc(1, sizeof *memory + runs->kinds * sizeof *memory->kind);
    if (!memory)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a replay");
    struct bli_history history = history_of(runs, memory);
    struct early_stop early_stop = {.target = runs->replay->target,
                                    .unit = c->model.size.mean,
                                    .jobs = (double)bli_trace_info(runs->replay->trace)->jobs,
                                    .replications = runs->replications,
                                    .ends = tried && runs->effort[which] != BLI_EFFORT_WHOLE};
    const struct bli_watch watch = {stop_early, &early_stop};
    struct extract *extract = &runs->extract[i];
    struct bli_run run = c->run;
    run.replication = i % runs->replications;
    run.stop = runs->options->stop;
    run.history = &history;
    run.watch = tried ? &watch : NULL;
    runs->trial[i].histogram[BLI_OF_RESPONSE] = &memory->all;
    enum bal_code code = bli_case_trial(c, &run, &runs->trial[i], err);
    runs->trial[i].histogram[BLI_OF_RESPONSE] = NULL;
    if (code == BAL_E_STOPPED && early_stop.decided && early_stop.ends)
        code = BAL_OK;
    if (!code && tried)
        extract_target_ratio(&early_stop, memory, &runs->trial[i], extract);
    if (!code && rough)
        extract_rough(&early_stop, memory, &runs->trial[i], extract);
    else if (!code && !extract->given_up)
        extract_all(runs, memory, &runs->trial[i], c, extract);
    if (!code && run.replication == 0 && c->run.history)
        copy_history(memory, c->run.history);
    free(memory);
    return code;
}

static void run_task(void *context, size_t i) {
    struct runs *runs = context;
    struct bal_error err = {0};
    const enum bal_code code = run_trial(runs, i, &err);
    runs->complete[i] = code == BAL_OK;
    pthread_mutex_lock(&runs->lock);
    if (code && code != BAL_E_STOPPED && !runs->first_error.code)
        runs->first_error = err;
    runs->done++;
    if (runs->options->progress)
        runs->options->progress(runs->options->progress_context,
                                runs->done / (double)(runs->count * runs->replications));
    pthread_mutex_unlock(&runs->lock);
}

/* ---- what trials say together ---- */

static struct bli_estimate estimate_member(const struct runs *runs, size_t first, size_t offset) {
    for (unsigned r = 0; r < runs->replications; r++)
        memcpy(&runs->value[r], (const char *)&runs->extract[first + r] + offset, sizeof *runs->value);
    return bli_estimate_mean(runs->value, runs->replications);
}

static void summarize_case(const struct runs *runs, size_t i, struct bli_replay_outcome *outcome) {
    const size_t first = i * runs->replications;
    const struct extract *extract = &runs->extract[first];
    *outcome = (struct bli_replay_outcome){.target_ratio = runs->effort ? 0 : NAN};
    for (unsigned r = 0; r < runs->replications; r++) {
        outcome->target_ratio += extract[r].target_ratio / runs->replications;
        outcome->given_up |= extract[r].given_up;
    }
    if (outcome->given_up)
        return;
    bli_result_of(&runs->cases[i], &runs->trial[first], runs->replications, &outcome->result);
    for (size_t t = 0; t < BLI_REPLAY_TIMES; t++) {
        outcome->time[t] = estimate_member(runs, first, offsetof(struct extract, time) + t * sizeof(double));
        for (unsigned r = 0; r < runs->replications; r++) {
            outcome->log[t].low += extract[r].log[t].low / runs->replications;
            outcome->log[t].high += extract[r].log[t].high / runs->replications;
            outcome->apart[t].mean += extract[r].apart[t].mean / runs->replications;
            outcome->apart[t].half_width += extract[r].apart[t].half_width / runs->replications;
        }
    }
    if (runs->kinds == 0) { /* all are of one */
        outcome->kind[0].jobs = outcome->result.jobs / runs->replications;
        memcpy(outcome->kind[0].time, outcome->time, sizeof outcome->time);
    }
    for (size_t k = 0; k < runs->kinds; k++) {
        outcome->kind[k].jobs = extract[0].kind_jobs[k];
        for (size_t t = 0; t < BLI_REPLAY_TIMES; t++)
            outcome->kind[k].time[t] =
                estimate_member(runs, first, offsetof(struct extract, kind_time[k][t]));
    }
}

static enum bal_code finish_runs(struct runs *runs, struct bli_replay_outcome *outcome,
                                 struct bal_error *err) {
    if (runs->first_error.code) {
        if (err)
            *err = runs->first_error;
        return runs->first_error.code;
    }
    for (size_t i = 0; i < runs->count * runs->replications; i++)
        if (!runs->complete[i])
            return bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    for (size_t i = 0; i < runs->count; i++)
        summarize_case(runs, i, &outcome[i]);
    return BAL_OK;
}

enum bal_code bli_measured_times(const struct bli_interval_sums *measured, double servers, double span,
                                 struct bli_measured_times *times, struct bal_error *err) {
    struct memory *memory = calloc(1, sizeof *memory);
    struct extract *extract = calloc(1, sizeof *extract);
    enum bal_code code = BAL_OK;
    if (memory && extract) {
        const struct bli_replay none = {.trace = NULL};
        const struct runs runs = {.replay = &none};
        const struct bli_blocks_fleet fleet = {servers, measured->unit, span, false};
        struct bli_trial trial = {0};
        double sum = 0, jobs = 0;
        for (int s = 0; s < BLI_REPLAY_SPANS; s++) {
            sum += measured->response[s];
            jobs += memory->values[0][s] = measured->jobs[s];
            memory->values[1][s] = measured->response[s] / measured->jobs[s];
            bli_histogram_merge(&memory->all, &measured->spans[s]);
        }
        memcpy(memory->spans, measured->spans, sizeof memory->spans);
        trial.metric[BLI_RESPONSE_MEAN] = sum / jobs;
        extract_times(&runs, memory, &trial, measured->unit, &fleet, extract);
        memcpy(times->time, extract->time, sizeof times->time);
        memcpy(times->log, extract->log, sizeof times->log);
    } else {
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for what was measured");
    }
    free(memory);
    free(extract);
    return code;
}

enum bal_code bli_replay_try(const struct bli_replay *replay, const struct bli_case *cases,
                             const enum bli_effort *effort, size_t count,
                             const struct bli_lab_options *options, struct bli_replay_outcome *outcome,
                             struct bal_error *err) {
    struct runs runs = {.replay = replay,
                        .cases = cases,
                        .effort = effort,
                        .count = count,
                        .options = options,
                        .kinds = count_kinds(replay->trace),
                        .replications = replay->replications};
    const size_t trials = count * runs.replications;
    runs.trial = calloc(trials + 1, sizeof *runs.trial);
    runs.extract = calloc(trials + 1, sizeof *runs.extract);
    runs.complete = calloc(trials + 1, sizeof *runs.complete);
    runs.value = calloc(runs.replications + 1, sizeof *runs.value);
    enum bal_code code = BAL_E_MEMORY;
    pthread_mutex_init(&runs.lock, NULL);
    if (runs.trial && runs.extract && runs.complete && runs.value)
        code = bli_pool_run(options->threads, trials, run_task, &runs, options->stop);
    if (code && code != BAL_E_STOPPED)
        bal_fail(err, code, "not enough memory for %zu replays", trials);
    else
        code = finish_runs(&runs, outcome, err);
    pthread_mutex_destroy(&runs.lock);
    free(runs.trial);
    free(runs.extract);
    free(runs.complete);
    free(runs.value);
    return code;
}

enum bal_code bli_replay_run(const struct bli_replay *replay, const struct bli_case *cases, size_t count,
                             const struct bli_lab_options *options, struct bli_replay_outcome *outcome,
                             struct bal_error *err) {
    return bli_replay_try(replay, cases, NULL, count, options, outcome, err);
}
