/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of `ballast_api` as JSON: schema/api.schema.json. */
#include "api.h"

#include "ballast/version.h"

#include <stdio.h>
#include <string.h>

/* What is printed of one upstream. */
struct printing {
    struct bli_ngx_text *text;
    const struct bli_ngx_snapshot *snapshot;
    const struct bli_changes *table; /* a copy */
    const char *server;              /* NULL: all */
    bool any;                        /* one has been printed */
};

static void print_string(struct bli_ngx_text *text, const char *s) {
    bli_ngx_text_json_string(text, s, strlen(s));
}

/* ---- servers ---- */

static const char *state_of(const struct bal_server_view *view) {
    return view->leaving ? "removed" : view->drain ? "drain" : view->down ? "down" : "up";
}

static void begin_server(struct printing *p, const char *name, bool backup) {
    bli_ngx_text_printf(p->text, p->any && !p->server ? ",\n{\"server\":"
                                 : p->server          ? "{\"server\":"
                                                      : "\n{\"server\":");
    print_string(p->text, name);
    bli_ngx_text_printf(p->text, ",\"backup\":%s", backup ? "true" : "false");
    p->any = true;
}

static void print_server(struct printing *p, const struct bli_ngx_snapshot_server *s, bool backup) {
    const struct bal_server_view *view = &s->view;
    begin_server(p, s->name, backup);
    bli_ngx_text_printf(p->text,
                        ",\"state\":\"%s\",\"now\":\"%s\",\"open\":%s,\"in_flight\":%uD,\"weight\":%uD,"
                        "\"max_conns\":%uD,\"slots\":%uD,\"added\":%s",
                        state_of(view), bli_ngx_snapshot_state(s), view->open ? "true" : "false",
                        view->in_flight, (uint32_t)view->weight, view->max_conns, view->slots,
                        s->added ? "true" : "false");
    if (s->changed[0])
        bli_ngx_text_printf(p->text, ",\"changed\":{%s}", s->changed);
    bli_ngx_text_printf(p->text, "}");
}

static bool is_wanted(const struct printing *p, const char *name) {
    return !p->server || strcmp(p->server, name) == 0;
}

static bool has_server(const struct printing *p, const struct bli_ngx_upstream *b, const char *name) {
    for (uint32_t k = 0; k < p->snapshot->peer_sets; k++)
        for (uint32_t i = 0; p->snapshot->peers[k].peers->upstream == b && i < p->snapshot->peers[k].servers;
             i++)
            if (strcmp(p->snapshot->peers[k].server[i].name, name) == 0)
                return true;
    return false;
}

/* Those that were removed and have no requests left are in no block. */
static void print_removed(struct printing *p, const struct bli_ngx_upstream *b) {
    uint32_t count;
    const struct bli_change *change = bli_changes_of(p->table, bli_ngx_upstream_name(b), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (change[i].presence != BLI_SERVER_REMOVED || !is_wanted(p, change[i].server) ||
            has_server(p, b, change[i].server))
            continue;
        begin_server(p, change[i].server, false);
        bli_ngx_text_printf(p->text, ",\"state\":\"removed\",\"in_flight\":0}");
    }
}

static void print_servers(struct printing *p, const struct bli_ngx_upstream *b) {
    for (uint32_t k = 0; k < p->snapshot->peer_sets; k++) {
        const struct bli_ngx_snapshot_peers *peers = &p->snapshot->peers[k];
        for (uint32_t i = 0; peers->peers->upstream == b && i < peers->servers; i++)
            if (is_wanted(p, peers->server[i].name) && !(p->server && p->any))
                print_server(p, &peers->server[i], peers->peers != b->peers);
    }
    print_removed(p, b);
}

/* ---- upstreams ---- */

static void print_upstream(struct printing *p, const struct bli_ngx_upstream *b) {
    p->any = false;
    bli_ngx_text_printf(p->text, "{\"name\":");
    print_string(p->text, bli_ngx_upstream_name(b));
    bli_ngx_text_printf(p->text, ",\"policy\":");
    print_string(p->text, b->now.text);
    if (strcmp(b->now.text, b->text) != 0) {
        bli_ngx_text_printf(p->text, ",\"configured\":");
        print_string(p->text, b->text);
    }
    bli_ngx_text_printf(p->text, ",\"weights\":%s,\"stations\":%s,\"room\":%uD,\"servers\":[",
                        bli_ngx_uses_weights(b) ? "true" : "false", b->stations ? "true" : "false",
                        b->peers[0].config.servers);
    print_servers(p, b);
    bli_ngx_text_printf(p->text, "]}");
}

