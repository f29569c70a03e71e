/* SPDX-License-Identifier: BSD-2-Clause */
/* Fits speeds by the number in service to logged times.
 *
 * The jobs of a server are replayed as they came and left: `virtual` is what each job in service has got so
 * far, so the work of a job is the difference of two readings. One pass gives the works for a candidate, and
 * each candidate costs a pass. The density of work is that of its logarithm, in bins that are filled
 * linearly, so that the likelihood is continuous in the parameters. */
#include "ballast/speeds_fit.h"

#include <math.h>
#include <stdlib.h>

#define NANOSECONDS 1e9
#define BIN_WIDTH 0.2      /* of the logarithm of work */
#define LIKELIHOOD_95 1.92 /* by which the logarithm may fall within 95 % */
#define DENSITY_COST                                                                                         \
    2.0          /* times as much variance, because the density is estimated too: as simulated logs show */
#define TOLD 2.0 /* standard deviations */
enum { BINS = 400, BLOCK = 50, GROUPS = 100, CORES_MAX = 256 };

const char *const bli_speeds_cause_name[BLI_CAUSES] = {"slots", "cores", "batch"};

struct event {
    int64_t time;
    uint32_t job;
    bool leaves;
};

struct logged_job {
    int64_t time, size;
    uint32_t server, number; /* in the order of the trace */
    bool aborted;
    uint32_t others; /* that were there when it left, itself included */
    double work, speed;
    double mark; /* while it is in service: what others had got when it began */
    bool begun;
    bool gone;
};

struct fitter {
    struct logged_job *job;
    struct event *event;
    uint32_t *first; /* of each server: its events, in order of time */
    uint32_t jobs, servers;
    double *term; /* of each job, of the candidate that was looked at last */
    double *best_term[BLI_CAUSES];
    double density[BINS + 1];
    uint32_t most; /* jobs at a server at once */
    const volatile int *stop;
    uint32_t *queue; /* jobs of a server in the order in which they came */
};

/* ---- the works of a candidate ---- */

/* What one job in service gets per second, with m of them. */
static double speed_each(const struct bli_speeds *speeds, uint32_t m) {
    return bli_speeds_given(speeds) ? bli_speeds_rate(speeds, m) / m : 1;
}

/* Of one server, whose events are from `from` to `to`. */
static void replay_server(struct fitter *f, const struct bli_speeds *speeds, uint32_t slots, uint32_t from,
                          uint32_t to) {
    double given = 0;
    int64_t last = from < to ? f->event[from].time : 0;
    uint32_t there = 0, serving = 0, head = 0, tail = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct event *e = &f->event[i];
        struct logged_job *job = &f->job[e->job];
        if (serving)
            given += (double)(e->time - last) / NANOSECONDS * speed_each(speeds, serving);
        last = e->time;
        if (e->leaves) {
            job->gone = true;
            job->others = there--;
            job->speed = serving ? speed_each(speeds, serving) : 1;
            job->work = job->begun ? given - job->mark : -1;
            serving -= job->begun;
        } else {
            job->gone = job->begun = false;
            f->queue[tail++] = e->job;
            there++;
        }
        while (head < tail && (slots == 0 || serving < slots)) {
            struct logged_job *next = &f->job[f->queue[head++]];
            if (next->gone)
                continue;
            next->begun = true;
            next->mark = given;
            serving++;
        }
        f->most = there > f->most ? there : f->most;
    }
}

static void replay_all(struct fitter *f, const struct bli_speeds *speeds, uint32_t slots) {
    for (uint32_t s = 0; s < f->servers; s++)
        replay_server(f, speeds, slots, f->first[s], f->first[s + 1]);
}

/* ---- how likely they are ---- */

static bool counts(const struct logged_job *job) {
    return !job->aborted && job->size > 0;
}

static double place_of(double work, double origin) {
    return fmin(fmax((log(work) - origin) / BIN_WIDTH, 0), BINS - 1e-9);
}

