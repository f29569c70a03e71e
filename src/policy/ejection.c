/* SPDX-License-Identifier: BSD-2-Clause */
/* Ejection: counts failures, excludes servers, and lets them return. */
#include "policy/ejection.h"

#include <math.h>

enum { DOUBLINGS = 6 };

size_t bal_ejection_size(uint32_t servers) {
    return sizeof(struct bal_ejection) + (size_t)servers * sizeof(struct bal_ejection_server);
}

void bal_ejection_init(struct bal_ejection *q, uint32_t servers, uint32_t failures, double back_off) {
    *q = (struct bal_ejection){.servers = servers, .failures = failures, .back_off = back_off};
    for (uint32_t i = 0; i < servers; i++)
        q->server[i] = (struct bal_ejection_server){0};
}

void bal_ejection_set_limit(struct bal_ejection *q, uint32_t server, uint32_t limit, double time) {
    struct bal_ejection_server *s = &q->server[server];
    s->limit = limit;
    s->limit_time = time;
    if (limit == 0)
        s->losses = 0;
    if (s->losses < limit || limit == 0)
        s->shut_until = 0;
    s->shut_until = fmin(s->shut_until, s->lost_at + time);
}

bool bal_ejection_allows(const struct bal_ejection *q, uint32_t server, double now) {
    return !bal_ejection_suspects(q, server) ||
           (now >= bal_ejection_until(q, server) && !q->server[server].trying);
}

void bal_ejection_sent(struct bal_ejection *q, uint32_t server) {
    q->server[server].trying = bal_ejection_suspects(q, server);
}

static void release(struct bal_ejection *q, struct bal_ejection_server *s) {
    q->excluded -= s->back_off > 0;
    s->until = s->back_off = 0;
    s->failures = 0;
    s->trying = false;
}

void bal_ejection_release(struct bal_ejection *q, uint32_t server) {
    struct bal_ejection_server *s = &q->server[server];
    release(q, s);
    s->shut_until = s->lost_at = 0;
    s->losses = 0;
}

void bal_ejection_reset(struct bal_ejection *q, uint32_t server) {
    release(q, &q->server[server]);
    q->server[server] = (struct bal_ejection_server){0};
}

void bal_ejection_answered(struct bal_ejection *q, uint32_t server, bool failed, double now) {
    struct bal_ejection_server *s = &q->server[server];
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
void bal_ejection_reached(struct bal_ejection *q, uint32_t server, bool reached, double now) {
    struct bal_ejection_server *s = &q->server[server];
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

double bal_ejection_next(const struct bal_ejection *q, double now) {
    double next = INFINITY;
    for (uint32_t i = 0; i < q->servers; i++)
        if (bal_ejection_until(q, i) > now)
            next = fmin(next, bal_ejection_until(q, i));
    return next;
}
