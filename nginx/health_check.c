/* SPDX-License-Identifier: BSD-2-Clause */
/* The connections of health checks. Each is its own, not from the pool of keepalive connections: that a new
 * one can be made is part of what is checked. */
#include "health_check.h"

#include "process.h"

#include <ngx_event_connect.h>

enum {
    ORDERS = 64,      /* that are taken at once, under one lock */
    READS = 16,       /* of a connection, before others have their turn */
    LOCAL_LOG_S = 10, /* between two log lines about checks that could not be sent */
    POOL_SIZE = 1024,
};

/* Of this process and one set of servers. */
struct bli_ngx_checker {
    struct bli_ngx_peers *peers;
    ngx_event_t timer;
    ngx_connection_t whose;
    ngx_queue_t probes;
    ngx_log_t quiet; /* connections of checks log nothing: what matters is logged when a server changes */
    time_t local_logged_at;
    bool checks; /* this process makes checks, or has made them */
};

/* A check under way, in a pool of its own. */
struct probe {
    ngx_queue_t link;
    struct bli_ngx_checker *checker;
    ngx_pool_t *pool;
    uint64_t ticket;
    ngx_peer_connection_t peer;
    ngx_event_t timer;
    ngx_str_t name;
    bool connected;
    size_t sent;
    struct bal_check_reader reader;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un path;
    } address;
    socklen_t socklen;
};

/* What is needed to begin one, copied under the lock. */
struct order {
    uint64_t ticket;
    bool known; /* the address of the server is */
    socklen_t socklen;
    char address[sizeof(struct sockaddr_un)];
};

static const struct bli_ngx_check *check_of(const struct probe *p) {
    return p->checker->peers->upstream->check;
}

/* ---- the end ---- */

static void close_probe(struct probe *p) {
    ngx_connection_t *c = p->peer.connection;
    ngx_queue_remove(&p->link);
    if (p->timer.timer_set)
        ngx_del_timer(&p->timer);
#if (NGX_HTTP_SSL)
    if (c && c->ssl) {
        c->timedout = 1; /* sends nothing to the other side, and waits for nothing */
        (void)ngx_ssl_shutdown(c);
    }
#endif
    if (c)
        ngx_close_connection(c);
    ngx_destroy_pool(p->pool);
}

static void log_local(struct bli_ngx_checker *checker) {
    if (checker->local_logged_at && ngx_time() < checker->local_logged_at + LOCAL_LOG_S)
        return;
    checker->local_logged_at = ngx_time();
    bli_ngx_journal_log(NGX_LOG_WARN, ngx_cycle->log,
                        "ballast: upstream \"%V\": health checks cannot be sent, for lack of connections or "
                        "memory; servers keep their state meanwhile",
                        &checker->peers->upstream->us->host);
}

/* Without the lock no one learns the result, and the check is made again later. */
static void report(struct bli_ngx_checker *checker, uint64_t ticket, enum bal_check_result result) {
    struct bli_ngx_peers *peers = checker->peers;
    if (result == BAL_CHECK_LOCAL)
        log_local(checker);
    if (!peers->zone.attached || !bli_ngx_zone_lock(&peers->zone))
        return;
    bal_dispatcher_finish_check(peers->d, bli_ngx_now(), ticket, result);
    bli_ngx_zone_unlock(&peers->zone);
}

static void finish_probe(struct probe *p, enum bal_check_result result) {
    struct bli_ngx_checker *checker = p->checker;
    const uint64_t ticket = p->ticket;
    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0, "ballast: check of \"%V\": %s", &p->name,
                   bal_check_result_name(result));
    close_probe(p);
    report(checker, ticket, result);
}

/* ---- sending and receiving ---- */

static void receive_response(struct probe *p) {
    ngx_connection_t *c = p->peer.connection;
    u_char bytes[4096];
    for (int i = 0; i < READS; i++) {
        const ssize_t size = c->recv(c, bytes, sizeof bytes);
        if (size == NGX_AGAIN) {
            if (ngx_handle_read_event(c->read, 0) != NGX_OK)
                finish_probe(p, BAL_CHECK_LOCAL);
            return;
        }
        const enum bal_check_result result = size > 0 ? bal_check_reader_add(&p->reader, bytes, (size_t)size)
                                                      : bal_check_reader_end(&p->reader);
        if (result != BAL_CHECK_NONE) {
            finish_probe(p, size == NGX_ERROR ? BAL_CHECK_CLOSED : result);
            return;
        }
    }
    bli_ngx_post_event(c->read);
}

