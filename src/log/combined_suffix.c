/* SPDX-License-Identifier: BSD-2-Clause */
/* Many servers are configured to write the combined format followed by some numbers. The log does not name
 * them, but some can be recognised:
 *
 *   - nginx writes times in seconds with three decimals, and no other program does (a gzip ratio has two);
 *     the time of the whole request is the longest of them, that of the servers the next;
 *   - a number with its own unit has that unit;
 *   - addresses that are as many as the times of servers, also where these are several or none, are theirs,
 *     and so are those with a port that come again and again, unless they are the clients';
 *   - all others may be a time in any unit, bytes, or a count: infer_units.h looks whether one reading fits
 * the
 *     order of the lines and no other does.
 *
 * The result is written as a log_format, which is then read as if the user had given it. */
#include "log/combined_suffix.h"

#include "ballast/number.h"

#include "log/bind.h"
#include "log/columns.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = BLI_LOG_COLUMNS, SHAPES = 16, TEXT = 2000 };

enum looks { THOUSANDTHS, MOMENT, OWN_UNIT, NUMBER, WORD, LOOKS };

/* Values that look otherwise may be a part of all: a line may be broken. */
#define ODD_PART 0.05

struct suffix_column {
    enum looks looks;
    size_t seen[LOOKS];
    size_t numbers, dashes, fractions;
    bool list;
    double sum[LOOKS];
    char name[BLI_LOG_NAME];
};

struct suffix {
    const struct bli_log_sample *sample;
    bool combined;
    struct bli_log_format head;
    struct bli_log_layout seen[SHAPES];
    struct bli_log_layout layout; /* that of most lines */
    struct suffix_column column[COLUMNS];
    size_t perhaps_server; /* 1 + the column that may name the server; 0: none */
};

