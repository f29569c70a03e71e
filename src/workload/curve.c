/* SPDX-License-Identifier: BSD-2-Clause */
/* Load curves: reading and writing them, their value at a time, and their largest value. */
#include "ballast/curve.h"

#include "ballast/number.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double two_pi = 6.283185307179586;

static enum bal_code bad_curve(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(err, BAL_E_RANGE,
                    "curve '%.80s': %s; write constant, sine(A,P) with 0 <= A <= 1 and P > 0, table(T:F T:F "
                    "...) or file(PATH), the last two also with ' repeat' behind them",
                    text, why);
}

/* Reads a number and what must stand behind it; returns where to go on, NULL if it is not there. */
static const char *parse_number(const char *at, double *value, char behind) {
    while (*at == ' ')
        at++;
    const char *end = bli_number_read(at, value);
    if (!end || !isfinite(*value))
        return NULL;
    if (*end == '%') {
        *value /= 100;
        end++;
    }
    while (behind != ' ' && *end == ' ')
        end++;
    if (*end != behind && !(behind == ' ' && *end == ')'))
        return NULL;
    return *end == ')' && behind == ' ' ? end : end + 1;
}

static enum bal_code parse_sine(const char *text, struct bli_curve *curve, struct bal_error *err) {
    struct bli_curve sine = {.kind = BLI_CURVE_SINE};
    const char *at = parse_number(text + strlen("sine("), &sine.amplitude, ',');
    at = at ? parse_number(at, &sine.period, ')') : NULL;
    if (!at || *at || !(sine.amplitude >= 0 && sine.amplitude <= 1) || !(sine.period > 0))
        return bad_curve(text, "this is not a sine", err);
    *curve = sine;
    return BAL_OK;
}

/* text is table(...) of that length. */
static enum bal_code parse_table(const char *text, size_t length, struct bli_curve *curve,
                                 struct bal_error *err) {
    struct bli_curve table = {.kind = BLI_CURVE_TABLE};
    const char *at = text + strlen("table(");
    while (*at != ')') {
        const unsigned i = table.points;
        if (i == BLI_CURVE_POINTS)
            return bad_curve(text, "a table has at most 256 points", err);
        at = parse_number(at, &table.time[i], ':');
        at = at ? parse_number(at, &table.factor[i], ' ') : NULL;
        if (!at)
            return bad_curve(text, "a point is TIME:FACTOR", err);
        if (!(table.factor[i] >= 0) || (i > 0 && !(table.time[i] > table.time[i - 1])))
            return bad_curve(text, "times must ascend and factors must not be negative", err);
        table.points++;
        while (*at == ' ')
            at++;
    }
    if (at + 1 != text + length || table.points == 0 || bli_curve_max(&table) == 0)
        return bad_curve(text, "a table has at least one point with a factor above 0", err);
    *curve = table;
    return BAL_OK;
}

/* One line of a file: two numbers, or nothing. Returns why it cannot be, or NULL. */
static const char *parse_line(char *line, struct bli_curve *table) {
    line[strcspn(line, "#")] = 0;
    char *rest = line, *word[3] = {NULL};
    for (int i = 0; i < 3; i++)
        word[i] = strtok_r(rest, " \t\r\n,:", &rest);
    if (!word[0])
        return NULL;
    if (table->points == BLI_CURVE_POINTS)
        return "more than 256 points";
    const unsigned i = table->points;
    if (!word[1] || word[2] || !bli_number_parse(word[0], strlen(word[0]), &table->time[i]) ||
        !bli_number_parse(word[1], strlen(word[1]), &table->factor[i]) || !isfinite(table->time[i]) ||
        !isfinite(table->factor[i]))
        return "not a time and a factor";
    if (!(table->factor[i] >= 0) || (i > 0 && !(table->time[i] > table->time[i - 1])))
        return "times must ascend and factors must not be negative";
    table->points++;
    return NULL;
}

enum { FILE_BYTES = 1 << 18 }; /* of a file: a kilobyte for each point and its comments */

/* The bytes of a plain file, terminated; the caller frees them. What is no plain file is refused before a
 * byte of it is read: it might have no end, or wait for ever. */
static enum bal_code read_bytes(const char *path, char **bytes, size_t *length, struct bal_error *err) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about = {0};
    if (fd < 0)
        return bal_fail(err, BAL_E_IO, "curve: cannot read '%.200s': %s", path, strerror(errno));
    enum bal_code code = BAL_OK;
    if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode))
        code = bal_fail(err, BAL_E_IO, "curve: '%.200s' is %s, not a file with a table in it", path,
                        S_ISDIR(about.st_mode) ? "a directory" : "a device or a pipe");
    else if (about.st_size > FILE_BYTES)
        code = bal_fail(err, BAL_E_RANGE, "curve: '%.200s' has %lld bytes; a table of a curve has at most %d",
                        path, (long long)about.st_size, FILE_BYTES);
    else if (!(*bytes = malloc(FILE_BYTES + 1)))
        code = bal_fail(err, BAL_E_MEMORY, "curve: not enough memory to read '%.200s'", path);
    ssize_t got = 1;
    for (*length = 0; !code && got > 0 && *length < FILE_BYTES; *length += (size_t)(got > 0 ? got : 0))
        got = read(fd, *bytes + *length, FILE_BYTES - *length);
    if (!code && got < 0)
        code = bal_fail(err, BAL_E_IO, "curve: cannot read '%.200s': %s", path, strerror(errno));
    close(fd);
    if (code)
        free(*bytes);
    else
        (*bytes)[*length] = 0;
    return code;
}

