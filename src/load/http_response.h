/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads an HTTP/1.1 answer piece by piece, as it comes from a socket. */
#ifndef LOAD_HTTP_RESPONSE_H
#define LOAD_HTTP_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RESPONSE_HEAD = 8192 }; /* longer heads are refused */

enum http_response_state {
    RESPONSE_HEAD_STATE, /* the status line and the headers */
    RESPONSE_BODY,       /* so many bytes, or up to the end of the connection */
    RESPONSE_CHUNK_SIZE,
    RESPONSE_CHUNK,
    RESPONSE_CHUNK_END, /* the line end behind a chunk */
    RESPONSE_TRAILER,
    RESPONSE_DONE,
    RESPONSE_BAD
};

struct http_response {
    enum http_response_state state;
    int status;
    bool until_close; /* the end of the connection ends the body */
    bool keep;        /* the connection may be used again */
    bool bodiless;    /* set by the caller: it is the answer to HEAD, and ends with its head */
    uint64_t left;   /* bytes left of the body or of the chunk; while the size of a chunk is read: the size so
                        far */
    unsigned digits; /* digits read of the size of a chunk; in a trailer: characters of the line */
    bool in_extension;
    uint64_t id; /* the number behind the last '-' of X-Request-Id; UINT64_MAX: there is none */
    size_t used; /* of head */
    char head[RESPONSE_HEAD + 1];
};

void bli_http_response_init(struct http_response *answer);

/* Parses received bytes; returns how many belong to this response. Afterwards the state is ANSWER_DONE,
 * ANSWER_BAD, or another one if more bytes are needed. */
size_t bli_http_response_parse(struct http_response *answer, const char *data, size_t length);

/* The connection has ended: is the answer complete? */
bool bli_http_response_finish(struct http_response *answer);

#endif
