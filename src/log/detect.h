/* SPDX-License-Identifier: BSD-2-Clause */
/* Detects the format of a log. */
#ifndef LOG_DETECT_H
#define LOG_DETECT_H

#include "log/entry.h"

/* Finds the format of a file, path, from its first lines, and which fields to use. options->format may name a
 * family of formats or give a pattern. The caller frees the format, also after an error. */
enum bal_code bal_log_detect(const char *path, const struct bal_log_options *options,
                             const struct bal_log_sample *sample, struct bal_log_format *format,
                             struct bal_log_binding *binding, struct bal_error *err);

#endif
