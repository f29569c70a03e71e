/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides which fields of a format give arrival, service time, class and server of a job. */
#ifndef LOG_BIND_H
#define LOG_BIND_H

#include "log/expression.h"
#include "log/format.h"

enum { BLI_LOG_AHEADS = 3 };

/* A field that is a length of time. */
struct bli_log_length {
    int field; /* -1: there is none */
    struct bli_log_scale scale;
    enum bli_log_shape shape;
    bool said; /* its unit was given by the user */
    char name[BLI_LOG_NAME];
};

/* Which fields of a format are used, and how. A field that is not there is -1. */
struct bli_log_binding {
    int time;                             /* always there */
    bool at_end;                          /* it is the time of the end of the request */
    bool open;                            /* start or end is open: the order of the lines decides */
    int until;                            /* the end, where the log has it as well */
    struct bli_log_length service;        /* without it, `until` minus `time` */
    struct bli_log_expression expression; /* without steps, or it gives the service time, from these fields */
    int expression_field[BLI_LOG_EXPRESSION_COLUMNS];
    struct bli_log_length whole; /* the whole request: subtracted when the time is that of its end */
    struct bli_log_length ahead[BLI_LOG_AHEADS]; /* from the arrival until it is handed to the server */
    bool less_ahead;                             /* the service time has these in it: they are subtracted */
    int path;                                    /* the path of the request is in this one */
    int method;           /* its method; -1 also where it is not needed, or where it is in the same one */
    int high;             /* the class is in this one, where it is not in the path */
    int server;           /* the server; -1 also where it is not needed */
    int slots;            /* how many requests it works on at once */
    int status, statuses; /* that was sent to the client, and that each server answered with */
    int state;            /* how the request ended: the letters of HAProxy, or */
    bool state_flags;     /* a list of reasons as Envoy writes it */
    enum bli_log_covers covers;
    char time_name[BLI_LOG_NAME];
    char service_text[BLI_LOG_NAME], time_text[BLI_LOG_NAME]; /* for people */
    char server_text[BLI_LOG_NAME];                           /* "" when there is none */
};

/* Finds the fields that the options name, or the usual ones. What their names leave open is inferred from the
 * numbers. */
enum bal_code bli_log_bind(struct bli_log_format *format, const struct bli_log_options *options,
                           const struct bli_log_sample *sample, struct bli_log_binding *binding,
                           struct bal_error *err);
/* Only the field of the time; for a log that has no other. */
bool bli_log_bind_time(struct bli_log_format *format, const struct bli_log_sample *sample,
                       struct bli_log_binding *binding);

#endif
