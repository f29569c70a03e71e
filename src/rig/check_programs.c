/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that the programs which an experiment needs are installed. */
#include "rig/rig.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool uses_proxy(const struct bli_experiment *e, enum bli_proxy proxy) {
    for (size_t p = 0; p < e->policies; p++)
        if (e->policy[p].real && e->policy[p].proxy == proxy)
            return true;
    return false;
}

static bool has_loss_fault(const struct bli_experiment *e) {
    for (size_t i = 0; i < e->live->faults; i++)
        if (e->live->fault[i].kind == BLI_FAULT_LOSS)
            return true;
    return false;
}

/* What `nginx -v` prints, on standard error: "nginx version: nginx/1.31.4". */
static void print_version(const char *nginx, char *text, size_t room) {
    int ends[2];
    pid_t pid;
    size_t length = 0;
    char *argv[] = {(char *)nginx, (char *)"-v", NULL};
    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) == -1)
        return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int failed = posix_spawn(&pid, nginx, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (ssize_t n; length + 1 < room && (n = read(ends[0], text + length, room - 1 - length)) > 0;)
        length += (size_t)n;
    text[length] = '\0';
    close(ends[0]);
    if (!failed)
        waitpid(pid, NULL, 0);
}

static enum bal_code check_least_time(const char *nginx, const struct bli_experiment *e,
                                      struct bal_error *err) {
    static const unsigned long major = 1, minor = 31; /* came with least_time */
    char text[200];
    bool used = false;
    for (size_t p = 0; p < e->policies; p++)
        used |= e->policy[p].real && e->policy[p].proxy == BLI_PROXY_NGINX &&
                strncmp(e->policy[p].text, "least_time", strlen("least_time")) == 0;
    if (!used)
        return BAL_OK;
    print_version(nginx, text, sizeof text);
    const char *version = strstr(text, "nginx/");
    char *end = NULL;
    const unsigned long first = version ? strtoul(version + strlen("nginx/"), &end, 10) : major + 1;
    const unsigned long second = end && *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    if (first > major || (first == major && second >= minor)) /* relatives have versions of their own */
        return BAL_OK;
    text[strcspn(text, "\n")] = '\0';
    return bal_fail(
        err, BAL_E_IO,
        "least_time came with nginx 1.31, and %s says '%.60s'; put a newer one first in PATH, with "
        "the module built for it, or leave its policies out",
        nginx, text);
}

enum bal_code bli_rig_check(const struct rig_programs *programs, const struct bli_experiment *e,
                            struct bal_error *err) {
    const bool ours = uses_proxy(e, BLI_PROXY_BALLAST);
    if ((ours || uses_proxy(e, BLI_PROXY_NGINX)) && !programs->nginx)
        return bal_fail(err, BAL_E_IO, "nginx is not installed: `sudo apt install nginx`");
    if (ours && !programs->module)
        return bal_fail(
            err, BAL_E_IO,
            "the module for nginx is not there: `make nginx` builds it; or name it with --module");
    if (uses_proxy(e, BLI_PROXY_HAPROXY) && !programs->haproxy)
        return bal_fail(err, BAL_E_IO,
                        "haproxy is not installed: `sudo apt install haproxy`, or leave its policies out");
    if (e->live->keepers && !programs->keeper)
        return bal_fail(err, BAL_E_IO, "ballastd is not there: `make` builds it next to ballast");
    enum bal_code code = check_least_time(programs->nginx, e, err);
    if (!code && e->live->hosts)
        code = bli_hosts_check(err);
    if (code)
        return code;
    if (has_loss_fault(e) && !programs->lossy_preload)
        return bal_fail(err, BAL_E_IO, "the library that loses datagrams is not there: `make` builds it");
    return BAL_OK;
}
