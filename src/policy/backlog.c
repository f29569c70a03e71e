/* SPDX-License-Identifier: BSD-2-Clause */
/* To which servers a dispatcher that holds jobs sends a backlog message, and when it sends one to all. */
#include "policy/backlog.h"

#include <math.h>

enum { MISSES_MAX = 4, MANY_SERVERS = 100, DRAWS = 8 };

void bli_backlog_init(struct bli_backlog *backlog) {
    *backlog = (struct bli_backlog){.announce_at = INFINITY};
}

/* With up to a hundred servers a multiple of it is often the timeout exactly. Then the question that is not
 * answered ends first: patience is longer by ten nanoseconds in a second, and time is up a little
 * earlier (is_time); rounding decides nothing. */
double bli_backlog_patience(uint32_t servers, double timeout) {
    const double most = timeout / 2 * (1 + 1e-8);
    return servers < MANY_SERVERS ? most * servers / MANY_SERVERS : most;
}

static enum bli_backlog_step end_backlog(struct bli_backlog *backlog) {
    const bool announced = backlog->announced;
    backlog->misses = 0;
    backlog->announce_at = INFINITY;
    backlog->announced = 0;
    return announced ? BLI_BACKLOG_ANNOUNCE : BLI_BACKLOG_WAIT;
}

/* A slot may be on its way. If answers were not waited for, every job would be announced where they take
 * longer than the patience. */
static bool may_be_answered(const struct bli_backlog *backlog) {
    return !backlog->announced && backlog->questions && backlog->misses < MISSES_MAX;
}

static bool is_time(const struct bli_backlog *backlog, double now, double patience) {
    return now >= backlog->announce_at - 1e-5 * patience;
}

enum bli_backlog_step bli_backlog_next(struct bli_backlog *backlog, uint32_t held, double now,
                                       double patience, double beat) {
    if (held == 0)
        return end_backlog(backlog);
    if (!backlog->announced && backlog->announce_at == INFINITY)
        backlog->announce_at = now + patience;
    if (is_time(backlog, now, patience) && may_be_answered(backlog))
        backlog->announce_at = now + patience;
    if (is_time(backlog, now, patience)) {
        backlog->announced = 1;
        backlog->announce_at = now + beat;
        return BLI_BACKLOG_ANNOUNCE;
    }
    const bool worth_it = backlog->questions < held && backlog->misses < MISSES_MAX;
    return !backlog->announced && worth_it ? BLI_BACKLOG_ASK : BLI_BACKLOG_WAIT;
}

uint32_t bli_backlog_find(const struct bal_set *open, bool (*looks_idle)(const void *host, uint32_t server),
                          const void *host, struct bal_rng *rng) {
    for (int i = 0; open->count && i < DRAWS; i++) {
        const uint32_t server = bal_set_uniform(open, rng);
        if (looks_idle(host, server))
            return server;
    }
    return BAL_SET_ABSENT;
}

void bli_backlog_asked(struct bli_backlog *backlog) {
    backlog->questions++;
}

void bli_backlog_answered(struct bli_backlog *backlog, bool free_slot) {
    backlog->questions -= backlog->questions > 0;
    backlog->misses += !free_slot;
}
