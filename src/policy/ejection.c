/* SPDX-License-Identifier: BSD-2-Clause */
/* Ejection: counts failures, excludes servers, and lets them return. */
#include "policy/ejection.h"

#include <math.h>

enum { DOUBLINGS = 6 };

size_t bli_ejection_size(uint32_t servers) {
    return sizeof(struct bli_ejection) + (size_t)servers * sizeof(struct bli_ejection_server);
}

void bli_ejection_init(struct bli_ejection *q, uint32_t servers, uint32_t failures, double back_off) {
    *q = (struct bli_ejection){.servers = servers, .failures = failures, .back_off = back_off};
    for (uint32_t i = 0; i < servers; i++)
        q->server[i] = (struct bli_ejection_server){0};
}

void bli_ejection_set_limit(struct bli_ejection *q, uint32_t server, uint32_t limit, double time) {
    struct bli_ejection_server *s = &q->server[server];
    s->limit = limit;
    s->limit_time = time;
    if (limit == 0)
        s->losses = 0;
    if (s->losses < limit || limit == 0)
        s->shut_until = 0;
    s->shut_until = fmin(s->shut_until, s->lost_at + time);
}

bool bli_ejection_allows(const struct bli_ejection *q, uint32_t server, double now) {
    return !bli_ejection_suspects(q, server) ||
           (now >= bli_ejection_until(q, server) && !q->server[server].trying);
}

void bli_ejection_sent(struct bli_ejection *q, uint32_t server) {
    q->server[server].trying = bli_ejection_suspects(q, server);
}

static void release(struct bli_ejection *q, struct bli_ejection_server *s) {
    q->excluded -= s->back_off > 0;
    s->until = s->back_off = 0;
    s->failures = 0;
    s->trying = false;
}

void bli_ejection_release(struct bli_ejection *q, uint32_t server) {
    struct bli_ejection_server *s = &q->server[server];
    release(q, s);
    s->shut_until = s->lost_at = 0;
    s->losses = 0;
}

void bli_ejection_reset(struct bli_ejection *q, uint32_t server) {
    release(q, &q->server[server]);
    q->server[server] = (struct bli_ejection_server){0};
}

void bli_ejection_answered(struct bli_ejection *q, uint32_t server, bool failed, double now) {
    struct bli_ejection_server *s = &q->server[server];
    if (!failed) {
        release(q, s);
        return;
    }
    s->failures += s->failures < UINT32_MAX;
    if (q->failures == 0 || s->failures < q->failures || now < s->until)
        return; /* not yet, or sent before it was excluded */
    if (s->back_off == 0 && 2 * (q->excluded + 1) > q->servers)
        return;
    q->excluded += s->back_off == 0;
    s->back_off = s->back_off == 0 ? q->back_off : fmin(2 * s->back_off, ldexp(q->back_off, DOUBLINGS));
    s->until = now + s->back_off;
    s->trying = false;
}

/* As in nginx: a success counts when the last loss is long enough ago, and so does not end what others, sent
 * before it was shut, have begun; and each loss shuts it again. */
void bli_ejection_reached(struct bli_ejection *q, uint32_t server, bool reached, double now) {
    struct bli_ejection_server *s = &q->server[server];
    const bool long_ago = now >= s->lost_at + s->limit_time;
    if (s->limit == 0 || (reached && !long_ago))
        return;
    if (reached || (long_ago && s->shut_until == 0))
        s->losses = 0;
    if (reached) {
        s->shut_until = 0;
        return;
    }
    s->losses += s->losses < UINT32_MAX;
    s->lost_at = now;
    if (s->losses < s->limit)
        return;
    s->shut_until = now + s->limit_time;
    s->trying = false;
}

double bli_ejection_next(const struct bli_ejection *q, double now) {
    double next = INFINITY;
    for (uint32_t i = 0; i < q->servers; i++)
        if (bli_ejection_until(q, i) > now)
            next = fmin(next, bli_ejection_until(q, i));
    return next;
}
