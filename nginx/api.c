/* SPDX-License-Identifier: BSD-2-Clause */
/* The directive `ballast_api;`: which change a request asks for, whether it can be made, and making it. */
#include "api.h"

#include "journal.h"
#include "process.h"
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BODY_MAX = 16384 };

ngx_uint_t bli_ngx_api_fail(struct bli_ngx_api *api, ngx_uint_t status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(api->err.text, sizeof api->err.text, format, args);
    va_end(args);
    api->status = status;
    return status;
}

/* ---- what a request is about ---- */

static struct bli_ngx_upstream *find_upstream(ngx_http_request_t *r, const char *name) {
    const ngx_http_upstream_main_conf_t *conf = ngx_http_get_module_main_conf(r, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    for (ngx_uint_t i = 0; i < conf->upstreams.nelts; i++) {
        struct bli_ngx_upstream *b =
            us[i]->srv_conf ? ngx_http_conf_upstream_srv_conf(us[i], ngx_http_ballast_module) : NULL;
        if (b && b->us && strcmp(bli_ngx_upstream_name(b), name) == 0)
            return b;
    }
    return NULL;
}

/* The next part of a path, up to a slash or the end; false: it does not fit. */
static bool next_part(const char **at, const char *end, char *part, size_t room, bool last) {
    const char *stop = last ? NULL : memchr(*at, '/', (size_t)(end - *at));
    const size_t length = (size_t)((stop ? stop : end) - *at);
    if (length >= room || memchr(*at, '\0', length))
        return false;
    memcpy(part, *at, length);
    part[length] = '\0';
    *at = stop ? stop + 1 : end;
    return true;
}

/* The path behind the location: "" or "upstreams/NAME[/servers[/ADDRESS]]" or
 * "upstreams/NAME/changes[/ADDRESS]". */
static bool parse_path(struct bli_ngx_api *api, const char *at, const char *end) {
    char word[16] = "";
    while (at < end && *at == '/')
        at++;
    api->what = BLI_API_ALL;
    if (at == end)
        return true;
    if (!next_part(&at, end, word, sizeof word, false) || strcmp(word, "upstreams") != 0 ||
        !next_part(&at, end, api->upstream, sizeof api->upstream, false) || !api->upstream[0])
        return false;
    api->what = BLI_API_UPSTREAM;
    if (at == end)
        return true;
    if (!next_part(&at, end, word, sizeof word, false) ||
        !next_part(&at, end, api->server, sizeof api->server, true))
        return false;
    const bool one = api->server[0] != '\0';
    if (strcmp(word, "servers") == 0)
        api->what = one ? BLI_API_SERVER : BLI_API_SERVERS;
    else if (strcmp(word, "changes") == 0)
        api->what = one ? BLI_API_CHANGE : BLI_API_CHANGES;
    return strcmp(word, "servers") == 0 || strcmp(word, "changes") == 0;
}

static ngx_uint_t find_subject(struct bli_ngx_api *api) {
    const ngx_http_core_loc_conf_t *location = ngx_http_get_module_loc_conf(api->r, ngx_http_core_module);
    const char *uri = (const char *)api->r->uri.data;
    char name[BAL_SERVER_NAME];
    const bool rewritten = api->r->uri.len < location->name.len; /* `rewrite ... break` in the location */
    if (rewritten || !parse_path(api, uri + location->name.len, uri + api->r->uri.len))
        return bli_ngx_api_fail(api, NGX_HTTP_NOT_FOUND,
                                "no such path; use upstreams/NAME, upstreams/NAME/servers/ADDRESS or "
                                "upstreams/NAME/changes behind the path of the location");
    if (api->server[0] && bli_ngx_peers_name_server(api->r->pool, api->server, name))
        strcpy(api->server, name);
    api->conf = api->upstream[0] ? find_upstream(api->r, api->upstream) : NULL;
    if (api->upstream[0] && !api->conf && api->what != BLI_API_CHANGE && api->what != BLI_API_CHANGES)
        return bli_ngx_api_fail(api, NGX_HTTP_NOT_FOUND, "no upstream \"%s\" with the directive ballast",
                                api->upstream);
    return 0;
}

static ngx_uint_t allowed_methods(const struct bli_ngx_api *api) {
    switch (api->what) {
    case BLI_API_ALL:
        return NGX_HTTP_GET | NGX_HTTP_HEAD;
    case BLI_API_UPSTREAM:
        return NGX_HTTP_GET | NGX_HTTP_HEAD | NGX_HTTP_PATCH;
    case BLI_API_SERVERS:
        return NGX_HTTP_GET | NGX_HTTP_HEAD | NGX_HTTP_POST;
    case BLI_API_SERVER:
        return NGX_HTTP_GET | NGX_HTTP_HEAD | NGX_HTTP_PATCH | NGX_HTTP_DELETE;
    case BLI_API_CHANGES:
    case BLI_API_CHANGE:
        return NGX_HTTP_DELETE;
    }
    return 0;
}

/* ---- which servers there are ---- */

static bool is_configured(const struct bli_ngx_peers *peers, const char *server) {
    struct bli_ngx_server *s;
    for (ngx_uint_t i = 0; (s = bli_ngx_peers_own_server(peers, i)); i++)
        if (s->name.len == strlen(server) && memcmp(s->name.data, server, s->name.len) == 0)
            return true;
    return false;
}

static bool is_configured_anywhere(const struct bli_ngx_upstream *b, const char *server) {
    for (ngx_uint_t k = 0; k < b->peer_sets; k++)
        if (is_configured(&b->peers[k], server))
            return true;
    return false;
}

static bool is_added(const struct bli_change *change) {
    return change->presence == BLI_SERVER_ADDED || change->presence == BLI_SERVER_ADDED_BACKUP;
}

/* The present change of the server, or one that changes nothing. False: there is no such server. */
static bool find_server(struct bli_ngx_api *api, const struct bli_changes *table, struct bli_change *change) {
    const struct bli_change *present = bli_changes_find(table, api->upstream, api->server);
    if (present)
        *change = *present;
    else if (!bli_change_init(change, api->upstream, api->server))
        return false;
    if (change->presence == BLI_SERVER_REMOVED)
        return false;
    return is_added(change) || is_configured_anywhere(api->conf, api->server);
}

static ngx_uint_t fail_unknown_server(struct bli_ngx_api *api) {
    return bli_ngx_api_fail(api, NGX_HTTP_NOT_FOUND, "no server %s in upstream \"%s\"", api->server,
                            api->upstream);
}

/* ---- whether a change can be made ---- */

static ngx_uint_t check_change(struct bli_ngx_api *api, const struct bli_change *change) {
    const struct bli_ngx_upstream *b = api->conf;
    if (change->weight != BLI_AS_CONFIGURED && !bli_ngx_uses_weights(b))
        return bli_ngx_api_fail(api, NGX_HTTP_CONFLICT,
                                "policy '%s' does not look at weights; use one that does, such as "
                                "jiq:else=least-conn",
                                b->now.text);
    if (change->slots != BLI_AS_CONFIGURED && b->stations)
        return bli_ngx_api_fail(api, NGX_HTTP_CONFLICT,
                                "servers of upstream \"%s\" have stations, which know "
                                "their slots; change slots= of the station",
                                api->upstream);
    return 0;
}

/* The servers that the block of a tier would have. */
static uint32_t count_servers(const struct bli_ngx_peers *peers, const struct bli_changes *table) {
    uint32_t count, servers = 0;
    const struct bli_change *change = bli_changes_of(table, bli_ngx_upstream_name(peers->upstream), &count);
    const uint32_t added = peers == peers->upstream->peers ? BLI_SERVER_ADDED : BLI_SERVER_ADDED_BACKUP;
    while (bli_ngx_peers_own_server(peers, servers))
        servers++;
    for (uint32_t i = 0; i < count; i++)
        servers += change[i].presence == added;
    return servers;
}

static ngx_uint_t check_added(struct bli_ngx_api *api, const struct bli_changes *table,
                              const struct bli_change *change) {
    const struct bli_ngx_upstream *b = api->conf;
    const uint32_t tier = change->presence == BLI_SERVER_ADDED_BACKUP;
    const struct bli_change *present = bli_changes_find(table, api->upstream, change->server);
    if (b->stations)
        return bli_ngx_api_fail(
            api, NGX_HTTP_CONFLICT,
            "servers of upstream \"%s\" have stations, whose addresses must be configured; "
            "add it there and reload",
            api->upstream);
    if (present ? present->presence != BLI_SERVER_REMOVED : is_configured_anywhere(b, change->server))
        return bli_ngx_api_fail(api, NGX_HTTP_CONFLICT, "server %s is in upstream \"%s\" already; PATCH it",
                                change->server, api->upstream);
    if (tier >= b->peer_sets)
        return bli_ngx_api_fail(api, NGX_HTTP_CONFLICT,
                                "upstream \"%s\" has no backup servers; configure the first one and reload",
                                api->upstream);
    if (count_servers(&b->peers[tier], table) >= b->peers[tier].config.servers)
        return bli_ngx_api_fail(api, NGX_HTTP_CONFLICT,
                                "there is room for %u servers in upstream \"%s\" and no more; configure more "
                                "and reload",
                                b->peers[tier].config.servers, api->upstream);
    return 0;
}

/* ---- the changes ---- */

static ngx_uint_t put_change(struct bli_ngx_api *api, struct bli_changes *table,
                             const struct bli_change *change) {
    if (bli_changes_put(table, change, &api->err))
        return api->status = NGX_HTTP_CONFLICT;
    return 0;
}

static ngx_uint_t patch_server(struct bli_ngx_api *api, struct bli_changes *table, const ngx_str_t *body) {
    struct bli_change change;
    if (!find_server(api, table, &change))
        return fail_unknown_server(api);
    if (bli_change_read((const char *)body->data, body->len, false, &change, &api->err))
        return api->status = NGX_HTTP_BAD_REQUEST;
    const ngx_uint_t failed = check_change(api, &change);
    return failed ? failed : put_change(api, table, &change);
}

/* A server of the configuration that was removed comes back, as one of the configuration. */
static ngx_uint_t add_server(struct bli_ngx_api *api, struct bli_changes *table, const ngx_str_t *body) {
    struct bli_change change;
    char name[BAL_SERVER_NAME];
    bli_change_init(&change, api->upstream, "");
    if (bli_change_read((const char *)body->data, body->len, true, &change, &api->err))
        return api->status = NGX_HTTP_BAD_REQUEST;
    if (!bli_ngx_peers_name_server(api->r->pool, change.server, name))
        return bli_ngx_api_fail(
            api, NGX_HTTP_BAD_REQUEST,
            "server \"%s\" is no address; use IP:PORT or unix:PATH, as names are not looked up",
            change.server);
    memset(change.server, 0, sizeof change.server);
    strcpy(change.server, name);
    ngx_uint_t failed = check_added(api, table, &change);
    failed = failed ? failed : check_change(api, &change);
    if (failed)
        return failed;
    if (is_configured_anywhere(api->conf, change.server)) {
        bli_changes_remove(table, api->upstream, change.server);
        change.presence = BLI_SERVER_CONFIGURED;
    }
    strcpy(api->server, name);
    api->what = BLI_API_SERVER;
    api->status = NGX_HTTP_CREATED;
    return put_change(api, table, &change);
}

static ngx_uint_t remove_server(struct bli_ngx_api *api, struct bli_changes *table) {
    struct bli_change change;
    if (!find_server(api, table, &change))
        return fail_unknown_server(api);
    bli_changes_remove(table, api->upstream, api->server);
    if (!is_configured_anywhere(api->conf, api->server))
        return 0;
    bli_change_init(&change, api->upstream, api->server);
    change.presence = BLI_SERVER_REMOVED;
    return put_change(api, table, &change);
}

static ngx_uint_t remove_changes(struct bli_ngx_api *api, struct bli_changes *table) {
    const char *server = api->what == BLI_API_CHANGE ? api->server : NULL;
    if (bli_changes_remove(table, api->upstream, server))
        return 0;
    return bli_ngx_api_fail(api, NGX_HTTP_NOT_FOUND, "nothing is changed of %s%s\"%s\"", server ? server : "",
                            server ? " in upstream " : "upstream ", api->upstream);
}

/* The text is kept as Ballast writes it; that of the configuration is no change. */
static ngx_uint_t patch_policy(struct bli_ngx_api *api, struct bli_changes *table, const ngx_str_t *body) {
    char text[BLI_POLICY_NAME];
    struct bli_ngx_policy policy;
    if (bli_policy_change_read((const char *)body->data, body->len, text, &api->err))
        return api->status = NGX_HTTP_BAD_REQUEST;
    if (text[0] && bli_ngx_policy_check(api->conf, text, &policy, &api->err))
        return api->status = NGX_HTTP_CONFLICT;
    const bool other = text[0] && strcmp(policy.text, api->conf->text) != 0;
    if (bli_changes_set_policy(table, api->upstream, other ? policy.text : NULL, &api->err))
        return api->status = NGX_HTTP_CONFLICT;
    return 0;
}

static ngx_uint_t edit_table(struct bli_ngx_api *api, struct bli_changes *table, const ngx_str_t *body) {
    if (api->what == BLI_API_UPSTREAM)
        return patch_policy(api, table, body);
    if (api->r->method == NGX_HTTP_PATCH)
        return patch_server(api, table, body);
    if (api->r->method == NGX_HTTP_POST)
        return add_server(api, table, body);
    return api->what == BLI_API_SERVER ? remove_server(api, table) : remove_changes(api, table);
}

/* ---- making them ---- */

/* Is this tag among "1", "2"? A weak one, W/"1", never is. */
static bool lists_tag(const ngx_str_t *list, const char *tag, size_t length) {
    const u_char *at = list->data, *end = list->data + list->len;
    while (at < end) {
        const u_char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        while (at < stop && (*at == ' ' || *at == '\t'))
            at++;
        while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        if ((size_t)(stop - at) == length && memcmp(at, tag, length) == 0)
            return true;
        at = comma ? comma + 1 : end;
    }
    return false;
}

/* If-Match: the change is only made on top of the generation that its author has seen. */
static bool is_expected(const ngx_http_request_t *r, uint64_t generation) {
    char tag[32];
    const ngx_table_elt_t *header = r->headers_in.if_match;
    if (!header || (header->value.len == 1 && header->value.data[0] == '*'))
        return true;
    const int length = snprintf(tag, sizeof tag, "\"%llu\"", (unsigned long long)generation);
    return lists_tag(&header->value, tag, (size_t)length);
}

static void apply_changes(const struct bli_ngx_api *api) {
    for (ngx_uint_t k = 0; api->conf && k < api->conf->peer_sets; k++)
        if (api->conf->peers[k].zone.attached)
            bli_ngx_peers_update(&api->conf->peers[k], bli_ngx_now());
}

static void log_change(const struct bli_ngx_api *api, const struct bli_change *change) {
    char text[BLI_CHANGE_TEXT] = "";
    if (change && change->presence == BLI_SERVER_REMOVED)
        strcpy(text, "removed");
    else if (change && !bli_change_print(change, text))
        strcpy(text, is_added(change) ? "added" : "as configured");
    bli_ngx_journal_log(NGX_LOG_NOTICE, api->r->connection->log,
                        "ballast: upstream \"%s\": %V of %s by %V: %s", api->upstream, &api->r->method_name,
                        *api->server ? api->server : "all servers", &api->r->connection->addr_text,
                        change ? text : "as configured");
}

static void log_policy(const struct bli_ngx_api *api) {
    const struct bli_ngx_upstream *b = api->conf;
    bli_ngx_journal_log(NGX_LOG_NOTICE, api->r->connection->log,
                        "ballast: upstream \"%s\": %V of the policy by %V: '%s' decides (configured: '%s')",
                        api->upstream, &api->r->method_name, &api->r->connection->addr_text, b->now.text,
                        b->text);
}

static ngx_uint_t make_change(struct bli_ngx_api *api, const ngx_str_t *body) {
    struct bli_change made;
    struct bli_changes *table = bli_ngx_changes_edit(api->changes);
    if (!table)
        return bli_ngx_api_fail(api, NGX_HTTP_SERVICE_UNAVAILABLE,
                                "another process changes servers, and does not end; try again");
    ngx_uint_t failed = 0;
    if (!is_expected(api->r, table->generation))
        failed = bli_ngx_api_fail(api, NGX_HTTP_PRECONDITION_FAILED,
                                  "this is generation \"%llu\"; look again, and then decide",
                                  (unsigned long long)table->generation);
    failed = failed ? failed : edit_table(api, table, body);
    if (failed) {
        bli_ngx_changes_abandon(api->changes);
        return failed;
    }
    const struct bli_change *change = bli_changes_find(table, api->upstream, api->server);
    if (change)
        made = *change;
    if (bli_ngx_changes_commit(api->changes, &api->err)) {
        ngx_log_error(NGX_LOG_ERR, api->r->connection->log, 0, "ballast_state: %s; the change is not made",
                      api->err.text);
        return api->status = NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
    apply_changes(api);
    if (api->what == BLI_API_UPSTREAM)
        log_policy(api);
    else
        log_change(api, change ? &made : NULL);
    return 0;
}

/* ---- requests ---- */

/* All of the body in one piece, wherever nginx has put it. False: it is too large, or there is no memory. */
static bool collect_body(ngx_http_request_t *r, ngx_str_t *body) {
    body->data = ngx_palloc(r->pool, BODY_MAX);
    body->len = 0;
    for (ngx_chain_t *in = r->request_body ? r->request_body->bufs : NULL; in && body->data; in = in->next) {
        const off_t size = ngx_buf_size(in->buf);
        if (size > (off_t)(BODY_MAX - body->len))
            return false;
        if (size == 0) /* the last one may be a mark of the end, with neither memory nor a file */
            continue;
        if (ngx_buf_in_memory(in->buf))
            ngx_memcpy(body->data + body->len, in->buf->pos, (size_t)size);
        else if (ngx_read_file(in->buf->file, body->data + body->len, (size_t)size, in->buf->file_pos) !=
                 size)
            return false;
        body->len += (size_t)size;
    }
    return body->data != NULL;
}

static void on_body(ngx_http_request_t *r) {
    struct bli_ngx_api *api = ngx_http_get_module_ctx(r, ngx_http_ballast_module);
    ngx_str_t body;
    if (collect_body(r, &body))
        make_change(api, &body);
    else
        bli_ngx_api_fail(api, NGX_HTTP_REQUEST_ENTITY_TOO_LARGE, "the body is longer than %d bytes",
                         BODY_MAX);
    ngx_http_finalize_request(r, bli_ngx_api_answer(api));
}

/* A page of another site can send a form, but not this type without being asked first. */
static bool is_json(const ngx_http_request_t *r) {
    static const char *const types[] = {"application/json", "application/merge-patch+json"};
    const ngx_table_elt_t *type = r->headers_in.content_type;
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++) {
        const size_t length = strlen(types[i]);
        if (type->value.len >= length && ngx_strncasecmp(type->value.data, (u_char *)types[i], length) == 0 &&
            (type->value.len == length || type->value.data[length] == ';' || type->value.data[length] == ' '))
            return true;
    }
    return false;
}

static ngx_uint_t check_request(struct bli_ngx_api *api) {
    const ngx_uint_t failed = find_subject(api);
    if (failed)
        return failed;
    if (!(api->r->method & allowed_methods(api)))
        return bli_ngx_api_fail(api, NGX_HTTP_NOT_ALLOWED, "this method does not apply to this path");
    if (api->r->method & (NGX_HTTP_POST | NGX_HTTP_PATCH) && !is_json(api->r))
        return bli_ngx_api_fail(api, NGX_HTTP_UNSUPPORTED_MEDIA_TYPE, "use Content-Type: application/json");
    return 0;
}

static ngx_int_t handle_request(ngx_http_request_t *r) {
    struct bli_ngx_api *api = ngx_pcalloc(r->pool, sizeof *api);
    if (!api)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    api->r = r;
    api->changes = bli_ngx_changes_running();
    api->status = NGX_HTTP_OK;
    const ngx_uint_t failed = check_request(api);
    if (!failed && r->method & (NGX_HTTP_POST | NGX_HTTP_PATCH)) {
        ngx_http_set_ctx(r, api, ngx_http_ballast_module);
        const ngx_int_t rc = ngx_http_read_client_request_body(r, on_body);
        return rc >= NGX_HTTP_SPECIAL_RESPONSE ? rc : NGX_DONE;
    }
    const ngx_int_t rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK)
        return rc;
    const ngx_str_t none = ngx_null_string;
    if (!failed && r->method == NGX_HTTP_DELETE)
        make_change(api, &none);
    return bli_ngx_api_answer(api);
}

/* ---- the directive ---- */

char *bli_ngx_api_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    ngx_http_core_loc_conf_t *location = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    bool other = location->handler != NULL || location->exact_match || location->named;
    struct bli_ngx_status *status = conf;
    (void)command;
    if (location->handler == handle_request)
        return (char *)"is duplicate";
#if (NGX_PCRE)
    other |= location->regex != NULL;
#endif
    if (other) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "ballast_api: it needs a location of its own for all paths that begin so, as in "
                           "location /ballast-api/ { ballast_api; }");
        return NGX_CONF_ERROR;
    }
    bli_ngx_changes_conf(cf)->used = true;
    location->handler = handle_request;
    status->api = true;
    return NGX_CONF_OK;
}

/* To nginx the inside of limit_except is a location without a name, which inherits no handler. */
char *bli_ngx_api_merge(ngx_conf_t *cf, void *parent, void *child) {
    const struct bli_ngx_status *outer = parent;
    struct bli_ngx_status *inner = child;
    ngx_http_core_loc_conf_t *location = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    if (outer->api && location->noname && location->lmt_excpt) {
        inner->api = true;
        location->handler = handle_request;
    }
    return NGX_CONF_OK;
}
