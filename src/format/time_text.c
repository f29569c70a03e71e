/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints lengths of time and dates for people. */
#include "format/time_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* Days, hours and minutes are used for 2 or more of them, or for exactly 1: 90 min rather than 1.5 h. */
void bli_time_length(double seconds, char text[BLI_TIME_TEXT]) {
    static const struct {
        double seconds, least;
        const char *one, *many;
    } units[] = {{86400, 2, "day", "days"}, {3600, 2, "h", "h"},   {60, 2, "min", "min"}, {1, 1, "s", "s"},
                 {1e-3, 1, "ms", "ms"},     {1e-6, 1, "us", "us"}, {1e-9, 0, "ns", "ns"}};
    enum { UNITS = sizeof units / sizeof *units };
    const double size = fabs(seconds);
    unsigned i = 0;
    while (i + 1 < UNITS && size < units[i].least * units[i].seconds && size != units[i].seconds)
        i++;
    const double number = seconds / units[i].seconds;
    snprintf(text, BLI_TIME_TEXT,
             fabs(number) < 9999.5 ? "%.4g %s"
             : fabs(number) < 1e15 ? "%.0f %s"
                                   : "%.3e %s",
             number, number == 1 ? units[i].one : units[i].many);
}

void bli_time_moment(double seconds, const char *format, char text[BLI_TIME_TEXT]) {
    const bool known = fabs(seconds) < 0x1p62;
    const time_t whole = known ? (time_t)floor(seconds) : 0;
    struct tm parts;
    if (!known || !gmtime_r(&whole, &parts) || strftime(text, BLI_TIME_TEXT, format, &parts) == 0)
        snprintf(text, BLI_TIME_TEXT, "%.0f s", seconds);
}
