/* A request and its servers: which one it goes to, and what became of it there.
 *
 * nginx asks for a server (get), gives it back (free), and may ask again at once. Whether it will is not
 * known when it gives one back that has failed, so that the core is told a moment later: when nginx asks
 * again, that is a retry, which does not go to the same server; if it has not asked when its call is over, it
 * is the end of the request. */
#include "class.h"
#include "process.h"
#include "ride.h"
#include "upstream.h"

/* ---- the end of a try ---- */

/* What is recorded of a request. */
static void note(const struct bal_ngx_peer *peer, uint64_t now) {
    struct bal_ngx_records *records = peer->tier->records;
    bal_ngx_records_time(records, peer->rank, now - peer->began_ns);
    if (!records->room)
        return;
    const ngx_http_upstream_state_t *state = peer->u->state;
    const struct bal_ngx_record record = {.arrived_ns = peer->began_ns,
                                          .wait_us = bal_ngx_microseconds(peer->sent_ns - peer->began_ns),
                                          .took_us = bal_ngx_microseconds(peer->took_ns),
                                          .server = peer->number,
                                          .status = state ? (uint16_t)state->status : 0,
                                          .rank = peer->rank,
                                          .reason = peer->reason};
    bal_ngx_records_keep(records, &record);
}

/* told: what its station has said with the response, or NULL. */
static void respond(struct bal_ngx_peer *peer, enum bal_outcome outcome, const struct bal_message *told) {
    struct bal_ngx_tier *tier = peer->tier;
    const uint64_t now = bal_ngx_now();
    peer->took_ns = now - peer->sent_ns;
    bal_ngx_zone_lock(&tier->zone);
    bal_dispatcher_respond(tier->d, now, peer->ticket, outcome);
    if (told)
        bal_dispatcher_hear(tier->d, now, told);
    note(peer, now);
    bal_ngx_zone_unlock(&tier->zone);
}

void bal_ngx_peer_cancel(struct bal_ngx_peer *peer) {
    struct bal_ngx_tier *tier = peer->tier;
    if (tier->zone.inside) {
        bal_ngx_zone_lock(&tier->zone);
        bal_dispatcher_cancel(tier->d, bal_ngx_now(), peer->ticket);
        bal_ngx_zone_unlock(&tier->zone);
    }
    peer->state = BAL_PEER_NEW;
}

static void forget_later(struct bal_ngx_peer *peer) {
    if (peer->wait)
        bal_ngx_unpost(&peer->wait->later);
}

/* Nothing of it remains in shared memory. */
static void settle(struct bal_ngx_peer *peer) {
    forget_later(peer);
    switch ((enum bal_ngx_peer_state)peer->state) {
    case BAL_PEER_WAITING:
        peer->waited_ns += (uint64_t)(ngx_current_msec - peer->wait->place.began) * 1000000;
        bal_ngx_hold_end(peer);
        bal_ngx_peer_cancel(peer);
        break;
    case BAL_PEER_SENT:
    case BAL_PEER_DECIDED:
        bal_ngx_peer_cancel(peer);
        break;
    case BAL_PEER_FAILED:
        if (peer->tier->zone.inside)
            respond(peer, (enum bal_outcome)peer->outcome, NULL);
        break;
    case BAL_PEER_NEW:
    case BAL_PEER_PLAIN:
    case BAL_PEER_REFUSED:
        break;
    }
    peer->state = BAL_PEER_NEW;
    if (peer->wait)
        bal_ngx_placeholder_lost(&peer->wait->place);
}

static void on_later(ngx_event_t *event) {
    const struct bal_ngx_wait *wait = event->data;
    struct bal_ngx_peer *peer = wait->peer;
    if (peer->state == BAL_PEER_FAILED)
        settle(peer);
    else
        bal_ngx_hold_later(peer);
}

/* The request is over; whatever nginx has done with it, nothing is left. */
static void clean_up(void *data) {
    struct bal_ngx_peer *peer = data;
    if (peer->state != BAL_PEER_NEW || peer->wait)
        settle(peer);
}

struct bal_ngx_wait *bal_ngx_peer_wait(struct bal_ngx_peer *peer) {
    struct bal_ngx_wait *wait = peer->wait ? peer->wait : ngx_pcalloc(peer->request->pool, sizeof *wait);
    if (!wait || peer->wait)
        return wait;
    wait->peer = peer;
    wait->place.request = peer->request;
    wait->place.u = peer->u;
    wait->later.handler = on_later;
    wait->later.data = wait;
    wait->later.log = peer->request->connection->log;
    return peer->wait = wait;
}

/* ---- choosing ---- */

