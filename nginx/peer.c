/* SPDX-License-Identifier: BSD-2-Clause */
/* A request and its servers: which one it goes to, and the outcome there.
 *
 * nginx requests a server (get), releases it (free), and may request another at once. Whether it will is not
 * known when it releases one that has failed, so the core is informed a moment later. If nginx calls get
 * again, that is a retry, which does not go to the same server; if it has not called get when its own call is
 * over, the request has ended. */
#include "class.h"
#include "linger.h"
#include "load_header.h"
#include "process.h"
#include "upstream.h"

/* ---- those that are at stations ---- */

static void link_sent(struct bli_ngx_peer_data *peer) {
    if (!peer->upstream->stations || peer->linked)
        return;
    ngx_queue_insert_tail(&peer->peers->sent, &peer->link);
    peer->linked = true;
    peer->lost = false;
}

static void unlink_sent(struct bli_ngx_peer_data *peer) {
    if (!peer->linked)
        return;
    ngx_queue_remove(&peer->link);
    peer->linked = false;
}

/* As nginx itself decides when a server does not answer in time: nothing of an answer has come, and it may be
 * sent to another one. */
static bool may_retry(const struct bli_ngx_peer_data *peer) {
    const ngx_http_upstream_t *u = peer->u;
    const ngx_http_request_t *r = peer->request;
    const ngx_uint_t next = u->conf->next_upstream;
    const bool idempotent = !(r->method & (NGX_HTTP_POST | NGX_HTTP_LOCK | NGX_HTTP_PATCH));
    return next & NGX_HTTP_UPSTREAM_FT_TIMEOUT &&
           (idempotent || next & NGX_HTTP_UPSTREAM_FT_NON_IDEMPOTENT) && !r->request_body_no_buffering &&
           u->peer.tries > 1 && u->state && u->state->header_time == (ngx_msec_t)-1 &&
           (u->conf->next_upstream_timeout == 0 ||
            ngx_current_msec - u->peer.start_time < u->conf->next_upstream_timeout);
}

/* nginx finds that the time for its answer is over. */
static void time_out_request(struct bli_ngx_peer_data *peer) {
    ngx_connection_t *c = peer->u->peer.connection;
    if (!c || !may_retry(peer))
        return;
    ngx_log_error(
        NGX_LOG_INFO, peer->request->connection->log, 0,
        "ballast: upstream \"%V\": nothing is heard of the station of %V; its request goes elsewhere",
        &peer->upstream->us->host, peer->name);
    c->read->timedout = 1;
    bli_ngx_post_event(c->read);
}

void bli_ngx_peer_time_out_lost(struct bli_ngx_peers *peers, uint64_t now) {
    ngx_queue_t *q;
    bool any = false;
    if (ngx_queue_empty(&peers->sent) || !bli_ngx_zone_lock(&peers->zone))
        return;
    for (q = ngx_queue_head(&peers->sent); q != ngx_queue_sentinel(&peers->sent); q = ngx_queue_next(q)) {
        struct bli_ngx_peer_data *peer = ngx_queue_data(q, struct bli_ngx_peer_data, link);
        peer->lost =
            bal_dispatcher_silent_for(peers->d, now, peer->number) >= BLI_NGX_LOST_MS * UINT64_C(1000000);
        any |= peer->lost;
    }
    bli_ngx_zone_unlock(&peers->zone);
    for (q = ngx_queue_head(&peers->sent); any && q != ngx_queue_sentinel(&peers->sent);
         q = ngx_queue_next(q)) {
        struct bli_ngx_peer_data *peer = ngx_queue_data(q, struct bli_ngx_peer_data, link);
        if (peer->lost)
            time_out_request(peer);
    }
}

/* ---- the end of a try ---- */

