/* Logs that do not name servers: jobs that found few others in the whole fleet hardly waited, and stand for
 * service without waiting. */
#ifndef LOG_LIGHT_H
#define LOG_LIGHT_H

#include "ballast/recover.h"

struct bal_light;

enum bal_code bal_light_new(const struct bal_trace_info *info, struct bal_light **light,
                            struct bal_error *err);
void bal_light_free(struct bal_light *light); /* NULL is allowed */

/* Jobs in order of arrival, sizes as logged; all of them once, and then, after bal_light_judge, again. */
enum bal_code bal_light_add(struct bal_light *light, const struct bal_trace_job *job, struct bal_error *err);
/* Which part of the logged time is waiting? Sets times, share, service_mean, service_p99, light_others and
 * mean_others. */
enum bal_code bal_light_judge(struct bal_light *light, struct bal_recovery *recovery, struct bal_error *err);
/* The size without waiting: of the same rank among those of the light part as the job's is among those that
 * found as many others. */
enum bal_code bal_light_size(struct bal_light *light, const struct bal_trace_job *job, int64_t *size,
                             struct bal_error *err);

#endif
