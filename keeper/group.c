/* SPDX-License-Identifier: BSD-2-Clause */
/* Control groups by their files: cgroups(7), and the kernel's Documentation/admin-guide/cgroup-v2.rst. */
#include "group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { TEXT_MAX = 4096 };

/* Returns the length, -1 if it cannot be read. */
static ssize_t read_text(const char *path, char text[TEXT_MAX + 1]) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t size = read(fd, text, TEXT_MAX);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size;
}

static bool write_file(const char *group, const char *file, const char *text) {
    char path[PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/%s", group, file);
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return written;
}

/* Where the one hierarchy of version 2 is mounted; where version 1 is mounted too, it has a directory of its
 * own. */
static const char *mount_point(void) {
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s/cgroup.procs", places[i]);
        if (access(path, F_OK) == 0)
            return places[i];
    }
    return NULL;
}

/* The group of this process: the line "0::/system.slice/ballastd.service". */
static bool find_own(char group[PATH_MAX]) {
    char text[TEXT_MAX + 1];
    const char *mount = mount_point();
    if (!mount || read_text("/proc/self/cgroup", text) <= 0)
        return false;
    const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (!line)
        return false;
    line += *line == '\n' ? 4 : 3;
    const int length = (int)strcspn(line, "\n");
    return snprintf(group, PATH_MAX, "%s%.*s", mount, length, line) < PATH_MAX;
}

/* systemd marks the directory (extended attribute). */
static bool is_delegated(const char *group) {
    static const char *const names[] = {"user.delegate", "trusted.delegate"};
    char value[2];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getxattr(group, names[i], value, sizeof value) == 1 && *value == '1')
            return true;
    return false;
}

static bool is_group(const char *directory) {
    char path[PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    return access(path, W_OK) == 0 && access(directory, W_OK) == 0;
}

bool group_find(char base[PATH_MAX], const char *wanted, const char **fault) {
    *fault = NULL;
    if (strcmp(wanted, "none") == 0)
        return false;
    if (strcmp(wanted, "auto") == 0)
        return find_own(base) && is_delegated(base) && is_group(base);
    snprintf(base, PATH_MAX, "%s", wanted);
    if (!is_group(base))
        *fault = "it is no control group (of version 2) in which this user may make others";
    return !*fault;
}

bool group_make(const char *group) {
    return mkdir(group, 0755) == 0 || errno == EEXIST;
}

bool group_join(const char *group) {
    return write_file(group, "cgroup.procs", "0");
}

bool group_is_populated(const char *group) {
    char path[PATH_MAX + 40], text[TEXT_MAX + 1];
    snprintf(path, sizeof path, "%s/cgroup.events", group);
    return read_text(path, text) > 0 && strstr(text, "populated 1");
}

bool group_kill(const char *group) {
    if (!group_is_populated(group))
        return false;
    (void)write_file(group, "cgroup.kill", "1");
    return true;
}

void group_remove(const char *group) {
    (void)rmdir(group);
}
