/* The directive `ballast POLICY [slots=K] [hold=N,T] [class=$variable] [quarantine=K,T|off] [zone=SIZE]
 * [listen=ADDRESS] [record=N];` */
#include "upstream.h"
#include "option.h"

#include <string.h>

enum {
    HELD = 1000, /* unless hold= says otherwise */
    HOLD_MS = 10000,
    FAILURES = 3, /* unless quarantine= does */
    BACK_OFF_MS = 1000,
};

/* ---- options ---- */

static char *set_slots(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bal_ngx_upstream *b = conf;
    if (bal_ngx_option_number(value->data, value->data + value->len, 1, 1000000, &b->slots))
        return NGX_CONF_OK;
    return bal_ngx_option_wrong(cf, "\"slots=", value,
                                "the number of requests that a server works on at once, from 1 on");
}

static char *set_hold(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bal_ngx_upstream *b = conf;
    if (!(bal_policy_flags(&b->policy) & BAL_MAY_HOLD)) {
        ngx_conf_log_error(
            NGX_LOG_EMERG, cf, 0,
            "ballast: policy '%s' never lets requests wait; use hold= with one that does, such "
            "as jiq:else=hold",
            b->text);
        return NGX_CONF_ERROR;
    }
    if (bal_ngx_option_pair(value, 1 << 24, &b->held, &b->hold))
        return NGX_CONF_OK;
    return bal_ngx_option_wrong(cf, "\"hold=", value,
                                "hold=N,T: at most N requests wait, for at most T, as in hold=1000,10s");
}

static char *set_class(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bal_ngx_upstream *b = conf;
    b->class = bal_ngx_option_class(cf, value);
    if (!b->class)
        return NGX_CONF_ERROR;
    b->classes = bal_policy_flags(&b->policy) & BAL_TAKES_RANKS ? 2 : BAL_CLASSES_MAX;
    return NGX_CONF_OK;
}

static char *set_quarantine(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bal_ngx_upstream *b = conf;
    if (value->len == 3 && ngx_strncmp(value->data, "off", 3) == 0) {
        b->failures = 0;
        return NGX_CONF_OK;
    }
    if (bal_ngx_option_pair(value, 1000000, &b->failures, &b->back_off))
        return NGX_CONF_OK;
    return bal_ngx_option_wrong(
        cf, "\"quarantine=", value,
        "off, or quarantine=K,T: after K failures in a row for T, as in quarantine=3,1s");
}

static char *set_zone(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bal_ngx_upstream *b = conf;
    const ssize_t size = ngx_parse_size(value);
    if (size <= 0)
        return bal_ngx_option_wrong(cf, "\"zone=", value, "a size, as in zone=8m");
    b->zone = (size_t)size;
    return NGX_CONF_OK;
}

