/* SPDX-License-Identifier: BSD-2-Clause */
/* Closeness of numbers. Include after <cmocka.h>. */
#ifndef BALLAST_TESTS_CLOSE_H
#define BALLAST_TESTS_CLOSE_H

#include <math.h>
#include <stdbool.h>

static inline bool within(double value, double wanted, double error) {
    return value == wanted || fabs(value - wanted) <= error;
}

/* |value - wanted| <= error |wanted|; equal infinities are close, a NaN is close to nothing. */
#define assert_close(value, wanted, error)                                                                   \
    do {                                                                                                     \
        const double value_ = (double)(value), wanted_ = (double)(wanted);                                   \
        if (!within(value_, wanted_, (error)*fabs(wanted_)))                                                 \
            fail_msg("%s = %.17g, wanted %.17g", #value, value_, wanted_);                                   \
    } while (0)

#define assert_nan(value)                                                                                    \
    do {                                                                                                     \
        const double value_ = (value);                                                                       \
        if (!isnan(value_))                                                                                  \
            fail_msg("%s = %.17g, wanted NAN", #value, value_);                                              \
    } while (0)

#endif
