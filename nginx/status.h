/* `ballast_status;` in a location: what dispatchers and stations know, as JSON, as metrics for Prometheus, as
 * a page, and the last requests that were recorded.
 *
 * status.c reads the directive and answers; seen.c copies what is to be told; the others tell it, each in
 * its own way. docs/metrics.md says what all of it means. */
#ifndef NGINX_STATUS_H
#define NGINX_STATUS_H

#include "seen.h"
#include "text.h"

enum {
    BAL_NGX_SCHEMA = 1
}; /* of JSON and of the ring: another number when something is taken away or means
      something else */

/* The directive. */
struct bal_ngx_status {
    ngx_str_t twin;                 /* where the page finds what the twin says; empty: nowhere */
    bool metered;                   /* watts are known */
    uint64_t watts[BAL_NGX_DOINGS]; /* in thousandths */
    /* Of this process: what was told last. */
    struct bal_ngx_telling *json, *metrics;
};

char *bal_ngx_status_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);

/* ---- what is told ---- */

void bal_ngx_status_json(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                         const struct bal_ngx_seen *seen);
void bal_ngx_status_metrics(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                            const struct bal_ngx_seen *seen);
/* What was recorded from number `since` on of the dispatcher, or the station, of an upstream; of the first
 * that records when `upstream` is empty. False: nobody of that name records. */
bool bal_ngx_status_ring(struct bal_ngx_text *text, ngx_http_request_t *r, const struct bal_ngx_seen *seen,
                         const ngx_str_t *upstream, bool station, uint64_t since);

/* Thousandths of a joule that were used. */
uint64_t bal_ngx_status_energy(const struct bal_ngx_status *status, const struct bal_ngx_meter *meter);

#endif
