/* SPDX-License-Identifier: BSD-2-Clause */
/* Searches for the share of jobs that may have high priority. */
#include "study/priority_share.h"

#include "lab/run_length.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bli_priority_share_policy(const struct bli_priority *priority, char text[BLI_PRIORITY_SHARE_TEXT]) {
    static const char *const names[] = {"pod-scp", "pod-sep", "pod-ssp"};
    if (priority->policy == BLI_PRIORITY_SEP)
        snprintf(text, BLI_PRIORITY_SHARE_TEXT, "pod-sep:d=%u", priority->d1);
    else
        snprintf(text, BLI_PRIORITY_SHARE_TEXT, "%s:d1=%u,d2=%u", names[priority->policy], priority->d1,
                 priority->d2);
}

void bli_priority_share_plain(const struct bli_priority *priority, char text[BLI_PRIORITY_SHARE_TEXT]) {
    snprintf(text, BLI_PRIORITY_SHARE_TEXT, "pod:d=%u", priority->d1);
}

static struct bli_priority_result solve_at(const struct bli_priority_share_wish *wish, double p) {
    struct bli_priority priority = wish->priority;
    priority.p = p;
    return bli_priority_solve(&priority);
}

static void find_extremes(const struct bli_priority_share_wish *wish,
                          struct bli_priority_share_found *found) {
    enum { STEPS = 1000 };
    for (int k = 1; k < STEPS; k++) {
        const double p = k / (double)STEPS;
        const struct bli_priority_result result = solve_at(wish, p);
        if (!(result.gain <= found->most_gain)) {
            found->most_gain = result.gain;
            found->most_gain_at = p;
        }
        if (!(result.loss >= found->least_loss)) {
            found->least_loss = result.loss;
            found->least_loss_at = p;
        }
    }
}

struct bli_priority_share_found bli_priority_share_find(const struct bli_priority_share_wish *wish) {
    struct bli_priority_share_found found = {.most_gain = NAN, .least_loss = NAN};
    const double scale = pow(10, BLI_PRIORITY_SHARE_DECIMALS);
    found.p = floor(bli_priority_share(&wish->priority, wish->gain, wish->loss) * scale) / scale;
    if (!(found.p > 0))
        found.p = NAN;
    found.theory = solve_at(wish, found.p);
    find_extremes(wish, &found);
    return found;
}

/* ---- simulation ---- */

/* Trials 2 r and 2 r + 1 are replication r of the policy and of pod: neighbours, so that an early end leaves
 * few pairs incomplete. */
struct pairs {
    struct bli_case cases[2];
    struct bli_trial *trial;
    bool *complete;
    unsigned replications;
    const struct bli_lab_options *options;
    pthread_mutex_t lock; /* guards what follows */
    size_t done;
    struct bal_error error;
};

static void run_trial(void *context, size_t i) {
    struct pairs *pairs = context;
    const struct bli_case *c = &pairs->cases[i % 2];
    struct bli_run run = c->run;
    run.replication = i / 2;
    run.stop = pairs->options->stop;
    struct bal_error error = {0};
    const enum bal_code code = bli_simulate(&c->model, &c->policy, &run, &pairs->trial[i], &error);
    pairs->complete[i] = code == BAL_OK;
    pthread_mutex_lock(&pairs->lock);
    pairs->done++;
    if (code && code != BAL_E_STOPPED && !pairs->error.code)
        pairs->error = error;
    if (pairs->options->progress)
        pairs->options->progress(pairs->options->progress_context,
                                 (double)pairs->done / (2.0 * pairs->replications));
    pthread_mutex_unlock(&pairs->lock);
}

/* The values of a metric of one of the two policies over the complete pairs; returns how many there are. */
static unsigned values_of(const struct pairs *pairs, unsigned which, enum bli_metric metric, double *values) {
    unsigned count = 0;
    for (unsigned r = 0; r < pairs->replications; r++)
        if (pairs->complete[2 * r] && pairs->complete[2 * r + 1])
            values[count++] = pairs->trial[2 * r + which].metric[metric];
    return count;
}