/* Works below a millionth of the mean time cannot be told from nothing. */
static double evaluate(struct fitter *f, const struct bli_speeds *speeds, uint32_t slots,
                       struct bli_speeds_candidate *candidate) {
    double sum = 0, mean = 0, count = 0;
    uint64_t impossible = 0;
    *candidate = (struct bli_speeds_candidate){.likelihood = -INFINITY};
    if (f->stop && *f->stop)
        return -INFINITY;
    replay_all(f, speeds, slots);
    for (uint32_t i = 0; i < f->jobs; i++) {
        const struct logged_job *job = &f->job[i];
        mean += counts(job) ? fmax(job->work, 0) : 0;
        count += counts(job);
    }
    mean /= fmax(count, 1);
    const double least = 1e-6 * mean, origin = log(least);
    for (int b = 0; b <= BINS; b++)
        f->density[b] = 0.5 / BINS;
    for (uint32_t i = 0; i < f->jobs; i++) {
        const struct logged_job *job = &f->job[i];
        if (!counts(job) || job->work <= least)
            continue;
        const double place = place_of(job->work, origin);
        const int bin = (int)place;
        f->density[bin] += bin + 1 - place;
        f->density[bin + 1] += place - bin;
    }
    for (uint32_t i = 0; i < f->jobs; i++) {
        const struct logged_job *job = &f->job[i];
        f->term[i] = 0;
        if (!counts(job))
            continue;
        if (job->work <= least) { /* as unlikely as one in all the jobs, anywhere in ten means */
            f->term[i] = -log(10 * mean * count);
            impossible++;
        } else {
            const double place = place_of(job->work, origin);
            const int bin = (int)place;
            const double part = place - bin;
            const double density = (f->density[bin] * (1 - part) + f->density[bin + 1] * part) / count;
            f->term[i] = log(density / (BIN_WIDTH * job->work) * job->speed);
        }
        sum += f->term[i];
    }
    *candidate = (struct bli_speeds_candidate){
        .speeds = *speeds, .slots = slots, .likelihood = sum, .work_mean = mean, .impossible = impossible};
    return sum;
}

static void keep_better(struct fitter *f, enum bli_speeds_cause cause, struct bli_speeds_candidate *best,
                        const struct bli_speeds_candidate *candidate) {
    if (best->work_mean > 0 && !(candidate->likelihood > best->likelihood))
        return;
    *best = *candidate;
    double *kept = f->best_term[cause];
    f->best_term[cause] = f->term;
    f->term = kept;
}

/* ---- the best of each kind ---- */

/* Parameters are rounded to what a log could ever tell, so that they can be read. */
static struct bli_speeds cores_of(double cores) {
    return (struct bli_speeds){.kind = BLI_SPEEDS_CORES, .cores = round(cores * 100) / 100};
}

static struct bli_speeds batch_of(uint32_t most, double slowdown) {
    return (struct bli_speeds){
        .kind = BLI_SPEEDS_BATCH, .most = most, .slowdown = round(slowdown * 1000) / 1000};
}

/* Widens the range of the best by a candidate with that parameter. */
struct profile {
    double parameter[1024], likelihood[1024];
    unsigned count;
};

static void add_point(struct profile *profile, double parameter, double likelihood) {
    if (profile->count == 1024)
        return;
    profile->parameter[profile->count] = parameter;
    profile->likelihood[profile->count++] = likelihood;
}

/* inflation: how many times as far as for independent jobs. */
static void set_range(const struct profile *profile, double parameter, double inflation,
                      struct bli_speeds_candidate *best) {
    best->low = best->high = parameter;
    for (unsigned i = 0; i < profile->count; i++)
        if (profile->likelihood[i] >= best->likelihood - LIKELIHOOD_95 * DENSITY_COST * inflation) {
            best->low = fmin(best->low, profile->parameter[i]);
            best->high = fmax(best->high, profile->parameter[i]);
        }
}

/* Jobs of one busy period say nearly the same, and the density is estimated. The variance of an estimate by
 * what groups of neighbours say of it, over that of independent jobs (the sandwich): at least 1. */
