/* Reads an HTTP/1.1 answer piece by piece, as it comes from a socket. */
#ifndef LOAD_ANSWER_H
#define LOAD_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ANSWER_HEAD = 8192 }; /* longer heads are refused */

enum answer_state {
    ANSWER_HEAD_STATE, /* the status line and the headers */
    ANSWER_BODY,       /* so many bytes, or up to the end of the connection */
    ANSWER_CHUNK_SIZE,
    ANSWER_CHUNK,
    ANSWER_CHUNK_END, /* the line end behind a chunk */
    ANSWER_TRAILER,
    ANSWER_DONE,
    ANSWER_BAD
};

struct answer {
    enum answer_state state;
    int status;
    bool until_close; /* the end of the connection ends the body */
    bool keep;        /* the connection may be used again */
    uint64_t left;    /* bytes of the body or of the chunk; while its size is read: that */
    unsigned digits;  /* of the size of a chunk that have been read; in a trailer: characters of the line */
    bool in_extension;
    uint64_t id; /* the number behind the last '-' of X-Request-Id; UINT64_MAX: there is none */
    size_t used; /* of head */
    char head[ANSWER_HEAD + 1];
};

void bal_load_answer_begin(struct answer *answer);

/* Takes what has come; returns how many bytes belonged to this answer. Then state tells: ANSWER_DONE or
 * ANSWER_BAD, or more is to come. */
size_t bal_load_answer_take(struct answer *answer, const char *data, size_t length);

/* The connection has ended: is the answer complete? */
bool bal_load_answer_end(struct answer *answer);

#endif
