#include "report/file.h"

#include <errno.h>
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
static bool open_to_others(int file) {
    const mode_t mask = umask(0);
    umask(mask);
    return fchmod(file, 0666 & ~mask) == 0;
}

enum bal_code bal_file_write(const char *path, const char *data, size_t size, struct bal_error *err) {
    char *beside;
    if (asprintf(&beside, "%s.XXXXXX", path) < 0)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to write '%s'", path);
    const int file = mkstemp(beside);
    bool good = file >= 0;
    if (good) {
        good = write_all(file, data, size) && open_to_others(file);
        const int first = errno;
        const bool closed = close(file) == 0;
        if (!good)
            errno = first;
        good = good && closed && rename(beside, path) == 0;
        if (!good) {
            const int reason = errno;
            unlink(beside);
            errno = reason;
        }
    }
    free(beside);
    return good ? BAL_OK
                : bal_fail(err, BAL_E_IO, "'%s' cannot be written: %s; choose another place", path,
                           strerror(errno));
}
