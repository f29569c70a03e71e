/* SPDX-License-Identifier: BSD-2-Clause */
/* What the equilibrium and the fluid model of rcpb have in common. */
#ifndef BALLAST_THEORY_RCPB_H
#define BALLAST_THEORY_RCPB_H

/* 1 + x + .. + x^(n-1), n >= 1 a whole number, x >= 0 or a little below. The store of c names is empty with
 * probability 1 over this with n = c + 1. O(1). */
double bli_rcpb_geometric_sum(double x, double n);

#endif