/* Under the lock. What is recorded of a request. */
static void record_request(const struct bli_ngx_peer_data *peer, uint64_t now) {
    struct bli_ngx_records *records = peer->peers->records;
    bli_ngx_records_add_time(records, peer->rank, now - peer->began_ns);
    if (!records->room)
        return;
    const ngx_http_upstream_state_t *state = peer->u->state;
    const struct bli_ngx_record record = {.arrived_ns = peer->began_ns,
                                          .wait_us = bli_ngx_microseconds(peer->sent_ns - peer->began_ns),
                                          .took_us = bli_ngx_microseconds(peer->took_ns),
                                          .server = peer->number,
                                          .status = state ? (uint16_t)state->status : 0,
                                          .rank = peer->rank,
                                          .reason = peer->reason};
    bli_ngx_records_append(records, &record);
}

static void defer_response(const struct bli_ngx_peer_data *peer, enum bal_outcome outcome) {
    static const enum bli_ngx_deferral what[] = {[BAL_OUTCOME_GOOD] = BLI_NGX_DEFER_GOOD,
                                                 [BAL_OUTCOME_BAD] = BLI_NGX_DEFER_BAD,
                                                 [BAL_OUTCOME_FAILED] = BLI_NGX_DEFER_FAILED};
    bli_ngx_stall_defer(&peer->peers->zone, peer->ticket, what[outcome]);
}

/* piggyback: the message that its station sent with the response, or NULL. */
static void report_response(struct bli_ngx_peer_data *peer, enum bal_outcome outcome,
                            const struct bal_message *piggyback) {
    struct bli_ngx_peers *peers = peer->peers;
    const uint64_t now = bli_ngx_now();
    peer->took_ns = now - peer->sent_ns;
    if (!bli_ngx_zone_lock(&peers->zone)) {
        defer_response(peer, outcome);
        return;
    }
    bal_dispatcher_respond(peers->d, now, peer->ticket, outcome);
    if (piggyback)
        bal_dispatcher_receive_piggyback(peers->d, now, piggyback);
    record_request(peer, now);
    bli_ngx_zone_unlock(&peers->zone);
}

void bli_ngx_peer_cancel(struct bli_ngx_peer_data *peer) {
    struct bli_ngx_peers *peers = peer->peers;
    if (peers->zone.attached && bli_ngx_zone_lock(&peers->zone)) {
        bal_dispatcher_cancel(peers->d, bli_ngx_now(), peer->ticket);
        bli_ngx_zone_unlock(&peers->zone);
    } else if (peers->zone.attached) {
        bli_ngx_stall_defer(&peers->zone, peer->ticket, BLI_NGX_DEFER_CANCEL);
    }
    peer->state = BLI_PEER_NEW;
}

static void cancel_deferred(struct bli_ngx_peer_data *peer) {
    if (peer->wait)
        bli_ngx_cancel_event(&peer->wait->deferred_event);
}

/* Nothing of it remains in shared memory. */
static void release_request(struct bli_ngx_peer_data *peer) {
    cancel_deferred(peer);
    switch ((enum bli_ngx_peer_state)peer->state) {
    case BLI_PEER_WAITING:
        peer->waited_ns += (uint64_t)(ngx_current_msec - peer->wait->placeholder.began) * 1000000;
        bli_ngx_hold_remove(peer);
        bli_ngx_peer_cancel(peer);
        break;
    case BLI_PEER_SENT:
    case BLI_PEER_DECIDED:
        bli_ngx_peer_cancel(peer);
        break;
    case BLI_PEER_FAILED:
        if (peer->peers->zone.attached)
            report_response(peer, (enum bal_outcome)peer->outcome, NULL);
        break;
    case BLI_PEER_NEW:
    case BLI_PEER_UNTRACKED:
    case BLI_PEER_REFUSED:
        break;
    }
    peer->state = BLI_PEER_NEW;
    if (peer->wait)
        bli_ngx_placeholder_detach(&peer->wait->placeholder);
}

