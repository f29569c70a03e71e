/* Requests that wait for a server.
 *
 * nginx expects a server, an error, or a connection that is being made. A request that waits gets the last: a
 * placeholder, a socket that is never connected and of which nobody hears. So nginx itself looks after the
 * client meanwhile, and everything that stands before a connection (caches, bodies, authentication) is
 * done. When the core has decided, the connection is made as nginx would have made it, with the placeholder's
 * handlers, and the placeholder is closed. A request that may not wait any longer is answered with 503. */
#include "process.h"
#include "upstream.h"

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

/* A full worker cannot let it wait either. */
static ngx_int_t give_up(struct bal_ngx_peer *peer) {
    if (peer->state == BAL_PEER_WAITING)
        bal_ngx_peer_cancel(peer);
    peer->state = BAL_PEER_NEW;
    return NGX_ERROR;
}

ngx_int_t bal_ngx_hold(struct bal_ngx_peer *peer, ngx_peer_connection_t *pc) {
    struct bal_ngx_tier *tier = peer->tier;
    if (!peer->holder)
        peer->holder = open_placeholder(pc->log);
    if (!peer->holder)
        return give_up(peer);
    pc->connection = peer->holder;
    pc->sockaddr = &nowhere; /* so that nginx gives it back when the client goes away */
    pc->socklen = sizeof nowhere;
    pc->name = &peer->upstream->us->host;
    peer->began = ngx_current_msec;
    if (peer->state == BAL_PEER_WAITING) {
        peer->node.key = (ngx_rbtree_key_t)peer->to.ticket;
        ngx_rbtree_insert(&tier->waiting, &peer->node);
        bal_ngx_zone_wait(&tier->zone, peer->upstream->hold);
    }
    bal_ngx_post(&peer->later);
    return NGX_AGAIN;
}

void bal_ngx_hold_end(struct bal_ngx_peer *peer) {
    ngx_rbtree_delete(&peer->tier->waiting, &peer->node);
    bal_ngx_zone_waited(&peer->tier->zone);
}

/* ---- going on ---- */

static void close_placeholder(struct bal_ngx_peer *peer) {
    ngx_connection_t *c = peer->holder;
    peer->holder = NULL;
    if (c->pool)
        ngx_destroy_pool(c->pool);
    ngx_close_connection(c);
}

/* What nginx has done with the placeholder is done with the connection, and whatever comes next is nginx's.
 */
static void take_over(struct bal_ngx_peer *peer, ngx_int_t rc) {
    ngx_http_request_t *r = peer->request;
    ngx_http_upstream_t *u = peer->u;
    ngx_connection_t *c = u->peer.connection, *holder = peer->holder;
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
    close_placeholder(peer);
    if (rc == NGX_AGAIN)
        ngx_add_timer(c->write, u->conf->connect_timeout);
    else
        bal_ngx_post(c->write);
}

/* nginx reads from the placeholder, which fails, and goes on as if a server had closed the connection. */
static void fail(struct bal_ngx_peer *peer) {
    ngx_http_upstream_t *u = peer->u;
    u->peer.connection = peer->holder;
    if (!u->peer.sockaddr) {
        u->peer.sockaddr = &nowhere;
        u->peer.socklen = sizeof nowhere;
    }
    peer->holder = NULL;
    bal_ngx_post(u->peer.connection->read);
}

/* The times that nginx tells are those of the server, not of waiting here. */
static void go_on(struct bal_ngx_peer *peer) {
    ngx_http_upstream_t *u = peer->u;
    u->start_time = ngx_current_msec;
    u->peer.start_time += ngx_current_msec - peer->began;
    const ngx_int_t rc = ngx_event_connect_peer(&u->peer);
    u->state->peer = u->peer.name;
    if (rc == NGX_OK || rc == NGX_AGAIN || rc == NGX_DONE) {
        if (u->peer.connection != peer->holder)
            take_over(peer, rc);
        return;
    }
    peer->blameless = rc == NGX_ERROR;
    fail(peer);
}

