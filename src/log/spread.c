#include "log/spread.h"

#include <stdlib.h>

void bal_log_spread_fini(struct bal_log_spread *spread) {
    free(spread->record);
    free(spread->moment);
    *spread = (struct bal_log_spread){0};
}

enum bal_code bal_log_spread_add(struct bal_log_spread *spread, int64_t second,
                                 const struct bal_log_record *record, struct bal_error *err) {
    if (spread->count == spread->room) {
        const size_t room = spread->room ? 2 * spread->room : 256;
        struct bal_log_record *records = realloc(spread->record, room * sizeof *records);
        if (records)
            spread->record = records;
        double *moments = realloc(spread->moment, room * sizeof *moments);
        if (moments)
            spread->moment = moments;
        if (!records || !moments)
            return bal_fail(err, BAL_E_MEMORY, "not enough memory for the %zu lines of a second", room);
        spread->room = room;
    }
    spread->second = second;
    spread->record[spread->count++] = *record;
    return BAL_OK;
}

/* n uniform moments in order are the first n partial sums of n + 1 exponential gaps over the sum of all. */
void bal_log_spread_draw(struct bal_log_spread *spread, struct bal_rng *rng) {
    double sum = 0;
    for (size_t i = 0; i < spread->count; i++)
        spread->moment[i] = sum += bal_rng_exp(rng);
    sum += bal_rng_exp(rng);
    for (size_t i = 0; i < spread->count; i++) {
        struct bal_trace_job *job = &spread->record[i].job;
        const double drawn = spread->moment[i] / sum * BAL_TRACE_STEP;
        job->spread = true;
        job->drawn = drawn < BAL_TRACE_STEP - 1 ? (uint32_t)drawn : BAL_TRACE_STEP - 1;
        job->time += job->drawn;
    }
}
