/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON lines: one object a line, of which a few members are wanted.
 *
 * The line is scanned once and nothing is built. Members that are not needed are skipped by counting
 * brackets. What is between the brackets is not checked: a log is read for its numbers, not validated. */
#include "log/format.h"
#include "log/source.h"

#include <stdint.h>
#include <stdlib.h>

enum { WANTED = 16, PATH = 120, LOOKED_AT = 100 };

struct json_line {
    char path[WANTED][PATH]; /* members that were asked for: "a", or "a.b" for b inside of a */
    int count;
    bool headed;   /* there is other text in front of the object */
    char *scratch; /* texts that had escapes; a line of it */
};

#define HEAD "head" /* the name of what begins a line that is headed, up to a tab */

struct json_scan {
    const struct json_line *json;
    const char *end; /* of the line */
    struct bli_log_span *fields;
    char *scratch;
};

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* The quote that ends a text which begins at start. */
static const char *find_quote(const char *start, const char *end) {
    const char *at = start;
    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        const char *back = at;
        while (back > start && back[-1] == '\\')
            back--;
        if ((at - back) % 2 == 0)
            return at;
        at++;
    }
    return NULL;
}

/* Behind the value that begins at `at`, NULL when it does not end. */
static const char *skip_value(const char *at, const char *end) {
    unsigned depth = 0;
    for (; at < end; at++) {
        switch (*at) {
        case '"':
            if (!(at = find_quote(at + 1, end)))
                return NULL;
            if (depth == 0)
                return at + 1;
            break;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (depth == 0)
                return at; /* behind a number, in front of what closes the object */
            if (--depth == 0)
                return at + 1;
            break;
        case ',':
        case ' ':
        case '\t':
            if (depth == 0)
                return at;
            break;
        default:
            break;
        }
    }
    return depth == 0 ? at : NULL;
}

/* Four hexadecimal digits; -1 when they are none. */
static int32_t read_hex(const char *at, const char *end) {
    if (end - at < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        const char c = at[i];
        const int digit = c >= '0' && c <= '9'                 ? c - '0'
                          : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                               : -1;
        if (digit < 0)
            return -1;
        value = 16 * value + digit;
    }
    return value;
}

