/* SPDX-License-Identifier: BSD-2-Clause */
/* Replay: runs recorded jobs on a fleet of your choice, under any policy, and finds how large it must be.
 *
 * Every policy gets the same jobs at the same times (ballast/trace.h); only its own random choices differ
 * from replication to replication. All times are in seconds, all work in seconds of a server of speed 1. */
#ifndef BALLAST_REPLAY_H
#define BALLAST_REPLAY_H

#include "ballast/lab.h"
#include "ballast/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a trace demands of a fleet ---- */

enum {
    BLI_REPLAY_SPANS = 96
}; /* equal parts of a trace that are measured separately: for a day, its quarters of an hour */

/* All of it as recorded. The busiest window is the one of so many seconds, counted from whole multiples of
 * them, that brings most; it is never below the mean. */
struct bli_demand {
    double rate;                                    /* jobs a second */
    double work;                                    /* servers of speed 1 that are busy on average */
    double scv;                                     /* of the sizes: their squared coefficient of variation */
    double size_p50, size_p90, size_p99, size_p999; /* of the sizes, within 0.8 % */
    double window;                                  /* seconds: 1, 10, 60, 600, 3600, ... */
    double peak_rate, peak_work;                    /* in the busiest window, which need not be the same */
    double peak_at;                                 /* where the one of most work begins, as job times */
    double span_rate[BLI_REPLAY_SPANS];             /* jobs a second in each part */
    double size_mean;
    struct bli_histogram sizes; /* in mean sizes */
};

/* Reads the trace once. BAL_E_MODEL when all its jobs arrive at one moment. stop may be NULL. */
enum bal_code bli_demand_of(const struct bli_trace *trace, const volatile int *stop,
                            struct bli_demand *demand, struct bal_error *err);

/* ---- what is wanted ---- */

enum { BLI_TARGET_NAME = BLI_PERCENTILE_TEXT };

/* The mean of the response times, or that quantile of them, is to be at most so many seconds; and no job may
 * be turned away. */
struct bli_target {
    double quantile; /* 0: the mean */
    double seconds;
    char name[BLI_TARGET_NAME]; /* "mean", "p99.9" */
};

/* Reads "p99=200ms": mean, or p and any percentage between 0 and 100 (p95, p99.9, also written p999), and a
 * length of time with its unit. On failure *target is untouched. */
enum bal_code bli_target_parse(const char *text, struct bli_target *target, struct bal_error *err);

/* Reads a length of time with its unit, one of ns, us, ms, s, min, h: "200ms", "1.5 min". In seconds, >= 0.
 * On failure *seconds is untouched. */
enum bal_code bli_duration_parse(const char *text, double *seconds, struct bal_error *err);

/* ---- what was measured ---- */

/* The response times of the recorded jobs as they were, part by part, for comparison with a replay of them.
 * Arrivals and sizes are the same job by job, so the two differ only by the policy's random choices and by
 * errors of the model. */
struct bli_interval_sums {
    double jobs[BLI_REPLAY_SPANS], response[BLI_REPLAY_SPANS]; /* how many came, and the sum of their times */
    double unit;                                               /* seconds, of what follows: the mean size */
    struct bli_histogram spans[BLI_REPLAY_SPANS];
};

/* A job that came so many seconds after the first of the trace, which takes so many in all. */
void bli_interval_sums_add(struct bli_interval_sums *measured, double after, double span, double response);

/* ---- one replay ---- */

