/* SPDX-License-Identifier: BSD-2-Clause */
/* Recovery: works out service times from the times that requests spent at their servers, as logged.
 *
 * A proxy sees a request come to a server (A) and leave it (D). What lies between is service and, if the
 * server was busy, waiting in the server's own queue, which another fleet would not have caused. Where the
 * log names the server, the two can be separated. A server that takes jobs in order and works on k of them at
 * once begins a job when fewer than k of those before it are left:
 *
 *     S = D - max(A, k-th latest D of the jobs before it)
 *
 * which for k = 1 is D - max(A, previous D). A job that finds fewer than k others does not wait, and is
 * exact. Servers that share their time among all jobs there, at most one k-th of them for each of k cores,
 * give a job the work S = integral from A to D of min(1, k / n(t)) dt, where n(t) is how many are there.
 *
 * Which k, and which of the two, follows from the log too. A job that leaves before k others that came before
 * it proves more than k slots. Sizes do not know how many jobs they find at a server, so the right k is the
 * one under which those of jobs that found a busy server are like those of jobs that did not. If they are not
 * even among jobs that found a free slot, servers share their time.
 *
 * Without servers' names, jobs that found few others in the whole fleet stand for service without waiting. */
#ifndef BALLAST_RECOVER_H
#define BALLAST_RECOVER_H

#include "ballast/log.h"
#include "ballast/stats.h"
#include "ballast/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the sizes of a trace are. */
enum bli_times {
    BLI_TIMES_SERVICE,  /* service alone, by the log itself */
    BLI_TIMES_IN_ORDER, /* recovered: servers take jobs in order */
    BLI_TIMES_SHARED,   /* recovered: servers share their time */
    BLI_TIMES_CLEAN,    /* as logged, and no waiting is seen in them */
    BLI_TIMES_LIGHT,    /* estimated from the lightly loaded parts of the log */
    BLI_TIMES_WAITING,  /* as logged, with waiting in them */
    BLI_TIMES_UNKNOWN,  /* as logged; whether they include waiting is unknown */
};
/* "service times", "recovered", "include waiting", ...: for a column of a table. */
const char *bli_times_text(enum bli_times times);
/* Must each number that is made of them be marked? */
bool bli_times_are_doubtful(enum bli_times times);

struct bli_recover_options {
    uint32_t slots;           /* jobs that a recorded server works on at once; 0: found from the log */
    uint32_t told_slots;      /* the same as the log states explicitly; 0: it does not */
    double step;              /* seconds: resolution of the times in the log ... */
    double length_step;       /* ... and of durations; 0: that of times */
    bool service;             /* the sizes are service alone: nothing is done */
    bool keep;                /* the sizes are to stay as they are: looked at, and not changed */
    const volatile int *stop; /* when set and not 0: ends with BAL_E_STOPPED; may be NULL */
};

struct bli_recovery {
    enum bli_times times;
    uint64_t jobs;                    /* that are not left out */
    double logged_mean, logged_p99;   /* seconds, of these */
    double service_mean, service_p99; /* the same after recovery; as logged where nothing was done */
    struct bli_estimate share;        /* of the logged time that is waiting, as far as it is known; 95 % */
    /* where servers are named */
    uint32_t servers;               /* the most that were there at once; 0: none is named */
    uint32_t servers_seen;          /* in all */
    uint64_t unserved;              /* jobs without a server, which stay as they are */
    uint64_t abandoned;             /* jobs that were given up before their service began, and are gone */
    uint32_t slots;                 /* of a server */
    uint32_t slots_low, slots_high; /* between which they are, by the log; high 0: it sets no limit */
    bool slots_told;                /* the log states them explicitly */
    bool slots_open; /* they are a guess: the log does not state them, and its times allow more than one
                        number */
    double low_mean, high_mean;       /* the mean service time, in seconds, if it were these */
    double overtaking;                /* share of jobs that leave before as many others as there are slots */
    double dependence;                /* size of those that find no free slot over that of the others, 1 when
                                       * all is well; NaN when hardly any does */
    double shared_mean;               /* BLI_TIMES_SHARED: the mean if they took jobs in order; in seconds */
    double logged_load, service_load; /* of the servers and slots above, by logged and recovered times */
    /* where they are not */
    double light_others, mean_others; /* how many others jobs found: those of the light part, and all */
};

/* As `take` of bli_log_options, whose servers are to be collected then; the context is the trace that is to
 * be recovered. Each try at a server is a job of its own, which occupied that server for its own time; one
 * without a time is left out. Jobs that are not wanted are there too, left out of what is recovered. */
enum bal_code bli_recover_take(void *trace, const struct bli_log_record *record, struct bal_error *err);

/* The same jobs, as many as it returns. */
unsigned bli_recover_jobs(const struct bli_log_record *record, struct bli_trace_job jobs[BLI_LOG_TRIES]);

/* Reads the finished trace, whose sizes are times from A to D and whose times are A, and works out what was
 * service. *recovered is a new finished trace, which the caller frees, or NULL when the sizes stay as they
 * are (and `ahead` is 0 for all). In what is recovered, jobs arrive `ahead` before A. Memory: the jobs that
 * are at servers at once. Time: about 0.1 us for each job and pass, of which there are two or three. */
enum bal_code bli_recover(const struct bli_trace *logged, const struct bli_recover_options *options,
                          struct bli_trace **recovered, struct bli_recovery *recovery, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
