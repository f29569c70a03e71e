/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading logs: files, lines, jobs, and the account of what was skipped. */
#include "ballast/log.h"

#include "log/detect.h"
#include "log/line_reader.h"
#include "log/request_line.h"
#include "log/servers.h"
#include "log/upstream_tries.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

const char *const bli_log_reason_text[BLI_LOG_REASON_COUNT] = {
#define X(name, text) text,
    BLI_LOG_REASONS(X)
#undef X
};

enum {
    PROGRESS = 1 << 20, /* bytes between two reports of it */
    ALIKE = 2,          /* examples of lines that were skipped for the same reason */
};

static bool is_empty(struct bli_log_span line) {
    if (line.length > 0 && line.text[0] == '#')
        return true;
    size_t i = 0;
    while (i < line.length && (line.text[i] == ' ' || line.text[i] == '\t'))
        i++;
    return i == line.length;
}

static bool is_binary(struct bli_log_span line) {
    for (size_t i = 0; i < line.length; i++)
        if ((unsigned char)line.text[i] < ' ' && line.text[i] != '\t')
            return true;
    return false;
}

static void skip_line(struct bli_log_reader *reader, struct bli_log_span line, enum bli_log_reason reason) {
    struct bli_log_summary *summary = reader->summary;
    if (reason == BLI_LOG_MALFORMED && is_binary(line))
        reason = BLI_LOG_BINARY;
    if (summary->skipped[reason]++ >= ALIKE || summary->examples == BLI_LOG_EXAMPLES)
        return;
    struct bli_log_example *example = &summary->example[summary->examples++];
    example->reason = reason;
    example->line = reader->file->lines;
    snprintf(example->file, sizeof example->file, "%s", reader->file->path);
    bli_log_show(line, example->text, sizeof example->text);
}

