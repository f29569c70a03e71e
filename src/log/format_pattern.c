/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that are made after a pattern: the log_format of nginx, the LogFormat of Apache.
 *
 * A value ends where the text that follows it in the pattern begins. That is enough, because both servers
 * write quotes inside of values as \x22 or \"; the one exception is a list of upstream servers, whose commas
 * and colons are followed by the same blanks that may end it. */
#include "log/dialect.h"
#include "log/format.h"

#include <stdlib.h>

/* A variable, and the text behind it. */
struct piece {
    struct bli_log_span name, text;
    bool list;   /* values may be separated by ", " or " : ", and the text begins with a blank too */
    bool date;   /* 15/Nov/2026:10:11:12 +0100, perhaps in brackets: it has a blank in it, as the text has */
    bool padded; /* it is padded with blanks in front */
    /* of the usual text, of up to four characters */
    bool usual;
    uint64_t first;       /* its first character, eight times */
    uint32_t text4, mask; /* all of it, and which bytes these are */
};

struct pattern {
    const struct bli_log_dialect *dialect;
    char *copy;               /* of the text, without escapes */
    struct bli_log_span head; /* in front of the first variable */
    struct piece piece[BLI_LOG_FIELDS];
    size_t count;
};

/* \" and \\ as they stand in configuration files, and \t; all else as it is. */
static char *copy_text(const char *from, size_t length) {
    char *copy = malloc(length + 1);
    if (!copy)
        return NULL;
    char *to = copy;
    for (size_t i = 0; i < length; i++) {
        if (from[i] != '\\' || i + 1 == length || !strchr("\"'\\t", from[i + 1])) {
            *to++ = from[i];
            continue;
        }
        i++;
        *to++ = from[i];
        if (from[i] == 't')
            to[-1] = '\t';
    }
    *to = 0;
    return copy;
}

static enum bal_code fail_pattern(const char *text, const char *at, const char *what, struct bal_error *err) {
    return bal_fail(err, BAL_E_SYNTAX, "log format '%.200s': %s at '%.20s'", text, what, at);
}

