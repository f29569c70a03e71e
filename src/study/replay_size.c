/* SPDX-License-Identifier: BSD-2-Clause */
/* How large must the fleet be? The search goes in rounds: in each of them every policy whose search is not
 * over has a fleet tried, and all these replays share the processors. Then, for each, fleets around the
 * answer are tried, as far as other logs like this one would have another answer.
 *
 * The search begins where a search in a part of the log ended, and that one where a search in a part of this
 * part ended. The answer does not depend on the beginning: the fleet that is found, the one with one server
 * fewer and those of the range are replays of the whole log. */
#include "study/replay_try.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FACTOR = 256,           /* fleets so many times as large as the work alone demands are not tried ... */
    ALWAYS_TRIED = 1 << 10, /* ... but this many servers always are */
    STEPS = 20,             /* a range grows by such a part of the fleet at first, then twice as much ... */
    RANGE_FACTOR = 8,       /* ... and up to so many times the fleet ... */
    RANGE_ALWAYS = 32,      /* ... but to so many servers at least */
    PART = 32,              /* such a part of the work of a replay is enough for a guess ... */
    JOBS_MIN = 10000,       /* ... if it has so many jobs */
};

/* A fleet that was tried. */
struct tried {
    uint32_t servers;
    bool counts; /* the search has asked for it: it was not merely tried ahead of it */
    struct bli_replay_outcome *outcome;
};

/* How far the search of a policy is. */
struct progress {
    struct bli_min_fleet_search least;
    struct tried *tried;
    size_t count, room;
    bool ranges;        /* the search is over, and the range is looked for: ... */
    uint32_t low, high; /* ... as far as it is known; both 0: too few jobs to decide; high: no end */
    uint32_t down, up;  /* to be tried for it; 0: that end is found */
    uint32_t down_step, up_step;
};

/* A fleet that is to be tried. */
struct size_attempt {
    size_t who; /* the policy */
    uint32_t servers;
};

struct sizes {
    const struct bli_replay *replay;
    const struct bli_demand *demand;
    const struct bal_policy_spec *policy;
    const struct bli_lab_options *options;
    size_t count;
    bool rough;     /* a guess is enough */
    size_t threads; /* so many trials go at once */
    double at_best; /* the target ratio if no job ever waited */
    struct progress *progress;
    /* Of one round: what is tried, and what came of it. */
    size_t attempts;
    struct size_attempt *attempt;
    enum bli_effort *effort;
    struct bli_case *cases;
    struct bli_replay_outcome *outcome;
};

/* ---- the target ---- */

/* What is wanted when no job ever waits: on the fastest servers. */
static double best_possible(const struct bli_replay *replay, const struct bli_demand *demand) {
    const double quantile = replay->target->quantile;
    const double size = quantile == 0 ? demand->size_mean
                                      : demand->size_mean * bli_histogram_quantile(&demand->sizes, quantile);
    return size / bli_replay_fastest(replay);
}

/* How much that takes of what the target allows. */
static double target_ratio_at_best(const struct bli_replay *replay, const struct bli_demand *demand) {
    const struct bli_target *target = replay->target;
    if (target->quantile == 0)
        return best_possible(replay, demand) / target->seconds;
    const double size = target->seconds * bli_replay_fastest(replay) / demand->size_mean;
    const double jobs = (double)bli_histogram_total(&demand->sizes);
    return bli_count_above(&demand->sizes, size) / jobs / (1 - target->quantile);
}

/* What waiting takes of what is left to it, as a logarithm: that of the servers makes it nearly a straight
 * line, but not where hardly a job waits or nearly all do, which does not show how far away the target is.
 * NaN: not known. */
static double off_target(const struct sizes *sizes, const struct bli_replay_outcome *outcome) {
    const double far = 2, left = 1 - sizes->at_best, taken = outcome->target_ratio - sizes->at_best;
    return isnan(taken) || left < 1e-3 ? NAN : fmin(log(fmax(taken / left, exp(-far))), far);
}