static const struct bli_ngx_upstream *upstream_of(const struct bli_ngx_snapshot *snapshot, const char *name) {
    for (uint32_t k = 0; k < snapshot->peer_sets; k++)
        if (strcmp(bli_ngx_upstream_name(snapshot->peers[k].peers->upstream), name) == 0)
            return snapshot->peers[k].peers->upstream;
    return NULL;
}

/* Changes of upstreams that the configuration does not have. */
static void print_unused(struct printing *p) {
    const char *comma = "";
    bli_ngx_text_printf(p->text, "],\"unused\":[");
    for (uint32_t i = 0; i < p->table->count; i++) {
        const struct bli_change *change = &p->table->change[i];
        const struct bli_ngx_upstream *b = upstream_of(p->snapshot, change->upstream);
        if (b && (change->presence == BLI_SERVER_REMOVED || has_server(p, b, change->server)))
            continue;
        bli_ngx_text_printf(p->text, "%s\n{\"upstream\":", comma);
        print_string(p->text, change->upstream);
        bli_ngx_text_printf(p->text, ",\"server\":");
        print_string(p->text, change->server);
        bli_ngx_text_printf(p->text, "}");
        comma = ",";
    }
}

static void print_all(struct printing *p, const struct bli_ngx_api *api) {
    const struct bli_ngx_upstream *last = NULL;
    bli_ngx_text_printf(p->text, "{\"schema\":%d,\"ballast\":\"%s\",\"generation\":%uL,\"state_file\":",
                        BLI_NGX_API_SCHEMA, BALLAST_VERSION, p->table->generation);
    if (api->changes->file.len)
        print_string(p->text, (const char *)api->changes->file.data);
    else
        bli_ngx_text_printf(p->text, "null");
    bli_ngx_text_printf(p->text, ",\"upstreams\":[");
    for (uint32_t k = 0; k < p->snapshot->peer_sets; k++) {
        const struct bli_ngx_upstream *b = p->snapshot->peers[k].peers->upstream;
        if (b == last)
            continue;
        bli_ngx_text_printf(p->text, last ? ",\n" : "\n");
        print_upstream(p, b);
        last = b;
    }
    print_unused(p);
    bli_ngx_text_printf(p->text, "]}\n");
}

/* ---- the answer ---- */

static ngx_int_t add_header(ngx_http_request_t *r, const char *name, const char *value) {
    ngx_table_elt_t *header = ngx_list_push(&r->headers_out.headers);
    if (!header)
        return NGX_ERROR;
    header->hash = 1;
    bli_ngx_header_ends(header);
    header->key = (ngx_str_t){strlen(name), (u_char *)name};
    header->value = (ngx_str_t){strlen(value), (u_char *)value};
    return NGX_OK;
}

static ngx_int_t add_headers(struct bli_ngx_api *api, uint64_t generation) {
    ngx_http_request_t *r = api->r;
    u_char *tag = ngx_pnalloc(r->pool, 32);
    if (!tag)
        return NGX_ERROR;
    *ngx_sprintf(tag, "\"%uL\"", generation) = '\0';
    if (api->status == NGX_HTTP_NOT_ALLOWED &&
        add_header(r, "Allow",
                   api->what == BLI_API_SERVER                                   ? "GET, HEAD, PATCH, DELETE"
                   : api->what == BLI_API_UPSTREAM                               ? "GET, HEAD, PATCH"
                   : api->what == BLI_API_SERVERS                                ? "GET, HEAD, POST"
                   : api->what == BLI_API_CHANGE || api->what == BLI_API_CHANGES ? "DELETE"
                                                                                 : "GET, HEAD") != NGX_OK)
        return NGX_ERROR;
    return add_header(r, "ETag", (const char *)tag) == NGX_OK &&
                   add_header(r, "Cache-Control", "no-store") == NGX_OK &&
                   add_header(r, "X-Content-Type-Options", "nosniff") == NGX_OK
               ? NGX_OK
               : NGX_ERROR;
}

