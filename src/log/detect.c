/* SPDX-License-Identifier: BSD-2-Clause */
/* Each format that comes into question is tried on the first lines; the one that reads the most of them wins,
 * if that is more than half. */
#include "log/detect.h"

#include "log/formats.h"

/* A request without a service time is in the format too: it has "-" or -1 there, or nothing. */
static bool is_in_format(enum bli_log_reason reason, const struct bli_log_entry *entry) {
    const struct bli_log_span service = entry->service_text;
    if (reason == BLI_LOG_NO_SERVICE)
        return service.length == 0 || service.text[0] == '-';
    return reason == BLI_LOG_ZERO || reason == BLI_LOG_OK;
}

/* How many lines of the sample are in the format; none if not one of them has a service time. */
static size_t count_read(const struct bli_log_format *format, const struct bli_log_binding *binding,
                         const struct bli_log_sample *sample, size_t first) {
    struct bli_log_clock clock = {0};
    size_t count = 0, without = 0;
    for (size_t i = first; i < sample->count; i++) {
        struct bli_log_entry entry = {0};
        const enum bli_log_reason reason =
            bli_log_entry_read(format, binding, &clock, sample->line[i], &entry);
        const bool fits = is_in_format(reason, &entry);
        count += fits;
        without += fits && reason == BLI_LOG_NO_SERVICE;
    }
    return without < count ? count : 0;
}

static size_t count_split(struct bli_log_format *format, const struct bli_log_sample *sample) {
    struct bli_log_span fields[BLI_LOG_FIELDS];
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++)
        count += format->kind->split(format, sample->line[i], fields);
    return count;
}

/* How many lines have a time where the format has it; for a format that has not the fields that are asked
 * for. */
static size_t count_timed(struct bli_log_format *format, const struct bli_log_sample *sample) {
    struct bli_log_binding binding;
    if (!bli_log_bind_time(format, sample, &binding))
        return 0;
    struct bli_log_clock clock = {0};
    struct bli_log_span fields[BLI_LOG_FIELDS];
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++) {
        int64_t time;
        int decimals;
        count += format->kind->split(format, sample->line[i], fields) && fields[binding.time].text &&
                 bli_log_clock_read(&clock, fields[binding.time], &time, &decimals);
    }
    return count;
}

/* Most formats have nothing to do with a log: some of its lines, here and there, show that soon. */
static bool fits_somewhere(const struct bli_log_format *format, const struct bli_log_sample *sample) {
    enum { TRIES = 40 };
    struct bli_log_span fields[BLI_LOG_FIELDS];
    const size_t step = 1 + sample->count / TRIES;
    for (size_t i = 0; i < sample->count; i += step)
        if (format->kind->split(format, sample->line[i], fields))
            return true;
    return false;
}

/* A format with its fields, and how many lines it reads. */
struct format_attempt {
    struct bli_log_format format;
    struct bli_log_binding binding;
    size_t read;
    bool most; /* of the lines */
    enum bal_code code;
    struct bal_error err;
};

static void try_one(const struct bli_log_format_entry *known, const struct bli_log_options *options,
                    const struct bli_log_sample *sample, bool only, struct format_attempt *attempt) {
    *attempt = (struct format_attempt){0};
    attempt->code = known->make(known, sample, options->service, &attempt->format, &attempt->err);
    attempt->most = known->tells && attempt->code == BAL_E_FORMAT;
    if (attempt->code)
        return;
    if (!only && !fits_somewhere(&attempt->format, sample)) {
        attempt->code = BAL_E_UNKNOWN;
        return;
    }
    struct bli_log_options wanted = *options;
    if (!wanted.service && *attempt->format.service)
        wanted.service = attempt->format.service;
    attempt->code = bli_log_bind(&attempt->format, &wanted, sample, &attempt->binding, &attempt->err);
    const size_t lines = sample->count - known->header;
    if (attempt->code) {
        attempt->most = 2 * (known->sure ? count_split : count_timed)(&attempt->format, sample) > lines;
        return;
    }
    attempt->read = count_read(&attempt->format, &attempt->binding, sample, known->header);
    attempt->most = 2 * attempt->read > lines || lines == 0;
}

static enum bal_code fail_format(const char *path, const struct bli_log_options *options,
                                 const struct bli_log_sample *sample, const char *name,
                                 struct bal_error *err) {
    char first[80];
    bli_log_show(sample->line[0], first, sizeof first);
    if (options->service || options->time)
        return bal_fail(err, BAL_E_FORMAT,
                        "'%s' is in no known format in which '%.60s' is a %s; its first line is '%s'", path,
                        options->service ? options->service : options->time,
                        options->service ? "service time" : "time", first);
    return bal_fail(
        err, BAL_E_FORMAT,
        "'%s' is not in a format that is known%s%s; its first line is '%s'; say what it is: one of %s,"
        " or the log_format or LogFormat itself",
        path, name ? " as " : "", name ? name : "", first, bli_log_format_names());
}

static size_t count_named(const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < bli_log_format_count; i++)
        count += strcmp(bli_log_formats[i].name, name) == 0;
    return count;
}

/* Tries the formats of a name, or all; a name with one format needs no lines to be sure. */
static enum bal_code choose_format(const char *path, const struct bli_log_options *options, const char *name,
                                   const struct bli_log_sample *sample, struct format_attempt *best,
                                   struct bal_error *err) {
    struct bal_error first = {0}; /* why the first that reads the lines has not the fields that are asked for
                                   */
    const bool only = name && count_named(name) == 1;
    bool found = false;
    for (size_t i = 0; i < bli_log_format_count; i++) {
        const struct bli_log_format_entry *known = &bli_log_formats[i];
        if (name ? strcmp(known->name, name) != 0 : known->named)
            continue;
        struct format_attempt attempt;
        try_one(known, options, sample, only, &attempt);
        const bool wins = !attempt.code && (only || (attempt.most && (!found || attempt.read > best->read)));
        if (attempt.code && (attempt.most || only || attempt.code == BAL_E_MEMORY) && !first.code)
            first = attempt.err;
        if (wins && found)
            bli_log_format_free(&best->format);
        if (wins)
            *best = attempt;
        else
            bli_log_format_free(&attempt.format);
        found |= wins;
    }
    if (found)
        return BAL_OK;
    if (first.code)
        return bal_fail(err, first.code, "'%s': %s", path, first.text);
    return fail_format(path, options, sample, name, err);
}

enum bal_code bli_log_detect(const char *path, const struct bli_log_options *options,
                             const struct bli_log_sample *sample, struct bli_log_format *format,
                             struct bli_log_binding *binding, struct bal_error *err) {
    *format = (struct bli_log_format){0};
    const char *wanted = options->format ? options->format : "auto";
    if (strcmp(wanted, "nginx") == 0)
        wanted = "combined";
    const bool known = strcmp(wanted, "auto") == 0 || count_named(wanted) > 0;
    if (!known) {
        enum bal_code code = bli_log_pattern_new(wanted, format, err);
        if (!code)
            code = bli_log_bind(format, options, sample, binding, err);
        if (!code || code == BAL_E_SYNTAX || !err)
            return code;
        const struct bal_error cause = *err;
        return bal_fail(err, code, "'%s': %s", path, cause.text);
    }
    struct format_attempt best = {0};
    const enum bal_code code =
        choose_format(path, options, strcmp(wanted, "auto") == 0 ? NULL : wanted, sample, &best, err);
    *format = best.format;
    *binding = best.binding;
    return code;
}
