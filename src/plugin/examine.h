/* A small fleet on which a policy is examined. */
#ifndef PLUGIN_EXAMINE_H
#define PLUGIN_EXAMINE_H

#include "ballast/policy.h"

enum { EXAMINE_SERVERS = 12, EXAMINE_ROOM = 8, EXAMINE_GUARD = 64 };

struct examined {
    const struct bal_policy_spec *spec;
    struct bal_setting setting;
    struct bal_fleet fleet;
    struct bal_rng rng;
    unsigned char *state; /* EXAMINE_GUARD bytes before and behind it are not the policy's */
    size_t size;
    struct bal_set *open;
    uint32_t length[EXAMINE_SERVERS], urgent[EXAMINE_SERVERS], own[EXAMINE_SERVERS];
    double weight[EXAMINE_SERVERS];
    struct bal_share shares[EXAMINE_SERVERS];
    uint32_t ask[EXAMINE_ROOM];
};

/* All servers open and without jobs; the policy has been told nothing. */
enum bal_code bal_examined_init(struct examined *x, const struct bal_policy_spec *spec, uint64_t seed,
                                struct bal_error *err);
void bal_examined_fini(struct examined *x);
/* Has the policy written outside its block? */
bool bal_examined_is_guarded(const struct examined *x);

enum bal_code bal_examine_storm(const struct bal_policy_spec *spec, struct bal_error *err);
enum bal_code bal_examine_symmetry(const struct bal_policy_spec *spec, struct bal_error *err);

#endif
