/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trial keeps while it runs: sums, histograms and the time integrals of queue lengths.
 *
 * The run is cut into SLICES equal slices of time. Each gives one average of the total queue, from which
 * warm-up and drift are judged afterwards. To be able to take the warm-up out of everything else, the sums
 * are copied at those slice boundaries where it may end; what was measured is then the total less the copy.
 * In slotted time a slice is a whole number of slots, so that slices may differ by one slot, and a run of
 * fewer than SLICES slots has a slice for each of them. A run of recorded jobs has one slice more, which
 * stays open until the last of them has left.
 *
 * The fraction of servers with at least k jobs is integrated without touching the other levels: a server that
 * reaches level k at time x (since the slice began) adds -x to that level, one that leaves it adds +x, and at
 * the end of the slice every server still there adds the width. */
#ifndef ENGINE_TALLY_H
#define ENGINE_TALLY_H

#include "ballast/simulate.h"
#include "base/inline.h"

enum {
    SLICES = 1000,
    SNAPSHOTS = 20
}; /* the most of each; the warm-up ends at a snapshot, by half of the run */

enum { LEVELS = BLI_TAIL_LEVELS + 1 }; /* the last one stands for all levels from there up */

struct level {
    double area;
    int64_t count;
};

/* Where a server is that has no jobs. */
enum { POWER_STANDBY, POWER_SETUP, POWER_OFF, POWER_STATES };

/* Times are noted first and taken into sums and histograms many at once, in the same order: the additions
 * then overlap, and the lines of the histograms do not push the queues out of the cache event by event. */
enum { NOTES = 256 };

struct notes {
    uint32_t count;
    double time[NOTES];
};

/* Times of the jobs of one kind, without those that are noted only. */
struct channel {
    double response, waiting; /* sums */
    uint64_t immediate; /* services begun without waiting; the others are in the histogram of waiting times */
    uint64_t completed;
    uint64_t gave_up; /* jobs that left before their service began */
    uint64_t refused; /* jobs; of a class only, as the next two */
    uint64_t routed;  /* jobs, and the probes spent on them */
    uint64_t probes;
    struct bli_histogram response_histogram, waiting_histogram;
    struct notes responses, waitings;
};

/* All jobs; and, where there are classes, those of each, the most urgent first. */
enum { ALL, HIGH, CHANNELS = HIGH + BLI_JOB_CLASSES_MAX };

/* The bins of a histogram between the first and the last that are not empty. */
struct packed_histogram {
    unsigned first, end;
    uint64_t *count;
};

struct packed_channel {
    double response, waiting;
    uint64_t immediate, completed, gave_up, refused, routed, probes;
    struct packed_histogram response_histogram, waiting_histogram;
};

/* Totals since the start; the difference of two of them is what happened in between. */
struct totals {
    uint64_t arrivals;
    uint64_t probes;
    uint64_t reports;
    uint64_t batches;           /* in slotted time; a dispatcher's jobs of a slot */
    uint64_t parts;             /* ... and what servers got of them at a time */
    uint64_t moves;             /* jobs moved from one server to another */
    uint64_t lost;              /* jobs sent to a server whose buffer was full */
    uint64_t refused;           /* jobs that no server was there for */
    uint64_t failed;            /* jobs whose answer was wrong or that no server could answer */
    uint64_t gave_up;           /* jobs that left before their service began */
    uint64_t requests;          /* of servers that want to steal */
    uint64_t steals;            /* requests that got something */
    uint64_t stolen;            /* jobs that went with them */
    double power[POWER_STATES]; /* integral of the number of servers in each state but busy */
    double queue;               /* integral of the total queue over time */
    double working;             /* integral of the number of jobs in service; with slots only */
    double tail[LEVELS];        /* integral of the number of servers with at least i jobs */
    double high_tail[LEVELS];   /* the same for jobs of the high class */
};

struct snapshot {
    unsigned slice;
    struct totals totals;
    struct packed_channel channel[CHANNELS];
    struct packed_histogram load;
};

