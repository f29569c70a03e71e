/* SPDX-License-Identifier: BSD-2-Clause */
/* Text gathered in memory through a stream, whole or not at all.
 *
 * The memory streams of the C library forget what they had no memory for: a failed write sets no error, and
 * closing succeeds. These remember. Code that writes to any stream and cannot write all of it calls
 * bli_stream_mark_incomplete, and need not report it to its caller; the code that ends the stream checks
 * ferror. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct bli_strbuf {
    FILE *stream; /* write here; NULL when it could not be opened, or is closed */
    char *text;   /* once closed: all that was written, terminated */
    size_t size, capacity;
};

/* False without memory. The structure must stay where it is until it is closed. */
bool bli_strbuf_open(struct bli_strbuf *buf);

/* Ends it: true when all of the text is there, which the caller frees; false when something was lost, and
 * then there is none. After a failed open it is false too. */
bool bli_strbuf_close(struct bli_strbuf *buf);

/* Ends it and throws the text away; also after it has been closed. */
void bli_strbuf_discard(struct bli_strbuf *buf);

/* Marks a stream that is only written to as one that lacks something: from now on ferror is true. */
void bli_stream_mark_incomplete(FILE *stream);

#endif
