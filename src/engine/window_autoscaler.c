/* SPDX-License-Identifier: BSD-2-Clause */
/* Windowed concurrency: averages the number of jobs over the windows and decides how many servers should be
 * on. */
#include "engine/window_autoscaler.h"

#include <math.h>
#include <stdlib.h>

static uint64_t in_ticks(double window, double tick) {
    return (uint64_t)fmax(nearbyint(window / tick), 1);
}

enum bal_code bli_window_autoscaler_init(struct window_autoscaler *w, const struct bli_window_rule *rule,
                                         uint32_t servers) {
    *w = (struct window_autoscaler){.rule = *rule, .servers = servers, .wanted = servers};
    w->stable = in_ticks(rule->window, rule->tick);
    w->panic = in_ticks(rule->window * rule->panic, rule->tick);
    w->area = calloc(w->stable + 1, sizeof *w->area);
    return w->area ? BAL_OK : BAL_E_MEMORY;
}

void bli_window_autoscaler_fini(struct window_autoscaler *w) {
    free(w->area);
    w->area = NULL;
}

/* Jobs that were there on average in the last so many ticks, or in all if there were fewer. */
static double mean_concurrency(const struct window_autoscaler *w, uint64_t length) {
    const uint64_t ticks = length < w->ticks ? length : w->ticks;
    const double before = w->area[(w->ticks - ticks) % (w->stable + 1)];
    return (w->sum - before) / ((double)ticks * w->rule.tick);
}

void bli_window_autoscaler_decide(struct window_autoscaler *w, uint32_t ready_now) {
    const double ready = fmax(ready_now, 1);
    window_autoscaler_count(w, window_autoscaler_next(w), 0);
    w->ticks++;
    w->area[w->ticks % (w->stable + 1)] = w->sum;
    const double by_window = ceil(mean_concurrency(w, w->stable) / w->rule.target);
    const double by_panic = ceil(mean_concurrency(w, w->panic) / w->rule.target);
    if (by_panic / ready >= w->rule.threshold)
        w->calm_at = w->ticks + w->stable + 1;
    const double most = fmin(ceil(BLI_WINDOW_UP * ready), w->servers), least = floor(ready / BLI_WINDOW_DOWN);
    double wanted = fmin(fmax(by_window, least), most);
    if (w->ticks < w->calm_at) /* the larger of both, and never fewer than before */
        wanted = fmax(fmax(wanted, fmin(by_panic, most)), w->wanted);
    w->wanted = (uint32_t)wanted;
}
