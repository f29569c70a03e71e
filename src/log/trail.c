/* Servers are told to write the combined format and then some numbers. Which they are the log does not say,
 * but the numbers do, some of them:
 *
 *   - nginx writes times in seconds with three decimals, and nobody else writes three (a gzip ratio has two);
 *     the time of the whole request is the longest of them, that of the servers the next;
 *   - a number with a unit of its own is what it says;
 *   - addresses that are as many as the times of servers, also where these are several or none, are theirs;
 *   - all others may be a time in any unit, bytes, or a count: judge.h looks whether one reading fits the
 * order
 *     of the lines and no other does.
 *
 * What was found is written as a log_format, which is read then as if it had been given. */
#include "log/trail.h"

#include "log/bind.h"
#include "log/columns.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = BAL_LOG_COLUMNS, SHAPES = 16, TEXT = 2000 };

enum looks { THOUSANDTHS, MOMENT, OWN_UNIT, NUMBER, WORD, LOOKS };

/* Values that look otherwise may be a part of all: a line may be broken. */
#define ODD_PART 0.05

struct column {
    enum looks looks;
    size_t seen[LOOKS];
    size_t numbers, dashes, fractions;
    bool list;
    double sum[LOOKS];
    char name[BAL_LOG_NAME];
};

struct trail {
    const struct bal_log_sample *sample;
    bool combined;
    struct bal_log_format head;
    struct bal_log_layout seen[SHAPES];
    struct bal_log_layout layout; /* that of most lines */
    struct column column[COLUMNS];
    size_t perhaps_server; /* 1 + the column that may tell who served; 0: none */
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

/* What is behind the head of a line; false when the line has none. */
static bool read_rest(const struct trail *trail, struct bal_log_span line, struct bal_log_span *rest) {
    struct bal_log_span fields[BAL_LOG_FIELDS];
    if (!trail->head.kind->split(&trail->head, line, fields))
        return false;
    const struct bal_log_span name = {"%{rest}x", 8};
    *rest = fields[trail->head.kind->find((struct bal_log_format *)&trail->head, name, NULL, false)];
    return true;
}

/* Finds the layout of most lines that have the head; false when there is none of more than half of all. */
static bool find_layout(struct trail *trail) {
    struct bal_log_layout *seen = trail->seen;
    size_t times[SHAPES] = {0}, count = 0, best = 0;
    for (size_t i = 0; i < trail->sample->count; i++) {
        struct bal_log_span rest, values[COLUMNS];
        struct bal_log_layout layout = {0};
        if (!read_rest(trail, trail->sample->line[i], &rest) || !bal_log_columns_read(rest, &layout, values))
            continue;
        size_t at = 0;
        while (at < count && !bal_log_layout_same(&seen[at], &layout))
            at++;
        if (at == SHAPES)
            continue;
        if (at == count)
            seen[count++] = layout;
        times[at]++;
        best = times[at] > times[best] ? at : best;
    }
    const bool most = 2 * times[best] > trail->sample->count;
    if (most)
        trail->layout = seen[best];
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

static enum looks look_at_one(struct bal_log_span value, double *number) {
    size_t whole, decimals;
    const char *end = value.text + value.length, *stop = read_number(value.text, end, &whole, &decimals);
    if (whole == 0 || whole > 18)
        return WORD;
    char digits[40];
    snprintf(digits, sizeof digits, "%.*s", (int)(stop - value.text), value.text);
    *number = strtod(digits, NULL);
    if (stop < end) {
        const struct bal_log_span unit = {stop, (size_t)(end - stop)};
        return bal_log_unit_of(unit) != BAL_LOG_UNIT_OPEN ? OWN_UNIT : WORD;
    }
    return decimals != 3 ? NUMBER : whole == 10 ? MOMENT : THOUSANDTHS;
}

/* The first of a list that is there. */
static struct bal_log_span first_of(struct bal_log_span value, bool *list) {
    const char *at = value.text, *end = at + value.length;
    for (;;) {
        const char *stop = at;
        while (stop < end && *stop != ',' && !(*stop == ' ' && end - stop > 2 && stop[1] == ':'))
            stop++;
        *list |= stop < end;
        if (stop == end || !(stop == at + 1 && *at == '-'))
            return (struct bal_log_span){at, (size_t)(stop - at)};
        at = stop + (*stop == ',' ? 2 : 3);
        if (at >= end)
            return (struct bal_log_span){value.text, 1};
    }
}

static void look_at(struct column *column, struct bal_log_span value, double *number) {
    *number = NAN;
    value = first_of(value, &column->list);
    if (value.length == 0 || bal_log_is(value, "-")) {
        column->dashes++;
        return;
    }
    const enum looks looks = look_at_one(value, number);
    column->seen[looks]++;
    column->numbers++;
    column->fractions += looks != WORD && memchr(value.text, '.', value.length) != NULL;
    column->sum[looks] += looks == WORD ? 0 : *number;
}

/* What nearly all of its values look like; numbers of several kinds are numbers. */
static enum looks looks_of(const struct column *column) {
    const double least = (1 - ODD_PART) * (double)column->numbers;
    for (int looks = 0; looks < WORD && column->numbers > 0; looks++)
        if ((double)column->seen[looks] >= least)
            return (enum looks)looks;
    const size_t plain = column->seen[THOUSANDTHS] + column->seen[MOMENT] + column->seen[NUMBER];
    return column->numbers > 0 && (double)plain >= least ? NUMBER : WORD;
}

/* Of the values that look like the column. */
static double mean_of(const struct column *column) {
    double sum = column->sum[column->looks];
    size_t count = column->seen[column->looks];
    if (column->looks == NUMBER) {
        sum += column->sum[THOUSANDTHS] + column->sum[MOMENT];
        count += column->seen[THOUSANDTHS] + column->seen[MOMENT];
    }
    return sum / (double)count;
}

/* Looks at every line in the layout; longer[i][k] counts those in which column i is longer than k. */
static void look_at_columns(struct trail *trail, size_t longer[COLUMNS][COLUMNS]) {
    const size_t count = trail->layout.count;
    for (size_t line = 0; line < trail->sample->count; line++) {
        struct bal_log_span rest, values[COLUMNS];
        struct bal_log_layout layout = {0};
        double number[COLUMNS];
        if (!read_rest(trail, trail->sample->line[line], &rest) ||
            !bal_log_columns_read(rest, &layout, values) || !bal_log_layout_same(&layout, &trail->layout))
            continue;
        for (size_t i = 0; i < count; i++)
            look_at(&trail->column[i], values[i], &number[i]);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < count; k++)
                longer[i][k] += number[i] > number[k] + 0.0025; /* two clocks may differ by milliseconds */
    }
    for (size_t i = 0; i < count; i++)
        trail->column[i].looks = looks_of(&trail->column[i]);
}

/* ---- deciding ---- */

static size_t count_looks(const struct trail *trail, enum looks looks, size_t *last) {
    size_t count = 0;
    for (size_t i = 0; i < trail->layout.count; i++)
        if (trail->column[i].looks == looks) {
            *last = i;
            count++;
        }
    return count;
}

static void name_column(struct column *column, const char *name) {
    snprintf(column->name, sizeof column->name, "%s", name);
}

/* Labels that are in use for the times of nginx; others may be its variables themselves. */
static void name_by_label(struct trail *trail) {
    static const struct {
        const char *label, *name;
    } known[] = {{"rt=", "request_time"},           {"urt=", "upstream_response_time"},
                 {"uct=", "upstream_connect_time"}, {"uht=", "upstream_header_time"},
                 {"request_time=", "request_time"}, {"upstream_response_time=", "upstream_response_time"}};
    for (size_t i = 0; i < trail->layout.count; i++)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (trail->column[i].looks == THOUSANDTHS &&
                strcmp(trail->layout.style[i].label, known[k].label) == 0)
                name_column(&trail->column[i], known[k].name);
}

static bool is_named(const struct trail *trail, const char *name) {
    for (size_t i = 0; i < trail->layout.count; i++)
        if (strcmp(trail->column[i].name, name) == 0)
            return true;
    return false;
}

/* The column that is nowhere shorter than another of its looks that has no name yet; -1 when there is none.
 */
static int find_longest(const struct trail *trail, size_t longer[COLUMNS][COLUMNS]) {
    const size_t count = trail->layout.count;
    for (size_t i = 0; i < count; i++) {
        const struct column *column = &trail->column[i];
        bool longest = column->looks == THOUSANDTHS && !*column->name;
        for (size_t k = 0; k < count && longest; k++)
            if (k != i && trail->column[k].looks == THOUSANDTHS && !*trail->column[k].name)
                longest = longer[k][i] * 50 <= column->numbers;
        if (longest)
            return (int)i;
    }
    return -1;
}

static enum bal_code fail_times(const struct trail *trail, const char *why, struct bal_error *err) {
    char list[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < trail->layout.count && used < sizeof list; i++)
        if (trail->column[i].looks == THOUSANDTHS)
            used += (size_t)snprintf(list + used, sizeof list - used, "%scolumn%zu (mean %.3g s)",
                                     used ? ", " : "", i + 1, mean_of(&trail->column[i]));
    return bal_fail(err, BAL_E_FORMAT,
                    "which is the service time, %s? %s; say it with --service-field column1, or give the"
                    " log_format itself",
                    list, why);
}

/* Times of nginx: the longest is $request_time, the next longest is the servers'. */
static enum bal_code name_times(struct trail *trail, size_t longer[COLUMNS][COLUMNS], struct bal_error *err) {
    name_by_label(trail);
    size_t last = 0;
    const size_t times = count_looks(trail, THOUSANDTHS, &last);
    if (times == 1 && !*trail->column[last].name) {
        /* a request takes some time always, but not every one has a server */
        const bool servers = trail->column[last].list || trail->column[last].dashes > 0;
        name_column(&trail->column[last], servers ? "upstream_response_time" : "request_time");
        return BAL_OK;
    }
    if (is_named(trail, "request_time") || is_named(trail, "upstream_response_time"))
        return BAL_OK;
    const int whole = find_longest(trail, longer);
    if (whole < 0)
        return fail_times(trail, "none of them is always the longest", err);
    name_column(&trail->column[whole], "request_time");
    const int part = find_longest(trail, longer);
    if (part < 0)
        return fail_times(trail, "besides the longest, none is longer than the others", err);
    if (mean_of(&trail->column[part]) * 20 < mean_of(&trail->column[whole]))
        return fail_times(trail, "a short one may be the time to connect", err);
    name_column(&trail->column[part], "upstream_response_time");
    return BAL_OK;
}

/* "-" is none, "a, b : c" are three. */
static size_t count_tries(struct bal_log_span value) {
    if (value.length == 0 || bal_log_is(value, "-"))
        return 0;
    size_t count = 1;
    for (size_t i = 0; i + 2 < value.length; i++)
        count += value.text[i] == ',' || memcmp(value.text + i, " : ", 3) == 0;
    return count;
}

/* Addresses of servers: each ends in a port, or is a socket of the machine. */
static bool are_addresses(struct bal_log_span value) {
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

/* How a column goes with the times of servers: in how many lines there are as many addresses as times; in how
 * many of these that is not one, for only they tell that the addresses are of these servers; and in how many
 * the addresses are those of an earlier line, as clients' seldom are, whose ports vary. */
struct agreement {
    size_t lines, telling, again;
};

static bool was_there(const struct bal_log_span *seen, size_t count, struct bal_log_span value) {
    for (size_t i = 0; i < count; i++)
        if (seen[i].length == value.length && memcmp(seen[i].text, value.text, value.length) == 0)
            return true;
    return false;
}

static struct agreement compare(const struct trail *trail, size_t times, size_t column) {
    struct agreement agreement = {0};
    struct bal_log_span seen[BAL_LOG_SAMPLE];
    for (size_t line = 0; line < trail->sample->count; line++) {
        struct bal_log_span rest, values[COLUMNS];
        struct bal_log_layout layout = {0};
        if (!read_rest(trail, trail->sample->line[line], &rest) ||
            !bal_log_columns_read(rest, &layout, values) || !bal_log_layout_same(&layout, &trail->layout))
            continue;
        const size_t tries = count_tries(values[times]);
        if (tries != count_tries(values[column]) || (tries > 0 && !are_addresses(values[column])))
            continue;
        agreement.again += was_there(seen, agreement.lines, values[column]);
        seen[agreement.lines++] = values[column];
        agreement.telling += tries != 1;
    }
    return agreement;
}

/* Which column is $upstream_addr, if the tries show it, or else may be. */
static void name_servers(struct trail *trail) {
    size_t times = 0;
    while (times < trail->layout.count && strcmp(trail->column[times].name, "upstream_response_time") != 0)
        times++;
    size_t found = 0, count = 0, perhaps = 0, possible = 0;
    for (size_t i = 0; i < trail->layout.count && times < trail->layout.count; i++) {
        const struct column *column = &trail->column[i];
        if (column->looks != WORD || *column->name)
            continue;
        const struct agreement agreement = compare(trail, times, i);
        if ((double)agreement.lines < (1 - ODD_PART) * (double)(column->numbers + column->dashes))
            continue;
        if (agreement.telling > 0) {
            found = i;
            count++;
        } else if (2 * agreement.again > agreement.lines) {
            perhaps = i;
            possible++;
        }
    }
    if (count == 1)
        name_column(&trail->column[found], "upstream_addr");
    else if (count == 0 && possible == 1)
        trail->perhaps_server = perhaps + 1;
}

/* ---- the format that was found ---- */

static const char *head_of(const struct trail *trail, const char *program) {
    if (strcmp(program, "nginx") == 0)
        return trail->combined ? BAL_LOG_COMBINED : BAL_LOG_COMMON;
    if (strcmp(program, "columns") == 0)
        return trail->combined ? BAL_LOG_COLUMNS_COMBINED : BAL_LOG_COLUMNS_COMMON;
    return trail->combined ? BAL_LOG_APACHE_COMBINED : BAL_LOG_APACHE_COMMON;
}

/* Writes the format in the language of the program and reads it. */
static enum bal_code write_format(const struct trail *trail, const char *program,
                                  struct bal_log_format *format, struct bal_error *err) {
    char text[TEXT];
    const bool directives = strcmp(program, "nginx") != 0 && strcmp(program, "columns") != 0;
    size_t used = (size_t)snprintf(text, sizeof text, "%s:%s", program, head_of(trail, program));
    for (size_t i = 0; i < trail->layout.count && used < sizeof text; i++) {
        const struct bal_log_style *style = &trail->layout.style[i];
        const char open[] = {style->open, 0}, close[] = {style->close, 0};
        char name[BAL_LOG_NAME + 20];
        if (*trail->column[i].name)
            snprintf(name, sizeof name, "%s%s", directives ? "" : "$", trail->column[i].name);
        else
            snprintf(name, sizeof name, directives ? "%%{column%zu}x" : "$column%zu", i + 1);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, " %s%s%s%s", style->label, open, name, close);
    }
    if (used >= sizeof text)
        return bal_fail(err, BAL_E_FORMAT, "too many columns behind the combined format");
    const enum bal_code code = bal_log_pattern_new(text, format, err);
    if (!code && trail->perhaps_server > 0)
        snprintf(format->server, sizeof format->server, "column%zu", trail->perhaps_server);
    return code;
}

/* What a program that was named writes: one number, %D, unless it looks like another. */
static enum bal_code name_directive(struct trail *trail, const char *program, struct bal_error *err) {
    size_t at = 0, other = 0;
    if (strcmp(program, "tomcat") == 0 && count_looks(trail, THOUSANDTHS, &at) == 1) {
        name_column(&trail->column[at], "%T"); /* up to 10.0 */
        return BAL_OK;
    }
    const size_t numbers = count_looks(trail, NUMBER, &at);
    if (numbers == 0 && count_looks(trail, THOUSANDTHS, &other) == 0)
        return fail_untimed(err);
    if (numbers != 1)
        return bal_fail(
            err, BAL_E_FORMAT,
            "%zu whole numbers stand behind the %s format, and which of them is %%D is not known; give the"
            " whole format, such as LogFormat \"%%h %%l %%u %%t \\\"%%r\\\" %%>s %%b %%D\"",
            numbers, trail->combined ? "combined" : "common");
    const bool first_byte = strcmp(program, "varnish") == 0 && trail->column[at].fractions > 0;
    name_column(&trail->column[at], first_byte ? "%{Varnish:time_firstbyte}x" : "%D");
    return BAL_OK;
}

/* Numbers of nobody knows whom: each is tried, and one must be left that can be read in one way only. */
static enum bal_code try_numbers(struct trail *trail, struct bal_log_format *format, struct bal_error *err) {
    const enum bal_code code = write_format(trail, "columns", format, err);
    if (code)
        return code;
    char found[BAL_LOG_NAME] = "", list[200] = "";
    size_t fits = 0, numbers = 0, used = 0;
    struct bal_error last = {0};
    for (size_t i = 0; i < trail->layout.count; i++) {
        const struct column *column = &trail->column[i];
        if (column->looks != NUMBER && column->looks != OWN_UNIT && column->looks != THOUSANDTHS)
            continue;
        char name[BAL_LOG_NAME];
        snprintf(name, sizeof name, "column%zu", i + 1);
        struct bal_log_binding binding;
        const struct bal_log_options options = {.service = name};
        numbers++;
        if (bal_log_bind(format, &options, trail->sample, &binding, &last) == BAL_OK) {
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

static enum bal_code decide(struct trail *trail, const char *program, const char *service,
                            struct bal_log_format *format, struct bal_error *err) {
    size_t longer[COLUMNS][COLUMNS] = {{0}}, last;
    look_at_columns(trail, longer);
    if (program) {
        const enum bal_code code = name_directive(trail, program, err);
        return code ? code : write_format(trail, program, format, err);
    }
    if (service && strncmp(service, "column", 6) == 0) /* it was said */
        return write_format(trail, "columns", format, err);
    if (count_looks(trail, THOUSANDTHS, &last) == 0)
        return try_numbers(trail, format, err);
    const enum bal_code code = name_times(trail, longer, err);
    if (!code && count_looks(trail, MOMENT, &last) == 1)
        name_column(&trail->column[last], "msec");
    if (!code)
        name_servers(trail);
    return code ? code : write_format(trail, "nginx", format, err);
}

/* The common format, and nothing behind its number of bytes. */
static bool is_bare(const struct bal_log_sample *sample) {
    struct bal_log_format format;
    const struct bal_log_span name = {"%b", 2};
    struct bal_log_span fields[BAL_LOG_FIELDS];
    size_t count = 0;
    if (!bal_log_pattern_new("apache:" BAL_LOG_APACHE_COMMON, &format, NULL)) {
        const int bytes = format.kind->find(&format, name, sample, false);
        for (size_t i = 0; i < sample->count; i++)
            count += format.kind->split(&format, sample->line[i], fields) &&
                     (bal_log_is(fields[bytes], "-") ||
                      is_number(fields[bytes].text, fields[bytes].text + fields[bytes].length));
    }
    bal_log_format_free(&format);
    return 2 * count > sample->count;
}

/* The head, with what is behind it as one more field; common needs a blank to end its last number. */
static enum bal_code begin(struct trail *trail, struct bal_error *err) {
    for (int common = 0; common < 2; common++) {
        trail->combined = !common;
        const enum bal_code code = bal_log_pattern_new(common ? "apache:" BAL_LOG_APACHE_COMMON " %{rest}x"
                                                              : "apache:" BAL_LOG_APACHE_COMBINED "%{rest}x",
                                                       &trail->head, err);
        if (code)
            return code;
        if (find_layout(trail))
            return BAL_OK;
        bal_log_format_free(&trail->head);
    }
    return is_bare(trail->sample)
               ? fail_untimed(err)
               : bal_fail(err, BAL_E_UNKNOWN, "the lines do not begin with the common format");
}

enum bal_code bal_log_trail_new(const struct bal_log_sample *sample, const char *program, const char *service,
                                struct bal_log_format *format, struct bal_error *err) {
    *format = (struct bal_log_format){0};
    struct trail *trail = calloc(1, sizeof *trail);
    if (!trail)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the first lines of a log");
    trail->sample = sample;
    enum bal_code code = begin(trail, err);
    if (!code)
        code = decide(trail, program, service, format, err);
    bal_log_format_free(&trail->head);
    free(trail);
    return code;
}
