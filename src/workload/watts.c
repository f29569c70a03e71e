/* SPDX-License-Identifier: BSD-2-Clause */
/* Power of servers: four numbers, separated by commas. */
#include "ballast/model.h"
#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STATES = 4 };

enum bal_code bli_watts_parse(const char *text, struct bli_watts *watts, struct bal_error *err) {
    double value[STATES] = {0};
    const char *rest = text;
    for (int i = 0; i < STATES; i++) {
        const size_t length = strcspn(rest, ",");
        const bool last = i == STATES - 1;
        if (!bli_number_parse(rest, length, &value[i]) || !(value[i] >= 0 && isfinite(value[i])) ||
            (rest[length] == 0) != last)
            return bal_fail(
                err, BAL_E_RANGE,
                "watts '%.80s': write those of a server that is busy, idle, in set-up and off, such as "
                "200,140,200,0",
                text);
        rest += length + !last;
    }
    if (!(value[0] > 0))
        return bal_fail(err, BAL_E_RANGE, "watts '%.80s': a busy server must draw more than 0", text);
    *watts = (struct bli_watts){value[0], value[1], value[2], value[3]};
    return BAL_OK;
}

size_t bli_watts_print(const struct bli_watts *watts, char *text, size_t size) {
    const struct bli_watts shown = bli_watts_of(watts);
    const double value[STATES] = {shown.busy, shown.idle, shown.setup, shown.off};
    size_t length = 0;
    for (int i = 0; i < STATES; i++) {
        char number[BLI_NUMBER_TEXT];
        bli_number_print(value[i], number);
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%s", i ? "," : "", number);
    }
    return length;
}

struct bli_watts bli_watts_of(const struct bli_watts *watts) {
    const bool given = watts->busy != 0 || watts->idle != 0 || watts->setup != 0 || watts->off != 0;
    return given ? *watts : (struct bli_watts)BLI_WATTS_DEFAULT;
}
