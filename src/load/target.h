/* SPDX-License-Identifier: BSD-2-Clause */
/* The target of requests: host, port and path. */
#ifndef LOAD_TARGET_H
#define LOAD_TARGET_H

#include "ballast/error.h"

#include <sys/socket.h>

enum { TARGET_TEXT = 1024 };

struct target {
    char host[TARGET_TEXT]; /* as in the URL, with the port if there is one: the value of the Host header */
    char path[TARGET_TEXT]; /* with the query, at least "/" */
    struct sockaddr_storage address;
    socklen_t address_length;
};

/* Reads http://HOST[:PORT][/PATH[?QUERY]]. */
enum bal_code bli_load_target_parse(struct target *target, const char *url, struct bal_error *err);

/* Looks its address up. */
enum bal_code bli_load_target_resolve(struct target *target, struct bal_error *err);

#endif