static bool serves_all(const struct bli_result *result) {
    return result->metric[BLI_REFUSED].mean == 0 && result->metric[BLI_LOST].mean == 0;
}

static bool is_met(const struct bli_target *target, const struct bli_replay_outcome *outcome) {
    return !outcome->given_up && outcome->time[BLI_TIME_WANTED].mean <= target->seconds &&
           serves_all(&outcome->result);
}

/* Would the fleet do by some of 95 % of other logs, and by all of them? */
static bool may_meet_target(const struct bli_target *target, const struct bli_replay_outcome *outcome) {
    return !outcome->given_up && outcome->log[BLI_TIME_WANTED].low <= target->seconds &&
           serves_all(&outcome->result);
}

static bool must_meet_target(const struct bli_target *target, const struct bli_replay_outcome *outcome) {
    return !outcome->given_up && !(outcome->log[BLI_TIME_WANTED].high > target->seconds) &&
           serves_all(&outcome->result);
}

/* ---- what was tried ---- */

static struct tried *find_tried(const struct progress *progress, uint32_t servers) {
    for (size_t t = 0; t < progress->count; t++)
        if (progress->tried[t].servers == servers)
            return &progress->tried[t];
    return NULL;
}

static bool is_whole(const struct tried *tried) {
    return tried && !tried->outcome->given_up;
}

/* Whether a fleet may do is known of one that was given up, if a percentile is wanted; of a mean nothing
 * follows for other logs. */
static bool tells_may_meet(const struct sizes *sizes, const struct tried *tried) {
    return is_whole(tried) || (tried && sizes->replay->target->quantile > 0);
}

static bool reserve_tried(struct progress *progress) {
    if (progress->count < progress->room)
        return true;
    const size_t room = progress->room ? 2 * progress->room : 8;
    struct tried *tried = realloc(progress->tried, room * sizeof *tried);
    if (!tried)
        return false;
    progress->tried = tried;
    progress->room = room;
    return true;
}

/* What is tried again, to its end, takes the place of what was known. */
static enum bal_code save_tried(struct progress *progress, uint32_t servers,
                                const struct bli_replay_outcome *outcome, struct bal_error *err) {
    struct tried *known = find_tried(progress, servers);
    if (!known) {
        struct bli_replay_outcome *copy = malloc(sizeof *copy);
        if (!copy || !reserve_tried(progress)) {
            free(copy);
            return bal_fail(err, BAL_E_MEMORY, "not enough memory for what was tried");
        }
        known = &progress->tried[progress->count++];
        *known = (struct tried){.servers = servers, .outcome = copy};
    }
    *known->outcome = *outcome;
    return BAL_OK;
}

static void free_sizes(struct sizes *sizes) {
    for (size_t i = 0; i < sizes->count && sizes->progress; i++) {
        for (size_t t = 0; t < sizes->progress[i].count; t++)
            free(sizes->progress[i].tried[t].outcome);
        free(sizes->progress[i].tried);
    }
    free(sizes->progress);
}

/* ---- the range ---- */

/* So many servers may do: try still fewer. */
static void search_range_down(struct progress *progress, uint32_t servers) {
    progress->down = servers > progress->least.none + progress->down_step ? servers - progress->down_step : 0;
    progress->down_step *= 2;
}

/* So many servers may not do: try more. If they are many already there may be no end, as where the largest
 * jobs alone decide and other logs have more of them. */
static void search_range_up(struct progress *progress, uint32_t servers) {
    const uint32_t found = progress->least.met;
    if (servers >= BLI_REPLAY_SERVERS / 2 || (servers >= RANGE_ALWAYS && servers / RANGE_FACTOR >= found)) {
        progress->up = progress->high = 0;
        return;
    }
    progress->up = servers + progress->up_step;
    progress->up_step *= 2;
}

