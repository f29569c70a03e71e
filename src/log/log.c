/* Reading logs: files, lines, jobs, and the account of what was skipped. */
#include "ballast/log.h"

#include "ballast/random.h"
#include "log/detect.h"
#include "log/match.h"
#include "log/source.h"
#include "log/visit.h"

#include <math.h>
#include <sys/stat.h>

const char *const bal_log_reason_text[BAL_LOG_REASON_COUNT] = {
#define X(name, text) text,
    BAL_LOG_REASONS(X)
#undef X
};

enum {
    PROGRESS = 1 << 20, /* bytes between two reports of it */
    ALIKE = 2,          /* examples of lines that were skipped for the same reason */
};

struct reader {
    const struct bal_log_options *options;
    struct bal_trace *trace;
    struct bal_log_summary *summary;
    struct bal_log_match *high;
    double total;  /* bytes of all files, NaN when not known */
    uint64_t done; /* bytes of the files before this one */
    uint64_t next_report;

    /* the file at hand */
    const char *path;
    size_t file; /* its number */
    struct bal_log_source *source;
    struct bal_log_format format;
    struct bal_log_binding binding;
    struct bal_log_clock clock;
    bool header; /* its first line is one */
    bool spread;
    struct bal_rng rng;
    uint64_t line;
    int64_t latest; /* time that was read */
};

static bool is_empty(struct bal_log_span line) {
    if (line.length > 0 && line.text[0] == '#')
        return true;
    size_t i = 0;
    while (i < line.length && (line.text[i] == ' ' || line.text[i] == '\t'))
        i++;
    return i == line.length;
}

static bool is_binary(struct bal_log_span line) {
    for (size_t i = 0; i < line.length; i++)
        if ((unsigned char)line.text[i] < ' ' && line.text[i] != '\t')
            return true;
    return false;
}

static void skip(struct reader *reader, struct bal_log_span line, enum bal_log_reason reason) {
    struct bal_log_summary *summary = reader->summary;
    if (reason == BAL_LOG_MALFORMED && is_binary(line))
        reason = BAL_LOG_BINARY;
    if (summary->skipped[reason]++ >= ALIKE || summary->examples == BAL_LOG_EXAMPLES)
        return;
    struct bal_log_example *example = &summary->example[summary->examples++];
    example->reason = reason;
    example->line = reader->line;
    snprintf(example->file, sizeof example->file, "%s", reader->path);
    bal_log_show(line, example->text, sizeof example->text);
}

static void watch_order(struct reader *reader, int64_t time) {
    reader->summary->backwards += reader->binding.at_end && time < reader->latest - BAL_LOG_SECOND;
    if (time > reader->latest)
        reader->latest = time;
}

/* Arrival, size and class. */
static enum bal_code make_job(struct reader *reader, const struct bal_log_entry *entry,
                              struct bal_trace_job *job, struct bal_error *err) {
    *job = (struct bal_trace_job){.time = entry->time - entry->before, .size = entry->service};
    if (reader->spread && entry->decimals == 0) {
        job->spread = true;
        job->drawn = bal_rng_below(&reader->rng, BAL_TRACE_STEP);
        job->time += job->drawn;
    }
    return entry->class.text ? bal_log_match_try(reader->high, entry->class, &job->high, err) : BAL_OK;
}

static enum bal_code hand_on(struct reader *reader, const struct bal_log_entry *entry,
                             const struct bal_trace_job *job, struct bal_error *err) {
    const struct bal_log_options *options = reader->options;
    struct bal_log_record record = {
        .job = *job,
        .file = reader->file,
        .covers = reader->binding.covers,
        .whole = entry->whole,
        .ahead = entry->ahead,
        .zero = entry->zero,
    };
    enum bal_code code = BAL_OK;
    if (options->servers)
        code = bal_log_visits_read(entry, &reader->binding, options->servers, &record, err);
    return code ? code : options->take(options->take_context, &record, err);
}

static enum bal_code add(struct reader *reader, const struct bal_log_entry *entry, struct bal_error *err) {
    watch_order(reader, entry->time);
    struct bal_trace_job job;
    const enum bal_code code = make_job(reader, entry, &job, err);
    if (code)
        return code;
    reader->summary->jobs++;
    if (entry->zero) {
        const double size = (double)job.size / (double)BAL_LOG_SECOND;
        reader->summary->zeros++;
        reader->summary->zero_most = size > reader->summary->zero_most ? size : reader->summary->zero_most;
    }
    return reader->options->take ? hand_on(reader, entry, &job, err)
                                 : bal_trace_add(reader->trace, &job, err);
}

static enum bal_code take_line(struct reader *reader, struct bal_log_span line, enum bal_log_line kind,
                               struct bal_error *err) {
    reader->summary->lines++;
    reader->line++;
    if (kind == BAL_LOG_LINE_LONG) {
        line.length = BAL_LOG_EXAMPLE_TEXT / 2; /* its end is not known */
        skip(reader, line, BAL_LOG_TOO_LONG);
        return BAL_OK;
    }
    if (is_empty(line) || reader->header) {
        reader->header &= is_empty(line);
        reader->summary->empty++;
        return BAL_OK;
    }
    if (kind == BAL_LOG_LINE_LAST && bal_log_source_truncated(reader->source)) {
        skip(reader, line, BAL_LOG_TRUNCATED);
        return BAL_OK;
    }
    struct bal_log_entry entry;
    enum bal_log_reason reason =
        bal_log_entry_read(&reader->format, &reader->binding, &reader->clock, line, &entry);
    if (kind == BAL_LOG_LINE_LAST && reason == BAL_LOG_MALFORMED)
        reason = BAL_LOG_TRUNCATED;
    if (reason == BAL_LOG_REASON_COUNT)
        return add(reader, &entry, err);
    skip(reader, line, reason);
    return BAL_OK;
}

