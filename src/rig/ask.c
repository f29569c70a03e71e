/* Single requests to processes of ours. */
#include "load/fetch.h"
#include "rig/rig.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int reach(uint16_t port) {
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

bool bal_rig_answers(uint16_t port) {
    const int fd = reach(port);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

char *bal_rig_get(uint16_t port, const char *path, struct bal_error *err) {
    enum { SECONDS = 30 };
    char url[300];
    struct target target;
    struct bal_fetched fetched;
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", port, path);
    const bool got = !bal_load_target_parse(&target, url, err) && !bal_load_target_resolve(&target, err) &&
                     !bal_load_fetch(&target, "*/*", SECONDS, &fetched, err);
    return got ? fetched.body : NULL;
}
