/* SPDX-License-Identifier: BSD-2-Clause */
/* The directive `ballast_status [twin=URI] [fleet=URI,...] [watts=BUSY,IDLE,SETUP,OFF];` and its answers. */
#include "status.h"

#include "directive_option.h"
#include "page.h"
#include "process.h"

#include <string.h>

/* ---- what is answered, for as long as it is fresh ---- */

/* However many requests come, rendering takes at most 1/SHARE of a process's time: an answer that took t to
 * render is reused for SHARE times t. It is reused for STALE_NS at most, because t may include time in which
 * the process did not run. */
enum { SHARE = 20, STALE_NS = 250000000 };

struct bli_ngx_answer {
    uint32_t users; /* answers under way, and one while it is fresh */
    uint64_t until_ns;
    struct bli_ngx_text text;
};

static void release_answer(void *data) {
    struct bli_ngx_answer *answer = data;
    if (--answer->users)
        return;
    ngx_free(answer->text.data);
    ngx_free(answer);
}

/* An answer of which this request is the only user so far. */
static struct bli_ngx_answer *create_answer(ngx_http_request_t *r) {
    ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(r->pool, 0);
    struct bli_ngx_answer *answer = cleanup ? ngx_calloc(sizeof *answer, r->connection->log) : NULL;
    if (!answer)
        return NULL;
    answer->users = 1;
    cleanup->handler = release_answer;
    cleanup->data = answer;
    return answer;
}

static struct bli_ngx_answer *share_answer(ngx_http_request_t *r, struct bli_ngx_answer *answer) {
    ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(r->pool, 0);
    if (!cleanup)
        return NULL;
    answer->users++;
    cleanup->handler = release_answer;
    cleanup->data = answer;
    return answer;
}

/* The process ends. */
static void release_cached(void *data) {
    struct bli_ngx_answer **fresh = data;
    release_answer(*fresh);
}

/* It is reused while it is fresh. */
static void cache_answer(struct bli_ngx_answer **fresh, struct bli_ngx_answer *answer, uint64_t took) {
    ngx_pool_cleanup_t *cleanup = *fresh ? NULL : ngx_pool_cleanup_add(ngx_cycle->pool, 0);
    if (*fresh) {
        release_answer(*fresh);
    } else if (cleanup) {
        cleanup->handler = release_cached;
        cleanup->data = fresh;
    } else {
        return;
    }
    answer->until_ns = bli_ngx_now() + ngx_min(SHARE * took, STALE_NS);
    answer->users++;
    *fresh = answer;
}

typedef void render_fn(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                       const struct bli_ngx_snapshot *snapshot);

static struct bli_ngx_answer *render_cached(ngx_http_request_t *r, const struct bli_ngx_status *status,
                                            struct bli_ngx_answer **fresh, render_fn *how) {
    const uint64_t before = bli_ngx_now();
    if (*fresh && before < (*fresh)->until_ns)
        return share_answer(r, *fresh);
    const struct bli_ngx_snapshot *snapshot = bli_ngx_snapshot_take(r);
    struct bli_ngx_answer *answer = snapshot ? create_answer(r) : NULL;
    if (!answer)
        return NULL;
    how(&answer->text, status, snapshot);
    if (answer->text.failed)
        return NULL;
    cache_answer(fresh, answer, bli_ngx_now() - before);
    return answer;
}

/* ---- which of them ---- */

enum status_format { JSON, METRICS, HISTORY, RING, PAGE, UNKNOWN };

static bool equals(const ngx_str_t *text, const char *word) {
    return text->len == strlen(word) && ngx_strncmp(text->data, word, text->len) == 0;
}

static enum status_format requested_format(ngx_http_request_t *r) {
    static const char *const names[] = {
        [JSON] = "json", [METRICS] = "prometheus", [HISTORY] = "history", [RING] = "ring", [PAGE] = "html"};
    static const ngx_str_t wanted = ngx_string("Accept");
    const ngx_table_elt_t *accept = bli_ngx_header_find(&r->headers_in.headers, &wanted);
    ngx_str_t name;
    if (ngx_http_arg(r, (u_char *)"format", strlen("format"), &name) == NGX_OK) {
        enum status_format format = JSON;
        while (format < UNKNOWN && !equals(&name, names[format]))
            format++;
        return format;
    }
    if (accept && ngx_strcasestrn(accept->value.data, (char *)"text/html", 9 - 1))
        return PAGE;
    if (!accept || ngx_strcasestrn(accept->value.data, (char *)"application/json", 16 - 1))
        return JSON;
    if (ngx_strcasestrn(accept->value.data, (char *)"text/plain", 10 - 1) ||
        ngx_strcasestrn(accept->value.data, (char *)"openmetrics-text", 16 - 1))
        return METRICS;
    return JSON;
}

