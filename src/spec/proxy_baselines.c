/* SPDX-License-Identifier: BSD-2-Clause */
/* Balancing algorithms of nginx and HAProxy, and the policies that model them (docs/proxies.md). */
#include "spec/reader.h"

#include <stdlib.h>
#include <string.h>

struct proxy_baseline {
    enum bli_proxy proxy;
    const char *text, *model;
    bool equal_weights_only; /* with weights it goes another way: it draws by them, or HAProxy counts the new
                              * request too
                              */
};

static const struct proxy_baseline proxy_baselines[] = {
    {BLI_PROXY_NGINX, "least_conn", "least-conn:ties=turn", false},
    {BLI_PROXY_NGINX, "random two least_conn", "least-conn:d=2", true},
    {BLI_PROXY_NGINX, "random two", "least-conn:d=2", true},
    {BLI_PROXY_NGINX, "random", "weighted-random", false},
    {BLI_PROXY_NGINX, "round_robin", "weighted-round-robin", false},
    /* Of nginx 1.31 and later. The mean response times of all servers: no policy of ours is the same, and
     * bli_live_pair() makes no prediction. */
    {BLI_PROXY_NGINX, "least_time header", "ewma", false},
    {BLI_PROXY_NGINX, "least_time last_byte", "ewma", false},
    {BLI_PROXY_HAPROXY, "leastconn", "least-conn:ties=queue", true},
    /* One of them: requests wait in HAProxy until a server has a free slot. */
    {BLI_PROXY_HAPROXY, "leastconn maxconn", "jiq:else=hold", true},
    {BLI_PROXY_HAPROXY, "random", "least-conn:d=2,replace=1", true},
    {BLI_PROXY_HAPROXY, "random(1)", "weighted-random", false},
    {BLI_PROXY_HAPROXY, "random(2)", "least-conn:d=2,replace=1", true},
    {BLI_PROXY_HAPROXY, "random(3)", "least-conn:d=3,replace=1", true},
    {BLI_PROXY_HAPROXY, "random(4)", "least-conn:d=4,replace=1", true},
    {BLI_PROXY_HAPROXY, "roundrobin", "weighted-round-robin", false},
};

enum bal_code bli_baseline_parse(enum bli_proxy proxy, const char *text, struct bal_policy_spec *spec,
                                 struct bal_error *err) {
    char list[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof proxy_baselines / sizeof *proxy_baselines; i++) {
        if (proxy_baselines[i].proxy != proxy)
            continue;
        if (strcmp(proxy_baselines[i].text, text) == 0)
            return bli_scheme_parse(proxy_baselines[i].model, spec, err);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                 proxy_baselines[i].text);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "'%.60s' is not one of %s", text, list);
}

bool bli_baseline_is_modelled(const struct bli_experiment_policy *entry, const struct bli_model *model) {
    if (entry->proxy != BLI_PROXY_BALLAST && model->classes)
        return false;
    for (size_t i = 0; i < sizeof proxy_baselines / sizeof *proxy_baselines; i++)
        if (proxy_baselines[i].proxy == entry->proxy && strcmp(proxy_baselines[i].text, entry->text) == 0)
            return !proxy_baselines[i].equal_weights_only || !bli_model_is_weighted(model);
    return true;
}
