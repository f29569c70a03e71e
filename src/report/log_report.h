/* SPDX-License-Identifier: BSD-2-Clause */
/* What was read from access logs, and how: the head of every report that is made of them. */
#ifndef REPORT_LOG_REPORT_H
#define REPORT_LOG_REPORT_H

#include "ballast/log.h"
#include "format/json.h"

/* A line of a head: its name in the first nine columns, its text wrapped to the right of it. Without a name
 * ("") it continues the previous line. */
void bli_head_line(FILE *out, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A few lines: jobs and span, the format, the fields that were used, the lines that were skipped and why. */
void bli_log_summary_text(const struct bli_log_summary *summary, const struct bli_trace_info *info,
                          FILE *out);

/* The same as an object with that key. */
void bli_log_summary_json(struct json *json, const char *key, const struct bli_log_summary *summary,
                          const struct bli_trace_info *info);

#endif
