#include "ballast/law.h"

#include "base/special.h"
#include "workload/law_derive.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const struct bal_law_info bal_law_table[] = {
    [BAL_LAW_EXP] = {"exp", "exp or exp(M)", "exponential"},
    [BAL_LAW_DET] = {"det", "det or det(M)", "deterministic: always the same"},
    [BAL_LAW_ERLANG] = {"erlang", "erlang(K) or erlang(K,M)", "sum of K exponentials"},
    [BAL_LAW_HYPER] = {"hyper", "hyper(C2), hyper(C2,M) or hyper(P1,R1,P2,R2,...)",
                       "hyper-exponential: branch i with probability Pi, exponential of rate Ri"},
    [BAL_LAW_PHASE] = {"phase", "phase(START;RATES;JUMPS)", "phase-type: a walk through exponential phases"},
    [BAL_LAW_LOGNORMAL] = {"lognormal", "lognormal(C2) or lognormal(C2,M)",
                           "exponential of a normal law, squared coefficient of variation C2"},
    [BAL_LAW_PARETO] = {"pareto", "pareto(A) or pareto(A,XM)", "tail (XM/x)^A"},
    [BAL_LAW_BOUNDED_PARETO] = {"bounded-pareto", "bounded-pareto(A,L,H)", "pareto(A,L) cut off at H"},
    [BAL_LAW_UNIFORM] = {"uniform", "uniform(A,B)", "uniform on [A, B]"},
};
const size_t bal_law_count = sizeof bal_law_table / sizeof *bal_law_table;

/* Balanced means: p1/r1 = p2/r2 = mean/2. With C2 = 2 (p1/r1^2 + p2/r2^2)/mean^2 - 1 this gives
 * p1 p2 = 1 / (2 (C2 + 1)). */
static void derive_balanced(struct bal_law *law) {
    const double c2 = law->a;
    const double larger = 0.5 * (1 + sqrt((c2 - 1) / (c2 + 1)));
    const double smaller = 0.5 / ((c2 + 1) * larger);
    law->phases = 2;
    law->start[0] = larger;
    law->start[1] = smaller;
    law->rate[0] = 2 * larger / law->mean;
    law->rate[1] = 2 * smaller / law->mean;
}

void bal_law_derive(struct bal_law *law) {
    switch (law->kind) {
    case BAL_LAW_EXP:
    case BAL_LAW_DET:
        return;
    case BAL_LAW_ERLANG:
        law->a = law->mean / law->phases;
        return;
    case BAL_LAW_HYPER:
        if (law->a > 0)
            derive_balanced(law);
        else
            law->mean = bal_law_moment(law, 1);
        return;
    case BAL_LAW_LOGNORMAL:
        law->c = sqrt(log1p(law->a));
        law->b = log(law->mean) - 0.5 * log1p(law->a);
        return;
    case BAL_LAW_PARETO:
        law->mean = law->b == bal_pareto_unit_scale(law->a) ? 1 : bal_law_moment(law, 1);
        return;
    case BAL_LAW_BOUNDED_PARETO:
        law->d = law->a * log(law->c / law->b);
        law->mean = bal_law_moment(law, 1);
        return;
    case BAL_LAW_PHASE:
    case BAL_LAW_UNIFORM:
        law->mean = bal_law_moment(law, 1);
        return;
    }
}

/* Sampling */

static unsigned choose(const double *probability, unsigned n, double u) {
    unsigned i = 0;
    while (i + 1 < n && u >= probability[i])
        u -= probability[i++];
    return i;
}

/* Where to from phase i; law->phases means the end. */
static unsigned next_phase(const struct bal_law *law, unsigned i, double u) {
    unsigned j = 0;
    while (j < law->phases && u >= law->jump[i][j])
        u -= law->jump[i][j++];
    return j;
}

static double sample_phase(const struct bal_law *law, struct bal_rng *rng) {
    double total = 0;
    unsigned i = choose(law->start, law->phases, bal_rng_uniform(rng));
    while (i < law->phases) {
        total += bal_rng_exp(rng) / law->rate[i];
        i = next_phase(law, i, bal_rng_uniform(rng));
    }
    return total;
}

/* Up to here a sum of exponentials costs less than a gamma variate. */
enum { ERLANG_SUM = 5 };

static double sample_erlang(const struct bal_law *law, struct bal_rng *rng) {
    if (law->phases > ERLANG_SUM)
        return law->a * bal_rng_gamma(rng, law->phases);
    double sum = 0;
    for (unsigned i = 0; i < law->phases; i++)
        sum += bal_rng_exp(rng);
    return law->a * sum;
}

/* The logarithm of S/L, times A, is exponential given that it is at most d. */
static double sample_bounded_pareto(const struct bal_law *law, struct bal_rng *rng) {
    double e;
    if (law->d < 0.7) {
        e = -log1p(bal_rng_uniform(rng) * expm1(-law->d));
    } else {
        do
            e = bal_rng_exp(rng);
        while (e > law->d);
    }
    return fmin(law->b * exp(e / law->a), law->c);
}

