/* How large must the fleet be? The search goes in rounds: in each of them every policy whose search is not
 * over has one fleet tried, and all these replays share the processors. Then, for each, fleets around the
 * answer are tried, as far as other logs like this one would have another answer. */
#include "ballast/replay.h"

#include <math.h>
#include <stdlib.h>

enum {
    LARGEST = 1 << 20,      /* fleets beyond this are not tried ... */
    FACTOR = 256,           /* ... nor those so many times as large as the work alone demands ... */
    ALWAYS_TRIED = 1 << 10, /* ... but this many servers always are */
    STEPS = 20,             /* a range grows by such a part of the fleet at first, then twice as much ... */
};

/* ---- the least number ---- */

static uint32_t next_of(const struct bal_least *least) {
    if (least->met == 0)
        return least->failed == least->most      ? 0
               : least->failed > least->most / 2 ? least->most
                                                 : 2 * least->failed;
    if (least->met - least->failed == 1)
        return 0;
    return least->failed + (least->met - least->failed) / 2;
}

void bal_least_init(struct bal_least *least, uint32_t first, uint32_t most) {
    *least = (struct bal_least){.most = most, .next = first};
}

void bal_least_tell(struct bal_least *least, bool met) {
    *(met ? &least->met : &least->failed) = least->next;
    least->next = next_of(least);
}

/* ---- the search of all policies ---- */

/* A fleet that is to be tried: for the search, or for an end of the range. */
enum purpose { SEARCH, DOWN, UP };

struct attempt {
    size_t who; /* the policy */
    enum purpose purpose;
    uint32_t servers;
};

/* How far the search of a policy is. */
struct progress {
    struct bal_least least;
    uint32_t none;       /* so many, and fewer, cannot be had: of them some fail, or the policy needs more */
    bool met_surely;     /* least.met would do by any other log that is to be reckoned with */
    bool failed_perhaps; /* least.failed would do by one of them */
    uint32_t down, up;   /* to be tried for the range; 0: that end is found */
    uint32_t down_step, up_step;
};

struct sizes {
    const struct bal_replay *replay;
    const struct bal_policy_spec *policy;
    const struct bal_lab_options *options;
    size_t count;
    struct progress *progress;
    struct bal_sizing *sizing;
    /* Of one round: what is tried, and what came of it. */
    struct attempt *attempt;
    struct bal_case *cases;
    struct bal_replay_outcome *outcome;
};

/* What is wanted when no job ever waits: on the fastest servers. */
static double best_possible(const struct bal_replay *replay, const struct bal_demand *demand) {
    const double quantile = replay->target->quantile;
    double fastest = 0;
    for (unsigned g = 0; g < replay->model.servers.groups; g++)
        fastest = fmax(fastest, replay->model.servers.group[g].speed);
    const double size = quantile == 0 ? demand->size_mean
                                      : demand->size_mean * bal_histogram_quantile(&demand->sizes, quantile);
    return size / fastest;
}

static bool serves_all(const struct bal_result *result) {
    return result->metric[BAL_REFUSED].mean == 0 && result->metric[BAL_LOST].mean == 0;
}

static bool is_met(const struct bal_target *target, const struct bal_replay_outcome *outcome) {
    return outcome->time[BAL_TIME_WANTED].mean <= target->seconds && serves_all(&outcome->result);
}

/* Would the fleet do by some of 95 % of other logs, and by all of them? */
static bool may_do(const struct bal_target *target, const struct bal_replay_outcome *outcome) {
    return outcome->log[BAL_TIME_WANTED].low <= target->seconds && serves_all(&outcome->result);
}

static bool will_do(const struct bal_target *target, const struct bal_replay_outcome *outcome) {
    return !(outcome->log[BAL_TIME_WANTED].high > target->seconds) && serves_all(&outcome->result);
}

static enum bal_code case_of(const struct sizes *sizes, const struct attempt *attempt, struct bal_case *c,
                             struct bal_error *err) {
    struct bal_replay replay = *sizes->replay;
    replay.model.servers.group[replay.vary].count = attempt->servers;
    return bal_replay_case(&replay, &sizes->policy[attempt->who], c, err);
}

/* Keeps what is known of the fleet that was tried: the one that is returned in the end, and the one below. */
static void take_search(struct sizes *sizes, size_t k) {
    const size_t i = sizes->attempt[k].who;
    struct bal_sizing *sizing = &sizes->sizing[i];
    struct progress *progress = &sizes->progress[i];
    const struct bal_replay_outcome *outcome = &sizes->outcome[k];
    const bool met = is_met(sizes->replay->target, outcome);
    sizing->fleets_tried++;
    bal_least_tell(&progress->least, met);
    if (met) {
        progress->met_surely = will_do(sizes->replay->target, outcome);
    } else {
        progress->failed_perhaps = may_do(sizes->replay->target, outcome);
        sizing->one_fewer = outcome->time[BAL_TIME_WANTED].mean;
    }
    if (!met && progress->least.met > 0)
        return;
    sizing->servers = sizes->attempt[k].servers;
    sizing->c = sizes->cases[k];
    sizing->at = *outcome;
    sizing->outcome = met ? BAL_SIZED : BAL_SIZE_BEYOND;
}

