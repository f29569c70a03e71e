/* SPDX-License-Identifier: BSD-2-Clause */
/* How the load varies over time: a factor that multiplies the arrival rate.
 *
 *   constant            1 at all times
 *   sine(A,P)           1 + A sin(2 pi t / P), 0 <= A <= 1, period P
 *   table(T:F T:F ...)  piecewise linear through the points (T, F), T ascending, F >= 0; constant before the
 *                       first and after the last
 *   file(PATH)          such a table from a plain file: on each line a time and a factor; # begins a comment
 *   table(...) repeat   begins again at time 0 after its last time, and so does file(PATH) repeat
 */
#ifndef BALLAST_CURVE_H
#define BALLAST_CURVE_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BLI_CURVE_POINTS = 256, BLI_CURVE_TEXT = 256 * 50 + 16 };

enum bli_curve_kind { BLI_CURVE_CONSTANT, BLI_CURVE_SINE, BLI_CURVE_TABLE };

/* A plain value; all zero bytes are the constant. */
struct bli_curve {
    enum bli_curve_kind kind;
    double amplitude, period;
    bool repeat; /* a table: it begins again after its last time */
    unsigned points;
    double time[BLI_CURVE_POINTS], factor[BLI_CURVE_POINTS];
};

/* Reads a curve; on failure *curve is untouched. */
enum bal_code bli_curve_parse(const char *text, struct bli_curve *curve, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_curve_print(const struct bli_curve *curve, char *text, size_t size);

double bli_curve_at(const struct bli_curve *curve, double time);
/* The last time of a table, after which the factor is constant; INFINITY for curves that go on varying. */
double bli_curve_end(const struct bli_curve *curve);
double bli_curve_max(const struct bli_curve *curve); /* its largest value */

#ifdef __cplusplus
}
#endif
#endif
