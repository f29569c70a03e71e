/* SPDX-License-Identifier: BSD-2-Clause */
/* Derives a random stream from a seed, a replication and a purpose. */
#include "ballast/random.h"

/* splitmix64 (Steele, Lea and Flood 2014): spreads the three numbers that name a stream over the state. */
static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void bal_rng_init(struct bal_rng *rng, uint64_t seed, uint64_t replication, uint64_t purpose) {
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    uint64_t x = mix(seed + golden);
    x = mix((x ^ replication) + golden);
    x = mix((x ^ purpose) + golden);
    for (int i = 0; i < 4; i++) {
        x += golden;
        rng->s[i] = mix(x);
    }
}

uint32_t bal_rng_below_retry(struct bal_rng *rng, uint32_t n, uint64_t product) {
    const uint32_t threshold = (uint32_t)(-n) % n;
    while ((uint32_t)product < threshold)
        product = (bal_rng_next(rng) >> 32) * n;
    return (uint32_t)(product >> 32);
}
