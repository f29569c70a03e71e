/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast servers are with so many jobs in service, and how much work jobs are: both together, from a log
 * that names the server of each request.
 *
 * A server with n jobs works on the first K of them, at rate(k) in all with k of them in service, which share
 * it equally. Given K and the rates, the work of each job follows from its times; work does not know how busy
 * the server was, so the right ones are those that make the log most likely. With f the density of work and s
 * the speed at which a job was worked on when it left, the likelihood of a log is the product of f(work) s
 * over the jobs. f is not known: for each candidate it is estimated from the works themselves.
 *
 * Three explanations are compared: slots(K), where each of K jobs has full speed and others wait in order;
 * cores(C), where all share; batch(B,S), where all share and each further one slows all down. Which one the
 * log supports is decided by the likelihoods of the same jobs (Vuong 1989), in blocks, since neighbours
 * depend on each other. A log of idle servers supports none more than another, and says so. */
#ifndef BALLAST_SPEEDS_FIT_H
#define BALLAST_SPEEDS_FIT_H

#include "ballast/recover.h"
#include "ballast/speeds.h"
#include "ballast/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bli_speeds_cause { BLI_CAUSE_SLOTS, BLI_CAUSE_CORES, BLI_CAUSE_BATCH, BLI_CAUSES };
extern const char *const bli_speeds_cause_name[BLI_CAUSES];

enum { BLI_SPEEDS_FIT_JOBS = 200000, BLI_SPEEDS_FIT_NUMBERS = 64 };

/* The best of one kind. */
struct bli_speeds_candidate {
    struct bli_speeds speeds;
    uint32_t slots;      /* 0: all that are there */
    double low, high;    /* 95 %: of slots, of cores, and of the slowdown of a batch of that size */
    double likelihood;   /* its logarithm */
    double work_mean;    /* seconds at speed 1 */
    uint64_t impossible; /* jobs that ended before they could have begun */
};

struct bli_speeds_fit {
    uint64_t jobs, servers; /* that were looked at */
    bool cut;               /* the log has more jobs */
    uint64_t shared;        /* jobs that left others behind: only these say something */
    struct bli_speeds_candidate candidate[BLI_CAUSES];
    enum bli_speeds_cause best;
    /* By how many standard deviations it is more likely than each other one; 0 for itself. Those that are not
     * told apart are within 2; of a batch and cores with the same rates, it is the cores. */
    double ahead[BLI_CAUSES];
    bool told; /* it is told apart from all whose rates differ from its own */
    /* Completions per second with k jobs there, in the unit of the best one's work; k from 1 on. rate 0: no
     * job left so many. It is the total rate by k where servers share, whatever the sizes are
     * (insensitivity). */
    unsigned numbers;
    uint32_t most; /* jobs that were at a server at once */
    double rate[BLI_SPEEDS_FIT_NUMBERS + 1], rate_sd[BLI_SPEEDS_FIT_NUMBERS + 1];
    uint64_t ended[BLI_SPEEDS_FIT_NUMBERS + 1];
};

/* Reads the first BLI_SPEEDS_FIT_JOBS jobs of the finished trace whose sizes are the times from their arrival
 * at a server to their end, as logged. BAL_E_MODEL: it names no server. O(jobs) for each of some hundred
 * candidates.
 */
enum bal_code bli_speeds_fit(const struct bli_trace *logged, const volatile int *stop,
                             struct bli_speeds_fit *fit, struct bal_error *err);

/* What servers are taken for, and what was found. */
struct bli_speeds_recovery {
    struct bli_speeds speeds;  /* none are given: it is slots */
    uint32_t slots;            /* 0: all */
    bool computed;             /* times are no times at servers, but works already */
    bool found;                /* the log was asked: */
    struct bli_speeds_fit fit; /* what it says */
};

/* The same jobs with their work in place of their times, as a new finished trace, which the caller frees.
 * Jobs whose server is not named stay as they are. slots 0: all. Work that comes out as nothing is a
 * nanosecond. */
enum bal_code bli_speeds_recover(const struct bli_trace *logged, const struct bli_speeds *speeds,
                                 uint32_t slots, const volatile int *stop, struct bli_trace **recovered,
                                 struct bal_error *err);

/* All that a log of such servers says: *works, a new finished trace that the caller frees, or NULL where it
 * is as logged, and what was recovered. *speeds says what servers are taken for, or that it is to be found;
 * of the options those of slots have no effect. */
enum bal_code bli_recover_works(const struct bli_trace *logged, const struct bli_recover_options *how,
                                struct bli_speeds_recovery *speeds, struct bli_trace **works,
                                struct bli_recovery *recovery, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
