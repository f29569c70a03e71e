/* SPDX-License-Identifier: BSD-2-Clause */
/* The weights of a fleet: draws a server in proportion to its weight, and ranks servers by own count and
 * weight. */
#include "engine/weights.h"

#include <stdlib.h>

enum bal_code bli_weights_init(struct weights *weights, const struct bli_model *model) {
    const struct bli_servers *servers = &model->servers;
    weights->of = malloc(bli_servers_count(servers) * sizeof *weights->of);
    if (!weights->of)
        return BAL_E_MEMORY;
    weights->groups = servers->groups;
    uint32_t server = 0;
    for (unsigned g = 0; g < servers->groups; g++) {
        for (uint32_t i = 0; i < servers->group[g].count; i++)
            weights->of[server++] = servers->group[g].speed;
        weights->first[g + 1] = server;
        weights->end[g] =
            (g > 0 ? weights->end[g - 1] : 0) + servers->group[g].count * servers->group[g].speed;
    }
    return BAL_OK;
}

void bli_weights_fini(struct weights *weights) {
    free(weights->of);
    weights->of = NULL;
}

uint32_t bli_weights_draw(const struct weights *weights, struct bal_rng *rng) {
    const double at = bal_rng_uniform(rng) * weights->end[weights->groups - 1];
    unsigned g = 0;
    while (g + 1 < weights->groups && at >= weights->end[g])
        g++;
    return weights->first[g] + bal_rng_below(rng, weights->first[g + 1] - weights->first[g]);
}

/* ---- by own count and weight ---- */

void bli_ranking_change(struct ranking *ranking, const struct bal_fleet *fleet, uint32_t server) {
    bli_tournament_set(ranking->tree, server, bal_own_key(fleet, server, ranking->rule, 0));
}

static void rank_all(struct ranking *ranking, const struct bal_fleet *fleet, enum bal_own_rule rule) {
    ranking->rule = rule;
    for (uint32_t server = 0; server < fleet->servers; server++)
        bli_ranking_change(ranking, fleet, server);
}

enum bal_code bli_ranking_init(struct ranking *ranking, const struct bal_fleet *fleet) {
    ranking->tree = malloc(bli_tournament_size(fleet->servers));
    if (!ranking->tree)
        return BAL_E_MEMORY;
    bli_tournament_init(ranking->tree, fleet->servers, 0);
    rank_all(ranking, fleet, BAL_OWN_FEWEST);
    return BAL_OK;
}

void bli_ranking_fini(struct ranking *ranking) {
    free(ranking->tree);
    ranking->tree = NULL;
}

uint32_t bli_ranking_best(struct ranking *ranking, const struct bal_fleet *fleet, enum bal_own_rule rule,
                          struct bal_rng *rng) {
    if (rule != ranking->rule)
        rank_all(ranking, fleet, rule);
    return bli_tournament_draw(ranking->tree, rng);
}
