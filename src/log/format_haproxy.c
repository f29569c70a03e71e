/* SPDX-License-Identifier: BSD-2-Clause */
/* The logs of HAProxy, with any header that a syslog server has put in front of them.
 *
 * option httplog:
 *     10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ----
 *     1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"
 * option tcplog:
 *     10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0
 * option httplog clf, whose milliseconds stand behind the client's port:
 *     10.0.1.2 - - [06/Feb/2009:12:14:14 +0000] "GET / HTTP/1.1" 200 2750 "" "" 33317 655 "http-in" "static"
 *     "srv1" 10 0 30 69 109 ---- 1 1 1 1 0 0 0 "" ""
 *
 * The date is that of the request's first byte, or of the connection. The timers are milliseconds, -1 where
 * the request did not get so far. */
#include "log/format.h"

#include <stdlib.h>

enum field {
    TIME,
    TR,
    TW,
    TC,
    TR_SERVER,
    TA,
    FRONTEND,
    BACKEND,
    SERVER,
    PLACE,
    STATUS,
    STATE,
    REQUEST,
    FIELDS
};

static const char *const names[FIELDS] = {
    [TIME] = "tr",
    [TR] = "TR",
    [TW] = "Tw",
    [TC] = "Tc",
    [TR_SERVER] = "Tr",
    [TA] = "Ta",
    [FRONTEND] = "frontend",
    [BACKEND] = "backend",
    [SERVER] = "server",
    [PLACE] = "backend/server", /* servers of different backends may have the same name */
    [STATUS] = "status",
    [STATE] = "termination",
    [REQUEST] = "request",
};

/* Fields that the log of TCP connections has not. */
static bool is_of_http(int field) {
    return field == TR || field == TR_SERVER || field == STATUS || field == REQUEST;
}

struct haproxy {
    enum bli_log_haproxy log;
    char time[64], place[512]; /* what a line has in pieces */
};

/* The bracket that begins the date: a syslog header may have others, as in haproxy[1234]. */
static const char *find_date(const char *at, const char *end) {
    while ((at = memchr(at, '[', (size_t)(end - at)))) {
        if (end - at < 22)
            return NULL;
        if (at[3] == '/' && at[7] == '/' && at[12] == ':')
            return at + 1;
        at++;
    }
    return NULL;
}

/* The date, and *at behind the bracket that ends it. */
static bool parse_date(const char **at, const char *end, struct bli_log_span *date) {
    const char *start = find_date(*at, end);
    const char *bracket = start ? memchr(start, ']', (size_t)(end - start)) : NULL;
    if (!bracket)
        return false;
    *date = (struct bli_log_span){start, (size_t)(bracket - start)};
    *at = bracket + 1;
    return true;
}

/* The next word of the line; *at moves behind it. */
static struct bli_log_span next_word(const char **at, const char *end) {
    while (*at < end && **at == ' ')
        (*at)++;
    const char *start = *at;
    const char *blank = memchr(start, ' ', (size_t)(end - start));
    *at = blank ? blank : end;
    return (struct bli_log_span){start, (size_t)(*at - start)};
}

/* The next text in quotes; *at moves behind it. One that was cut off goes to the end. */
static struct bli_log_span next_quoted(const char **at, const char *end) {
    const char *start = memchr(*at, '"', (size_t)(end - *at));
    if (!start) {
        *at = end;
        return (struct bli_log_span){end, 0};
    }
    start++;
    const char *quote = memchr(start, '"', (size_t)(end - start));
    *at = quote ? quote + 1 : end;
    return (struct bli_log_span){start, (size_t)((quote ? quote : end) - start)};
}

/* a/b/c: as many parts as are asked for, no more and no less. */
static bool split_parts(struct bli_log_span word, struct bli_log_span *parts, int count) {
    const char *at = word.text, *end = word.text + word.length;
    for (int i = 0; i < count; i++) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        if ((slash == NULL) != (i == count - 1))
            return false;
        parts[i] = (struct bli_log_span){at, (size_t)((slash ? slash : end) - at)};
        at = slash ? slash + 1 : end;
    }
    return true;
}

/* With logasap the last timers have a plus: they go on. */
static void drop_plus(struct bli_log_span *timer) {
    if (timer->length > 0 && timer->text[0] == '+') {
        timer->text++;
        timer->length--;
    }
}

static bool split_http(const char *at, const char *end, struct bli_log_span *fields) {
    if (!parse_date(&at, end, &fields[TIME]))
        return false;
    fields[FRONTEND] = next_word(&at, end);
    fields[PLACE] = next_word(&at, end);
    if (!split_parts(fields[PLACE], &fields[BACKEND], 2) || !split_parts(next_word(&at, end), &fields[TR], 5))
        return false;
    drop_plus(&fields[TA]);
    fields[STATUS] = next_word(&at, end);
    if (fields[STATUS].length == 0)
        return false;
    for (int i = 0; i < 3; i++) /* bytes and two cookies */
        next_word(&at, end);
    fields[STATE] = next_word(&at, end);
    const char *quote = memchr(at, '"', (size_t)(end - at));
    fields[REQUEST] = (struct bli_log_span){quote ? quote + 1 : end, quote ? (size_t)(end - quote - 1) : 0};
    if (quote && end[-1] == '"' && end - 1 > quote) /* a line that was cut off has none */
        fields[REQUEST].length--;
    return true;
}

