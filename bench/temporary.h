/* SPDX-License-Identifier: BSD-2-Clause */
/* A file for a log, in $TMPDIR or /tmp: they can be large. */
#ifndef BENCH_TEMPORARY_H
#define BENCH_TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Makes an empty file; its name, or NULL. The caller unlinks it and frees the name. */
static inline char *temporary_file(void) {
    const char *directory = getenv("TMPDIR");
    char *path;
    if (asprintf(&path, "%s/ballast-bench-XXXXXX", directory && *directory ? directory : "/tmp") < 0)
        return NULL;
    const int fd = mkstemp(path);
    if (fd < 0) {
        free(path);
        return NULL;
    }
    close(fd);
    return path;
}

#endif
