/* Who is at a server, as a log shows it: when each of them will leave, in order. */
#ifndef LOG_STATION_H
#define LOG_STATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bal_station {
    int64_t *leaves; /* rising, from `gone` on */
    size_t gone, end, room;
};

/* Begins as all zero bytes. */
void bal_station_fini(struct bal_station *station);

/* Those that have left by then are forgotten. */
static inline void bal_station_forget(struct bal_station *station, int64_t time) {
    while (station->gone < station->end && station->leaves[station->gone] <= time)
        station->gone++;
}

static inline size_t bal_station_count(const struct bal_station *station) {
    return station->end - station->gone;
}

/* When the k-th last of them will leave, k from 1 to their number. */
static inline int64_t bal_station_last(const struct bal_station *station, size_t k) {
    return station->leaves[station->end - k];
}

/* How many will leave after that time. */
size_t bal_station_after(const struct bal_station *station, int64_t time);

/* One more, that will leave then. False without memory. */
bool bal_station_add(struct bal_station *station, int64_t leaves);

#endif
