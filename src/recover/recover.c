/* SPDX-License-Identifier: BSD-2-Clause */
/* One pass over the jobs for the evidence, and one that writes what was recovered. */
#include "ballast/recover.h"

#include "recover/low_load.h"
#include "recover/processor_sharing.h"
#include "recover/slot_inference.h"

#include <math.h>
#include <stdlib.h>

#define NANOSECONDS 1e9
#define NAMED_MIN 0.5  /* of the jobs, for the servers of a log to count as named */
#define SHARE_MIN 0.05 /* of waiting: less is none */
#define COARSE 0.5     /* seconds: times in larger steps are drawn within them */
#define TOLERANCE 2    /* of what times are uncertain by: jobs that leave closer may do so in either order */
#define STEP_MIN 0.001 /* seconds: clocks of proxies are seldom finer, whatever their digits say */
/* Steps by which a job may seem to come before the one whose place it takes has left: each of the two moments
 * is a sum of up to three times that are cut to their digits. Clocks that are set on the way add to it, so
 * that it is never below so many seconds, unless sizes are as short; nor above half of the mean size. */
#define OVERLAP_STEPS 3
#define OVERLAP_MIN 1e-4
#define OVERLAP_SMALL 0.05
#define OVERLAP_MAX 0.5

const char *bli_times_text(enum bli_times times) {
    static const char *const texts[] = {[BLI_TIMES_SERVICE] = "service alone",
                                        [BLI_TIMES_IN_ORDER] = "recovered",
                                        [BLI_TIMES_SHARED] = "recovered, shared",
                                        [BLI_TIMES_CLEAN] = "as logged",
                                        [BLI_TIMES_LIGHT] = "estimated",
                                        [BLI_TIMES_WAITING] = "include waiting",
                                        [BLI_TIMES_UNKNOWN] = "may include waiting"};
    return texts[times];
}

bool bli_times_are_doubtful(enum bli_times times) {
    return times == BLI_TIMES_LIGHT || times == BLI_TIMES_WAITING || times == BLI_TIMES_UNKNOWN;
}

/* ---- from lines to jobs ---- */

/* The proxy, or its client, gave up: what was logged is not a whole service. */
static bool is_given_up(const struct bli_log_record *record, unsigned i) {
    const unsigned status = record->visit[i].status;
    return i + 1 < record->tries || record->aborted || status == 499 || status == 502 || status == 504;
}

unsigned bli_recover_jobs(const struct bli_log_record *record, struct bli_trace_job jobs[BLI_LOG_TRIES]) {
    struct bli_trace_job job = record->job;
    job.left_out = !record->wanted;
    job.aborted = record->aborted;
    jobs[0] = job;
    if (record->tries == 0)
        return 1;
    unsigned count = 0;
    job.ahead = record->ahead > 0 ? record->ahead : 0;
    job.time += job.ahead;
    for (unsigned i = 0; i < record->tries && i < BLI_LOG_TRIES; i++) {
        const struct bli_log_try *visit = &record->visit[i];
        if (record->tries > 1)
            job.size = visit->took;
        if (job.size <= 0) /* not logged, or refused at once */
            continue;
        job.server = visit->server + 1;
        job.aborted = is_given_up(record, i);
        jobs[count++] = job;
        job.time += job.size;
        job.ahead = 0;
    }
    return count;
}

enum bal_code bli_recover_take(void *trace, const struct bli_log_record *record, struct bal_error *err) {
    struct bli_trace_job jobs[BLI_LOG_TRIES];
    const unsigned count = bli_recover_jobs(record, jobs);
    enum bal_code code = BAL_OK;
    for (unsigned i = 0; i < count && !code; i++)
        code = bli_trace_add(trace, &jobs[i], err);
    return code;
}

/* When a server was first and last seen, and when the latest job came to it. */
struct sighting {
    int64_t first, last, latest;
};