static char *put_utf8(char *to, int32_t code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* Behind \u: one character, or half of one whose other half follows. */
static const char *read_unicode(const char *at, const char *end, char **to) {
    int32_t code = read_hex(at, end);
    if (code < 0)
        return at;
    at += 4;
    if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        const int32_t low = read_hex(at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    *to = put_utf8(*to, code);
    return at;
}

/* A text with its escapes resolved, which never makes it longer. */
static struct bli_log_span unescape_text(struct json_scan *scan, struct bli_log_span text) {
    static const char letters[] = "bfnrt", meaning[] = "\b\f\n\r\t";
    const char *end = text.text + text.length;
    char *const start = scan->scratch;
    char *to = start;
    for (const char *at = text.text; at < end;) {
        if (*at != '\\' || at + 1 == end) {
            *to++ = *at++;
            continue;
        }
        const char c = at[1];
        const char *letter = memchr(letters, c, sizeof letters - 1);
        at += 2;
        if (c == 'u')
            at = read_unicode(at, end, &to);
        else
            *to++ = letter ? meaning[letter - letters] : c;
    }
    scan->scratch = to;
    return (struct bli_log_span){start, (size_t)(to - start)};
}

static struct bli_log_span make_value(struct json_scan *scan, const char *start, const char *end) {
    struct bli_log_span value = {start, (size_t)(end - start)};
    if (*start != '"')
        return value;
    value = (struct bli_log_span){start + 1, value.length - 2};
    return memchr(value.text, '\\', value.length) ? unescape_text(scan, value) : value;
}

/* How a member's name fits what is wanted: as the whole path, or as the object at its beginning. */
enum fit { NOT, WHOLE, BEGINS };

static enum fit match_path(const char *path, struct bli_log_span key) {
    for (size_t i = 0; i < key.length; i++)
        if (path[i] != key.text[i] || !path[i]) /* a name may have zeros in it; no path has */
            return NOT;
    const char next = path[key.length];
    return next == 0 ? WHOLE : next == '.' ? BEGINS : NOT;
}

/* Which members an object is searched for: path[i] is what is left of it, NULL when it led elsewhere. */
struct wishes {
    const char *path[WANTED];
};

static const char *scan_object(struct json_scan *scan, const char *at, const struct wishes *wishes);

/* The value of a member; returns where it ends. */
static const char *scan_value(struct json_scan *scan, const char *start, struct bli_log_span key,
                              const struct wishes *wishes) {
    struct wishes deeper;
    unsigned here = 0, below = 0; /* sets of bits */
    for (int i = 0; i < scan->json->count; i++) {
        const char *path = wishes->path[i];
        const enum fit fit = path ? match_path(path, key) : NOT;
        here |= (unsigned)(fit == WHOLE) << i;
        below |= (unsigned)(fit == BEGINS) << i;
        deeper.path[i] = fit == BEGINS ? path + key.length + 1 : NULL;
    }
    const char *end =
        below && *start == '{' ? scan_object(scan, start + 1, &deeper) : skip_value(start, scan->end);
    if (!here || !end)
        return end;
    const struct bli_log_span value = make_value(scan, start, end);
    for (int i = 0; i < scan->json->count; i++)
        if (here >> i & 1)
            scan->fields[i] = value;
    return end;
}

/* "name": value; returns where it ends. */
static const char *scan_member(struct json_scan *scan, const char *at, const struct wishes *wishes) {
    const char *end = scan->end;
    const char *quote = at < end && *at == '"' ? find_quote(at + 1, end) : NULL;
    if (!quote)
        return NULL;
    const struct bli_log_span key = {at + 1, (size_t)(quote - at - 1)};
    at = skip_blanks(quote + 1, end);
    if (at == end || *at != ':')
        return NULL;
    at = skip_blanks(at + 1, end);
    const char *start = at;
    if (start == end)
        return NULL;
    at = scan_value(scan, start, key, wishes);
    return at > start ? at : NULL;
}

/* An object from behind its bracket to behind the other. It goes no deeper than the paths do. */
static const char *scan_object(struct json_scan *scan, const char *at, const struct wishes *wishes) {
    const char *end = scan->end;
    at = skip_blanks(at, end);
    if (at < end && *at == '}')
        return at + 1;
    while ((at = scan_member(scan, at, wishes))) {
        at = skip_blanks(at, end);
        if (at < end && *at == '}')
            return at + 1;
        if (at == end || *at != ',')
            return NULL;
        at = skip_blanks(at + 1, end);
    }
    return NULL;
}

/* The bracket that begins the object; NULL when there is none. */
static const char *find_object(const struct json_line *json, struct bli_log_span line) {
    const char *end = line.text + line.length;
    if (json->headed) {
        const char *tab = memmem(line.text, line.length, "\t{", 2);
        return tab ? tab + 1 : NULL;
    }
    const char *at = skip_blanks(line.text, end);
    return at < end && *at == '{' ? at : NULL;
}

static void set_head(const struct json_line *json, struct bli_log_span line, struct bli_log_span *fields) {
    const char *tab = memchr(line.text, '\t', line.length);
    for (int i = 0; i < json->count; i++)
        if (strcmp(json->path[i], HEAD) == 0)
            fields[i] = (struct bli_log_span){line.text, (size_t)(tab - line.text)};
}

static bool split_json(const struct bli_log_format *format, struct bli_log_span line,
                       struct bli_log_span *fields) {
    const struct json_line *json = format->state;
    const char *end = line.text + line.length, *at = find_object(json, line);
    if (!at)
        return false;
    struct wishes wishes;
    for (int i = 0; i < json->count; i++) {
        fields[i] = (struct bli_log_span){0};
        wishes.path[i] = json->path[i];
    }
    struct json_scan scan = {json, end, fields, json->scratch};
    at = scan_object(&scan, at + 1, &wishes);
    if (json->headed)
        set_head(json, line, fields);
    return at && skip_blanks(at, end) == end;
}

/* Do enough of the lines have a field? Those that are no objects do not count. */
static bool is_there(struct bli_log_format *format, const struct bli_log_sample *sample, int field,
                     bool usual) {
    struct bli_log_span fields[BLI_LOG_FIELDS];
    size_t objects = 0, have = 0;
    for (size_t i = 0; i < sample->count && i < LOOKED_AT; i++) {
        if (!split_json(format, sample->line[i], fields))
            continue;
        objects++;
        have += fields[field].text != NULL;
    }
    return usual ? 2 * have > objects : have > 0;
}

static int find_json_member(struct bli_log_format *format, struct bli_log_span name,
                            const struct bli_log_sample *sample, bool usual) {
    struct json_line *json = format->state;
    for (int i = 0; i < json->count; i++)
        if (bli_log_is(name, json->path[i]))
            return i;
    if (json->count == WANTED || name.length >= PATH)
        return -1;
    const int field = json->count++;
    memcpy(json->path[field], name.text, name.length);
    json->path[field][name.length] = 0;
    if (is_there(format, sample, field, usual))
        return field;
    json->count--;
    return -1;
}

/* The members of the first line that is an object. */
static struct bli_log_span name_of(const struct bli_log_format *format, const struct bli_log_sample *sample,
                                   size_t i) {
    struct bli_log_span fields[BLI_LOG_FIELDS];
    size_t first = 0;
    while (first < sample->count && !split_json(format, sample->line[first], fields))
        first++;
    if (first == sample->count)
        return (struct bli_log_span){0};
    const char *end = sample->line[first].text + sample->line[first].length;
    const char *at = find_object(format->state, sample->line[first]) + 1;
    for (at = skip_blanks(at, end); at < end && *at == '"'; at = skip_blanks(at + 1, end)) {
        const struct bli_log_span key = {at + 1, (size_t)(find_quote(at + 1, end) - at - 1)};
        if (i-- == 0)
            return key;
        at = skip_blanks(key.text + key.length + 1, end);                 /* to the colon */
        at = skip_blanks(skip_value(skip_blanks(at + 1, end), end), end); /* to the comma, or the end */
    }
    return (struct bli_log_span){0};
}

static void free_json(void *state) {
    struct json_line *json = state;
    if (json)
        free(json->scratch);
    free(json);
}

static bool has_all(struct bli_log_format *format, const char *const *needs,
                    const struct bli_log_sample *sample) {
    const int before = ((const struct json_line *)format->state)->count;
    bool all = true;
    for (; needs && *needs && all; needs++)
        all = find_json_member(format, (struct bli_log_span){*needs, strlen(*needs)}, sample, true) >= 0;
    ((struct json_line *)format->state)->count = before; /* most of them are of no further use */
    return all;
}

/* The program that wrote the lines is recognised by their members. */
static const struct bli_log_field_names *json_field_names(struct bli_log_format *format,
                                                          const struct bli_log_sample *sample) {
    size_t i = 0;
    while (!has_all(format, bli_log_names_json[i]->needs, sample))
        i++;
    const char *program = bli_log_names_json[i]->program;
    snprintf(format->name, sizeof format->name, "json%s%s", *program ? ": " : "", program);
    return bli_log_names_json[i];
}

static const struct bli_log_kind kind = {.find = find_json_member,
                                         .split = split_json,
                                         .words = json_field_names,
                                         .name = name_of,
                                         .free = free_json};

enum bal_code bli_log_json_new(bool headed, struct bli_log_format *format, struct bal_error *err) {
    struct json_line *json = calloc(1, sizeof *json);
    *format = (struct bli_log_format){.kind = &kind, .state = json, .name = "json"};
    if (json)
        json->headed = headed;
    if (json)
        json->scratch = malloc(BLI_LOG_LINE_MAX);
    if (!json || !json->scratch)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a log format");
    return BAL_OK;
}
