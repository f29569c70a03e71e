/* Replays that are tried on the way to the least fleet, and what of a log is enough for a guess. */
#ifndef STUDY_REPLAY_TRY_H
#define STUDY_REPLAY_TRY_H

#include "ballast/replay.h"

/* What is to come of a replay.
 *
 * A hasty one ends once the target is missed beyond doubt: a job was turned away, or so many have been late
 * that twice as many as may be are, whatever comes; or twice the sum of times that the mean allows has been
 * spent already. Of several replications, whose times are averaged, this one alone must bring about that.
 *
 * Then a percentile is missed in all other logs like this one too. The range of it reaches as far down as the
 * share of late jobs, 1 - q, may fall in other logs (replay_run.c), at most to 0: that is, to the percentile
 * of q - (1 - q), and above that, too, the jobs are late if 2 (1 - q) of them are. */
enum bal_effort {
    BAL_EFFORT_WHOLE, /* everything */
    BAL_EFFORT_HASTY, /* the same, unless the target is missed so far */
    BAL_EFFORT_ROUGH, /* the strain and the wanted time alone; hasty too */
};

/* As bal_replay_run, of a replay that has a target. Outcomes that are given up have nothing but their
 * strain. */
enum bal_code bal_replay_try(const struct bal_replay *replay, const struct bal_case *cases,
                             const enum bal_effort *effort, size_t count,
                             const struct bal_lab_options *options, struct bal_replay_outcome *outcome,
                             struct bal_error *err);

/* How many values are above one, with that part of its bin that is. */
double bal_count_above(const struct bal_histogram *h, double value);

/* The next job of a log, or the end of it, as bal_trace_next; `done` were there before it. */
enum bal_code bal_replay_next(struct bal_trace_cursor *cursor, uint64_t done, const volatile int *stop,
                              struct bal_trace_job *job, struct bal_error *err);

/* The speed of the fastest servers: on them a job takes least. */
double bal_replay_fastest(const struct bal_replay *replay);

/* How jobs and their work come over time. Free it with free(). */
struct bal_flow;
enum bal_code bal_flow_new(const struct bal_replay *replay, const volatile int *stop, struct bal_flow **flow,
                           struct bal_error *err);
/* The least number of servers, of those whose number is looked for, by which the target would be met if all
 * that a job waited for were more work than the fleet can do; 1 if none would, as where a median is wanted
 * that is less than the mean size: then this says nothing. */
uint32_t bal_flow_least(const struct bal_flow *flow, const struct bal_replay *replay);

/* A part of the log, between 0 and 1: some stretches of it, one behind the other, each so long that queues
 * are in it as they were. *sample is the same replay, once, of *trace, which the caller frees. */
enum bal_code bal_replay_sample(const struct bal_replay *replay, double part, const volatile int *stop,
                                struct bal_replay *sample, struct bal_trace **trace, struct bal_error *err);

#endif
