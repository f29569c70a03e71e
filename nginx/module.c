/* The module as nginx sees it: directives, variables, and what is in the file. */
#include "station.h"
#include "upstream.h"

static ngx_command_t commands[] = {
    {ngx_string("ballast"), NGX_HTTP_UPS_CONF | NGX_CONF_1MORE, bal_ngx_upstream_directive,
     NGX_HTTP_SRV_CONF_OFFSET, 0, NULL},
    {ngx_string("ballast_status"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, bal_ngx_status_directive, 0, 0, NULL},
    ngx_null_command,
};

static void *create_srv_conf(ngx_conf_t *cf) {
    return ngx_pcalloc(cf->pool, sizeof(struct bal_ngx_upstream));
}

static ngx_http_module_t context = {
    .preconfiguration = bal_ngx_variables_add,
    .create_srv_conf = create_srv_conf,
};

ngx_module_t ngx_http_ballast_module = {
    NGX_MODULE_V1,
    .ctx = &context,
    .commands = commands,
    .type = NGX_HTTP_MODULE,
};

/* What load_module looks for. */
ngx_module_t *ngx_modules[] = {&ngx_ballast_module, &ngx_http_ballast_module,
                               &ngx_http_ballast_station_module, NULL};
char *ngx_module_names[] = {(char *)"ngx_ballast_module", (char *)"ngx_http_ballast_module",
                            (char *)"ngx_http_ballast_station_module", NULL};
char *ngx_module_order[] = {NULL};
