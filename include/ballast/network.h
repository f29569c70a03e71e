/* SPDX-License-Identifier: BSD-2-Clause */
/* What lies between dispatchers and servers: several dispatchers, messages that take time or get lost,
 * servers that fail and return, and servers that fail fast. Continuous time; several dispatchers also in
 * slotted time. */
#ifndef BALLAST_NETWORK_H
#define BALLAST_NETWORK_H

#include "ballast/dist.h"
#include "ballast/error.h"
#include "ballast/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BAL_SHARES_MAX = 64, BAL_DISPATCHERS_MAX = 4096 };

/* The dispatchers: `count` of them, each with a policy state and a view of its own. A job arrives at a
 * uniform one, or by given shares. */
struct bal_dispatchers {
    uint32_t count;               /* 0 means 1 */
    bool unequal;                 /* are the shares given? Then count is at most BAL_SHARES_MAX */
    double share[BAL_SHARES_MAX]; /* they sum to 1 */
};

/* The dispatcher of the next job. Draws no random number where there is only one. */
uint32_t bal_dispatchers_draw(const struct bal_dispatchers *dispatchers, struct bal_rng *rng);

/* Reads "4" or the shares, "0.5,0.3,0.2". On failure *dispatchers is untouched. */
enum bal_code bal_dispatchers_parse(const char *text, struct bal_dispatchers *dispatchers,
                                    struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bal_dispatchers_print(const struct bal_dispatchers *dispatchers, char *text, size_t size);

/* Every server works for an exponential time of mean `up`, then is down for one of mean `down`. Its jobs
 * fail: they are sent elsewhere, or are lost. It comes back empty. */
struct bal_churn {
    double up, down; /* up 0: servers do not fail */
    bool lose;
};

/* Reads "none" or "UP,DOWN" or "UP,DOWN,lose": "1000,10". On failure *churn is untouched. */
enum bal_code bal_churn_parse(const char *text, struct bal_churn *churn, struct bal_error *err);
size_t bal_churn_print(const struct bal_churn *churn, char *text, size_t size);

/* Servers that fail fast: the last ones of the fleet, so large a share of it, take `time` for any job and
 * answer wrongly. */
struct bal_fail_fast {
    double share; /* 0: none */
    double time;  /* 0: a twentieth of the mean service time */
};

/* Reads "none", "SHARE" or "SHARE,TIME": "0.1,0.05". On failure *fail_fast is untouched. */
enum bal_code bal_fail_fast_parse(const char *text, struct bal_fail_fast *fail_fast, struct bal_error *err);
size_t bal_fail_fast_print(const struct bal_fail_fast *fail_fast, char *text, size_t size);

/* What happens at a time, once: so long that its effect can be measured. Members are the first ones, so large
 * a share of all, rounded. */
enum bal_network_event_kind {
    BAL_EVENT_RESTART_DISPATCHERS, /* they forget what they knew, one after the other in `length` */
    BAL_EVENT_RESTART_SERVERS,     /* the same; each fails, and is back after `down` */
    BAL_EVENT_CUT,                 /* for `length` nothing passes between these servers and dispatchers */
    BAL_EVENT_LOSS,                /* for `length` messages get lost with the probability `share` */
    BAL_NETWORK_EVENT_KINDS
};

struct bal_network_event {
    enum bal_network_event_kind kind;
    double at, length;
    double share;
    double dispatchers; /* CUT: the share of these */
    double down;        /* RESTART_SERVERS */
};

enum { BAL_NETWORK_EVENTS_MAX = 16 };

struct bal_network_events {
    unsigned count;
    struct bal_network_event event[BAL_NETWORK_EVENTS_MAX];
};

/* Reads "none", or events with spaces between them: KIND[:SHARE[,NUMBER]]@TIME[+LENGTH], such as
 * "cut:0.3@1000+50 restart-dispatchers@2000+10". On failure *events is untouched. */
enum bal_code bal_network_events_parse(const char *text, struct bal_network_events *events,
                                       struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bal_network_events_print(const struct bal_network_events *events, char *text, size_t size);
/* Is there one of that kind? */
bool bal_network_events_include(const struct bal_network_events *events, enum bal_network_event_kind kind);

/* Servers that have failed come back cold: a job that begins there takes `factor` times as long at first, and
 * less from then on, linearly, until all is as usual: after `over` units of time, or after it has begun with
 * so many jobs. */
struct bal_cold {
    double factor; /* 0: servers are as quick as ever */
    double over;
    bool jobs;
};

/* Reads "none", "FACTOR,TIME" or "FACTOR,JOBS,jobs": "5,20". On failure *cold is untouched. */
enum bal_code bal_cold_parse(const char *text, struct bal_cold *cold, struct bal_error *err);
size_t bal_cold_print(const struct bal_cold *cold, char *text, size_t size);

struct bal_network {
    struct bal_dispatchers dispatchers;
    struct bal_dist delay; /* of every message, and of a job and its response on their ways; mean 0: none */
    double loss;           /* probability that a message is lost; jobs and responses never are */
    double heartbeat;      /* every server sends its state to every dispatcher once in this time; 0: never. A
                              server whose last three heartbeats are missing is not chosen. */
    double timeout; /* how long a job waits for the replies to probes; 0: ten mean delays, or a tenth of the
                     * mean service time where there is no delay */
    struct bal_churn churn;
    struct bal_cold cold;
    double slow_start; /* a server that is open again gets a growing share of the jobs of each dispatcher for
                        * so long; 0: all of it at once */
    struct bal_fail_fast fail_fast;
    bool ejection; /* dispatchers eject servers that fail, and try them again later */
    struct bal_network_events events;
};

/* Is it one dispatcher without delays, with servers that never fail? True if all is zero. */
bool bal_network_is_plain(const struct bal_network *network);
/* The same, but there may be several dispatchers. */
bool bal_network_is_near(const struct bal_network *network);
/* May messages be late or lost, so that replies have to be waited for? */
bool bal_network_takes_time(const struct bal_network *network);
/* Are there servers that fail, so that jobs may fail too? */
bool bal_network_fails(const struct bal_network *network);

#ifdef __cplusplus
}
#endif
#endif