static double inflation_of(struct fitter *f, const struct bli_speeds_candidate *best,
                           const struct bli_speeds *below, const struct bli_speeds *above) {
    double group[GROUPS] = {0}, squares = 0, slope = 0;
    struct bli_speeds_candidate candidate;
    const uint32_t length = f->jobs / GROUPS + 1;
    const double left = evaluate(f, below, best->slots, &candidate);
    for (uint32_t i = 0; i < f->jobs; i++)
        group[i / length] -= f->term[i];
    const double right = evaluate(f, above, best->slots, &candidate);
    for (uint32_t i = 0; i < f->jobs; i++)
        group[i / length] += f->term[i];
    for (int g = 0; g < GROUPS; g++)
        slope += group[g] / GROUPS;
    for (int g = 0; g < GROUPS; g++)
        squares += (group[g] - slope) * (group[g] - slope) / 4;
    const double bend = 2 * best->likelihood - left - right;
    return bend > 0 ? fmax(squares / bend, 1) : 1;
}

static void fit_slots(struct fitter *f, struct bli_speeds_candidate *best) {
    const struct bli_speeds none = {.kind = BLI_SPEEDS_SLOTS};
    struct bli_speeds_candidate candidate;
    struct profile profile = {.count = 0};
    const uint32_t most = f->most < CORES_MAX ? f->most : CORES_MAX;
    for (uint32_t k = 1; k <= most; k++) {
        add_point(&profile, k, evaluate(f, &none, k, &candidate));
        keep_better(f, BLI_CAUSE_SLOTS, best, &candidate);
    }
    set_range(&profile, best->slots, 1, best);
}

/* On a grid whose steps shrink around the best. */
static void fit_cores(struct fitter *f, struct bli_speeds_candidate *best) {
    struct bli_speeds_candidate candidate;
    struct profile profile = {.count = 0};
    const double most = f->most < CORES_MAX ? f->most : CORES_MAX;
    for (double c = 1; c <= most; c *= 1.15) {
        const struct bli_speeds speeds = cores_of(c);
        add_point(&profile, c, evaluate(f, &speeds, 0, &candidate));
        keep_better(f, BLI_CAUSE_CORES, best, &candidate);
    }
    for (double step = 0.06; step > 0.002; step /= 2.5)
        for (int k = -3; k <= 3; k++) {
            const struct bli_speeds speeds =
                cores_of(fmin(fmax(best->speeds.cores * (1 + k * step), 1), most));
            add_point(&profile, speeds.cores, evaluate(f, &speeds, 0, &candidate));
            keep_better(f, BLI_CAUSE_CORES, best, &candidate);
        }
    const double middle = best->speeds.cores, reach = fmax(0.05 * middle, 0.03);
    const struct bli_speeds below = cores_of(fmax(middle - reach, 0.5)), above = cores_of(middle + reach);
    const double inflation = inflation_of(f, best, &below, &above);
    for (int k = -20; k <= 20; k++) {
        const struct bli_speeds speeds = cores_of(fmin(fmax(middle * (1 + 0.01 * k), 1), most));
        add_point(&profile, speeds.cores, evaluate(f, &speeds, 0, &candidate));
    }
    set_range(&profile, middle, inflation, best);
}

static void try_batch(struct fitter *f, uint32_t most, double slowdown, struct profile *profile,
                      struct bli_speeds_candidate *best) {
    struct bli_speeds_candidate candidate;
    const struct bli_speeds speeds = batch_of(most, fmin(fmax(slowdown, 0), 1));
    const double likelihood = evaluate(f, &speeds, 0, &candidate);
    if (profile)
        add_point(profile, speeds.slowdown, likelihood);
    keep_better(f, BLI_CAUSE_BATCH, best, &candidate);
}

