/* SPDX-License-Identifier: BSD-2-Clause */
/* The directive `ballast_server NAME[:PORT] [service=NAME] [weight=N] [max_conns=N] [max_fails=N]
 * [fail_timeout=T] [addresses=N] [nxdomain=keep|drain] [backup] [down];` */
#include "directive_option.h"
#include "names.h"
#include "upstream.h"

#include <string.h>

enum { ADDRESSES = 256, ADDRESSES_MAX = 4096, RESOLVER_TIMEOUT_MS = 30000 };

static const char placeholder[] = "ballast_server ";

/* ---- options ---- */

static char *set_number(ngx_conf_t *cf, const char *option, const ngx_str_t *value, ngx_uint_t least,
                        ngx_uint_t most, ngx_uint_t *number) {
    if (bli_ngx_option_number(value->data, value->data + value->len, least, most, number))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, option, value, least ? "a number from 1 on" : "a number from 0 on");
}

static char *set_weight(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_name *name = conf;
    return set_number(cf, "\"weight=", value, 1, 1000000, &name->weight);
}

static char *set_max_conns(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_name *name = conf;
    return set_number(cf, "\"max_conns=", value, 0, 1000000, &name->max_conns);
}

static char *set_max_fails(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_name *name = conf;
    return set_number(cf, "\"max_fails=", value, 0, 1000000, &name->max_fails);
}

static char *set_fail_timeout(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_name *name = conf;
    name->fail_timeout = ngx_parse_time(value, 1);
    if (value->len && name->fail_timeout != (time_t)NGX_ERROR)
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"fail_timeout=", value, "a time, as in fail_timeout=10s");
}

static char *set_addresses(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_name *name = conf;
    if (bli_ngx_option_number(value->data, value->data + value->len, 1, ADDRESSES_MAX, &name->room))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"addresses=", value,
                                "the most addresses that the name may have, from 1 to 4096");
}

static char *set_service(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_name *name = conf;
    name->service = *value;
    if (value->len)
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"service=", value, "the name of a service, as in service=http");
}

static char *set_nxdomain(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_name *name = conf;
    name->drains = value->len == 5 && ngx_strncmp(value->data, "drain", 5) == 0;
    if (name->drains || (value->len == 4 && ngx_strncmp(value->data, "keep", 4) == 0))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"nxdomain=", value,
                                "keep (its addresses stay in use) or drain (they get nothing new)");
}

static const struct bli_ngx_option options[] = {
    {"service=", set_service, false},     {"weight=", set_weight, false},
    {"max_conns=", set_max_conns, false}, {"max_fails=", set_max_fails, false},
    {"addresses=", set_addresses, false}, {"fail_timeout=", set_fail_timeout, false},
    {"nxdomain=", set_nxdomain, false},
};

static bool is_word(const ngx_str_t *text, const char *word) {
    return text->len == strlen(word) && ngx_strncmp(text->data, word, text->len) == 0;
}

static char *set_option(ngx_conf_t *cf, struct bli_ngx_name *name, const ngx_str_t *text) {
    if (is_word(text, "backup"))
        name->backup = true;
    else if (is_word(text, "down"))
        name->down = true;
    else
        return bli_ngx_option_set(cf, options, sizeof options / sizeof *options, name, text,
                                  "service=, weight=, max_conns=, max_fails=, fail_timeout=, addresses=, "
                                  "nxdomain=, backup or down");
    return NGX_CONF_OK;
}

/* ---- the name ---- */

static char *refuse_name(ngx_conf_t *cf, const ngx_str_t *text, const char *why) {
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast_server: \"%V\" %s", text, why);
    return NGX_CONF_ERROR;
}

/* Labels of letters, digits, hyphens and underscores, and some that is no digit: that would be an address. */
static bool is_host_name(const ngx_str_t *name) {
    bool letter = false;
    for (size_t i = 0; i < name->len; i++) {
        const u_char c = name->data[i], before = i ? name->data[i - 1] : '.';
        const bool digit = c >= '0' && c <= '9', letter_here = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (c == '.' ? before == '.' : !(digit || letter_here || c == '-' || c == '_'))
            return false;
        letter |= !digit && c != '.';
    }
    return letter && name->len < 254;
}

