/* SPDX-License-Identifier: BSD-2-Clause */
/* The priority class of a request. */
#ifndef NGINX_CLASS_H
#define NGINX_CLASS_H

#include "compat.h"

#include <stdint.h>

/* Parses a class, one of `classes`: "u=N" of RFC 9218 or a number. Anything else gets the default priority of
 * that RFC. */
uint32_t bli_ngx_class_parse(const ngx_str_t *text, ngx_uint_t classes);
/* The class of a request by a variable; 0 where there is none. */
uint32_t bli_ngx_class_of_request(ngx_http_request_t *r, ngx_http_complex_value_t *value, ngx_uint_t classes);

/* Limits the share of requests that are more urgent than the default, because any client can claim urgency.
 * Each request adds the share to the credit, and an urgent one uses up a whole request's credit: so the share
 * holds in the long run, and short bursts are allowed. Each process limits its own requests. */
struct bli_ngx_urgency {
    ngx_uint_t percent; /* 0: no bound */
    ngx_uint_t credit;  /* in hundredths of a request */
};

/* A request of that class has come: returns its class, or the default class if it is over the limit. */
uint32_t bli_ngx_class_limit(struct bli_ngx_urgency *urgency, uint32_t rank, ngx_uint_t classes);

#endif