static void fit_batch(struct fitter *f, struct bli_speeds_candidate *best) {
    static const double slowdowns[] = {0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1};
    struct profile profile = {.count = 0};
    const uint32_t most = f->most < CORES_MAX ? f->most : CORES_MAX;
    for (uint32_t b = 2; b <= (most > 2 ? most : 2); b += 1 + b / 5)
        for (size_t i = 0; i < sizeof slowdowns / sizeof *slowdowns; i++)
            try_batch(f, b, slowdowns[i], NULL, best);
    for (double step = 0.2; step > 0.01; step /= 2) {
        const uint32_t around = best->speeds.most, reach = 1 + around / 5;
        for (uint32_t b = around > reach + 1 ? around - reach : 2; b <= around + reach; b++)
            try_batch(f, b, best->speeds.slowdown, NULL, best);
        for (int k = -3; k <= 3; k++)
            try_batch(f, best->speeds.most, best->speeds.slowdown * (1 + k * step) + 0.002 * k, NULL, best);
    }
    const double middle = best->speeds.slowdown, reach = fmax(0.15 * middle, 0.02);
    const uint32_t size = best->speeds.most, spread = 1 + size / 6;
    const struct bli_speeds below = batch_of(size, fmax(middle - reach, 0)),
                            above = batch_of(size, middle + reach);
    const double inflation = inflation_of(f, best, &below, &above);
    for (int k = -10; k <= 10; k++) /* whatever the size of the batch is */
        for (uint32_t b = size > spread + 1 ? size - spread : 2; b <= size + spread; b++)
            try_batch(f, b, middle * (1 + 0.04 * k) + 0.002 * k, &profile, best);
    set_range(&profile, best->speeds.slowdown, inflation, best);
}

/* ---- which of them ---- */

/* By how many standard deviations one is more likely than the other. */
static double vuong(const struct fitter *f, const double *one, const double *other) {
    double sum = 0, squares = 0, blocks = 0;
    for (uint32_t i = 0; i < f->jobs; i += BLOCK) {
        double block = 0;
        for (uint32_t k = i; k < i + BLOCK && k < f->jobs; k++)
            block += one[k] - other[k];
        sum += block;
        squares += block * block;
        blocks++;
    }
    const double variance = squares - sum * sum / blocks;
    return variance > 0 ? sum / sqrt(variance) : 0;
}

static double total_rate(const struct bli_speeds_candidate *c, uint32_t k) {
    const uint32_t m = c->slots && k > c->slots ? c->slots : k;
    return m * speed_each(&c->speeds, m);
}

/* Would any fleet that this one has seen notice the difference? */
static bool rates_differ(const struct bli_speeds_fit *fit, const struct bli_speeds_candidate *a,
                         const struct bli_speeds_candidate *b) {
    for (uint32_t k = 1; k <= fit->numbers; k++)
        if (fabs(total_rate(a, k) / total_rate(b, k) - 1) > 0.05)
            return true;
    return (a->slots == 0) != (b->slots == 0) && fit->shared > 0;
}

static void compare_causes(const struct fitter *f, struct bli_speeds_fit *fit) {
    for (int c = 1; c < BLI_CAUSES; c++)
        if (fit->candidate[c].likelihood > fit->candidate[fit->best].likelihood)
            fit->best = (enum bli_speeds_cause)c;
    if (fit->best == BLI_CAUSE_BATCH && /* of two that say the same, the one with fewer parameters */
        !rates_differ(fit, &fit->candidate[BLI_CAUSE_BATCH], &fit->candidate[BLI_CAUSE_CORES]))
        fit->best = BLI_CAUSE_CORES;
    fit->told = fit->shared >= 100;
    for (int c = 0; c < BLI_CAUSES; c++) {
        if (c == (int)fit->best)
            continue;
        fit->ahead[c] = vuong(f, f->best_term[fit->best], f->best_term[c]);
        if (fit->ahead[c] < TOLD && rates_differ(fit, &fit->candidate[fit->best], &fit->candidate[c]))
            fit->told = false;
    }
}

