/* SPDX-License-Identifier: BSD-2-Clause */
/* A length of time that is computed from numbers in the columns of a log:
 *
 *     ContextTokens*0.2ms + GeneratedTokens*25ms
 *
 * Numbers, numbers with a unit (ns, us, ms, s, min, h), names of columns, + - * / and parentheses; a name
 * that has other characters than letters, digits and _ . $ @ % stands between double quotes. Units are
 * checked: a time is not added to a number, and the result is a time. */
#ifndef LOG_EXPRESSION_H
#define LOG_EXPRESSION_H

#include "ballast/error.h"
#include "log/span.h"

#include <stdint.h>

enum { BLI_LOG_EXPRESSION_STEPS = 64, BLI_LOG_EXPRESSION_COLUMNS = 8, BLI_LOG_EXPRESSION_DEPTH = 32 };

struct bli_log_expression_step {
    char operation; /* + - * /, '0' for a value, 'c' for a column */
    double value;   /* times in nanoseconds */
    int column;
};

struct bli_log_expression {
    struct bli_log_expression_step step[BLI_LOG_EXPRESSION_STEPS]; /* operations stand behind their operands
                                                                    */
    int steps;                                                     /* 0: there is none */
    struct bli_log_span column[BLI_LOG_EXPRESSION_COLUMNS];        /* parts of the text that was parsed */
    int columns;
};

/* Does the text look like one, rather than like a name? */
bool bli_log_expression_is_meant(const char *text);
enum bal_code bli_log_expression_parse(const char *text, struct bli_log_expression *expression,
                                       struct bal_error *err);

/* The value with the fields of a line: column i is fields[field[i]]. False when one of them is no number, or
 * when the result is negative, or more than 100 years. */
bool bli_log_expression_value(const struct bli_log_expression *expression, const struct bli_log_span *fields,
                              const int *field, int64_t *nanoseconds);

#endif
