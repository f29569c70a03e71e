/* SPDX-License-Identifier: BSD-2-Clause */
/* Active health checks of a dispatcher's servers.
 *
 * The dispatcher decides when a server is checked, by which process, and what a result means; the host sends
 * the checks and reports how they went. Everything is in the dispatcher's block: one process checks for all.
 * Another one takes over when that one is reaped, leaves, says so, or has not asked for BAL_CHECK_LEASE_MS.
 *
 *     bal_dispatcher_configure_checks(d, now, &config);               with the list of servers
 *     in each process, at least four times a second, and when it is due:
 *         struct bal_check_order order;
 *         while (bal_dispatcher_next_check(d, now, &order))           this process is to send this check
 *             ...
 *         uint64_t due = bal_dispatcher_check_due(d);                 of the process that checks
 *     bal_dispatcher_finish_check(d, now, order.ticket, BAL_CHECK_PASSED);
 *
 * A server that fails its checks is closed until it passes, whatever requests say of it; one that passes may
 * still be closed because its requests fail. So a server gets requests only if checks, ejection and max_fails
 * all allow it. When checks open a server again its earlier failures are forgotten. All servers may be closed
 * by checks; those do not count where at most half of the servers may be ejected.
 *
 * The lock of the dispatcher must be held. A check and a result are O(log servers). */
#ifndef BALLAST_LIVE_CHECK_H
#define BALLAST_LIVE_CHECK_H

#include "ballast/live/dispatcher.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BAL_CHECK_LEASE_MS = 2000 };

struct bal_check_config {
    uint64_t interval_ns; /* between two checks of a server, on average; 0: servers are not checked */
    uint64_t timeout_ns;  /* after which a check has failed */
    uint32_t rises;       /* passed in a row, after which a failing server passes; 0 is 1 */
    uint32_t falls;       /* failed in a row, after which a server is failing; 0 is 1 */
    bool mandatory;       /* a server that joins gets no requests until it has passed once */
};

enum bal_check_state {
    BAL_CHECK_UNCHECKED, /* it has not passed yet, nor failed often enough */
    BAL_CHECK_PASSING,
    BAL_CHECK_FAILING,
    BAL_CHECK_STATES
};

enum bal_check_result {
    BAL_CHECK_NONE, /* there is no result yet */
    BAL_CHECK_PASSED,
    BAL_CHECK_REFUSED,   /* no connection: refused, unreachable */
    BAL_CHECK_TIMED_OUT, /* no connection, or no whole response, in time */
    BAL_CHECK_CLOSED,    /* the connection was closed in the middle of the response */
    BAL_CHECK_TLS,       /* the TLS handshake failed */
    BAL_CHECK_MALFORMED, /* this is no response of that protocol */
    BAL_CHECK_STATUS,    /* it has another status */
    BAL_CHECK_BODY,      /* the text is not in the body */
    BAL_CHECK_LOCAL,     /* the check could not be sent, for lack of memory or connections: it says nothing */
    BAL_CHECK_RESULTS
};

const char *bal_check_state_name(enum bal_check_state state);    /* "failing" */
const char *bal_check_result_name(enum bal_check_result result); /* "refused" */

enum bal_code bal_check_config_check(const struct bal_check_config *config, struct bal_error *err);

/* From now on servers are checked so. What is known of them stays; where checks are switched off it is
 * forgotten. A call with the same configuration changes nothing. O(servers log servers). */
void bal_dispatcher_configure_checks(struct bal_dispatcher *d, uint64_t now,
                                     const struct bal_check_config *config);

struct bal_check_order {
    uint32_t server;
    uint64_t ticket;
};

/* The next check that this process is to make now; false: none. A process that does not ask any more does not
 * check any more. */
bool bal_dispatcher_next_check(struct bal_dispatcher *d, uint64_t now, struct bal_check_order *order);
/* When the next check of this process is due; UINT64_MAX: another process checks, or nothing is to be
 * checked. */
uint64_t bal_dispatcher_check_due(const struct bal_dispatcher *d);
/* How a check went. A void ticket is ignored: the server has left, or another process has taken over. A check
 * that has failed long after its time-out says more of this process than of the server, and is repeated. */
void bal_dispatcher_finish_check(struct bal_dispatcher *d, uint64_t now, uint64_t ticket,
                                 enum bal_check_result result);
/* This process makes no checks any longer: it has not finished what it was ordered, and another one does it.
 */
void bal_dispatcher_release_checks(struct bal_dispatcher *d, uint64_t now);

struct bal_check_view {
    bool checked; /* this server is checked */
    bool closed;  /* and gets no requests because of that */
    enum bal_check_state state;
    enum bal_check_result result; /* the last one, of which the next two are */
    uint64_t result_at;
    uint64_t took_ns;
    uint32_t in_a_row; /* results that were as good or as bad as this one */
    uint64_t passed, failed;
    uint64_t changes; /* to failing */
};

/* number < config.servers. */
struct bal_check_view bal_dispatcher_check_view(const struct bal_dispatcher *d, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
