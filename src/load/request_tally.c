/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts responses and errors of requests, in blocks of their intended time. */
#include "load/request_tally.h"

#include <math.h>
#include <stdlib.h>

const char *const bal_load_error_text[BAL_LOAD_ERRORS] = {
    "refused", "no connection", "closed", "malformed", "time-out", "never sent",
};

void bal_load_tally_begin(struct request_tally *tally, const struct bal_load *load,
                          struct bal_load_result *result, double expected) {
    *tally = (struct request_tally){.load = load, .result = result, .block = expected / BAL_LOAD_BLOCKS};
}

static void add_time(struct bal_load_times *times, double seconds) {
    times->count++;
    times->sum += seconds;
    times->most = seconds > times->most ? seconds : times->most;
    bal_histogram_add(&times->histogram, seconds);
}

static void add_to_block(struct request_tally *tally, double time, double latency) {
    const double place = tally->block > 0 ? time / tally->block : 0;
    const unsigned block = place < BAL_LOAD_BLOCKS ? (unsigned)place : BAL_LOAD_BLOCKS - 1;
    tally->sum[block] += latency;
    tally->count[block]++;
}

static void report_outcome(const struct request_tally *tally, const struct load_request *request, int status,
                           enum bal_load_error error, double now) {
    if (!tally->load->outcome)
        return;
    const struct bal_load_outcome outcome = {.time = request->time,
                                             .ended = now,
                                             .number = request->number,
                                             .target = (unsigned)request->target,
                                             .class_ = request->class_,
                                             .resent = request->resent,
                                             .status = status,
                                             .error = error};
    tally->load->outcome(tally->load->context, &outcome);
}

bool bal_load_tally_answer(struct request_tally *tally, const struct load_request *request, int status,
                           double now) {
    struct bal_load_result *result = tally->result;
    const double latency = now - request->time;
    if (!result->status[status])
        result->status[status] = calloc(1, sizeof *result->status[status]);
    if (!result->status[status])
        return false;
    add_time(result->status[status], latency);
    report_outcome(tally, request, status, BAL_LOAD_ERRORS, now);
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

void bal_load_tally_error(struct request_tally *tally, const struct load_request *request,
                          enum bal_load_error error, double now) {
    report_outcome(tally, request, 0, error, now);
    tally->result->error[error]++;
    tally->result->failed[request->class_]++;
    tally->failed++;
}

void bal_load_tally_late(struct request_tally *tally, double late) {
    add_time(&tally->result->late, late > 0 ? late : 0);
}

/* Empty blocks are left out. */
void bal_load_tally_close(struct request_tally *tally) {
    for (unsigned i = 0; i < BAL_LOAD_BLOCKS; i++)
        if (tally->count[i] == 0)
            tally->sum[i] = NAN;
    tally->result->mean = bal_estimate_ratio(tally->sum, tally->count, BAL_LOAD_BLOCKS);
}

void bal_load_result_fini(struct bal_load_result *result) {
    for (unsigned i = 0; i < BAL_LOAD_STATUSES; i++)
        free(result->status[i]);
}
