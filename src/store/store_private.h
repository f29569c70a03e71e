/* SPDX-License-Identifier: BSD-2-Clause */
/* Private interface of the store, for the files that run sweeps and judge claims. */
#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H

#include "ballast/store.h"

/* The number of the cell with this identity; 0 when it is not there and create is false. */
enum bal_code bli_store_cell(struct bli_store *store, const char *identity, bool create, int64_t *cell,
                             struct bal_error *err);

/* Begins a transaction; it is committed, or rolled back if it is not kept. */
enum bal_code bli_store_group(struct bli_store *store, struct bal_error *err);
enum bal_code bli_store_ungroup(struct bli_store *store, bool keep, struct bal_error *err);

/* Calls found(context, r) for every replication r < limit of the cell that is stored and complete. A trial
 * that lacks a metric which this version measures is not complete; nor, if all distributions are wanted, is
 * one of a version that kept those of response and waiting times of all jobs alone. */
enum bal_code bli_store_list(struct bli_store *store, int64_t cell, unsigned limit, bool distributions,
                             void (*found)(void *context, unsigned replication), void *context,
                             struct bal_error *err);

/* Commits a trial; its histograms must be set. */
enum bal_code bli_store_put(struct bli_store *store, int64_t cell, unsigned replication,
                            const struct bli_trial *trial, struct bal_error *err);

/* Reads the complete trials with a replication < limit, in order, into trial[0..limit) and returns how many
 * there are. which[i] is the replication of trial[i]; it may be NULL. */
enum bal_code bli_store_get(struct bli_store *store, int64_t cell, unsigned limit, struct bli_trial *trial,
                            unsigned *which, size_t *count, struct bal_error *err);

/* Adds the histograms of each complete trial with a replication < limit to those of `into` that are set, and
 * calls taken(context, replication) behind each; it may empty them. NULL: no call. */
enum bal_code bli_store_each_histogram(struct bli_store *store, int64_t cell, unsigned limit,
                                       struct bli_trial *into,
                                       void (*taken)(void *context, unsigned replication), void *context,
                                       struct bal_error *err);

/* Adds the histograms of the complete trials with a replication < limit to those given; either may be NULL.
 */
enum bal_code bli_store_add_histograms(struct bli_store *store, int64_t cell, unsigned limit,
                                       struct bli_histogram *response, struct bli_histogram *waiting,
                                       struct bal_error *err);

/* A quantile of one distribution in each complete trial with a replication < limit: value[replication], which
 * stays as it is where there is none. */
struct bli_asked {
    enum bli_distribution distribution;
    double quantile;
    double unit; /* of its histograms */
    bool slotted;
};
enum bal_code bli_store_quantiles(struct bli_store *store, int64_t cell, unsigned limit,
                                  const struct bli_asked *asked, double *value, struct bal_error *err);

/* Records that the experiment is being run, with trials to run or all present already, and later that it is
 * complete. */
enum bal_code bli_store_begin(struct bli_store *store, const struct bli_experiment *experiment, bool work,
                              int64_t *run, struct bal_error *err);
/* Writes the 8 bytes that stand for a metric which a trial does not have. */
void bli_store_mark_missing(uint8_t *bytes);

/* Makes the table of facts if it is not there. */
enum bal_code bli_store_create_facts(struct bli_store *store, struct bal_error *err);

/* Closes a store after a failure, and removes the file if it was made when it was opened. */
void bli_store_abandon(struct bli_store *store);

/* Records a command that computes trials of the run. */
enum bal_code bli_store_add_command(struct bli_store *store, int64_t run, const char *command,
                                    struct bal_error *err);
enum bal_code bli_store_end(struct bli_store *store, int64_t run, struct bal_error *err);

#endif
