/* SPDX-License-Identifier: BSD-2-Clause */
/* A small server of HTTP for GET: the state of the keeper, for people and programs. It reads a bounded
 * request, sends one answer and closes; one that is slow is cut off, and when there are too many the oldest
 * goes. */
#ifndef KEEPER_HTTP_H
#define KEEPER_HTTP_H

#include "config.h"

#include <poll.h>

enum { HTTP_CLIENTS = 16, HTTP_POLLED = HTTP_CLIENTS + 1, HTTP_REQUEST_MAX = 4096 };

struct http_client {
    int fd; /* -1: free */
    char request[HTTP_REQUEST_MAX + 1];
    size_t got;
    char *answer; /* NULL: the request is not complete */
    size_t size, sent;
    uint64_t until; /* then it is cut off */
};

struct http {
    int fd; /* -1: there is none */
    struct http_client client[HTTP_CLIENTS];
};

struct http_answer {
    int status;       /* 200, 404, 503 */
    const char *type; /* of the body */
    char *body;       /* allocated */
    size_t size;
};

/* Answers a GET of the path. */
typedef struct http_answer http_answer_fn(void *context, const char *path);

/* False: it cannot listen at the address; errno says why. */
bool http_open(struct http *http, const struct address *address);
void http_close(struct http *http);

/* Fills in HTTP_POLLED descriptors. */
void http_list(const struct http *http, struct pollfd *fd);
/* Continues after poll(2) with these. */
void http_handle(struct http *http, const struct pollfd *fd, uint64_t now, http_answer_fn *answer,
                 void *context);
/* Cuts off what is late; returns when it must be called again. */
uint64_t http_run_timers(struct http *http, uint64_t now);

#endif
