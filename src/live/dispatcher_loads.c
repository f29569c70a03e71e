/* SPDX-License-Identifier: BSD-2-Clause */
/* Load reports of servers without stations: what an app says of itself in a response
 * (ballast/live/server_report.h).
 *
 * A dispatcher without stations knows its own requests alone. A report says how many are at the server, of
 * all dispatchers; what it has more than ours at that moment are `others`, and from then on the queue of the
 * server is our own count, which is always right, and these others, until the report expires or the next one
 * comes.
 *
 * Posting takes no lock. Each server has a place in which the last report that has not taken effect lies,
 * packed into one word, and the block a word of 64 bits: bit i means that one of the servers i, i + 64, ...
 * has one. The report is stored first and the bit set then, so a process that is killed between the two loses
 * that report, and nothing else; the next one sets the bit. The process that holds the lock next takes the
 * bits and empties the places. */
#include "live/dispatcher_private.h"

#include <math.h>

enum { BITS = 64, JOBS_MAX = 1000000 };

/* How many requests are there, of all dispatchers. Requests wait in an app only where all slots are in use.
 * An app that has no room left has none for another one, however few it works on. */
static uint32_t jobs_of(const struct bal_load_report *report, uint32_t slots) {
    const double share = isnan(report->utilization) ? 0 : fmin(report->utilization, 1);
    const double waiting = isnan(report->waiting) ? 0 : report->waiting;
    double running = isnan(report->running) ? round(share * slots) : report->running;
    if (share >= 1 || (waiting >= 1 && isnan(report->running)))
        running = fmax(running, slots);
    return (uint32_t)fmin(running + waiting, JOBS_MAX);
}

void bal_dispatcher_post_load(struct bal_dispatcher *d, uint32_t server,
                              const struct bal_load_report *report) {
    struct block *block = d->block;
    if (!d->loads || server >= d->servers)
        return;
    __atomic_fetch_add(report ? &block->load_reports : &block->load_malformed, 1, __ATOMIC_RELAXED);
    if (!report || (isnan(report->running) && isnan(report->waiting) && isnan(report->utilization)))
        return;
    const uint32_t slots = __atomic_load_n(&d->server[server].slots, __ATOMIC_RELAXED);
    __atomic_store_n(&d->loads[server], 1 + jobs_of(report, slots), __ATOMIC_RELEASE);
    __atomic_fetch_or(&block->loads, UINT64_C(1) << server % BITS, __ATOMIC_RELEASE);
}

static void set_others(struct bal_dispatcher *d, uint32_t server, uint32_t others, uint64_t until) {
    struct server *s = &d->server[server];
    s->others = others;
    s->others_until = others ? until : 0;
    d->load[server] = d->own[server] + others;
    bli_dispatcher_server_update_expiry(d, server);
    s->retracted = 1; /* the policy need not assume anything any longer */
    if (s->presence == THERE)
        bli_dispatcher_report_state(d, server);
}

static void apply_load(struct bal_dispatcher *d, uint32_t server) {
    if (__atomic_load_n(&d->loads[server], __ATOMIC_RELAXED) == 0)
        return;
    const uint32_t posted = __atomic_exchange_n(&d->loads[server], 0, __ATOMIC_ACQUIRE);
    if (posted == 0 || d->server[server].presence == NOT_THERE)
        return;
    const uint32_t jobs = posted - 1 < JOBS_MAX ? posted - 1 : JOBS_MAX;
    set_others(d, server, jobs > d->own[server] ? jobs - d->own[server] : 0,
               d->block->now + d->block->config.load_ns);
}

void bli_dispatcher_apply_loads(struct bal_dispatcher *d) {
    uint64_t bits = __atomic_exchange_n(&d->block->loads, 0, __ATOMIC_ACQUIRE);
    for (; bits; bits &= bits - 1)
        for (uint32_t server = (uint32_t)__builtin_ctzll(bits); server < d->servers; server += BITS)
            apply_load(d, server);
    if (d->block->held_count)
        bli_dispatcher_dispatch_held(d);
}

void bli_dispatcher_expire_load(struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    if (s->others_until > 0 && is_due(d, s->others_until))
        set_others(d, server, 0, 0);
}

void bli_dispatcher_update_load(struct bal_dispatcher *d, uint32_t server) {
    if (d->loads)
        d->load[server] = d->own[server] + d->server[server].others;
}

void bli_dispatcher_rebuild_loads(struct bal_dispatcher *d) {
    for (uint32_t server = 0; d->loads && server < d->servers; server++) {
        struct server *s = &d->server[server];
        s->others = s->others < JOBS_MAX ? s->others : JOBS_MAX;
        if (s->others == 0 || s->others_until == 0) /* of two that belong together one was written */
            s->others = 0, s->others_until = 0;
        d->load[server] = d->own[server] + s->others;
    }
}

const char *bli_dispatcher_find_load_fault(const struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    if (!d->loads)
        return NULL;
    if (d->load[server] != d->own[server] + s->others || (s->others == 0) != (s->others_until == 0))
        return "a queue is not our own requests and those that its server reports";
    return NULL;
}
