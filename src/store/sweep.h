/* A sweep under way: which trials are to be done, handed out one by one to whoever computes (threads here,
 * other processes through MPI), taken in again and committed.
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

/* Finds out what is missing in the store and notes that the run has begun. The experiment and the store must
 * outlive it. */
enum bal_code bal_sweep_new(const struct bal_experiment *experiment, struct bal_store *store,
                            const struct bal_sweep_options *options, struct bal_sweep **sweep,
                            struct bal_error *err);
void bal_sweep_free(struct bal_sweep *sweep);

enum bal_next {
    BAL_NEXT_TASK, /* *task is to be done */
    BAL_NEXT_WAIT, /* nothing now; what others are doing may lead to more */
    BAL_NEXT_END,  /* all is done, or the sweep has failed or been stopped */
};
enum bal_next bal_sweep_next(struct bal_sweep *sweep, struct bal_task *task);
/* The same, but waits instead of saying so. */
enum bal_next bal_sweep_next_wait(struct bal_sweep *sweep, struct bal_task *task);

/* Takes in a finished trial, its histograms set; or, without a trial, the news that it failed. */
void bal_sweep_take(struct bal_sweep *sweep, const struct bal_task *task, const struct bal_trial *trial,
                    const struct bal_error *why);

/* Runs one trial; the histograms must be set. stop may be NULL. */
enum bal_code bal_task_run(const struct bal_experiment *experiment, const struct bal_task *task,
                           const volatile int *stop, struct bal_trial *trial, struct bal_error *err);

/* Computes on the calling thread until there is nothing left to do. */
void bal_sweep_work(struct bal_sweep *sweep);

/* Ends the sweep: BAL_OK when everything is done, BAL_E_STOPPED, or what went wrong. */
enum bal_code bal_sweep_finish(struct bal_sweep *sweep, struct bal_error *err);

#endif
