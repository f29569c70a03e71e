/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of changes: finding, putting, removing, applying. */
#include "control/changes.h"

#include "base/utf8.h"

#include <string.h>

static const struct bli_change nothing = {
    .weight = BLI_AS_CONFIGURED, .max_conns = BLI_AS_CONFIGURED, .slots = BLI_AS_CONFIGURED};

bool bli_change_init(struct bli_change *change, const char *upstream, const char *server) {
    *change = nothing;
    if (strlen(upstream) >= sizeof change->upstream || strlen(server) >= sizeof change->server)
        return false;
    memcpy(change->upstream, upstream, strlen(upstream));
    memcpy(change->server, server, strlen(server));
    return true;
}

bool bli_change_keeps_name(const char *name) {
    bool kept = *name != '\0';
    while (kept && *name) {
        const unsigned c = bli_utf8_decode(&name, &kept);
        kept &= c > ' ' && c != 0x7f;
    }
    return kept;
}

/* server: NULL stands in front of all servers of the upstream. */
static int compare(const struct bli_change *change, const char *upstream, const char *server) {
    const int order = strcmp(change->upstream, upstream);
    if (order)
        return order;
    return server ? strcmp(change->server, server) : 1;
}

/* Where it is, or would be. */
static uint32_t find_place(const struct bli_changes *changes, const char *upstream, const char *server) {
    uint32_t low = 0, high = changes->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare(&changes->change[middle], upstream, server) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct bli_change *bli_changes_find(const struct bli_changes *changes, const char *upstream,
                                          const char *server) {
    const struct bli_change *change = &changes->change[find_place(changes, upstream, server)];
    const bool within = change < changes->change + changes->count;
    return within && compare(change, upstream, server) == 0 ? change : NULL;
}

const struct bli_change *bli_changes_of(const struct bli_changes *changes, const char *upstream,
                                        uint32_t *count) {
    const uint32_t first = find_place(changes, upstream, NULL);
    *count = 0;
    while (first + *count < changes->count && strcmp(changes->change[first + *count].upstream, upstream) == 0)
        (*count)++;
    return &changes->change[first];
}

static bool changes_nothing(const struct bli_change *c) {
    return c->state == BLI_STATE_CONFIGURED && c->presence == BLI_SERVER_CONFIGURED &&
           c->weight == BLI_AS_CONFIGURED && c->max_conns == BLI_AS_CONFIGURED &&
           c->slots == BLI_AS_CONFIGURED;
}

static void cut(struct bli_changes *changes, uint32_t first, uint32_t count) {
    memmove(&changes->change[first], &changes->change[first + count],
            (changes->count - first - count) * sizeof changes->change[0]);
    changes->count -= count;
}

enum bal_code bli_changes_put(struct bli_changes *changes, const struct bli_change *change,
                              struct bal_error *err) {
    const uint32_t place = find_place(changes, change->upstream, change->server);
    const bool known = bli_changes_find(changes, change->upstream, change->server) != NULL;
    if (changes_nothing(change)) {
        cut(changes, place, known);
        return BAL_OK;
    }
    if (!bli_change_keeps_name(change->upstream) || !bli_change_keeps_name(change->server))
        return bal_fail(err, BAL_E_SYNTAX,
                        "what has blanks, control characters or bytes that are not UTF-8 in its name, or in "
                        "that of its upstream, cannot be changed");
    if (!known && changes->count == BLI_CHANGES_MAX)
        return bal_fail(err, BAL_E_RANGE, "%d servers are changed already, and there is no room for more",
                        BLI_CHANGES_MAX);
    if (!known)
        memmove(&changes->change[place + 1], &changes->change[place],
                (changes->count++ - place) * sizeof changes->change[0]);
    changes->change[place] = *change;
    return BAL_OK;
}

/* ---- policies ---- */

static struct bli_policy_change *find_policy(const struct bli_changes *changes, const char *upstream) {
    for (uint32_t i = 0; i < changes->policies; i++)
        if (strcmp(changes->policy[i].upstream, upstream) == 0)
            return (struct bli_policy_change *)&changes->policy[i];
    return NULL;
}

const char *bli_changes_policy(const struct bli_changes *changes, const char *upstream) {
    const struct bli_policy_change *found = find_policy(changes, upstream);
    return found ? found->policy : NULL;
}

/* Returns how many: 1 or 0. */
static uint32_t remove_policy(struct bli_changes *changes, const char *upstream) {
    struct bli_policy_change *found = find_policy(changes, upstream);
    if (found)
        *found = changes->policy[--changes->policies];
    return found != NULL;
}

enum bal_code bli_changes_set_policy(struct bli_changes *changes, const char *upstream, const char *policy,
                                     struct bal_error *err) {
    struct bli_policy_change change = {0};
    if (!policy) {
        remove_policy(changes, upstream);
        return BAL_OK;
    }
    if (!bli_change_keeps_name(upstream) || strlen(upstream) >= sizeof change.upstream ||
        strlen(policy) >= sizeof change.policy)
        return bal_fail(err, BAL_E_SYNTAX,
                        "the policy of an upstream with such a name, or of such a length, cannot be kept");
    memcpy(change.upstream, upstream, strlen(upstream));
    memcpy(change.policy, policy, strlen(policy));
    remove_policy(changes, upstream);
    if (changes->policies == BLI_POLICIES_MAX)
        return bal_fail(err, BAL_E_RANGE, "the policies of %d upstreams are changed, and no more can be",
                        BLI_POLICIES_MAX);
    changes->policy[changes->policies++] = change;
    return BAL_OK;
}

/* ---- removing ---- */

uint32_t bli_changes_remove(struct bli_changes *changes, const char *upstream, const char *server) {
    uint32_t count = 1, policies = server ? 0 : remove_policy(changes, upstream);
    const struct bli_change *first =
        server ? bli_changes_find(changes, upstream, server) : bli_changes_of(changes, upstream, &count);
    if (!first || count == 0)
        return policies;
    cut(changes, (uint32_t)(first - changes->change), count);
    return count + policies;
}

bool bli_change_apply(const struct bli_change *change, struct bal_dispatcher_server *server) {
    if (change->state != BLI_STATE_CONFIGURED) {
        server->down = change->state == BLI_STATE_DOWN;
        server->drain = change->state == BLI_STATE_DRAIN;
    }
    if (change->weight != BLI_AS_CONFIGURED)
        server->weight = change->weight;
    if (change->max_conns != BLI_AS_CONFIGURED)
        server->max_conns = change->max_conns;
    if (change->slots != BLI_AS_CONFIGURED)
        server->slots = change->slots;
    return change->presence != BLI_SERVER_REMOVED;
}
