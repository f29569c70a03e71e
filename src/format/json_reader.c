/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads JSON: a recursive grammar, read by its callers' own recursion, so that it needs no memory. */
#include "format/json_reader.h"

#include "ballast/number.h"

#include "base/utf8.h"

#include <math.h>
#include <string.h>

enum { NUMBER_MAX = 64 }; /* bytes of a number: beyond that no digit matters, and none is written so */

void bli_json_reader_init(struct json_reader *r, const char *text, size_t length) {
    *r = (struct json_reader){.start = text, .at = text, .end = text + length};
}

bool bli_json_reader_fail(struct json_reader *r, const char *fault) {
    if (r->fault)
        return false;
    r->fault = fault;
    r->line = r->column = 1;
    for (const char *c = r->start; c < r->at; c++) {
        r->column = *c == '\n' ? 1 : r->column + 1;
        r->line += *c == '\n';
    }
    return false;
}

static char next_byte(struct json_reader *r) {
    while (!r->fault && r->at < r->end && memchr(" \t\r\n", *r->at, 4))
        r->at++;
    return r->fault || r->at == r->end ? '\0' : *r->at;
}

static bool skip_byte(struct json_reader *r, char wanted, const char *fault) {
    if (next_byte(r) != wanted)
        return bli_json_reader_fail(r, fault);
    r->at++;
    return true;
}

char bli_json_reader_peek(struct json_reader *r) {
    const char c = next_byte(r);
    if (c >= '0' && c <= '9')
        return '-';
    return c && memchr("{[\"-tfn", c, 7) ? c : '\0';
}

/* ---- objects and lists ---- */

bool bli_json_reader_open(struct json_reader *r, char bracket) {
    if (!skip_byte(r, bracket, bracket == '{' ? "an object { ... } is missing" : "a list [ ... ] is missing"))
        return false;
    if (r->depth == JSON_READER_DEPTH)
        return bli_json_reader_fail(r, "too many objects and lists within each other");
    r->closing[r->depth++] = bracket == '{' ? '}' : ']';
    r->first = true;
    return true;
}

/* Moves to the next value of what is open; false: there is none. */
static bool find_next(struct json_reader *r) {
    const char closing = r->closing[r->depth - 1], c = next_byte(r);
    if (c == closing) {
        r->at++;
        r->depth--;
        r->first = false;
        return false;
    }
    if (!r->first &&
        !skip_byte(r, ',', closing == '}' ? "a ',' or '}' is missing" : "a ',' or ']' is missing"))
        return false;
    r->first = false;
    return !r->fault;
}

bool bli_json_reader_key(struct json_reader *r, char *key, size_t room) {
    return !r->fault && find_next(r) && bli_json_reader_string(r, key, room) &&
           skip_byte(r, ':', "a ':' is missing");
}

bool bli_json_reader_item(struct json_reader *r) {
    return !r->fault && find_next(r);
}

/* ---- strings ---- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits. */
static bool read_unit(struct json_reader *r, unsigned *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const int digit = r->at < r->end ? hex_digit(*r->at) : -1;
        if (digit < 0)
            return bli_json_reader_fail(r, "four hexadecimal digits must follow \\u");
        *unit = 16 * *unit + (unsigned)digit;
    }
    return true;
}

