/* SPDX-License-Identifier: BSD-2-Clause */
/* nginx's headers, and all that differs between its versions. */
#ifndef NGINX_COMPAT_H
#define NGINX_COMPAT_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>

#include <stdbool.h>

/* The event runs as soon as the present one has been handled; posting it twice changes nothing. */
static inline void bli_ngx_post_event(ngx_event_t *event) {
    ngx_post_event(event, &ngx_posted_events);
}

static inline void bli_ngx_cancel_event(ngx_event_t *event) {
    if (event->posted) {
        ngx_delete_posted_event(event);
    }
}

/* Since 1.23.0 headers of one name are linked. */
#if nginx_version >= 1023000
#define bli_ngx_header_ends(header) ((header)->next = NULL)
#else
#define bli_ngx_header_ends(header) ((void)(header))
#endif

/* Angie is a fork with modules, structures and version numbers of its own. */
#ifdef angie_version
#define BLI_NGX_ANGIE 1
#else
#define BLI_NGX_ANGIE 0
#endif

/* Angie's own modules find the request here. */
static inline void bli_ngx_peer_set_request(ngx_peer_connection_t *pc, ngx_http_request_t *r) {
#if BLI_NGX_ANGIE
    pc->ctx = r;
#else
    (void)pc;
    (void)r;
#endif
}

static inline bool bli_ngx_resolver_is_given(const ngx_resolver_t *resolver) {
#if BLI_NGX_ANGIE
    return resolver && resolver->connections;
#else
    return resolver && resolver->connections.nelts;
#endif
}

/* What the sticky module has configured for an upstream, NULL: nothing is said here. */
static inline bool bli_ngx_sticky_is_used(void *const *conf) {
#if BLI_NGX_ANGIE
    const struct { /* how it begins in 1.12 */
        ngx_str_t cookie;
        ngx_array_t cookie_attrs;
        time_t cookie_expires;
        ngx_array_t lookup_vars;
    } *sticky = (const void *)conf;
    return sticky->cookie.len || sticky->lookup_vars.nelts;
#else
    return *conf; /* it begins with the method that it wraps */
#endif
}

/* Since 1.27.3 nginx looks names up again while it runs (`server NAME resolve;`), and changes its peers. */
#if (nginx_version >= 1027003 && NGX_HTTP_UPSTREAM_ZONE && !BLI_NGX_ANGIE)
#define BLI_NGX_RESOLVES 1
#else
#define BLI_NGX_RESOLVES 0
#endif

/* Since 1.29.6 a server may have `drain`, which is one of the meanings of its `down`. */
#ifdef NGX_HTTP_UPSTREAM_DRAINING
#define bli_ngx_is_draining(down) ((down) == NGX_HTTP_UPSTREAM_DRAINING)
#else
#define bli_ngx_is_draining(down) ((void)(down), false)
#endif

#endif
