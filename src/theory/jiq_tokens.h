/* SPDX-License-Identifier: BSD-2-Clause */
/* jiq with many dispatchers, so many servers for each, as both grow without bound. */
#ifndef THEORY_JIQ_TOKENS_H
#define THEORY_JIQ_TOKENS_H

#include <stddef.h>

enum { JIQ_LEVELS = 4096 };

struct jiq_tokens {
    double no_token; /* the probability that a dispatcher has no token when a job comes */
    double jobs;     /* mean, at a server */
    size_t levels;   /* how many of tail are at least 1e-17 */
    double tail[JIQ_LEVELS];
};

enum jiq_tokens_outcome {
    JIQ_TOKENS_SOLVED,
    JIQ_TOKENS_MANY,    /* so many tokens, thousands at a dispatcher, that no job waits */
    JIQ_TOKENS_UNKNOWN, /* servers have more tokens than are counted, or longer queues; or no memory */
};

/* 0 < lambda < 1 jobs for a server in a mean service time, `ratio` servers for a dispatcher. The mean is
 * right to 0.1 %. Some 20 milliseconds. */
enum jiq_tokens_outcome bli_jiq_tokens_solve(double lambda, double ratio, struct jiq_tokens *answer);

#endif
