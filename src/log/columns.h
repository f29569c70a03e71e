/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns without names: words, or texts in quotes or brackets, with or without a label. */
#ifndef LOG_COLUMNS_H
#define LOG_COLUMNS_H

#include "log/span.h"

enum { BLI_LOG_COLUMNS = 24, BLI_LOG_LABEL = 40 };

/* How a column is written: rt="..." */
struct bli_log_style {
    char label[BLI_LOG_LABEL]; /* with its "=", or "" */
    char open, close;          /* quotes or brackets; 0: none */
};

struct bli_log_layout {
    size_t count;
    struct bli_log_style style[BLI_LOG_COLUMNS];
};

/* The columns of a text, and their values; false if there are too many, or if a quote or bracket is not
 * closed. */
bool bli_log_columns_read(struct bli_log_span text, struct bli_log_layout *layout,
                          struct bli_log_span *values);
bool bli_log_layout_same(const struct bli_log_layout *a, const struct bli_log_layout *b);

#endif
