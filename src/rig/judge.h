/* What was measured beside what the lab says. */
#ifndef RIG_JUDGE_H
#define RIG_JUDGE_H

#include "ballast/store.h"

enum rig_verdict {
    RIG_NO_VERDICT, /* the lab does not know what happened: there were faults, or it has no model */
    RIG_UNDECIDED,
    RIG_AGREES,
    RIG_DIFFERS,
};
extern const char *const bal_rig_verdict_text[]; /* "", "undecided", "agrees", "differs" */

/* How near they must be to agree. */
#define RIG_MEAN_WITHIN 0.1
#define RIG_P99_WITHIN 0.2

/* A policy at a point, all its requests or those of a class. Times in seconds. */
struct rig_row {
    const char *label;
    const char *class_; /* "", "high" or "low" */
    struct bal_estimate mean, p99, lab_mean, lab_p99;
    struct bal_estimate mean_ratio, p99_ratio;       /* live over lab, block by block on the same requests */
    double requests, lost, doubled, resent, strange; /* in all blocks */
    double offers, rode; /* of slots by stations, in all blocks, and how many of them rode on responses; NaN:
                          * no stations */
    double exceeded;     /* most requests at a server beyond its slots; NaN: no stations */
    double memory_first, memory_last, growth; /* bytes of all processes of the fleet at a tenth of the block
                                               * and at its end, and what the one grew that grew most; NaN:
                                               * not looked at */
    double again;           /* blocks that were measured again, because the machine had stood still */
    double late, overslept; /* means of blocks: what generator and servers added */
    bool slower;  /* servers that wake up late begin the next request so much later: stations keep them to
                   * their slots, or they burn */
    double added; /* the part of an answer that this may have made, at most */
    enum rig_verdict verdict;
    char reason[200]; /* of an undecided one */
};

/* Class 0: all; 1 and 2: high and low. */
enum bal_code bal_rig_judge(struct bal_store *store, const struct bal_experiment *e, size_t point,
                            size_t policy, int class_, struct rig_row *row, struct bal_error *err);

/* The verdict on what stands in a row, and its reason. */
void bal_rig_decide(struct rig_row *row, const struct bal_model *model);

/* The fault of an index: sums over blocks, the longest recovery. */
struct rig_fault_row {
    double lost, doubled, resent, exceeded, recovery;
};
enum bal_code bal_rig_judge_fault(struct bal_store *store, const struct bal_experiment *e, size_t point,
                                  size_t policy, size_t fault, struct rig_fault_row *row,
                                  struct bal_error *err);

#endif
