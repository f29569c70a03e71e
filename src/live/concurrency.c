/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of requests in service that finds itself: concurrency_private.h has the idea, docs/decisions/0200
 * why. */
#include "live/concurrency_private.h"

#include <math.h>

enum {
    SINGLE = 8,  /* levels of one number each; those beyond are a seventh to a quarter apart */
    PHASES = 4,  /* of a cycle: the level above, the limit, a level below, the limit */
    SERVED = 12, /* completions in a phase for each slot, as fast as the app was of late */
    PHASE_MIN = 16,
    WINDOW_MIN = 512, /* completions; after a step, and doubled from window to window */
    WINDOW_MAX = 4096,
    OFTEN = 32, /* the neighbours are tried in one cycle of so many, even though there is no doubt */
};

static const double worth = 0.015; /* what a step gains that is worth while */
static const double certain = 2.2; /* standard deviations */
static const double costly = 2; /* times what is worth while: with such a loss fewer slots are tried rarely */
static const double known = 100;      /* completions at a level, without which none below it is tried */
static const double remembered = 1e5; /* completions that a level rests on at most */
static const double forgotten = 0.01; /* of them, for each window */
static const double recent = 0.05;    /* the part of a window in what is wanted */
static const double doubt = 4;        /* completions that speak for a flat curve, before any are seen */
static const double changed_from = 8; /* standard deviations: see has_changed() */
static const double smallest = 1e-9;  /* keeps quotients finite */

/* ---- levels ---- */

static uint32_t top_of(uint32_t level) {
    return level < SINGLE ? level + 1 : (5 + (level - SINGLE) % 4) << ((level - SINGLE) / 4 + 1);
}

static uint32_t level_of(uint32_t requests) {
    if (requests <= SINGLE)
        return requests - 1;
    if (requests > BAL_CONCURRENCY_MAX)
        return CONCURRENCY_LEVELS - 1;
    const uint32_t octave = 31 - (uint32_t)__builtin_clz(requests - 1); /* 2^octave < requests */
    return SINGLE + 4 * (octave - 3) + ((requests - 1 - (1u << octave)) >> (octave - 2));
}

static uint32_t within(const struct concurrency *c, uint32_t slots) {
    return slots < c->min ? c->min : slots > c->max ? c->max : slots;
}

static bool can_rise(const struct concurrency *c) {
    return c->level + 1 < CONCURRENCY_LEVELS && top_of(c->level) < c->max;
}

static bool can_fall_to(const struct concurrency *c, uint32_t level) {
    return top_of(level) >= c->min;
}

/* ---- what is known ---- */

struct limit_step {
    double gain, sd; /* of the rate at the upper of two levels over that at the lower one */
};

static struct limit_step compare(const struct concurrency *c, uint32_t low, uint32_t high) {
    const double evidence =
        1 / (1 / (c->at[low].evidence + smallest) + 1 / (c->at[high].evidence + smallest));
    const double difference = c->at[high].shape - c->at[low].shape;
    const double ratio = exp(difference * evidence / (evidence + doubt));
    return (struct limit_step){.gain = ratio - 1,
                               .sd = fmax(ratio, 1) * sqrt(c->dispersion / (evidence + doubt))};
}

/* What a step up must gain to be taken: less where requests wait nearly always. */
static double worth_rising(const struct concurrency *c) {
    double waiting = 0, all = smallest;
    for (uint32_t i = 0; i < CONCURRENCY_LEVELS; i++) {
        all += c->at[i].wanted;
        waiting += i > c->level ? c->at[i].wanted : 0;
    }
    return worth * fmax(1 - waiting / all, 0.25);
}

/* What the way from a lower level to the limit gains at most while its last step is not worth while. */
static double worth_falling(const struct concurrency *c, uint32_t low) {
    const double last = top_of(c->level) - top_of(c->level - 1);
    return worth * (top_of(c->level) - top_of(low)) / last;
}

/* The level that the limit falls to: the next one, or as far down as all of the way is not worth while. */
static uint32_t find_lower(const struct concurrency *c) {
    uint32_t lower = c->level;
    for (uint32_t low = c->level; low-- > 0 && can_fall_to(c, low);) {
        const struct limit_step way = compare(c, low, c->level);
        const double most = way.gain + certain * way.sd;
        if (most < worth)
            lower = low;
        else if (lower == c->level && most < worth_falling(c, low))
            lower = c->level - 1;
    }
    return lower;
}

/* The lowest level to be tried, from half of the limit on: it may turn out to be as good, does not seem to be
 * costly, and those above it are known. The limit: none. */
static uint32_t find_doubtful(const struct concurrency *c) {
    uint32_t doubtful = c->level;
    for (uint32_t low = c->level; low-- > 0 && can_fall_to(c, low) && 2 * top_of(low) >= top_of(c->level);) {
        const struct limit_step way = compare(c, low, c->level);
        const double most = worth_falling(c, low);
        if (way.gain - certain * way.sd > most || way.gain > costly * most)
            break;
        doubtful = low;
        if (c->at[low].evidence < known)
            break;
    }
    return doubtful;
}

