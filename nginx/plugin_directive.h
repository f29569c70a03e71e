/* SPDX-License-Identifier: BSD-2-Clause */
/* `ballast_plugin FILE;` in http {}: a policy from a file (ballast/plugin.h), which upstreams below it use by
 * its name. */
#ifndef NGINX_PLUGIN_DIRECTIVE_H
#define NGINX_PLUGIN_DIRECTIVE_H

#include "compat.h"

#include "ballast/policy.h"

/* Of http {}. */
struct bli_ngx_plugins {
    ngx_array_t loaded; /* of struct bli_ngx_plugin */
};

/* At the start of a configuration: policies of the last one are not known by their names. */
ngx_int_t bli_ngx_plugins_init(ngx_conf_t *cf, struct bli_ngx_plugins *plugins);
/* Examines the file in a process of its own, and loads it. */
char *bli_ngx_plugins_add(ngx_conf_t *cf, struct bli_ngx_plugins *plugins);
/* Logs which files are in use. */
void bli_ngx_plugins_log(const struct bli_ngx_plugins *plugins, ngx_log_t *log);
/* The SHA-256 of the file that the policy is from; "": it is from none. */
const char *bli_ngx_plugin_hash(const struct bal_policy *policy);

#endif
