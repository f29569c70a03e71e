/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of servers by queue length: allocating, growing and freeing it. Updates are inline in
 * length_index.h. */
#include "base/length_index.h"

#include <stdlib.h>

enum bal_code bli_length_index_init(struct bli_length_index *index, uint32_t count) {
    *index = (struct bli_length_index){.count = count};
    index->order = malloc(count * sizeof *index->order);
    index->place = malloc(count * sizeof *index->place);
    if (!index->order || !index->place || !bli_length_index_reserve(index, 62)) {
        bli_length_index_fini(index);
        return BAL_E_MEMORY;
    }
    for (uint32_t server = 0; server < count; server++)
        index->order[server] = index->place[server] = server;
    return BAL_OK;
}

void bli_length_index_fini(struct bli_length_index *index) {
    free(index->order);
    free(index->place);
    free(index->end);
    *index = (struct bli_length_index){0};
}

bool bli_length_index_reserve(struct bli_length_index *index, uint32_t length) {
    const uint32_t levels = length + length / 2 + 2;
    uint32_t *end = realloc(index->end, levels * sizeof *end);
    if (!end)
        return false;
    for (uint32_t level = index->levels; level < levels; level++)
        end[level] = index->count;
    index->end = end;
    index->levels = levels;
    return true;
}
