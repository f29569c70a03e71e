/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts responses and errors of requests, in blocks of their intended time. */
#include "load/request_tally.h"

#include <math.h>
#include <stdlib.h>

const char *const bli_load_error_text[BLI_LOAD_ERRORS] = {
    "refused", "no connection", "closed", "malformed", "time-out", "never sent",
};

void bli_load_tally_begin(struct request_tally *tally, const struct bli_load *load,
                          struct bli_load_result *result, double expected) {
    *tally = (struct request_tally){.load = load, .result = result, .block = expected / BLI_LOAD_BLOCKS};
}

static void add_time(struct bli_load_times *times, double seconds) {
    times->count++;
    times->sum += seconds;
    times->most = seconds > times->most ? seconds : times->most;
    bli_histogram_add(&times->histogram, seconds);
}

static void add_to_block(struct request_tally *tally, double time, double latency) {
    const double place = tally->block > 0 ? time / tally->block : 0;
    const unsigned block = place < BLI_LOAD_BLOCKS ? (unsigned)place : BLI_LOAD_BLOCKS - 1;
    tally->sum[block] += latency;
    tally->count[block]++;
}

static void report_outcome(const struct request_tally *tally, const struct load_request *request, int status,
                           enum bli_load_error error, double now) {
    if (!tally->load->outcome)
        return;
    const struct bli_load_outcome outcome = {.time = request->time,
                                             .ended = now,
                                             .number = request->number,
                                             .target = (unsigned)request->target,
                                             .class_ = request->class_,
                                             .resent = request->resent,
                                             .status = status,
                                             .error = error};
    tally->load->outcome(tally->load->context, &outcome);
}

bool bli_load_tally_answer(struct request_tally *tally, const struct load_request *request, int status,
                           double now) {
    struct bli_load_result *result = tally->result;
    const double latency = now - request->time;
    if (!result->status[status])
        result->status[status] = calloc(1, sizeof *result->status[status]);
    if (!result->status[status])
        return false;
    add_time(result->status[status], latency);
    report_outcome(tally, request, status, BLI_LOAD_ERRORS, now);
    if (status < 400) {
        add_time(&result->good, latency);
        add_time(&result->class_[request->class_], latency);
        add_to_block(tally, request->time, latency);
    } else {
        result->failed[request->class_]++;
        tally->failed++;
    }
    return true;
}

void bli_load_tally_error(struct request_tally *tally, const struct load_request *request,
                          enum bli_load_error error, double now) {
    report_outcome(tally, request, 0, error, now);
    tally->result->error[error]++;
    tally->result->failed[request->class_]++;
    tally->failed++;
}

void bli_load_tally_late(struct request_tally *tally, double late) {
    add_time(&tally->result->late, late > 0 ? late : 0);
}

/* Empty blocks are left out. */
void bli_load_tally_close(struct request_tally *tally) {
    for (unsigned i = 0; i < BLI_LOAD_BLOCKS; i++)
        if (tally->count[i] == 0)
            tally->sum[i] = NAN;
    tally->result->mean = bli_estimate_ratio(tally->sum, tally->count, BLI_LOAD_BLOCKS);
}

void bli_load_result_fini(struct bli_load_result *result) {
    for (unsigned i = 0; i < BLI_LOAD_STATUSES; i++)
        free(result->status[i]);
}
