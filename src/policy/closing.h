/* SPDX-License-Identifier: BSD-2-Clause */
/* Which servers a dispatcher may choose, and what it does for a job when it may choose none.
 *
 * A server may be closed for several reasons at once, and is open when there is none. With statements (see
 * statement.h) a server is closed when its last one has expired, three beats after it came, and when it could
 * not be reached; the next statement opens it again. Servers at which a job has failed are closed to that job
 * alone.
 *
 * When no server is open: a job waits, or is sent to a silent server. When all are silent the fault is more
 * likely in the network, or here, than in them; so jobs are sent by their own counts. But while one that was
 * heard of may open soon (it is full, or off), or one could not be reached and is not silent yet (soon it is
 * heard of, or silent), a job that may wait does.
 *
 * No clock, no messages: times are handed in, in any unit. A struct bli_closing is a view that is made for a
 * call or a few. Live dispatchers and those of the lab's network engine both use it. */
#ifndef POLICY_CLOSING_H
#define POLICY_CLOSING_H

#include "ballast/policy.h"
#include "ballast/random.h"
#include "ballast/set.h"
#include "policy/tries.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For so many beats a statement is valid. */
enum { BLI_STATEMENT_BEATS = 3 };

enum bli_closed {
    BLI_CLOSED_REMOVED = 1, /* there is none with that index, or it is leaving */
    BLI_CLOSED_DOWN = 2,    /* the configuration says so */
    BLI_CLOSED_FULL = 4,    /* it has as many jobs of ours as it may have */
    BLI_CLOSED_EJECTED = 8, /* it has failed */
    BLI_CLOSED_SILENT = 16, /* its last statement has expired */
    BLI_CLOSED_OFF = 32,    /* off or in set-up, and the policy does not handle power */
    BLI_CLOSED_DRAINING = 64,
    BLI_CLOSED_SUSPECT = 128,   /* it could not be reached, and has made no statement since */
    BLI_CLOSED_FAILING = 256,   /* it fails its health checks */
    BLI_CLOSED_UNCHECKED = 512, /* it has not passed one yet, and must */
    BLI_CLOSED_WARMING = 1024,  /* it starts slowly, and has had its share for now */
};

struct bli_closing {
    uint32_t *closed; /* the reasons, of server 0; those of the others lie `stride` bytes apart */
    size_t stride;
    uint32_t servers;
    struct bal_set *open;
    const uint32_t *own;  /* jobs of ours, of each server */
    const double *weight; /* NULL: all have the same */
    struct bal_rng *rng;
    bool backed; /* servers elsewhere take jobs when none of these may be chosen */
};

static inline uint32_t *closing_reasons(const struct bli_closing *c, uint32_t server) {
    return (uint32_t *)(void *)((char *)c->closed + server * c->stride);
}

/* A reason begins or ceases to hold. True: the server is open now and was not, or the other way round. */
static inline bool closing_mark(const struct bli_closing *c, uint32_t server, enum bli_closed reason,
                                bool closed) {
    uint32_t *reasons = closing_reasons(c, server);
    const bool was_open = *reasons == 0;
    *reasons = closed ? *reasons | reason : *reasons & ~(uint32_t)reason;
    if ((*reasons == 0) == was_open)
        return false;
    if (was_open)
        bal_set_remove(c->open, server);
    else
        bal_set_insert(c->open, server);
    return true;
}

/* Servers at which a job has failed are not open, until bli_closing_reopen(). */
void bli_closing_close_tried(const struct bli_closing *c, const struct bli_tries *tries);
/* All that are open are so to each job. O(servers). */
void bli_closing_reopen(const struct bli_closing *c);

/* The prospects of a job for which the policy has no server. */
struct bli_prospects {
    bool heard;   /* one is not silent that may be available soon */
    bool waiting; /* waiting may help: such a server, or one that is full for now */
    bool doubted; /* one could not be reached and has made no statement since: soon it will, or will be silent
                   */
    uint32_t silent; /* of those closed because they are silent, one with the fewest jobs of ours in flight;
                        BAL_NONE: there is none */
};

/* O(1) while a server is open that the job has not tried, else O(servers). */
struct bli_prospects bli_closing_prospects(const struct bli_closing *c, const struct bli_tries *tries);
/* decided: BAL_HOLD or BAL_NONE, by the policy. The server that gets the job, BAL_HOLD, or BAL_NONE: it is
 * refused. */
uint32_t bli_closing_fallback(const struct bli_closing *c, const struct bli_tries *tries, uint32_t decided);
/* Others of its class are held when the job comes: it goes behind them, first come, first served, whatever
 * the policy would do with it, unless waiting cannot help. The same three answers. */
static inline uint32_t closing_behind_held(const struct bli_closing *c, const struct bli_tries *tries) {
    return bli_closing_fallback(c, tries, BAL_HOLD);
}

/* A server has been heard of; closed: by what it was until now. Was it silent, or has it restarted? Then it
 * is considered healthy: earlier failures no longer count. */
static inline bool closing_is_healthy_again(uint32_t closed, bool restarted) {
    return restarted || closed & BLI_CLOSED_SILENT;
}

#endif
