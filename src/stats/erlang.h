/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of which only the number of events of a Poisson process in them is known. */
#ifndef STATS_ERLANG_H
#define STATS_ERLANG_H

#include "ballast/stats.h"

enum { BLI_ERLANG_OCTAVES = 30 }; /* there are fewer events than 2 to this power */

/* From numbers of events, at least 1 each, to the times that they take at that rate: a histogram with as many
 * values below each edge as are expected there, to the nearest whole number, and as many in all. Less than a
 * millisecond. */
void bli_erlang_mix(struct bli_histogram *events, double rate);

#endif
