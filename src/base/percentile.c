/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading and writing the names of percentiles, and sorted lists of them. */
#include "ballast/percentile.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool bli_percentile_looks(const char *text) {
    return text[0] == 'p' && is_digit(text[1]);
}

/* Digits, and perhaps a point and more of them. */
static bool is_plain(const char *text, size_t length) {
    const size_t whole = strspn(text, "0123456789");
    if (whole >= length)
        return length > 0;
    const size_t fraction = strspn(text + whole + 1, "0123456789");
    return whole > 0 && text[whole] == '.' && fraction > 0 && whole + 1 + fraction >= length &&
           whole + 1 < length;
}

/* How many digits stand before the point, where that is left out; 0: it is not. */
static size_t hidden_point(const char *digits, size_t length) {
    return strspn(digits, "0123456789") >= length && length > 2 && digits[0] == '9' ? 2 : 0;
}

/* Names have no more digits, and no run has so many jobs. */
enum { DIGITS = 6 };

static bool is_too_fine(const char *text, size_t length) {
    if (length < 2 || text[0] != 'p' || !is_plain(text + 1, length - 1))
        return false;
    const char *point = memchr(text, '.', length);
    const char *digits = point ? point + 1 : text + 1 + hidden_point(text + 1, length - 1);
    return digits > text + 1 && text + length - digits > DIGITS;
}

static bool read_percent(const char *digits, size_t length, double *percent) {
    char number[BLI_PERCENTILE_TEXT];
    if (!is_plain(digits, length) || length + 2 > sizeof number)
        return false;
    const size_t whole = hidden_point(digits, length);
    snprintf(number, sizeof number, "%.*s%s%.*s", (int)whole, digits, whole ? "." : "", (int)(length - whole),
             digits + whole);
    return bli_number_read(number, percent) != NULL;
}

enum bal_code bli_percentile_parse(const char *text, size_t length, double *quantile, struct bal_error *err) {
    double percent = 0;
    if (is_too_fine(text, length))
        return bal_fail(err, BAL_E_RANGE,
                        "'%.*s' is too fine: use at most %d digits behind the point, as in p99.9",
                        (int)(length < 60 ? length : 60), text, DIGITS);
    if (length > 1 && text[0] == 'p' && read_percent(text + 1, length - 1, &percent) && percent > 0 &&
        percent < 100) {
        *quantile = percent / 100;
        return BAL_OK;
    }
    return bal_fail(err, BAL_E_RANGE,
                    "'%.*s' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9",
                    (int)(length < 60 ? length : 60), text);
}

const char *bli_percentile_print(double quantile, char text[BLI_PERCENTILE_TEXT]) {
    snprintf(text, BLI_PERCENTILE_TEXT, "p%.*f", DIGITS, 100 * quantile);
    char *end = text + strlen(text);
    while (end[-1] == '0')
        end--;
    end[end[-1] == '.' ? -1 : 0] = '\0';
    return text;
}

const char *bli_percentile_name(double quantile, char text[BLI_PERCENTILE_TEXT]) {
    bli_percentile_print(quantile, text);
    if (text[1] == '9' && is_digit(text[2]) && text[3] == '.')
        memmove(text + 3, text + 4, strlen(text + 4) + 1);
    return text;
}

/* Inserts it in order; false: it is there already, or the list is full. */
static bool insert(struct bli_percentiles *percentiles, double quantile) {
    unsigned at = percentiles->count;
    while (at > 0 && percentiles->quantile[at - 1] >= quantile)
        at--;
    if (percentiles->count == BLI_PERCENTILES_MAX ||
        (at < percentiles->count && percentiles->quantile[at] == quantile))
        return false;
    memmove(&percentiles->quantile[at + 1], &percentiles->quantile[at],
            (percentiles->count - at) * sizeof *percentiles->quantile);
    percentiles->quantile[at] = quantile;
    percentiles->count++;
    return true;
}

enum bal_code bli_percentiles_add(const char *text, struct bli_percentiles *percentiles,
                                  struct bal_error *err) {
    struct bli_percentiles found = *percentiles;
    for (;;) {
        text += strspn(text, " ");
        const size_t length = strcspn(text, ", ");
        char name[BLI_PERCENTILE_TEXT + 40];
        snprintf(name, sizeof name, "%s%.*s", is_digit(text[0]) ? "p" : "", (int)(length < 60 ? length : 60),
                 text);
        double quantile;
        const enum bal_code code = bli_percentile_parse(name, strlen(name), &quantile, err);
        if (code)
            return code;
        if (!insert(&found, quantile))
            return bal_fail(err, BAL_E_RANGE, "'%.*s' is one too many: each once, and at most %d",
                            (int)length, text, BLI_PERCENTILES_MAX);
        text += length;
        text += strspn(text, " ");
        if (*text == '\0')
            break;
        if (*text++ != ',')
            return bal_fail(err, BAL_E_SYNTAX, "write percentiles with commas between them: 50,95,99.9");
    }
    *percentiles = found;
    return BAL_OK;
}
