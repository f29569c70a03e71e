/* SPDX-License-Identifier: BSD-2-Clause */
/* What the twin of a fleet predicts, as text and JSON. */
#ifndef REPORT_TWIN_REPORT_H
#define REPORT_TWIN_REPORT_H

#include "ballast/log.h"
#include "twin/twin.h"

struct bli_twin_report {
    const struct bli_twin *twin;
    const char *source;                  /* where the requests come from: a file, a URL */
    const char *command;                 /* as it was typed; NULL: not printed */
    const struct bli_log_servers *names; /* of servers; NULL: unknown */
    const char *high, *high_by;          /* as in struct bli_nginx_block */
    const char *class, *upstream;        /* likewise */
    const char *options;                 /* of the directive that the fleet has; NULL: not known */
    double time;                         /* seconds since 1970 */
    double silent;                       /* seconds since the last request was read */
    uint64_t skipped;                    /* lines that gave no request */
    uint64_t lost;                       /* requests that were not read in time */
    uint64_t renewed;                    /* how often the file was cut or replaced */
    const char *trouble;                 /* why nothing can be read at present; NULL: it can */
    double used;                         /* share of a core since the beginning; NaN: not printed */
    bool nginx;                          /* the text has the upstream block too */
};

void bli_twin_text(const struct bli_twin_report *report, FILE *out);
/* `line`: all of it on one. */
void bli_twin_json(const struct bli_twin_report *report, bool line, FILE *out);

#endif
