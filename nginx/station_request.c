/* SPDX-License-Identifier: BSD-2-Clause */
/* A request at a station: it waits for a slot, is passed to the app, and releases the slot.
 *
 * A request keeps its slot until nginx has finished with it, over all tries of proxy_next_upstream: only when
 * nginx's call is over is it known that no other try follows. */
#include "class.h"
#include "linger.h"
#include "process.h"
#include "station_role.h"

enum { RETRY_AFTER_MS = 1000 };

/* ---- the end ---- */

/* Under the lock. */
static void record_request(const struct bli_ngx_station_request *request, uint64_t now) {
    const ngx_http_upstream_state_t *state = request->placeholder.u->state;
    const struct bli_ngx_record done = {.arrived_ns = request->arrived_ns,
                                        .wait_us =
                                            bli_ngx_microseconds(request->granted_ns - request->arrived_ns),
                                        .took_us = bli_ngx_microseconds(now - request->granted_ns),
                                        .server = request->target != NULL,
                                        .status = state ? (uint16_t)state->status : 0,
                                        .rank = (uint8_t)request->rank};
    bli_ngx_records_add(request->station->records, &done, now - request->arrived_ns);
}

static void release_slot(struct bli_ngx_station_request *request, bool answered, bool failed) {
    struct bli_ngx_station *station = request->station;
    request->state = BLI_REQUEST_NEW;
    if (!station->zone.attached)
        return;
    const uint64_t now = bli_ngx_now();
    if (!bli_ngx_zone_lock(&station->zone)) {
        const enum bli_ngx_deferral how = failed ? BLI_NGX_DEFER_BAD : BLI_NGX_DEFER_GOOD;
        bli_ngx_stall_defer(&station->zone, request->ticket, answered ? how : BLI_NGX_DEFER_CANCEL);
        return;
    }
    if (answered) {
        bal_station_done(station->s, now, request->ticket, failed);
        record_request(request, now);
    } else {
        bal_station_cancel(station->s, now, request->ticket);
    }
    bli_ngx_zone_unlock(&station->zone);
}

static void stop_waiting(struct bli_ngx_station_request *request) {
    struct bli_ngx_station *station = request->station;
    ngx_rbtree_delete(&station->waiting, &request->node);
    bli_ngx_zone_wait_end(&station->zone);
}

/* Nothing of it remains in shared memory. */
static void release_request(struct bli_ngx_station_request *request) {
    bli_ngx_cancel_event(&request->deferred_event);
    if (request->state == BLI_REQUEST_WAITING)
        stop_waiting(request);
    if (request->state == BLI_REQUEST_FAILED || request->state == BLI_REQUEST_FORWARD_FAILED)
        release_slot(request, true, true);
    else if (request->state != BLI_REQUEST_NEW && request->state != BLI_REQUEST_REFUSED)
        release_slot(request, false, false);
    request->state = BLI_REQUEST_NEW;
    bli_ngx_placeholder_detach(&request->placeholder);
}

static void cleanup_request(void *data) {
    release_request(data);
}

/* ---- coming in ---- */

static void enqueue_waiting(struct bli_ngx_station_request *request) {
    struct bli_ngx_station *station = request->station;
    request->node.key = (ngx_rbtree_key_t)request->ticket;
    ngx_rbtree_insert(&station->waiting, &request->node);
    bli_ngx_zone_wait_begin(&station->zone, NGX_MAX_INT_T_VALUE);
}

static ngx_int_t begin_waiting(struct bli_ngx_station_request *request, ngx_peer_connection_t *pc) {
    struct bli_ngx_station *station = request->station;
    if (request->state == BLI_REQUEST_WAITING && !bli_ngx_placeholder_has_room()) {
        release_slot(request, false, false);
        request->state = BLI_REQUEST_REFUSED;
        bli_ngx_zone_count_unheld(&station->zone);
    }
    const bool waits = request->state == BLI_REQUEST_WAITING;
    if (bli_ngx_placeholder_install(&request->placeholder, pc, &station->us->host) != NGX_AGAIN) {
        if (waits)
            release_slot(request, false, false);
        request->state = BLI_REQUEST_NEW;
        return NGX_ERROR;
    }
    if (waits)
        enqueue_waiting(request);
    bli_ngx_post_event(&request->deferred_event);
    return NGX_AGAIN;
}