struct tally {
    const struct bli_run *run;
    double time;     /* length of the run */
    bool slotted;    /* times are whole numbers of slots */
    unsigned slices; /* how many there are, that of the drain not counted */
    bool drains;     /* after the last slice the run goes on until bli_tally_end */
    double end;      /* of the last slice that is closed */
    unsigned slice;  /* how many are closed */
    double slice_start, slice_end;
    double rate;     /* above 0: times are numbers of events, which come at this rate */
    double unit;     /* the mean size */
    double per_unit; /* 1 / mean size: histograms hold times in units of it */
    struct level level[LEVELS];
    struct level class_level[2][LEVELS]; /* by jobs of the high class; the second only spares a branch where
                                            it is not known whether a job is one */
    struct level power[POWER_STATES];    /* as the levels */
    struct level working;                /* jobs in service; kept where a server works on several of them */
    uint32_t slots;                      /* ... and how many that can be; otherwise 1 */
    const struct bli_speeds *speeds;     /* NULL: of servers that share, none are given */
    uint32_t sharing;                    /* with speeds: most jobs in service */
    bool powered;                        /* servers can be off; otherwise those without jobs stand by */
    struct bli_watts watts;
    bool patient;              /* jobs may give up; set by the engine, as the next one */
    bool stealing;             /* servers steal; set by the engine, after init, for the metrics of it */
    struct bli_histogram load; /* of the total queue at the end of slots; kept by the engine of stealing */
    struct totals totals;
    struct channel all;
    struct channel *by_class; /* the most urgent first; NULL without classes */
    unsigned classes;
    double slice_queue[SLICES];
    unsigned snapshots;
    struct snapshot snapshot[SNAPSHOTS];
    bool fixed_warmup;
    unsigned warmup_slice; /* when it is fixed */
};

/* unit: the mean size of a job; classes: how many there are, at least 1. */
enum bal_code bli_tally_init(struct tally *tally, const struct bli_run *run, double unit, unsigned classes);
/* For slotted time, in units of slots; the last slot need not be complete in run->time, but is simulated. */
enum bal_code bli_tally_init_slotted(struct tally *tally, const struct bli_run *run);
void bli_tally_fini(struct tally *tally);

/* After init: from here on times are numbers of events of a Poisson process of that rate. A time between two
 * of them is the mean of what it would be; distributions are mixtures of Erlang distributions, worked out in
 * the end.
 */
void bli_tally_count_events(struct tally *tally, double rate);

/* Jobs in the system. */
int64_t bli_tally_queue(const struct tally *tally);

/* Closes the current slice. probes is the fleet's meter. Returns false when there is no memory. */
bool bli_tally_close_slice(struct tally *tally, uint64_t probes);

/* Is a trial to end early: because the caller stops it, or because its observer has seen enough? For the end
 * of a slice, when all that was noted has been taken into the sums. */
bool bli_tally_is_enough(const struct tally *tally);

/* Ends a run that drains; now is not before the end of its slices. */
bool bli_tally_end(struct tally *tally, double now, uint64_t probes);

/* Watts times time that the fleet has spent, the warm-up included, from the start to a time at which or after
 * which nothing has happened yet. */
double bli_tally_energy(const struct tally *tally, uint32_t servers, double until);

/* Works out the metrics of a complete run. Stops with a message that names it if servers were not in exactly
 * one state at all times, which would be an internal error. */
void bli_tally_finish(struct tally *tally, uint32_t servers, struct bli_trial *trial);

ALWAYS_INLINE bool tally_done(const struct tally *tally) {
    return tally->slice == tally->slices + tally->drains;
}

ALWAYS_INLINE void level_up(struct level *levels, double since, uint32_t length) {
    struct level *level = &levels[length < LEVELS - 1 ? length : LEVELS - 1];
    level->count++;
    level->area -= since;
}

ALWAYS_INLINE void level_down(struct level *levels, double since, uint32_t length) {
    struct level *level = &levels[length < LEVELS - 1 ? length : LEVELS - 1];
    level->count--;
    level->area += since;
}

