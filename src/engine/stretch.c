/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of how many times as long jobs take that share a server. */
#include "engine/stretch.h"

#include <stdlib.h>

enum bal_code bli_stretch_init(struct stretch *stretch, const struct bli_speeds *speeds) {
    if (!bli_speeds_given(speeds))
        return BAL_OK;
    const uint32_t last = bli_speeds_last(speeds);
    stretch->of = malloc((last + 1) * sizeof *stretch->of);
    if (!stretch->of)
        return BAL_E_MEMORY;
    stretch->known = last + 1;
    stretch->of[0] = 1;
    for (uint32_t k = 1; k <= last; k++)
        stretch->of[k] = k / bli_speeds_rate(speeds, k);
    stretch->each_more = 1 / bli_speeds_rate(speeds, last);
    return BAL_OK;
}

void bli_stretch_fini(struct stretch *stretch) {
    free(stretch->of);
}
