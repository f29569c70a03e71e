/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fluid models whose state is s_1, s_2, .. alone have in common. */
#ifndef BALLAST_THEORY_FLUID_LEVELS_H
#define BALLAST_THEORY_FLUID_LEVELS_H

#include "ballast/error.h"

#include <stddef.h>

/* Is 1 >= s_1 >= .. >= s_n >= 0? */
enum bal_code bli_fluid_levels_check(const char *model, const double *s, size_t n, struct bal_error *err);

#endif