static char *parse_name(ngx_conf_t *cf, const ngx_str_t *text, struct bli_ngx_name *name) {
    const u_char *end = text->data + text->len;
    const u_char *colon = ngx_strlchr(text->data, (u_char *)end, ':');
    ngx_uint_t port = 80;
    name->name.data = text->data;
    name->name.len = (size_t)((colon ? colon : end) - text->data);
    if (colon && !bli_ngx_option_number(colon + 1, end, 1, 65535, &port) && is_host_name(&name->name))
        return refuse_name(cf, text, "has no port that can be used; use one from 1 to 65535");
    if (name->name.len && name->name.data[name->name.len - 1] == '.')
        name->name.len--;
    if (!is_host_name(&name->name))
        return refuse_name(cf, text,
                           "is no name that can be looked up; use NAME:PORT, and server for an address");
    name->port = (in_port_t)port;
    return NGX_CONF_OK;
}

static char *check_service(ngx_conf_t *cf, const struct bli_ngx_name *name, const ngx_str_t *text) {
    if (!name->service.len)
        return NGX_CONF_OK;
    if (ngx_strlchr(text->data, text->data + text->len, ':'))
        return refuse_name(cf, text, "has a port and a service=, whose records name ports; leave out one");
    if (name->weight != 1)
        return refuse_name(cf, text, "has weight= and a service=, whose records have weights; leave out one");
    return NGX_CONF_OK;
}

static bool is_twice(const struct bli_ngx_upstream *b, const struct bli_ngx_name *name) {
    const struct bli_ngx_name *other;
    for (ngx_uint_t i = 0; (other = bli_ngx_name_at(b, i)); i++)
        if (other->port == name->port && other->name.len == name->name.len &&
            ngx_strncasecmp(other->name.data, name->name.data, name->name.len) == 0 &&
            other->service.len == name->service.len &&
            ngx_strncmp(other->service.data, name->service.data, name->service.len) == 0)
            return true;
    return false;
}

/* ---- what nginx sees ---- */

bool bli_ngx_name_is_placeholder(const ngx_str_t *server) {
    return server->len >= sizeof placeholder - 1 &&
           ngx_strncmp(server->data, placeholder, sizeof placeholder - 1) == 0;
}

/* nginx refuses upstreams without servers, and makes the backup servers itself. So it gets a server that is
 * down and that we leave out. */
bool bli_ngx_names_add_placeholder(ngx_conf_t *cf, const ngx_http_upstream_srv_conf_t *us,
                                   const ngx_str_t *name, ngx_uint_t weight, bool backup) {
    static struct sockaddr_in nowhere = {.sin_family = AF_INET};
    ngx_http_upstream_server_t *server = ngx_array_push(us->servers);
    ngx_addr_t *address = ngx_pcalloc(cf->pool, sizeof *address);
    const size_t length = sizeof placeholder - 1 + name->len;
    u_char *text = ngx_pnalloc(cf->pool, length + 1);
    if (!server || !address || !text)
        return false;
    *ngx_cpymem(ngx_cpymem(text, placeholder, sizeof placeholder - 1), name->data, name->len) = 0;
    address->sockaddr = (struct sockaddr *)(void *)&nowhere;
    address->socklen = sizeof nowhere;
    address->name = (ngx_str_t){length, text};
    ngx_memzero(server, sizeof *server);
    server->name = address->name;
    server->addrs = address;
    server->naddrs = 1;
    server->weight = weight;
    server->max_fails = 1;
    server->fail_timeout = 10;
    server->down = 1;
    server->backup = backup;
    return true;
}

/* ---- the directive ---- */

static struct bli_ngx_name *push_name(ngx_conf_t *cf, struct bli_ngx_upstream *b, struct bli_ngx_name *name) {
    b->names = b->names ? b->names : ngx_array_create(cf->pool, 4, sizeof(struct bli_ngx_name *));
    struct bli_ngx_name **place = b->names ? ngx_array_push(b->names) : NULL;
    if (place)
        *place = name;
    return place ? name : NULL;
}

