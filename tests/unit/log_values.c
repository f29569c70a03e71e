/* SPDX-License-Identifier: BSD-2-Clause */
/* Times and lengths of time, as logs write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "log/clock.h"
#include "log/decimal.h"

static struct bli_log_span span(const char *text) {
    return (struct bli_log_span){text, strlen(text)};
}

#define MS INT64_C(1000000)

static void reads_durations(void **state) {
    (void)state;
    const struct {
        const char *text;
        int unit;
        int64_t wanted;
    } cases[] = {
        {"0.010", BLI_LOG_S, 10 * MS},
        {"12", BLI_LOG_S, 12000 * MS},
        {"0.000", BLI_LOG_S, 0},
        {"0", BLI_LOG_US, 0},
        {".5", BLI_LOG_MS, 500000},
        {"5.", BLI_LOG_MS, 5 * MS},
        {" 7 ", BLI_LOG_NS, 7},
        {"5e-05", BLI_LOG_S, 50000},
        {"1.5E2", BLI_LOG_MS, 150 * MS},
        {"2e", BLI_LOG_S, -1}, /* what follows the number is no exponent */
        {"0.1234567894", BLI_LOG_S, 123456789},
        {"0.1234567895", BLI_LOG_S, 123456790},
        {"0.00000000049", BLI_LOG_S, 0},
        {"0.0000000005", BLI_LOG_S, 1},
        {"4611686018427387903", BLI_LOG_NS, INT64_C(4611686018427387903)},
        {"4611686018427387904", BLI_LOG_NS, -1},
        {"0.10000000000000000000000000000000000001", BLI_LOG_S, 100 * MS},
        {"100000000000000000000000000000000000000e-38", BLI_LOG_S, 1000 * MS},
        {"1e999999999999999999999", BLI_LOG_S, -1},
        {"1e-999999999999999999999", BLI_LOG_S, 0},
        {"0e99999", BLI_LOG_S, 0},
        /* units of their own */
        {"12ms", BLI_LOG_S, 12 * MS},
        {"12 ms", BLI_LOG_S, 12 * MS},
        {"0.5s", BLI_LOG_MS, 500 * MS},
        {"250us", BLI_LOG_S, 250000},
        {"250\xc2\xb5s", BLI_LOG_S, 250000},
        {"3ns", BLI_LOG_S, 3},
        {"1m2.5s", BLI_LOG_S, 62500 * MS},
        {"1h", BLI_LOG_S, 3600000 * MS},
        {"12xs", BLI_LOG_S, -1},
        {"12 13", BLI_LOG_S, -1},
        /* tries at several servers */
        {"0.010, 0.020", BLI_LOG_S, 30 * MS},
        {"0.010, 0.020 : 0.500", BLI_LOG_S, 530 * MS},
        {"-, 0.020", BLI_LOG_S, 20 * MS},
        {"0.010, -", BLI_LOG_S, 10 * MS},
        {"0.010,", BLI_LOG_S, -1},
        {"-", BLI_LOG_S, -1},
        {"-, -", BLI_LOG_S, -1},
        {"", BLI_LOG_S, -1},
        {" ", BLI_LOG_S, -1},
        {"-1", BLI_LOG_MS, -1},
        {"-.5", BLI_LOG_MS, -1},
        {"0.010, -1", BLI_LOG_MS, -1},
        {"nan", BLI_LOG_S, -1},
        {"inf", BLI_LOG_S, -1},
        {"0x10", BLI_LOG_S, -1},
        {".", BLI_LOG_S, -1},
        {"4000000000, 4000000000", BLI_LOG_S, -1}, /* each fits, the sum does not */
        {"100000000000000h", BLI_LOG_S, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = -1, step;
        if (!bli_log_duration_read(span(cases[i].text),
                                   (struct bli_log_scale){.unit = cases[i].unit, .list = true}, &value,
                                   &step))
            value = -1;
        if (value != cases[i].wanted)
            fail_msg("'%s' is %lld, not %lld", cases[i].text, (long long)value, (long long)cases[i].wanted);
    }
}

