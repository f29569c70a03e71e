/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of day as logs write them:
 *
 *     15/Nov/2026:10:11:12 +0100      with or without brackets, fraction and offset (nginx, Apache, HAProxy)
 *     2026-11-15T10:11:12.345+01:00   with T or a blank, fraction after a point or a comma, Z or an offset
 *     2026/11/15 10:11:12.345         (Caddy)
 *     1794737472.345                  seconds since 1970; from 11 digits on milli-, micro-, nanoseconds
 *
 * A time without an offset is taken for UTC. */
#ifndef LOG_CLOCK_H
#define LOG_CLOCK_H

#include "log/span.h"

#include <stdint.h>

/* A cache of the last date that was read, and of the last time in whole seconds: in a log the next one is
 * usually the same. Begins as all zero bytes. */
struct bli_log_clock {
    char date[12];
    size_t length;
    int64_t day; /* since 1970-01-01 */
    char second[32];
    size_t second_length;
    int64_t time;
};

#define BLI_LOG_SECOND INT64_C(1000000000)
/* Times must be earlier than this, in the year 2255, and not earlier than 1970. */
#define BLI_LOG_TIME_END (INT64_C(9000000000) * BLI_LOG_SECOND)

/* Nanoseconds since 1970-01-01 00:00 UTC; decimals: how many the seconds have, 0 to 9. Returns whether it is
 * a time. */
bool bli_log_clock_read(struct bli_log_clock *clock, struct bli_log_span span, int64_t *time, int *decimals);

#endif
