/* SPDX-License-Identifier: BSD-2-Clause */
/* A small fleet on which a policy is examined. */
#ifndef PLUGIN_EXAMINE_H
#define PLUGIN_EXAMINE_H

#include "ballast/policy.h"

enum { EXAMINE_SERVERS = 12, EXAMINE_ROOM = 8, EXAMINE_GUARD = 64 };

struct examined {
    const struct bal_policy_spec *spec;
    struct bal_policy_context setting;
    struct bal_fleet fleet;
    struct bal_rng rng;
    unsigned char *state; /* EXAMINE_GUARD bytes in front of it and after it do not belong to the policy */
    size_t size;
    struct bal_set *eligible;
    uint32_t length[EXAMINE_SERVERS], urgent[EXAMINE_SERVERS], own[EXAMINE_SERVERS];
    double weight[EXAMINE_SERVERS];
    struct bal_share shares[EXAMINE_SERVERS];
    uint32_t ask[EXAMINE_ROOM];
};

/* All servers are open and without jobs; no event has been passed to the policy yet. */
enum bal_code bli_examined_init(struct examined *x, const struct bal_policy_spec *spec, uint64_t seed,
                                struct bal_error *err);
void bli_examined_fini(struct examined *x);
/* Has the policy written outside its block? */
bool bli_examined_is_guarded(const struct examined *x);

/* As bli_plugin_examine(), in so many seconds at most. */
enum bal_code bli_plugin_examine_within(const char *text, unsigned limit, struct bal_error *err);

enum bal_code bli_examine_storm(const struct bal_policy_spec *spec, struct bal_error *err);
enum bal_code bli_examine_symmetry(const struct bal_policy_spec *spec, struct bal_error *err);

#endif