char *bli_ngx_name_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    struct bli_ngx_upstream *b = conf;
    const ngx_str_t *text = cf->args->elts;
    const ngx_http_upstream_srv_conf_t *us = ngx_http_conf_get_module_srv_conf(cf, ngx_http_upstream_module);
    struct bli_ngx_name *name = ngx_pcalloc(cf->pool, sizeof *name);
    (void)command;
    if (!name)
        return NGX_CONF_ERROR;
    *name = (struct bli_ngx_name){.upstream = b,
                                  .weight = 1,
                                  .max_fails = 1,
                                  .fail_timeout = 10,
                                  .room = ADDRESSES,
                                  .file = cf->conf_file->file.name,
                                  .line = cf->conf_file->line};
    char *result = parse_name(cf, &text[1], name);
    for (ngx_uint_t i = 2; result == NGX_CONF_OK && i < cf->args->nelts; i++)
        result = set_option(cf, name, &text[i]);
    if (result == NGX_CONF_OK)
        result = check_service(cf, name, &text[1]);
    if (result == NGX_CONF_OK && is_twice(b, name))
        result = refuse_name(cf, &text[1], "stands twice in this upstream; leave out one");
    if (result != NGX_CONF_OK)
        return result;
    const bool both = name->service.len && !name->backup; /* records of higher priority are backups */
    if (!push_name(cf, b, name) ||
        !bli_ngx_names_add_placeholder(cf, us, &name->name, name->weight, name->backup) ||
        (both && !bli_ngx_names_add_placeholder(cf, us, &name->name, name->weight, true)))
        return NGX_CONF_ERROR;
    return NGX_CONF_OK;
}

ngx_uint_t bli_ngx_names_room(const struct bli_ngx_upstream *upstream) {
    ngx_uint_t room = 0;
    const struct bli_ngx_name *name;
    for (ngx_uint_t i = 0; (name = bli_ngx_name_at(upstream, i)); i++)
        room += name->room;
    return room;
}

/* ---- when more is known ---- */

ngx_int_t bli_ngx_names_check(ngx_conf_t *cf, const struct bli_ngx_upstream *upstream) {
    const struct bli_ngx_name *name = bli_ngx_name_at(upstream, 0);
    if (!name || !upstream->stations)
        return NGX_OK;
    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "ballast_server: servers of upstream \"%V\" have stations (listen=), whose addresses must "
                  "be known; use server, or leave out listen= in %V:%ui",
                  &upstream->us->host, &name->file, name->line);
    return NGX_ERROR;
}

/* Upstreams of ours only: another method would see but the servers that are down. */
static ngx_int_t check_upstream(ngx_conf_t *cf, const ngx_http_upstream_srv_conf_t *us,
                                const struct bli_ngx_upstream *b) {
    const struct bli_ngx_name *name = bli_ngx_name_at(b, 0);
    if (!name || b->us)
        return NGX_OK;
    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "ballast_server: upstream \"%V\" has no directive ballast, which uses its addresses; add "
                  "\"ballast;\", or use server in %V:%ui",
                  &us->host, &name->file, name->line);
    return NGX_ERROR;
}

static ngx_int_t find_resolver(ngx_conf_t *cf, const ngx_http_upstream_srv_conf_t *us,
                               struct bli_ngx_name *name) {
    const ngx_http_core_loc_conf_t *http = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    name->resolver = http->resolver;
    name->timeout = http->resolver_timeout;
#if BLI_NGX_RESOLVES
    if (us->resolver) {
        name->resolver = us->resolver;
        name->timeout = us->resolver_timeout;
    }
#endif
    if (name->timeout == NGX_CONF_UNSET_MSEC)
        name->timeout = RESOLVER_TIMEOUT_MS;
    if (bli_ngx_resolver_is_given(name->resolver))
        return NGX_OK;
    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "ballast_server: name %V of upstream \"%V\" cannot be looked up, as there is no resolver; "
                  "add \"resolver ADDRESS;\" to http in %V:%ui",
                  &name->name, &us->host, &name->file, name->line);
    return NGX_ERROR;
}

ngx_int_t bli_ngx_names_complete(ngx_conf_t *cf) {
    const ngx_http_upstream_main_conf_t *conf =
        ngx_http_conf_get_module_main_conf(cf, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    for (ngx_uint_t i = 0; i < conf->upstreams.nelts; i++) {
        const struct bli_ngx_upstream *b =
            us[i]->srv_conf ? ngx_http_conf_upstream_srv_conf(us[i], ngx_http_ballast_module) : NULL;
        struct bli_ngx_name *name;
        if (b && check_upstream(cf, us[i], b) != NGX_OK)
            return NGX_ERROR;
        for (ngx_uint_t k = 0; b && (name = bli_ngx_name_at(b, k)); k++)
            if (find_resolver(cf, us[i], name) != NGX_OK || bli_ngx_name_add_zone(cf, name) != NGX_OK)
                return NGX_ERROR;
    }
    return NGX_OK;
}
