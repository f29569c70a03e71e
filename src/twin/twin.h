/* SPDX-License-Identifier: BSD-2-Clause */
/* The twin of a live fleet: the requests of its last minutes, replayed under other policies, with fewer
 * servers, with more traffic; and under its present policy, to compare with what was measured.
 *
 * A round looks at the window once (bli_twin_analyse); then questions are answered one by one
 * (bli_twin_evaluate), each a replay of the same requests, so that the caller can pause between them. */
#ifndef TWIN_TWIN_H
#define TWIN_TWIN_H

#include "ballast/recover.h"
#include "ballast/replay.h"
#include "ballast/speeds_fit.h"
#include "twin/recent_requests.h"

enum { BLI_TWIN_ROWS = 80, BLI_TWIN_TEXT = 240, BLI_TWIN_NOTES = 8 };

struct bli_twin_options {
    struct bli_model model; /* the fleet: servers and slots where given, dispatchers, delays, discipline */
    bool servers_given, slots_given;
    bool find_speeds; /* by the number in service, in the window; without it they are those of the model */
    bool has_now;     /* is it known which policy the fleet has? */
    struct bal_policy_spec now;
    const struct bal_policy_spec *policy; /* others that are asked about; they must outlive the twin */
    size_t policies;
    uint32_t fewer;           /* so many servers fewer; 0: not asked */
    unsigned traffic;         /* so many times the traffic; 0 or 1: not asked */
    double window;            /* seconds */
    double step, length_step; /* seconds: the resolution of times, and of lengths of time */
    uint32_t told_slots;      /* that the log states; 0: it does not */
    bool service;             /* times are service alone */
    bool keep_waiting;
    bool ranked;   /* requests carry their class: there are classes if some are high */
    bool stations; /* servers have stations in front of them, which let the high class go first */
    uint64_t seed;
    const volatile int *stop;
};

/* What is asked. */
enum bli_twin_what { BLI_TWIN_NOW, BLI_TWIN_POLICY, BLI_TWIN_FEWER, BLI_TWIN_TRAFFIC };

struct bli_twin_row {
    enum bli_twin_what what;
    char text[BLI_TWIN_TEXT]; /* "with pi", "with 2 servers fewer (jiq)", "with twice the traffic (jiq)" */
    struct bal_policy_spec policy;
    bool answered; /* the fields that follow are set */
    int64_t at;    /* of which view it is: its end */
    double load;   /* of the fleet */
    double on;     /* servers that are on or in set-up, on average; NaN: the policy switches none off */
    double time[BLI_REPLAY_TIMES];
    struct bli_confidence_range log[BLI_REPLAY_TIMES];         /* in other windows like this one */
    double jobs[BLI_REPLAY_SPANS], response[BLI_REPLAY_SPANS]; /* part by part: how many came, and their mean
                                                                */
    double messages;                                           /* for a request */
    double high[2]; /* response times of the high class: mean and p99; NaN: there are no classes */
    bool grows;     /* queues grew until the end: the numbers depend on how long the window is */
    double cost;    /* seconds of processor time that the answer took */
    char failed[BLI_TWIN_TEXT]; /* why it has no answer; "": it has one, or was not evaluated yet */
};

enum bli_twin_state {
    BLI_TWIN_WAITING, /* no request has been seen yet */
    BLI_TWIN_SILENT,  /* none in the window */
    BLI_TWIN_FEW,     /* too few for anything */
    BLI_TWIN_READY,
};

struct bli_twin {
    struct bli_twin_options options;
    struct bli_recent_requests window;
    uint32_t away; /* servers that get no requests at present */
    size_t rows;
    struct bli_twin_row row[BLI_TWIN_ROWS];

    /* of the last look */
    enum bli_twin_state state;
    struct bli_view view;
    struct bli_recovery recovery;
    struct bli_speeds_recovery speeds; /* where they are given, or to be found */
    struct bli_demand demand;
    struct bli_replay replay; /* with the fleet */
    struct bli_trace *trace;  /* service times */
    struct bli_interval_sums *measured;
    struct bli_measured_times times;             /* that were measured */
    struct bli_histogram urgent;                 /* those of the high class, in mean sizes */
    double high[2];                              /* their mean and p99; NaN: there are no classes */
    bool compared;                               /* is what follows known? */
    struct bli_estimate apart[BLI_REPLAY_TIMES]; /* what was measured less what is predicted for now */
    bool parted;
    double gap;                  /* the longest time without an arrival, in seconds */
    char why[3 * BLI_TWIN_TEXT]; /* why they differ; "": they do not */
    size_t notes;
    char note[BLI_TWIN_NOTES][BLI_TWIN_TEXT]; /* what cannot be known, or is missing */
};

/* Ended with bli_twin_free. */
enum bal_code bli_twin_new(const struct bli_twin_options *options, size_t keep, struct bli_twin **twin,
                           struct bal_error *err);
void bli_twin_free(struct bli_twin *twin); /* NULL is allowed */

/* What a fleet reports about itself. */
struct bli_twin_fleet {
    struct bal_policy_spec now;
    uint32_t slots, servers; /* 0: as before */
    uint32_t away;           /* of these, that get no requests: answers are for the others */
    bool stations;
};

/* Removes requests that were served under another policy, and the answers. */
void bli_twin_change(struct bli_twin *twin, const struct bli_twin_fleet *fleet);

/* Looks at the window as it is at `now`, nanoseconds in the clock of the requests. Errors are those of the
 * options: no fleet is known, a policy does not fit it. */
enum bal_code bli_twin_analyse(struct bli_twin *twin, int64_t now, struct bal_error *err);

/* Answers one question by what was last looked at, which must be BLI_TWIN_READY. Row 0 goes first: the others
 * are compared with it. A policy that does not fit is not an error; its row has `failed` set. */
enum bal_code bli_twin_evaluate(struct bli_twin *twin, size_t row, struct bal_error *err);

/* Do prediction and measurement differ? Call it after row 0 has been evaluated; with the other rows it can
 * say more about the reason. */
void bli_twin_judge(struct bli_twin *twin);

/* By how much the mean of one row is above that of another, with the 95 % interval: of the same requests, if
 * both are of the same view, so that what they share cancels. NaN where the traffic is not the same. */
struct bli_estimate bli_twin_above(const struct bli_twin_row *row, const struct bli_twin_row *other);

/* Half the width of an interval, as printed behind ±: the longer side of it. */
double bli_twin_error(double value, struct bli_confidence_range range);

#endif