/* Of `?format=ring`. NULL: out of memory; *status tells what is wrong with the request. */
static struct bli_ngx_answer *render_ring(ngx_http_request_t *r, ngx_int_t *wrong) {
    ngx_str_t name = ngx_null_string, text;
    bool station = false;
    uint64_t since = 0;
    if (ngx_http_arg(r, (u_char *)"station", strlen("station"), &name) == NGX_OK)
        station = true;
    else if (ngx_http_arg(r, (u_char *)"upstream", strlen("upstream"), &name) != NGX_OK)
        name.len = 0;
    if (ngx_http_arg(r, (u_char *)"since", strlen("since"), &text) == NGX_OK) {
        const off_t number = ngx_atoof(text.data, text.len);
        if (number == NGX_ERROR) {
            *wrong = NGX_HTTP_BAD_REQUEST;
            return NULL;
        }
        since = (uint64_t)number;
    }
    const struct bli_ngx_snapshot *snapshot = bli_ngx_snapshot_take(r);
    struct bli_ngx_answer *answer = snapshot ? create_answer(r) : NULL;
    if (answer && !bli_ngx_status_ring(&answer->text, r, snapshot, &name, station, since)) {
        *wrong = NGX_HTTP_NOT_FOUND;
        return NULL;
    }
    return answer && !answer->text.failed ? answer : NULL;
}

/* ---- the answer ---- */

static bool add_header(ngx_http_request_t *r, const char *name, const char *value) {
    ngx_table_elt_t *header = ngx_list_push(&r->headers_out.headers);
    if (!header)
        return false;
    header->hash = 1;
    bli_ngx_header_ends(header);
    header->key = (ngx_str_t){strlen(name), (u_char *)name};
    header->value = (ngx_str_t){strlen(value), (u_char *)value};
    return true;
}

static ngx_int_t send_answer(ngx_http_request_t *r, const char *type, const u_char *data, size_t length) {
    ngx_buf_t *buf = ngx_calloc_buf(r->pool);
    ngx_chain_t chain = {.buf = buf};
    if (!buf || !add_header(r, "Cache-Control", "no-store") || !add_header(r, "Vary", "Accept") ||
        !add_header(r, "X-Content-Type-Options", "nosniff") ||
        !add_header(r, "Referrer-Policy", "no-referrer") ||
        !add_header(r, "Content-Security-Policy", BLI_NGX_PAGE_POLICY))
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    buf->pos = buf->start = (u_char *)data;
    buf->last = buf->end = (u_char *)data + length;
    buf->memory = length > 0;
    buf->last_buf = r == r->main;
    buf->last_in_chain = 1;
    r->headers_out.content_type = (ngx_str_t){strlen(type), (u_char *)type};
    r->headers_out.content_type_len = strlen(type);
    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = (off_t)length;
    const ngx_int_t rc = ngx_http_send_header(r);
    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only)
        return rc;
    return ngx_http_output_filter(r, &chain);
}

static ngx_int_t handle_request(ngx_http_request_t *r) {
    struct bli_ngx_status *status = ngx_http_get_module_loc_conf(r, ngx_http_ballast_module);
    static const char *const types[] = {[JSON] = "application/json",
                                        [METRICS] = "text/plain; version=0.0.4; charset=utf-8",
                                        [HISTORY] = "application/json",
                                        [RING] = "application/x-ndjson",
                                        [PAGE] = "text/html; charset=utf-8"};
    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD)))
        return NGX_HTTP_NOT_ALLOWED;
    const ngx_int_t rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK)
        return rc;
    const enum status_format format = requested_format(r);
    ngx_int_t wrong = NGX_HTTP_INTERNAL_SERVER_ERROR;
    const struct bli_ngx_answer *answer = NULL;
    switch (format) {
    case JSON:
        answer = render_cached(r, status, &status->json, bli_ngx_status_json);
        break;
    case METRICS:
        answer = render_cached(r, status, &status->metrics, bli_ngx_status_metrics);
        break;
    case HISTORY:
        answer = render_cached(r, status, &status->history, bli_ngx_status_history);
        break;
    case RING:
        answer = render_ring(r, &wrong);
        break;
    case PAGE:
        return send_answer(r, types[PAGE], bli_ngx_page, sizeof bli_ngx_page);
    case UNKNOWN:
        return NGX_HTTP_BAD_REQUEST;
    }
    return answer ? send_answer(r, types[format], answer->text.data, answer->text.length) : wrong;
}

