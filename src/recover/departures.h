/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs at a server, reconstructed from a log: the time at which each of them will leave, in order. */
#ifndef RECOVER_DEPARTURES_H
#define RECOVER_DEPARTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bli_departures {
    int64_t *leaves; /* rising, from `gone` on */
    size_t gone, end, room;
};

/* Begins as all zero bytes. */
void bli_departures_fini(struct bli_departures *departures);

/* Removes those that have left by then. */
static inline void bli_departures_forget(struct bli_departures *departures, int64_t time) {
    while (departures->gone < departures->end && departures->leaves[departures->gone] <= time)
        departures->gone++;
}

static inline size_t bli_departures_count(const struct bli_departures *departures) {
    return departures->end - departures->gone;
}

/* When the k-th last of them will leave, k from 1 to their number. */
static inline int64_t bli_departures_last(const struct bli_departures *departures, size_t k) {
    return departures->leaves[departures->end - k];
}

/* The number of those that will leave after that time. */
size_t bli_departures_after(const struct bli_departures *departures, int64_t time);

/* Adds one that will leave at that time. False without memory. */
bool bli_departures_add(struct bli_departures *departures, int64_t leaves);

#endif
