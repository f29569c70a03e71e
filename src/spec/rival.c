/* What nginx and HAProxy call it, and the policy that is its model (docs/proxies.md). */
#include "spec/reader.h"

#include <stdlib.h>
#include <string.h>

struct rival {
    enum bal_proxy proxy;
    const char *text, *model;
    bool alike; /* with weights it goes another way: it draws by them, or HAProxy counts the new request too
                 */
};

static const struct rival rivals[] = {
    {BAL_PROXY_NGINX, "least_conn", "own:ties=turn", false},
    {BAL_PROXY_NGINX, "random two least_conn", "own:d=2", true},
    {BAL_PROXY_NGINX, "random two", "own:d=2", true},
    {BAL_PROXY_NGINX, "random", "weighted-random", false},
    {BAL_PROXY_NGINX, "round_robin", "weighted-round-robin", false},
    {BAL_PROXY_HAPROXY, "leastconn", "own:ties=queue", true},
    {BAL_PROXY_HAPROXY, "random", "own:d=2,replace=1", true},
    {BAL_PROXY_HAPROXY, "random(1)", "weighted-random", false},
    {BAL_PROXY_HAPROXY, "random(2)", "own:d=2,replace=1", true},
    {BAL_PROXY_HAPROXY, "random(3)", "own:d=3,replace=1", true},
    {BAL_PROXY_HAPROXY, "random(4)", "own:d=4,replace=1", true},
    {BAL_PROXY_HAPROXY, "roundrobin", "weighted-round-robin", false},
};

enum bal_code bal_rival_parse(enum bal_proxy proxy, const char *text, struct bal_policy_spec *spec,
                              struct bal_error *err) {
    char list[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++) {
        if (rivals[i].proxy != proxy)
            continue;
        if (strcmp(rivals[i].text, text) == 0)
            return bal_scheme_parse(rivals[i].model, spec, err);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", rivals[i].text);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "'%.60s' is not one of %s", text, list);
}

bool bal_rival_is_modelled(const struct bal_entry *entry, const struct bal_model *model) {
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++)
        if (rivals[i].proxy == entry->proxy && strcmp(rivals[i].text, entry->text) == 0)
            return !rivals[i].alike || !bal_model_is_weighted(model);
    return true;
}
