/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the two ziggurats (Marsaglia and Tsang, "The ziggurat method for generating random variables",
 * Journal of Statistical Software 5(8), 2000).
 *
 * A decreasing density f on [0, inf), f(0) = 1, is covered by 256 horizontal strips of equal area v:
 *
 *   x_1 = r, and strip 0 is the rectangle [0, r] x [0, f(r)] together with the tail beyond r, so that
 *   v = r f(r) + integral of f over [r, inf);
 *   strip i = 1..255 is the rectangle [0, x_i] x [f(x_i), f(x_{i+1})], so that
 *   f(x_{i+1}) = f(x_i) + v / x_i;
 *   r is the one number for which the last strip ends at the top: f(x_256) = 1, x_256 = 0.
 *
 * Strip 0 is treated as a rectangle of width x_0 = v / f(r) whose part beyond r stands for the tail.
 * A strip is chosen uniformly and a point in it: bits is uniform below 2^53, x = bits * width[i].
 *
 *   width[i]  = x_i 2^-53
 *   inside[i] = floor(2^53 x_{i+1} / x_i): for bits below it x < x_{i+1}, where the whole height of the strip
 *               lies under the curve, and x is accepted without looking at the curve (r for strip 0)
 *   height[i] = f(x_i), the lower edge of strip i; height[0] = 0, height[256] = 1
 *
 * The tables were computed with 300 bits and rounded once; tests/unit/random.c recomputes them. */
#ifndef BALLAST_BASE_ZIGGURAT_H
#define BALLAST_BASE_ZIGGURAT_H

#include <stdint.h>

/* f(x) = exp(-x); r = 7.6971..., v = 0.0039496...; bal_exp_width and bal_exp_inside are in ballast/random.h
 */
extern const double bli_exp_height[257];

/* f(x) = exp(-x^2 / 2); r = 3.6541..., v = 0.0049286... */
extern const double bli_normal_width[256];
extern const uint64_t bli_normal_inside[256];
extern const double bli_normal_height[257];

#endif