/* If the zone is stalled it is passed on, uncounted. */
static void request_slot(struct bli_ngx_station_request *request) {
    static const enum bli_ngx_station_request_state states[] = {
        [BAL_RUN] = BLI_REQUEST_RUNNING, [BAL_QUEUE] = BLI_REQUEST_WAITING, [BAL_FULL] = BLI_REQUEST_REFUSED};
    struct bli_ngx_station *station = request->station;
    struct bal_station_task task;
    const struct bli_ngx_transport *transport = station->zone.transport;
    const ngx_http_request_t *r = request->placeholder.request;
    const bool moved = transport && bli_ngx_header_signer(transport, &r->headers_in.headers, BLI_NGX_MOVED);
    const uint64_t sender =
        transport && !moved ? bli_ngx_header_signer(transport, &r->headers_in.headers, BLI_NGX_FROM) : 0;
    request->arrived_ns = request->granted_ns = bli_ngx_now();
    if (!bli_ngx_zone_lock(&station->zone)) {
        bli_ngx_stall_count_request(&station->zone);
        return;
    }
    bal_station_set_crowded(station->s, !bli_ngx_placeholder_has_room());
    bal_station_arrive(station->s, request->arrived_ns, request->rank, sender, moved, &task);
    bli_ngx_zone_unlock(&station->zone);
    request->ticket = task.ticket;
    request->retry_ns = task.retry_ns;
    request->state = states[task.verdict];
    ngx_log_debug5(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "ballast: station \"%V\": class %ud from dispatcher %uL%s: %s", &station->us->host,
                   (unsigned)request->rank, sender, moved ? ", moved here" : "",
                   task.verdict == BAL_RUN     ? "runs"
                   : task.verdict == BAL_QUEUE ? "queued"
                                               : "refused, the queue is full");
}

/* With a slot it goes to the upstream's own balancer. */
static ngx_int_t get_inner_peer(struct bli_ngx_station_request *request, ngx_peer_connection_t *pc) {
    const ngx_int_t rc = request->get(pc, request->data);
    request->inner_selected = rc == NGX_OK || rc == NGX_DONE;
    if (!request->inner_selected && request->state == BLI_REQUEST_RUNNING)
        release_slot(request, false, false); /* there is no server, so nginx has none to release */
    return rc;
}

/* ---- to another station, and back ---- */

/* The request is created again, with or without the header Ballast-Moved. Nothing of it has been sent, or it
 * is to be sent again. */
static bool recreate_request(struct bli_ngx_station_request *request, const struct bli_ngx_address *target) {
    ngx_http_request_t *r = request->placeholder.request;
    ngx_http_upstream_t *u = request->placeholder.u;
    request->target = target;
    request->moved_header_sent = false;
    u->request_bufs = r->request_body ? r->request_body->bufs : NULL;
    return u->create_request(r) == NGX_OK;
}

static ngx_int_t set_forward_address(struct bli_ngx_station_request *request, ngx_peer_connection_t *pc) {
    pc->cached = 0;
    pc->connection = NULL;
    pc->sockaddr = request->target->sockaddr;
    pc->socklen = request->target->socklen;
    pc->name = (ngx_str_t *)&request->target->name;
    pc->tries++; /* if it is refused there, nginx shall call peer.get again */
    request->state = BLI_REQUEST_FORWARDED;
    return NGX_OK;
}

/* It was not taken: it waits again, in its old place; if the zone is stalled it is as new. */
static bool return_to_queue(struct bli_ngx_station_request *request) {
    struct bli_ngx_station *station = request->station;
    if (!bli_ngx_zone_lock(&station->zone)) {
        release_slot(request, false, false);
        return true;
    }
    const bool known = bal_station_returned(station->s, bli_ngx_now(), request->ticket);
    bli_ngx_zone_unlock(&station->zone);
    request->state = known ? BLI_REQUEST_WAITING : BLI_REQUEST_NEW;
    return known;
}

