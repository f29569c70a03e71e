/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may wait where only so many may: one more job comes to a queue that all classes share.
 *
 * Where the queue is full the job gets the place of the last one of the least urgent class that waits and is
 * less urgent than its own. A class that has reached its own limit gets no place of another one. Live
 * dispatchers and stations and the lab's network engine all use this. */
#ifndef POLICY_HOLD_PLACE_H
#define POLICY_HOLD_PLACE_H

#include <stdint.h>

/* Returned in place of a class. */
#define BLI_PLACE_FREE UINT32_MAX       /* it may wait: a place is free */
#define BLI_PLACE_NONE (UINT32_MAX - 1) /* it may not wait */

/* The class whose last one gives its place to a job of class `rank`, or one of the two above.
 *
 * waiting: how many of each class wait, the most urgent first. own: how many of that class may; 0: as many as
 * of all. places: how many are free. O(classes). */
static inline uint32_t hold_place(const uint32_t *waiting, uint32_t classes, uint32_t rank, uint32_t own,
                                  uint32_t places) {
    if (own && waiting[rank] >= own)
        return BLI_PLACE_NONE;
    if (places)
        return BLI_PLACE_FREE;
    for (uint32_t least = classes; --least > rank;)
        if (waiting[least])
            return least;
    return BLI_PLACE_NONE;
}

#endif
