/* SPDX-License-Identifier: BSD-2-Clause */
/* A pattern of PCRE, matched with pieces of lines. */
#ifndef LOG_MATCH_H
#define LOG_MATCH_H

#include "ballast/error.h"
#include "log/span.h"

struct bli_log_match;

enum bal_code bli_log_match_new(const char *pattern, struct bli_log_match **match, struct bal_error *err);
void bli_log_match_free(struct bli_log_match *match); /* NULL is allowed */

/* Does the text match? An error if it takes more than 10^7 steps, a second at most, or more than 64 MiB. */
enum bal_code bli_log_match_try(const struct bli_log_match *match, struct bli_log_span text, bool *matches,
                                struct bal_error *err);

#endif
