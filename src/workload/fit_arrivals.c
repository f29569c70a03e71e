/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrivals: a curve through the counts of bins, and the dispersion of counts in short windows. */
#include "ballast/fit.h"

#include "workload/fit_bursts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double second = 1e9; /* nanoseconds */

enum {
    BINS_MIN = 4,      /* fewer make no curve */
    JOBS_PER_BIN = 100 /* fewer would draw noise: a tenth up and down */
};

/* Bins that people use: the least one that is wide enough; whole days beyond. */
static double bin_width(double least) {
    static const double widths[] = {0.001, 0.01, 0.1, 1,    2,    5,    10,    15,    30,    60,   120,
                                    300,   600,  900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++)
        if (widths[i] >= least)
            return widths[i];
    return 86400 * ceil(least / 86400);
}

/* The span is divided evenly, so that the last bin is as long as the others. noise: dispersion of counts. */
static void choose_bins(const struct bli_trace_info *info, double noise, struct bli_fit_arrivals *arrivals) {
    const double jobs = (double)info->jobs;
    const double least = arrivals->span * fmax(1.0 / BLI_FIT_BINS, noise * JOBS_PER_BIN / jobs);
    double bins = fmax(rint(arrivals->span / bin_width(least)), 1);
    arrivals->bins = (unsigned)fmin(bins, BLI_FIT_BINS);
    arrivals->width = arrivals->span / arrivals->bins;
}

/* Under a load that varies as sin(2 pi t / day) the change from one window w to the next adds about
 * 2e-9 rate w^3 to the dispersion. */
static const double trend_max = 1e7;

/* Windows of powers of ten seconds, longer than what was measured, in which there are jobs but no trend. */
static void choose_scales(double resolution, struct bli_fit_arrivals *arrivals) {
    for (int power = -6; power <= 2 && arrivals->scales < BLI_FIT_SCALES; power++) {
        const double window = pow(10, power), rate = arrivals->rate;
        if (window >= 2 * resolution && window <= arrivals->span / 100 && rate * window >= 0.3 &&
            rate * window * window * window <= trend_max)
            arrivals->scale[arrivals->scales++] = (struct bli_fit_scale){.window = window};
    }
}

/* Third factorial cumulant of the counts of windows, from blocks of so many: a rate that varies slowly does
 * not matter within one. */
struct rate_block {
    uint64_t windows, blocks;
    double sum, squares, cubes, total; /* total: of all blocks that are full */
};
enum { BLOCK = 32 };

/* The unbiased estimators of cumulants (Fisher 1929): k3 - 3 k2 + 2 k1 has mean 0 for Poisson counts. */
static void close_block(struct rate_block *block) {
    const double n = BLOCK, mean = block->sum / n;
    const double second_moment = block->squares - n * mean * mean;
    const double third_moment = block->cubes - 3 * mean * block->squares + 2 * n * mean * mean * mean;
    block->total += n * third_moment / ((n - 1) * (n - 2)) - 3 * second_moment / (n - 1) + 2 * mean;
    *block = (struct rate_block){.blocks = block->blocks + 1, .total = block->total};
}

static void add_window(struct rate_block *block, double count) {
    block->sum += count;
    block->squares += count * count;
    block->cubes += count * count * count;
    if (++block->windows == BLOCK)
        close_block(block);
}

static void add_empty_windows(struct rate_block *block, uint64_t windows) {
    for (; windows > 0 && block->windows > 0; windows--)
        add_window(block, 0);
    block->blocks += windows / BLOCK;
    block->windows = windows % BLOCK;
}

/* Counts windows of one length as time goes by. */
struct counter {
    double length; /* nanoseconds */
    uint64_t index, now, before;
    uint64_t differences;
    double squares; /* of the differences between neighbours */
    struct rate_block block;
};

/* Ends the windows before the one with that index. */
static void close_windows(struct counter *counter, uint64_t index) {
    while (counter->index < index) {
        if (counter->now == 0 && counter->before == 0 && counter->index > 0) {
            counter->differences += index - counter->index; /* nothing happens until then */
            add_empty_windows(&counter->block, index - counter->index);
            counter->index = index;
            return;
        }
        if (counter->index > 0) {
            const double difference = (double)counter->now - (double)counter->before;
            counter->squares += difference * difference;
            counter->differences++;
        }
        add_window(&counter->block, (double)counter->now);
        counter->before = counter->now;
        counter->now = 0;
        counter->index++;
    }
}

static void count_arrival(struct counter *counter, double since) {
    close_windows(counter, (uint64_t)(since / counter->length));
    counter->now++;
}

/* For a Poisson process with m jobs a window the squares of neighbouring differences have mean 2m, variance
 * 2m + 8m^2 and covariance m + 2m^2 with the next one. */
static void compute_dispersion(const struct counter *counter, double rate, struct bli_fit_scale *scale) {
    const double m = rate * scale->window, n = (double)counter->differences;
    scale->windows = counter->differences + 1;
    scale->dispersion = counter->squares / n / (2 * m);
    scale->error = sqrt((3 + 1 / m) / n);
    scale->third = counter->block.blocks ? counter->block.total / (double)counter->block.blocks : 0;
}

static enum bli_fit_flow flow_of(const struct bli_fit_arrivals *arrivals) {
    enum bli_fit_flow flow = arrivals->scales ? BLI_FIT_POISSON : BLI_FIT_UNKNOWN;
    double furthest = 0;
    for (unsigned i = 0; i < arrivals->scales; i++) {
        const double excess = arrivals->scale[i].dispersion - 1;
        if (fabs(excess) < fmax(4 * arrivals->scale[i].error, 0.1) || fabs(excess) < furthest)
            continue;
        furthest = fabs(excess);
        flow = excess > 0 ? BLI_FIT_BURSTY : BLI_FIT_REGULAR;
    }
    return flow;
}

