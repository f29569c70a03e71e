/* SPDX-License-Identifier: BSD-2-Clause */
/* Student's quantiles against values computed with 60 digits, and against integrals of the density. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/stats.h"

static void assert_close(double value, double exact, double tolerance) {
    if (!(fabs(value - exact) <= tolerance * fabs(exact)))
        fail_msg("%.17g, but should be %.17g", value, exact);
}

/* From the finite sums for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4), inverted by
 * bisection in decimal arithmetic of 60 digits, at the binary number nearest to p. */
static void known_values(void **state) {
    (void)state;
    static const struct {
        double p, dof, t;
    } table[] = {
        {0.6, 1, 0.32491969623290624903},    {0.6, 9, 0.26095533647391095206},
        {0.6, 501, 0.25348168061172261260},  {0.75, 1, 1.0},
        {0.75, 4, 0.74069708411268263298},   {0.75, 60, 0.67860072064813578161},
        {0.9, 3, 1.6377443536962103222},     {0.9, 120, 1.2886462336563780350},
        {0.975, 1, 12.706204736174693314},   {0.975, 2, 4.3026527297494617894},
        {0.975, 3, 3.1824463052837084359},   {0.975, 4, 2.7764451051977934898},
        {0.975, 5, 2.5705818356363147828},   {0.975, 9, 2.2621571627982049992},
        {0.975, 10, 2.2281388519862742245},  {0.975, 30, 2.0422724563012378878},
        {0.975, 60, 2.0002978220142601041},  {0.975, 120, 1.9799304050824404567},
        {0.975, 501, 1.9647103221754828106}, {0.975, 2000, 1.9611508260994376500},
        {0.9995, 1, 636.61924876878972983},  {0.9995, 5, 6.8688266258812751318},
        {0.9995, 30, 3.6459586350420628079}, {0.9995, 2000, 3.2953981367297707478},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_close(bli_student_quantile(table[i].p, table[i].dof), table[i].t, 1e-13);
}

static void normal_values(void **state) {
    (void)state;
    assert_close(bli_student_quantile(0.975, INFINITY), 1.959963984540054235, 1e-14);
    assert_close(bli_student_quantile(0.75, INFINITY), 0.674489750196081743, 1e-14);
    assert_close(bli_student_quantile(0.9999, INFINITY), 3.719016485455680564, 1e-12);
    const double p[] = {1e-300, 1e-100, 1e-12, 1e-3, 0.1, 0.3, 0.49};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        const double z = bli_student_quantile(p[i], INFINITY);
        assert_close(erfc(-z / sqrt(2)) / 2, p[i], 1e-12 * fmax(1, z * z));
    }
}

static void symmetric_about_the_median(void **state) {
    (void)state;
    const double dof[] = {1, 2.385, 17, 1e5, INFINITY};
    for (size_t i = 0; i < sizeof dof / sizeof *dof; i++) {
        assert_true(bli_student_quantile(0.5, dof[i]) == 0);
        for (int k = 1; k < 64; k++) {
            const double p = k / 128.; /* 1 - p is exact */
            assert_true(bli_student_quantile(p, dof[i]) == -bli_student_quantile(1 - p, dof[i]));
            assert_true(bli_student_quantile(p, dof[i]) < bli_student_quantile(p + 1. / 128, dof[i]));
        }
    }
}

static const long double half_pi = 1.57079632679489661923L;

/* With t = sqrt(dof) tan(angle) the density is proportional to cos(angle)^(dof-1). Near 0 the cosine is too
 * close to 1 for a large power; near pi/2 the angle itself must be measured from there. */
static long double by_angle(long double angle, long double dof) {
    const long double sine = sinl(angle);
    return expl((dof - 1) / 2 * log1pl(-sine * sine));
}

static long double by_complement(long double complement, long double dof) {
    return powl(sinl(complement), dof - 1);
}

/* Double exponential quadrature (Takahasi and Mori 1974). Its points crowd at both ends, which suits an
 * integrand that is concentrated at one of them. */
static long double integral(long double (*f)(long double, long double), long double from, long double to,
                            long double dof) {
    const long double step = 1.L / 64;
    long double sum = 0;
    for (int k = -64 * 4; k <= 64 * 4; k++) {
        const long double u = half_pi * sinhl((long double)k * step);
        const long double weight = coshl((long double)k * step) / (coshl(u) * coshl(u));
        const long double part = 1 / (1 + expl(-2 * u)); /* of the way from one end to the other */
        sum += weight * f(from + (to - from) * part, dof);
    }
    return (to - from) / 2 * half_pi * step * sum;
}

/* P(T > t) up to a constant, t >= 0. */
static long double mass_above(long double t, long double dof) {
    const long double middle = half_pi / 2;
    if (t * t > dof)
        return integral(by_complement, 0, atan2l(sqrtl(dof), t), dof);
    return integral(by_angle, atan2l(t, sqrtl(dof)), middle, dof) + integral(by_complement, 0, middle, dof);
}

/* P(0 < T < t) up to the same constant, for t * t <= dof. */
static long double mass_below(long double t, long double dof) {
    return integral(by_angle, 0, atan2l(t, sqrtl(dof)), dof);
}

/* Relative error of t as the quantile with P(T > t) = p, p < 1/2: the error of the probability over t f(t).
 * The smaller of the two masses tells more. */
static long double error_of(long double t, long double p, long double dof, long double whole) {
    const long double angle = atan2l(t, sqrtl(dof));
    const long double complement = atan2l(sqrtl(dof), t);
    const long double density = t * t > dof ? by_complement(complement, dof) : by_angle(angle, dof);
    const long double slope = density * sinl(angle) * sinl(complement);
    if (p > 0.25L)
        return (mass_below(t, dof) - whole * (0.5L - p)) / slope;
    return (mass_above(t, dof) - whole * p) / slope;
}

static void fractional_degrees_invert_the_integral(void **state) {
    (void)state;
    const double dof[] = {1, 1.5, 2.7, 4.33, 10.1, 49.9, 99.5, 100.5, 333.3, 1000.5, 12345.6, 1e6, 1e8};
    const double p[] = {1e-300, 1e-100, 1e-12, 1e-4, 0.025, 0.04, 0.05, 0.2, 0.3, 0.49, 0.5 - 1e-9};
    for (size_t i = 0; i < sizeof dof / sizeof *dof; i++) {
        const long double whole = 2 * mass_above(0, dof[i]);
        for (size_t k = 0; k < sizeof p / sizeof *p; k++) {
            const double t = -bli_student_quantile(p[k], dof[i]);
            const double error = (double)error_of(t, p[k], dof[i], whole);
            if (!(fabs(error) <= 1e-12))
                fail_msg("dof %g, p %g: t = %.17g is wrong by %g", dof[i], p[k], t, error);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(normal_values),
        cmocka_unit_test(symmetric_about_the_median),
        cmocka_unit_test(fractional_degrees_invert_the_integral),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
