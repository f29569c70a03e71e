#include "log_options.h"

#include <math.h>
#include <string.h>

enum bal_code cli_set_log_format(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct cli_log_request *)into)->log.format = value;
    return BAL_OK;
}

static enum bal_code set_field(const char **field, const char *value, struct bal_error *err) {
    if (*value == 0)
        return bal_fail(err, BAL_E_SYNTAX, "the name of a field is missing");
    *field = value;
    return BAL_OK;
}

enum bal_code cli_set_service_field(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct cli_log_request *)into)->log.service, value, err);
}

enum bal_code cli_set_time_field(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct cli_log_request *)into)->log.time, value, err);
}

enum bal_code cli_set_server_field(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct cli_log_request *)into)->log.server, value, err);
}

enum bal_code cli_set_log_from(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct cli_log_request *)into)->log.from = value;
    return BAL_OK;
}

enum bal_code cli_set_log_to(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct cli_log_request *)into)->log.to = value;
    return BAL_OK;
}

enum bal_code cli_set_log_path(void *into, const char *value, struct bal_error *err) {
    if (*value == 0)
        return bal_fail(err, BAL_E_SYNTAX, "an empty pattern matches everything; write one such as '^/api/'");
    ((struct cli_log_request *)into)->log.path = value;
    return BAL_OK;
}

enum bal_code cli_set_log_status(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct cli_log_request *)into)->log.status = value;
    return BAL_OK;
}

enum bal_code cli_set_high_pattern(void *into, const char *value, struct bal_error *err) {
    if (*value == 0)
        return bal_fail(err, BAL_E_SYNTAX,
                        "an empty pattern matches everything; write one such as '^/checkout'");
    ((struct cli_log_request *)into)->log.high_pattern = value;
    return BAL_OK;
}

enum bal_code cli_set_high_field(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct cli_log_request *)into)->log.high_field, value, err);
}

/* How much of a pipe is read nobody knows: there the bar stays empty. */
static void show_part(void *progress, double part) {
    cli_progress_show(progress, isnan(part) ? 0 : part);
}

static enum bal_code read_all(const struct cli_log_request *request, char *const *paths, int count,
                              struct bal_trace *trace, struct bal_log_summary *summary,
                              struct bal_error *err) {
    struct cli_progress progress;
    cli_progress_start(&progress, request->common.quiet);
    snprintf(progress.note, sizeof progress.note, "reading");
    struct bal_log_options options = request->log;
    options.seed = (uint64_t)request->common.seed;
    options.stop = &cli_stop;
    options.progress = show_part;
    options.progress_context = &progress;
    enum bal_code code =
        bal_log_read((const char *const *)paths, (size_t)count, &options, trace, summary, err);
    if (!code) {
        snprintf(progress.note, sizeof progress.note, "sorting");
        cli_progress_show(&progress, 1);
        code = bal_trace_finish(trace, &cli_stop, err);
    }
    cli_progress_end(&progress);
    return code;
}

/* Every line was skipped: the commonest reason tells what to do, and its first line shows it. */
static int fail_without_jobs(const struct bal_log_summary *summary) {
    if (summary->filtered > 0)
        return cli_fail("no job of these logs is left: %llu are left out by --from, --to, --path or --status",
                        (unsigned long long)summary->filtered);
    unsigned most = 0;
    for (unsigned i = 1; i < BAL_LOG_REASON_COUNT; i++)
        if (summary->skipped[i] > summary->skipped[most])
            most = i;
    if (summary->skipped[most] == 0)
        return cli_fail("there is no line in these logs");
    const unsigned long long skipped = summary->skipped[most];
    for (size_t i = 0; i < summary->examples; i++) {
        const struct bal_log_example *example = &summary->example[i];
        if (example->reason == most)
            return cli_fail("no line of these logs gives a job; %llu skipped (%s), the first being %s:%llu: "
                            "%s; see --log-format, --time-field and --service-field",
                            skipped, bal_log_reason_text[most], example->file,
                            (unsigned long long)example->line, example->text);
    }
    return cli_fail("no line of these logs gives a job; %llu skipped (%s)", skipped,
                    bal_log_reason_text[most]);
}

int cli_spare_logs(const char *option, const char *path, char *const *logs, int count) {
    for (int i = 0; i < count; i++) {
        const char *log = strcmp(logs[i], "-") == 0 ? "/dev/stdin" : logs[i];
        const int status = cli_spare_file(option, path, log, "one of the logs");
        if (status >= 0)
            return status;
    }
    return -1;
}

/* Standard input can be read once. */
static bool is_twice(char *const *paths, int count) {
    int times = 0;
    for (int i = 0; i < count; i++)
        times += strcmp(paths[i], "-") == 0;
    return times > 1;
}

/* A pattern that tells nothing apart is hardly what was meant. */
static void warn_of_pattern(const char *pattern, const struct bal_trace_info *info) {
    if (pattern && (info->high == 0 || info->high == info->jobs))
        cli_warn("--high %s: %s job matches", pattern, info->high == 0 ? "no" : "every");
}

static void warn_of_same(const struct bal_log_summary *summary) {
    for (size_t i = 0; i < summary->files; i++)
        if (summary->file[i].same > 0)
            cli_warn("%s has the same jobs as %s: they count twice", summary->file[i].path,
                     summary->file[summary->file[i].same - 1].path);
}

static int read_or_explain(const struct cli_log_request *request, char *const *paths, int count,
                           struct bal_trace *trace, struct bal_log_summary *summary) {
    struct bal_error err = {0};
    const enum bal_code code = read_all(request, paths, count, trace, summary, &err);
    if (code == BAL_E_STOPPED) {
        cli_warn("interrupted");
        return CLI_INTERRUPTED;
    }
    if (code == BAL_E_MODEL && summary->jobs == 0)
        return fail_without_jobs(summary);
    return code ? cli_fail("%s", err.text) : -1;
}

int cli_read_logs(const struct cli_log_request *request, char *const *paths, int count,
                  struct bal_trace **trace, struct bal_log_summary *summary) {
    struct bal_error err = {0};
    if (count == 0)
        return cli_fail("which log? name one or more files, or - for standard input");
    if (is_twice(paths, count))
        return cli_fail("- is standard input, which can be read only once");
    if (request->log.high_field && !request->log.high_pattern)
        return cli_fail("--high-field: which values are high? add --high PATTERN");
    *summary = (struct bal_log_summary){0};
    if (bal_trace_new(NULL, trace, &err))
        return cli_fail("%s", err.text);
    cli_catch_signals();
    const int status = read_or_explain(request, paths, count, *trace, summary);
    if (status < 0) {
        warn_of_pattern(request->log.high_pattern, bal_trace_info(*trace));
        warn_of_same(summary);
        return -1;
    }
    bal_trace_free(*trace);
    *trace = NULL;
    bal_log_summary_fini(summary);
    return status;
}