static void send_request(struct probe *p) {
    const struct bli_ngx_check *check = check_of(p);
    ngx_connection_t *c = p->peer.connection;
    while (p->sent < check->size) {
        const ssize_t size = c->send(c, (u_char *)check->request + p->sent, check->size - p->sent);
        if (size == NGX_AGAIN) {
            if (ngx_handle_write_event(c->write, 0) != NGX_OK)
                finish_probe(p, BAL_CHECK_LOCAL);
            return;
        }
        if (size <= 0) {
            finish_probe(p, BAL_CHECK_CLOSED);
            return;
        }
        p->sent += (size_t)size;
    }
    if (check->expected.protocol == BAL_CHECK_TCP)
        finish_probe(p, BAL_CHECK_PASSED);
    else if (c->read->ready)
        receive_response(p);
    else if (ngx_handle_read_event(c->read, 0) != NGX_OK)
        finish_probe(p, BAL_CHECK_LOCAL);
}

static void on_read(ngx_event_t *event);
static void on_write(ngx_event_t *event);

#if (NGX_HTTP_SSL)
static bool is_shaking_hands(const ngx_connection_t *c) {
    return c->ssl && !c->ssl->handshaked;
}

/* nginx sets handlers of its own, which do not see that the connection shall be closed. */
static void shake_hands(struct probe *p) {
    ngx_connection_t *c = p->peer.connection;
    const ngx_int_t code = ngx_ssl_handshake(c);
    c->read->handler = on_read;
    c->write->handler = on_write;
    if (code == NGX_OK)
        send_request(p);
    else if (code != NGX_AGAIN)
        finish_probe(p, BAL_CHECK_TLS);
}

/* The name that the server gets to know is host=, if it is a name. */
static void begin_handshake(struct probe *p) {
    const struct bli_ngx_check *check = check_of(p);
    const char *host = check->expected.host;
    ngx_connection_t *c = p->peer.connection;
    if (ngx_ssl_create_connection(check->ssl, c, NGX_SSL_BUFFER | NGX_SSL_CLIENT) != NGX_OK) {
        finish_probe(p, BAL_CHECK_LOCAL);
        return;
    }
    if (check->host_given && !strpbrk(host, ":[") &&
        ngx_inet_addr((u_char *)host, strlen(host)) == INADDR_NONE)
        (void)SSL_set_tlsext_host_name(c->ssl->connection, host);
    shake_hands(p);
}
#else
static bool is_shaking_hands(const ngx_connection_t *c) {
    (void)c;
    return false;
}

static void shake_hands(struct probe *p) {
    (void)p;
}
#endif

/* It is known whether there is a connection. */
static void end_connect(struct probe *p) {
    ngx_connection_t *c = p->peer.connection;
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, (void *)&error, &length) == -1)
        error = ngx_socket_errno;
    if (error) {
        finish_probe(p, error == NGX_ETIMEDOUT ? BAL_CHECK_TIMED_OUT : BAL_CHECK_REFUSED);
        return;
    }
    p->connected = true;
#if (NGX_HTTP_SSL)
    if (check_of(p)->tls) {
        begin_handshake(p);
        return;
    }
#endif
    send_request(p);
}

/* nginx closes idle connections when it ends: what is under way is checked by another worker. */
static bool is_abandoned(struct probe *p, const ngx_connection_t *c) {
    if (!c->close)
        return false;
    close_probe(p);
    return true;
}

/* Goes on with the connection; true: it is there, and the event is about what goes over it. */
static bool is_open(struct probe *p, ngx_connection_t *c) {
    if (is_abandoned(p, c))
        return false;
    if (!p->connected)
        end_connect(p);
    else if (is_shaking_hands(c))
        shake_hands(p);
    else
        return true;
    return false;
}

static void on_write(ngx_event_t *event) {
    ngx_connection_t *c = event->data;
    struct probe *p = c->data;
    if (is_open(p, c) && p->sent < check_of(p)->size)
        send_request(p);
}

