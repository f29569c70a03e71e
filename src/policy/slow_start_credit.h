/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow start: a server that has just come (back) gets a growing share of the requests, so that it warms up
 * before it has to do its part.
 *
 * For `time` after its start its share grows linearly from none to its usual one, which is its weight over
 * all weights. The rule is the same for every policy, because it does not look at any: each request that
 * comes gives the server `share` of its part of a request as credit; with a whole one it may be chosen, and
 * pays for it when it is. So it never gets more than that, one request apart, whether a policy compares
 * queues, looks for idle servers or draws at random.
 *
 * One flat block, no clock: times are passed in, in any unit. A host keeps it next to the state of the
 * policy, closes servers that have no credit as long as others are open, and opens all when none is. */
#ifndef POLICY_SLOW_START_CREDIT_H
#define POLICY_SLOW_START_CREDIT_H

#include "policy/closing.h"

enum { BLI_SLOW_START_CREDIT = 2 }; /* at most, in requests */

struct bli_slow_start_server {
    double since;
    double credit;
    uint32_t warming;
};

struct bli_slow_start {
    double time; /* 0: servers start at once */
    uint32_t servers;
    struct bli_slow_start_server server[];
};

size_t bli_slow_start_size(uint32_t servers);
void bli_slow_start_init(struct bli_slow_start *slow, uint32_t servers, double time);
/* The servers that are warming up. */
struct bal_set *bli_slow_start_warming(const struct bli_slow_start *slow);
/* From the servers, after a crash. O(servers). */
void bli_slow_start_rebuild(struct bli_slow_start *slow);

/* It has come; its slow start is over, or it has left. */
void bli_slow_start_begin(struct bli_slow_start *slow, uint32_t server, double now);
void bli_slow_start_end(struct bli_slow_start *slow, uint32_t server);

/* Of its usual share: 0 to 1; 1 for one that does not warm up. */
static inline double bli_slow_start_share(const struct bli_slow_start *slow, uint32_t server, double now) {
    const struct bli_slow_start_server *s = &slow->server[server];
    if (!s->warming || now >= s->since + slow->time)
        return 1;
    return now > s->since ? (now - s->since) / slow->time : 0;
}

/* A request has come, of which `part` is usually the server's. */
static inline void bli_slow_start_earn(struct bli_slow_start *slow, uint32_t server, double now,
                                       double part) {
    struct bli_slow_start_server *s = &slow->server[server];
    const double credit = s->credit + part * bli_slow_start_share(slow, server, now);
    s->credit = credit < BLI_SLOW_START_CREDIT ? credit : BLI_SLOW_START_CREDIT;
}

/* May it be chosen while others can be? */
static inline bool bli_slow_start_allows(const struct bli_slow_start *slow, uint32_t server) {
    return !slow->server[server].warming || slow->server[server].credit >= 1;
}

/* It was chosen. Where no other could be it may have had no credit, and owes nothing. */
static inline void bli_slow_start_pay(struct bli_slow_start *slow, uint32_t server) {
    struct bli_slow_start_server *s = &slow->server[server];
    s->credit = s->credit > 1 ? s->credit - 1 : 0;
}

/* Which of them are open, at a host that closes servers as policy/closing.h does: a view, made for a call. */
struct bli_warming {
    struct bli_slow_start *slow;
    const struct bli_closing *closing;
    double now;
    double per_weight; /* 1 over the mean weight of all servers; where they have none it is not used */
    void (*mark)(void *host, uint32_t server, bool closed); /* BLI_CLOSED_WARMING begins or ceases to hold */
    void *host;
};

/* Time has passed, or a job has come: those that have credit are open, the others are closed as long as
 * another server is open. */
void bli_slow_start_update(const struct bli_warming *w, bool arrival);
/* A server that warms up has been chosen. */
void bli_slow_start_chosen(const struct bli_warming *w, uint32_t server);
/* No other server is open: all that warm up are. Returns whether there are any. */
bool bli_slow_start_lift(const struct bli_warming *w);

#endif
