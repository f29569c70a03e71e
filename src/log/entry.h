/* What a line of a log says of a job. */
#ifndef LOG_ENTRY_H
#define LOG_ENTRY_H

#include "log/bind.h"
#include "log/clock.h"

struct bal_log_entry {
    int64_t time;             /* as it stands in the log */
    int decimals;             /* of its seconds */
    int64_t service;          /* > 0 */
    int64_t told;             /* the text of the service time as a length; -1 when it is none */
    int64_t whole;            /* how long the request took in all; -1 when it is not said */
    int64_t ahead;            /* from its arrival until it was handed to the server; -1 when it is not said */
    int64_t before;           /* from the arrival to that time; 0 when it is that of the arrival */
    bool zero;                /* the log says 0: less than it can tell */
    bool guessed;             /* how long the request took is not said: the service time stands for it */
    bool unanswered;          /* no service time is said, but a server had the request until it ended */
    struct bal_log_span path; /* of the request, without its query; NULL when it is not told */
    struct bal_log_span class;        /* the text that tells the class; NULL when there is none */
    struct bal_log_span service_text; /* set whenever the line is in the format */
    struct bal_log_span server, status, statuses, state; /* NULL when there is none */
};

/* BAL_LOG_REASON_COUNT when all is well, else the reason why the line gives no job. */
enum bal_log_reason bal_log_entry_read(const struct bal_log_format *format,
                                       const struct bal_log_binding *binding, struct bal_log_clock *clock,
                                       struct bal_log_span line, struct bal_log_entry *entry);

#endif
