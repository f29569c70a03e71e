/* SPDX-License-Identifier: BSD-2-Clause */
/* The store of results: one SQLite file that keeps every finished trial, so that work is never done twice.
 *
 * A trial is found again by everything that determines it (model, policy, length, warm-up, seed,
 * replication), not by the experiment file that it belongs to. A run that was interrupted goes on where it
 * was; a changed file runs only what has changed; several experiments may share a store. One process writes
 * at a time; others may read meanwhile.
 *
 * Results are computed from the stored trials when they are asked for, one cell in memory at a time. */
#ifndef BALLAST_STORE_H
#define BALLAST_STORE_H

#include "ballast/experiment.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bli_store;

enum bli_store_access {
    BLI_STORE_READ,  /* the file must exist */
    BLI_STORE_WRITE, /* it is created if need be; no other process may be writing */
};

/* Fails with a message on a file that is not a store (BAL_E_FORMAT), comes from a newer version
 * (BAL_E_FORMAT), or cannot be opened, written or locked (BAL_E_IO); such a file is left as it was. */
enum bal_code bli_store_open(const char *path, enum bli_store_access access, struct bli_store **store,
                             struct bal_error *err);
void bli_store_close(struct bli_store *store); /* NULL is allowed */

/* Of this program, as stores record it: "1.0.0+4f2a91c0d3be" with the commit of its sources, ".dirty" behind
 * it where they had been changed, "1.0.0" where no commit is known. */
const char *bli_store_version(void);

/* Copies what other stores have, trial by trial, into `path`, which is made if it is not there. Trials that
 * several have must be the same but for the time that they took; otherwise, and after any other failure,
 * `path` is as it was before. */
enum bal_code bli_store_merge(const char *path, const char *const *from, size_t count, struct bal_error *err);

/* ---- runs: which experiments the store has seen ---- */

struct bli_store_run {
    int64_t id;
    const char *name; /* of the experiment */
    enum bli_mode mode;
    const char *spec;                         /* the whole file */
    const char *version, *compiler, *machine; /* of the program that began it */
    const char *started, *ended; /* UTC, "2024-05-01T12:00:00Z"; ended is NULL until the run is complete */
    /* When it was asked for last, with or without work to do, and of which program; NULL and "" in a file of
     * a version that did not keep it. */
    const char *latest;
    const char *latest_version, *latest_compiler, *latest_machine;
};

/* All runs, oldest first, as one block that the caller frees. */
enum bal_code bli_store_runs(struct bli_store *store, struct bli_store_run **runs, size_t *count,
                             struct bal_error *err);

/* The experiment of a run as it was when it was run. The caller frees it. */
enum bal_code bli_store_run_experiment(const struct bli_store_run *run, struct bli_experiment **experiment,
                                       struct bal_error *err);

/* A command that computed trials of a run; see bli_store_merge for runs of several commands. */
struct bli_store_command {
    const char *started; /* UTC */
    const char *text;    /* as it was typed */
    const char *version; /* of the program; "" where it is not known */
};
/* The commands of a run, oldest first, as one block that the caller frees. */
enum bal_code bli_store_commands(struct bli_store *store, int64_t run, struct bli_store_command **commands,
                                 size_t *count, struct bal_error *err);

/* Who made trials: a version of this program on a machine. "" where that is not known. */
struct bli_maker {
    int64_t id; /* 0: not known */
    char version[40], compiler[100], machine[300];
    size_t trials;
};
enum { BLI_MAKERS_MAX = 16 };
struct bli_makers {
    size_t count;
    struct bli_maker maker[BLI_MAKERS_MAX];
    size_t others; /* trials of still more makers */
};

/* Who made the trials that count for an experiment. Nothing is known of a file of a version that did not keep
 * it: count is 0 then. */
enum bal_code bli_store_makers(struct bli_store *store, const struct bli_experiment *experiment,
                               struct bli_makers *makers, struct bal_error *err);

/* ---- doing the work ---- */

struct bli_sweep_progress {
    size_t done, total;           /* trials, as far as known: a wanted precision adds to the total */
    size_t found;                 /* of those done: already in the store */
    double cost_done, cost_total; /* the same in units of work, without those found */
};

/* A part of the trials of an experiment, for one of several machines: the trials are dealt out one by one, in
 * the order of points, policies and replications; where a precision is wanted, all those of a cell go to one
 * shard. */
struct bli_shard {
    unsigned number, count; /* number 1 to count; count 0: all trials */
};

struct bli_sweep_options {
    struct bli_shard shard;   /* progress counts its trials alone; the run is not recorded as complete */
    const char *command;      /* recorded if there is work to do; NULL: nothing is */
    unsigned threads;         /* 0: one for each processor */
    const volatile int *stop; /* when set and not 0: end early; may be NULL */
    /* Called after each trial, never from two threads at once; may be NULL. */
    void (*progress)(void *context, const struct bli_sweep_progress *progress);
    void *progress_context;
};

/* Runs what is missing, longest trials first, and commits each trial as it is finished. Returns BAL_E_STOPPED
 * when the caller stops it; what was finished is kept, and the same call goes on from there. */
enum bal_code bli_sweep_run(const struct bli_experiment *experiment, struct bli_store *store,
                            const struct bli_sweep_options *options, struct bal_error *err);

