/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that are closed, and jobs for which none is open. */
#include "policy/closing.h"

#include <math.h>

void bli_closing_close_tried(const struct bli_closing *c, const struct bli_tries *tries) {
    for (uint32_t i = 0; i < tries_kept(tries); i++)
        bal_set_remove(c->open, tries->server[i]);
}

void bli_closing_reopen(const struct bli_closing *c) {
    for (uint32_t server = 0; server < c->servers; server++)
        if (*closing_reasons(c, server) == 0)
            bal_set_insert(c->open, server);
}

/* A server that has been tried by this job, is down, or has failed gives no reason to wait. Nor does one
 * that is silent, unless it is full: a response opens it to jobs that are sent by own counts. Where servers
 * elsewhere take over, silent ones are not used. */
static void add_prospect(const struct bli_closing *c, uint32_t server, struct bli_prospects *p) {
    const uint32_t closed = *closing_reasons(c, server);
    if (closed & (BLI_CLOSED_REMOVED | BLI_CLOSED_DOWN | BLI_CLOSED_EJECTED | BLI_CLOSED_FAILING))
        return;
    if (c->backed && closed & (BLI_CLOSED_SUSPECT | BLI_CLOSED_UNCHECKED))
        return;
    p->heard |= !(closed & (BLI_CLOSED_SILENT | BLI_CLOSED_SUSPECT | BLI_CLOSED_DRAINING));
    p->doubted |= (closed & (BLI_CLOSED_SILENT | BLI_CLOSED_SUSPECT)) == BLI_CLOSED_SUSPECT;
    p->waiting |= !(closed & BLI_CLOSED_SILENT) || (closed & BLI_CLOSED_FULL && !c->backed);
}

static double own_by_weight(const struct bli_closing *c, uint32_t server) {
    return c->own[server] / (c->weight ? c->weight[server] : 1);
}

/* The one with the fewest jobs in flight over its weight; of several any, drawn uniformly. */
static void compare_silent(const struct bli_closing *c, uint32_t server, struct bli_prospects *p,
                           uint32_t *ties) {
    const uint32_t silent = BLI_CLOSED_SILENT | BLI_CLOSED_SUSPECT;
    const uint32_t closed = *closing_reasons(c, server);
    if (!(closed & silent) || closed & ~(silent | BLI_CLOSED_OFF) || c->backed)
        return;
    const double key = own_by_weight(c, server);
    const double least = p->silent == BAL_NONE ? INFINITY : own_by_weight(c, p->silent);
    *ties = key < least ? 0 : *ties;
    if (key <= least && bal_rng_below(c->rng, ++*ties) == 0)
        p->silent = server;
}

struct bli_prospects bli_closing_prospects(const struct bli_closing *c, const struct bli_tries *tries) {
    struct bli_prospects p = {.silent = BAL_NONE};
    uint32_t ties = 0;
    const bool any_open = c->open->count > tries_kept(tries);
    p.heard = p.waiting = any_open;
    for (uint32_t server = 0; !any_open && server < c->servers; server++)
        if (!tries_contain(tries, server)) {
            add_prospect(c, server, &p);
            compare_silent(c, server, &p, &ties);
        }
    return p;
}

/* A silent one, if all that a job could wait for are silent; also in place of a refusal. Otherwise as the
 * policy decides, unless waiting cannot help. */
uint32_t bli_closing_fallback(const struct bli_closing *c, const struct bli_tries *tries, uint32_t decided) {
    const struct bli_prospects p = bli_closing_prospects(c, tries);
    if (p.silent != BAL_NONE && (decided == BAL_NONE || !(p.heard || p.doubted)))
        return p.silent;
    return decided == BAL_HOLD && p.waiting ? BAL_HOLD : BAL_NONE;
}
