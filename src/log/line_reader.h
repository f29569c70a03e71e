/* SPDX-License-Identifier: BSD-2-Clause */
/* The reading of lines: what read_log.c does with files from beginning to end, and tail.c with one that
 * grows.
 */
#ifndef LOG_LINE_READER_H
#define LOG_LINE_READER_H

#include "ballast/log.h"
#include "ballast/random.h"
#include "log/entry.h"
#include "log/filter.h"
#include "log/match.h"
#include "log/source.h"
#include "log/subsecond_jitter.h"

struct bli_log_reader {
    const struct bli_log_options *options;
    struct bli_log_summary *summary;
    struct bli_log_match *high;
    struct bli_log_match *kind[BLI_TRACE_KINDS];
    struct bli_log_filter *filter;
    struct bli_log_subsecond held; /* lines of one second, where the log gives their ends in whole seconds */
    double total;                  /* bytes of all files, NaN when unknown */
    uint64_t done;                 /* bytes of the previous files */
    uint64_t next_report;

    /* the file at hand */
    struct bli_log_file *file;
    struct bli_log_source *source;
    struct bli_log_format format;
    struct bli_log_binding binding;
    struct bli_log_clock clock;
    bool header;   /* its first line is one */
    bool measured; /* the resolution of times is known: from the first lines, or from the first line that has
                      a time */
    bool spread;
    struct bal_rng rng;
    int64_t latest;  /* time that was read */
    uint64_t coarse; /* lines whose service time is 0 because of the coarse resolution */
};

/* files: how many there will be. Options and summary must outlive it; it is ended also after an error, and so
 * is the summary. */
enum bal_code bli_log_reader_init(struct bli_log_reader *reader, size_t files,
                                  const struct bli_log_options *options, struct bli_log_summary *summary,
                                  struct bal_error *err);
void bli_log_reader_fini(struct bli_log_reader *reader);

/* Begins with the file of that number. The caller opens its source. */
void bli_log_reader_open_file(struct bli_log_reader *reader, const char *path, size_t number);
/* Finds the format from the first lines; format.kind stays NULL where there are none. The caller frees the
 * format. */
enum bal_code bli_log_reader_begin(struct bli_log_reader *reader, struct bal_error *err);
/* Takes the next line; *kind is BLI_LOG_LINE_NONE when there is none. */
enum bal_code bli_log_reader_next(struct bli_log_reader *reader, enum bli_log_line *kind,
                                  struct bal_error *err);
/* Takes a line that is not the source's next one. */
enum bal_code bli_log_reader_add_line(struct bli_log_reader *reader, struct bli_log_span line,
                                      enum bli_log_line kind, struct bal_error *err);
/* Passes on the lines of one second, which were held because more could follow. */
enum bal_code bli_log_reader_flush(struct bli_log_reader *reader, struct bal_error *err);
/* Is the resolution of service times fine enough? */
enum bal_code bli_log_reader_check(const struct bli_log_reader *reader, struct bal_error *err);

#endif