static void on_deferred(ngx_event_t *event) {
    const struct bli_ngx_wait *wait = event->data;
    struct bli_ngx_peer_data *peer = wait->peer;
    if (peer->state == BLI_PEER_FAILED)
        release_request(peer);
    else
        bli_ngx_hold_run_deferred(peer);
}

/* The request is over; whatever nginx has done with it, nothing is left. */
static void cleanup_request(void *data) {
    struct bli_ngx_peer_data *peer = data;
    unlink_sent(peer);
    if (peer->state != BLI_PEER_NEW || peer->wait)
        release_request(peer);
}

struct bli_ngx_wait *bli_ngx_peer_get_wait(struct bli_ngx_peer_data *peer) {
    struct bli_ngx_wait *wait = peer->wait ? peer->wait : ngx_pcalloc(peer->request->pool, sizeof *wait);
    if (!wait || peer->wait)
        return wait;
    wait->peer = peer;
    wait->placeholder.request = peer->request;
    wait->placeholder.u = peer->u;
    wait->deferred_event.handler = on_deferred;
    wait->deferred_event.data = wait;
    wait->deferred_event.log = peer->request->connection->log;
    return peer->wait = wait;
}

/* ---- choosing ---- */

/* A name and an address in memory of the request. */
struct name_address {
    ngx_str_t name;
    ngx_sockaddr_t address;
    u_char text[BAL_SERVER_NAME];
};

/* nginx refers to both until the request is logged, and by then its server may be gone, and its place be that
 * of another one. */
static ngx_int_t copy_peer_address(struct bli_ngx_peer_data *peer, ngx_peer_connection_t *pc) {
    const struct bli_ngx_server *server = peer->server;
    struct name_address *a = ngx_palloc(peer->request->pool, sizeof *a);
    if (!a)
        return NGX_ERROR;
    ngx_memcpy(&a->address, server->sockaddr, ngx_min(server->socklen, sizeof a->address));
    ngx_memcpy(a->text, server->name.data, ngx_min(server->name.len, sizeof a->text));
    a->name = (ngx_str_t){server->name.len, a->text};
    pc->sockaddr = &a->address.sockaddr;
    peer->name = &a->name;
    return NGX_OK;
}

static ngx_int_t set_peer_address(struct bli_ngx_peer_data *peer, ngx_peer_connection_t *pc) {
    pc->sockaddr = peer->server->sockaddr;
    pc->socklen = peer->server->socklen;
    peer->name = &peer->server->name;
    if (!peer->server->lasting && copy_peer_address(peer, pc) != NGX_OK)
        return NGX_ERROR;
    pc->name = peer->name;
    return NGX_OK;
}

#if (NGX_DEBUG)
static const char *const verdict_names[] = {
    [BAL_SEND] = "send", [BAL_WAIT] = "hold", [BAL_REFUSE] = "refuse"};
#endif

/* Requests a decision from the core, for a new request or for one that has just failed. False: the zone is
 * stalled. */
