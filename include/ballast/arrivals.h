/* SPDX-License-Identifier: BSD-2-Clause */
/* How jobs arrive in continuous time, given by a short text. The load determines how many there are on
 * average; this determines how evenly they come.
 *
 *   poisson                  one by one, without memory
 *   mmpp(R1,T1;R2,T2;...)    a Poisson process whose rate changes: R1 for a time of mean T1, then R2 for one
 *                            of mean T2, and so on, after the last again the first; the times are
 *                            exponential. 2 to 8 states. Rates are relative to each other: the load sets
 *                            their mean. Times are in units of the model, whatever the load.
 *   renewal(LAW)             gaps between jobs are independent and of a distribution of dist.h; the load
 *                            sets their mean
 *   batch(LAW)               several jobs at once, their number drawn from a distribution of batch.h, whose
 *                            mean must be given; each job is routed on its own. Batches come as a
 *                            Poisson process. One of 0 jobs is none, so that batch(geometric(M)) has
 *                            1, 2, ... jobs, 1 + M on average.
 *
 * Rates lie between 0 and 1e9, times between 1e-9 and 1e9. Spaces are allowed around every number and
 * sign. */
#ifndef BALLAST_ARRIVALS_H
#define BALLAST_ARRIVALS_H

#include "ballast/batch.h"
#include "ballast/dist.h"
#include "ballast/error.h"
#include "ballast/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLI_ARRIVALS_STATES = 8,
    BLI_ARRIVALS_TEXT = BLI_DIST_TEXT + 16, /* enough for the text of any arrivals */
};

enum bli_arrivals_kind {
    BLI_ARRIVALS_POISSON,
    BLI_ARRIVALS_MMPP,
    BLI_ARRIVALS_RENEWAL,
    BLI_ARRIVALS_BATCH,
};

/* Made by bli_arrivals_parse; read it freely. A plain value; all zero bytes are poisson. */
struct bli_arrivals {
    enum bli_arrivals_kind kind;
    unsigned states;                  /* mmpp */
    double rate[BLI_ARRIVALS_STATES]; /* of each, as given */
    double stay[BLI_ARRIVALS_STATES]; /* mean time in each */
    struct bli_dist gap;              /* renewal: as given */
    struct bli_batch batch;           /* batch */
};

/* Reads arrivals; on failure *arrivals is unchanged and err names what would be right. */
enum bal_code bli_arrivals_parse(const char *text, struct bli_arrivals *arrivals, struct bal_error *err);
/* The canonical text, which parses to the same arrivals, bit for bit. Always terminated if size > 0; returns
 * the length needed. */
size_t bli_arrivals_print(const struct bli_arrivals *arrivals, char *text, size_t size);

/* Is it a Poisson process? It may be written in another form: renewal(exp), batch(1), states of one rate. */
bool bli_arrivals_are_poisson(const struct bli_arrivals *arrivals);

/* mmpp: changes of state in a unit of time. */
double bli_arrivals_changes(const struct bli_arrivals *arrivals);

/* Draws arrivals one after the other. O(1) for a job; mmpp: a step for every change of state, too. */
struct bli_arrival_source {
    struct bal_rng rng;
    enum bli_arrivals_kind kind; /* poisson for all that are */
    double mean_gap;             /* between jobs; batch: between batches, of 0 jobs too */
    struct bli_dist gap;
    struct bli_batch batch;
    uint32_t more; /* jobs of the current batch that have not been returned yet */
    bool first;    /* was the last job the first of its batch? Always true without batches */
    unsigned states, state;
    double rate[BLI_ARRIVALS_STATES], stay[BLI_ARRIVALS_STATES]; /* rates in jobs per unit of time */
    double left;                                                 /* time until the state changes */
};

/* mean_gap: between jobs. An mmpp begins in equilibrium, a renewal process with a whole gap. */
void bli_arrival_source_init(struct bli_arrival_source *source, const struct bli_arrivals *arrivals,
                             double mean_gap, const struct bal_rng *rng);

/* When the next job comes, if the last one came at `now`: within a batch at the same time. */
double bli_arrival_source_next(struct bli_arrival_source *source, double now);

/* Drops the jobs of the current batch that have not been returned yet. */
static inline void bli_arrival_source_drop(struct bli_arrival_source *source) {
    source->more = 0;
}

#ifdef __cplusplus
}
#endif
#endif
