/* SPDX-License-Identifier: BSD-2-Clause */
/* The server of HTTP: clients, requests, answers. */
#include "http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEVER UINT64_MAX
static const uint64_t patience = 5000000000; /* ns, with a client */

/* ---- clients ---- */

static void drop_client(struct http_client *client) {
    close(client->fd);
    free(client->answer);
    client->fd = -1;
    client->answer = NULL;
}

static struct http_client *oldest_client(struct http *http) {
    struct http_client *oldest = &http->client[0];
    for (size_t i = 0; i < HTTP_CLIENTS; i++) {
        struct http_client *client = &http->client[i];
        if (client->fd < 0)
            return client;
        if (client->until < oldest->until)
            oldest = client;
    }
    drop_client(oldest);
    return oldest;
}

static void accept_clients(struct http *http, uint64_t now) {
    for (int i = 0; i < HTTP_CLIENTS; i++) { /* then others have their turn */
        const int fd = accept4(http->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        struct http_client *client = oldest_client(http);
        client->fd = fd;
        client->got = client->sent = client->size = 0;
        client->until = now + patience;
    }
}

/* ---- answers ---- */

static const char *reason_of(int status) {
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    default:
        return "Service Unavailable";
    }
}

static struct http_answer fail_request(int status) {
    char text[60];
    snprintf(text, sizeof text, "%d %s\n", status, reason_of(status));
    char *body = strdup(text);
    return (struct http_answer){status, "text/plain; charset=utf-8", body, body ? strlen(body) : 0};
}

static void compose_answer(struct http_client *client, struct http_answer body, bool head) {
    FILE *out = open_memstream(&client->answer, &client->size);
    if (out) {
        fprintf(out,
                "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
                "%sConnection: close\r\n\r\n",
                body.status, reason_of(body.status), body.type, body.size,
                body.status == 405 ? "Allow: GET, HEAD\r\n" : "");
        if (!head && body.size)
            fwrite(body.body, 1, body.size, out);
        if (fclose(out)) {
            free(client->answer);
            client->answer = NULL;
        }
    }
    free(body.body);
}

/* "GET /metrics?x HTTP/1.1": the path without its query; NULL: no such line. */
static char *path_of(char *request, char **method) {
    char *path = strchr(request, ' ');
    char *end = path ? strpbrk(path + 1, " \r\n") : NULL;
    if (!end || strncmp(end, " HTTP/1.", 8) != 0 || path[1] != '/')
        return NULL;
    *path = *end = '\0';
    *method = request;
    path[1 + strcspn(path + 1, "?")] = '\0';
    return path + 1;
}

static void answer_request(struct http_client *client, http_answer_fn *answer, void *context) {
    char *method = NULL, *path = path_of(client->request, &method);
    const bool head = path && strcmp(method, "HEAD") == 0;
    if (!path)
        compose_answer(client, fail_request(400), false);
    else if (!head && strcmp(method, "GET") != 0)
        compose_answer(client, fail_request(405), false);
    else {
        struct http_answer body = answer(context, path);
        compose_answer(client, body.body ? body : fail_request(body.status == 200 ? 503 : body.status), head);
    }
}

/* ---- what comes and goes ---- */

static bool is_complete(const struct http_client *client) {
    return strstr(client->request, "\r\n\r\n") || strstr(client->request, "\n\n") ||
           client->got == HTTP_REQUEST_MAX || strlen(client->request) < client->got;
}

static void receive_request(struct http_client *client, http_answer_fn *answer, void *context) {
    const ssize_t size = recv(client->fd, client->request + client->got, HTTP_REQUEST_MAX - client->got, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        drop_client(client);
        return;
    }
    client->got += (size_t)size;
    client->request[client->got] = '\0';
    if (!is_complete(client))
        return;
    answer_request(client, answer, context);
    if (!client->answer)
        drop_client(client);
}

static void send_answer(struct http_client *client) {
    const ssize_t size =
        send(client->fd, client->answer + client->sent, client->size - client->sent, MSG_NOSIGNAL);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    client->sent += size > 0 ? (size_t)size : 0;
    if (size <= 0 || client->sent == client->size)
        drop_client(client);
}

void http_list(const struct http *http, struct pollfd *fd) {
    fd[0] = (struct pollfd){.fd = http->fd, .events = POLLIN};
    for (size_t i = 0; i < HTTP_CLIENTS; i++)
        fd[i + 1] =
            (struct pollfd){.fd = http->client[i].fd, .events = http->client[i].answer ? POLLOUT : POLLIN};
}

void http_handle(struct http *http, const struct pollfd *fd, uint64_t now, http_answer_fn *answer,
                 void *context) {
    for (size_t i = 0; i < HTTP_CLIENTS; i++) {
        struct http_client *client = &http->client[i];
        if (client->fd < 0 || !fd[i + 1].revents)
            continue;
        if (client->answer)
            send_answer(client);
        else
            receive_request(client, answer, context);
    }
    if (fd[0].revents)
        accept_clients(http, now); /* the last: a descriptor in the list may be given again */
}

uint64_t http_run_timers(struct http *http, uint64_t now) {
    uint64_t next = NEVER;
    for (size_t i = 0; i < HTTP_CLIENTS; i++) {
        struct http_client *client = &http->client[i];
        if (client->fd >= 0 && client->until <= now)
            drop_client(client);
        else if (client->fd >= 0)
            next = client->until < next ? client->until : next;
    }
    return next;
}

/* ---- the beginning and the end ---- */

bool http_open(struct http *http, const struct address *address) {
    const int on = 1;
    http->fd = -1;
    for (size_t i = 0; i < HTTP_CLIENTS; i++)
        http->client[i] = (struct http_client){.fd = -1};
    if (!address->size)
        return true;
    http->fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (http->fd < 0)
        return false;
    (void)setsockopt(http->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(http->fd, &address->any, address->size) == 0 && listen(http->fd, HTTP_CLIENTS) == 0)
        return true;
    const int error = errno;
    http_close(http);
    errno = error;
    return false;
}

void http_close(struct http *http) {
    for (size_t i = 0; i < HTTP_CLIENTS; i++)
        if (http->client[i].fd >= 0)
            drop_client(&http->client[i]);
    if (http->fd >= 0)
        close(http->fd);
    http->fd = -1;
}
