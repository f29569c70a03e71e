/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that stand for an app, for tests and measurements.
 *
 * The first line that they print is the port where they are controlled and then that of each server. SIGTERM
 * ends them, with their statistics on standard output.
 *
 * A request may ask, by its path,
 *   /status/CODE       to be answered so
 *   /chunked?chunks=N  for an answer in chunks
 *   /cache?age=S       for an answer that may be kept so many seconds
 *   /upgrade           to have its connection turned into one that echoes bytes
 *   /big?bytes=N       for an answer of that length
 *   /generate?prompt=N&tokens=M   for M tokens, each sent when it is there, as an engine for a language model
 *                      does: see token_service below
 * or, by anything else, for a line that tells the server, how often it has answered, and the length and sum
 * of the body. X-Service in the head, or service in the query, is its service time in microseconds;
 * X-Request-Id is what it is known by, and comes back in the answer. With endpoint-load-metrics-format, text
 * or json, the answer has a report of the load in that form (ORCA): num_requests_running, this one included,
 * num_requests_waiting, and application_utilization, the share of slots in use.
 *
 * At the port of control:
 *   /set?server=I&mode=M   from now on server I (counted from 0; without it: all) is
 *        ok, fail (answers status=CODE after=MILLISECONDS, whatever its queue), hang (never answers),
 *        close (closes the connection once it has read the request), refuse (does not listen),
 *        slow (takes factor=F times as long)
 *   /stats                 what has been seen, as JSON
 *   /log                   a line for each request: its id, the server, when it came, began and ended, the
 *                          status; ?from=N&most=M: M of them from the N-th on, counted from 0
 *   /reset                 forgets all that */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "ballast/dist.h"
#include "ballast/model.h"

#include <stdio.h>
#include <sys/types.h>

enum { SERVE_MAX = 2000 }; /* servers */

struct serve_options {
    struct bli_servers servers;
    unsigned slots;
    struct bli_speeds speeds; /* how fast by the number in service, which share it; not with burn */
    struct bli_dist service;  /* in seconds, where a request does not say */
    /* Work of a request for tokens, in seconds: to read one of the prompt, and to write one. The head is sent
     * with the first token; the slot is free after the last. Both 0: tokens are not known. Not with burn */
    double token_service[2];
    const char *address; /* where they listen, in numbers; NULL: 127.0.0.1 */
    uint16_t port;       /* of the first server, the others follow; 0: the kernel's choice */
    uint16_t control;    /* the same for the port of control */
    bool burn;           /* service uses the processor; else it sleeps */
    pid_t with;          /* it ends when this process ends; 0: with none */
    uint64_t seed;
};

/* Prints ports and, at the end, statistics to `out`; whether they could be written is for the caller to
 * check.
 *
 * Each call has a state of its own. Of the process it changes three things for good: the limit of open files
 * goes up to what is allowed, timers become sharp, and SIGTERM and SIGINT are blocked, so that a second one
 * does not end the process while it prints; those that came are used up. Other threads must have blocked them
 * too. */
enum bal_code serve_run(const struct serve_options *options, FILE *out, struct bal_error *err);

#endif