double bal_law_sample(const struct bal_law *law, struct bal_rng *rng) {
    switch (law->kind) {
    case BAL_LAW_EXP:
        return law->mean * bal_rng_exp(rng);
    case BAL_LAW_DET:
        return law->mean;
    case BAL_LAW_ERLANG:
        return sample_erlang(law, rng);
    case BAL_LAW_HYPER: {
        const unsigned i = choose(law->start, law->phases, bal_rng_uniform(rng));
        return bal_rng_exp(rng) / law->rate[i];
    }
    case BAL_LAW_PHASE:
        return sample_phase(law, rng);
    case BAL_LAW_LOGNORMAL:
        return exp(law->b + law->c * bal_rng_normal(rng));
    case BAL_LAW_PARETO:
        return law->b * exp(bal_rng_exp(rng) / law->a);
    case BAL_LAW_BOUNDED_PARETO:
        return sample_bounded_pareto(law, rng);
    case BAL_LAW_UNIFORM:
        return law->a + (law->b - law->a) * bal_rng_uniform(rng);
    }
    assert(false); /* a law of no kind */
    return 0;
}

/* Moments */

/* Probability that a job ends on leaving phase i. Rows may miss 1 by the rounding of their sum. */
static double ending(const struct bal_law *law, unsigned i) {
    double sum = 0;
    for (unsigned j = 0; j < law->phases; j++)
        sum += law->jump[i][j];
    const double rest = 1 - sum;
    return rest > 0x1p-48 ? rest : 0;
}

/* Solves (I - jump) x = value by eliminating the phases one by one, as Grassmann, Taksar and Heyman (1985)
 * do for stationary laws: the pivot 1 - r_kk is the sum of the ways out, so nothing is ever subtracted. */
