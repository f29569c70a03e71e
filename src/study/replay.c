/* Recorded jobs on a chosen fleet. The search for the least fleet goes in rounds: in each of them every
 * policy whose search is not over has one fleet tried, and all these replays share the processors. */
#include "ballast/replay.h"

#include "ballast/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOWS = 60,           /* at least so many windows in a trace, unless it is very short */
    LARGEST = 1 << 20,      /* fleets beyond this are not tried ... */
    FACTOR = 256,           /* ... nor those so many times as large as the work alone demands ... */
    ALWAYS_TRIED = 1 << 10, /* ... but this many servers always are */
};

#define NANOSECONDS 1e9

/* ---- what a trace asks of a fleet ---- */

/* The windows that people think in, in nanoseconds. */
static int64_t window_of(int64_t span) {
    static const int64_t lengths[] = {1000,          1000000,        10000000,       100000000,
                                      1000000000,    10000000000,    60000000000,    600000000000,
                                      3600000000000, 86400000000000, 864000000000000};
    unsigned i = 0;
    while (i + 1 < sizeof lengths / sizeof *lengths && lengths[i + 1] <= span / WINDOWS)
        i++;
    return lengths[i];
}

/* Whole multiples, towards the past also before 1970. */
static int64_t floor_divide(int64_t time, int64_t window) {
    const int64_t quotient = time / window;
    return quotient - (time % window < 0);
}

struct window {
    double jobs, work;
};

/* One pass over the trace. */
struct survey {
    const struct bal_trace_info *info;
    int64_t length; /* of a window */
    int64_t first;  /* number of the first window */
    size_t windows;
    struct window *window;
    struct bal_histogram *sizes; /* in units of their mean */
    double span_jobs[BAL_REPLAY_SPANS];
};

static void survey_add(struct survey *survey, const struct bal_trace_job *job) {
    const struct bal_trace_info *info = survey->info;
    struct window *window = &survey->window[floor_divide(job->time, survey->length) - survey->first];
    const double size = (double)job->size / NANOSECONDS;
    window->jobs++;
    window->work += size;
    bal_histogram_add(survey->sizes, size / info->size_mean);
    const double part = (double)(job->time - info->first) / (double)(info->last - info->first);
    const size_t span = (size_t)(part * BAL_REPLAY_SPANS);
    survey->span_jobs[span < BAL_REPLAY_SPANS ? span : BAL_REPLAY_SPANS - 1]++;
}

static enum bal_code survey_trace(struct survey *survey, const struct bal_trace *trace,
                                  const volatile int *stop, struct bal_error *err) {
    struct bal_trace_cursor *cursor;
    enum bal_code code = bal_trace_cursor_new(trace, &cursor, err);
    if (code)
        return code;
    for (;;) {
        struct bal_trace_job job;
        code = bal_trace_next(cursor, &job, err);
        if (code || job.size == 0)
            break;
        if (stop && *stop) {
            code = bal_fail(err, BAL_E_STOPPED, "stopped before the end");
            break;
        }
        survey_add(survey, &job);
    }
    bal_trace_cursor_free(cursor);
    return code;
}

static void conclude(const struct survey *survey, struct bal_demand *demand) {
    const struct bal_trace_info *info = survey->info;
    const double mean = info->size_mean, window = (double)survey->length / NANOSECONDS;
    *demand = (struct bal_demand){
        .rate = (double)info->jobs / info->span,
        .work = info->work / info->span,
        .scv = fmax(info->size_square / (mean * mean) - 1, 0),
        .size_p50 = mean * bal_histogram_quantile(survey->sizes, 0.5),
        .size_p90 = mean * bal_histogram_quantile(survey->sizes, 0.9),
        .size_p99 = mean * bal_histogram_quantile(survey->sizes, 0.99),
        .size_p999 = mean * bal_histogram_quantile(survey->sizes, 0.999),
        .window = window,
    };
    size_t busiest = 0;
    for (size_t i = 0; i < survey->windows; i++) {
        demand->peak_rate = fmax(demand->peak_rate, survey->window[i].jobs / window);
        if (survey->window[i].work > survey->window[busiest].work)
            busiest = i;
    }
    /* The span has one gap fewer than jobs, so that the mean of a short steady log may be above all windows.
     */
    demand->peak_rate = fmax(demand->peak_rate, demand->rate);
    demand->peak_work = fmax(survey->window[busiest].work / window, demand->work);
    demand->peak_at = (double)(survey->first + (int64_t)busiest) * window;
    for (size_t i = 0; i < BAL_REPLAY_SPANS; i++)
        demand->span_rate[i] = survey->span_jobs[i] * BAL_REPLAY_SPANS / info->span;
}

