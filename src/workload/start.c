/* Starting states: key=fraction, separated by commas. */
#include "ballast/model.h"
#include "ballast/number.h"

#include <stdio.h>
#include <string.h>

enum { KEYS = 3 };
static const char *const keys[KEYS] = {"busy", "setup", "off"};

static enum bal_code bad_start(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(err, BAL_E_RANGE,
                    "start '%.80s': %s; write idle, or fractions of the servers such as busy=0.1,off=0.9",
                    text, why);
}

/* Reads one key=fraction; returns why it cannot be, or NULL. */
static const char *take(const char *pair, size_t length, double *fraction, bool *seen) {
    const char *equals = memchr(pair, '=', length);
    int key = 0;
    while (key < KEYS && !(equals && strlen(keys[key]) == (size_t)(equals - pair) &&
                           strncmp(keys[key], pair, (size_t)(equals - pair)) == 0))
        key++;
    if (key == KEYS)
        return "a state is busy, setup or off";
    if (seen[key])
        return "a state is given twice";
    seen[key] = true;
    const size_t rest = length - (size_t)(equals + 1 - pair);
    if (!bal_share_parse(equals + 1, rest, &fraction[key]) || !(fraction[key] >= 0 && fraction[key] <= 1))
        return "a fraction is a number from 0 to 1";
    return NULL;
}

enum bal_code bal_start_parse(const char *text, struct bal_start *start, struct bal_error *err) {
    double fraction[KEYS] = {0};
    bool seen[KEYS] = {false};
    for (const char *rest = text; strcmp(text, "idle") != 0;) {
        const size_t length = strcspn(rest, ",");
        const char *why = take(rest, length, fraction, seen);
        if (why)
            return bad_start(text, why, err);
        if (!rest[length])
            break;
        rest += length + 1;
    }
    if (fraction[0] + fraction[1] + fraction[2] > 1 + 1e-12)
        return bad_start(text, "the fractions sum to more than 1", err);
    *start = (struct bal_start){fraction[0], fraction[1], fraction[2]};
    return BAL_OK;
}

size_t bal_start_print(const struct bal_start *start, char *text, size_t size) {
    const double fraction[KEYS] = {start->busy, start->setup, start->off};
    size_t length = 0;
    for (int key = 0; key < KEYS; key++) {
        char number[BAL_NUMBER_TEXT];
        if (fraction[key] == 0)
            continue;
        bal_number_print(fraction[key], number);
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%s=%s", length ? "," : "", keys[key],
                                   number);
    }
    return length ? length : (size_t)snprintf(text, size, "idle");
}
