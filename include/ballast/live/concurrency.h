/* SPDX-License-Identifier: BSD-2-Clause */
/* slots=auto: what is known of the number of requests that an app should work on at once. */
#ifndef BALLAST_LIVE_CONCURRENCY_H
#define BALLAST_LIVE_CONCURRENCY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BAL_CONCURRENCY_MAX = 4096,    /* the largest limit that can be found */
    BAL_CONCURRENCY_DEFAULT = 256, /* the largest limit unless another is given */
    BAL_CONCURRENCY_START = 8,     /* where it begins, within its bounds */
};

struct bal_concurrency_view {
    uint32_t limit, min, max; /* limit 0: slots are given, and nothing is found */
    double rate; /* requests per second that end with `limit` of them in service; 0: not known yet */
    /* The work per time that the next limit above would add, and what the next one below would lose, as
     * shares, and the standard deviations of both. At a bound 0. */
    double gain, gain_sd, loss, loss_sd;
    uint64_t raised, lowered; /* steps, ever */
    uint64_t changes;         /* of how fast the app is, that were noticed */
};

#ifdef __cplusplus
}
#endif
#endif
