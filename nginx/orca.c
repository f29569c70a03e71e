/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the option orca=, and passes reports of load on to the live core. */
#include "orca.h"

#include "directive_option.h"

#include <string.h>

static const ngx_str_t header_name = ngx_string("endpoint-load-metrics");
static const char right[] = "on, or fields that servers send, as in "
                            "orca=waiting:named_metrics.num_requests_waiting,valid:2s; they are "
                            "running:NAME, waiting:NAME, utilization:NAME, of up to 63 letters, digits, "
                            "dots, dashes and underscores, "
                            "and valid:T (1ms to 1h, default 1s)";

enum { VALID_MS = 1000, VALID_MS_MAX = 3600 * 1000 };

/* ---- the option ---- */

static bool set_name(char into[BAL_LOAD_NAME], const u_char *from, const u_char *to) {
    if (*into || from == to || to - from >= BAL_LOAD_NAME)
        return false;
    for (const u_char *c = from; c < to; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              strchr("._-", *c)))
            return false;
    memcpy(into, from, (size_t)(to - from));
    return true;
}

static bool set_valid(struct bli_ngx_upstream *b, const u_char *from, const u_char *to) {
    ngx_str_t text = {(size_t)(to - from), (u_char *)from};
    const ngx_int_t ms = text.len ? ngx_parse_time(&text, 0) : NGX_ERROR;
    if (b->load_ms || ms == NGX_ERROR || ms < 1 || ms > VALID_MS_MAX)
        return false;
    b->load_ms = (ngx_msec_t)ms;
    return true;
}

static bool has_key(const u_char *at, const u_char *end, const char *key) {
    return (size_t)(end - at) >= strlen(key) && ngx_strncmp(at, key, strlen(key)) == 0;
}

static bool set_field(struct bli_ngx_upstream *b, const u_char *at, const u_char *end) {
    if (has_key(at, end, "running:"))
        return set_name(b->load_fields.running, at + strlen("running:"), end);
    if (has_key(at, end, "waiting:"))
        return set_name(b->load_fields.waiting, at + strlen("waiting:"), end);
    if (has_key(at, end, "utilization:"))
        return set_name(b->load_fields.utilization, at + strlen("utilization:"), end);
    return has_key(at, end, "valid:") && set_valid(b, at + strlen("valid:"), end);
}

char *bli_ngx_orca_set(ngx_conf_t *cf, const ngx_str_t *value, struct bli_ngx_upstream *b) {
    const u_char *at = value->data, *end = at + value->len;
    const bool standard = value->len == 2 && ngx_strncmp(at, "on", 2) == 0;
    while (!standard && at <= end) {
        const u_char *comma = memchr(at, ',', (size_t)(end - at));
        const u_char *stop = comma ? comma : end;
        if (!set_field(b, at, stop))
            return bli_ngx_option_error(cf, "\"orca=", value, right);
        at = stop + 1;
    }
    b->load_ms = b->load_ms ? b->load_ms : VALID_MS;
    return NGX_CONF_OK;
}

/* What the processes of a zone must agree on: how long reports count. Names are read by each for itself. */
u_char *bli_ngx_orca_print(u_char *at, const struct bli_ngx_upstream *b) {
    return b->load_ms ? ngx_sprintf(at, " orca=%M", b->load_ms) : at;
}

/* ---- responses ---- */

static void hide_header(ngx_list_t *headers) {
    for (ngx_list_part_t *part = &headers->part; part; part = part->next) {
        ngx_table_elt_t *header = part->elts;
        for (ngx_uint_t i = 0; i < part->nelts; i++)
            if (header[i].key.len == header_name.len &&
                ngx_strncasecmp(header[i].key.data, header_name.data, header_name.len) == 0)
                header[i].hash = 0;
    }
}

/* Is the report of the response for us alone? One from a cache has no peer, and if its upstream is named by a
 * variable that is not looked up: what it says was so when it was stored. */
static bool is_for_us(const ngx_http_request_t *r, const struct bli_ngx_peer_data *peer) {
    const ngx_http_upstream_t *u = r->upstream;
    const ngx_http_upstream_srv_conf_t *us = u->upstream;
    if (peer && peer->u == u)
        return peer->upstream->load_ms;
    if (!us && u->conf)
        us = u->conf->upstream;
    if (us && us->srv_conf) {
        const struct bli_ngx_upstream *b = ngx_http_conf_upstream_srv_conf(us, ngx_http_ballast_module);
        return b->load_ms;
    }
#if (NGX_HTTP_CACHE)
    return !us && r->cached;
#else
    return false;
#endif
}

/* Has this response just come from the server that the core counts it at? */
static bool is_fresh(const ngx_http_request_t *r, const struct bli_ngx_peer_data *peer) {
#if (NGX_HTTP_CACHE)
    if (r->cached)
        return false;
#endif
    return peer && peer->u == r->upstream && peer->state == BLI_PEER_SENT && !peer->untracked &&
           peer->peers->zone.attached;
}

void bli_ngx_orca_pass(ngx_http_request_t *r) {
    const struct bli_ngx_peer_data *peer = bli_ngx_peer_of(r);
    const ngx_table_elt_t *header;
    struct bal_load_report report;
    if (!is_for_us(r, peer))
        return;
    hide_header(&r->headers_out.headers);
    if (!is_fresh(r, peer) || !(header = bli_ngx_header_find(&r->upstream->headers_in.headers, &header_name)))
        return;
    const bool good = bal_load_report_read(&peer->upstream->load_fields, (const char *)header->value.data,
                                           header->value.len, &report);
    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, r->connection->log, 0, "ballast: %V reports its load, %s: %V",
                   peer->name, good ? "read" : "malformed", &header->value);
    bal_dispatcher_post_load(peer->peers->d, peer->number, good ? &report : NULL);
}
