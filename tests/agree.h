/* SPDX-License-Identifier: BSD-2-Clause */
/* Do two ways of simulating one thing agree? Replications of both, and Welch's comparison of what they
 * measured.
 *
 * Both sides start empty, run for the same time and cut the same warm-up, so that what is compared has the
 * same expectation exactly, however short the runs: no steady state is assumed. Include after <cmocka.h>. */
#ifndef BALLAST_TESTS_AGREE_H
#define BALLAST_TESTS_AGREE_H

#include "ballast/lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What is compared: the metrics, and the fractions of servers with at least 1 ... AGREE_TAIL jobs. */
enum { AGREE_TAIL = 8, QUANTITIES = BLI_METRIC_COUNT + AGREE_TAIL };

struct replications {
    unsigned count;
    double (*value)[QUANTITIES];
};

static inline const char *quantity_name(int quantity) {
    static char tail[32];
    if (quantity < BLI_METRIC_COUNT)
        return bli_metric_table[quantity].name;
    snprintf(tail, sizeof tail, "tail[%d]", quantity - BLI_METRIC_COUNT + 1);
    return tail;
}

static inline struct replications replications_new(unsigned count) {
    const struct replications r = {count, malloc(count * sizeof *r.value)};
    assert_non_null(r.value);
    return r;
}

static inline void replications_free(struct replications *r) {
    free(r->value);
    r->value = NULL;
}

struct agree_task {
    const struct bli_model *model;
    const struct bal_policy_spec *policy;
    const struct bli_run *run;
    struct replications *into;
    struct bal_error err; /* of the last one that failed */
};

static inline void agree_run_one(void *context, size_t i) {
    struct agree_task *task = context;
    struct bli_run run = *task->run;
    run.replication = i;
    struct bli_trial trial = {0};
    struct bal_error err;
    if (bli_simulate(task->model, task->policy, &run, &trial, &err)) {
        task->err = err;
        return;
    }
    double *value = task->into->value[i];
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        value[m] = trial.metric[m];
    for (int level = 1; level <= AGREE_TAIL; level++)
        value[BLI_METRIC_COUNT + level - 1] = trial.tail[level];
}

/* So many replications by the engine. */
static inline struct replications replicate(const struct bli_model *model,
                                            const struct bal_policy_spec *policy, const struct bli_run *run,
                                            unsigned count) {
    struct replications r = replications_new(count);
    struct agree_task task = {.model = model, .policy = policy, .run = run, .into = &r};
    assert_int_equal(bli_pool_run(2, count, agree_run_one, &task, NULL), BAL_OK);
    if (task.err.code)
        fail_msg("%s: %s", policy->policy->name, task.err.text);
    return r;
}

/* Mean and squared standard error of those that are numbers; returns how many. */
static inline unsigned describe(const struct replications *r, int quantity, double *mean, double *error2) {
    unsigned n = 0;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < r->count; i++)
        if (!isnan(r->value[i][quantity])) {
            sum += r->value[i][quantity];
            n++;
        }
    *mean = sum / n;
    for (unsigned i = 0; i < r->count; i++)
        if (!isnan(r->value[i][quantity]))
            squares += (r->value[i][quantity] - *mean) * (r->value[i][quantity] - *mean);
    *error2 = n > 1 ? squares / (n - 1) / n : NAN;
    return n;
}

/* One quantity: the means must not differ by more than what Student's t exceeds with probability alarm, with
 * the fewest degrees of freedom that Welch's formula can give, and beyond that by a relative slack. A
 * quantity that does not vary must be the same. NaN on both sides agrees. */
static inline bool agrees(const struct replications *a, const struct replications *b, int quantity,
                          double alarm, double slack, const char *what) {
    double mean_a, mean_b, error_a, error_b;
    const unsigned n_a = describe(a, quantity, &mean_a, &error_a),
                   n_b = describe(b, quantity, &mean_b, &error_b);
    if (n_a == 0 && n_b == 0)
        return true;
    const unsigned n = n_a < n_b ? n_a : n_b;
    if (n >= 10) {
        const double allowed = bli_student_quantile(1 - alarm / 2, n - 1) * sqrt(error_a + error_b) +
                               (slack + 1e-9) * fmax(fabs(mean_a), fabs(mean_b));
        if (fabs(mean_a - mean_b) <= allowed)
            return true;
    }
    print_error("%s: %s is %.6g (error %.2g, %u runs) and %.6g (error %.2g, %u runs)\n", what,
                quantity_name(quantity), mean_a, sqrt(error_a), n_a, mean_b, sqrt(error_b), n_b);
    return false;
}

#endif
