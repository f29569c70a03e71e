/* SPDX-License-Identifier: BSD-2-Clause */
/* Speeds of servers by the number of jobs in service: reading and writing them, and their values. */
#include "ballast/speeds.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RATE_MAX 1e6

static enum bal_code bad_speeds(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(err, BAL_E_RANGE,
                    "speeds '%.80s': %s; write cores(4), batch(8,0.15) or table(1:1 2:1.8 8:4.5), which "
                    "tells the total speed with so many jobs in service, or none",
                    text, why);
}

static const char *skip_spaces(const char *at) {
    return at + strspn(at, " ");
}

/* Reads a number and the character behind it, either perhaps with spaces in front; NULL if it is not there.
 */
static const char *read_number(const char *at, double *value, char behind) {
    at = bli_number_read(skip_spaces(at), value);
    if (!at || !isfinite(*value))
        return NULL;
    at = skip_spaces(at);
    return *at == behind ? at + 1 : NULL;
}

static bool is_count(double value) {
    return value >= 1 && value <= BLI_SPEEDS_JOBS_MAX && value == floor(value);
}

static const char *parse_cores(const char *at, struct bli_speeds *speeds) {
    at = read_number(at, &speeds->cores, ')');
    return at && !*at && speeds->cores > 0 && speeds->cores <= BLI_SPEEDS_JOBS_MAX
               ? NULL
               : "cores has one number, above 0 and at most 100000";
}

static const char *parse_batch(const char *at, struct bli_speeds *speeds) {
    double most = 0;
    at = read_number(at, &most, ',');
    at = at ? read_number(at, &speeds->slowdown, ')') : NULL;
    if (!at || *at || !is_count(most) || !(speeds->slowdown >= 0 && speeds->slowdown <= RATE_MAX))
        return "batch has a whole number of jobs, 1 to 100000, and how much each further one slows down, "
               "from "
               "0 on";
    speeds->most = (uint32_t)most;
    return NULL;
}

static const char *parse_table(const char *at, struct bli_speeds *speeds) {
    for (at = skip_spaces(at); *at && *at != ')'; at = skip_spaces(at)) {
        const unsigned i = speeds->points;
        double jobs = 0, rate = 0;
        if (i == BLI_SPEEDS_POINTS)
            return "a table has at most 32 points";
        at = read_number(at, &jobs, ':');
        at = at ? bli_number_read(skip_spaces(at), &rate) : NULL;
        if (!at || (*at != ' ' && *at != ')'))
            return "a point is JOBS:RATE";
        if (!is_count(jobs) || (i > 0 && !(jobs > speeds->jobs[i - 1])))
            return "numbers of jobs are whole, 1 to 100000, and ascend";
        if (!(rate > 0 && rate <= RATE_MAX))
            return "a rate is above 0 and at most a million";
        speeds->jobs[i] = (uint32_t)jobs;
        speeds->rate[i] = rate;
        speeds->points++;
    }
    return *at == ')' && !at[1] && speeds->points > 0 ? NULL : "a table has one point or more";
}

enum bal_code bli_speeds_parse(const char *text, struct bli_speeds *speeds, struct bal_error *err) {
    static const struct {
        const char *head;
        enum bli_speeds_kind kind;
        const char *(*parse)(const char *at, struct bli_speeds *speeds);
    } kinds[] = {{"cores(", BLI_SPEEDS_CORES, parse_cores},
                 {"batch(", BLI_SPEEDS_BATCH, parse_batch},
                 {"table(", BLI_SPEEDS_TABLE, parse_table}};
    if (strcmp(text, "none") == 0) {
        *speeds = (struct bli_speeds){.kind = BLI_SPEEDS_SLOTS};
        return BAL_OK;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].head);
        if (strncmp(text, kinds[i].head, length) != 0)
            continue;
        struct bli_speeds read = {.kind = kinds[i].kind};
        const char *why = kinds[i].parse(text + length, &read);
        if (why)
            return bad_speeds(text, why, err);
        *speeds = read;
        return BAL_OK;
    }
    return bad_speeds(text, "this is none of them", err);
}

size_t bli_speeds_print(const struct bli_speeds *speeds, char *text, size_t size) {
    char number[BLI_NUMBER_TEXT];
    switch (speeds->kind) {
    case BLI_SPEEDS_SLOTS:
        return (size_t)snprintf(text, size, "none");
    case BLI_SPEEDS_CORES:
        bli_number_print(speeds->cores, number);
        return (size_t)snprintf(text, size, "cores(%s)", number);
    case BLI_SPEEDS_BATCH:
        bli_number_print(speeds->slowdown, number);
        return (size_t)snprintf(text, size, "batch(%u,%s)", speeds->most, number);
    case BLI_SPEEDS_TABLE:
        break;
    }
    size_t length = 0;
    for (unsigned i = 0; i < speeds->points; i++) {
        bli_number_print(speeds->rate[i], number);
        const size_t left = length < size ? size - length : 0;
        length += (size_t)snprintf(left ? text + length : NULL, left, "%s%u:%s%s", i ? " " : "table(",
                                   speeds->jobs[i], number, i + 1 < speeds->points ? "" : ")");
    }
    return length;
}

static double table_rate(const struct bli_speeds *speeds, double k) {
    double jobs = 0, rate = 0; /* of the point in front */
    for (unsigned i = 0; i < speeds->points; i++) {
        if (k <= speeds->jobs[i])
            return rate + (speeds->rate[i] - rate) * (k - jobs) / (speeds->jobs[i] - jobs);
        jobs = speeds->jobs[i];
        rate = speeds->rate[i];
    }
    return rate;
}

double bli_speeds_rate(const struct bli_speeds *speeds, double k) {
    switch (speeds->kind) {
    case BLI_SPEEDS_CORES:
        return fmin(k, speeds->cores);
    case BLI_SPEEDS_BATCH:
        k = fmin(k, speeds->most);
        return k / (1 + speeds->slowdown * (k - 1));
    case BLI_SPEEDS_TABLE:
        return table_rate(speeds, k);
    case BLI_SPEEDS_SLOTS:
        break;
    }
    return k;
}

uint32_t bli_speeds_last(const struct bli_speeds *speeds) {
    switch (speeds->kind) {
    case BLI_SPEEDS_CORES:
        return (uint32_t)ceil(speeds->cores);
    case BLI_SPEEDS_BATCH:
        return speeds->most;
    case BLI_SPEEDS_TABLE:
        return speeds->jobs[speeds->points - 1];
    case BLI_SPEEDS_SLOTS:
        break;
    }
    return UINT32_MAX;
}

double bli_speeds_top(const struct bli_speeds *speeds, uint32_t slots) {
    if (!bli_speeds_given(speeds))
        return slots > 1 ? slots : 1;
    const uint32_t last = bli_speeds_last(speeds), most = slots > 0 && slots < last ? slots : last;
    double top = 0;
    for (uint32_t k = 1; k <= most; k++)
        top = fmax(top, bli_speeds_rate(speeds, k));
    return top;
}
