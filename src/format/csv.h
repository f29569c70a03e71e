/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of csv rows. */
#ifndef FORMAT_CSV_H
#define FORMAT_CSV_H

#include <stdio.h>

/* Another field of a row: a comma and the number; an empty field if it is not finite. */
void bli_csv_number(double value, FILE *out);

/* The text in one line without control characters, quoted where necessary; no comma. An apostrophe is put in
 * front of text that a spreadsheet would take for a formula. */
void bli_csv_text(const char *text, FILE *out);

#endif
