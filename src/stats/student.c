/* SPDX-License-Identifier: BSD-2-Clause */
/* Quantiles of Student's t and of the normal distribution.
 *
 * Both distributions are symmetric, so take t > 0 and write f for the density, inner = P(0 < T < t) and outer
 * = P(T > t) = 1/2 - inner. With s = log t the density of log |T| is proportional to t f(t), and log(t f(t))
 * = s - (dof+1)/2 log(1 + e^(2s)/dof) + const is concave in s (for the normal: s - e^(2s)/2). A log-concave
 * density has log-concave distribution functions on both sides, so log inner and log outer are concave in s,
 * and Newton's method on either converges from every start, from one side after at most one step. Its
 * derivative is t f(t)/inner or -t f(t)/outer. An error in s is a relative error in t. */
#include "ballast/stats.h"

#include <assert.h>
#include <math.h>

/* Both masses in units of t f(t), which itself may be too small for a double while its logarithm is not. */
struct masses {
    double log_slope; /* log(t f(t)) */
    double inner;     /* P(0 < T < t) / (t f(t)) */
    double outer;     /* P(T > t) / (t f(t)) */
};

static const double sqrt_pi = 1.7724538509055160273;

static struct masses normal_masses(double t) {
    const double scaled = t / sqrt(2);
    const double log_slope = log(scaled / sqrt_pi) - scaled * scaled;
    const double unit = 2 * exp(log_slope);
    return (struct masses){.log_slope = log_slope, .inner = erf(scaled) / unit, .outer = erfc(scaled) / unit};
}

/* Gamma(x + 1/2) / Gamma(x). The two logarithms would cancel for large x; the asymptotic series (Tricomi and
 * Erdelyi 1951) does not. Its first term left out is below 2e-15 for x >= 50. */
static double gamma_ratio(double x) {
    if (x < 50)
        return tgamma(x + 0.5) / tgamma(x);
    const double r = 1 / x;
    const double c[] = {-1. / 8, 1. / 128, 5. / 1024, -21. / 32768, -399. / 262144, 869. / 4194304};
    double sum = 0;
    for (int k = 5; k >= 0; k--)
        sum = (sum + c[k]) * r;
    return sqrt(x) * (1 + sum);
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22): I_x(a,b) is x^a (1-x)^b / (a B(a,b))
 * over 1 + d_1/(1 + d_2/(1 + ...)). Returns 1 over that fraction, by Lentz's method. Where it converges
 * fast, x < (a+1)/(a+b+2), no partial denominator vanishes for the a and b used here. */
static double beta_fraction(double a, double b, double x) {
    double fraction = 1;
    double upper = 1;
    double lower = 0;
    for (int k = 1; k < 1000; k++) {
        const int m = k / 2;
        const double top = k % 2 ? -(a + m) * (a + b + m) : m * (b - m);
        const double d = top * x / ((a + k - 1) * (a + k));
        lower = 1 / (1 + d * lower);
        upper = 1 + d / upper;
        fraction *= upper * lower;
        if (fabs(upper * lower - 1) < 1e-15)
            break;
    }
    return 1 / fraction;
}

/* With w^2 = t^2/dof, x = 1/(1 + w^2) and y = 1 - x: inner = I_y(1/2, dof/2)/2, outer = I_x(dof/2, 1/2)/2,
 * and t f(t) = Gamma((dof+1)/2)/(Gamma(1/2) Gamma(dof/2)) y^(1/2) x^(dof/2), which is also what stands before
 * both continued fractions. One of the two is computed, where its fraction converges fast, and the other is
 * what remains of 1/2; where they change, at y = 3/(dof+5), both are above 0.04, so nothing is lost. */
static struct masses student_masses(double t, double dof) {
    const double w = t / sqrt(dof);
    const double log_x = w < 1 ? -log1p(w * w) : -2 * log(hypot(1, w));
    const double y = 1 / (1 + 1 / (w * w));
    const double log_slope = log(gamma_ratio(dof / 2) / sqrt_pi * sqrt(y)) + dof / 2 * log_x;
    const double half = 0.5 / exp(log_slope);
    if (y < 3 / (dof + 5)) {
        const double inner = beta_fraction(0.5, dof / 2, y);
        return (struct masses){.log_slope = log_slope, .inner = inner, .outer = half - inner};
    }
    const double outer = beta_fraction(dof / 2, 0.5, exp(log_x)) / dof;
    return (struct masses){.log_slope = log_slope, .inner = half - outer, .outer = outer};
}

static struct masses masses(double t, double dof) {
    return isinf(dof) ? normal_masses(t) : student_masses(t, dof);
}

/* The t > 0 with P(0 < T < t) = inner and P(T > t) = outer, starting from a guess. The smaller of the two is
 * matched: the other has lost its leading digits. */
static double solve(double inner, double outer, double dof, double start) {
    double t = start;
    for (int k = 0; k < 100; k++) {
        const struct masses at = masses(t, dof);
        const double step = inner < outer ? (log(inner / at.inner) - at.log_slope) * at.inner
                                          : (log(at.outer / outer) + at.log_slope) * at.outer;
        t *= exp(step);
        if (fabs(step) < 1e-9) /* the next step would be of the order of its square */
            break;
    }
    return t;
}

/* inner <= z f(0) and outer <= exp(-z^2/2)/2 put the start on the side where Newton's method stays. */
static double normal_quantile(double inner, double outer) {
    const double start = inner < outer ? inner * sqrt_pi * sqrt(2) : sqrt(-2 * log(2 * outer));
    return solve(inner, outer, INFINITY, start);
}

/* Expansion of the quantile in powers of 1/dof around the normal one (Fisher and Cornish 1960; Abramowitz and
 * Stegun 26.7.5). */
static double student_expansion(double z, double dof) {
    const double u = z * z;
    const double g1 = (u + 1) / 4;
    const double g2 = ((5 * u + 16) * u + 3) / 96;
    const double g3 = (((3 * u + 19) * u + 17) * u - 15) / 384;
    return z * (1 + (g1 + (g2 + g3 / dof) / dof) / dof);
}

/* Rounded to what it is accurate to: it multiplies every interval, which then does not depend on the last
 * bits of the C library's functions. */
static double rounded(double t) {
    enum { BITS = 44 };
    int exponent;
    const double fraction = frexp(t, &exponent);
    return ldexp(rint(ldexp(fraction, BITS)), exponent - BITS);
}

double bli_student_quantile(double p, double dof) {
    assert(p > 0 && p < 1 && dof >= 1);
    if (p == 0.5)
        return 0;
    const double outer = p < 0.5 ? p : 1 - p;
    const double inner = 0.5 - outer;
    const double z = normal_quantile(inner, outer);
    /* For many degrees of freedom 1 - x is small and the fraction for outer loses digits, while the
     * expansion, whose terms fall like ((1 + z^2)/dof)^k, keeps them all; for infinitely many it is z. */
    if (isinf(dof))
        return p < 0.5 ? -z : z;
    const double t = 1 + z * z < dof / 1000 ? student_expansion(z, dof) : solve(inner, outer, dof, z);
    return p < 0.5 ? -rounded(t) : rounded(t);
}
