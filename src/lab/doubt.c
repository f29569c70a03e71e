/* SPDX-License-Identifier: BSD-2-Clause */
/* Reasons to doubt a result: it had not settled, it contradicts theory, it has too few jobs. */
#include "lab/doubt.h"

#include "ballast/predict.h"
#include "lab/run_length.h"

#include <math.h>

enum { FEW_JOBS = 100 };
static const double theory_confidence = 0.999;

const char *bli_doubt_text(enum bli_doubt doubt) {
    switch (doubt) {
    case BLI_DOUBT_SETTLING:
        return "settling";
    case BLI_DOUBT_THEORY:
        return "theory";
    case BLI_DOUBT_TAIL:
        return "tail";
    case BLI_DOUBT_FEW:
        return "few";
    case BLI_DOUBT_GROWING:
        return "growing";
    case BLI_DOUBT_BOUND:
        return "bound";
    case BLI_DOUBT_PRECISION:
        return "precision";
    }
    return "";
}

/* What the mean over what was measured lacks if what is missing falls like 0.4 exp(-t/constant). */
static double bias_of(double constant, double cut, double measured) {
    return constant > 0 ? 0.4 * constant * exp(-cut / constant) / measured : 0;
}

/* A quarter of the half-width is felt: the interval then covers 92 % instead of 95. */
static double tolerable_bias(struct bli_estimate estimate) {
    return isnan(estimate.half_width) ? 0.01 : estimate.half_width / estimate.mean / 4;
}

/* A fleet that begins idle lacks 0.4 of its mean queue at first, with r for the time constant of the rest.
 * And where a replication has not even ten such times, taken over all servers, its mean is far from normal.
 */
static bool is_short(const struct bli_case *c, const struct bli_result *result) {
    const double r = result->settling.constant;
    if (isnan(r) || c->run.initial)
        return false;
    const double cut = result->warmup * result->time, measured = result->time - cut;
    const double missing = c->model.start.busy > 0 ? 0 : bias_of(r, cut, measured);
    return missing > tolerable_bias(result->metric[BLI_RESPONSE_MEAN]) ||
           bli_servers_count(&c->model.servers) * measured < BLI_TIME_CONSTANTS_MIN * r ||
           measured < BLI_TIME_CONSTANTS_MIN * result->settling.together;
}

/* How many servers are on settles in the time that they take to go off and to come back, however the run
 * begins. The total queue hardly shows it, as most of it are jobs in service; waiting times do. */
static bool is_switching(const struct bli_case *c, const struct bli_result *result) {
    static const double much = 0.05;
    const double cut = result->warmup * result->time;
    const double felt = tolerable_bias(result->metric[BLI_WAITING_MEAN]);
    return bias_of(bli_switching_time(c), cut, result->time - cut) > (felt < much ? felt : much);
}

/* Where the load varies by itself there is nothing to settle to, and a span of a path from its start need not
 * have settled. */
static bool is_settling(const struct bli_case *c, const struct bli_result *result) {
    if (c->path || c->run.trace || c->model.curve.kind != BLI_CURVE_CONSTANT)
        return false;
    return bli_is_settling(result->metric[BLI_DRIFT], result->metric[BLI_TRANSIENT], result->warmup,
                           result->replications) ||
           is_short(c, result) || is_switching(c, result);
}

/* Is the exact value outside of a much wider interval? */
static bool differs_from_exact(const struct bli_result *result, enum bli_metric metric, double exact) {
    const struct bli_estimate measured = result->metric[metric];
    const unsigned taken = metric == BLI_RESPONSE_MEAN ? result->controls : 0;
    return fabs(measured.mean - exact) >
           bli_estimate_half_width(measured, result->replications - taken, theory_confidence);
}

bool bli_result_contradicts(const struct bli_result *result, double known, double error) {
    const struct bli_estimate measured = result->metric[BLI_RESPONSE_MEAN];
    return fabs(measured.mean - known) >
           bli_estimate_half_width(measured, result->replications - result->controls, theory_confidence) +
               error;
}

