/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that was too short for an answer.
 *
 * A function that returns a number returns NaN where none is known, and has no other way to report that
 * memory was short. It records that here for the whole process; code that shows or stores results checks
 * it. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>

void bli_memory_lose(void);
bool bli_memory_is_lost(void);

#endif
