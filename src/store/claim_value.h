/* SPDX-License-Identifier: BSD-2-Clause */
/* The value that a claim measures at one point. */
#ifndef STORE_CLAIM_VALUE_H
#define STORE_CLAIM_VALUE_H

#include "ballast/store.h"

struct bli_claim_value {
    double value, low, high;  /* low and high bound it */
    enum bli_verdict verdict; /* of BLI_MEASURE_VERDICT */
    const char *unknown;      /* why there is no value; NULL: there is one */
    unsigned doubts;          /* doubts (enum bli_doubt) about the results that it was computed from */
    /* Of BLI_MEASURE_LIMIT: */
    double target; /* what the limit should be */
    double scale;  /* the size of what is spoken of: the larger of the target and the first value */
    bool stuck;    /* the last value is hardly closer to the target than the previous one */
};

/* Measures at a point or, for a claim that goes along an axis, along the line of points on which it lies. The
 * interval is wide enough for the intervals of `places` points to hold jointly with 95 %. */
enum bal_code bli_check_measure(struct bli_store *store, const struct bli_experiment *experiment,
                                const struct bli_check *check, size_t places, size_t point,
                                struct bli_claim_value *m, struct bal_error *err);

#endif
