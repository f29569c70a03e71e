/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills in a struct bal_error, and gives the general meaning of each code. */
#include "ballast/error.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum bal_code bal_fail(struct bal_error *err, enum bal_code code, const char *format, ...) {
    if (!err)
        return code;
    err->code = code;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (length >= (int)sizeof err->text)
        memcpy(err->text + sizeof err->text - 4, "...", 4);
    bli_utf8_tame(err->text, "");
    return code;
}

const char *bal_code_text(enum bal_code code) {
    static const char *const texts[] = {
#define X(name, text) text,
        BAL_CODES(X)
#undef X
    };
    return (unsigned)code < sizeof texts / sizeof *texts ? texts[code] : "an unknown error";
}