static enum bal_code fail_untimed(struct bal_error *err) {
    return bal_fail(
        err, BAL_E_FORMAT,
        "it does not say how long requests took; add $request_time and $upstream_response_time to the"
        " log_format of nginx, or %%D to the LogFormat of Apache");
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_number(const char *at, const char *end) {
    while (at < end && is_digit(*at))
        at++;
    return at == end;
}

/* ---- taking lines apart ---- */

static struct bli_log_span field_of(const struct suffix *suffix, const struct bli_log_span *fields,
                                    const char *name) {
    const struct bli_log_span span = {name, strlen(name)};
    return fields[suffix->head.kind->find((struct bli_log_format *)&suffix->head, span, NULL, false)];
}

/* The client of a line and what is behind its head; false when the line has none. */
static bool read_line(const struct suffix *suffix, struct bli_log_span line, struct bli_log_span *client,
                      struct bli_log_span *rest) {
    struct bli_log_span fields[BLI_LOG_FIELDS];
    if (!suffix->head.kind->split(&suffix->head, line, fields))
        return false;
    *client = field_of(suffix, fields, "%h");
    *rest = field_of(suffix, fields, "%{rest}x");
    return true;
}

static bool read_rest(const struct suffix *suffix, struct bli_log_span line, struct bli_log_span *rest) {
    struct bli_log_span client;
    return read_line(suffix, line, &client, rest);
}

/* Finds the layout of most lines that have the head; false when there is none of more than half of all. */
static bool find_layout(struct suffix *suffix) {
    struct bli_log_layout *seen = suffix->seen;
    size_t times[SHAPES] = {0}, count = 0, best = 0;
    for (size_t i = 0; i < suffix->sample->count; i++) {
        struct bli_log_span rest, values[COLUMNS];
        struct bli_log_layout layout = {0};
        if (!read_rest(suffix, suffix->sample->line[i], &rest) ||
            !bli_log_columns_read(rest, &layout, values))
            continue;
        size_t at = 0;
        while (at < count && !bli_log_layout_same(&seen[at], &layout))
            at++;
        if (at == SHAPES)
            continue;
        if (at == count)
            seen[count++] = layout;
        times[at]++;
        best = times[at] > times[best] ? at : best;
    }
    const bool most = 2 * times[best] > suffix->sample->count;
    if (most)
        suffix->layout = seen[best];
    return most;
}

/* ---- what the columns look like ---- */

/* Digits, a point, digits; returns where they end, at when they are none. */
static const char *read_number(const char *at, const char *end, size_t *whole, size_t *decimals) {
    const char *start = at;
    while (at < end && is_digit(*at))
        at++;
    *whole = (size_t)(at - start);
    *decimals = 0;
    if (at < end && *at == '.' && *whole > 0) {
        const char *point = at++;
        while (at < end && is_digit(*at))
            at++;
        *decimals = (size_t)(at - point - 1);
    }
    return at;
}

static enum looks classify_line(struct bli_log_span value, double *number) {
    size_t whole, decimals;
    const char *end = value.text + value.length, *stop = read_number(value.text, end, &whole, &decimals);
    if (whole == 0 || whole > 18)
        return WORD;
    char digits[40];
    snprintf(digits, sizeof digits, "%.*s", (int)(stop - value.text), value.text);
    *number = strtod(digits, NULL);
    if (stop < end) {
        const struct bli_log_span unit = {stop, (size_t)(end - stop)};
        return bli_log_unit_of(unit) != BLI_LOG_UNIT_OPEN ? OWN_UNIT : WORD;
    }
    return decimals != 3 ? NUMBER : whole == 10 ? MOMENT : THOUSANDTHS;
}

/* The first of a list that is there. */
static struct bli_log_span first_of(struct bli_log_span value, bool *list) {
    const char *at = value.text, *end = at + value.length;
    for (;;) {
        const char *stop = at;
        while (stop < end && *stop != ',' && !(*stop == ' ' && end - stop > 2 && stop[1] == ':'))
            stop++;
        *list |= stop < end;
        if (stop == end || !(stop == at + 1 && *at == '-'))
            return (struct bli_log_span){at, (size_t)(stop - at)};
        at = stop + (*stop == ',' ? 2 : 3);
        if (at >= end)
            return (struct bli_log_span){value.text, 1};
    }
}

static void add_value(struct suffix_column *column, struct bli_log_span value, double *number) {
    *number = NAN;
    value = first_of(value, &column->list);
    if (value.length == 0 || bli_log_is(value, "-")) {
        column->dashes++;
        return;
    }
    const enum looks looks = classify_line(value, number);
    column->seen[looks]++;
    column->numbers++;
    column->fractions += looks != WORD && memchr(value.text, '.', value.length) != NULL;
    column->sum[looks] += looks == WORD ? 0 : *number;
}

/* What nearly all of its values look like; numbers of several kinds are numbers. */
static enum looks column_type(const struct suffix_column *column) {
    const double least = (1 - ODD_PART) * (double)column->numbers;
    for (int looks = 0; looks < WORD && column->numbers > 0; looks++)
        if ((double)column->seen[looks] >= least)
            return (enum looks)looks;
    const size_t plain = column->seen[THOUSANDTHS] + column->seen[MOMENT] + column->seen[NUMBER];
    return column->numbers > 0 && (double)plain >= least ? NUMBER : WORD;
}

/* Of the values that look like the column. */
static double mean_of(const struct suffix_column *column) {
    double sum = column->sum[column->looks];
    size_t count = column->seen[column->looks];
    if (column->looks == NUMBER) {
        sum += column->sum[THOUSANDTHS] + column->sum[MOMENT];
        count += column->seen[THOUSANDTHS] + column->seen[MOMENT];
    }
    return sum / (double)count;
}

/* Looks at every line in the layout; longer[i][k] counts those in which column i is longer than k. */
static void classify_columns(struct suffix *suffix, size_t longer[COLUMNS][COLUMNS]) {
    const size_t count = suffix->layout.count;
    for (size_t line = 0; line < suffix->sample->count; line++) {
        struct bli_log_span rest, values[COLUMNS];
        struct bli_log_layout layout = {0};
        double number[COLUMNS];
        if (!read_rest(suffix, suffix->sample->line[line], &rest) ||
            !bli_log_columns_read(rest, &layout, values) || !bli_log_layout_same(&layout, &suffix->layout))
            continue;
        for (size_t i = 0; i < count; i++)
            add_value(&suffix->column[i], values[i], &number[i]);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < count; k++)
                longer[i][k] += number[i] > number[k] + 0.0025; /* two clocks may differ by milliseconds */
    }
    for (size_t i = 0; i < count; i++)
        suffix->column[i].looks = column_type(&suffix->column[i]);
}

