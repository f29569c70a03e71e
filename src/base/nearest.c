/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the known name with the smallest edit distance from a misspelt one. */
#include "base/nearest.h"

#include <string.h>

enum { LONGEST = 40 }; /* longer words are not compared */

static size_t min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The distance of Damerau and Levenshtein, row by row; a pair of neighbours is swapped at most once. */
static size_t edit_distance(const char *a, size_t m, const char *b, size_t n) {
    size_t row[3][LONGEST + 1];
    size_t *older = row[0], *old = row[1], *now = row[2];
    for (size_t j = 0; j <= n; j++)
        old[j] = j;
    for (size_t i = 1; i <= m; i++) {
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            now[j] = min_size(min_size(old[j], now[j - 1]) + 1, old[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = min_size(now[j], older[j - 2] + 1);
        }
        size_t *free_row = older;
        older = old;
        old = now;
        now = free_row;
    }
    return old[n];
}

void bli_nearest_offer(struct bli_nearest *nearest, const char *name) {
    const size_t length = strlen(name);
    if (nearest->length == 0 || nearest->length > LONGEST || length > LONGEST)
        return;
    const size_t found = edit_distance(nearest->text, nearest->length, name, length);
    /* A third of the letters may be wrong; a word of two letters must have one of them right. */
    const size_t most = nearest->length < 6 ? nearest->length / 2 : nearest->length / 3;
    if (found > min_size(most, 3) || (nearest->name && found >= nearest->distance))
        return;
    nearest->name = name;
    nearest->distance = found;
}
