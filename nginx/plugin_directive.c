/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies from files.
 *
 * The file is examined by a child first, because what is wrong with it may crash or hang: nginx -t and a
 * reload then fail with a line, and the running configuration goes on. What is loaded afterwards has the
 * SHA-256 that the child has seen. It is loaded from a copy in memory, so that a new version may be copied
 * over the file while workers run the old one. The hash is part of the name of the zone (peers.c): after a
 * reload with another file new workers have a zone of their own, and old ones go on with the old policy in
 * theirs. */
#include "plugin_directive.h"

#include "plugin/loader.h"

#include <stdlib.h>
#include <string.h>

struct bli_ngx_plugin {
    const struct bal_policy *policy;
    ngx_str_t path;
};

ngx_int_t bli_ngx_plugins_init(ngx_conf_t *cf, struct bli_ngx_plugins *plugins) {
    bli_plugin_forget_names();
    return ngx_array_init(&plugins->loaded, cf->pool, 1, sizeof(struct bli_ngx_plugin));
}

static bool is_loaded(const struct bli_ngx_plugins *plugins, const struct bal_policy *policy) {
    const struct bli_ngx_plugin *plugin = plugins->loaded.elts;
    for (ngx_uint_t i = 0; i < plugins->loaded.nelts; i++)
        if (plugin[i].policy == policy)
            return true;
    return false;
}

static enum bal_code examine_and_load(const char *path, struct bal_policy_spec *spec, struct bal_error *err) {
    char *pinned;
    enum bal_code code = bli_plugin_pin(path, NULL, &pinned, err);
    if (code)
        return code;
    struct bal_error found = {0};
    code = bli_plugin_examine(pinned, &found);
    if (code) /* the words of the examination, without the hash in the path */
        bal_fail(err, code, "%s: %s", path,
                 found.text + (strstr(found.text, pinned) ? strlen(pinned) + 2 : 0));
    else
        code = bli_plugin_parse_copy(pinned, spec, err);
    free(pinned);
    return code;
}

static char *refuse(ngx_conf_t *cf, const char *why) {
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast_plugin: %s", why);
    return NGX_CONF_ERROR;
}

static char *add_loaded(ngx_conf_t *cf, struct bli_ngx_plugins *plugins, const ngx_str_t *path,
                        const struct bal_policy *policy) {
    struct bal_error err;
    if (is_loaded(plugins, policy)) {
        bal_fail(&err, BAL_E_MODEL, "'%s' is loaded twice; leave out one of the two", path->data);
        return refuse(cf, err.text);
    }
    struct bli_ngx_plugin *plugin = ngx_array_push(&plugins->loaded);
    if (!plugin)
        return NGX_CONF_ERROR;
    *plugin = (struct bli_ngx_plugin){policy, *path};
    return NGX_CONF_OK;
}

char *bli_ngx_plugins_add(ngx_conf_t *cf, struct bli_ngx_plugins *plugins) {
    ngx_str_t path = ((ngx_str_t *)cf->args->elts)[1];
    struct bal_policy_spec spec;
    struct bal_error err;
    if (!bli_plugin_is_path((const char *)path.data))
        return refuse(cf, "the file of a policy ends in .so, as in ballast_plugin /etc/nginx/mine.so");
    if (*bli_plugin_params((const char *)path.data))
        return refuse(cf, "name the file alone; parameters are for the directive ballast: NAME:key=value");
    if (ngx_conf_full_name(cf->cycle, &path, 0) != NGX_OK)
        return NGX_CONF_ERROR;
    return examine_and_load((const char *)path.data, &spec, &err)
               ? refuse(cf, err.text)
               : add_loaded(cf, plugins, &path, spec.policy);
}

void bli_ngx_plugins_log(const struct bli_ngx_plugins *plugins, ngx_log_t *log) {
    const struct bli_ngx_plugin *plugin = plugins->loaded.elts;
    for (ngx_uint_t i = 0; i < plugins->loaded.nelts; i++)
        ngx_log_error(NGX_LOG_NOTICE, log, 0, "ballast: policy '%s' is from \"%V\", SHA-256 %s",
                      plugin[i].policy->name, &plugin[i].path, bli_plugin_hash(plugin[i].policy));
}

const char *bli_ngx_plugin_hash(const struct bal_policy *policy) {
    const char *hash = bli_plugin_hash(policy);
    return hash ? hash : "";
}
