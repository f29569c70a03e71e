/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of a log for a first guess: stretches of it, spread over the whole, so that quiet and busy hours are
 * in it as they are in the log. Queues begin each stretch as they ended the previous one, so that a stretch
 * must be long compared with the times that are wanted. */
#include "study/replay_try.h"

#include <math.h>

enum {
    STRETCHES_MIN = 4,
    STRETCHES_MAX = BLI_REPLAY_SPANS,
    TIMES_LONGER = 10, /* than the wanted time is a stretch, if the log is long enough */
};

/* Of each of so many equal periods one stretch, not always the same of it, so that what goes on in the rhythm
 * of the periods is not overlooked. */
struct stretches {
    int64_t first; /* of the log, in nanoseconds */
    double period, length;
};

static struct stretches stretches_of(const struct bli_replay *replay, double part) {
    const struct bli_trace_info *info = bli_trace_info(replay->trace);
    const double span = 1e9 * info->span, wanted = 1e9 * replay->target->seconds * replay->speedup;
    const double fit = floor(part * span / (TIMES_LONGER * wanted));
    const double count = fmin(fmax(fit, STRETCHES_MIN), STRETCHES_MAX);
    return (struct stretches){info->first, span / count, part * span / count};
}

/* Where that time is in the sample, in nanoseconds from its start; NaN: it is not in it. `before` is what is
 * in the sample until then. */
static double sample_position(const struct stretches *stretches, double after, double *before) {
    const double golden = 0.6180339887498949, number = floor(after / stretches->period);
    const double phase = number * golden - floor(number * golden);
    const double begins = number * stretches->period + phase * (stretches->period - stretches->length);
    const double within = after - begins;
    *before = number * stretches->length + fmin(fmax(within, 0), stretches->length);
    return within >= 0 && within < stretches->length ? *before : NAN;
}

enum bal_code bli_replay_next(struct bli_trace_cursor *cursor, uint64_t done, const volatile int *stop,
                              struct bli_trace_job *job, struct bal_error *err) {
    enum { STRIDE = 65536 }; /* jobs between two looks at stop */
    if (done % STRIDE == 0 && stop && *stop)
        return bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    return bli_trace_next(cursor, job, err);
}

static enum bal_code copy_stretches(const struct bli_trace *from, const struct stretches *stretches,
                                    const volatile int *stop, struct bli_trace *to, struct bal_error *err) {
    struct bli_trace_cursor *cursor;
    enum bal_code code = bli_trace_cursor_new(from, &cursor, err);
    for (uint64_t done = 0; !code; done++) {
        struct bli_trace_job job;
        double before;
        code = bli_replay_next(cursor, done, stop, &job, err);
        if (code || job.size == 0)
            break;
        const double place =
            sample_position(stretches, (double)((uint64_t)job.time - (uint64_t)stretches->first), &before);
        if (isnan(place))
            continue;
        job.time = (int64_t)place;
        code = bli_trace_add(to, &job, err);
    }
    bli_trace_cursor_free(cursor);
    return code;
}

enum bal_code bli_replay_sample(const struct bli_replay *replay, double part, const volatile int *stop,
                                struct bli_replay *sample, struct bli_trace **trace, struct bal_error *err) {
    const struct stretches stretches = stretches_of(replay, part);
    enum bal_code code = bli_trace_new(NULL, trace, err);
    if (code)
        return code;
    code = copy_stretches(replay->trace, &stretches, stop, *trace, err);
    if (!code)
        code = bli_trace_finish(*trace, stop, err);
    if (code) {
        bli_trace_free(*trace);
        *trace = NULL;
        return code;
    }
    *sample = *replay;
    sample->trace = *trace;
    sample->replications = 1;
    sample->measured = NULL;
    sample_position(&stretches, 1e9 * replay->fail_at, &sample->fail_at);
    sample->fail_at /= 1e9;
    return BAL_OK;
}
