/* Which of the jobs are wanted: a part of the time, some paths, some statuses. */
#ifndef LOG_FILTER_H
#define LOG_FILTER_H

#include "log/entry.h"

struct bal_log_filter;

/* From the texts of the options; *filter is NULL when there are none of them. */
enum bal_code bal_log_filter_new(const struct bal_log_options *options, struct bal_log_filter **filter,
                                 struct bal_error *err);
void bal_log_filter_free(struct bal_log_filter *filter); /* NULL is allowed */

/* Is the job that arrived then one of those? An error when the pattern takes too long to tell. */
enum bal_code bal_log_filter_try(const struct bal_log_filter *filter, const struct bal_log_entry *entry,
                                 int64_t arrival, bool *keeps, struct bal_error *err);

#endif
