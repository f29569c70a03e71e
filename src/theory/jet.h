/* SPDX-License-Identifier: BSD-2-Clause */
/* Forward differentiation: numbers that carry all their derivatives along.
 *
 * A jet is a polynomial in up to four variables, the deviations of the arguments of a rate from where it is
 * looked at, and in epsilon = 1/N. Deviations of a fleet of N servers are of the size of N^(-1/2), so that
 * epsilon weighs as much as two of them; terms that weigh more than four are dropped. What is left is all
 * that the expansion up to 1/N^2 needs. */
#ifndef THEORY_JET_H
#define THEORY_JET_H

enum {
    JET_ARGUMENTS = 4,
    JET_WEIGHT = 4,
    JET_TERMS = 86,     /* of weight 4 and less: 70 without epsilon, 15 with it, and its square */
    JET_KEYS = 625 * 3, /* powers up to 4 of arguments and up to 2 of epsilon */
};

/* Which term is which. Filled once by bli_jet_space_init, then constant. */
struct jet_space {
    unsigned short key[JET_TERMS]; /* the powers, as digits; that of a product is the sum */
    unsigned char weight[JET_TERMS];
    unsigned char index[JET_KEYS];
};

struct jet {
    double term[JET_TERMS]; /* the lightest first: term[0] is the value */
};

void bli_jet_space_init(struct jet_space *space);

/* The term in which the argument i has the power power[i] and epsilon the last. Its coefficient is the
 * derivative divided by the factorials of the powers. */
unsigned bli_jet_index(const struct jet_space *space, const unsigned power[JET_ARGUMENTS + 1]);

struct jet bli_jet_constant(double value);
struct jet bli_jet_argument(const struct jet_space *space, unsigned i, double value);
struct jet bli_jet_epsilon(const struct jet_space *space);
struct jet bli_jet_sum(const struct jet *a, double factor, const struct jet *b); /* a + factor b */
struct jet bli_jet_scale(const struct jet *a, double factor);
struct jet bli_jet_multiply(const struct jet_space *space, const struct jet *a, const struct jet *b);
struct jet bli_jet_power(const struct jet_space *space, const struct jet *a, unsigned n);

#endif