/* ---- the range ---- */

/* So many servers may do: try still fewer. */
static void look_down(struct progress *progress, uint32_t servers) {
    progress->down = servers > progress->none + progress->down_step ? servers - progress->down_step : 0;
    progress->down_step *= 2;
}

/* So many servers may not do: try more. */
static void look_up(struct progress *progress, uint32_t servers) {
    progress->up = servers < LARGEST / 2 ? servers + progress->up_step : 0;
    progress->up_step *= 2;
}

static void begin_range(struct bal_sizing *sizing, struct progress *progress) {
    if (isnan(sizing->at.log[BAL_TIME_WANTED].high))
        return;
    sizing->low = sizing->high = sizing->servers;
    progress->down_step = progress->up_step = sizing->servers / STEPS > 1 ? sizing->servers / STEPS : 1;
    if (sizing->outcome != BAL_SIZED)
        return;
    if (progress->least.failed > 0 && progress->failed_perhaps) {
        sizing->low = progress->least.failed;
        look_down(progress, progress->least.failed);
    }
    if (!progress->met_surely)
        look_up(progress, sizing->servers);
}

static void take_range(struct sizes *sizes, size_t k) {
    const struct attempt *attempt = &sizes->attempt[k];
    struct bal_sizing *sizing = &sizes->sizing[attempt->who];
    struct progress *progress = &sizes->progress[attempt->who];
    const struct bal_target *target = sizes->replay->target;
    sizing->fleets_tried++;
    if (attempt->purpose == UP) {
        sizing->high = attempt->servers;
        progress->up = 0;
        if (!will_do(target, &sizes->outcome[k]))
            look_up(progress, attempt->servers);
        return;
    }
    progress->down = 0;
    if (may_do(target, &sizes->outcome[k])) {
        sizing->low = attempt->servers;
        look_down(progress, attempt->servers);
    }
}

/* ---- rounds ---- */

static void attempt(struct sizes *sizes, size_t *count, size_t who, enum purpose purpose, uint32_t servers) {
    if (servers > 0)
        sizes->attempt[(*count)++] = (struct attempt){who, purpose, servers};
}

/* What is to be tried next; 0: the searches, or the ranges, are over. */
static size_t list_attempts(struct sizes *sizes, bool ranges) {
    size_t count = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        const struct progress *progress = &sizes->progress[i];
        if (!ranges)
            attempt(sizes, &count, i, SEARCH, progress->least.next);
        else {
            attempt(sizes, &count, i, DOWN, progress->down);
            attempt(sizes, &count, i, UP, progress->up);
        }
    }
    return count;
}

/* How many rounds there may still be: the longest search decides, and a range takes one or two. */
static double rounds_left(const struct sizes *sizes) {
    double most = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        const struct bal_least *least = &sizes->progress[i].least;
        if (least->next == 0)
            continue;
        const double bracket = least->met > 0 ? least->met - least->failed : 4.0 * least->next;
        most = fmax(most, ceil(log2(bracket)));
    }
    return most + 2;
}

/* Progress of the whole search, from that of a round. */
struct tracker {
    const struct bal_lab_options *options;
    double done, left; /* rounds before this one; rounds from this one on, as far as can be told */
};

static void show_progress(void *context, double part) {
    const struct tracker *tracker = context;
    if (tracker->options->progress)
        tracker->options->progress(tracker->options->progress_context,
                                   (tracker->done + part) / (tracker->done + tracker->left));
}

static enum bal_code try_all(struct sizes *sizes, size_t count, const struct bal_lab_options *options,
                             struct bal_error *err) {
    for (size_t k = 0; k < count; k++) {
        const enum bal_code code = case_of(sizes, &sizes->attempt[k], &sizes->cases[k], err);
        if (code)
            return code;
    }
    return bal_replay_run(sizes->replay, sizes->cases, count, options, sizes->outcome, err);
}

static enum bal_code run_rounds(struct sizes *sizes, bool ranges, struct tracker *tracker,
                                struct bal_error *err) {
    struct bal_lab_options options = *sizes->options;
    options.progress = show_progress;
    options.progress_context = tracker;
    for (size_t count; (count = list_attempts(sizes, ranges)) > 0; tracker->done++) {
        tracker->left = rounds_left(sizes);
        const enum bal_code code = try_all(sizes, count, &options, err);
        if (code)
            return code;
        for (size_t k = 0; k < count; k++)
            (ranges ? take_range : take_search)(sizes, k);
    }
    return BAL_OK;
}

