/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulation: one trial is one replication of one policy on one model; parameters in, measurements out.
 *
 * A trial is a function of its arguments alone: the same model, policy, seed and replication give
 * bit-identical results on any number of threads. Trials share nothing and may run in parallel. */
#ifndef BALLAST_SIMULATE_H
#define BALLAST_SIMULATE_H

#include "ballast/error.h"
#include "ballast/model.h"
#include "ballast/percentile.h"
#include "ballast/scheme.h"
#include "ballast/stats.h"
#include "ballast/trace.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Everything that a trial measures, by name. Times are in the unit of the model (that in which sizes are
 * given).
 *      enumerator,        name in files,       unit,   meaning */
#define BLI_METRICS(X)                                                                                       \
    BLI_TIME_METRICS(X, , "", "")                                                                            \
    X(QUEUE_MEAN, "queue.mean", "jobs", "mean jobs at a server, the one in service included")                \
    X(QUEUE_TOTAL, "queue.total", "jobs", "mean jobs at all servers together")                               \
    X(PROBES_PER_JOB, "messages.probes_per_job", "per job", "servers asked per job")                         \
    X(REPORTS_PER_JOB, "messages.reports_per_job", "per job",                                                \
      "messages that servers send by themselves, per job")                                                   \
    X(MESSAGES_PER_JOB, "messages.per_job", "per job", "messages per job, a probe counted as two")           \
    X(MESSAGES_PER_TIME, "messages.per_time", "per time",                                                    \
      "messages per unit of time, a probe counted as one")                                                   \
    X(MEMORY_BITS, "memory.bits", "bits", "memory of the dispatcher")                                        \
    X(FLUID_DISTANCE, "fluid.distance", "", "largest distance of the path from that of the fluid model")     \
    X(POWER_MEAN, "power.mean", "W", "mean power of a server")                                               \
    X(POWER_WASTE, "power.waste", "", "power above the least that the work needs, as a fraction of that")    \
    X(SERVERS_BUSY, "power.busy", "", "fraction of servers that are busy")                                   \
    X(SERVERS_STANDBY, "power.standby", "", "fraction of servers that are idle and on")                      \
    X(SERVERS_SETUP, "power.setup", "", "fraction of servers in set-up")                                     \
    X(SERVERS_OFF, "power.off", "", "fraction of servers that are off")                                      \
    X(ENERGY_PER_JOB, "energy.per_job", "W x time", "energy spent per job by all servers")                   \
    X(LOST, "jobs.lost", "",                                                                                 \
      "fraction of jobs lost: at full buffers, and discarded by servers that are off")                       \
    X(REFUSED, "jobs.refused", "", "fraction of jobs refused: no server was on, or none might wait")         \
    X(TRANSIENT, "transient", "", "part of the run that MSER-5 takes for warm-up")                           \
    X(DRIFT, "drift", "",                                                                                    \
      "growth of the total queue, from the first quarter of what is measured to the rest, over its mean")    \
    BLI_TIME_METRICS(X, HIGH_, "high.", "high class: ")                                                      \
    BLI_TIME_METRICS(X, LOW_, "low.", "low class: ")                                                         \
    X(HIGH_PROBES_PER_JOB, "high.probes_per_job", "per job", "high class: servers asked per job")            \
    X(LOW_PROBES_PER_JOB, "low.probes_per_job", "per job", "low class: servers asked per job")               \
    X(MOVES_PER_HIGH_JOB, "moves_per_high_job", "per job", "low jobs moved to another server per high job")  \
    X(STEALING_REQUESTS, "stealing.requests", "per time",                                                    \
      "requests of idle servers, per server and unit of time")                                               \
    X(STEALING_STEALS, "stealing.steals", "per time", "requests that get work, per server and unit of time") \
    X(STEALING_MOVED, "stealing.moved", "per job",                                                           \
      "jobs stolen per job; a job may be stolen more than once")                                             \
    X(LOAD_P50, "load.p50", "jobs", "median of the jobs at all servers together, policy stealing only")      \
    X(LOAD_P90, "load.p90", "jobs", "90th percentile of the jobs at all servers together, over time")        \
    X(LOAD_P99, "load.p99", "jobs", "99th percentile of the jobs at all servers together, over time")        \
    X(LOAD_P999, "load.p999", "jobs", "99.9th percentile of the jobs at all servers together, over time")    \
    X(LOAD_TAIL, "load.tail", "",                                                                            \
      "shape of the tail of these jobs, (p999 - p99) / (p99 - p90): 1 if exponential, less if lighter")      \
    X(LOAD_ACHIEVED, "load.achieved", "",                                                                    \
      "load that came: jobs that arrived, times their mean size, over the capacity")                         \
    X(FAILED, "jobs.failed", "", "fraction of jobs that got a wrong answer, or none")                        \
    X(GAVE_UP, "jobs.gave_up", "", "fraction of jobs that gave up waiting; waiting times are of the others") \
    X(HIGH_TAIL_1, "high.queue.tail.1", "", "fraction of servers with at least one high job")                \
    X(HIGH_TAIL_2, "high.queue.tail.2", "", "fraction of servers with at least two high jobs")               \
    X(HIGH_TAIL_3, "high.queue.tail.3", "", "fraction of servers with at least three high jobs")             \
    BLI_CLASS_METRICS(X, 1)                                                                                  \
    BLI_CLASS_METRICS(X, 2)                                                                                  \
    BLI_CLASS_METRICS(X, 3)                                                                                  \
    BLI_CLASS_METRICS(X, 4)                                                                                  \
    BLI_CLASS_METRICS(X, 5)                                                                                  \
    BLI_CLASS_METRICS(X, 6)                                                                                  \
    BLI_CLASS_METRICS(X, 7)                                                                                  \
    BLI_CLASS_METRICS(X, 8)                                                                                  \
    X(MESSAGES_PER_BATCH, "messages.per_batch", "per batch",                                                 \
      "slotted time: messages per batch, a probe counted as one")                                            \
    X(MESSAGES_PER_PART, "messages.per_part", "per part",                                                    \
      "slotted time: messages per part of a batch (a sub-batch), a probe counted as one")                    \
    X(HIGH_REFUSED, "high.refused", "", "fraction of the jobs of the high class that are refused")           \
    X(LOW_REFUSED, "low.refused", "", "fraction of the jobs of the low class that are refused")              \
    BLI_CLASS_REFUSED(X, 1)                                                                                  \
    BLI_CLASS_REFUSED(X, 2)                                                                                  \
    BLI_CLASS_REFUSED(X, 3)                                                                                  \
    BLI_CLASS_REFUSED(X, 4)                                                                                  \
    BLI_CLASS_REFUSED(X, 5)                                                                                  \
    BLI_CLASS_REFUSED(X, 6)                                                                                  \
    BLI_CLASS_REFUSED(X, 7)                                                                                  \
    BLI_CLASS_REFUSED(X, 8)

