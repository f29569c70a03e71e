/* SPDX-License-Identifier: BSD-2-Clause */
/* What a server, or a dispatcher on its behalf, remembers to estimate how long a job will take there: moving
 * averages, over the last jobs, of their responses and of how many jobs they left behind. As many are left
 * behind as are found on coming (Poisson arrivals, one at a time), so response / (1 + left) is the time for
 * each job that is there. */
#ifndef BASE_LATENCY_EWMA_H
#define BASE_LATENCY_EWMA_H

#include <stdint.h>

struct latency_ewma {
    double response, left;
};

static inline void latency_ewma_add(struct latency_ewma *latency_ewma, double response, uint32_t left) {
    const double weight = 0.125; /* of the last job */
    latency_ewma->response += weight * (response - latency_ewma->response);
    latency_ewma->left += weight * (left - latency_ewma->left);
}

static inline double latency_ewma_predict(const struct latency_ewma *latency_ewma, uint32_t length) {
    return latency_ewma->response * (1 + length) / (1 + latency_ewma->left);
}

#endif