static void on_read(ngx_event_t *event) {
    ngx_connection_t *c = event->data;
    struct probe *p = c->data;
    if (is_open(p, c) && p->sent == check_of(p)->size)
        receive_response(p);
}

static void on_timeout(ngx_event_t *event) {
    const ngx_connection_t *c = event->data;
    finish_probe(c->data, BAL_CHECK_TIMED_OUT);
}

/* ---- the beginning ---- */

static struct probe *new_probe(struct bli_ngx_checker *checker, const struct order *order) {
    const struct bli_ngx_check *check = checker->peers->upstream->check;
    ngx_pool_t *pool = ngx_create_pool(POOL_SIZE, &checker->quiet);
    struct probe *p = pool ? ngx_pcalloc(pool, sizeof *p) : NULL;
    if (!p) {
        if (pool)
            ngx_destroy_pool(pool);
        return NULL;
    }
    p->pool = pool;
    p->checker = checker;
    p->ticket = order->ticket;
    p->socklen = order->socklen;
    memcpy(&p->address, order->address, order->socklen);
    bal_check_reader_init(&p->reader, &check->expected);
    p->peer.sockaddr = &p->address.any;
    p->peer.socklen = p->socklen;
    ngx_str_set(&p->name, "server");
    p->peer.name = &p->name;
    p->peer.get = ngx_event_get_peer;
    p->peer.log = &checker->quiet;
    p->peer.log_error = NGX_ERROR_ERR;
    ngx_queue_insert_tail(&checker->probes, &p->link);
    return p;
}

static void watch_connection(struct probe *p, ngx_msec_t timeout) {
    ngx_connection_t *c = p->peer.connection;
    c->data = p;
    c->pool = p->pool;
    c->sendfile = 0;
    c->idle = 1; /* it does not keep a worker from ending */
    c->read->handler = on_read;
    c->write->handler = on_write;
    p->timer.handler = on_timeout;
    p->timer.data = c;
    p->timer.log = &p->checker->quiet;
    p->timer.cancelable = 1;
    ngx_add_timer(&p->timer, timeout);
}

static void begin_probe(struct bli_ngx_checker *checker, const struct order *order) {
    const struct bli_ngx_check *check = checker->peers->upstream->check;
    struct probe *p = order->known && bli_ngx_placeholder_has_room() ? new_probe(checker, order) : NULL;
    if (!p) {
        report(checker, order->ticket, BAL_CHECK_LOCAL);
        return;
    }
    const ngx_int_t code = ngx_event_connect_peer(&p->peer);
    if (code == NGX_ERROR || code == NGX_BUSY) {
        finish_probe(p, p->peer.connection ? BAL_CHECK_REFUSED : BAL_CHECK_LOCAL);
        return;
    }
    if (code == NGX_DECLINED) {
        finish_probe(p, BAL_CHECK_REFUSED);
        return;
    }
    watch_connection(p, (ngx_msec_t)(check->config.timeout_ns / 1000000));
    if (code == NGX_OK)
        end_connect(p);
}

/* Under the lock. */
static void fill_order(struct bli_ngx_peers *peers, const struct bal_check_order *from, struct order *to) {
    const struct bli_ngx_server *server = bli_ngx_peers_server(peers, from->server);
    const in_port_t port = htons(peers->upstream->check->port);
    to->ticket = from->ticket;
    to->known = server && server->socklen <= sizeof to->address;
    if (!to->known)
        return;
    to->socklen = server->socklen;
    memcpy(to->address, server->sockaddr, server->socklen);
    if (port && server->sockaddr->sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)to->address)->sin_port = port;
    else if (port && server->sockaddr->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)to->address)->sin6_port = port;
}

/* ---- when ---- */

static void set_timer(struct bli_ngx_checker *checker, uint64_t due, uint64_t now) {
    const uint64_t ms = due > now ? (due - now + 999999) / 1000000 : 1;
    if (checker->timer.timer_set)
        ngx_del_timer(&checker->timer);
    if (due != UINT64_MAX)
        ngx_add_timer(&checker->timer, (ngx_msec_t)ngx_min(ms, 3600000));
}

