/* SPDX-License-Identifier: BSD-2-Clause */
/* `ballast_status;` in a location: what dispatchers and stations know, as JSON, as metrics for Prometheus, as
 * a page, their last hour, and the last requests that were recorded.
 *
 * status.c reads the directive and answers requests; snapshot.c copies the state; the other files print it,
 * one format each. docs/metrics.md explains all values. */
#ifndef NGINX_STATUS_H
#define NGINX_STATUS_H

#include "snapshot.h"
#include "text_buffer.h"

enum {
    BLI_NGX_SCHEMA = 1
}; /* of JSON, history and ring: increased when something is removed or changes its meaning */

/* The directive. */
struct bli_ngx_status {
    bool api;                           /* not this directive, but ballast_api (api.h) */
    ngx_array_t fleet;                  /* of ngx_str_t: where the page finds the status of others */
    ngx_str_t twin;                     /* where the page finds the twin's results; empty: nowhere */
    bool metered;                       /* watts are known */
    uint64_t watts[BLI_NGX_ACTIVITIES]; /* in thousandths */
    /* Of this process: the last answers. */
    struct bli_ngx_answer *json, *metrics, *history;
};

char *bli_ngx_status_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);

/* ---- output ---- */

void bli_ngx_status_json(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                         const struct bli_ngx_snapshot *snapshot);
void bli_ngx_status_history(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                            const struct bli_ngx_snapshot *snapshot);
void bli_ngx_status_metrics(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                            const struct bli_ngx_snapshot *snapshot);
/* Prints the records from number `since` on of the dispatcher, or the station, of an upstream; of the first
 * upstream that records when `upstream` is empty. False: no upstream of that name records. */
bool bli_ngx_status_ring(struct bli_ngx_text *text, ngx_http_request_t *r,
                         const struct bli_ngx_snapshot *snapshot, const ngx_str_t *upstream, bool station,
                         uint64_t since);

/* Thousandths of a joule that were used. */
uint64_t bli_ngx_status_energy(const struct bli_ngx_status *status, const struct bli_ngx_meter *meter);

#endif
