/* SPDX-License-Identifier: BSD-2-Clause */
/* `ballast_check http|tcp|grpc ...;` in an upstream: one worker checks the servers of all workers.
 *
 * The live core decides when a server is checked, by which worker, and what the results mean
 * (ballast/live/check.h), and what is sent and expected (ballast/live/check_response.h). Here are the
 * connections. check_directive.c reads the directive. */
#ifndef NGINX_HEALTH_CHECK_H
#define NGINX_HEALTH_CHECK_H

#include "ballast/live/check.h"
#include "ballast/live/check_response.h"
#include "placeholder.h"
#include "upstream.h"

/* The directive. */
struct bli_ngx_check {
    ngx_str_t file;
    ngx_uint_t line;
    struct bal_check_config config;
    struct bal_check_expected expected;
    bool host_given;
    in_port_t port; /* 0: that of the server */
    bool tls;
#if (NGX_HTTP_SSL)
    ngx_ssl_t *ssl;
#endif
    size_t size; /* of the request */
    char request[BAL_CHECK_REQUEST];
};

char *bli_ngx_check_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);
/* When all servers are known: is the directive right for them? */
ngx_int_t bli_ngx_check_complete(ngx_conf_t *cf, const struct bli_ngx_upstream *upstream,
                                 const ngx_http_upstream_rr_peers_t *rr_peers);
/* When the whole configuration is known: is each directive in an upstream of ours? */
ngx_int_t bli_ngx_check_verify_all(ngx_conf_t *cf);

/* The lock must be held: the block learns how its servers are checked. */
void bli_ngx_check_apply(const struct bli_ngx_peers *peers, uint64_t now);
/* Numbers of the directive that a block must learn again when they change; 0: servers are not checked. */
uint64_t bli_ngx_check_hash(const struct bli_ngx_upstream *upstream);

/* In each process about eight times a second; the lock must not be held. */
void bli_ngx_check_run(struct bli_ngx_peers *peers, uint64_t now);

/* Logs a change of a server; the lock must be held. Returns whether it is failing now. */
bool bli_ngx_check_log_change(const struct bli_ngx_peers *peers, uint32_t number, const char *name,
                              bool was_failing);

#endif
