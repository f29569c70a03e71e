/* SPDX-License-Identifier: BSD-2-Clause */
/* A piece of a line. */
#ifndef LOG_SPAN_H
#define LOG_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct bli_log_span {
    const char *text; /* without a 0 at its end; NULL: not there */
    size_t length;
};

static inline bool bli_log_is(struct bli_log_span span, const char *text) {
    return span.length == strlen(text) && memcmp(span.text, text, span.length) == 0;
}

static inline bool bli_log_is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Without blanks at its ends. */
static inline struct bli_log_span bli_log_trim(struct bli_log_span span) {
    while (span.length > 0 && bli_log_is_blank(span.text[0])) {
        span.text++;
        span.length--;
    }
    while (span.length > 0 && bli_log_is_blank(span.text[span.length - 1]))
        span.length--;
    return span;
}

/* Prints it for people: without control characters (base/utf8.h), and " ... " in place of its middle where it
 * does not fit. size: at least 8. */
void bli_log_show(struct bli_log_span span, char *to, size_t size);

#endif
