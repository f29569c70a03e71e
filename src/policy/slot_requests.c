/* SPDX-License-Identifier: BSD-2-Clause */
/* What a dispatcher sends for the jobs that it holds, and to which servers. */
#include "policy/slot_requests.h"

#include "policy/claim.h"

static struct bli_slot_request *request_of(const struct bli_slot_requests *q, uint32_t server) {
    return (struct bli_slot_request *)(void *)((char *)q->request + server * q->stride);
}

/* ---- offers that cannot be used ---- */

static void decline_offers(const struct bli_slot_requests *q, uint32_t server) {
    request_of(q, server)->declined_until = q->now + BLI_CLAIM_BEATS_BARRED * q->beat;
    q->send(q->host, BLI_SLOT_DECLINE, server);
}

void bli_slot_requests_close(const struct bli_slot_requests *q, uint32_t server, uint32_t tokens) {
    if ((tokens || q->backlog->announced) && q->is_unusable(q->host, server))
        decline_offers(q, server);
}

void bli_slot_requests_open(const struct bli_slot_requests *q, uint32_t server) {
    if (request_of(q, server)->declined_until <= q->now)
        return;
    request_of(q, server)->declined_until = 0;
    q->send(q->host, BLI_SLOT_RESUME, server);
}

/* ---- requests for a slot ---- */

void bli_slot_requests_answered(const struct bli_slot_requests *q, uint32_t server, uint32_t tokens) {
    struct bli_slot_request *request = request_of(q, server);
    if (request->asked_until == 0)
        return;
    request->asked_until = 0;
    bli_backlog_answered(q->backlog, tokens > 0);
}

void bli_slot_requests_expire(const struct bli_slot_requests *q, uint32_t server, uint32_t tokens) {
    if (q->now >= request_of(q, server)->asked_until)
        bli_slot_requests_answered(q, server, tokens);
}

void bli_slot_requests_forget(const struct bli_slot_requests *q, uint32_t server) {
    struct bli_slot_request *request = request_of(q, server);
    q->backlog->questions -= request->asked_until > 0 && q->backlog->questions;
    *request = (struct bli_slot_request){0, 0};
}

static bool looks_idle(const void *view, uint32_t server) {
    const struct bli_slot_requests *q = view;
    return request_of(q, server)->asked_until == 0 && q->looks_idle(q->host, server);
}

static void request_slot(const struct bli_slot_requests *q, uint32_t server) {
    bli_backlog_asked(q->backlog);
    request_of(q, server)->asked_until = q->now + q->timeout;
    q->send(q->host, BLI_SLOT_REQUEST, server);
}

/* ---- the backlog ---- */

/* Sends all servers how many jobs are held, except that those whose offers cannot be used are sent that. */
static void announce_backlog(const struct bli_slot_requests *q) {
    q->send(q->host, BLI_SLOT_BACKLOG, 0);
    if (q->held == 0 || q->open->count == q->present)
        return;
    for (uint32_t server = 0; server < q->numbers; server++)
        if ((!q->is_present || q->is_present(q->host, server)) && q->is_unusable(q->host, server))
            decline_offers(q, server);
}

static enum bli_backlog_step next_step(const struct bli_slot_requests *q) {
    return bli_backlog_next(q->backlog, q->held, q->now, q->patience, q->beat);
}

void bli_slot_requests_update(const struct bli_slot_requests *q) {
    enum bli_backlog_step step = next_step(q);
    if (step == BLI_BACKLOG_ANNOUNCE)
        announce_backlog(q);
    while (step == BLI_BACKLOG_ASK) {
        const uint32_t server = bli_backlog_find(q->open, looks_idle, q, q->rng);
        if (server == BAL_SET_ABSENT)
            return;
        request_slot(q, server);
        step = next_step(q);
    }
}
