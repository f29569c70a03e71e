/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes: jobs, lines that are accounted for, or one line of error. The first line of the input
 * chooses how the rest is read: a format (a name or a pattern), and behind tabs a field of the service time,
 * one of the time, and a pattern of classes; and behind four more the field of the server, the moments from
 * and to, and statuses; each "-" to leave it out. */
#include "ballast/log.h"

#include "base/utf8.h"
#include "workload/trace_private.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct bal_error *err, enum bal_code code) {
    assert(err->code == code && *err->text);
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_summary(const struct bli_log_summary *summary) {
    uint64_t skipped = 0, examples = 0;
    for (int i = 0; i < BLI_LOG_REASON_COUNT; i++) {
        skipped += summary->skipped[i];
        examples += summary->skipped[i] < 2 ? summary->skipped[i] : 2;
    }
    assert(summary->jobs + summary->filtered + summary->empty + skipped == summary->lines);
    assert(summary->examples == (examples < BLI_LOG_EXAMPLES ? examples : BLI_LOG_EXAMPLES));
    assert(summary->files == 2);
    for (size_t i = 0; i < summary->files; i++) {
        const struct bli_log_file *file = &summary->file[i];
        assert(file->jobs == 0 || (*file->format && *file->service && *file->time));
    }
    assert(summary->file[1].same == (summary->file[0].jobs > 0)); /* it is read twice */
    assert(summary->jobs == 0 || (summary->resolution > 0 && summary->resolution <= 1));
    for (size_t i = 0; i < summary->examples; i++) {
        const struct bli_log_example *example = &summary->example[i];
        assert((unsigned)example->reason < BLI_LOG_REASON_COUNT);
        assert(example->line > 0 && example->line <= summary->lines);
        assert(memchr(example->text, 0, sizeof example->text));
        for (const char *c = example->text; *c;) {
            bool valid;
            assert(bli_utf8_is_harmless(bli_utf8_decode(&c, &valid)) && valid);
        }
    }
}

static void check_jobs(struct bli_trace *trace, uint64_t jobs) {
    struct bal_error err;
    const enum bal_code code = bli_trace_finish(trace, NULL, &err);
    assert(code == (jobs ? BAL_OK : BAL_E_MODEL));
    if (code)
        return;
    struct bli_trace_cursor *cursor;
    assert(!bli_trace_cursor_new(trace, &cursor, &err));
    struct bli_trace_job job, before = {.time = INT64_MIN};
    uint64_t count = 0;
    for (; !bli_trace_next(cursor, &job, &err) && job.size > 0; count++) {
        assert(job.time >= before.time);
        before = job;
    }
    assert(count == jobs);
    bli_trace_cursor_free(cursor);
}

static enum bal_code add_wanted_job(void *trace, const struct bli_log_record *record, struct bal_error *err) {
    return record->wanted ? bli_trace_add(trace, &record->job, err) : BAL_OK;
}

static void read_path(const char *path, const struct bli_log_options *options) {
    struct bli_trace *trace;
    struct bli_log_summary summary;
    struct bal_error err = {0};
    assert(!bli_trace_new_small(NULL, 16, &trace, &err));
    struct bli_log_options into = *options;
    into.take = add_wanted_job;
    into.take_context = trace;
    const char *const paths[] = {path, path};
    const enum bal_code code = bli_log_read(paths, 2, &into, &summary, &err);
    if (code) {
        check_error(&err, code);
    } else {
        check_summary(&summary);
        check_jobs(trace, summary.jobs);
    }
    bli_log_summary_fini(&summary);
    bli_trace_free(trace);
}

struct account {
    const struct bli_log_servers *servers;
    uint64_t records;
};

static enum bal_code take_record(void *context, const struct bli_log_record *record, struct bal_error *err) {
    (void)err;
    struct account *account = context;
    account->records++;
    assert(record->job.size > 0 && record->whole >= -1 && record->ahead >= -1 && record->status < 1000);
    for (unsigned i = 0; i < record->tries && i < BLI_LOG_TRIES; i++) {
        assert(record->visit[i].server < bli_log_servers_count(account->servers));
        assert(record->visit[i].took >= -1 && record->visit[i].status < 1000);
    }
    return BAL_OK;
}

/* A method and a path, with nothing that could end a line of a head. */
static void check_request(const char *text) {
    const char *path = strchr(text, ' ');
    assert(path && path > text && path - text <= 16 && strlen(text) < 4096);
    for (const char *c = text; c < path; c++)
        assert((*c >= 'A' && *c <= 'Z') || *c == '-' || *c == '_');
    assert(path[1] == '/' || strcmp(text, "OPTIONS *") == 0);
    for (const char *c = path + 1; *c; c++)
        assert(*c > ' ' && *c < 127);
}

/* The same with servers and records: as many of these as there are jobs. */
static void read_records(const char *path, struct bli_log_options options) {
    struct bli_log_summary summary;
    struct bal_error err = {0};
    assert(!bli_log_servers_new(&options.servers, &err) && !bli_log_requests_new(&options.requests, &err));
    struct account account = {.servers = options.servers};
    options.take = take_record;
    options.take_context = &account;
    const char *const paths[] = {path, path};
    const enum bal_code code = bli_log_read(paths, 2, &options, &summary, &err);
    if (code)
        check_error(&err, code);
    else
        assert(account.records == summary.jobs + summary.filtered);
    for (uint32_t i = 0; i < bli_log_servers_count(options.servers); i++)
        assert(*bli_log_servers_name(options.servers, i));
    bli_log_summary_fini(&summary);
    for (uint32_t i = 0; i < bli_log_servers_count(options.requests); i++)
        check_request(bli_log_servers_name(options.requests, i));
    bli_log_servers_free(options.servers);
    bli_log_servers_free(options.requests);
}

/* Takes the last word of a line off; NULL when it is "-" or not there. */
static const char *take_word(char *line) {
    char *blank = strrchr(line, '\t');
    if (!blank)
        return NULL;
    *blank = 0;
    return strcmp(blank + 1, "-") == 0 ? NULL : blank + 1;
}

static size_t count_tabs(const char *line) {
    size_t count = 0;
    for (; (line = strchr(line, '\t')); line++)
        count++;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *newline = memchr(data, '\n', size);
    const size_t length = newline ? (size_t)(newline - data) : 0, rest = newline ? size - length - 1 : 0;
    char *line = calloc(1, length + 1);
    assert(line);
    memcpy(line, data, length);
    struct bli_log_options options = {.seed = 1};
    if (count_tabs(line) >= 7) {
        options.status = take_word(line);
        options.to = take_word(line);
        options.from = take_word(line);
        options.server = take_word(line);
    }
    options.high_pattern = take_word(line);
    options.time = take_word(line);
    options.service = take_word(line);
    options.format = *line ? line : NULL;

    const int fd = memfd_create("log", MFD_CLOEXEC);
    assert(fd >= 0 && (rest == 0 || write(fd, newline + 1, rest) == (ssize_t)rest));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_path(path, &options);
    read_records(path, options);
    close(fd);
    free(line);
    return 0;
}