static void set_clock(struct bli_log_reader *reader, int decimals) {
    static const double resolution[] = {1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    reader->measured = true;
    reader->spread = reader->file->spread = decimals == 0;
    reader->summary->spread |= reader->spread;
    if (resolution[decimals] > reader->summary->resolution)
        reader->summary->resolution = resolution[decimals];
}

/* The unit of the last digit of service times, if it is coarser than in earlier files. */
static void set_step(struct bli_log_reader *reader, int64_t step) {
    const double seconds = (double)step / (double)BLI_LOG_SECOND;
    if (seconds > reader->summary->step)
        reader->summary->step = seconds;
}

/* A count of slots, if the line has one. */
static void parse_slots(struct bli_log_summary *summary, struct bli_log_span text) {
    uint32_t slots = 0;
    for (size_t i = 0; i < text.length && text.length <= 6; i++) {
        const unsigned digit = (unsigned char)(text.text[i] - '0');
        if (digit > 9)
            return;
        slots = 10 * slots + digit;
    }
    if (slots == 0)
        return;
    summary->slots_low = summary->slots_low == 0 || slots < summary->slots_low ? slots : summary->slots_low;
    summary->slots_high = slots > summary->slots_high ? slots : summary->slots_high;
}

static void check_order(struct bli_log_reader *reader, int64_t time) {
    reader->summary->backwards += reader->binding.at_end && time < reader->latest - BLI_LOG_SECOND;
    if (time > reader->latest)
        reader->latest = time;
}

static enum bal_code find_kind(struct bli_log_reader *reader, struct bli_log_span path, uint8_t *kind,
                               struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (size_t i = 0; i < reader->options->kinds && *kind == 0 && !code; i++) {
        bool matches;
        code = bli_log_match_try(reader->kind[i], path, &matches, err);
        *kind = !code && matches ? (uint8_t)(i + 1) : 0;
    }
    return code;
}

/* Arrival, size, class and kind, and whether it is one of those that are wanted. */
static enum bal_code make_job(struct bli_log_reader *reader, const struct bli_log_entry *entry,
                              struct bli_trace_job *job, bool *wanted, struct bal_error *err) {
    *job = (struct bli_trace_job){.time = entry->time - entry->before, .size = entry->service};
    *wanted = true;
    enum bal_code code = BAL_OK;
    if (reader->filter)
        code = bli_log_filter_try(reader->filter, entry, job->time, wanted, err);
    if (!code && *wanted && reader->high && entry->class.text)
        code = bli_log_match_try(reader->high, entry->class, &job->high, err);
    if (!code && *wanted && entry->path.text)
        code = find_kind(reader, entry->path, &job->kind, err);
    return code;
}

static enum bal_code emit_record(struct bli_log_reader *reader, const struct bli_log_record *record,
                                 struct bal_error *err) {
    const struct bli_log_options *options = reader->options;
    return options->take(options->take_context, record, err);
}

/* The lines of the second that was at hand. */
enum bal_code bli_log_reader_flush(struct bli_log_reader *reader, struct bal_error *err) {
    struct bli_log_subsecond *held = &reader->held;
    enum bal_code code = BAL_OK;
    bli_log_subsecond_draw(held, &reader->rng);
    for (size_t i = 0; i < held->count && !code; i++)
        code = emit_record(reader, &held->record[i], err);
    held->count = 0;
    return code;
}

/* Lines stand in the order of the ends of requests, not in that of their beginnings. */
static enum bal_code jitter_record(struct bli_log_reader *reader, const struct bli_log_entry *entry,
                                   struct bli_log_record *record, struct bal_error *err) {
    if (!reader->binding.at_end) {
        record->job.spread = true;
        record->job.drawn = bal_rng_below(&reader->rng, BLI_TRACE_STEP);
        record->job.time += record->job.drawn;
        return emit_record(reader, record, err);
    }
    if (bli_log_subsecond_is_over(&reader->held, entry->time)) {
        const enum bal_code code = bli_log_reader_flush(reader, err);
        if (code)
            return code;
    }
    return bli_log_subsecond_add(&reader->held, entry->time, record, err);
}

/* The same jobs in the same order make the same print, whatever is drawn at random. */
static void count_job(struct bli_log_reader *reader, const struct bli_log_entry *entry) {
    struct bli_log_file *file = reader->file;
    struct bli_log_summary *summary = reader->summary;
    summary->jobs++;
    file->jobs++;
    const uint64_t said = (uint64_t)(entry->time - entry->before) * UINT64_C(0x9e3779b97f4a7c15);
    file->print = (file->print ^ said ^ (uint64_t)entry->service) * UINT64_C(0xff51afd7ed558ccd);
    file->print ^= file->print >> 32;
    if (entry->zero) {
        const double size = (double)entry->service / (double)BLI_LOG_SECOND;
        summary->zeros++;
        summary->max_zero = size > summary->max_zero ? size : summary->max_zero;
    }
}

/* An error that is caused by a line names the line. */
static enum bal_code add_line_number(const struct bli_log_reader *reader, enum bal_code code,
                                     struct bal_error *err) {
    if (!err)
        return code;
    const struct bal_error cause = *err;
    return bal_fail(err, cause.code, "%s:%" PRIu64 ": %s", reader->file->path, reader->file->lines,
                    cause.text);
}

/* Its method and path, where they are wanted and can be sent again. */
static enum bal_code number_request(struct bli_log_reader *reader, const struct bli_log_entry *entry,
                                    struct bli_trace_job *job, struct bal_error *err) {
    char text[BLI_LOG_REQUEST];
    const size_t length = bli_log_request_text(entry->request, entry->method, text);
    if (length == 0) {
        reader->summary->unsendable++;
        return BAL_OK;
    }
    uint32_t number;
    const struct bli_log_span span = {text, length};
    const enum bal_code code = bli_log_servers_number(reader->options->requests, span, &number, err);
    job->request = code ? 0 : number + 1;
    return code;
}

static enum bal_code add_entry(struct bli_log_reader *reader, const struct bli_log_entry *entry,
                               struct bal_error *err) {
    if (!reader->measured)
        set_clock(reader, entry->decimals);
    check_order(reader, entry->time);
    struct bli_log_record record; /* large: its visits are not set when there are none */
    record.file = (size_t)(reader->file - reader->summary->file);
    record.covers = reader->binding.covers;
    record.whole = entry->whole;
    record.ahead = entry->ahead;
    record.status = 0;
    record.aborted = false;
    record.zero = entry->zero;
    record.tries = 0;
    enum bal_code code = make_job(reader, entry, &record.job, &record.wanted, err);
    if (code)
        return add_line_number(reader, code, err);
    if (entry->slots.text)
        parse_slots(reader->summary, entry->slots);
    if (record.wanted && reader->options->requests)
        code = number_request(reader, entry, &record.job, err);
    if (code)
        return add_line_number(reader, code, err);
    if (record.wanted)
        count_job(reader, entry);
    else
        reader->summary->filtered++;
    if (reader->options->servers)
        code = bli_log_tries_read(entry, &reader->binding, reader->options->servers, &record, err);
    if (code)
        return code;
    return reader->spread && entry->decimals == 0 ? jitter_record(reader, entry, &record, err)
                                                  : emit_record(reader, &record, err);
}

enum bal_code bli_log_reader_add_line(struct bli_log_reader *reader, struct bli_log_span line,
                                      enum bli_log_line kind, struct bal_error *err) {
    reader->summary->lines++;
    reader->file->lines++;
    if (reader->options->stop && *reader->options->stop)
        return bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    if (kind == BLI_LOG_LINE_LONG) {
        line.length = BLI_LOG_EXAMPLE_TEXT / 2; /* its end is not known */
        skip_line(reader, line, BLI_LOG_TOO_LONG);
        return BAL_OK;
    }
    if (is_empty(line) || reader->header) {
        if (reader->format.kind && reader->format.kind->comment)
            reader->format.kind->comment(&reader->format, line);
        reader->header &= is_empty(line);
        reader->summary->empty++;
        return BAL_OK;
    }
    if (kind == BLI_LOG_LINE_LAST && bli_log_source_truncated(reader->source)) {
        skip_line(reader, line, BLI_LOG_TRUNCATED);
        return BAL_OK;
    }
    struct bli_log_entry entry;
    enum bli_log_reason reason =
        bli_log_entry_read(&reader->format, &reader->binding, &reader->clock, line, &entry);
    if (kind == BLI_LOG_LINE_LAST && reason == BLI_LOG_MALFORMED)
        reason = BLI_LOG_TRUNCATED;
    if (reason == BLI_LOG_OK)
        return add_entry(reader, &entry, err);
    reader->coarse += reason == BLI_LOG_ZERO;
    skip_line(reader, line, reason);
    return BAL_OK;
}

enum bal_code bli_log_reader_next(struct bli_log_reader *reader, enum bli_log_line *kind,
                                  struct bal_error *err) {
    struct bli_log_span line;
    const enum bal_code code = bli_log_source_next(reader->source, &line, kind, err);
    return code || *kind == BLI_LOG_LINE_NONE ? code : bli_log_reader_add_line(reader, line, *kind, err);
}

static bool names_columns(struct bli_log_span line) {
    static const char word[] = "#Fields:";
    return line.length >= sizeof word && memcmp(line.text, word, sizeof word - 1) == 0;
}

/* Comments of the W3C format name the columns and the program that wrote them. */
static void parse_comment(struct bli_log_span line, struct bli_log_sample *sample) {
    static const char software[] = "#Software:";
    if (names_columns(line))
        snprintf(sample->columns, sizeof sample->columns, "%.*s", (int)line.length, line.text);
    else if (line.length >= sizeof software && memcmp(line.text, software, sizeof software - 1) == 0)
        snprintf(sample->software, sizeof sample->software, "%.*s", (int)line.length, line.text);
}

/* The next lines that are neither empty nor too long; when they begin with such ones, those are taken. */
static enum bal_code read_sample(struct bli_log_reader *reader, struct bli_log_sample *sample,
                                 struct bal_error *err) {
    struct bli_log_span lines[BLI_LOG_SAMPLE];
    enum bli_log_line kind = BLI_LOG_LINE_WHOLE;
    sample->count = 0;
    sample->columns[0] = sample->software[0] = 0;
    while (sample->count == 0 && kind != BLI_LOG_LINE_NONE) {
        size_t count;
        enum bal_code code = bli_log_source_peek(reader->source, lines, BLI_LOG_SAMPLE, &count, err);
        for (size_t i = 0; i < count; i++)
            if (!is_empty(lines[i]))
                sample->line[sample->count++] = lines[i];
            else if (sample->count == 0)
                parse_comment(lines[i], sample);
            else if (*sample->columns && names_columns(lines[i])) /* what follows has others */
                break;
        for (size_t i = 0; sample->count == 0 && i < count + !count && !code; i++)
            code = bli_log_reader_next(reader, &kind, err);
        if (code)
            return code;
    }
    return BAL_OK;
}

/* The resolution of times: whole seconds are spread only when the file has nothing else. Of lengths of time
 * the finest counts, as JSON leaves out zeros at the end. */
static void measure_clock(struct bli_log_reader *reader, const struct bli_log_sample *sample) {
    int most = -1;
    int64_t step = 0;
    for (size_t i = reader->header; i < sample->count; i++) {
        struct bli_log_entry entry = {.decimals = -1};
        const enum bli_log_reason reason =
            bli_log_entry_read(&reader->format, &reader->binding, &reader->clock, sample->line[i], &entry);
        if (reason != BLI_LOG_MALFORMED && reason != BLI_LOG_NO_TIME)
            most = entry.decimals > most ? entry.decimals : most;
        if (reason == BLI_LOG_OK && entry.step > 0)
            step = step == 0 || entry.step < step ? entry.step : step;
    }
    set_step(reader, step);
    reader->measured = most >= 0;
    if (reader->measured)
        set_clock(reader, most);
}

static void report_progress(struct bli_log_reader *reader) {
    const uint64_t taken = reader->done + bli_log_source_taken(reader->source);
    if (!reader->options->progress || taken < reader->next_report)
        return;
    reader->next_report = taken + PROGRESS;
    const double part = (double)taken / reader->total;
    reader->options->progress(reader->options->progress_context, part > 1 ? 1 : part);
}

enum bal_code bli_log_reader_begin(struct bli_log_reader *reader, struct bal_error *err) {
    struct bli_log_sample sample;
    enum bal_code code = read_sample(reader, &sample, err);
    if (code || sample.count == 0)
        return code;
    code =
        bli_log_detect(reader->file->path, reader->options, &sample, &reader->format, &reader->binding, err);
    if (code)
        return code;
    struct bli_log_file *file = reader->file;
    reader->header = strcmp(reader->format.name, "csv") == 0;
    snprintf(file->format, sizeof file->format, "%s", reader->format.name);
    snprintf(file->service, sizeof file->service, "%s", reader->binding.service_text);
    snprintf(file->time, sizeof file->time, "%s", reader->binding.time_text);
    snprintf(file->server, sizeof file->server, "%s", reader->binding.server_text);
    if (!*file->server)
        snprintf(file->perhaps, sizeof file->perhaps, "%s", reader->format.server);
    file->covers = reader->binding.covers;
    file->computed = reader->binding.expression.steps > 0;
    measure_clock(reader, &sample);
    return BAL_OK;
}

static enum bal_code read_lines(struct bli_log_reader *reader, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (enum bli_log_line kind = BLI_LOG_LINE_WHOLE; !code && kind != BLI_LOG_LINE_NONE;) {
        code = bli_log_reader_next(reader, &kind, err);
        report_progress(reader);
    }
    return code;
}

/* Times in whole seconds leave out all that is short: what remains is not what the servers had to do. */
enum bal_code bli_log_reader_check(const struct bli_log_reader *reader, struct bal_error *err) {
    const uint64_t all = reader->coarse + reader->file->jobs;
    if (reader->coarse * 10 <= all)
        return BAL_OK;
    return bal_fail(
        err, BAL_E_FORMAT,
        "'%s': %s tells %" PRIu64 " of %" PRIu64
        " service times as 0, since its steps are above 10 ms; the others would tell a wrong story: log"
        " a finer one",
        reader->file->path, reader->binding.service_text, reader->coarse, all);
}

void bli_log_reader_open_file(struct bli_log_reader *reader, const char *path, size_t number) {
    reader->file = &reader->summary->file[number];
    reader->file->path = path;
    reader->latest = INT64_MIN + BLI_LOG_SECOND;
    reader->header = reader->measured = reader->spread = false;
    reader->coarse = 0;
    reader->clock = (struct bli_log_clock){0};
    reader->format = (struct bli_log_format){0};
    bal_rng_init(&reader->rng, reader->options->seed, number, BAL_STREAM_ARRIVALS);
}

static enum bal_code read_file(struct bli_log_reader *reader, const char *path, size_t number,
                               struct bal_error *err) {
    bli_log_reader_open_file(reader, path, number);
    enum bal_code code = bli_log_source_open(path, reader->options->stop, &reader->source, err);
    if (code)
        return code;
    code = bli_log_reader_begin(reader, err);
    if (!code && reader->format.kind)
        code = read_lines(reader, err);
    if (!code)
        code = bli_log_reader_flush(reader, err);
    reader->held.count = 0;
    if (!code)
        code = bli_log_reader_check(reader, err);
    reader->summary->bytes += bli_log_source_bytes(reader->source);
    reader->summary->truncated |= bli_log_source_truncated(reader->source);
    reader->done += bli_log_source_taken(reader->source);
    bli_log_source_close(reader->source);
    bli_log_format_free(&reader->format);
    return code;
}

/* NaN when one of them is not a file. */
static double sum_sizes(const char *const *paths, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        const bool standard = strcmp(paths[i], "-") == 0;
        if ((standard ? fstat(0, &status) : stat(paths[i], &status)) < 0 || !S_ISREG(status.st_mode))
            return NAN;
        sum += (double)status.st_size;
    }
    return sum;
}

