/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a text without column names into words, quoted texts and labelled values. */
#include "log/columns.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/* A word, and those that a list adds to it: "a, b : c". */
static const char *read_word(const char *at, const char *end) {
    for (;;) {
        const char *start = at;
        while (at < end && *at != ' ')
            at++;
        const bool comma = at > start && at[-1] == ',';
        const bool colon = end - at > 3 && memcmp(at, " : ", 3) == 0;
        if (at == end || !(comma || colon))
            return at;
        at += colon ? 3 : 1;
    }
}

static const char *find_quote(const char *at, const char *end) {
    while (at < end && *at != '"')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at : NULL;
}

/* The length of a label such as rt=, 0 when there is none. */
static size_t label_length(const char *at, const char *end) {
    size_t length = 0;
    while (at + length < end && length < BLI_LOG_LABEL - 2 &&
           (is_letter(at[length]) || (length > 0 && is_digit(at[length]))))
        length++;
    return length > 0 && at + length < end && at[length] == '=' ? length + 1 : 0;
}

/* Does a text in quotes or brackets begin here? [::1]:80 is a word. */
static bool is_opened(const char *at, const char *end) {
    if (at == end || *at != '[')
        return at < end && *at == '"';
    const char *stop = memchr(at, ']', (size_t)(end - at));
    return !stop || stop + 1 == end || stop[1] != ':';
}

/* The next column; *at moves behind it. False when it does not end. */
static bool read_column(const char **at, const char *end, struct bli_log_style *style,
                        struct bli_log_span *value) {
    *style = (struct bli_log_style){0};
    const size_t label = label_length(*at, end);
    memcpy(style->label, *at, label);
    const char *start = *at + label, *stop;
    if (is_opened(start, end)) {
        style->open = *start;
        style->close = *start == '"' ? '"' : ']';
        start++;
        stop = style->close == '"' ? find_quote(start, end) : memchr(start, ']', (size_t)(end - start));
        if (!stop)
            return false;
        *at = stop + 1;
    } else {
        *at = stop = read_word(start, end);
    }
    *value = (struct bli_log_span){start, (size_t)(stop - start)};
    return true;
}

bool bli_log_columns_read(struct bli_log_span rest, struct bli_log_layout *layout,
                          struct bli_log_span *values) {
    const char *at = rest.text, *end = at + rest.length;
    while (end > at && end[-1] == ' ')
        end--;
    layout->count = 0;
    while (at < end) {
        if (*at == ' ') {
            at++;
            continue;
        }
        if (layout->count == BLI_LOG_COLUMNS ||
            !read_column(&at, end, &layout->style[layout->count], &values[layout->count]))
            return false;
        layout->count++;
    }
    return true;
}

bool bli_log_layout_same(const struct bli_log_layout *a, const struct bli_log_layout *b) {
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->style[i].open != b->style[i].open || strcmp(a->style[i].label, b->style[i].label) != 0)
            return false;
    return true;
}
