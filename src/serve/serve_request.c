/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the requests that come to test servers: the head and the body, whole or in chunks, in whatever pieces
 * they come. */
#include "serve/serve_state.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double serve_query_number(const char *path, const char *name, double otherwise) {
    const char *at = strchr(path, '?');
    const size_t length = strlen(name);
    double value;
    for (; at; at = strchr(at + 1, '&'))
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '=')
            return bli_number_read(at + 2 + length, &value) ? value : otherwise;
    return otherwise;
}

bool serve_starts_with(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* What stands behind the name of a header, up to the end of its line; NULL: it is not there. */
static const char *find_header(const char *head, const char *name) {
    const size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':') {
            const char *value = line + 3 + length;
            return value + strspn(value, " ");
        }
    return NULL;
}

/* Is it for tokens? Then they say how much work it is. */
static void read_tokens(const struct serve *serve, struct connection *c) {
    const double prompt = serve_query_number(c->path, "prompt", 0),
                 tokens = serve_query_number(c->path, "tokens", 0);
    c->tokens = c->tokens_sent = 0;
    if (!(serve->token_service[0] + serve->token_service[1] > 0) || !(prompt >= 0 && prompt <= 1e6) ||
        !(tokens >= 1 && tokens <= 1e6))
        return;
    c->tokens = (uint32_t)tokens;
    c->service = floor(prompt) * serve->token_service[0] + c->tokens * serve->token_service[1];
}

static void read_head(const struct serve *serve, struct connection *c, const char *head) {
    const char *path = strchr(head, ' '), *value;
    snprintf(c->path, sizeof c->path, "%.*s", path ? (int)strcspn(path + 1, " \r") : 0, path ? path + 1 : "");
    value = find_header(head, "X-Request-Id");
    snprintf(c->id, sizeof c->id, "%.*s", value ? (int)strcspn(value, "\r") : 0, value ? value : "");
    double number;
    value = find_header(head, "X-Service");
    if (!value || !bli_number_read(value, &number))
        number = serve_query_number(c->path, "service", NAN);
    c->service = number / 1e6;
    read_tokens(serve, c);
    value = find_header(head, "endpoint-load-metrics-format");
    c->load_format = value ? strncasecmp(value, "json", 4) == 0 ? "JSON" : "TEXT" : NULL;
    value = find_header(head, "Content-Length");
    c->body_left = value && bli_number_read(value, &number) ? (uint64_t)number : 0;
    value = find_header(head, "Transfer-Encoding");
    c->chunked = value && strncasecmp(value, "chunked", 7) == 0;
    c->body_length = c->body_sum = 0;
    value = find_header(head, "Connection");
    c->close_after = (value && strncasecmp(value, "close", 5) == 0) ||
                     (strstr(head, "HTTP/1.0\r\n") && !(value && strncasecmp(value, "keep-alive", 10) == 0));
}

static void consume_input(struct connection *c, size_t length) {
    memmove(c->in, c->in + length, c->used - length);
    c->used -= length;
}

static void consume_body(struct connection *c, size_t at, size_t length) {
    for (size_t i = 0; i < length; i++)
        c->body_sum += (unsigned char)c->in[at + i];
    c->body_length += length;
}

/* Returns whether the body is complete; what was read of it is used up. */
static bool read_body(struct connection *c) {
    for (;;) {
        const size_t part = c->used < c->body_left ? c->used : (size_t)c->body_left;
        consume_body(c, 0, part);
        consume_input(c, part);
        c->body_left -= part;
        if (c->body_left > 0 || !c->chunked)
            return c->body_left == 0;
        c->in[c->used] = 0;
        /* The end of the previous chunk, if there was one. */
        const size_t skip = serve_starts_with(c->in, "\r\n") ? 2 : 0;
        char *line = strstr(c->in + skip, "\r\n"), *end;
        if (!line)
            return false;
        c->body_left = strtoull(c->in + skip, &end, 16);
        const size_t head = (size_t)(line - c->in) + 2;
        if (c->body_left == 0) {
            if (c->used < head + 2)
                return false;
            consume_input(c, head + 2);
            return true;
        }
        consume_input(c, head);
    }
}

void serve_process_input(struct serve *serve, struct connection *c) {
    while (c->used > 0 && !c->gone) {
        if (c->state == READING_HEAD) {
            c->in[c->used] = 0;
            char *end = strstr(c->in, "\r\n\r\n");
            if (!end) {
                c->gone = c->used == SERVE_BUFFER_SIZE - 1;
                return;
            }
            end[2] = 0;
            read_head(serve, c, c->in);
            consume_input(c, (size_t)(end - c->in) + 4);
            c->state = READING_BODY;
        }
        if (c->state != READING_BODY || !read_body(c))
            return;
        serve_dispatch_request(serve, c);
    }
}
