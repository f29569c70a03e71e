/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files without a name: opening, appending and reading. */
#include "workload/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For file systems that know no files without a name: one that loses its name at once. */
static int open_and_unlink(const char *directory) {
    char *path;
    if (asprintf(&path, "%s/ballast-XXXXXX", directory) < 0) {
        errno = ENOMEM;
        return -1;
    }
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

enum bal_code bli_spool_open(struct bli_spool *spool, const char *directory, struct bal_error *err) {
    if (!directory)
        directory = getenv("TMPDIR");
    if (!directory || !*directory)
        directory = "/tmp";
    *spool = (struct bli_spool){.fd = -1};
#ifdef __linux__
    spool->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
#endif
    snprintf(spool->directory, sizeof spool->directory, "%s", directory);
    if (spool->fd < 0)
        spool->fd = open_and_unlink(directory);
    if (spool->fd < 0)
        return bal_fail(err, BAL_E_IO,
                        "no temporary file can be made in '%s': %s; set TMPDIR to another place", directory,
                        strerror(errno));
    return BAL_OK;
}

void bli_spool_close(struct bli_spool *spool) {
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}

enum bal_code bli_spool_append(struct bli_spool *spool, const void *data, size_t size,
                               struct bal_error *err) {
    const char *from = data;
    while (size > 0) {
        const ssize_t written = pwrite(spool->fd, from, size, (off_t)spool->length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return bal_fail(err, BAL_E_IO,
                            "the temporary file in '%s' cannot grow beyond %.1f MB: %s; set TMPDIR to a place"
                            " with more room",
                            spool->directory, (double)spool->length / 1e6,
                            written ? strerror(errno) : "nothing is written");
        spool->length += (uint64_t)written;
        from += written;
        size -= (size_t)written;
    }
    return BAL_OK;
}

enum bal_code bli_spool_read(const struct bli_spool *spool, uint64_t offset, void *data, size_t size,
                             struct bal_error *err) {
    char *to = data;
    while (size > 0) {
        const ssize_t got = pread(spool->fd, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return bal_fail(err, BAL_E_IO, "the temporary file in '%s' cannot be read: %s", spool->directory,
                            got ? strerror(errno) : "it ends too early");
        offset += (uint64_t)got;
        to += got;
        size -= (size_t)got;
    }
    return BAL_OK;
}
