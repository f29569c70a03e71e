/* Text gathered in memory through a stream, whole or not at all.
 *
 * The memory streams of the C library forget what they had no room for: a failed write sets no error, and
 * closing succeeds. These remember. Whoever writes to any stream and cannot write all that belongs there says
 * so with bal_stream_lose, and need not tell its caller; whoever ends the stream asks ferror. */
#ifndef BASE_GATHER_H
#define BASE_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct bal_gather {
    FILE *stream; /* write here; NULL when it could not be opened, or is closed */
    char *text;   /* once closed: all that was written, terminated */
    size_t size, capacity;
};

/* False without memory. The structure must stay where it is until it is closed. */
bool bal_gather_open(struct bal_gather *gather);

/* Ends it: true when all of the text is there, which the caller frees; false when something was lost, and
 * then there is none. After a failed open it is false too. */
bool bal_gather_close(struct bal_gather *gather);

/* Ends it and throws the text away; also after it has been closed. */
void bal_gather_discard(struct bal_gather *gather);

/* Marks a stream that is only written to as one that lacks something: from now on ferror is true. */
void bal_stream_lose(FILE *stream);

#endif
