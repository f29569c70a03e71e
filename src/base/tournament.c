/* SPDX-License-Identifier: BSD-2-Clause */
/* The tournament tree: setting it up, changing a key and drawing a uniform minimum. */
#include "base/tournament.h"

#include <math.h>

static struct bli_node winner(struct bli_node a, struct bli_node b) {
    if (a.least == b.least)
        return (struct bli_node){a.least, a.ties + b.ties};
    return a.least < b.least ? a : b;
}

static uint32_t leaves_for(uint32_t n) {
    uint32_t leaves = 1;
    while (leaves < n)
        leaves *= 2;
    return leaves;
}

size_t bli_tournament_size(uint32_t n) {
    return sizeof(struct bli_tournament) + 2 * (size_t)leaves_for(n) * sizeof(struct bli_node);
}

void bli_tournament_init(struct bli_tournament *tree, uint32_t n, double key) {
    const uint32_t leaves = tree->leaves = leaves_for(n);
    struct bli_node *node = tree->node;
    for (uint32_t i = 0; i < leaves; i++)
        node[leaves + i] = i < n ? (struct bli_node){key, 1} : (struct bli_node){INFINITY, 0};
    for (uint32_t i = leaves - 1; i > 0; i--)
        node[i] = winner(node[2 * i], node[2 * i + 1]);
}

void bli_tournament_set(struct bli_tournament *tree, uint32_t i, double key) {
    struct bli_node *node = tree->node;
    uint32_t at = tree->leaves + i;
    node[at].least = key;
    for (at /= 2; at > 0; at /= 2)
        node[at] = winner(node[2 * at], node[2 * at + 1]);
}

uint32_t bli_tournament_draw(const struct bli_tournament *tree, struct bal_rng *rng) {
    const struct bli_node *node = tree->node;
    const double least = node[1].least;
    uint32_t which = node[1].ties > 1 ? bal_rng_below(rng, node[1].ties) : 0;
    uint32_t at = 1;
    while (at < tree->leaves) {
        const struct bli_node left = node[2 * at];
        const uint32_t ties = left.least == least ? left.ties : 0;
        const uint32_t right = which >= ties;
        which -= right ? ties : 0;
        at = 2 * at + right;
    }
    return at - tree->leaves;
}

bool bli_tournament_sound(const struct bli_tournament *tree, uint32_t n) {
    const struct bli_node *node = tree->node;
    if (tree->leaves != leaves_for(n))
        return false;
    for (uint32_t i = 0; i < tree->leaves; i++) {
        const struct bli_node leaf = node[tree->leaves + i];
        if (isnan(leaf.least) || leaf.ties != (i < n) || (i >= n && leaf.least != INFINITY))
            return false;
    }
    for (uint32_t i = tree->leaves - 1; i > 0; i--) {
        const struct bli_node right = winner(node[2 * i], node[2 * i + 1]);
        if (node[i].least != right.least || node[i].ties != right.ties)
            return false;
    }
    return true;
}
