/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies of the host. Each is a struct bal_policy like those of a file, whose functions pass the
 * question on. They do not get the policy that they belong to, so its place among those of the caller is the
 * default of its only parameter; it is kept in the state, together with what the caller calls this state. */
#include "question/caller_policy.h"

#include "policy/parse.h"

#include <stdlib.h>
#include <string.h>

struct state {
    uint32_t policy;
    uint64_t instance;
};

struct caller_policy {
    struct bal_policy policy;
    struct bal_param place;
};

static _Thread_local const struct bal_question_host *asker;
static _Thread_local struct caller_policy *policies;

static size_t state_size(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return sizeof(struct state);
}

static void init(void *state, const double *value, const struct bal_policy_context *context) {
    const uint32_t policy = (uint32_t)value[0];
    *(struct state *)state = (struct state){policy, asker->start(asker->context, policy, context->servers)};
}

static bool is_consistent(const void *state, const double *value, const struct bal_policy_context *context) {
    (void)context;
    return ((const struct state *)state)->policy == (uint32_t)value[0];
}

/* What the caller answers is checked, because a wrong server would be written to. */
static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    const struct state *state = block;
    if (bal_eligible_count(fleet) == 0)
        return bal_to(BAL_NONE);
    const uint32_t server =
        asker->route(asker->context, state->policy, state->instance, fleet, job->count, job->rank, rng);
    return bal_to(bal_is_eligible(fleet, server) ? server : bal_eligible_at(fleet, 0));
}

static struct bal_policy policy_of(const char *name, const struct bal_param *place) {
    return (struct bal_policy){.name = name,
                               .summary = "a policy of the calling program",
                               .paper = "none",
                               .cost = "as it probes",
                               .flags = BAL_NEEDS_WORK,
                               .params = place,
                               .param_count = 1,
                               .route = route,
                               .size = state_size,
                               .init = init,
                               .is_consistent = is_consistent};
}

bool bli_caller_policies_begin(const struct bal_question_host *caller, bool *begun) {
    uint32_t count = 0;
    while (caller->policies && caller->policies[count])
        count++;
    *begun = count > 0 && !asker;
    if (!*begun)
        return true;
    asker = caller;
    policies = calloc(count, sizeof *policies);
    bool added = policies != NULL;
    for (uint32_t i = 0; i < count && added; i++) {
        policies[i].place = (struct bal_param){.name = "place",
                                               .low = i,
                                               .high = i,
                                               .default_value = i,
                                               .whole = true,
                                               .help = "among those of the program"};
        policies[i].policy = policy_of(caller->policies[i], &policies[i].place);
        added = bli_policy_add(&policies[i].policy);
    }
    return added;
}

void bli_caller_policies_end(void) {
    bli_policy_remove_added();
    free(policies);
    policies = NULL;
    asker = NULL;
}

/* ---- what they may see ---- */

uint32_t bal_question_fleet_probe(struct bal_fleet *fleet, uint32_t server) {
    return bal_probe(fleet, server);
}

double bal_question_fleet_work(struct bal_fleet *fleet, uint32_t server) {
    bal_probe(fleet, server);
    return fleet->work(fleet, server);
}

double bal_question_fleet_weight(const struct bal_fleet *fleet, uint32_t server) {
    return bal_weight(fleet, server);
}

bool bal_question_fleet_is_open(const struct bal_fleet *fleet, uint32_t server) {
    return bal_is_eligible(fleet, server);
}

uint32_t bal_question_fleet_open(const struct bal_fleet *fleet, uint32_t *server) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < fleet->servers; i++)
        if (bal_is_eligible(fleet, i))
            server[count++] = i;
    return count;
}

uint64_t bal_question_random(struct bal_rng *rng) {
    return bal_rng_next(rng);
}