/* The times of one of more than two classes, 1 being the most urgent. */
#define BLI_CLASS_METRICS(X, i)                                                                              \
    X(CLASS_##i##_RESPONSE_MEAN, "class." #i ".response.mean", "time",                                       \
      "class " #i " of several: mean response time")                                                         \
    X(CLASS_##i##_RESPONSE_P99, "class." #i ".response.p99", "time",                                         \
      "class " #i " of several: 99th percentile of the response time")
#define BLI_CLASS_REFUSED(X, i)                                                                              \
    X(CLASS_##i##_REFUSED, "class." #i ".refused", "",                                                       \
      "class " #i " of several: fraction of its jobs that are refused")

/* The times of all jobs, or of those of one class. */
#define BLI_TIME_METRICS(X, P, p, who)                                                                       \
    X(P##RESPONSE_MEAN, p "response.mean", "time", who "mean response time: from arrival to completion")     \
    X(P##RESPONSE_P50, p "response.p50", "time", who "median response time")                                 \
    X(P##RESPONSE_P90, p "response.p90", "time", who "90th percentile of the response time")                 \
    X(P##RESPONSE_P99, p "response.p99", "time", who "99th percentile of the response time")                 \
    X(P##RESPONSE_P999, p "response.p999", "time", who "99.9th percentile of the response time")             \
    X(P##WAITING_MEAN, p "waiting.mean", "time", who "mean waiting time: from arrival to first service")     \
    X(P##WAITING_P50, p "waiting.p50", "time", who "median waiting time")                                    \
    X(P##WAITING_P90, p "waiting.p90", "time", who "90th percentile of the waiting time")                    \
    X(P##WAITING_P99, p "waiting.p99", "time", who "99th percentile of the waiting time")                    \
    X(P##WAITING_P999, p "waiting.p999", "time", who "99.9th percentile of the waiting time")                \
    X(P##WAITING_PROBABILITY, p "waiting.probability", "", who "fraction of jobs that wait at all")

enum bli_metric {
#define X(name, text, unit, meaning) BLI_##name,
    BLI_METRICS(X)
#undef X
        BLI_METRIC_COUNT
};

struct bli_metric_info {
    const char *name;
    const char *unit;
    const char *meaning;
};
extern const struct bli_metric_info bli_metric_table[BLI_METRIC_COUNT];
/* The metric of that name, or BLI_METRIC_COUNT. */
enum bli_metric bli_metric_find(const char *name);

/* What has a distribution in a trial: the times of all jobs and of each class, and the jobs at all servers
 * together. */
enum bli_distribution {
    BLI_OF_RESPONSE,
    BLI_OF_WAITING,
    BLI_OF_HIGH_RESPONSE,
    BLI_OF_HIGH_WAITING,
    BLI_OF_LOW_RESPONSE,
    BLI_OF_LOW_WAITING,
    BLI_OF_LOAD,
    BLI_DISTRIBUTIONS
};
/* The metric that is its median: those of 90, 99 and 99.9 % follow it. */
enum bli_metric bli_distribution_median(enum bli_distribution distribution);
/* The metric that is its quantile; BLI_METRIC_COUNT: none is, it must be asked for. */
enum bli_metric bli_distribution_metric(enum bli_distribution distribution, double quantile);
/* A quantile of a histogram of a trial, in the unit of the model: histograms count in units of the mean size,
 * or in slots. */
double bli_distribution_quantile(const struct bli_histogram *histogram, double quantile, double unit,
                                 bool slotted);

enum bli_engine {
    BLI_ENGINE_AUTO,
    BLI_ENGINE_MARKOV,
    BLI_ENGINE_EVENT,
    BLI_ENGINE_SLOTTED,
    BLI_ENGINE_POOLED,
    BLI_ENGINE_STEALING,
    BLI_ENGINE_NETWORK,
    BLI_ENGINE_LIVE, /* real processes: measured by `ballast live`, never simulated */
    BLI_ENGINE_CORE, /* the live core in simulated time; runs where it is asked for */
    BLI_ENGINE_COUNT
};
const char *bli_engine_text(enum bli_engine engine);

enum { BLI_TAIL_LEVELS = 128 };

/* The path of a system: its state at chosen times. The caller owns all arrays. */
struct bli_path {
    size_t times;
    const double *time; /* from 0 to the length of the run, not falling */
    size_t levels;      /* 1 to BLI_TAIL_LEVELS - 1 */
    double *fraction;   /* times x levels, row by row: fraction of servers with at least 1, 2, ... jobs */
    double *standby, *setup; /* one for each time: fraction of servers that stand by and in set-up; may be
                                NULL */
};

/* A run in equal spans of time, by the arrival of jobs; those that come at its very end, or after it, belong
 * to the last span. Nothing is cut as warm-up. The caller owns all arrays, of one number a span. */
struct bli_history {
    size_t spans;     /* 1 to 10000 */
    double *jobs;     /* that arrived in it and were completed */
    double *response; /* their mean response time; NaN where there are none */
    double *p99;      /* and its 99th percentile */
    double *watts;    /* mean power of the whole fleet */
    /* May be NULL: */
    struct bli_histogram *responses; /* one a span, in units of the mean size; all zeros at first */
    struct bli_kind_times *kind;     /* with a trace: one for each kind of its jobs, all zeros at first */
    size_t kinds;                    /* above the kind of any job */
};

/* The response times of the jobs of one kind. */
struct bli_kind_times {
    uint64_t jobs;
    double response; /* their sum */
    struct bli_histogram responses;
};

/* The default warm-up, as a fraction of a run. */
#define BLI_WARMUP_DEFAULT 0.2
/* As bli_run.warmup: each run cuts what MSER-5 finds in it. That adapts to the run, but it tends to drop busy
 * beginnings more than quiet ones, and so pulls the means of short noisy runs down (docs/statistics.md). */
#define BLI_WARMUP_MSER (-1.0)

/* What a trial has measured until now, nothing cut. */
struct bli_so_far {
    uint64_t jobs;    /* that are complete */
    uint64_t refused; /* that were turned away: no server was there for them, or its buffer was full */
    double response;  /* the sum of their response times */
    const struct bli_histogram *responses; /* ... in units of the mean size */
};

/* Called about a thousand times during a trial, in continuous time; may end it. */
struct bli_watch {
    bool (*is_enough)(void *context, const struct bli_so_far *so_far);
    void *context;
};

struct bli_run {
    uint64_t seed;
    uint64_t replication;
    unsigned draw; /* another one: the same arrivals, sizes and classes, but policies draw other numbers */
    double time;   /* length of the run in model time, > 0; in slotted time rounded up to whole slots */
    double warmup; /* fraction of it to cut, 0 to 0.999; NaN: BLI_WARMUP_DEFAULT, or 0 with a trace; or
                    * BLI_WARMUP_MSER */
    enum bli_engine engine;
    bool engine_fits; /* bli_simulate_check has chosen it for this model and policy, which are as they were
                       * then: they are not checked again */
    const char *real; /* engine live: all that is started, as text; NULL otherwise */
    bool reference;   /* no index and no specialised loop: the slow twin that tests compare with */
    bool timed;       /* the markov engine draws the times of all events, also where it could count them */
    const struct bli_percentiles *percentiles; /* to be measured in addition to the usual ones; may be NULL */
    const volatile int *stop; /* when set and not 0, the trial ends early with BAL_E_STOPPED; may be NULL */
    const struct bli_watch *watch; /* when it has seen enough, the same; may be NULL */
    const uint32_t *initial; /* jobs at each server at time 0, which is when they arrived; NULL: none. There
                              * must be a queue at each server */
    /* continuous time only: */
    struct bli_path *path; /* filled in on the way; may be NULL */
    /* event engine only: */
    const struct bli_trace *trace; /* recorded jobs in place of drawn ones; NULL: none. The run ends when the
                                    * last of them has left; its time must be that of the trace / speedup, and
                                    * the load and mean size of the model those that the trace makes. */
    double speedup;                /* with a trace: jobs come so many times as fast; 0 means 1 */
    /* So many servers, the last ones of the fleet, fail at that time and never come back. The dispatcher
     * knows at once; their jobs are dispatched again, and start from the beginning. Some servers must be
     * left. */
    uint32_t failing;
    double fail_at;
    struct bli_history *history; /* filled in by this run; may be NULL. The lab has it filled in by
                                  * replication 0 of a case. */
};

/* What one trial measured, warm-up removed. */
struct bli_trial {
    double metric[BLI_METRIC_COUNT];
    double tail[BLI_TAIL_LEVELS]; /* tail[i]: time average of the fraction of servers with at least i jobs;
                                   * with one common queue jobs that wait are at none, so that tail[1] is that
                                   * of busy servers and the others are 0 */
    double quarter[4];            /* mean total queue over each quarter of the whole run, warm-up included */
    double warmup;                /* model time that was cut */
    double seconds;               /* of processor time */
    uint64_t jobs;                /* completed after the warm-up */
    uint64_t events;              /* arrivals and completions in the whole run */
    enum bli_engine engine;       /* the one that ran */
    double percentile[BLI_DISTRIBUTIONS][BLI_PERCENTILES_MAX]; /* those that were asked for */
    /* Filled in when set by the caller: in units of the mean size, in slots, in jobs. Empty where there is no
     * such thing. */
    struct bli_histogram *histogram[BLI_DISTRIBUTIONS];
    double *high_tail; /* filled in when set by the caller, BLI_TAIL_LEVELS of them: as tail, of high jobs
                          alone */
};

/* Has the trial fill in all these histograms. */
static inline void bli_trial_keep(struct bli_trial *trial,
                                  struct bli_histogram histogram[BLI_DISTRIBUTIONS]) {
    for (unsigned d = 0; d < BLI_DISTRIBUTIONS; d++)
        trial->histogram[d] = &histogram[d];
}

/* Can this be simulated, and by which engine? engine is BLI_ENGINE_AUTO or the one wanted; *chosen is set on
 * success. */
enum bal_code bli_simulate_check(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 enum bli_engine engine, enum bli_engine *chosen, struct bal_error *err);

/* Is the policy worth a row of its own, unless it is asked for? Where the fleet has no weights, one that
 * chooses by weights does the same as another policy; others say it of themselves (BAL_ON_REQUEST). */
bool bli_simulate_is_distinct(const struct bli_model *model, const struct bal_policy *policy);

/* Runs one trial. *trial is meaningful only on success. */
enum bal_code bli_simulate(const struct bli_model *model, const struct bal_policy_spec *policy,
                           const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
