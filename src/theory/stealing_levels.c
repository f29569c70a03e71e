/* SPDX-License-Identifier: BSD-2-Clause */
/* The fixed point of power-of-d-choices with stealing, by Newton's method.
 *
 * With the rate of requests a = s_1 - s_2 as an unknown of its own, equation k of
 *     F_k = lambda (s_{k-1}^d - s_k^d) - (s_k - s_{k+1}) + a (c_k - s_k) = 0
 * contains s_{k-1} and levels from k on alone: c_k, the servers of at least k jobs that a request leaves
 * behind, is a sum over l >= k. The matrix is upper Hessenberg, and a step costs O(n^2) for n levels. */
#include "ballast/fluid.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MIN = 64, LEVELS_MAX = 2048, STEPS_MAX = 60 };

static const double edge_max = 1e-15; /* in the outermost level */

struct newton {
    const struct bli_stealing *stealing;
    size_t n;
    uint32_t *amount; /* f(l), l = 0 .. n */
    double *s;        /* s[0] = 1, s[1 .. n], s[n + 1] = 0 */
    double a;
    double *c;       /* c[1 .. n] */
    double *matrix;  /* n x n, row by row */
    double *f, *f_a; /* right sides: -F, and -dF/da */
};

static void newton_fini(struct newton *newton) {
    free(newton->amount);
    free(newton->s);
    free(newton->c);
    free(newton->matrix);
    free(newton->f);
    free(newton->f_a);
}

static bool newton_init(struct newton *newton, const struct bli_stealing *stealing, size_t n) {
    *newton = (struct newton){.stealing = stealing,
                              .n = n,
                              .amount = calloc(n + 1, sizeof *newton->amount),
                              .s = calloc(n + 2, sizeof *newton->s),
                              .c = calloc(n + 2, sizeof *newton->c),
                              .matrix = calloc(n * n, sizeof *newton->matrix),
                              .f = calloc(n, sizeof *newton->f),
                              .f_a = calloc(n, sizeof *newton->f_a)};
    if (!newton->amount || !newton->s || !newton->c || !newton->matrix || !newton->f || !newton->f_a) {
        newton_fini(newton);
        bli_memory_lose();
        return false;
    }
    for (size_t l = 1; l <= n; l++)
        newton->amount[l] = bal_steal_amount(&stealing->steal, (uint32_t)l);
    return true;
}

/* Where the jobs of a server of l jobs are seen at level k after a request: at it, at the asker, or both. */
static double count_at_level(const struct newton *newton, size_t l, size_t k) {
    const size_t amount = newton->amount[l];
    return (double)(l - amount >= k) + (double)(amount >= k);
}

static void write_c(struct newton *newton) {
    memset(newton->c, 0, (newton->n + 2) * sizeof *newton->c);
    for (size_t l = 1; l <= newton->n; l++) {
        const double p = newton->s[l] - newton->s[l + 1];
        newton->c[l - newton->amount[l]] += p;
        if (newton->amount[l] > 0)
            newton->c[newton->amount[l]] += p;
    }
    for (size_t k = newton->n; k > 1; k--)
        newton->c[k - 1] += newton->c[k];
}

/* The right sides, and the sum of |F|. */
static double write_residual(struct newton *newton) {
    const double *s = newton->s, lambda = newton->stealing->lambda, d = newton->stealing->d;
    double sum = 0;
    write_c(newton);
    for (size_t k = 1; k <= newton->n; k++) {
        newton->f_a[k - 1] = -(newton->c[k] - s[k]);
        newton->f[k - 1] = -(lambda * (pow(s[k - 1], d) - pow(s[k], d)) - (s[k] - s[k + 1]) +
                             newton->a * (newton->c[k] - s[k]));
        sum += fabs(newton->f[k - 1]);
    }
    return sum + fabs(s[1] - s[2] - newton->a);
}

static void write_matrix(struct newton *newton) {
    const double lambda = newton->stealing->lambda, d = newton->stealing->d, a = newton->a;
    const size_t n = newton->n;
    for (size_t k = 1; k <= n; k++) {
        double *row = newton->matrix + (k - 1) * n;
        if (k > 1)
            row[k - 2] = lambda * d * pow(newton->s[k - 1], d - 1);
        for (size_t l = k; l <= n; l++) /* s_l = p_l + p_(l+1) + ... is in p_l with 1, in p_(l-1) with -1 */
            row[l - 1] = a * (count_at_level(newton, l, k) - (l > k ? count_at_level(newton, l - 1, k) : 0));
        row[k - 1] -= lambda * d * pow(newton->s[k], d - 1) + 1 + a;
        if (k < n)
            row[k] += 1;
    }
}

