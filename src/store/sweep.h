/* SPDX-License-Identifier: BSD-2-Clause */
/* A sweep under way: which trials are to be done, given out one by one to workers (threads of this process,
 * or other processes through MPI), collected and committed.
 *
 * All functions may be called from several threads at once. */
#ifndef STORE_SWEEP_H
#define STORE_SWEEP_H

#include "ballast/store.h"

struct bal_sweep;

struct bal_task {
    size_t request; /* for the sweep's own use */
    size_t point, policy;
    unsigned replication;
};

/* Finds the trials that are missing in the store and records that the run has begun. The experiment and the
 * store must outlive it. */
enum bal_code bal_sweep_new(const struct bal_experiment *experiment, struct bal_store *store,
                            const struct bal_sweep_options *options, struct bal_sweep **sweep,
                            struct bal_error *err);
void bal_sweep_free(struct bal_sweep *sweep);

enum bal_next {
    BAL_NEXT_TASK, /* *task is to be done */
    BAL_NEXT_WAIT, /* no task now; tasks that are running may lead to more */
    BAL_NEXT_END,  /* all is done, or the sweep has failed or been stopped */
};
enum bal_next bal_sweep_next(struct bal_sweep *sweep, struct bal_task *task);
/* The same, but waits for a task in that case. */
enum bal_next bal_sweep_next_wait(struct bal_sweep *sweep, struct bal_task *task);

/* Stores a finished trial, its histograms set; without a trial, records that it failed. */
void bal_sweep_add_trial(struct bal_sweep *sweep, const struct bal_task *task, const struct bal_trial *trial,
                         const struct bal_error *why);

/* Runs one trial; the histograms must be set. stop may be NULL. */
enum bal_code bal_task_run(const struct bal_experiment *experiment, const struct bal_task *task,
                           const volatile int *stop, struct bal_trial *trial, struct bal_error *err);

/* Computes on the calling thread until there is nothing left to do. */
void bal_sweep_work(struct bal_sweep *sweep);

/* Ends the sweep: BAL_OK when everything is done, BAL_E_STOPPED, or the first error. */
enum bal_code bal_sweep_finish(struct bal_sweep *sweep, struct bal_error *err);

#endif
