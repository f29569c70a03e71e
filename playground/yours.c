/* SPDX-License-Identifier: BSD-2-Clause */
/* A policy that the page defines in JavaScript. Like any other policy it looks at servers through the
 * functions below, which count messages. */
#include "host.h"

#include "plugin/loader.h"

#include <string.h>

static struct bal_fleet *fleet_now;
static struct bal_rng *rng_now;

uint32_t play_yours_queue(uint32_t server) {
    return bal_probe(fleet_now, server);
}

uint32_t play_yours_own(uint32_t server) {
    return bal_own(fleet_now, server);
}

double play_yours_weight(uint32_t server) {
    return fleet_now->weight ? fleet_now->weight[server] : 1;
}

double play_yours_random(void) {
    return bal_rng_uniform(rng_now);
}

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)state;
    fleet_now = fleet;
    rng_now = rng;
    return bal_to(page_route(fleet->servers, job->rank));
}

const struct bal_policy play_yours = {
    .name = "yours",
    .summary = "the function route of the page",
    .paper = "you",
    .cost = "what it asks",
    .flags = BAL_NEEDS_OWN,
    .route = route,
};

/* Policies from files are called by their path; the one of the page by ./yours. */
bool bli_plugin_is_path(const char *text) {
    return strcmp(text, "./yours") == 0;
}

enum bal_code bli_plugin_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err) {
    (void)text, (void)err;
    *spec = (struct bal_policy_spec){.policy = &play_yours};
    return BAL_OK;
}
