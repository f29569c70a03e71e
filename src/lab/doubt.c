/* SPDX-License-Identifier: BSD-2-Clause */
/* Reasons to doubt a result: it had not settled, it contradicts theory, it has too few jobs. */
#include "lab/doubt.h"

#include "ballast/predict.h"
#include "lab/time_constant.h"

#include <math.h>

enum { FEW_JOBS = 100 };
static const double theory_confidence = 0.999;

const char *bal_doubt_text(enum bal_doubt doubt) {
    switch (doubt) {
    case BAL_DOUBT_SETTLING:
        return "settling";
    case BAL_DOUBT_THEORY:
        return "theory";
    case BAL_DOUBT_TAIL:
        return "tail";
    case BAL_DOUBT_FEW:
        return "few";
    case BAL_DOUBT_GROWING:
        return "growing";
    case BAL_DOUBT_BOUND:
        return "bound";
    case BAL_DOUBT_PRECISION:
        return "precision";
    }
    return "";
}

/* What the mean over what was measured lacks if what is missing falls like 0.4 exp(-t/constant). */
static double bias_of(double constant, double cut, double measured) {
    return constant > 0 ? 0.4 * constant * exp(-cut / constant) / measured : 0;
}

/* A quarter of the half-width is felt: the interval then covers 92 % instead of 95. */
static double tolerable_bias(struct bal_estimate estimate) {
    return isnan(estimate.half_width) ? 0.01 : estimate.half_width / estimate.mean / 4;
}

/* A fleet that begins idle lacks 0.4 of its mean queue at first, with r for the time constant of the rest.
 * And where a replication has not even ten such times, taken over all servers, its mean is far from normal.
 */
static bool is_short(const struct bal_case *c, const struct bal_result *result) {
    const struct bal_time_constant settling = bal_time_constant_of(c, result);
    const double r = settling.constant;
    if (isnan(r) || c->run.initial)
        return false;
    const double cut = result->warmup * result->time, measured = result->time - cut;
    const double missing = c->model.start.busy > 0 ? 0 : bias_of(r, cut, measured);
    return missing > tolerable_bias(result->metric[BAL_RESPONSE_MEAN]) ||
           bal_servers_count(&c->model.servers) * measured < BAL_TIME_CONSTANTS_MIN * r ||
           measured < BAL_TIME_CONSTANTS_MIN * settling.together;
}

/* How many servers are on settles in the time that they take to go off and to come back, however the run
 * begins. The total queue hardly shows it, as most of it are jobs in service; waiting times do. */
static bool is_switching(const struct bal_case *c, const struct bal_result *result) {
    static const double much = 0.05;
    const double cut = result->warmup * result->time;
    const double felt = tolerable_bias(result->metric[BAL_WAITING_MEAN]);
    return bias_of(bal_switching_time(c), cut, result->time - cut) > (felt < much ? felt : much);
}

/* Where the load varies by itself there is nothing to settle to, and a span of a path from its start need not
 * have settled. */
static bool is_settling(const struct bal_case *c, const struct bal_result *result) {
    if (c->path || c->run.trace || c->model.curve.kind != BAL_CURVE_CONSTANT)
        return false;
    return bal_is_settling(result->metric[BAL_DRIFT], result->metric[BAL_TRANSIENT], result->warmup,
                           result->replications) ||
           is_short(c, result) || is_switching(c, result);
}

/* Is the exact value outside of a much wider interval? */
static bool differs_from_exact(const struct bal_result *result, enum bal_metric metric, double exact) {
    const struct bal_estimate measured = result->metric[metric];
    const unsigned taken = metric == BAL_RESPONSE_MEAN ? result->controls : 0;
    return fabs(measured.mean - exact) >
           bal_estimate_half_width(measured, result->replications - taken, theory_confidence);
}

bool bal_result_contradicts(const struct bal_result *result, double known, double error) {
    const struct bal_estimate measured = result->metric[BAL_RESPONSE_MEAN];
    return fabs(measured.mean - known) >
           bal_estimate_half_width(measured, result->replications - result->controls, theory_confidence) +
               error;
}

