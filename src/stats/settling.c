/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a queue still on its way from where it began?
 *
 * Two signs, because each is blind where the other sees. The drift is a difference between two parts of what
 * was measured: it sees a slow climb that fills the whole run, as from an idle fleet of many servers, and the
 * end of a fast one, but a change that is long over, yet was not cut, is small in it. MSER-5 looks at the
 * shape of a whole run and finds just that, as long as it is not more than half of it. */
#include "ballast/stats.h"

#include <math.h>

static const double drift_confidence = 0.998;
static const double settled_cut = 0.2; /* twice what MSER-5 takes of a settled run on average */

bool bli_is_settling(struct bli_estimate drift, struct bli_estimate transient, double warmup, size_t n) {
    if (n < 2)
        return false;
    return fabs(drift.mean) > bli_estimate_half_width(drift, n, drift_confidence) ||
           transient.mean - transient.half_width > fmax(warmup, settled_cut);
}
