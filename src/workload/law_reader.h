/* Reads laws written as name(number,...): what the laws of sizes and those of whole numbers have in common.
 */
#ifndef WORKLOAD_LAW_READER_H
#define WORKLOAD_LAW_READER_H

#include "ballast/error.h"

#include <stdbool.h>

struct bal_law_reader {
    const char *text;  /* all of it */
    const char *at;    /* what is still to be read */
    unsigned which;    /* the law, as soon as its name has been read: its row in the table of laws */
    const char *usage; /* how that one is written */
    struct bal_error *err;
};

/* "law '...': " and the message. Returns code. */
enum bal_code bal_law_reader_fail(const struct bal_law_reader *r, enum bal_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says what should stand here, and how the law is written. */
enum bal_code bal_law_reader_expected(const struct bal_law_reader *r, const char *what);

void bal_law_reader_skip_spaces(struct bal_law_reader *r);
/* Takes the next sign if it is c. */
bool bal_law_reader_take(struct bal_law_reader *r, char c);
/* Takes a finite number. */
enum bal_code bal_law_reader_number(struct bal_law_reader *r, double *value);

#endif
