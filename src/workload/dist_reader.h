/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads distributions written as name(number,...): what the distributions of sizes and those of whole numbers
 * have in common. */
#ifndef WORKLOAD_DIST_READER_H
#define WORKLOAD_DIST_READER_H

#include "ballast/error.h"

#include <stdbool.h>

struct bli_dist_reader {
    const char *text;  /* all of it */
    const char *at;    /* what is still to be read */
    unsigned which;    /* the distribution, as soon as its name has been read: its row in the table of
                          distributions */
    const char *usage; /* how that one is written */
    struct bal_error *err;
};

/* "law '...': " and the message. Returns code. */
enum bal_code bli_dist_reader_fail(const struct bli_dist_reader *r, enum bal_code code, const char *format,
                                   ...) __attribute__((format(printf, 3, 4)));

/* Fails with what is expected here, and how the distribution is written. */
enum bal_code bli_dist_reader_expected(const struct bli_dist_reader *r, const char *what);

void bli_dist_reader_skip_spaces(struct bli_dist_reader *r);
/* Takes the next sign if it is c. */
bool bli_dist_reader_accept(struct bli_dist_reader *r, char c);
/* Takes a finite number. */
enum bal_code bli_dist_reader_number(struct bli_dist_reader *r, double *value);

#endif
