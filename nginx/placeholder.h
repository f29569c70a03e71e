/* A request that waits inside of nginx's peer.get.
 *
 * nginx expects a server, an error, or a connection that is being made. A request that waits gets the last: a
 * placeholder, a socket that is never connected and of which nobody hears. So nginx itself looks after the
 * client meanwhile, and everything that stands before a connection (caches, bodies, authentication) is
 * done. When it may go on, peer.get is called again, the connection is made as nginx would have made it, with
 * the placeholder's handlers, and the placeholder is closed. A request that may not wait is answered with
 * 503.
 *
 *     in peer.get                   return bal_ngx_placeholder_put(p, pc, name);
 *     when nginx's call is over     bal_ngx_placeholder_calm(p), or bal_ngx_placeholder_refuse(p, ...)
 *     later                         bal_ngx_placeholder_go_on(p), or bal_ngx_placeholder_refuse(p, ...)
 *     in peer.free                  bal_ngx_placeholder_lost(p) */
#ifndef NGINX_PLACEHOLDER_H
#define NGINX_PLACEHOLDER_H

#include "compat.h"

#include <stdbool.h>
#include <stdint.h>

struct bal_ngx_placeholder {
    ngx_http_request_t *request;
    ngx_http_upstream_t *u;
    ngx_connection_t *connection; /* stands for the connection to a server; NULL: it does not wait */
    ngx_msec_t began;             /* to wait */
};

/* What peer.get shall return: NGX_AGAIN, or NGX_ERROR when this process cannot let it wait. The rest must be
 * left for when nginx's own calls are over: an event that is posted. */
ngx_int_t bal_ngx_placeholder_put(struct bal_ngx_placeholder *p, ngx_peer_connection_t *pc, ngx_str_t *name);
/* It waits: nginx's time to connect has not begun. */
void bal_ngx_placeholder_calm(struct bal_ngx_placeholder *p);
/* peer.get is called again. False: no connection could be made for a reason that is this process's. */
bool bal_ngx_placeholder_go_on(struct bal_ngx_placeholder *p);
/* The answer is 503, to be tried again after so long; a stale one of a cache if there is one. */
void bal_ngx_placeholder_refuse(struct bal_ngx_placeholder *p, ngx_msec_t retry_after);
/* Those that wait, by ticket; NULL: it is not among them. */
static inline ngx_rbtree_node_t *bal_ngx_waiting_find(const ngx_rbtree_t *tree, uint64_t ticket) {
    const ngx_rbtree_key_t key = (ngx_rbtree_key_t)ticket;
    ngx_rbtree_node_t *node = tree->root;
    while (node != tree->sentinel && node->key != key)
        node = key < node->key ? node->left : node->right;
    return node == tree->sentinel ? NULL : node;
}

/* nginx closes it. */
static inline void bal_ngx_placeholder_lost(struct bal_ngx_placeholder *p) {
    p->connection = NULL;
}

#endif
