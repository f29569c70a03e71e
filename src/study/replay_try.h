/* SPDX-License-Identifier: BSD-2-Clause */
/* Trial replays in the search for the smallest fleet, and samples of a log that are enough for a guess. */
#ifndef STUDY_REPLAY_TRY_H
#define STUDY_REPLAY_TRY_H

#include "ballast/replay.h"

/* What a replay is to compute.
 *
 * A hasty one ends once the target is missed beyond doubt: a job was turned away, or so many have been late
 * that BLI_LATE_MAX times as many as may be are, whatever comes; or as many times the sum of times that the
 * mean allows has been spent already. With several replications, whose times are averaged, this one alone
 * must be enough for that.
 *
 * Then a percentile is missed in all other logs like this one too: the range of it reaches as far down as the
 * share of late jobs, 1 - q, may fall in other logs (replay_run.c), and no range is given where that is by
 * more than this factor. */
enum { BLI_LATE_MAX = 4 };

enum bli_effort {
    BLI_EFFORT_WHOLE, /* everything */
    BLI_EFFORT_HASTY, /* the same, unless the target is missed so far */
    BLI_EFFORT_ROUGH, /* the target ratio and the wanted time alone; hasty too */
};

/* As bli_replay_run, of a replay that has a target. Replays that end early have only their target ratio. */
enum bal_code bli_replay_try(const struct bli_replay *replay, const struct bli_case *cases,
                             const enum bli_effort *effort, size_t count,
                             const struct bli_lab_options *options, struct bli_replay_outcome *outcome,
                             struct bal_error *err);

/* How many values are above a given one, with the corresponding part of its bin. */
double bli_count_above(const struct bli_histogram *h, double value);

/* The next job of a log, or the end of it, as bli_trace_next; `done` were there before it. */
enum bal_code bli_replay_next(struct bli_trace_cursor *cursor, uint64_t done, const volatile int *stop,
                              struct bli_trace_job *job, struct bal_error *err);

/* What a server of speed 1 can do at most: its slots, unless speeds are given. */
double bli_replay_server_rate(const struct bli_model *model);

/* The speed of the fastest servers: on them a job takes least. */
double bli_replay_fastest(const struct bli_replay *replay);

/* How jobs and their work come over time. Free it with free(). */
struct bli_flow;
enum bal_code bli_flow_new(const struct bli_replay *replay, const volatile int *stop, struct bli_flow **flow,
                           struct bal_error *err);
/* The least number of servers, of those whose number is looked for, that would meet the target if jobs waited
 * only because there is more work than the fleet can do; 1 if none would, as where a median is wanted that is
 * less than the mean size: then this says nothing. */
uint32_t bli_flow_min_servers(const struct bli_flow *flow, const struct bli_replay *replay);

/* A part of the log, between 0 and 1: some stretches of it, one after the other, each long enough for its
 * queues to be as in the whole log. *sample is the same replay, once, of *trace, which the caller frees. */
enum bal_code bli_replay_sample(const struct bli_replay *replay, double part, const volatile int *stop,
                                struct bli_replay *sample, struct bli_trace **trace, struct bal_error *err);

#endif
