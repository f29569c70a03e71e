/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends one HTTP/1.0 request and reads the response, within a time limit. */
#include "load/fetch.h"

#include "load/http_response.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct exchange {
    int fd;
    double until;
    struct http_response answer;
    char *data; /* all that has come */
    size_t length, room;
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Waits until it can be read or written. */
static enum bal_code wait_for(const struct exchange *x, short events, struct bal_error *err) {
    struct pollfd waited = {.fd = x->fd, .events = events};
    for (;;) {
        const double left = x->until - seconds_now();
        if (left <= 0)
            return bal_fail(err, BAL_E_IO, "no answer in time");
        const int ready = poll(&waited, 1, (int)(1000 * left) + 1);
        if (ready > 0)
            return BAL_OK;
        if (ready < 0)
            return bal_fail(err, BAL_E_IO, "%s", strerror(errno));
    }
}

static enum bal_code connect_to(struct exchange *x, const struct target *target, struct bal_error *err) {
    int error = 0;
    socklen_t size = sizeof error;
    x->fd = socket(target->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (x->fd < 0)
        return bal_fail(err, BAL_E_IO, "%s", strerror(errno));
    if (connect(x->fd, (const struct sockaddr *)&target->address, target->address_length) == 0)
        return BAL_OK;
    if (errno != EINPROGRESS)
        return bal_fail(err, BAL_E_IO, "%s", strerror(errno));
    const enum bal_code code = wait_for(x, POLLOUT, err);
    if (code)
        return code;
    if (getsockopt(x->fd, SOL_SOCKET, SO_ERROR, &error, &size))
        error = errno;
    return error ? bal_fail(err, BAL_E_IO, "%s", strerror(error)) : BAL_OK;
}

static enum bal_code send_bytes(const struct exchange *x, const char *text, size_t length,
                                struct bal_error *err) {
    for (size_t sent = 0; sent < length;) {
        const ssize_t n = send(x->fd, text + sent, length - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
        } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return bal_fail(err, BAL_E_IO, "%s", strerror(errno));
        } else {
            const enum bal_code code = wait_for(x, POLLOUT, err);
            if (code)
                return code;
        }
    }
    return BAL_OK;
}

static enum bal_code send_request(const struct exchange *x, const struct target *target,
                                  const struct bli_fetch_request *request, struct bal_error *err) {
    char text[FETCH_HEAD], body[100] = "";
    if (request->body)
        snprintf(body, sizeof body, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                 strlen(request->body));
    const int length = snprintf(text, sizeof text,
                                "%s %s HTTP/1.0\r\nHost: %s\r\nAccept: %s\r\n%s%s%sConnection: close\r\n\r\n",
                                request->method, target->path, target->host, request->accept, body,
                                request->header ? request->header : "", request->header ? "\r\n" : "");
    if (length < 0 || (size_t)length >= sizeof text)
        return bal_fail(err, BAL_E_RANGE, "the head of the request is longer than %d bytes", FETCH_HEAD - 1);
    const enum bal_code code = send_bytes(x, text, (size_t)length, err);
    return code || !request->body ? code : send_bytes(x, request->body, strlen(request->body), err);
}

static enum bal_code make_room(struct exchange *x, struct bal_error *err) {
    if (x->room - x->length > 16384)
        return BAL_OK;
    if (x->room >= FETCH_MAX)
        return bal_fail(err, BAL_E_RANGE, "the answer is longer than %d bytes", FETCH_MAX);
    const size_t room = x->room ? 2 * x->room : 1 << 16;
    char *data = realloc(x->data, room);
    if (!data)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    x->data = data;
    x->room = room;
    return BAL_OK;
}

/* Until the answer is complete. */
static enum bal_code receive_response(struct exchange *x, struct bal_error *err) {
    bli_http_response_init(&x->answer);
    while (x->answer.state != RESPONSE_DONE) {
        enum bal_code code = wait_for(x, POLLIN, err);
        code = code ? code : make_room(x, err);
        if (code)
            return code;
        const ssize_t n = recv(x->fd, x->data + x->length, x->room - x->length - 1, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0)
            return bal_fail(err, BAL_E_IO, "%s", strerror(errno));
        if (n == 0 && bli_http_response_finish(&x->answer))
            break;
        if (n == 0)
            return bal_fail(err, BAL_E_IO, "the answer is not complete");
        bli_http_response_parse(&x->answer, x->data + x->length, (size_t)n);
        x->length += (size_t)n;
        if (x->answer.state == RESPONSE_BAD)
            return bal_fail(err, BAL_E_FORMAT, "the answer is no HTTP");
    }
    return BAL_OK;
}

/* What is behind the head. */
static enum bal_code copy_body(struct exchange *x, struct bli_fetched *fetched, struct bal_error *err) {
    x->data[x->length] = '\0';
    const char *end = memmem(x->data, x->length, "\r\n\r\n", 4);
    if (!end)
        return bal_fail(err, BAL_E_FORMAT, "the answer is no HTTP");
    const size_t head = (size_t)(end + 4 - x->data);
    memmove(x->data, x->data + head, x->length - head + 1);
    *fetched = (struct bli_fetched){x->answer.status, x->data, x->length - head};
    x->data = NULL;
    return BAL_OK;
}

enum bal_code bli_load_fetch(const struct target *target, const char *accept, double seconds,
                             struct bli_fetched *fetched, struct bal_error *err) {
    const struct bli_fetch_request request = {.method = "GET", .accept = accept};
    return bli_load_send(target, &request, seconds, fetched, err);
}

enum bal_code bli_load_send(const struct target *target, const struct bli_fetch_request *request,
                            double seconds, struct bli_fetched *fetched, struct bal_error *err) {
    struct exchange x = {.fd = -1, .until = seconds_now() + seconds};
    *fetched = (struct bli_fetched){0};
    enum bal_code code = connect_to(&x, target, err);
    code = code ? code : send_request(&x, target, request, err);
    code = code ? code : receive_response(&x, err);
    code = code ? code : copy_body(&x, fetched, err);
    if (x.fd >= 0)
        close(x.fd);
    free(x.data);
    return code;
}