static bool request_decision(struct bli_ngx_peer_data *peer, enum bal_dispatch_verdict *verdict) {
    struct bli_ngx_peers *peers = peer->peers;
    struct bal_dispatch to;
    const uint64_t before = peer->sent_ns = bli_ngx_now();
    peer->began_ns = peer->began_ns ? peer->began_ns : before;
    if (!bli_ngx_zone_lock(&peers->zone)) {
        if (peer->state == BLI_PEER_FAILED)
            defer_response(peer, (enum bal_outcome)peer->outcome);
        peer->state = BLI_PEER_NEW;
        return false;
    }
    bal_dispatcher_set_crowded(peers->d, !bli_ngx_placeholder_has_room());
    if (peer->state == BLI_PEER_FAILED)
        bal_dispatcher_retry(peers->d, before, peer->ticket, (enum bal_outcome)peer->outcome, &to);
    else
        bal_dispatcher_arrive(peers->d, before, peer->rank, &to);
    if (to.verdict == BAL_SEND)
        peer->server = bli_ngx_peers_server(peers, to.server);
    bli_ngx_zone_unlock(&peers->zone);
    if (to.verdict == BAL_REFUSE && to.retry_ns && bli_ngx_peer_get_wait(peer))
        peer->wait->retry_ns = to.retry_ns;
    peer->ticket = to.ticket;
    peer->reason = (uint8_t)to.reason;
    peer->length = to.length;
    peer->number = to.server;
    peer->state = BLI_PEER_NEW;
    if (peers->decisions++ % DECISION_SHARE == 0)
        bli_ngx_peers_add_decision_time(peers, bli_ngx_now() - before);
    *verdict = to.verdict;
    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, peer->request->connection->log, 0,
                   "ballast: upstream \"%V\": class %ud: %s, %s, server %i", &peer->upstream->us->host,
                   (unsigned)peer->rank, verdict_names[to.verdict], bli_ngx_reason_name(to.reason),
                   to.verdict == BAL_SEND ? (ngx_int_t)to.server : -1);
    return true;
}

/* Neither counted nor chosen by the policy, but sent; not where it has just failed, if there is another one.
 */
static ngx_int_t send_untracked(struct bli_ngx_peer_data *peer, ngx_peer_connection_t *pc) {
    peer->server = bli_ngx_peers_untracked_server(peer->peers, peer->server);
    if (!peer->server)
        return NGX_BUSY;
    if (peer->peers->shared)
        ngx_atomic_fetch_add((ngx_atomic_t *)&peer->peers->shared->untracked, 1);
    peer->state = BLI_PEER_UNTRACKED;
    peer->untracked = true;
    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, pc->log, 0, "ballast: sent to %V by round robin, uncounted",
                   &peer->server->name);
    return set_peer_address(peer, pc);
}

static void log_no_room(const struct bli_ngx_peer_data *peer, ngx_log_t *log) {
    if (ngx_time() != peer->peers->untracked_logged_at) /* once a second */
        bli_ngx_journal_log(NGX_LOG_WARN, log,
                            "ballast: upstream \"%V\": no room to count this request; a larger zone= has",
                            &peer->upstream->us->host);
    peer->peers->untracked_logged_at = ngx_time();
}

/* Of the servers of this tier. NGX_BUSY: none can take it. */
static ngx_int_t choose_server(struct bli_ngx_peer_data *peer, ngx_peer_connection_t *pc) {
    enum bal_dispatch_verdict verdict;
    if (!peer->peers->zone.attached)
        return send_untracked(peer, pc);
    if (!request_decision(peer, &verdict)) {
        bli_ngx_stall_count_request(&peer->peers->zone);
        return send_untracked(peer, pc);
    }
    switch (verdict) {
    case BAL_SEND:
        peer->state = BLI_PEER_SENT;
        if (peer->server) {
            link_sent(peer);
            return set_peer_address(peer, pc);
        }
        bli_ngx_peer_cancel(peer);
        return NGX_BUSY;
    case BAL_WAIT:
        peer->state = BLI_PEER_WAITING;
        return bli_ngx_hold_request(peer, pc);
    case BAL_REFUSE:
        break;
    }
    if (peer->reason == BAL_REASON_LEDGER) {
        log_no_room(peer, pc->log);
        return send_untracked(peer, pc);
    }
    if (peer->reason == BAL_REASON_NONE_OPEN)
        return NGX_BUSY;
    peer->state = BLI_PEER_REFUSED;
    return bli_ngx_hold_request(peer, pc);
}

