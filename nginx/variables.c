/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables for logs: what was chosen for a request, and why. */
#include "process.h"
#include "station_role.h"
#include "upstream.h"

#include <string.h>
#include <time.h>

static ngx_int_t set_text(ngx_http_variable_value_t *v, const void *text, size_t length) {
    v->valid = 1;
    v->not_found = 0;
    v->no_cacheable = 0;
    v->data = (u_char *)text;
    v->len = (unsigned)length & 0xfffffff;
    return NGX_OK;
}

static ngx_int_t set_nothing(ngx_http_variable_value_t *v) {
    v->valid = 0;
    v->not_found = 1;
    return NGX_OK;
}

/* Where a request will go to: proxy_pass names it, or a variable there does. While the variables of
 * proxy_pass itself are read, and when they yield no address, it is unknown. */
static const struct bli_ngx_upstream *upstream_of(const ngx_http_request_t *r) {
    const ngx_http_upstream_t *u = r->upstream;
    const ngx_http_upstream_main_conf_t *conf = ngx_http_get_module_main_conf(r, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    ngx_http_upstream_srv_conf_t *found = u->resolved || !u->conf ? NULL : u->conf->upstream;
    for (ngx_uint_t i = 0; !found && u->resolved && i < conf->upstreams.nelts; i++)
        if (us[i]->host.len == u->resolved->host.len &&
            ngx_strncasecmp(us[i]->host.data, u->resolved->host.data, us[i]->host.len) == 0)
            found = us[i];
    return found && found->srv_conf ? ngx_http_conf_upstream_srv_conf(found, ngx_http_ballast_module) : NULL;
}

static ngx_int_t get_server(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    (void)data;
    return peer && peer->name ? set_text(v, peer->name->data, peer->name->len) : set_nothing(v);
}

const char *bli_ngx_reason_name(enum bal_reason reason) {
    static const char *const names[BAL_REASONS] = {
        [BAL_REASON_TOKEN] = "token",      [BAL_REASON_ELSE] = "else",      [BAL_REASON_RETRY] = "retry",
        [BAL_REASON_HELD] = "held",        [BAL_REASON_NONE_OPEN] = "none", [BAL_REASON_NO_ROOM] = "full",
        [BAL_REASON_TOO_LONG] = "overdue", [BAL_REASON_LEDGER] = "plain",
    };
    return names[reason];
}

static ngx_int_t get_reason(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    (void)data;
    if (!peer)
        return set_nothing(v);
    const char *name = bli_ngx_reason_name((enum bal_reason)peer->reason);
    if (peer->untracked)
        name = bli_ngx_reason_name(BAL_REASON_LEDGER);
    else if (peer->peers != peer->upstream->peers && peer->server)
        name = "backup";
    return set_text(v, name, strlen(name));
}

static ngx_int_t set_formatted(ngx_http_request_t *r, ngx_http_variable_value_t *v, const char *format,
                               uint64_t whole, uint64_t part) {
    u_char *text = ngx_pnalloc(r->pool, 2 * NGX_INT64_LEN + 2);
    if (!text)
        return NGX_ERROR;
    return set_text(v, text, (size_t)(ngx_sprintf(text, format, whole, part) - text));
}

static ngx_int_t get_length(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    (void)data;
    if (!peer || !peer->server || peer->untracked)
        return set_nothing(v);
    return set_formatted(r, v, "%uL", peer->length, 0);
}

static ngx_int_t set_time(ngx_http_request_t *r, ngx_http_variable_value_t *v, uint64_t ns) {
    return set_formatted(r, v, "%uL.%06uL", ns / 1000000000, ns / 1000 % 1000000);
}

/* In wall clock time: now, minus the time since. */
static ngx_int_t get_start(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    struct timespec now;
    (void)data;
    if (!peer || !peer->began_ns)
        return set_nothing(v);
    clock_gettime(CLOCK_REALTIME, &now);
    return set_time(
        r, v, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - (bli_ngx_now() - peer->began_ns));
}

static ngx_int_t get_time(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    (void)data;
    return peer && peer->took_ns ? set_time(r, v, peer->took_ns) : set_nothing(v);
}

static ngx_int_t get_wait(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    (void)data;
    return peer ? set_time(r, v, peer->waited_ns) : set_nothing(v);
}

/* How many requests the server has at most, where a limit is kept here: by policies that let others wait. The
 * limits of stations are not known here, and one that is found changes. */
static ngx_int_t get_slots(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    (void)data;
    if (!peer || !peer->server || peer->untracked || peer->upstream->stations || peer->upstream->min_slots ||
        !(bal_policy_flags(&peer->upstream->now.spec) & BAL_MAY_HOLD))
        return set_nothing(v);
    return set_formatted(r, v, "%uL", peer->upstream->slots, 0);
}

static ngx_int_t get_class(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    (void)data;
    return peer ? set_formatted(r, v, "%uL", peer->rank, 0) : set_nothing(v);
}

/* For the header Ballast-From of a request that is being made, before a server has been chosen. */
static ngx_int_t get_from(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    const struct bli_ngx_upstream *upstream = r->upstream ? upstream_of(r) : NULL;
    (void)data;
    if (!upstream || !upstream->stations)
        return set_nothing(v);
    return set_text(v, upstream->peers[0].transport.signed_as[BLI_NGX_FROM], BLI_NGX_SIGNED);
}

/* For the header Ballast-Moved of a request that goes to another station. */
static ngx_int_t get_moved(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    struct bli_ngx_station_request *visit = bli_ngx_station_request_of(r);
    (void)data;
    if (!visit || !visit->target)
        return set_nothing(v);
    visit->moved_header_sent = true;
    return set_text(v, visit->station->transport.signed_as[BLI_NGX_MOVED], BLI_NGX_SIGNED);
}

static ngx_http_variable_t variables[] = {
    {.name = ngx_string("ballast_server"), .get_handler = get_server},
    {.name = ngx_string("ballast_reason"), .get_handler = get_reason},
    {.name = ngx_string("ballast_length"), .get_handler = get_length},
    {.name = ngx_string("ballast_start"), .get_handler = get_start},
    {.name = ngx_string("ballast_time"), .get_handler = get_time},
    {.name = ngx_string("ballast_wait"), .get_handler = get_wait},
    {.name = ngx_string("ballast_slots"), .get_handler = get_slots},
    {.name = ngx_string("ballast_class"), .get_handler = get_class},
    {.name = ngx_string("ballast_from"), .get_handler = get_from},
    {.name = ngx_string("ballast_moved"), .get_handler = get_moved},
};

ngx_int_t bli_ngx_variables_add(ngx_conf_t *cf) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        ngx_http_variable_t *v = ngx_http_add_variable(cf, &variables[i].name, NGX_HTTP_VAR_NOCACHEABLE);
        if (!v)
            return NGX_ERROR;
        v->get_handler = variables[i].get_handler;
    }
    return NGX_OK;
}
