/* SPDX-License-Identifier: BSD-2-Clause */
/* The extended log file format of the W3C, as IIS and CloudFront write it: a comment names the columns, which
 * have blanks or tabs between them, and a later one may name others.
 *
 *     #Software: Microsoft Internet Information Services 10.0
 *     #Fields: date time s-ip cs-method cs-uri-stem sc-status time-taken
 *     2026-11-15 10:11:12 10.0.0.1 GET /a 200 41
 *
 * Day and time are columns of their own; they are one field here, "date time". */
#include "log/format.h"

#include <stdlib.h>

enum { COLUMNS = 128, WANTED = 16, NAME = 60 };

struct w3c {
    const struct bli_log_field_names *words;
    char header[BLI_LOG_HEADER]; /* names, ended by zeros */
    const char *name[COLUMNS];
    size_t columns;
    char wanted[WANTED][NAME]; /* names that were asked for; fields by number */
    int count;
    int field[COLUMNS]; /* which field a column is, -1: none */
    int day, hour;      /* columns of the date and the time of day, -1: not there */
    int moment;         /* the field that both are, -1: not used */
    char time[64];      /* both, if they are not next to each other */
};

static int find_column(const struct w3c *w3c, const char *name) {
    for (size_t i = 0; i < w3c->columns; i++)
        if (strcmp(w3c->name[i], name) == 0)
            return (int)i;
    return -1;
}

/* Which columns the fields are now. */
static void place_fields(struct w3c *w3c) {
    for (size_t i = 0; i < COLUMNS; i++)
        w3c->field[i] = -1;
    w3c->day = find_column(w3c, "date");
    w3c->hour = find_column(w3c, "time");
    for (int i = 0; i < w3c->count; i++) {
        const int column = find_column(w3c, w3c->wanted[i]);
        if (column >= 0)
            w3c->field[column] = i;
    }
}

/* "#Fields: date time cs-method" */
static void read_header(struct w3c *w3c, struct bli_log_span line) {
    const char *at = memchr(line.text, ':', line.length);
    const size_t length = at ? (size_t)(line.text + line.length - at - 1) : 0;
    if (!at || length >= sizeof w3c->header)
        return;
    memcpy(w3c->header, at + 1, length);
    w3c->header[length] = 0;
    w3c->columns = 0;
    char *save = NULL;
    for (char *name = strtok_r(w3c->header, " \t", &save); name && w3c->columns < COLUMNS;
         name = strtok_r(NULL, " \t", &save))
        w3c->name[w3c->columns++] = name;
    place_fields(w3c);
}

static void parse_comment(struct bli_log_format *format, struct bli_log_span line) {
    if (line.length > 8 && memcmp(line.text, "#Fields:", 8) == 0)
        read_header(format->state, line);
}

static struct bli_log_span join_moment(struct w3c *w3c, struct bli_log_span day, struct bli_log_span hour) {
    if (!day.text || !hour.text)
        return (struct bli_log_span){0};
    if (day.text + day.length + 1 == hour.text)
        return (struct bli_log_span){day.text, day.length + 1 + hour.length};
    if (day.length + hour.length + 2 > sizeof w3c->time)
        return (struct bli_log_span){0};
    const int length = snprintf(w3c->time, sizeof w3c->time, "%.*s %.*s", (int)day.length, day.text,
                                (int)hour.length, hour.text);
    return (struct bli_log_span){w3c->time, (size_t)length};
}

static bool split_w3c(const struct bli_log_format *format, struct bli_log_span line,
                      struct bli_log_span *fields) {
    struct w3c *w3c = format->state;
    const char *at = line.text, *end = at + line.length;
    struct bli_log_span day = {0}, hour = {0};
    for (int i = 0; i < w3c->count; i++)
        fields[i] = (struct bli_log_span){0};
    for (size_t column = 0; column < w3c->columns; column++) {
        const char *start = at;
        while (at < end && *at != ' ' && *at != '\t')
            at++;
        const struct bli_log_span value = {start, (size_t)(at - start)};
        if (value.length == 0)
            return false;
        if (w3c->field[column] >= 0)
            fields[w3c->field[column]] = value;
        if ((int)column == w3c->day)
            day = value;
        if ((int)column == w3c->hour)
            hour = value;
        if (at == end && column + 1 < w3c->columns)
            return false;
        at += at < end;
    }
    if (w3c->moment >= 0)
        fields[w3c->moment] = join_moment(w3c, day, hour);
    return at >= end;
}

static int find_w3c_field(struct bli_log_format *format, struct bli_log_span name,
                          const struct bli_log_sample *sample, bool usual) {
    (void)sample, (void)usual;
    struct w3c *w3c = format->state;
    for (int i = 0; i < w3c->count; i++)
        if (bli_log_is(name, w3c->wanted[i]))
            return i;
    char text[NAME];
    if (w3c->count == WANTED || name.length >= sizeof text)
        return -1;
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.text);
    const bool moment = strcmp(text, "date time") == 0;
    if (moment ? w3c->day < 0 || w3c->hour < 0 : find_column(w3c, text) < 0)
        return -1;
    memcpy(w3c->wanted[w3c->count], text, sizeof text);
    if (moment)
        w3c->moment = w3c->count;
    w3c->count++;
    place_fields(w3c);
    return w3c->count - 1;
}

static const struct bli_log_field_names *w3c_field_names(struct bli_log_format *format,
                                                         const struct bli_log_sample *sample) {
    (void)sample;
    return ((const struct w3c *)format->state)->words;
}

static struct bli_log_span name_of(const struct bli_log_format *format, const struct bli_log_sample *sample,
                                   size_t i) {
    (void)sample;
    const struct w3c *w3c = format->state;
    return i < w3c->columns ? (struct bli_log_span){w3c->name[i], strlen(w3c->name[i])}
                            : (struct bli_log_span){0};
}

static const struct bli_log_kind kind = {.find = find_w3c_field,
                                         .split = split_w3c,
                                         .words = w3c_field_names,
                                         .name = name_of,
                                         .comment = parse_comment,
                                         .free = free};

/* Whose it is shows in a comment, or in columns that only CloudFront has. */
static const struct bli_log_field_names *find_words(const struct w3c *w3c, const char *software) {
    if (strstr(software, "Microsoft"))
        return &bli_log_names_iis;
    return find_column(w3c, "x-edge-location") >= 0 ? &bli_log_names_cloudfront : &bli_log_names_w3c;
}

enum bal_code bli_log_w3c_new(const struct bli_log_sample *sample, struct bli_log_format *format,
                              struct bal_error *err) {
    struct w3c *w3c = calloc(1, sizeof *w3c);
    *format = (struct bli_log_format){.kind = &kind, .state = w3c};
    if (!w3c)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a log format");
    w3c->moment = -1;
    read_header(w3c, (struct bli_log_span){sample->columns, strlen(sample->columns)});
    if (w3c->columns == 0)
        return bal_fail(err, BAL_E_FORMAT, "no comment such as '#Fields: date time ...' names the columns");
    w3c->words = find_words(w3c, sample->software);
    snprintf(format->name, sizeof format->name, "%s", w3c->words->program);
    return BAL_OK;
}
