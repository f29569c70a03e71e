/* SPDX-License-Identifier: BSD-2-Clause */
/* The directive `ballast [POLICY] [slots=K] [hold=N,T] [class=$variable] [ejection=K,T|off] [zone=SIZE]
 * [slow_start=T] [listen=ADDRESS [advertise=ADDRESS]
 * [join=N[,RANGE...]]] [record=N] [abort=wait|close] [hold.CLASS=N,T]
 * [orca=on|FIELDS];` */
#include "upstream.h"
#include "directive_option.h"
#include "health_check.h"
#include "names.h"
#include "orca.h"

#include <math.h>
#include <string.h>

enum {
    HELD = 1000, /* unless hold= says otherwise */
    HOLD_MS = 10000,
    FAILURES = 3, /* unless ejection= does */
    BACK_OFF_MS = 1000,
};

/* ---- options ---- */

static char *set_slots(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    b->slots_given = true;
    return bli_ngx_option_slots(cf, value, "a server", 1000000, &b->min_slots, &b->slots);
}

static bool check_hold(ngx_conf_t *cf, const struct bli_ngx_upstream *b, const char *option) {
    if (bal_policy_flags(&b->policy) & BAL_MAY_HOLD)
        return true;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "ballast: policy '%s' never lets requests wait; use %s with one that does, such "
                       "as jiq:else=hold",
                       b->text, option);
    return false;
}

static char *set_hold(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    if (!check_hold(cf, b, "hold="))
        return NGX_CONF_ERROR;
    b->hold_given = true;
    if (bli_ngx_option_pair(value, 1 << 24, &b->held, &b->hold))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"hold=", value,
                                "hold=N,T: at most N requests wait, for at most T, as in hold=1000,10s");
}

static char *set_class_limit(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    return check_hold(cf, b, "hold.CLASS=") ? bli_ngx_class_limit_set(cf, "hold.", value, b->class_limit)
                                            : NGX_CONF_ERROR;
}

static char *set_class(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    b->class = bli_ngx_option_class(cf, value);
    if (!b->class)
        return NGX_CONF_ERROR;
    b->classes = bal_policy_flags(&b->policy) & BAL_TAKES_RANKS ? 2 : BAL_CLASSES_MAX;
    return NGX_CONF_OK;
}

static char *set_ejection(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    if (value->len == 3 && ngx_strncmp(value->data, "off", 3) == 0) {
        b->failures = 0;
        return NGX_CONF_OK;
    }
    if (bli_ngx_option_pair(value, 1000000, &b->failures, &b->back_off))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"ejection=", value,
                                "off, or ejection=K,T: after K failures in a row for T, as in ejection=3,1s");
}

static char *set_zone(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    const ssize_t size = ngx_parse_size(value);
    if (size <= 0)
        return bli_ngx_option_error(cf, "\"zone=", value, "a size, as in zone=8m");
    b->zone = (size_t)size;
    return NGX_CONF_OK;
}

