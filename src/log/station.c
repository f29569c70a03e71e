#include "log/station.h"

#include <stdlib.h>
#include <string.h>

void bal_station_fini(struct bal_station *station) {
    free(station->leaves);
    *station = (struct bal_station){0};
}

/* Most jobs leave among the last: the way from the end is short. */
static size_t place_of(const struct bal_station *station, int64_t time) {
    size_t at = station->end;
    for (unsigned steps = 0; at > station->gone && station->leaves[at - 1] > time; at--)
        if (++steps == 16)
            break;
    size_t low = station->gone, high = at;
    if (at == station->gone || station->leaves[at - 1] <= time)
        return at;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (station->leaves[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t bal_station_after(const struct bal_station *station, int64_t time) {
    return station->end - place_of(station, time);
}

static bool make_room(struct bal_station *station) {
    const size_t count = bal_station_count(station);
    if (station->gone > count) { /* more than half of it is of those that have left */
        memmove(station->leaves, station->leaves + station->gone, count * sizeof *station->leaves);
    } else {
        const size_t room = station->room ? 2 * station->room : 16;
        int64_t *leaves = realloc(station->leaves, room * sizeof *leaves);
        if (!leaves)
            return false;
        station->leaves = leaves;
        station->room = room;
        memmove(leaves, leaves + station->gone, count * sizeof *leaves);
    }
    station->gone = 0;
    station->end = count;
    return true;
}

bool bal_station_add(struct bal_station *station, int64_t leaves) {
    if (station->end == station->room && !make_room(station))
        return false;
    const size_t at = place_of(station, leaves);
    memmove(station->leaves + at + 1, station->leaves + at, (station->end - at) * sizeof *station->leaves);
    station->leaves[at] = leaves;
    station->end++;
    return true;
}