bool bal_law_accumulate(const struct bal_law *law, double value[], unsigned *stuck) {
    const unsigned n = law->phases;
    double p[BAL_LAW_PHASES][BAL_LAW_PHASES];
    double end[BAL_LAW_PHASES];
    double pivot[BAL_LAW_PHASES];
    memcpy(p, law->jump, sizeof p);
    for (unsigned i = 0; i < n; i++)
        end[i] = ending(law, i);
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
static double phase_moment(const struct bal_law *law, int k) {
    double m[BAL_LAW_PHASES];
    for (unsigned i = 0; i < law->phases; i++)
        m[i] = 1;
    for (int order = 1; order <= k; order++) {
        for (unsigned i = 0; i < law->phases; i++)
            m[i] *= order / law->rate[i];
        if (!bal_law_accumulate(law, m, NULL))
            return HUGE_VAL;
    }
    double sum = 0;
    for (unsigned i = 0; i < law->phases; i++)
        sum += law->start[i] * m[i];
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

static double hyper_moment(const struct bal_law *law, int k) {
    double sum = 0;
    for (unsigned i = 0; i < law->phases; i++)
        sum += law->start[i] / power(law->rate[i], k);
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

double bal_law_moment(const struct bal_law *law, int k) {
    assert(k >= 1 && k <= 3);
    switch (law->kind) {
    case BAL_LAW_EXP:
        return factorial(k) * power(law->mean, k);
    case BAL_LAW_DET:
        return power(law->mean, k);
    case BAL_LAW_ERLANG:
        return power(law->mean, k) * erlang_ratio(law->phases, k);
    case BAL_LAW_HYPER:
        return hyper_moment(law, k);
    case BAL_LAW_PHASE:
        return phase_moment(law, k);
    case BAL_LAW_LOGNORMAL:
        return power(law->mean, k) * power(1 + law->a, k * (k - 1) / 2);
    case BAL_LAW_PARETO:
        return law->a > k ? power(law->b, k) * law->a / (law->a - k) : HUGE_VAL;
    case BAL_LAW_BOUNDED_PARETO: {
        /* A L^A / (1 - (L/H)^A) times the integral of x^(k-A-1) from L to H; no case A = k apart */
        const double log_span = log(law->c / law->b);
        return power(law->b, k) * expm1_ratio((k - law->a) * log_span) / expm1_ratio(-law->d);
    }
    case BAL_LAW_UNIFORM:
        return uniform_moment(law->a, law->b, k);
    }
    assert(false); /* a law of no kind */
    return 0;
}

/* Distribution functions */

enum { STATES = BAL_LAW_PHASES + 1 }; /* the phases and the end */

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
static double phase_cdf(const struct bal_law *law, double x) {
    const unsigned n = law->phases;
    double fastest = 0;
    for (unsigned i = 0; i < n; i++)
        fastest = fmax(fastest, law->rate[i]);
    if (fastest * x > 1e300)
        return 1; /* and x > 1e200 times the mean, as the parser bounds both rates and numbers of phases */
    const int doublings = (int)fmax(0, 60 + ceil(log2(fastest * x)));
    const double step = ldexp(x, -doublings);
    double move[STATES][STATES] = {{0}};
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++)
            move[i][j] = law->rate[i] * step * law->jump[i][j];
        move[i][n] = law->rate[i] * step * ending(law, i);
    }
    for (int i = 0; i < doublings; i++)
        double_time(move, n);
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += law->start[i] * move[i][n];
    return fmin(1, sum);
}

static double hyper_cdf(const struct bal_law *law, double x) {
    double sum = 0;
    for (unsigned i = 0; i < law->phases; i++)
        sum += law->start[i] * -expm1(-law->rate[i] * x);
    return fmin(1, sum);
}

double bal_law_cdf(const struct bal_law *law, double x) {
    if (x <= 0)
        return 0;
    if (x == HUGE_VAL)
        return 1;
    switch (law->kind) {
    case BAL_LAW_EXP:
        return -expm1(-x / law->mean);
    case BAL_LAW_DET:
        return x >= law->mean;
    case BAL_LAW_ERLANG:
        return bal_gamma_below(law->phases, x / law->a);
    case BAL_LAW_HYPER:
        return hyper_cdf(law, x);
    case BAL_LAW_PHASE:
        return phase_cdf(law, x);
    case BAL_LAW_LOGNORMAL:
        return 0.5 * erfc((law->b - log(x)) / (law->c * sqrt(2)));
    case BAL_LAW_PARETO:
        return x <= law->b ? 0 : -expm1(-law->a * log(x / law->b));
    case BAL_LAW_BOUNDED_PARETO:
        if (x <= law->b)
            return 0;
        return x >= law->c ? 1 : expm1(-law->a * log(x / law->b)) / expm1(-law->d);
    case BAL_LAW_UNIFORM:
        return fmin(1, fmax(0, (x - law->a) / (law->b - law->a)));
    }
    assert(false); /* a law of no kind */
    return 0;
}

/* Transforms */

/* From phase i: either the other time ends first or the phase does, c(i) = (s + gamma_i sum_j r_ij c(j)) /
 * (s + gamma_i). */
static double phase_outlasts(const struct bal_law *law, double s) {
    struct bal_law killed = *law;
    double c[BAL_LAW_PHASES], sum = 0;
    for (unsigned i = 0; i < law->phases; i++) {
        c[i] = s / (s + law->rate[i]);
        for (unsigned j = 0; j < law->phases; j++)
            killed.jump[i][j] *= law->rate[i] / (s + law->rate[i]);
    }
    if (!bal_law_accumulate(&killed, c, NULL))
        return NAN;
    for (unsigned i = 0; i < law->phases; i++)
        sum += law->start[i] * c[i];
    return sum;
}

static double hyper_outlasts(const struct bal_law *law, double s) {
    double sum = 0;
    for (unsigned i = 0; i < law->phases; i++)
        sum += law->start[i] * s / (s + law->rate[i]);
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

double bal_law_outlasts(const struct bal_law *law, double s) {
    switch (law->kind) {
    case BAL_LAW_EXP:
        return s * law->mean / (1 + s * law->mean);
    case BAL_LAW_DET:
        return -expm1(-s * law->mean);
    case BAL_LAW_ERLANG:
        return -expm1(-(double)law->phases * log1p(s * law->a));
    case BAL_LAW_HYPER:
        return hyper_outlasts(law, s);
    case BAL_LAW_PHASE:
        return phase_outlasts(law, s);
    case BAL_LAW_UNIFORM:
        return -expm1(-s * law->a) + exp(-s * law->a) * uniform_rest(s * (law->b - law->a));
    case BAL_LAW_LOGNORMAL:
    case BAL_LAW_PARETO:
    case BAL_LAW_BOUNDED_PARETO:
        return NAN;
    }
    assert(false); /* a law of no kind */
    return NAN;
}

void bal_law_scale(struct bal_law *law, double factor) {
    assert(factor > 0 && isfinite(factor));
    switch (law->kind) {
    case BAL_LAW_EXP:
    case BAL_LAW_DET:
    case BAL_LAW_ERLANG:
    case BAL_LAW_LOGNORMAL:
        law->mean *= factor;
        break;
    case BAL_LAW_HYPER:
    case BAL_LAW_PHASE:
        law->mean *= factor;
        for (unsigned i = 0; i < law->phases; i++)
            law->rate[i] /= factor;
        break;
    case BAL_LAW_PARETO:
        law->b *= factor;
        break;
    case BAL_LAW_BOUNDED_PARETO:
        law->b *= factor;
        law->c *= factor;
        break;
    case BAL_LAW_UNIFORM:
        law->a *= factor;
        law->b *= factor;
        break;
    }
    bal_law_derive(law);
}

/* A mixture or a walk whose hazard of ending is the same in every phase is exponential. */
bool bal_law_is_exponential(const struct bal_law *law) {
    if (law->kind == BAL_LAW_EXP)
        return true;
    if (law->kind == BAL_LAW_ERLANG)
        return law->phases == 1;
    if (law->kind != BAL_LAW_HYPER && law->kind != BAL_LAW_PHASE)
        return false;
    for (unsigned i = 0; i < law->phases; i++) {
        if (law->kind == BAL_LAW_HYPER && law->start[i] == 0)
            continue;
        const double hazard = law->kind == BAL_LAW_PHASE ? law->rate[i] * ending(law, i) : law->rate[i];
        if (fabs(hazard * law->mean - 1) > 1e-12)
            return false;
    }
    return true;
}
