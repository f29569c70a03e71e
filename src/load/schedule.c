/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws or reads the times at which requests are sent. */
#include "load/schedule.h"

#include <math.h>

enum bal_code bli_load_schedule_init(struct schedule *schedule, const struct bli_load *load,
                                     struct bal_error *err) {
    *schedule = (struct schedule){.load = load, .err = err};
    struct bal_rng arrivals;
    bal_rng_init(&arrivals, load->seed, load->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&schedule->thinning, load->seed, load->replication, BAL_STREAM_THINNING);
    bal_rng_init(&schedule->classes, load->seed, load->replication, BAL_STREAM_CLASSES);
    bal_rng_init(&schedule->sizes, load->seed, load->replication, BAL_STREAM_SIZES);
    bal_rng_init(&schedule->targets, load->seed, load->replication, BAL_STREAM_NETWORK);
    schedule->expected = load->seconds > 0 ? load->seconds : INFINITY;
    for (size_t i = 0; i < load->urls; i++)
        schedule->weights += load->weight[i];
    if (load->trace) {
        schedule->expected = fmin(schedule->expected, bli_trace_info(load->trace)->span / load->speedup);
        return bli_trace_cursor_new(load->trace, &schedule->cursor, err);
    }
    const double most = bli_curve_max(&load->curve);
    schedule->per_max = 1 / most;
    bli_arrival_source_init(&schedule->source, &load->arrivals, 1 / (load->rate * most), &arrivals);
    if (load->requests > 0)
        schedule->expected = fmin(schedule->expected, (double)load->requests / load->rate);
    return BAL_OK;
}

void bli_load_schedule_fini(struct schedule *schedule) {
    bli_trace_cursor_free(schedule->cursor);
}

static unsigned draw_class(struct schedule *schedule) {
    const struct bli_load *load = schedule->load;
    if (load->classes < 2)
        return 0;
    double left = bal_rng_uniform(&schedule->classes);
    unsigned class_ = 0;
    while (class_ + 1 < load->classes && left >= load->class_[class_].share)
        left -= load->class_[class_++].share;
    return class_;
}

static unsigned draw_target(struct schedule *schedule) {
    const struct bli_load *load = schedule->load;
    if (schedule->weights <= 0)
        return bal_rng_below(&schedule->targets, (uint32_t)load->urls);
    double left = schedule->weights * bal_rng_uniform(&schedule->targets);
    unsigned target = 0, last = 0;
    for (; target < load->urls; target++) {
        if (load->weight[target] <= 0)
            continue;
        last = target;
        if (left < load->weight[target])
            break;
        left -= load->weight[target];
    }
    return last;
}

/* Is the arrival that was drawn a real one? Where the rate varies, those of the largest rate are thinned,
 * batches as a whole. */
static bool is_real(struct schedule *schedule) {
    const struct bli_curve *curve = &schedule->load->curve;
    if (curve->kind == BLI_CURVE_CONSTANT || !schedule->source.first ||
        bal_rng_uniform(&schedule->thinning) < bli_curve_at(curve, schedule->now) * schedule->per_max)
        return true;
    bli_arrival_source_drop(&schedule->source);
    return false;
}

static void draw_request(struct schedule *schedule, struct load_request *request) {
    const struct bli_load *load = schedule->load;
    do
        schedule->now = bli_arrival_source_next(&schedule->source, schedule->now);
    while (!is_real(schedule) && (load->seconds <= 0 || schedule->now < load->seconds));
    request->time = schedule->now;
    request->class_ = draw_class(schedule);
    request->recorded = 0;
    request->service = load->service ? 1e6 * bli_dist_sample(load->service, &schedule->sizes) : NAN;
}

static bool read_trace(struct schedule *schedule, struct load_request *request) {
    const struct bli_load *load = schedule->load;
    struct bli_trace_job job;
    schedule->code = bli_trace_next(schedule->cursor, &job, schedule->err);
    if (schedule->code || job.size == 0)
        return false;
    request->time = 1e-9 * (double)(job.time - bli_trace_info(load->trace)->first) / load->speedup;
    request->service = 1e-3 * (double)job.size;
    request->class_ = load->recorded ? !job.high : draw_class(schedule);
    request->recorded = job.request;
    return true;
}

bool bli_load_schedule_next(struct schedule *schedule, struct load_request *request) {
    const struct bli_load *load = schedule->load;
    if (load->requests > 0 && schedule->number == load->requests)
        return false;
    if (load->trace) {
        if (!read_trace(schedule, request))
            return false;
    } else {
        draw_request(schedule, request);
    }
    if (load->seconds > 0 && request->time >= load->seconds)
        return false;
    request->resent = false;
    request->number = schedule->number++;
    request->target = draw_target(schedule);
    return true;
}
