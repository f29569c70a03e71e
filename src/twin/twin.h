/* The twin of a live fleet: the requests of its last minutes, replayed under other policies, with fewer
 * servers, with more traffic; and under the policy that it has, beside what was measured.
 *
 * A round looks at the window once (bal_twin_look); then questions are answered one by one (bal_twin_ask),
 * each a replay of the same requests, so that the caller can rest between them. */
#ifndef TWIN_TWIN_H
#define TWIN_TWIN_H

#include "ballast/recover.h"
#include "ballast/replay.h"
#include "twin/window.h"

enum { BAL_TWIN_ROWS = 80, BAL_TWIN_TEXT = 240, BAL_TWIN_NOTES = 8 };

struct bal_twin_options {
    struct bal_model model; /* the fleet: servers and slots where given, dispatchers, delays, discipline */
    bool servers_given, slots_given;
    bool has_now; /* is it known which policy the fleet has? */
    struct bal_policy_spec now;
    const struct bal_policy_spec *policy; /* others that are asked about; they must outlive the twin */
    size_t policies;
    uint32_t fewer;   /* so many servers fewer; 0: not asked */
    unsigned traffic; /* so many times the traffic; 0 or 1: not asked */
    double window;    /* seconds */
    double step;      /* seconds: how finely times are told */
    bool service;     /* times are service alone */
    bool keep_waiting;
    bool ranked;   /* requests say themselves whether they are high: there are classes where some do */
    bool stations; /* servers have stations before them, which let the high class go first */
    uint64_t seed;
    const volatile int *stop;
};

/* What is asked. */
enum bal_twin_what { BAL_TWIN_NOW, BAL_TWIN_POLICY, BAL_TWIN_FEWER, BAL_TWIN_TRAFFIC };

struct bal_twin_row {
    enum bal_twin_what what;
    char text[BAL_TWIN_TEXT]; /* "with pi", "with 2 servers fewer (jiq)", "with twice the traffic (jiq)" */
    struct bal_policy_spec policy;
    bool answered; /* what follows is known */
    int64_t at;    /* of which view it is: its end */
    double load;   /* of the fleet */
    double time[BAL_REPLAY_TIMES];
    struct bal_range log[BAL_REPLAY_TIMES];                    /* in other windows like this one */
    double jobs[BAL_REPLAY_SPANS], response[BAL_REPLAY_SPANS]; /* part by part: how many came, and their mean
                                                                */
    double messages;                                           /* for a request */
    double high[2]; /* response times of the high class: mean and p99; NaN: there are no classes */
    bool grows;     /* queues grew until the end: the numbers depend on how long the window is */
    double cost;    /* seconds of processor time that the answer took */
    char failed[BAL_TWIN_TEXT]; /* why it has no answer; "": it has, or was not asked yet */
};

enum bal_twin_state {
    BAL_TWIN_WAITING, /* no request has been seen yet */
    BAL_TWIN_SILENT,  /* none in the window */
    BAL_TWIN_FEW,     /* too few for anything */
    BAL_TWIN_READY,
};

struct bal_twin {
    struct bal_twin_options options;
    struct bal_window window;
    uint32_t away; /* servers that get no requests at present */
    size_t rows;
    struct bal_twin_row row[BAL_TWIN_ROWS];

    /* of the last look */
    enum bal_twin_state state;
    struct bal_view view;
    struct bal_recovery recovery;
    struct bal_demand demand;
    struct bal_replay replay; /* with the fleet */
    struct bal_trace *trace;  /* service times */
    struct bal_measured *measured;
    struct bal_measured_times times;             /* that were measured */
    struct bal_histogram urgent;                 /* those of the high class, in mean sizes */
    double high[2];                              /* their mean and p99; NaN: there are no classes */
    bool compared;                               /* is what follows known? */
    struct bal_estimate apart[BAL_REPLAY_TIMES]; /* what was measured less what is predicted for now */
    bool parted;
    double gap;                  /* the longest time without an arrival, in seconds */
    char why[3 * BAL_TWIN_TEXT]; /* they parted; "": they did not */
    size_t notes;
    char note[BAL_TWIN_NOTES][BAL_TWIN_TEXT]; /* what cannot be known, or is missing */
};

/* Ended with bal_twin_free. */
enum bal_code bal_twin_new(const struct bal_twin_options *options, size_t keep, struct bal_twin **twin,
                           struct bal_error *err);
void bal_twin_free(struct bal_twin *twin); /* NULL is allowed */

/* What a fleet tells of itself. */
struct bal_twin_fleet {
    struct bal_policy_spec now;
    uint32_t slots, servers; /* 0: as before */
    uint32_t away;           /* of these, that get no requests: answers are for the others */
    bool stations;
};

/* Requests that it had under another policy are forgotten, and so are the answers. */
void bal_twin_change(struct bal_twin *twin, const struct bal_twin_fleet *fleet);

/* Looks at the window as it is at `now`, nanoseconds in the clock of the requests. Errors are those of the
 * options: no fleet is known, a policy does not fit it. */
enum bal_code bal_twin_look(struct bal_twin *twin, int64_t now, struct bal_error *err);

/* Answers one question by what was last looked at, which must be BAL_TWIN_READY. Row 0 goes first: the others
 * are compared with it. A policy that does not fit is no error but has `failed`. */
enum bal_code bal_twin_ask(struct bal_twin *twin, size_t row, struct bal_error *err);

/* Have prediction and measurement parted? After row 0 has been asked; what the others say tells more of why.
 */
void bal_twin_judge(struct bal_twin *twin);

/* By how much the mean of one row is above that of another, with the 95 % interval: of the same requests,
 * where both are of the same view, so that what the requests have in common does not count. NaN where the
 * traffic is not the same. */
struct bal_estimate bal_twin_above(const struct bal_twin_row *row, const struct bal_twin_row *other);

/* Half the width of an interval, as printed behind ±: the longer side of it. */
double bal_twin_error(double value, struct bal_range range);

#endif
