/* A request at a station: it waits for a slot, goes through to the app, and gives the slot back.
 *
 * A request has its slot until nginx has done with it, over all tries of proxy_next_upstream: that no other
 * try follows is known only when nginx's call is over. */
#include "class.h"
#include "process.h"
#include "station.h"

enum { RETRY_AFTER_MS = 1000 };

/* ---- the end ---- */

static void record(const struct bal_ngx_visit *visit, uint64_t now) {
    const ngx_http_upstream_state_t *state = visit->place.u->state;
    const struct bal_ngx_record done = {.arrived_ns = visit->came_ns,
                                        .wait_us = bal_ngx_microseconds(visit->called_ns - visit->came_ns),
                                        .took_us = bal_ngx_microseconds(now - visit->called_ns),
                                        .server = visit->target != NULL,
                                        .status = state ? (uint16_t)state->status : 0,
                                        .rank = (uint8_t)visit->rank};
    bal_ngx_records_add(visit->station->records, &done, now - visit->came_ns);
}

static void leave(struct bal_ngx_visit *visit, bool answered, bool failed) {
    struct bal_ngx_station *station = visit->station;
    visit->state = BAL_VISIT_NEW;
    if (!station->zone.inside)
        return;
    const uint64_t now = bal_ngx_now();
    bal_ngx_zone_lock(&station->zone);
    if (answered) {
        bal_station_done(station->s, now, visit->ticket, failed);
        record(visit, now);
    } else {
        bal_station_cancel(station->s, now, visit->ticket);
    }
    bal_ngx_zone_unlock(&station->zone);
}

static void end_waiting(struct bal_ngx_visit *visit) {
    struct bal_ngx_station *station = visit->station;
    ngx_rbtree_delete(&station->waiting, &visit->node);
    bal_ngx_zone_waited(&station->zone);
}

/* Nothing of it remains in shared memory. */
static void settle(struct bal_ngx_visit *visit) {
    bal_ngx_unpost(&visit->later);
    if (visit->state == BAL_VISIT_WAITING)
        end_waiting(visit);
    if (visit->state == BAL_VISIT_FAILED || visit->state == BAL_VISIT_SPURNED)
        leave(visit, true, true);
    else if (visit->state != BAL_VISIT_NEW && visit->state != BAL_VISIT_REFUSED)
        leave(visit, false, false);
    visit->state = BAL_VISIT_NEW;
    bal_ngx_placeholder_lost(&visit->place);
}

static void clean_up(void *data) {
    settle(data);
}

/* ---- coming in ---- */

static void keep_waiting(struct bal_ngx_visit *visit) {
    struct bal_ngx_station *station = visit->station;
    visit->node.key = (ngx_rbtree_key_t)visit->ticket;
    ngx_rbtree_insert(&station->waiting, &visit->node);
    bal_ngx_zone_wait(&station->zone, NGX_MAX_INT_T_VALUE);
}

static ngx_int_t let_wait(struct bal_ngx_visit *visit, ngx_peer_connection_t *pc) {
    struct bal_ngx_station *station = visit->station;
    const bool waits = visit->state == BAL_VISIT_WAITING;
    if (bal_ngx_placeholder_put(&visit->place, pc, &station->us->host) != NGX_AGAIN) {
        if (waits)
            leave(visit, false, false);
        visit->state = BAL_VISIT_NEW;
        return NGX_ERROR;
    }
    if (waits)
        keep_waiting(visit);
    bal_ngx_post(&visit->later);
    return NGX_AGAIN;
}

static void arrive(struct bal_ngx_visit *visit) {
    static const enum bal_ngx_visit_state states[] = {
        [BAL_RUN] = BAL_VISIT_RUNNING, [BAL_QUEUE] = BAL_VISIT_WAITING, [BAL_FULL] = BAL_VISIT_REFUSED};
    struct bal_ngx_station *station = visit->station;
    struct bal_station_task task;
    const struct bal_ngx_mail *mail = station->zone.mail;
    const ngx_http_request_t *r = visit->place.request;
    const bool moved = mail && bal_ngx_mail_signer(mail, r, BAL_NGX_MOVED);
    const uint64_t sender = mail && !moved ? bal_ngx_mail_signer(mail, r, BAL_NGX_FROM) : 0;
    visit->came_ns = visit->called_ns = bal_ngx_now();
    bal_ngx_zone_lock(&station->zone);
    bal_station_arrive(station->s, visit->came_ns, visit->rank, sender, moved, &task);
    bal_ngx_zone_unlock(&station->zone);
    visit->ticket = task.ticket;
    visit->state = states[task.verdict];
}

/* With a slot it goes to whatever balances the upstream. */
static ngx_int_t pass_through(struct bal_ngx_visit *visit, ngx_peer_connection_t *pc) {
    const ngx_int_t rc = visit->get(pc, visit->data);
    visit->inside = rc == NGX_OK || rc == NGX_DONE;
    if (!visit->inside && visit->state == BAL_VISIT_RUNNING)
        leave(visit, false, false); /* there is no server, and nginx has none to give back */
    return rc;
}

