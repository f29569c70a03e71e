/* SPDX-License-Identifier: BSD-2-Clause */
/* The weights of a fleet, as the lab hands them to policies: the speeds of its servers. */
#ifndef ENGINE_WEIGHTS_H
#define ENGINE_WEIGHTS_H

#include "ballast/model.h"
#include "ballast/policy.h"
#include "base/tournament.h"

struct weights {
    double *of; /* each server; NULL: all alike, or unknown */
    unsigned groups;
    double end[BLI_GROUPS_MAX];         /* weight of the groups up to this one */
    uint32_t first[BLI_GROUPS_MAX + 1]; /* server of each group */
};

enum bal_code bli_weights_init(struct weights *weights, const struct bli_model *model);
void bli_weights_fini(struct weights *weights);

/* A server, each with a probability in proportion to its weight. O(groups). Only where there are weights. */
uint32_t bli_weights_draw(const struct weights *weights, struct bal_rng *rng);

/* The servers by what a policy compares of its own counts and weights: it finds the best in O(log servers).
 */
struct ranking {
    struct bli_tournament *tree; /* NULL: there is none */
    enum bal_own_rule rule;
};

/* The fleet must stand. */
enum bal_code bli_ranking_init(struct ranking *ranking, const struct bal_fleet *fleet);
void bli_ranking_fini(struct ranking *ranking);
/* The server has another own count. */
void bli_ranking_change(struct ranking *ranking, const struct bal_fleet *fleet, uint32_t server);
/* A uniform one of the best, of all servers. A policy compares by one rule: O(servers) the first time. */
uint32_t bli_ranking_best(struct ranking *ranking, const struct bal_fleet *fleet, enum bal_own_rule rule,
                          struct bal_rng *rng);

#endif