static bool split_tcp(const char *at, const char *end, struct bli_log_span *fields) {
    if (!parse_date(&at, end, &fields[TIME]))
        return false;
    fields[FRONTEND] = next_word(&at, end);
    fields[PLACE] = next_word(&at, end);
    struct bli_log_span timers[3];
    if (!split_parts(fields[PLACE], &fields[BACKEND], 2) || !split_parts(next_word(&at, end), timers, 3))
        return false;
    fields[TW] = timers[0];
    fields[TC] = timers[1];
    fields[TA] = timers[2];
    drop_plus(&fields[TA]);
    next_word(&at, end); /* bytes */
    fields[STATE] = next_word(&at, end);
    return fields[STATE].length == 2;
}

/* 06/Feb/2009:12:14:14 +0000 and 655 */
static bool join_time(struct haproxy *haproxy, struct bli_log_span date, struct bli_log_span milliseconds,
                      struct bli_log_span *time) {
    enum { SECONDS = 20 };
    if (date.length < SECONDS || date.length > 30 || milliseconds.length != 3)
        return false;
    const int length = snprintf(haproxy->time, sizeof haproxy->time, "%.*s.%.3s%.*s", SECONDS, date.text,
                                milliseconds.text, (int)(date.length - SECONDS), date.text + SECONDS);
    *time = (struct bli_log_span){haproxy->time, (size_t)length};
    return true;
}

static void join_server_name(struct haproxy *haproxy, struct bli_log_span *fields) {
    const int backend = fields[BACKEND].length < 240 ? (int)fields[BACKEND].length : 240,
              server = fields[SERVER].length < 240 ? (int)fields[SERVER].length : 240;
    const int length = snprintf(haproxy->place, sizeof haproxy->place, "%.*s/%.*s", backend,
                                fields[BACKEND].text, server, fields[SERVER].text);
    fields[PLACE] = (struct bli_log_span){haproxy->place, (size_t)length};
}

static bool split_clf(struct haproxy *haproxy, const char *at, const char *end, struct bli_log_span *fields) {
    struct bli_log_span date;
    if (!parse_date(&at, end, &date))
        return false;
    fields[REQUEST] = next_quoted(&at, end);
    fields[STATUS] = next_word(&at, end);
    next_word(&at, end); /* bytes */
    for (int i = 0; i < 2; i++)
        if (!bli_log_is(next_word(&at, end), "\"\""))
            return false;
    next_word(&at, end); /* port */
    if (!join_time(haproxy, date, next_word(&at, end), &fields[TIME]))
        return false;
    fields[FRONTEND] = next_quoted(&at, end);
    fields[BACKEND] = next_quoted(&at, end);
    fields[SERVER] = next_quoted(&at, end);
    join_server_name(haproxy, fields);
    for (int i = TR; i <= TA; i++)
        fields[i] = next_word(&at, end);
    drop_plus(&fields[TA]);
    fields[STATE] = next_word(&at, end);
    return fields[STATE].length >= 4;
}

static bool split_haproxy(const struct bli_log_format *format, struct bli_log_span line,
                          struct bli_log_span *fields) {
    struct haproxy *haproxy = format->state;
    const char *end = line.text + line.length;
    return haproxy->log == BLI_LOG_HAPROXY_HTTP  ? split_http(line.text, end, fields)
           : haproxy->log == BLI_LOG_HAPROXY_TCP ? split_tcp(line.text, end, fields)
                                                 : split_clf(haproxy, line.text, end, fields);
}

static int find_haproxy_field(struct bli_log_format *format, struct bli_log_span name,
                              const struct bli_log_sample *sample, bool usual) {
    (void)sample, (void)usual;
    const bool tcp = ((const struct haproxy *)format->state)->log == BLI_LOG_HAPROXY_TCP;
    if (bli_log_is(name, "Tt")) /* of connections, and of requests before HAProxy 1.7 */
        return TA;
    if (tcp && bli_log_is(name, "Ta"))
        return -1;
    if (!tcp && bli_log_is(name, "Tq")) /* before HAProxy 1.7 */
        return TR;
    for (int i = 0; i < FIELDS; i++)
        if (bli_log_is(name, names[i]) && !(tcp && is_of_http(i)))
            return i;
    return -1;
}

static const struct bli_log_field_names *haproxy_field_names(struct bli_log_format *format,
                                                             const struct bli_log_sample *sample) {
    (void)format, (void)sample;
    return &bli_log_names_haproxy;
}

static struct bli_log_span name_of(const struct bli_log_format *format, const struct bli_log_sample *sample,
                                   size_t i) {
    (void)sample;
    const bool tcp = ((const struct haproxy *)format->state)->log == BLI_LOG_HAPROXY_TCP;
    for (int field = 0; field < FIELDS; field++) {
        const char *name = tcp && field == TA ? "Tt" : names[field];
        if (!(tcp && is_of_http(field)) && i-- == 0)
            return (struct bli_log_span){name, strlen(name)};
    }
    return (struct bli_log_span){0};
}

static const struct bli_log_kind kind = {.find = find_haproxy_field,
                                         .split = split_haproxy,
                                         .words = haproxy_field_names,
                                         .name = name_of,
                                         .free = free};

enum bal_code bli_log_haproxy_new(enum bli_log_haproxy log, struct bli_log_format *format,
                                  struct bal_error *err) {
    static const char *const formats[] = {"haproxy", "haproxy: tcplog", "haproxy: httplog clf"};
    struct haproxy *haproxy = calloc(1, sizeof *haproxy);
    *format = (struct bli_log_format){.kind = &kind, .state = haproxy};
    if (!haproxy)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a log format");
    haproxy->log = log;
    snprintf(format->name, sizeof format->name, "%s", formats[log]);
    return BAL_OK;
}
