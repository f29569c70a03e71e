/* SPDX-License-Identifier: BSD-2-Clause */
/* The module as nginx sees it: directives, variables, and what is in the file. */
#include "api.h"
#include "changes_zone.h"
#include "health_check.h"
#include "load_header.h"
#include "names.h"
#include "plugin_directive.h"
#include "ready.h"
#include "station_role.h"
#include "status.h"
#include "upstream.h"

#include <string.h>

/* Of http {}. */
struct main_conf {
    struct bal_keys keys;
    struct bli_ngx_plugins plugins;
    struct bli_ngx_changes changes;
};

static void *create_main_conf(ngx_conf_t *cf) {
    struct main_conf *conf = ngx_pcalloc(cf->pool, sizeof *conf);
    if (!conf || bli_ngx_plugins_init(cf, &conf->plugins) != NGX_OK)
        return NULL;
    conf->keys = (struct bal_keys){bal_key_none(), bal_key_none()};
    return conf;
}

const struct bal_keys *bli_ngx_keys(ngx_conf_t *cf) {
    const struct main_conf *conf = ngx_http_conf_get_module_main_conf(cf, ngx_http_ballast_module);
    return &conf->keys;
}

struct bli_ngx_changes *bli_ngx_changes_conf(ngx_conf_t *cf) {
    struct main_conf *conf = ngx_http_conf_get_module_main_conf(cf, ngx_http_ballast_module);
    return &conf->changes;
}

struct bli_ngx_changes *bli_ngx_changes_running(void) {
    struct main_conf *conf = ngx_http_cycle_get_module_main_conf(ngx_cycle, ngx_http_ballast_module);
    return &conf->changes;
}

static char *set_key(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    struct main_conf *main = conf;
    const ngx_str_t *text = cf->args->elts;
    struct bal_error err;
    (void)command;
    if (bal_key_is_secret(&main->keys.first))
        return (char *)"is duplicate";
    enum bal_code code = bal_key_parse((const char *)text[1].data, &main->keys.first, &err);
    if (!code && cf->args->nelts > 2)
        code = bal_key_parse((const char *)text[2].data, &main->keys.second, &err);
    if (!code && cf->args->nelts > 2 &&
        memcmp(&main->keys.first, &main->keys.second, sizeof main->keys.first) == 0)
        return (char *)"names one key twice; name the other one, or one alone";
    if (!code)
        return NGX_CONF_OK;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast_key: %s", err.text);
    return NGX_CONF_ERROR;
}

static char *add_plugin(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    struct main_conf *main = conf;
    (void)command;
    return bli_ngx_plugins_add(cf, &main->plugins);
}

static ngx_command_t commands[] = {
    {ngx_string("ballast"), NGX_HTTP_UPS_CONF | NGX_CONF_ANY, bli_ngx_upstream_directive,
     NGX_HTTP_SRV_CONF_OFFSET, 0, NULL},
    {ngx_string("ballast_check"), NGX_HTTP_UPS_CONF | NGX_CONF_ANY, bli_ngx_check_directive,
     NGX_HTTP_SRV_CONF_OFFSET, 0, NULL},
    {ngx_string("ballast_server"), NGX_HTTP_UPS_CONF | NGX_CONF_1MORE, bli_ngx_name_directive,
     NGX_HTTP_SRV_CONF_OFFSET, 0, NULL},
    {ngx_string("ballast_status"), NGX_HTTP_LOC_CONF | NGX_CONF_ANY, bli_ngx_status_directive,
     NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    {ngx_string("ballast_ready"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, bli_ngx_ready_directive,
     NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    {ngx_string("ballast_key"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE12, set_key, NGX_HTTP_MAIN_CONF_OFFSET, 0,
     NULL},
    {ngx_string("ballast_plugin"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, add_plugin, NGX_HTTP_MAIN_CONF_OFFSET,
     0, NULL},
    {ngx_string("ballast_state"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, bli_ngx_changes_directive_state,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, NULL},
    {ngx_string("ballast_api"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, bli_ngx_api_directive,
     NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    ngx_null_command,
};

static void *create_srv_conf(ngx_conf_t *cf) {
    return ngx_pcalloc(cf->pool, sizeof(struct bli_ngx_upstream));
}

static void *create_loc_conf(ngx_conf_t *cf) {
    return ngx_pcalloc(cf->pool, sizeof(struct bli_ngx_status));
}

static ngx_int_t complete_configuration(ngx_conf_t *cf) {
    return bli_ngx_check_verify_all(cf) == NGX_OK && bli_ngx_names_complete(cf) == NGX_OK &&
                   bli_ngx_load_header_init(cf) == NGX_OK
               ? bli_ngx_changes_init(cf)
               : NGX_ERROR;
}

static ngx_http_module_t context = {
    .preconfiguration = bli_ngx_variables_add,
    .postconfiguration = complete_configuration,
    .create_main_conf = create_main_conf,
    .create_srv_conf = create_srv_conf,
    .create_loc_conf = create_loc_conf,
    .merge_loc_conf = bli_ngx_api_merge,
};

/* The log of the configuration is open by now. */
static ngx_int_t init_module(ngx_cycle_t *cycle) {
    const ngx_http_upstream_main_conf_t *conf =
        ngx_http_cycle_get_module_main_conf(cycle, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf ? conf->upstreams.elts : NULL;
    const struct main_conf *own =
        conf ? ngx_http_cycle_get_module_main_conf(cycle, ngx_http_ballast_module) : NULL;
    if (own)
        bli_ngx_plugins_log(&own->plugins, cycle->log);
    for (ngx_uint_t i = 0; conf && i < conf->upstreams.nelts; i++) {
        const struct bli_ngx_upstream *b =
            us[i]->srv_conf ? ngx_http_conf_upstream_srv_conf(us[i], ngx_http_ballast_module) : NULL;
        if (b && b->us && b->default_policy)
            bli_ngx_upstream_log_default(b, cycle->log);
    }
    return NGX_OK;
}

ngx_module_t ngx_http_ballast_module = {
    NGX_MODULE_V1,
    .ctx = &context,
    .commands = commands,
    .type = NGX_HTTP_MODULE,
    .init_module = init_module,
    .init_process = bli_ngx_changes_init_process,
};

/* What load_module looks for. */
ngx_module_t *ngx_modules[] = {&ngx_ballast_module, &ngx_http_ballast_module,
                               &ngx_http_ballast_station_module, NULL};
char *ngx_module_names[] = {(char *)"ngx_ballast_module", (char *)"ngx_http_ballast_module",
                            (char *)"ngx_http_ballast_station_module", NULL};
char *ngx_module_order[] = {NULL};
