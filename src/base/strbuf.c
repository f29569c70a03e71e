/* SPDX-License-Identifier: BSD-2-Clause */
/* A string buffer behind a C stream that remembers a failed write. */
#include "base/strbuf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Capacity for so much more and the terminator. */
static bool reserve_bytes(struct bli_strbuf *buf, size_t more) {
    if (more < buf->capacity - buf->size)
        return true;
    if (more > SIZE_MAX / 4 - buf->size)
        return false;
    const size_t capacity = 2 * (buf->size + more) + 256;
    char *text = realloc(buf->text, capacity);
    if (!text)
        return false;
    buf->text = text;
    buf->capacity = capacity;
    return true;
}

/* Less than was given makes an error of the stream. */
static ssize_t append_bytes(void *cookie, const char *bytes, size_t size) {
    struct bli_strbuf *buf = cookie;
    if (!reserve_bytes(buf, size))
        return 0;
    memcpy(buf->text + buf->size, bytes, size);
    buf->size += size;
    return (ssize_t)size;
}

bool bli_strbuf_open(struct bli_strbuf *buf) {
    *buf = (struct bli_strbuf){0};
    if (reserve_bytes(buf, 0))
        buf->stream = fopencookie(buf, "w", (cookie_io_functions_t){.write = append_bytes});
    return buf->stream;
}

bool bli_strbuf_close(struct bli_strbuf *buf) {
    bool whole = buf->stream && !ferror(buf->stream);
    if (buf->stream)
        whole = fclose(buf->stream) == 0 && whole;
    buf->stream = NULL;
    if (!whole)
        bli_strbuf_discard(buf);
    else
        buf->text[buf->size] = '\0';
    return whole;
}

void bli_strbuf_discard(struct bli_strbuf *buf) {
    if (buf->stream)
        fclose(buf->stream);
    free(buf->text);
    *buf = (struct bli_strbuf){0};
}

/* Reading from a stream that is only written to is an error, and POSIX has it set the indicator. */
void bli_stream_mark_incomplete(FILE *stream) {
    (void)getc(stream);
}