struct recoverer {
    const struct bli_trace *logged;
    const struct bli_trace_info *info;
    const struct bli_recover_options *options;
    struct bli_recovery *recovery;
    struct bal_error *err;
    uint32_t servers; /* the largest number of one */
    int64_t tolerance;
    int64_t overlap;                   /* by which times that are cut to their digits may seem to overlap */
    struct bli_departures *departures; /* by the number of the server */
    struct sighting *sighting;
    struct bli_evidence *evidence;
    double unit;                 /* seconds: the mean size as logged */
    struct bli_histogram *sizes; /* in this unit */
    uint64_t seen;
    double work; /* seconds that were served in all */
    struct bli_trace *made;
    /* sharing */
    uint32_t middle; /* found others, which half of the jobs do */
    struct bli_stratum (*strata)[BLI_STRATA];
};

static enum bal_code no_memory(struct recoverer *r) {
    return bal_fail(r->err, BAL_E_MEMORY, "not enough memory to recover service times");
}

/* Calls visit with every job in order. */
static enum bal_code for_each(struct recoverer *r,
                              enum bal_code (*visit)(struct recoverer *r, const struct bli_trace_job *job)) {
    struct bli_trace_cursor *cursor;
    enum bal_code code = bli_trace_cursor_new(r->logged, &cursor, r->err);
    if (code)
        return code;
    struct bli_trace_job job;
    r->seen = 0;
    while (!(code = bli_trace_next(cursor, &job, r->err)) && job.size > 0) {
        if ((code = visit(r, &job)))
            break;
        r->seen++;
        if (r->options->stop && *r->options->stop) {
            code = bal_fail(r->err, BAL_E_STOPPED, "stopped before the end");
            break;
        }
    }
    bli_trace_cursor_free(cursor);
    return code;
}

/* ---- what was recovered ---- */

static enum bal_code make_trace(struct recoverer *r) {
    r->work = 0;
    *r->sizes = (struct bli_histogram){0};
    return bli_trace_new(NULL, &r->made, r->err);
}

static enum bal_code add_job(struct recoverer *r, const struct bli_trace_job *job, int64_t size) {
    r->work += (double)size / NANOSECONDS;
    if (job->left_out)
        return BAL_OK;
    struct bli_trace_job made = *job;
    made.time -= job->ahead;
    made.ahead = 0;
    made.size = size > 0 ? size : 1;
    bli_histogram_add(r->sizes, (double)size / NANOSECONDS / r->unit);
    return bli_trace_add(r->made, &made, r->err);
}

static enum bal_code finish_trace(struct recoverer *r) {
    const enum bal_code code = bli_trace_finish(r->made, r->options->stop, r->err);
    if (code)
        return code;
    struct bli_recovery *recovery = r->recovery;
    recovery->service_mean = bli_trace_info(r->made)->size_mean;
    recovery->service_p99 = r->unit * bli_histogram_quantile(r->sizes, 0.99);
    return BAL_OK;
}

/* ---- who is there ---- */

static enum bal_code count_job(struct recoverer *r, const struct bli_trace_job *job) {
    struct bli_recovery *recovery = r->recovery;
    if (job->left_out)
        return BAL_OK;
    const double seconds = (double)job->size / NANOSECONDS;
    bli_histogram_add(r->sizes, seconds / r->unit);
    recovery->jobs++;
    recovery->logged_mean += seconds; /* the sum, until the end */
    return BAL_OK;
}

/* The first pass: visit looks at each job, whatever else it does. */
static enum bal_code count_all_jobs(struct recoverer *r,
                                    enum bal_code (*visit)(struct recoverer *r,
                                                           const struct bli_trace_job *job)) {
    struct bli_recovery *recovery = r->recovery;
    const enum bal_code code = for_each(r, visit);
    if (code)
        return code;
    if (recovery->jobs == 0)
        return bal_fail(r->err, BAL_E_MODEL, "no job is left");
    recovery->service_mean = recovery->logged_mean /= (double)recovery->jobs;
    recovery->service_p99 = recovery->logged_p99 = r->unit * bli_histogram_quantile(r->sizes, 0.99);
    return BAL_OK;
}