static void begin_range(const struct sizes *sizes, struct progress *progress) {
    const struct bli_target *target = sizes->replay->target;
    const struct bli_min_fleet_search *least = &progress->least;
    const uint32_t servers = least->met > 0 ? least->met : least->failed;
    const struct bli_replay_outcome *at = find_tried(progress, servers)->outcome;
    progress->ranges = true;
    if (isnan(at->log[BLI_TIME_WANTED].high))
        return;
    progress->low = progress->high = servers;
    progress->down_step = progress->up_step = servers / STEPS > 1 ? servers / STEPS : 1;
    if (least->met == 0)
        return;
    if (least->failed > 0 && may_meet_target(target, find_tried(progress, least->failed)->outcome)) {
        progress->low = least->failed;
        search_range_down(progress, least->failed);
    }
    if (!must_meet_target(target, at))
        search_range_up(progress, servers);
}

static void advance_range(const struct sizes *sizes, struct progress *progress) {
    const struct bli_target *target = sizes->replay->target;
    struct tried *tried;
    while (progress->down > 0 && tells_may_meet(sizes, tried = find_tried(progress, progress->down))) {
        tried->counts = true;
        progress->down = 0;
        if (may_meet_target(target, tried->outcome)) {
            progress->low = tried->servers;
            search_range_down(progress, tried->servers);
        }
    }
    while (progress->up > 0 && is_whole(tried = find_tried(progress, progress->up))) {
        tried->counts = true;
        progress->high = tried->servers;
        progress->up = 0;
        if (!must_meet_target(target, tried->outcome))
            search_range_up(progress, tried->servers);
    }
}

/* ---- rounds ---- */

/* As far as what was tried goes. The fleet that just fails is shown, and must be replayed to its end. */
static void advance_search(const struct sizes *sizes, struct progress *progress) {
    struct bli_min_fleet_search *least = &progress->least;
    for (struct tried *tried; least->next > 0 && (tried = find_tried(progress, least->next));) {
        tried->counts = true;
        bli_min_fleet_search_report(least, is_met(sizes->replay->target, tried->outcome),
                                    off_target(sizes, tried->outcome));
    }
    if (sizes->rough || progress->count == 0 || least->next > 0)
        return;
    if (!progress->ranges && (least->failed == 0 || is_whole(find_tried(progress, least->failed))))
        begin_range(sizes, progress);
    if (progress->ranges)
        advance_range(sizes, progress);
}

static void add_attempt(struct sizes *sizes, size_t who, uint32_t servers, enum bli_effort effort) {
    if (servers == 0)
        return;
    sizes->effort[sizes->attempts] = sizes->rough ? BLI_EFFORT_ROUGH : effort;
    sizes->attempt[sizes->attempts++] = (struct size_attempt){who, servers};
}

static void list_next(struct sizes *sizes, size_t who) {
    const struct progress *progress = &sizes->progress[who];
    const struct bli_min_fleet_search *least = &progress->least;
    const bool percentile = sizes->replay->target->quantile > 0;
    if (least->next > 0) { /* one below a fleet that does may be the last that fails */
        add_attempt(sizes, who, least->next,
                    least->next + 1 == least->met ? BLI_EFFORT_WHOLE : BLI_EFFORT_HASTY);
    } else if (!sizes->rough && !progress->ranges && progress->count > 0) {
        add_attempt(sizes, who, least->failed, BLI_EFFORT_WHOLE);
    } else {
        add_attempt(sizes, who, progress->down, percentile ? BLI_EFFORT_HASTY : BLI_EFFORT_WHOLE);
        add_attempt(sizes, who, progress->up, BLI_EFFORT_WHOLE);
    }
}

/* Where processors are left over the neighbours of what is tried are, too: they are next, most of the time.
 * What is found is the same without. */
static void list_ahead(struct sizes *sizes, size_t who, bool below) {
    const struct progress *progress = &sizes->progress[who];
    const struct bli_min_fleet_search *least = &progress->least;
    const uint32_t servers = below ? least->next - 1 : least->next + 1;
    if (least->next == 0 || servers <= least->none || servers > least->most || servers == least->failed ||
        servers == least->met || find_tried(progress, servers) ||
        (sizes->attempts + 1) * sizes->replay->replications > sizes->threads)
        return;
    add_attempt(sizes, who, servers, below ? BLI_EFFORT_WHOLE : BLI_EFFORT_HASTY);
}

