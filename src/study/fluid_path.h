/* SPDX-License-Identifier: BSD-2-Clause */
/* How queue lengths change from a starting state on: in the fluid model of a policy, and in one simulated
 * system for comparison. */
#ifndef STUDY_FLUID_PATH_H
#define STUDY_FLUID_PATH_H

#include "ballast/fluid_distance.h"
#include "ballast/predict.h"

/* The input. */
struct bli_fluid_path_question {
    const struct bli_model *model; /* of a simulated fleet; policies that switch servers off begin at its
                                    * start
                                    */
    const struct bal_policy_spec *policy;
    enum bli_rcpb_variant variant;
    const double *start; /* s_1, s_2, ... at time 0, for all other policies */
    size_t start_levels;
    double until;
    size_t points; /* times that are shown, 0 and `until` among them: from 2 */
    bool simulate;
    uint64_t seed;
    const volatile int *stop; /* as in struct bli_run */
};

/* Fractions of servers in a state of power, at all times. */
enum bli_fluid_path_power {
    BLI_FLUID_PATH_STANDBY,
    BLI_FLUID_PATH_SETUP,
    BLI_FLUID_PATH_OFF,
    BLI_FLUID_PATH_POWERS
};

struct bli_fluid_path_solution {
    size_t times; /* enough for a smooth drawing, ... */
    size_t every; /* ... of which every so many are shown */
    double *time;
    struct bli_theory_fluid known;
    struct bli_fluid_path fluid;
    struct bli_path simulated; /* its fractions are NULL: there is none */
    struct bli_distance apart; /* of the two */
    double *power[BLI_FLUID_PATH_POWERS], *simulated_power[BLI_FLUID_PATH_POWERS]; /* NULL: servers stay on */
    /* The limit of the fluid path; NULL: none */
    double *limit; /* s_1, s_2, ..., as many as matter */
    double limit_jobs;
};

/* The struct must stay where it is; ended with bli_fluid_path_solution_fini whatever this returns.
 * BAL_E_STOPPED when asked to stop. */
enum bal_code bli_fluid_path_solve(const struct bli_fluid_path_question *question,
                                   struct bli_fluid_path_solution *followed, struct bal_error *err);
void bli_fluid_path_solution_fini(struct bli_fluid_path_solution *followed);

/* A starting state by its name: empty, full (20 jobs at each server), or a file of numbers s_1 s_2 ... The
 * caller frees *start, which is NULL for empty. */
enum bal_code bli_fluid_path_start(const char *name, double **start, size_t *levels, struct bal_error *err);

#endif
