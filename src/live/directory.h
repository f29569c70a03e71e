/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds an index by id in O(1): a hash table of small indexes, whose ids stand in a separate array. It is
 * flat, so that it can lie in shared memory, and is rebuilt whenever the set of ids changes. */
#ifndef LIVE_DIRECTORY_H
#define LIVE_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#define BLI_DIRECTORY_NOBODY UINT32_MAX

/* Table size for n indexes: a power of two, of which at least half stays empty. */
static inline uint32_t bli_directory_places(uint32_t n) {
    uint32_t places = 2;
    while (places < 2 * n)
        places *= 2;
    return places;
}

static inline uint32_t bli_directory_place(uint32_t places, uint64_t id) {
    return (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (places - 1);
}

static inline void bli_directory_clear(uint32_t *directory, uint32_t places) {
    for (uint32_t i = 0; i < places; i++)
        directory[i] = BLI_DIRECTORY_NOBODY;
}

/* No two indexes in it have the same id. */
static inline void bli_directory_add(uint32_t *directory, uint32_t places, uint64_t id, uint32_t number) {
    uint32_t place = bli_directory_place(places, id);
    while (directory[place] != BLI_DIRECTORY_NOBODY)
        place = (place + 1) & (places - 1);
    directory[place] = number;
}

/* The index with this id, or BLI_DIRECTORY_NOBODY. */
static inline uint32_t bli_directory_find(const uint32_t *directory, uint32_t places, const uint64_t *ids,
                                          uint64_t id) {
    for (uint32_t place = bli_directory_place(places, id);; place = (place + 1) & (places - 1)) {
        const uint32_t number = directory[place];
        if (number == BLI_DIRECTORY_NOBODY || ids[number] == id)
            return number;
    }
}

#endif