static void log_not_forwarded(const struct bli_ngx_station_request *request, const char *why) {
    static time_t logged_at;
    if (ngx_time() != logged_at) /* once a second */
        bli_ngx_journal_log(NGX_LOG_ERR, ngx_cycle->log,
                            "ballast: station \"%V\": requests are not given to other stations; %s",
                            &request->station->us->host, why);
    logged_at = ngx_time();
}

/* A station accepts only HTTP; and a body that is still being read, as those of gRPC are, cannot be sent
 * twice. */
static bool can_forward(const struct bli_ngx_station_request *request) {
    const ngx_str_t *schema = &request->placeholder.u->schema;
    const bool http = schema->len > 4 && ngx_strncmp(schema->data, "http", 4) == 0;
    if (!http)
        log_not_forwarded(request, "those of proxy_pass alone can be, so leave out steal=");
    return http && !request->placeholder.request->request_body_no_buffering;
}

/* Only a request that carries the header Ballast-Moved may be moved. */
static bool may_forward(const struct bli_ngx_station_request *request) {
    if (!request->moved_header_sent)
        log_not_forwarded(request, "use proxy_set_header Ballast-Moved $ballast_moved");
    return request->moved_header_sent;
}

static void forward_request(struct bli_ngx_station_request *request, uint64_t target) {
    const struct bli_ngx_address *address = bli_ngx_transport_find(&request->station->transport, target);
    const bool can = address && can_forward(request);
    const bool written = !can || recreate_request(request, address);
    if (can && written && may_forward(request)) {
        request->state = BLI_REQUEST_FORWARDING;
        bli_ngx_placeholder_resume(&request->placeholder);
    } else if (written && return_to_queue(request)) {
        request->target = NULL;
        if (request->state == BLI_REQUEST_WAITING)
            enqueue_waiting(request);
        else
            bli_ngx_placeholder_resume(&request->placeholder);
    } else { /* no memory */
        release_slot(request, false, false);
        request->refused = true;
        bli_ngx_placeholder_refuse(&request->placeholder, 0, RETRY_AFTER_MS);
    }
}

/* ---- nginx requests a server ---- */

static ngx_int_t get_peer(ngx_peer_connection_t *pc, void *data) {
    struct bli_ngx_station_request *request = data;
    bli_ngx_cancel_event(&request->deferred_event);
    if (request->state == BLI_REQUEST_FORWARDING)
        return set_forward_address(request, pc);
    if (request->state == BLI_REQUEST_FORWARD_FAILED) {
        if (!recreate_request(request, NULL) || !return_to_queue(request))
            return NGX_ERROR;
    } else if (request->state == BLI_REQUEST_GRANTED || request->state == BLI_REQUEST_FAILED) {
        request->state = BLI_REQUEST_RUNNING;
    } else if (request->station->zone.attached) { /* else it goes through uncounted */
        request_slot(request);
    }
    if (request->state == BLI_REQUEST_WAITING || request->state == BLI_REQUEST_REFUSED) {
        pc->cached = 0;
        return begin_waiting(request, pc);
    }
    return get_inner_peer(request, pc);
}

/* ---- giving back ---- */

/* The app has closed the connection, or waiting for that has timed out. */
static void end_lingering(const struct bli_ngx_linger *what) {
    struct bli_ngx_station *station = what->owner;
    const uint64_t now = bli_ngx_now();
    if (!bli_ngx_zone_lock(&station->zone)) {
        bli_ngx_stall_defer(&station->zone, what->ticket, bli_ngx_linger_deferral(what));
        return;
    }
    if (what->answered)
        bal_station_done(station->s, now, what->ticket, what->failed);
    else
        bal_station_cancel(station->s, now, what->ticket);
    bli_ngx_zone_unlock(&station->zone);
}

/* An app that has not answered may be working on the request still: then the slot is not free. */
static bool keep_slot(struct bli_ngx_station_request *request, ngx_peer_connection_t *pc, bool answered,
                      bool failed) {
    const struct bli_ngx_linger what = {end_lingering, request->station, request->ticket, answered, failed};
    if (request->station->abort_frees || request->state != BLI_REQUEST_RUNNING ||
        !request->station->zone.attached || bli_ngx_linger_is_whole(request->placeholder.request) ||
        !bli_ngx_linger_begin(pc, request->placeholder.u, &what))
        return false;
    if (answered && bli_ngx_zone_lock(&request->station->zone)) {
        record_request(request, bli_ngx_now());
        bli_ngx_zone_unlock(&request->station->zone);
    }
    request->state = BLI_REQUEST_NEW;
    return true;
}