static bool is_date(struct bli_log_span name) {
    static const char *const dates[] = {"time_local", "%t", "tl", "tg"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        if (bli_log_is(name, dates[i]))
            return true;
    return false;
}

/* Values of several servers; and unknown columns, which may be such. */
static bool is_list(struct bli_log_span name) {
    return strncmp(name.text, "upstream_", 9) == 0 || strncmp(name.text, "column", 6) == 0;
}

static void set_usual(struct piece *piece) {
    const struct bli_log_span text = piece->text;
    const char ones[] = {-1, -1, -1, -1};
    piece->usual = text.length > 0 && text.length <= sizeof ones && !piece->date && !piece->padded;
    if (!piece->usual)
        return;
    memcpy(&piece->text4, text.text, text.length);
    memcpy(&piece->mask, ones, text.length);
    piece->first = UINT64_C(0x0101010101010101) * (unsigned char)text.text[0];
}

/* Text after the last variable, or in front of the first. */
static void add_text(struct pattern *pattern, struct bli_log_span text) {
    if (pattern->count == 0) {
        pattern->head = text;
        return;
    }
    struct piece *piece = &pattern->piece[pattern->count - 1];
    piece->text = text;
    piece->list = pattern->dialect->sign == '$' && is_list(piece->name) && text.text[0] == ' ';
    piece->date = is_date(piece->name) && text.text[0] == ' ';
    set_usual(piece);
}

static enum bal_code compile_pattern(struct pattern *pattern, struct bal_error *err) {
    const struct bli_log_dialect *dialect = pattern->dialect;
    const char sign = dialect->sign, *literal = pattern->copy;
    for (const char *at = literal; (at = strchr(at, sign));) {
        if (pattern->count == BLI_LOG_FIELDS)
            return fail_pattern(pattern->copy, at, "more than 64 variables", err);
        struct piece *piece = &pattern->piece[pattern->count];
        const char *end = dialect->read(at + 1, &piece->name);
        if (!end)
            return fail_pattern(pattern->copy, at, sign == '$' ? "not a variable" : "not a directive", err);
        if (at == literal && pattern->count > 0)
            return fail_pattern(pattern->copy, at, "nothing that would tell where the last value ends", err);
        piece->padded = dialect->words == &bli_log_names_squid;
        add_text(pattern, (struct bli_log_span){literal, (size_t)(at - literal)});
        pattern->count++;
        literal = at = end;
    }
    add_text(pattern, (struct bli_log_span){literal, strlen(literal)});
    return BAL_OK;
}

static void free_pattern(void *state) {
    struct pattern *pattern = state;
    if (pattern)
        free(pattern->copy);
    free(pattern);
}

/* Is the quote at this place part of a value? */
static bool is_escaped(const char *start, const char *quote) {
    const char *at = quote;
    while (at > start && at[-1] == '\\')
        at--;
    return (quote - at) % 2 == 1;
}

/* Does text stand here, whose first character does? It is short, and a call of memcmp() would cost more. */
static inline bool text_is_at(const char *at, struct bli_log_span text) {
    switch (text.length) {
    case 1:
        return true;
    case 2:
        return at[1] == text.text[1];
    case 3:
        return at[1] == text.text[1] && at[2] == text.text[2];
    default:
        return memcmp(at, text.text, text.length) == 0;
    }
}

static inline const char *find_text(const char *at, const char *end, struct bli_log_span text) {
    const char *start = at;
    while ((size_t)(end - at) >= text.length) {
        const char *found = memchr(at, text.text[0], (size_t)(end - at) - text.length + 1);
        if (!found)
            return NULL;
        if (text_is_at(found, text) && !(*found == '"' && is_escaped(start, found)))
            return found;
        at = found + 1;
    }
    return NULL;
}

/* Behind the blank that a date has in its middle. */
static const char *skip_blank(const char *start, const char *end) {
    const char *blank = memchr(start, ' ', (size_t)(end - start));
    return blank ? blank + 1 : start;
}

/* Do the values of a list go on behind the blank that was found? */
static inline bool list_continues(const char *start, const char *found, const char *end) {
    return (found > start && (found[-1] == ',' || found[-1] == ':')) ||
           (end - found > 2 && found[1] == ':' && found[2] == ' ');
}

/* Where the value ends that begins at start; NULL: nowhere. */
static const char *find_end(const struct piece *piece, const char *start, const char *end) {
    const char *found = find_text(piece->date ? skip_blank(start, end) : start, end, piece->text);
    if (piece->list)
        while (found && list_continues(start, found, end))
            found = find_text(found + 1, end, piece->text);
    return found;
}

/* Where among eight bytes the character stands first that is in each byte of `first`; NULL: nowhere. */
static inline const char *find_in_eight(const char *at, uint64_t first) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    bytes ^= first;                                             /* 0 where it stands */
    const uint64_t zeros = (bytes - each) & ~bytes & each << 7; /* the lowest bit is the first of them */
    return zeros ? at + (__builtin_ctzll(zeros) >> 3) : NULL;
#else
    return memchr(at, (int)(first & 0xff), sizeof first);
#endif
}

/* The same as find_end() where the first character of the text shows its place at once, as it mostly does:
 * most values are short, and need no call. NULL: look more closely. */
static inline const char *find_usual_end(const struct piece *piece, const char *start, const char *end) {
    if (!piece->usual || end - start < 8)
        return NULL;
    const char *found = find_in_eight(start, piece->first);
    if (!found)
        found = memchr(start + 8, (int)(piece->first & 0xff), (size_t)(end - start - 8));
    if (!found || end - found < 4 || (piece->list && list_continues(start, found, end)))
        return NULL;
    if (*found == '"' && found > start && found[-1] == '\\')
        return NULL;
    uint32_t bytes;
    memcpy(&bytes, found, sizeof bytes);
    return (bytes & piece->mask) == piece->text4 ? found : NULL;
}