static struct bal_ngx_peer *find(const struct bal_ngx_tier *tier, uint64_t ticket) {
    ngx_rbtree_node_t *node = tier->waiting.root;
    while (node != tier->waiting.sentinel && node->key != (ngx_rbtree_key_t)ticket)
        node = (ngx_rbtree_key_t)ticket < node->key ? node->left : node->right;
    return node == tier->waiting.sentinel ? NULL : ngx_rbtree_data(node, struct bal_ngx_peer, node);
}

static bool next_news(struct bal_ngx_tier *tier, struct bal_dispatch *to, struct bal_ngx_server **server) {
    bal_ngx_zone_lock(&tier->zone);
    const bool more = bal_dispatcher_news(tier->d, bal_ngx_now(), to);
    *server = more && to->verdict == BAL_SEND ? bal_ngx_tier_server(tier, to->server) : NULL;
    bal_ngx_zone_unlock(&tier->zone);
    return more;
}

/* Nobody here can take it: the next tier may. */
static void move_on(struct bal_ngx_peer *peer) {
    peer->state = BAL_PEER_NEW;
    peer->tier++;
    go_on(peer);
}

static void take_verdict(struct bal_ngx_peer *peer, const struct bal_dispatch *to,
                         struct bal_ngx_server *server) {
    bal_ngx_hold_end(peer);
    peer->to = *to;
    peer->waited_ns += to->waited_ns;
    if (server) {
        peer->server = server;
        peer->state = BAL_PEER_DECIDED;
        go_on(peer);
    } else if (to->verdict == BAL_SEND) { /* to one whose address nobody can read */
        bal_ngx_peer_cancel(peer);
        move_on(peer);
    } else if (to->reason == BAL_REASON_NONE_OPEN) {
        move_on(peer);
    } else {
        peer->state = BAL_PEER_REFUSED;
        bal_ngx_post(&peer->later);
    }
}

void bal_ngx_hold_news(struct bal_ngx_tier *tier) {
    struct bal_dispatch to;
    struct bal_ngx_server *server;
    while (tier->zone.waiting && next_news(tier, &to, &server)) {
        struct bal_ngx_peer *peer = find(tier, to.ticket);
        if (peer)
            take_verdict(peer, &to, server);
    }
}

/* ---- being turned away ---- */

static void say_retry_after(ngx_http_request_t *r, ngx_msec_t ms) {
    ngx_table_elt_t *header = ngx_list_push(&r->headers_out.headers);
    u_char *text = ngx_pnalloc(r->pool, NGX_TIME_T_LEN);
    if (!header)
        return;
    header->hash = text ? 1 : 0;
    bal_ngx_header_ends(header);
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

static void refuse(struct bal_ngx_peer *peer) {
    ngx_http_request_t *r = peer->request;
    ngx_http_upstream_t *u = peer->u;
    ngx_connection_t *c = r->connection;
    ngx_http_set_log_request(c->log, r);
    ngx_log_error(NGX_LOG_ERR, c->log, 0, "ballast: upstream \"%V\": request refused, %s",
                  &peer->upstream->us->host,
                  peer->to.reason == BAL_REASON_TOO_LONG ? "it has waited for too long" : "too many wait");
    peer->state = BAL_PEER_NEW;
    if (has_stale(u)) {
        u->peer.tries = 0;
        fail(peer);
        return;
    }
    peer->holder = NULL; /* nginx closes it */
    say_retry_after(r, peer->upstream->hold);
    u->start_time = ngx_current_msec; /* no server has taken any time */
    u->state->status = NGX_HTTP_SERVICE_UNAVAILABLE;
    r->main->count++; /* the end of the upstream is not the end of the request */
    (*u->cleanup)(r);
    ngx_http_finalize_request(r, NGX_HTTP_SERVICE_UNAVAILABLE);
    ngx_http_run_posted_requests(c);
}

void bal_ngx_hold_later(struct bal_ngx_peer *peer) {
    if (peer->state == BAL_PEER_REFUSED)
        refuse(peer);
    else if (peer->holder && peer->holder->write->timer_set)
        ngx_del_timer(peer->holder->write); /* the time to connect has not begun */
}
