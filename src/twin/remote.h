/* A dispatcher that is asked over HTTP, again and again, for what it has recorded and for how its fleet is.
 */
#ifndef TWIN_REMOTE_H
#define TWIN_REMOTE_H

#include "load/target.h"
#include "twin/ring.h"
#include "twin/window.h"

struct bal_remote {
    struct target target; /* its path as it was given */
    uint64_t since;       /* the number of the record that is asked for next */
    uint64_t lost;        /* records that were gone before they could be read */
    bool heard;           /* it has answered, and is: */
    char upstream[BAL_RING_NAME];
};

/* Reads the address of ballast_status, with ?upstream=NAME where there are several, and looks it up. */
enum bal_code bal_remote_open(struct bal_remote *remote, const char *url, struct bal_error *err);

/* Adds to the window what has been recorded since the last time. Waits for `seconds` at most for each answer.
 * Whatever goes wrong (no answer, not in time, another status than 200, an answer that is none) is BAL_E_IO
 * or BAL_E_FORMAT, in words, and may be tried again. */
enum bal_code bal_remote_poll(struct bal_remote *remote, double seconds, struct bal_window *window,
                              struct bal_error *err);

/* Asks how the fleet is: of the upstream that has been heard, or of the first. names may be NULL. */
enum bal_code bal_remote_fleet(const struct bal_remote *remote, double seconds, struct bal_ring_fleet *fleet,
                               struct bal_log_servers *names, struct bal_error *err);

#endif
