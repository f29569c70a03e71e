/* SPDX-License-Identifier: BSD-2-Clause */
/* Polls a dispatcher over HTTP for its recorded requests and for the state of its fleet. */
#ifndef TWIN_FETCH_REQUESTS_H
#define TWIN_FETCH_REQUESTS_H

#include "load/target.h"
#include "twin/parse_requests.h"
#include "twin/recent_requests.h"

struct bli_remote {
    struct target target; /* its path as it was given */
    uint64_t since;       /* the number of the record that is asked for next */
    uint64_t lost;        /* records that were dropped before they could be read */
    bool heard;           /* it has answered, and is: */
    char upstream[BLI_RING_NAME];
};

/* Parses the URL of ballast_status, with ?upstream=NAME where there are several, and resolves its address. */
enum bal_code bli_remote_open(struct bli_remote *remote, const char *url, struct bal_error *err);

/* Adds to the window what has been recorded since the last time. Waits for `seconds` at most for each answer.
 * Every failure (no answer, a time-out, a status other than 200, a malformed answer) is BAL_E_IO or
 * BAL_E_FORMAT with a message, and may be retried. */
enum bal_code bli_remote_poll(struct bli_remote *remote, double seconds, struct bli_recent_requests *window,
                              struct bal_error *err);

/* Asks for the state of the fleet: of the upstream whose records were read, or of the first. names may be
 * NULL. */
enum bal_code bli_remote_fleet(const struct bli_remote *remote, double seconds, struct bli_ring_fleet *fleet,
                               struct bli_log_servers *names, struct bal_error *err);

#endif
