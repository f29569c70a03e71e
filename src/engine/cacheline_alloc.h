/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for large arrays that are looked at here and there: it begins at a cache line, and from a few
 * megabytes on it lies on huge pages, if the system grants them. With small ones each look takes a second
 * miss, for the address of the page. */
#ifndef ENGINE_CACHELINE_ALLOC_H
#define ENGINE_CACHELINE_ALLOC_H

#include <stddef.h>

enum { BLI_CACHELINE = 64 };

/* Zeroed memory for count things of a size; NULL when there is none. Given back by free(). */
void *bli_cacheline_alloc(size_t count, size_t size);

#endif
