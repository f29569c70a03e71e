/* SPDX-License-Identifier: BSD-2-Clause */
/* The engines: who advances time. Each runs one trial of a model that fits it. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "ballast/simulate.h"

/* Exponential sizes. */
enum bal_code bli_engine_markov(const struct bli_model *model, const struct bal_policy_spec *policy,
                                const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);

/* Any sizes. */
enum bal_code bli_engine_event(const struct bli_model *model, const struct bal_policy_spec *policy,
                               const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);

/* Several dispatchers, messages that take time, servers that come and go. */
enum bal_code bli_engine_network(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);

/* The same with the code of live fleets: dispatchers and stations of the live core. */
enum bal_code bli_engine_core(const struct bli_model *model, const struct bal_policy_spec *policy,
                              const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);
/* Can it? Beyond what the table of engines knows. */
enum bal_code bli_core_check(const struct bli_model *model, const struct bal_policy_spec *policy,
                             struct bal_error *err);

/* Slotted time: batches and random capacities. */
enum bal_code bli_engine_slotted(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);

/* One common queue before all servers: BLI_SCHEME_POOLED. */
enum bal_code bli_engine_pooled(const struct bli_model *model, const struct bal_policy_spec *policy,
                                const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);

/* Slotted time: jobs made at the servers, which steal from each other: BLI_SCHEME_GENERATED. */
enum bal_code bli_engine_stealing(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);

#endif