/* ---- deciding ---- */

static size_t count_type(const struct suffix *suffix, enum looks looks, size_t *last) {
    size_t count = 0;
    for (size_t i = 0; i < suffix->layout.count; i++)
        if (suffix->column[i].looks == looks) {
            *last = i;
            count++;
        }
    return count;
}

static void name_column(struct suffix_column *column, const char *name) {
    snprintf(column->name, sizeof column->name, "%s", name);
}

/* Labels in common use for variables of nginx; other labels may be the variables' own names. */
static const struct label {
    const char *label, *name;
    enum looks looks;
} labels[] = {{"rt=", "request_time", THOUSANDTHS},
              {"urt=", "upstream_response_time", THOUSANDTHS},
              {"uct=", "upstream_connect_time", THOUSANDTHS},
              {"uht=", "upstream_header_time", THOUSANDTHS},
              {"request_time=", "request_time", THOUSANDTHS},
              {"upstream_response_time=", "upstream_response_time", THOUSANDTHS},
              {"ua=", "upstream_addr", WORD},
              {"uaddr=", "upstream_addr", WORD},
              {"upstream=", "upstream_addr", WORD},
              {"upstream_addr=", "upstream_addr", WORD},
              {"us=", "upstream_status", NUMBER},
              {"upstream_status=", "upstream_status", NUMBER}};

/* What the label of a column with this kind of values means; NULL: unknown. */
static const char *name_of_label(const struct suffix *suffix, size_t column, enum looks looks) {
    for (size_t k = 0; k < sizeof labels / sizeof *labels; k++)
        if (labels[k].looks == looks && suffix->column[column].looks == looks &&
            strcmp(suffix->layout.style[column].label, labels[k].label) == 0)
            return labels[k].name;
    return NULL;
}

static void name_by_label(struct suffix *suffix) {
    for (size_t i = 0; i < suffix->layout.count; i++) {
        const char *time = name_of_label(suffix, i, THOUSANDTHS), *status = name_of_label(suffix, i, NUMBER);
        if (time || status)
            name_column(&suffix->column[i], time ? time : status);
    }
}

static bool is_named(const struct suffix *suffix, const char *name) {
    for (size_t i = 0; i < suffix->layout.count; i++)
        if (strcmp(suffix->column[i].name, name) == 0)
            return true;
    return false;
}

/* The column that is nowhere shorter than another of its looks that has no name yet; -1 when there is none.
 */
static int find_longest(const struct suffix *suffix, size_t longer[COLUMNS][COLUMNS]) {
    const size_t count = suffix->layout.count;
    for (size_t i = 0; i < count; i++) {
        const struct suffix_column *column = &suffix->column[i];
        bool longest = column->looks == THOUSANDTHS && !*column->name;
        for (size_t k = 0; k < count && longest; k++)
            if (k != i && suffix->column[k].looks == THOUSANDTHS && !*suffix->column[k].name)
                longest = longer[k][i] * 50 <= column->numbers;
        if (longest)
            return (int)i;
    }
    return -1;
}

