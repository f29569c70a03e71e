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
void bal_json_init(struct json *json, FILE *out);
void bal_json_open(struct json *json, const char *key, char bracket);      /* '{' or '[' */
void bal_json_open_line(struct json *json, const char *key, char bracket); /* the same, all on one line */
void bal_json_close(struct json *json, char bracket); /* '}' or ']'; the outermost one ends the line */
void bal_json_text(struct json *json, const char *key, const char *text);
void bal_json_number(struct json *json, const char *key, double number); /* shortest text that reads back the
                                                                          * same
                                                                          */
void bal_json_count(struct json *json, const char *key, uint64_t number);
void bal_json_bool(struct json *json, const char *key, bool value);
void bal_json_null(struct json *json, const char *key);

#endif
