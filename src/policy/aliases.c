/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of other names of policies, and the search in it. */
#include "policy/aliases.h"

#include "ballast/policy.h"

#include <string.h>

/* Where one word means different things (random is random(2) in HAProxy, p2c compares latencies in Linkerd)
 * the policy of ours that has the name keeps it; docs/proxies.md explains the difference. */
static const struct {
    const char *name, *policy;
} names[] = {
    {"least connections", "least-conn"},
    {"least outstanding requests", "least-conn"},
    {"lc", "least-conn"},
    {"wlc", "least-conn"},
    {"weighted least conn", "least-conn"},
    {"weighted least connections", "least-conn"},
    {"least request", "least-conn:d=2"},
    {"least loaded", "least-conn:d=2"},
    {"random two", "least-conn:d=2"},
    {"random two least conn", "least-conn:d=2"},
    {"random(2)", "least-conn:d=2"},
    {"random choice 2", "least-conn:d=2"},
    {"p2c", "least-conn:d=2"},
    {"power of two choices", "pod:d=2"},
    {"power of two random choices", "pod:d=2"},
    {"power of d choices", "pod"},
    {"rr", "round-robin"},
    {"round robin", "round-robin"},
    {"wrr", "weighted-round-robin"},
    {"weighted round robin", "weighted-round-robin"},
    {"smooth weighted round robin", "weighted-round-robin"},
    {"static rr", "weighted-round-robin"},
    {"weighted random", "weighted-random"},
    {"random(1)", "weighted-random"},
    {"peak ewma", "ewma"},
    {"shortest expected delay", "sed"},
    {"first", "jiq:else=hold,idle=lowest"},
    {"never queue", "fastest-idle"},
    {"nq", "fastest-idle"},
    {"join the shortest queue", "jsq"},
    {"shortest queue", "jsq"},
    {"join idle queue", "jiq"},
    {"persistent idle", "pi"},
    {"local shortest queue", "lsq"},
    {"least work left", "least-work"},
};
enum { NAMES = sizeof names / sizeof *names };

/* Names of earlier versions, which are read and not shown: of policies and of words of their parameters. */
static const struct {
    const char *name, *now;
} deprecated[] = {{"own", "least-conn"}, {"own2", "least-conn2"}};

const char *bli_deprecated_name_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof deprecated / sizeof *deprecated; i++)
        if (strlen(deprecated[i].name) == length && strncmp(deprecated[i].name, name, length) == 0)
            return deprecated[i].now;
    return NULL;
}

static bool is_gap(char c) {
    return c == ' ' || c == '-' || c == '_';
}

/* In the locale of Turkish tolower('I') is no i. */
static char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool bli_name_is(const char *known, const char *name, size_t length) {
    if (length == 0 || is_gap(name[0]) || is_gap(name[length - 1]))
        return false;
    for (const char *end = name + length;;) {
        while (is_gap(*known))
            known++;
        while (name < end && is_gap(*name))
            name++;
        if (name == end || !*known)
            return name == end && !*known;
        if (to_lower(*name++) != *known++)
            return false;
    }
}

const char *bli_policy_alias_find(const char *name, size_t length) {
    for (size_t i = 0; i < NAMES; i++)
        if (bli_name_is(names[i].name, name, length))
            return names[i].policy;
    return NULL;
}

const char *bal_policy_alias_at(size_t i, const char **policy) {
    if (i >= NAMES)
        return NULL;
    if (policy)
        *policy = names[i].policy;
    return names[i].name;
}
