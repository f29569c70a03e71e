/* Servers that fail are shunned for a while: one that fails fast looks idle and would swallow the traffic.
 *
 * Two rules, and one way back. After `failures` failures in a row a server is excluded for `back_off`, then
 * for twice as long each time, up to 64 times the first; never more than half of the servers are excluded so:
 * when one more would be, it stays. And a server with a limit (nginx's max_fails and fail_timeout) that could
 * not be reached so many times within so long is shut for as long; all may be shut.
 *
 * When the time is over one request at a time is let through to prove it well. A success ends both.
 *
 * One flat block, no clock: times are handed in, in any unit. Not part of any policy: a host keeps it beside
 * the state, under the same lock, and closes the servers that are excluded. All calls are O(1), but for
 * bal_quarantine_next. */
#ifndef POLICY_QUARANTINE_H
#define POLICY_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bal_quarantine_server {
    double until;      /* excluded until then */
    double back_off;   /* for so long the last time; 0: not in quarantine */
    double shut_until; /* by its limit; 0: it is not shut */
    double lost_at;    /* the last time that it could not be reached */
    double limit_time;
    uint32_t limit;    /* 0: none */
    uint32_t losses;   /* times that it could not be reached, each within limit_time of the one before */
    uint32_t failures; /* in a row */
    bool trying;       /* a request is under way that may prove it well */
};

struct bal_quarantine {
    uint32_t servers;
    uint32_t failures; /* 0: never */
    uint32_t excluded; /* how many are in quarantine, those on trial included */
    double back_off;
    struct bal_quarantine_server server[];
};

size_t bal_quarantine_size(uint32_t servers);
void bal_quarantine_init(struct bal_quarantine *q, uint32_t servers, uint32_t failures, double back_off);
/* So many losses shut it, 0 for none, and for so long. What is known of it stays, as far as the limit
 * allows. */
void bal_quarantine_limit(struct bal_quarantine *q, uint32_t server, uint32_t limit, double time);

/* Is it excluded or shut, or was it and has not been proved well yet? */
static inline bool bal_quarantine_suspects(const struct bal_quarantine *q, uint32_t server) {
    return q->server[server].back_off > 0 || q->server[server].shut_until > 0;
}
/* Until when it may not be tried, both rules taken together. */
static inline double bal_quarantine_until(const struct bal_quarantine *q, uint32_t server) {
    const struct bal_quarantine_server *s = &q->server[server];
    return s->until > s->shut_until ? s->until : s->shut_until;
}
/* May a request go there now? */
bool bal_quarantine_open(const struct bal_quarantine *q, uint32_t server, double now);
/* A request has gone there. */
void bal_quarantine_sent(struct bal_quarantine *q, uint32_t server);
/* Its answer has come. */
void bal_quarantine_answered(struct bal_quarantine *q, uint32_t server, bool failed, double now);
/* The same for the limit: it was reached, whatever the answer said, or it was not. */
void bal_quarantine_reached(struct bal_quarantine *q, uint32_t server, bool reached, double now);
/* It has left: whoever gets its number is another one. */
void bal_quarantine_forget(struct bal_quarantine *q, uint32_t server);
/* When bal_quarantine_open may change by itself next, after now; INFINITY: not. O(servers). */
double bal_quarantine_next(const struct bal_quarantine *q, double now);

#endif