static int by_time(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The most servers between whose first and last job a moment lies. */
static enum bal_code count_servers(struct recoverer *r) {
    const size_t room = (size_t)r->servers + 1;
    int64_t *first = malloc(room * sizeof *first), *last = malloc(room * sizeof *last);
    if (!first || !last) {
        free(first);
        free(last);
        return no_memory(r);
    }
    uint32_t count = 0, most = 0;
    for (uint32_t server = 1; server <= r->servers; server++)
        if (r->sighting[server].last > INT64_MIN) {
            first[count] = r->sighting[server].first;
            last[count++] = r->sighting[server].last;
        }
    qsort(first, count, sizeof *first, by_time);
    qsort(last, count, sizeof *last, by_time);
    for (uint32_t came = 0, left = 0; came < count; came++) {
        while (last[left] < first[came])
            left++;
        most = came + 1 - left > most ? came + 1 - left : most;
    }
    r->recovery->servers = most;
    r->recovery->servers_seen = count;
    free(first);
    free(last);
    return BAL_OK;
}

/* ---- servers that take jobs in order ---- */

/* Of two that came within what the digits leave open, the first may stand second, and if it is as short as
 * that it seems to leave before the other although it had gone when that came. */
static bool is_blurred(const struct recoverer *r, const struct bli_trace_job *job) {
    const struct sighting *sighting = &r->sighting[job->server];
    return job->size <= r->overlap && sighting->latest > job->time - r->overlap;
}

/* A job that was given up does not show how long it would have taken, nor does it overtake by leaving. */
static enum bal_code collect_evidence(struct recoverer *r, const struct bli_trace_job *job) {
    count_job(r, job);
    if (job->server == 0)
        return BAL_OK;
    struct bli_departures *departures = &r->departures[job->server];
    struct sighting *sighting = &r->sighting[job->server];
    const int64_t leaves = job->time + job->size;
    sighting->first = job->time < sighting->first ? job->time : sighting->first;
    sighting->last = leaves > sighting->last ? leaves : sighting->last;
    bli_departures_forget(departures, job->time + r->overlap);
    const bool blurred = is_blurred(r, job);
    sighting->latest = job->time;
    if (!job->aborted && !blurred)
        bli_evidence_add(r->evidence, bli_strata_of(r->seen, r->info->jobs), departures, job->time, leaves,
                         r->tolerance);
    return bli_departures_add(departures, leaves) ? BAL_OK : no_memory(r);
}

static void clear_departures(struct recoverer *r) {
    for (uint32_t server = 0; server <= r->servers; server++)
        bli_departures_fini(&r->departures[server]);
}

/* S = D - max(A, k-th latest D of those that arrived earlier). */
static enum bal_code serve_in_order(struct recoverer *r, const struct bli_trace_job *job) {
    if (job->server == 0)
        return add_job(r, job, job->size);
    struct bli_departures *departures = &r->departures[job->server];
    bli_departures_forget(departures, job->time);
    const bool waits = bli_departures_count(departures) >= r->recovery->slots;
    const int64_t begins = waits ? bli_departures_last(departures, r->recovery->slots) : job->time;
    const int64_t leaves = job->time + job->size;
    if (job->aborted && begins >= leaves) { /* it never had a slot */
        r->recovery->abandoned++;
        return BAL_OK;
    }
    if (!bli_departures_add(departures, leaves))
        return no_memory(r);
    return add_job(r, job, leaves > begins ? leaves - begins : 0);
}

/* ---- servers that share their time ---- */

static const uint32_t cores[BLI_SHARING_MAX] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

/* Of how many others half of the jobs find fewer, at least 1. */
static uint32_t middle_of(const struct bli_evidence *evidence) {
    uint64_t below = 0;
    uint32_t found = 0;
    while (found < BLI_EVIDENCE_MAX && 2 * below < evidence->jobs) {
        for (unsigned b = 0; b < BLI_STRATA; b++)
            below += evidence->block[b].found[found];
        found++;
    }
    return found > 0 ? found : 1;
}

static enum bal_code compare_cores(void *context, const struct bli_trace_job *job, uint32_t found,
                                   const double *work, struct bal_error *err) {
    (void)err;
    struct recoverer *r = context;
    if (job->aborted)
        return BAL_OK;
    const unsigned block = bli_strata_of(r->seen, r->info->jobs), busy = found >= r->middle;
    for (unsigned c = 0; c < BLI_SHARING_MAX; c++) {
        r->strata[c][block].count[busy]++;
        r->strata[c][block].sum[busy] += work[c];
    }
    return BAL_OK;
}

static enum bal_code add_shared_job(void *context, const struct bli_trace_job *job, uint32_t found,
                                    const double *work, struct bal_error *err) {
    (void)found, (void)err;
    return add_job(context, job, (int64_t)llrint(work[0]));
}

static enum bal_code run_sharing(struct recoverer *r, const uint32_t *numbers, unsigned count,
                                 enum bal_code (*take)(void *context, const struct bli_trace_job *job,
                                                       uint32_t found, const double *work,
                                                       struct bal_error *err)) {
    struct bli_sharing *sharing;
    struct bli_trace_cursor *cursor = NULL;
    enum bal_code code = bli_sharing_new(numbers, count, r->servers, take, r, &sharing, r->err);
    if (!code)
        code = bli_trace_cursor_new(r->logged, &cursor, r->err);
    struct bli_trace_job job;
    for (r->seen = 0; !code; r->seen++) {
        code = bli_trace_next(cursor, &job, r->err);
        if (code || job.size == 0)
            break;
        if (job.server > 0)
            code = bli_sharing_add(sharing, &job, r->err);
        else if (r->made)
            code = add_job(r, &job, job.size);
        if (!code && r->options->stop && *r->options->stop)
            code = bal_fail(r->err, BAL_E_STOPPED, "stopped before the end");
    }
    r->seen -= r->seen > 0; /* those that are left belong to the last block */
    if (!code)
        code = bli_sharing_end(sharing, r->err);
    bli_trace_cursor_free(cursor);
    bli_sharing_free(sharing);
    return code;
}

/* The number of cores under which work does not depend on what a job finds. */
static enum bal_code choose_cores(struct recoverer *r, uint32_t *slots) {
    r->middle = middle_of(r->evidence);
    r->strata = calloc(BLI_SHARING_MAX, sizeof *r->strata);
    if (!r->strata)
        return no_memory(r);
    const enum bal_code code = run_sharing(r, cores, BLI_SHARING_MAX, compare_cores);
    double nearest = INFINITY;
    *slots = 1;
    for (unsigned c = 0; c < BLI_SHARING_MAX && !code; c++) {
        const struct bli_contrast contrast = bli_strata_compare(r->strata[c]);
        if (fabs(contrast.log_ratio) < nearest) {
            nearest = fabs(contrast.log_ratio);
            r->recovery->dependence = exp(contrast.log_ratio);
            *slots = cores[c];
        }
    }
    free(r->strata);
    return code;
}

static enum bal_code recover_shared(struct recoverer *r) {
    struct bli_recovery *recovery = r->recovery;
    recovery->times = BLI_TIMES_SHARED;
    recovery->shared_mean = bli_evidence_mean(r->evidence, recovery->slots);
    enum bal_code code = BAL_OK;
    uint32_t slots = r->options->slots;
    if (slots == 0)
        code = choose_cores(r, &slots);
    recovery->slots_open = false;
    recovery->slots = recovery->slots_low = recovery->slots_high = slots;
    recovery->overtaking = NAN;
    if (!code)
        code = make_trace(r);
    if (!code)
        code = run_sharing(r, &slots, 1, add_shared_job);
    return code;
}

/* ---- with names of servers ---- */

static uint32_t clamp_slots(uint32_t slots) {
    return slots < BLI_EVIDENCE_MAX ? slots : BLI_EVIDENCE_MAX;
}

/* A limit that the log states is used unless its times disprove it: several proxies may keep to a limit each,
 * and send more together. */
static bool is_logged_slots_usable(const struct recoverer *r, const struct bli_evidence_slots *judged) {
    return r->options->slots == 0 && r->options->told_slots > 0 && r->options->told_slots >= judged->least;
}

static bool infer_slots(struct recoverer *r) {
    const struct bli_evidence_slots judged = bli_evidence_infer_slots(r->evidence, r->options->step > COARSE);
    struct bli_recovery *recovery = r->recovery;
    recovery->slots_told = is_logged_slots_usable(r, &judged);
    recovery->slots = r->options->slots      ? r->options->slots
                      : recovery->slots_told ? r->options->told_slots
                                             : judged.slots;
    recovery->slots_open = !r->options->slots && !recovery->slots_told && judged.low != judged.high;
    recovery->slots_low = judged.low;
    recovery->slots_high = judged.high;
    recovery->low_mean = bli_evidence_mean(r->evidence, judged.low);
    recovery->high_mean = bli_evidence_mean(r->evidence, judged.high > 0 ? judged.high : BLI_EVIDENCE_MAX);
    recovery->overtaking = bli_evidence_overtaking(r->evidence, clamp_slots(recovery->slots));
    recovery->dependence = bli_evidence_dependence(r->evidence, clamp_slots(recovery->slots));
    return judged.shared;
}

static void set_loads(struct recoverer *r) {
    struct bli_recovery *recovery = r->recovery;
    const double capacity = r->info->span * recovery->servers * recovery->slots;
    recovery->logged_load = r->info->work / capacity;
    recovery->service_load = r->work / capacity;
    recovery->share = (struct bli_estimate){1 - r->work / r->info->work, NAN};
}

static enum bal_code allocate_servers(struct recoverer *r) {
    const size_t room = (size_t)r->servers + 1;
    r->departures = calloc(room, sizeof *r->departures);
    r->sighting = malloc(room * sizeof *r->sighting);
    r->evidence = calloc(1, sizeof *r->evidence);
    if (!r->departures || !r->sighting || !r->evidence)
        return no_memory(r);
    for (size_t i = 0; i < room; i++)
        r->sighting[i] = (struct sighting){INT64_MAX, INT64_MIN, INT64_MIN / 2};
    return BAL_OK;
}

/* Jobs drawn into their second in the order of lines: between two of one server lie those of all others, and
 * the gap errs by the square root of their number. */
static double time_uncertainty(const struct recoverer *r) {
    const double gap = r->info->span / (double)r->info->jobs;
    return r->options->step > COARSE ? sqrt(r->servers) * gap : fmax(r->options->step, STEP_MIN);
}

/* Times in whole seconds are drawn within them: then the digits do not show what overlaps. */
static double overlap_of(const struct recoverer *r) {
    if (r->options->step > COARSE)
        return 0;
    const double digits = OVERLAP_STEPS * fmax(r->options->step, r->options->length_step);
    const double clock = fmin(OVERLAP_MIN, OVERLAP_SMALL * r->unit);
    return fmin(fmax(digits, clock), OVERLAP_MAX * r->unit);
}

static enum bal_code recover_named(struct recoverer *r) {
    r->tolerance = (int64_t)(TOLERANCE * time_uncertainty(r) * NANOSECONDS);
    r->overlap = (int64_t)(overlap_of(r) * NANOSECONDS);
    enum bal_code code = allocate_servers(r);
    if (!code)
        code = count_all_jobs(r, collect_evidence);
    if (!code)
        code = count_servers(r);
    if (code)
        return code;
    const bool shared = infer_slots(r);
    clear_departures(r);
    if (shared) {
        code = recover_shared(r);
    } else {
        r->recovery->times = BLI_TIMES_IN_ORDER;
        code = make_trace(r);
        if (!code)
            code = for_each(r, serve_in_order);
    }
    if (!code)
        code = finish_trace(r);
    if (!code)
        set_loads(r);
    return code;
}

/* ---- without them ---- */

struct low_load_pass {
    struct recoverer base; /* first: the visits of jobs take it */
    struct bli_low_load *low_load;
};

static enum bal_code add_low_load(struct recoverer *r, const struct bli_trace_job *job) {
    count_job(r, job);
    return bli_low_load_add(((struct low_load_pass *)r)->low_load, job, r->err);
}

static enum bal_code serve_low_load(struct recoverer *r, const struct bli_trace_job *job) {
    int64_t size;
    const enum bal_code code = bli_low_load_size(((struct low_load_pass *)r)->low_load, job, &size, r->err);
    return code ? code : add_job(r, job, size);
}

static enum bal_code recover_low_load(struct recoverer *r) {
    struct low_load_pass low_load_pass = {.base = *r};
    struct bli_recovery *recovery = r->recovery;
    enum bal_code code = bli_low_load_new(r->info, &low_load_pass.low_load, r->err);
    if (!code)
        code = count_all_jobs(&low_load_pass.base, add_low_load);
    if (!code)
        code = bli_low_load_estimate(low_load_pass.low_load, recovery, r->err);
    if (!code && recovery->times == BLI_TIMES_LIGHT && !r->options->keep) {
        code = make_trace(&low_load_pass.base);
        if (!code)
            code = for_each(&low_load_pass.base, serve_low_load);
        if (!code)
            code = finish_trace(&low_load_pass.base);
        r->made = low_load_pass.base.made;
    }
    bli_low_load_free(low_load_pass.low_load);
    return code;
}

/* ---- all of it ---- */

static enum bal_code copy_job(struct recoverer *r, const struct bli_trace_job *job) {
    return add_job(r, job, job->size);
}

/* Sizes stay; but jobs arrive when they came to the proxy, not to the server. */
static enum bal_code make_logged_trace(struct recoverer *r) {
    enum bal_code code = make_trace(r);
    if (!code)
        code = for_each(r, copy_job);
    return code ? code : finish_trace(r);
}

/* As logged, where that is wanted. */
static void keep_logged_times(struct recoverer *r) {
    struct bli_recovery *recovery = r->recovery;
    if (recovery->share.mean > SHARE_MIN && recovery->times != BLI_TIMES_UNKNOWN)
        recovery->times = BLI_TIMES_WAITING;
    else if (recovery->times != BLI_TIMES_UNKNOWN)
        recovery->times = BLI_TIMES_CLEAN;
    bli_trace_free(r->made);
    r->made = NULL;
}

enum bal_code bli_recover(const struct bli_trace *logged, const struct bli_recover_options *options,
                          struct bli_trace **recovered, struct bli_recovery *recovery,
                          struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(logged);
    *recovered = NULL;
    *recovery = (struct bli_recovery){.times = BLI_TIMES_SERVICE,
                                      .unserved = info->unserved,
                                      .share = {NAN, NAN},
                                      .dependence = NAN,
                                      .logged_load = NAN,
                                      .service_load = NAN};
    struct recoverer r = {.logged = logged,
                          .info = info,
                          .options = options,
                          .recovery = recovery,
                          .err = err,
                          .servers = info->servers,
                          .unit = info->size_mean};
    r.sizes = calloc(1, sizeof *r.sizes);
    enum bal_code code = r.sizes ? BAL_OK : no_memory(&r);
    const bool named = (double)(info->jobs - info->unserved) >= NAMED_MIN * (double)info->jobs;
    if (!code)
        code = options->service ? count_all_jobs(&r, count_job)
               : named          ? recover_named(&r)
                                : recover_low_load(&r);
    if (!code && options->keep && !options->service)
        keep_logged_times(&r);
    if (!code && !r.made && info->moved > 0)
        code = make_logged_trace(&r);
    if (code) {
        bli_trace_free(r.made);
        r.made = NULL;
    }
    for (uint32_t server = 0; r.departures && server <= r.servers; server++)
        bli_departures_fini(&r.departures[server]);
    free(r.departures);
    free(r.sighting);
    free(r.evidence);
    free(r.sizes);
    *recovered = r.made;
    return code;
}
