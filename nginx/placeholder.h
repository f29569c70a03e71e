/* SPDX-License-Identifier: BSD-2-Clause */
/* A request that waits inside nginx's peer.get.
 *
 * nginx expects a server, an error, or a connection that is being made. A request that waits gets the last: a
 * placeholder, a socket that is never connected. So nginx itself watches the client meanwhile, and everything
 * that comes before a connection (caches, bodies, authentication) is done. When it may go on, peer.get is
 * called again, the connection is made as nginx would have made it, with the placeholder's handlers, and the
 * placeholder is closed. A request that may not wait is answered with 503.
 *
 *     in peer.get                  return bli_ngx_placeholder_install(p, pc, name);
 *     when nginx's call is over    bli_ngx_placeholder_cancel_timer(p), or bli_ngx_placeholder_refuse(p, ...)
 *     later                        bli_ngx_placeholder_resume(p), or bli_ngx_placeholder_refuse(p, ...)
 *     in peer.free                 bli_ngx_placeholder_detach(p) */
#ifndef NGINX_PLACEHOLDER_H
#define NGINX_PLACEHOLDER_H

#include "compat.h"

#include <stdbool.h>
#include <stdint.h>

struct bli_ngx_placeholder {
    ngx_http_request_t *request;
    ngx_http_upstream_t *u;
    ngx_connection_t *connection; /* stands for the connection to a server; NULL: it does not wait */
    ngx_msec_t began;             /* to wait */
};

/* This process has enough free connections, including those needed to refuse clients: without them clients
 * would be closed without an answer. */
bool bli_ngx_placeholder_has_room(void);
/* In the configuration: `option` at that place lets more wait than workers with so many connections can. */
void bli_ngx_placeholder_warn_capacity(ngx_cycle_t *cycle, const char *option, ngx_uint_t waiting,
                                       uint64_t connections, const ngx_str_t *file, ngx_uint_t line);
/* Returns what peer.get shall return: NGX_AGAIN, or NGX_ERROR when this process cannot let it wait. Do the
 * rest after nginx's own calls have returned, in a posted event. */
ngx_int_t bli_ngx_placeholder_install(struct bli_ngx_placeholder *p, ngx_peer_connection_t *pc,
                                      ngx_str_t *name);
/* The request waits: stops nginx's connect timeout. */
void bli_ngx_placeholder_cancel_timer(struct bli_ngx_placeholder *p);
/* peer.get is called again. False: no connection could be made, for a reason local to this process. */
bool bli_ngx_placeholder_resume(struct bli_ngx_placeholder *p);
/* Answers 503 with a Retry-After, or a stale answer from a cache if there is one. retry_ns: how long the
 * backlog takes, of which at most an hour is used; 0: that is not known, and `otherwise` is used. */
void bli_ngx_placeholder_refuse(struct bli_ngx_placeholder *p, uint64_t retry_ns, ngx_msec_t otherwise);
/* Those that wait, by ticket; NULL: it is not among them. */
static inline ngx_rbtree_node_t *bli_ngx_waiting_find(const ngx_rbtree_t *tree, uint64_t ticket) {
    const ngx_rbtree_key_t key = (ngx_rbtree_key_t)ticket;
    ngx_rbtree_node_t *node = tree->root;
    while (node != tree->sentinel && node->key != key)
        node = key < node->key ? node->left : node->right;
    return node == tree->sentinel ? NULL : node;
}

/* nginx closes it. */
static inline void bli_ngx_placeholder_detach(struct bli_ngx_placeholder *p) {
    p->connection = NULL;
}

#endif
