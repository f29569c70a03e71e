/* For tests: a trace that holds few jobs in memory, so that a short one is sorted like a long one. */
#ifndef WORKLOAD_TRACE_PRIVATE_H
#define WORKLOAD_TRACE_PRIVATE_H

#include "ballast/trace.h"

/* window: jobs held in memory, at least 2. */
enum bal_code bal_trace_new_small(const char *directory, size_t window, struct bal_trace **trace,
                                  struct bal_error *err);

#endif
