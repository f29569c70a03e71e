/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocates large arrays at cache line boundaries, on huge pages where the system grants them. */
#include "engine/cacheline_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21, LARGE = HUGE_PAGE / 2 };

void *bli_cacheline_alloc(size_t count, size_t size) {
    if (size && count > (SIZE_MAX / 2 - HUGE_PAGE) / size)
        return NULL;
    const size_t bytes = count * size;
    const size_t unit = bytes >= LARGE ? HUGE_PAGE : BLI_CACHELINE;
    const size_t whole = (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, whole);
    if (!memory)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= LARGE)
        madvise(memory, whole, MADV_HUGEPAGE); /* a hint: without them it is slower and not wrong */
#endif
    return memset(memory, 0, bytes);
}
