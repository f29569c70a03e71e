/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends one HTTP request and reads the response. */
#ifndef LOAD_FETCH_H
#define LOAD_FETCH_H

#include "load/target.h"

#include <stddef.h>

enum { FETCH_MAX = 16 << 20 }; /* bytes of an answer; a longer one is refused */

struct bli_fetched {
    int status;
    char *body; /* terminated; the caller frees it */
    size_t length;
};

/* Sends the request to a resolved target and waits at most so many seconds in all. Uses HTTP/1.0, so that
 * responses are not chunked. `accept` is the value of the header of that name. */
enum bal_code bli_load_fetch(const struct target *target, const char *accept, double seconds,
                             struct bli_fetched *fetched, struct bal_error *err);

/* The same for any method. */
struct bli_fetch_request {
    const char *method, *accept;
    const char *header; /* one more, "Name: value"; NULL: none */
    const char *body;   /* JSON; NULL: none */
};
enum { FETCH_HEAD = 8192 }; /* bytes of a head that is sent, at most */
enum bal_code bli_load_send(const struct target *target, const struct bli_fetch_request *request,
                            double seconds, struct bli_fetched *fetched, struct bal_error *err);

#endif
