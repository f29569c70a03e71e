/* SPDX-License-Identifier: BSD-2-Clause */
/* pod on servers of different speeds: its mean field, group by group, and the expansion in 1/N around it. The
 * policy compares numbers of jobs and knows no speeds. */
#include "theory/pod_groups.h"

#include "base/memory.h"
#include "theory/expansion_pod.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_SECOND = 18, /* in all groups together: up to so many 1/N^2 takes less than a tenth of a second */
    LEVELS_MORE = 2,    /* a fleet of N servers has a longer tail than the limit */
    STEPS_MAX = 200000,
};
static const double least = 1e-11; /* of the last level */

/* (a^d - b^d) / (a - b) */
static double divided_power(double a, double b, unsigned d) {
    double sum = 0, front = 1;
    for (unsigned j = 0; j < d; j++, front *= b)
        sum = sum * a + front;
    return sum;
}

/* A step of Euler's method; returns the largest change. x: as for bli_expansion_pod_model. */
static double step(const struct expansion_pod *pod, double h, double *x) {
    double largest = 0, above[EXPANSION_GROUPS], upper = 1;
    for (unsigned g = 0; g < pod->groups; g++)
        above[g] = pod->share[g];
    for (size_t i = 0; i < pod->levels; i++) {
        double all = 0;
        for (unsigned g = 0; g < pod->groups; g++)
            all += x[g * pod->levels + i];
        const double rate = pod->lambda * divided_power(upper, all, pod->d[0]);
        upper = all;
        for (unsigned g = 0; g < pod->groups; g++) {
            double *here = &x[g * pod->levels + i];
            const double next = i + 1 < pod->levels ? here[1] : 0;
            const double change = rate * (above[g] - *here) - pod->speed[g] * (*here - next);
            above[g] = *here;
            *here += h * change;
            largest = fmax(largest, fabs(change));
        }
    }
    return largest;
}

/* From the empty fleet on, until Newton's method will find the rest. */
static bool approach_fixed_point(const struct expansion_pod *pod, double *x) {
    double fastest = pod->lambda * pod->d[0];
    for (unsigned g = 0; g < pod->groups; g++)
        fastest = fmax(fastest, pod->lambda * pod->d[0] + 2 * pod->speed[g]);
    for (int i = 0; i < STEPS_MAX; i++)
        if (step(pod, 0.8 / fastest, x) < 1e-9)
            return true;
    return false;
}

/* The levels that matter, and x for them. */
static bool cut_levels(struct expansion_pod *pod, double *x) {
    size_t levels = pod->levels;
    for (double all = 0; levels > 0 && all < least; levels--) {
        all = 0;
        for (unsigned g = 0; g < pod->groups; g++)
            all += x[g * pod->levels + levels - 1];
    }
    levels += 1 + LEVELS_MORE;
    if (levels > pod->levels)
        return false;
    for (unsigned g = 0; g < pod->groups; g++)
        memmove(x + g * levels, x + g * pod->levels, levels * sizeof *x);
    pod->levels = levels;
    return true;
}

static double sum_of(const double *value, size_t n) {
    double sum = 0;
    for (size_t i = n; i-- > 0;)
        sum += value[i];
    return sum;
}

bool bli_pod_groups_solve(struct expansion_pod *pod, struct pod_groups *answer) {
    double x[EXPANSION_LEVELS] = {0}, tail[EXPANSION_LEVELS] = {0};
    pod->levels = EXPANSION_LEVELS / pod->groups;
    if (!approach_fixed_point(pod, x) || !cut_levels(pod, x))
        return false;
    const size_t n = pod->groups * pod->levels;
    const unsigned order = n <= LEVELS_SECOND ? 2 : 1;
    const struct expansion_model model = bli_expansion_pod_model(pod);
    struct expansion jobs;
    const bool solved = bli_expansion_init(&jobs, &model, x, order);
    if (solved) {
        for (size_t i = 0; i < n; i++)
            tail[i % pod->levels] += jobs.x[i];
        *answer = (struct pod_groups){.jobs = sum_of(jobs.x, n),
                                      .first = sum_of(jobs.first, n),
                                      .second = order > 1 ? sum_of(jobs.second, n) : NAN,
                                      .busy = tail[0],
                                      .levels = pod->levels + 1};
        answer->tail[0] = 1;
        memcpy(answer->tail + 1, tail, pod->levels * sizeof *tail);
    }
    bli_expansion_fini(&jobs);
    return solved;
}