static void list_attempts(struct sizes *sizes) {
    sizes->attempts = 0;
    for (size_t i = 0; i < sizes->count; i++)
        list_next(sizes, i);
    for (size_t i = 0; i < sizes->count; i++)
        list_ahead(sizes, i, true);
    for (size_t i = 0; i < sizes->count; i++)
        list_ahead(sizes, i, false);
}

/* How many rounds there may still be: the longest search decides, and a range takes one or two. */
static double rounds_left(const struct sizes *sizes) {
    double most = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        const struct bli_min_fleet_search *least = &sizes->progress[i].least;
        if (least->next == 0)
            continue;
        const double bracket = least->met > 0 && least->failed > 0 ? least->met - least->failed : 8;
        most = fmax(most, ceil(log2(bracket)));
    }
    return most + 2;
}

/* Progress of the whole search, from that of a round. */
struct tracker {
    const struct bli_lab_options *options;
    double done, left; /* earlier rounds; rounds from this one on, as far as is known */
};

static void show_progress(void *context, double part) {
    const struct tracker *tracker = context;
    if (tracker->options->progress)
        tracker->options->progress(tracker->options->progress_context,
                                   (tracker->done + part) / (tracker->done + tracker->left));
}

static enum bal_code case_of(const struct sizes *sizes, size_t who, uint32_t servers, struct bli_case *c,
                             struct bal_error *err) {
    struct bli_replay replay = *sizes->replay;
    replay.model.servers.group[replay.vary].count = servers;
    return bli_replay_case(&replay, &sizes->policy[who], c, err);
}

static enum bal_code try_all(struct sizes *sizes, const struct bli_lab_options *options,
                             struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (size_t k = 0; k < sizes->attempts && !code; k++)
        code = case_of(sizes, sizes->attempt[k].who, sizes->attempt[k].servers, &sizes->cases[k], err);
    if (!code)
        code = bli_replay_try(sizes->replay, sizes->cases, sizes->effort, sizes->attempts, options,
                              sizes->outcome, err);
    for (size_t k = 0; k < sizes->attempts && !code; k++)
        code = save_tried(&sizes->progress[sizes->attempt[k].who], sizes->attempt[k].servers,
                          &sizes->outcome[k], err);
    return code;
}

static enum bal_code run_rounds(struct sizes *sizes, struct bal_error *err) {
    struct tracker tracker = {.options = sizes->options};
    struct bli_lab_options options = *sizes->options;
    options.progress = sizes->rough ? NULL : show_progress; /* which takes little time compared with the
                                                               others */
    options.progress_context = &tracker;
    for (list_attempts(sizes); sizes->attempts > 0; tracker.done++, list_attempts(sizes)) {
        tracker.left = rounds_left(sizes);
        const enum bal_code code = try_all(sizes, &options, err);
        if (code)
            return code;
        for (size_t i = 0; i < sizes->count; i++)
            advance_search(sizes, &sizes->progress[i]);
    }
    return BAL_OK;
}

/* ---- from the beginning to the end ---- */

/* The largest number of servers that cannot be had, all of whose smaller ones cannot either. */
static enum bal_code find_none(const struct sizes *sizes, size_t who, uint32_t *none, struct bal_error *err) {
    uint32_t some = 1;
    struct bli_case c;
    *none = 0;
    for (enum bal_code code; (code = case_of(sizes, who, some, &c, err)); some *= 2) {
        if (some >= BLI_REPLAY_SERVERS)
            return code;
        *none = some;
    }
    while (some - *none > 1) {
        const uint32_t middle = *none + (some - *none) / 2;
        *(case_of(sizes, who, middle, &c, NULL) ? none : &some) = middle;
    }
    return BAL_OK;
}