/* To so many parts of 1, so that few digits are printed. */
static double round_to_parts(double value, double parts) {
    return rint(value * parts) / parts;
}

/* Linear between the middles of the bins and constant outside, the curve has as many arrivals as the log in
 * all: what a straight line takes from one of two neighbours it gives to the other. */
static void draw_curve(struct bli_fit_arrivals *arrivals, double noise) {
    const double bins = arrivals->bins, mean = arrivals->rate * arrivals->width;
    double squares = 0;
    for (unsigned i = 0; i < arrivals->bins; i++)
        squares += ((double)arrivals->count[i] - mean) * ((double)arrivals->count[i] - mean) / (noise * mean);
    /* chi-square with bins - 1 degrees of freedom if the rate is constant */
    if (bins < BINS_MIN || squares < bins - 1 + 4 * sqrt(2 * (bins - 1)))
        return;
    struct bli_curve *curve = &arrivals->curve;
    const double parts = arrivals->width > 1 ? 1e3 : 1e6;
    const unsigned last = arrivals->bins;
    *curve = (struct bli_curve){.kind = BLI_CURVE_TABLE, .points = last + 1};
    for (unsigned i = 0; i < last; i++) {
        curve->time[i] = round_to_parts((i + 0.5) * arrivals->width, parts);
        curve->factor[i] = round_to_parts((double)arrivals->count[i] / mean, 1e6);
    }
    curve->time[last] = ceil(arrivals->span * parts) / parts; /* how long it is true */
    curve->factor[last] = curve->factor[last - 1];
}

static void count_bin(struct bli_fit_arrivals *arrivals, double since) {
    const double bin = since / second / arrivals->width;
    arrivals->count[bin < arrivals->bins ? (unsigned)bin : arrivals->bins - 1]++;
}

static enum bal_code read_jobs(const struct bli_trace *trace, const volatile int *stop,
                               struct bli_fit_sample *sample, struct bli_fit_arrivals *arrivals,
                               struct counter *counter, struct bal_error *err) {
    const int64_t first = bli_trace_info(trace)->first;
    struct bli_trace_cursor *cursor;
    enum bal_code code = bli_trace_cursor_new(trace, &cursor, err);
    if (code)
        return code;
    struct bli_trace_job job;
    while (!(code = bli_trace_next(cursor, &job, err)) && job.size > 0) {
        const double since = (double)(job.time - first);
        count_bin(arrivals, since);
        for (unsigned i = 0; i < arrivals->scales; i++)
            count_arrival(&counter[i], since);
        bli_fit_sample_add(sample, job.size);
        if (stop && *stop) {
            code = bal_fail(err, BAL_E_STOPPED, "stopped");
            break;
        }
    }
    bli_trace_cursor_free(cursor);
    return code;
}

/* Counts again in bins that are wide enough for bursts to level out. */
static enum bal_code widen_bins(const struct bli_trace *trace, double noise, const volatile int *stop,
                                struct bli_fit_arrivals *arrivals, struct bal_error *err) {
    const int64_t first = bli_trace_info(trace)->first;
    struct bli_trace_cursor *cursor;
    enum bal_code code = bli_trace_cursor_new(trace, &cursor, err);
    if (code)
        return code;
    choose_bins(bli_trace_info(trace), noise, arrivals);
    memset(arrivals->count, 0, sizeof arrivals->count);
    struct bli_trace_job job;
    while (!(code = bli_trace_next(cursor, &job, err)) && job.size > 0 && !(stop && *stop))
        count_bin(arrivals, (double)(job.time - first));
    bli_trace_cursor_free(cursor);
    return !code && stop && *stop ? bal_fail(err, BAL_E_STOPPED, "stopped") : code;
}

enum bal_code bli_fit_trace(const struct bli_trace *trace, double resolution, const volatile int *stop,
                            struct bli_fit_sample *sample, struct bli_fit_arrivals *arrivals,
                            struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(trace);
    if (!(info->span > 0))
        return bal_fail(err, BAL_E_MODEL,
                        "all jobs arrive at the same moment, which tells no rate; a longer log is needed");
    *arrivals = (struct bli_fit_arrivals){
        .span = info->span, .resolution = resolution, .rate = (double)info->jobs / info->span};
    choose_bins(info, 1, arrivals);
    choose_scales(resolution, arrivals);
    struct counter counter[BLI_FIT_SCALES] = {{0}};
    for (unsigned i = 0; i < arrivals->scales; i++)
        counter[i].length = arrivals->scale[i].window * second;
    enum bal_code code = read_jobs(trace, stop, sample, arrivals, counter, err);
    if (code)
        return code;
    for (unsigned i = 0; i < arrivals->scales; i++)
        compute_dispersion(&counter[i], arrivals->rate, &arrivals->scale[i]);
    arrivals->flow = flow_of(arrivals);
    bli_fit_bursts(arrivals);
    const double noise = bli_fit_bursts_noise(arrivals);
    if (noise > 1)
        code = widen_bins(trace, noise, stop, arrivals, err);
    draw_curve(arrivals, noise);
    bli_fit_bursts_choose(arrivals, arrivals->curve.kind != BLI_CURVE_CONSTANT);
    return code;
}
