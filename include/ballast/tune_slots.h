/* SPDX-License-Identifier: BSD-2-Clause */
/* How many jobs should a server work on at once?
 *
 * With too few slots a server does not reach the speed that it can have, and jobs wait although it could work
 * faster; with too many the dispatcher takes servers for free that are slow already, and a server whose speed
 * falls again under many jobs gets into that. All numbers of slots get the same traffic. */
#ifndef BALLAST_TUNE_SLOTS_H
#define BALLAST_TUNE_SLOTS_H

#include "ballast/lab.h"
#include "ballast/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BLI_TUNE_SLOTS_MAX = 48 };
#define BLI_TUNE_SLOTS_NEAR 0.02 /* a value so near to the least is as good */

/* The model's speeds must be given; its slots are ignored, and its load is that of servers with as many jobs
 * in service as suit them best. The quantile is that of the response times that are compared. */
struct bli_slots_question {
    struct bli_case base;
    double quantile; /* 0: the mean */
    double target;   /* that it should not exceed, in the unit of the model; NaN: none */
    bool open;       /* as in struct bli_tuning */
};

struct bli_slots_point {
    uint32_t slots; /* BLI_SLOTS_ALL at the end */
    double speed;   /* that a server can have with so many, as a part of the best */
    struct bli_case c;
    bool possible; /* it can do the work; otherwise nothing was simulated */
    struct bli_result result;
    struct bli_prediction alone; /* if jobs went to uniform servers: what theory says */
    bool best;                   /* it is near the least, or cannot be told from it */
    bool meets;                  /* with its interval it is not above the target */
};

struct bli_slots_answer {
    unsigned points;
    struct bli_slots_point point[BLI_TUNE_SLOTS_MAX];
    unsigned least; /* the point of the least quantile; `points` when nothing is sure */
};

/* Simulates 1, 2, 3, 4, 6, 8, 12, ... slots, up to four times as many as the speed depends on, and all.
 * BAL_E_STOPPED leaves what was complete. */
enum bal_code bli_tune_slots(const struct bli_slots_question *question, const struct bli_lab_options *options,
                             struct bli_slots_answer *answer, struct bal_error *err);

/* Its mean or quantile. */
struct bli_estimate bli_slots_value(const struct bli_slots_question *question,
                                    const struct bli_slots_point *point);

#ifdef __cplusplus
}
#endif
#endif
