/* SPDX-License-Identifier: BSD-2-Clause */
/* Single requests to processes of ours. */
#include "load/fetch.h"
#include "rig/rig.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int connect_to_port(uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval limit = {.tv_sec = 5};
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

bool bli_rig_is_listening(const struct rig *rig, unsigned host, uint16_t port) {
    if (rig->hosts)
        bli_hosts_enter(rig->hosts, host);
    const int fd = connect_to_port(port);
    if (rig->hosts)
        bli_hosts_leave(rig->hosts);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

char *bli_rig_get(const struct rig *rig, unsigned host, uint16_t port, const char *path,
                  struct bal_error *err) {
    enum { SECONDS = 30 };
    char url[300];
    struct target target;
    struct bli_fetched fetched;
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", port, path);
    if (rig->hosts)
        bli_hosts_enter(rig->hosts, host);
    const bool got = !bli_load_target_parse(&target, url, err) && !bli_load_target_resolve(&target, err) &&
                     !bli_load_fetch(&target, "*/*", SECONDS, &fetched, err);
    if (rig->hosts)
        bli_hosts_leave(rig->hosts);
    return got ? fetched.body : NULL;
}
