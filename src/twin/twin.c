/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulates the last minutes of a live fleet under other policies. */
#include "twin/twin.h"

#include "format/time_text.h"
#include "study/blocks.h"
#include "study/replay_try.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JOBS_MIN = 100 }; /* fewer are not enough for an answer */

/* What is not worth a word: less than a log, its clock, and the way to the servers make of it. */
#define MEAN_TOLERANCE 0.02
#define TAIL_TOLERANCE 0.05

static const double nanoseconds = 1e9;

double bli_twin_error(double value, struct bli_confidence_range range) {
    return fmax(value - range.low, range.high - value);
}

struct bli_estimate bli_twin_above(const struct bli_twin_row *row, const struct bli_twin_row *other) {
    if ((row->what == BLI_TWIN_TRAFFIC) != (other->what == BLI_TWIN_TRAFFIC))
        return (struct bli_estimate){NAN, NAN};
    const double mean = row->time[BLI_TIME_MEAN] - other->time[BLI_TIME_MEAN];
    if (row->at != other->at)
        return (struct bli_estimate){
            mean, hypot(bli_twin_error(row->time[BLI_TIME_MEAN], row->log[BLI_TIME_MEAN]),
                        bli_twin_error(other->time[BLI_TIME_MEAN], other->log[BLI_TIME_MEAN])) /
                      sqrt(2)}; /* each is that of another log against this one */
    double apart[BLI_REPLAY_SPANS], jobs = 0;
    for (int s = 0; s < BLI_REPLAY_SPANS; s++) {
        apart[s] = row->jobs[s] > 0 && other->jobs[s] > 0
                       ? row->jobs[s] * (row->response[s] - other->response[s])
                       : 0;
        jobs += row->jobs[s];
    }
    return (struct bli_estimate){mean, bli_blocks_half(apart, 0) / jobs};
}

/* ---- questions ---- */

