#include "lab/doubt.h"

#include "ballast/known.h"

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
    case BAL_DOUBT_PRECISION:
        return "precision";
    }
    return "";
}

/* Theory knows how fast the fleet forgets that it began idle. With r for that time constant, what is missing
 * of the mean queue is about 0.4 exp(-t/r) of it, and the mean over what was measured lacks the average of
 * that. A quarter of the half-width is felt: the interval then covers 92 % instead of 95. And where a
 * replication has not even ten such times, taken over all servers, its mean is far from normal. */
static bool is_short_by_theory(const struct bal_case *c, const struct bal_result *result) {
    const double r = bal_known_relaxation(&c->model, &c->policy);
    if (isnan(r) || c->run.initial)
        return false;
    const double cut = result->warmup * result->time, measured = result->time - cut;
    const double missing = c->model.start.busy > 0 ? 0 : 0.4 * r * exp(-cut / r) / measured;
    const struct bal_estimate mean = result->metric[BAL_RESPONSE_MEAN];
    const double felt = isnan(mean.half) ? 0.01 : mean.half / mean.mean / 4;
    return missing > felt || bal_servers_count(&c->model.servers) * measured < 10 * r;
}

/* Where the load varies by itself there is nothing to settle to. */
static bool is_settling(const struct bal_case *c, const struct bal_result *result) {
    if (c->run.trace || c->model.curve.kind != BAL_CURVE_CONSTANT)
        return false;
    return bal_is_settling(result->metric[BAL_DRIFT], result->metric[BAL_TRANSIENT], result->warmup,
                           result->replications) ||
           is_short_by_theory(c, result);
}

/* Is the exact value outside of a much wider interval? */
static bool is_off(const struct bal_result *result, enum bal_metric metric, double exact) {
    const struct bal_estimate measured = result->metric[metric];
    const unsigned taken = metric == BAL_RESPONSE_MEAN ? result->controls : 0;
    return fabs(measured.mean - exact) >
           bal_estimate_half(measured, result->replications - taken, theory_confidence);
}

static bool contradicts_theory(const struct bal_case *c, const struct bal_result *result) {
    if (c->run.trace)
        return false;
    const struct bal_known known = bal_known_of(&c->model, &c->policy);
    return known.kind == BAL_KNOWN_EXACT &&
           (is_off(result, BAL_RESPONSE_MEAN, known.response_mean) ||
            is_off(result, BAL_HIGH_RESPONSE_MEAN, known.high.response_mean) ||
            is_off(result, BAL_LOW_RESPONSE_MEAN, known.low.response_mean));
}

/* A job of size x makes others wait x^2/2 in all; the variance of that is finite if the third moment is. */
static bool has_heavy_tail(const struct bal_case *c) {
    return c->model.clock == BAL_CLOCK_CONTINUOUS && !c->run.trace &&
           isinf(bal_law_moment(&c->model.size, 3));
}

/* A fleet that gets more than it can do, or some of whose servers do under this policy. */
static bool is_growing(const struct bal_case *c, const struct bal_result *result) {
    return c->run.trace && (c->model.load >= 1 || result->verdict == BAL_UNSTABLE);
}

bool bal_result_is_narrow(const struct bal_case *c, const struct bal_result *result) {
    const struct bal_estimate response = result->metric[BAL_RESPONSE_MEAN];
    return !(c->precision > 0) || response.half <= c->precision * response.mean;
}

void bal_result_doubt(const struct bal_case *c, struct bal_result *result) {
    result->doubts = is_growing(c, result) ? BAL_DOUBT_GROWING : 0;
    if (result->jobs < (uint64_t)FEW_JOBS * result->replications && result->verdict != BAL_UNSTABLE)
        result->doubts |= BAL_DOUBT_FEW;
    if (result->jobs > 0 && result->verdict != BAL_UNSTABLE) {
        result->doubts |= is_settling(c, result) ? BAL_DOUBT_SETTLING : 0;
        result->doubts |= contradicts_theory(c, result) ? BAL_DOUBT_THEORY : 0;
        result->doubts |= has_heavy_tail(c) ? BAL_DOUBT_TAIL : 0;
    }
    result->precise = !(c->precision > 0) || (bal_result_is_narrow(c, result) && result->doubts == 0);
    if (!result->precise && result->verdict != BAL_UNSTABLE)
        result->doubts |= BAL_DOUBT_PRECISION;
}

bool bal_result_is_sure(const struct bal_result *result) {
    return result->replications > 0 && result->verdict == BAL_STABLE &&
           (result->doubts & BAL_DOUBTS_OF_VALUE) == 0;
}
