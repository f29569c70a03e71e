/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a file or a pipe, compressed or not, in bounded memory. */
#ifndef LOG_SOURCE_H
#define LOG_SOURCE_H

#include "ballast/error.h"
#include "log/span.h"

#include <stdint.h>

struct bli_log_source;

enum bli_log_line {
    BLI_LOG_LINE_WHOLE,
    BLI_LOG_LINE_LAST, /* without a newline: the file ends in it */
    BLI_LOG_LINE_LONG, /* too long; its beginning is given */
    BLI_LOG_LINE_NONE, /* the end of the file */
};

enum { BLI_LOG_LINE_MAX = 1 << 20 }; /* bytes of a line */

/* path "-" is standard input. A UTF-8 byte order mark at the beginning is skipped. stop: as for reading a
 * log. */
enum bal_code bli_log_source_open(const char *path, const volatile int *stop, struct bli_log_source **source,
                                  struct bal_error *err);
void bli_log_source_close(struct bli_log_source *source); /* NULL is allowed */

/* The next line without its end (LF or CR LF); it is valid until the next call. */
enum bal_code bli_log_source_next(struct bli_log_source *source, struct bli_log_span *line,
                                  enum bli_log_line *kind, struct bal_error *err);
/* Up to so many of the lines to come, without taking them: as many as are in memory, at least one. When there
 * are none, the file is at its end, its next line is too long, or it ends in the middle of compressed data.
 */
enum bal_code bli_log_source_peek(struct bli_log_source *source, struct bli_log_span *lines, size_t most,
                                  size_t *count, struct bal_error *err);

/* ---- files that grow ---- */

/* The same for a file that may grow: a line counts once its newline is there. At the end of the file there is
 * no line for now. */
enum bal_code bli_log_source_follow(const char *path, const volatile int *stop,
                                    struct bli_log_source **source, struct bal_error *err);
/* Skips all but the last so many bytes, and the rest of the line in which they begin. */
enum bal_code bli_log_source_skip(struct bli_log_source *source, uint64_t most, struct bal_error *err);

/* Checks the file again: new data are read from now on. When it was cut or replaced, the source stays at the
 * old contents until it is renewed, so that their rest can be read. A file that was replaced, as log rotation
 * does, is reported only when two checks in a row find it so. */
enum bli_log_growth { BLI_LOG_GROWS, BLI_LOG_CUT, BLI_LOG_REPLACED };
enum bli_log_growth bli_log_source_check(struct bli_log_source *source);
/* Takes the last line, if there is one without a newline. */
bool bli_log_source_rest(struct bli_log_source *source, struct bli_log_span *line);
enum bal_code bli_log_source_restart(struct bli_log_source *source, enum bli_log_growth growth,
                                     struct bal_error *err);

uint64_t bli_log_source_size(const struct bli_log_source *source);  /* of the file; 0 for a pipe */
uint64_t bli_log_source_taken(const struct bli_log_source *source); /* bytes of the file read so far */
uint64_t bli_log_source_bytes(const struct bli_log_source *source); /* the same after decompression */
/* Known at the end: a compressed file ends too early. */
bool bli_log_source_truncated(const struct bli_log_source *source);

#endif
