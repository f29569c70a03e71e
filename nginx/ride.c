#include "ride.h"

#include "process.h"
#include "station.h"

static ngx_str_t name = ngx_string("Ballast-Load");
static ngx_http_output_header_filter_pt next_filter;

/* ---- the station ---- */

static void push(ngx_http_request_t *r, const ngx_str_t *text) {
    ngx_table_elt_t *header = ngx_list_push(&r->headers_out.headers);
    if (!header)
        return;
    header->hash = 1;
    bal_ngx_header_ends(header);
    header->key = name;
    header->value = *text;
}

/* A connection that is turned into another one says nothing of the end of its request, and the headers of a
 * subrequest go nowhere. */
static void say(ngx_http_request_t *r) {
    const ngx_http_upstream_srv_conf_t *us = r->upstream->upstream;
    const struct bal_ngx_visit *visit = us && bal_ngx_station_of(us) ? bal_ngx_visit_of(r) : NULL;
    if (!visit || r != r->main || visit->state != BAL_VISIT_RUNNING || !visit->station->zone.inside ||
        !visit->station->zone.mail || r->headers_out.status == NGX_HTTP_SWITCHING_PROTOCOLS)
        return;
    struct bal_ngx_station *station = visit->station;
    struct bal_message message;
    ngx_str_t text = {0, ngx_pnalloc(r->pool, BAL_NGX_WORDS)};
    if (!text.data)
        return;
    bal_ngx_zone_lock(&station->zone);
    const bool any = bal_station_promise(station->s, bal_ngx_now(), visit->ticket, &message);
    bal_ngx_zone_unlock(&station->zone);
    if (!any)
        return;
    text.len = bal_ngx_mail_write(&station->mail, &message, text.data);
    push(r, &text);
}

/* ---- whoever passes a response on ---- */

/* Ballast-Load, and what requests carry: an app may send back what it got. */
static bool is_ours(const ngx_str_t *key) {
    static const char *const rest[] = {"load", "from", "moved"};
    static const size_t prefix = sizeof "ballast-" - 1;
    if (key->len < prefix || ngx_strncasecmp(key->data, (u_char *)"ballast-", prefix) != 0)
        return false;
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (key->len == prefix + ngx_strlen(rest[i]) &&
            ngx_strncasecmp(key->data + prefix, (u_char *)rest[i], key->len - prefix) == 0)
            return true;
    return false;
}

static void strip(ngx_list_t *headers) {
    for (ngx_list_part_t *part = &headers->part; part; part = part->next) {
        ngx_table_elt_t *header = part->elts;
        for (ngx_uint_t i = 0; i < part->nelts; i++)
            if (is_ours(&header[i].key))
                header[i].hash = 0;
    }
}

static ngx_int_t filter(ngx_http_request_t *r) {
    if (r->upstream) {
        strip(&r->headers_out.headers);
        say(r);
    }
    return next_filter(r);
}

ngx_int_t bal_ngx_ride_add(ngx_conf_t *cf) {
    (void)cf;
    next_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = filter;
    return NGX_OK;
}

/* ---- the dispatcher ---- */

/* Not what was cut off, nor what nobody has read to its end. */
static bool is_whole(const ngx_http_request_t *r) {
    const ngx_http_upstream_t *u = r->upstream;
    const ngx_uint_t status = u->headers_in.status_n;
    if (r->method == NGX_HTTP_HEAD || status == NGX_HTTP_NO_CONTENT || status == NGX_HTTP_NOT_MODIFIED)
        return true;
    if (u->buffering && u->pipe)
        return u->pipe->upstream_done || (u->pipe->upstream_eof && u->pipe->length == -1);
    return u->length == 0 || (u->length == -1 && u->peer.connection && u->peer.connection->read->eof);
}

bool bal_ngx_ride_end(struct bal_ngx_mail *mail, const ngx_http_request_t *r, struct bal_message *message) {
    const ngx_table_elt_t *header = bal_ngx_mail_header(&r->upstream->headers_in.headers, &name);
    return header && is_whole(r) && bal_ngx_mail_read(mail, &header->value, message);
}
