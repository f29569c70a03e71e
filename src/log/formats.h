/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats that are known by name: one table, which is also the order in which they are tried. */
#ifndef LOG_FORMATS_H
#define LOG_FORMATS_H

#include "log/format.h"

struct bli_log_format_entry {
    const char *name; /* the name that users give */
    /* By the first lines, the pattern, and the field of the service time that was asked for (may be NULL). */
    enum bal_code (*make)(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                          const char *service, struct bli_log_format *format, struct bal_error *err);
    const char *pattern; /* NULL where there is none */
    bool named;          /* only tried when it is asked for: its lines look like those of others */
    bool header;         /* the first line is one */
    bool sure;           /* a line that is in it can be in no other */
    bool tells;          /* an error while it is made means that the lines are in this format, but wrong */
};

extern const struct bli_log_format_entry bli_log_formats[];
extern const size_t bli_log_format_count;

#endif
