/* SPDX-License-Identifier: BSD-2-Clause */
/* A temporary file without a name: no other process can open it, and it is gone when it is closed or the
 * program ends, however that happens. */
#ifndef WORKLOAD_SPOOL_H
#define WORKLOAD_SPOOL_H

#include "ballast/error.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct bli_spool {
    int fd;                   /* -1: closed */
    uint64_t length;          /* bytes written */
    char directory[PATH_MAX]; /* where it lies */
};

/* directory NULL: $TMPDIR, or /tmp. */
enum bal_code bli_spool_open(struct bli_spool *spool, const char *directory, struct bal_error *err);
void bli_spool_close(struct bli_spool *spool);

enum bal_code bli_spool_append(struct bli_spool *spool, const void *data, size_t size, struct bal_error *err);
/* Reads exactly so many bytes, all of which must have been written. Any number of threads may read. */
enum bal_code bli_spool_read(const struct bli_spool *spool, uint64_t offset, void *data, size_t size,
                             struct bal_error *err);

#endif
