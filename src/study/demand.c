/* SPDX-License-Identifier: BSD-2-Clause */
/* The load of a trace on a fleet, from one pass over it. */
#include "ballast/replay.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOWS = 60 }; /* at least so many windows in a trace, unless it is very short */

#define NANOSECONDS 1e9

/* The windows that people think in, in nanoseconds. */
static int64_t window_of(int64_t span) {
    static const int64_t lengths[] = {1000,          1000000,        10000000,       100000000,
                                      1000000000,    10000000000,    60000000000,    600000000000,
                                      3600000000000, 86400000000000, 864000000000000};
    unsigned i = 0;
    while (i + 1 < sizeof lengths / sizeof *lengths && lengths[i + 1] <= span / WINDOWS)
        i++;
    return lengths[i];
}

/* Whole multiples, towards the past also before 1970. */
static int64_t floor_divide(int64_t time, int64_t window) {
    const int64_t quotient = time / window;
    return quotient - (time % window < 0);
}

struct window {
    double jobs, work;
};

/* One pass over the trace. */
struct survey {
    const struct bli_trace_info *info;
    int64_t length; /* of a window */
    int64_t first;  /* number of the first window */
    size_t windows;
    struct window *window;
    struct bli_histogram *sizes; /* in units of their mean */
    double span_jobs[BLI_REPLAY_SPANS];
};

static void survey_add(struct survey *survey, const struct bli_trace_job *job) {
    const struct bli_trace_info *info = survey->info;
    struct window *window = &survey->window[floor_divide(job->time, survey->length) - survey->first];
    const double size = (double)job->size / NANOSECONDS;
    window->jobs++;
    window->work += size;
    bli_histogram_add(survey->sizes, size / info->size_mean);
    const double part = (double)(job->time - info->first) / (double)(info->last - info->first);
    const size_t span = (size_t)(part * BLI_REPLAY_SPANS);
    survey->span_jobs[span < BLI_REPLAY_SPANS ? span : BLI_REPLAY_SPANS - 1]++;
}

static enum bal_code survey_trace(struct survey *survey, const struct bli_trace *trace,
                                  const volatile int *stop, struct bal_error *err) {
    struct bli_trace_cursor *cursor;
    enum bal_code code = bli_trace_cursor_new(trace, &cursor, err);
    if (code)
        return code;
    for (;;) {
        struct bli_trace_job job;
        code = bli_trace_next(cursor, &job, err);
        if (code || job.size == 0)
            break;
        if (stop && *stop) {
            code = bal_fail(err, BAL_E_STOPPED, "stopped before the end");
            break;
        }
        survey_add(survey, &job);
    }
    bli_trace_cursor_free(cursor);
    return code;
}

static void finish_survey(const struct survey *survey, struct bli_demand *demand) {
    const struct bli_trace_info *info = survey->info;
    const double mean = info->size_mean, window = (double)survey->length / NANOSECONDS;
    *demand = (struct bli_demand){
        .rate = (double)info->jobs / info->span,
        .work = info->work / info->span,
        .scv = fmax(info->size_square / (mean * mean) - 1, 0),
        .size_mean = mean,
        .size_p50 = mean * bli_histogram_quantile(survey->sizes, 0.5),
        .size_p90 = mean * bli_histogram_quantile(survey->sizes, 0.9),
        .size_p99 = mean * bli_histogram_quantile(survey->sizes, 0.99),
        .size_p999 = mean * bli_histogram_quantile(survey->sizes, 0.999),
        .window = window,
    };
    demand->sizes = *survey->sizes;
    size_t busiest = 0;
    for (size_t i = 0; i < survey->windows; i++) {
        demand->peak_rate = fmax(demand->peak_rate, survey->window[i].jobs / window);
        if (survey->window[i].work > survey->window[busiest].work)
            busiest = i;
    }
    /* The span has one gap fewer than jobs, so that the mean of a short steady log may be above all windows.
     */
    demand->peak_rate = fmax(demand->peak_rate, demand->rate);
    demand->peak_work = fmax(survey->window[busiest].work / window, demand->work);
    demand->peak_at = (double)(survey->first + (int64_t)busiest) * window;
    for (size_t i = 0; i < BLI_REPLAY_SPANS; i++)
        demand->span_rate[i] = survey->span_jobs[i] * BLI_REPLAY_SPANS / info->span;
}

enum bal_code bli_demand_of(const struct bli_trace *trace, const volatile int *stop,
                            struct bli_demand *demand, struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(trace);
    if (info->last == info->first)
        return bal_fail(err, BAL_E_MODEL,
                        "all jobs (%llu) arrive at one moment, so there is no rate of arrivals; a replay "
                        "needs jobs at different times",
                        (unsigned long long)info->jobs);
    struct survey survey = {.info = info, .length = window_of(info->last - info->first)};
    survey.first = floor_divide(info->first, survey.length);
    survey.windows = (size_t)(floor_divide(info->last, survey.length) - survey.first) + 1;
    survey.window = calloc(survey.windows, sizeof *survey.window);
    survey.sizes = calloc(1, sizeof *survey.sizes);
    const enum bal_code code = survey.window && survey.sizes
                                   ? survey_trace(&survey, trace, stop, err)
                                   : bal_fail(err, BAL_E_MEMORY, "not enough memory to look at a trace");
    if (!code)
        finish_survey(&survey, demand);
    free(survey.window);
    free(survey.sizes);
    return code;
}
