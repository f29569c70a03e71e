/* SPDX-License-Identifier: BSD-2-Clause */
/* The frontier of stability: the largest load at which a policy is stable, or the smallest number of tasks
 * that must be stolen at a time.
 *
 * It is found by bisection. At each point tried, a sequential test watches the total queue over longer and
 * longer runs until it can tell whether the queue grows for ever; a point where the longest runs cannot tell
 * stays undecided. The probability that any claim about any point is wrong is at most `error`
 * (docs/frontier.md states the assumptions). The answer depends only on the question, not on the number of
 * threads. */
#ifndef BALLAST_FRONTIER_H
#define BALLAST_FRONTIER_H

#include "ballast/lab.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLI_FRONTIER_POINTS = 32,       /* most points that a search tries */
    BLI_FRONTIER_LOOKS = 8,         /* at a point, each with runs twice as long as before */
    BLI_FRONTIER_REPLICATIONS = 32, /* of a look, from each start */
};

enum bli_frontier_axis {
    BLI_FRONTIER_LOAD,     /* stable below, unstable above */
    BLI_FRONTIER_CONSTANT, /* K of steal function constant(K), policy `stealing`: unstable below, stable above
                            */
};

/* What a test watches. */
enum bli_frontier_test {
    BLI_FRONTIER_SATURATED, /* policy `stealing`, hosts that share the generators equally: how the load
                             * changes while the hosts have more tasks than they can lose */
    BLI_FRONTIER_STARTS,    /* everything else: how the total queue changes from long queues on, at each group
                             * of equal servers in turn, and how it grows from 0 */
};

struct bli_frontier_question {
    struct bli_model model; /* its load, or its steal function, is what is sought */
    struct bal_policy_spec policy;
    enum bli_frontier_axis axis;
    enum bli_engine engine;
    double low, high; /* where to look; high = 0: up to load 0.999, or constant 1e5 */
    double width;     /* the interval wanted; 0: 0.005, or 1 */
    double relative;  /* or this part of the value, whichever is larger */
    double error;     /* 0 < error < 0.5 */
    double longest;   /* length of the longest runs; 0: long enough for most; too short ones are refused */
    uint64_t seed;
};

struct bli_frontier_point {
    double at;
    enum bli_verdict verdict;
    /* At the last look, with half-widths as a claim needs them; NaN: not looked at. */
    struct bli_estimate drift;  /* of the total queue, from long queues on, per unit of time: the largest */
    struct bli_estimate growth; /* from 0: the total queue of the second half of a run over that of the first
                                 */
    unsigned looks;
    double time; /* length of the runs of the last look */
};

/* What theorems prove about the constant, at the load of the question: policy `stealing`, generators on fixed
 * hosts. */
struct bli_frontier_proof {
    uint32_t hosts;         /* 0: no theorem covers such a system, and the fields below have no meaning */
    double line[2];         /* unstable below: Theorem 9; and with who is asked counted. Not above 0: none */
    const char *all_stable; /* why all constants are stable; NULL: not proved */
    double stable_from_log10; /* Theorem 1: constants from 10^this on are; NaN: none */
    uint64_t servers_from;    /* at this load Theorem 1 begins at so many servers; 0: beyond 10^15 */
};

struct bli_frontier {
    enum bli_frontier_test test;
    struct bli_frontier_point point[BLI_FRONTIER_POINTS]; /* in rising order */
    unsigned points;
    double stable, unstable; /* the nearest points that are so; NaN: there is none */
    double estimate;         /* where the line through the drifts of these two crosses 0; NaN: it does not */
    unsigned undecided;      /* points between them */
    unsigned doubts;      /* of enum bli_doubt: a heavy tail, against which no error probability holds; exact
                           * theory that is contradicted */
    double critical_load; /* that exact theory knows; NaN: not known, or the constant is sought */
    struct bli_frontier_proof proof;
    double seconds; /* processor time */
    bool cut_short; /* the search was stopped by the caller */
};

struct bli_frontier_proof bli_frontier_prove(const struct bli_frontier_question *question);

/* The two lines of it at another load. */
void bli_frontier_lines(const struct bli_frontier_question *question, double load, double line[2]);

/* BAL_E_STOPPED leaves what is known so far. */
enum bal_code bli_frontier_find(const struct bli_frontier_question *question,
                                const struct bli_lab_options *options, struct bli_frontier *frontier,
                                struct bal_error *err);

/* The critical constant over several loads, all claims together wrong with probability question->error. The
 * load of the question is ignored. frontier is an array of count; those that were not begun have no
 * points. */
enum bal_code bli_frontier_map(const struct bli_frontier_question *question, const double *load,
                               unsigned count, const struct bli_lab_options *options,
                               struct bli_frontier *frontier, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
