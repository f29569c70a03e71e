/* What a line of a log says of a job: which fields say it, and reading them. */
#ifndef LOG_ENTRY_H
#define LOG_ENTRY_H

#include "log/clock.h"
#include "log/format.h"

/* Which fields of a format are used, and how. */
struct bal_log_binding {
    int time, service; /* fields */
    int took; /* how long the whole request took; what is subtracted when the time is that of its end */
    int high; /* the class is told by this one; -1: there are no classes */
    int service_unit, took_unit;
    bool at_end; /* the time is that of the end of the request */
    bool path;   /* of a request, the path alone tells the class */
    char service_text[BAL_LOG_NAME], time_text[BAL_LOG_NAME]; /* for people */
};

/* Finds the fields that the options name, or the usual ones. */
enum bal_code bal_log_bind(struct bal_log_format *format, const struct bal_log_options *options,
                           const struct bal_log_sample *sample, struct bal_log_binding *binding,
                           struct bal_error *err);
/* Only the field of the time; for a log that has no other. */
bool bal_log_bind_time(struct bal_log_format *format, const struct bal_log_sample *sample,
                       struct bal_log_binding *binding);

struct bal_log_entry {
    int64_t time;              /* as it stands in the log */
    int decimals;              /* of its seconds */
    int64_t service;           /* > 0 */
    bool zero;                 /* the log says 0: less than it can tell */
    int64_t before;            /* from the arrival to that time; 0 when it is that of the arrival */
    bool guessed;              /* how long the request took is not said: the service time stands for it */
    struct bal_log_span class; /* the text that tells the class; NULL when there is none */
    struct bal_log_span service_text; /* set whenever the line is in the format */
};

/* BAL_LOG_REASON_COUNT when all is well, else the reason why the line gives no job. */
enum bal_log_reason bal_log_entry_read(const struct bal_log_format *format,
                                       const struct bal_log_binding *binding, struct bal_log_clock *clock,
                                       struct bal_log_span line, struct bal_log_entry *entry);

#endif
