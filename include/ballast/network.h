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

enum { BLI_SHARES_MAX = 64, BLI_DISPATCHERS_MAX = 4096 };

/* The dispatchers: `count` of them, each with a policy state and a view of its own. A job arrives at a
 * uniform one, or by given shares. */
struct bli_dispatchers {
    uint32_t count;               /* 0 means 1 */
    bool unequal;                 /* are the shares given? Then count is at most BLI_SHARES_MAX */
    double share[BLI_SHARES_MAX]; /* they sum to 1 */
};

/* The dispatcher of the next job. Draws no random number where there is only one. */
uint32_t bli_dispatchers_draw(const struct bli_dispatchers *dispatchers, struct bal_rng *rng);

/* Reads "4" or the shares, "0.5,0.3,0.2". On failure *dispatchers is untouched. */
enum bal_code bli_dispatchers_parse(const char *text, struct bli_dispatchers *dispatchers,
                                    struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_dispatchers_print(const struct bli_dispatchers *dispatchers, char *text, size_t size);

/* Every server works for an exponential time of mean `up`, then is down for one of mean `down`. Its jobs
 * fail: they are sent elsewhere, or are lost. It comes back empty. */
struct bli_churn {
    double up, down; /* up 0: servers do not fail */
    bool lose;
};

/* Reads "none" or "UP,DOWN" or "UP,DOWN,lose": "1000,10". On failure *churn is untouched. */
enum bal_code bli_churn_parse(const char *text, struct bli_churn *churn, struct bal_error *err);
size_t bli_churn_print(const struct bli_churn *churn, char *text, size_t size);

/* Servers that fail fast: the last ones of the fleet, so large a share of it, take `time` for any job and
 * answer wrongly. */
struct bli_fail_fast {
    double share; /* 0: none */
    double time;  /* 0: a twentieth of the mean service time */
};

/* Reads "none", "SHARE" or "SHARE,TIME": "0.1,0.05". On failure *fail_fast is untouched. */
enum bal_code bli_fail_fast_parse(const char *text, struct bli_fail_fast *fail_fast, struct bal_error *err);
size_t bli_fail_fast_print(const struct bli_fail_fast *fail_fast, char *text, size_t size);

/* What happens at a time, once: so long that its effect can be measured. Members are the first ones, so large
 * a share of all, rounded. */
enum bli_network_event_kind {
    BLI_EVENT_RESTART_DISPATCHERS, /* they forget what they knew, one after the other in `length` */
    BLI_EVENT_RESTART_SERVERS,     /* the same; each fails, and is back after `down` */
    BLI_EVENT_CUT,                 /* for `length` nothing passes between these servers and dispatchers */
    BLI_EVENT_LOSS,                /* for `length` messages get lost with the probability `share` */
    BLI_NETWORK_EVENT_KINDS
};

struct bli_network_event {
    enum bli_network_event_kind kind;
    double at, length;
    double share;
    double dispatchers; /* CUT: the share of these */
    double down;        /* RESTART_SERVERS */
};

enum { BLI_NETWORK_EVENTS_MAX = 16 };

struct bli_network_events {
    unsigned count;
    struct bli_network_event event[BLI_NETWORK_EVENTS_MAX];
};

/* Reads "none", or events with spaces between them: KIND[:SHARE[,NUMBER]]@TIME[+LENGTH], such as
 * "cut:0.3@1000+50 restart-dispatchers@2000+10". On failure *events is untouched. */
enum bal_code bli_network_events_parse(const char *text, struct bli_network_events *events,
                                       struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_network_events_print(const struct bli_network_events *events, char *text, size_t size);
/* Is there one of that kind? */
bool bli_network_events_include(const struct bli_network_events *events, enum bli_network_event_kind kind);

/* Servers that have failed come back cold: a job that begins there takes `factor` times as long at first, and
 * less from then on, linearly, until all is as usual: after `over` units of time, or after it has begun with
 * so many jobs. */
struct bli_cold {
    double factor; /* 0: servers are as quick as ever */
    double over;
    bool jobs;
};

/* Reads "none", "FACTOR,TIME" or "FACTOR,JOBS,jobs": "5,20". On failure *cold is untouched. */
enum bal_code bli_cold_parse(const char *text, struct bli_cold *cold, struct bal_error *err);
size_t bli_cold_print(const struct bli_cold *cold, char *text, size_t size);

struct bli_network {
    struct bli_dispatchers dispatchers;
    struct bli_dist delay; /* of every message, and of a job and its response on their ways; mean 0: none */
    double loss;           /* probability that a message is lost; jobs and responses never are */
    double heartbeat;      /* every server sends its state to every dispatcher once in this time; 0: never. A
                              server whose last three heartbeats are missing is not chosen. */
    double timeout; /* how long a job waits for the replies to probes; 0: ten mean delays, or a tenth of the
                     * mean service time where there is no delay */
    struct bli_churn churn;
    struct bli_cold cold;
    double slow_start; /* a server that is open again gets a growing share of the jobs of each dispatcher for
                        * so long; 0: all of it at once */
    struct bli_fail_fast fail_fast;
    bool ejection; /* dispatchers eject servers that fail, and try them again later */
    struct bli_network_events events;
};

/* Is it one dispatcher without delays, with servers that never fail? True if all is zero. */
bool bli_network_is_plain(const struct bli_network *network);
/* The same, but there may be several dispatchers. */
bool bli_network_is_near(const struct bli_network *network);
/* How long a job waits for replies; unit: the mean service time. */
double bli_network_timeout(const struct bli_network *network, double unit);
/* May messages be late or lost, so that replies have to be waited for? */
bool bli_network_takes_time(const struct bli_network *network);
/* Are there servers that fail, so that jobs may fail too? */
bool bli_network_fails(const struct bli_network *network);

#ifdef __cplusplus
}
#endif
#endif