static char *set_listen(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    return bli_ngx_address_parse_listen(cf, value, &b->listen) == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *set_advertise(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    return bli_ngx_address_parse(cf, "advertise=", value, &b->own) == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *set_join(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    return bli_ngx_join_set(cf, value, &b->join);
}

static char *set_record(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    if (bli_ngx_option_number(value->data, value->data + value->len, 0, BLI_NGX_RECORDS_MAX, &b->record))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"record=", value,
                                "the number of requests that are remembered, up to 16777216; 0: none");
}

static char *set_urgent(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    return bli_ngx_option_urgent(cf, value, &b->urgency.percent);
}

static char *set_slow_start(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    ngx_str_t text = *value;
    const ngx_int_t ms = text.len ? ngx_parse_time(&text, 0) : NGX_ERROR;
    if (b->stations)
        return bli_ngx_option_error(cf, "\"slow_start=", value,
                                    "it with servers that have no stations: leave out one of it and listen=");
    if (ms == NGX_ERROR || ms < 1 || ms > 24 * 3600 * 1000)
        return bli_ngx_option_error(
            cf, "\"slow_start=", value,
            "the time in which the share of a server that has come back grows, 1ms to 1d, as in "
            "slow_start=30s");
    b->slow_start = (ngx_msec_t)ms;
    return NGX_CONF_OK;
}

static char *set_abort(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_upstream *b = conf;
    return bli_ngx_option_abort(cf, value, &b->abort_frees);
}

static char *set_orca(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    return bli_ngx_orca_set(cf, value, conf);
}

static const struct bli_ngx_option options[] = {
    {"slots=", set_slots, false},         {"hold=", set_hold, false},
    {"hold.", set_class_limit, true},     {"class=", set_class, false},
    {"ejection=", set_ejection, false},   {"zone=", set_zone, false},
    {"listen=", set_listen, false},       {"record=", set_record, false},
    {"abort=", set_abort, false},         {"slow_start=", set_slow_start, false},
    {"urgent=", set_urgent, false},       {"advertise=", set_advertise, false},
    {"join=", set_join, false},           {"orca=", set_orca, false},
    {"quarantine=", set_ejection, false}, /* deprecated: ejection= */
};

/* Is this option given? Some must be known before the policy can be chosen or checked. */
static bool has_option(const ngx_conf_t *cf, const char *name) {
    const ngx_str_t *text = cf->args->elts;
    for (ngx_uint_t i = 1; i < cf->args->nelts; i++)
        if (ngx_strncmp(text[i].data, name, strlen(name)) == 0)
            return true;
    return false;
}

/* ---- the policy ---- */

/* Is a policy named? An option has its '=' in front of any ':', and a policy does not. */
static bool names_policy(const ngx_conf_t *cf) {
    const ngx_str_t *text = cf->args->elts;
    const u_char *sign =
        cf->args->nelts > 1 ? (const u_char *)strpbrk((const char *)text[1].data, "=:") : NULL;
    return cf->args->nelts > 1 && !(sign && *sign == '=');
}

/* The recommended policy for what is configured. Where servers have stations their slots are known, and a
 * request waits best where any of them can take it. Otherwise slots are not known for sure, and a request
 * goes to the server with the fewest of ours or, where servers report it, of all, unless hold= asks for more.
 */
static ngx_str_t default_policy(const ngx_conf_t *cf, const struct bli_ngx_upstream *b) {
    const ngx_str_t hold = ngx_string("jiq:else=hold"), least = ngx_string("least-conn:ties=turn");
    const ngx_str_t shortest = ngx_string("jsq");
    return b->stations || has_option(cf, "hold=") ? hold : has_option(cf, "orca=") ? shortest : least;
}

/* Can this policy run here at all? The check works with a fleet of any size. */
static char *set_policy(ngx_conf_t *cf, struct bli_ngx_upstream *b, const ngx_str_t *text) {
    const struct bal_dispatcher_config any = {.servers = 1 << 16,
                                              .workers = 1,
                                              .requests = 1,
                                              .stations = b->stations,
                                              .probe_ns = 1000000,
                                              .beat_ns = 1000000,
                                              .id = 1,
                                              .boot = 1};
    struct bal_error err;
    enum bal_code code = bal_policy_parse((const char *)text->data, &b->policy, &err);
    if (!code)
        bal_policy_wait_for_power(&b->policy);
    if (!code)
        code = bal_dispatcher_check(&b->policy, &any, &err);
    if (!code && bal_policy_print(&b->policy, b->text, sizeof b->text) >= sizeof b->text)
        code = bal_fail(&err, BAL_E_RANGE, "the policy's text is too long");
    if (!code) {
        b->now.spec = b->policy;
        memcpy(b->now.text, b->text, sizeof b->text);
        memcpy(b->wanted, b->text, sizeof b->text);
        return NGX_CONF_OK;
    }
    const bool unknown = ngx_strncmp(err.text, "unknown policy", strlen("unknown policy")) == 0;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast: %s%s", err.text,
                       unknown ? " (one from a file is loaded above this line, by ballast_plugin FILE;, and "
                                 "used by its name)"
                               : "");
    return NGX_CONF_ERROR;
}

/* ---- when all servers are known ---- */

bool bli_ngx_uses_weights(const struct bli_ngx_upstream *b) {
    return bal_policy_flags(&b->now.spec) & (BAL_NEEDS_OWN | BAL_TAKES_WEIGHTS);
}

