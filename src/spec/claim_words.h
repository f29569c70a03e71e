/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of papers and the numbers that they are read as, the same for all papers. */
#ifndef SPEC_CLAIM_WORDS_H
#define SPEC_CLAIM_WORDS_H

#include "ballast/experiment.h"

struct bli_word_range {
    double low, high; /* both ends included */
};

/* What a word means of a ratio, of a difference (of fractions) and of a value (a fraction); NaN: nothing. */
struct bli_claim_word {
    const char *name;
    const char *said; /* by papers: "close, comparable, competitive" */
    struct bli_word_range ratio, difference, value;
};

extern const struct bli_claim_word bli_claim_words[]; /* ended by a name of NULL */

const struct bli_claim_word *bli_claim_word_find(const char *name); /* NULL: there is none */
/* NULL: it says nothing about such a measure. */
const struct bli_word_range *bli_claim_word_range(const struct bli_claim_word *word,
                                                  enum bli_measure measure);

#endif
