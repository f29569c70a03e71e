/* SPDX-License-Identifier: BSD-2-Clause */
/* The last hour of an upstream, or of a station: a point a second for two minutes, one of ten seconds beyond.
 *
 * It lies in the zone with the records, so that a page that is opened shows what was before, whichever worker
 * answers, and is written by the worker that ticks (zone.h), under the lock. A point covers the time since
 * the one before it: longer where no worker could tick. What is counted is the difference of two counts,
 * percentiles are those of the difference of two histograms. */
#ifndef NGINX_HISTORY_H
#define NGINX_HISTORY_H

#include "record.h"

enum { BLI_NGX_SECONDS = 120, BLI_NGX_TENS = 360, BLI_NGX_POINTS = BLI_NGX_SECONDS + BLI_NGX_TENS };

/* Now: counts since the start, and what is so. */
struct bli_ngx_moment {
    uint64_t now; /* bli_ngx_now() */
    uint64_t arrived, failed, refused, messages;
    uint64_t activity_ns[BLI_NGX_ACTIVITIES]; /* of all servers */
    uint32_t on;                              /* servers that can be used and are on */
};

struct bli_ngx_point {
    uint64_t end_ns; /* bli_ngx_now() */
    uint32_t ms;     /* that it covers */
    uint32_t arrived, failed, refused, messages;
    uint32_t on;   /* at its end */
    uint32_t held; /* most that waited at a tick */
    uint32_t activity_ms[BLI_NGX_ACTIVITIES];
    uint32_t p50_us[BAL_CLASSES_MAX], p99_us[BAL_CLASSES_MAX]; /* 0: no request was answered */
};

/* Points of one length. */
struct bli_ngx_series {
    uint64_t points; /* so many were written */
    uint32_t held;   /* most so far in the one that is under way */
    struct bli_ngx_moment began;
    struct bli_ngx_times times[BAL_CLASSES_MAX]; /* when it began */
};

struct bli_ngx_history {
    struct bli_ngx_series seconds, tens;
    struct bli_ngx_point second[BLI_NGX_SECONDS], ten[BLI_NGX_TENS];
};

/* At each tick: so many requests wait. True: it is time for bli_ngx_history_add(). */
bool bli_ngx_history_tick(struct bli_ngx_history *history, uint64_t now, uint32_t held);
void bli_ngx_history_add(struct bli_ngx_history *history, const struct bli_ngx_moment *moment,
                         const struct bli_ngx_times *times, uint32_t classes);

/* The points, oldest first: those of ten seconds that end before the first of a second begins, then these.
 * Returns how many. */
uint32_t bli_ngx_history_points(const struct bli_ngx_history *history,
                                struct bli_ngx_point points[BLI_NGX_POINTS]);

#endif
