/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses numbers and lengths of time into whole nanoseconds, with integers only. */
#include "log/decimal.h"

#include <assert.h>

#define VALUE_MAX ((int64_t)1 << 62)

static const uint64_t power_of_ten[20] = {1u,
                                          10u,
                                          100u,
                                          1000u,
                                          10000u,
                                          100000u,
                                          1000000u,
                                          10000000u,
                                          100000000u,
                                          1000000000u,
                                          10000000000u,
                                          100000000000u,
                                          1000000000000u,
                                          10000000000000u,
                                          100000000000000u,
                                          1000000000000000u,
                                          10000000000000000u,
                                          100000000000000000u,
                                          1000000000000000000u,
                                          10000000000000000000u};

static bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

/* Adds a digit if it fits; returns whether it did. */
static bool add_digit(struct bli_log_decimal *decimal, char c) {
    if (decimal->digits >= power_of_ten[18])
        return false;
    decimal->digits = 10 * decimal->digits + (uint64_t)(c - '0');
    return true;
}

/* The part from "e" on; without digits it is no exponent, and nothing of it is read. */
static const char *read_exponent(const char *text, const char *end, struct bli_log_decimal *decimal) {
    const char *at = text + 1;
    const bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end || !is_digit(*at))
        return text;
    int exponent = 0;
    for (; at < end && is_digit(*at); at++)
        exponent = exponent < 10000 ? 10 * exponent + (*at - '0') : exponent;
    decimal->exponent += negative ? -exponent : exponent;
    return at;
}

const char *bli_log_decimal_read(const char *text, const char *end, char point,
                                 struct bli_log_decimal *decimal) {
    *decimal = (struct bli_log_decimal){0};
    const char *at = text;
    for (; at < end && is_digit(*at); at++)
        if (!add_digit(decimal, *at))
            decimal->exponent++;
    bool any = at > text;
    if (at < end && *at == point) {
        const char *before = at++;
        for (; at < end && is_digit(*at); at++)
            if (add_digit(decimal, *at))
                decimal->exponent--;
        any |= at > before + 1;
    }
    if (!any)
        return NULL;
    return at < end && (*at == 'e' || *at == 'E') ? read_exponent(at, end, decimal) : at;
}

bool bli_log_decimal_scale(const struct bli_log_decimal *decimal, int power, int64_t *value) {
    const int shift = decimal->exponent + power;
    uint64_t result = 0;
    if (decimal->digits == 0 || shift < -19) {
        result = 0;
    } else if (shift < 0) {
        const uint64_t divisor = power_of_ten[-shift];
        result = (decimal->digits + divisor / 2) / divisor; /* below 1.5 x 10^19, so it does not overflow */
    } else if (shift > 19 || __builtin_mul_overflow(decimal->digits, power_of_ten[shift], &result)) {
        return false;
    }
    *value = (int64_t)result;
    return result < (uint64_t)VALUE_MAX;
}

/* A unit at the start of text: its power of ten (of nanoseconds) and its factor. Returns where it ends, text
 * itself when there is none. */
static const char *read_unit(const char *text, const char *end, int *power, int64_t *factor) {
    static const struct {
        const char *name;
        int power;
        int64_t factor;
    } units[] = {{"ns", BLI_LOG_NS, 1}, {"us", BLI_LOG_US, 1},        {"\xc2\xb5s", BLI_LOG_US, 1},
                 {"ms", BLI_LOG_MS, 1}, {"\xce\xbcs", BLI_LOG_US, 1}, {"s", BLI_LOG_S, 1},
                 {"m", BLI_LOG_S, 60},  {"h", BLI_LOG_S, 3600}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t length = strlen(units[i].name);
        if ((size_t)(end - text) >= length && memcmp(text, units[i].name, length) == 0) {
            *power = units[i].power;
            *factor = units[i].factor;
            return text + length;
        }
    }
    return text;
}

static const char *skip_blanks(const char *text, const char *end) {
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    return text;
}

/* The unit of the last digit of a number: at least a nanosecond, and at most some days. */
static int64_t step_of(const struct bli_log_decimal *decimal, int power, int64_t factor) {
    const int last = decimal->exponent + power;
    return last <= 0 ? 1 : (int64_t)power_of_ten[last < 14 ? last : 14] * factor;
}

/* One number with its unit, added to *sum. Returns where it ends, NULL when it is none. */
static const char *add_number(const char *text, const char *end, struct bli_log_scale scale, int64_t *sum,
                              int64_t *step, bool *has_unit) {
    struct bli_log_decimal decimal;
    const char point = scale.comma ? ',' : '.';
    const char *at = bli_log_decimal_read(text, end, point, &decimal);
    if (!at)
        return NULL;
    int power = scale.unit;
    int64_t factor = 1, value;
    const char *unit = skip_blanks(at, end);
    const char *after = read_unit(unit, end, &power, &factor);
    *has_unit = after > unit;
    if (!bli_log_decimal_scale(&decimal, power, &value) || __builtin_mul_overflow(value, factor, &value) ||
        __builtin_add_overflow(*sum, value, sum) || *sum >= VALUE_MAX)
        return NULL;
    const int64_t own = step_of(&decimal, power, factor);
    *step = *step && *step < own ? *step : own;
    return *has_unit ? after : at;
}

/* Most are a few digits, perhaps with a point among them: "0.025", "312". False: it is, or may be, something
 * else. Nine characters in any unit are below 2^62: nothing overflows. */
static inline bool read_plain(struct bli_log_span span, struct bli_log_scale scale, int64_t *nanoseconds,
                              int64_t *step) {
    const char *at = span.text, *end = at + span.length, *point = NULL;
    if (span.length == 0 || span.length > 9)
        return false;
    uint64_t digits = 0;
    for (; at < end; at++) {
        const unsigned digit = (unsigned char)(*at - '0');
        if (digit < 10)
            digits = 10 * digits + digit;
        else if (*at == (scale.comma ? ',' : '.') && !point)
            point = at;
        else
            return false;
    }
    const ptrdiff_t decimals = point ? end - point - 1 : 0;
    if (decimals > scale.unit || (point && span.length == 1))
        return false;
    const int64_t last = (int64_t)power_of_ten[scale.unit - decimals]; /* the unit of the last digit */
    *nanoseconds = (int64_t)digits * last;
    *step = last;
    return true;
}

/* Any other form. */
static __attribute__((noinline)) bool read_sum(struct bli_log_span span, struct bli_log_scale scale,
                                               int64_t *nanoseconds, int64_t *step) {
    const char *end = span.text + span.length;
    int64_t sum = 0, finest = 0;
    bool any = false;
    for (const char *at = skip_blanks(span.text, end);;) {
        bool has_unit = false;
        if (at < end && *at == '-' && (at + 1 == end || !(is_digit(at[1]) || at[1] == '.'))) {
            at++;
        } else {
            if (!(at = add_number(at, end, scale, &sum, &finest, &has_unit)))
                return false;
            any = true;
        }
        at = skip_blanks(at, end);
        if (at == end)
            break;
        if (scale.list && (*at == ',' || *at == ':'))
            at = skip_blanks(at + 1, end);
        else if (!has_unit) /* after a unit the next number may follow at once: 1m30s */
            return false;
    }
    *nanoseconds = sum;
    *step = finest;
    return any;
}

bool bli_log_duration_read(struct bli_log_span span, struct bli_log_scale scale, int64_t *nanoseconds,
                           int64_t *step) {
    return read_plain(span, scale, nanoseconds, step) || read_sum(span, scale, nanoseconds, step);
}
