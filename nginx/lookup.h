/* SPDX-License-Identifier: BSD-2-Clause */
/* A name that could not be resolved when nginx read its configuration, looked up again until it can be. The C
 * library does so in a thread of its own (getaddrinfo_a), so that no process blocks on a name server. */
#ifndef NGINX_LOOKUP_H
#define NGINX_LOOKUP_H

#include "compat.h"

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

struct bli_ngx_lookup {
    char *host;
    in_port_t port;
    /* Of this process: */
    struct gaicb request;
    bool busy;
    uint64_t next_ns; /* when it is looked up again */
};

/* Starts the lookup, or checks for its answer; never blocks. NULL: not yet. The caller frees the result with
 * freeaddrinfo(). */
struct addrinfo *bli_ngx_lookup_step(struct bli_ngx_lookup *lookup, uint64_t now);

#endif
