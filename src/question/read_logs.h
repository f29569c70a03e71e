/* SPDX-License-Identifier: BSD-2-Clause */
/* What questions and commands about access logs share: the options for reading them, and the reading itself.
 * Their request begins with a struct bli_log_request; the setters of request.h work on it too. */
#ifndef QUESTION_READ_LOGS_H
#define QUESTION_READ_LOGS_H

#include "question/kind.h"

#include "ballast/log.h"
#include "report/recovery_report.h"

struct bli_log_request {
    struct bli_request common;  /* the fleet, the seed of the spreading */
    struct bli_log_options log; /* all zero bytes: format and fields are detected from the files */
    const char *service;        /* computed, in place of that of log; NULL: it is not */
    bool keep_waiting;          /* service times stay as logged */
    bool requests;              /* collect what was asked for */
    bool find_speeds;           /* of the log's servers; else those of the fleet, if any */
};

/* What was read. */
struct bli_logs {
    struct bli_trace *trace; /* complete; waiting is removed from its sizes as far as possible */
    struct bli_log_summary summary;
    struct bli_log_servers *servers;
    struct bli_log_servers *requests; /* NULL: not collected */
    struct bli_recovery recovery;
    struct bli_recovery_report times;  /* of the recovery */
    struct bli_speeds_recovery speeds; /* where sizes are works at speeds that depend on the number in service
                                        */
};
void bli_logs_fini(struct bli_logs *logs); /* all zero bytes are allowed */

/* How lines are read, which of them count, and which part of the time is used. */
#define BLI_LOG_FIELDS_OPTIONS                                                                               \
    {.subject = "logs"},                                                                                     \
        {"log-format", "FORMAT",                                                                             \
         "auto, combined, apache, haproxy, json, csv, ..., or a log_format or LogFormat",                    \
         BLI_STORES_TEXT(struct bli_log_request, log.format)},                                               \
        {"service-field", "FIELD",                                                                           \
         "which one is the service time: upstream_response_time, duration:ms, ...",                          \
         bli_request_set_service_field},                                                                     \
        {"time-field", "FIELD", "which one is the time of a line; FIELD:start or FIELD:end says of what",    \
         bli_request_set_time_field},                                                                        \
        {"server-field", "FIELD", "which one names the server that had the request: upstream_addr, ...",     \
         bli_request_set_server_field},                                                                      \
    {                                                                                                        \
        "waiting", "KIND", "in service times: remove what can be told (default), or keep it",                \
            bli_request_set_waiting                                                                          \
    }

#define BLI_LOG_CHOICE_OPTIONS                                                                               \
    {"path", "PATTERN", "only requests whose path matches: '^/api/'", bli_request_set_log_path},             \
        {"status", "LIST", "only requests that were answered so: 2xx,304",                                   \
         BLI_STORES_TEXT(struct bli_log_request, log.status)},                                               \
        {"high", "PATTERN", "two classes of jobs: the high one has a path that matches: '^/checkout'",       \
         bli_request_set_high_pattern},                                                                      \
    {                                                                                                        \
        "high-field", "FIELD", "with --high: the field that is matched in place of the path",                \
            bli_request_set_high_field                                                                       \
    }

#define BLI_LOG_OPTIONS                                                                                      \
    BLI_LOG_FIELDS_OPTIONS,                                                                                  \
        {"from", "TIME", "only what arrived then or later: 2026-11-15, 2026-11-15T10:30+01:00",              \
         BLI_STORES_TEXT(struct bli_log_request, log.from)},                                                 \
        {"to", "TIME", "only what arrived before that", BLI_STORES_TEXT(struct bli_log_request, log.to)},    \
        BLI_LOG_CHOICE_OPTIONS

/* The setters of the options above; into is a struct bli_log_request. */
enum bal_code bli_request_set_service_field(void *into, const char *value, struct bal_error *err);
/* As a field, or computed from some. */
enum bal_code bli_request_set_service_time(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_time_field(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_server_field(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_waiting(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_log_path(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_high_pattern(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_high_field(void *into, const char *value, struct bal_error *err);
/* "find", or speeds as a fleet has them. */
enum bal_code bli_request_set_log_speeds(void *into, const char *value, struct bal_error *err);
/* For servers that switch off: a constant time with its unit, or a law in seconds. */
enum bal_code bli_request_set_standby(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_setup(void *into, const char *value, struct bal_error *err);

/* Results must not replace what they are made from: checks that the output file of an option, which may be
 * NULL, is not one of the logs. */
enum bal_code bli_check_not_logs(const char *option, const char *path, const char *const *logs, size_t count,
                                 struct bal_error *err);

/* Reads the logs, with progress and warnings. The caller ends *logs in any case. */
enum bal_code bli_read_logs(const struct bli_log_request *request, const char *const *paths, size_t count,
                            const struct bli_asking *asking, struct bli_logs *logs, struct bal_error *err);

/* How the servers of the log work, in a model of others: their speeds, and their slots unless these are
 * given. */
void bli_logs_describe_servers(const struct bli_log_request *request, const struct bli_logs *logs,
                               struct bli_model *model);

/* Where times are whole seconds: the message. */
extern const char *const bli_speeds_need_fine_times;

#endif
