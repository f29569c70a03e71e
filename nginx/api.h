/* SPDX-License-Identifier: BSD-2-Clause */
/* `ballast_api;` in a location: shows servers and changes them at run time.
 *
 *     GET     /                              all upstreams
 *     GET     /upstreams/NAME                one
 *     POST    /upstreams/NAME/servers        adds a server
 *     GET     /upstreams/NAME/servers/ADDR   one server
 *     PATCH   /upstreams/NAME/servers/ADDR   changes it
 *     DELETE  /upstreams/NAME/servers/ADDR   removes it
 *     DELETE  /upstreams/NAME/changes[/ADDR] back to the configuration, of all servers or one
 *
 * api.c reads requests and makes the changes, api_answer.c prints answers. */
#ifndef NGINX_API_H
#define NGINX_API_H

#include "changes_zone.h"
#include "snapshot.h"
#include "text_buffer.h"

enum { BLI_NGX_API_SCHEMA = 1 };

char *bli_ngx_api_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);
/* For methods that a limit_except lets through. */
char *bli_ngx_api_merge(ngx_conf_t *cf, void *parent, void *child);

/* What a request is about, and what is answered. */
struct bli_ngx_api {
    ngx_http_request_t *r;
    struct bli_ngx_changes *changes;
    enum {
        BLI_API_ALL,
        BLI_API_UPSTREAM,
        BLI_API_SERVERS,
        BLI_API_SERVER,
        BLI_API_CHANGES,
        BLI_API_CHANGE
    } what;
    char upstream[BLI_UPSTREAM_NAME], server[BAL_SERVER_NAME];
    struct bli_ngx_upstream *conf; /* NULL: no upstream of this configuration has that name */
    ngx_uint_t status;
    struct bal_error err; /* of an error */
};

/* Sets status and text of an error, and returns it. */
ngx_uint_t bli_ngx_api_fail(struct bli_ngx_api *api, ngx_uint_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sends the answer: the error, or what the request is about as it is now. Returns what a handler returns. */
ngx_int_t bli_ngx_api_answer(struct bli_ngx_api *api);

#endif