/* ---- to another station, and back ---- */

/* The request is written again: the header that tells of its move comes or goes. Nothing of it has been sent,
 * or it is to be sent again. */
static bool rewrite(struct bal_ngx_visit *visit, const struct bal_ngx_address *target) {
    ngx_http_request_t *r = visit->place.request;
    ngx_http_upstream_t *u = visit->place.u;
    visit->target = target;
    visit->told = false;
    u->request_bufs = r->request_body ? r->request_body->bufs : NULL;
    return u->create_request(r) == NGX_OK;
}

static ngx_int_t set_out(struct bal_ngx_visit *visit, ngx_peer_connection_t *pc) {
    pc->cached = 0;
    pc->connection = NULL;
    pc->sockaddr = visit->target->sockaddr;
    pc->socklen = visit->target->socklen;
    pc->name = (ngx_str_t *)&visit->target->name;
    pc->tries++; /* if it is not taken there, nginx shall ask again */
    visit->state = BAL_VISIT_AWAY;
    return NGX_OK;
}

/* It was not taken: it waits again, in its old place. */
static bool come_back(struct bal_ngx_visit *visit) {
    struct bal_ngx_station *station = visit->station;
    bal_ngx_zone_lock(&station->zone);
    const bool known = bal_station_returned(station->s, bal_ngx_now(), visit->ticket);
    bal_ngx_zone_unlock(&station->zone);
    visit->state = known ? BAL_VISIT_WAITING : BAL_VISIT_NEW;
    return known;
}

static void tell_of_staying(const struct bal_ngx_visit *visit, const char *why) {
    static time_t told;
    if (ngx_time() != told) /* once a second */
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "ballast: station \"%V\": requests are not given to other stations; %s",
                      &visit->station->us->host, why);
    told = ngx_time();
}

/* A station hears HTTP; and a body that is still being read, as those of gRPC are, cannot be sent twice. */
static bool can_leave(const struct bal_ngx_visit *visit) {
    const ngx_str_t *schema = &visit->place.u->schema;
    const bool http = schema->len > 4 && ngx_strncmp(schema->data, "http", 4) == 0;
    if (!http)
        tell_of_staying(visit, "those of proxy_pass alone can be, so leave out steal=");
    return http && !visit->place.request->request_body_no_buffering;
}

/* That it is moved must be told. */
static bool may_leave(const struct bal_ngx_visit *visit) {
    if (!visit->told)
        tell_of_staying(visit, "use proxy_set_header Ballast-Moved $ballast_moved");
    return visit->told;
}

static void give_away(struct bal_ngx_visit *visit, uint64_t target) {
    const struct bal_ngx_address *address = bal_ngx_mail_find(&visit->station->mail, target);
    const bool can = address && can_leave(visit);
    const bool written = !can || rewrite(visit, address);
    if (can && written && may_leave(visit)) {
        visit->state = BAL_VISIT_GIVEN;
        bal_ngx_placeholder_go_on(&visit->place);
    } else if (written && come_back(visit)) {
        visit->target = NULL;
        keep_waiting(visit);
    } else { /* no memory */
        leave(visit, false, false);
        bal_ngx_placeholder_refuse(&visit->place, RETRY_AFTER_MS);
    }
}

/* ---- nginx asks for a server ---- */

static ngx_int_t get_peer(ngx_peer_connection_t *pc, void *data) {
    struct bal_ngx_visit *visit = data;
    bal_ngx_unpost(&visit->later);
    if (visit->state == BAL_VISIT_GIVEN)
        return set_out(visit, pc);
    if (visit->state == BAL_VISIT_SPURNED) {
        if (!rewrite(visit, NULL) || !come_back(visit))
            return NGX_ERROR;
    } else if (visit->state == BAL_VISIT_CALLED || visit->state == BAL_VISIT_FAILED) {
        visit->state = BAL_VISIT_RUNNING;
    } else if (visit->station->zone.inside) { /* else it goes through uncounted */
        arrive(visit);
    }
    if (visit->state == BAL_VISIT_WAITING || visit->state == BAL_VISIT_REFUSED) {
        pc->cached = 0;
        return let_wait(visit, pc);
    }
    return pass_through(visit, pc);
}

/* ---- giving back ---- */

/* How it went, by the status that the client gets to see: one that has gone before has learned nothing. */
static void end(struct bal_ngx_visit *visit) {
    const ngx_http_upstream_t *u = visit->place.u;
    const ngx_uint_t status = u->state ? u->state->status : 0;
    leave(visit, status && status != NGX_HTTP_SWITCHING_PROTOCOLS,
          status >= NGX_HTTP_INTERNAL_SERVER_ERROR || u->error);
}

