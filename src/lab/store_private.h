/* The inside of the store, for the files that run sweeps and judge claims. */
#ifndef LAB_STORE_PRIVATE_H
#define LAB_STORE_PRIVATE_H

#include "ballast/store.h"

/* The number of the cell with this identity; 0 when it is not there and create is false. */
enum bal_code bal_store_cell(struct bal_store *store, const char *identity, bool create, int64_t *cell,
                             struct bal_error *err);

/* Calls found(context, r) for every replication r < limit of the cell that is stored and complete. A trial that lacks a metric which
 * this version measures is not complete. */
enum bal_code bal_store_list(struct bal_store *store, int64_t cell, unsigned limit,
                             void (*found)(void *context, unsigned replication), void *context,
                             struct bal_error *err);

/* Commits a trial; its histograms must be set. */
enum bal_code bal_store_put(struct bal_store *store, int64_t cell, unsigned replication,
                            const struct bal_trial *trial, struct bal_error *err);

/* Reads the complete trials with a replication < limit, in order, into trial[0..limit) and tells how many there are. which[i] is
 * the replication of trial[i]; it may be NULL. */
enum bal_code bal_store_get(struct bal_store *store, int64_t cell, unsigned limit, struct bal_trial *trial,
                            unsigned *which, size_t *count, struct bal_error *err);

/* Adds the histograms of the complete trials with a replication < limit to those given; either may be NULL. */
enum bal_code bal_store_add_histograms(struct bal_store *store, int64_t cell, unsigned limit,
                                       struct bal_histogram *response, struct bal_histogram *waiting,
                                       struct bal_error *err);

/* Notes that the experiment is being run, and later that it is complete. */
enum bal_code bal_store_begin(struct bal_store *store, const struct bal_experiment *experiment, int64_t *run,
                              struct bal_error *err);
enum bal_code bal_store_end(struct bal_store *store, int64_t run, struct bal_error *err);

/* The trials of a cell that count: as many as the experiment wants, fewer when not all are there yet. The caller frees
 * *trial and *which (which may be NULL); *complete tells whether all are there. */
enum bal_code bal_store_trials(struct bal_store *store, const struct bal_experiment *experiment, size_t point,
                               size_t policy, struct bal_case *c, struct bal_trial **trial, unsigned **which,
                               size_t *count, bool *complete, struct bal_error *err);

#endif
