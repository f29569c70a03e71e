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

enum { BAL_NGX_API_SCHEMA = 1 };

char *bal_ngx_api_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);
/* For methods that a limit_except lets through. */
char *bal_ngx_api_merge(ngx_conf_t *cf, void *parent, void *child);

/* What a request is about, and what is answered. */
struct bal_ngx_api {
    ngx_http_request_t *r;
    struct bal_ngx_changes *changes;
    enum {
        BAL_API_ALL,
        BAL_API_UPSTREAM,
        BAL_API_SERVERS,
        BAL_API_SERVER,
        BAL_API_CHANGES,
        BAL_API_CHANGE
    } what;
    char upstream[BAL_UPSTREAM_NAME], server[BAL_SERVER_NAME];
    struct bal_ngx_upstream *conf; /* NULL: no upstream of this configuration has that name */
    ngx_uint_t status;
    struct bal_error err; /* of an error */
};

/* Sets status and text of an error, and returns it. */
ngx_uint_t bal_ngx_api_fail(struct bal_ngx_api *api, ngx_uint_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sends the answer: the error, or what the request is about as it is now. Returns what a handler returns. */
ngx_int_t bal_ngx_api_answer(struct bal_ngx_api *api);

#endif
