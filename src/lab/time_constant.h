/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast the fleet of a case forgets how it began. */
#ifndef LAB_TIME_CONSTANT_H
#define LAB_TIME_CONSTANT_H

#include "ballast/lab.h"

/* A mean over fewer time constants is far from normal. */
enum { BLI_TIME_CONSTANTS_MIN = 10 };

/* result: what was measured of the case, which keeps it as `settling`; its queues may show that it is faster
 * than the slowest. NULL: nothing. */
struct bli_time_constant bli_time_constant_of(const struct bli_case *c, const struct bli_result *result);

/* How long servers take to go off and to come back; 0: they do not. */
double bli_switching_time(const struct bli_case *c);

#endif