static void decide(struct concurrency *c) {
    const uint32_t before = c->level;
    if (can_rise(c)) {
        const struct limit_step up = compare(c, c->level, c->level + 1);
        if (up.gain - certain * up.sd > worth_rising(c)) {
            c->level++;
            c->raised++;
        }
    }
    if (c->level == before) {
        c->level = find_lower(c);
        c->lowered += before - c->level;
    }
    if (c->level != before)
        c->window = WINDOW_MIN;
}

/* ---- learning ---- */

/* A level of which nothing is known is as fast as the nearest one of which something is. */
static void guess(struct concurrency *c, uint32_t level) {
    for (uint32_t far = 1; far < CONCURRENCY_LEVELS; far++)
        for (uint32_t side = 0; side < 2; side++) {
            const uint32_t other = side ? level + far : level - far; /* wraps around below 0 */
            if (other < CONCURRENCY_LEVELS && c->at[other].evidence >= 1) {
                c->at[level].shape = c->at[other].shape;
                return;
            }
        }
}

/* Of `mean` completions that were expected, that share of all, `ended` have come. */
static void learn_level(struct concurrency *c, struct concurrency_level *level, double mean, double share) {
    const double surprise = level->ended - mean;
    /* Of a Poisson process, and of the shape as far as it is known. */
    const double variance = mean * (1 - share) * (1 + mean * (1 - share) / (level->evidence + doubt));
    if (variance > 4)
        c->dispersion += 0.01 * (fmin(surprise * surprise / variance, 9) - c->dispersion);
    /* What is there nearly all of the time is compared with little. */
    level->evidence = fmin(level->evidence + mean * fmin(1, 2 * (1 - share)), remembered);
    level->shape += fmax(-0.5, fmin(0.5, surprise / (level->evidence + doubt)));
}

static void forget_window(struct concurrency *c) {
    for (uint32_t i = 0; i < CONCURRENCY_LEVELS; i++)
        c->at[i].time = c->at[i].ended = 0;
    c->faster = c->slower = 0;
}

static void end_window(struct concurrency *c, double ended, double expected) {
    for (uint32_t i = 0; i < CONCURRENCY_LEVELS; i++) {
        struct concurrency_level *level = &c->at[i];
        const double share = level->time * exp(level->shape) / expected;
        level->evidence *= 1 - forgotten;
        level->wanted *= 1 - recent;
        if (level->time > 0)
            learn_level(c, level, ended * share, share);
    }
    forget_window(c);
    c->windows++;
    c->window = c->window < WINDOW_MAX ? 2 * c->window : WINDOW_MAX;
    decide(c);
}

/* Completions, and what would be expected of them at speed 1; and the variance of the latter's logarithm, as
 * far as it comes from the shape. */
struct gain_sum {
    double ended, expected, variance;
};

static struct gain_sum sum_window(struct concurrency *c) {
    struct gain_sum sum = {0, 0, 0};
    for (uint32_t i = 0; i < CONCURRENCY_LEVELS; i++) {
        sum.ended += c->at[i].ended;
        sum.expected += c->at[i].time * exp(c->at[i].shape);
    }
    return sum;
}

static struct gain_sum sum_cycle(struct concurrency *c) {
    struct gain_sum sum = {0, 0, 0};
    for (uint32_t i = 0; i < CONCURRENCY_LEVELS; i++) {
        struct concurrency_level *level = &c->at[i];
        if (level->cycle_time > 0 && level->evidence < 1)
            guess(c, i);
        const double expected = level->cycle_time * exp(level->shape);
        sum.ended += level->cycle_ended;
        sum.expected += expected;
        sum.variance += expected / (level->evidence + doubt);
    }
    sum.variance *= c->dispersion / fmax(sum.expected, smallest);
    return sum;
}

/* Has the app become faster or slower? Two sums of the standard deviations by which cycles were above or
 * below the window so far, half a one for each cycle taken off. */
static bool has_changed(struct concurrency *c, const struct gain_sum *window, const struct gain_sum *cycle) {
    if (window->ended < 1 || !(window->expected > 0) || !(cycle->expected > 0))
        return false;
    const double mean = cycle->expected * window->ended / window->expected;
    const double variance =
        c->dispersion * mean + mean * mean * (cycle->variance + c->dispersion / window->ended);
    const double off = (cycle->ended - mean) / sqrt(fmax(variance, smallest));
    c->faster = fmax(c->faster + off - 0.5, 0);
    c->slower = fmax(c->slower - off - 0.5, 0);
    return c->faster > changed_from || c->slower > changed_from;
}

static void end_cycle(struct concurrency *c) {
    const struct gain_sum cycle = sum_cycle(c), before = sum_window(c);
    double time = 0;
    const bool changed = has_changed(c, &before, &cycle);
    if (changed)
        forget_window(c);
    c->changes += changed;
    for (uint32_t i = 0; i < CONCURRENCY_LEVELS; i++) {
        struct concurrency_level *level = &c->at[i];
        time += level->cycle_time;
        level->time += changed ? 0 : level->cycle_time;
        level->ended += changed ? 0 : level->cycle_ended;
        level->cycle_time = level->cycle_ended = 0;
    }
    if (cycle.ended > 0 && cycle.expected > 0) {
        c->rate = cycle.ended / time;
        c->speed = cycle.ended / cycle.expected;
    }
    const struct gain_sum window = sum_window(c);
    if (window.ended >= c->window && window.expected > 0)
        end_window(c, window.ended, window.expected);
}

