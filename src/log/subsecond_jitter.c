/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws moments within a second for log lines that give whole seconds only. */
#include "log/subsecond_jitter.h"

#include <stdlib.h>

void bli_log_subsecond_fini(struct bli_log_subsecond *held) {
    free(held->record);
    free(held->moment);
    *held = (struct bli_log_subsecond){0};
}

enum bal_code bli_log_subsecond_add(struct bli_log_subsecond *held, int64_t second,
                                    const struct bli_log_record *record, struct bal_error *err) {
    if (held->count == held->room) {
        const size_t room = held->room ? 2 * held->room : 256;
        struct bli_log_record *records = realloc(held->record, room * sizeof *records);
        if (records)
            held->record = records;
        double *moments = realloc(held->moment, room * sizeof *moments);
        if (moments)
            held->moment = moments;
        if (!records || !moments)
            return bal_fail(err, BAL_E_MEMORY, "not enough memory for the %zu lines of a second", room);
        held->room = room;
    }
    held->second = second;
    held->record[held->count++] = *record;
    return BAL_OK;
}

/* n uniform moments in order are the first n partial sums of n + 1 exponential gaps over the sum of all. */
void bli_log_subsecond_draw(struct bli_log_subsecond *held, struct bal_rng *rng) {
    double sum = 0;
    for (size_t i = 0; i < held->count; i++)
        held->moment[i] = sum += bal_rng_exp(rng);
    sum += bal_rng_exp(rng);
    for (size_t i = 0; i < held->count; i++) {
        struct bli_trace_job *job = &held->record[i].job;
        const double drawn = held->moment[i] / sum * BLI_TRACE_STEP;
        job->spread = true;
        job->drawn = drawn < BLI_TRACE_STEP - 1 ? (uint32_t)drawn : BLI_TRACE_STEP - 1;
        job->time += job->drawn;
    }
}
