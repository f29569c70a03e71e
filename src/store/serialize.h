/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials as bytes that mean the same on every machine: for the store and for sending them. */
#ifndef STORE_SERIALIZE_H
#define STORE_SERIALIZE_H

#include "ballast/simulate.h"

#include <stddef.h>
#include <stdint.h>

/* Enough bytes for any trial. */
enum {
    BLI_PACKED_HISTOGRAM = BLI_HISTOGRAM_BINS * 12,
    BLI_PACKED_TRIAL = 8 * (BLI_METRIC_COUNT + BLI_TAIL_LEVELS + 4 + 5 + BLI_DISTRIBUTIONS) +
                       BLI_DISTRIBUTIONS * BLI_PACKED_HISTOGRAM,
};

/* Little-endian words of 8 bytes. */
void bli_pack_doubles(const double *value, size_t count, uint8_t *bytes);
void bli_unpack_doubles(const uint8_t *bytes, size_t count, double *value);

/* The bins that are not empty, as pairs (bins skipped, count) of numbers with 7 bits to a byte. Returns the
 * number of bytes. */
size_t bli_pack_histogram(const struct bli_histogram *histogram, uint8_t *bytes);
/* Adds it to a histogram; false when the bytes are not such pairs. */
bool bli_unpack_histogram(const uint8_t *bytes, size_t size, struct bli_histogram *into);

/* The histograms of a trial from `first` to the last of all: their sizes, and then they. Those that are not
 * set are empty. */
size_t bli_pack_histograms(const struct bli_trial *trial, unsigned first, uint8_t *bytes);
/* Adds them to those of the trial that are set. */
bool bli_unpack_histograms(const uint8_t *bytes, size_t size, unsigned first, struct bli_trial *trial);

/* A whole trial with its histograms, for a program of the same version. Returns the number of bytes. */
size_t bli_pack_trial(const struct bli_trial *trial, uint8_t *bytes);
/* The histograms must be set and empty; false when the bytes are not a trial. */
bool bli_unpack_trial(const uint8_t *bytes, size_t size, struct bli_trial *trial);

#endif
