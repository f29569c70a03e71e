/* SPDX-License-Identifier: BSD-2-Clause */
/* The directive `ballast_check http|tcp|grpc [uri=PATH] [interval=T] [timeout=T] [rises=N] [falls=N]
 * [status=A-B,...] [body=TEXT] [service=NAME] [port=N] [host=NAME] [tls] [mandatory];` */
#include "directive_option.h"
#include "health_check.h"

#include <string.h>

enum { INTERVAL_MS = 2000, TIMEOUT_MS = 1000, RISES = 2, FALLS = 3 }; /* unless options say otherwise */

/* ---- options ---- */

static bool read_time(const ngx_str_t *value, uint64_t *ns) {
    ngx_str_t text = *value;
    const ngx_int_t ms = text.len ? ngx_parse_time(&text, 0) : NGX_ERROR;
    *ns = (uint64_t)ms * 1000000;
    return ms != NGX_ERROR && ms >= 10 && ms <= 3600 * 1000;
}

static char *set_interval(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    if (read_time(value, &check->config.interval_ns))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"interval=", value,
                                "the time between two checks of a server, 10ms to 1h, as in interval=2s");
}

static char *set_timeout(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    if (read_time(value, &check->config.timeout_ns))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"timeout=", value,
                                "the time that a check may take, 10ms to 1h, as in timeout=1s");
}

static char *set_count(ngx_conf_t *cf, const char *what, const ngx_str_t *value, const char *right,
                       uint32_t *count) {
    ngx_uint_t number;
    if (!bli_ngx_option_number(value->data, value->data + value->len, 1, 1000, &number))
        return bli_ngx_option_error(cf, what, value, right);
    *count = (uint32_t)number;
    return NGX_CONF_OK;
}

static char *set_rises(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    return set_count(cf, "\"rises=", value, "the number of checks to pass in a row, 1 to 1000",
                     &check->config.rises);
}

static char *set_falls(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    return set_count(cf, "\"falls=", value, "the number of checks to fail in a row, 1 to 1000",
                     &check->config.falls);
}

static char *wrong_protocol(ngx_conf_t *cf, const char *option, const char *protocols) {
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast_check: %s is for %s; leave it out", option, protocols);
    return NGX_CONF_ERROR;
}

/* A text that goes into a request must not end its line. */
static bool copy_text(char *to, size_t room, const ngx_str_t *value, bool printable) {
    if (value->len == 0 || value->len >= room || strlen((const char *)value->data) != value->len)
        return false;
    for (size_t i = 0; printable && i < value->len; i++)
        if (value->data[i] <= ' ' || value->data[i] >= 127)
            return false;
    memcpy(to, value->data, value->len);
    to[value->len] = '\0';
    return true;
}

/* There is no request whose variables they could be; in a path "%24" is a dollar. */
static bool has_variable(const ngx_str_t *value) {
    return memchr(value->data, '$', value->len) != NULL;
}

static char *set_uri(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    if (check->expected.protocol != BAL_CHECK_HTTP)
        return wrong_protocol(cf, "uri=", "http");
    if (value->len && value->data[0] == '/' && !has_variable(value) &&
        copy_text(check->expected.uri, BAL_CHECK_URI, value, true))
        return NGX_CONF_OK;
    return bli_ngx_option_error(
        cf, "\"uri=", value,
        "a path that begins with / and has no blanks and no variables, as in uri=/health");
}

static char *set_status(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    if (check->expected.protocol != BAL_CHECK_HTTP)
        return wrong_protocol(cf, "status=", "http");
    if (bal_check_ranges_parse(&check->expected, (const char *)value->data, value->len))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"status=", value,
                                "statuses from 100 to 599, and ranges of them, as in status=200-399,404");
}

static char *set_body(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    if (check->expected.protocol != BAL_CHECK_HTTP)
        return wrong_protocol(cf, "body=", "http");
    if (copy_text(check->expected.text, BAL_CHECK_TEXT, value, false))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"body=", value,
                                "a text of 1 to 255 bytes that a healthy server sends, as in body=ready");
}

static char *set_service(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    if (check->expected.protocol != BAL_CHECK_GRPC)
        return wrong_protocol(cf, "service=", "grpc");
    if (copy_text(check->expected.text, BAL_CHECK_TEXT, value, true))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"service=", value,
                                "the name of a service, of at most 255 bytes, as in service=shop.Cart");
}

