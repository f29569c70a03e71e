#include "base/by_length.h"

#include <stdlib.h>

enum bal_code bal_by_length_init(struct bal_by_length *index, uint32_t count) {
    *index = (struct bal_by_length){.count = count};
    index->order = malloc(count * sizeof *index->order);
    index->place = malloc(count * sizeof *index->place);
    if (!index->order || !index->place || !bal_by_length_reserve(index, 62)) {
        bal_by_length_fini(index);
        return BAL_E_MEMORY;
    }
    for (uint32_t server = 0; server < count; server++)
        index->order[server] = index->place[server] = server;
    return BAL_OK;
}

void bal_by_length_fini(struct bal_by_length *index) {
    free(index->order);
    free(index->place);
    free(index->end);
    *index = (struct bal_by_length){0};
}

bool bal_by_length_reserve(struct bal_by_length *index, uint32_t length) {
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