static enum bal_code parse_lines(char *bytes, size_t length, const char *path, struct bli_curve *table,
                                 struct bal_error *err) {
    if (memchr(bytes, 0, length))
        return bal_fail(err, BAL_E_SYNTAX, "curve: %.200s: it holds a zero byte; write lines such as 10 0.5",
                        path);
    unsigned number = 1;
    for (char *line = bytes; *line; number++) {
        char *end = line + strcspn(line, "\n"), *next = end + (*end == '\n');
        *end = 0;
        const char *why = parse_line(line, table);
        if (why)
            return bal_fail(err, BAL_E_SYNTAX, "curve: %.200s:%u: %s; write lines such as 10 0.5", path,
                            number, why);
        line = next;
    }
    if (table->points == 0 || bli_curve_max(table) == 0)
        return bal_fail(err, BAL_E_RANGE, "curve: %.200s: there is no point with a factor above 0", path);
    return BAL_OK;
}

/* text is file(PATH) of that length. */
static enum bal_code parse_file(const char *text, size_t length, struct bli_curve *curve,
                                struct bal_error *err) {
    char path[1024];
    const size_t prefix = strlen("file(");
    if (length < prefix + 2 || length - prefix > sizeof path || text[length - 1] != ')')
        return bad_curve(text, "a file is file(PATH)", err);
    snprintf(path, sizeof path, "%.*s", (int)(length - prefix - 1), text + prefix);
    char *bytes = NULL;
    size_t size = 0;
    enum bal_code code = read_bytes(path, &bytes, &size, err);
    if (code)
        return code;
    struct bli_curve table = {.kind = BLI_CURVE_TABLE};
    code = parse_lines(bytes, size, path, &table, err);
    free(bytes);
    if (!code)
        *curve = table;
    return code;
}

static const char repeats[] = ") repeat";

/* A table or a file, which may repeat. */
static enum bal_code parse_points(const char *text, struct bli_curve *curve, struct bal_error *err) {
    size_t length = strlen(text);
    const size_t tail = strlen(repeats);
    const bool repeat = length > tail && strcmp(text + length - tail, repeats) == 0;
    if (repeat)
        length -= strlen(" repeat");
    struct bli_curve read;
    const enum bal_code code =
        *text == 'f' ? parse_file(text, length, &read, err) : parse_table(text, length, &read, err);
    if (code)
        return code;
    if (repeat && !(read.time[read.points - 1] > 0))
        return bad_curve(text, "a table repeats after its last time, which must be above 0", err);
    read.repeat = repeat;
    *curve = read;
    return BAL_OK;
}

enum bal_code bli_curve_parse(const char *text, struct bli_curve *curve, struct bal_error *err) {
    if (strcmp(text, "constant") == 0) {
        *curve = (struct bli_curve){.kind = BLI_CURVE_CONSTANT};
        return BAL_OK;
    }
    if (strncmp(text, "sine(", 5) == 0)
        return parse_sine(text, curve, err);
    if (strncmp(text, "table(", 6) == 0 || strncmp(text, "file(", 5) == 0)
        return parse_points(text, curve, err);
    return bad_curve(text, "there is no such curve", err);
}

size_t bli_curve_print(const struct bli_curve *curve, char *text, size_t size) {
    if (curve->kind == BLI_CURVE_CONSTANT)
        return (size_t)snprintf(text, size, "constant");
    char a[BLI_NUMBER_TEXT], b[BLI_NUMBER_TEXT];
    if (curve->kind == BLI_CURVE_SINE) {
        bli_number_print(curve->amplitude, a);
        bli_number_print(curve->period, b);
        return (size_t)snprintf(text, size, "sine(%s,%s)", a, b);
    }
    size_t length = 0;
    for (unsigned i = 0; i < curve->points; i++) {
        bli_number_print(curve->time[i], a);
        bli_number_print(curve->factor[i], b);
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%s:%s%s", i ? " " : "table(", a, b,
                                   i + 1 < curve->points ? ""
                                   : curve->repeat       ? repeats
                                                         : ")");
    }
    return length;
}

static double table_at(const struct bli_curve *curve, double time) {
    if (curve->repeat)
        time = fmod(time, curve->time[curve->points - 1]);
    if (time <= curve->time[0])
        return curve->factor[0];
    unsigned low = 0, high = curve->points;
    while (high - low > 1) { /* time[low] <= time */
        const unsigned middle = (low + high) / 2;
        if (curve->time[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    if (high == curve->points)
        return curve->factor[low];
    const double part = (time - curve->time[low]) / (curve->time[high] - curve->time[low]);
    return curve->factor[low] + part * (curve->factor[high] - curve->factor[low]);
}

double bli_curve_at(const struct bli_curve *curve, double time) {
    if (curve->kind == BLI_CURVE_CONSTANT)
        return 1;
    if (curve->kind == BLI_CURVE_SINE)
        return 1 + curve->amplitude * sin(two_pi * time / curve->period);
    return table_at(curve, time);
}

double bli_curve_end(const struct bli_curve *curve) {
    return curve->kind == BLI_CURVE_TABLE && !curve->repeat ? curve->time[curve->points - 1] : INFINITY;
}

double bli_curve_max(const struct bli_curve *curve) {
    if (curve->kind == BLI_CURVE_CONSTANT)
        return 1;
    if (curve->kind == BLI_CURVE_SINE)
        return 1 + curve->amplitude;
    double most = 0;
    for (unsigned i = 0; i < curve->points; i++)
        most = fmax(most, curve->factor[i]);
    return most;
}
