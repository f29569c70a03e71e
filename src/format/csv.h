/* Fields of csv rows. */
#ifndef FORMAT_CSV_H
#define FORMAT_CSV_H

#include <stdio.h>

/* A further field of a row: a comma, and the number; nothing behind it when that is not finite. */
void bal_csv_number(double value, FILE *out);

/* The text as one harmless line, quoted where it must be; no comma. An apostrophe is put before what a
 * spreadsheet would take for a formula. */
void bal_csv_text(const char *text, FILE *out);

#endif
