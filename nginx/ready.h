/* SPDX-License-Identifier: BSD-2-Clause */
/* `ballast_ready;` in a location: for the probes of orchestrators. 200 when each dispatcher of this nginx has
 * a server that may be chosen, and each station is heard by a dispatcher; otherwise 503, and what is missing.
 */
#ifndef NGINX_READY_H
#define NGINX_READY_H

#include "compat.h"

char *bli_ngx_ready_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);

#endif