struct bli_replay {
    const struct bli_trace *trace;
    double speedup; /* jobs come so many times as fast, > 0 */
    /* The fleet: servers, slots, classes, discipline, standby, setup, watts, start. The load, the sizes and
     * the share of the high class are those of the trace, and set by bli_replay_case. */
    struct bli_model model;
    uint64_t seed;
    unsigned replications;              /* >= 1 */
    const struct bli_target *target;    /* NULL: none */
    struct bli_percentiles percentiles; /* to be measured in addition to the usual ones */
    unsigned vary; /* the group of servers whose number is looked for, where there are several */
    bool vary_given;
    /* So many servers, the last of the fleet, fail so many seconds, as recorded, after the first arrival. */
    uint32_t failing;
    double fail_at;
    const struct bli_interval_sums *measured; /* NULL: nothing was */
    struct bli_interval_sums *keep; /* filled in by the first replay of the first case; NULL: not wanted */
};

/* How long the jobs take to arrive: the span of the trace, sped up. */
double bli_replay_time(const struct bli_replay *replay);
/* Work that arrives over what the fleet can do; for `work` servers that would be busy as recorded. */
double bli_replay_load(const struct bli_replay *replay, double work);

/* The case of a policy, ready for bli_replay_run or bli_lab_run; nothing is cut as warm-up. Fails when the
 * policy cannot be replayed on this fleet. The trace must outlive the case. */
enum bal_code bli_replay_case(const struct bli_replay *replay, const struct bal_policy_spec *policy,
                              struct bli_case *c, struct bal_error *err);

/* ---- results ---- */

struct bli_confidence_range {
    double low, high;
};

/* Which times: the mean, quantiles, the one that is wanted, and from BLI_TIME_ASKED on the percentiles that
 * were asked for. */
enum bli_response_time {
    BLI_TIME_MEAN,
    BLI_TIME_P50,
    BLI_TIME_P90,
    BLI_TIME_P99,
    BLI_TIME_P999,
    BLI_TIME_WANTED,
    BLI_TIME_ASKED
};
enum { BLI_REPLAY_TIMES = BLI_TIME_ASKED + BLI_PERCENTILES_MAX };

/* The jobs of a kind of the trace. */
struct bli_kind_outcome {
    uint64_t jobs; /* in one replication */
    struct bli_estimate time[BLI_REPLAY_TIMES];
};

struct bli_replay_outcome {
    struct bli_result result;
    /* Response times of all jobs; the estimates are over replications, which differ in what the policy, and
     * the spreading of whole seconds, draws at random. BLI_TIME_WANTED is NaN without a target,
     * and so are percentiles that were not asked for. */
    struct bli_estimate time[BLI_REPLAY_TIMES];
    /* Where each of them would lie, with 95 %, in other logs like this one: by how parts of the log differ
     * from their neighbours. NaN where there are too few jobs to tell, or queues remember for too long. */
    struct bli_confidence_range log[BLI_REPLAY_TIMES];
    /* What was measured minus the result of the replay, and its 95 % interval from the blocks of the log:
     * around 0 where the model is right. The first block is left out, as a replay begins with an empty fleet.
     * NaN where nothing was measured, or there are too few jobs to tell. */
    struct bli_estimate apart[BLI_REPLAY_TIMES];
    struct bli_kind_outcome kind[BLI_TRACE_KINDS];
    /* By a search for the least fleet alone: how much it takes of what the target allows. That is the share
     * of late jobs over that of those that may be, or the mean over the one that is wanted; NaN: not known.
     */
    double target_ratio;
    bool given_up; /* the target is missed beyond doubt, and the replay was ended; nothing else is known */
};

/* Runs the cases, all of them made from this replay, as bli_lab_run does. A history that a case has is that
 * of its first replication. */
enum bal_code bli_replay_run(const struct bli_replay *replay, const struct bli_case *cases, size_t count,
                             const struct bli_lab_options *options, struct bli_replay_outcome *outcome,
                             struct bal_error *err);

/* The same times of what was measured, at so many servers (with all their slots) in so many seconds;
 * BLI_TIME_WANTED is NaN. */
struct bli_measured_times {
    double time[BLI_REPLAY_TIMES];
    struct bli_confidence_range log[BLI_REPLAY_TIMES];
};
enum bal_code bli_measured_times(const struct bli_interval_sums *measured, double servers, double span,
                                 struct bli_measured_times *times, struct bal_error *err);

