/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes whole files: a file appears under its name complete or not at all. */
#include "format/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

enum { LINKS_MAX = 40, NAMES_MAX = 1000 };

/* ---- where ---- */

struct write_target {
    char *name;        /* where the links lead */
    char *directory;   /* that it is in */
    bool in_place;     /* not a regular file, or open already: written directly */
    bool there;        /* a file has that name */
    struct stat about; /* that file */
};

/* The directory of a name, with its slash; "" is the current one. */
static char *directory_of(const char *name) {
    const char *slash = strrchr(name, '/');
    return strndup(name, slash ? (size_t)(slash + 1 - name) : 0);
}

/* Does the link refer to an open file, such as /proc/self/fd/1, which /dev/stdout leads to? Its target is a
 * name that need not exist. */
static bool is_open_file(const char *name) {
#ifdef __linux__
    const int link = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct statfs system;
    const bool answer = link >= 0 && fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
    if (link >= 0)
        close(link);
    return answer;
#else
    (void)name;
    return false; /* /dev/stdout is a device there */
#endif
}

/* Replaces the name of a link by the link's target. */
static bool resolve_link(char **name, const char *target) {
    char *directory = *target == '/' ? strdup("") : directory_of(*name), *next;
    if (!directory || asprintf(&next, "%s%s", directory, target) < 0)
        next = NULL;
    free(directory);
    if (!next)
        return false;
    free(*name);
    *name = next;
    return true;
}

/* Sets name and in_place; on failure errno has the reason. Links to files that do not exist yet are followed
 * too. */
static bool follow_links(const char *path, struct write_target *write_target) {
    write_target->name = strdup(path);
    for (int i = 0; write_target->name && i < LINKS_MAX; i++) {
        char target[PATH_MAX + 1];
        const ssize_t length = readlink(write_target->name, target, sizeof target - 1);
        if (length < 0)
            return true; /* no link */
        write_target->in_place = is_open_file(write_target->name);
        if (write_target->in_place)
            return true;
        target[length] = '\0';
        if (!resolve_link(&write_target->name, target))
            return false;
    }
    errno = write_target->name ? ELOOP : ENOMEM;
    return false;
}

static void free_target(struct write_target *write_target) {
    const int reason = errno;
    free(write_target->name);
    free(write_target->directory);
    errno = reason;
}

/* False when the file cannot be written, with the reason in errno; call free_target in any case. */
static bool find_target(const char *path, struct write_target *write_target) {
    *write_target = (struct write_target){0};
    if (!follow_links(path, write_target))
        return false;
    write_target->directory = directory_of(write_target->name);
    if (!write_target->directory)
        return false;
    struct stat about;
    const bool exists = stat(write_target->name, &about) == 0;
    if (!exists && errno != ENOENT)
        return false;
    if (exists ? S_ISDIR(about.st_mode) : strlen(write_target->directory) == strlen(write_target->name)) {
        errno = *path ? EISDIR : ENOENT;
        return false;
    }
    write_target->in_place = write_target->in_place || (exists && !S_ISREG(about.st_mode));
    write_target->there = exists;
    if (exists)
        write_target->about = about;
    return !exists || access(write_target->name, W_OK) == 0;
}

/* ---- what ---- */

/* A file that is being written. */
struct draft {
    int file;
    char *name; /* NULL: none yet */
};

/* The name of an open file for linkat. */
static void descriptor_path(int file, char text[40]) {
    snprintf(text, 40, "/proc/self/fd/%d", file);
}

/* A file without a name, so that nothing is left behind however the process ends; -1 where the system knows
 * none, or could not name it later. */
