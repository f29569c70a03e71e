/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of single classes: the options hold.CLASS=N[,T] of ballast and queue.CLASS=N[,T] of ballast_station.
 */
#ifndef NGINX_CLASS_LIMIT_OPTION_H
#define NGINX_CLASS_LIMIT_OPTION_H

#include "ballast/live/class_limit.h"
#include "compat.h"

#include <stdbool.h>

/* "N" or "N,T": N from `least` on, T from a millisecond to a day; *time is left alone where there is no T.
 * False: it is neither. */
bool bli_ngx_limit_parse(const ngx_str_t *value, ngx_uint_t least, ngx_uint_t *number, ngx_msec_t *time);
/* "CLASS=N" or "CLASS=N,T", behind `option` ("hold." or "queue."). */
char *bli_ngx_class_limit_set(ngx_conf_t *cf, const char *option, const ngx_str_t *value,
                              struct bal_class_limit *limits);
/* When all options are known: no class is named that does not exist, and none may have more than all
 * together. whole: the option for all, "hold=" or "queue=". */
char *bli_ngx_class_limits_check(ngx_conf_t *cf, const char *option, const char *whole,
                                 const struct bal_class_limit *limits, ngx_uint_t classes, ngx_uint_t most);
/* As text that differs where they do, at most BLI_NGX_CLASS_LIMITS_TEXT bytes; returns its end. */
enum { BLI_NGX_CLASS_LIMITS_TEXT = 8 * 40 };
u_char *bli_ngx_class_limits_print(u_char *text, const struct bal_class_limit *limits);

#endif
