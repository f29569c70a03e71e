/* Replay: recorded jobs on a fleet of one's own choice, under any policy, and how large it must be.
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

/* ---- what a trace asks of a fleet ---- */

enum {
    BAL_REPLAY_SPANS = 96
}; /* equal parts of a trace that are told apart: of a day, its quarters of an
      hour */

/* All of it as recorded. The busiest window is the one of so many seconds, counted from whole multiples of
 * them, that brings most; it is never below the mean. */
struct bal_demand {
    double rate; /* jobs a second */
    double work; /* servers of speed 1 that are busy on average, if none of them stands still */
    double scv;  /* of the sizes: their squared coefficient of variation */
    double size_p50, size_p90, size_p99, size_p999; /* of the sizes, within 0.8 % */
    double window;                                  /* seconds: 1, 10, 60, 600, 3600, ... */
    double peak_rate, peak_work;                    /* in the busiest window, which need not be the same */
    double peak_at;                                 /* where the one of most work begins, as job times */
    double span_rate[BAL_REPLAY_SPANS];             /* jobs a second in each part */
};

/* Reads the trace once. BAL_E_MODEL when all its jobs arrive at one moment. stop may be NULL. */
enum bal_code bal_demand_of(const struct bal_trace *trace, const volatile int *stop,
                            struct bal_demand *demand, struct bal_error *err);

/* ---- one replay ---- */

struct bal_replay {
    const struct bal_trace *trace;
    double speedup; /* jobs come so many times as fast, > 0 */
    /* The fleet: servers, slots, classes, discipline, standby, setup, watts, start. The load, the sizes and
     * the share of the high class are those of the trace, and set by bal_replay_case. */
    struct bal_model model;
    uint64_t seed;
    unsigned replications; /* >= 1 */
};

/* How long the jobs take to arrive: the span of the trace, sped up. */
double bal_replay_time(const struct bal_replay *replay);
/* Work that arrives over what the fleet can do; for `work` servers that would be busy as recorded. */
double bal_replay_load(const struct bal_replay *replay, double work);

/* The case of a policy, ready for bal_lab_run; nothing is cut as warm-up. Fails when the policy cannot be
 * replayed on this fleet. The trace must outlive the case. */
enum bal_code bal_replay_case(const struct bal_replay *replay, const struct bal_policy_spec *policy,
                              struct bal_case *c, struct bal_error *err);

/* Energy that the fleet spent until the last job had left, in joules, averaged over replications. */
double bal_replay_energy(const struct bal_result *result);

/* ---- how large must the fleet be? ---- */

/* The least number that will do, found by trying: doubles or halves until it is bracketed, then bisects. It
 * assumes that whatever is above a number that will do will do too. In the end `met` will do and `failed`,
 * one less, was tried and will not (0: even 1 will do); or `failed` is `most` and `met` is 0. */
struct bal_least {
    uint32_t most;
    uint32_t failed, met; /* the largest that was tried and failed, the least that was tried and met; or 0 */
    uint32_t next;        /* to be tried; 0: the search is over */
};
void bal_least_init(struct bal_least *least, uint32_t first, uint32_t most); /* 1 <= first <= most */
void bal_least_tell(struct bal_least *least, bool met);                      /* how `next` went */

/* What is wanted: that metric, one of response times, at most so many seconds, and no job turned away. */
struct bal_target {
    enum bal_metric metric;
    double seconds;
};

/* Reads "p99=200ms": mean, p50, p90, p99 or p99.9 (also written p999) and a length of time with its unit. On
 * failure *target is untouched. */
enum bal_code bal_target_parse(const char *text, struct bal_target *target, struct bal_error *err);
const char *bal_target_name(const struct bal_target *target); /* "p99" */

/* Reads a length of time with its unit, one of ns, us, ms, s, min, h: "200ms", "1.5 min". In seconds, >= 0.
 * On failure *seconds is untouched. */
enum bal_code bal_duration_parse(const char *text, double *seconds, struct bal_error *err);

enum bal_sizing_outcome {
    BAL_SIZED,
    BAL_SIZE_HOPELESS, /* the jobs themselves take longer than is wanted, whatever the fleet */
    BAL_SIZE_BEYOND,   /* not even the largest fleet that was tried will do */
};

struct bal_sizing {
    enum bal_sizing_outcome outcome;
    uint32_t servers;      /* the least that will do; BAL_SIZE_BEYOND: the most that were tried */
    struct bal_case c;     /* with so many servers ... */
    struct bal_result at;  /* ... and what it gave; when hopeless it says nothing */
    double best;           /* the metric if no job ever waited */
    double one_fewer;      /* the metric with one server fewer; NaN when there is no such fleet */
    unsigned fleets_tried; /* each of them a replay, or several */
};

/* Finds for each policy the least number of servers that meets the target, all of the speed of the fleet of
 * the replay, which must be one. Returns BAL_E_STOPPED when told to stop; then sizing says nothing. */
enum bal_code bal_replay_size(const struct bal_replay *replay, const struct bal_demand *demand,
                              const struct bal_policy_spec *policy, size_t count,
                              const struct bal_target *target, const struct bal_lab_options *options,
                              struct bal_sizing *sizing, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
