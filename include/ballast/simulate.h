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
#define BAL_METRICS(X)                                                                                       \
    BAL_TIME_METRICS(X, , "", "")                                                                            \
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
    BAL_TIME_METRICS(X, HIGH_, "high.", "high class: ")                                                      \
    BAL_TIME_METRICS(X, LOW_, "low.", "low class: ")                                                         \
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
    BAL_CLASS_METRICS(X, 1)                                                                                  \
    BAL_CLASS_METRICS(X, 2)                                                                                  \
    BAL_CLASS_METRICS(X, 3)                                                                                  \
    BAL_CLASS_METRICS(X, 4)                                                                                  \
    BAL_CLASS_METRICS(X, 5)                                                                                  \
    BAL_CLASS_METRICS(X, 6)                                                                                  \
    BAL_CLASS_METRICS(X, 7)                                                                                  \
    BAL_CLASS_METRICS(X, 8)                                                                                  \
    X(MESSAGES_PER_BATCH, "messages.per_batch", "per batch",                                                 \
      "slotted time: messages per batch, a probe counted as one")                                            \
    X(MESSAGES_PER_PART, "messages.per_part", "per part",                                                    \
      "slotted time: messages per part of a batch (a sub-batch), a probe counted as one")                    \
    X(HIGH_REFUSED, "high.refused", "", "fraction of the jobs of the high class that are refused")           \
    X(LOW_REFUSED, "low.refused", "", "fraction of the jobs of the low class that are refused")              \
    BAL_CLASS_REFUSED(X, 1)                                                                                  \
    BAL_CLASS_REFUSED(X, 2)                                                                                  \
    BAL_CLASS_REFUSED(X, 3)                                                                                  \
    BAL_CLASS_REFUSED(X, 4)                                                                                  \
    BAL_CLASS_REFUSED(X, 5)                                                                                  \
    BAL_CLASS_REFUSED(X, 6)                                                                                  \
    BAL_CLASS_REFUSED(X, 7)                                                                                  \
    BAL_CLASS_REFUSED(X, 8)

