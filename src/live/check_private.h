/* SPDX-License-Identifier: BSD-2-Clause */
/* When servers are checked, and what the results mean: the state machine of ballast/live/check.h, one flat
 * block without pointers. It knows servers by number, processes by number, and no dispatcher. */
#ifndef LIVE_CHECK_PRIVATE_H
#define LIVE_CHECK_PRIVATE_H

#include "ballast/live/check.h"
#include "base/tournament.h"

struct bli_check_server {
    uint32_t checked; /* it is in the schedule */
    uint32_t state;   /* enum bal_check_state */
    uint32_t result;  /* enum bal_check_result */
    uint32_t in_a_row;
    uint64_t ticket; /* of the check under way; 0: none is */
    uint64_t sent_at;
    uint64_t due;   /* when the next begins; of one under way: when it is made again */
    uint64_t ended; /* checks that came to a result, since it joined */
    uint64_t passed, failed, changes, result_at, took_ns;
};

struct bli_checks {
    struct bal_check_config config;
    uint32_t servers;
    uint32_t checked;  /* servers in the schedule */
    uint32_t failing;  /* of these */
    uint32_t worker;   /* that checks; BLI_NOBODY: none does */
    uint64_t asked_at; /* when it last asked */
    uint64_t tickets;  /* that were given out */
    struct bli_check_server server[];
};

size_t bli_checks_size(uint32_t servers);
void bli_checks_init(struct bli_checks *checks, uint32_t servers);
/* What follows from the servers, after a process has died in the middle of a call. O(servers log servers). */
void bli_checks_rebuild(struct bli_checks *checks);
/* NULL: what follows from the servers is right. */
const char *bli_checks_find_inconsistency(const struct bli_checks *checks);

/* A server joins the schedule, unknown; leaves it. The first checks are spread over 10 ms for each server
 * that is checked, at most over the interval; later ones over the whole interval. */
void bli_checks_add(struct bli_checks *checks, uint32_t server, uint64_t now, struct bal_rng *rng);
void bli_checks_remove(struct bli_checks *checks, uint32_t server);

/* The interval has changed: checks that are further away than the new one allows are spread over it. */
void bli_checks_reschedule(struct bli_checks *checks, uint64_t now, struct bal_rng *rng);

bool bli_checks_next(struct bli_checks *checks, uint64_t now, uint32_t worker, struct bal_rng *rng,
                     struct bal_check_order *order);
uint64_t bli_checks_due(const struct bli_checks *checks);
/* The server of which this was the check; BAL_NONE: the ticket is void. */
uint32_t bli_checks_finish(struct bli_checks *checks, uint64_t now, uint64_t ticket,
                           enum bal_check_result result, struct bal_rng *rng);
/* This process does not check any longer. */
void bli_checks_release(struct bli_checks *checks, uint32_t worker);

/* Does the server get no requests because of its checks? */
static inline bool bli_checks_close(const struct bli_checks *checks, uint32_t server) {
    const struct bli_check_server *s = &checks->server[server];
    return s->checked &&
           (s->state == BAL_CHECK_FAILING || (s->state == BAL_CHECK_UNCHECKED && checks->config.mandatory));
}

#endif