static int open_nameless(const char *directory) {
#ifdef __linux__
    const int file = open(*directory ? directory : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    char path[40];
    descriptor_path(file, path);
    if (file < 0 || access(path, F_OK) == 0)
        return file;
    close(file);
#else
    (void)directory;
#endif
    return -1;
}

/* mkstemp makes files that only their owner may read; ours are like any other. */
static int open_named(const char *directory, char **name) {
    if (asprintf(name, "%s.ballast-XXXXXX", directory) < 0) {
        *name = NULL;
        return -1;
    }
    const int file = mkostemp(*name, O_CLOEXEC);
    if (file < 0) {
        free(*name);
        *name = NULL;
        return -1;
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file, 0666 & ~mask);
    return file;
}

static bool draft_open(struct draft *draft, const struct write_target *write_target) {
    *draft = (struct draft){.file = open_nameless(write_target->directory)};
    if (draft->file < 0)
        draft->file = open_named(write_target->directory, &draft->name);
    return draft->file >= 0;
}

/* Ends it; what has not got its place is removed. */
static void draft_close(struct draft *draft) {
    const int reason = errno;
    if (draft->file >= 0)
        close(draft->file);
    if (draft->name)
        unlink(draft->name);
    free(draft->name);
    errno = reason;
}

/* The new file has the permissions of the old one. If its group cannot be kept, the permissions of the group
 * are not given to another group. */
static void copy_permissions(int file, const struct stat *old) {
    mode_t mode = old->st_mode & 0777;
    if (fchown(file, old->st_uid, old->st_gid) != 0 && fchown(file, (uid_t)-1, old->st_gid) != 0)
        mode &= 0707;
    fchmod(file, mode);
}

bool bli_file_write_all(int file, const char *data, size_t size) {
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

/* Writes all of it and closes; errno is that of the first failure. */
static bool write_and_close(int file, const char *data, size_t size) {
    const bool written = bli_file_write_all(file, data, size);
    const int first = errno;
    const bool closed = close(file) == 0;
    if (!written)
        errno = first;
    return written && closed;
}

/* A temporary name in the same directory until the rename: linkat cannot replace a file. */
static bool link_temp_name(struct draft *draft, const char *from, const char *directory) {
    for (int i = 0; i < NAMES_MAX; i++) {
        if (asprintf(&draft->name, "%s.ballast-%d-%d", directory, (int)getpid(), i) < 0) {
            draft->name = NULL;
            return false;
        }
        if (linkat(AT_FDCWD, from, AT_FDCWD, draft->name, AT_SYMLINK_FOLLOW) == 0)
            return true;
        free(draft->name);
        draft->name = NULL;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool draft_publish(struct draft *draft, const struct write_target *write_target) {
    if (!draft->name) {
        char from[40];
        descriptor_path(draft->file, from);
        if (!write_target->there &&
            linkat(AT_FDCWD, from, AT_FDCWD, write_target->name, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if ((!write_target->there && errno != EEXIST) ||
            !link_temp_name(draft, from, write_target->directory))
            return false;
    }
    const int file = draft->file; /* the file gets its name only after close has succeeded */
    draft->file = -1;
    if (close(file) != 0 || rename(draft->name, write_target->name) != 0)
        return false;
    free(draft->name);
    draft->name = NULL;
    return true;
}

/* Signals wait, so that none ends the process while the file has a name that is not its own. */
static bool write_via_draft(const struct write_target *write_target, const char *data, size_t size) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    struct draft draft;
    bool good = draft_open(&draft, write_target);
    if (good) {
        if (write_target->there)
            copy_permissions(draft.file, &write_target->about);
        good = bli_file_write_all(draft.file, data, size) && draft_publish(&draft, write_target);
        draft_close(&draft);
    }
    const int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return good;
}

static bool append_to_target(const struct write_target *write_target, const char *data, size_t size) {
    const int file = open(write_target->name, O_WRONLY | O_APPEND | O_CLOEXEC);
    return file >= 0 && write_and_close(file, data, size);
}

static enum bal_code fail_at(const char *path, struct bal_error *err) {
    return bal_fail(err, BAL_E_IO, "'%s' cannot be written: %s; choose another place", path, strerror(errno));
}

enum bal_code bli_file_write(const char *path, const char *data, size_t size, struct bal_error *err) {
    struct write_target write_target;
    const bool good = find_target(path, &write_target) &&
                      (write_target.in_place ? append_to_target(&write_target, data, size)
                                             : write_via_draft(&write_target, data, size));
    free_target(&write_target);
    return good ? BAL_OK : fail_at(path, err);
}

enum bal_code bli_file_check(const char *path, struct bal_error *err) {
    struct write_target write_target;
    struct draft draft;
    bool good = find_target(path, &write_target);
    if (good && !write_target.in_place) {
        good = draft_open(&draft, &write_target);
        if (good)
            draft_close(&draft);
    }
    free_target(&write_target);
    return good ? BAL_OK : fail_at(path, err);
}

bool bli_file_is_same(const char *a, const char *b) {
    struct stat one, other;
    const bool exists = stat(a, &one) == 0;
    if (!exists || stat(b, &other) != 0)
        return !exists && strcmp(a, b) == 0;
    return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}