/* ---- phases ---- */

/* Fewer slots only after a window: until then it is not known what they cost. */
static uint32_t choose_level(const struct concurrency *c) {
    const bool anyway = c->phase / PHASES % OFTEN == 0;
    if (c->phase % PHASES == 0 && can_rise(c)) {
        const struct limit_step up = compare(c, c->level, c->level + 1);
        return c->level + (anyway || up.gain + certain * up.sd > worth_rising(c));
    }
    if (c->phase % PHASES == 2 && c->windows && c->level > 0 && can_fall_to(c, c->level - 1)) {
        const uint32_t doubtful = find_doubtful(c);
        return anyway && doubtful == c->level ? c->level - 1 : doubtful;
    }
    return c->level;
}

/* A phase ends at a time that is known when it begins. One that ended with a completion would hold too many
 * of them for its time. */
static void begin_phase(struct concurrency *c, uint64_t now) {
    const double completions = fmax(SERVED * (double)top_of(c->level), PHASE_MIN);
    c->allowed = within(c, top_of(choose_level(c)));
    c->until = now + (uint64_t)fmin(completions / c->rate * 1e9, 1e12);
}

void bli_concurrency_init(struct concurrency *c, uint32_t min, uint32_t max, uint64_t now) {
    *c = (struct concurrency){
        .min = min, .max = max, .window = WINDOW_MIN, .last = now, .until = UINT64_MAX, .dispersion = 1};
    c->allowed = within(c, BAL_CONCURRENCY_START);
    c->level = level_of(c->allowed);
}

static void add_time(struct concurrency *c, uint64_t until, uint32_t running, uint32_t waiting) {
    const double time = until > c->last ? (double)(until - c->last) * 1e-9 : 0;
    c->last = until > c->last ? until : c->last;
    if (running == 0)
        return;
    c->at[level_of(running)].cycle_time += time;
    c->at[level_of(running + waiting)].wanted += recent * time;
}

void bli_concurrency_pass(struct concurrency *c, uint64_t now, uint32_t running, uint32_t waiting) {
    if (running == 0 && c->until != UINT64_MAX && now > c->last)
        c->until += now - c->last; /* without requests time stands still */
    if (now >= c->until) {
        add_time(c, c->until, running, waiting);
        if (++c->phase % PHASES == 0)
            end_cycle(c);
        begin_phase(c, now);
    }
    add_time(c, now, running, waiting);
}

/* The first phase ends when something is known of how fast the app is. */
static void end_first_phase(struct concurrency *c) {
    double ended = 0, time = 0;
    for (uint32_t i = 0; i < CONCURRENCY_LEVELS; i++) {
        ended += c->at[i].cycle_ended;
        time += c->at[i].cycle_time;
    }
    if (ended < PHASE_MIN || !(time > 0))
        return;
    c->rate = ended / time;
    begin_phase(c, c->last);
}

void bli_concurrency_end(struct concurrency *c, uint32_t running) {
    c->at[level_of(running)].cycle_ended++;
    if (c->until == UINT64_MAX)
        end_first_phase(c);
}

/* ---- inspection ---- */

struct bal_concurrency_view bli_concurrency_get_view(const struct concurrency *c) {
    struct bal_concurrency_view view = {.limit = within(c, top_of(c->level)),
                                        .min = c->min,
                                        .max = c->max,
                                        .rate = c->speed * exp(c->at[c->level].shape),
                                        .raised = c->raised,
                                        .lowered = c->lowered,
                                        .changes = c->changes};
    if (can_rise(c)) {
        const struct limit_step up = compare(c, c->level, c->level + 1);
        view.gain = up.gain;
        view.gain_sd = up.sd;
    }
    if (c->level > 0 && can_fall_to(c, c->level - 1)) { /* as a share of what the limit does */
        const struct limit_step last = compare(c, c->level - 1, c->level);
        view.loss = last.gain / (1 + last.gain);
        view.loss_sd = last.sd / (1 + last.gain) / (1 + last.gain);
    }
    return view;
}

bool bli_concurrency_is_sound(const struct concurrency *c) {
    bool sound = c->min > 0 && c->min <= c->max && c->max <= BAL_CONCURRENCY_MAX &&
                 c->level < CONCURRENCY_LEVELS && c->allowed >= c->min && c->allowed <= c->max &&
                 c->rate >= 0 && c->dispersion >= 0;
    for (uint32_t i = 0; i < CONCURRENCY_LEVELS; i++) {
        const struct concurrency_level *level = &c->at[i];
        sound = sound && isfinite(level->shape) && level->evidence >= 0 && level->evidence <= remembered &&
                level->wanted >= 0 && level->time >= 0 && level->cycle_time >= 0;
    }
    return sound;
}
