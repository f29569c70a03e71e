/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the fields of csv rows. */
#include "format/csv.h"

#include "ballast/number.h"

#include "base/utf8.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void bli_csv_number(double value, FILE *out) {
    char text[BLI_NUMBER_TEXT] = "";
    if (isfinite(value))
        bli_number_print(value, text);
    fprintf(out, ",%s", text);
}

/* Spreadsheets compute what begins like this, unless it is a number. */
static bool is_formula(const char *text) {
    double number;
    return *text && strchr("=+-@\t\r", *text) && !bli_number_parse(text, strlen(text), &number);
}

void bli_csv_text(const char *text, FILE *out) {
    const bool formula = is_formula(text), quoted = strpbrk(text, ",\"\r\n");
    fprintf(out, "%s%s", quoted ? "\"" : "", formula ? "'" : "");
    while (*text) {
        char letter[4], *end = letter;
        bli_utf8_put(&end, bli_utf8_next(&text));
        fprintf(out, "%s%.*s", *letter == '"' ? "\"" : "", (int)(end - letter), letter);
    }
    fputs(quoted ? "\"" : "", out);
}