static ngx_int_t get_peer(ngx_peer_connection_t *pc, void *data) {
    struct bli_ngx_peer_data *peer = data;
    const struct bli_ngx_peers *end = peer->upstream->peers + peer->upstream->peer_sets;
    pc->cached = 0;
    pc->connection = NULL;
    cancel_deferred(peer);
    if (peer->state == BLI_PEER_DECIDED) {
        peer->state = BLI_PEER_SENT;
        link_sent(peer);
        peer->sent_ns = bli_ngx_now();
        return set_peer_address(peer, pc);
    }
    peer->local_error = peer->untracked = false;
    for (ngx_int_t rc; peer->peers < end; peer->peers++)
        if ((rc = choose_server(peer, pc)) != NGX_BUSY)
            return rc;
    peer->peers = peer->upstream->peers; /* for a request that comes back: all is as at the beginning */
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

/* A station whose queue is full marks its 503: that is not a failure. A 503 without the mark is the app's. */
static bool is_queue_full_refusal(const struct bli_ngx_peer_data *peer) {
    const ngx_http_upstream_t *u = peer->u;
    const struct bli_ngx_transport *transport = peer->peers->zone.transport;
    return transport && u->state && u->state->status == NGX_HTTP_SERVICE_UNAVAILABLE &&
           bli_ngx_header_signer(transport, &u->headers_in.headers, BLI_NGX_REFUSED);
}

/* ---- servers that may go on working ---- */

static void end_lingering(const struct bli_ngx_linger *what) {
    struct bli_ngx_peers *peers = what->owner;
    const uint64_t now = bli_ngx_now();
    if (!bli_ngx_zone_lock(&peers->zone)) {
        bli_ngx_stall_defer(&peers->zone, what->ticket, bli_ngx_linger_deferral(what));
        return;
    }
    if (what->answered)
        bal_dispatcher_respond(peers->d, now, what->ticket,
                               what->failed ? BAL_OUTCOME_BAD : BAL_OUTCOME_GOOD);
    else
        bal_dispatcher_cancel(peers->d, now, what->ticket);
    bli_ngx_zone_unlock(&peers->zone);
}

/* Where slots= limits the servers, a request whose client has gone keeps its slot until the server has
 * finished it. Stations know that themselves. */
static bool keep_slot(struct bli_ngx_peer_data *peer, ngx_peer_connection_t *pc, bool answered, bool failed) {
    const struct bli_ngx_upstream *upstream = peer->upstream;
    const struct bli_ngx_linger what = {end_lingering, peer->peers, peer->ticket, answered, failed};
    if (!upstream->slots_given || upstream->abort_frees || upstream->stations ||
        bli_ngx_linger_is_whole(peer->request) || !bli_ngx_linger_begin(pc, peer->u, &what))
        return false;
    const uint64_t now = bli_ngx_now();
    peer->took_ns = now - peer->sent_ns;
    if (answered && bli_ngx_zone_lock(&peer->peers->zone)) {
        record_request(peer, now);
        bli_ngx_zone_unlock(&peer->peers->zone);
    }
    peer->state = BLI_PEER_NEW;
    return true;
}

/* What nginx ends by itself: by the status that the client gets to see, if it is still there. How long a
 * connection that was upgraded has lasted does not count for or against the server. */
static void finish_request(struct bli_ngx_peer_data *peer, ngx_peer_connection_t *pc) {
    const ngx_http_upstream_t *u = peer->u;
    const ngx_uint_t status = u->state ? u->state->status : 0;
    const bool gone = peer->request->connection->error && !is_complete(u);
    const bool answered = status && status != NGX_HTTP_SWITCHING_PROTOCOLS && !gone;
    const bool bad = status >= NGX_HTTP_INTERNAL_SERVER_ERROR || is_broken(u);
    if (keep_slot(peer, pc, answered, bad))
        return;
    if (!answered) {
        bli_ngx_peer_cancel(peer);
        return;
    }
    struct bal_message piggyback;
    const bool any = peer->peers->zone.transport &&
                     bli_ngx_load_header_read(peer->peers->zone.transport, peer->request, &piggyback);
    report_response(peer, bad && !is_queue_full_refusal(peer) ? BAL_OUTCOME_BAD : BAL_OUTCOME_GOOD,
                    any ? &piggyback : NULL);
    peer->state = BLI_PEER_NEW;
}

/* What nginx may try elsewhere. */
static void fail_try(struct bli_ngx_peer_data *peer, ngx_uint_t state) {
    struct bli_ngx_wait *wait = bli_ngx_peer_get_wait(peer);
    peer->outcome =
        state & NGX_PEER_FAILED && !is_queue_full_refusal(peer) ? BAL_OUTCOME_FAILED : BAL_OUTCOME_GOOD;
    peer->state = BLI_PEER_FAILED;
    if (wait)
        bli_ngx_post_event(&wait->deferred_event);
    else
        release_request(peer);
}

static void free_peer(ngx_peer_connection_t *pc, void *data, ngx_uint_t state) {
    struct bli_ngx_peer_data *peer = data;
    unlink_sent(peer);
    if (pc->tries)
        pc->tries--;
    if (peer->state != BLI_PEER_SENT || !peer->peers->zone.attached) {
        release_request(peer);
        return;
    }
    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, pc->log, 0, "ballast: upstream \"%V\": %V: status %ui, state %ui",
                   &peer->upstream->us->host, peer->name,
                   peer->u->state ? peer->u->state->status : (ngx_uint_t)0, state);
    if (peer->local_error) {
        bli_ngx_peer_cancel(peer);
    } else if (state & (NGX_PEER_FAILED | NGX_PEER_NEXT)) {
        fail_try(peer, state);
    } else {
        finish_request(peer, pc);
    }
}