/* Weights are for those that compare own counts or choose by them; others would ignore them. */
static ngx_int_t check_weights(ngx_conf_t *cf, const struct bli_ngx_upstream *b) {
    const ngx_http_upstream_server_t *server = b->us->servers->elts;
    if (bli_ngx_uses_weights(b))
        return NGX_OK;
    for (ngx_uint_t i = 0; i < b->us->servers->nelts; i++)
        if (server[i].weight != 1) {
            ngx_log_error(
                NGX_LOG_EMERG, cf->log, 0,
                "ballast: policy '%s' does not look at weights, but server \"%V\" of upstream \"%V\" "
                "has weight=%ui; leave it out (a fast server is idle more often), or use own or "
                "jiq:else=least-conn in %V:%ui",
                b->text, &server[i].name, &b->us->host, server[i].weight, &b->file, b->line);
            return NGX_ERROR;
        }
    return NGX_OK;
}

/* `sticky` of nginx (since 1.29.6) requests the server of a session from the balancing method, which ours
 * does not support. */
static ngx_int_t check_sticky(ngx_conf_t *cf, const struct bli_ngx_upstream *b) {
    ngx_module_t *const *module = cf->cycle->modules;
    while (*module && ngx_strcmp((*module)->name, "ngx_http_upstream_sticky_module") != 0)
        module++;
    void *const *conf = *module ? b->us->srv_conf[(*module)->ctx_index] : NULL;
    if (!conf || !bli_ngx_sticky_is_used(conf))
        return NGX_OK;
    ngx_log_error(
        NGX_LOG_EMERG, cf->log, 0,
        "ballast: sticky in upstream \"%V\" would have no effect, as the policy chooses the server of "
        "each request; leave out one of the two in %V:%ui",
        &b->us->host, &b->file, b->line);
    return NGX_ERROR;
}

/* With `zone` Angie expects its own record of a request where ours is. */
ngx_int_t bli_ngx_check_zone(ngx_conf_t *cf, const ngx_http_upstream_srv_conf_t *us, const char *directive,
                             const ngx_str_t *file, ngx_uint_t line) {
#if BLI_NGX_ANGIE
    if (us->shm_zone) {
        ngx_log_error(
            NGX_LOG_EMERG, cf->log, 0,
            "%s: Angie's zone is not possible in upstream \"%V\", and not needed: the module shares "
            "memory of its own; leave zone out in %V:%ui",
            directive, &us->host, file, line);
        return NGX_ERROR;
    }
#else
    (void)cf, (void)us, (void)directive, (void)file, (void)line;
#endif
    return NGX_OK;
}

/* The station of a server must be known by its address from the start. */
static ngx_int_t check_names(ngx_conf_t *cf, struct bli_ngx_upstream *b) {
    b->resolves = bli_ngx_resolved_is_used(b->us);
    if (!b->resolves || !b->stations) {
        b->resolves |= b->names != NULL;
        return bli_ngx_names_check(cf, b);
    }
    ngx_log_error(
        NGX_LOG_EMERG, cf->log, 0,
        "ballast: a server of upstream \"%V\" has resolve, and listen= is for servers with stations, "
        "whose addresses must be known; leave out one of the two in %V:%ui",
        &b->us->host, &b->file, b->line);
    return NGX_ERROR;
}

static int by_weight(const void *a, const void *b) {
    const ngx_http_upstream_server_t *const *s = a, *const *t = b;
    return ((*s)->weight > (*t)->weight) - ((*s)->weight < (*t)->weight);
}

/* The largest load that a policy bears which compares d servers: requests whose d all lie among the k slowest
 * must be served by these, for every k (Foss and Chernova 1998). */
static double critical_load(const ngx_http_upstream_server_t *const *server, ngx_uint_t count, double d) {
    double all = 0, capacity = 0, critical = 1;
    for (ngx_uint_t i = 0; i < count; i++)
        all += (double)server[i]->weight;
    for (ngx_uint_t k = 1; k <= count; k++) {
        double among = 1;
        capacity += (double)server[k - 1]->weight;
        for (double i = 0; i < d; i++)
            among *= ngx_max((double)k - i, 0) / ((double)count - i);
        if (among > 0)
            critical = ngx_min(critical, capacity / all / among);
    }
    return critical;
}

