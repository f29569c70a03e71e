#include "format/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int file, const char *data, size_t size) {
    while (size > 0) {
        const ssize_t wrote = write(file, data, size);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            data += wrote;
            size -= (size_t)wrote;
        }
    }
    return true;
}

/* mkstemp makes files that only their owner may read; ours are like any other. */
static void open_to_others(int file) {
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file, 0666 & ~mask);
}

/* Writes all of it and closes; errno tells the first thing that went wrong. */
static bool fill(int file, const char *data, size_t size) {
    const bool written = write_all(file, data, size);
    const int first = errno;
    const bool closed = close(file) == 0;
    if (!written)
        errno = first;
    return written && closed;
}

/* Beside its place first, then under its name. */
static bool write_beside(const char *path, const char *data, size_t size) {
    char *beside;
    if (asprintf(&beside, "%s.XXXXXX", path) < 0)
        return false;
    const int file = mkstemp(beside);
    bool good = file >= 0;
    if (good) {
        open_to_others(file);
        good = fill(file, data, size) && rename(beside, path) == 0;
        if (!good) {
            const int reason = errno;
            unlink(beside);
            errno = reason;
        }
    }
    free(beside);
    return good;
}

static bool write_in_place(const char *path, const char *data, size_t size) {
    const int file = open(path, O_WRONLY);
    return file >= 0 && fill(file, data, size);
}

enum bal_code bal_file_write(const char *path, const char *data, size_t size, struct bal_error *err) {
    struct stat there;
    const bool device = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
    if (device ? write_in_place(path, data, size) : write_beside(path, data, size))
        return BAL_OK;
    return bal_fail(err, BAL_E_IO, "'%s' cannot be written: %s; choose another place", path, strerror(errno));
}
