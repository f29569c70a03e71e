#include "policy/names.h"

#include "ballast/policy.h"

#include <ctype.h>

/* Where one word means different things (random is random(2) in HAProxy, p2c compares latencies in Linkerd)
 * the policy of ours that has the name keeps it; docs/proxies.md tells them apart. */
static const struct {
    const char *name, *policy;
} names[] = {
    {"least conn", "own"},
    {"least connections", "own"},
    {"least outstanding requests", "own"},
    {"lc", "own"},
    {"wlc", "own"},
    {"weighted least conn", "own"},
    {"weighted least connections", "own"},
    {"least request", "own:d=2"},
    {"least loaded", "own:d=2"},
    {"random two", "own:d=2"},
    {"random two least conn", "own:d=2"},
    {"random(2)", "own:d=2"},
    {"random choice 2", "own:d=2"},
    {"p2c", "own:d=2"},
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

static bool is_gap(char c) {
    return c == ' ' || c == '-' || c == '_';
}

bool bal_name_is(const char *known, const char *name, size_t length) {
    if (length == 0 || is_gap(name[0]) || is_gap(name[length - 1]))
        return false;
    for (const char *end = name + length;;) {
        while (is_gap(*known))
            known++;
        while (name < end && is_gap(*name))
            name++;
        if (name == end || !*known)
            return name == end && !*known;
        if (tolower((unsigned char)*name++) != *known++)
            return false;
    }
}

const char *bal_known_name_find(const char *name, size_t length) {
    for (size_t i = 0; i < NAMES; i++)
        if (bal_name_is(names[i].name, name, length))
            return names[i].policy;
    return NULL;
}

const char *bal_policy_known_as(size_t i, const char **policy) {
    if (i >= NAMES)
        return NULL;
    if (policy)
        *policy = names[i].policy;
    return names[i].name;
}