static ngx_int_t point(const struct bal_ngx_peer *peer, ngx_peer_connection_t *pc) {
    pc->sockaddr = peer->server->sockaddr;
    pc->socklen = peer->server->socklen;
    pc->name = &peer->server->name;
    return NGX_OK;
}

/* Asks the core: for a new request, or for one that has just failed. */
static enum bal_dispatch_verdict ask(struct bal_ngx_peer *peer) {
    struct bal_ngx_tier *tier = peer->tier;
    struct bal_dispatch to;
    const uint64_t before = peer->sent_ns = bal_ngx_now();
    peer->began_ns = peer->began_ns ? peer->began_ns : before;
    bal_ngx_zone_lock(&tier->zone);
    if (peer->state == BAL_PEER_FAILED)
        bal_dispatcher_retry(tier->d, before, peer->ticket, (enum bal_outcome)peer->outcome, &to);
    else
        bal_dispatcher_arrive(tier->d, before, peer->rank, &to);
    if (to.verdict == BAL_SEND)
        peer->server = bal_ngx_tier_server(tier, to.server);
    bal_ngx_zone_unlock(&tier->zone);
    peer->ticket = to.ticket;
    peer->reason = (uint8_t)to.reason;
    peer->length = to.length;
    peer->number = to.server;
    peer->state = BAL_PEER_NEW;
    if (tier->decisions++ % DECISION_SHARE == 0)
        bal_ngx_tier_took(tier, bal_ngx_now() - before);
    return to.verdict;
}

/* Neither counted nor chosen by the policy, but sent. */
static ngx_int_t send_plain(struct bal_ngx_peer *peer, ngx_peer_connection_t *pc) {
    peer->server = bal_ngx_tier_plain(peer->tier);
    if (!peer->server)
        return NGX_BUSY;
    if (peer->tier->shared)
        ngx_atomic_fetch_add((ngx_atomic_t *)&peer->tier->shared->plain, 1);
    if (ngx_time() != peer->tier->told_plain) /* once a second */
        ngx_log_error(NGX_LOG_WARN, pc->log, 0,
                      "ballast: upstream \"%V\": no room to count this request; a larger zone= has",
                      &peer->upstream->us->host);
    peer->tier->told_plain = ngx_time();
    peer->state = BAL_PEER_PLAIN;
    peer->plain = true;
    return point(peer, pc);
}

/* Of the servers of this tier. NGX_BUSY: none can take it. */
static ngx_int_t choose(struct bal_ngx_peer *peer, ngx_peer_connection_t *pc) {
    if (!peer->tier->zone.inside)
        return send_plain(peer, pc);
    switch (ask(peer)) {
    case BAL_SEND:
        peer->state = BAL_PEER_SENT;
        if (peer->server)
            return point(peer, pc);
        bal_ngx_peer_cancel(peer);
        return NGX_BUSY;
    case BAL_WAIT:
        peer->state = BAL_PEER_WAITING;
        return bal_ngx_hold(peer, pc);
    case BAL_REFUSE:
        break;
    }
    if (peer->reason == BAL_REASON_LEDGER)
        return send_plain(peer, pc);
    if (peer->reason == BAL_REASON_NONE_OPEN)
        return NGX_BUSY;
    peer->state = BAL_PEER_REFUSED;
    return bal_ngx_hold(peer, pc);
}

static ngx_int_t get_peer(ngx_peer_connection_t *pc, void *data) {
    struct bal_ngx_peer *peer = data;
    const struct bal_ngx_tier *end = peer->upstream->tier + peer->upstream->tiers;
    pc->cached = 0;
    pc->connection = NULL;
    forget_later(peer);
    if (peer->state == BAL_PEER_DECIDED) {
        peer->state = BAL_PEER_SENT;
        peer->sent_ns = bal_ngx_now();
        return point(peer, pc);
    }
    peer->blameless = peer->plain = false;
    for (ngx_int_t rc; peer->tier < end; peer->tier++)
        if ((rc = choose(peer, pc)) != NGX_BUSY)
            return rc;
    peer->tier = peer->upstream->tier; /* for a request that comes back: all is as at the beginning */
    pc->name = &peer->upstream->us->host;
    return NGX_BUSY;
}

/* ---- and giving back ---- */

/* Has all of the response come, though the client may have gone? */
static bool is_complete(const ngx_http_upstream_t *u) {
    return u->buffering && u->pipe ? u->pipe->upstream_done || u->pipe->upstream_eof : u->length == 0;
}

static bool is_broken(const ngx_http_upstream_t *u) {
    return u->error || (u->pipe && u->pipe->upstream_error);
}