enum bal_code bal_demand_of(const struct bal_trace *trace, const volatile int *stop,
                            struct bal_demand *demand, struct bal_error *err) {
    const struct bal_trace_info *info = bal_trace_info(trace);
    if (info->last == info->first)
        return bal_fail(err, BAL_E_MODEL,
                        "all jobs (%llu) arrive at one moment, so there is no rate of arrivals; a replay "
                        "needs jobs at different times",
                        (unsigned long long)info->jobs);
    struct survey survey = {.info = info, .length = window_of(info->last - info->first)};
    survey.first = floor_divide(info->first, survey.length);
    survey.windows = (size_t)(floor_divide(info->last, survey.length) - survey.first) + 1;
    survey.window = calloc(survey.windows, sizeof *survey.window);
    survey.sizes = calloc(1, sizeof *survey.sizes);
    const enum bal_code code = survey.window && survey.sizes
                                   ? survey_trace(&survey, trace, stop, err)
                                   : bal_fail(err, BAL_E_MEMORY, "not enough memory to look at a trace");
    if (!code)
        conclude(&survey, demand);
    free(survey.window);
    free(survey.sizes);
    return code;
}

/* ---- one replay ---- */

double bal_replay_time(const struct bal_replay *replay) {
    return bal_trace_info(replay->trace)->span / replay->speedup;
}

double bal_replay_load(const struct bal_replay *replay, double work) {
    const double slots = replay->model.slots > 0 ? replay->model.slots : 1;
    return work * replay->speedup / (bal_servers_capacity(&replay->model.servers) * slots);
}

enum bal_code bal_replay_case(const struct bal_replay *replay, const struct bal_policy_spec *policy,
                              struct bal_case *c, struct bal_error *err) {
    const struct bal_trace_info *info = bal_trace_info(replay->trace);
    if (bal_scheme_of(policy->policy) == BAL_SCHEME_POOLED)
        return bal_fail(err, BAL_E_MODEL, "policy '%s' is one common queue, which cannot be replayed",
                        policy->policy->name);
    *c = (struct bal_case){
        .model = replay->model,
        .policy = *policy,
        .run = {.seed = replay->seed,
                .time = bal_replay_time(replay),
                .warmup = 0,
                .engine = BAL_ENGINE_EVENT,
                .trace = replay->trace,
                .speedup = replay->speedup},
        .replications = replay->replications,
    };
    struct bal_model *model = &c->model;
    model->clock = BAL_CLOCK_CONTINUOUS;
    model->load = bal_replay_load(replay, info->work / info->span);
    model->high = model->classes ? (double)info->high / (double)info->jobs : 0;
    bal_law_parse("exp", &model->size, NULL); /* no size is drawn: what counts is the mean */
    bal_law_scale(&model->size, info->size_mean);
    enum bal_engine engine;
    return bal_simulate_check(model, policy, BAL_ENGINE_EVENT, &engine, err);
}

double bal_replay_energy(const struct bal_result *result) {
    return result->metric[BAL_ENERGY_PER_JOB].mean * (double)result->jobs / result->replications;
}

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

/* ---- targets ---- */

static const struct {
    const char *name;
    enum bal_metric metric;
} target_names[] = {{"mean", BAL_RESPONSE_MEAN}, {"p50", BAL_RESPONSE_P50},    {"p90", BAL_RESPONSE_P90},
                    {"p99", BAL_RESPONSE_P99},   {"p99.9", BAL_RESPONSE_P999}, {"p999", BAL_RESPONSE_P999}};

