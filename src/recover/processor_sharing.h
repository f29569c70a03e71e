/* SPDX-License-Identifier: BSD-2-Clause */
/* Processor sharing: computes how much work each job got on a server that shares its time among all jobs
 * there, for several numbers of cores at once. Jobs are added in order of arrival and are passed on when they
 * leave. */
#ifndef RECOVER_PROCESSOR_SHARING_H
#define RECOVER_PROCESSOR_SHARING_H

#include "ballast/trace.h"

enum { BLI_SHARING_MAX = 12 }; /* numbers of cores that are tried at once */

struct bli_sharing;

/* cores[0..count); servers: the largest number of one. take is called with each job that leaves: the work
 * that it got, in nanoseconds, for each number of cores, and how many others it found when it came. */
enum bal_code bli_sharing_new(const uint32_t *cores, unsigned count, uint32_t servers,
                              enum bal_code (*take)(void *context, const struct bli_trace_job *job,
                                                    uint32_t found, const double *work,
                                                    struct bal_error *err),
                              void *context, struct bli_sharing **sharing, struct bal_error *err);
void bli_sharing_free(struct bli_sharing *sharing); /* NULL is allowed */

/* A job comes to its server, which is known. Those that have left by then are passed on. */
enum bal_code bli_sharing_add(struct bli_sharing *sharing, const struct bli_trace_job *job,
                              struct bal_error *err);
/* All that are still there leave. */
enum bal_code bli_sharing_end(struct bli_sharing *sharing, struct bal_error *err);

#endif
