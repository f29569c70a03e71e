/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of logs, in whole nanoseconds. All arithmetic is in integers: a number keeps all its digits, and
 * the result is the same on every machine. */
#ifndef LOG_DECIMAL_H
#define LOG_DECIMAL_H

#include "log/span.h"

#include <stdint.h>

/* digits x 10^exponent */
struct bli_log_decimal {
    uint64_t digits; /* the first 19 that count; what follows them is dropped */
    int exponent;
};

/* Powers of ten of nanoseconds. */
enum { BLI_LOG_NS = 0, BLI_LOG_US = 3, BLI_LOG_MS = 6, BLI_LOG_S = 9, BLI_LOG_UNIT_OPEN = -1 };

/* How lengths of time are written. */
struct bli_log_scale {
    int unit;   /* of a number that has none of its own */
    bool comma; /* between whole and fraction there is a comma: 0,25 */
    bool list;  /* there may be several, as nginx writes tries: "0.010, 0.020 : 0.500" */
};

/* Reads digits, a fraction behind the point and an exponent ("12", "0.5", ".5", "5e-05") from text up to end.
 * Returns where they end, or NULL when there is no number. Signs are not allowed. */
const char *bli_log_decimal_read(const char *text, const char *end, char point,
                                 struct bli_log_decimal *decimal);

/* The decimal times 10^power, to the nearest whole number; false when that is 2^62 or more. */
bool bli_log_decimal_scale(const struct bli_log_decimal *decimal, int power, int64_t *value);

/* A length of time: a number in the given unit or with one of its own ("12ms", "0.5s", "1m2.5s"). For a list
 * of tries it is the sum; "-" is a try without an answer. False when there is no such time, as for "-", ""
 * and "-1". *step is the unit of the last digit, the finest one if there are several. */
bool bli_log_duration_read(struct bli_log_span span, struct bli_log_scale scale, int64_t *nanoseconds,
                           int64_t *step);

#endif
