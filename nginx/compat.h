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
static inline void bal_ngx_post_event(ngx_event_t *event) {
    ngx_post_event(event, &ngx_posted_events);
}

static inline void bal_ngx_cancel_event(ngx_event_t *event) {
    if (event->posted) {
        ngx_delete_posted_event(event);
    }
}

/* Since 1.23.0 headers of one name are linked. */
#if nginx_version >= 1023000
#define bal_ngx_header_ends(header) ((header)->next = NULL)
#else
#define bal_ngx_header_ends(header) ((void)(header))
#endif

/* Since 1.27.3 nginx looks names up again while it runs (`server NAME resolve;`), and changes its peers. */
#if (nginx_version >= 1027003 && NGX_HTTP_UPSTREAM_ZONE)
#define BAL_NGX_RESOLVES 1
#else
#define BAL_NGX_RESOLVES 0
#endif

/* Since 1.29.6 a server may have `drain`, which is one of the meanings of its `down`. */
#ifdef NGX_HTTP_UPSTREAM_DRAINING
#define bal_ngx_is_draining(down) ((down) == NGX_HTTP_UPSTREAM_DRAINING)
#else
#define bal_ngx_is_draining(down) ((void)(down), false)
#endif

#endif
