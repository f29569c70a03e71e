/* SPDX-License-Identifier: BSD-2-Clause */
/* Lengths of time and moments, as people write them. */
#ifndef FORMAT_TIME_TEXT_H
#define FORMAT_TIME_TEXT_H

enum { BLI_TIME_TEXT = 40 };

/* "1.5 s", "90 min", "24 h", "1 day": four digits in the unit that suits it. */
void bli_time_length(double seconds, char text[BLI_TIME_TEXT]);

/* Seconds since 1970 in UTC, by strftime's format; plain seconds for years that no calendar can print. */
void bli_time_moment(double seconds, const char *format, char text[BLI_TIME_TEXT]);

#endif
