/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates service times without waiting from the jobs that arrived at low load. */
#include "recover/low_load.h"

#include "recover/departures.h"
#include "recover/strata.h"

#include <math.h>
#include <stdlib.h>

#define NANOSECONDS 1e9
#define SHARE_SURE 0.1   /* the low-load part is not enlarged further once the share is known this exactly */
#define SHARE_MIN 0.05   /* a smaller share of waiting is none */
#define SHARE_UNSURE 0.2 /* a half-width beyond this leaves it open whether there is any */

enum {
    LIGHT_JOBS = 1000, /* or so many, up to a tenth of all */
    JOBS_MIN = 100,    /* fewer are not enough */
    FINE = 8,          /* numbers of others below this have a bin each, ... */
    PARTS = 4,         /* ... then each doubling has so many */
    BINS = FINE + 40 * PARTS
};

/* Jobs that found about as many others. */
struct bin {
    uint64_t jobs;
    double others, logged;
    struct bli_histogram *sizes; /* in mean sizes; NULL: none */
    double *factor;              /* of a size in each bin of the histogram; made when it is needed */
};

struct load_sums {
    uint64_t jobs[BINS];
    double logged[BINS];
};

struct bli_low_load {
    double unit; /* mean size as logged, in nanoseconds */
    uint64_t jobs, seen;
    struct bli_departures fleet;
    struct bin bin[BINS];
    struct load_sums block[BLI_STRATA];
    unsigned low_load;           /* bins of the low-load part, from the first on */
    struct bli_histogram *sizes; /* of the low-load part */
};

enum bal_code bli_low_load_new(const struct bli_trace_info *info, struct bli_low_load **low_load,
                               struct bal_error *err) {
    struct bli_low_load *l = *low_load = calloc(1, sizeof *l);
    if (!l)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to look at a log");
    l->unit = info->size_mean * NANOSECONDS;
    l->jobs = info->jobs;
    return BAL_OK;
}

void bli_low_load_free(struct bli_low_load *low_load) {
    if (!low_load)
        return;
    for (unsigned i = 0; i < BINS; i++) {
        free(low_load->bin[i].sizes);
        free(low_load->bin[i].factor);
    }
    free(low_load->sizes);
    bli_departures_fini(&low_load->fleet);
    free(low_load);
}

static unsigned bin_of(size_t others) {
    if (others < FINE)
        return (unsigned)others;
    int exponent;
    const double part = frexp((double)others, &exponent); /* part in [0.5, 1), others = part 2^exponent */
    const unsigned octave = (unsigned)exponent - 4;       /* FINE is 2^3 */
    const unsigned bin = FINE + octave * PARTS + (unsigned)((part - 0.5) * 2 * PARTS);
    return bin < BINS ? bin : BINS - 1;
}

/* How many others the job finds. */
static enum bal_code count_others(struct bli_low_load *low_load, const struct bli_trace_job *job,
                                  size_t *others, struct bal_error *err) {
    bli_departures_forget(&low_load->fleet, job->time);
    *others = bli_departures_count(&low_load->fleet);
    return bli_departures_add(&low_load->fleet, job->time + job->size)
               ? BAL_OK
               : bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu jobs at once", *others + 1);
}

enum bal_code bli_low_load_add(struct bli_low_load *low_load, const struct bli_trace_job *job,
                               struct bal_error *err) {
    size_t others;
    const enum bal_code code = count_others(low_load, job, &others, err);
    if (code)
        return code;
    struct bin *bin = &low_load->bin[bin_of(others)];
    if (!bin->sizes && !(bin->sizes = calloc(1, sizeof *bin->sizes)))
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to look at a log");
    struct load_sums *block = &low_load->block[bli_strata_of(low_load->seen++, low_load->jobs)];
    const double seconds = (double)job->size / NANOSECONDS;
    bin->jobs++;
    bin->others += (double)others;
    bin->logged += seconds;
    bli_histogram_add(bin->sizes, (double)job->size / low_load->unit);
    block->jobs[bin_of(others)]++;
    block->logged[bin_of(others)] += seconds;
    return BAL_OK;
}

/* ---- which part is light ---- */

/* The first bins, as many as have that part of the jobs; the mean number of others there. */
static double set_low_load_part(struct bli_low_load *low_load, double part) {
    const double jobs = (double)low_load->jobs;
    const double wanted = fmax(part * jobs, fmin(LIGHT_JOBS, jobs / 10));
    double taken = 0, others = 0;
    for (low_load->low_load = 0; taken < wanted; low_load->low_load++) {
        taken += (double)low_load->bin[low_load->low_load].jobs;
        others += low_load->bin[low_load->low_load].others;
    }
    return others / taken;
}

/* The mean of the low-load part over that of all, with one block left out (BLI_STRATA: none). */
static double low_load_ratio(const struct bli_low_load *low_load, unsigned without) {
    double jobs[2] = {0, 0}, logged[2] = {0, 0};
    for (unsigned b = 0; b < BLI_STRATA; b++)
        for (unsigned i = 0; i < BINS && b != without; i++) {
            const bool is_light = i < low_load->low_load;
            jobs[0] += (double)low_load->block[b].jobs[i];
            logged[0] += low_load->block[b].logged[i];
            jobs[1] += is_light ? (double)low_load->block[b].jobs[i] : 0;
            logged[1] += is_light ? low_load->block[b].logged[i] : 0;
        }
    return logged[1] / jobs[1] / (logged[0] / jobs[0]);
}

