/* Servers that fail are shunned for a while: one that fails fast looks idle and would swallow the traffic.
 *
 * After `failures` failures in a row a server is excluded for `back_off`; then one request at a time is let
 * through to prove it well. A success ends the quarantine; a failure doubles the time, up to 64 times the
 * first. Never more than half of the servers are excluded: when one more would be, it stays.
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
    uint32_t failures; /* in a row */
    bool trying;       /* a request is under way that may prove it well */
};

struct bal_quarantine {
    uint32_t servers;
    uint32_t failures;
    uint32_t excluded; /* how many are in quarantine, those on trial included */
    double back_off;
    struct bal_quarantine_server server[];
};

size_t bal_quarantine_size(uint32_t servers);
void bal_quarantine_init(struct bal_quarantine *q, uint32_t servers, uint32_t failures, double back_off);

/* May a request go there now? */
bool bal_quarantine_open(const struct bal_quarantine *q, uint32_t server, double now);
/* A request has gone there. */
void bal_quarantine_sent(struct bal_quarantine *q, uint32_t server);
/* Its answer has come. */
void bal_quarantine_answered(struct bal_quarantine *q, uint32_t server, bool failed, double now);
/* When bal_quarantine_open may change by itself next, after now; INFINITY: not. O(servers). */
double bal_quarantine_next(const struct bal_quarantine *q, double now);

#endif
