/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of commands that read access logs, and the reading itself. */
#include "log_options.h"

#include "ballast/replay.h"

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

enum bal_code cli_set_waiting(void *into, const char *value, struct bal_error *err) {
    const bool keep = strcmp(value, "keep") == 0;
    if (!keep && strcmp(value, "remove") != 0)
        return bal_fail(err, BAL_E_SYNTAX, "write remove or keep");
    ((struct cli_log_request *)into)->keep_waiting = keep;
    return BAL_OK;
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

/* A length of time with its unit, which is then always the same, or a law in seconds. */
static enum bal_code set_timer(const char *value, struct bal_dist *dist, struct bal_error *err) {
    if (strchr("0123456789.", value[0]) == NULL)
        return bal_dist_parse(value, dist, err);
    double seconds = 0;
    const enum bal_code code = bal_duration_parse(value, &seconds, err);
    if (code)
        return code;
    if (!(seconds >= 1e-9 && seconds <= 1e9))
        return bal_fail(err, BAL_E_RANGE, "not a length of time from 1ns to 1e9s");
    bal_dist_parse("det", dist, NULL);
    bal_dist_scale(dist, seconds);
    return BAL_OK;
}

static struct bal_model *model_of(void *into) {
    return &((struct cli_log_request *)into)->common.draft.c.model;
}

enum bal_code cli_set_standby(void *into, const char *value, struct bal_error *err) {
    return set_timer(value, &model_of(into)->standby, err);
}

enum bal_code cli_set_setup(void *into, const char *value, struct bal_error *err) {
    return set_timer(value, &model_of(into)->setup, err);
}

/* For a pipe the total is unknown: the bar stays empty. */
static void show_part(void *progress, double part) {
    cli_progress_show(progress, isnan(part) ? 0 : part);
}

static uint32_t slots_given(const struct cli_log_request *request) {
    return cli_common_given(&request->common, "slots") ? request->common.draft.c.model.slots : 0;
}

/* Do the times of all files contain service only? */
static bool is_service(const struct bal_log_summary *summary) {
    bool service = true;
    for (size_t i = 0; i < summary->files; i++)
        service =
            service && (summary->file[i].jobs == 0 || summary->file[i].covers == BAL_LOG_COVERS_SERVICE);
    return service;
}

static const char *server_field(const struct bal_log_summary *summary) {
    for (size_t i = 0; i < summary->files; i++)
        if (*summary->file[i].server)
            return summary->file[i].server;
    return "";
}

static const char *perhaps_server_field(const struct bal_log_summary *summary) {
    for (size_t i = 0; i < summary->files; i++)
        if (*summary->file[i].perhaps)
            return summary->file[i].perhaps;
    return "";
}

/* From times at servers to service times; the trace is exchanged for another. */
static enum bal_code recover_service_times(const struct cli_log_request *request, struct cli_logs *logs,
                                           struct bal_error *err) {
    const struct bal_recover_options options = {.slots = slots_given(request),
                                                .told_slots = bal_log_slots(&logs->summary),
                                                .step = logs->summary.resolution,
                                                .length_step = logs->summary.step,
                                                .service = is_service(&logs->summary),
                                                .keep = request->keep_waiting,
                                                .stop = cli_stop_flag()};
    struct bal_trace *recovered;
    const enum bal_code code = bal_recover(logs->trace, &options, &recovered, &logs->recovery, err);
    if (recovered) {
        bal_trace_free(logs->trace);
        logs->trace = recovered;
    }
    logs->times = (struct bal_recovery_report){.recovery = &logs->recovery,
                                               .field = server_field(&logs->summary),
                                               .perhaps = perhaps_server_field(&logs->summary),
                                               .slots_given = options.slots,
                                               .spread = logs->summary.spread,
                                               .kept = request->keep_waiting};
    return code;
}

static enum bal_code read_all(const struct cli_log_request *request, char *const *paths, int count,
                              struct cli_logs *logs, struct bal_error *err) {
    struct cli_progress progress;
    cli_progress_start(&progress, request->common.quiet);
    snprintf(progress.note, sizeof progress.note, "reading");
    struct bal_log_options options = request->log;
    options.seed = (uint64_t)request->common.seed;
    options.servers = logs->servers;
    options.take = bal_recover_take;
    options.take_context = logs->trace;
    options.stop = cli_stop_flag();
    options.progress = show_part;
    options.progress_context = &progress;
    enum bal_code code =
        bal_log_read((const char *const *)paths, (size_t)count, &options, NULL, &logs->summary, err);
    if (!code) {
        snprintf(progress.note, sizeof progress.note, "sorting");
        cli_progress_show(&progress, 1);
        code = bal_trace_finish(logs->trace, cli_stop_flag(), err);
    }
    if (!code) {
        snprintf(progress.note, sizeof progress.note, "looking for waiting");
        cli_progress_show(&progress, 1);
        code = recover_service_times(request, logs, err);
    }
    cli_progress_end(&progress);
    return code;
}

/* Every line was skipped: print the most common reason, with the first line as an example. */
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

int cli_check_not_logs(const char *option, const char *path, char *const *logs, int count) {
    for (int i = 0; i < count; i++) {
        const char *log = strcmp(logs[i], "-") == 0 ? "/dev/stdin" : logs[i];
        const int status = cli_check_not_input(option, path, log, "one of the logs");
        if (status >= 0)
            return status;
    }
    return -1;
}

/* Standard input can be read once. */
static bool has_stdin_twice(char *const *paths, int count) {
    int times = 0;
    for (int i = 0; i < count; i++)
        times += strcmp(paths[i], "-") == 0;
    return times > 1;
}

/* A pattern that matches all jobs or none is probably a mistake. */
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

/* Warns if times contain more than service: the results are then less reliable. */
static void warn_of_waiting(const struct bal_recovery *recovery) {
    const double large = 0.2;
    if (recovery->times == BAL_TIMES_LIGHT && recovery->share.mean > large)
        cli_warn("%.0f %% of the logged time or more looks like waiting, and no server is named: service "
                 "times are "
                 "estimated from the lightly loaded part of the log; see 'waiting' in the head",
                 100 * recovery->share.mean);
    if (recovery->times == BAL_TIMES_WAITING)
        cli_warn("service times include waiting, %.0f %% of them, and so every number is too large",
                 100 * recovery->share.mean);
}

static int read_or_explain(const struct cli_log_request *request, char *const *paths, int count,
                           struct cli_logs *logs) {
    struct bal_error err = {0};
    const enum bal_code code = read_all(request, paths, count, logs, &err);
    if (code == BAL_E_STOPPED) {
        cli_warn("interrupted");
        return CLI_INTERRUPTED;
    }
    if (code == BAL_E_MODEL && logs->summary.jobs == 0)
        return fail_without_jobs(&logs->summary);
    return code ? cli_fail("%s", err.text) : -1;
}

void cli_logs_fini(struct cli_logs *logs) {
    bal_trace_free(logs->trace);
    bal_log_summary_fini(&logs->summary);
    bal_log_servers_free(logs->servers);
    *logs = (struct cli_logs){0};
}

int cli_read_logs(const struct cli_log_request *request, char *const *paths, int count,
                  struct cli_logs *logs) {
    struct bal_error err = {0};
    *logs = (struct cli_logs){0};
    if (count == 0)
        return cli_fail("which log? name one or more files, or - for standard input");
    if (has_stdin_twice(paths, count))
        return cli_fail("- is standard input, which can be read only once");
    if (request->log.high_field && !request->log.high_pattern)
        return cli_fail("--high-field: which values are high? add --high PATTERN");
    if (bal_trace_new(NULL, &logs->trace, &err) || bal_log_servers_new(&logs->servers, &err))
        return cli_fail("%s", err.text);
    cli_catch_signals();
    const int status = read_or_explain(request, paths, count, logs);
    if (status >= 0)
        return status;
    warn_of_pattern(request->log.high_pattern, bal_trace_info(logs->trace));
    warn_of_same(&logs->summary);
    warn_of_waiting(&logs->recovery);
    return -1;
}
