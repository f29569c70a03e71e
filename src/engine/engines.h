/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of engines. */
#ifndef ENGINE_ENGINES_H
#define ENGINE_ENGINES_H

#include "ballast/simulate.h"

/* The engine that has all that the model, the policy and the run (which may be NULL) ask for: the one that is
 * wanted, or the fastest. mostly_idle: there are so few jobs that an engine which draws every possible event
 * is slower. The error names what is asked for that cannot be had, and which engine could. */
enum bal_code bli_engines_choose(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_run *run, enum bli_engine wanted, bool mostly_idle,
                                 enum bli_engine *chosen, struct bal_error *err);

enum bal_code bli_engine_run(enum bli_engine engine, const struct bli_model *model,
                             const struct bal_policy_spec *policy, const struct bli_run *run,
                             struct bli_trial *trial, struct bal_error *err);

#endif