/* ---- TLS sessions, each process its own ---- */

#if (NGX_HTTP_SSL)

static ngx_int_t set_session(ngx_peer_connection_t *pc, void *data) {
    const struct bli_ngx_peer_data *peer = data;
    return peer->server && peer->server->session ? ngx_ssl_set_session(pc->connection, peer->server->session)
                                                 : NGX_OK;
}

static void save_session(ngx_peer_connection_t *pc, void *data) {
    const struct bli_ngx_peer_data *peer = data;
    ngx_ssl_session_t *session = peer->server ? ngx_ssl_get_session(pc->connection) : NULL;
    if (!session)
        return;
    if (peer->server->session)
        ngx_ssl_free_session(peer->server->session);
    peer->server->session = session;
}

#endif

/* ---- a request ---- */

const struct bli_ngx_peer_data *bli_ngx_peer_of(const ngx_http_request_t *r) {
    for (const ngx_pool_cleanup_t *c = r->pool->cleanup; c; c = c->next)
        if (c->handler == cleanup_request && ((const struct bli_ngx_peer_data *)c->data)->request == r)
            return c->data;
    return NULL;
}

ngx_int_t bli_ngx_peer_init(ngx_http_request_t *r, ngx_http_upstream_srv_conf_t *us) {
    struct bli_ngx_upstream *upstream = ngx_http_conf_upstream_srv_conf(us, ngx_http_ballast_module);
    ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(r->pool, sizeof(struct bli_ngx_peer_data));
    if (!cleanup)
        return NGX_ERROR;
    struct bli_ngx_peer_data *peer = cleanup->data;
    *peer = (struct bli_ngx_peer_data){
        .request = r, .u = r->upstream, .upstream = upstream, .peers = upstream->peers};
    cleanup->handler = cleanup_request;
    if (upstream->class)
        peer->rank = (uint8_t)bli_ngx_class_limit(
            &upstream->urgency, bli_ngx_class_of_request(r, upstream->class, upstream->classes),
            upstream->classes);
    ngx_peer_connection_t *pc = &r->upstream->peer;
    pc->data = peer;
    bli_ngx_peer_set_request(pc, r);
    pc->get = get_peer;
    pc->free = free_peer;
    pc->tries = bli_ngx_peers_tries(upstream);
#if (NGX_HTTP_SSL)
    pc->set_session = set_session;
    pc->save_session = save_session;
#endif
    return NGX_OK;
}
