/* SPDX-License-Identifier: BSD-2-Clause */
/* The readiness check: a non-blocking connection, or an HTTP GET. */
#include "app_check.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REQUEST_MAX = 2048 };

static const size_t not_connected = SIZE_MAX;

static size_t request_of(const struct check *check, char request[REQUEST_MAX]) {
    return (size_t)snprintf(request, REQUEST_MAX, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", check->config->path,
                            check->config->host);
}

void check_begin(struct check *check, const struct check_config *config) {
    const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    *check = (struct check){.config = config, .sent = not_connected};
    check->fd = socket(config->address.any.sa_family, type, 0);
    check->failed = check->fd < 0 ||
                    (connect(check->fd, &config->address.any, config->address.size) && errno != EINPROGRESS);
}

short check_events(const struct check *check) {
    char request[REQUEST_MAX];
    const bool asked = check->sent != not_connected && check->sent == request_of(check, request);
    return asked ? POLLIN : POLLOUT;
}

static enum check_answer on_connected(struct check *check) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(check->fd, SOL_SOCKET, SO_ERROR, &error, &size) || error)
        return CHECK_NO;
    check->sent = 0;
    return check->config->kind == CHECK_TCP ? CHECK_YES : CHECK_WAIT;
}

static enum check_answer write_request(struct check *check) {
    char request[REQUEST_MAX];
    const size_t size = request_of(check, request);
    if (size >= sizeof request)
        return CHECK_NO;
    const ssize_t sent =
        send(check->fd, request + check->sent, size - check->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN ? CHECK_WAIT : CHECK_NO;
    check->sent += (size_t)sent;
    return CHECK_WAIT;
}

/* "HTTP/1.1 200": 2xx and 3xx are good. */
static enum check_answer read_answer(struct check *check) {
    const size_t wanted = strlen("HTTP/1.1 200");
    const ssize_t got = recv(check->fd, check->head + check->got, wanted - check->got, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN ? CHECK_WAIT : CHECK_NO;
    check->got += (size_t)got;
    if (got > 0 && check->got < wanted)
        return CHECK_WAIT;
    const bool good = check->got == wanted && strncmp(check->head, "HTTP/1.", 7) == 0 &&
                      check->head[8] == ' ' && (check->head[9] == '2' || check->head[9] == '3');
    return good ? CHECK_YES : CHECK_NO;
}

enum check_answer check_continue(struct check *check) {
    if (check->failed)
        return CHECK_NO;
    if (check->sent == not_connected)
        return on_connected(check);
    return check_events(check) == POLLOUT ? write_request(check) : read_answer(check);
}

void check_end(struct check *check) {
    if (check->config && check->fd >= 0)
        close(check->fd);
    *check = (struct check){0};
}
