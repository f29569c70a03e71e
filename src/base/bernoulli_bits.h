/* SPDX-License-Identifier: BSD-2-Clause */
/* Many coins at once: 64 flips of one probability from a few random words.
 *
 * A flip is heads when a uniform number U in [0, 1) is below p. U is never drawn in full: its binary digits
 * are compared with those of p from the first one on, for all 64 flips side by side, until the last of them
 * has come to a digit that differs. That takes 7.3 words on average, whatever p is. p is exact to 2^-64. */
#ifndef BASE_BERNOULLI_BITS_H
#define BASE_BERNOULLI_BITS_H

#include "ballast/random.h"

#include <stdbool.h>

struct bli_bernoulli {
    uint64_t digits; /* of p, the first one highest */
    bool certain;    /* p is 1 */
};

/* 0 <= p <= 1 */
static inline struct bli_bernoulli bli_bernoulli_make(double p) {
    const struct bli_bernoulli coin = {p < 1 ? (uint64_t)(p * 0x1p64) : 0, p >= 1};
    return coin;
}

/* Flips a coin for every bit of `flips` that is set; bits of the answer are heads. */
static inline uint64_t bli_bernoulli_draw(const struct bli_bernoulli *coin, struct bal_rng *rng,
                                          uint64_t flips) {
    if (coin->certain)
        return flips;
    uint64_t open = flips, heads = 0;
    for (uint64_t digits = coin->digits; digits && open; digits <<= 1) {
        const uint64_t digit = digits >> 63 ? UINT64_MAX : 0;
        const uint64_t drawn = bal_rng_next(rng);
        heads |= open & ~drawn & digit;
        open &= ~(drawn ^ digit);
    }
    return heads;
}

#endif
