/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes, hides and reads the headers Ballast-Load and Ballast-Refused. */
#include "load_header.h"

#include "linger.h"
#include "orca.h"
#include "process.h"
#include "station_role.h"
#include "upstream.h"

static const ngx_str_t load_name = ngx_string("Ballast-Load");
static ngx_http_output_header_filter_pt next_filter;

/* ---- the station ---- */

static void push_header(ngx_http_request_t *r, const ngx_str_t *name, const ngx_str_t *text) {
    ngx_table_elt_t *header = ngx_list_push(&r->headers_out.headers);
    if (!header)
        return;
    header->hash = 1;
    bli_ngx_header_ends(header);
    header->key = *name;
    header->value = *text;
}

/* Marks this 503 as the station's own, or as that of the station to which it has moved the request; not the
 * app's. */
static void add_refused_header(ngx_http_request_t *r, const struct bli_ngx_station_request *request) {
    const struct bli_ngx_transport *transport = request->station->zone.transport;
    const bool others = transport && request->state == BLI_REQUEST_FORWARDED &&
                        bli_ngx_header_signer(transport, &r->upstream->headers_in.headers, BLI_NGX_REFUSED);
    if (!transport || (!request->refused && !others))
        return;
    const ngx_str_t text = {BLI_NGX_SIGNED, (u_char *)transport->signed_as[BLI_NGX_REFUSED]};
    push_header(r, bli_ngx_header_name(BLI_NGX_REFUSED), &text);
}

/* On an upgraded connection the end of the request is not known, and the headers of a subrequest are not
 * sent. */
static void add_load_header(ngx_http_request_t *r) {
    const ngx_http_upstream_srv_conf_t *us = r->upstream->upstream;
    const struct bli_ngx_station_request *request =
        us && bli_ngx_station_of(us) ? bli_ngx_station_request_of(r) : NULL;
    if (request && r == r->main)
        add_refused_header(r, request);
    if (!request || r != r->main || request->state != BLI_REQUEST_RUNNING ||
        !request->station->zone.attached || !request->station->zone.transport ||
        r->headers_out.status == NGX_HTTP_SWITCHING_PROTOCOLS)
        return;
    struct bli_ngx_station *station = request->station;
    struct bal_message message;
    ngx_str_t text = {0, ngx_pnalloc(r->pool, BLI_NGX_DATAGRAM_TEXT)};
    if (!text.data || !bli_ngx_zone_lock(&station->zone))
        return;
    const bool any = bal_station_piggyback_offer(station->s, bli_ngx_now(), request->ticket, &message);
    bli_ngx_zone_unlock(&station->zone);
    if (!any)
        return;
    text.len = bli_ngx_transport_encode(&station->transport, &message, text.data);
    push_header(r, &load_name, &text);
}

/* ---- responses that come from dispatchers and stations ---- */

/* Ballast-Load, and our request headers: an app may send back what it received. */
static bool is_ours(const ngx_str_t *key) {
    static const char *const rest[] = {"load", "from", "moved", "refused"};
    static const size_t prefix = sizeof "ballast-" - 1;
    if (key->len < prefix || ngx_strncasecmp(key->data, (u_char *)"ballast-", prefix) != 0)
        return false;
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (key->len == prefix + ngx_strlen(rest[i]) &&
            ngx_strncasecmp(key->data + prefix, (u_char *)rest[i], key->len - prefix) == 0)
            return true;
    return false;
}

static void strip_ballast_headers(ngx_list_t *headers) {
    for (ngx_list_part_t *part = &headers->part; part; part = part->next) {
        ngx_table_elt_t *header = part->elts;
        for (ngx_uint_t i = 0; i < part->nelts; i++)
            if (is_ours(&header[i].key))
                header[i].hash = 0;
    }
}

/* Has the response come through a dispatcher or a station? One from a cache may have, if its upstream is
 * named by a variable: it is not looked up then. An upstream that could not be set up has no configuration.
 */
static bool may_have_our_headers(const ngx_http_upstream_t *u) {
    const ngx_http_upstream_srv_conf_t *us = u->upstream;
    if (!us && u->conf)
        us = u->conf->upstream;
    if (!us)
        return true;
    if (!us->srv_conf)
        return false;
    const struct bli_ngx_upstream *b = ngx_http_conf_upstream_srv_conf(us, ngx_http_ballast_module);
    return b->us || bli_ngx_station_of(us);
}

static ngx_int_t header_filter(ngx_http_request_t *r) {
    if (r->upstream && may_have_our_headers(r->upstream)) {
        ngx_log_debug0(NGX_LOG_DEBUG_HTTP, r->connection->log, 0, "ballast: response headers scanned");
        strip_ballast_headers(&r->headers_out.headers);
        bli_ngx_orca_pass(r);
        add_load_header(r);
    }
    return next_filter(r);
}

ngx_int_t bli_ngx_load_header_init(ngx_conf_t *cf) {
    (void)cf;
    next_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = header_filter;
    return NGX_OK;
}

/* ---- the dispatcher ---- */

bool bli_ngx_load_header_read(struct bli_ngx_transport *transport, const ngx_http_request_t *r,
                              struct bal_message *message) {
    const ngx_table_elt_t *header = bli_ngx_header_find(&r->upstream->headers_in.headers, &load_name);
    return header && bli_ngx_linger_is_whole(r) &&
           bli_ngx_transport_decode(transport, &header->value, message);
}
