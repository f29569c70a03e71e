/* SPDX-License-Identifier: BSD-2-Clause */
/* The languages in which log formats are configured: log_format of nginx, LogFormat of Apache and programs
 * that follow it, logformat of squid, the command operators of Envoy. */
#ifndef LOG_DIALECT_H
#define LOG_DIALECT_H

#include "ballast/error.h"
#include "log/field_names.h"

struct bli_log_dialect {
    const char *name; /* "nginx": a text may say so, "nginx:$msec ..." */
    const struct bli_log_field_names *words;
    char sign; /* the character that begins a variable */
    /* Reads the variable after the sign. Returns where it ends, NULL when it is not one. */
    const char *(*read)(const char *at, struct bli_log_span *name);
};

/* Finds the language of a text, and extracts the format itself if the text is a whole directive from a
 * configuration. *text is to be freed; NULL when memory is short. */
const struct bli_log_dialect *bli_log_dialect_of(const char *given, char **text);
const struct bli_log_dialect *bli_log_dialect_named(const char *name); /* it must exist */

#endif
