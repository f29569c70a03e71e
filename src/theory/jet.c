/* SPDX-License-Identifier: BSD-2-Clause */
/* Polynomials of weight 4 in four variables and epsilon. */
#include "theory/jet.h"

static unsigned key_of(const unsigned power[JET_ARGUMENTS + 1]) {
    unsigned key = power[JET_ARGUMENTS];
    for (unsigned i = 0; i < JET_ARGUMENTS; i++)
        key = key * 5 + power[i];
    return key;
}

static unsigned key_weight(unsigned key) {
    unsigned weight = 2 * (key / 625);
    for (unsigned left = key % 625; left > 0; left /= 5)
        weight += left % 5;
    return weight;
}

void bli_jet_space_init(struct jet_space *space) {
    unsigned count = 0;
    for (unsigned weight = 0; weight <= JET_WEIGHT; weight++)
        for (unsigned key = 0; key < JET_KEYS; key++)
            if (key_weight(key) == weight) {
                space->key[count] = (unsigned short)key;
                space->weight[count] = (unsigned char)weight;
                space->index[key] = (unsigned char)count++;
            }
}

unsigned bli_jet_index(const struct jet_space *space, const unsigned power[JET_ARGUMENTS + 1]) {
    return space->index[key_of(power)];
}

struct jet bli_jet_constant(double value) {
    return (struct jet){.term = {value}};
}

static struct jet variable(const struct jet_space *space, unsigned i, double value) {
    unsigned power[JET_ARGUMENTS + 1] = {0};
    power[i] = 1;
    struct jet jet = bli_jet_constant(value);
    jet.term[bli_jet_index(space, power)] = 1;
    return jet;
}

struct jet bli_jet_argument(const struct jet_space *space, unsigned i, double value) {
    return variable(space, i, value);
}

struct jet bli_jet_epsilon(const struct jet_space *space) {
    return variable(space, JET_ARGUMENTS, 0);
}

struct jet bli_jet_sum(const struct jet *a, double factor, const struct jet *b) {
    struct jet sum;
    for (unsigned i = 0; i < JET_TERMS; i++)
        sum.term[i] = a->term[i] + factor * b->term[i];
    return sum;
}

struct jet bli_jet_scale(const struct jet *a, double factor) {
    struct jet scaled;
    for (unsigned i = 0; i < JET_TERMS; i++)
        scaled.term[i] = factor * a->term[i];
    return scaled;
}

struct jet bli_jet_multiply(const struct jet_space *space, const struct jet *a, const struct jet *b) {
    struct jet product = {{0}};
    for (unsigned i = 0; i < JET_TERMS; i++) {
        if (a->term[i] == 0)
            continue;
        for (unsigned j = 0; j < JET_TERMS && space->weight[i] + space->weight[j] <= JET_WEIGHT; j++)
            product.term[space->index[space->key[i] + space->key[j]]] += a->term[i] * b->term[j];
    }
    return product;
}

struct jet bli_jet_power(const struct jet_space *space, const struct jet *a, unsigned n) {
    struct jet result = bli_jet_constant(1), square = *a;
    for (; n > 0; n >>= 1) {
        if (n & 1)
            result = bli_jet_multiply(space, &result, &square);
        if (n > 1)
            square = bli_jet_multiply(space, &square, &square);
    }
    return result;
}
