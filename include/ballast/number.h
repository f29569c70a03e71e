/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people write them: 0.9, 1e6, 10k, 2M, 1.5G. The locale of the program has no effect. */
#ifndef BALLAST_NUMBER_H
#define BALLAST_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BLI_NUMBER_TEXT = 32 }; /* enough for any double as bli_number_print writes it */

/* Reads the longest plain decimal number (no suffix) at the beginning of text and returns where it ends, or
 * NULL if there is none. No white space is skipped; "nan", "inf" and hexadecimals are no numbers; one too
 * large for a double gives an infinity, which the caller has to refuse. */
const char *bli_number_read(const char *text, double *value);

/* Reads the first length characters of text, all of them, as one finite decimal number with an optional
 * suffix k (10^3), M (10^6) or G (10^9). Returns whether it is one; *value is set only then. */
bool bli_number_parse(const char *text, size_t length, double *value);

/* The same for shares: a percent sign after the number divides it by 100. */
bool bli_share_parse(const char *text, size_t length, double *value);

/* Writes the shortest decimal that reads back as the same number; whole numbers below 10^15 without an
 * exponent. */
void bli_number_print(double value, char text[BLI_NUMBER_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
