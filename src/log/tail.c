/* SPDX-License-Identifier: BSD-2-Clause */
/* A log that grows, as `tail -F` sees it. */
#include "log/line_reader.h"

#include <stdlib.h>
#include <string.h>

enum { CHECKED_MIN = 100 }; /* jobs after which the resolution of service times is known */

struct bli_log_tail {
    struct bli_log_reader reader;
    const char *path;
    uint64_t most;
    bool begun;
    uint64_t renewed;
    struct bal_error trouble;
};

enum bal_code bli_log_tail_new(const char *path, uint64_t most, const struct bli_log_options *options,
                               struct bli_log_summary *summary, struct bli_log_tail **follow,
                               struct bal_error *err) {
    struct bli_log_tail *f = *follow = calloc(1, sizeof *f);
    if (!f)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to follow '%s'", path);
    f->path = path;
    f->most = most;
    enum bal_code code = bli_log_reader_init(&f->reader, 1, options, summary, err);
    if (!code) {
        summary->files = 1;
        bli_log_reader_open_file(&f->reader, path, 0);
        code = bli_log_source_follow(path, options->stop, &f->reader.source, err);
    }
    if (code) {
        bli_log_tail_free(f);
        *follow = NULL;
    }
    return code;
}

void bli_log_tail_free(struct bli_log_tail *follow) {
    if (!follow)
        return;
    bli_log_source_close(follow->reader.source);
    bli_log_format_free(&follow->reader.format);
    bli_log_reader_fini(&follow->reader);
    free(follow);
}

/* A few lines may leave open what more lines would decide: detection waits until there is a whole sample. */
static enum bal_code detect_format(struct bli_log_tail *follow, struct bal_error *err) {
    struct bli_log_reader *reader = &follow->reader;
    struct bli_log_span lines[BLI_LOG_SAMPLE];
    size_t count;
    enum bal_code code = bli_log_source_peek(reader->source, lines, BLI_LOG_SAMPLE, &count, err);
    if (code || count == 0)
        return code;
    struct bal_error why = {0};
    code = bli_log_reader_begin(reader, &why);
    if (code == BAL_E_FORMAT && count < BLI_LOG_SAMPLE) {
        follow->trouble = why;
        bli_log_format_free(&reader->format);
        reader->format = (struct bli_log_format){0};
        return BAL_OK;
    }
    if (code) {
        if (err)
            *err = why;
        return code;
    }
    follow->trouble = (struct bal_error){0};
    follow->begun = reader->format.kind;
    if (!follow->begun || !bli_log_tail_skipped(follow))
        return BAL_OK;
    reader->header = false; /* it stands at the beginning */
    return bli_log_source_skip(reader->source, follow->most, err);
}

static enum bal_code read_lines(struct bli_log_tail *follow, struct bal_error *err) {
    struct bli_log_reader *reader = &follow->reader;
    enum bal_code code = BAL_OK;
    for (enum bli_log_line kind = BLI_LOG_LINE_WHOLE; !code && kind != BLI_LOG_LINE_NONE;)
        code = bli_log_reader_next(reader, &kind, err);
    if (!code && reader->file->jobs + reader->coarse >= CHECKED_MIN)
        code = bli_log_reader_check(reader, err);
    return code;
}

/* What is left of a file that has been cut or replaced is a line without its end. */
static enum bal_code restart_file(struct bli_log_tail *follow, enum bli_log_growth growth,
                                  struct bal_error *err) {
    struct bli_log_reader *reader = &follow->reader;
    struct bli_log_span rest;
    enum bal_code code = BAL_OK;
    if (bli_log_source_rest(reader->source, &rest))
        code = bli_log_reader_add_line(reader, rest, BLI_LOG_LINE_LAST, err);
    if (code)
        return code;
    follow->trouble = (struct bal_error){0};
    if (bli_log_source_restart(reader->source, growth, &follow->trouble))
        return BAL_OK;
    follow->renewed++;
    reader->header = strcmp(reader->format.name, "csv") == 0;
    return read_lines(follow, err);
}

enum bal_code bli_log_tail_poll(struct bli_log_tail *follow, struct bal_error *err) {
    const enum bli_log_growth growth = bli_log_source_check(follow->reader.source);
    enum bal_code code = follow->begun ? BAL_OK : detect_format(follow, err);
    if (!code && follow->begun)
        code = read_lines(follow, err);
    if (!code && growth != BLI_LOG_GROWS)
        code = restart_file(follow, growth, err);
    return code;
}

enum bal_code bli_log_tail_end(struct bli_log_tail *follow, struct bal_error *err) {
    if (!follow->begun) {
        if (follow->trouble.code && err)
            *err = follow->trouble;
        return follow->trouble.code;
    }
    struct bli_log_span rest;
    enum bal_code code = BAL_OK;
    if (bli_log_source_rest(follow->reader.source, &rest))
        code = bli_log_reader_add_line(&follow->reader, rest, BLI_LOG_LINE_LAST, err);
    if (!code)
        code = bli_log_reader_flush(&follow->reader, err);
    return code ? code : bli_log_reader_check(&follow->reader, err);
}

const char *bli_log_tail_problem(const struct bli_log_tail *follow) {
    return follow->trouble.code ? follow->trouble.text : NULL;
}

bool bli_log_tail_skipped(const struct bli_log_tail *follow) {
    return bli_log_source_size(follow->reader.source) > follow->most;
}

uint64_t bli_log_tail_restarts(const struct bli_log_tail *follow) {
    return follow->renewed;
}
