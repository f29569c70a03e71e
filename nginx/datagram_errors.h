/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors with datagrams, for the error log: those that were rejected, and those that could not be sent. All
 * processes of a zone count in shared memory, and one of them writes a line for each kind: the first time at
 * once, then at most once a minute (once a second for those that could not be sent) with how many there
 * were. */
#ifndef NGINX_DATAGRAM_ERRORS_H
#define NGINX_DATAGRAM_ERRORS_H

#include "ballast/live/wire.h"
#include "compat.h"

/* Kinds are those of enum bal_receipt, and: */
enum { BLI_NGX_UNSENT = BAL_RECEIPTS, BLI_NGX_DATAGRAM_ERRORS };

/* In shared memory, zeroed. Counted without a lock: only the last address may be a mix of two. */
struct bli_ngx_datagram_error {
    uint64_t count;
    uint64_t logged, logged_at; /* how many have been logged, and when */
    int32_t error;              /* of the last one: errno of the kernel, or the sender's version */
    uint32_t length;            /* of its address; 0: it is not known */
    ngx_sockaddr_t address;
};

/* One more, from or to this address, or NULL. */
void bli_ngx_datagram_error_add(struct bli_ngx_datagram_error *entry, const struct sockaddr *address,
                                socklen_t length, int error);
/* Logs new errors, if it is time. No lock may be held; one process at a time. role: "upstream" or "station";
 * host: its name. */
void bli_ngx_datagram_error_log(struct bli_ngx_datagram_error datagram_errors[BLI_NGX_DATAGRAM_ERRORS],
                                const char *role, const ngx_str_t *host, uint64_t now);

#endif
