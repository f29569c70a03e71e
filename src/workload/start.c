/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting states: key=fraction, separated by commas, and how many jobs the busy ones have. */
#include "ballast/model.h"
#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STATES = 3, JOBS = STATES, KEYS };
static const char *const keys[KEYS] = {"busy", "setup", "off", "jobs"};
static const double most_jobs = 1e6;

static enum bal_code bad_start(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(
        err, BAL_E_RANGE,
        "start '%.80s': %s; write idle, or fractions of the servers such as busy=0.1,off=0.9, or with "
        "several jobs each busy=0.1,jobs=3,off=0.9",
        text, why);
}

/* Reads one key=fraction; returns why it cannot be, or NULL. */
static const char *parse_pair(const char *pair, size_t length, double *fraction, bool *seen) {
    const char *equals = memchr(pair, '=', length);
    int key = 0;
    while (key < KEYS && !(equals && strlen(keys[key]) == (size_t)(equals - pair) &&
                           strncmp(keys[key], pair, (size_t)(equals - pair)) == 0))
        key++;
    if (key == KEYS)
        return "a state is busy, setup or off, and jobs those of a busy server";
    if (seen[key])
        return "a state is given twice";
    seen[key] = true;
    const size_t rest = length - (size_t)(equals + 1 - pair);
    if (key == JOBS) {
        const bool whole =
            bli_number_parse(equals + 1, rest, &fraction[key]) && fraction[key] == floor(fraction[key]);
        return whole && fraction[key] >= 1 && fraction[key] <= most_jobs
                   ? NULL
                   : "jobs are a whole number from 1 to 1e6";
    }
    if (!bli_share_parse(equals + 1, rest, &fraction[key]) || !(fraction[key] >= 0 && fraction[key] <= 1))
        return "a fraction is a number from 0 to 1";
    return NULL;
}

enum bal_code bli_start_parse(const char *text, struct bli_start *start, struct bal_error *err) {
    double fraction[KEYS] = {0};
    bool seen[KEYS] = {false};
    for (const char *rest = text; strcmp(text, "idle") != 0;) {
        const size_t length = strcspn(rest, ",");
        const char *why = parse_pair(rest, length, fraction, seen);
        if (why)
            return bad_start(text, why, err);
        if (!rest[length])
            break;
        rest += length + 1;
    }
    if (fraction[0] + fraction[1] + fraction[2] > 1 + 1e-12)
        return bad_start(text, "the fractions sum to more than 1", err);
    if (seen[JOBS] && !(fraction[0] > 0))
        return bad_start(text, "jobs are those of busy servers, and there are none", err);
    *start = (struct bli_start){fraction[0], fraction[1], fraction[2],
                                fraction[JOBS] > 1 ? (uint32_t)fraction[JOBS] : 0};
    return BAL_OK;
}

size_t bli_start_print(const struct bli_start *start, char *text, size_t size) {
    const double fraction[KEYS] = {start->busy, start->setup, start->off, start->jobs};
    size_t length = 0;
    for (int key = 0; key < KEYS; key++) {
        char number[BLI_NUMBER_TEXT];
        if (fraction[key] == 0)
            continue;
        bli_number_print(fraction[key], number);
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%s=%s", length ? "," : "", keys[key],
                                   number);
    }
    return length ? length : (size_t)snprintf(text, size, "idle");
}
