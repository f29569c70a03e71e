#include "format/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40, NAMES_MAX = 1000 };

/* ---- where ---- */

struct place {
    char *name;        /* where the links lead */
    char *directory;   /* that it is in */
    bool in_place;     /* no file, or one that is open already: written as it is */
    bool there;        /* a file has that name */
    struct stat about; /* that file */
};

/* The directory of a name, with its slash; "" is the current one. */
static char *directory_of(const char *name) {
    const char *slash = strrchr(name, '/');
    return strndup(name, slash ? (size_t)(slash + 1 - name) : 0);
}

/* Stands the link for an open file, such as /proc/self/fd/1, which /dev/stdout leads to? Its target is a name
 * that need not exist. */
static bool is_open_file(const char *name) {
    const int link = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct statfs system;
    const bool answer = link >= 0 && fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
    if (link >= 0)
        close(link);
    return answer;
}

/* Replaces a name by what the link of that name says. */
static bool follow(char **name, const char *target) {
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

/* Fills name and in_place; errno tells why not. Links that lead nowhere yet are followed too. */
static bool follow_links(const char *path, struct place *place) {
    place->name = strdup(path);
    for (int i = 0; place->name && i < LINKS_MAX; i++) {
        char target[PATH_MAX + 1];
        const ssize_t length = readlink(place->name, target, sizeof target - 1);
        if (length < 0)
            return true; /* no link */
        place->in_place = is_open_file(place->name);
        if (place->in_place)
            return true;
        target[length] = '\0';
        if (!follow(&place->name, target))
            return false;
    }
    errno = place->name ? ELOOP : ENOMEM;
    return false;
}

static void leave(struct place *place) {
    const int reason = errno;
    free(place->name);
    free(place->directory);
    errno = reason;
}

/* False when nothing can be written there, errno tells why; to be ended with leave in any case. */
static bool find_place(const char *path, struct place *place) {
    *place = (struct place){0};
    if (!follow_links(path, place))
        return false;
    place->directory = directory_of(place->name);
    if (!place->directory)
        return false;
    struct stat about;
    const bool exists = stat(place->name, &about) == 0;
    if (!exists && errno != ENOENT)
        return false;
    if (exists ? S_ISDIR(about.st_mode) : strlen(place->directory) == strlen(place->name)) {
        errno = *path ? EISDIR : ENOENT;
        return false;
    }
    place->in_place = place->in_place || (exists && !S_ISREG(about.st_mode));
    place->there = exists;
    if (exists)
        place->about = about;
    return !exists || access(place->name, W_OK) == 0;
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
    const int file = open(*directory ? directory : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    char path[40];
    descriptor_path(file, path);
    if (file < 0 || access(path, F_OK) == 0)
        return file;
    close(file);
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

static bool draft_open(struct draft *draft, const struct place *place) {
    *draft = (struct draft){.file = open_nameless(place->directory)};
    if (draft->file < 0)
        draft->file = open_named(place->directory, &draft->name);
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

/* The new file is as the old one was to whoever may read and write it. Where its group cannot be kept, the
 * rights of the group are for no other. */
static void keep_access(int file, const struct stat *old) {
    mode_t mode = old->st_mode & 0777;
    if (fchown(file, old->st_uid, old->st_gid) != 0 && fchown(file, (uid_t)-1, old->st_gid) != 0)
        mode &= 0707;
    fchmod(file, mode);
}

bool bal_file_write_all(int file, const char *data, size_t size) {
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

/* Writes all of it and closes; errno tells the first thing that went wrong. */
static bool fill(int file, const char *data, size_t size) {
    const bool written = bal_file_write_all(file, data, size);
    const int first = errno;
    const bool closed = close(file) == 0;
    if (!written)
        errno = first;
    return written && closed;
}

/* A name of its own beside the place, for as long as it takes to be renamed: linkat replaces nothing. */
static bool name_beside(struct draft *draft, const char *from, const char *directory) {
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

static bool draft_place(struct draft *draft, const struct place *place) {
    if (!draft->name) {
        char from[40];
        descriptor_path(draft->file, from);
        if (!place->there && linkat(AT_FDCWD, from, AT_FDCWD, place->name, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if ((!place->there && errno != EEXIST) || !name_beside(draft, from, place->directory))
            return false;
    }
    const int file = draft->file; /* a name can wait for close to say that all has arrived */
    draft->file = -1;
    if (close(file) != 0 || rename(draft->name, place->name) != 0)
        return false;
    free(draft->name);
    draft->name = NULL;
    return true;
}

/* Signals wait, so that none ends the process while the file has a name that is not its own. */
static bool write_beside(const struct place *place, const char *data, size_t size) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    struct draft draft;
    bool good = draft_open(&draft, place);
    if (good) {
        if (place->there)
            keep_access(draft.file, &place->about);
        good = bal_file_write_all(draft.file, data, size) && draft_place(&draft, place);
        draft_close(&draft);
    }
    const int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return good;
}

static bool write_in_place(const struct place *place, const char *data, size_t size) {
    const int file = open(place->name, O_WRONLY | O_APPEND | O_CLOEXEC);
    return file >= 0 && fill(file, data, size);
}

static enum bal_code fail_at(const char *path, struct bal_error *err) {
    return bal_fail(err, BAL_E_IO, "'%s' cannot be written: %s; choose another place", path, strerror(errno));
}

enum bal_code bal_file_write(const char *path, const char *data, size_t size, struct bal_error *err) {
    struct place place;
    const bool good = find_place(path, &place) && (place.in_place ? write_in_place(&place, data, size)
                                                                  : write_beside(&place, data, size));
    leave(&place);
    return good ? BAL_OK : fail_at(path, err);
}

enum bal_code bal_file_check(const char *path, struct bal_error *err) {
    struct place place;
    struct draft draft;
    bool good = find_place(path, &place);
    if (good && !place.in_place) {
        good = draft_open(&draft, &place);
        if (good)
            draft_close(&draft);
    }
    leave(&place);
    return good ? BAL_OK : fail_at(path, err);
}
