/* SPDX-License-Identifier: BSD-2-Clause */
/* Balancing algorithms of nginx and HAProxy, and the policies that model them (docs/proxies.md). */
#include "spec/reader.h"

#include <stdlib.h>
#include <string.h>

struct proxy_baseline {
    enum bal_proxy proxy;
    const char *text, *model;
    bool equal_weights_only; /* with weights it goes another way: it draws by them, or HAProxy counts the new
                              * request too
                              */
};

static const struct proxy_baseline proxy_baselines[] = {
    {BAL_PROXY_NGINX, "least_conn", "least-conn:ties=turn", false},
    {BAL_PROXY_NGINX, "random two least_conn", "least-conn:d=2", true},
    {BAL_PROXY_NGINX, "random two", "least-conn:d=2", true},
    {BAL_PROXY_NGINX, "random", "weighted-random", false},
    {BAL_PROXY_NGINX, "round_robin", "weighted-round-robin", false},
    /* Of nginx 1.31 and later. The mean response times of all servers: no policy of ours is the same, and
     * bal_live_pair() makes no prediction. */
    {BAL_PROXY_NGINX, "least_time header", "ewma", false},
    {BAL_PROXY_NGINX, "least_time last_byte", "ewma", false},
    {BAL_PROXY_HAPROXY, "leastconn", "least-conn:ties=queue", true},
    /* One of them: requests wait in HAProxy until a server has a free slot. */
    {BAL_PROXY_HAPROXY, "leastconn maxconn", "jiq:else=hold", true},
    {BAL_PROXY_HAPROXY, "random", "least-conn:d=2,replace=1", true},
    {BAL_PROXY_HAPROXY, "random(1)", "weighted-random", false},
    {BAL_PROXY_HAPROXY, "random(2)", "least-conn:d=2,replace=1", true},
    {BAL_PROXY_HAPROXY, "random(3)", "least-conn:d=3,replace=1", true},
    {BAL_PROXY_HAPROXY, "random(4)", "least-conn:d=4,replace=1", true},
    {BAL_PROXY_HAPROXY, "roundrobin", "weighted-round-robin", false},
};

enum bal_code bal_baseline_parse(enum bal_proxy proxy, const char *text, struct bal_policy_spec *spec,
                                 struct bal_error *err) {
    char list[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof proxy_baselines / sizeof *proxy_baselines; i++) {
        if (proxy_baselines[i].proxy != proxy)
            continue;
        if (strcmp(proxy_baselines[i].text, text) == 0)
            return bal_scheme_parse(proxy_baselines[i].model, spec, err);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                 proxy_baselines[i].text);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "'%.60s' is not one of %s", text, list);
}

bool bal_baseline_is_modelled(const struct bal_experiment_policy *entry, const struct bal_model *model) {
    if (entry->proxy != BAL_PROXY_BALLAST && model->classes)
        return false;
    for (size_t i = 0; i < sizeof proxy_baselines / sizeof *proxy_baselines; i++)
        if (proxy_baselines[i].proxy == entry->proxy && strcmp(proxy_baselines[i].text, entry->text) == 0)
            return !proxy_baselines[i].equal_weights_only || !bal_model_is_weighted(model);
    return true;
}
