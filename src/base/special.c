/* SPDX-License-Identifier: BSD-2-Clause */
/* Special functions without loss of digits, safe in several threads. */
#include "base/special.h"

#include <float.h>
#include <math.h>

/* log k! = log(sqrt(2 pi k) (k/e)^k) + stirling_error(k), k >= 1. */
static double stirling_error(double k) {
    static const double small[16] = {
        0 /* not used */,     0x1.4c071bcda0a5bp-4, 0x1.52a9b923ea649p-5, 0x1.c579a268d80b3p-6,
        0x1.54a2662fd78a9p-6, 0x1.10b4e513fcbedp-6, 0x1.c6b167bebdf36p-7, 0x1.85d4d612e4a86p-7,
        0x1.552805e7b3076p-7, 0x1.2f4871b12ab64p-7, 0x1.10f9d4c0743a7p-7, 0x1.f0593088014f8p-8,
        0x1.c7018733aa9c6p-8, 0x1.a40514700f36cp-8, 0x1.86076c002d4a7p-8, 0x1.6c08f6f194a10p-8,
    };
    if (k < 16)
        return small[(int)k];
    const double y = 1 / (k * k);
    return (1 / 12.0 - y * (1 / 360.0 - y * (1 / 1260.0 - y * (1 / 1680.0 - y / 1188.0)))) / k;
}

/* k log(k / mean) + mean - k without cancellation. */
static double deviance(double k, double mean, double excess) {
    if (fabs(excess) >= 0.1 * (k + mean))
        return k * log(k / mean) - excess;
    /* With v = (k - mean) / (k + mean), log(k / mean) = 2 artanh v = 2 (v + v^3/3 + v^5/5 + ...). */
    const double v = excess / (k + mean);
    double sum = excess * v;
    double power = 2 * k * v;
    for (int j = 3;; j += 2) {
        power *= v * v;
        const double next = sum + power / j;
        if (next == sum)
            return sum;
        sum = next;
    }
}

/* The saddle-point form of C. Loader, "Fast and accurate computation of binomial probabilities" (2000). */
double bli_poisson_log(double k, double mean, double excess) {
    if (k == 0)
        return -mean;
    const double two_pi = 6.283185307179586;
    return -0.5 * log(two_pi * k) - stirling_error(k) - deviance(k, mean, excess);
}

double bli_gamma_below(double k, double x) {
    if (x <= 0)
        return 0;
    double sum = 1;
    double term = 1;
    if (x < k + 1) {
        /* P(k, x) = P(N = k) (1 + x/(k+1) + x^2/((k+1)(k+2)) + ...), N Poisson of mean x */
        for (double n = k + 1; term > sum * (DBL_EPSILON / 4); n++) {
            term *= x / n;
            sum += term;
        }
        return fmin(1, exp(bli_poisson_log(k, x, k - x)) * sum);
    }
    /* 1 - P(k, x) = P(N <= k-1) = P(N = k-1) (1 + (k-1)/x + (k-1)(k-2)/x^2 + ...) */
    for (double n = k - 1; term > sum * (DBL_EPSILON / 4); n--) {
        term *= n / x;
        sum += term;
    }
    return fmax(0, 1 - exp(bli_poisson_log(k - 1, x, k - 1 - x)) * sum);
}
