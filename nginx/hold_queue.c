/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that wait for a server, each with a placeholder, until the core has decided. */
#include "process.h"
#include "upstream.h"

/* ---- beginning to wait ---- */

/* A worker without free connections cannot let it wait either. */
static ngx_int_t abort_hold(struct bli_ngx_peer_data *peer) {
    if (peer->state == BLI_PEER_WAITING)
        bli_ngx_peer_cancel(peer);
    peer->state = BLI_PEER_NEW;
    return NGX_ERROR;
}

ngx_int_t bli_ngx_hold_request(struct bli_ngx_peer_data *peer, ngx_peer_connection_t *pc) {
    struct bli_ngx_peers *peers = peer->peers;
    struct bli_ngx_wait *wait = bli_ngx_peer_get_wait(peer);
    if (peer->state == BLI_PEER_WAITING && !bli_ngx_placeholder_has_room()) {
        bli_ngx_peer_cancel(peer);
        peer->state = BLI_PEER_REFUSED;
        peer->reason = BAL_REASON_NO_ROOM;
        bli_ngx_zone_count_unheld(&peers->zone);
    }
    if (!wait || bli_ngx_placeholder_install(&wait->placeholder, pc, &peer->upstream->us->host) != NGX_AGAIN)
        return abort_hold(peer);
    if (peer->state == BLI_PEER_WAITING) {
        wait->node.key = (ngx_rbtree_key_t)peer->ticket;
        ngx_rbtree_insert(&peers->waiting, &wait->node);
        bli_ngx_zone_wait_begin(&peers->zone, 0); /* the core knows how long */
        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, pc->log, 0, "ballast: upstream \"%V\": request held",
                       &peer->upstream->us->host);
    }
    bli_ngx_post_event(&wait->deferred_event);
    return NGX_AGAIN;
}

void bli_ngx_hold_remove(struct bli_ngx_peer_data *peer) {
    ngx_rbtree_delete(&peer->peers->waiting, &peer->wait->node);
    bli_ngx_zone_wait_end(&peer->peers->zone);
}

/* ---- going on ---- */

static void resume_request(struct bli_ngx_peer_data *peer) {
    peer->local_error = !bli_ngx_placeholder_resume(&peer->wait->placeholder);
}

enum queue_decision { DECISION_NONE, DECISION_MADE, DECISION_STALLED };

static enum queue_decision next_decision(struct bli_ngx_peers *peers, struct bal_dispatch *to,
                                         struct bli_ngx_server **server) {
    if (!bli_ngx_zone_lock(&peers->zone))
        return DECISION_STALLED;
    const bool more = bal_dispatcher_next_decision(peers->d, bli_ngx_now(), to);
    *server = more && to->verdict == BAL_SEND ? bli_ngx_peers_server(peers, to->server) : NULL;
    bli_ngx_zone_unlock(&peers->zone);
    return more ? DECISION_MADE : DECISION_NONE;
}

/* The zone is stalled: the oldest request that waits here continues without it, like a new one. */
static void release_oldest(struct bli_ngx_peers *peers) {
    ngx_rbtree_node_t *node = ngx_rbtree_min(peers->waiting.root, peers->waiting.sentinel);
    struct bli_ngx_peer_data *peer = (ngx_rbtree_data(node, struct bli_ngx_wait, node))->peer;
    peer->waited_ns += (uint64_t)(ngx_current_msec - peer->wait->placeholder.began) * 1000000;
    bli_ngx_hold_remove(peer);
    bli_ngx_peer_cancel(peer);
    resume_request(peer);
}

/* No server of this tier can take it: try the backup servers. */
static void try_next_peers(struct bli_ngx_peer_data *peer) {
    peer->state = BLI_PEER_NEW;
    peer->peers++;
    resume_request(peer);
}

static void apply_decision(struct bli_ngx_peer_data *peer, const struct bal_dispatch *to,
                           struct bli_ngx_server *server) {
    bli_ngx_hold_remove(peer);
    peer->reason = (uint8_t)to->reason;
    peer->length = to->length;
    peer->number = to->server;
    peer->waited_ns += to->waited_ns;
    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, peer->request->connection->log, 0,
                   "ballast: held request resumes after %uL us: %s, server %i", to->waited_ns / 1000,
                   bli_ngx_reason_name(to->reason), server ? (ngx_int_t)to->server : -1);
    if (server) {
        peer->server = server;
        peer->state = BLI_PEER_DECIDED;
        resume_request(peer);
    } else if (to->verdict == BAL_SEND) { /* to a server whose address cannot be read */
        bli_ngx_peer_cancel(peer);
        try_next_peers(peer);
    } else if (to->reason == BAL_REASON_NONE_OPEN) {
        try_next_peers(peer);
    } else {
        peer->state = BLI_PEER_REFUSED;
        peer->wait->retry_ns = to->retry_ns;
        bli_ngx_post_event(&peer->wait->deferred_event);
    }
}

void bli_ngx_hold_process_decisions(struct bli_ngx_peers *peers) {
    struct bal_dispatch to;
    struct bli_ngx_server *server;
    enum queue_decision decision;
    while (peers->zone.waiting && (decision = next_decision(peers, &to, &server)) != DECISION_NONE) {
        if (decision == DECISION_STALLED) {
            release_oldest(peers);
            continue;
        }
        ngx_rbtree_node_t *node = bli_ngx_waiting_find(&peers->waiting, to.ticket);
        if (node)
            apply_decision((ngx_rbtree_data(node, struct bli_ngx_wait, node))->peer, &to, server);
    }
}

/* ---- refusing ---- */

/* The error log gets one line a second for all of them (refusals.c). */
static void refuse_request(struct bli_ngx_peer_data *peer) {
    const struct bli_ngx_upstream *upstream = peer->upstream;
    const ngx_msec_t own = (ngx_msec_t)(upstream->class_limit[peer->rank].wait_ns / 1000000);
    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, peer->request->connection->log, 0,
                   "ballast: upstream \"%V\": request refused: %s", &upstream->us->host,
                   bli_ngx_reason_name((enum bal_reason)peer->reason));
    peer->state = BLI_PEER_NEW;
    bli_ngx_placeholder_refuse(&peer->wait->placeholder, peer->wait->retry_ns, own ? own : upstream->hold);
}

void bli_ngx_hold_run_deferred(struct bli_ngx_peer_data *peer) {
    if (peer->state == BLI_PEER_REFUSED)
        refuse_request(peer);
    else
        bli_ngx_placeholder_cancel_timer(&peer->wait->placeholder);
}
