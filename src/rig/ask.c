/* Single requests to processes of ours. */
#include "rig/rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

/* All until the other side closes. */
static char *read_all(int fd) {
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    for (;;) {
        if (text && used + 1 == room) {
            char *larger = realloc(text, room *= 2);
            if (!larger)
                free(text);
            text = larger;
        }
        if (!text)
            return NULL;
        const ssize_t got = recv(fd, text + used, room - used - 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    text[used] = 0;
    return text;
}

char *bal_rig_get(uint16_t port, const char *path) {
    char request[300];
    const int length = snprintf(request, sizeof request,
                                "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path);
    const int fd = reach(port);
    if (fd < 0)
        return NULL;
    char *text = send(fd, request, (size_t)length, MSG_NOSIGNAL) == length ? read_all(fd) : NULL;
    close(fd);
    char *body = text ? strstr(text, "\r\n\r\n") : NULL;
    if (body)
        memmove(text, body + 4, strlen(body + 4) + 1);
    else
        free(text);
    return body ? text : NULL;
}
