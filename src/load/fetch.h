/* One GET, and what came of it. */
#ifndef LOAD_FETCH_H
#define LOAD_FETCH_H

#include "load/target.h"

#include <stddef.h>

enum { FETCH_MOST = 16 << 20 }; /* bytes of an answer; a longer one is refused */

struct bal_fetched {
    int status;
    char *body; /* terminated; the caller frees it */
    size_t length;
};

/* Asks a target that has been resolved, and waits for at most so many seconds, all in all. It speaks
 * HTTP/1.0, so that answers come in one piece. `accept` is what the header of that name says. */
enum bal_code bal_load_fetch(const struct target *target, const char *accept, double seconds,
                             struct bal_fetched *fetched, struct bal_error *err);

#endif
