/* SPDX-License-Identifier: BSD-2-Clause */
/* Tuning of autoscaling: how long should an idle server stay on?
 *
 * A longer standby wastes energy, a shorter one makes jobs wait for set-ups. Tuning runs tabs at many standby
 * times and finds which of them are worth considering: the frontier, on which no other has both less delay
 * and less power, and its knee, from where on a gain in one costs much of the other. For comparison it also
 * runs servers that are always on (jiq) and one common queue with the same standby and set-up times
 * (delayed-off). */
#ifndef BALLAST_TUNE_H
#define BALLAST_TUNE_H

#include "ballast/lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is asked. The model's standby and start are ignored: servers start in the limit of many servers, a
 * fraction equal to the load with one job each and the others off. Its distribution of the set-up time must
 * be given. A run is at least 20 standby times long; where the warm-up is left open (NaN) it is a quarter. */
struct bli_tuning {
    struct bli_model model;
    struct bli_run run;
    unsigned replications;
    double precision;         /* as in struct bli_case */
    bool open;                /* runs that are doubted as settling are made longer, each as it needs */
    double shortest, longest; /* standby times, above 0, in the unit of the model */
    unsigned points;          /* from 2, spaced evenly on a logarithmic scale */
};

struct bli_tune_point {
    double standby; /* mean */
    struct bli_result tabs, pooled;
    bool frontier; /* no other point of tabs waits less and draws less; never where it is doubted */
};

struct bli_tuned {
    struct bli_tune_point *point; /* by standby time */
    unsigned points;
    struct bli_result always_on;
    unsigned knee; /* a point of the frontier; `points` when there is none: fewer than three on it, or a doubt
                    * in one of the points, which could be it */
    bool doubted;  /* there is such a doubt */
};

/* Runs all of it. On success the caller ends with bli_tuned_fini. BAL_E_STOPPED leaves results of what was
 * complete, to be ended too; other failures leave nothing. */
enum bal_code bli_tune(const struct bli_tuning *tuning, const struct bli_lab_options *options,
                       struct bli_tuned *tuned, struct bal_error *err);
void bli_tuned_fini(struct bli_tuned *tuned);

/* Suggested settings for the keepers of such a fleet (docs/keeper.md). Times are in the unit of the model. */
struct bli_tune_proposal {
    double standby; /* mean, exponential: that of the knee; NaN when there is none */
    double on;      /* least time on: an idle server draws as much in it as a set-up does */
    /* So that fewer than `least` servers are busy for a hundredth of the time at most, and more than `most`
     * for a thousandth, if jobs come by a Poisson process and none waits (M/G/infinity); at the lowest and
     * the highest load of the curve, and at most all. */
    uint32_t least, most;
};
struct bli_tune_proposal bli_tune_propose(const struct bli_tuning *tuning, const struct bli_tuned *tuned);

/* Marks the points that no other betters in both coordinates (smaller is better; equal points are all
 * marked). A NaN is never on it. O(n^2). */
void bli_frontier_mark(const double *x, const double *y, size_t n, bool *on);

/* The point of the frontier that is farthest from the line through its two ends, after both coordinates are
 * scaled so that the ends are (0, 1) and (1, 0); n when fewer than three points are marked or none lies below
 * that line. */
size_t bli_frontier_knee(const double *x, const double *y, size_t n, const bool *on);

#ifdef __cplusplus
}
#endif
#endif