/* A blank before it takes the way that reads everything, and says the same. */
static void reads_plain_numbers_as_any_other(void **state) {
    (void)state;
    static const char characters[] = "0000123456789...,-ms e";
    struct bal_rng rng;
    bal_rng_init(&rng, 8, 0, BAL_STREAM_TEST);
    for (int n = 0; n < 200000; n++) {
        char text[16] = " ";
        const size_t length = bal_rng_below(&rng, 12);
        for (size_t i = 1; i <= length; i++)
            text[i] = characters[bal_rng_below(&rng, sizeof characters - 1)];
        const struct bli_log_scale scale = {.unit = 3 * (int)bal_rng_below(&rng, 4),
                                            .comma = bal_rng_below(&rng, 4) == 0,
                                            .list = bal_rng_below(&rng, 2) == 0};
        int64_t value[2] = {-1, -1}, step[2] = {-1, -1};
        const bool plain =
            bli_log_duration_read((struct bli_log_span){text + 1, length}, scale, &value[0], &step[0]);
        const bool any =
            bli_log_duration_read((struct bli_log_span){text, length + 1}, scale, &value[1], &step[1]);
        if (plain != any || (plain && (value[0] != value[1] || step[0] != step[1])))
            fail_msg("'%s' is read as %lld and as %lld", text + 1, (long long)value[0], (long long)value[1]);
    }
}

