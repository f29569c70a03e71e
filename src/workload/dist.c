/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of sizes: moments, distribution functions, transforms and draws. The text is in
 * dist_text.c. */
#include "ballast/dist.h"

#include "base/special.h"
#include "workload/dist_derive.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const struct bli_dist_info bli_dist_table[] = {
    [BLI_DIST_EXP] = {"exp", "exp or exp(M)", "exponential"},
    [BLI_DIST_DET] = {"det", "det or det(M)", "deterministic: always the same"},
    [BLI_DIST_ERLANG] = {"erlang", "erlang(K) or erlang(K,M)", "sum of K exponentials"},
    [BLI_DIST_HYPER] = {"hyper", "hyper(C2), hyper(C2,M) or hyper(P1,R1,P2,R2,...)",
                        "hyper-exponential: branch i with probability Pi, exponential of rate Ri"},
    [BLI_DIST_PHASE] = {"phase", "phase(START;RATES;JUMPS)", "phase-type: a walk through exponential phases"},
    [BLI_DIST_LOGNORMAL] = {"lognormal", "lognormal(C2) or lognormal(C2,M)",
                            "exponential of a normal law, squared coefficient of variation C2"},
    [BLI_DIST_PARETO] = {"pareto", "pareto(A) or pareto(A,XM)", "tail (XM/x)^A"},
    [BLI_DIST_BOUNDED_PARETO] = {"bounded-pareto", "bounded-pareto(A,L,H)", "pareto(A,L) cut off at H"},
    [BLI_DIST_UNIFORM] = {"uniform", "uniform(A,B)", "uniform on [A, B]"},
};
const size_t bli_dist_count = sizeof bli_dist_table / sizeof *bli_dist_table;

/* Balanced means: p1/r1 = p2/r2 = mean/2. With C2 = 2 (p1/r1^2 + p2/r2^2)/mean^2 - 1 this gives
 * p1 p2 = 1 / (2 (C2 + 1)). */
static void derive_balanced(struct bli_dist *dist) {
    const double c2 = dist->a;
    const double larger = 0.5 * (1 + sqrt((c2 - 1) / (c2 + 1)));
    const double smaller = 0.5 / ((c2 + 1) * larger);
    dist->phases = 2;
    dist->start[0] = larger;
    dist->start[1] = smaller;
    dist->rate[0] = 2 * larger / dist->mean;
    dist->rate[1] = 2 * smaller / dist->mean;
}

void bli_dist_derive(struct bli_dist *dist) {
    switch (dist->kind) {
    case BLI_DIST_EXP:
    case BLI_DIST_DET:
        return;
    case BLI_DIST_ERLANG:
        dist->a = dist->mean / dist->phases;
        return;
    case BLI_DIST_HYPER:
        if (dist->a > 0)
            derive_balanced(dist);
        else
            dist->mean = bli_dist_moment(dist, 1);
        return;
    case BLI_DIST_LOGNORMAL:
        dist->c = sqrt(log1p(dist->a));
        dist->b = log(dist->mean) - 0.5 * log1p(dist->a);
        return;
    case BLI_DIST_PARETO:
        dist->mean = dist->b == bli_pareto_unit_scale(dist->a) ? 1 : bli_dist_moment(dist, 1);
        return;
    case BLI_DIST_BOUNDED_PARETO:
        dist->d = dist->a * log(dist->c / dist->b);
        dist->mean = bli_dist_moment(dist, 1);
        return;
    case BLI_DIST_PHASE:
    case BLI_DIST_UNIFORM:
        dist->mean = bli_dist_moment(dist, 1);
        return;
    }
}

/* Sampling */

static unsigned choose_branch(const double *probability, unsigned n, double u) {
    unsigned i = 0;
    while (i + 1 < n && u >= probability[i])
        u -= probability[i++];
    return i;
}

