/* SPDX-License-Identifier: BSD-2-Clause */
/* The least number that will do. Far from it steps double; between a number that fails and one that will do
 * the curve of what each is away from the target, over the logarithm of the number, is taken for straight:
 * that of the jobs that queues make too late nearly is. Where it is not, or nothing is known of it, the
 * bracket is halved. */
#include "ballast/replay.h"

#include <math.h>

enum {
    MAX_SLOW_SHRINKS = 2, /* so many times on end a bracket may shrink to more than half of it */
    TRUSTED = 3,          /* so many steps follow the slope; later steps grow regardless of it */
};

/* Two numbers tell the slope of a curve that chance makes rough if it falls by so much between them; beyond
 * so far off it has another. */
#define FALL_MIN 0.1
#define FAR 1.5

void bli_min_fleet_search_init(struct bli_min_fleet_search *least, uint32_t first, uint32_t most) {
    *least = (struct bli_min_fleet_search){
        .most = most, .next = first, .step = first, .off_failed = NAN, .off_met = NAN};
}

void bli_min_fleet_search_init_near(struct bli_min_fleet_search *least, uint32_t first, uint32_t most,
                                    double slope) {
    bli_min_fleet_search_init(least, first, most);
    least->step = 1;
    least->slope = slope;
}

/* The first number, by the slope, that meets the target, or one further away with every step: to have it in a
 * bracket is worth more than to come closer. `otherwise` where the slope or `off` is not known. */
static double extrapolate_servers(const struct bli_min_fleet_search *least, uint32_t number, double off,
                                  double otherwise) {
    const double aim = off * (1 + least->steps / 4.0);
    return least->slope < 0 && !isnan(off) ? ceil(number * exp(-aim / least->slope)) : otherwise;
}

static void grow_step(struct bli_min_fleet_search *least) {
    least->steps++;
    if (least->slope < 0 && least->steps < TRUSTED)
        return;
    least->step = least->step > least->most / 2 ? least->most : 2 * least->step;
}

/* At most twice as many. */
static uint32_t step_up(struct bli_min_fleet_search *least) {
    const double failed = least->failed, stepped = failed + least->step;
    if (least->failed == least->most)
        return 0;
    const double next =
        fmax(stepped, fmin(extrapolate_servers(least, least->failed, least->off_failed, 0), 2 * failed));
    grow_step(least);
    return (uint32_t)fmin(next, least->most);
}

/* At most to the middle of what is left, and not far into what is unlikely to do. */
static uint32_t step_down(struct bli_min_fleet_search *least) {
    if (least->steps == 0) /* the first that was tried does already */
        least->step = 1;
    const double met = least->met, stepped = met - least->step;
    const uint32_t middle = least->none + (least->met - least->none) / 2;
    const double next = fmin(stepped, extrapolate_servers(least, least->met, least->off_met, met));
    const double likely = fmin(stepped, least->unlikely);
    grow_step(least);
    return (uint32_t)fmax(fmax(fmax(next, likely), middle), least->none + 1.0);
}

/* Has the bracket shrunk well of late? */
static bool is_shrinking(struct bli_min_fleet_search *least) {
    const uint32_t width = least->met - least->failed;
    if (least->width == 0 || width <= least->width / 2) {
        least->width = width;
        least->slow = 0;
        return true;
    }
    return ++least->slow < MAX_SLOW_SHRINKS;
}

static uint32_t interpolate_servers(struct bli_min_fleet_search *least) {
    const double failed = least->failed, met = least->met;
    const double fall = least->off_failed - least->off_met;
    const bool known = fall > 0 && isfinite(fall);
    if (!is_shrinking(least) || !known)
        return least->failed + (least->met - least->failed) / 2;
    const double zero = failed * pow(met / failed, least->off_failed / fall);
    return (uint32_t)fmin(fmax(ceil(zero), failed + 1), met - 1);
}

static uint32_t next_of(struct bli_min_fleet_search *least) {
    if (least->met == 0)
        return step_up(least);
    if (least->met - (least->failed > 0 ? least->failed : least->none) == 1)
        return 0;
    return least->failed > 0 ? interpolate_servers(least) : step_down(least);
}

/* By the two that are furthest from each other. */
static void update_slope(struct bli_min_fleet_search *least, uint32_t number, double off) {
    if (!(fabs(off) < FAR))
        return;
    if (least->fewest == 0 || number < least->fewest) {
        least->fewest = number;
        least->off_fewest = off;
    }
    if (number > least->largest) {
        least->largest = number;
        least->off_largest = off;
    }
    const double fall = least->off_fewest - least->off_largest;
    if (fall >= FALL_MIN)
        least->slope = -fall / log((double)least->largest / least->fewest);
}

void bli_min_fleet_search_report(struct bli_min_fleet_search *least, bool met, double off) {
    update_slope(least, least->next, off);
    if (met) {
        least->met = least->next;
        least->off_met = off > 0 ? 0 : off;
    } else {
        least->failed = least->next;
        least->off_failed = off < 0 ? 0 : off;
    }
    least->next = next_of(least);
}