static const char *skip_padding(const char *at, const char *end) {
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* The last value goes to the end of the line, or to the text that must stand there. */
static bool split_last(const struct piece *piece, const char *at, const char *end,
                       struct bli_log_span *field) {
    const char *value_end = piece->text.length ? find_end(piece, at, end) : end;
    if (!value_end || value_end + piece->text.length != end)
        return false;
    *field = (struct bli_log_span){at, (size_t)(value_end - at)};
    return true;
}

static bool split_pattern(const struct bli_log_format *format, struct bli_log_span line,
                          struct bli_log_span *fields) {
    const struct pattern *pattern = format->state;
    const struct bli_log_span head = pattern->head;
    if (line.length < head.length || memcmp(line.text, head.text, head.length) != 0)
        return false;
    const char *at = line.text + head.length, *end = line.text + line.length;
    const struct piece *piece = pattern->piece, *last = piece + pattern->count - 1;
    for (; piece < last; piece++, fields++) {
        if (piece->padded)
            at = skip_padding(at, end);
        const char *value_end = find_usual_end(piece, at, end);
        if (!value_end && !(value_end = find_end(piece, at, end)))
            return false;
        *fields = (struct bli_log_span){at, (size_t)(value_end - at)};
        at = value_end + piece->text.length;
    }
    return split_last(piece, at, end, fields);
}

static int find_pattern_field(struct bli_log_format *format, struct bli_log_span name,
                              const struct bli_log_sample *sample, bool usual) {
    (void)sample, (void)usual;
    const struct pattern *pattern = format->state;
    for (size_t i = 0; i < pattern->count; i++) {
        const struct bli_log_span own = pattern->piece[i].name;
        if (own.length == name.length && memcmp(own.text, name.text, name.length) == 0)
            return (int)i;
    }
    return -1;
}

static struct bli_log_span name_of(const struct bli_log_format *format, const struct bli_log_sample *sample,
                                   size_t i) {
    (void)sample;
    const struct pattern *pattern = format->state;
    return i < pattern->count ? pattern->piece[i].name : (struct bli_log_span){0};
}

static const struct bli_log_field_names *pattern_field_names(struct bli_log_format *format,
                                                             const struct bli_log_sample *sample) {
    (void)sample;
    return ((const struct pattern *)format->state)->dialect->words;
}

static const struct bli_log_kind kind = {.find = find_pattern_field,
                                         .split = split_pattern,
                                         .words = pattern_field_names,
                                         .name = name_of,
                                         .free = free_pattern};

/* The pattern for people, the beginning that most have in common by its name. */
static void name_pattern(const struct pattern *pattern, struct bli_log_format *format) {
    static const struct {
        const char *text, *name;
    } known[] = {{BLI_LOG_COMBINED, "combined"},         {BLI_LOG_COMMON, "common"},
                 {BLI_LOG_COLUMNS_COMBINED, "combined"}, {BLI_LOG_COLUMNS_COMMON, "common"},
                 {BLI_LOG_APACHE_COMBINED, "combined"},  {BLI_LOG_APACHE_COMMON, "common"}};
    const char *name = "", *text = pattern->copy;
    for (size_t i = 0; i < sizeof known / sizeof *known && !*name; i++)
        if (strncmp(text, known[i].text, strlen(known[i].text)) == 0) {
            name = known[i].name;
            text += strlen(known[i].text);
        }
    const int length =
        snprintf(format->name, sizeof format->name, "%s: %s%s", pattern->dialect->words->program, name, text);
    if ((size_t)length >= sizeof format->name)
        memcpy(format->name + sizeof format->name - 4, "...", 4);
}

enum bal_code bli_log_pattern_new(const char *given, struct bli_log_format *format, struct bal_error *err) {
    struct pattern *pattern = calloc(1, sizeof *pattern);
    *format = (struct bli_log_format){.kind = &kind, .state = pattern};
    char *text = NULL;
    if (pattern)
        pattern->dialect = bli_log_dialect_of(given, &text);
    if (text)
        pattern->copy = copy_text(text, strlen(text));
    free(text);
    if (!pattern || !pattern->copy)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a log format");
    const enum bal_code code = compile_pattern(pattern, err);
    if (code)
        return code;
    if (pattern->count == 0)
        return bal_fail(err, BAL_E_SYNTAX,
                        "log format '%.200s' is none of %s, and has neither $variables nor %%directives",
                        given, bli_log_format_names());
    name_pattern(pattern, format);
    return BAL_OK;
}

void bli_log_format_free(struct bli_log_format *format) {
    if (format->kind)
        format->kind->free(format->state);
    *format = (struct bli_log_format){0};
}