static enum bal_code fail_times(const struct suffix *suffix, const char *why, struct bal_error *err) {
    char list[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < suffix->layout.count && used < sizeof list; i++)
        if (suffix->column[i].looks == THOUSANDTHS)
            used += (size_t)snprintf(list + used, sizeof list - used, "%scolumn%zu (mean %.3g s)",
                                     used ? ", " : "", i + 1, mean_of(&suffix->column[i]));
    return bal_fail(err, BAL_E_FORMAT,
                    "which is the service time, %s? %s; say it with --service-field column1, or give the"
                    " log_format itself",
                    list, why);
}

/* Times of nginx: the longest is $request_time, the next longest is the servers'. */
static enum bal_code name_times(struct suffix *suffix, size_t longer[COLUMNS][COLUMNS],
                                struct bal_error *err) {
    name_by_label(suffix);
    size_t last = 0;
    const size_t times = count_type(suffix, THOUSANDTHS, &last);
    if (times == 1 && !*suffix->column[last].name) {
        /* a request takes some time always, but not every one has a server */
        const bool servers = suffix->column[last].list || suffix->column[last].dashes > 0;
        name_column(&suffix->column[last], servers ? "upstream_response_time" : "request_time");
        return BAL_OK;
    }
    if (is_named(suffix, "request_time") || is_named(suffix, "upstream_response_time"))
        return BAL_OK;
    const int whole = find_longest(suffix, longer);
    if (whole < 0)
        return fail_times(suffix, "none of them is always the longest", err);
    name_column(&suffix->column[whole], "request_time");
    const int part = find_longest(suffix, longer);
    if (part < 0)
        return fail_times(suffix, "besides the longest, none is longer than the others", err);
    if (mean_of(&suffix->column[part]) * 20 < mean_of(&suffix->column[whole]))
        return fail_times(suffix, "a short one may be the time to connect", err);
    name_column(&suffix->column[part], "upstream_response_time");
    return BAL_OK;
}

/* "-" is none, "a, b : c" are three. */
static size_t count_tries(struct bli_log_span value) {
    if (value.length == 0 || bli_log_is(value, "-"))
        return 0;
    size_t count = 1;
    for (size_t i = 0; i + 2 < value.length; i++)
        count += value.text[i] == ',' || memcmp(value.text + i, " : ", 3) == 0;
    return count;
}

/* Addresses of servers: each ends in a port, or is a socket of the machine. */
static bool are_addresses(struct bli_log_span value) {
    const char *at = value.text, *end = at + value.length;
    while (at < end) {
        const char *stop = at;
        while (stop < end && *stop != ',' && *stop != ' ')
            stop++;
        const char *colon = memrchr(at, ':', (size_t)(stop - at));
        if (!colon || colon == at || colon + 1 == stop)
            return false;
        if (!(stop - at > 5 && memcmp(at, "unix:", 5) == 0) && !is_number(colon + 1, stop))
            return false;
        at = stop;
        while (at < end && (*at == ',' || *at == ' ' || (*at == ':' && at + 1 < end && at[1] == ' ')))
            at++;
    }
    return true;
}

/* Is it 10.0.0.1:80, [::1]:80 or unix:/path, as nginx writes servers? A name may be that of the host that was
 * asked for. */
static bool is_numeric(struct bli_log_span value) {
    const char *end = value.text + value.length, *colon = memrchr(value.text, ':', value.length);
    if ((value.length > 5 && memcmp(value.text, "unix:", 5) == 0) || value.text[0] == '[')
        return true;
    for (const char *at = value.text; at < (colon ? colon : end); at++)
        if (!is_digit(*at) && *at != '.')
            return false;
    return true;
}

/* An address of the line's client, with a port as systems give them to who connects? */
static bool is_client(struct bli_log_span value, struct bli_log_span client) {
    enum { EPHEMERAL = 32768 };
    const char *colon = memrchr(value.text, ':', value.length);
    double port;
    return colon && (size_t)(colon - value.text) == client.length &&
           memcmp(value.text, client.text, client.length) == 0 &&
           bli_number_parse(colon + 1, value.length - client.length - 1, &port) && port >= EPHEMERAL;
}

