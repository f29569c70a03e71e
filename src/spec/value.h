/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts of settings: numbers, choices and flags read and printed.
 *
 * What a reader refuses it calls "not ...": "not a load above 0 (to 100), such as 0.9". The caller that knows
 * the place of the text (bli_setting_read, or the command line) adds the text itself. */
#ifndef SPEC_VALUE_H
#define SPEC_VALUE_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bli_value_range {
    double low, high; /* both included */
    bool whole;
    const char *what; /* "a load above 0 (to 100), such as 0.9" */
};

/* On failure *value is untouched, here and below. */
enum bal_code bli_value_number(const char *text, const struct bli_value_range *range, double *value,
                               struct bal_error *err);
enum bal_code bli_value_whole(const char *text, const struct bli_value_range *range, uint32_t *value,
                              struct bal_error *err);
/* The index of one of several names. */
enum bal_code bli_value_choice(const char *text, const char *(*name)(int), int count, int *choice,
                               struct bal_error *err);
enum bal_code bli_value_flag(const char *text, bool *flag, struct bal_error *err); /* yes, no, true, false */

/* Always terminated; they return the length needed. */
size_t bli_value_print_text(const char *from, char *text, size_t size);
size_t bli_value_print_number(double value, char *text, size_t size);
size_t bli_value_print_flag(bool flag, char *text, size_t size);
/* The word for a missing number: "none". */
size_t bli_value_print_or(double value, bool there, const char *word, char *text, size_t size);

#endif
