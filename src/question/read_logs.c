/* SPDX-License-Identifier: BSD-2-Clause */
/* The options for access logs, and the reading itself. */
#include "question/read_logs.h"

#include "ballast/replay.h"

#include "format/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bli_speeds_need_fine_times =
    "--speeds: times of this log are whole seconds, in which it is not seen who was there together; log "
    "milliseconds ($msec in nginx)";

static enum bal_code set_field(const char **field, const char *value, struct bal_error *err) {
    if (*value == 0)
        return bal_fail(err, BAL_E_SYNTAX, "the name of a field is missing");
    *field = value;
    return BAL_OK;
}

enum bal_code bli_request_set_service_field(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct bli_log_request *)into)->log.service, value, err);
}

enum bal_code bli_request_set_service_time(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct bli_log_request *)into)->service, value, err);
}

enum bal_code bli_request_set_time_field(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct bli_log_request *)into)->log.time, value, err);
}

enum bal_code bli_request_set_server_field(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct bli_log_request *)into)->log.server, value, err);
}

enum bal_code bli_request_set_waiting(void *into, const char *value, struct bal_error *err) {
    const bool keep = strcmp(value, "keep") == 0;
    if (!keep && strcmp(value, "remove") != 0)
        return bal_fail(err, BAL_E_SYNTAX, "write remove or keep");
    ((struct bli_log_request *)into)->keep_waiting = keep;
    return BAL_OK;
}

enum bal_code bli_request_set_log_path(void *into, const char *value, struct bal_error *err) {
    if (*value == 0)
        return bal_fail(err, BAL_E_SYNTAX, "an empty pattern matches everything; write one such as '^/api/'");
    ((struct bli_log_request *)into)->log.path = value;
    return BAL_OK;
}

enum bal_code bli_request_set_high_pattern(void *into, const char *value, struct bal_error *err) {
    if (*value == 0)
        return bal_fail(err, BAL_E_SYNTAX,
                        "an empty pattern matches everything; write one such as '^/checkout'");
    ((struct bli_log_request *)into)->log.high_pattern = value;
    return BAL_OK;
}

enum bal_code bli_request_set_high_field(void *into, const char *value, struct bal_error *err) {
    return set_field(&((struct bli_log_request *)into)->log.high_field, value, err);
}

enum bal_code bli_request_set_log_speeds(void *into, const char *value, struct bal_error *err) {
    struct bli_log_request *request = into;
    request->find_speeds = strcmp(value, "find") == 0;
    if (request->find_speeds)
        return BAL_OK;
    const enum bal_code code = bli_request_set(&request->common, bli_setting_find("speeds"), value, err);
    if (!code)
        bli_request_mark(&request->common, "speeds");
    return code;
}

/* A length of time with its unit, which is then always the same, or a law in seconds. */
static enum bal_code set_timer(const char *value, struct bli_dist *dist, struct bal_error *err) {
    if (strchr("0123456789.", value[0]) == NULL)
        return bli_dist_parse(value, dist, err);
    double seconds = 0;
    const enum bal_code code = bli_duration_parse(value, &seconds, err);
    if (code)
        return code;
    if (!(seconds >= 1e-9 && seconds <= 1e9))
        return bal_fail(err, BAL_E_RANGE, "not a length of time from 1ns to 1e9s");
    *dist = bli_dist_constant(seconds);
    return BAL_OK;
}

static struct bli_model *model_of(void *into) {
    return &((struct bli_log_request *)into)->common.draft.c.model;
}

enum bal_code bli_request_set_standby(void *into, const char *value, struct bal_error *err) {
    return set_timer(value, &model_of(into)->standby, err);
}

enum bal_code bli_request_set_setup(void *into, const char *value, struct bal_error *err) {
    return set_timer(value, &model_of(into)->setup, err);
}

/* For a pipe the total is unknown: the bar stays empty. */
static void show_part(void *doing, double part) {
    bli_doing_show(doing, isnan(part) ? 0 : part);
}

static uint32_t slots_given(const struct bli_log_request *request) {
    return bli_request_has(&request->common, "slots") ? request->common.draft.c.model.slots : 0;
}

/* Do the times of all files contain service only? */
static bool is_service(const struct bli_log_summary *summary) {
    bool service = true;
    for (size_t i = 0; i < summary->files; i++)
        service =
            service && (summary->file[i].jobs == 0 || summary->file[i].covers == BLI_LOG_COVERS_SERVICE);
    return service;
}

/* Was any of the times computed from columns? */
static bool is_computed(const struct bli_log_summary *summary) {
    for (size_t i = 0; i < summary->files; i++)
        if (summary->file[i].jobs > 0 && summary->file[i].computed)
            return true;
    return false;
}

static const char *server_field(const struct bli_log_summary *summary) {
    for (size_t i = 0; i < summary->files; i++)
        if (*summary->file[i].server)
            return summary->file[i].server;
    return "";
}

static const char *perhaps_server_field(const struct bli_log_summary *summary) {
    for (size_t i = 0; i < summary->files; i++)
        if (*summary->file[i].perhaps)
            return summary->file[i].perhaps;
    return "";
}

