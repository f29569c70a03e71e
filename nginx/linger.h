/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections to an app that has not answered yet, though its client has gone or no longer needs the answer.
 *
 * Most apps do not notice that a connection is closed before they have written their answer: they go on
 * working on the request. Its slot is free only then. So when nginx releases the connection it is taken over
 * and half-closed, which an app can detect; what the app still sends is dropped. When the app closes its
 * half, as it does after the last answer, or a timeout has passed, the slot is released.
 *
 *     in peer.free     if (bli_ngx_linger_begin(pc, &linger, ...)) return;
 * Otherwise the slot is released at once. */
#ifndef NGINX_LINGER_H
#define NGINX_LINGER_H

#include "compat.h"
#include "stall.h"

#include <stdbool.h>
#include <stdint.h>

/* What is to be released. */
struct bli_ngx_linger {
    void (*end)(const struct bli_ngx_linger *linger); /* no lock is held */
    void *owner;                                      /* lives as long as the process */
    uint64_t ticket;
    bool answered; /* there was an answer, which was not read to its end */
    bool failed;
};

/* How it is released if the zone is stalled. */
static inline enum bli_ngx_deferral bli_ngx_linger_deferral(const struct bli_ngx_linger *linger) {
    const enum bli_ngx_deferral how = linger->failed ? BLI_NGX_DEFER_BAD : BLI_NGX_DEFER_GOOD;
    return linger->answered ? how : BLI_NGX_DEFER_CANCEL;
}

/* All of the response of the app has come. */
bool bli_ngx_linger_is_whole(const ngx_http_request_t *r);
/* Takes the connection of a request to an app, for `most` milliseconds at most. False: there is none, nothing
 * was sent to the app, or the app has closed it: whatever it was doing, it has ended. */
bool bli_ngx_linger_begin(ngx_peer_connection_t *pc, const ngx_http_upstream_t *u,
                          const struct bli_ngx_linger *what);

#endif