static char *set_listen(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bal_ngx_upstream *b = conf;
    return bal_ngx_mail_parse(cf, "listen=", value, &b->listen) == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *set_record(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bal_ngx_upstream *b = conf;
    if (bal_ngx_option_number(value->data, value->data + value->len, 0, BAL_NGX_RECORDS_MOST, &b->record))
        return NGX_CONF_OK;
    return bal_ngx_option_wrong(cf, "\"record=", value,
                                "the number of requests that are remembered, up to 16777216; 0: none");
}

static const struct bal_ngx_option options[] = {
    {"slots=", set_slots}, {"hold=", set_hold},     {"class=", set_class},   {"quarantine=", set_quarantine},
    {"zone=", set_zone},   {"listen=", set_listen}, {"record=", set_record},
};

/* Whether servers have stations must be known before the policy can be judged. */
static bool has_stations(const ngx_conf_t *cf) {
    const ngx_str_t *text = cf->args->elts;
    for (ngx_uint_t i = 2; i < cf->args->nelts; i++)
        if (ngx_strncmp(text[i].data, "listen=", strlen("listen=")) == 0)
            return true;
    return false;
}

/* ---- the policy ---- */

/* Can it be hosted here at all? A fleet of any size will tell. */
static char *set_policy(ngx_conf_t *cf, struct bal_ngx_upstream *b, const ngx_str_t *text) {
    const struct bal_dispatcher_config any = {.servers = 1 << 16,
                                              .owners = 1,
                                              .requests = 1,
                                              .stations = b->stations,
                                              .probe_ns = 1000000,
                                              .beat_ns = 1000000,
                                              .id = 1,
                                              .boot = 1};
    struct bal_error err;
    enum bal_code code = bal_policy_parse((const char *)text->data, &b->policy, &err);
    if (!code)
        code = bal_dispatcher_check(&b->policy, &any, &err);
    if (!code && bal_policy_print(&b->policy, b->text, sizeof b->text) >= sizeof b->text)
        code = bal_fail(&err, BAL_E_RANGE, "the policy's text is too long");
    if (!code)
        return NGX_CONF_OK;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast: %s", err.text);
    return NGX_CONF_ERROR;
}

/* ---- when all servers are known ---- */

/* Weights are for those that compare own counts or choose by them; to others they would mean nothing. */
static ngx_int_t check_weights(ngx_conf_t *cf, const struct bal_ngx_upstream *b) {
    const ngx_http_upstream_server_t *server = b->us->servers->elts;
    if (bal_policy_flags(&b->policy) & (BAL_NEEDS_OWN | BAL_TAKES_WEIGHTS))
        return NGX_OK;
    for (ngx_uint_t i = 0; i < b->us->servers->nelts; i++)
        if (server[i].weight != 1) {
            ngx_log_error(
                NGX_LOG_EMERG, cf->log, 0,
                "ballast: policy '%s' does not look at weights, but server \"%V\" of upstream \"%V\" "
                "has weight=%ui; leave it out (a fast server is idle more often), or use own or "
                "jiq:else=own in %V:%ui",
                b->text, &server[i].name, &b->us->host, server[i].weight, &b->file, b->line);
            return NGX_ERROR;
        }
    return NGX_OK;
}

static ngx_int_t init_upstream(ngx_conf_t *cf, ngx_http_upstream_srv_conf_t *us) {
    struct bal_ngx_upstream *b = ngx_http_conf_upstream_srv_conf(us, ngx_http_ballast_module);
    if (ngx_http_upstream_init_round_robin(cf, us) != NGX_OK || check_weights(cf, b) != NGX_OK)
        return NGX_ERROR;
    const ngx_http_upstream_rr_peers_t *peers = us->peer.data;
    for (b->tiers = 0; peers && b->tiers < TIERS; peers = peers->next, b->tiers++) {
        if (bal_ngx_tier_init(cf, &b->tier[b->tiers], b, peers, b->tiers > 0) != NGX_OK)
            return NGX_ERROR;
        b->tries += peers->tries;
    }
    us->peer.init = bal_ngx_peer_init;
    return NGX_OK;
}

char *bal_ngx_upstream_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    struct bal_ngx_upstream *b = conf;
    const ngx_str_t *text = cf->args->elts;
    (void)command;
    if (b->us)
        return (char *)"is duplicate";
    b->us = ngx_http_conf_get_module_srv_conf(cf, ngx_http_upstream_module);
    if (b->us->peer.init_upstream)
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0, "load balancing method redefined");
    b->file = cf->conf_file->file.name;
    b->line = cf->conf_file->line;
    b->slots = b->classes = 1;
    b->failures = FAILURES;
    b->back_off = BACK_OFF_MS;
    b->stations = has_stations(cf);
    char *result = set_policy(cf, b, &text[1]);
    if (result == NGX_CONF_OK && bal_policy_flags(&b->policy) & BAL_MAY_HOLD) {
        b->held = HELD;
        b->hold = HOLD_MS;
    }
    for (ngx_uint_t i = 2; result == NGX_CONF_OK && i < cf->args->nelts; i++)
        result = bal_ngx_option_set(cf, options, sizeof options / sizeof *options, b, &text[i],
                                    "slots=, hold=, class=, quarantine=, zone=, listen= or record=");
    if (result == NGX_CONF_OK && bal_policy_flags(&b->policy) & BAL_TAKES_RANKS && !b->class)
        ngx_conf_log_error(
            NGX_LOG_WARN, cf, 0,
            "ballast: policy '%s' tells classes apart, but all requests are of one; use class=, as "
            "in class=$http_priority",
            b->text);
    b->us->peer.init_upstream = init_upstream;
    b->us->flags = NGX_HTTP_UPSTREAM_CREATE | NGX_HTTP_UPSTREAM_WEIGHT | NGX_HTTP_UPSTREAM_MAX_CONNS |
                   NGX_HTTP_UPSTREAM_MAX_FAILS | NGX_HTTP_UPSTREAM_FAIL_TIMEOUT | NGX_HTTP_UPSTREAM_DOWN |
                   NGX_HTTP_UPSTREAM_BACKUP;
    return result;
}
