/* SPDX-License-Identifier: BSD-2-Clause */
/* Tuning of autoscaling: simulates several standby times and finds the frontier of delay and power. */
#include "ballast/tune.h"

#include <math.h>
#include <stdlib.h>

void bli_frontier_mark(const double *x, const double *y, size_t n, bool *on) {
    for (size_t i = 0; i < n; i++) {
        on[i] = isfinite(x[i]) && isfinite(y[i]);
        for (size_t k = 0; k < n && on[i]; k++)
            on[i] = !(x[k] <= x[i] && y[k] <= y[i] && (x[k] < x[i] || y[k] < y[i]));
    }
}

size_t bli_frontier_knee(const double *x, const double *y, size_t n, const bool *on) {
    size_t marked = 0, left = n, right = n;
    for (size_t i = 0; i < n; i++) {
        if (!on[i])
            continue;
        marked++;
        if (left == n || x[i] < x[left])
            left = i;
        if (right == n || x[i] > x[right])
            right = i;
    }
    if (marked < 3 || !(x[right] > x[left]) || !(y[left] > y[right]))
        return n;
    size_t knee = n;
    double farthest = 0;
    for (size_t i = 0; i < n; i++) {
        if (!on[i])
            continue;
        const double across = (x[i] - x[left]) / (x[right] - x[left]);
        const double up = (y[i] - y[right]) / (y[left] - y[right]);
        if (1 - across - up > farthest) {
            farthest = 1 - across - up;
            knee = i;
        }
    }
    return knee;
}

/* A policy with the rate of standby set; the set-up time is a law of the model. Rates are per mean service
 * time. */
static enum bal_code switching_policy(const struct bli_tuning *tuning, const char *name, double standby,
                                      struct bal_policy_spec *spec, struct bal_error *err) {
    const double mean_speed =
        bli_servers_capacity(&tuning->model.servers) / bli_servers_count(&tuning->model.servers);
    const double unit = tuning->model.size.mean / mean_speed;
    const enum bal_code code = bli_scheme_parse(name, spec, err);
    if (code)
        return code;
    *bal_policy_param(spec, "mu") = unit / standby;
    *bal_policy_param(spec, "nu") = unit / tuning->model.setup.mean;
    return BAL_OK;
}

static double standby_of(const struct bli_tuning *tuning, unsigned point) {
    const double part = (double)point / (tuning->points - 1);
    return tuning->shortest * pow(tuning->longest / tuning->shortest, part);
}

enum { LONG = 20 }; /* a run is at least so many standby times long */

/* Warm-up is found from the queues, which forget the start long before the power states do: here it is a
 * quarter. */
static struct bli_case base_case(const struct bli_tuning *tuning) {
    struct bli_case base = {.model = tuning->model,
                            .run = tuning->run,
                            .replications = tuning->replications,
                            .precision = tuning->precision};
    base.model.standby = (struct bli_dist){0};
    if (isnan(base.run.warmup))
        base.run.warmup = 0.25;
    const double busy = fmin(tuning->model.load, 1);
    base.model.start = (struct bli_start){.busy = busy, .off = 1 - busy};
    return base;
}

/* Case 0 is always on; 2 i + 1 and 2 i + 2 are tabs and the common queue at point i. */
static enum bal_code list_cases(const struct bli_tuning *tuning, struct bli_case *cases,
                                struct bal_error *err) {
    const struct bli_case base = base_case(tuning);
    cases[0] = base;
    enum bal_code code = bli_scheme_parse("jiq", &cases[0].policy, err);
    for (unsigned i = 0; i < tuning->points && !code; i++) {
        cases[2 * i + 1] = cases[2 * i + 2] = base;
        cases[2 * i + 1].run.time = cases[2 * i + 2].run.time =
            fmax(base.run.time, LONG * standby_of(tuning, i));
        code = switching_policy(tuning, "tabs", standby_of(tuning, i), &cases[2 * i + 1].policy, err);
        if (!code)
            code =
                switching_policy(tuning, "delayed-off", standby_of(tuning, i), &cases[2 * i + 2].policy, err);
    }
    for (unsigned i = 0; i <= 2 * tuning->points && !code; i++) {
        enum bli_engine engine;
        if (tuning->open)
            bli_choose_length(&cases[i], 1, cases[i].run.time, 0);
        code = bli_simulate_check(&cases[i].model, &cases[i].policy, cases[i].run.engine, &engine, err);
    }
    return code;
}

static enum bal_code check_tuning(const struct bli_tuning *tuning, struct bal_error *err) {
    if (!(tuning->shortest > 0 && tuning->longest > tuning->shortest && isfinite(tuning->longest)))
        return bal_fail(err, BAL_E_RANGE, "standby times from %g to %g; they must be above 0 and rise",
                        tuning->shortest, tuning->longest);
    if (tuning->points < 2)
        return bal_fail(err, BAL_E_RANGE, "%u standby times; there must be at least 2", tuning->points);
    if (!(tuning->model.setup.mean > 0 && isfinite(tuning->model.setup.mean)))
        return bal_fail(err, BAL_E_MODEL, "tuning needs a set-up time, such as exp(10)");
    return BAL_OK;
}

