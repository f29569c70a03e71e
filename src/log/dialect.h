/* The languages in which servers are told how to write a line: log_format of nginx, LogFormat of Apache and
 * those who follow it, logformat of squid, the command operators of Envoy. */
#ifndef LOG_DIALECT_H
#define LOG_DIALECT_H

#include "ballast/error.h"
#include "log/words.h"

struct bal_log_dialect {
    const char *name; /* "nginx": a text may say so, "nginx:$msec ..." */
    const struct bal_log_words *words;
    char sign; /* that begins a variable */
    /* Reads what is behind the sign. Returns where it ends, NULL when it is none. */
    const char *(*read)(const char *at, struct bal_log_span *name);
};

/* Whose language a text is in, and the text alone: a whole directive as it stands in a configuration is taken
 * apart. *text is to be freed; NULL when memory is short. */
const struct bal_log_dialect *bal_log_dialect_of(const char *given, char **text);
const struct bal_log_dialect *bal_log_dialect_named(const char *name); /* it must exist */

#endif
