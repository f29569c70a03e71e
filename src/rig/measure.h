/* Measures the policies of an experiment on real processes, block by block. */
#ifndef RIG_MEASURE_H
#define RIG_MEASURE_H

#include "ballast/store.h"
#include "rig/rig.h"

struct rig_options {
    struct rig_programs programs;
    const volatile int *stop;
    bool again; /* what was measured before is measured anew */
    /* Called about ten times a second: what is done of all, and what is measured now. May be NULL. */
    void (*progress)(void *context, double part, const char *label, unsigned round, unsigned rounds);
    void *context;
};

struct rig_outcome {
    size_t measured, found; /* blocks: now, and before */
    bool urgent;            /* the processes went before all others of the machine */
};

/* All policies take turns, a block each, on the same requests; each block is kept in the store as it ends.
 * Returns BAL_E_STOPPED where it was told to stop. However it ends, nothing runs and nothing lies about
 * afterwards. */
enum bal_code bal_measure(const struct bal_experiment *e, struct bal_store *store,
                          const struct rig_options *options, struct rig_outcome *outcome,
                          struct bal_error *err);

#endif
