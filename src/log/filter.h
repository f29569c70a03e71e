/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects jobs by time, path and status. */
#ifndef LOG_FILTER_H
#define LOG_FILTER_H

#include "log/entry.h"

struct bli_log_filter;

/* From the texts of the options, at least one of which is given. */
enum bal_code bli_log_filter_new(const struct bli_log_options *options, struct bli_log_filter **filter,
                                 struct bal_error *err);
void bli_log_filter_free(struct bli_log_filter *filter);

/* Is a job with this arrival time selected? An error when matching the pattern takes too long. */
enum bal_code bli_log_filter_try(const struct bli_log_filter *filter, const struct bli_log_entry *entry,
                                 int64_t arrival, bool *keeps, struct bal_error *err);

#endif
