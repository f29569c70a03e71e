/* Requests that wait for a server, each with a placeholder, until the core has decided. */
#include "process.h"
#include "upstream.h"

/* ---- beginning to wait ---- */

/* A full worker cannot let it wait either. */
static ngx_int_t give_up(struct bal_ngx_peer *peer) {
    if (peer->state == BAL_PEER_WAITING)
        bal_ngx_peer_cancel(peer);
    peer->state = BAL_PEER_NEW;
    return NGX_ERROR;
}

ngx_int_t bal_ngx_hold(struct bal_ngx_peer *peer, ngx_peer_connection_t *pc) {
    struct bal_ngx_tier *tier = peer->tier;
    struct bal_ngx_wait *wait = bal_ngx_peer_wait(peer);
    if (!wait || bal_ngx_placeholder_put(&wait->place, pc, &peer->upstream->us->host) != NGX_AGAIN)
        return give_up(peer);
    if (peer->state == BAL_PEER_WAITING) {
        wait->node.key = (ngx_rbtree_key_t)peer->ticket;
        ngx_rbtree_insert(&tier->waiting, &wait->node);
        bal_ngx_zone_wait(&tier->zone, 0); /* how long, the core knows */
    }
    bal_ngx_post(&wait->later);
    return NGX_AGAIN;
}

void bal_ngx_hold_end(struct bal_ngx_peer *peer) {
    ngx_rbtree_delete(&peer->tier->waiting, &peer->wait->node);
    bal_ngx_zone_waited(&peer->tier->zone);
}

/* ---- going on ---- */

static void go_on(struct bal_ngx_peer *peer) {
    peer->blameless = !bal_ngx_placeholder_go_on(&peer->wait->place);
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
    peer->reason = (uint8_t)to->reason;
    peer->length = to->length;
    peer->number = to->server;
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
        bal_ngx_post(&peer->wait->later);
    }
}

void bal_ngx_hold_news(struct bal_ngx_tier *tier) {
    struct bal_dispatch to;
    struct bal_ngx_server *server;
    while (tier->zone.waiting && next_news(tier, &to, &server)) {
        ngx_rbtree_node_t *node = bal_ngx_waiting_find(&tier->waiting, to.ticket);
        if (node)
            take_verdict((ngx_rbtree_data(node, struct bal_ngx_wait, node))->peer, &to, server);
    }
}

/* ---- being turned away ---- */

static void refuse(struct bal_ngx_peer *peer) {
    ngx_connection_t *c = peer->request->connection;
    ngx_http_set_log_request(c->log, peer->request);
    ngx_log_error(NGX_LOG_ERR, c->log, 0, "ballast: upstream \"%V\": request refused, %s",
                  &peer->upstream->us->host,
                  peer->reason == BAL_REASON_TOO_LONG ? "it has waited for too long" : "too many wait");
    peer->state = BAL_PEER_NEW;
    bal_ngx_placeholder_refuse(&peer->wait->place, peer->upstream->hold);
}

void bal_ngx_hold_later(struct bal_ngx_peer *peer) {
    if (peer->state == BAL_PEER_REFUSED)
        refuse(peer);
    else
        bal_ngx_placeholder_calm(&peer->wait->place);
}
