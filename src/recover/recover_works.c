/* SPDX-License-Identifier: BSD-2-Clause */
/* From times at servers to work, where servers have speeds that depend on the number in service. */
#include "ballast/speeds_fit.h"

#include <math.h>
#include <stdlib.h>

/* What servers are taken for, as the log says. */
static enum bal_code find_speeds(const struct bli_trace *logged, const volatile int *stop,
                                 struct bli_speeds_recovery *s, struct bal_error *err) {
    const enum bal_code code = bli_speeds_fit(logged, stop, &s->fit, err);
    s->speeds = s->fit.candidate[s->fit.best].speeds;
    s->slots = s->fit.candidate[s->fit.best].slots;
    return code;
}

/* What is left to say when works stand in place of times. */
static enum bal_code describe_works(const struct bli_trace *works, const struct bli_speeds_recovery *s,
                                    struct bli_recovery *r, struct bal_error *err) {
    struct bli_histogram *sizes = calloc(1, sizeof *sizes);
    struct bli_trace_cursor *cursor = NULL;
    struct bli_trace_job job;
    const double mean = bli_trace_info(works)->size_mean;
    enum bal_code code =
        sizes ? bli_trace_cursor_new(works, &cursor, err) : bal_fail(err, BAL_E_MEMORY, "not enough memory");
    while (!code && !(code = bli_trace_next(cursor, &job, err)) && job.size > 0)
        bli_histogram_add(sizes, (double)job.size * 1e-9 / mean);
    if (!code) {
        const bool shared = r->servers > 0 && !s->computed; /* as --speeds says */
        r->times = shared ? BLI_TIMES_SHARED : BLI_TIMES_SERVICE;
        r->service_mean = mean;
        r->service_p99 = mean * bli_histogram_quantile(sizes, 0.99);
        r->share = (struct bli_estimate){s->computed ? 0 : 1 - mean / r->logged_mean, NAN};
        r->slots = r->slots_low = r->slots_high = s->slots;
        r->slots_open = r->slots_told = false;
        r->overtaking = r->dependence = r->logged_load = r->service_load = NAN; /* were of slots */
    }
    bli_trace_cursor_free(cursor);
    free(sizes);
    return code;
}

enum bal_code bli_recover_works(const struct bli_trace *logged, const struct bli_recover_options *how,
                                struct bli_speeds_recovery *speeds, struct bli_trace **works,
                                struct bli_recovery *recovery, struct bal_error *err) {
    struct bli_recover_options look = *how;
    struct bli_trace *kept = NULL;
    look.keep = true;
    *works = NULL;
    enum bal_code code = speeds->found ? find_speeds(logged, how->stop, speeds, err) : BAL_OK;
    if (!code && !speeds->computed)
        code = bli_speeds_recover(logged, &speeds->speeds, speeds->slots, how->stop, works, err);
    if (!code)
        code = bli_recover(logged, &look, &kept, recovery, err);
    if (!code && speeds->computed)
        *works = kept;
    else
        bli_trace_free(kept);
    if (!code)
        code = describe_works(*works ? *works : logged, speeds, recovery, err);
    if (code) {
        bli_trace_free(*works);
        *works = NULL;
    }
    return code;
}
