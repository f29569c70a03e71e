#include "policy/quarantine.h"

#include <math.h>

enum { DOUBLINGS = 6 };

size_t bal_quarantine_size(uint32_t servers) {
    return sizeof(struct bal_quarantine) + (size_t)servers * sizeof(struct bal_quarantine_server);
}

void bal_quarantine_init(struct bal_quarantine *q, uint32_t servers, uint32_t failures, double back_off) {
    *q = (struct bal_quarantine){.servers = servers, .failures = failures, .back_off = back_off};
    for (uint32_t i = 0; i < servers; i++)
        q->server[i] = (struct bal_quarantine_server){0};
}

bool bal_quarantine_open(const struct bal_quarantine *q, uint32_t server, double now) {
    const struct bal_quarantine_server *s = &q->server[server];
    return s->back_off == 0 || (now >= s->until && !s->trying);
}

void bal_quarantine_sent(struct bal_quarantine *q, uint32_t server) {
    struct bal_quarantine_server *s = &q->server[server];
    s->trying = s->back_off > 0;
}

static void release(struct bal_quarantine *q, struct bal_quarantine_server *s) {
    q->excluded -= s->back_off > 0;
    *s = (struct bal_quarantine_server){0};
}

void bal_quarantine_answered(struct bal_quarantine *q, uint32_t server, bool failed, double now) {
    struct bal_quarantine_server *s = &q->server[server];
    if (!failed) {
        release(q, s);
        return;
    }
    s->failures += s->failures < UINT32_MAX;
    if (s->failures < q->failures || now < s->until)
        return; /* not yet, or sent before it was excluded */
    if (s->back_off == 0 && 2 * (q->excluded + 1) > q->servers)
        return;
    q->excluded += s->back_off == 0;
    s->back_off = s->back_off == 0 ? q->back_off : fmin(2 * s->back_off, ldexp(q->back_off, DOUBLINGS));
    s->until = now + s->back_off;
    s->trying = false;
}

double bal_quarantine_next(const struct bal_quarantine *q, double now) {
    double next = INFINITY;
    for (uint32_t i = 0; i < q->servers; i++)
        if (q->server[i].back_off > 0 && q->server[i].until > now)
            next = fmin(next, q->server[i].until);
    return next;
}
