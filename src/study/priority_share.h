/* SPDX-License-Identifier: BSD-2-Clause */
/* How large may the share of high jobs be? Priorities make high jobs faster (the gain, T of pod:d=d1 over T
 * of high jobs) and low ones slower (the loss, T of low jobs over T of pod:d=d1), the more so the more high
 * jobs there are. Found by theory, confirmed by simulation. */
#ifndef STUDY_PRIORITY_SHARE_H
#define STUDY_PRIORITY_SHARE_H

#include "ballast/lab.h"
#include "ballast/theory.h"

struct bli_priority_share_wish {
    struct bli_priority priority; /* policy, load, d1 and d2; p is ignored */
    double gain;                  /* at least; 0: any */
    double loss;                  /* at most; INFINITY: any */
};

struct bli_priority_share_found {
    double p;                          /* the largest share that meets both targets, NaN when there is none */
    struct bli_priority_result theory; /* there */
    /* the targets that are possible: the extremes over shares from 0.001 to 0.999, and where they are */
    double most_gain, most_gain_at;
    double least_loss, least_loss_at;
};

/* By theory, in the limit of many servers; some milliseconds. p is rounded down to the number of decimals
 * that is simulated and printed. */
enum { BLI_PRIORITY_SHARE_DECIMALS = 4 };
struct bli_priority_share_found bli_priority_share_find(const struct bli_priority_share_wish *wish);

/* The same at a finite number of servers. */
struct bli_priority_share_measured {
    struct bli_estimate high, low, pod; /* mean response times */
    struct bli_estimate gain, loss;
    unsigned replications;
    struct bli_case cases[2];        /* what was simulated: the policy, and pod */
    struct bli_result with, without; /* all of them, over the same replications */
};

/* Simulates the policy at the share p and pod:d=d1, fed the same arrivals, on servers of unit speed; of *run
 * the seed and the time count. Where the length is open that time is the least: runs are made longer while
 * they are doubted as settling. Returns BAL_E_STOPPED when asked to stop, with the results so far. */
enum bal_code bli_priority_share_measure(const struct bli_priority_share_wish *wish, double p,
                                         uint32_t servers, const struct bli_run *run, bool open,
                                         unsigned replications, const struct bli_lab_options *options,
                                         struct bli_priority_share_measured *measured, struct bal_error *err);

/* What was found, and whether the simulation confirms it. Theory is about many servers: a simulated target
 * counts as met when it is missed by no more than a hundredth, or by no more than the error of the
 * simulation. */
struct bli_priority_share_answer {
    struct bli_priority_share_found found;
    bool simulated; /* false: there is no such share, or theory alone was asked for; and nothing below counts
                     */
    bool cut_short;
    uint32_t servers;
    struct bli_priority_share_measured measured;
    double miss; /* by how much it misses a target, as a fraction of the target; 0 when it is not; NaN when a
                    value that is wanted is not known */
    bool sure;   /* nothing that was simulated is doubted */
    bool confirmed;
};

/* Finds the share and measures there, with the arguments of bli_priority_share_measure; servers = 0: no
 * simulation.
 */
enum bal_code bli_priority_share_answer(const struct bli_priority_share_wish *wish, uint32_t servers,
                                        const struct bli_run *run, bool open, unsigned replications,
                                        const struct bli_lab_options *options,
                                        struct bli_priority_share_answer *answer, struct bal_error *err);

/* The policy as text, and pod:d=d1. */
enum { BLI_PRIORITY_SHARE_TEXT = 64 };
void bli_priority_share_policy(const struct bli_priority *priority, char text[BLI_PRIORITY_SHARE_TEXT]);
void bli_priority_share_plain(const struct bli_priority *priority, char text[BLI_PRIORITY_SHARE_TEXT]);

#endif