/* Outside of that interval by more than the expansion may be wrong, where it says that this is little? */
static bool differs_from_expansion(const struct bal_case *c, const struct bal_result *result) {
    struct bal_expansion expansion;
    if (!bal_theory_expand(&c->model, &c->policy, &expansion) || !bal_expansion_is_close(&expansion))
        return false;
    return bal_result_contradicts(result, expansion.response_mean, expansion.error);
}

static bool contradicts_theory(const struct bal_case *c, const struct bal_result *result) {
    if (c->path || c->run.trace)
        return false;
    const struct bal_prediction known = bal_theory_predict(&c->model, &c->policy);
    if (known.kind == BAL_THEORY_LIMIT)
        return differs_from_expansion(c, result);
    return known.kind == BAL_THEORY_EXACT &&
           (differs_from_exact(result, BAL_RESPONSE_MEAN, known.response_mean) ||
            differs_from_exact(result, BAL_HIGH_RESPONSE_MEAN, known.high.response_mean) ||
            differs_from_exact(result, BAL_LOW_RESPONSE_MEAN, known.low.response_mean));
}

/* Below what no policy can beat, with all of its interval? The mean itself may be there by chance. */
static bool beats_bound(const struct bal_case *c, const struct bal_result *result) {
    const struct bal_estimate mean = result->metric[BAL_RESPONSE_MEAN];
    /* A policy that refuses jobs may be quick with the others, and one that knows sizes may serve the small
     * ones first. */
    const bool bound = !c->path && !c->run.trace && !(result->metric[BAL_REFUSED].mean > 0) &&
                       !(c->policy.policy->flags & BAL_NEEDS_WORK);
    return bound && mean.mean + mean.half_width < bal_theory_lower_bound(&c->model);
}

/* A job of size x makes others wait x^2/2 in all; the variance of that is finite if the third moment is. */
static bool has_heavy_tail(const struct bal_case *c) {
    return c->model.clock == BAL_CLOCK_CONTINUOUS && !c->run.trace &&
           isinf(bal_dist_moment(&c->model.size, 3));
}

/* A fleet that gets more than it can do, or some of whose servers do under this policy. */
static bool is_growing(const struct bal_case *c, const struct bal_result *result) {
    return c->run.trace && (c->model.load >= 1 || result->verdict == BAL_UNSTABLE);
}

bool bal_result_is_narrow(const struct bal_case *c, const struct bal_result *result) {
    const struct bal_estimate response = result->metric[BAL_RESPONSE_MEAN];
    return !(c->precision > 0) || response.half_width <= c->precision * response.mean;
}

void bal_result_doubt(const struct bal_case *c, struct bal_result *result) {
    result->doubts = is_growing(c, result) ? BAL_DOUBT_GROWING : 0;
    if (result->jobs < (uint64_t)FEW_JOBS * result->replications && result->verdict != BAL_UNSTABLE)
        result->doubts |= BAL_DOUBT_FEW;
    if (result->jobs > 0 && result->verdict != BAL_UNSTABLE) {
        result->doubts |= is_settling(c, result) ? BAL_DOUBT_SETTLING : 0;
        result->doubts |= contradicts_theory(c, result) ? BAL_DOUBT_THEORY : 0;
        result->doubts |= beats_bound(c, result) ? BAL_DOUBT_BOUND : 0;
        result->doubts |= has_heavy_tail(c) ? BAL_DOUBT_TAIL : 0;
    }
    result->precise = !(c->precision > 0) || (bal_result_is_narrow(c, result) && result->doubts == 0);
    if (!result->precise && result->verdict != BAL_UNSTABLE)
        result->doubts |= BAL_DOUBT_PRECISION;
}

double bal_result_spells(const struct bal_case *c, const struct bal_result *result, double quantile) {
    const struct bal_time_constant settling = bal_time_constant_of(c, result);
    const double measured = (1 - result->warmup) * result->time;
    const double spells = fmin(bal_servers_count(&c->model.servers) * measured / settling.constant,
                               settling.together > 0 ? measured / settling.together : INFINITY);
    return c->run.trace || isnan(settling.constant) ? NAN : fmin(quantile, 1 - quantile) * spells;
}

bool bal_result_is_sure(const struct bal_result *result) {
    return result->replications > 0 && result->verdict == BAL_STABLE &&
           (result->doubts & BAL_DOUBTS_OF_VALUE) == 0;
}
