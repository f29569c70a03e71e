/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that wait inside nginx's peer.get: the connection that stands for a server, and how it ends. */
#include "placeholder.h"

static struct sockaddr nowhere = {.sa_family = AF_UNSPEC};

/* ---- beginning to wait ---- */

static ssize_t fail_recv(ngx_connection_t *c, u_char *buffer, size_t size) {
    (void)c;
    (void)buffer;
    (void)size;
    return NGX_ERROR;
}

static ngx_connection_t *open_placeholder(ngx_log_t *log) {
    const ngx_socket_t s = ngx_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s == (ngx_socket_t)-1) {
        ngx_log_error(NGX_LOG_ALERT, log, ngx_socket_errno, ngx_socket_n " failed");
        return NULL;
    }
    ngx_connection_t *c = ngx_get_connection(s, log);
    if (!c) {
        ngx_close_socket(s);
        return NULL;
    }
    c->type = SOCK_STREAM;
    c->log = c->read->log = c->write->log = log;
    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);
    c->start_time = ngx_current_msec;
    c->recv = fail_recv;
    c->send = ngx_send;
    c->recv_chain = ngx_recv_chain;
    c->send_chain = ngx_send_chain;
    return c;
}

bool bli_ngx_placeholder_has_room(void) {
    enum { RESERVE = 8 }; /* one of so many connections is kept */
    return ngx_cycle->free_connection_n + ngx_cycle->reusable_connections_n >
           ngx_cycle->connection_n / RESERVE;
}

void bli_ngx_placeholder_warn_capacity(ngx_cycle_t *cycle, const char *option, ngx_uint_t waiting,
                                       uint64_t connections, const ngx_str_t *file, ngx_uint_t line) {
    const uint64_t most = (connections - connections / 8) / 2;
    if (waiting > most)
        ngx_log_error(
            NGX_LOG_WARN, cycle->log, 0,
            "ballast: %s lets %ui requests wait, each of which takes two of worker_connections, and all "
            "workers have room for %uL; more are refused with 503; use more worker_connections, or a "
            "smaller number in %V:%ui",
            option, waiting, most, file, line);
}

ngx_int_t bli_ngx_placeholder_install(struct bli_ngx_placeholder *p, ngx_peer_connection_t *pc,
                                      ngx_str_t *name) {
    if (!p->connection)
        p->connection = open_placeholder(pc->log);
    if (!p->connection)
        return NGX_ERROR;
    pc->connection = p->connection;
    pc->sockaddr = &nowhere; /* so that nginx gives it back when the client goes away */
    pc->socklen = sizeof nowhere;
    pc->name = name;
    p->began = ngx_current_msec;
    return NGX_AGAIN;
}

void bli_ngx_placeholder_cancel_timer(struct bli_ngx_placeholder *p) {
    if (p->connection && p->connection->write->timer_set)
        ngx_del_timer(p->connection->write);
}

/* ---- going on ---- */

static void close_placeholder(struct bli_ngx_placeholder *p) {
    ngx_connection_t *c = p->connection;
    p->connection = NULL;
    if (c->pool)
        ngx_destroy_pool(c->pool);
    ngx_close_connection(c);
}

/* Sets the connection up as nginx had set up the placeholder; nginx does the rest. */
static void hand_over_connection(struct bli_ngx_placeholder *p, ngx_int_t rc) {
    ngx_http_request_t *r = p->request;
    ngx_http_upstream_t *u = p->u;
    ngx_connection_t *c = u->peer.connection, *holder = p->connection;
    c->requests++;
    c->data = r;
    c->write->handler = holder->write->handler;
    c->read->handler = holder->read->handler;
    c->sendfile &= r->connection->sendfile;
    u->output.sendfile = c->sendfile;
    if (r->connection->tcp_nopush == NGX_TCP_NOPUSH_DISABLED)
        c->tcp_nopush = NGX_TCP_NOPUSH_DISABLED;
    if (!c->pool) {
        c->pool = holder->pool;
        holder->pool = NULL;
    }
    c->log = r->connection->log;
    c->pool->log = c->read->log = c->write->log = c->log;
    u->writer.connection = c;
    close_placeholder(p);
    if (rc == NGX_AGAIN)
        ngx_add_timer(c->write, u->conf->connect_timeout);
    else
        bli_ngx_post_event(c->write);
}

/* nginx reads from the placeholder, which fails, and goes on as if a server had closed the connection. */
static void fail_connection(struct bli_ngx_placeholder *p) {
    ngx_http_upstream_t *u = p->u;
    u->peer.connection = p->connection;
    if (!u->peer.sockaddr) {
        u->peer.sockaddr = &nowhere;
        u->peer.socklen = sizeof nowhere;
    }
    p->connection = NULL;
    bli_ngx_post_event(u->peer.connection->read);
}

/* The times that nginx logs are those of the server, not of waiting here. */
bool bli_ngx_placeholder_resume(struct bli_ngx_placeholder *p) {
    ngx_http_upstream_t *u = p->u;
    u->start_time = ngx_current_msec;
    u->peer.start_time += ngx_current_msec - p->began;
    const ngx_int_t rc = ngx_event_connect_peer(&u->peer);
    u->state->peer = u->peer.name;
    if (rc == NGX_OK || rc == NGX_AGAIN || rc == NGX_DONE) {
        if (u->peer.connection != p->connection)
            hand_over_connection(p, rc);
        return true;
    }
    fail_connection(p);
    return rc != NGX_ERROR;
}

/* ---- refusing ---- */

static void add_retry_after(ngx_http_request_t *r, ngx_msec_t ms) {
    ngx_table_elt_t *header = ngx_list_push(&r->headers_out.headers);
    u_char *text = ngx_pnalloc(r->pool, NGX_TIME_T_LEN);
    if (!header)
        return;
    header->hash = text ? 1 : 0;
    bli_ngx_header_ends(header);
    if (!text)
        return;
    ngx_str_set(&header->key, "Retry-After");
    header->value.data = text;
    header->value.len = (size_t)(ngx_sprintf(text, "%M", (ms + 999) / 1000) - text);
}

/* A cache that may serve what is stale when servers fail does so now. */
static bool has_stale(const ngx_http_upstream_t *u) {
#if (NGX_HTTP_CACHE)
    return u->cache_status == NGX_HTTP_CACHE_EXPIRED && u->conf->cache_use_stale & NGX_HTTP_UPSTREAM_FT_ERROR;
#else
    return false;
#endif
}

void bli_ngx_placeholder_refuse(struct bli_ngx_placeholder *p, uint64_t retry_ns, ngx_msec_t otherwise) {
    static const uint64_t most_ns = UINT64_C(3600000000000);
    const ngx_msec_t measured = (ngx_msec_t)(ngx_min(retry_ns, most_ns) / 1000000);
    ngx_http_request_t *r = p->request;
    ngx_http_upstream_t *u = p->u;
    ngx_connection_t *c = r->connection;
    if (has_stale(u)) {
        u->peer.tries = 0;
        fail_connection(p);
        return;
    }
    p->connection = NULL; /* nginx closes it */
    add_retry_after(r, retry_ns ? ngx_max(measured, 1) : otherwise);
    u->start_time = ngx_current_msec; /* no server has taken any time */
    u->state->status = NGX_HTTP_SERVICE_UNAVAILABLE;
    r->main->count++; /* the end of the upstream is not the end of the request */
    (*u->cleanup)(r);
    ngx_http_finalize_request(r, NGX_HTTP_SERVICE_UNAVAILABLE);
    ngx_http_run_posted_requests(c);
}
