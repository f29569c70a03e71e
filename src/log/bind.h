/* Which fields of a format say what a job needs. */
#ifndef LOG_BIND_H
#define LOG_BIND_H

#include "log/format.h"

enum { BAL_LOG_AHEADS = 3 };

/* Which fields of a format are used, and how. A field that is not there is -1. */
struct bal_log_binding {
    int time, service;    /* always there */
    int whole;            /* how long the whole request took: subtracted when the time is that of its end */
    int path;             /* the path of the request is in this one */
    int high;             /* the class is told by this one, where it is not told by the path */
    int server;           /* who served it; -1 also where nobody asks */
    int status, statuses; /* that was sent to the client, and that each server answered with */
    int state;            /* how the request ended: the letters of HAProxy, or */
    bool state_reasons;   /* a list of reasons as Envoy writes it */
    int ahead[BAL_LOG_AHEADS]; /* lengths of time from the arrival until it is handed to the server */
    int service_unit, whole_unit, ahead_unit;
    bool at_end; /* the time is that of the end of the request */
    enum bal_log_covers covers;
    char service_text[BAL_LOG_NAME], time_text[BAL_LOG_NAME]; /* for people */
    char server_text[BAL_LOG_NAME];                           /* "" when there is none */
};

/* Finds the fields that the options name, or the usual ones. */
enum bal_code bal_log_bind(struct bal_log_format *format, const struct bal_log_options *options,
                           const struct bal_log_sample *sample, struct bal_log_binding *binding,
                           struct bal_error *err);
/* Only the field of the time; for a log that has no other. */
bool bal_log_bind_time(struct bal_log_format *format, const struct bal_log_sample *sample,
                       struct bal_log_binding *binding);

#endif
