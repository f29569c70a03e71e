/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes JSON to a stream: commas, indentation and escapes in one place. */
#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 32 };

struct json {
    FILE *out;
    unsigned depth;
    bool started[JSON_DEPTH]; /* there is a value at this depth already */
    bool inner[JSON_DEPTH];   /* written on one line */
};

/* key is NULL inside a list and for the outermost value. Numbers that are not finite become null. */
void bli_json_init(struct json *json, FILE *out);
void bli_json_open(struct json *json, const char *key, char bracket);      /* '{' or '[' */
void bli_json_open_line(struct json *json, const char *key, char bracket); /* the same, all on one line */
void bli_json_close(struct json *json, char bracket); /* '}' or ']'; the outermost one ends the line */
void bli_json_text(struct json *json, const char *key, const char *text);
void bli_json_number(struct json *json, const char *key, double number); /* shortest text that reads back the
                                                                          * same
                                                                          */
void bli_json_count(struct json *json, const char *key, uint64_t number);
void bli_json_bool(struct json *json, const char *key, bool value);
void bli_json_null(struct json *json, const char *key);

#endif