static void free_text(void *data) {
    struct bli_ngx_text *text = data;
    ngx_free(text->data);
}

static ngx_int_t send_text(struct bli_ngx_api *api, const struct bli_ngx_text *text, uint64_t generation) {
    ngx_http_request_t *r = api->r;
    ngx_buf_t *buf = ngx_calloc_buf(r->pool);
    ngx_chain_t chain = {.buf = buf};
    if (!buf || add_headers(api, generation) != NGX_OK)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    buf->pos = buf->start = text->data;
    buf->last = buf->end = text->data + text->length;
    buf->memory = text->length > 0;
    buf->last_buf = r == r->main;
    buf->last_in_chain = 1;
    r->disable_not_modified = 1; /* If-Match is about the change, which has been made */
    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.status = api->status;
    r->headers_out.content_length_n = (off_t)text->length;
    const ngx_int_t rc = ngx_http_send_header(r);
    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only)
        return rc;
    return ngx_http_output_filter(r, &chain);
}

/* A copy, as what is printed may be long. NULL: out of memory, or it cannot be locked. */
static const struct bli_changes *copy_table(const struct bli_ngx_api *api) {
    struct bli_changes *copy = ngx_palloc(api->r->pool, sizeof *copy);
    const struct bli_changes *table = copy ? bli_ngx_changes_lock(api->changes) : NULL;
    if (!table)
        return NULL;
    *copy = *table;
    bli_ngx_changes_unlock(api->changes);
    return copy;
}

static void print_generation(struct printing *p) {
    bli_ngx_text_printf(p->text, "{\"generation\":%uL}\n", p->table->generation);
}

static void print_one_server(struct bli_ngx_api *api, struct printing *p) {
    p->server = api->server;
    print_servers(p, api->conf);
    if (p->any) {
        bli_ngx_text_printf(p->text, "\n");
    } else if (api->r->method & (NGX_HTTP_POST | NGX_HTTP_PATCH)) { /* changed, but not in the block yet */
        api->status = NGX_HTTP_ACCEPTED;
        print_generation(p);
    } else {
        bli_ngx_api_fail(api, NGX_HTTP_NOT_FOUND, "no server %s in upstream \"%s\"", api->server,
                         api->upstream);
    }
}

static void print_answer(struct bli_ngx_api *api, struct printing *p) {
    if (api->r->method == NGX_HTTP_DELETE) { /* what it was about may be gone */
        print_generation(p);
        return;
    }
    switch (api->what) {
    case BLI_API_ALL:
        print_all(p, api);
        return;
    case BLI_API_SERVER:
        print_one_server(api, p);
        return;
    case BLI_API_UPSTREAM:
    case BLI_API_SERVERS:
        print_upstream(p, api->conf);
        bli_ngx_text_printf(p->text, "\n");
        return;
    case BLI_API_CHANGES:
    case BLI_API_CHANGE:
        return; /* to be deleted only */
    }
}

static void print_error(struct bli_ngx_api *api, struct bli_ngx_text *text) {
    text->length = 0;
    bli_ngx_text_printf(text, "{\"error\":");
    print_string(text, api->err.text);
    bli_ngx_text_printf(text, "}\n");
}

ngx_int_t bli_ngx_api_answer(struct bli_ngx_api *api) {
    ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(api->r->pool, sizeof(struct bli_ngx_text));
    if (!cleanup)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    struct bli_ngx_text *text = cleanup->data;
    ngx_memzero(text, sizeof *text);
    cleanup->handler = free_text;
    struct printing p = {.text = text, .table = copy_table(api), .snapshot = bli_ngx_snapshot_take(api->r)};
    if (!p.table || !p.snapshot)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    if (api->status < NGX_HTTP_SPECIAL_RESPONSE)
        print_answer(api, &p);
    if (api->status >= NGX_HTTP_SPECIAL_RESPONSE)
        print_error(api, text);
    if (text->failed)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    return send_text(api, text, p.table->generation);
}