/* How it went, by the status that the client gets to see: a client that has gone before gives no status. */
static void finish_request(struct bli_ngx_station_request *request, ngx_peer_connection_t *pc) {
    const ngx_http_upstream_t *u = request->placeholder.u;
    const ngx_uint_t status = u->state ? u->state->status : 0;
    const bool answered = status && status != NGX_HTTP_SWITCHING_PROTOCOLS;
    const bool failed = status >= NGX_HTTP_INTERNAL_SERVER_ERROR || u->error;
    if (!keep_slot(request, pc, answered, failed))
        release_slot(request, answered, failed);
}

/* nginx waits no longer, but the app may go on. */
static bool has_timed_out(const ngx_peer_connection_t *pc) {
    return pc->connection && pc->connection->read->timedout;
}

static void free_peer(ngx_peer_connection_t *pc, void *data, ngx_uint_t state) {
    struct bli_ngx_station_request *request = data;
    if (request->state == BLI_REQUEST_FORWARDED) {
        pc->tries--;
        if (state & (NGX_PEER_FAILED | NGX_PEER_NEXT)) {
            request->state = BLI_REQUEST_FORWARD_FAILED;
            bli_ngx_post_event(&request->deferred_event);
        } else {
            finish_request(request, pc);
        }
        return;
    }
    if (!request->inner_selected) {
        pc->tries = 0;
        release_request(request);
        return;
    }
    request->inner_selected = false;
    request->free(pc, request->data, state);
    if (request->state != BLI_REQUEST_RUNNING) {
        release_request(request);
    } else if (!(state & (NGX_PEER_FAILED | NGX_PEER_NEXT))) {
        finish_request(request, pc);
    } else if (!has_timed_out(pc) || !keep_slot(request, pc, true, true)) {
        request->state = BLI_REQUEST_FAILED;
        bli_ngx_post_event(&request->deferred_event);
    }
}

/* ---- what nginx's calls must not do themselves ---- */

/* The error log gets one line a second for all of them (refusals.c). */
static void refuse_request(struct bli_ngx_station_request *request) {
    const struct bli_ngx_station *station = request->station;
    const uint64_t own = station->class_limit[request->rank].wait_ns / 1000000;
    const ngx_msec_t wait = own ? (ngx_msec_t)own : station->queue_time;
    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, request->placeholder.request->connection->log, 0,
                   "ballast: station \"%V\": request refused", &station->us->host);
    request->state = BLI_REQUEST_NEW;
    request->refused = true;
    bli_ngx_placeholder_refuse(&request->placeholder, request->retry_ns, wait ? wait : RETRY_AFTER_MS);
}

static void on_deferred(ngx_event_t *event) {
    struct bli_ngx_station_request *request = event->data;
    if (request->state == BLI_REQUEST_FAILED || request->state == BLI_REQUEST_FORWARD_FAILED)
        release_request(request);
    else if (request->state == BLI_REQUEST_REFUSED)
        refuse_request(request);
    else
        bli_ngx_placeholder_cancel_timer(&request->placeholder);
}

enum station_decision { DECISION_NONE, DECISION_MADE, DECISION_STALLED };

static enum station_decision next_decision(struct bli_ngx_station *station, struct bal_station_task *task) {
    if (!bli_ngx_zone_lock(&station->zone))
        return DECISION_STALLED;
    const bool more = bal_station_next_decision(station->s, bli_ngx_now(), task);
    bli_ngx_zone_unlock(&station->zone);
    return more ? DECISION_MADE : DECISION_NONE;
}

/* The zone is stalled: the oldest request that waits here continues without it, like a new one. */
static void release_oldest(struct bli_ngx_station *station) {
    ngx_rbtree_node_t *node = ngx_rbtree_min(station->waiting.root, station->waiting.sentinel);
    struct bli_ngx_station_request *request = ngx_rbtree_data(node, struct bli_ngx_station_request, node);
    stop_waiting(request);
    release_slot(request, false, false);
    bli_ngx_placeholder_resume(&request->placeholder);
}

