/* SPDX-License-Identifier: BSD-2-Clause */
/* The one reading of each word; docs/papers.md shows this table. */
#include "spec/claim_words.h"

#include <math.h>
#include <string.h>

#define NOTHING                                                                                              \
    { NAN, NAN }
#define LEAST(x)                                                                                             \
    { x, INFINITY }
#define MOST(x)                                                                                              \
    { -INFINITY, x }

const struct bli_claim_word bli_claim_words[] = {
    {"more", "more, larger, at least, increases, is higher than", LEAST(1), LEAST(0), NOTHING},
    {"less", "less, smaller, at most, improves, favorable, is lower than", MOST(1), MOST(0), NOTHING},
    {"same", "the same, agrees, matches, nearly indistinguishable", {0.95, 1.05}, {-0.02, 0.02}, NOTHING},
    {"close", "close, comparable, a close margin, almost", {0.9, 1.1}, {-0.05, 0.05}, NOTHING},
    {"competitive", "competitive, as good as", MOST(1.1), MOST(0.05), NOTHING},
    {"slightly-more", "slightly more", {1, 1.25}, NOTHING, NOTHING},
    {"slightly-less", "slightly less", {0.8, 1}, NOTHING, NOTHING},
    {"little-more", "not too much, with little loss", MOST(1.5), NOTHING, NOTHING},
    {"much-more", "significantly, much, substantially, markedly more", LEAST(1.5), NOTHING, NOTHING},
    {"much-less", "significantly, much, substantially, markedly less", MOST(2.0 / 3), NOTHING, NOTHING},
    {"negligible", "negligible, near zero, hardly any", NOTHING, {-0.01, 0.01}, MOST(0.01)},
    {NULL, NULL, NOTHING, NOTHING, NOTHING},
};

const struct bli_claim_word *bli_claim_word_find(const char *name) {
    for (const struct bli_claim_word *word = bli_claim_words; word->name; word++)
        if (strcmp(word->name, name) == 0)
            return word;
    return NULL;
}

const struct bli_word_range *bli_claim_word_range(const struct bli_claim_word *word,
                                                  enum bli_measure measure) {
    const struct bli_word_range *span = measure == BLI_MEASURE_RATIO        ? &word->ratio
                                        : measure == BLI_MEASURE_DIFFERENCE ? &word->difference
                                        : measure == BLI_MEASURE_VALUE      ? &word->value
                                                                            : NULL;
    return span && !isnan(span->low) ? span : NULL;
}