/* Outside of that interval by more than the expansion may be wrong, where it says that this is little? */
static bool differs_from_expansion(const struct bli_case *c, const struct bli_result *result) {
    struct bli_expansion computed;
    const struct bli_expansion *expansion = c->expansion;
    if (!expansion && bli_theory_expand(&c->model, &c->policy, &computed))
        expansion = &computed;
    return expansion && bli_expansion_is_close(expansion) &&
           bli_result_contradicts(result, expansion->response_mean, expansion->error);
}

static bool contradicts_theory(const struct bli_case *c, const struct bli_result *result) {
    if (c->path || c->run.trace)
        return false;
    const struct bli_prediction known = c->known ? *c->known : bli_theory_predict(&c->model, &c->policy);
    if (known.kind == BLI_THEORY_LIMIT)
        return differs_from_expansion(c, result);
    return known.kind == BLI_THEORY_EXACT &&
           (differs_from_exact(result, BLI_RESPONSE_MEAN, known.response_mean) ||
            differs_from_exact(result, BLI_HIGH_RESPONSE_MEAN, known.high.response_mean) ||
            differs_from_exact(result, BLI_LOW_RESPONSE_MEAN, known.low.response_mean));
}

/* Below what no policy can beat, with all of its interval? The mean itself may be there by chance. */
static bool beats_bound(const struct bli_case *c, const struct bli_result *result) {
    const struct bli_estimate mean = result->metric[BLI_RESPONSE_MEAN];
    /* A policy that refuses jobs may be quick with the others, and one that knows sizes may serve the small
     * ones first. */
    const bool bound = !c->path && !c->run.trace && !(result->metric[BLI_REFUSED].mean > 0) &&
                       !(c->policy.policy->flags & BAL_NEEDS_WORK);
    return bound && mean.mean + mean.half_width < bli_theory_lower_bound(&c->model);
}

/* A job of size x makes others wait x^2/2 in all; the variance of that is finite if the third moment is. */
static bool has_heavy_tail(const struct bli_case *c) {
    return c->model.clock == BLI_CLOCK_CONTINUOUS && !c->run.trace &&
           isinf(bli_dist_moment(&c->model.size, 3));
}

/* A fleet that gets more than it can do, or some of whose servers do under this policy. */
static bool is_growing(const struct bli_case *c, const struct bli_result *result) {
    return c->run.trace && (c->model.load >= 1 || result->verdict == BLI_UNSTABLE);
}

bool bli_result_is_narrow(const struct bli_case *c, const struct bli_result *result) {
    const struct bli_estimate response = result->metric[BLI_RESPONSE_MEAN];
    return !(c->precision > 0) || response.half_width <= c->precision * response.mean;
}

void bli_result_doubt(const struct bli_case *c, struct bli_result *result) {
    result->doubts = is_growing(c, result) ? BLI_DOUBT_GROWING : 0;
    if (result->jobs < (uint64_t)FEW_JOBS * result->replications && result->verdict != BLI_UNSTABLE)
        result->doubts |= BLI_DOUBT_FEW;
    if (result->jobs > 0 && result->verdict != BLI_UNSTABLE) {
        result->doubts |= is_settling(c, result) ? BLI_DOUBT_SETTLING : 0;
        result->doubts |= contradicts_theory(c, result) ? BLI_DOUBT_THEORY : 0;
        result->doubts |= beats_bound(c, result) ? BLI_DOUBT_BOUND : 0;
        result->doubts |= has_heavy_tail(c) ? BLI_DOUBT_TAIL : 0;
    }
    result->precise = !(c->precision > 0) || (bli_result_is_narrow(c, result) && result->doubts == 0);
    if (!result->precise && result->verdict != BLI_UNSTABLE)
        result->doubts |= BLI_DOUBT_PRECISION;
}

double bli_result_spells(const struct bli_case *c, const struct bli_result *result, double quantile) {
    const struct bli_time_constant settling = result->settling;
    const double measured = (1 - result->warmup) * result->time;
    const double spells = fmin(bli_servers_count(&c->model.servers) * measured / settling.constant,
                               settling.together > 0 ? measured / settling.together : INFINITY);
    return isnan(settling.constant) ? NAN : fmin(quantile, 1 - quantile) * spells;
}

bool bli_result_is_sure(const struct bli_result *result) {
    return result->replications > 0 && result->verdict == BLI_STABLE &&
           (result->doubts & BLI_DOUBTS_OF_VALUE) == 0;
}
