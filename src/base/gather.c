#include "base/gather.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Room for so much more and the terminator. */
static bool reserve(struct bal_gather *gather, size_t more) {
    if (more < gather->capacity - gather->size)
        return true;
    if (more > SIZE_MAX / 4 - gather->size)
        return false;
    const size_t capacity = 2 * (gather->size + more) + 256;
    char *text = realloc(gather->text, capacity);
    if (!text)
        return false;
    gather->text = text;
    gather->capacity = capacity;
    return true;
}

/* Less than was given makes an error of the stream. */
static ssize_t take(void *cookie, const char *bytes, size_t size) {
    struct bal_gather *gather = cookie;
    if (!reserve(gather, size))
        return 0;
    memcpy(gather->text + gather->size, bytes, size);
    gather->size += size;
    return (ssize_t)size;
}

bool bal_gather_open(struct bal_gather *gather) {
    *gather = (struct bal_gather){0};
    if (reserve(gather, 0))
        gather->stream = fopencookie(gather, "w", (cookie_io_functions_t){.write = take});
    return gather->stream;
}

bool bal_gather_close(struct bal_gather *gather) {
    bool whole = gather->stream && !ferror(gather->stream);
    if (gather->stream)
        whole = fclose(gather->stream) == 0 && whole;
    gather->stream = NULL;
    if (!whole)
        bal_gather_discard(gather);
    else
        gather->text[gather->size] = '\0';
    return whole;
}

void bal_gather_discard(struct bal_gather *gather) {
    if (gather->stream)
        fclose(gather->stream);
    free(gather->text);
    *gather = (struct bal_gather){0};
}

/* Reading from a stream that is only written to is an error, and POSIX has it set the indicator. */
void bal_stream_lose(FILE *stream) {
    (void)getc(stream);
}
