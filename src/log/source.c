/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the lines of a file or a pipe, decompressed where necessary, in bounded memory. */
#include "log/source.h"

#include "log/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CHUNK = 1 << 18, /* bytes that are read at once */
    ROOM = BLI_LOG_LINE_MAX + CHUNK + 1,
};

struct bli_log_source {
    const char *path;
    int fd;
    const volatile int *stop;
    uint64_t size, taken, bytes;

    const char *packed; /* the way in which it is compressed; NULL: it is not */
    struct bli_log_decompressor *unpacker;
    struct bli_log_buffers left; /* of what is read */
    unsigned char *input;

    char *buffer; /* ROOM bytes; lines to come are from start to end */
    size_t start, searched, end;
    bool ended, truncated;
    bool dropping; /* the rest of a line that is too long */

    bool grows;    /* more may come behind the end */
    bool replaced; /* another file had its name when it was looked at last */
    dev_t device;  /* of the file at hand */
    ino_t inode;
};

static enum bal_code fail_read(const struct bli_log_source *source, struct bal_error *err) {
    return bal_fail(err, BAL_E_IO, "'%s' cannot be read: %s", source->path, strerror(errno));
}

/* Reads size bytes, or less at the end of the file. */
static enum bal_code read_raw(struct bli_log_source *source, void *into, size_t size, size_t *got,
                              struct bal_error *err) {
    *got = 0;
    while (*got < size) {
        if (source->stop && *source->stop)
            return bal_fail(err, BAL_E_STOPPED, "stopped before the end");
        const ssize_t count = read(source->fd, (char *)into + *got, size - *got);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail_read(source, err);
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    source->taken += *got;
    return BAL_OK;
}

static enum bal_code fail_unpack(const struct bli_log_source *source, enum bli_log_unpacked result,
                                 struct bal_error *err) {
    if (result == BLI_LOG_NO_MEMORY)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to decompress '%s'", source->path);
    if (result == BLI_LOG_TOO_LARGE)
        return bal_fail(
            err, BAL_E_RANGE,
            "'%s' needs more than 128 MiB to decompress; read it with %s and hand it on as standard"
            " input, -",
            source->path, strcmp(source->packed, "xz") == 0 ? "xzcat" : "zstdcat --long=31");
    return bal_fail(err, BAL_E_FORMAT, "'%s' is damaged: its compressed data cannot be read beyond byte %llu",
                    source->path, (unsigned long long)(source->taken - source->left.in_left));
}

static enum bal_code decompress(struct bli_log_source *source, void *into, size_t size, size_t *got,
                                struct bal_error *err) {
    struct bli_log_buffers *left = &source->left;
    left->out = into;
    left->out_left = size;
    for (;;) {
        const enum bli_log_unpacked result = bli_log_decompress(source->unpacker, left);
        if (result != BLI_LOG_UNPACKED)
            return fail_unpack(source, result, err);
        if (left->out_left == 0)
            break;
        size_t count;
        const enum bal_code code = read_raw(source, source->input, CHUNK, &count, err);
        if (code)
            return code;
        source->truncated = count == 0 && bli_log_decompressor_busy(source->unpacker);
        if (count == 0)
            break;
        left->in = source->input;
        left->in_left = count;
    }
    *got = size - left->out_left;
    return BAL_OK;
}

/* Moves what is left to the front and reads more behind it. */
static enum bal_code fill_buffer(struct bli_log_source *source, struct bal_error *err) {
    memmove(source->buffer, source->buffer + source->start, source->end - source->start);
    source->searched -= source->start;
    source->end -= source->start;
    source->start = 0;
    size_t got;
    char *into = source->buffer + source->end;
    const enum bal_code code = source->packed ? decompress(source, into, CHUNK, &got, err)
                                              : read_raw(source, into, CHUNK, &got, err);
    if (code)
        return code;
    source->end += got;
    source->bytes += got;
    source->ended = got < CHUNK;
    return BAL_OK;
}

/* Files that cannot be read as they are begin with these bytes. */
static enum bal_code reject_unreadable(const struct bli_log_source *source, size_t length,
                                       struct bal_error *err) {
    static const struct {
        const char *bytes;
        size_t length;
        const char *what, *program;
    } others[] = {{"\x04\x22\x4d\x18", 4, "compressed with lz4", "lz4cat"},
                  {"\x1f\x9d", 2, "compressed with compress", "zcat"},
                  {"PK\x03\x04", 4, "a zip archive", "unzip -p"},
                  {"\xff\xfe", 2, "text in UTF-16", "iconv -f UTF-16"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (length >= others[i].length && memcmp(source->input, others[i].bytes, others[i].length) == 0)
            return bal_fail(err, BAL_E_FORMAT,
                            "'%s' is %s; read it with %s and hand it on as standard input, -", source->path,
                            others[i].what, others[i].program);
    return BAL_OK;
}

/* The first bytes show how the file is compressed. */
static enum bal_code detect_compression(struct bli_log_source *source, struct bal_error *err) {
    size_t got;
    enum bal_code code = read_raw(source, source->input, CHUNK, &got, err);
    if (!code)
        code = reject_unreadable(source, got, err);
    if (code)
        return code;
    source->packed = bli_log_packed_name(source->input, got);
    if (source->packed) {
        code = bli_log_decompressor_new(source->packed, &source->unpacker, err);
        source->left = (struct bli_log_buffers){.in = source->input, .in_left = got};
        code = code ? code : fill_buffer(source, err);
    } else {
        memcpy(source->buffer, source->input, got);
        source->end = source->bytes = got;
        source->ended = got < CHUNK;
    }
    if (source->end >= 3 && memcmp(source->buffer, "\xef\xbb\xbf", 3) == 0)
        source->start = source->searched = 3;
    return code;
}

static enum bal_code open_file(struct bli_log_source *source, struct bal_error *err) {
    const bool standard = strcmp(source->path, "-") == 0;
    const int at_once = source->grows ? O_NONBLOCK : 0; /* a pipe is refused, not waited for */
    source->fd = standard ? STDIN_FILENO : open(source->path, O_RDONLY | O_CLOEXEC | at_once);
    struct stat status;
    if (source->fd < 0 || fstat(source->fd, &status) < 0)
        return fail_read(source, err);
    if (S_ISDIR(status.st_mode))
        return bal_fail(err, BAL_E_IO, "'%s' is a directory; name the files in it", source->path);
    if (S_ISREG(status.st_mode))
        source->size = (uint64_t)status.st_size;
    else if (source->grows)
        return bal_fail(err, BAL_E_IO, "'%s' is no file; only a file can be followed", source->path);
    source->device = status.st_dev;
    source->inode = status.st_ino;
    return BAL_OK;
}

static enum bal_code open_source(const char *path, bool grows, const volatile int *stop,
                                 struct bli_log_source **source, struct bal_error *err) {
    struct bli_log_source *s = *source = calloc(1, sizeof *s);
    if (!s)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to read '%s'", path);
    s->path = path;
    s->fd = -1;
    s->grows = grows;
    s->stop = stop;
    s->buffer = malloc(ROOM);
    s->input = malloc(CHUNK);
    enum bal_code code = open_file(s, err);
    if (!code && (!s->buffer || !s->input))
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory to read '%s'", path);
    if (!code)
        code = detect_compression(s, err);
    if (!code && grows && s->packed)
        code = bal_fail(err, BAL_E_FORMAT, "'%s' is compressed (%s): it does not grow by lines", path,
                        s->packed);
    if (code) {
        bli_log_source_close(s);
        *source = NULL;
    }
    return code;
}

enum bal_code bli_log_source_open(const char *path, const volatile int *stop, struct bli_log_source **source,
                                  struct bal_error *err) {
    return open_source(path, false, stop, source, err);
}

void bli_log_source_close(struct bli_log_source *source) {
    if (!source)
        return;
    bli_log_decompressor_free(source->unpacker);
    if (source->fd > STDERR_FILENO)
        close(source->fd);
    free(source->buffer);
    free(source->input);
    free(source);
}

/* A line from start to end, without the CR that may precede its newline. */
static struct bli_log_span make_line(const struct bli_log_source *source, size_t start, size_t end) {
    const char *text = source->buffer + start;
    size_t length = end - start;
    length -= length > 0 && text[length - 1] == '\r';
    return (struct bli_log_span){text, length};
}

/* Where the next newline is, or end. */
static size_t find_newline(const struct bli_log_source *source, size_t from) {
    const char *found = memchr(source->buffer + from, '\n', source->end - from);
    return found ? (size_t)(found - source->buffer) : source->end;
}

/* Drops what is left of a line that was too long. */
static enum bal_code skip_long_line(struct bli_log_source *source, struct bal_error *err) {
    while (source->dropping) {
        const size_t newline = find_newline(source, source->start);
        source->dropping = newline == source->end;
        source->start = source->searched = newline + !source->dropping;
        if (!source->dropping || source->ended)
            break;
        const enum bal_code code = fill_buffer(source, err);
        if (code)
            return code;
    }
    source->dropping = source->dropping && source->grows;
    return BAL_OK;
}

/* Sees to it that a whole line is in memory, unless the file is at its end or the line is too long. */
static enum bal_code load_line(struct bli_log_source *source, size_t *newline, struct bal_error *err) {
    enum bal_code code = skip_long_line(source, err);
    *newline = source->end;
    while (!code && (*newline = find_newline(source, source->searched)) == source->end && !source->ended &&
           source->end - source->start <= BLI_LOG_LINE_MAX) {
        source->searched = source->end;
        code = fill_buffer(source, err);
    }
    return code;
}

enum bal_code bli_log_source_next(struct bli_log_source *source, struct bli_log_span *line,
                                  enum bli_log_line *kind, struct bal_error *err) {
    size_t newline;
    const enum bal_code code = load_line(source, &newline, err);
    if (code)
        return code;
    const bool whole = newline < source->end;
    *kind = BLI_LOG_LINE_NONE;
    if (!whole && source->grows && newline - source->start <= BLI_LOG_LINE_MAX) /* its end is to come */
        return BAL_OK;
    *line = make_line(source, source->start, newline);
    *kind = whole ? BLI_LOG_LINE_WHOLE : line->length > 0 ? BLI_LOG_LINE_LAST : BLI_LOG_LINE_NONE;
    if (newline - source->start > BLI_LOG_LINE_MAX) {
        *kind = BLI_LOG_LINE_LONG;
        source->dropping = !whole;
    }
    source->start = source->searched = newline + whole;
    return BAL_OK;
}

enum bal_code bli_log_source_peek(struct bli_log_source *source, struct bli_log_span *lines, size_t most,
                                  size_t *count, struct bal_error *err) {
    *count = 0;
    size_t newline = 0;
    enum bal_code code = BAL_OK;
    if (source->grows && !source->ended && source->end - source->start <= BLI_LOG_LINE_MAX)
        code = fill_buffer(source, err); /* in addition to what was there at the last check */
    if (!code)
        code = load_line(source, &newline, err);
    for (size_t at = source->start; !code && at < source->end && *count < most; at = newline + 1) {
        newline = find_newline(source, at);
        const bool whole = newline < source->end;
        if ((!whole && (!source->ended || source->truncated || source->grows)) ||
            newline - at > BLI_LOG_LINE_MAX)
            break;
        lines[(*count)++] = make_line(source, at, newline);
    }
    return code;
}

/* ---- files that grow ---- */

enum bal_code bli_log_source_follow(const char *path, const volatile int *stop,
                                    struct bli_log_source **source, struct bal_error *err) {
    return open_source(path, true, stop, source, err);
}

static void reset_buffer(struct bli_log_source *source) {
    source->start = source->searched = source->end = 0;
    source->ended = source->dropping = false;
}

enum bal_code bli_log_source_skip(struct bli_log_source *source, uint64_t most, struct bal_error *err) {
    if (source->size <= most)
        return BAL_OK;
    if (lseek(source->fd, (off_t)(source->size - most), SEEK_SET) < 0)
        return fail_read(source, err);
    reset_buffer(source);
    source->dropping = true; /* what it has come into the middle of */
    return BAL_OK;
}

bool bli_log_source_rest(struct bli_log_source *source, struct bli_log_span *line) {
    *line = make_line(source, source->start, source->end);
    const bool is_line = !source->dropping && line->length > 0;
    reset_buffer(source);
    return is_line;
}

/* A file that is shorter than what was read of it has been cut, and is read from its beginning again. */
static bool is_truncated(const struct bli_log_source *source) {
    struct stat status;
    const off_t at = lseek(source->fd, 0, SEEK_CUR);
    return fstat(source->fd, &status) == 0 && at > status.st_size;
}

/* Another file has the name, and something is in it. Whoever wrote the old one may still be about to let go
 * of it, so it counts from the second look on. */
static bool is_replaced(struct bli_log_source *source) {
    struct stat status;
    const bool other = stat(source->path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
                       (status.st_dev != source->device || status.st_ino != source->inode);
    const bool before = source->replaced;
    source->replaced = other;
    return other && before;
}

enum bli_log_growth bli_log_source_check(struct bli_log_source *source) {
    source->ended = false;
    return is_truncated(source) ? BLI_LOG_CUT : is_replaced(source) ? BLI_LOG_REPLACED : BLI_LOG_GROWS;
}

enum bal_code bli_log_source_restart(struct bli_log_source *source, enum bli_log_growth growth,
                                     struct bal_error *err) {
    reset_buffer(source);
    if (growth == BLI_LOG_CUT)
        return lseek(source->fd, 0, SEEK_SET) < 0 ? fail_read(source, err) : BAL_OK;
    const int old = source->fd;
    const enum bal_code code = open_file(source, err);
    if (code) { /* it may be there later */
        if (source->fd >= 0)
            close(source->fd);
        source->fd = old;
        return code;
    }
    source->replaced = false;
    close(old);
    return BAL_OK;
}

uint64_t bli_log_source_size(const struct bli_log_source *source) {
    return source->size;
}

uint64_t bli_log_source_taken(const struct bli_log_source *source) {
    return source->taken;
}

uint64_t bli_log_source_bytes(const struct bli_log_source *source) {
    return source->bytes;
}

bool bli_log_source_truncated(const struct bli_log_source *source) {
    return source->truncated;
}
