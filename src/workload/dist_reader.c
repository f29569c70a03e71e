/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of name(number,...), which all distributions share. */
#include "workload/dist_reader.h"

#include "ballast/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { QUOTED = 60 }; /* bytes of the user's text that an error shows */

enum bal_code bli_dist_reader_fail(const struct bli_dist_reader *r, enum bal_code code, const char *format,
                                   ...) {
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const char *dots = strlen(r->text) > QUOTED ? "..." : "";
    return bal_fail(r->err, code, "law '%.*s%s': %s", QUOTED, r->text, dots, message);
}

enum bal_code bli_dist_reader_expected(const struct bli_dist_reader *r, const char *what) {
    if (*r->at == '\0')
        return bli_dist_reader_fail(r, BAL_E_SYNTAX, "%s expected at the end; write %s", what, r->usage);
    return bli_dist_reader_fail(r, BAL_E_SYNTAX, "%s expected at '%.20s'; write %s", what, r->at, r->usage);
}

void bli_dist_reader_skip_spaces(struct bli_dist_reader *r) {
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

bool bli_dist_reader_accept(struct bli_dist_reader *r, char c) {
    bli_dist_reader_skip_spaces(r);
    if (*r->at != c)
        return false;
    r->at++;
    bli_dist_reader_skip_spaces(r);
    return true;
}

enum bal_code bli_dist_reader_number(struct bli_dist_reader *r, double *value) {
    bli_dist_reader_skip_spaces(r);
    const char *end = bli_number_read(r->at, value);
    if (!end)
        return bli_dist_reader_expected(r, "a number");
    if (!isfinite(*value))
        return bli_dist_reader_fail(r, BAL_E_RANGE, "the number at '%.20s' is too large", r->at);
    *value += 0.0; /* -0 becomes 0 */
    if (*end == '%') {
        *value /= 100;
        end++;
    }
    r->at = end;
    bli_dist_reader_skip_spaces(r);
    return BAL_OK;
}
