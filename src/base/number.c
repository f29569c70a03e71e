/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading and writing decimal numbers, whatever the locale. */
#include "ballast/number.h"

#include "base/c_locale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_digits(const char *text) {
    return strspn(text, "0123456789");
}

/* Length of [sign] digits [. digits] [e [sign] digits] at the start of text, 0 if there is none. strtod alone
 * would also take hexadecimal numbers, "inf", "nan" and leading blanks. */
static size_t decimal_length(const char *text) {
    size_t length = text[0] == '+' || text[0] == '-';
    size_t digits = count_digits(text + length);
    length += digits;
    if (text[length] == '.') {
        const size_t fraction = count_digits(text + length + 1);
        digits += fraction;
        length += 1 + fraction;
    }
    if (digits == 0)
        return 0;
    if (text[length] == 'e' || text[length] == 'E') {
        const size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
        const size_t exponent = count_digits(text + length + 1 + sign);
        if (exponent > 0)
            length += 1 + sign + exponent;
    }
    return length;
}

const char *bli_number_read(const char *text, double *value) {
    const size_t length = decimal_length(text);
    if (length == 0)
        return NULL;
    const struct bli_locale_swap swap = bli_locale_enter_c();
    char *end;
    *value = strtod(text, &end);
    bli_locale_leave(swap);
    if (end != text + length) /* a hexadecimal number: the decimal one at its start is the 0 before the x */
        *value = 0;
    return text + length;
}

bool bli_number_parse(const char *text, size_t length, double *value) {
    char copy[64];
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    double number;
    const char *end = bli_number_read(copy, &number);
    if (!end)
        return false;
    if (*end) {
        const double factor = *end == 'k' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : NAN;
        number *= factor;
        end++;
    }
    if (end != copy + length || !isfinite(number))
        return false;
    *value = number;
    return true;
}

bool bli_share_parse(const char *text, size_t length, double *value) {
    const bool percent = length > 1 && text[length - 1] == '%';
    if (!bli_number_parse(text, length - percent, value))
        return false;
    if (percent)
        *value /= 100;
    return true;
}

void bli_number_print(double value, char text[BLI_NUMBER_TEXT]) {
    const struct bli_locale_swap swap = bli_locale_enter_c();
    if (fabs(value) < 1e15 && value == floor(value)) {
        snprintf(text, BLI_NUMBER_TEXT, "%.0f", value + 0.0);
    } else {
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, BLI_NUMBER_TEXT, "%.*g", digits, value);
            if (strtod(text, NULL) == value)
                break;
        }
    }
    bli_locale_leave(swap);
}