static void free_peer(ngx_peer_connection_t *pc, void *data, ngx_uint_t state) {
    struct bal_ngx_visit *visit = data;
    if (visit->state == BAL_VISIT_AWAY) {
        pc->tries--;
        if (state & (NGX_PEER_FAILED | NGX_PEER_NEXT)) {
            visit->state = BAL_VISIT_SPURNED;
            bal_ngx_post(&visit->later);
        } else {
            end(visit);
        }
        return;
    }
    if (!visit->inside) {
        pc->tries = 0;
        settle(visit);
        return;
    }
    visit->inside = false;
    visit->free(pc, visit->data, state);
    if (visit->state != BAL_VISIT_RUNNING) {
        settle(visit);
    } else if (state & (NGX_PEER_FAILED | NGX_PEER_NEXT)) {
        visit->state = BAL_VISIT_FAILED;
        bal_ngx_post(&visit->later);
    } else {
        end(visit);
    }
}

/* ---- what nginx's calls must not do themselves ---- */

static void refuse(struct bal_ngx_visit *visit) {
    ngx_connection_t *c = visit->place.request->connection;
    ngx_http_set_log_request(c->log, visit->place.request);
    ngx_log_error(NGX_LOG_ERR, c->log, 0, "ballast: station \"%V\": request refused, %ui wait already",
                  &visit->station->us->host, visit->station->queue);
    visit->state = BAL_VISIT_NEW;
    bal_ngx_placeholder_refuse(&visit->place, RETRY_AFTER_MS);
}

static void on_later(ngx_event_t *event) {
    struct bal_ngx_visit *visit = event->data;
    if (visit->state == BAL_VISIT_FAILED || visit->state == BAL_VISIT_SPURNED)
        settle(visit);
    else if (visit->state == BAL_VISIT_REFUSED)
        refuse(visit);
    else
        bal_ngx_placeholder_calm(&visit->place);
}

static bool next_news(struct bal_ngx_station *station, struct bal_station_task *task) {
    bal_ngx_zone_lock(&station->zone);
    const bool more = bal_station_news(station->s, bal_ngx_now(), task);
    bal_ngx_zone_unlock(&station->zone);
    return more;
}

void bal_ngx_visit_news(struct bal_ngx_station *station) {
    struct bal_station_task task;
    while (station->zone.waiting && next_news(station, &task)) {
        ngx_rbtree_node_t *node = bal_ngx_waiting_find(&station->waiting, task.ticket);
        if (!node)
            continue;
        struct bal_ngx_visit *visit = ngx_rbtree_data(node, struct bal_ngx_visit, node);
        end_waiting(visit);
        visit->called_ns = bal_ngx_now();
        if (task.verdict == BAL_FORWARD) {
            give_away(visit, task.target);
        } else {
            visit->state = BAL_VISIT_CALLED;
            bal_ngx_placeholder_go_on(&visit->place);
        }
    }
}

/* ---- TLS sessions are of the balancer inside ---- */

#if (NGX_HTTP_SSL)

static ngx_int_t set_session(ngx_peer_connection_t *pc, void *data) {
    const struct bal_ngx_visit *visit = data;
    return visit->inside ? visit->set_session(pc, visit->data) : NGX_OK;
}

static void save_session(ngx_peer_connection_t *pc, void *data) {
    const struct bal_ngx_visit *visit = data;
    if (visit->inside)
        visit->save_session(pc, visit->data);
}

#endif

/* ---- a request ---- */

struct bal_ngx_visit *bal_ngx_visit_of(const ngx_http_request_t *r) {
    for (const ngx_pool_cleanup_t *c = r->pool->cleanup; c; c = c->next)
        if (c->handler == clean_up && ((const struct bal_ngx_visit *)c->data)->place.request == r)
            return c->data;
    return NULL;
}

ngx_int_t bal_ngx_visit_init(ngx_http_request_t *r, ngx_http_upstream_srv_conf_t *us) {
    struct bal_ngx_station *station = bal_ngx_station_of(us);
    ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(r->pool, sizeof(struct bal_ngx_visit));
    if (!cleanup)
        return NGX_ERROR;
    struct bal_ngx_visit *visit = cleanup->data;
    *visit = (struct bal_ngx_visit){.station = station, .place = {r, r->upstream, NULL, 0}};
    cleanup->handler = clean_up;
    if (station->init_peer(r, us) != NGX_OK)
        return NGX_ERROR;
    visit->rank = bal_ngx_class_of(r, station->class, station->classes);
    visit->later.handler = on_later;
    visit->later.data = visit;
    visit->later.log = r->connection->log;
    ngx_peer_connection_t *pc = &r->upstream->peer;
    visit->data = pc->data;
    visit->get = pc->get;
    visit->free = pc->free;
    pc->data = visit;
    pc->get = get_peer;
    pc->free = free_peer;
#if (NGX_HTTP_SSL)
    visit->set_session = pc->set_session;
    visit->save_session = pc->save_session;
    pc->set_session = set_session;
    pc->save_session = save_session;
#endif
    return NGX_OK;
}
