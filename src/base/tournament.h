/* SPDX-License-Identifier: BSD-2-Clause */
/* A tournament tree: the least of n keys, and a uniform one of those that share it. Changing a key and
 * drawing are O(log n). It is one flat block without pointers, so it can live inside a policy's state or in
 * shared memory.
 *
 * Each inner node holds the least key below it and how many leaves have it, so that ties can be drawn fairly
 * on the way down. */
#ifndef BASE_TOURNAMENT_H
#define BASE_TOURNAMENT_H

#include "ballast/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bli_node {
    double least;
    uint32_t ties;
};

struct bli_tournament {
    uint32_t leaves;        /* a power of two >= n */
    struct bli_node node[]; /* node[1] is the root, node[leaves + i] is leaf i */
};

/* Bytes that a tree of n keys takes. */
size_t bli_tournament_size(uint32_t n);
/* n keys, all equal to `key`. A key of INFINITY takes a leaf out of the contest. */
void bli_tournament_init(struct bli_tournament *tree, uint32_t n, double key);
void bli_tournament_set(struct bli_tournament *tree, uint32_t i, double key);
/* A uniform one of the leaves with the least key. */
uint32_t bli_tournament_draw(const struct bli_tournament *tree, struct bal_rng *rng);

/* Is it a tree of n keys, and whole? O(n). */
bool bli_tournament_sound(const struct bli_tournament *tree, uint32_t n);

static inline double bli_tournament_key(const struct bli_tournament *tree, uint32_t i) {
    return tree->node[tree->leaves + i].least;
}

/* The least key; INFINITY when no leaf is left. */
static inline double bli_tournament_min(const struct bli_tournament *tree) {
    return tree->node[1].least;
}

#endif