/* How a column matches the times of servers. Counts the lines with as many addresses as times; those of them
 * where that number is not one, since only they show that the addresses belong to these servers; those whose
 * addresses occurred in an earlier line, which is rare for clients because their ports vary; and those whose
 * addresses are not written as nginx writes servers, or are the client's. */
struct agreement {
    size_t lines, telling, again, foreign;
};

static bool is_seen(const struct bli_log_span *seen, size_t count, struct bli_log_span value) {
    for (size_t i = 0; i < count; i++)
        if (seen[i].length == value.length && memcmp(seen[i].text, value.text, value.length) == 0)
            return true;
    return false;
}

/* times: the column of the times of servers; that of the addresses itself where there is none. */
static struct agreement compare_columns(const struct suffix *suffix, size_t times, size_t column) {
    struct agreement agreement = {0};
    struct bli_log_span seen[BLI_LOG_SAMPLE];
    for (size_t line = 0; line < suffix->sample->count; line++) {
        struct bli_log_span client, rest, values[COLUMNS];
        struct bli_log_layout layout = {0};
        if (!read_line(suffix, suffix->sample->line[line], &client, &rest) ||
            !bli_log_columns_read(rest, &layout, values) || !bli_log_layout_same(&layout, &suffix->layout))
            continue;
        const size_t tries = count_tries(values[times]);
        if (tries != count_tries(values[column]) || (tries > 0 && !are_addresses(values[column])))
            continue;
        agreement.again += is_seen(seen, agreement.lines, values[column]);
        seen[agreement.lines++] = values[column];
        agreement.telling += times != column && tries != 1;
        agreement.foreign += tries == 1 && (!is_numeric(values[column]) || is_client(values[column], client));
    }
    return agreement;
}

/* Are these addresses of servers or of clients? */
enum addresses { NO_ADDRESSES, PERHAPS_SERVERS, SERVERS, SERVERS_SURELY };

/* One address that always recurs may be that of the proxy itself: there must be several. */
static enum addresses classify_addresses(const struct suffix *suffix, size_t times, size_t i) {
    const struct suffix_column *column = &suffix->column[i];
    if (column->looks != WORD || *column->name)
        return NO_ADDRESSES;
    const struct agreement agreement = compare_columns(suffix, times, i);
    if (agreement.lines == 0 ||
        (double)agreement.lines < (1 - ODD_PART) * (double)(column->numbers + column->dashes))
        return NO_ADDRESSES;
    if (agreement.telling > 0 || name_of_label(suffix, i, WORD))
        return SERVERS_SURELY;
    if (2 * agreement.again <= agreement.lines)
        return NO_ADDRESSES;
    const bool foreign = (double)agreement.foreign > ODD_PART * (double)agreement.lines;
    return !foreign && agreement.again + 1 < agreement.lines ? SERVERS : PERHAPS_SERVERS;
}

/* Which column is $upstream_addr, or may be. Of several that are as likely none is taken. */
static void name_servers(struct suffix *suffix) {
    size_t times = 0, found = 0, count = 0;
    while (times < suffix->layout.count && strcmp(suffix->column[times].name, "upstream_response_time") != 0)
        times++;
    enum addresses best = NO_ADDRESSES;
    for (size_t i = 0; i < suffix->layout.count; i++) {
        const enum addresses whose = classify_addresses(suffix, times < suffix->layout.count ? times : i, i);
        if (whose == NO_ADDRESSES || whose < best)
            continue;
        count = whose == best ? count + 1 : 1;
        found = i;
        best = whose;
    }
    if (count == 1 && best >= SERVERS)
        name_column(&suffix->column[found], "upstream_addr");
    else if (count == 1)
        suffix->perhaps_server = found + 1;
}

/* ---- the format that was found ---- */

