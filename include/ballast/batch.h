/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of whole numbers for slotted time: how many jobs arrive together in a slot (the batch), and
 * how many a server can finish in one (its capacity).
 *
 *   poisson          Poisson, its mean still open             poisson(M)        of mean M
 *   geometric        P(k) = (1-q) q^k, its mean still open    geometric(M)      of mean M = q/(1-q)
 *   bernoulli        one job or none, its mean still open     bernoulli(P)      one with probability P
 *   constant(K)      always K; K alone means the same
 *   uniform(A,B)     uniform on {A, ..., B}
 *   table(V:P ...)   V with probability P; at most 32 different values, separated by spaces; the P sum to 1
 *
 * A distribution whose mean is open takes it from the load (bli_model_batch). Means and values are at most
 * 10^7. Spaces are allowed around every number and sign. */
#ifndef BALLAST_BATCH_H
#define BALLAST_BATCH_H

#include "ballast/error.h"
#include "ballast/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLI_BATCH_VALUES = 32,    /* most values of a table */
    BLI_BATCH_MAX = 10000000, /* largest mean and largest value */
    BLI_BATCH_TEXT = 1400,    /* enough for the text of any distribution */
};

enum bli_batch_kind {
    BLI_BATCH_NONE, /* not given */
    BLI_BATCH_POISSON,
    BLI_BATCH_GEOMETRIC,
    BLI_BATCH_BERNOULLI,
    BLI_BATCH_CONSTANT,
    BLI_BATCH_UNIFORM,
    BLI_BATCH_TABLE,
};

/* Made by bli_batch_parse; read it freely. A plain value: copy it at will. */
struct bli_batch {
    enum bli_batch_kind kind;
    bool open;          /* the mean is still open: then mean is NaN, and sampling is not allowed */
    double mean;        /* >= 0 */
    uint32_t low, high; /* smallest and largest value; high is UINT32_MAX where there is no largest */
    uint32_t values;    /* of a table */
    uint32_t value[BLI_BATCH_VALUES]; /* in ascending order */
    double probability[BLI_BATCH_VALUES];
};

/* One row per kind, in the order of enum bli_batch_kind from POISSON on, for help texts and error messages.
 */
struct bli_batch_info {
    const char *name;    /* "uniform" */
    const char *usage;   /* "uniform(A,B)" */
    const char *summary; /* one line */
};
extern const struct bli_batch_info bli_batch_table[];
extern const size_t bli_batch_count;

/* Reads a distribution. On failure *batch is unchanged and err names what is wrong and what would be
 * right. */
enum bal_code bli_batch_parse(const char *text, struct bli_batch *batch, struct bal_error *err);

/* Writes the canonical text, which parses to the same distribution, bit for bit. Always terminated if size >
 * 0; returns the length that a large enough buffer would hold, like snprintf. */
size_t bli_batch_print(const struct bli_batch *batch, char *text, size_t size);

/* Gives an open distribution its mean, 0 < mean <= 10^7 (at most 1 for bernoulli). On failure *batch is
 * untouched. */
enum bal_code bli_batch_set_mean(struct bli_batch *batch, double mean, struct bal_error *err);

/* The variance; NaN while the mean is open. */
double bli_batch_variance(const struct bli_batch *batch);

/* One draw. A number above 2^32 - 1 becomes that; below a mean of 10^7 this has probability 10^-180 at most.
 */
uint32_t bli_batch_sample(const struct bli_batch *batch, struct bal_rng *rng);

/* Many independent draws, much faster than one by one, and from other numbers of the stream: how many of them
 * are used depends only on the distribution and on count, except for rejections, which have a probability
 * below 1/256. Probabilities are exact, except that those of a table are rounded. */
void bli_batch_sample_many(const struct bli_batch *batch, struct bal_rng *rng, uint32_t *out, size_t count);

#ifdef __cplusplus
}
#endif
#endif
