/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the outcomes of requests. */
#ifndef LOAD_REQUEST_TALLY_H
#define LOAD_REQUEST_TALLY_H

#include "load/schedule.h"

struct request_tally {
    const struct bli_load *load;
    struct bli_load_result *result;
    double block;                                        /* its length in seconds */
    double sum[BLI_LOAD_BLOCKS], count[BLI_LOAD_BLOCKS]; /* of good answers, by the intended time */
    uint64_t failed;
};

void bli_load_tally_begin(struct request_tally *tally, const struct bli_load *load,
                          struct bli_load_result *result, double expected);
/* The request was answered at `now`. Returns false without memory. */
bool bli_load_tally_answer(struct request_tally *tally, const struct load_request *request, int status,
                           double now);
void bli_load_tally_error(struct request_tally *tally, const struct load_request *request,
                          enum bli_load_error error, double now);
void bli_load_tally_late(struct request_tally *tally, double late);
void bli_load_tally_close(struct request_tally *tally);

#endif
