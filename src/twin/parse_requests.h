/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses what the nginx module reports over HTTP (docs/metrics.md): recent requests, and the state of its
 * fleet. All input comes from the network and is validated. */
#ifndef TWIN_PARSE_REQUESTS_H
#define TWIN_PARSE_REQUESTS_H

#include "ballast/log.h"
#include "ballast/trace.h"

enum { BLI_RING_NAME = 256, BLI_RING_OPTIONS = 4096, BLI_RING_SERVERS = 1 << 16 };

/* The first line of an answer with records. */
struct bli_ring_head {
    char upstream[BLI_RING_NAME];
    bool station;
    uint32_t classes;     /* that are distinguished, at least 1 */
    uint64_t first, next; /* numbers of the first record that follows, and of the one after the last */
    uint64_t lost;        /* that were asked for and are no longer kept */
};

/* Takes each request that a server answered, as bli_recover_take() would have it, in order. Records of
 * requests that reached no server are skipped. High are those that policies of two classes take for urgent
 * (docs/nginx.md), where there are classes. A malformed answer is refused: BAL_E_FORMAT, with the line.
 * Records in front of that line have been taken. */
enum bal_code bli_ring_read(const char *text, size_t length, struct bli_ring_head *head,
                            void (*take)(void *context, const struct bli_trace_job *job), void *context,
                            struct bal_error *err);

/* A dispatcher, by the JSON of the status. */
struct bli_ring_fleet {
    char policy[BLI_RING_NAME];
    uint32_t slots;
    uint32_t servers;          /* that are meant to work: not down, not leaving */
    uint32_t away;             /* of these, that get no requests at present: ejected, closed, silent */
    bool stations;             /* are there stations in front of them, which know classes? */
    char class[BLI_RING_NAME]; /* the variable that gives the class; "": none */
    bool options_known;
    char options[BLI_RING_OPTIONS]; /* of the directive, but for the policy */
};

/* Finds the one of that upstream, or the first (NULL), not of its backup servers; the names of the servers
 * that count are added to `names`, which may be NULL. */
enum bal_code bli_ring_fleet(const char *text, size_t length, const char *upstream,
                             struct bli_ring_fleet *fleet, struct bli_log_servers *names,
                             struct bal_error *err);

#endif
