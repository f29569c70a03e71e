/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of idle servers at a rate, for policies that need them, where there are no stations to send them.
 *
 * The dispatcher knows which of its servers have a free slot, and each change of that is an operation of its
 * own. So the reports that were due since the last operation are made when the next begins: that is
 * equivalent to each having come at its time. Their rate is the policy's, for each mean service time, which
 * is taken from the responses; a policy that needs the load gets the share of servers that arrivals found
 * busy. */
#include "live/dispatcher_private.h"

#include <math.h>

static const double unknown_service = 0.05; /* seconds, until there has been a response */
static const double memory = 1.0 / 128;     /* weight of the last in moving averages */

/* Reports of an idle server in a second. */
static double report_rate(const struct bal_dispatcher *d) {
    const struct bal_policy_context setting = {.servers = d->servers,
                                               .load = fmin(fmax(d->block->load, 0.05), 0.95)};
    const double service = d->block->service > 0 ? d->block->service : unknown_service;
    return bal_policy_report_rate(&d->policy, &setting) / service;
}

/* For all possible servers: those that are not present or not idle make no report. */
static uint64_t next_report_delay(struct bal_dispatcher *d) {
    const double ns = 1e9 * bal_rng_exp(&d->chance) / (report_rate(d) * d->servers);
    return ns < 1e9 ? (uint64_t)ns : 1000000000; /* the rate may be another one by then */
}

bool bli_timed_report(struct bal_dispatcher *d) {
    struct block *block = d->block;
    bool reported = false;
    for (uint32_t most = 2 * d->servers; block->report_at <= block->now; most--) {
        if (most == 0) { /* after a long pause: every idle server has reported */
            block->report_at = block->now + next_report_delay(d);
            break;
        }
        const uint32_t server = bal_rng_below(&d->chance, d->servers);
        block->report_at += next_report_delay(d);
        if (d->server[server].closed || !is_below_slots(d, server))
            continue;
        bal_policy_report(&d->policy, d->state, &d->fleet, BAL_REPORT_STILL_IDLE, server, NULL);
        reported = true;
    }
    return reported;
}

void bli_timed_arrival(struct bal_dispatcher *d) {
    if (!d->open->count)
        return;
    const uint32_t server = bal_set_uniform(d->open, &d->chance);
    d->block->load += memory * (!is_below_slots(d, server) - d->block->load);
}

void bli_timed_response(struct bal_dispatcher *d, double took) {
    double *service = &d->block->service;
    *service = *service > 0 ? *service + memory * (took - *service) : took;
}
