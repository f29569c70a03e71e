/* SPDX-License-Identifier: BSD-2-Clause */
/* For logs that give the end of a request in whole seconds, with lines in the order of the ends: the records
 * of a second get random moments within it, in that order. */
#ifndef LOG_SUBSECOND_JITTER_H
#define LOG_SUBSECOND_JITTER_H

#include "ballast/log.h"
#include "ballast/random.h"

struct bli_log_subsecond {
    struct bli_log_record *record; /* of the second at hand */
    double *moment;
    size_t count, room;
    int64_t second;
};

/* Begins as all zero bytes. */
void bli_log_subsecond_fini(struct bli_log_subsecond *held);

/* All records of one second have the same time. Records of another second must have been removed. */
enum bal_code bli_log_subsecond_add(struct bli_log_subsecond *held, int64_t second,
                                    const struct bli_log_record *record, struct bal_error *err);
static inline bool bli_log_subsecond_is_over(const struct bli_log_subsecond *held, int64_t second) {
    return held->count > 0 && held->second != second;
}

/* Draws the moments of all records, whose times were the beginning of the second. They stay in
 * record[0..count) until the next one is added. */
void bli_log_subsecond_draw(struct bli_log_subsecond *held, struct bal_rng *rng);

#endif
