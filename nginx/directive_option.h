/* SPDX-License-Identifier: BSD-2-Clause */
/* What directives have in common: parsing numbers, times and variables after the name of an option, and the
 * errors when they are invalid. */
#ifndef NGINX_DIRECTIVE_OPTION_H
#define NGINX_DIRECTIVE_OPTION_H

#include "compat.h"

#include <stdbool.h>

/* Returns NGX_CONF_ERROR after logging: DIRECTIVE: WHAT VALUE"; use RIGHT. The directive is the one that is
 * read. */
char *bli_ngx_option_error(ngx_conf_t *cf, const char *what, const ngx_str_t *value, const char *right);
/* From `least` to `most`; else false. */
bool bli_ngx_option_number(const u_char *from, const u_char *to, ngx_uint_t least, ngx_uint_t most,
                           ngx_uint_t *number);
/* slots=: a number from 1 to `most`, *min is 0; or "auto" or "auto,MIN,MAX": *slots is MAX. who: "the app",
 * ... */
char *bli_ngx_option_slots(ngx_conf_t *cf, const ngx_str_t *value, const char *who, ngx_uint_t most,
                           ngx_uint_t *min, ngx_uint_t *slots);
/* "N,T": N from 1 on, T from a millisecond to a day. */
bool bli_ngx_option_pair(const ngx_str_t *value, ngx_uint_t most, ngx_uint_t *number, ngx_msec_t *time);
/* "wait" or "close": is the slot free at once when the client has gone? */
char *bli_ngx_option_abort(ngx_conf_t *cf, const ngx_str_t *value, bool *frees);
/* "20%", from 1 to 100. */
char *bli_ngx_option_urgent(ngx_conf_t *cf, const ngx_str_t *value, ngx_uint_t *percent);
/* urgent= needs class=; NGX_CONF_OK, or the error has been logged. */
char *bli_ngx_option_check_urgent(ngx_conf_t *cf, ngx_uint_t percent, bool has_class);
/* A text with variables; NULL: the error has been logged. */
ngx_http_complex_value_t *bli_ngx_option_class(ngx_conf_t *cf, ngx_str_t *value);

/* One option of a directive, "name=", and what sets it. */
struct bli_ngx_option {
    const char *name;
    char *(*set)(ngx_conf_t *cf, void *conf, ngx_str_t *value);
    bool repeatable; /* it may be given several times; `set` refuses what is given twice */
};

/* Finds the option of a text, one of the directive that is read, and sets it. names: all of them, for the
 * error about an unknown one. */
char *bli_ngx_option_set(ngx_conf_t *cf, const struct bli_ngx_option *options, size_t count, void *conf,
                         const ngx_str_t *text, const char *names);

#endif
