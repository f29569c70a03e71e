/* SPDX-License-Identifier: BSD-2-Clause */
/* A sweep under way: which trials are to be done, given out one by one to workers (threads of this process,
 * or other processes through MPI), collected and committed.
 *
 * All functions may be called from several threads at once. */
#ifndef STORE_SWEEP_H
#define STORE_SWEEP_H

#include "ballast/store.h"

struct bli_sweep;

struct bli_task {
    size_t request; /* for the sweep's own use */
    size_t point, policy;
    unsigned replication;
};

/* Finds the trials that are missing in the store and records that the run has begun. The experiment and the
 * store must outlive it. */
enum bal_code bli_sweep_new(const struct bli_experiment *experiment, struct bli_store *store,
                            const struct bli_sweep_options *options, struct bli_sweep **sweep,
                            struct bal_error *err);
void bli_sweep_free(struct bli_sweep *sweep);

enum bli_next {
    BLI_NEXT_TASK, /* *task is to be done */
    BLI_NEXT_WAIT, /* no task now; tasks that are running may lead to more */
    BLI_NEXT_END,  /* all is done, or the sweep has failed or been stopped */
};
enum bli_next bli_sweep_next(struct bli_sweep *sweep, struct bli_task *task);
/* The same, but waits for a task in that case. */
enum bli_next bli_sweep_next_wait(struct bli_sweep *sweep, struct bli_task *task);

/* Stores a finished trial, its histograms set; without a trial, records that it failed. */
void bli_sweep_add_trial(struct bli_sweep *sweep, const struct bli_task *task, const struct bli_trial *trial,
                         const struct bal_error *why);

/* Runs one trial; the histograms must be set. stop may be NULL. */
enum bal_code bli_task_run(const struct bli_experiment *experiment, const struct bli_task *task,
                           const volatile int *stop, struct bli_trial *trial, struct bal_error *err);

/* Computes on the calling thread until there is nothing left to do. */
void bli_sweep_work(struct bli_sweep *sweep);

/* Ends the sweep: BAL_OK when everything is done, BAL_E_STOPPED, or the first error. */
enum bal_code bli_sweep_finish(struct bli_sweep *sweep, struct bal_error *err);

#endif
