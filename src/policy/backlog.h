/* SPDX-License-Identifier: BSD-2-Clause */
/* How a dispatcher that holds jobs and has no token gets servers: to which servers it sends backlog messages,
 * and when to all.
 *
 * First it sends one to single servers that look idle, as many as it holds jobs; each of them answers at
 * once, with a free slot or with its state. After four answers without a slot it waits. When jobs have been
 * held for a while (bli_backlog_patience) and no answer is awaited any longer, it sends one to all servers,
 * again with every beat, and once more when no job is held. To send one to all servers at once would move the
 * tokens of all idle servers to one dispatcher; the next job elsewhere would do the same, and so on: a
 * message to each server for each job, at any load.
 *
 * Not part of any policy: a host keeps it next to the state, under the same lock. No clock: times are handed
 * in, in any unit. The live dispatcher and the lab's network engine both use it. All calls are O(1). */
#ifndef POLICY_BACKLOG_H
#define POLICY_BACKLOG_H

#include "ballast/set.h"

#include <math.h>

struct bli_backlog {
    double announce_at; /* when the next backlog message goes to all servers; INFINITY: no time is set */
    uint32_t announced; /* all servers have had a backlog message, and not yet the one that no job is held any
                           longer */
    uint32_t questions; /* to single servers that have not answered yet */
    uint32_t misses;    /* answers that were no free slot, and missing ones, since jobs are held */
};

enum bli_backlog_step {
    BLI_BACKLOG_WAIT,
    BLI_BACKLOG_ASK,      /* one server that looks idle, if there is one; then what is next? */
    BLI_BACKLOG_ANNOUNCE, /* all servers: so many are held */
};

void bli_backlog_init(struct bli_backlog *backlog);
/* Would the next step change nothing if no job is held? */
static inline bool backlog_is_over(const struct bli_backlog *backlog) {
    return backlog->announce_at == INFINITY && !backlog->announced && !backlog->misses;
}
/* How long jobs are held before a backlog message goes to all servers, where replies are waited for that
 * long. That costs a message to each: the more there are, the sooner one of them has a free slot anyway, and
 * the more it pays to wait. */
double bli_backlog_patience(uint32_t servers, double timeout);
/* What to do now that so many jobs are held; beat: the time after which it is sent to all again, INFINITY for
 * never. To be called whenever jobs have been held or sent, an answer has come, or announce_at has. */
enum bli_backlog_step bli_backlog_next(struct bli_backlog *backlog, uint32_t held, double now,
                                       double patience, double beat);
/* One of a few members of `open` that are drawn, for which looks_idle returns true; BAL_SET_ABSENT: none of
 * them, so that most are not. */
uint32_t bli_backlog_find(const struct bal_set *open, bool (*looks_idle)(const void *host, uint32_t server),
                          const void *host, struct bal_rng *rng);
/* A backlog message has gone to a server; its answer has come, or is not waited for any longer. */
void bli_backlog_asked(struct bli_backlog *backlog);
void bli_backlog_answered(struct bli_backlog *backlog, bool free_slot);

#endif
