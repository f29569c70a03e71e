/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that may not wait, or not any longer, for the error log: at most one line a second for each zone,
 * with how many there were since the last one. */
#ifndef NGINX_REFUSALS_H
#define NGINX_REFUSALS_H

#include "compat.h"

#include <stdint.h>

/* So far, as the core counts them. */
struct bli_ngx_refused {
    uint64_t full;     /* too many waited; of them ... */
    uint64_t replaced; /* ... those whose place went to a more urgent request */
    uint64_t overdue;  /* they had waited for too long */
    uint64_t crowded;  /* not of full: a worker had no connection for them to wait */
};

/* In shared memory, zeroed. */
struct bli_ngx_refusals {
    struct bli_ngx_refused logged;
    uint64_t unheld, unheld_logged; /* refused because a worker had no connection for them to wait */
    uint64_t logged_at;
};

/* Logs new ones, if it is time. No lock may be held; one process at a time. kind: "upstream" or "station";
 * host: its name. */
void bli_ngx_refusals_log(struct bli_ngx_refusals *refusals, const struct bli_ngx_refused *refused,
                          const char *kind, const ngx_str_t *host, uint64_t now);

#endif