/* Where to from phase i; distribution->phases means the end. */
static unsigned next_phase(const struct bli_dist *dist, unsigned i, double u) {
    unsigned j = 0;
    while (j < dist->phases && u >= dist->jump[i][j])
        u -= dist->jump[i][j++];
    return j;
}

static double sample_phase(const struct bli_dist *dist, struct bal_rng *rng) {
    double total = 0;
    unsigned i = choose_branch(dist->start, dist->phases, bal_rng_uniform(rng));
    while (i < dist->phases) {
        total += bal_rng_exp(rng) / dist->rate[i];
        i = next_phase(dist, i, bal_rng_uniform(rng));
    }
    return total;
}

/* Up to here a sum of exponentials costs less than a gamma variate. */
enum { ERLANG_SUM = 5 };

static double sample_erlang(const struct bli_dist *dist, struct bal_rng *rng) {
    if (dist->phases > ERLANG_SUM)
        return dist->a * bal_rng_gamma(rng, dist->phases);
    double sum = 0;
    for (unsigned i = 0; i < dist->phases; i++)
        sum += bal_rng_exp(rng);
    return dist->a * sum;
}

/* The logarithm of S/L, times A, is exponential given that it is at most d. */
static double sample_bounded_pareto(const struct bli_dist *dist, struct bal_rng *rng) {
    double e;
    if (dist->d < 0.7) {
        e = -log1p(bal_rng_uniform(rng) * expm1(-dist->d));
    } else {
        do
            e = bal_rng_exp(rng);
        while (e > dist->d);
    }
    return fmin(dist->b * exp(e / dist->a), dist->c);
}

double bli_dist_sample(const struct bli_dist *dist, struct bal_rng *rng) {
    switch (dist->kind) {
    case BLI_DIST_EXP:
        return dist->mean * bal_rng_exp(rng);
    case BLI_DIST_DET:
        return dist->mean;
    case BLI_DIST_ERLANG:
        return sample_erlang(dist, rng);
    case BLI_DIST_HYPER: {
        const unsigned i = choose_branch(dist->start, dist->phases, bal_rng_uniform(rng));
        return bal_rng_exp(rng) / dist->rate[i];
    }
    case BLI_DIST_PHASE:
        return sample_phase(dist, rng);
    case BLI_DIST_LOGNORMAL:
        return exp(dist->b + dist->c * bal_rng_normal(rng));
    case BLI_DIST_PARETO:
        return dist->b * exp(bal_rng_exp(rng) / dist->a);
    case BLI_DIST_BOUNDED_PARETO:
        return sample_bounded_pareto(dist, rng);
    case BLI_DIST_UNIFORM:
        return dist->a + (dist->b - dist->a) * bal_rng_uniform(rng);
    }
    assert(false); /* a distribution of no kind */
    return 0;
}

/* Moments */

/* Probability that a job ends on leaving phase i. Rows may miss 1 by the rounding of their sum. */
static double exit_probability(const struct bli_dist *dist, unsigned i) {
    double sum = 0;
    for (unsigned j = 0; j < dist->phases; j++)
        sum += dist->jump[i][j];
    const double rest = 1 - sum;
    return rest > 0x1p-48 ? rest : 0;
}

/* Solves (I - jump) x = value by eliminating the phases one by one, as Grassmann, Taksar and Heyman (1985)
 * do for stationary distributions: the pivot 1 - r_kk is the sum of the ways out, so nothing is ever
 * subtracted. */