static void apply_decision(struct bli_ngx_station_request *request, const struct bal_station_task *task) {
    stop_waiting(request);
    request->granted_ns = bli_ngx_now();
    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, request->placeholder.request->connection->log, 0,
                   "ballast: station \"%V\": request %s after %uL us", &request->station->us->host,
                   task->verdict == BAL_FORWARD ? "moves to another station"
                   : task->verdict == BAL_RUN   ? "gets a slot"
                                                : "may not wait any longer",
                   (request->granted_ns - request->arrived_ns) / 1000);
    if (task->verdict == BAL_FORWARD) {
        forward_request(request, task->target);
    } else if (task->verdict == BAL_FULL) {
        request->retry_ns = task->retry_ns;
        request->state = BLI_REQUEST_REFUSED;
        bli_ngx_post_event(&request->deferred_event);
    } else {
        request->state = BLI_REQUEST_GRANTED;
        bli_ngx_placeholder_resume(&request->placeholder);
    }
}

void bli_ngx_station_request_process_decisions(struct bli_ngx_station *station) {
    struct bal_station_task task;
    enum station_decision decision;
    while (station->zone.waiting && (decision = next_decision(station, &task)) != DECISION_NONE) {
        if (decision == DECISION_STALLED) {
            release_oldest(station);
            continue;
        }
        ngx_rbtree_node_t *node = bli_ngx_waiting_find(&station->waiting, task.ticket);
        if (node)
            apply_decision(ngx_rbtree_data(node, struct bli_ngx_station_request, node), &task);
    }
}

/* ---- TLS sessions are of the balancer inside ---- */

#if (NGX_HTTP_SSL)

static ngx_int_t set_session(ngx_peer_connection_t *pc, void *data) {
    const struct bli_ngx_station_request *request = data;
    return request->inner_selected ? request->set_session(pc, request->data) : NGX_OK;
}

static void save_session(ngx_peer_connection_t *pc, void *data) {
    const struct bli_ngx_station_request *request = data;
    if (request->inner_selected)
        request->save_session(pc, request->data);
}

#endif

/* ---- a request ---- */

static void notify_peer(ngx_peer_connection_t *pc, void *data, ngx_uint_t type) {
    const struct bli_ngx_station_request *request = data;
    if (request->inner_selected)
        request->notify(pc, request->data, type);
}

struct bli_ngx_station_request *bli_ngx_station_request_of(const ngx_http_request_t *r) {
    for (const ngx_pool_cleanup_t *c = r->pool->cleanup; c; c = c->next)
        if (c->handler == cleanup_request &&
            ((const struct bli_ngx_station_request *)c->data)->placeholder.request == r)
            return c->data;
    return NULL;
}

ngx_int_t bli_ngx_station_request_init(ngx_http_request_t *r, ngx_http_upstream_srv_conf_t *us) {
    struct bli_ngx_station *station = bli_ngx_station_of(us);
    ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(r->pool, sizeof(struct bli_ngx_station_request));
    if (!cleanup)
        return NGX_ERROR;
    struct bli_ngx_station_request *request = cleanup->data;
    *request = (struct bli_ngx_station_request){.station = station, .placeholder = {r, r->upstream, NULL, 0}};
    cleanup->handler = cleanup_request;
    if (station->init_peer(r, us) != NGX_OK)
        return NGX_ERROR;
    request->rank = bli_ngx_class_limit(
        &station->urgency, bli_ngx_class_of_request(r, station->class, station->classes), station->classes);
    request->deferred_event.handler = on_deferred;
    request->deferred_event.data = request;
    request->deferred_event.log = r->connection->log;
    ngx_peer_connection_t *pc = &r->upstream->peer;
    request->data = pc->data;
    request->get = pc->get;
    request->free = pc->free;
    pc->data = request;
    pc->get = get_peer;
    pc->free = free_peer;
    request->notify = pc->notify;
    if (pc->notify)
        pc->notify = notify_peer;
#if (NGX_HTTP_SSL)
    request->set_session = pc->set_session;
    request->save_session = pc->save_session;
    pc->set_session = set_session;
    pc->save_session = save_session;
#endif
    return NGX_OK;
}
