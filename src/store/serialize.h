/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials as bytes that mean the same on every machine: for the store and for sending them. */
#ifndef STORE_SERIALIZE_H
#define STORE_SERIALIZE_H

#include "ballast/simulate.h"

#include <stddef.h>
#include <stdint.h>

/* Enough bytes for any trial. */
enum {
    BAL_PACKED_HISTOGRAM = BAL_HISTOGRAM_BINS * 12,
    BAL_PACKED_TRIAL = 8 * (BAL_METRIC_COUNT + BAL_TAIL_LEVELS + 4 + 5 + BAL_DISTRIBUTIONS) +
                       BAL_DISTRIBUTIONS * BAL_PACKED_HISTOGRAM,
};

/* Little-endian words of 8 bytes. */
void bal_pack_doubles(const double *value, size_t count, uint8_t *bytes);
void bal_unpack_doubles(const uint8_t *bytes, size_t count, double *value);

/* The bins that are not empty, as pairs (bins skipped, count) of numbers with 7 bits to a byte. Returns the
 * number of bytes. */
size_t bal_pack_histogram(const struct bal_histogram *histogram, uint8_t *bytes);
/* Adds it to a histogram; false when the bytes are not such pairs. */
bool bal_unpack_histogram(const uint8_t *bytes, size_t size, struct bal_histogram *into);

/* The histograms of a trial from `first` to the last of all: their sizes, and then they. Those that are not
 * set are empty. */
size_t bal_pack_histograms(const struct bal_trial *trial, unsigned first, uint8_t *bytes);
/* Adds them to those of the trial that are set. */
bool bal_unpack_histograms(const uint8_t *bytes, size_t size, unsigned first, struct bal_trial *trial);

/* A whole trial with its histograms, for a program of the same version. Returns the number of bytes. */
size_t bal_pack_trial(const struct bal_trial *trial, uint8_t *bytes);
/* The histograms must be set and empty; false when the bytes are not a trial. */
bool bal_unpack_trial(const uint8_t *bytes, size_t size, struct bal_trial *trial);

#endif
