/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields that follow the common or combined format at the end of a line. Many logs have them. */
#ifndef LOG_COMBINED_SUFFIX_H
#define LOG_COMBINED_SUFFIX_H

#include "log/format.h"

/* Finds a format for lines that begin with that format. program: the program that wrote them, "apache",
 * "varnish", "lighttpd" or "tomcat", if that was given; NULL: nginx if the numbers look like nginx's, else
 * unknown. service: the field that was asked for, may be NULL. BAL_E_UNKNOWN when most lines do not begin so,
 * BAL_E_FORMAT when it cannot be decided which number is the time, or when there is none. */
enum bal_code bli_log_combined_suffix_new(const struct bli_log_sample *sample, const char *program,
                                          const char *service, struct bli_log_format *format,
                                          struct bal_error *err);

#endif