/* A station whose queue is full says so, and is as well as ever. */
static bool is_full(const struct bal_ngx_peer *peer) {
    const ngx_http_upstream_t *u = peer->u;
    return peer->upstream->stations && u->state && u->state->status == NGX_HTTP_SERVICE_UNAVAILABLE;
}

/* What nginx ends by itself: by the status that the client gets to see, if it is still there. How long a
 * connection that was upgraded has lasted says nothing about the server. */
static void end(struct bal_ngx_peer *peer) {
    const ngx_http_upstream_t *u = peer->u;
    const ngx_uint_t status = u->state ? u->state->status : 0;
    const bool gone = peer->request->connection->error && !is_complete(u);
    if (status == 0 || status == NGX_HTTP_SWITCHING_PROTOCOLS || gone) {
        bal_ngx_peer_cancel(peer);
        return;
    }
    const bool bad = status >= NGX_HTTP_INTERNAL_SERVER_ERROR || is_broken(u);
    struct bal_message told;
    const bool any = peer->tier->zone.mail && bal_ngx_ride_end(peer->tier->zone.mail, peer->request, &told);
    respond(peer, bad && !is_full(peer) ? BAL_OUTCOME_BAD : BAL_OUTCOME_GOOD, any ? &told : NULL);
    peer->state = BAL_PEER_NEW;
}

/* What nginx may try elsewhere. */
static void fail(struct bal_ngx_peer *peer, ngx_uint_t state) {
    struct bal_ngx_wait *wait = bal_ngx_peer_wait(peer);
    peer->outcome = state & NGX_PEER_FAILED && !is_full(peer) ? BAL_OUTCOME_FAILED : BAL_OUTCOME_GOOD;
    peer->state = BAL_PEER_FAILED;
    if (wait)
        bal_ngx_post(&wait->later);
    else
        settle(peer);
}

static void free_peer(ngx_peer_connection_t *pc, void *data, ngx_uint_t state) {
    struct bal_ngx_peer *peer = data;
    if (pc->tries)
        pc->tries--;
    if (peer->state != BAL_PEER_SENT || !peer->tier->zone.inside) {
        settle(peer);
        return;
    }
    if (peer->blameless) {
        bal_ngx_peer_cancel(peer);
    } else if (state & (NGX_PEER_FAILED | NGX_PEER_NEXT)) {
        fail(peer, state);
    } else {
        end(peer);
    }
}

/* ---- TLS sessions, each process its own ---- */

#if (NGX_HTTP_SSL)

static ngx_int_t set_session(ngx_peer_connection_t *pc, void *data) {
    const struct bal_ngx_peer *peer = data;
    return peer->server && peer->server->session ? ngx_ssl_set_session(pc->connection, peer->server->session)
                                                 : NGX_OK;
}

static void save_session(ngx_peer_connection_t *pc, void *data) {
    const struct bal_ngx_peer *peer = data;
    ngx_ssl_session_t *session = peer->server ? ngx_ssl_get_session(pc->connection) : NULL;
    if (!session)
        return;
    if (peer->server->session)
        ngx_ssl_free_session(peer->server->session);
    peer->server->session = session;
}

#endif

/* ---- a request ---- */

const struct bal_ngx_peer *bal_ngx_peer_of(const ngx_http_request_t *r) {
    for (const ngx_pool_cleanup_t *c = r->pool->cleanup; c; c = c->next)
        if (c->handler == clean_up && ((const struct bal_ngx_peer *)c->data)->request == r)
            return c->data;
    return NULL;
}

ngx_int_t bal_ngx_peer_init(ngx_http_request_t *r, ngx_http_upstream_srv_conf_t *us) {
    struct bal_ngx_upstream *upstream = ngx_http_conf_upstream_srv_conf(us, ngx_http_ballast_module);
    ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(r->pool, sizeof(struct bal_ngx_peer));
    if (!cleanup)
        return NGX_ERROR;
    struct bal_ngx_peer *peer = cleanup->data;
    *peer =
        (struct bal_ngx_peer){.request = r, .u = r->upstream, .upstream = upstream, .tier = upstream->tier};
    cleanup->handler = clean_up;
    if (upstream->class)
        peer->rank = (uint8_t)bal_ngx_class_of(r, upstream->class, upstream->classes);
    ngx_peer_connection_t *pc = &r->upstream->peer;
    pc->data = peer;
    pc->get = get_peer;
    pc->free = free_peer;
    pc->tries = upstream->tries;
#if (NGX_HTTP_SSL)
    pc->set_session = set_session;
    pc->save_session = save_session;
#endif
    return NGX_OK;
}