static enum bal_code take_next(struct reader *reader, enum bal_log_line *kind, struct bal_error *err) {
    struct bal_log_span line;
    const enum bal_code code = bal_log_source_next(reader->source, &line, kind, err);
    return code || *kind == BAL_LOG_LINE_NONE ? code : take_line(reader, line, *kind, err);
}

/* The next lines that are neither empty nor too long; when they begin with such ones, those are taken. */
static enum bal_code take_sample(struct reader *reader, struct bal_log_sample *sample,
                                 struct bal_error *err) {
    struct bal_log_span lines[BAL_LOG_SAMPLE];
    enum bal_log_line kind = BAL_LOG_LINE_WHOLE;
    sample->count = 0;
    while (sample->count == 0 && kind != BAL_LOG_LINE_NONE) {
        size_t count;
        enum bal_code code = bal_log_source_peek(reader->source, lines, BAL_LOG_SAMPLE, &count, err);
        for (size_t i = 0; i < count; i++)
            if (!is_empty(lines[i]))
                sample->line[sample->count++] = lines[i];
        for (size_t i = 0; sample->count == 0 && i < count + !count && !code; i++)
            code = take_next(reader, &kind, err);
        if (code)
            return code;
    }
    return BAL_OK;
}

/* How finely time is told: whole seconds are spread only when the file has nothing else. */
static void measure_clock(struct reader *reader, const struct bal_log_sample *sample) {
    int most = -1;
    for (size_t i = reader->header; i < sample->count; i++) {
        struct bal_log_entry entry = {.decimals = -1};
        const enum bal_log_reason reason =
            bal_log_entry_read(&reader->format, &reader->binding, &reader->clock, sample->line[i], &entry);
        if (reason != BAL_LOG_MALFORMED && reason != BAL_LOG_NO_TIME)
            most = entry.decimals > most ? entry.decimals : most;
    }
    reader->spread = most == 0;
    if (most < 0)
        return;
    reader->summary->spread |= most == 0;
    static const double resolution[] = {1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    if (resolution[most] > reader->summary->resolution)
        reader->summary->resolution = resolution[most];
}

static void report(struct reader *reader) {
    const uint64_t taken = reader->done + bal_log_source_taken(reader->source);
    if (!reader->options->progress || taken < reader->next_report)
        return;
    reader->next_report = taken + PROGRESS;
    const double part = (double)taken / reader->total;
    reader->options->progress(reader->options->progress_context, part > 1 ? 1 : part);
}

static enum bal_code begin_file(struct reader *reader, struct bal_error *err) {
    struct bal_log_sample sample;
    enum bal_code code = take_sample(reader, &sample, err);
    if (code || sample.count == 0)
        return code;
    code = bal_log_detect(reader->path, reader->options, &sample, &reader->format, &reader->binding, err);
    if (code)
        return code;
    struct bal_log_summary *summary = reader->summary;
    reader->header = strcmp(reader->format.name, "csv") == 0;
    snprintf(summary->format, sizeof summary->format, "%s", reader->format.name);
    snprintf(summary->service, sizeof summary->service, "%s", reader->binding.service_text);
    snprintf(summary->server, sizeof summary->server, "%s", reader->binding.server_text);
    summary->covers = reader->binding.covers;
    snprintf(summary->time, sizeof summary->time, "%s", reader->binding.time_text);
    measure_clock(reader, &sample);
    return BAL_OK;
}

static enum bal_code read_lines(struct reader *reader, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (enum bal_log_line kind = BAL_LOG_LINE_WHOLE; !code && kind != BAL_LOG_LINE_NONE;) {
        code = take_next(reader, &kind, err);
        report(reader);
    }
    return code;
}

static enum bal_code read_file(struct reader *reader, const char *path, size_t number,
                               struct bal_error *err) {
    reader->path = path;
    reader->file = number;
    reader->line = 0;
    reader->latest = INT64_MIN + BAL_LOG_SECOND;
    reader->header = reader->spread = false;
    reader->clock = (struct bal_log_clock){0};
    reader->format = (struct bal_log_format){0};
    bal_rng_init(&reader->rng, reader->options->seed, number, BAL_STREAM_ARRIVALS);
    enum bal_code code = bal_log_source_open(path, reader->options->stop, &reader->source, err);
    if (code)
        return code;
    code = begin_file(reader, err);
    if (!code && reader->format.kind)
        code = read_lines(reader, err);
    reader->summary->bytes += bal_log_source_bytes(reader->source);
    reader->summary->truncated |= bal_log_source_truncated(reader->source);
    reader->done += bal_log_source_taken(reader->source);
    bal_log_source_close(reader->source);
    bal_log_format_free(&reader->format);
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

enum bal_code bal_log_read(const char *const *paths, size_t count, const struct bal_log_options *options,
                           struct bal_trace *trace, struct bal_log_summary *summary, struct bal_error *err) {
    *summary = (struct bal_log_summary){0};
    struct reader reader = {.options = options, .trace = trace, .summary = summary};
    enum bal_code code = bal_log_match_new(options->high_pattern, &reader.high, err);
    reader.total = sum_sizes(paths, count);
    for (size_t i = 0; i < count && !code; i++)
        code = read_file(&reader, paths[i], i, err);
    bal_log_match_free(reader.high);
    return code;
}
