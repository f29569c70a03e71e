/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints a piece of a line for people. */
#include "log/span.h"

#include "base/utf8.h"

static void copy_printable(char *to, const char *from, size_t length) {
    for (size_t i = 0; i < length; i++)
        to[i] = from[i] ? from[i] : '?';
}

void bli_log_show(struct bli_log_span span, char *to, size_t size) {
    static const char gap[] = " ... ";
    const size_t marks = sizeof gap - 1;
    if (span.length < size) {
        copy_printable(to, span.text, span.length);
        to[span.length] = 0;
        bli_utf8_tame(to, "");
        return;
    }
    const size_t room = size - 1 - marks, tail = room / 2, head = room - tail;
    copy_printable(to, span.text, head);
    memcpy(to + head, gap, marks);
    copy_printable(to + head + marks, span.text + span.length - tail, tail);
    to[size - 1] = 0;
    bli_utf8_tame(to, "");
}
