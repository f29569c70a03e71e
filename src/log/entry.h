/* SPDX-License-Identifier: BSD-2-Clause */
/* One line of a log, read as a job. */
#ifndef LOG_ENTRY_H
#define LOG_ENTRY_H

#include "log/bind.h"
#include "log/clock.h"

struct bli_log_entry {
    int64_t time;      /* as it stands in the log */
    int decimals;      /* of its seconds */
    int64_t service;   /* > 0 */
    int64_t logged_ns; /* the text of the service time as a length; -1 when it is none */
    int64_t step;      /* the unit of the last digit of the service time; 0: unknown */
    int64_t whole;     /* how long the request took in all; -1 when the log does not have it */
    int64_t ahead;   /* from its arrival until it was sent to the server; -1 when the log does not have it */
    int64_t before;  /* from the arrival to the logged time; 0 when that is the arrival */
    bool zero;       /* the log has 0: shorter than its resolution */
    bool guessed;    /* the log has no total time: the service time is used instead */
    bool unanswered; /* the log has no service time, but a server had the request until it ended */
    struct bli_log_span path; /* of the request, without its query; NULL when the log does not have it */
    struct bli_log_span request, method; /* as they stand in the log; NULL when it does not have them */
    struct bli_log_span class;           /* the text that gives the class; NULL when there is none */
    struct bli_log_span service_text;    /* set whenever the line is in the format */
    struct bli_log_span server, slots, status, statuses, state; /* NULL when there is none */
};

/* BLI_LOG_OK when all is well, else the reason why the line gives no job. */
enum bli_log_reason bli_log_entry_read(const struct bli_log_format *format,
                                       const struct bli_log_binding *binding, struct bli_log_clock *clock,
                                       struct bli_log_span line, struct bli_log_entry *entry);

#endif
