/* SPDX-License-Identifier: BSD-2-Clause */
/* The option orca=: servers without stations report their load with responses, in `endpoint-load-metrics`.
 * The live core reads and keeps it; here it is only passed on, and kept from clients. */
#ifndef NGINX_ORCA_H
#define NGINX_ORCA_H

#include "upstream.h"

/* Room for bli_ngx_orca_print(). */
enum { BLI_NGX_ORCA_TEXT = 3 * BAL_LOAD_NAME + 64 };

char *bli_ngx_orca_set(ngx_conf_t *cf, const ngx_str_t *value, struct bli_ngx_upstream *b);
/* For the name of the zone; nothing if there is none. Returns the end. */
u_char *bli_ngx_orca_print(u_char *at, const struct bli_ngx_upstream *b);
/* The head of a response goes to its client. */
void bli_ngx_orca_pass(ngx_http_request_t *r);

#endif