enum { TARGETS = sizeof target_names / sizeof *target_names };

enum bal_code bal_duration_parse(const char *text, double *seconds, struct bal_error *err) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
    double number;
    const char *unit = bal_number_read(text, &number);
    if (!unit || !(number >= 0) || !isfinite(number))
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is not a length of time, such as 200ms or 30s", text);
    unit += strspn(unit, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *seconds = number * units[i].seconds;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_SYNTAX, "'%.60s' needs a unit: ns, us, ms, s, min or h, as in 200ms", text);
}

enum bal_code bal_target_parse(const char *text, struct bal_target *target, struct bal_error *err) {
    const size_t length = strcspn(text, "=");
    size_t i = 0;
    while (i < TARGETS &&
           (strlen(target_names[i].name) != length || strncmp(target_names[i].name, text, length) != 0))
        i++;
    if (i == TARGETS || text[length] != '=')
        return bal_fail(err, BAL_E_SYNTAX,
                        "not a target; write one of mean, p50, p90, p99, p99.9 and a time: p99=200ms");
    double seconds;
    const enum bal_code code = bal_duration_parse(text + length + 1, &seconds, err);
    if (code)
        return code;
    if (seconds == 0)
        return bal_fail(err, BAL_E_RANGE, "no job takes no time; give one above 0, such as p99=200ms");
    *target = (struct bal_target){target_names[i].metric, seconds};
    return BAL_OK;
}

const char *bal_target_name(const struct bal_target *target) {
    size_t i = 0;
    while (i + 1 < TARGETS && target_names[i].metric != target->metric)
        i++;
    return target_names[i].name;
}

/* ---- how large must the fleet be? ---- */

struct sizes {
    const struct bal_replay *replay;
    const struct bal_policy_spec *policy;
    const struct bal_target *target;
    size_t count;
    struct bal_least *least;
    struct bal_sizing *sizing;
    /* Of one round: which policies are in it, their cases, what came of them. */
    size_t *who;
    struct bal_case *cases;
    struct bal_result *results;
};

/* The metric when no job ever waits. */
static double best_possible(const struct bal_replay *replay, const struct bal_demand *demand,
                            enum bal_metric metric) {
    const double size = metric == BAL_RESPONSE_MEAN  ? bal_trace_info(replay->trace)->size_mean
                        : metric == BAL_RESPONSE_P50 ? demand->size_p50
                        : metric == BAL_RESPONSE_P90 ? demand->size_p90
                        : metric == BAL_RESPONSE_P99 ? demand->size_p99
                                                     : demand->size_p999;
    return size / replay->model.servers.group[0].speed;
}

static bool is_met(const struct bal_target *target, const struct bal_result *result) {
    return result->metric[target->metric].mean <= target->seconds && result->metric[BAL_REFUSED].mean == 0 &&
           result->metric[BAL_LOST].mean == 0;
}

static enum bal_code sizing_case(const struct sizes *sizes, size_t i, struct bal_case *c,
                                 struct bal_error *err) {
    struct bal_replay replay = *sizes->replay;
    replay.model.servers.groups = 1;
    replay.model.servers.group[0].count = sizes->least[i].next;
    return bal_replay_case(&replay, &sizes->policy[i], c, err);
}

/* Keeps what is known of the fleet that was tried: the one that is returned in the end, and the one below. */
static void take_result(struct sizes *sizes, size_t i, const struct bal_case *c,
                        const struct bal_result *result) {
    struct bal_sizing *sizing = &sizes->sizing[i];
    const bool met = is_met(sizes->target, result);
    const uint32_t servers = sizes->least[i].next;
    sizing->fleets_tried++;
    bal_least_tell(&sizes->least[i], met);
    if (!met)
        sizing->one_fewer = result->metric[sizes->target->metric].mean;
    if (!met && sizes->least[i].met > 0)
        return;
    sizing->servers = servers;
    sizing->c = *c;
    sizing->at = *result;
    sizing->outcome = met ? BAL_SIZED : BAL_SIZE_BEYOND;
}

