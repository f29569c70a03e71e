/* SPDX-License-Identifier: BSD-2-Clause */
/* Chaos: a fleet of real processes over hosts, faults drawn from a seed, and what must hold when they are
 * over. */
#ifndef LIVE_CHAOS_H
#define LIVE_CHAOS_H

#include "rig/block.h"

#include <stdbool.h>
#include <stdint.h>

/* Seconds: before the first fault, the longest fault, from the last repair to the end, and the part of that
 * in which all must be well. */
enum { CHAOS_QUIET = 2, CHAOS_LONGEST = 6, CHAOS_CALM = 5, CHAOS_JUDGED = 3, CHAOS_FILE = 4000 };

/* The live file of a cycle; the same for the same seed but for the policy, which is a line of `policies`, and
 * the addresses. */
void chaos_file(uint64_t seed, const char *policy, bool ipv6, char text[CHAOS_FILE]);
/* The same for the dispatcher that dies while it holds, with its times: the kill, how long the other one may
 * take until all is normal, and the end. */
enum { TRIAL_KILL = 2, TRIAL_RECOVERS = 2, TRIAL_SECONDS = 6 };
void chaos_trial_file(uint64_t seed, const char *policy, bool ipv6, char text[CHAOS_FILE]);

/* What does not hold, one after the other; "" if all does. `holds`: dispatchers hold requests while no server
 * is idle, so no server may be idle while they hold. */
struct chaos_verdict {
    char text[600];
    double normal, mean; /* response times before the faults and in the time that is judged */
    double worst;        /* of those in that time */
    double worst_ratio;  /* of the trial: response times over times of service in any half second */
    unsigned judged;     /* requests in that time */
};
void chaos_check(const struct rig_block *block, bool holds, struct chaos_verdict *verdict);
/* Of the trial, of the requests to the second dispatcher: all are answered, and from two seconds after the
 * kill on the response times of each half second are below 1.5 times what the same requests took at servers.
 * Fails also if the first one held nothing when it was killed. */
void chaos_check_trial(const struct rig_block *block, bool holds, struct chaos_verdict *verdict);

#endif
