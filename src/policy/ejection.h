/* SPDX-License-Identifier: BSD-2-Clause */
/* Ejection: servers that fail get no requests for a while. A server that fails fast looks idle and would
 * attract most of the traffic.
 *
 * Two rules, and one way back. After `failures` failures in a row a server is excluded for `back_off`, then
 * for twice as long each time, up to 64 times the first; never more than half of the servers are excluded so:
 * when one more would be, it stays. And a server with a limit (nginx's max_fails and fail_timeout) that could
 * not be reached so many times within so long is shut for as long; all may be shut.
 *
 * When the time is over, one request at a time is sent to test the server. A success ends both.
 *
 * One flat block, no clock: times are handed in, in any unit. Not part of any policy: a host keeps it next to
 * the state, under the same lock, and closes the servers that are excluded. All calls are O(1), but for
 * bli_ejection_next. */
#ifndef POLICY_EJECTION_H
#define POLICY_EJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bli_ejection_server {
    double until;      /* excluded until then */
    double back_off;   /* for so long the last time; 0: not ejected */
    double shut_until; /* by its limit; 0: it is not shut */
    double lost_at;    /* the last time that it could not be reached */
    double limit_time;
    uint32_t limit;    /* 0: none */
    uint32_t losses;   /* times that it could not be reached, each within limit_time of the one before */
    uint32_t failures; /* in a row */
    bool trying;       /* a test request is in flight */
};

struct bli_ejection {
    uint32_t servers;
    uint32_t failures; /* 0: never */
    uint32_t excluded; /* how many are ejected, those on trial included */
    double back_off;
    struct bli_ejection_server server[];
};

size_t bli_ejection_size(uint32_t servers);
void bli_ejection_init(struct bli_ejection *q, uint32_t servers, uint32_t failures, double back_off);
/* So many losses shut it, 0 for none, and for so long. What is known of it stays, as far as the limit
 * allows. */
void bli_ejection_set_limit(struct bli_ejection *q, uint32_t server, uint32_t limit, double time);

/* Is it excluded or shut, or was it and has had no success since? */
static inline bool bli_ejection_suspects(const struct bli_ejection *q, uint32_t server) {
    return q->server[server].back_off > 0 || q->server[server].shut_until > 0;
}
/* Until when it may not be tried, both rules taken together. */
static inline double bli_ejection_until(const struct bli_ejection *q, uint32_t server) {
    const struct bli_ejection_server *s = &q->server[server];
    return s->until > s->shut_until ? s->until : s->shut_until;
}
/* May a request go there now? */
bool bli_ejection_allows(const struct bli_ejection *q, uint32_t server, double now);
/* A request has gone there. */
void bli_ejection_sent(struct bli_ejection *q, uint32_t server);
/* Its answer has come. */
void bli_ejection_answered(struct bli_ejection *q, uint32_t server, bool failed, double now);
/* The same for the limit: the server was reached, whatever its answer, or it was not. */
void bli_ejection_reached(struct bli_ejection *q, uint32_t server, bool reached, double now);
/* It is known to be healthy: it is no longer excluded or shut, and its failures are forgotten. */
void bli_ejection_release(struct bli_ejection *q, uint32_t server);
/* It has left: its number may go to another server. */
void bli_ejection_reset(struct bli_ejection *q, uint32_t server);
/* When bli_ejection_allows may change by itself next, after now; INFINITY: not. O(servers). */
double bli_ejection_next(const struct bli_ejection *q, double now);

#endif
