/* SPDX-License-Identifier: BSD-2-Clause */
/* Remembers, for the whole process, that an allocation failed where only a NaN could be returned. */
#include "base/memory.h"

#include <stdatomic.h>

static atomic_bool lost;

void bli_memory_lose(void) {
    lost = true;
}

bool bli_memory_is_lost(void) {
    return lost;
}
