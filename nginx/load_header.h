/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent with responses (piggybacked): the header Ballast-Load, in which a station sends, to the
 * dispatcher whose request it answers, what would otherwise be a datagram (bal_station_piggyback_offer); and
 * Ballast-Refused, by which a station marks a 503 that is its own and not the app's. Clients never see them,
 * whether they come from an app or from a station. */
#ifndef NGINX_LOAD_HEADER_H
#define NGINX_LOAD_HEADER_H

#include "transport.h"

/* Installs the header filter after all of nginx's own, so that ours runs first. */
ngx_int_t bli_ngx_load_header_init(ngx_conf_t *cf);

/* The response of a server has ended. True: it was complete, and a message came with it that is signed and
 * for us. */
bool bli_ngx_load_header_read(struct bli_ngx_transport *transport, const ngx_http_request_t *r,
                              struct bal_message *message);

#endif
