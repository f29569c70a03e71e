/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates the control socket so that no other user can decide who owns it.
 *
 * Its directory, and all above it, must be root's or the keeper's own. Owner, group and mode are those with
 * which it is made, or are set by a descriptor of the very node: never by a path, which could by then be that
 * of another file. */
#include "control.h"

#include "event_log.h"
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* With the socket of a keeper that is about to be gone; times 10 ms. */
enum { LISTENER_RETRIES = 20 };

static void log_failure(const char *what, const char *path, const char *error) {
    char quoted[LOG_QUOTED], text[LOG_QUOTED];
    log_event(LOG_ERROR, NULL, "failed", "what=%s path=%s error=%s", what, log_quote(path, quoted),
              log_quote(error, text));
}

/* Does a process listen there? */
static bool has_listener(const struct sockaddr_un *at) {
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool heard = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;
    if (fd >= 0)
        close(fd);
    return heard;
}

/* A keeper with another state may have it; one that was just killed may not have closed it yet. */
static bool stays_in_use(const struct sockaddr_un *at) {
    for (int i = 0; i < LISTENER_RETRIES; i++) {
        if (!has_listener(at))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return true;
}

static const char *directory_fault(const char *path, char fault[TRUST_FAULT]) {
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    return trust_fault(dirname(copy), fault);
}

/* It is made with this group where the keeper may do so (root; else it is given to it afterwards). */
static bool bind_private(int fd, const struct sockaddr_un *at, const struct config *config) {
    const mode_t mask = umask(0177);
    const int before = config->socket_group ? setfsgid(config->socket_gid) : 0;
    const bool bound = bind(fd, (const struct sockaddr *)at, sizeof *at) == 0;
    const int error = errno;
    if (config->socket_group)
        setfsgid((gid_t)before);
    umask(mask);
    errno = error;
    return bound;
}

/* node: a descriptor of the path itself. */
static bool open_to_group(int node, const struct config *config) {
    struct stat status;
    char path[40];
    if (fstat(node, &status))
        return false;
    errno = EPERM; /* another one stands in its place */
    if (!S_ISSOCK(status.st_mode) || status.st_uid != geteuid() || status.st_nlink != 1)
        return false;
    if (status.st_gid != config->socket_gid &&
        fchownat(node, "", (uid_t)-1, config->socket_gid, AT_EMPTY_PATH))
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", node);
    return chmod(path, 0660) == 0;
}

static void allow_group(const struct config *config) {
    const int node = open(config->socket, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (node < 0 || !open_to_group(node, config))
        log_failure("socket_group", config->socket, strerror(errno));
    if (node >= 0)
        close(node);
}

int control_open(const struct config *config) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char text[TRUST_FAULT];
    memcpy(at.sun_path, config->socket, strlen(config->socket) + 1);
    const char *fault = directory_fault(config->socket, text);
    if (!fault && stays_in_use(&at))
        fault = strerror(EADDRINUSE);
    if (fault) {
        log_failure("socket", config->socket, fault);
        return -1;
    }
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(config->socket); /* of one that is dead */
    if (fd < 0 || !bind_private(fd, &at, config)) {
        log_failure("socket", config->socket, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    if (config->socket_group)
        allow_group(config);
    return fd;
}
