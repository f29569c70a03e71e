/* SPDX-License-Identifier: BSD-2-Clause */
/* Detects the format of a log. */
#ifndef LOG_DETECT_H
#define LOG_DETECT_H

#include "log/entry.h"

/* Finds the format of a file, path, from its first lines, and which fields to use. options->format may name a
 * family of formats or give a pattern. The caller frees the format, also after an error. */
enum bal_code bli_log_detect(const char *path, const struct bli_log_options *options,
                             const struct bli_log_sample *sample, struct bli_log_format *format,
                             struct bli_log_binding *binding, struct bal_error *err);

#endif
