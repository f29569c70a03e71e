/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets of test servers: they listen, accept connections, read what comes and send what is to be sent. */
#include "serve/serve_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* "::" takes IPv4 too. */
bool serve_set_address(struct serve *serve, const char *text) {
    struct sockaddr_in *four = (struct sockaddr_in *)&serve->listen_address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&serve->listen_address;
    memset(&serve->listen_address, 0, sizeof serve->listen_address);
    serve->listen_address.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
    return serve->listen_address.ss_family == AF_INET ? inet_pton(AF_INET, text, &four->sin_addr) == 1
                                                      : inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
}

/* -1: it has failed. */
static int bind_port(struct serve *serve, uint16_t port) {
    const int fd = socket(serve->listen_address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
              on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ((struct sockaddr_in *)&serve->listen_address)->sin_port = htons(port); /* at the same place in both */
    const socklen_t length =
        serve->listen_address.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&serve->listen_address, length)) {
        serve_fail(serve, "bind");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

void serve_listen(struct serve *serve, struct test_server *s, bool listens) {
    if (s->fd >= 0)
        close(s->fd); /* which also takes it out of epoll */
    s->fd = bind_port(serve, s->port);
    if (s->fd < 0)
        return;
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(s->fd, (struct sockaddr *)&address, &length)) {
        serve_fail(serve, "getsockname");
        return;
    }
    s->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (!listens)
        return;
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = SERVE_CONNECTIONS_MAX + (uint64_t)(s - serve->servers)};
    if (listen(s->fd, 4096) || epoll_ctl(serve->epoll_fd, EPOLL_CTL_ADD, s->fd, &event))
        serve_fail(serve, "listen");
}

static void watch_connection(struct serve *serve, struct connection *c, uint32_t events) {
    struct epoll_event event = {.events = events | EPOLLRDHUP, .data.u64 = c->number};
    if (epoll_ctl(serve->epoll_fd, EPOLL_CTL_MOD, c->fd, &event))
        serve_fail(serve, "epoll_ctl");
}

void serve_close_connection(struct serve *serve, struct connection *c) {
    struct test_server *s = c->server;
    serve_end_request(serve, c, 0);
    close(c->fd);
    s->connections--;
    serve->table[c->number] = NULL;
    serve->vacant[serve->vacant_count++] = c->number;
    free(c->out);
    free(c);
    serve_start_waiting(serve, s);
}

void serve_accept(struct serve *serve, struct test_server *s) {
    for (;;) {
        const int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
        if (fd < 0)
            return;
        struct connection *c = serve->vacant_count > 0 ? malloc(sizeof *c) : NULL;
        if (!c) {
            close(fd);
            continue;
        }
        memset(c, 0, offsetof(struct connection, in));
        c->fd = fd;
        c->number = serve->vacant[--serve->vacant_count];
        c->server = s;
        c->state = READING_HEAD;
        serve->table[c->number] = c;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u64 = c->number};
        if (epoll_ctl(serve->epoll_fd, EPOLL_CTL_ADD, fd, &event))
            serve_fail(serve, "epoll_ctl");
        s->connections++;
        s->accepted++;
        s->most_connections = s->connections > s->most_connections ? s->connections : s->most_connections;
    }
}

static void flush_out(struct serve *serve, struct connection *c) {
    while (c->out_done < c->out_length) {
        const ssize_t sent = send(c->fd, c->out + c->out_done, c->out_length - c->out_done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            watch_connection(serve, c, EPOLLOUT);
            c->blocked = true;
            return;
        }
        if (sent < 0) {
            c->gone = true;
            return;
        }
        c->out_done += (size_t)sent;
    }
    free(c->out);
    c->out = NULL;
    c->out_length = c->out_done = 0;
    if (c->blocked)
        watch_connection(serve, c, EPOLLIN);
    c->blocked = false;
    if (c->state != WRITING)
        return;
    c->gone = c->close_after;
    c->state = READING_HEAD;
}

void serve_fail_answer(struct serve *serve, struct connection *c) {
    serve_fail(serve, "memory");
    c->gone = true;
}

/* Only an answer that is streamed may have some that could not be sent yet. */
void serve_send_text(struct serve *serve, struct connection *c, char *text, size_t length) {
    if (c->out) {
        char *longer = realloc(c->out, c->out_length + length);
        if (longer) {
            memcpy(longer + c->out_length, text, length);
            c->out = longer;
            c->out_length += length;
        }
        free(text);
        if (!longer) {
            serve_fail_answer(serve, c);
            return;
        }
    } else {
        c->out = text;
        c->out_length = length;
        c->out_done = 0;
    }
    flush_out(serve, c);
}

static void echo_input(struct serve *serve, struct connection *c) {
    char *copy = malloc(c->used);
    if (!copy) {
        serve_fail_answer(serve, c);
        return;
    }
    memcpy(copy, c->in, c->used);
    const size_t length = c->used;
    c->used = 0;
    serve_send_text(serve, c, copy, length);
}

static void read_input(struct serve *serve, struct connection *c) {
    while (!c->gone && c->used < SERVE_BUFFER_SIZE - 1) {
        const ssize_t got = recv(c->fd, c->in + c->used, SERVE_BUFFER_SIZE - 1 - c->used, 0);
        if (got < 0 && errno == EAGAIN)
            return;
        const bool short_read = got > 0 && (size_t)got < SERVE_BUFFER_SIZE - 1 - c->used;
        if (got <= 0) {
            c->gone = true;
            return;
        }
        c->used += (size_t)got;
        if (c->state == ECHOING && !c->out)
            echo_input(serve, c);
        else
            serve_process_input(serve, c);
        if (short_read)
            return; /* epoll would report the end of the connection again */
    }
}

/* Something has happened to it. */
void serve_on_connection(struct serve *serve, struct connection *c, uint32_t events) {
    if (c->out && events & EPOLLOUT)
        flush_out(serve, c);
    if (!c->gone && events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        read_input(serve, c);
    if (c->gone)
        serve_close_connection(serve, c);
}