/* The results of the complete replications of one of the two. */
static enum bal_code result_of(const struct pairs *pairs, unsigned which, struct bli_result *result) {
    struct bli_trial *trial = malloc((pairs->replications + 1) * sizeof *trial);
    if (!trial)
        return BAL_E_MEMORY;
    size_t count = 0;
    for (unsigned r = 0; r < pairs->replications; r++)
        if (pairs->complete[2 * r] && pairs->complete[2 * r + 1])
            trial[count++] = pairs->trial[2 * r + which];
    bli_result_of(&pairs->cases[which], trial, count, result);
    free(trial);
    return BAL_OK;
}

static enum bal_code summarize_pairs(const struct pairs *pairs,
                                     struct bli_priority_share_measured *measured) {
    double *values = malloc((3 * (size_t)pairs->replications + 1) * sizeof *values);
    if (!values)
        return BAL_E_MEMORY;
    double *high = values, *low = high + pairs->replications, *pod = low + pairs->replications;
    values_of(pairs, 0, BLI_HIGH_RESPONSE_MEAN, high);
    values_of(pairs, 0, BLI_LOW_RESPONSE_MEAN, low);
    const unsigned count = values_of(pairs, 1, BLI_RESPONSE_MEAN, pod);
    *measured = (struct bli_priority_share_measured){
        .high = bli_estimate_mean(high, count),
        .low = bli_estimate_mean(low, count),
        .pod = bli_estimate_mean(pod, count),
        .gain = bli_estimate_ratio(pod, high, count),
        .loss = bli_estimate_ratio(low, pod, count),
        .replications = count,
        .cases = {pairs->cases[0], pairs->cases[1]},
    };
    free(values);
    const enum bal_code code = result_of(pairs, 0, &measured->with);
    return code ? code : result_of(pairs, 1, &measured->without);
}

static enum bal_code make_cases(const struct bli_priority_share_wish *wish, double p, uint32_t servers,
                                const struct bli_run *run, struct bli_case cases[2], struct bal_error *err) {
    char text[2][BLI_PRIORITY_SHARE_TEXT];
    bli_priority_share_policy(&wish->priority, text[0]);
    bli_priority_share_plain(&wish->priority, text[1]);
    for (int i = 0; i < 2; i++) {
        struct bli_case *c = &cases[i];
        *c = (struct bli_case){.run = *run};
        c->model = (struct bli_model){.servers = {.groups = 1, .group = {{.count = servers, .speed = 1}}},
                                      .load = wish->priority.lambda,
                                      .classes = true,
                                      .high = p};
        c->model.size = bli_dist_exponential(1);
        enum bal_code code = bal_policy_parse(text[i], &c->policy, err);
        enum bli_engine engine;
        if (!code)
            code = bli_simulate_check(&c->model, &c->policy, BLI_ENGINE_AUTO, &engine, err);
        if (code)
            return code;
    }
    return BAL_OK;
}

/* All pairs, once. */
static enum bal_code run_pairs(struct pairs *pairs, struct bli_priority_share_measured *measured,
                               struct bal_error *err) {
    const size_t trials = 2 * (size_t)pairs->replications;
    const struct bli_lab_options *options = pairs->options;
    memset(pairs->complete, 0, trials * sizeof *pairs->complete);
    pairs->done = 0;
    enum bal_code code = bli_pool_run(options->threads, trials, run_trial, pairs, options->stop);
    if (!code)
        code = summarize_pairs(pairs, measured);
    if (code)
        return bal_fail(err, code, "not enough memory for %zu trials", trials);
    if (pairs->error.code)
        return bal_fail(err, pairs->error.code, "%s", pairs->error.text);
    if (options->stop && *options->stop)
        return bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    return BAL_OK;
}

