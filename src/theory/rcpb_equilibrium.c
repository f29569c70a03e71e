/* SPDX-License-Identifier: BSD-2-Clause */
/* The resource constrained pull-based policy at equilibrium, in the limit of many servers. Gamarnik,
 * Tsitsiklis and Zubeldia (2016): Theorem 1 for the equilibrium, equations (4) and (5) for the delay and its
 * bound.
 *
 * The store of names is a queue on a time scale of its own: names come in at rate mu (1 - s_1) N and are
 * taken at rate lambda N, so that it is empty as often as a queue M/M/1 with capacity c and load x = mu (1
 * - s_1)/lambda. At equilibrium x = mu'. */
#include "theory/rcpb_equilibrium.h"

#include "ballast/theory.h"

#include <math.h>
#include <stdbool.h>

static bool in_range(const struct bli_rcpb *rcpb) {
    if (!(rcpb->lambda >= 0.0))
        return false;
    switch (rcpb->variant) {
    case BLI_RCPB_CONSTRAINED:
        return rcpb->mu >= 0.0 && rcpb->c >= 1;
    case BLI_RCPB_HIGH_MEMORY:
        return rcpb->mu >= 0.0;
    case BLI_RCPB_HIGH_MESSAGE:
        return true;
    }
    return false;
}

double bli_rcpb_geometric_sum(double x, double n) {
    if (isinf(x))
        return n > 1.0 ? x : 1.0;
    if (x <= 0.0)
        return (1.0 - pow(x, n)) / (1.0 - x);
    return x == 1.0 ? n : expm1(n * log(x)) / (x - 1.0);
}

double bli_rcpb_mu(double lambda, double mup) {
    if (!(lambda >= 0.0) || !(mup >= 0.0))
        return NAN;
    return lambda >= 1.0 ? (double)INFINITY : mup * lambda / (1.0 - lambda);
}

/* Odds that a name is stored while a fraction s1 of the servers is busy: x + x^2 + .. + x^c; s1 < 1 in the
 * high message regime. */
static double store_odds(const struct bli_rcpb *rcpb, double s1) {
    if (rcpb->variant == BLI_RCPB_HIGH_MESSAGE)
        return INFINITY;
    const double names = rcpb->mu * (1.0 - s1);
    if (names == 0.0)
        return 0.0;
    const double x = names / rcpb->lambda;
    if (rcpb->variant == BLI_RCPB_HIGH_MEMORY)
        return x < 1.0 ? x / (1.0 - x) : (double)INFINITY;
    return x * bli_rcpb_geometric_sum(x, (double)rcpb->c);
}

double bli_rcpb_empty(const struct bli_rcpb *rcpb, double s1) {
    if (!in_range(rcpb) || !(s1 >= 0.0 && s1 <= 1.0))
        return NAN;
    if (rcpb->variant == BLI_RCPB_HIGH_MESSAGE && s1 == 1.0)
        return NAN;
    return 1.0 / (1.0 + store_odds(rcpb, s1));
}

double bli_rcpb_tail(const struct bli_rcpb *rcpb, uint64_t i) {
    if (!in_range(rcpb))
        return NAN;
    if (i == 0 || rcpb->lambda >= 1.0)
        return 1.0;
    return rcpb->lambda * pow(rcpb->lambda * bli_rcpb_empty(rcpb, rcpb->lambda), (double)(i - 1));
}

/* A job finds at least k others with probability P0 s_k = (lambda P0)^k: geometric, as in M/M/1 at load rho
 * = lambda P0. The rate 1 - rho is put together from 1 - lambda and 1 - P0, either of which may be small. */
struct bli_wait bli_rcpb_wait(const struct bli_rcpb *rcpb) {
    if (!in_range(rcpb))
        return (struct bli_wait){NAN, NAN};
    const double lambda = rcpb->lambda;
    if (lambda >= 1.0)
        return bli_wait_mm1(lambda);
    const double odds = store_odds(rcpb, lambda);
    const double stored = isinf(odds) ? 1.0 : odds / (1.0 + odds);
    return (struct bli_wait){.probability = lambda / (1.0 + odds), .rate = 1.0 - lambda + lambda * stored};
}

/* ---- reports that renew ---- */

/* Of a server that is idle, in a unit of time. From each moment at which it becomes idle or reports until it
 * reports or gets a uniform job, at rate `theta`, it sends f = E[exp(-theta gap)] reports in a time of mean
 * (1 - f)/theta, whether reports are stored or not. */
static double renewal_rate(const struct bli_dist *gap, double scale, double theta) {
    const double late = bli_dist_outlasts(gap, theta * scale); /* 1 - f */
    return theta * (1.0 - late) / late;
}

/* The store is a queue M/M/1 with capacity c also here: reports of many servers together are a Poisson
 * process. Its load x decides how often it is empty, that how often servers report, and this is x again. Not
 * so where all gaps are the same: reports that came so close that the store was full come as close again, a
 * gap later. */
struct bli_rcpb_renewal bli_rcpb_renewal(const struct bli_rcpb *rcpb, const struct bli_dist *gap) {
    const struct bli_rcpb_renewal unknown = {NAN, NAN};
    const double lambda = rcpb->lambda;
    if (!in_range(rcpb) || rcpb->variant != BLI_RCPB_CONSTRAINED || !(lambda > 0.0 && lambda < 1.0) ||
        !(rcpb->mu > 0.0) || gap->kind == BLI_DIST_DET || isnan(bli_dist_outlasts(gap, 1.0)))
        return unknown;
    const double scale = 1.0 / (rcpb->mu * gap->mean);
    double below = 0x1p-80, above = 0x1p80;
    struct bli_rcpb_renewal known = unknown;
    for (int step = 0; step < 200 && above > below * (1.0 + 1e-15); step++) {
        const double x = sqrt(below * above);
        known.empty = 1.0 / bli_rcpb_geometric_sum(x, (double)rcpb->c + 1.0);
        known.reports = (1.0 - lambda) * renewal_rate(gap, scale, lambda * known.empty);
        *(known.reports > x * lambda ? &below : &above) = x;
    }
    return known;
}

/* Equation (5): lambda P0/(1 - lambda P0) <= P0/(1 - P0). */
double bli_rcpb_bound(const struct bli_rcpb *rcpb) {
    if (!in_range(rcpb))
        return NAN;
    if (rcpb->lambda >= 1.0)
        return INFINITY;
    return 1.0 / store_odds(rcpb, rcpb->lambda);
}

double bli_rcpb_report_rate(const struct bli_rcpb *rcpb) {
    if (!in_range(rcpb))
        return NAN;
    if (rcpb->lambda >= 1.0)
        return 0.0;
    return rcpb->variant == BLI_RCPB_HIGH_MESSAGE ? (double)INFINITY : rcpb->mu * (1.0 - rcpb->lambda);
}

double bli_rcpb_memory_bits(uint64_t c, uint64_t servers) {
    if (c == 0 || servers == 0)
        return NAN;
    unsigned bits = 0; /* ceil(log2 servers) */
    while (bits < 64 && (uint64_t)1 << bits < servers)
        bits++;
    return (double)c * bits;
}