static const char *head_of(const struct suffix *suffix, const char *program) {
    if (strcmp(program, "nginx") == 0)
        return suffix->combined ? BLI_LOG_COMBINED : BLI_LOG_COMMON;
    if (strcmp(program, "columns") == 0)
        return suffix->combined ? BLI_LOG_COLUMNS_COMBINED : BLI_LOG_COLUMNS_COMMON;
    return suffix->combined ? BLI_LOG_APACHE_COMBINED : BLI_LOG_APACHE_COMMON;
}

/* Writes the format in the language of the program and reads it. */
static enum bal_code write_format(const struct suffix *suffix, const char *program,
                                  struct bli_log_format *format, struct bal_error *err) {
    char text[TEXT];
    const bool directives = strcmp(program, "nginx") != 0 && strcmp(program, "columns") != 0;
    size_t used = (size_t)snprintf(text, sizeof text, "%s:%s", program, head_of(suffix, program));
    for (size_t i = 0; i < suffix->layout.count && used < sizeof text; i++) {
        const struct bli_log_style *style = &suffix->layout.style[i];
        const char open[] = {style->open, 0}, close[] = {style->close, 0};
        char name[BLI_LOG_NAME + 20];
        if (*suffix->column[i].name)
            snprintf(name, sizeof name, "%s%s", directives ? "" : "$", suffix->column[i].name);
        else
            snprintf(name, sizeof name, directives ? "%%{column%zu}x" : "$column%zu", i + 1);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, " %s%s%s%s", style->label, open, name, close);
    }
    if (used >= sizeof text)
        return bal_fail(err, BAL_E_FORMAT, "too many columns behind the combined format");
    const enum bal_code code = bli_log_pattern_new(text, format, err);
    if (!code && suffix->perhaps_server > 0)
        snprintf(format->server, sizeof format->server, "column%zu", suffix->perhaps_server);
    return code;
}

/* What a program that was named writes: one number, %D, unless it looks like another. */
static enum bal_code name_directive(struct suffix *suffix, const char *program, struct bal_error *err) {
    size_t at = 0, other = 0;
    if (strcmp(program, "tomcat") == 0 && count_type(suffix, THOUSANDTHS, &at) == 1) {
        name_column(&suffix->column[at], "%T"); /* up to 10.0 */
        return BAL_OK;
    }
    const size_t numbers = count_type(suffix, NUMBER, &at);
    if (numbers == 0 && count_type(suffix, THOUSANDTHS, &other) == 0)
        return fail_untimed(err);
    if (numbers != 1)
        return bal_fail(
            err, BAL_E_FORMAT,
            "%zu whole numbers stand behind the %s format, and which of them is %%D is not known; give the"
            " whole format, such as LogFormat \"%%h %%l %%u %%t \\\"%%r\\\" %%>s %%b %%D\"",
            numbers, suffix->combined ? "combined" : "common");
    const bool first_byte = strcmp(program, "varnish") == 0 && suffix->column[at].fractions > 0;
    name_column(&suffix->column[at], first_byte ? "%{Varnish:time_firstbyte}x" : "%D");
    return BAL_OK;
}

/* Numbers of an unknown program: each is tried, and exactly one must remain that has one reading only. */
static enum bal_code try_each_number(struct suffix *suffix, struct bli_log_format *format,
                                     struct bal_error *err) {
    const enum bal_code code = write_format(suffix, "columns", format, err);
    if (code)
        return code;
    char found[BLI_LOG_NAME] = "", list[200] = "";
    size_t fits = 0, numbers = 0, used = 0;
    struct bal_error last = {0};
    for (size_t i = 0; i < suffix->layout.count; i++) {
        const struct suffix_column *column = &suffix->column[i];
        if (column->looks != NUMBER && column->looks != OWN_UNIT && column->looks != THOUSANDTHS)
            continue;
        char name[BLI_LOG_NAME];
        snprintf(name, sizeof name, "column%zu", i + 1);
        struct bli_log_binding binding;
        const struct bli_log_options options = {.service = name};
        numbers++;
        if (bli_log_bind(format, &options, suffix->sample, &binding, &last) == BAL_OK) {
            snprintf(found, sizeof found, "%s", name);
            fits++;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%.6g on average)",
                                     used ? ", " : "", name, mean_of(column));
    }
    if (numbers == 0)
        return fail_untimed(err);
    snprintf(format->service, sizeof format->service, "%s", found);
    if (fits == 1)
        return BAL_OK;
    if (numbers == 1)
        return bal_fail(err, BAL_E_FORMAT,
                        "%s; if it is none, the log does not say how long requests took; or give the format"
                        " itself (--log-format apache if it is %%D)",
                        last.text);
    return bal_fail(err, BAL_E_FORMAT,
                    "which of %s is the service time, and in which unit? say it with --service-field"
                    " column1:ms, or give the log_format or LogFormat itself",
                    list);
}

