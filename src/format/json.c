/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints JSON: commas, indentation and escapes. */
#include "format/json.h"

#include "ballast/number.h"

#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void bli_json_init(struct json *json, FILE *out) {
    *json = (struct json){.out = out};
}

/* Characters that could control a terminal are escaped, and bytes that are not UTF-8 become U+FFFD. */
static void put_string(FILE *out, const char *text) {
    fputc('"', out);
    while (*text) {
        const unsigned c = bli_utf8_decode(&text, NULL);
        char letter[4], *end = letter;
        bli_utf8_put(&end, c);
        if (!bli_utf8_is_harmless(c)) /* there is none above U+FFFF */
            fprintf(out, "\\u%04x", c);
        else
            fprintf(out, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", (int)(end - letter), letter);
    }
    fputc('"', out);
}

static void new_line(const struct json *json) {
    fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
}

/* What is printed in front of a value: comma, line break, key. */
static void begin_value(struct json *json, const char *key) {
    if (json->started[json->depth])
        fputs(json->inner[json->depth] ? ", " : ",", json->out);
    if (json->depth > 0 && !json->inner[json->depth])
        new_line(json);
    json->started[json->depth] = true;
    if (key) {
        put_string(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_with(struct json *json, const char *key, char bracket, bool line, bool map) {
    if (json->taker) {
        json->taker->open(json->taker, key, bracket, line, map);
        return;
    }
    begin_value(json, key);
    fputc(bracket, json->out);
    const bool inner = line || json->inner[json->depth];
    json->depth++;
    assert(json->depth < JSON_DEPTH);
    json->started[json->depth] = false;
    json->inner[json->depth] = inner;
}

void bli_json_open(struct json *json, const char *key, char bracket) {
    open_with(json, key, bracket, false, false);
}

void bli_json_open_line(struct json *json, const char *key, char bracket) {
    open_with(json, key, bracket, true, false);
}

void bli_json_open_map(struct json *json, const char *key, bool line) {
    open_with(json, key, '{', line, true);
}

/* Has it been taken? */
static bool is_taken(struct json *json, const char *key, enum json_kind kind) {
    if (json->taker)
        json->taker->value(json->taker, key, kind);
    return json->taker;
}

void bli_json_close(struct json *json, char bracket) {
    if (json->taker) {
        json->taker->close(json->taker);
        return;
    }
    assert(json->depth > 0);
    const bool lines = json->started[json->depth] && !json->inner[json->depth];
    json->depth--;
    if (lines)
        new_line(json);
    fputc(bracket, json->out);
    if (json->depth == 0)
        fputc('\n', json->out);
}

void bli_json_text(struct json *json, const char *key, const char *text) {
    if (is_taken(json, key, JSON_TEXT))
        return;
    if (!text) {
        bli_json_null(json, key);
        return;
    }
    begin_value(json, key);
    put_string(json->out, text);
}

void bli_json_number(struct json *json, const char *key, double number) {
    if (is_taken(json, key, JSON_NUMBER))
        return;
    if (!isfinite(number)) {
        bli_json_null(json, key);
        return;
    }
    char text[BLI_NUMBER_TEXT];
    bli_number_print(number, text);
    begin_value(json, key);
    fputs(text, json->out);
}

void bli_json_count(struct json *json, const char *key, uint64_t number) {
    if (is_taken(json, key, JSON_COUNT))
        return;
    begin_value(json, key);
    fprintf(json->out, "%" PRIu64, number);
}

void bli_json_bool(struct json *json, const char *key, bool value) {
    if (is_taken(json, key, JSON_BOOL))
        return;
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void bli_json_number_or_text(struct json *json, const char *key, double number, const char *text) {
    if (is_taken(json, key, JSON_NUMBER_OR_TEXT))
        return;
    if (text)
        bli_json_text(json, key, text);
    else
        bli_json_number(json, key, number);
}

void bli_json_null(struct json *json, const char *key) {
    if (is_taken(json, key, JSON_NULL))
        return;
    begin_value(json, key);
    fputs("null", json->out);
}

void bli_json_numbers(struct json *json, const char *key, const double *number, size_t count) {
    bli_json_open_line(json, key, '[');
    for (size_t i = 0; i < count; i++)
        bli_json_number(json, NULL, number[i]);
    if (json->taker && count == 0)
        bli_json_number(json, NULL, 0); /* one stands for all */
    bli_json_close(json, ']');
}

bool bli_json_is_schema(const struct json *json) {
    return json->taker;
}

bool bli_json_if(const struct json *json, bool condition) {
    return json->taker ? json->taker->all : condition;
}

void bli_json_about(struct json *json, const char *about) {
    if (json->taker)
        json->taker->about = about;
}

void bli_json_varies(struct json *json, bool varies) {
    if (json->taker)
        json->taker->varies = varies;
}

const char *bli_about_part(const char *about, enum bli_about part, char text[BLI_ABOUT_TEXT]) {
    for (int i = 0; about && i < (int)part; i++)
        about = strchr(about, '|') ? strchr(about, '|') + 1 : NULL;
    snprintf(text, BLI_ABOUT_TEXT, "%.*s", about ? (int)strcspn(about, "|") : 0, about ? about : "");
    return text;
}