/* How many servers a policy compares for a request, drawn uniformly; NAN: all, or it draws by weight. Those
 * that compare few and do not look at weights (pod, random) are refused where there are any. */
static double compared(const struct bal_policy_spec *policy) {
    const char *name = policy->policy->name;
    return strcmp(name, "least-conn") == 0 || strcmp(name, "ewma") == 0 ? bal_policy_value(policy, "d") : NAN;
}

/* Weights are speeds: a policy that compares few servers may send too much to slow ones. */
static ngx_int_t warn_of_instability(ngx_conf_t *cf, const struct bli_ngx_upstream *b) {
    const ngx_http_upstream_server_t *server = b->us->servers->elts;
    const double d = compared(&b->policy);
    ngx_uint_t count = 0;
    if (!(d >= 1) || b->resolves) /* how many servers a name means is not known yet */
        return NGX_OK;
    const ngx_http_upstream_server_t **active =
        ngx_palloc(cf->pool, b->us->servers->nelts * sizeof(ngx_http_upstream_server_t *));
    if (!active)
        return NGX_ERROR;
    for (ngx_uint_t i = 0; i < b->us->servers->nelts; i++)
        if (!server[i].backup && !server[i].down)
            active[count++] = &server[i];
    if ((double)count < d)
        return NGX_OK;
    ngx_qsort(active, count, sizeof *active, by_weight);
    const double critical = critical_load(active, count, d);
    if (critical < 1)
        ngx_log_error(
            NGX_LOG_WARN, cf->log, 0,
            "ballast: policy '%s' is unstable above load %.2f if the weights of upstream \"%V\" "
            "are speeds: too "
            "many requests are offered slow servers alone; use own or jiq:else=least-conn in %V:%ui",
            b->text, critical, &b->us->host, &b->file, b->line);
    return NGX_OK;
}

static ngx_int_t init_upstream(ngx_conf_t *cf, ngx_http_upstream_srv_conf_t *us) {
    struct bli_ngx_upstream *b = ngx_http_conf_upstream_srv_conf(us, ngx_http_ballast_module);
    if (ngx_http_upstream_init_round_robin(cf, us) != NGX_OK || check_weights(cf, b) != NGX_OK ||
        check_sticky(cf, b) != NGX_OK || bli_ngx_check_zone(cf, us, "ballast", &b->file, b->line) != NGX_OK ||
        check_names(cf, b) != NGX_OK || warn_of_instability(cf, b) != NGX_OK)
        return NGX_ERROR;
    if (b->stations && bli_ngx_join_complete(cf, &b->own, bli_ngx_keys(cf), &b->join) != NGX_OK)
        return NGX_ERROR;
    const ngx_http_upstream_rr_peers_t *rr_peers = us->peer.data;
    for (b->peer_sets = 0; rr_peers && b->peer_sets < PEER_SETS; rr_peers = rr_peers->next, b->peer_sets++) {
        if (bli_ngx_peers_init(cf, &b->peers[b->peer_sets], b, rr_peers, b->peer_sets > 0) != NGX_OK)
            return NGX_ERROR;
        b->tries += rr_peers->tries;
    }
    if (b->check && bli_ngx_check_complete(cf, b, us->peer.data) != NGX_OK)
        return NGX_ERROR;
    us->peer.init = bli_ngx_peer_init;
    return NGX_OK;
}

/* A server with slots=1 gets one request at a time: too small a number throttles it, and the right one cannot
 * be guessed. Stations know their own. */
static char *check_slots(ngx_conf_t *cf, const struct bli_ngx_upstream *b) {
    if (b->min_slots && b->stations) {
        ngx_conf_log_error(
            NGX_LOG_EMERG, cf, 0,
            "ballast: slots=auto with listen=: other dispatchers send to the same servers, and "
            "only their stations see all requests; use slots=auto at ballast_station, and none here");
        return NGX_CONF_ERROR;
    }
    if (!(bal_policy_flags(&b->policy) & BAL_MAY_HOLD) || b->slots_given || b->stations)
        return NGX_CONF_OK;
    ngx_conf_log_error(
        NGX_LOG_EMERG, cf, 0,
        "ballast: policy '%s' lets requests wait until a server has a free slot, and slots= is "
        "missing; use the number of requests that a server works on at once, its threads or "
        "processes, as in slots=4, or slots=auto, or jiq:else=least-conn where that is not known",
        b->text);
    return NGX_CONF_ERROR;
}

