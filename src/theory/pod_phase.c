/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean field of pod with sizes in phases, servers being first come, first served.
 *
 * s_i is the fraction of servers with at least i jobs, q_i its parts by the phase of the job in service, T
 * the matrix of phases, alpha the phase in which a job begins. A server with i jobs gets them at rate a_i =
 * lambda (s_i^d - s_{i+1}^d) / (s_i - s_{i+1}). Mass comes to the levels from i on by arrivals at i - 1 and
 * leaves them where a job ends at i, so that with what all levels together end, q_i (exit rates) = lambda
 * s_{i-1}^d,
 *
 *     q_i (a_{i-1} - T) = a_{i-1} q_{i-1} + lambda s_i^d alpha,   i >= 2,      q_1 (-T) = lambda alpha,
 *
 * in which nothing cancels. With q_{i-1} known that is one equation for the number s_i, and q_i follows:
 * level by level, without iterating over all of them. With one phase s_i = lambda s_{i-1}^d.
 *
 * That these are the limit of finite fleets is proved for laws with a falling hazard rate (Bramson, Lu and
 * Prabhakar 2012: independent servers) and for hyperexponential laws (Van Houdt 2019); for others it is
 * assumed, as everywhere, and simulations agree. */
#include "theory/pod_phase.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200 };

static double sum_of(const double *x, unsigned n) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static double power(double x, unsigned n) {
    double result = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1)
            result *= x;
    return result;
}

/* (a^d - b^d) / (a - b) */
static double divided_power(double a, double b, unsigned d) {
    double sum = 0, front = 1;
    for (unsigned j = 0; j < d; j++, front *= b)
        sum = sum * a + front;
    return sum;
}

struct phase_level {
    double s;             /* servers with at least so many jobs */
    double q[PHASES_MAX]; /* by phase */
};

/* The level after `before` if it has s: how much more its phases add to. */
static double excess_of(const struct phases *p, double lambda, unsigned d, const struct phase_level *before,
                        double s, struct phase_level *level) {
    const double arrivals = lambda * divided_power(before->s, s, d), begin = lambda * power(s, d);
    double right[PHASES_MAX];
    for (unsigned j = 0; j < p->count; j++)
        right[j] = arrivals * before->q[j] + begin * p->start[j];
    bli_phases_solve(p, arrivals, right, level->q);
    level->s = sum_of(level->q, p->count);
    return level->s - s;
}

static void find_level(const struct phases *p, double lambda, unsigned d, const struct phase_level *before,
                       struct phase_level *level) {
    double low = 0, high = before->s;
    for (int i = 0; i < ROUNDS && high - low > 1e-15 * high; i++) {
        const double s =
            i < 4 && low == 0 ? lambda * power(before->s, d) * exp2(2 * i - 2) : 0.5 * (low + high);
        const double middle = s > low && s < high ? s : 0.5 * (low + high);
        *(excess_of(p, lambda, d, before, middle, level) > 0 ? &low : &high) = middle;
    }
}

/* ---- response times ---- */

/* What a job that comes finds: how many services must end after the present one, its own the last, and the
 * phase of that. */
static void set_found(const struct phases *p, unsigned d, const struct phase_level *level, size_t levels,
                      double *state) {
    const unsigned n = p->count;
    for (unsigned j = 0; j < n; j++)
        state[j] = (1 - power(level[1].s, d)) * p->start[j];
    for (size_t k = 1; k < levels; k++) { /* the level behind the last is empty */
        const double joins = divided_power(level[k].s, level[k + 1].s, d);
        for (unsigned j = 0; j < n; j++)
            state[k * n + j] = fmax(level[k].q[j] - level[k + 1].q[j], 0) * joins;
    }
}

static void find_quantiles(const struct phases *p, unsigned d, const struct phase_level *level, size_t levels,
                           struct pod_phase *answer) {
    double *state = calloc(levels * p->count, sizeof *state);
    for (int i = 0; i < 4; i++)
        answer->response_quantile[i] = NAN;
    if (!state) {
        bli_memory_lose();
        return;
    }
    set_found(p, d, level, levels, state);
    bli_phases_quantiles(p, levels, state, answer->response_quantile);
    free(state);
}

bool bli_pod_phase_solve(const struct phases *phases, double lambda, unsigned d, struct pod_phase *answer) {
    struct phase_level *level = calloc(POD_PHASE_LEVELS + 1, sizeof *level);
    if (!level) {
        bli_memory_lose();
        return false;
    }
    double right[PHASES_MAX] = {0};
    for (unsigned j = 0; j < phases->count; j++)
        right[j] = lambda * phases->start[j];
    bli_phases_solve(phases, 0, right, level[1].q);
    level[0].s = 1;
    level[1].s = sum_of(level[1].q, phases->count);
    size_t levels = 2;
    for (; levels < POD_PHASE_LEVELS && level[levels - 1].s > 1e-15; levels++)
        find_level(phases, lambda, d, &level[levels - 1], &level[levels]);
    const bool known = level[levels - 1].s < 1e-12;
    *answer = (struct pod_phase){.levels = levels};
    for (size_t k = levels; k-- > 0;) {
        answer->tail[k] = level[k].s;
        answer->jobs += k > 0 ? level[k].s : 0;
    }
    if (known)
        find_quantiles(phases, d, level, levels, answer);
    free(level);
    return known;
}