static void run_due(struct bli_ngx_checker *checker, uint64_t now) {
    struct bli_ngx_peers *peers = checker->peers;
    struct order order[ORDERS];
    struct bal_check_order next;
    ngx_uint_t orders = 0;
    if (!peers->zone.attached || !bli_ngx_zone_lock(&peers->zone))
        return;
    while (orders < ORDERS && bal_dispatcher_next_check(peers->d, now, &next))
        fill_order(peers, &next, &order[orders++]);
    const uint64_t due = bal_dispatcher_check_due(peers->d);
    bli_ngx_zone_unlock(&peers->zone);
    checker->checks = checker->checks || due != UINT64_MAX;
    for (ngx_uint_t i = 0; i < orders; i++)
        begin_probe(checker, &order[i]);
    set_timer(checker, due, now);
}

/* Another one checks from now on: nginx ends, or this process has an old configuration. */
static void stop_checking(struct bli_ngx_checker *checker, uint64_t now) {
    struct bli_ngx_peers *peers = checker->peers;
    if (!checker->checks)
        return;
    while (!ngx_queue_empty(&checker->probes))
        close_probe(ngx_queue_data(ngx_queue_head(&checker->probes), struct probe, link));
    if (checker->timer.timer_set)
        ngx_del_timer(&checker->timer);
    if (!bli_ngx_zone_lock(&peers->zone))
        return;
    bal_dispatcher_release_checks(peers->d, now);
    bli_ngx_zone_unlock(&peers->zone);
    checker->checks = false;
}

static void on_timer(ngx_event_t *event) {
    const ngx_connection_t *whose = event->data;
    struct bli_ngx_checker *checker = whose->data;
    bli_ngx_check_run(checker->peers, bli_ngx_now());
}

static struct bli_ngx_checker *new_checker(struct bli_ngx_peers *peers) {
    struct bli_ngx_checker *checker = ngx_pcalloc(ngx_cycle->pool, sizeof *checker);
    if (!checker)
        return NULL;
    checker->peers = peers;
    checker->whose.fd = (ngx_socket_t)-1;
    checker->whose.data = checker;
    checker->timer.handler = on_timer;
    checker->timer.data = &checker->whose;
    checker->timer.log = ngx_cycle->log;
    checker->timer.cancelable = 1;
    checker->quiet = *ngx_cycle->log;
    checker->quiet.log_level = NGX_LOG_EMERG;
    ngx_queue_init(&checker->probes);
    return checker;
}

void bli_ngx_check_run(struct bli_ngx_peers *peers, uint64_t now) {
    if (!peers->upstream->check)
        return;
    if (!peers->checker)
        peers->checker = new_checker(peers);
    if (!peers->checker)
        return;
    if (ngx_exiting || ngx_terminate || ngx_quit || !bli_ngx_zone_is_newest(&peers->zone))
        stop_checking(peers->checker, now);
    else
        run_due(peers->checker, now);
}

/* ---- the block ---- */

uint64_t bli_ngx_check_hash(const struct bli_ngx_upstream *upstream) {
    if (!upstream->check)
        return 0;
    const struct bal_check_config *c = &upstream->check->config;
    const uint64_t numbers[] = {c->interval_ns, c->timeout_ns, c->rises, c->falls, c->mandatory};
    uint64_t hash = 1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        hash = (hash ^ numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

void bli_ngx_check_apply(const struct bli_ngx_peers *peers, uint64_t now) {
    static const struct bal_check_config none;
    const struct bli_ngx_check *check = peers->upstream->check;
    bal_dispatcher_configure_checks(peers->d, now, check ? &check->config : &none);
}

bool bli_ngx_check_log_change(const struct bli_ngx_peers *peers, uint32_t number, const char *name,
                              bool was_failing) {
    const struct bal_check_view view = bal_dispatcher_check_view(peers->d, number);
    const bool failing = view.checked && view.state == BAL_CHECK_FAILING;
    if (failing && !was_failing)
        bli_ngx_journal_add(
            NGX_LOG_WARN,
            "ballast: upstream \"%V\": server %s fails its health checks and gets no requests "
            "(the last one: %s)",
            &peers->upstream->us->host, name, bal_check_result_name(view.result));
    else if (was_failing && !failing)
        bli_ngx_journal_add(NGX_LOG_NOTICE, "ballast: upstream \"%V\": server %s %s",
                            &peers->upstream->us->host, name,
                            view.checked ? "passes its health checks again" : "is no longer checked");
    return failing;
}
