/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads JSON strictly (RFC 8259), value by value, without allocating.
 *
 *     struct json_reader r;
 *     char key[32];
 *     bli_json_reader_init(&r, text, length);
 *     bli_json_reader_open(&r, '{');
 *     while (bli_json_reader_key(&r, key, sizeof key))
 *         ... one value: bli_json_reader_string(), _number(), _bool(), _null(), _skip(), or open, and its
 *             members
 *     if (!bli_json_reader_end(&r)) ... r.fault, r.line, r.column
 *
 * After the first fault everything returns false, and nothing is read any more. */
#ifndef FORMAT_JSON_READER_H
#define FORMAT_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_READER_DEPTH = 32 };

struct json_reader {
    const char *start, *at, *end;
    const char *fault;     /* NULL: none so far. Otherwise what is wrong, in words ... */
    unsigned line, column; /* ... and where, from 1 on, in bytes */
    unsigned depth;
    char closing[JSON_READER_DEPTH]; /* of what is open */
    bool first;                      /* nothing has been read since the last bracket was opened */
};

/* The text need not be terminated, and must last as long as the reader. */
void bli_json_reader_init(struct json_reader *r, const char *text, size_t length);
/* What the next value begins with: '{', '[', '"', '-' (a number), 't', 'f', 'n', or '\0': none begins here.
 */
char bli_json_reader_peek(struct json_reader *r);
/* Opens an object or a list. */
bool bli_json_reader_open(struct json_reader *r, char bracket);
/* The next member of the innermost object, its value to be read next. False: there is none, and the object
 * has been closed; or a fault. A key that does not fit is a fault. */
bool bli_json_reader_key(struct json_reader *r, char *key, size_t room);
/* The same for the next item of the innermost list. */
bool bli_json_reader_item(struct json_reader *r);
/* Values of one kind each. A string is valid UTF-8 without U+0000, and must fit with its terminator. */
bool bli_json_reader_string(struct json_reader *r, char *text, size_t room);
bool bli_json_reader_number(struct json_reader *r, double *number);
bool bli_json_reader_bool(struct json_reader *r, bool *value);
bool bli_json_reader_null(struct json_reader *r);
/* Any value, whatever it is. */
bool bli_json_reader_skip(struct json_reader *r);
/* All that was open has been closed, and nothing follows. False: a fault, also an earlier one. */
bool bli_json_reader_end(struct json_reader *r);
/* Sets the fault, here, unless there is one. Returns false. */
bool bli_json_reader_fail(struct json_reader *r, const char *fault);

#endif
