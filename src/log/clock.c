/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the dates and times of logs. */
#include "log/clock.h"

#include "log/decimal.h"

/* Two or four digits; -1 when they are none. */
static int read_digits(const char *text, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
        const unsigned digit = (unsigned char)(text[i] - '0');
        if (digit > 9)
            return -1;
        value = 10 * value + (int)digit;
    }
    return value;
}

static bool is_leap(int year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int year, int month) {
    static const char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Days since 1970-01-01 in the Gregorian calendar; false when there is no such day. */
static bool count_days(int year, int month, int day, int64_t *days) {
    static const short before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return false;
    const int past = year - 1; /* leap days are those of the years past, and of this one from March on */
    const int leap_days = past / 4 - past / 100 + past / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    *days =
        365 * (int64_t)(year - 1970) + leap_days + before[month - 1] + (month > 2 && is_leap(year)) + day - 1;
    return true;
}

/* 15/Nov/2026 */
static bool read_named_date(const char *text, int64_t *days) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int month = 0;
    while (month < 12 && memcmp(names + 3 * month, text + 3, 3) != 0)
        month++;
    return text[2] == '/' && text[6] == '/' &&
           count_days(read_digits(text + 7, 4), month + 1, read_digits(text, 2), days);
}

/* 2026-11-15, or with slashes */
static bool read_plain_date(const char *text, int64_t *days) {
    return text[4] == text[7] &&
           count_days(read_digits(text, 4), read_digits(text + 5, 2), read_digits(text + 8, 2), days);
}

static bool read_date(struct bli_log_clock *clock, const char *text, size_t length) {
    if (clock->length == length && memcmp(clock->date, text, length) == 0)
        return true;
    clock->length = 0;
    if (!(length == 11 ? read_named_date : read_plain_date)(text, &clock->day))
        return false;
    memcpy(clock->date, text, length);
    clock->length = length;
    return true;
}

/* .345: nanoseconds, and how many digits there are. */
static const char *read_fraction(const char *at, const char *end, int64_t *nanoseconds, int *decimals) {
    int64_t unit = BLI_LOG_SECOND, value = 0;
    int count = 0;
    for (; at < end && (unsigned char)(*at - '0') < 10; at++) {
        if (unit == 1)
            continue; /* finer than a nanosecond */
        unit /= 10;
        value += (*at - '0') * unit;
        count++;
    }
    *nanoseconds = value;
    *decimals = count;
    return at;
}

/* Z, UTC, GMT, +01, +0100, +01:00, or nothing: seconds east of UTC. */
static bool read_offset(const char *at, const char *end, int *seconds) {
    const struct bli_log_span zone = {at, (size_t)(end - at)};
    *seconds = 0;
    if (zone.length == 0 || bli_log_is(zone, "Z") || bli_log_is(zone, "z") || bli_log_is(zone, "UTC") ||
        bli_log_is(zone, "GMT"))
        return true;
    if ((*at != '+' && *at != '-') || (zone.length != 3 && zone.length != 5 && zone.length != 6))
        return false;
    if (zone.length == 6 && at[3] != ':')
        return false;
    const int hours = read_digits(at + 1, 2), minutes = zone.length > 3 ? read_digits(end - 2, 2) : 0;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *seconds = (*at == '-' ? -60 : 60) * (60 * hours + minutes);
    return true;
}

/* 10:11:12.345 +0100 on the day of the clock. */
static bool read_time_of_day(const struct bli_log_clock *clock, const char *at, const char *end,
                             int64_t *time, int *decimals) {
    if (end - at < 8 || at[2] != ':' || at[5] != ':')
        return false;
    const int hour = read_digits(at, 2), minute = read_digits(at + 3, 2), second = read_digits(at + 6, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) /* 60: a leap second
                                                                                          */
        return false;
    at += 8;
    int64_t nanoseconds = 0;
    *decimals = 0;
    if (at < end && (*at == '.' || *at == ','))
        at = read_fraction(at + 1, end, &nanoseconds, decimals);
    at += at < end && *at == ' ';
    int offset;
    if (!read_offset(at, end, &offset))
        return false;
    const int64_t seconds = 86400 * clock->day + 3600 * hour + 60 * minute + second - offset;
    if (seconds < 0 || seconds >= BLI_LOG_TIME_END / BLI_LOG_SECOND)
        return false;
    *time = seconds * BLI_LOG_SECOND + nanoseconds;
    return true;
}

/* Which unit a count since 1970 has shows in its size: 10^11 seconds are the year 5138, 10^11 milliseconds
 * were in 1973. */
static bool read_epoch(const char *at, const char *end, int64_t *time, int *decimals) {
    struct bli_log_decimal decimal;
    if (bli_log_decimal_read(at, end, memchr(at, ',', (size_t)(end - at)) ? ',' : '.', &decimal) != end)
        return false;
    int64_t whole;
    if (!bli_log_decimal_scale(&decimal, 0, &whole))
        return false;
    const int finer = whole < 100000000000         ? 0
                      : whole < 100000000000000    ? 3
                      : whole < 100000000000000000 ? 6
                                                   : 9;
    const int count = finer - decimal.exponent;
    *decimals = count < 0 ? 0 : count > 9 ? 9 : count;
    return bli_log_decimal_scale(&decimal, 9 - finer, time) && *time < BLI_LOG_TIME_END;
}

static bool read_time(struct bli_log_clock *clock, const char *at, const char *end, int64_t *time,
                      int *decimals) {
    while (at < end && (*at == ' ' || *at == '['))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == ']'))
        end--;
    if (end - at >= 20 && at[2] == '/')
        return at[11] == ':' && read_date(clock, at, 11) &&
               read_time_of_day(clock, at + 12, end, time, decimals);
    if (end - at >= 19 && (at[4] == '-' || at[4] == '/'))
        return (at[10] == 'T' || at[10] == 't' || at[10] == ' ' || at[10] == '\t') &&
               read_date(clock, at, 10) && read_time_of_day(clock, at + 11, end, time, decimals);
    return read_epoch(at, end, time, decimals);
}

bool bli_log_clock_read(struct bli_log_clock *clock, struct bli_log_span span, int64_t *time, int *decimals) {
    if (span.length == clock->second_length && memcmp(span.text, clock->second, span.length) == 0) {
        *time = clock->time;
        *decimals = 0;
        return span.length > 0;
    }
    if (!read_time(clock, span.text, span.text + span.length, time, decimals))
        return false;
    if (*decimals == 0 && span.length <= sizeof clock->second) {
        memcpy(clock->second, span.text, span.length);
        clock->second_length = span.length;
        clock->time = *time;
    }
    return true;
}
