/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams to systemd's $NOTIFY_SOCKET. */
#include "notify.h"

#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void notify_send(const char *text) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, strlen(path));
    if (*path == '@') /* an abstract name */
        to.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    (void)sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&to, size);
    close(fd);
}

uint64_t notify_watchdog_ns(void) {
    const char *time = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    uint64_t micros, process;
    if (!time || !config_whole_number(time, &micros) || micros == 0 || micros > UINT64_MAX / 1000)
        return UINT64_MAX;
    if (pid && (!config_whole_number(pid, &process) || process != (uint64_t)getpid()))
        return UINT64_MAX;
    return micros * 1000 / 2;
}
