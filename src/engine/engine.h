/* SPDX-License-Identifier: BSD-2-Clause */
/* The engines: who advances time. Each runs one trial of a model that fits it. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "ballast/simulate.h"

/* Exponential sizes. */
enum bal_code bal_engine_markov(const struct bal_model *model, const struct bal_policy_spec *policy,
                                const struct bal_run *run, struct bal_trial *trial, struct bal_error *err);

/* Any sizes. */
enum bal_code bal_engine_event(const struct bal_model *model, const struct bal_policy_spec *policy,
                               const struct bal_run *run, struct bal_trial *trial, struct bal_error *err);

/* Several dispatchers, messages that take time, servers that come and go. */
enum bal_code bal_engine_network(const struct bal_model *model, const struct bal_policy_spec *policy,
                                 const struct bal_run *run, struct bal_trial *trial, struct bal_error *err);

/* Slotted time: batches and random capacities. */
enum bal_code bal_engine_slotted(const struct bal_model *model, const struct bal_policy_spec *policy,
                                 const struct bal_run *run, struct bal_trial *trial, struct bal_error *err);

/* One common queue before all servers: BAL_SCHEME_POOLED. */
enum bal_code bal_engine_pooled(const struct bal_model *model, const struct bal_policy_spec *policy,
                                const struct bal_run *run, struct bal_trial *trial, struct bal_error *err);

/* Slotted time: jobs made at the servers, which steal from each other: BAL_SCHEME_GENERATED. */
enum bal_code bal_engine_stealing(const struct bal_model *model, const struct bal_policy_spec *policy,
                                  const struct bal_run *run, struct bal_trial *trial, struct bal_error *err);

#endif