bool bli_dist_accumulate(const struct bli_dist *dist, double value[], unsigned *stuck) {
    const unsigned n = dist->phases;
    double p[BLI_DIST_PHASES][BLI_DIST_PHASES];
    double end[BLI_DIST_PHASES];
    double pivot[BLI_DIST_PHASES];
    memcpy(p, dist->jump, sizeof p);
    for (unsigned i = 0; i < n; i++)
        end[i] = exit_probability(dist, i);
    for (unsigned k = n; k-- > 0;) {
        pivot[k] = end[k];
        for (unsigned j = 0; j < k; j++)
            pivot[k] += p[k][j];
        if (!(pivot[k] > 0)) {
            if (stuck)
                *stuck = k;
            return false;
        }
        for (unsigned i = 0; i < k; i++) {
            const double factor = p[i][k] / pivot[k];
            for (unsigned j = 0; j < k; j++)
                p[i][j] += factor * p[k][j];
            end[i] += factor * end[k];
            value[i] += factor * value[k];
        }
    }
    for (unsigned k = 0; k < n; k++) {
        for (unsigned j = 0; j < k; j++)
            value[k] += p[k][j] * value[j];
        value[k] /= pivot[k];
    }
    return true;
}

/* With m_k(i) = E[S^k | start in phase i]: m_k(i) = k m_{k-1}(i) / gamma_i + sum_j r_ij m_k(j). */
static double phase_moment(const struct bli_dist *dist, int k) {
    double m[BLI_DIST_PHASES];
    for (unsigned i = 0; i < dist->phases; i++)
        m[i] = 1;
    for (int order = 1; order <= k; order++) {
        for (unsigned i = 0; i < dist->phases; i++)
            m[i] *= order / dist->rate[i];
        if (!bli_dist_accumulate(dist, m, NULL))
            return HUGE_VAL;
    }
    double sum = 0;
    for (unsigned i = 0; i < dist->phases; i++)
        sum += dist->start[i] * m[i];
    return sum;
}

static double power(double x, int k) {
    double product = 1;
    while (k-- > 0)
        product *= x;
    return product;
}

static double factorial(int k) {
    return k <= 1 ? 1 : k * factorial(k - 1);
}

static double hyper_moment(const struct bli_dist *dist, int k) {
    double sum = 0;
    for (unsigned i = 0; i < dist->phases; i++)
        sum += dist->start[i] / power(dist->rate[i], k);
    return factorial(k) * sum;
}

/* E[G^k] / K^k for G the sum of K exponentials of mean 1: (1 + 1/K) (1 + 2/K) ... */
static double erlang_ratio(unsigned phases, int k) {
    double product = 1;
    for (int i = 1; i < k; i++)
        product *= 1 + i / (double)phases;
    return product;
}

/* (exp(z) - 1) / z */
static double expm1_ratio(double z) {
    return z == 0 ? 1 : expm1(z) / z;
}

/* (B^(k+1) - A^(k+1)) / ((k+1) (B - A)) without the subtractions. */
static double uniform_moment(double a, double b, int k) {
    double sum = 0;
    for (int i = 0; i <= k; i++)
        sum += power(a, i) * power(b, k - i);
    return sum / (k + 1);
}

double bli_dist_moment(const struct bli_dist *dist, int k) {
    assert(k >= 1 && k <= 3);
    switch (dist->kind) {
    case BLI_DIST_EXP:
        return factorial(k) * power(dist->mean, k);
    case BLI_DIST_DET:
        return power(dist->mean, k);
    case BLI_DIST_ERLANG:
        return power(dist->mean, k) * erlang_ratio(dist->phases, k);
    case BLI_DIST_HYPER:
        return hyper_moment(dist, k);
    case BLI_DIST_PHASE:
        return phase_moment(dist, k);
    case BLI_DIST_LOGNORMAL:
        return power(dist->mean, k) * power(1 + dist->a, k * (k - 1) / 2);
    case BLI_DIST_PARETO:
        return dist->a > k ? power(dist->b, k) * dist->a / (dist->a - k) : HUGE_VAL;
    case BLI_DIST_BOUNDED_PARETO: {
        /* A L^A / (1 - (L/H)^A) times the integral of x^(k-A-1) from L to H; no case A = k apart */
        const double log_span = log(dist->c / dist->b);
        return power(dist->b, k) * expm1_ratio((k - dist->a) * log_span) / expm1_ratio(-dist->d);
    }
    case BLI_DIST_UNIFORM:
        return uniform_moment(dist->a, dist->b, k);
    }
    assert(false); /* a distribution of no kind */
    return 0;
}

