/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds orphans by group, or by marks and the lock: see orphans.h. */
#include "orphans.h"

#include "app.h"
#include "group.h"
#include "processes.h"
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The control group that was written down for the app; false: none was. */
static bool read_group(const struct app_config *app, const char *state, char group[PATH_MAX]) {
    char path[PATH_MAX];
    app_path(path, state, app->name, "group");
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const ssize_t size = read(fd, group, PATH_MAX - 1);
    close(fd);
    group[size > 0 ? size : 0] = '\0';
    char *end = strchr(group, '\n'); /* without it, it was not written whole, and nothing was started */
    if (end)
        *end = '\0';
    return end && *group == '/';
}

static bool write_group(const struct app_config *app, const char *state, const char *group) {
    char path[PATH_MAX], line[PATH_MAX + 1];
    app_path(path, state, app->name, "group");
    const int size = snprintf(line, sizeof line, "%s\n", group);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    const bool written = write(fd, line, (size_t)size) == size;
    close(fd);
    return written;
}

static size_t end_marked(const struct app_config *app, const char *state) {
    char name[CONFIG_NAME_MAX + 20], keeper[PATH_MAX + 20], lock[PATH_MAX];
    snprintf(name, sizeof name, "BALLAST_APP=%s", app->name);
    snprintf(keeper, sizeof keeper, "BALLAST_KEEPER=%s", state);
    struct process_marks marks = {.variable = name, .other = keeper, .uid = app->uid, .gid = app->gid};
    app_path(lock, state, app->name, "app");
    supervisor_session(lock, &marks.session, &marks.session_start);
    return process_kill_marked(&marks);
}

bool orphans_end(const struct app_config *app, const char *state, size_t *killed) {
    char group[PATH_MAX];
    const bool grouped = read_group(app, state, group);
    *killed = grouped ? group_kill(group) : end_marked(app, state);
    return *killed || supervisor_is_alive(state, app->name);
}

bool orphans_prepare(const struct app_config *app, const char *state, const char *groups,
                     char group[PATH_MAX]) {
    *group = '\0';
    if (!groups)
        return true;
    if (read_group(app, state, group) && group_is_populated(group)) {
        errno = EWOULDBLOCK;
        return false;
    }
    if (snprintf(group, PATH_MAX, "%s/%s.app", groups, app->name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!group_make(group))
        return false;
    errno = EWOULDBLOCK; /* it belongs to another */
    return !group_is_populated(group) && write_group(app, state, group);
}

void orphans_forget(const struct app_config *app, const char *state) {
    char group[PATH_MAX], path[PATH_MAX];
    app_path(path, state, app->name, "app");
    supervisor_clear(path);
    if (!read_group(app, state, group))
        return;
    group_remove(group);
    app_path(path, state, app->name, "group");
    unlink(path);
}
