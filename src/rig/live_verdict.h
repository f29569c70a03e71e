/* SPDX-License-Identifier: BSD-2-Clause */
/* Measurements of real processes compared with the lab's prediction. */
#ifndef RIG_LIVE_VERDICT_H
#define RIG_LIVE_VERDICT_H

#include "ballast/store.h"

enum rig_verdict {
    RIG_NO_VERDICT, /* no prediction: there were faults, or the lab has no model */
    RIG_UNDECIDED,
    RIG_AGREES,
    RIG_DIFFERS,
};
extern const char *const bli_rig_verdict_text[]; /* "", "undecided", "agrees", "differs" */

/* How close they must be to agree. */
#define RIG_MEAN_WITHIN 0.1
#define RIG_P99_WITHIN 0.2

/* A policy at a point, all its requests or those of a class. Times in seconds. */
struct rig_row {
    const char *label;
    const char *class_; /* "", "high" or "low"; of more than two "class 1" and so on */
    bool first;         /* of the rows of its policy */
    struct bli_estimate mean, p99, lab_mean, lab_p99;
    struct bli_estimate mean_ratio, p99_ratio;       /* live over lab, block by block on the same requests */
    double requests, lost, doubled, resent, strange; /* in all blocks */
    double offers, rode; /* of slots by stations, in all blocks, and how many of them were sent with
                            responses; NaN: no stations */
    double delay;        /* of messages, each way, in seconds; NaN: not measured */
    double exceeded;     /* most requests at a server beyond its slots; NaN: no stations */
    double memory_first, memory_last, growth; /* bytes of all processes of the fleet at a tenth of the block
                                                 and at its end, and the growth of the process that grew most;
                                                 NaN: not measured */
    double again;           /* blocks that were measured again because the machine had stalled */
    double late, overslept; /* means of blocks: what generator and servers added */
    bool slower; /* a server that wakes up late begins the next request later by as much: stations enforce its
                    slots, or it burns processor time */
    double added; /* the share of a response time that this may have caused, at most */
    enum rig_verdict verdict;
    char reason[200]; /* of an undecided one */
};

/* Class 0: all; from 1 on: the classes, the most urgent first. */
enum bal_code bli_live_verdict(struct bli_store *store, const struct bli_experiment *e, size_t point,
                               size_t policy, int class_, struct rig_row *row, struct bal_error *err);

/* The verdict on a row, and its reason. */
void bli_live_verdict_decide(struct rig_row *row, const struct bli_model *model);

/* The fault of an index: sums over blocks, the longest recovery. */
struct rig_fault_row {
    double lost, doubled, resent, exceeded, recovery;
    double p99; /* from the fault to the next one, the largest of all blocks; NaN: no answers */
};
enum bal_code bli_live_fault_summary(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                     size_t policy, size_t fault, struct rig_fault_row *row,
                                     struct bal_error *err);

#endif