static bool needs_quotes(const ngx_str_t *text) {
    for (size_t k = 0; k < text->len; k++)
        if (strchr(" \t\r\n;{}\"'\\#", text->data[k]))
            return true;
    return false;
}

/* Keeps the options of the directive as a configuration has them. False: out of memory. */
static bool keep_options(ngx_conf_t *cf, struct bli_ngx_upstream *b) {
    const ngx_str_t *text = cf->args->elts;
    const ngx_uint_t first = b->default_policy ? 1 : 2;
    size_t room = 1;
    for (ngx_uint_t i = first; i < cf->args->nelts; i++)
        room += 2 * text[i].len + 3;
    u_char *at = b->options.data = ngx_pnalloc(cf->pool, room);
    for (ngx_uint_t i = first; at && i < cf->args->nelts; i++) {
        const bool quoted = needs_quotes(&text[i]);
        if (i > first)
            *at++ = ' ';
        if (quoted)
            *at++ = '"';
        for (size_t k = 0; k < text[i].len; k++) {
            if (text[i].data[k] == '"' || text[i].data[k] == '\\')
                *at++ = '\\';
            *at++ = text[i].data[k];
        }
        if (quoted)
            *at++ = '"';
    }
    b->options.len = at ? (size_t)(at - b->options.data) : 0;
    return at != NULL;
}

char *bli_ngx_upstream_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    struct bli_ngx_upstream *b = conf;
    const ngx_str_t *text = cf->args->elts;
    const ngx_str_t joined = ngx_string("join");
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
    b->stations = has_option(cf, "listen=");
    b->default_policy = !names_policy(cf);
    const ngx_str_t policy = b->default_policy ? default_policy(cf, b) : text[1];
    char *result = set_policy(cf, b, &policy);
    b->held = HELD; /* whatever the policy is: it may be another one at run time */
    b->hold = HOLD_MS;
    for (ngx_uint_t i = b->default_policy ? 1 : 2; result == NGX_CONF_OK && i < cf->args->nelts; i++)
        result = bli_ngx_option_set(cf, options, sizeof options / sizeof *options, b, &text[i],
                                    "slots=, hold=, hold.CLASS=, class=, ejection=, slow_start=, zone=, "
                                    "listen=, advertise=, join=, orca=, record=, abort= or urgent=");
    if (result == NGX_CONF_OK && !keep_options(cf, b))
        result = NGX_CONF_ERROR;
    if (result == NGX_CONF_OK && b->join.most && !b->stations)
        result = (char *)"has join= without listen=, where stations are heard";
    if (result == NGX_CONF_OK && b->join.most && !bli_ngx_names_add_placeholder(cf, b->us, &joined, 1, false))
        result = NGX_CONF_ERROR;
    if (result == NGX_CONF_OK && bli_ngx_address_complete(cf, &b->listen, &b->own) != NGX_OK)
        result = NGX_CONF_ERROR;
    if (result == NGX_CONF_OK)
        result = bli_ngx_class_limits_check(cf, "hold.", "hold=", b->class_limit, b->classes, b->held);
    if (result == NGX_CONF_OK)
        result = check_slots(cf, b);
    if (result == NGX_CONF_OK)
        result = bli_ngx_option_check_urgent(cf, b->urgency.percent, b->class);
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
#if BLI_NGX_RESOLVES
    b->us->flags |= NGX_HTTP_UPSTREAM_MODIFY;
#endif
    return result;
}

void bli_ngx_upstream_log_default(const struct bli_ngx_upstream *b, ngx_log_t *log) {
    ngx_log_error(
        NGX_LOG_NOTICE, log, 0,
        "ballast: upstream \"%V\" names no policy, and %s is used: an idle server, else %s, in %V:%ui",
        &b->us->host, b->text,
        bal_policy_flags(&b->policy) & BAL_MAY_HOLD ? "the request waits for one"
                                                    : "the one with the fewest requests",
        &b->file, b->line);
}
