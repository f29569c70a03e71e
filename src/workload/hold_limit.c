/* SPDX-License-Identifier: BSD-2-Clause */
/* How many jobs may wait at a dispatcher: reading and writing the text. */
#include "ballast/model.h"
#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JOBS_MAX 1e9

static enum bal_code wrong_limit(const char *text, struct bal_error *err) {
    return bal_fail(
        err, BAL_E_RANGE,
        "'%.80s' is not how many jobs may wait at a dispatcher: write none, a whole number such as 20, or "
        "with the most of each class from 1 on, the most urgent first, 20,20,5",
        text);
}

enum bal_code bli_hold_limit_parse(const char *text, struct bli_hold_limit *limit, struct bal_error *err) {
    struct bli_hold_limit read = {.given = strcmp(text, "none") != 0};
    const char *rest = text;
    for (uint32_t i = 0; read.given; i++) {
        const size_t length = strcspn(rest, ",");
        double value;
        if (i > BLI_JOB_CLASSES_MAX || !bli_number_parse(rest, length, &value) || value != floor(value) ||
            !(value >= (i > 0) && value <= JOBS_MAX))
            return wrong_limit(text, err);
        if (i > 0)
            read.of_class[read.classes++] = (uint32_t)value;
        else
            read.jobs = (uint32_t)value;
        if (rest[length] == 0)
            break;
        rest += length + 1;
    }
    *limit = read;
    return BAL_OK;
}

size_t bli_hold_limit_print(const struct bli_hold_limit *limit, char *text, size_t size) {
    if (!limit->given)
        return (size_t)snprintf(text, size, "none");
    size_t length = 0;
    for (uint32_t i = 0; i <= limit->classes; i++) {
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%u", i ? "," : "",
                                   i ? limit->of_class[i - 1] : limit->jobs);
    }
    return length;
}
