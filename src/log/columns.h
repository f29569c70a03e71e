/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns without names: words, or texts in quotes or brackets, with or without a label. */
#ifndef LOG_COLUMNS_H
#define LOG_COLUMNS_H

#include "log/span.h"

enum { BAL_LOG_COLUMNS = 24, BAL_LOG_LABEL = 40 };

/* How a column is written: rt="..." */
struct bal_log_style {
    char label[BAL_LOG_LABEL]; /* with its "=", or "" */
    char open, close;          /* quotes or brackets; 0: none */
};

struct bal_log_layout {
    size_t count;
    struct bal_log_style style[BAL_LOG_COLUMNS];
};

/* The columns of a text, and their values; false if there are too many, or if a quote or bracket is not
 * closed. */
bool bal_log_columns_read(struct bal_log_span text, struct bal_log_layout *layout,
                          struct bal_log_span *values);
bool bal_log_layout_same(const struct bal_log_layout *a, const struct bal_log_layout *b);

#endif
