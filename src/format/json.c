/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints JSON: commas, indentation and escapes. */
#include "format/json.h"

#include "ballast/number.h"

#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

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

static void open_with(struct json *json, const char *key, char bracket, bool line) {
    begin_value(json, key);
    fputc(bracket, json->out);
    const bool inner = line || json->inner[json->depth];
    json->depth++;
    assert(json->depth < JSON_DEPTH);
    json->started[json->depth] = false;
    json->inner[json->depth] = inner;
}

void bli_json_open(struct json *json, const char *key, char bracket) {
    open_with(json, key, bracket, false);
}

void bli_json_open_line(struct json *json, const char *key, char bracket) {
    open_with(json, key, bracket, true);
}

void bli_json_close(struct json *json, char bracket) {
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
    begin_value(json, key);
    put_string(json->out, text);
}

void bli_json_number(struct json *json, const char *key, double number) {
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
    begin_value(json, key);
    fprintf(json->out, "%" PRIu64, number);
}

void bli_json_bool(struct json *json, const char *key, bool value) {
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void bli_json_null(struct json *json, const char *key) {
    begin_value(json, key);
    fputs("null", json->out);
}
