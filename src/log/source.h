/* Lines of a file or a pipe, compressed or not, in bounded memory. */
#ifndef LOG_SOURCE_H
#define LOG_SOURCE_H

#include "ballast/error.h"
#include "log/span.h"

#include <stdint.h>

struct bal_log_source;

enum bal_log_line {
    BAL_LOG_LINE_WHOLE,
    BAL_LOG_LINE_LAST, /* without a newline: the file ends in it */
    BAL_LOG_LINE_LONG, /* too long; its beginning is given */
    BAL_LOG_LINE_NONE, /* the end of the file */
};

enum { BAL_LOG_LINE_MOST = 1 << 20 }; /* bytes of a line */

/* path "-" is standard input. A mark of UTF-8 at the beginning is skipped. stop: as for reading a log. */
enum bal_code bal_log_source_open(const char *path, const volatile int *stop, struct bal_log_source **source,
                                  struct bal_error *err);
void bal_log_source_close(struct bal_log_source *source); /* NULL is allowed */

/* The next line without its end (LF or CR LF); it is gone with the next call. */
enum bal_code bal_log_source_next(struct bal_log_source *source, struct bal_log_span *line,
                                  enum bal_log_line *kind, struct bal_error *err);
/* Up to so many of the lines to come, without taking them: as many as are in memory, at least one. When there
 * are none, the file is at its end, its next line is too long, or it ends in the middle of compressed data.
 */
enum bal_code bal_log_source_peek(struct bal_log_source *source, struct bal_log_span *lines, size_t most,
                                  size_t *count, struct bal_error *err);

uint64_t bal_log_source_size(const struct bal_log_source *source);  /* of the file; 0 for a pipe */
uint64_t bal_log_source_taken(const struct bal_log_source *source); /* bytes of the file read so far */
uint64_t bal_log_source_bytes(const struct bal_log_source *source); /* the same after decompression */
/* Known at the end: a compressed file ends too early. */
bool bal_log_source_truncated(const struct bal_log_source *source);

#endif