/* The times of one of more than two classes, 1 being the most urgent. */
#define BAL_CLASS_METRICS(X, i)                                                                              \
    X(CLASS_##i##_RESPONSE_MEAN, "class." #i ".response.mean", "time",                                       \
      "class " #i " of several: mean response time")                                                         \
    X(CLASS_##i##_RESPONSE_P99, "class." #i ".response.p99", "time",                                         \
      "class " #i " of several: 99th percentile of the response time")
#define BAL_CLASS_REFUSED(X, i)                                                                              \
    X(CLASS_##i##_REFUSED, "class." #i ".refused", "",                                                       \
      "class " #i " of several: fraction of its jobs that are refused")

/* The times of all jobs, or of those of one class. */
#define BAL_TIME_METRICS(X, P, p, who)                                                                       \
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

enum bal_metric {
#define X(name, text, unit, meaning) BAL_##name,
    BAL_METRICS(X)
#undef X
        BAL_METRIC_COUNT
};

struct bal_metric_info {
    const char *name;
    const char *unit;
    const char *meaning;
};
extern const struct bal_metric_info bal_metric_table[BAL_METRIC_COUNT];
/* The metric of that name, or BAL_METRIC_COUNT. */
enum bal_metric bal_metric_find(const char *name);

/* What has a distribution in a trial: the times of all jobs and of each class, and the jobs at all servers
 * together. */
enum bal_distribution {
    BAL_OF_RESPONSE,
    BAL_OF_WAITING,
    BAL_OF_HIGH_RESPONSE,
    BAL_OF_HIGH_WAITING,
    BAL_OF_LOW_RESPONSE,
    BAL_OF_LOW_WAITING,
    BAL_OF_LOAD,
    BAL_DISTRIBUTIONS
};
/* The metric that is its median: those of 90, 99 and 99.9 % follow it. */
enum bal_metric bal_distribution_median(enum bal_distribution distribution);
/* The metric that is its quantile; BAL_METRIC_COUNT: none is, it must be asked for. */
enum bal_metric bal_distribution_metric(enum bal_distribution distribution, double quantile);
/* A quantile of a histogram of a trial, in the unit of the model: histograms count in units of the mean size,
 * or in slots. */
double bal_distribution_quantile(const struct bal_histogram *histogram, double quantile, double unit,
                                 bool slotted);

enum bal_engine {
    BAL_ENGINE_AUTO,
    BAL_ENGINE_MARKOV,
    BAL_ENGINE_EVENT,
    BAL_ENGINE_SLOTTED,
    BAL_ENGINE_POOLED,
    BAL_ENGINE_STEALING,
    BAL_ENGINE_NETWORK,
    BAL_ENGINE_LIVE, /* real processes: measured by `ballast live`, never simulated */
    BAL_ENGINE_COUNT
};
const char *bal_engine_text(enum bal_engine engine);

enum { BAL_TAIL_LEVELS = 128 };

/* The path of a system: its state at chosen times. The caller owns all arrays. */
struct bal_path {
    size_t times;
    const double *time; /* from 0 to the length of the run, not falling */
    size_t levels;      /* 1 to BAL_TAIL_LEVELS - 1 */
    double *fraction;   /* times x levels, row by row: fraction of servers with at least 1, 2, ... jobs */
    double *standby, *setup; /* one for each time: fraction of servers that stand by and in set-up; may be
                                NULL */
};

/* A run in equal spans of time, by the arrival of jobs; those that come at its very end, or after it, belong
 * to the last span. Nothing is cut as warm-up. The caller owns all arrays, of one number a span. */
struct bal_history {
    size_t spans;     /* 1 to 10000 */
    double *jobs;     /* that arrived in it and were completed */
    double *response; /* their mean response time; NaN where there are none */
    double *p99;      /* and its 99th percentile */
    double *watts;    /* mean power of the whole fleet */
    /* May be NULL: */
    struct bal_histogram *responses; /* one a span, in units of the mean size; all zeros at first */
    struct bal_kind_times *kind;     /* with a trace: one for each kind of its jobs, all zeros at first */
    size_t kinds;                    /* above the kind of any job */
};

/* The response times of the jobs of one kind. */
struct bal_kind_times {
    uint64_t jobs;
    double response; /* their sum */
    struct bal_histogram responses;
};

/* The default warm-up, as a fraction of a run. */
#define BAL_WARMUP_DEFAULT 0.2
/* As bal_run.warmup: each run cuts what MSER-5 finds in it. That adapts to the run, but it tends to drop busy
 * beginnings more than quiet ones, and so pulls the means of short noisy runs down (docs/statistics.md). */
#define BAL_WARMUP_MSER (-1.0)

/* What a trial has measured until now, nothing cut. */
struct bal_so_far {
    uint64_t jobs;    /* that are complete */
    uint64_t refused; /* that were turned away: no server was there for them, or its buffer was full */
    double response;  /* the sum of their response times */
    const struct bal_histogram *responses; /* ... in units of the mean size */
};

/* Called about a thousand times during a trial, in continuous time; may end it. */
struct bal_watch {
    bool (*is_enough)(void *context, const struct bal_so_far *so_far);
    void *context;
};

struct bal_run {
    uint64_t seed;
    uint64_t replication;
    unsigned draw; /* another one: the same arrivals, sizes and classes, but policies draw other numbers */
    double time;   /* length of the run in model time, > 0; in slotted time rounded up to whole slots */
    double warmup; /* fraction of it to cut, 0 to 0.999; NaN: BAL_WARMUP_DEFAULT, or 0 with a trace; or
                    * BAL_WARMUP_MSER */
    enum bal_engine engine;
    const char *real; /* engine live: all that is started, as text; NULL otherwise */
    bool reference;   /* no index and no specialised loop: the slow twin that tests compare with */
    bool timed;       /* the markov engine draws the times of all events, also where it could count them */
    const struct bal_percentiles *percentiles; /* to be measured in addition to the usual ones; may be NULL */
    const volatile int *stop; /* when set and not 0, the trial ends early with BAL_E_STOPPED; may be NULL */
    const struct bal_watch *watch; /* when it has seen enough, the same; may be NULL */
    const uint32_t *initial; /* jobs at each server at time 0, which is when they arrived; NULL: none. There
                              * must be a queue at each server */
    /* continuous time only: */
    struct bal_path *path; /* filled in on the way; may be NULL */
    /* event engine only: */
    const struct bal_trace *trace; /* recorded jobs in place of drawn ones; NULL: none. The run ends when the
                                    * last of them has left; its time must be that of the trace / speedup, and
                                    * the load and mean size of the model those that the trace makes. */
    double speedup;                /* with a trace: jobs come so many times as fast; 0 means 1 */
    /* So many servers, the last ones of the fleet, fail at that time and never come back. The dispatcher
     * knows at once; their jobs are dispatched again, and start from the beginning. Some servers must be
     * left. */
    uint32_t failing;
    double fail_at;
    struct bal_history *history; /* filled in by this run; may be NULL. The lab has it filled in by
                                  * replication 0 of a case. */
};

/* What one trial measured, warm-up removed. */
struct bal_trial {
    double metric[BAL_METRIC_COUNT];
    double tail[BAL_TAIL_LEVELS]; /* tail[i]: time average of the fraction of servers with at least i jobs;
                                   * with one common queue jobs that wait are at none, so that tail[1] is that
                                   * of busy servers and the others are 0 */
    double quarter[4];            /* mean total queue over each quarter of the whole run, warm-up included */
    double warmup;                /* model time that was cut */
    double seconds;               /* of processor time */
    uint64_t jobs;                /* completed after the warm-up */
    uint64_t events;              /* arrivals and completions in the whole run */
    enum bal_engine engine;       /* the one that ran */
    double percentile[BAL_DISTRIBUTIONS][BAL_PERCENTILES_MAX]; /* those that were asked for */
    /* Filled in when set by the caller: in units of the mean size, in slots, in jobs. Empty where there is no
     * such thing. */
    struct bal_histogram *histogram[BAL_DISTRIBUTIONS];
    double *high_tail; /* filled in when set by the caller, BAL_TAIL_LEVELS of them: as tail, of high jobs
                          alone */
};

/* Has the trial fill in all these histograms. */
static inline void bal_trial_keep(struct bal_trial *trial,
                                  struct bal_histogram histogram[BAL_DISTRIBUTIONS]) {
    for (unsigned d = 0; d < BAL_DISTRIBUTIONS; d++)
        trial->histogram[d] = &histogram[d];
}

/* Can this be simulated, and by which engine? engine is BAL_ENGINE_AUTO or the one wanted; *chosen is set on
 * success. */
enum bal_code bal_simulate_check(const struct bal_model *model, const struct bal_policy_spec *policy,
                                 enum bal_engine engine, enum bal_engine *chosen, struct bal_error *err);

/* Is the policy worth a row of its own, unless it is asked for? Where the fleet has no weights, one that
 * chooses by weights does the same as another policy; others say it of themselves (BAL_ON_REQUEST). */
bool bal_simulate_is_distinct(const struct bal_model *model, const struct bal_policy *policy);

/* Runs one trial. *trial is meaningful only on success. */
enum bal_code bal_simulate(const struct bal_model *model, const struct bal_policy_spec *policy,
                           const struct bal_run *run, struct bal_trial *trial, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