/* How many rounds there may still be: the longest search decides. */
static double rounds_left(const struct sizes *sizes) {
    double most = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        const struct bal_least *least = &sizes->least[i];
        if (least->next == 0)
            continue;
        const double bracket = least->met > 0 ? least->met - least->failed : 4.0 * least->next;
        most = fmax(most, ceil(log2(bracket)));
    }
    return fmax(most, 1);
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

/* Sets *tried to the number of fleets that were tried; 0: all searches are over. */
static enum bal_code run_round(struct sizes *sizes, const struct bal_lab_options *options, size_t *tried,
                               struct bal_error *err) {
    *tried = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->least[i].next == 0)
            continue;
        const enum bal_code code = sizing_case(sizes, i, &sizes->cases[*tried], err);
        if (code)
            return code;
        sizes->who[(*tried)++] = i;
    }
    if (*tried == 0)
        return BAL_OK;
    const enum bal_code code = bal_lab_run(sizes->cases, *tried, options, sizes->results, err);
    for (size_t k = 0; k < *tried && !code; k++)
        take_result(sizes, sizes->who[k], &sizes->cases[k], &sizes->results[k]);
    return code;
}

/* The search begins where the work alone would keep the servers busy. */
static void begin(struct sizes *sizes, const struct bal_demand *demand) {
    const struct bal_replay *replay = sizes->replay;
    const double one = replay->model.servers.group[0].speed * fmax(replay->model.slots, 1);
    const double busy = fmin(fmax(ceil(demand->work * replay->speedup / one), 1), LARGEST);
    const double most = fmin(fmax(busy * FACTOR, ALWAYS_TRIED), LARGEST);
    const double best = best_possible(replay, demand, sizes->target->metric);
    for (size_t i = 0; i < sizes->count; i++) {
        bal_least_init(&sizes->least[i], (uint32_t)busy, (uint32_t)most);
        sizes->sizing[i] = (struct bal_sizing){.outcome = BAL_SIZE_HOPELESS, .best = best, .one_fewer = NAN};
        /* Quantiles are within 0.8 % of the truth, so a little more than the target may still be it. */
        if (best > 1.01 * sizes->target->seconds)
            sizes->least[i].next = 0;
    }
}

static void end(struct sizes *sizes) {
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->least[i].failed == 0 || sizes->least[i].met == 0)
            sizes->sizing[i].one_fewer = NAN;
}

enum bal_code bal_replay_size(const struct bal_replay *replay, const struct bal_demand *demand,
                              const struct bal_policy_spec *policy, size_t count,
                              const struct bal_target *target, const struct bal_lab_options *options,
                              struct bal_sizing *sizing, struct bal_error *err) {
    for (unsigned g = 1; g < replay->model.servers.groups; g++)
        if (replay->model.servers.group[g].speed != replay->model.servers.group[0].speed)
            return bal_fail(err, BAL_E_MODEL,
                            "the search changes the number of equal servers, but this fleet has speeds %g "
                            "and %g; give servers of one speed",
                            replay->model.servers.group[0].speed, replay->model.servers.group[g].speed);
    struct sizes sizes = {.replay = replay, .policy = policy, .target = target, .count = count};
    sizes.sizing = sizing;
    sizes.least = calloc(count + 1, sizeof *sizes.least);
    sizes.who = calloc(count + 1, sizeof *sizes.who);
    sizes.cases = calloc(count + 1, sizeof *sizes.cases);
    sizes.results = calloc(count + 1, sizeof *sizes.results);
    enum bal_code code = BAL_OK;
    if (!sizes.least || !sizes.who || !sizes.cases || !sizes.results) {
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu policies", count);
        goto out;
    }
    begin(&sizes, demand);
    struct tracker tracker = {.options = options};
    struct bal_lab_options tracked = *options;
    tracked.progress = show_progress;
    tracked.progress_context = &tracker;
    for (size_t tried = 1; tried > 0 && !code; tracker.done++) {
        tracker.left = rounds_left(&sizes);
        code = run_round(&sizes, &tracked, &tried, err);
    }
    end(&sizes);
out:
    free(sizes.least);
    free(sizes.who);
    free(sizes.cases);
    free(sizes.results);
    return code;
}
