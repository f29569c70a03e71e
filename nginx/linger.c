/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections to an app that has not answered yet, though its client no longer needs the answer. */
#include "linger.h"

#include <ngx_event.h>

enum { READS = 16 }; /* before others have their turn */

bool bli_ngx_linger_is_whole(const ngx_http_request_t *r) {
    const ngx_http_upstream_t *u = r->upstream;
    const ngx_uint_t status = u->headers_in.status_n;
    if (status == 0) /* nothing has come */
        return false;
    if (r->method == NGX_HTTP_HEAD || status == NGX_HTTP_NO_CONTENT || status == NGX_HTTP_NOT_MODIFIED)
        return true;
    if (u->buffering && u->pipe)
        return u->pipe->upstream_done || (u->pipe->upstream_eof && u->pipe->length == -1);
    return u->length == 0 || (u->length == -1 && u->peer.connection && u->peer.connection->read->eof);
}

static void close_lingering(ngx_connection_t *c) {
    const struct bli_ngx_linger *what = c->data;
    what->end(what);
#if (NGX_SSL)
    if (c->ssl) {
        c->timedout = 1; /* send nothing to the other side */
        (void)ngx_ssl_shutdown(c);
    }
#endif
    ngx_destroy_pool(c->pool);
    ngx_close_connection(c);
}

static void on_readable(ngx_event_t *event) {
    ngx_connection_t *c = event->data;
    u_char dropped[4096];
    ssize_t size = 1;
    if (event->timedout || c->close) {
        close_lingering(c);
        return;
    }
    for (int i = 0; i < READS && size > 0; i++)
        size = recv(c->fd, dropped, sizeof dropped, MSG_DONTWAIT);
    if (size > 0)
        bli_ngx_post_event(event);
    else if (size == 0 || (ngx_socket_errno != NGX_EAGAIN && ngx_socket_errno != NGX_EINTR))
        close_lingering(c);
    else if (event->ready = 0, ngx_handle_read_event(event, 0) != NGX_OK)
        close_lingering(c);
}

static void ignore_event(ngx_event_t *event) {
    (void)event;
}

/* nginx has other handlers, timers and logs for it, which are those of the request. */
static void adopt_connection(ngx_connection_t *c, struct bli_ngx_linger *what, ngx_msec_t most) {
    ngx_log_t *log = ngx_cycle->log;
    c->data = what;
    c->log = c->read->log = c->write->log = c->pool->log = log;
    c->read->handler = on_readable;
    c->write->handler = ignore_event;
    c->read->timedout = c->write->timedout = 0;
    if (c->write->timer_set)
        ngx_del_timer(c->write);
    if (c->write->active && ngx_event_flags & NGX_USE_LEVEL_EVENT)
        (void)ngx_del_event(c->write, NGX_WRITE_EVENT, 0);
    bli_ngx_cancel_event(c->write);
    ngx_add_timer(c->read, most);
    bli_ngx_post_event(c->read); /* to read what there is, and to wait for the rest */
}

bool bli_ngx_linger_begin(ngx_peer_connection_t *pc, const ngx_http_upstream_t *u,
                          const struct bli_ngx_linger *what) {
    ngx_connection_t *c = pc->connection;
    if (!c || !c->pool || !u->request_sent || c->error || c->read->eof || c->read->error ||
        c->read->pending_eof || c->write->error)
        return false;
    struct bli_ngx_linger *kept = ngx_palloc(c->pool, sizeof *kept);
    if (!kept || shutdown(c->fd, SHUT_WR) == -1)
        return false;
    *kept = *what;
    pc->connection = NULL;
    adopt_connection(c, kept, u->conf->read_timeout);
    return true;
}
