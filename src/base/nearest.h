/* SPDX-License-Identifier: BSD-2-Clause */
/* "Did you mean ...?": the known name that a misspelt one is nearest to. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* Begin with {.text = ..., .length = ...}, offer the names one by one, and read name: NULL if none is near.
 */
struct bli_nearest {
    const char *text;
    size_t length;
    const char *name;
    size_t distance; /* of name: letters to insert, drop, replace or swap with their neighbour */
};

void bli_nearest_offer(struct bli_nearest *nearest, const char *name);

#endif