static char *set_host(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    check->host_given = true;
    if (check->expected.protocol == BAL_CHECK_TCP && !check->tls)
        return wrong_protocol(cf, "host=", "http, grpc, and tcp with tls in front of it");
    if (!has_variable(value) && copy_text(check->expected.host, BAL_CHECK_TEXT, value, true))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"host=", value,
                                "a name of at most 255 bytes, without variables, as in host=app.example");
}

static char *set_port(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_check *check = conf;
    ngx_uint_t port;
    if (!bli_ngx_option_number(value->data, value->data + value->len, 1, 65535, &port))
        return bli_ngx_option_error(cf, "\"port=", value, "a port, 1 to 65535, as in port=8081");
    check->port = (in_port_t)port;
    return NGX_CONF_OK;
}

static const struct bli_ngx_option options[] = {
    {"uri=", set_uri},         {"interval=", set_interval}, {"timeout=", set_timeout}, {"rises=", set_rises},
    {"falls=", set_falls},     {"status=", set_status},     {"body=", set_body},       {"port=", set_port},
    {"service=", set_service}, {"host=", set_host},
};

static bool is_word(const ngx_str_t *text, const char *word) {
    return text->len == strlen(word) && ngx_strncmp(text->data, word, text->len) == 0;
}

static bool set_flag(struct bli_ngx_check *check, const ngx_str_t *text) {
    if (is_word(text, "tls"))
        check->tls = check->expected.tls = true;
    else if (is_word(text, "mandatory"))
        check->config.mandatory = true;
    else
        return false;
    return true;
}

/* ---- TLS ---- */

#if (NGX_HTTP_SSL)
/* As proxy_pass does by default: certificates are not verified. */
static ngx_int_t create_ssl(ngx_conf_t *cf, struct bli_ngx_check *check) {
    ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(cf->pool, 0);
    check->ssl = ngx_pcalloc(cf->pool, sizeof *check->ssl);
    if (!cleanup || !check->ssl)
        return NGX_ERROR;
    check->ssl->log = cf->log;
    if (ngx_ssl_create(check->ssl, NGX_SSL_TLSv1_2 | NGX_SSL_TLSv1_3, NULL) != NGX_OK)
        return NGX_ERROR;
    cleanup->handler = ngx_ssl_cleanup_ctx;
    cleanup->data = check->ssl;
    if (check->expected.protocol == BAL_CHECK_GRPC &&
        SSL_CTX_set_alpn_protos(check->ssl->ctx, (const u_char *)"\x02h2", 3) != 0)
        return NGX_ERROR;
    return NGX_OK;
}
#else
static ngx_int_t create_ssl(ngx_conf_t *cf, struct bli_ngx_check *check) {
    (void)check;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast_check: this nginx has no TLS; leave out tls");
    return NGX_ERROR;
}
#endif

/* ---- the directive ---- */

static bool read_protocol(const ngx_str_t *text, enum bal_check_protocol *protocol) {
    static const char *const words[] = {
        [BAL_CHECK_TCP] = "tcp", [BAL_CHECK_HTTP] = "http", [BAL_CHECK_GRPC] = "grpc"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(text, words[i])) {
            *protocol = (enum bal_check_protocol)i;
            return true;
        }
    return false;
}

static struct bli_ngx_check *new_check(ngx_conf_t *cf) {
    struct bli_ngx_check *check = ngx_pcalloc(cf->pool, sizeof *check);
    if (!check)
        return NULL;
    check->file = cf->conf_file->file.name;
    check->line = cf->conf_file->line;
    check->config = (struct bal_check_config){.interval_ns = INTERVAL_MS * UINT64_C(1000000),
                                              .timeout_ns = TIMEOUT_MS * UINT64_C(1000000),
                                              .rises = RISES,
                                              .falls = FALLS};
    strcpy(check->expected.uri, "/");
    bal_check_ranges_parse(&check->expected, "200-399", 7);
    return check;
}

/* Which upstream this is, is the name of the host unless host= says otherwise: as with proxy_pass. */
static bool set_default_host(ngx_conf_t *cf, struct bli_ngx_check *check) {
    const ngx_http_upstream_srv_conf_t *us = ngx_http_conf_get_module_srv_conf(cf, ngx_http_upstream_module);
    return check->host_given || copy_text(check->expected.host, BAL_CHECK_TEXT, &us->host, true);
}

