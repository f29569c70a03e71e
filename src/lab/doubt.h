/* SPDX-License-Identifier: BSD-2-Clause */
/* What speaks against a result. */
#ifndef LAB_DOUBT_H
#define LAB_DOUBT_H

#include "ballast/lab.h"

/* Sets doubts and precise, from everything else in it. */
void bli_result_doubt(const struct bli_case *c, struct bli_result *result);

/* Is the half-width of the mean response time as small as the case wants it? */
bool bli_result_is_narrow(const struct bli_case *c, const struct bli_result *result);

#endif