/* A server now has `length` jobs, one more than before. */
ALWAYS_INLINE void tally_up(struct tally *tally, double now, uint32_t length) {
    level_up(tally->level, now - tally->slice_start, length);
}

/* A server had `length` jobs and now has one less. */
ALWAYS_INLINE void tally_down(struct tally *tally, double now, uint32_t length) {
    level_down(tally->level, now - tally->slice_start, length);
}

/* The same for jobs of the high class, rank 0. For another rank nothing happens, but without a branch. */
ALWAYS_INLINE void tally_class_up(struct tally *tally, double now, uint32_t rank, uint32_t length) {
    level_up(tally->class_level[rank], now - tally->slice_start, length);
}

ALWAYS_INLINE void tally_class_down(struct tally *tally, double now, uint32_t rank, uint32_t length) {
    level_down(tally->class_level[rank], now - tally->slice_start, length);
}

/* A server enters or leaves one of the states without jobs. */
ALWAYS_INLINE void tally_power_up(struct tally *tally, double now, unsigned state) {
    tally->power[state].count++;
    tally->power[state].area -= now - tally->slice_start;
}

ALWAYS_INLINE void tally_power_down(struct tally *tally, double now, unsigned state) {
    tally->power[state].count--;
    tally->power[state].area += now - tally->slice_start;
}

ALWAYS_INLINE void tally_power_change(struct tally *tally, double now, unsigned from, unsigned to) {
    tally_power_down(tally, now, from);
    tally_power_up(tally, now, to);
}

/* A server begins or ends to work on a job; only where it can work on several. */
ALWAYS_INLINE void tally_work_up(struct tally *tally, double now) {
    tally->working.count++;
    tally->working.area -= now - tally->slice_start;
}

ALWAYS_INLINE void tally_work_down(struct tally *tally, double now) {
    tally->working.count--;
    tally->working.area += now - tally->slice_start;
}

/* A job has joined a server that now has `length` jobs; if it is alone it starts at once. */
ALWAYS_INLINE void tally_join(struct tally *tally, uint32_t length) {
    tally->all.immediate += length == 1;
}

/* Takes what is noted into the sums and histograms. */
void bli_channel_take(struct channel *channel, double per_unit);

/* A job starts service after waiting. When `real` is false nothing happens, but without a branch: whether a
 * queue is empty cannot be predicted. */
ALWAYS_INLINE void tally_start(const struct tally *tally, struct channel *channel, double waiting,
                               bool real) {
    channel->waitings.time[channel->waitings.count] = waiting;
    channel->waitings.count += real;
    if (__builtin_expect(channel->waitings.count == NOTES, 0))
        bli_channel_take(channel, tally->per_unit);
}

/* A job starts for the first time, by itself and, where there are classes, as one of its class. */
ALWAYS_INLINE void tally_first_start(struct tally *tally, bool classes, uint32_t rank, double waiting) {
    for (int class = 0; class < (classes ? 2 : 1); class ++) {
        struct channel *channel = class ? &tally->by_class[rank] : &tally->all;
        if (waiting > 0)
            tally_start(tally, channel, waiting, true);
        else
            channel->immediate++;
    }
}

ALWAYS_INLINE void tally_complete(const struct tally *tally, struct channel *channel, double response) {
    channel->responses.time[channel->responses.count++] = response;
    if (__builtin_expect(channel->responses.count == NOTES, 0))
        bli_channel_take(channel, tally->per_unit);
}

/* Slotted time: so many jobs complete, each after so many slots, of which the last is that of its service. */
ALWAYS_INLINE void tally_complete_slots(struct channel *channel, uint64_t response, uint64_t count) {
    channel->completed += count;
    channel->response += (double)(response * count);
    channel->waiting += (double)((response - 1) * count);
    bli_histogram_add_many(&channel->response_histogram, (double)response, count);
    if (response == 1)
        channel->immediate += count;
    else
        bli_histogram_add_many(&channel->waiting_histogram, (double)(response - 1), count);
}

#endif
