/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulated paths compared with fluid ones.
 *
 * The path of a system of N servers from a given state tends, as N grows, to the path of its fluid model from
 * the same state (Gamarnik, Tsitsiklis and Zubeldia 2016, Theorem 2, for rcpb):
 *
 *     bli_lengths_of(s, n, servers, length);                 the state s as queues of so many servers
 *     struct bli_run run = {.time = t, .initial = length, .path = &path, ...};
 *     bli_simulate(&model, &policy, &run, &trial, &err);     fills in path
 *     bli_fluid_path_init(&fluid, &known.model, s, n, path.time, path.times, &err);
 *     struct bli_distance apart = bli_path_distance(&path, &fluid); */
#ifndef BALLAST_FLUID_DISTANCE_H
#define BALLAST_FLUID_DISTANCE_H

#include "ballast/fluid.h"
#include "ballast/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Jobs at each of so many servers, such that the fraction with at least i jobs is s[i - 1] to within half a
 * server (n numbers, from 1 downwards and not rising; the rest counts as 0). The servers with more jobs come
 * first. O(servers + n). */
void bli_lengths_of(const double *s, size_t n, uint32_t servers, uint32_t *length);

struct bli_distance {
    double norm; /* largest ||x - y||, where ||x - y||^2 is the sum over levels i >= 1 of |x_i - y_i|^2 / 2^i
                  */
    double difference; /* largest |x_i - y_i| */
    double time;       /* where that was */
    size_t level;
};

/* How far a simulated path is from a fluid one that has the same times, at most. Levels beyond those of the
 * simulated path are left out. O(times * levels). */
struct bli_distance bli_path_distance(const struct bli_path *path, const struct bli_fluid_path *fluid);

#ifdef __cplusplus
}
#endif
#endif
