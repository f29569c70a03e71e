/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs that do not name servers: jobs that found few others in the whole fleet hardly waited. Their times are
 * taken as service times without waiting. */
#ifndef RECOVER_LOW_LOAD_H
#define RECOVER_LOW_LOAD_H

#include "ballast/recover.h"

struct bli_low_load;

enum bal_code bli_low_load_new(const struct bli_trace_info *info, struct bli_low_load **light,
                               struct bal_error *err);
void bli_low_load_free(struct bli_low_load *light); /* NULL is allowed */

/* Jobs in order of arrival, sizes as logged; all of them once, and then, after bli_low_load_estimate, again.
 */
enum bal_code bli_low_load_add(struct bli_low_load *light, const struct bli_trace_job *job,
                               struct bal_error *err);
/* Which part of the logged time is waiting? Sets times, share, service_mean, service_p99, light_others and
 * mean_others. */
enum bal_code bli_low_load_estimate(struct bli_low_load *light, struct bli_recovery *recovery,
                                    struct bal_error *err);
/* The size without waiting: the size that has the same rank in the low-load part as the job has among those
 * that found as many others. */
enum bal_code bli_low_load_size(struct bli_low_load *light, const struct bli_trace_job *job, int64_t *size,
                                struct bal_error *err);

#endif
