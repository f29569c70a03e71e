/* What a server, or a dispatcher on its behalf, remembers to tell how long a job will take there: moving
 * averages, over the last jobs, of their responses and of how many jobs they left behind. As many are left
 * behind as are found on coming (Poisson arrivals, one at a time), so response / (1 + left) is the time for
 * each job that is there. */
#ifndef BASE_PACE_H
#define BASE_PACE_H

#include <stdint.h>

struct pace {
    double response, left;
};

static inline void pace_learn(struct pace *pace, double response, uint32_t left) {
    const double weight = 0.125; /* of the last job */
    pace->response += weight * (response - pace->response);
    pace->left += weight * (left - pace->left);
}

static inline double pace_latency(const struct pace *pace, uint32_t length) {
    return pace->response * (1 + length) / (1 + pace->left);
}

#endif