/* The largest number of servers that cannot be had, all of whose smaller ones cannot either. */
static enum bal_code find_none(const struct sizes *sizes, size_t who, uint32_t *none, struct bal_error *err) {
    uint32_t some = 1;
    struct bal_case c;
    *none = 0;
    for (enum bal_code code; (code = case_of(sizes, &(struct attempt){who, SEARCH, some}, &c, err));
         some *= 2) {
        if (some >= LARGEST)
            return code;
        *none = some;
    }
    while (some - *none > 1) {
        const uint32_t middle = *none + (some - *none) / 2;
        *(case_of(sizes, &(struct attempt){who, SEARCH, middle}, &c, NULL) ? none : &some) = middle;
    }
    return BAL_OK;
}

/* The search begins where the work alone would keep the servers busy that the others leave it to. */
static enum bal_code begin(struct sizes *sizes, const struct bal_demand *demand, struct bal_error *err) {
    const struct bal_replay *replay = sizes->replay;
    const struct bal_servers *servers = &replay->model.servers;
    const double slots = fmax(replay->model.slots, 1), speed = servers->group[replay->vary].speed;
    const double others = bal_servers_capacity(servers) - servers->group[replay->vary].count * speed;
    const double needed = demand->work * replay->speedup / slots - others;
    const double best = best_possible(replay, demand);
    for (size_t i = 0; i < sizes->count; i++) {
        struct progress *progress = &sizes->progress[i];
        const enum bal_code code = find_none(sizes, i, &progress->none, err);
        if (code)
            return code;
        const double busy = fmin(fmax(ceil(needed / speed), progress->none + 1.0), LARGEST);
        const double most = fmin(fmax(busy * FACTOR, ALWAYS_TRIED), LARGEST);
        bal_least_init(&progress->least, (uint32_t)busy, (uint32_t)most);
        progress->least.failed = progress->none;
        sizes->sizing[i] = (struct bal_sizing){.outcome = BAL_SIZE_HOPELESS, .best = best, .one_fewer = NAN};
        /* Quantiles are within 0.8 % of the truth, so a little more than the target may still be it. */
        if (best > 1.01 * replay->target->seconds)
            progress->least.next = 0;
    }
    return BAL_OK;
}

static void end_search(struct sizes *sizes) {
    for (size_t i = 0; i < sizes->count; i++) {
        struct progress *progress = &sizes->progress[i];
        if (progress->least.failed == progress->none || progress->least.met == 0)
            sizes->sizing[i].one_fewer = NAN;
        if (progress->least.failed == progress->none)
            progress->least.failed = 0;
        begin_range(&sizes->sizing[i], progress);
    }
}

/* Which servers are to be varied must be clear. */
static enum bal_code check_groups(const struct bal_replay *replay, struct bal_error *err) {
    const struct bal_servers *servers = &replay->model.servers;
    for (unsigned g = 1; g < servers->groups && !replay->vary_given; g++)
        if (servers->group[g].speed != servers->group[0].speed)
            return bal_fail(
                err, BAL_E_MODEL,
                "this fleet has speeds %g and %g: say whose number is looked for, as in %ux%g,Nx%g",
                servers->group[0].speed, servers->group[g].speed, servers->group[0].count,
                servers->group[0].speed, servers->group[g].speed);
    return BAL_OK;
}

enum bal_code bal_replay_size(const struct bal_replay *replay, const struct bal_demand *demand,
                              const struct bal_policy_spec *policy, size_t count,
                              const struct bal_lab_options *options, struct bal_sizing *sizing,
                              struct bal_error *err) {
    enum bal_code code = check_groups(replay, err);
    if (code)
        return code;
    struct bal_replay equal = *replay;
    if (!replay->vary_given) { /* groups of one speed are one group */
        equal.model.servers.groups = 1;
        equal.model.servers.group[0].count = bal_servers_count(&replay->model.servers);
        equal.vary = 0;
    }
    struct sizes sizes = {
        .replay = &equal, .policy = policy, .options = options, .count = count, .sizing = sizing};
    const size_t room = 2 * count + 1; /* both ends of a range at once */
    sizes.progress = calloc(count + 1, sizeof *sizes.progress);
    sizes.attempt = calloc(room, sizeof *sizes.attempt);
    sizes.cases = calloc(room, sizeof *sizes.cases);
    sizes.outcome = calloc(room, sizeof *sizes.outcome);
    if (!sizes.progress || !sizes.attempt || !sizes.cases || !sizes.outcome) {
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu policies", count);
    } else {
        struct tracker tracker = {.options = options};
        code = begin(&sizes, demand, err);
        if (!code)
            code = run_rounds(&sizes, false, &tracker, err);
        if (!code) {
            end_search(&sizes);
            code = run_rounds(&sizes, true, &tracker, err);
        }
    }
    free(sizes.progress);
    free(sizes.attempt);
    free(sizes.cases);
    free(sizes.outcome);
    return code;
}