/* The search begins where a part of the log has its answer, but not below what the work alone demands of the
 * servers that the others leave it to: on average, and while it is most. */
static enum bal_code begin_searches(struct sizes *sizes, const struct bli_min_fleet_search *guess,
                                    struct bal_error *err) {
    const struct bli_replay *replay = sizes->replay;
    const struct bli_servers *servers = &replay->model.servers;
    const double slots = bli_replay_server_rate(&replay->model), speed = servers->group[replay->vary].speed;
    const double others = bli_servers_capacity(servers) - servers->group[replay->vary].count * speed;
    const double needed = sizes->demand->work * replay->speedup / slots - others;
    struct bli_flow *flow;
    enum bal_code code = bli_flow_new(replay, sizes->options->stop, &flow, err);
    const uint32_t flowing = code ? 0 : bli_flow_min_servers(flow, replay);
    free(flow);
    for (size_t i = 0; i < sizes->count && !code; i++) {
        struct bli_min_fleet_search *least = &sizes->progress[i].least;
        uint32_t none;
        if ((code = find_none(sizes, i, &none, err)))
            break;
        const double busy = fmin(fmax(ceil(needed / speed), none + 1.0), BLI_REPLAY_SERVERS);
        const double most = fmin(fmax(busy * FACTOR, ALWAYS_TRIED), BLI_REPLAY_SERVERS);
        const uint32_t first = (uint32_t)fmin(fmax(busy, flowing), most);
        if (guess)
            bli_min_fleet_search_init_near(least, first > guess[i].met ? first : guess[i].met, (uint32_t)most,
                                           guess[i].slope);
        else
            bli_min_fleet_search_init(least, first, (uint32_t)most);
        least->none = none;
        least->unlikely = flowing - 1;
    }
    return code;
}

static enum bal_code search_sizes(struct sizes *sizes, struct bal_error *err);

/* Searches in a part of the log. *guess stays NULL where that is too small. */
static enum bal_code guess_all(const struct sizes *sizes, struct bli_min_fleet_search **guess,
                               struct bal_error *err) {
    const struct bli_replay *replay = sizes->replay;
    const double part = fmin(replay->replications / (double)PART, 1);
    struct bli_replay sample = *replay;
    struct bli_trace *trace = NULL;
    *guess = NULL;
    if (part * (double)bli_trace_info(replay->trace)->jobs < JOBS_MIN)
        return BAL_OK;
    sample.replications = 1;
    enum bal_code code =
        part < 1 ? bli_replay_sample(replay, part, sizes->options->stop, &sample, &trace, err) : BAL_OK;
    if (!code && bli_trace_info(sample.trace)->span > 0) {
        struct sizes rough = *sizes;
        rough.replay = &sample;
        rough.rough = true;
        rough.progress = calloc(sizes->count + 1, sizeof *rough.progress);
        *guess = calloc(sizes->count + 1, sizeof **guess);
        code = rough.progress && *guess
                   ? search_sizes(&rough, err)
                   : bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu policies", sizes->count);
        for (size_t i = 0; i < sizes->count && !code; i++) {
            (*guess)[i] = rough.progress[i].least;
            if ((*guess)[i].met == 0)
                (*guess)[i].met = (*guess)[i].most;
        }
        free_sizes(&rough);
    }
    bli_trace_free(trace);
    return code;
}

static enum bal_code search_sizes(struct sizes *sizes, struct bal_error *err) {
    struct bli_min_fleet_search *guess;
    enum bal_code code = guess_all(sizes, &guess, err);
    if (!code)
        code = begin_searches(sizes, guess, err);
    free(guess);
    return code ? code : run_rounds(sizes, err);
}

