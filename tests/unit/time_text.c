/* SPDX-License-Identifier: BSD-2-Clause */
/* Lengths of time and moments as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/time_text.h"

#include <math.h>

static void lengths(void **unused) {
    (void)unused;
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0 ns"},         {1e-9, "1 ns"},          {2.5e-7, "250 ns"},
                 {1e-6, "1 us"},      {0.0123456, "12.35 ms"}, {1, "1 s"},
                 {59.99, "59.99 s"},  {60, "1 min"},           {90, "90 s"},
                 {120, "2 min"},      {3600, "1 h"},           {5400, "90 min"},
                 {7200, "2 h"},       {86400, "1 day"},        {86580, "24.05 h"},
                 {-0.25, "-250 ms"},  {-3e-12, "-0.003 ns"},   {-2e300, "-2.315e+295 days"},
                 {864000, "10 days"}, {1.9e9, "21991 days"},   {1e300, "1.157e+295 days"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[BLI_TIME_TEXT];
        bli_time_length(cases[i].seconds, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void moments(void **unused) {
    (void)unused;
    char text[BLI_TIME_TEXT];
    bli_time_moment(1772409600.9, "%Y-%m-%d %H:%M:%S", text);
    assert_string_equal(text, "2026-03-02 00:00:00");
    bli_time_moment(-0.5, "%Y-%m-%d %H:%M:%S", text); /* towards the past, also before 1970 */
    assert_string_equal(text, "1969-12-31 23:59:59");
    bli_time_moment(1e18, "%Y", text);
    assert_string_equal(text, "1000000000000000000 s");
    bli_time_moment(1e20, "%Y", text); /* beyond all clocks */
    assert_string_equal(text, "100000000000000000000 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths), cmocka_unit_test(moments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