/* ---- energy ---- */

uint64_t bli_ngx_status_energy(const struct bli_ngx_status *status, const struct bli_ngx_meter *meter) {
    double joules = 0;
    for (int i = 0; i < BLI_NGX_ACTIVITIES; i++)
        joules += 1e-9 * (double)meter->ns[i] * (double)status->watts[i];
    return (uint64_t)joules;
}

/* ---- the directive ---- */

static char *set_twin(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_status *status = conf;
    if (value->len == 0 || value->data[0] != '/' || (value->len > 1 && value->data[1] == '/'))
        return bli_ngx_option_error(cf, "\"twin=", value, "a path of this server, as in twin=/twin.json");
    status->twin = *value;
    return NGX_CONF_OK;
}

/* "/PATH,..." */
static char *set_fleet(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_status *status = conf;
    u_char *at = value->data, *end = value->data + value->len;
    if (ngx_array_init(&status->fleet, cf->pool, 4, sizeof(ngx_str_t)) != NGX_OK)
        return NGX_CONF_ERROR;
    while (at <= end) {
        u_char *comma = ngx_strlchr(at, end, ',');
        const ngx_str_t path = {(size_t)((comma ? comma : end) - at), at};
        ngx_str_t *place = ngx_array_push(&status->fleet);
        if (!place)
            return NGX_CONF_ERROR;
        if (path.len == 0 || path.data[0] != '/' || (path.len > 1 && path.data[1] == '/') ||
            memchr(path.data, '?', path.len))
            return bli_ngx_option_error(
                cf, "\"fleet=", value,
                "paths of this server without arguments, at which it passes on the status of others, as in "
                "fleet=/status/lb2,/status/app1");
        *place = path;
        at = (comma ? comma : end) + 1;
    }
    return NGX_CONF_OK;
}

static char *set_watts(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    static const enum bli_ngx_server_activity order[] = {BLI_NGX_BUSY, BLI_NGX_IDLE, BLI_NGX_SETUP,
                                                         BLI_NGX_OFF};
    struct bli_ngx_status *status = conf;
    u_char *at = value->data, *end = value->data + value->len;
    for (int i = 0; i < BLI_NGX_ACTIVITIES; i++) {
        u_char *comma = i < BLI_NGX_ACTIVITIES - 1 ? ngx_strlchr(at, end, ',') : end;
        const ngx_int_t watts = comma ? ngx_atofp(at, (size_t)(comma - at), 3) : NGX_ERROR;
        if (watts == NGX_ERROR)
            return bli_ngx_option_error(cf, "\"watts=", value,
                                        "watts of a server that is busy, idle, in set-up and off, as in "
                                        "watts=200,140,200,0");
        status->watts[order[i]] = (uint64_t)watts;
        at = comma + 1;
    }
    status->metered = true;
    return NGX_CONF_OK;
}

char *bli_ngx_status_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    static const struct bli_ngx_option options[] = {
        {"twin=", set_twin}, {"watts=", set_watts}, {"fleet=", set_fleet}};
    ngx_http_core_loc_conf_t *location = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    const ngx_str_t *text = cf->args->elts;
    char *result = NGX_CONF_OK;
    (void)command;
    if (location->handler == handle_request)
        return (char *)"is duplicate";
    if (location->handler)
        return (char *)"needs a location of its own, without another directive that answers";
    for (ngx_uint_t i = 1; result == NGX_CONF_OK && i < cf->args->nelts; i++)
        result = bli_ngx_option_set(cf, options, sizeof options / sizeof *options, conf, &text[i],
                                    "twin=, watts= or fleet=");
    location->handler = handle_request;
    return result;
}
