/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing the points of the last hour, and reading them in order. */
#include "history.h"

static const uint64_t second_ns = 1000000000;

/* ---- percentiles ---- */

static uint64_t count_since(const struct bli_ngx_times *from, const struct bli_ngx_times *to, uint32_t i) {
    return to->bucket[i] > from->bucket[i] ? to->bucket[i] - from->bucket[i] : 0;
}

/* In microseconds, linear inside a bucket; 0 where nothing was counted. */
static uint32_t quantile_since(const struct bli_ngx_times *from, const struct bli_ngx_times *to, double q) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < BLI_NGX_TIMES; i++)
        all += count_since(from, to, i);
    double left = q * (double)all;
    for (uint32_t i = 0; all > 0 && i < BLI_NGX_TIMES; i++) {
        const double count = (double)count_since(from, to, i);
        if (count > 0 && left <= count) {
            const double low = i ? (double)bli_ngx_times_bound(i - 1) : 0;
            const double high = i < BLI_NGX_TIMES - 1 ? (double)bli_ngx_times_bound(i) : low;
            const uint32_t us = bli_ngx_microseconds((uint64_t)(low + (high - low) * left / count));
            return us ? us : 1;
        }
        left -= count;
    }
    return 0;
}

/* ---- writing ---- */

/* Counts do not fall, unless a process was killed while it wrote one. */
static uint32_t difference(uint64_t from, uint64_t to) {
    const uint64_t more = to > from ? to - from : 0;
    return more < UINT32_MAX ? (uint32_t)more : UINT32_MAX;
}

static void begin_point(struct bli_ngx_series *series, const struct bli_ngx_moment *moment,
                        const struct bli_ngx_times *times, uint32_t classes) {
    series->began = *moment;
    series->held = 0;
    for (uint32_t rank = 0; rank < classes; rank++)
        series->times[rank] = times[rank];
}

static void end_point(struct bli_ngx_series *series, struct bli_ngx_point *point,
                      const struct bli_ngx_moment *moment, const struct bli_ngx_times *times,
                      uint32_t classes) {
    const struct bli_ngx_moment *began = &series->began;
    *point = (struct bli_ngx_point){.end_ns = moment->now,
                                    .ms = difference(began->now / 1000000, moment->now / 1000000),
                                    .arrived = difference(began->arrived, moment->arrived),
                                    .failed = difference(began->failed, moment->failed),
                                    .refused = difference(began->refused, moment->refused),
                                    .messages = difference(began->messages, moment->messages),
                                    .on = moment->on,
                                    .held = series->held};
    for (int i = 0; i < BLI_NGX_ACTIVITIES; i++)
        point->activity_ms[i] = difference(began->activity_ns[i] / 1000000, moment->activity_ns[i] / 1000000);
    for (uint32_t rank = 0; rank < classes; rank++) {
        point->p50_us[rank] = quantile_since(&series->times[rank], &times[rank], 0.5);
        point->p99_us[rank] = quantile_since(&series->times[rank], &times[rank], 0.99);
    }
}

static bool is_over(const struct bli_ngx_series *series, uint64_t now, uint64_t length) {
    return series->began.now == 0 || now >= series->began.now + length;
}

bool bli_ngx_history_tick(struct bli_ngx_history *history, uint64_t now, uint32_t held) {
    if (held > history->seconds.held)
        history->seconds.held = held;
    if (held > history->tens.held)
        history->tens.held = held;
    return is_over(&history->seconds, now, second_ns);
}

static void add_to(struct bli_ngx_series *series, struct bli_ngx_point *points, uint32_t room,
                   const struct bli_ngx_moment *moment, const struct bli_ngx_times *times, uint32_t classes) {
    if (series->began.now) {
        end_point(series, &points[series->points % room], moment, times, classes);
        series->points++;
    }
    begin_point(series, moment, times, classes);
}

void bli_ngx_history_add(struct bli_ngx_history *history, const struct bli_ngx_moment *moment,
                         const struct bli_ngx_times *times, uint32_t classes) {
    add_to(&history->seconds, history->second, BLI_NGX_SECONDS, moment, times, classes);
    if (is_over(&history->tens, moment->now, 10 * second_ns))
        add_to(&history->tens, history->ten, BLI_NGX_TENS, moment, times, classes);
}

/* ---- reading ---- */

/* Those that end by `until`. */
static uint32_t copy_points(const struct bli_ngx_series *series, const struct bli_ngx_point *from,
                            uint32_t room, uint64_t until, struct bli_ngx_point *points) {
    const uint32_t there = series->points < room ? (uint32_t)series->points : room;
    uint32_t count = 0;
    for (uint64_t i = series->points - there; i < series->points; i++)
        if (from[i % room].end_ns <= until)
            points[count++] = from[i % room];
    return count;
}

uint32_t bli_ngx_history_points(const struct bli_ngx_history *history,
                                struct bli_ngx_point points[BLI_NGX_POINTS]) {
    const struct bli_ngx_series *seconds = &history->seconds;
    const uint64_t oldest = seconds->points > BLI_NGX_SECONDS ? seconds->points - BLI_NGX_SECONDS : 0;
    const struct bli_ngx_point *first = &history->second[oldest % BLI_NGX_SECONDS];
    const uint64_t begins = seconds->points ? first->end_ns - (uint64_t)first->ms * 1000000 : UINT64_MAX;
    const uint32_t count = copy_points(&history->tens, history->ten, BLI_NGX_TENS,
                                       begins < UINT64_MAX ? begins + 2000000 : begins, points);
    return count + copy_points(seconds, history->second, BLI_NGX_SECONDS, UINT64_MAX, points + count);
}
