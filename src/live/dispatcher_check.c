/* SPDX-License-Identifier: BSD-2-Clause */
/* Health checks at the dispatcher: which servers are checked, and what follows from the results. */
#include "live/dispatcher_private.h"

/* Closes or opens it. One that opens begins without failures: what requests knew of it is older. One that
 * closes leaves the ejection, which bounds how many of the others it may close. */
static void apply_state(struct bal_dispatcher *d, uint32_t server) {
    const bool closes = bli_checks_close(d->checks, server);
    const bool failing = closes && d->checks->server[server].state == BAL_CHECK_FAILING;
    const bool was_failing = d->server[server].closed & FAILING;
    const bool was_closed = d->server[server].closed & (FAILING | UNCHECKED);
    if (failing != was_failing) {
        bli_ejection_release(d->ejection, server);
        bli_dispatcher_server_refresh(d, server);
    }
    bli_dispatcher_server_mark(d, server, FAILING, failing);
    bli_dispatcher_server_mark(d, server, UNCHECKED, closes && !failing);
    d->ejection->servers = d->block->present - d->checks->failing;
    if (was_closed && !closes)
        bli_dispatcher_begin_slow_start(d, server);
}

void bli_dispatcher_check_update(struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    const bool wanted = d->checks->config.interval_ns && s->presence == THERE && !(s->closed & DOWN);
    const bool checked = d->checks->server[server].checked;
    if (wanted && !checked)
        bli_checks_add(d->checks, server, d->block->now, &d->chance);
    else if (!wanted && checked)
        bli_checks_remove(d->checks, server);
    if (wanted || s->closed & (FAILING | UNCHECKED))
        apply_state(d, server);
}

void bal_dispatcher_configure_checks(struct bal_dispatcher *d, uint64_t now,
                                     const struct bal_check_config *config) {
    dispatcher_begin(d, now);
    struct bal_check_config *c = &d->checks->config;
    *c = *config;
    c->rises = c->rises ? c->rises : 1;
    c->falls = c->falls ? c->falls : 1;
    bli_checks_reschedule(d->checks, d->block->now, &d->chance);
    for (uint32_t server = 0; server < d->servers; server++)
        bli_dispatcher_check_update(d, server);
    bli_dispatcher_dispatch_held(d);
    dispatcher_end(d);
}

bool bal_dispatcher_next_check(struct bal_dispatcher *d, uint64_t now, struct bal_check_order *order) {
    dispatcher_begin(d, now);
    const bool found =
        d->self != BLI_NOBODY && bli_checks_next(d->checks, d->block->now, d->self, &d->chance, order);
    dispatcher_end(d);
    return found;
}

uint64_t bal_dispatcher_check_due(const struct bal_dispatcher *d) {
    return d->checks->worker == d->self && d->self != BLI_NOBODY ? bli_checks_due(d->checks) : NEVER;
}

void bal_dispatcher_finish_check(struct bal_dispatcher *d, uint64_t now, uint64_t ticket,
                                 enum bal_check_result result) {
    dispatcher_begin(d, now);
    const uint32_t server = bli_checks_finish(d->checks, d->block->now, ticket, result, &d->chance);
    if (server != BAL_NONE) {
        apply_state(d, server);
        bli_dispatcher_dispatch_held(d);
    }
    dispatcher_end(d);
}

void bal_dispatcher_release_checks(struct bal_dispatcher *d, uint64_t now) {
    dispatcher_begin(d, now);
    if (d->self != BLI_NOBODY)
        bli_checks_release(d->checks, d->self);
    dispatcher_end(d);
}

struct bal_check_view bal_dispatcher_check_view(const struct bal_dispatcher *d, uint32_t number) {
    const struct bli_check_server *s = &d->checks->server[number];
    return (struct bal_check_view){.checked = s->checked,
                                   .closed = bli_checks_close(d->checks, number),
                                   .state = (enum bal_check_state)s->state,
                                   .result = (enum bal_check_result)s->result,
                                   .result_at = s->result_at,
                                   .took_ns = s->took_ns,
                                   .in_a_row = s->in_a_row,
                                   .passed = s->passed,
                                   .failed = s->failed,
                                   .changes = s->changes};
}
