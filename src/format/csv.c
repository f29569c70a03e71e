#include "format/csv.h"

#include "ballast/number.h"

#include <math.h>
#include <string.h>

void bal_csv_number(double value, FILE *out) {
    char text[BAL_NUMBER_TEXT] = "";
    if (isfinite(value))
        bal_number_print(value, text);
    fprintf(out, ",%s", text);
}

void bal_csv_text(const char *text, FILE *out) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
