/* SPDX-License-Identifier: BSD-2-Clause */
/* What test servers answer: status, head, body, whole or in chunks or token by token, and reports of load. */
#include "serve/serve_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The body alone, to be freed; NULL: there is no memory. */
static char *body_of(const struct serve *serve, const struct connection *c, size_t *length) {
    if (serve_starts_with(c->path, "/big")) {
        *length = (size_t)serve_query_number(c->path, "bytes", 100000);
        char *text = malloc(*length + 1);
        if (!text)
            return NULL;
        memset(text, 'x', *length);
        text[*length] = 0;
        return text;
    }
    char *text;
    const int written =
        asprintf(&text, "server %u answer %llu body %llu sum %llu\n", (unsigned)(c->server - serve->servers),
                 (unsigned long long)c->server->answered, (unsigned long long)c->body_length,
                 (unsigned long long)c->body_sum);
    if (written < 0)
        return NULL;
    *length = (size_t)written;
    return text;
}

/* Its room is enough for all that is appended. */
struct reply_text {
    char *at;
    size_t length, room;
};

__attribute__((format(printf, 2, 3))) static void append_text(struct reply_text *text, const char *format,
                                                              ...) {
    va_list args;
    va_start(args, format);
    text->length += (size_t)vsnprintf(text->at + text->length, text->room - text->length, format, args);
    va_end(args);
}

/* The request that is answered counts, whether it is still `here` or has just ended. */
static void put_load(const struct serve *serve, struct reply_text *text, const struct connection *c,
                     bool here) {
    const struct test_server *s = c->server;
    const uint32_t running = s->serving + !here, waiting = s->present + !here - running;
    const double utilization = running / (double)serve->slots;
    if (strcmp(c->load_format, "JSON") == 0)
        append_text(text,
                    "endpoint-load-metrics: JSON {\"application_utilization\": %.4f, \"named_metrics\": "
                    "{\"num_requests_running\": %u, \"num_requests_waiting\": %u}}\r\n",
                    utilization, running, waiting);
    else
        append_text(text,
                    "endpoint-load-metrics: TEXT application_utilization=%.4f, "
                    "named_metrics.num_requests_running=%u, named_metrics.num_requests_waiting=%u\r\n",
                    utilization, running, waiting);
}

static void put_head(const struct serve *serve, struct reply_text *text, const struct connection *c,
                     int status, bool here) {
    append_text(text, "HTTP/1.1 %d %s\r\nX-Server: %u\r\n", status, status < 400 ? "OK" : "Failed",
                (unsigned)(c->server - serve->servers));
    if (*c->id)
        append_text(text, "X-Request-Id: %s\r\n", c->id);
    if (serve_starts_with(c->path, "/cache"))
        append_text(text, "Cache-Control: max-age=%.0f\r\n", serve_query_number(c->path, "age", 1));
    if (c->close_after)
        append_text(text, "Connection: close\r\n");
    if (c->load_format)
        put_load(serve, text, c, here);
}

/* The next token of an answer that is streamed, with the head if it is the first, with the end if it is the
 * last. */
void serve_send_token(struct serve *serve, struct connection *c) {
    char token[64];
    struct reply_text text = {.room = 2048};
    text.at = malloc(text.room);
    if (!text.at) {
        serve_fail_answer(serve, c);
        return;
    }
    if (c->tokens_sent == 0) {
        put_head(serve, &text, c, 200, c->tokens > 1);
        append_text(&text, "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    }
    const int length = snprintf(token, sizeof token, "data: {\"token\": %u}\n\n", ++c->tokens_sent);
    append_text(&text, "%x\r\n%s\r\n%s", (unsigned)length, token,
                c->tokens_sent == c->tokens ? "0\r\n\r\n" : "");
    serve_send_text(serve, c, text.at, text.length);
}

void serve_send_response(struct serve *serve, struct connection *c, int status) {
    struct test_server *s = c->server;
    if (serve_starts_with(c->path, "/status/") && status == 200)
        status = (int)strtol(c->path + strlen("/status/"), NULL, 10);
    serve_end_request(serve, c, status);
    c->state = WRITING;
    if (c->tokens && status == 200) {
        serve_send_token(serve, c);
        serve_start_waiting(serve, s);
        return;
    }
    const unsigned chunks =
        serve_starts_with(c->path, "/chunked") ? (unsigned)serve_query_number(c->path, "chunks", 3) : 0;
    size_t length;
    char *body = body_of(serve, c, &length);
    struct reply_text text = {.room = body ? 1024 + (chunks + 1) * (length + 32) : 0};
    text.at = body ? malloc(text.room) : NULL;
    if (!text.at) {
        free(body);
        serve_fail_answer(serve, c);
        return;
    }
    put_head(serve, &text, c, status, false);
    if (chunks) {
        append_text(&text, "Transfer-Encoding: chunked\r\n\r\n");
        for (unsigned i = 0; i < chunks; i++)
            append_text(&text, "%zx\r\n%s\r\n", length, body);
        append_text(&text, "0\r\n\r\n");
    } else {
        append_text(&text, "Content-Length: %zu\r\n\r\n%s", length, body);
    }
    free(body);
    serve_send_text(serve, c, text.at, text.length);
    serve_start_waiting(serve, s);
}

void serve_send_upgrade(struct serve *serve, struct connection *c) {
    static const char text[] =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n";
    c->until = serve_clock_seconds();
    serve_end_request(serve, c, 101);
    c->state = ECHOING;
    char *copy = strdup(text);
    if (copy)
        serve_send_text(serve, c, copy, sizeof text - 1);
    else
        serve_fail_answer(serve, c);
}
