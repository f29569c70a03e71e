/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrivals as bursty as a log, fitted to the dispersion of its counts. */
#ifndef WORKLOAD_FIT_BURSTS_H
#define WORKLOAD_FIT_BURSTS_H

#include "ballast/fit.h"

/* Fits in every way, if the flow is bursty; rate, scales and flow are known. */
void bli_fit_bursts(struct bli_fit_arrivals *arrivals);

/* Chooses the one with the least misfit, 4 being added for each parameter. curved:
 * there is a curve, which renewal processes do not follow. */
void bli_fit_bursts_choose(struct bli_fit_arrivals *arrivals, bool curved);

/* Dispersion of the counts of long windows: by how much chance moves them more than those of a Poisson
 * process. That of the fit with the least misfit. */
double bli_fit_bursts_noise(const struct bli_fit_arrivals *arrivals);

#endif
