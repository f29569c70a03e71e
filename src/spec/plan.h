/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the cells of an experiment: the settings at each point, the seed, and the identity of a trial. */
#ifndef SPEC_PLAN_H
#define SPEC_PLAN_H

#include "ballast/experiment.h"
#include "base/arena.h"
#include "spec/setting.h"

/* What one field of an axis sets: a setting, or a parameter of policies. */
struct bal_swept {
    const struct bal_field *setting; /* NULL: a parameter */
    const char *policy;              /* of the policies of this name; NULL: of all that have it */
    const char *param;
};

struct bal_experiment_private {
    struct bal_arena arena;
    struct bal_draft base; /* without what the axes set */
    const unsigned *item;  /* of each policy: its place in the list of the file */
    struct bal_swept swept[BAL_AXES_MAX][BAL_AXIS_FIELDS_MAX];
    double *delay; /* that was measured, of each policy at each point in turn; 0: not yet. NULL: none is */
};

/* The parameter of the policy that this field of an axis sets, or NULL. */
const struct bal_param *bal_swept_param(const struct bal_swept *swept, const struct bal_policy *policy);

/* The model and run at a point, without a policy. */
void bal_plan_point(const struct bal_experiment *experiment, size_t point, struct bal_draft *draft);

/* At a point, of a policy on real processes, messages take so long each way, in seconds: its prediction is
 * simulated with that. Without effect where the experiment does not ask for it. */
void bal_experiment_set_delay(const struct bal_experiment *experiment, size_t point, size_t policy,
                              double delay);
/* Does it ask for it there? */
bool bal_experiment_measures_delay(const struct bal_experiment *experiment, size_t point);

/* Adds a policy to them. */
void bal_plan_policy(const struct bal_experiment *experiment, size_t point, size_t policy,
                     struct bal_draft *draft);

/* Everything that determines the trials of a cell except the replication, as text with one line for each
 * part; the caller frees it. NULL: not enough memory. */
char *bal_plan_identity(const struct bal_case *c);

/* Most replications that the cell may have. */
unsigned bal_plan_most(const struct bal_experiment *experiment, size_t point);

#endif