/* How many trials are there, and how many are in the store (NULL: none)? Replications that a precision will
 * ask for are not counted before they are known to be needed. */
enum bal_code bli_sweep_status(const struct bli_experiment *experiment, struct bli_store *store,
                               struct bli_sweep_progress *progress, struct bal_error *err);

/* ---- what was measured on real processes ---- */

/* What else is known of a trial that was measured. */
struct bli_fact {
    char name[48];
    double value;
};

/* Where an experiment has the delay of messages measured: lets its predictions have what the store knows. To
 * be called when the experiment has been read, before its predictions are simulated or looked up. */
enum bal_code bli_store_adopt_delays(struct bli_store *store, const struct bli_experiment *experiment,
                                     struct bal_error *err);

/* Commits a trial of a policy that is measured, with its facts. */
enum bal_code bli_store_put_measured(struct bli_store *store, const struct bli_experiment *experiment,
                                     size_t point, size_t policy, unsigned replication,
                                     const struct bli_trial *trial, const struct bli_fact *fact, size_t facts,
                                     struct bal_error *err);
/* Which of its trials are there? */
enum bal_code bli_store_measured(struct bli_store *store, const struct bli_experiment *experiment,
                                 size_t point, size_t policy, bool *there, size_t rounds,
                                 struct bal_error *err);
/* A fact of each of them; NaN where it is not known. */
enum bal_code bli_store_read_facts(struct bli_store *store, const struct bli_experiment *experiment,
                                   size_t point, size_t policy, const char *name, double *value,
                                   size_t rounds, struct bal_error *err);
/* Removes its trials, so that it is measured again. */
enum bal_code bli_store_delete_cell(struct bli_store *store, const struct bli_experiment *experiment,
                                    size_t point, size_t policy, struct bal_error *err);

/* ---- results ---- */

/* A cell with the trials that count: as many as the experiment wants, fewer when not all are there yet. */
struct bli_cell {
    struct bli_case c;
    int64_t id; /* 0: not in the store */
    struct bli_trial *trial;
    unsigned *which; /* the replication of each */
    size_t count;
    bool complete;
    struct bli_result result; /* of these trials; its replications are 0 when there is nothing */
};
/* Reads it once, for all that is asked of it then. To be ended with bli_cell_fini, also after a failure. */
enum bal_code bli_cell_load(struct bli_cell *cell, struct bli_store *store,
                            const struct bli_experiment *experiment, size_t point, size_t policy,
                            struct bal_error *err);
void bli_cell_fini(struct bli_cell *cell);

/* The unit of the times in its histograms. */
double bli_cell_unit(const struct bli_cell *cell);

/* One more than the largest replication. */
size_t bli_cell_extent(const struct bli_cell *cell);
/* The values of a quantity by replication, NaN where there is none; value must hold `extent` numbers. */
enum bal_code bli_cell_values(const struct bli_cell *cell, struct bli_store *store,
                              struct bli_quantity quantity, double *value, struct bal_error *err);

/* One quantity with its interval; means of unstable cells too, so look at the verdict. */
enum bal_code bli_cell_quantity(const struct bli_cell *cell, struct bli_store *store,
                                struct bli_quantity quantity, struct bli_estimate *estimate,
                                struct bal_error *err);

/* A cell's quantity over one of another at the same point, replication by replication on the same arrivals:
 * 1.12 +- 0.01. */
enum bal_code bli_cell_ratio(const struct bli_cell *cell, struct bli_store *store,
                             struct bli_quantity quantity, const struct bli_cell *other,
                             struct bli_quantity over, struct bli_estimate *estimate, struct bal_error *err);

/* What the store knows of a cell, and nothing else of it. */
enum bal_code bli_store_result(struct bli_store *store, const struct bli_experiment *experiment, size_t point,
                               size_t policy, struct bli_result *result, struct bal_error *err);

/* Adds the histograms of a cell's replications to *response and *waiting (either may be NULL), which hold
 * times in units of *unit. */
enum bal_code bli_store_histograms(struct bli_store *store, const struct bli_experiment *experiment,
                                   size_t point, size_t policy, struct bli_histogram *response,
                                   struct bli_histogram *waiting, double *unit, struct bal_error *err);

/* ---- claims ---- */

enum bli_judgement { BLI_CLAIM_UNDECIDED, BLI_CLAIM_HOLDS, BLI_CLAIM_FAILS };
const char *bli_judgement_text(enum bli_judgement judgement); /* "undecided", "holds", "does not hold" */

/* What came out of a claim. */
struct bli_judged {
    enum bli_judgement judgement;
    double value, low, high;  /* what was measured, where the claim is nearest to failing; NaN: nothing */
    enum bli_verdict verdict; /* of BLI_MEASURE_VERDICT */
    char measured[120];       /* the same for people: "1.08 +- 0.02", "stable" */
    char where[200];          /* the point that decided, "" when there is only one */
    char why[200];            /* when undecided: what is missing */
    unsigned doubts;          /* when decided: in the results that it rests on, of enum bli_doubt */
    const struct bli_check *check; /* of the claim: the one that decided */
};

/* Judges one claim. Intervals hold for all points of a claim together (Bonferroni), with 95 %, over all its
 * checks. */
enum bal_code bli_claim_verdict(struct bli_store *store, const struct bli_experiment *experiment,
                                const struct bli_claim *claim, struct bli_judged *judged,
                                struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