static enum bal_code find_frontier(struct bli_tuned *tuned) {
    const size_t n = tuned->points;
    double *power = calloc(2 * n, sizeof *power), *waiting = power + n;
    bool *on = calloc(n, sizeof *on);
    tuned->knee = tuned->points;
    enum bal_code code = BAL_E_MEMORY;
    if (!power || !on)
        goto out;
    for (size_t i = 0; i < n; i++) {
        const struct bli_result *result = &tuned->point[i].tabs;
        const bool doubted = result->doubts & BLI_DOUBTS_OF_VALUE;
        const bool known = result->replications > 0 && result->verdict != BLI_UNSTABLE && !doubted;
        tuned->doubted = tuned->doubted || doubted;
        power[i] = known ? result->metric[BLI_POWER_MEAN].mean : NAN;
        waiting[i] = known ? result->metric[BLI_WAITING_MEAN].mean : NAN;
    }
    bli_frontier_mark(power, waiting, n, on);
    if (!tuned->doubted)
        tuned->knee = (unsigned)bli_frontier_knee(power, waiting, n, on);
    for (size_t i = 0; i < n; i++)
        tuned->point[i].frontier = on[i];
    code = BAL_OK;
out:
    free(power);
    free(on);
    return code;
}

enum bal_code bli_tune(const struct bli_tuning *tuning, const struct bli_lab_options *options,
                       struct bli_tuned *tuned, struct bal_error *err) {
    *tuned = (struct bli_tuned){.points = tuning->points};
    enum bal_code code = check_tuning(tuning, err);
    if (code)
        return code;
    const size_t count = 2 * (size_t)tuning->points + 1;
    struct bli_case *cases = calloc(count, sizeof *cases);
    struct bli_result *results = calloc(count, sizeof *results);
    tuned->point = calloc(tuning->points, sizeof *tuned->point);
    if (!cases || !results || !tuned->point)
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu cases", count);
    if (!code)
        code = list_cases(tuning, cases, err);
    struct bli_lab_options apart = *options;
    apart.independent_lengths = true;
    if (!code)
        code = bli_lab_run(cases, count, &apart, results, err);
    if (!code || code == BAL_E_STOPPED) {
        tuned->always_on = results[0];
        for (unsigned i = 0; i < tuning->points; i++) {
            tuned->point[i].standby = standby_of(tuning, i);
            tuned->point[i].tabs = results[2 * i + 1];
            tuned->point[i].pooled = results[2 * i + 2];
        }
        if (find_frontier(tuned))
            code = bal_fail(err, BAL_E_MEMORY, "not enough memory");
    }
    if (code && code != BAL_E_STOPPED)
        bli_tuned_fini(tuned);
    free(cases);
    free(results);
    return code;
}

void bli_tuned_fini(struct bli_tuned *tuned) {
    free(tuned->point);
    tuned->point = NULL;
}

/* ---- for keepers ---- */

/* The largest number of which fewer are there with probability `share` at most, of a Poisson law; for a share
 * close to 1 the least number of which more are there with probability 1 - share at most. */
static uint32_t poisson_quantile(double mean, double share, uint32_t most) {
    double below = 0;
    for (uint32_t n = 0; n < most; n++) {
        below += exp(-mean + n * log(mean) - lgamma(n + 1.0)); /* P(at most n) */
        if (below > share)
            return n;
    }
    return most;
}

static void loads_of(const struct bli_model *model, double time, double *low, double *high) {
    enum { POINTS = 10000 };
    *low = INFINITY;
    *high = 0;
    for (int i = 0; i <= POINTS; i++) {
        const double factor =
            model->curve.kind == BLI_CURVE_CONSTANT ? 1 : bli_curve_at(&model->curve, time * i / POINTS);
        *low = fmin(*low, factor * model->load);
        *high = fmax(*high, factor * model->load);
    }
}

struct bli_tune_proposal bli_tune_propose(const struct bli_tuning *tuning, const struct bli_tuned *tuned) {
    const struct bli_model *model = &tuning->model;
    const struct bli_watts watts = bli_watts_of(&model->watts);
    const uint32_t servers = bli_servers_count(&model->servers);
    double low, high;
    loads_of(model, tuning->run.time, &low, &high);
    const double saved = watts.idle - watts.off;
    return (struct bli_tune_proposal){
        .standby = tuned->knee < tuned->points ? tuned->point[tuned->knee].standby : NAN,
        .on = saved > 0 ? model->setup.mean * (watts.setup - watts.off) / saved : INFINITY,
        .least = low > 0 ? poisson_quantile(low * servers, 0.01, servers) : 0,
        .most = high > 0 ? poisson_quantile(high * servers, 0.999, servers) : servers,
    };
}
