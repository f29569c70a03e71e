/* SPDX-License-Identifier: BSD-2-Clause */
/* A sorted list of the times at which the jobs at a server will leave. */
#include "recover/departures.h"

#include <stdlib.h>
#include <string.h>

void bli_departures_fini(struct bli_departures *departures) {
    free(departures->leaves);
    *departures = (struct bli_departures){0};
}

/* Most jobs leave among the last, so the search begins at the end. */
static size_t insert_position(const struct bli_departures *departures, int64_t time) {
    size_t at = departures->end;
    for (unsigned steps = 0; at > departures->gone && departures->leaves[at - 1] > time; at--)
        if (++steps == 16)
            break;
    size_t low = departures->gone, high = at;
    if (at == departures->gone || departures->leaves[at - 1] <= time)
        return at;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (departures->leaves[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t bli_departures_after(const struct bli_departures *departures, int64_t time) {
    return departures->end - insert_position(departures, time);
}

static bool make_room(struct bli_departures *departures) {
    const size_t count = bli_departures_count(departures);
    if (departures->gone > count) { /* more than half of it is of those that have left */
        memmove(departures->leaves, departures->leaves + departures->gone,
                count * sizeof *departures->leaves);
    } else {
        const size_t room = departures->room ? 2 * departures->room : 16;
        int64_t *leaves = realloc(departures->leaves, room * sizeof *leaves);
        if (!leaves)
            return false;
        departures->leaves = leaves;
        departures->room = room;
        memmove(leaves, leaves + departures->gone, count * sizeof *leaves);
    }
    departures->gone = 0;
    departures->end = count;
    return true;
}

bool bli_departures_add(struct bli_departures *departures, int64_t leaves) {
    if (departures->end == departures->room && !make_room(departures))
        return false;
    const size_t at = insert_position(departures, leaves);
    memmove(departures->leaves + at + 1, departures->leaves + at,
            (departures->end - at) * sizeof *departures->leaves);
    departures->leaves[at] = leaves;
    departures->end++;
    return true;
}
