/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks whether an app is ready, by a connection or an HTTP GET, without blocking: the caller polls. */
#ifndef KEEPER_APP_CHECK_H
#define KEEPER_APP_CHECK_H

#include "config.h"

struct check {
    const struct check_config *config; /* NULL: nothing is under way */
    int fd;
    size_t sent; /* bytes of the request; SIZE_MAX: not connected yet */
    char head[16];
    size_t got;  /* bytes of the answer's first line */
    bool failed; /* already; check_continue will report it */
};

enum check_answer { CHECK_WAIT, CHECK_YES, CHECK_NO };

/* Begins: check_continue is to be called when check->fd is ready for check_events, or at once if it has
 * failed.
 */
void check_begin(struct check *check, const struct check_config *config);
enum check_answer check_continue(struct check *check);
short check_events(const struct check *check);
/* Ends it, whether or not there is an answer. */
void check_end(struct check *check);

#endif
