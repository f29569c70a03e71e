/* SPDX-License-Identifier: BSD-2-Clause */
/* How many jobs came, and how long servers were busy: by chance more than on average in one run and less in
 * another, and that is what most of the error of the mean response time comes from (docs/statistics.md has a
 * table). The true means of both are known to be the load, so that part of the error can be taken away. */
#include "lab/control_variates.h"

#include "stats/control_regression.h"
#include "theory/policy_theory.h"

#include <math.h>

enum { MIN = 10 }; /* replications: with fewer, what the coefficients cost is more than they bring */
static const double doubtful = 0.999;

/* Normal enough for a regression over ten runs, of which some have got one of the largest jobs? Of 800
 * intervals with lognormal(4), whose third moment is 125, 92.0 % covered with controls and 94.0 % without;
 * and there was little to gain. */
static bool is_skewed(const struct bli_dist *size) {
    static const double most = 100;
    return !(bli_dist_moment(size, 3) <= most * pow(size->mean, 3));
}

/* A Poisson process of jobs, all of which are served by servers of equal speed. A warm-up that each run finds
 * for itself depends on how busy it was. */
static bool has_controls(const struct bli_case *c) {
    struct bli_uniform u;
    const struct bli_run *run = &c->run;
    return c->model.load < 1 && bli_uniform_of(&c->model, &u) && bli_network_is_plain(&c->model.network) &&
           bli_model_is_steady(&c->model) && !is_skewed(&c->model.size) && run->warmup != BLI_WARMUP_MSER &&
           !run->trace && !run->initial && run->failing == 0;
}

/* Runs that are on their way, perhaps because the way is what is looked at, have other means. */
static bool matches_expected_load(struct bli_estimate control, double load, size_t n) {
    return fabs(control.mean - load) <= bli_estimate_half_width(control, n, doubtful);
}

static bool is_settled(const struct bli_case *c, const struct bli_result *result) {
    const struct bli_estimate *metric = result->metric;
    const size_t n = result->replications;
    return !bli_is_settling(metric[BLI_DRIFT], metric[BLI_TRANSIENT], result->warmup, n) &&
           matches_expected_load(metric[BLI_LOAD_ACHIEVED], c->model.load, n) &&
           matches_expected_load(metric[BLI_SERVERS_BUSY], c->model.load, n) &&
           !(metric[BLI_REFUSED].mean > 0);
}

void bli_result_apply_control_variates(const struct bli_case *c, const struct bli_trial *trial, size_t count,
                                       struct bli_result *result) {
    if (count < MIN || !has_controls(c) || !is_settled(c, result))
        return;
    struct bli_control_regression controlled = {0};
    for (size_t r = 0; r < count; r++) {
        const double *metric = trial[r].metric;
        const double control[BLI_CONTROLS] = {metric[BLI_LOAD_ACHIEVED], metric[BLI_SERVERS_BUSY]};
        if (!isnan(metric[BLI_RESPONSE_MEAN]))
            bli_control_regression_add(&controlled, control, metric[BLI_RESPONSE_MEAN]);
    }
    const double expected[BLI_CONTROLS] = {c->model.load, c->model.load};
    if (controlled.n == count)
        result->metric[BLI_RESPONSE_MEAN] =
            bli_control_regression_estimate(&controlled, expected, &result->controls);
}
