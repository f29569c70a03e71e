/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the cells of an experiment: the settings at each point, the seed, and the identity of a trial. */
#ifndef SPEC_PLAN_H
#define SPEC_PLAN_H

#include "ballast/experiment.h"
#include "base/arena.h"
#include "spec/setting.h"

/* What one field of an axis sets: a setting, or a parameter of policies. */
struct bli_swept {
    const struct bli_field *setting; /* NULL: a parameter */
    const char *policy;              /* of the policies of this name; NULL: of all that have it */
    const char *param;
};

struct bli_experiment_private {
    struct bli_arena arena;
    struct bli_draft base; /* without what the axes set */
    const unsigned *item;  /* of each policy: its place in the list of the file */
    struct bli_swept swept[BLI_AXES_MAX][BLI_AXIS_FIELDS_MAX];
    /* Of each policy at each point in turn: */
    enum bli_engine *engine; /* that was chosen for it when the file was read; auto: not yet */
    double *delay;           /* that was measured; 0: not yet. NULL: none is */
};

/* The parameter of the policy that this field of an axis sets, or NULL. */
const struct bal_param *bli_swept_param(const struct bli_swept *swept, const struct bal_policy *policy);

/* The model and run at a point, without a policy. */
void bli_plan_point(const struct bli_experiment *experiment, size_t point, struct bli_draft *draft);

/* At a point, of a policy on real processes, messages take so long each way, in seconds: its prediction is
 * simulated with that. Without effect where the experiment does not ask for it. */
void bli_experiment_set_delay(const struct bli_experiment *experiment, size_t point, size_t policy,
                              double delay);
/* Does it ask for it there? */
bool bli_experiment_measures_delay(const struct bli_experiment *experiment, size_t point);

/* Adds a policy to them. */
void bli_plan_policy(const struct bli_experiment *experiment, size_t point, size_t policy,
                     struct bli_draft *draft);

/* Everything that determines the trials of a cell except the replication, as text with one line for each
 * part; the caller frees it. NULL: not enough memory. */
char *bli_plan_identity(const struct bli_case *c);

/* Most replications that a cell with this draft may have. */
unsigned bli_plan_most(const struct bli_draft *draft);

#endif
