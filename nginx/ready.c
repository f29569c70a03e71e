/* SPDX-License-Identifier: BSD-2-Clause */
/* The directive `ballast_ready;` and its answer. */
#include "ready.h"

#include "process.h"
#include "station_role.h"
#include "text_buffer.h"
#include "upstream.h"

/* A station that hears nothing of a dispatcher asks it to answer every three seconds. */
enum { HEARD_MS = 7000 };

static bool has_open_server(struct bli_ngx_peers *peers) {
    bool open = false;
    if (!peers->zone.attached || !bli_ngx_zone_lock(&peers->zone))
        return false;
    for (uint32_t number = 0; number < peers->config.servers && !open; number++)
        open = bal_dispatcher_server(peers->d, number).open;
    bli_ngx_zone_unlock(&peers->zone);
    return open;
}

static bool is_dispatcher_ready(struct bli_ngx_upstream *upstream) {
    bool open = false;
    for (ngx_uint_t i = 0; i < upstream->peer_sets; i++)
        open |= has_open_server(&upstream->peers[i]);
    return open;
}

/* Under the lock. Those at a unix socket are not asked to answer: it is enough that one has been heard. */
static bool is_heard(const struct bli_ngx_station *station, uint64_t now) {
    const uint64_t most = station->config.join.own.family ? (uint64_t)HEARD_MS * 1000000 : UINT64_MAX - 1;
    return bal_station_heard_within(station->s, now, most);
}

/* NULL: it is. One without dispatchers, or that only steals, is ready when it runs. */
static const char *find_station_fault(struct bli_ngx_station *station) {
    const char *fault = NULL;
    const bool speaks = station->transport.zone != NULL;
    const bool reports = station->dispatchers.nelts || station->unresolved.nelts || station->join.most;
    if (!station->zone.attached || !bli_ngx_zone_lock(&station->zone))
        return "cannot be looked at";
    if (bal_station_view(station->s).power == BAL_POWER_DRAINING)
        fault = "is draining";
    else if (speaks && reports && !is_heard(station, bli_ngx_now()))
        fault = "is heard by no dispatcher";
    bli_ngx_zone_unlock(&station->zone);
    return fault;
}

/* Returns whether all are ready; those that are not get a line each. */
static bool print_faults(const ngx_http_request_t *r, struct bli_ngx_text *text) {
    const ngx_http_upstream_main_conf_t *conf = ngx_http_get_module_main_conf(r, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    for (ngx_uint_t i = 0; i < conf->upstreams.nelts; i++) {
        struct bli_ngx_upstream *upstream =
            us[i]->srv_conf ? ngx_http_conf_upstream_srv_conf(us[i], ngx_http_ballast_module) : NULL;
        struct bli_ngx_station *station = bli_ngx_station_of(us[i]);
        const char *fault = station ? find_station_fault(station) : NULL;
        if (upstream && upstream->us && !is_dispatcher_ready(upstream))
            bli_ngx_text_printf(text, "upstream %V: no server is open\n", &us[i]->host);
        if (fault)
            bli_ngx_text_printf(text, "station %V: it %s\n", &us[i]->host, fault);
    }
    return text->length == 0;
}

static void free_text(void *data) {
    struct bli_ngx_text *text = data;
    ngx_free(text->data);
}

static ngx_int_t send_text(ngx_http_request_t *r, ngx_uint_t status, const struct bli_ngx_text *text) {
    ngx_buf_t *buf = ngx_calloc_buf(r->pool);
    ngx_chain_t chain = {.buf = buf};
    if (!buf)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    buf->pos = buf->start = text->data;
    buf->last = buf->end = text->data + text->length;
    buf->memory = 1;
    buf->last_buf = r == r->main;
    buf->last_in_chain = 1;
    ngx_str_set(&r->headers_out.content_type, "text/plain");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.status = status;
    r->headers_out.content_length_n = (off_t)text->length;
    const ngx_int_t rc = ngx_http_send_header(r);
    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only)
        return rc;
    return ngx_http_output_filter(r, &chain);
}

static ngx_int_t handle_request(ngx_http_request_t *r) {
    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD)))
        return NGX_HTTP_NOT_ALLOWED;
    const ngx_int_t rc = ngx_http_discard_request_body(r);
    ngx_pool_cleanup_t *cleanup =
        rc == NGX_OK ? ngx_pool_cleanup_add(r->pool, sizeof(struct bli_ngx_text)) : NULL;
    if (!cleanup)
        return rc == NGX_OK ? NGX_HTTP_INTERNAL_SERVER_ERROR : rc;
    struct bli_ngx_text *text = cleanup->data;
    *text = (struct bli_ngx_text){0};
    cleanup->handler = free_text;
    const bool ready = print_faults(r, text);
    if (ready)
        bli_ngx_text_printf(text, "ready\n");
    if (text->failed)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    return send_text(r, ready ? NGX_HTTP_OK : NGX_HTTP_SERVICE_UNAVAILABLE, text);
}

char *bli_ngx_ready_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    ngx_http_core_loc_conf_t *location = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    (void)command;
    (void)conf;
    if (location->handler == handle_request)
        return (char *)"is duplicate";
    if (location->handler)
        return (char *)"needs a location of its own, without another directive that answers";
    location->handler = handle_request;
    return NGX_CONF_OK;
}
