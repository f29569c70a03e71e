/* SPDX-License-Identifier: BSD-2-Clause */
/* Your own policy as a plugin: a file that is built with these headers alone and loaded by the program, by
 * nginx or by libballast.
 *
 *     #include <ballast/plugin.h>
 *     static struct bal_decision route(void *state, struct bal_fleet *fleet, ...) { ... }
 *     static const struct bal_policy mine = {.name = "mine", ..., .route = route};
 *     BAL_PLUGIN(mine);
 *
 *     cc -shared -fPIC mine.c -o mine.so
 *     ballast policies --check ./mine.so
 *     ballast compare --policy ./mine.so
 *     policies: [./mine.so, random]           in an experiment file
 *
 * docs/plugins.md takes ten minutes. */
#ifndef BALLAST_PLUGIN_H
#define BALLAST_PLUGIN_H

#include "ballast/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever plugins that were built earlier are no longer compatible. */
#define BAL_PLUGIN_CONTRACT 1

/* What such a file exports, under the name bal_plugin. */
struct bal_plugin {
    uint32_t contract;
    uint32_t policy_size, fleet_size; /* of the structures that it was built with */
    const struct bal_policy *policy;
};

extern const struct bal_plugin bal_plugin;

#define BAL_PLUGIN(its_policy)                                                                               \
    const struct bal_plugin bal_plugin = {BAL_PLUGIN_CONTRACT, sizeof(struct bal_policy),                    \
                                          sizeof(struct bal_fleet), &(its_policy)}

#ifdef __cplusplus
}
#endif
#endif
