/* How urgent a request is. */
#ifndef NGINX_CLASS_H
#define NGINX_CLASS_H

#include "compat.h"

#include <stdint.h>

/* The class of a text among so many: "u=N" of RFC 9218 or a number; anything else is what that document says
 * of a request without a priority. */
uint32_t bal_ngx_class(const ngx_str_t *text, ngx_uint_t classes);
/* The class of a request by a variable; 0 where there is none. */
uint32_t bal_ngx_class_of(ngx_http_request_t *r, ngx_http_complex_value_t *value, ngx_uint_t classes);

#endif
