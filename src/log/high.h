/* The class of a request, told by a pattern of PCRE. */
#ifndef LOG_HIGH_H
#define LOG_HIGH_H

#include "ballast/error.h"
#include "log/span.h"

struct bal_log_high;

/* pattern NULL: no classes, *high is NULL. */
enum bal_code bal_log_high_new(const char *pattern, struct bal_log_high **high, struct bal_error *err);
void bal_log_high_free(struct bal_log_high *high); /* NULL is allowed */

/* Is the text of the high class? An error when the pattern takes too long to tell. */
enum bal_code bal_log_high_match(const struct bal_log_high *high, struct bal_log_span text, bool *matches,
                                 struct bal_error *err);

#endif