/* From times at servers to works at speeds that depend on the number in service. What is computed is no time
 * at a server, which depends on the others there, but the work itself. */
static enum bal_code recover_works(const struct bli_log_request *request, const struct bli_asking *asking,
                                   struct bli_logs *logs, struct bal_error *err) {
    const struct bli_recover_options options = {
        .step = logs->summary.resolution, .length_step = logs->summary.step, .stop = asking->host->stop};
    const struct bli_model *model = &request->common.draft.c.model;
    const uint32_t slots = slots_given(request);
    const bool computed = is_computed(&logs->summary);
    struct bli_trace *works = NULL;
    if (computed && request->find_speeds)
        return bal_fail(err, BAL_E_MODEL,
                        "--speeds find: speeds are found in times that were measured, and those of --service "
                        "are computed; name the field of a measured time with --service-field");
    if (logs->summary.spread && !computed)
        return bal_fail(err, BAL_E_MODEL, "%s", bli_speeds_need_fine_times);
    logs->speeds = (struct bli_speeds_recovery){.speeds = model->speeds,
                                                .slots = slots == BLI_SLOTS_ALL ? 0 : slots,
                                                .computed = computed,
                                                .found = request->find_speeds};
    const enum bal_code code =
        bli_recover_works(logs->trace, &options, &logs->speeds, &works, &logs->recovery, err);
    if (works) {
        bli_trace_free(logs->trace);
        logs->trace = works;
    }
    logs->times = (struct bli_recovery_report){.recovery = &logs->recovery,
                                               .field = server_field(&logs->summary),
                                               .perhaps = "",
                                               .works = &logs->speeds};
    return code;
}

/* From times at servers to service times; the trace is exchanged for another. */
static enum bal_code recover_service_times(const struct bli_log_request *request,
                                           const struct bli_asking *asking, struct bli_logs *logs,
                                           struct bal_error *err) {
    const struct bli_recover_options options = {.slots = slots_given(request),
                                                .told_slots = bli_log_slots(&logs->summary),
                                                .step = logs->summary.resolution,
                                                .length_step = logs->summary.step,
                                                .service = is_service(&logs->summary),
                                                .keep = request->keep_waiting,
                                                .stop = asking->host->stop};
    struct bli_trace *recovered;
    const enum bal_code code = bli_recover(logs->trace, &options, &recovered, &logs->recovery, err);
    if (recovered) {
        bli_trace_free(logs->trace);
        logs->trace = recovered;
    }
    logs->times = (struct bli_recovery_report){.recovery = &logs->recovery,
                                               .field = server_field(&logs->summary),
                                               .perhaps = perhaps_server_field(&logs->summary),
                                               .slots_given = options.slots,
                                               .spread = logs->summary.spread,
                                               .kept = request->keep_waiting};
    return code;
}

static enum bal_code read_all(const struct bli_log_request *request, const char *const *paths, size_t count,
                              const struct bli_asking *asking, struct bli_logs *logs, struct bal_error *err) {
    struct bli_doing doing = bli_doing_start(asking, "reading");
    struct bli_log_options options = request->log;
    options.service = request->service ? request->service : options.service;
    options.seed = (uint64_t)request->common.seed;
    options.servers = logs->servers;
    options.requests = logs->requests;
    options.take = bli_recover_take;
    options.take_context = logs->trace;
    options.stop = asking->host->stop;
    options.progress = show_part;
    options.progress_context = &doing;
    enum bal_code code = bli_log_read(paths, count, &options, &logs->summary, err);
    if (!code) {
        doing.what = "sorting";
        bli_doing_show(&doing, 1);
        code = bli_trace_finish(logs->trace, asking->host->stop, err);
    }
    if (!code) {
        doing.what = "looking for waiting";
        bli_doing_show(&doing, 1);
        code = request->find_speeds || bli_request_has(&request->common, "speeds")
                   ? recover_works(request, asking, logs, err)
                   : recover_service_times(request, asking, logs, err);
    }
    return code;
}

/* Every line was skipped: names the most common reason, with the first line as an example. */
static enum bal_code fail_without_jobs(const struct bli_log_summary *summary, struct bal_error *err) {
    const enum bal_code code = BAL_E_MODEL;
    if (summary->filtered > 0)
        return bal_fail(err, code,
                        "no job of these logs is left: %llu are left out by --from, --to, --path or --status",
                        (unsigned long long)summary->filtered);
    unsigned most = 0;
    for (unsigned i = 1; i < BLI_LOG_REASON_COUNT; i++)
        if (summary->skipped[i] > summary->skipped[most])
            most = i;
    if (summary->skipped[most] == 0)
        return bal_fail(err, code, "there is no line in these logs");
    const unsigned long long skipped = summary->skipped[most];
    for (size_t i = 0; i < summary->examples; i++) {
        const struct bli_log_example *example = &summary->example[i];
        if (example->reason == most)
            return bal_fail(err, code,
                            "no line of these logs gives a job; %llu skipped (%s), the first being %s:%llu: "
                            "%s; see --log-format, --time-field and --service-field",
                            skipped, bli_log_reason_text[most], example->file,
                            (unsigned long long)example->line, example->text);
    }
    return bal_fail(err, code, "no line of these logs gives a job; %llu skipped (%s)", skipped,
                    bli_log_reason_text[most]);
}

