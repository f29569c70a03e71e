/* Text of any length in memory of its own: what status answers with. */
#ifndef NGINX_TEXT_H
#define NGINX_TEXT_H

#include "compat.h"

#include <stdbool.h>

struct bal_ngx_text {
    u_char *data; /* ngx_free() */
    size_t length, room;
    bool failed; /* there was no memory: what follows is not said either */
};

enum { BAL_NGX_TEXT_ONCE = 2048 }; /* the most that is said at once */

/* As ngx_sprintf(). */
void bal_ngx_say(struct bal_ngx_text *text, const char *format, ...);
/* A string of JSON; bytes that are no UTF-8 become U+FFFD. */
void bal_ngx_quote(struct bal_ngx_text *text, const char *name, size_t length);
/* Seconds, to the nanosecond; without zeros at the end. */
void bal_ngx_say_seconds(struct bal_ngx_text *text, uint64_t ns);

#endif