/* Distribution functions */

enum { STATES = BLI_DIST_PHASES + 1 }; /* the phases and the end */

/* move[i][j] is the probability of going from i to j within some time by at least one jump; what is left of 1
 * is that of no jump. This doubles the time. Nothing is ever subtracted from what moves, so small
 * probabilities keep all their digits. */
static void double_time(double move[STATES][STATES], unsigned n) {
    double stay[STATES];
    double next[STATES][STATES];
    for (unsigned i = 0; i <= n; i++) {
        double sum = 0;
        for (unsigned j = 0; j <= n; j++)
            sum += move[i][j];
        stay[i] = fmax(0, 1 - sum);
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j <= n; j++) {
            next[i][j] = move[i][j] * (stay[i] + stay[j]);
            for (unsigned k = 0; k < n; k++)
                next[i][j] += move[i][k] * move[k][j];
        }
    }
    memcpy(move, next, n * sizeof *move);
}

/* Begins with a time so short that at most one jump happens as far as a double can tell, and doubles it. */
static double phase_cdf(const struct bli_dist *dist, double x) {
    const unsigned n = dist->phases;
    double fastest = 0;
    for (unsigned i = 0; i < n; i++)
        fastest = fmax(fastest, dist->rate[i]);
    if (fastest * x > 1e300)
        return 1; /* and x > 1e200 times the mean, as the parser bounds both rates and numbers of phases */
    const int doublings = (int)fmax(0, 60 + ceil(log2(fastest * x)));
    const double step = ldexp(x, -doublings);
    double move[STATES][STATES] = {{0}};
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++)
            move[i][j] = dist->rate[i] * step * dist->jump[i][j];
        move[i][n] = dist->rate[i] * step * exit_probability(dist, i);
    }
    for (int i = 0; i < doublings; i++)
        double_time(move, n);
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += dist->start[i] * move[i][n];
    return fmin(1, sum);
}

static double hyper_cdf(const struct bli_dist *dist, double x) {
    double sum = 0;
    for (unsigned i = 0; i < dist->phases; i++)
        sum += dist->start[i] * -expm1(-dist->rate[i] * x);
    return fmin(1, sum);
}

double bli_dist_cdf(const struct bli_dist *dist, double x) {
    if (x <= 0)
        return 0;
    if (x == HUGE_VAL)
        return 1;
    switch (dist->kind) {
    case BLI_DIST_EXP:
        return -expm1(-x / dist->mean);
    case BLI_DIST_DET:
        return x >= dist->mean;
    case BLI_DIST_ERLANG:
        return bli_gamma_below(dist->phases, x / dist->a);
    case BLI_DIST_HYPER:
        return hyper_cdf(dist, x);
    case BLI_DIST_PHASE:
        return phase_cdf(dist, x);
    case BLI_DIST_LOGNORMAL:
        return 0.5 * erfc((dist->b - log(x)) / (dist->c * sqrt(2)));
    case BLI_DIST_PARETO:
        return x <= dist->b ? 0 : -expm1(-dist->a * log(x / dist->b));
    case BLI_DIST_BOUNDED_PARETO:
        if (x <= dist->b)
            return 0;
        return x >= dist->c ? 1 : expm1(-dist->a * log(x / dist->b)) / expm1(-dist->d);
    case BLI_DIST_UNIFORM:
        return fmin(1, fmax(0, (x - dist->a) / (dist->b - dist->a)));
    }
    assert(false); /* a distribution of no kind */
    return 0;
}

/* Transforms */

/* From phase i: either the other time ends first or the phase does, c(i) = (s + gamma_i sum_j r_ij c(j)) /
 * (s + gamma_i). */
