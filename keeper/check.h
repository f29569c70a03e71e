/* Is an app ready? Asked by a connection or by an HTTP GET, without waiting: the caller polls. */
#ifndef KEEPER_CHECK_H
#define KEEPER_CHECK_H

#include "config.h"

struct check {
    const struct check_config *config; /* NULL: nothing is under way */
    int fd;
    size_t sent; /* bytes of the request; SIZE_MAX: not connected yet */
    char head[16];
    size_t got;  /* bytes of the answer's first line */
    bool failed; /* already, and check_go_on will say so */
};

enum check_answer { CHECK_WAIT, CHECK_YES, CHECK_NO };

/* Begins: check_go_on is to be called when check->fd is ready for check_events, or at once if it has failed.
 */
void check_begin(struct check *check, const struct check_config *config);
enum check_answer check_go_on(struct check *check);
short check_events(const struct check *check);
/* Ends it, whether or not there is an answer. */
void check_end(struct check *check);

#endif
