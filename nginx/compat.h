/* nginx's headers, and all that differs between its versions. */
#ifndef NGINX_COMPAT_H
#define NGINX_COMPAT_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>

/* Done as soon as the present event has been dealt with; saying it twice changes nothing. */
static inline void bal_ngx_post(ngx_event_t *event) {
    ngx_post_event(event, &ngx_posted_events);
}

static inline void bal_ngx_unpost(ngx_event_t *event) {
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

#endif
