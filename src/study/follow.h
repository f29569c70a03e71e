/* How queues move from a starting state on: in the fluid model of a policy, and in one simulated system
 * beside it. */
#ifndef STUDY_FOLLOW_H
#define STUDY_FOLLOW_H

#include "ballast/known.h"
#include "ballast/paths.h"

/* What is asked. */
struct bal_follow {
    const struct bal_model *model; /* of a simulated fleet; policies that switch servers off begin at its
                                    * start
                                    */
    const struct bal_policy_spec *policy;
    enum bal_rcpb_variant variant;
    const double *start; /* s_1, s_2, ... at time 0, for all other policies */
    size_t start_levels;
    double until;
    size_t points; /* times that are shown, 0 and `until` among them: from 2 */
    bool simulate;
    uint64_t seed;
    const volatile int *stop; /* as in struct bal_run */
};

/* Fractions of servers in a state of power, at all times. */
enum bal_follow_power { BAL_FOLLOW_STANDBY, BAL_FOLLOW_SETUP, BAL_FOLLOW_OFF, BAL_FOLLOW_POWERS };

struct bal_followed {
    size_t times; /* enough for a smooth drawing, ... */
    size_t every; /* ... of which every so many are shown */
    double *time;
    struct bal_known_fluid known;
    struct bal_fluid_path fluid;
    struct bal_path simulated; /* its fractions are NULL: there is none */
    struct bal_distance apart; /* of the two */
    double *power[BAL_FOLLOW_POWERS], *simulated_power[BAL_FOLLOW_POWERS]; /* NULL: servers stay on */
    /* What the fluid path tends to; NULL: nothing */
    double *limit; /* s_1, s_2, ..., as many as matter */
    double limit_jobs;
};

/* The struct must stay where it is; ended with bal_followed_fini whatever this returns. BAL_E_STOPPED when
 * told to stop. */
enum bal_code bal_follow(const struct bal_follow *question, struct bal_followed *followed,
                         struct bal_error *err);
void bal_followed_fini(struct bal_followed *followed);

/* A starting state by its name: empty, full (20 jobs at each server), or a file of numbers s_1 s_2 ... The
 * caller frees *start, which is NULL for empty. */
enum bal_code bal_follow_start(const char *name, double **start, size_t *levels, struct bal_error *err);

#endif
