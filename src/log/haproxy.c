/* The HTTP log of HAProxy (option httplog), with whatever a syslog server has put before it:
 *
 *     10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ----
 *     1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"
 *
 * The date is that of the request's first byte. The timers are milliseconds, -1 where the request did not get
 * so far: TR until it is received, Tw in queues, Tc to connect, Tr until the server answers, Ta all of it. */
#include "log/format.h"

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

/* The next word of the line; *at moves behind it. */
static struct bal_log_span next_word(const char **at, const char *end) {
    while (*at < end && **at == ' ')
        (*at)++;
    const char *start = *at;
    const char *blank = memchr(start, ' ', (size_t)(end - start));
    *at = blank ? blank : end;
    return (struct bal_log_span){start, (size_t)(*at - start)};
}

/* a/b/c: as many parts as are asked for, no more and no less. */
static bool split_parts(struct bal_log_span word, struct bal_log_span *parts, int count) {
    const char *at = word.text, *end = word.text + word.length;
    for (int i = 0; i < count; i++) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        if ((slash == NULL) != (i == count - 1))
            return false;
        parts[i] = (struct bal_log_span){at, (size_t)((slash ? slash : end) - at)};
        at = slash ? slash + 1 : end;
    }
    return true;
}

/* With logasap the last timers have a plus: they go on. */
static void drop_plus(struct bal_log_span *timer) {
    if (timer->length > 0 && timer->text[0] == '+') {
        timer->text++;
        timer->length--;
    }
}

static bool split(const struct bal_log_format *format, struct bal_log_span line,
                  struct bal_log_span *fields) {
    (void)format;
    const char *end = line.text + line.length;
    const char *date = find_date(line.text, end);
    const char *at = date ? memchr(date, ']', (size_t)(end - date)) : NULL;
    if (!at)
        return false;
    fields[TIME] = (struct bal_log_span){date, (size_t)(at - date)};
    at++;
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
    fields[REQUEST] = (struct bal_log_span){quote ? quote + 1 : end, quote ? (size_t)(end - quote - 1) : 0};
    if (quote && end[-1] == '"' && end - 1 > quote) /* a line that was cut off has none */
        fields[REQUEST].length--;
    return true;
}

static int find(struct bal_log_format *format, struct bal_log_span name, const struct bal_log_sample *sample,
                bool usual) {
    (void)format, (void)sample, (void)usual;
    if (bal_log_is(name, "Tq")) /* before HAProxy 1.7 */
        return TR;
    if (bal_log_is(name, "Tt"))
        return TA;
    for (int i = 0; i < FIELDS; i++)
        if (bal_log_is(name, names[i]))
            return i;
    return -1;
}

static struct bal_log_span name_of(const struct bal_log_format *format, const struct bal_log_sample *sample,
                                   size_t i) {
    (void)format, (void)sample;
    return i < FIELDS ? (struct bal_log_span){names[i], strlen(names[i])} : (struct bal_log_span){0};
}

static void free_nothing(void *state) {
    (void)state;
}

static const struct bal_log_kind haproxy = {find, split, name_of, free_nothing};

enum bal_code bal_log_haproxy_new(struct bal_log_format *format, struct bal_error *err) {
    (void)err;
    *format = (struct bal_log_format){.kind = &haproxy, .name = "haproxy"};
    return BAL_OK;
}
