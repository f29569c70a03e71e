/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures the policies of an experiment on real processes, block by block. */
#ifndef RIG_MEASURE_LIVE_H
#define RIG_MEASURE_LIVE_H

#include "ballast/store.h"
#include "rig/rig.h"

struct rig_options {
    struct rig_programs programs;
    const volatile int *stop;
    bool again; /* blocks that are in the store are measured again */
    /* Called about ten times a second: the share that is done, and what is being measured. May be NULL. */
    void (*progress)(void *context, double part, const char *label, unsigned round, unsigned rounds);
    void *context;
};

struct rig_outcome {
    size_t measured, found; /* blocks: measured now, and already in the store */
    bool urgent;            /* the processes had priority over all others of the machine */
};

/* All policies take turns, a block each, on the same requests; each block is kept in the store as it ends.
 * Returns BAL_E_STOPPED if it was asked to stop. However it ends, no process and no temporary file stays. */
enum bal_code bli_measure(const struct bli_experiment *e, struct bli_store *store,
                          const struct rig_options *options, struct rig_outcome *outcome,
                          struct bal_error *err);

#endif
