/* SPDX-License-Identifier: BSD-2-Clause */
/* A text buffer that grows, for the answers of the status page. */
#ifndef NGINX_TEXT_BUFFER_H
#define NGINX_TEXT_BUFFER_H

#include "compat.h"

#include <stdbool.h>

struct bli_ngx_text {
    u_char *data; /* ngx_free() */
    size_t length, room;
    bool failed; /* out of memory: further text is dropped too */
};

enum { BLI_NGX_TEXT_ONCE = 2048 }; /* the longest text of one call */

/* As ngx_sprintf(). */
void bli_ngx_text_printf(struct bli_ngx_text *text, const char *format, ...);
/* A string of JSON; bytes that are no UTF-8 become U+FFFD. */
void bli_ngx_text_json_string(struct bli_ngx_text *text, const char *name, size_t length);
/* Seconds, to the nanosecond; without zeros at the end. */
void bli_ngx_text_seconds(struct bli_ngx_text *text, uint64_t ns);

#endif