static double phase_outlasts(const struct bli_dist *dist, double s) {
    struct bli_dist killed = *dist;
    double c[BLI_DIST_PHASES], sum = 0;
    for (unsigned i = 0; i < dist->phases; i++) {
        c[i] = s / (s + dist->rate[i]);
        for (unsigned j = 0; j < dist->phases; j++)
            killed.jump[i][j] *= dist->rate[i] / (s + dist->rate[i]);
    }
    if (!bli_dist_accumulate(&killed, c, NULL))
        return NAN;
    for (unsigned i = 0; i < dist->phases; i++)
        sum += dist->start[i] * c[i];
    return sum;
}

static double hyper_outlasts(const struct bli_dist *dist, double s) {
    double sum = 0;
    for (unsigned i = 0; i < dist->phases; i++)
        sum += dist->start[i] * s / (s + dist->rate[i]);
    return sum;
}

/* 1 - (1 - exp(-z)) / z */
static double uniform_rest(double z) {
    if (z > 0.1)
        return 1 + expm1(-z) / z;
    double sum = 0, term = z / 2; /* z/2! - z^2/3! + ... */
    for (int k = 3; k <= 14; k++) {
        sum += term;
        term *= -z / k;
    }
    return sum;
}

double bli_dist_outlasts(const struct bli_dist *dist, double s) {
    switch (dist->kind) {
    case BLI_DIST_EXP:
        return s * dist->mean / (1 + s * dist->mean);
    case BLI_DIST_DET:
        return -expm1(-s * dist->mean);
    case BLI_DIST_ERLANG:
        return -expm1(-(double)dist->phases * log1p(s * dist->a));
    case BLI_DIST_HYPER:
        return hyper_outlasts(dist, s);
    case BLI_DIST_PHASE:
        return phase_outlasts(dist, s);
    case BLI_DIST_UNIFORM:
        return -expm1(-s * dist->a) + exp(-s * dist->a) * uniform_rest(s * (dist->b - dist->a));
    case BLI_DIST_LOGNORMAL:
    case BLI_DIST_PARETO:
    case BLI_DIST_BOUNDED_PARETO:
        return NAN;
    }
    assert(false); /* a distribution of no kind */
    return NAN;
}

void bli_dist_scale(struct bli_dist *dist, double factor) {
    assert(factor > 0 && isfinite(factor));
    switch (dist->kind) {
    case BLI_DIST_EXP:
    case BLI_DIST_DET:
    case BLI_DIST_ERLANG:
    case BLI_DIST_LOGNORMAL:
        dist->mean *= factor;
        break;
    case BLI_DIST_HYPER:
    case BLI_DIST_PHASE:
        dist->mean *= factor;
        for (unsigned i = 0; i < dist->phases; i++)
            dist->rate[i] /= factor;
        break;
    case BLI_DIST_PARETO:
        dist->b *= factor;
        break;
    case BLI_DIST_BOUNDED_PARETO:
        dist->b *= factor;
        dist->c *= factor;
        break;
    case BLI_DIST_UNIFORM:
        dist->a *= factor;
        dist->b *= factor;
        break;
    }
    bli_dist_derive(dist);
}

/* A mixture or a walk whose hazard of ending is the same in every phase is exponential. */
bool bli_dist_is_exponential(const struct bli_dist *dist) {
    if (dist->kind == BLI_DIST_EXP)
        return true;
    if (dist->kind == BLI_DIST_ERLANG)
        return dist->phases == 1;
    if (dist->kind != BLI_DIST_HYPER && dist->kind != BLI_DIST_PHASE)
        return false;
    for (unsigned i = 0; i < dist->phases; i++) {
        if (dist->kind == BLI_DIST_HYPER && dist->start[i] == 0)
            continue;
        const double hazard =
            dist->kind == BLI_DIST_PHASE ? dist->rate[i] * exit_probability(dist, i) : dist->rate[i];
        if (fabs(hazard * dist->mean - 1) > 1e-12)
            return false;
    }
    return true;
}