static struct bli_twin_row *add_row(struct bli_twin *twin, enum bli_twin_what what,
                                    const struct bal_policy_spec *policy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static struct bli_twin_row *add_row(struct bli_twin *twin, enum bli_twin_what what,
                                    const struct bal_policy_spec *policy, const char *format, ...) {
    struct bli_twin_row *row = &twin->row[twin->rows++];
    *row = (struct bli_twin_row){.what = what, .policy = *policy};
    va_list args;
    va_start(args, format);
    vsnprintf(row->text, sizeof row->text, format, args);
    va_end(args);
    return row;
}

static bool is_same(const struct bal_policy_spec *a, const struct bal_policy_spec *b) {
    char x[BLI_TWIN_TEXT], y[BLI_TWIN_TEXT];
    bal_policy_print(a, x, sizeof x);
    bal_policy_print(b, y, sizeof y);
    return strcmp(x, y) == 0;
}

/* The first row is what the fleet has, or, where that is not known, the first of the others. */
static void add_rows(struct bli_twin *twin) {
    const struct bli_twin_options *o = &twin->options;
    const struct bal_policy_spec *now = o->has_now ? &o->now : &o->policy[0];
    char name[BLI_TWIN_TEXT / 2];
    bal_policy_print(now, name, sizeof name);
    if (o->has_now)
        add_row(twin, BLI_TWIN_NOW, now, "now: %s", name);
    else
        add_row(twin, BLI_TWIN_POLICY, now, "with %s", name);
    if (o->fewer > 0)
        add_row(twin, BLI_TWIN_FEWER, now, "with %u server%s fewer (%s)", o->fewer, o->fewer == 1 ? "" : "s",
                name);
    if (o->traffic == 2)
        add_row(twin, BLI_TWIN_TRAFFIC, now, "with the traffic doubled (%s)", name);
    else if (o->traffic > 1)
        add_row(twin, BLI_TWIN_TRAFFIC, now, "with %u times the traffic (%s)", o->traffic, name);
    for (size_t i = 0; i < o->policies && twin->rows < BLI_TWIN_ROWS; i++) {
        bal_policy_print(&o->policy[i], name, sizeof name);
        if (!is_same(&o->policy[i], now))
            add_row(twin, BLI_TWIN_POLICY, &o->policy[i], "with %s", name);
    }
}

enum bal_code bli_twin_new(const struct bli_twin_options *options, size_t keep, struct bli_twin **twin,
                           struct bal_error *err) {
    struct bli_twin *t = *twin = calloc(1, sizeof *t);
    if (!t)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a twin");
    t->options = *options;
    t->measured = calloc(1, sizeof *t->measured);
    enum bal_code code = bli_recent_init(&t->window, keep, err);
    if (!code && !t->measured)
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for a twin");
    if (!code && !options->has_now && options->policies == 0)
        code = bal_fail(err, BAL_E_MODEL, "no policy to ask about");
    if (code) {
        bli_twin_free(t);
        *twin = NULL;
        return code;
    }
    add_rows(t);
    return BAL_OK;
}

void bli_twin_change(struct bli_twin *twin, const struct bli_twin_fleet *fleet) {
    struct bli_twin_options *o = &twin->options;
    if (fleet->slots > 0) {
        o->slots_given = true;
        o->model.slots = fleet->slots;
    }
    if (fleet->servers > 0) {
        o->servers_given = true;
        twin->away = fleet->away < fleet->servers ? fleet->away : 0;
        bli_servers_parse("1", &o->model.servers, NULL);
        o->model.servers.group[0].count = fleet->servers - twin->away;
    }
    o->stations = fleet->stations;
    if (o->has_now && is_same(&o->now, &fleet->now))
        return;
    if (o->has_now)
        bli_recent_forget(&twin->window);
    o->has_now = true;
    o->now = fleet->now;
    twin->rows = 0;
    add_rows(twin);
}

void bli_twin_free(struct bli_twin *twin) {
    if (!twin)
        return;
    bli_recent_fini(&twin->window);
    bli_trace_free(twin->trace);
    free(twin->measured);
    free(twin);
}

/* ---- what cannot be known ---- */

static void add_note(struct bli_twin *twin, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_note(struct bli_twin *twin, const char *format, ...) {
    if (twin->notes == BLI_TWIN_NOTES)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(twin->note[twin->notes++], BLI_TWIN_TEXT, format, args);
    va_end(args);
}

static void note_times(struct bli_twin *twin) {
    const struct bli_recovery *r = &twin->recovery;
    if (r->times == BLI_TIMES_LIGHT)
        add_note(twin, "no server is named: service times are estimated from requests that found few others, "
                       "rather too long");
    if (r->times == BLI_TIMES_WAITING)
        add_note(twin, "service times include waiting, %.0f %% of them: all predictions are too long",
                 100 * r->share.mean);
    if (r->times == BLI_TIMES_UNKNOWN)
        add_note(twin,
                 "whether service times include waiting cannot be told: no server is named, or the window "
                 "is too short");
}

static void note_speeds(struct bli_twin *twin) {
    if (twin->speeds.found && !twin->speeds.fit.told)
        add_note(twin,
                 "whether servers have slots, cores or batches these requests cannot tell: --speeds says it");
}

static void note_slots(struct bli_twin *twin) {
    const struct bli_recovery *r = &twin->recovery;
    if (!twin->options.slots_given && r->servers > 0 && r->slots_open)
        add_note(twin,
                 "that a server works on %u request%s at a time is a guess: --slots says it, or the log",
                 r->slots, r->slots == 1 ? "" : "s");
}

static void note_away(struct bli_twin *twin) {
    if (twin->away > 0)
        add_note(twin,
                 "%u of %u servers get no requests at present (ejected, closed or silent): predictions are "
                 "for the others",
                 twin->away, twin->away + bli_servers_count(&twin->replay.model.servers));
}

static void note_window(struct bli_twin *twin) {
    const double length = (double)(twin->view.to - twin->view.from) / nanoseconds;
    const struct bli_trace_info *info = bli_trace_info(twin->trace);
    if (twin->view.shortened)
        add_note(twin, "only the last %.3g s are here: there is room for %zu requests, or no more were read",
                 length, twin->window.room);
    if (info->span < 50 * twin->times.time[BLI_TIME_MEAN])
        add_note(twin, "the window is too short: %.3g s, with response times of %.3g s", info->span,
                 twin->times.time[BLI_TIME_MEAN]);
    const double usual = info->span / (double)info->jobs;
    if (twin->gap > 20 * usual * log((double)info->jobs + 1) && twin->gap > 1)
        add_note(twin, "for %.3g s nothing arrived: a gap in the log, or in the traffic", twin->gap);
    if (twin->view.unfinished > 0 && length > 0 && (double)twin->view.unfinished / nanoseconds >= length / 10)
        add_note(twin, "some requests take longer than %.3g s: those that have not ended are missing",
                 length / 10);
}

/* ---- looking ---- */

static bool works_at_speeds(const struct bli_twin *twin) {
    return twin->options.find_speeds || bli_speeds_given(&twin->options.model.speeds);
}

/* From requests to service times, or to works. */
static enum bal_code recover_service_times(struct bli_twin *twin, struct bli_trace **logged,
                                           struct bal_error *err) {
    enum bal_code code = bli_trace_new(NULL, logged, err);
    if (!code)
        code = bli_recent_copy(&twin->window, &twin->view, *logged, err);
    if (!code)
        code = bli_trace_finish(*logged, twin->options.stop, err);
    if (code)
        return code;
    const struct bli_recover_options how = {.slots =
                                                twin->options.slots_given ? twin->options.model.slots : 0,
                                            .told_slots = twin->options.told_slots,
                                            .step = twin->options.step,
                                            .length_step = twin->options.length_step,
                                            .service = twin->options.service,
                                            .keep = twin->options.keep_waiting,
                                            .stop = twin->options.stop};
    if (!works_at_speeds(twin))
        return bli_recover(*logged, &how, &twin->trace, &twin->recovery, err);
    const struct bli_twin_options *o = &twin->options;
    twin->speeds = (struct bli_speeds_recovery){
        .speeds = o->model.speeds,
        .slots = !o->slots_given || o->model.slots == BLI_SLOTS_ALL ? 0 : o->model.slots,
        .found = o->find_speeds};
    return bli_recover_works(*logged, &how, &twin->speeds, &twin->trace, &twin->recovery, err);
}

/* The times as they were, and the longest time between two arrivals. */
static enum bal_code measure_times(struct bli_twin *twin, const struct bli_trace *logged,
                                   struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(twin->trace);
    struct bli_trace_cursor *cursor;
    enum bal_code code = bli_trace_cursor_new(logged, &cursor, err);
    if (code)
        return code;
    double high = 0;
    uint64_t highs = 0;
    memset(&twin->urgent, 0, sizeof twin->urgent);
    memset(twin->measured, 0, sizeof *twin->measured);
    twin->measured->unit = info->size_mean;
    twin->gap = 0;
    int64_t before = twin->view.from;
    struct bli_trace_job job;
    while (!(code = bli_trace_next(cursor, &job, err)) && job.size > 0) {
        if (job.left_out)
            continue;
        const int64_t arrival = bli_recent_arrival(&job);
        const double response = (double)bli_recent_response(&job) / nanoseconds;
        bli_interval_sums_add(twin->measured, (double)(arrival - info->first) / nanoseconds, info->span,
                              response);
        if (job.high) {
            bli_histogram_add(&twin->urgent, response / info->size_mean);
            high += response;
            highs++;
        }
        if (arrival > before) {
            twin->gap = fmax(twin->gap, (double)(arrival - before) / nanoseconds);
            before = arrival;
        }
    }
    bli_trace_cursor_free(cursor);
    twin->high[0] = highs ? high / (double)highs : NAN;
    twin->high[1] = info->size_mean * bli_histogram_quantile(&twin->urgent, 0.99);
    return code;
}

static enum bal_code choose_fleet(struct bli_twin *twin, struct bal_error *err) {
    const struct bli_twin_options *o = &twin->options;
    twin->replay = (struct bli_replay){
        .trace = twin->trace, .speedup = 1, .model = o->model, .seed = o->seed, .replications = 1};
    struct bli_model *model = &twin->replay.model;
    const struct bli_trace_info *info = bli_trace_info(twin->trace);
    if (o->ranked)
        model->classes = info->high > 0 && info->high < info->jobs;
    if (model->classes && model->discipline == BLI_DISCIPLINE_AUTO)
        model->discipline = o->stations ? BLI_DISCIPLINE_NONPREEMPTIVE : BLI_DISCIPLINE_FIFO;
    if (works_at_speeds(twin)) {
        model->speeds = twin->speeds.speeds;
        model->slots = twin->speeds.slots ? twin->speeds.slots : BLI_SLOTS_ALL;
    } else if (!o->slots_given && twin->recovery.servers > 0) {
        model->slots = twin->recovery.slots;
    }
    if (o->servers_given)
        return BAL_OK;
    if (twin->recovery.servers == 0)
        return bal_fail(err, BAL_E_MODEL,
                        "how many servers? no one is named in these requests; say it with --servers");
    bli_servers_parse("1", &model->servers, NULL);
    model->servers.group[0].count = twin->recovery.servers;
    return BAL_OK;
}

static enum bal_code analyse_window(struct bli_twin *twin, struct bal_error *err) {
    struct bli_trace *logged = NULL;
    enum bal_code code = recover_service_times(twin, &logged, err);
    if (!code && !twin->trace) { /* as logged */
        twin->trace = logged;
        code = measure_times(twin, logged, err);
        logged = NULL;
    } else if (!code) {
        code = measure_times(twin, logged, err);
    }
    bli_trace_free(logged);
    return code ? code : bli_demand_of(twin->trace, twin->options.stop, &twin->demand, err);
}

enum bal_code bli_twin_analyse(struct bli_twin *twin, int64_t now, struct bal_error *err) {
    bli_trace_free(twin->trace);
    twin->trace = NULL;
    twin->notes = 0;
    twin->compared = twin->parted = false;
    twin->why[0] = 0;
    twin->state = BLI_TWIN_WAITING;
    if (twin->window.count == 0)
        return BAL_OK;
    twin->view = bli_recent_view(&twin->window, now, (int64_t)(twin->options.window * nanoseconds));
    twin->state = twin->window.latest < twin->view.from ? BLI_TWIN_SILENT
                  : twin->view.jobs < JOBS_MIN          ? BLI_TWIN_FEW
                                                        : BLI_TWIN_READY;
    if (twin->state != BLI_TWIN_READY)
        return BAL_OK;
    enum bal_code code = analyse_window(twin, err);
    if (code == BAL_E_MODEL) /* no request that was served, or all at one moment */
        twin->state = BLI_TWIN_FEW;
    if (code)
        return code == BAL_E_MODEL ? BAL_OK : code;
    code = choose_fleet(twin, err);
    if (!code)
        code = bli_measured_times(twin->measured,
                                  bli_servers_count(&twin->replay.model.servers) *
                                      bli_replay_server_rate(&twin->replay.model),
                                  bli_trace_info(twin->trace)->span, &twin->times, err);
    if (code)
        return code;
    note_away(twin);
    note_times(twin);
    note_slots(twin);
    note_speeds(twin);
    note_window(twin);
    return BAL_OK;
}

/* ---- answers ---- */

/* So many times the traffic: as many copies of the same requests, shifted against each other around the
 * window, as if as many crowds like this one came. Bursts and everything else keep their length, which
 * hurrying would not do. */
static enum bal_code multiply_traffic(const struct bli_twin *twin, struct bli_trace **made,
                                      struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(twin->trace);
    const int64_t length = info->last - info->first + 1;
    struct bli_trace_cursor *cursor = NULL;
    enum bal_code code = bli_trace_new(NULL, made, err);
    if (!code)
        code = bli_trace_cursor_new(twin->trace, &cursor, err);
    struct bli_trace_job job;
    while (!code && !(code = bli_trace_next(cursor, &job, err)) && job.size > 0)
        for (unsigned k = 0; k < twin->options.traffic && !code; k++) {
            struct bli_trace_job copy = job;
            const int64_t shift = length / (int64_t)twin->options.traffic * (int64_t)k;
            copy.time = info->first + (job.time - info->first + shift) % length;
            copy.spread = false;
            copy.drawn = 0;
            code = bli_trace_add(*made, &copy, err);
        }
    bli_trace_cursor_free(cursor);
    return code ? code : bli_trace_finish(*made, twin->options.stop, err);
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / nanoseconds;
}

/* Takes so many from the end of the fleet. False: none would be left. */
static bool remove_servers(struct bli_servers *servers, uint32_t fewer) {
    if (bli_servers_count(servers) <= fewer)
        return false;
    while (fewer > 0) {
        struct bli_group *last = &servers->group[servers->groups - 1];
        const uint32_t taken = last->count < fewer ? last->count : fewer;
        last->count -= taken;
        fewer -= taken;
        servers->groups -= last->count == 0;
    }
    return true;
}

static void set_answer(struct bli_twin *twin, struct bli_twin_row *row, const struct bli_replay *replay,
                       const struct bli_replay_outcome *outcome) {
    row->answered = true;
    row->at = twin->view.to;
    row->load =
        bli_replay_load(replay, bli_trace_info(replay->trace)->work / bli_trace_info(replay->trace)->span);
    row->messages = outcome->result.metric[BLI_MESSAGES_PER_JOB].mean;
    row->grows = outcome->result.doubts & BLI_DOUBT_GROWING;
    const struct bli_estimate *metric = outcome->result.metric;
    row->on = row->policy.policy->wants & BAL_WANTS_POWER
                  ? bli_servers_count(&replay->model.servers) * (1 - metric[BLI_SERVERS_OFF].mean)
                  : NAN;
    row->high[0] = replay->model.classes ? metric[BLI_HIGH_RESPONSE_MEAN].mean : NAN;
    row->high[1] = replay->model.classes ? metric[BLI_HIGH_RESPONSE_P99].mean : NAN;
    for (int t = 0; t < BLI_REPLAY_TIMES; t++) {
        row->time[t] = outcome->time[t].mean;
        row->log[t] = outcome->log[t];
    }
}

static enum bal_code replay_row(struct bli_twin *twin, struct bli_twin_row *row, struct bli_replay *replay,
                                struct bal_error *err) {
    struct bli_case c;
    struct bal_error why = {0};
    if (twin->options.ranked && !replay->model.classes && bal_policy_flags(&row->policy) & BAL_TAKES_RANKS) {
        row->answered = false; /* until some requests are urgent and some are not */
        return BAL_OK;
    }
    /* Servers take all that is sent to them; who holds requests sends so many. */
    if (twin->speeds.found && twin->options.slots_given && replay->model.slots == BLI_SLOTS_ALL &&
        bal_policy_flags(&row->policy) & BAL_MAY_HOLD)
        replay->model.slots = twin->options.model.slots;
    if (bli_replay_case(replay, &row->policy, &c, &why)) {
        row->answered = false;
        snprintf(row->failed, sizeof row->failed, "%.*s", (int)sizeof row->failed - 1, why.text);
        return BAL_OK;
    }
    double p99[BLI_REPLAY_SPANS], watts[BLI_REPLAY_SPANS];
    struct bli_history history = {
        .spans = BLI_REPLAY_SPANS, .jobs = row->jobs, .response = row->response, .p99 = p99, .watts = watts};
    c.run.history = &history;
    struct bli_replay_outcome *outcome = calloc(1, sizeof *outcome);
    if (!outcome)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for an answer");
    const struct bli_lab_options lab = {.threads = 1, .stop = twin->options.stop};
    const enum bal_code code = bli_replay_run(replay, &c, 1, &lab, outcome, err);
    if (!code) {
        row->failed[0] = 0;
        set_answer(twin, row, replay, outcome);
        if (row->what == BLI_TWIN_NOW) {
            memcpy(twin->apart, outcome->apart, sizeof twin->apart);
            twin->compared = true;
        }
    }
    free(outcome);
    return code;
}

/* ---- prediction and measurement ---- */

/* Which of the policies does what was measured look like? */
static const struct bli_twin_row *nearest_policy(const struct bli_twin *twin) {
    const struct bli_twin_row *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < twin->rows; i++) {
        const struct bli_twin_row *row = &twin->row[i];
        if (!row->answered || row->what == BLI_TWIN_FEWER || row->what == BLI_TWIN_TRAFFIC)
            continue;
        const double far = fabs(log(row->time[BLI_TIME_MEAN] / twin->times.time[BLI_TIME_MEAN])) +
                           fabs(log(row->time[BLI_TIME_P99] / twin->times.time[BLI_TIME_P99])) / 2;
        if (far < least) {
            least = far;
            best = row;
        }
    }
    return best;
}

static bool differs_significantly(const struct bli_twin *twin, enum bli_response_time which,
                                  double tolerance) {
    const struct bli_estimate *apart = &twin->apart[which];
    const double least = fmax(tolerance * twin->row[0].time[which], twin->options.step);
    return fabs(apart->mean) > apart->half_width + least;
}

void bli_twin_judge(struct bli_twin *twin) {
    if (!twin->compared)
        return;
    const bool mean = differs_significantly(twin, BLI_TIME_MEAN, MEAN_TOLERANCE);
    const bool tail = differs_significantly(twin, BLI_TIME_P99, TAIL_TOLERANCE);
    twin->parted = mean || tail;
    twin->why[0] = 0;
    if (!twin->parted)
        return;
    const enum bli_response_time which = mean ? BLI_TIME_MEAN : BLI_TIME_P99;
    const struct bli_estimate *apart = &twin->apart[which];
    char far[BLI_TIME_TEXT], chance[BLI_TIME_TEXT];
    bli_time_length(fabs(apart->mean), far);
    bli_time_length(apart->half_width, chance);
    const int used = snprintf(twin->why, sizeof twin->why,
                              "the measured %s is %s %s than predicted, where %s would be chance",
                              mean ? "mean" : "p99", far, apart->mean > 0 ? "longer" : "shorter", chance);
    const struct bli_twin_row *like = nearest_policy(twin);
    char *rest = twin->why + used, policy[BLI_TWIN_TEXT];
    const size_t room = sizeof twin->why - (size_t)used;
    if (like && like != twin->row) {
        bal_policy_print(&like->policy, policy, sizeof policy);
        snprintf(rest, room,
                 "; it looks more like %s, or servers, slots, dispatchers or delays are not as was said",
                 policy);
    } else {
        snprintf(rest, room,
                 "; servers, slots, dispatchers or delays are not as was said, or servers are disturbed");
    }
}

enum bal_code bli_twin_evaluate(struct bli_twin *twin, size_t number, struct bal_error *err) {
    struct bli_twin_row *row = &twin->row[number];
    const double began = processor_seconds();
    struct bli_replay asked = twin->replay;
    struct bli_trace *more = NULL;
    enum bal_code code = BAL_OK;
    if (row->what == BLI_TWIN_FEWER && !remove_servers(&asked.model.servers, twin->options.fewer)) {
        row->answered = false;
        snprintf(row->failed, sizeof row->failed, "no server would be left");
        return BAL_OK;
    }
    if (row->what == BLI_TWIN_TRAFFIC) {
        code = multiply_traffic(twin, &more, err);
        asked.trace = more;
    } else {
        asked.measured = row->what == BLI_TWIN_NOW ? twin->measured : NULL;
    }
    if (!code)
        code = replay_row(twin, row, &asked, err);
    bli_trace_free(more);
    row->cost = processor_seconds() - began;
    return code;
}