static bool read_escaped_unicode(struct json_reader *r, unsigned *character) {
    unsigned low = 0;
    if (!read_unit(r, character))
        return false;
    if (*character == 0)
        return bli_json_reader_fail(r, "U+0000 is not allowed");
    if (*character < 0xd800 || *character > 0xdfff)
        return true;
    if (*character > 0xdbff || r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
        return bli_json_reader_fail(r, "half a surrogate pair");
    r->at += 2;
    if (!read_unit(r, &low))
        return false;
    if (low < 0xdc00 || low > 0xdfff)
        return bli_json_reader_fail(r, "half a surrogate pair");
    *character = 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static bool read_escape(struct json_reader *r, unsigned *character) {
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char c = r->at < r->end ? *r->at++ : '\0';
    if (c == 'u')
        return read_escaped_unicode(r, character);
    const char *letter = c ? strchr(letters, c) : NULL;
    if (!letter)
        return bli_json_reader_fail(r, "an unknown escape");
    *character = (unsigned char)means[letter - letters];
    return true;
}

/* A character of more than one byte, which may be cut off by the end of the text. */
static bool read_utf8(struct json_reader *r, unsigned *character) {
    char piece[5] = "";
    const char *at = piece;
    bool valid;
    memcpy(piece, r->at, r->end - r->at < 4 ? (size_t)(r->end - r->at) : 4);
    *character = bli_utf8_decode(&at, &valid);
    if (!valid)
        return bli_json_reader_fail(r, "a byte that is not UTF-8");
    r->at += at - piece;
    return true;
}

static bool read_character(struct json_reader *r, unsigned *character) {
    const unsigned char c = (unsigned char)*r->at;
    if (c < ' ')
        return bli_json_reader_fail(r, "a control character in a string");
    if (c >= 0x80)
        return read_utf8(r, character);
    r->at++;
    *character = c;
    return c != '\\' || read_escape(r, character);
}

/* into: NULL where it is skipped. */
static bool read_string(struct json_reader *r, char *into, size_t room) {
    char *const limit = into ? into + room : NULL;
    if (!skip_byte(r, '"', "a string is missing"))
        return false;
    while (r->at < r->end && *r->at != '"') {
        char letter[4], *end = letter;
        unsigned character;
        if (!read_character(r, &character))
            return false;
        bli_utf8_put(&end, character);
        if (into && end - letter >= limit - into)
            return bli_json_reader_fail(r, "the string is too long");
        if (into) {
            memcpy(into, letter, (size_t)(end - letter));
            into += end - letter;
        }
    }
    if (into)
        *into = '\0';
    return r->at < r->end ? (r->at++, true) : bli_json_reader_fail(r, "a string without its end");
}

bool bli_json_reader_string(struct json_reader *r, char *text, size_t room) {
    return read_string(r, text, room);
}

/* ---- the other values ---- */

static bool read_word(struct json_reader *r, const char *word, const char *fault) {
    const size_t length = strlen(word);
    if (next_byte(r) != word[0] || (size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return bli_json_reader_fail(r, fault);
    r->at += length;
    return true;
}

bool bli_json_reader_bool(struct json_reader *r, bool *value) {
    *value = next_byte(r) == 't';
    return read_word(r, *value ? "true" : "false", "true or false is missing");
}

bool bli_json_reader_null(struct json_reader *r) {
    return read_word(r, "null", "null is missing");
}

static size_t count_digits(const char *text) {
    return strspn(text, "0123456789");
}

/* The length of the number at the beginning of the text; 0: there is none. */
static size_t measure_number(const char *text) {
    const char *at = text + (*text == '-');
    const size_t whole = count_digits(at);
    if (whole == 0 || (whole > 1 && *at == '0'))
        return 0;
    at += whole;
    if (*at == '.') {
        if (count_digits(at + 1) == 0)
            return 0;
        at += 1 + count_digits(at + 1);
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        if (count_digits(at) == 0)
            return 0;
        at += count_digits(at);
    }
    return (size_t)(at - text);
}

bool bli_json_reader_number(struct json_reader *r, double *number) {
    char piece[NUMBER_MAX + 1] = "";
    if (bli_json_reader_peek(r) != '-')
        return bli_json_reader_fail(r, "a number is missing");
    memcpy(piece, r->at, r->end - r->at < NUMBER_MAX ? (size_t)(r->end - r->at) : NUMBER_MAX);
    const size_t length = measure_number(piece);
    if (length == 0 || length == NUMBER_MAX)
        return bli_json_reader_fail(r, length ? "a number that is too long" : "no number of JSON");
    if (!bli_number_read(piece, number) || !isfinite(*number))
        return bli_json_reader_fail(r, "a number that is too large");
    r->at += length;
    return true;
}

static bool skip_scalar(struct json_reader *r) {
    double number;
    bool value;
    switch (bli_json_reader_peek(r)) {
    case '"':
        return read_string(r, NULL, 0);
    case '-':
        return bli_json_reader_number(r, &number);
    case 'n':
        return bli_json_reader_null(r);
    case 't':
    case 'f':
        return bli_json_reader_bool(r, &value);
    default:
        return bli_json_reader_fail(r, "a value is missing");
    }
}

bool bli_json_reader_skip(struct json_reader *r) {
    const unsigned depth = r->depth;
    for (;;) {
        const char c = bli_json_reader_peek(r);
        if (c == '{' || c == '[' ? !bli_json_reader_open(r, c) : !skip_scalar(r))
            return false;
        while (r->depth > depth) { /* to the next value in what was opened here */
            if (!find_next(r)) {
                if (r->fault)
                    return false;
                continue; /* it has been closed */
            }
            if (r->closing[r->depth - 1] == '}' &&
                (!read_string(r, NULL, 0) || !skip_byte(r, ':', "a ':' is missing")))
                return false;
            break;
        }
        if (r->depth == depth)
            return true;
    }
}

bool bli_json_reader_end(struct json_reader *r) {
    if (!r->fault && (r->depth > 0 || next_byte(r) != '\0' || r->at != r->end))
        return bli_json_reader_fail(r, r->depth ? "the end is missing" : "something follows the value");
    return !r->fault;
}