/* Files that are given twice, by whatever name, or as a copy. */
static void find_same(struct bli_log_summary *summary) {
    for (size_t i = 1; i < summary->files; i++)
        for (size_t k = 0; k < i && summary->file[i].same == 0; k++)
            if (summary->file[i].jobs > 0 && summary->file[k].same == 0 &&
                summary->file[i].jobs == summary->file[k].jobs &&
                summary->file[i].print == summary->file[k].print)
                summary->file[i].same = k + 1;
}

void bli_log_summary_fini(struct bli_log_summary *summary) {
    free(summary->file);
    *summary = (struct bli_log_summary){0};
}

enum bal_code bli_log_reader_init(struct bli_log_reader *reader, size_t files,
                                  const struct bli_log_options *options, struct bli_log_summary *summary,
                                  struct bal_error *err) {
    *reader = (struct bli_log_reader){.options = options, .summary = summary};
    *summary = (struct bli_log_summary){.file = calloc(files ? files : 1, sizeof *summary->file)};
    if (!summary->file)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to read %zu logs", files);
    enum bal_code code =
        options->high_pattern ? bli_log_match_new(options->high_pattern, &reader->high, err) : BAL_OK;
    for (size_t i = 0; i < options->kinds && !code; i++)
        code = bli_log_match_new(options->kind[i], &reader->kind[i], err);
    if (!code && (options->from || options->to || options->path || options->status))
        code = bli_log_filter_new(options, &reader->filter, err);
    return code;
}

void bli_log_reader_fini(struct bli_log_reader *reader) {
    if (reader->filter)
        bli_log_filter_free(reader->filter);
    if (reader->high)
        bli_log_match_free(reader->high);
    for (size_t i = 0; i < reader->options->kinds; i++)
        bli_log_match_free(reader->kind[i]);
    bli_log_subsecond_fini(&reader->held);
}

enum bal_code bli_log_read(const char *const *paths, size_t count, const struct bli_log_options *options,
                           struct bli_log_summary *summary, struct bal_error *err) {
    struct bli_log_reader reader;
    enum bal_code code = bli_log_reader_init(&reader, count, options, summary, err);
    reader.total = sum_sizes(paths, count);
    for (size_t i = 0; i < count && !code; i++) {
        summary->files++;
        code = read_file(&reader, paths[i], i, err);
    }
    find_same(summary);
    bli_log_reader_fini(&reader);
    return code;
}
