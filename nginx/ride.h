/* What rides on responses: the header Ballast-Load, by which a station tells the dispatcher that it answers
 * what would else be a datagram (bal_station_promise). Clients do not get to see it, whoever has said it. */
#ifndef NGINX_RIDE_H
#define NGINX_RIDE_H

#include "mail.h"

/* Behind all of nginx's own filters, so that ours is asked first. */
ngx_int_t bal_ngx_ride_add(ngx_conf_t *cf);

/* The response of a server has ended. True: all of it has come, and this has come with it, signed and for
 * us. */
bool bal_ngx_ride_end(struct bal_ngx_mail *mail, const ngx_http_request_t *r, struct bal_message *message);

#endif