/* A comma is what it is said to be, and nothing else. */
static void reads_decimal_commas(void **state) {
    (void)state;
    const struct {
        const char *text;
        struct bli_log_scale scale;
        int64_t wanted;
    } cases[] = {
        {"0,25", {.unit = BLI_LOG_S, .comma = true}, 250 * MS},
        {"0,25", {.unit = BLI_LOG_S}, -1},
        {"0,25 ms", {.unit = BLI_LOG_S, .comma = true}, 250000},
        {"12", {.unit = BLI_LOG_MS, .comma = true}, 12 * MS},
        {"0.25", {.unit = BLI_LOG_S, .comma = true}, -1},
        {"1.234,5", {.unit = BLI_LOG_S, .comma = true}, -1},
        {"0.1, 0.2", {.unit = BLI_LOG_S}, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = -1, step;
        if (!bli_log_duration_read(span(cases[i].text), cases[i].scale, &value, &step))
            value = -1;
        if (value != cases[i].wanted)
            fail_msg("'%s' is %lld, not %lld", cases[i].text, (long long)value, (long long)cases[i].wanted);
    }
}

/* What the last digit stands for, of a 0 too. */
static void tells_the_step(void **state) {
    (void)state;
    const struct {
        const char *text;
        int unit;
        int64_t wanted, value;
    } cases[] = {
        {"0.025", BLI_LOG_S, MS, 25 * MS},
        {"0.050000", BLI_LOG_S, 1000, 50 * MS},
        {"1234567890.5", BLI_LOG_MS, MS / 10, INT64_C(1234567890500000)},
        {"5e-05", BLI_LOG_S, 10000, 50000},
        {"1m30s", BLI_LOG_S, 1000 * MS, 90000 * MS},
        {"0.010, 0.5", BLI_LOG_S, MS, 510 * MS},
        {"0.000", BLI_LOG_S, MS},
        {"0", BLI_LOG_S, 1000 * MS},
        {"0", BLI_LOG_MS, MS},
        {"0", BLI_LOG_US, 1000},
        {"0", BLI_LOG_NS, 1},
        {"0.0000000000", BLI_LOG_S, 1},
        {"0.00ms", BLI_LOG_S, MS / 100},
        {"0.0, 0.000", BLI_LOG_S, MS},
        {"0.000, 0.0", BLI_LOG_S, MS},
        {"-, 0.000", BLI_LOG_S, MS},
        {"0m", BLI_LOG_S, 60 * 1000 * MS},
        {".0", BLI_LOG_MS, MS / 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = -1, step = -1;
        assert_true(bli_log_duration_read(
            span(cases[i].text), (struct bli_log_scale){.unit = cases[i].unit, .list = true}, &value, &step));
        assert_int_equal(value, cases[i].value);
        if (step != cases[i].wanted)
            fail_msg("'%s': %lld, not %lld", cases[i].text, (long long)step, (long long)cases[i].wanted);
    }
}

#define NOON INT64_C(1794737472000000000) /* 2026-11-15 10:11:12 UTC */

static void reads_times(void **state) {
    (void)state;
    const struct {
        const char *text;
        int64_t wanted;
        int decimals;
    } cases[] = {
        {"15/Nov/2026:10:11:12 +0000", NOON, 0},
        {"15/Nov/2026:11:11:12 +0100", NOON, 0},
        {"[15/Nov/2026:11:11:12 +0100]", NOON, 0},
        {"14/Nov/2026:23:41:12 -1030", NOON, 0},
        {"15/Nov/2026:10:11:12.345", NOON + 345 * MS, 3},
        {"15/Nov/2026:10:11:12", NOON, 0},
        {"2026-11-15T10:11:12Z", NOON, 0},
        {"2026-11-15T10:11:12.000000001Z", NOON + 1, 9},
        {"2026-11-15T10:11:12.0000000019Z", NOON + 1, 9}, /* cut off, not rounded into the next second */
        {"2026-11-15T11:11:12.5+01:00", NOON + 500 * MS, 1},
        {"2026-11-15 10:11:12,345", NOON + 345 * MS, 3},
        {"2026-11-15 10:11:12 UTC", NOON, 0},
        {"2026-11-15t10:11:12z", NOON, 0},
        {"2026-11-15T10:11:12+00", NOON, 0},
        {"1794737472", NOON, 0},
        {"1794737472.345", NOON + 345 * MS, 3},
        {"1794737472,345", NOON + 345 * MS, 3},
        {"2026/11/15 10:11:12.345", NOON + 345 * MS, 3},
        {"2026/11-15 10:11:12.345", -1, 0},
        {"2026-11-15\t10:11:12", NOON, 0},
        {"1794737472.123456789", NOON + 123456789, 9},
        {"1.794737472345e9", NOON + 345 * MS, 3},
        {"1794737472345", NOON + 345 * MS, 3},
        {"1794737472345678", NOON + 345678000, 6},
        {"1794737472345678901", NOON + 345678901, 9},
        {"0", 0, 0},
        {"01/Jan/1970:00:00:00 +0000", 0, 0},
        {"29/Feb/2024:00:00:00 +0000", INT64_C(1709164800000000000), 0},
        {"31/Dec/2100:23:59:60 +0000", INT64_C(4133980800000000000), 0},
        {"01/Jan/1970:00:00:00 +0100", -1, 0}, /* before 1970 */
        {"29/Feb/2023:00:00:00 +0000", -1, 0},
        {"29/Feb/2100:00:00:00 +0000", -1, 0},
        {"31/Apr/2026:00:00:00 +0000", -1, 0},
        {"00/Nov/2026:00:00:00 +0000", -1, 0},
        {"15/nov/2026:00:00:00 +0000", -1, 0},
        {"15/Nov/2026:24:00:00 +0000", -1, 0},
        {"15/Nov/2026:10:60:00 +0000", -1, 0},
        {"15/Nov/2026:10:11:61 +0000", -1, 0},
        {"15/Nov/2026:10:11:12 +01", NOON - 3600000 * MS, 0},
        {"15/Nov/2026:10:11:12 +2400", -1, 0},
        {"15/Nov/2026:10:11:12 CET", -1, 0},
        {"15/Nov/2026:10:11:1", -1, 0},
        {"15/Nov/2026 10:11:12 +0000", -1, 0},
        {"2026-13-15T10:11:12Z", -1, 0},
        {"2026-1a-15T10:11:12Z", -1, 0},
        {"2026-11-15T10:11", -1, 0},
        {"9999-11-15T10:11:12Z", -1, 0},
        {"-1", -1, 0},
        {"", -1, 0},
        {"-", -1, 0},
        {"[]", -1, 0},
        {"yesterday at a quarter past ten", -1, 0},
        {"99999999999999999999999", -1, 0},
        {"1794737472x", -1, 0},
    };
    struct bli_log_clock clock = {0};
    for (size_t n = 0; n < 2 * sizeof cases / sizeof *cases; n++) { /* each twice, one after the other */
        const size_t i = n / 2;
        int64_t time = -1;
        int decimals = 0;
        if (!bli_log_clock_read(&clock, span(cases[i].text), &time, &decimals)) {
            time = -1;
            decimals = 0;
        }
        if (time != cases[i].wanted || decimals != cases[i].decimals)
            fail_msg("'%s' is %lld with %d decimals, not %lld with %d", cases[i].text, (long long)time,
                     decimals, (long long)cases[i].wanted, cases[i].decimals);
    }
}

/* Against the C library's calendar, with a new clock and with the same one, which then knows the time. */
static void knows_the_calendar(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 63, 0, BAL_STREAM_TEST);
    struct bli_log_clock kept = {0};
    for (int i = 0; i < 20000; i++) {
        const time_t seconds = (time_t)(bal_rng_uniform(&rng) * 7e9); /* into 2191 */
        struct tm tm;
        gmtime_r(&seconds, &tm);
        char text[64];
        strftime(text, sizeof text, i % 2 ? "%d/%b/%Y:%H:%M:%S +0000" : "%Y-%m-%dT%H:%M:%SZ", &tm);
        for (int k = 0; k < 3; k++) {
            struct bli_log_clock fresh = {0};
            int64_t time;
            int decimals;
            assert_true(bli_log_clock_read(k ? &kept : &fresh, span(text), &time, &decimals));
            assert_true(time == seconds * BLI_LOG_SECOND);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_durations),      cmocka_unit_test(reads_plain_numbers_as_any_other),
        cmocka_unit_test(reads_decimal_commas), cmocka_unit_test(tells_the_step),
        cmocka_unit_test(reads_times),          cmocka_unit_test(knows_the_calendar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