/* Completions over time with k jobs there. */
static void count_rates(const struct fitter *f, struct bli_speeds_fit *fit) {
    double time[BLI_SPEEDS_FIT_NUMBERS + 1] = {0};
    for (uint32_t s = 0; s < f->servers; s++) {
        uint32_t there = 0;
        for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
            const struct event *e = &f->event[i];
            if (i > f->first[s] && there <= BLI_SPEEDS_FIT_NUMBERS)
                time[there] += (double)(e->time - f->event[i - 1].time) / NANOSECONDS;
            if (e->leaves && there <= BLI_SPEEDS_FIT_NUMBERS)
                fit->ended[there]++;
            fit->shared += e->leaves && there > 1;
            there += e->leaves ? -1U : 1U;
        }
    }
    fit->most = f->most;
    fit->numbers = f->most < BLI_SPEEDS_FIT_NUMBERS ? f->most : BLI_SPEEDS_FIT_NUMBERS;
    for (unsigned k = 1; k <= fit->numbers; k++)
        if (fit->ended[k] && time[k] > 0) {
            fit->rate[k] = (double)fit->ended[k] / time[k];
            fit->rate_sd[k] = fit->rate[k] / sqrt((double)fit->ended[k]);
        }
}

/* ---- reading ---- */

static int by_server_and_time(const void *a, const void *b) {
    const struct logged_job *x = a, *y = b;
    if (x->server != y->server)
        return x->server < y->server ? -1 : 1;
    return x->time != y->time ? (x->time < y->time ? -1 : 1) : x->number < y->number ? -1 : 1;
}

/* Of equal times those that leave come first: their places are free. */
static int by_time(const void *a, const void *b) {
    const struct event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->leaves != y->leaves)
        return x->leaves ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

static void make_events(struct fitter *f) {
    uint32_t events = 0, at = 0;
    f->servers = 0;
    while (at < f->jobs) {
        const uint32_t server = f->job[at].server, from = events;
        f->first[f->servers++] = from;
        for (; at < f->jobs && f->job[at].server == server; at++) {
            f->event[events++] = (struct event){f->job[at].time, at, false};
            f->event[events++] = (struct event){f->job[at].time + f->job[at].size, at, true};
        }
        qsort(f->event + from, events - from, sizeof *f->event, by_time);
    }
    f->first[f->servers] = events;
}

static void fitter_fini(struct fitter *f) {
    free(f->job);
    free(f->event);
    free(f->first);
    free(f->queue);
    free(f->term);
    for (int c = 0; c < BLI_CAUSES; c++)
        free(f->best_term[c]);
}

static enum bal_code fitter_init(struct fitter *f, uint64_t room, bool likelihood, struct bal_error *err) {
    const size_t n = room ? (size_t)room : 1;
    f->job = calloc(n, sizeof *f->job);
    f->event = calloc(2 * n, sizeof *f->event);
    f->first = calloc(n + 1, sizeof *f->first);
    f->queue = calloc(n, sizeof *f->queue);
    bool complete = f->job && f->event && f->first && f->queue;
    if (likelihood) {
        complete = complete && (f->term = calloc(n, sizeof *f->term));
        for (int c = 0; c < BLI_CAUSES; c++)
            complete = complete && (f->best_term[c] = calloc(n, sizeof **f->best_term));
    }
    return complete ? BAL_OK : bal_fail(err, BAL_E_MEMORY, "not enough memory to fit speeds");
}

/* The first jobs that a server is named for, as many as there is room for. */
static enum bal_code read_jobs(struct fitter *f, const struct bli_trace *logged, uint64_t room,
                               struct bal_error *err) {
    struct bli_trace_cursor *cursor;
    struct bli_trace_job job;
    uint32_t number = 0;
    enum bal_code code = bli_trace_cursor_new(logged, &cursor, err);
    if (code)
        return code;
    while (f->jobs < room && !(code = bli_trace_next(cursor, &job, err)) && job.size > 0) {
        if (job.server)
            f->job[f->jobs++] = (struct logged_job){.time = job.time,
                                                    .size = job.size,
                                                    .server = job.server,
                                                    .number = number,
                                                    .aborted = job.aborted};
        number++;
    }
    bli_trace_cursor_free(cursor);
    if (!code && f->jobs)
        qsort(f->job, f->jobs, sizeof *f->job, by_server_and_time);
    return code;
}

