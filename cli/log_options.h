/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands that read access logs share: the options for reading them, and the reading itself. A
 * command's request begins with a struct cli_log_request; the setters of common.h work on it too. */
#ifndef CLI_LOG_OPTIONS_H
#define CLI_LOG_OPTIONS_H

#include "common.h"

#include "ballast/log.h"
#include "report/recovery_report.h"

struct cli_log_request {
    struct cli_common common;   /* the fleet, the output, the seed of the spreading, --quiet */
    struct bal_log_options log; /* all zero bytes: format and fields are detected from the files */
    bool keep_waiting;          /* service times stay as logged */
};

/* What was read. */
struct cli_logs {
    struct bal_trace *trace; /* complete; waiting is removed from its sizes as far as possible */
    struct bal_log_summary summary;
    struct bal_log_servers *servers;
    struct bal_recovery recovery;
    struct bal_recovery_report times; /* of the recovery */
};
void cli_logs_fini(struct cli_logs *logs); /* all zero bytes are allowed */

/* How lines are read, which of them count, and which part of the time is used. */
#define CLI_LOG_FIELDS_OPTIONS                                                                               \
    {"log-format", "FORMAT",                                                                                 \
     "auto, combined, apache, haproxy, json, csv, ..., or a log_format or LogFormat", cli_set_log_format},   \
        {"service-field", "FIELD",                                                                           \
         "which one is the service time: upstream_response_time, duration:ms, ...", cli_set_service_field},  \
        {"time-field", "FIELD", "which one is the time of a line; FIELD:start or FIELD:end says of what",    \
         cli_set_time_field},                                                                                \
        {"server-field", "FIELD", "which one names the server that had the request: upstream_addr, ...",     \
         cli_set_server_field},                                                                              \
    {                                                                                                        \
        "waiting", "KIND", "in service times: remove what can be told (default), or keep it",                \
            cli_set_waiting                                                                                  \
    }

#define CLI_LOG_CHOICE_OPTIONS                                                                               \
    {"path", "PATTERN", "only requests whose path matches: '^/api/'", cli_set_log_path},                     \
        {"status", "LIST", "only requests that were answered so: 2xx,304", cli_set_log_status},              \
        {"high", "PATTERN", "two classes of jobs: the high one has a path that matches: '^/checkout'",       \
         cli_set_high_pattern},                                                                              \
    {                                                                                                        \
        "high-field", "FIELD", "with --high: the field that is matched in place of the path",                \
            cli_set_high_field                                                                               \
    }

#define CLI_LOG_OPTIONS                                                                                      \
    CLI_LOG_FIELDS_OPTIONS,                                                                                  \
        {"from", "TIME", "only what arrived then or later: 2026-11-15, 2026-11-15T10:30+01:00",              \
         cli_set_log_from},                                                                                  \
        {"to", "TIME", "only what arrived before that", cli_set_log_to}, CLI_LOG_CHOICE_OPTIONS

/* The setters of the options above; into is a struct cli_log_request. */
enum bal_code cli_set_log_format(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_service_field(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_time_field(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_server_field(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_waiting(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_log_from(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_log_to(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_log_path(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_log_status(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_high_pattern(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_high_field(void *into, const char *value, struct bal_error *err);
/* For servers that switch off: a constant time with its unit, or a law in seconds. */
enum bal_code cli_set_standby(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_setup(void *into, const char *value, struct bal_error *err);

/* Checks that the output file of an option is not one of the logs; path may be NULL. Returns -1 to go on, or
 * the exit status. */
int cli_check_not_logs(const char *option, const char *path, char *const *logs, int count);

/* Reads the logs, with a progress bar, and catches signals from here on. Returns -1 to go on, otherwise the
 * exit status, with the reason printed. The caller ends *logs in any case. */
int cli_read_logs(const struct cli_log_request *request, char *const *paths, int count,
                  struct cli_logs *logs);

#endif