enum bal_code bli_check_not_logs(const char *option, const char *path, const char *const *logs, size_t count,
                                 struct bal_error *err) {
    for (size_t i = 0; path && i < count; i++)
        if (bli_file_is_same(path, strcmp(logs[i], "-") == 0 ? "/dev/stdin" : logs[i]))
            return bal_fail(err, BAL_E_IO, "%s %s: that is one of the logs; choose another place", option,
                            path);
    return BAL_OK;
}

/* Standard input can be read once. */
static bool has_stdin_twice(const char *const *paths, size_t count) {
    int times = 0;
    for (size_t i = 0; i < count; i++)
        times += strcmp(paths[i], "-") == 0;
    return times > 1;
}

/* A pattern that matches all jobs or none is probably a mistake. */
static void warn_of_pattern(const struct bli_asking *asking, const char *pattern,
                            const struct bli_trace_info *info) {
    if (pattern && (info->high == 0 || info->high == info->jobs))
        bli_asking_warn(asking, "--high %s: %s job matches", pattern, info->high == 0 ? "no" : "every");
}

static void warn_of_same(const struct bli_asking *asking, const struct bli_log_summary *summary) {
    for (size_t i = 0; i < summary->files; i++)
        if (summary->file[i].same > 0)
            bli_asking_warn(asking, "%s has the same jobs as %s: they count twice", summary->file[i].path,
                            summary->file[summary->file[i].same - 1].path);
}

/* Warns if times contain more than service: the results are then less reliable. */
static void warn_of_waiting(const struct bli_asking *asking, const struct bli_recovery *recovery) {
    const double large = 0.2;
    if (recovery->times == BLI_TIMES_LIGHT && recovery->share.mean > large)
        bli_asking_warn(asking,
                        "%.0f %% of the logged time or more looks like waiting, and no server is named: "
                        "service times are "
                        "estimated from the lightly loaded part of the log; see 'waiting' in the head",
                        100 * recovery->share.mean);
    if (recovery->times == BLI_TIMES_WAITING)
        bli_asking_warn(asking,
                        "service times include waiting, %.0f %% of them, and so every number is too large",
                        100 * recovery->share.mean);
}

void bli_logs_fini(struct bli_logs *logs) {
    bli_trace_free(logs->trace);
    bli_log_summary_fini(&logs->summary);
    bli_log_servers_free(logs->servers);
    bli_log_servers_free(logs->requests);
    *logs = (struct bli_logs){0};
}

enum bal_code bli_read_logs(const struct bli_log_request *request, const char *const *paths, size_t count,
                            const struct bli_asking *asking, struct bli_logs *logs, struct bal_error *err) {
    *logs = (struct bli_logs){0};
    if (count == 0)
        return bal_fail(err, BAL_E_MODEL, "which log? name one or more files, or - for standard input");
    if (has_stdin_twice(paths, count))
        return bal_fail(err, BAL_E_MODEL, "- is standard input, which can be read only once");
    if (request->log.high_field && !request->log.high_pattern)
        return bal_fail(err, BAL_E_MODEL, "--high-field: which values are high? add --high PATTERN");
    if (request->service && request->log.service)
        return bal_fail(
            err, BAL_E_MODEL,
            "--service computes a service time, and --service-field names one; leave out one of them");
    if (request->keep_waiting && (request->find_speeds || bli_request_has(&request->common, "speeds")))
        return bal_fail(err, BAL_E_MODEL,
                        "--speeds tell who waits, and --waiting keep has no effect; leave out one of them");
    enum bal_code code = bli_trace_new(NULL, &logs->trace, err);
    if (!code)
        code = bli_log_servers_new(&logs->servers, err);
    if (!code && request->requests)
        code = bli_log_requests_new(&logs->requests, err);
    if (!code)
        code = read_all(request, paths, count, asking, logs, err);
    if (code)
        return code == BAL_E_MODEL && logs->summary.jobs == 0 ? fail_without_jobs(&logs->summary, err) : code;
    warn_of_pattern(asking, request->log.high_pattern, bli_trace_info(logs->trace));
    warn_of_same(asking, &logs->summary);
    warn_of_waiting(asking, &logs->recovery);
    return BAL_OK;
}

void bli_logs_describe_servers(const struct bli_log_request *request, const struct bli_logs *logs,
                               struct bli_model *model) {
    const bool given = bli_request_has(&request->common, "slots");
    if (logs->times.works) {
        model->speeds = logs->speeds.speeds;
        if (!given)
            model->slots = logs->speeds.slots ? logs->speeds.slots : BLI_SLOTS_ALL;
    } else if (!given && logs->recovery.servers > 0) {
        model->slots = logs->recovery.slots;
    }
}