/* Both are made longer together: the question is how one compares with the other. */
static enum bal_code run_until_settled(struct pairs *pairs, struct bli_priority_share_measured *measured,
                                       struct bal_error *err) {
    struct run_length_state growth[2] = {{false, false}, {false, false}};
    for (;;) {
        const enum bal_code code = run_pairs(pairs, measured, err);
        if (code)
            return code;
        const bool with = bli_run_length_should_double(&growth[0], &pairs->cases[0], &measured->with);
        const bool without = bli_run_length_should_double(&growth[1], &pairs->cases[1], &measured->without);
        if (!with && !without)
            return BAL_OK;
        pairs->cases[0].run.time *= 2;
        pairs->cases[1].run.time *= 2;
    }
}

enum bal_code bli_priority_share_measure(const struct bli_priority_share_wish *wish, double p,
                                         uint32_t servers, const struct bli_run *run, bool open,
                                         unsigned replications, const struct bli_lab_options *options,
                                         struct bli_priority_share_measured *measured,
                                         struct bal_error *err) {
    struct pairs pairs = {.replications = replications, .options = options};
    enum bal_code code = make_cases(wish, p, servers, run, pairs.cases, err);
    if (code)
        return code;
    if (open)
        bli_choose_length(pairs.cases, 2, run->time, 0);
    const size_t trials = 2 * (size_t)replications;
    pairs.trial = calloc(trials, sizeof *pairs.trial);
    pairs.complete = calloc(trials, sizeof *pairs.complete);
    pthread_mutex_init(&pairs.lock, NULL);
    code = pairs.trial && pairs.complete
               ? run_until_settled(&pairs, measured, err)
               : bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu trials", trials);
    pthread_mutex_destroy(&pairs.lock);
    free(pairs.trial);
    free(pairs.complete);
    return code;
}

/* ---- the answer ---- */

static double miss_of(const struct bli_priority_share_wish *wish, double gain, double loss) {
    const double gain_miss = wish->gain > 0 ? 1 - gain / wish->gain : 0;
    const double loss_miss = isfinite(wish->loss) ? loss / wish->loss - 1 : 0;
    if (isnan(gain_miss + loss_miss)) /* fmax would pass over it */
        return NAN;
    return fmax(fmax(gain_miss, loss_miss), 0);
}

static void check_answer(const struct bli_priority_share_wish *wish,
                         struct bli_priority_share_answer *answer) {
    static const double tolerance = 0.01;
    const struct bli_priority_share_measured *measured = &answer->measured;
    answer->sure = bli_result_is_sure(&measured->with) && bli_result_is_sure(&measured->without);
    answer->miss = miss_of(wish, measured->gain.mean, measured->loss.mean);
    /* given the benefit of the doubt that the error of the simulation leaves */
    const double least = measured->replications > 1
                             ? miss_of(wish, measured->gain.mean + measured->gain.half_width,
                                       measured->loss.mean - measured->loss.half_width)
                             : NAN;
    answer->confirmed = answer->sure && (answer->miss <= tolerance || least <= 0);
}

enum bal_code bli_priority_share_answer(const struct bli_priority_share_wish *wish, uint32_t servers,
                                        const struct bli_run *run, bool open, unsigned replications,
                                        const struct bli_lab_options *options,
                                        struct bli_priority_share_answer *answer, struct bal_error *err) {
    *answer = (struct bli_priority_share_answer){.found = bli_priority_share_find(wish), .servers = servers};
    if (isnan(answer->found.p) || servers == 0)
        return BAL_OK;
    const enum bal_code code = bli_priority_share_measure(wish, answer->found.p, servers, run, open,
                                                          replications, options, &answer->measured, err);
    if (code && code != BAL_E_STOPPED)
        return code;
    answer->simulated = true;
    answer->cut_short = code == BAL_E_STOPPED;
    check_answer(wish, answer);
    return BAL_OK;
}
