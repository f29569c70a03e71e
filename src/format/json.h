/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes JSON to a stream: commas, indentation and escapes in one place. */
#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 32 };

/* Takes what is written in place of a stream: see format/json_schema.h. */
struct json;
enum json_kind { JSON_NULL, JSON_TEXT, JSON_NUMBER, JSON_COUNT, JSON_BOOL, JSON_NUMBER_OR_TEXT };
struct json_taker {
    void (*open)(struct json_taker *taker, const char *key, char bracket, bool line, bool map);
    void (*close)(struct json_taker *taker);
    void (*value)(struct json_taker *taker, const char *key, enum json_kind kind);
    const char *about; /* of the next member */
    bool all;          /* members that do not always apply are to be written, too */
    bool varies;       /* names of numbers that follow depend on what was asked */
};

struct json {
    FILE *out;
    struct json_taker *taker; /* NULL: none */
    unsigned depth;
    bool started[JSON_DEPTH]; /* there is a value at this depth already */
    bool inner[JSON_DEPTH];   /* written on one line */
};

/* key is NULL inside a list and for the outermost value. Numbers that are not finite become null. */
void bli_json_init(struct json *json, FILE *out);
void bli_json_open(struct json *json, const char *key, char bracket);      /* '{' or '[' */
void bli_json_open_line(struct json *json, const char *key, char bracket); /* the same, all on one line */
void bli_json_open_map(struct json *json, const char *key, bool line); /* '{': what its keys are, depends */
void bli_json_close(struct json *json, char bracket); /* '}' or ']'; the outermost one ends the line */
void bli_json_text(struct json *json, const char *key, const char *text); /* NULL: null */
void bli_json_number(struct json *json, const char *key, double number);  /* shortest text that reads back the
                                                                           * same
                                                                           */
void bli_json_count(struct json *json, const char *key, uint64_t number);
void bli_json_bool(struct json *json, const char *key, bool value);
void bli_json_number_or_text(struct json *json, const char *key, double number, const char *text);
void bli_json_null(struct json *json, const char *key);
void bli_json_numbers(struct json *json, const char *key, const double *number, size_t count); /* a list */

/* Is a member to be written that is there under this condition? A schema has all of them. */
bool bli_json_if(const struct json *json, bool condition);
/* Is it a schema? Then something must stand for what there may be none of. */
bool bli_json_is_schema(const struct json *json);
/* What the next member is, for a schema: "meaning|unit|when there is one". */
void bli_json_about(struct json *json, const char *about);

/* From here on, or no longer, names of numbers depend on what was asked: percentiles. */
void bli_json_varies(struct json *json, bool varies);

/* A part of such a text, "" where it has none; about may be NULL. Returns text. */
enum bli_about { BLI_ABOUT_MEANING, BLI_ABOUT_UNIT, BLI_ABOUT_WHEN };
enum { BLI_ABOUT_TEXT = 240 };
const char *bli_about_part(const char *about, enum bli_about part, char text[BLI_ABOUT_TEXT]);

#endif