static enum bal_code name_columns(struct suffix *suffix, const char *program, const char *service,
                                  struct bli_log_format *format, struct bal_error *err) {
    size_t longer[COLUMNS][COLUMNS] = {{0}}, last;
    classify_columns(suffix, longer);
    if (program) {
        const enum bal_code code = name_directive(suffix, program, err);
        return code ? code : write_format(suffix, program, format, err);
    }
    if (service && strncmp(service, "column", 6) == 0) /* it was given */
        return write_format(suffix, "columns", format, err);
    if (count_type(suffix, THOUSANDTHS, &last) == 0)
        return try_each_number(suffix, format, err);
    const enum bal_code code = name_times(suffix, longer, err);
    if (!code && count_type(suffix, MOMENT, &last) == 1)
        name_column(&suffix->column[last], "msec");
    if (!code)
        name_servers(suffix);
    return code ? code : write_format(suffix, "nginx", format, err);
}

/* The common format, and nothing behind its number of bytes. */
static bool is_plain_common(const struct bli_log_sample *sample) {
    struct bli_log_format format;
    const struct bli_log_span name = {"%b", 2};
    struct bli_log_span fields[BLI_LOG_FIELDS];
    size_t count = 0;
    if (!bli_log_pattern_new("apache:" BLI_LOG_APACHE_COMMON, &format, NULL)) {
        const int bytes = format.kind->find(&format, name, sample, false);
        for (size_t i = 0; i < sample->count; i++)
            count += format.kind->split(&format, sample->line[i], fields) &&
                     (bli_log_is(fields[bytes], "-") ||
                      is_number(fields[bytes].text, fields[bytes].text + fields[bytes].length));
    }
    bli_log_format_free(&format);
    return 2 * count > sample->count;
}

/* The head, with what is behind it as one more field; common needs a blank to end its last number. */
static enum bal_code parse_head(struct suffix *suffix, struct bal_error *err) {
    for (int common = 0; common < 2; common++) {
        suffix->combined = !common;
        const enum bal_code code = bli_log_pattern_new(common ? "apache:" BLI_LOG_APACHE_COMMON " %{rest}x"
                                                              : "apache:" BLI_LOG_APACHE_COMBINED "%{rest}x",
                                                       &suffix->head, err);
        if (code)
            return code;
        if (find_layout(suffix))
            return BAL_OK;
        bli_log_format_free(&suffix->head);
    }
    return is_plain_common(suffix->sample)
               ? fail_untimed(err)
               : bal_fail(err, BAL_E_UNKNOWN, "the lines do not begin with the common format");
}

enum bal_code bli_log_combined_suffix_new(const struct bli_log_sample *sample, const char *program,
                                          const char *service, struct bli_log_format *format,
                                          struct bal_error *err) {
    *format = (struct bli_log_format){0};
    struct suffix *suffix = calloc(1, sizeof *suffix);
    if (!suffix)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the first lines of a log");
    suffix->sample = sample;
    enum bal_code code = parse_head(suffix, err);
    if (!code)
        code = name_columns(suffix, program, service, format, err);
    bli_log_format_free(&suffix->head);
    free(suffix);
    return code;
}