enum bal_code bli_speeds_fit(const struct bli_trace *logged, const volatile int *stop,
                             struct bli_speeds_fit *fit, struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(logged);
    const uint64_t named = info->jobs - info->unserved;
    const uint64_t room = named < BLI_SPEEDS_FIT_JOBS ? named : BLI_SPEEDS_FIT_JOBS;
    struct fitter f = {.stop = stop};
    *fit = (struct bli_speeds_fit){.cut = named > room};
    enum bal_code code = fitter_init(&f, room, true, err);
    if (!code)
        code = read_jobs(&f, logged, room, err);
    if (!code && f.jobs == 0)
        code = bal_fail(err, BAL_E_MODEL,
                        "speeds are fitted to logs that name the server of each request; see --server-field");
    if (!code) {
        make_events(&f);
        const struct bli_speeds none = {.kind = BLI_SPEEDS_SLOTS};
        replay_all(&f, &none, 0);
        count_rates(&f, fit);
        fit->jobs = f.jobs;
        fit->servers = f.servers;
        fit_slots(&f, &fit->candidate[BLI_CAUSE_SLOTS]);
        fit_cores(&f, &fit->candidate[BLI_CAUSE_CORES]);
        fit_batch(&f, &fit->candidate[BLI_CAUSE_BATCH]);
        compare_causes(&f, fit);
        for (unsigned k = 1; k <= fit->numbers; k++) {
            fit->rate[k] *= fit->candidate[fit->best].work_mean;
            fit->rate_sd[k] *= fit->candidate[fit->best].work_mean;
        }
        if (stop && *stop)
            code = bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    }
    fitter_fini(&f);
    return code;
}

/* ---- work in place of times ---- */

static enum bal_code write_works(const struct bli_trace *logged, const double *work, struct bli_trace *made,
                                 struct bal_error *err) {
    struct bli_trace_cursor *cursor;
    struct bli_trace_job job;
    uint64_t number = 0;
    enum bal_code code = bli_trace_cursor_new(logged, &cursor, err);
    if (code)
        return code;
    while (!code && !(code = bli_trace_next(cursor, &job, err)) && job.size > 0) {
        if (job.server)
            job.size = work[number] > 1e-9 ? (int64_t)(work[number] * NANOSECONDS) : 1;
        number++;
        if (job.left_out)
            continue;
        job.time -= job.ahead;
        job.ahead = 0;
        code = bli_trace_add(made, &job, err);
    }
    bli_trace_cursor_free(cursor);
    return code;
}

enum bal_code bli_speeds_recover(const struct bli_trace *logged, const struct bli_speeds *speeds,
                                 uint32_t slots, const volatile int *stop, struct bli_trace **recovered,
                                 struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(logged);
    struct fitter f = {.stop = stop};
    double *work = calloc(info->jobs ? info->jobs : 1, sizeof *work);
    struct bli_trace *made = NULL;
    enum bal_code code = work ? fitter_init(&f, info->jobs - info->unserved, false, err)
                              : bal_fail(err, BAL_E_MEMORY, "not enough memory to recover works");
    if (!code)
        code = read_jobs(&f, logged, info->jobs - info->unserved, err);
    if (!code)
        code = bli_trace_new(NULL, &made, err);
    if (!code) {
        make_events(&f);
        replay_all(&f, speeds, slots);
        for (uint32_t i = 0; i < f.jobs; i++)
            work[f.job[i].number] = f.job[i].work;
        code = write_works(logged, work, made, err);
    }
    if (!code)
        code = bli_trace_finish(made, stop, err);
    if (code) {
        bli_trace_free(made);
        made = NULL;
    }
    *recovered = made;
    fitter_fini(&f);
    free(work);
    return code;
}
