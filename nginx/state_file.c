/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of `ballast_state`: read at start, written with each change. */
#include "changes_zone.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* All of it; it is no longer than BLI_CHANGES_FILE, or it is another file. */
static ssize_t read_all(int fd, char *text, size_t room) {
    size_t length = 0;
    while (length < room) {
        const ssize_t n = read(fd, text + length, room - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -1 : (ssize_t)length;
        length += (size_t)n;
    }
    return (ssize_t)length;
}

enum bal_code bli_ngx_state_file_read(ngx_pool_t *pool, const char *path, struct bli_changes *changes,
                                      struct bal_error *err) {
    const size_t room = BLI_CHANGES_FILE + 1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd == -1 && errno == ENOENT)
        return BAL_E_UNKNOWN;
    char *text = fd == -1 ? NULL : ngx_palloc(pool, room);
    const ssize_t length = text ? read_all(fd, text, room) : -1;
    const int error = errno;
    if (fd != -1)
        close(fd);
    if (length < 0)
        return bal_fail(err, BAL_E_IO, "%s", strerror(error));
    const enum bal_code code = bli_changes_read(text, (size_t)length, changes, err);
    ngx_pfree(pool, text);
    return code;
}

bool bli_ngx_state_file_directory(const char *path, char directory[BLI_NGX_PATH]) {
    const char *slash = strrchr(path, '/');
    const size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (length == 0 || length >= BLI_NGX_PATH)
        return false;
    memcpy(directory, path, length);
    directory[length] = '\0';
    return true;
}

/* After this the content survives a crash of the machine. */
static bool print_and_sync(FILE *out, const struct bli_changes *changes) {
    bli_changes_print(changes, out);
    return fflush(out) == 0 && !ferror(out) && fsync(fileno(out)) == 0;
}

/* What is left there by a writer that was killed goes, and so does what is no file: to open a pipe would stop
 * this process until someone reads it. */
static enum bal_code write_new(const char *path, const struct bli_changes *changes, struct bal_error *err) {
    (void)unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    FILE *out = fd == -1 ? NULL : fdopen(fd, "w");
    if (!out) {
        const int error = errno;
        if (fd != -1)
            close(fd);
        return bal_fail(err, BAL_E_IO, "%s cannot be written: %s", path, strerror(error));
    }
    const bool written = print_and_sync(out, changes);
    const int error = errno;
    const bool closed = fclose(out) == 0;
    if (written && closed)
        return BAL_OK;
    return bal_fail(err, BAL_E_IO, "%s cannot be written: %s", path, strerror(written ? errno : error));
}

/* So that the new name survives, too. A failure is no reason to refuse what has been done. */
static void sync_directory(const char *directory) {
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1)
        return;
    (void)fsync(fd);
    close(fd);
}

enum bal_code bli_ngx_state_file_write(const char *path, const struct bli_changes *changes,
                                       struct bal_error *err) {
    char new[BLI_NGX_PATH + 8], directory[BLI_NGX_PATH];
    if (!bli_ngx_state_file_directory(path, directory))
        return bal_fail(err, BAL_E_IO, "%s has no directory", path);
    snprintf(new, sizeof new, "%s.new", path);
    const enum bal_code code = write_new(new, changes, err);
    if (code) {
        unlink(new);
        return code;
    }
    if (rename(new, path) == -1)
        return bal_fail(err, BAL_E_IO, "%s cannot be renamed to %s: %s", new, path, strerror(errno));
    sync_directory(directory);
    return BAL_OK;
}
