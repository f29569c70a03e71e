/* SPDX-License-Identifier: BSD-2-Clause */
/* What an app says about its load in the head of a response, in the format of ORCA (Open Request Cost
 * Aggregation): the header `endpoint-load-metrics`, in one of two forms,
 *
 *     TEXT cpu_utilization=0.3, named_metrics.num_requests_waiting=2
 *     JSON {"cpu_utilization": 0.3, "named_metrics": {"num_requests_waiting": 2}}
 *
 * Names are those of the first form. What they mean to an app only its operator knows, so the fields say
 * which of them are read.
 *
 *     struct bal_load_fields fields = {.waiting = "named_metrics.num_requests_waiting"};
 *     struct bal_load_report report;
 *     if (bal_load_report_read(&fields, text, length, &report))
 *         bal_dispatcher_post_load(d, server, &report);
 */
#ifndef BALLAST_LIVE_SERVER_REPORT_H
#define BALLAST_LIVE_SERVER_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BAL_LOAD_NAME = 64,     /* bytes of a name, the terminator included */
    BAL_LOAD_LENGTH = 4096, /* bytes of a report at most; a longer one is malformed */
};

/* The names of what is read; "": it is not. `utilization` "" is application_utilization, or else
 * cpu_utilization, as in other load balancers. */
struct bal_load_fields {
    char running[BAL_LOAD_NAME];     /* requests that are worked on, or all that are there */
    char waiting[BAL_LOAD_NAME];     /* requests that wait in the app */
    char utilization[BAL_LOAD_NAME]; /* as a share of what the app can do */
};

/* Finite, from 0 to BAL_LOAD_VALUE_MAX; NaN: the app does not say. */
#define BAL_LOAD_VALUE_MAX 1e6
struct bal_load_report {
    double running, waiting, utilization;
};

/* Is the text a report? Any bytes will do, it need not end with a 0. False, and *report says nothing: it is
 * none, one of the numbers that are read is out of range, or stands there twice. Numbers that are not read
 * may be anything. A report that has none of them is one that says nothing. O(length). */
bool bal_load_report_read(const struct bal_load_fields *fields, const char *text, size_t length,
                          struct bal_load_report *report);

#ifdef __cplusplus
}
#endif
#endif