static char *read_options(ngx_conf_t *cf, struct bli_ngx_check *check) {
    const ngx_str_t *text = cf->args->elts;
    char *result = NGX_CONF_OK;
    for (ngx_uint_t i = 2; i < cf->args->nelts; i++)
        set_flag(check, &text[i]);
    for (ngx_uint_t i = 2; result == NGX_CONF_OK && i < cf->args->nelts; i++)
        if (!set_flag(check, &text[i]))
            result = bli_ngx_option_set(
                cf, options, sizeof options / sizeof *options, check, &text[i],
                "uri=, interval=, timeout=, rises=, falls=, status=, body=, service=, port=, host=, tls or "
                "mandatory");
    return result;
}

char *bli_ngx_check_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    struct bli_ngx_upstream *upstream = conf;
    const ngx_str_t *text = cf->args->elts;
    static const ngx_str_t nothing = ngx_string("");
    (void)command;
    if (upstream->check)
        return (char *)"is duplicate";
    struct bli_ngx_check *check = new_check(cf);
    if (!check)
        return NGX_CONF_ERROR;
    if (cf->args->nelts < 2 || !read_protocol(&text[1], &check->expected.protocol))
        return bli_ngx_option_error(cf, "unknown protocol \"", cf->args->nelts < 2 ? &nothing : &text[1],
                                    "http, tcp or grpc, as in ballast_check http uri=/health");
    char *result = read_options(cf, check);
    if (result != NGX_CONF_OK)
        return result;
    if (!set_default_host(cf, check)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "ballast_check: the name of the upstream is no name of a host; use host=");
        return NGX_CONF_ERROR;
    }
    if (check->tls && create_ssl(cf, check) != NGX_OK)
        return NGX_CONF_ERROR;
    check->size = bal_check_request(&check->expected, check->request, sizeof check->request);
    upstream->check = check;
    return NGX_CONF_OK;
}

/* ---- when all is known ---- */

/* port= replaces the port of a server, which must have one. */
static ngx_int_t check_ports(ngx_conf_t *cf, const struct bli_ngx_check *check,
                             const ngx_http_upstream_rr_peers_t *rr_peers) {
    for (; check->port && rr_peers; rr_peers = rr_peers->next)
        for (const ngx_http_upstream_rr_peer_t *peer = rr_peers->peer; peer; peer = peer->next)
            if (peer->sockaddr->sa_family == AF_UNIX) {
                ngx_log_error(
                    NGX_LOG_EMERG, cf->log, 0,
                    "ballast_check: server \"%V\" has no port, so port= cannot be for it; leave out "
                    "port= in %V:%ui",
                    &peer->name, &check->file, check->line);
                return NGX_ERROR;
            }
    return NGX_OK;
}

ngx_int_t bli_ngx_check_complete(ngx_conf_t *cf, const struct bli_ngx_upstream *upstream,
                                 const ngx_http_upstream_rr_peers_t *rr_peers) {
    const struct bli_ngx_check *check = upstream->check;
    if (!upstream->stations)
        return check_ports(cf, check, rr_peers);
    ngx_log_error(
        NGX_LOG_EMERG, cf->log, 0,
        "ballast_check: servers of upstream \"%V\" have stations (listen=), which know whether their "
        "app is up; leave out ballast_check in %V:%ui",
        &upstream->us->host, &check->file, check->line);
    return NGX_ERROR;
}

ngx_int_t bli_ngx_check_verify_all(ngx_conf_t *cf) {
    const ngx_http_upstream_main_conf_t *conf =
        ngx_http_conf_get_module_main_conf(cf, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    for (ngx_uint_t i = 0; i < conf->upstreams.nelts; i++) {
        const struct bli_ngx_upstream *b =
            us[i]->srv_conf ? ngx_http_conf_upstream_srv_conf(us[i], ngx_http_ballast_module) : NULL;
        if (!b || !b->check || b->us)
            continue;
        ngx_log_error(
            NGX_LOG_EMERG, cf->log, 0,
            "ballast_check: upstream \"%V\" has no directive ballast, whose servers are checked; add "
            "\"ballast;\", or leave out ballast_check in %V:%ui",
            &us[i]->host, &b->check->file, b->check->line);
        return NGX_ERROR;
    }
    return NGX_OK;
}