static enum bal_code fill_sizing(const struct sizes *sizes, size_t who, struct bli_sizing *sizing,
                                 struct bal_error *err) {
    const struct progress *progress = &sizes->progress[who];
    const struct bli_min_fleet_search *least = &progress->least;
    sizing->outcome = least->met > 0 ? BLI_SIZED : BLI_SIZE_BEYOND;
    sizing->servers = least->met > 0 ? least->met : least->failed;
    sizing->low = progress->low;
    sizing->high = progress->high;
    sizing->at = *find_tried(progress, sizing->servers)->outcome;
    if (least->met > 0 && least->failed > 0)
        sizing->one_fewer = find_tried(progress, least->failed)->outcome->time[BLI_TIME_WANTED].mean;
    for (size_t t = 0; t < progress->count; t++)
        sizing->fleets_tried += progress->tried[t].counts;
    return case_of(sizes, who, sizing->servers, &sizing->c, err);
}

/* Which servers are to be varied must be clear. */
static enum bal_code check_groups(const struct bli_replay *replay, struct bal_error *err) {
    const struct bli_servers *servers = &replay->model.servers;
    for (unsigned g = 1; g < servers->groups && !replay->vary_given; g++)
        if (servers->group[g].speed != servers->group[0].speed)
            return bal_fail(
                err, BAL_E_MODEL,
                "this fleet has speeds %g and %g: say whose number is looked for, as in %ux%g,Nx%g",
                servers->group[0].speed, servers->group[g].speed, servers->group[0].count,
                servers->group[0].speed, servers->group[g].speed);
    return BAL_OK;
}

/* Both ends of the ranges at once, and what processors are left over for. */
static bool allocate_sizes(struct sizes *sizes) {
    const size_t room = 2 * sizes->count + sizes->threads + 1;
    sizes->progress = calloc(sizes->count + 1, sizeof *sizes->progress);
    sizes->attempt = calloc(room, sizeof *sizes->attempt);
    sizes->effort = calloc(room, sizeof *sizes->effort);
    sizes->cases = calloc(room, sizeof *sizes->cases);
    sizes->outcome = calloc(room, sizeof *sizes->outcome);
    return sizes->progress && sizes->attempt && sizes->effort && sizes->cases && sizes->outcome;
}

static enum bal_code size_all(struct sizes *sizes, struct bli_sizing *sizing, struct bal_error *err) {
    const double best = best_possible(sizes->replay, sizes->demand);
    for (size_t i = 0; i < sizes->count; i++)
        sizing[i] = (struct bli_sizing){.outcome = BLI_SIZE_HOPELESS, .best = best, .one_fewer = NAN};
    /* Quantiles are within 0.8 % of the truth, so a little more than the target may still be it. */
    if (best > 1.01 * sizes->replay->target->seconds)
        return BAL_OK;
    if (!allocate_sizes(sizes))
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu policies", sizes->count);
    enum bal_code code = search_sizes(sizes, err);
    for (size_t i = 0; i < sizes->count && !code; i++)
        code = fill_sizing(sizes, i, &sizing[i], err);
    return code;
}

static size_t threads_of(const struct bli_lab_options *options) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return options->threads > 0 ? options->threads : processors > 0 ? (size_t)processors : 1;
}

enum bal_code bli_replay_size(const struct bli_replay *replay, const struct bli_demand *demand,
                              const struct bal_policy_spec *policy, size_t count,
                              const struct bli_lab_options *options, struct bli_sizing *sizing,
                              struct bal_error *err) {
    enum bal_code code = check_groups(replay, err);
    if (code)
        return code;
    struct bli_replay equal = *replay;
    if (!replay->vary_given) { /* groups of one speed are one group */
        equal.model.servers.groups = 1;
        equal.model.servers.group[0].count = bli_servers_count(&replay->model.servers);
        equal.vary = 0;
    }
    struct sizes sizes = {.replay = &equal,
                          .demand = demand,
                          .policy = policy,
                          .options = options,
                          .count = count,
                          .threads = threads_of(options),
                          .at_best = target_ratio_at_best(&equal, demand)};
    code = size_all(&sizes, sizing, err);
    free_sizes(&sizes);
    free(sizes.attempt);
    free(sizes.effort);
    free(sizes.cases);
    free(sizes.outcome);
    return code;
}