static void swap_rows(struct newton *newton, size_t k) {
    const size_t n = newton->n;
    double *row = newton->matrix + k * n;
    for (size_t j = k; j < n; j++) {
        const double kept = row[j];
        row[j] = row[n + j];
        row[n + j] = kept;
    }
    double *sides[] = {newton->f, newton->f_a};
    for (int i = 0; i < 2; i++) {
        const double kept = sides[i][k];
        sides[i][k] = sides[i][k + 1];
        sides[i][k + 1] = kept;
    }
}

/* Gaussian elimination of the numbers below the diagonal; the right sides become the solutions. */
static bool solve_linear(struct newton *newton) {
    const size_t n = newton->n;
    for (size_t k = 0; k + 1 < n; k++) {
        double *row = newton->matrix + k * n, *below = row + n;
        if (fabs(below[k]) > fabs(row[k]))
            swap_rows(newton, k);
        const double factor = below[k] / row[k];
        if (factor == 0)
            continue;
        for (size_t j = k; j < n; j++)
            below[j] -= factor * row[j];
        newton->f[k + 1] -= factor * newton->f[k];
        newton->f_a[k + 1] -= factor * newton->f_a[k];
    }
    for (size_t k = n; k-- > 0;) {
        const double *row = newton->matrix + k * n;
        for (size_t j = k + 1; j < n; j++) {
            newton->f[k] -= row[j] * newton->f[j];
            newton->f_a[k] -= row[j] * newton->f_a[j];
        }
        newton->f[k] /= row[k];
        newton->f_a[k] /= row[k];
        if (!isfinite(newton->f[k]) || !isfinite(newton->f_a[k]))
            return false;
    }
    return true;
}

/* A step to where the linear equations are solved, or a part of it where that is nearer. */
static bool newton_step(struct newton *newton, double *residual) {
    write_matrix(newton);
    if (!solve_linear(newton))
        return false;
    const double *x = newton->f, *y = newton->f_a;
    const double da = (newton->s[1] - newton->s[2] - newton->a + x[0] - x[1]) / (1 - (y[0] - y[1]));
    double *move = newton->matrix; /* no longer needed */
    for (size_t k = 0; k < newton->n; k++)
        move[k] = x[k] + y[k] * da;
    double part = 1, done = 0;
    for (int i = 0; i < 30; i++, part /= 2) {
        for (size_t k = 0; k < newton->n; k++)
            newton->s[k + 1] += (part - done) * move[k];
        newton->a += (part - done) * da;
        done = part;
        const double now = write_residual(newton);
        if (now < *residual || now < 1e-13) {
            *residual = now;
            return true;
        }
    }
    return false;
}

/* Starts from what f = 1 would do under random choice: p_k = p_1 rho^(k-1), see below. */
static void initial_guess(struct newton *newton) {
    const double lambda = newton->stealing->lambda;
    newton->a = 0.5 * (lambda - 1 + sqrt((1 - lambda) * (1 + 3 * lambda)));
    const double rho = lambda / (1 + newton->a);
    newton->s[0] = 1;
    for (size_t k = 1; k <= newton->n; k++)
        newton->s[k] = lambda * pow(rho, (double)(k - 1));
}

/* Are there enough levels, and is it a distribution? */
static bool is_plausible(const struct newton *newton) {
    for (size_t k = 1; k <= newton->n; k++)
        if (!(newton->s[k] > -1e-13 && newton->s[k] <= newton->s[k - 1] + 1e-13))
            return false;
    return fabs(newton->s[1] - newton->stealing->lambda) < 1e-10;
}

static bool find_equilibrium(struct newton *newton) {
    initial_guess(newton);
    double residual = write_residual(newton);
    for (int i = 0; i < STEPS_MAX && residual > 1e-13; i++)
        if (!newton_step(newton, &residual))
            return residual < 1e-11 && is_plausible(newton);
    return residual < 1e-11 && is_plausible(newton);
}

enum bal_code bli_stealing_equilibrium(const struct bli_stealing *stealing, double *s, size_t n, double *jobs,
                                       struct bal_error *err) {
    if (!(stealing->lambda > 0 && stealing->lambda < 1))
        return bal_fail(err, BAL_E_RANGE, "lambda = %g; there is a fixed point for 0 < lambda < 1",
                        stealing->lambda);
    for (size_t levels = LEVELS_MIN; levels <= LEVELS_MAX; levels *= 2) {
        struct newton newton;
        if (!newton_init(&newton, stealing, levels))
            return bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu levels", levels);
        const bool found = find_equilibrium(&newton) && newton.s[levels] < edge_max;
        *jobs = 0;
        for (size_t k = levels; found && k > 0; k--)
            *jobs += newton.s[k];
        for (size_t k = 0; found && k < n; k++)
            s[k] = k < levels ? fmax(newton.s[k + 1], 0) : 0;
        newton_fini(&newton);
        if (found)
            return BAL_OK;
    }
    return bal_fail(err, BAL_E_NUMERIC, "the fixed point at lambda = %g needs more than %d levels",
                    stealing->lambda, LEVELS_MAX);
}