/* What the low-load part does not have is waiting. Its error is that of the jackknife over blocks; a block in
 * which all of the low-load part lies leaves nothing to compare. */
static struct bli_estimate waiting_share(const struct bli_low_load *low_load) {
    double sum = 0, squares = 0;
    unsigned blocks = 0;
    for (unsigned b = 0; b < BLI_STRATA; b++) {
        uint64_t jobs = 0;
        for (unsigned i = 0; i < BINS; i++)
            jobs += low_load->block[b].jobs[i];
        if (jobs == 0)
            continue;
        const double ratio = low_load_ratio(low_load, b);
        if (!isfinite(ratio))
            return (struct bli_estimate){1 - low_load_ratio(low_load, BLI_STRATA), NAN};
        sum += ratio;
        squares += ratio * ratio;
        blocks++;
    }
    const double n = blocks;
    return (struct bli_estimate){.mean = 1 - low_load_ratio(low_load, BLI_STRATA),
                                 .half_width =
                                     n < 2 ? NAN
                                           : bli_student_quantile(0.975, n - 1) *
                                                 sqrt(fmax(squares - sum * sum / n, 0) * (n - 1) / n)};
}

/* Were there no others at all, as much again would be gone, if it goes in a straight line. */
static double estimate_uncertainty(const struct bli_recovery *recovery) {
    const double reach = recovery->mean_others / (recovery->mean_others - recovery->light_others);
    return recovery->share.half_width * reach;
}

/* A smaller low-load part has less waiting in it, but a larger error. */
static void choose_low_load(struct bli_low_load *low_load, struct bli_recovery *recovery) {
    static const double parts[] = {0.01, 0.02, 0.05, 0.1, 0.2};
    double others = 0;
    for (unsigned i = 0; i < BINS; i++)
        others += low_load->bin[i].others;
    recovery->mean_others = others / (double)low_load->jobs;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        recovery->light_others = set_low_load_part(low_load, parts[i]);
        recovery->share = waiting_share(low_load);
        if (estimate_uncertainty(recovery) <= SHARE_SURE)
            return;
    }
}

static enum bli_times classify_times(const struct bli_low_load *low_load,
                                     const struct bli_recovery *recovery) {
    const struct bli_estimate share = recovery->share;
    if (recovery->mean_others == 0)
        return BLI_TIMES_CLEAN;
    if (low_load->jobs < JOBS_MIN)
        return BLI_TIMES_UNKNOWN;
    if (share.mean > SHARE_MIN && share.mean > 1.5 * share.half_width)
        return BLI_TIMES_LIGHT;
    return estimate_uncertainty(recovery) <= SHARE_UNSURE ? BLI_TIMES_CLEAN : BLI_TIMES_UNKNOWN;
}

enum bal_code bli_low_load_estimate(struct bli_low_load *low_load, struct bli_recovery *recovery,
                                    struct bal_error *err) {
    choose_low_load(low_load, recovery);
    recovery->times = classify_times(low_load, recovery);
    low_load->sizes = calloc(1, sizeof *low_load->sizes);
    if (!low_load->sizes)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to look at a log");
    for (unsigned i = 0; i < low_load->low_load; i++)
        if (low_load->bin[i].sizes)
            bli_histogram_merge(low_load->sizes, low_load->bin[i].sizes);
    if (recovery->times == BLI_TIMES_LIGHT) {
        recovery->service_mean = recovery->logged_mean * (1 - recovery->share.mean);
        recovery->service_p99 = bli_histogram_quantile(low_load->sizes, 0.99) * low_load->unit / NANOSECONDS;
    }
    bli_departures_fini(&low_load->fleet); /* the jobs come again from the first on */
    return BAL_OK;
}

/* ---- sizes of the same rank ---- */

/* For each bin of sizes: the size of the same rank in the low-load part, over that in the middle of the bin.
 * Waiting only adds, so that no factor is above 1. */
static bool make_factors(const struct bli_low_load *low_load, struct bin *bin) {
    bin->factor = malloc(BLI_HISTOGRAM_BINS * sizeof *bin->factor);
    if (!bin->factor)
        return false;
    uint64_t below = 0;
    for (unsigned i = 0; i < BLI_HISTOGRAM_BINS; i++) {
        const uint64_t here = bin->sizes->count[i];
        bin->factor[i] = 1;
        if (here == 0 || i + 1 == BLI_HISTOGRAM_BINS)
            continue;
        const double rank = ((double)below + 0.5 * (double)here) / (double)bin->jobs;
        const double middle = (bli_histogram_edge(i) + bli_histogram_edge(i + 1)) / 2;
        bin->factor[i] = fmin(bli_histogram_quantile(low_load->sizes, rank) / middle, 1);
        below += here;
    }
    return true;
}

enum bal_code bli_low_load_size(struct bli_low_load *low_load, const struct bli_trace_job *job, int64_t *size,
                                struct bal_error *err) {
    size_t others;
    const enum bal_code code = count_others(low_load, job, &others, err);
    if (code)
        return code;
    *size = job->size;
    struct bin *bin = &low_load->bin[bin_of(others)];
    if (bin_of(others) < low_load->low_load)
        return BAL_OK;
    if (!bin->factor && !make_factors(low_load, bin))
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to look at a log");
    const double factor = bin->factor[bli_histogram_bin((double)job->size / low_load->unit)];
    const double shorter = (double)job->size * factor;
    *size = shorter >= 1 ? (int64_t)shorter : 1;
    return BAL_OK;
}
