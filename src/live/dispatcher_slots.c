/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots that find themselves, at a dispatcher without stations: one limit for each server whose slots are not
 * given (concurrency_private.h). It follows the requests of this dispatcher, of all its processes; others
 * must not send to these servers. A limit takes effect with the next response: then the policy is told what
 * has changed. */
#include "live/dispatcher_private.h"

static bool is_found(const struct bal_dispatcher *d, uint32_t server) {
    return d->concurrency && d->concurrency[server].max > 0;
}

void bli_dispatcher_find_slots(struct bal_dispatcher *d, uint32_t server, bool found) {
    const struct bal_dispatcher_config *config = &d->block->config;
    if (!d->concurrency)
        return;
    struct concurrency *c = &d->concurrency[server];
    if (!found)
        *c = (struct concurrency){0};
    else if (c->max == 0 || !bli_concurrency_is_sound(c))
        bli_concurrency_init(c, config->min_slots, config->slots, d->block->now);
}

void bli_dispatcher_slots_pass(struct bal_dispatcher *d, uint32_t server) {
    if (is_found(d, server))
        bli_concurrency_pass(&d->concurrency[server], d->block->now, d->own[server],
                             d->block->held_count > 0);
}

void bli_dispatcher_slots_end(struct bal_dispatcher *d, uint32_t server) {
    if (!is_found(d, server))
        return;
    bli_dispatcher_slots_pass(d, server);
    bli_concurrency_end(&d->concurrency[server], d->own[server]);
}

void bli_dispatcher_slots_update(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    if (!is_found(d, server) || s->slots == concurrency_allowed(&d->concurrency[server]))
        return;
    s->slots = concurrency_allowed(&d->concurrency[server]);
    if (s->presence == THERE && s->closed == 0)
        bli_dispatcher_report_idle(d, server);
}

struct bal_concurrency_view bli_dispatcher_slots_view(const struct bal_dispatcher *d, uint32_t server) {
    return is_found(d, server) ? bli_concurrency_get_view(&d->concurrency[server])
                               : (struct bal_concurrency_view){0};
}

/* What is known of those that a process has left half written is as good as nothing. */
void bli_dispatcher_slots_rebuild(struct bal_dispatcher *d) {
    for (uint32_t server = 0; server < d->servers; server++)
        if (is_found(d, server)) {
            bli_dispatcher_find_slots(d, server, true);
            d->server[server].slots = concurrency_allowed(&d->concurrency[server]);
        }
}