/* Energy that the fleet spent until the last job had left, in joules, averaged over replications; and how
 * long servers were on in that time, all together, in seconds. */
double bli_replay_energy(const struct bli_result *result);
double bli_replay_server_time(const struct bli_case *c, const struct bli_result *result);

/* ---- how large must the fleet be? ---- */

/* The least number that meets the target, found by search: larger or smaller steps until it is bracketed,
 * then where a line through both ends of the bracket meets the target, or in its middle. It assumes that all
 * numbers above one that meets the target meet it too. In the end `met` meets the target and `failed`, one
 * less, was tried and does not (0: even the smallest possible number meets it); or `failed` is `most` and
 * `met` is 0. */
struct bli_min_fleet_search {
    uint32_t most;
    uint32_t none;        /* so many, and fewer, cannot be had; 0 unless set after init */
    uint32_t unlikely;    /* so many are not expected to do, nor fewer; 0 unless set after init */
    uint32_t failed, met; /* the largest that was tried and failed, the least that was tried and met; or 0 */
    uint32_t next;        /* to be tried; 0: the search is over */
    uint32_t step;        /* the next one at least, while there is no bracket */
    unsigned steps;       /* that were taken */
    double off_failed, off_met; /* how far each is off the target; NaN: not known */
    double slope;               /* of `off`, by the logarithm of the number, below 0; 0: not known */
    uint32_t fewest, largest;   /* that were tried and tell of it */
    double off_fewest, off_largest;
    uint32_t width; /* of the bracket when it had last shrunk to half */
    unsigned slow;  /* tries since then */
};
/* Begins without a guess, with steps that double the number; 1 <= first <= most. */
void bli_min_fleet_search_init(struct bli_min_fleet_search *least, uint32_t first, uint32_t most);
/* Begins near a guess, with small steps, or with steps that the slope suggests. */
void bli_min_fleet_search_init_near(struct bli_min_fleet_search *least, uint32_t first, uint32_t most,
                                    double slope);
/* How `next` went, and how far off the target it was, as a logarithm: above 0 failed; NaN: not known. */
void bli_min_fleet_search_report(struct bli_min_fleet_search *least, bool met, double off);

enum bli_sizing_outcome {
    BLI_SIZED,
    BLI_SIZE_HOPELESS, /* the jobs themselves take longer than is wanted, on any fleet */
    BLI_SIZE_BEYOND,   /* not even the largest fleet that was tried meets the target */
};

enum { BLI_REPLAY_SERVERS = 1 << 20 }; /* larger fleets are not tried, nor chosen where none is given */

struct bli_sizing {
    enum bli_sizing_outcome outcome;
    uint32_t servers;   /* the least that meets the target; BLI_SIZE_BEYOND: the most that were tried */
    uint32_t low, high; /* between which it would lie, with 95 %, by other logs like this one; equal
                         * to it when only it would do; both 0 when there are too few jobs to tell;
                         * high alone when by some of those logs several times as many do not do */
    struct bli_case c;  /* with so many servers ... */
    struct bli_replay_outcome at; /* ... and its result; meaningless when hopeless */
    double best;                  /* what is wanted if no job ever waited */
    double one_fewer;             /* what it is with one server fewer; NaN when there is no such fleet */
    unsigned fleets_tried;        /* each of them a replay, or several */
};

/* Finds for each policy the least number of servers that meets the target of the replay, which it must have.
 * It changes the number of one group of servers: the one that is named, or the only one. Returns
 * BAL_E_STOPPED when the caller stops it; sizing has no meaning then. */
enum bal_code bli_replay_size(const struct bli_replay *replay, const struct bli_demand *demand,
                              const struct bal_policy_spec *policy, size_t count,
                              const struct bli_lab_options *options, struct bli_sizing *sizing,
                              struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
