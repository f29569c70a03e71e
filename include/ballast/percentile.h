/* SPDX-License-Identifier: BSD-2-Clause */
/* Percentiles by name, the same wherever one is named: in metrics, targets, claims and options.
 *
 * A percentile is p and how many of a hundred lie below: p50, p95, p99.9. After two digits of which the first
 * is 9 the point may be left out, as in p999. */
#ifndef BALLAST_PERCENTILE_H
#define BALLAST_PERCENTILE_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLI_PERCENTILE_TEXT = 24,
    BLI_PERCENTILES_MAX = 8, /* that may be requested at once, in addition to those that are always measured
                              */
};

/* Does the text look like a percentile, valid or not: p and a digit? */
bool bli_percentile_looks(const char *text);
/* Reads the first length characters of text, all of them: "p99.9" is 0.999. Above 0 and below 1. */
enum bal_code bli_percentile_parse(const char *text, size_t length, double *quantile, struct bal_error *err);

/* For people: "p99.9". For names in files, where points stand between words: "p999", if that reads back. */
const char *bli_percentile_print(double quantile, char text[BLI_PERCENTILE_TEXT]);
const char *bli_percentile_name(double quantile, char text[BLI_PERCENTILE_TEXT]);

/* Several, in rising order and each once. */
struct bli_percentiles {
    unsigned count;
    double quantile[BLI_PERCENTILES_MAX];
};
/* Adds "50,95,99.9", with or without the p, to those that are there. On failure they stay as they are. */
enum bal_code bli_percentiles_add(const char *text, struct bli_percentiles *percentiles,
                                  struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
