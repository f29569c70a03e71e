/* SPDX-License-Identifier: BSD-2-Clause */
/* Another policy for a dispatcher that runs.
 *
 * The block has room for the state of any policy, and everything else in it is as large under each. The text
 * of the new policy is written to the side that is not in use, and its number counts then: from that store on
 * each process, at its next operation, reads the text and looks at the block as the new policy wants it. One
 * that dies in the middle leaves an unfinished operation, and the worker that repairs it begins the state of
 * a policy whose number is not that of the state. */
#include "live/dispatcher_private.h"

#include <math.h>
#include <string.h>

uint32_t bli_dispatcher_probe_room(const struct bal_policy_spec *policy,
                                   const struct bal_dispatcher_config *config) {
    const bool all = bal_policy_flags(policy) & (BAL_NEEDS_INDEX | BAL_ASKS_ALL) ||
                     config->servers < ASKED_MAX || (config->policy_room && !config->stations);
    return all ? config->servers : ASKED_MAX;
}

size_t bal_dispatcher_policy_room(const struct bal_dispatcher_config *config) {
    const struct bal_policy_context setting = {.servers = config->servers,
                                               .load = config->stations ? NAN : 0.5};
    const struct bal_policy *policy;
    size_t room = 0;
    for (size_t i = 0; (policy = bal_policy_at(i)); i++) {
        struct bal_policy_spec spec;
        const size_t size =
            bal_policy_parse(policy->name, &spec, NULL) ? 0 : bal_policy_size(&spec, &setting);
        room = size > room ? size : room;
    }
    return room;
}

/* What a host does for these cannot begin, or end, at any time. */
static bool is_bound(const struct bal_policy_spec *policy) {
    return policy->policy->power || policy->policy->wants & BAL_WANTS_POWER ||
           bal_policy_flags(policy) & BAL_MOVES_JOBS;
}

enum bal_code bal_dispatcher_check_policy(const struct bal_policy_spec *created,
                                          const struct bal_dispatcher_config *config,
                                          const struct bal_policy_spec *policy, struct bal_error *err) {
    const struct bal_policy_context setting = {.servers = config->servers,
                                               .load = config->stations ? NAN : 0.5};
    char text[POLICY_TEXT], created_text[POLICY_TEXT];
    const enum bal_code code = bal_dispatcher_check(policy, config, err);
    if (code)
        return code;
    if (bal_policy_print(policy, text, sizeof text) >= sizeof text)
        return bal_fail(err, BAL_E_RANGE, "the policy's text is too long");
    bal_policy_print(created, created_text, sizeof created_text);
    if (strcmp(text, created_text) == 0)
        return BAL_OK;
    if (!config->policy_room)
        return bal_fail(err, BAL_E_MODEL, "there is no room for another policy");
    if (is_bound(policy) || is_bound(created))
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' switches servers off or moves requests, which cannot begin or end while "
                        "requests are under way",
                        is_bound(policy) ? text : created_text);
    if (bal_policy_size(policy, &setting) > config->policy_room ||
        bli_dispatcher_probe_room(policy, config) > bli_dispatcher_probe_room(created, config))
        return bal_fail(err, BAL_E_RANGE, "policy '%s' needs more room than policy '%s' left", text,
                        created_text);
    return BAL_OK;
}

/* All processes have the same table of policies, and the text was read by one of them when it was set. */
void bli_dispatcher_adopt_policy(struct bal_dispatcher *d) {
    const char *text = d->block->policy[d->block->policies % 2];
    char created[POLICY_TEXT];
    bal_policy_print(&d->created, created, sizeof created);
    d->policy = d->created; /* it may be from a file, which another process may not know by its name */
    if (strcmp(text, created) != 0)
        (void)bal_policy_parse(text, &d->policy, NULL);
    d->policies = d->block->policies;
    bli_dispatcher_lay_out(d);
    bli_dispatcher_init_fleet_view(d);
    refresh_fleet_view(d);
}

static void switch_policy(struct bal_dispatcher *d, const char *text) {
    struct block *block = d->block;
    const uint32_t next = block->policies + 1;
    memset(block->policy[next % 2], 0, sizeof block->policy[0]);
    memcpy(block->policy[next % 2], text, strlen(text));
    __atomic_store_n(&block->policies, next, __ATOMIC_RELEASE);
    bli_dispatcher_adopt_policy(d);
    block->report_at = block->now;
    bli_dispatcher_rebuild(d);
    bli_dispatcher_dispatch_held(d);
}

enum bal_code bal_dispatcher_set_policy(struct bal_dispatcher *d, uint64_t now,
                                        const struct bal_policy_spec *policy, struct bal_error *err) {
    char text[POLICY_TEXT];
    dispatcher_begin(d, now);
    const enum bal_code code = bal_dispatcher_check_policy(&d->created, &d->block->config, policy, err);
    if (!code) {
        bal_policy_print(policy, text, sizeof text);
        if (strcmp(text, d->block->policy[d->block->policies % 2]) != 0)
            switch_policy(d, text);
    }
    dispatcher_end(d);
    return code;
}
