/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow start of a dispatcher's servers: one that joins others, is not down any longer, or is opened by its
 * health checks, by the ejection or by max_fails, gets a share of the requests that grows linearly from none
 * to its usual one. Whatever the policy is, it gets no more, one request apart, as long as another server is
 * open that does not warm up; where none is it gets what comes. Without stations.
 *
 * The lock of the dispatcher must be held. While no server warms up requests pay nothing for it; while some
 * do a request is O(servers that warm up). */
#ifndef BALLAST_LIVE_SLOW_START_H
#define BALLAST_LIVE_SLOW_START_H

#include "ballast/live/dispatcher.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on slow starts take so long; 0: servers start at once, also those that are warming up. */
void bal_dispatcher_configure_slow_start(struct bal_dispatcher *d, uint64_t now, uint64_t time_ns);
/* What a server gets of its usual share, 0 to 1. number < config.servers. */
double bal_dispatcher_slow_start_share(const struct bal_dispatcher *d, uint64_t now, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
