#include "engine/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* When a slice begins; the division is rounded last, so that it is exact where slices are whole numbers of slots. */
static double boundary(const struct tally *tally, unsigned slice) {
    const double time = tally->time * slice / tally->slices;
    return tally->slotted ? floor(time) : time;
}

static enum bal_code start(struct tally *tally, const struct bal_run *run) {
    tally->slice_end = boundary(tally, 1);
    tally->fixed_warmup = !isnan(run->warmup);
    if (tally->fixed_warmup)
        tally->warmup_slice = (unsigned)lrint(run->warmup * tally->slices);
    return BAL_OK;
}

enum bal_code tally_init(struct tally *tally, const struct bal_run *run, double unit) {
    memset(tally, 0, sizeof *tally);
    tally->time = run->time;
    tally->slices = SLICES;
    tally->per_unit = 1 / unit;
    return start(tally, run);
}

enum bal_code tally_init_slotted(struct tally *tally, const struct bal_run *run) {
    memset(tally, 0, sizeof *tally);
    tally->time = ceil(run->time);
    tally->slotted = true;
    tally->slices = tally->time < SLICES ? (unsigned)tally->time : SLICES;
    tally->per_unit = 1;
    return start(tally, run);
}

void tally_fini(struct tally *tally) {
    for (unsigned i = 0; i < tally->snapshots; i++) {
        free(tally->snapshot[i].response.count);
        free(tally->snapshot[i].waiting.count);
    }
}

static bool pack(const struct bal_histogram *h, struct packed_histogram *packed) {
    unsigned first = 0, end = BAL_HISTOGRAM_BINS;
    while (first < end && h->count[first] == 0)
        first++;
    while (end > first && h->count[end - 1] == 0)
        end--;
    *packed = (struct packed_histogram){first, end, NULL};
    if (first == end)
        return true;
    packed->count = malloc((end - first) * sizeof *packed->count);
    if (!packed->count)
        return false;
    memcpy(packed->count, h->count + first, (end - first) * sizeof *packed->count);
    return true;
}

static void subtract_packed(struct bal_histogram *h, const struct packed_histogram *packed) {
    for (unsigned bin = packed->first; bin < packed->end; bin++)
        h->count[bin] -= packed->count[bin - packed->first];
}

static bool may_end_warmup(const struct tally *tally) {
    if (tally->fixed_warmup)
        return tally->slice == tally->warmup_slice;
    const unsigned every = (tally->slices + 2 * SNAPSHOTS - 1) / (2 * SNAPSHOTS);
    return tally->slice % every == 0 && tally->slice <= tally->slices / 2;
}

static bool take_snapshot(struct tally *tally) {
    struct snapshot *snapshot = &tally->snapshot[tally->snapshots++];
    snapshot->slice = tally->slice;
    snapshot->totals = tally->totals;
    return pack(&tally->response, &snapshot->response) && pack(&tally->waiting, &snapshot->waiting);
}

int64_t tally_queue(const struct tally *tally) {
    int64_t queue = 0;
    for (unsigned i = 1; i < LEVELS; i++)
        queue += tally->level[i].count;
    return queue;
}

bool tally_close_slice(struct tally *tally, uint64_t probes) {
    struct totals *totals = &tally->totals;
    const double width = tally->slice_end - tally->slice_start;
    double queue = 0;
    for (unsigned i = 1; i < LEVELS; i++) {
        struct level *level = &tally->level[i];
        const double area = level->area + (double)level->count * width;
        level->area = 0;
        totals->tail[i] += area;
        queue += area;
    }
    totals->queue += queue;
    totals->probes = probes;
    totals->arrivals = totals->completed + (uint64_t)tally_queue(tally);
    tally->slice_queue[tally->slice++] = queue / width;
    tally->slice_start = tally->slice_end;
    tally->slice_end = boundary(tally, tally->slice + 1);
    return !may_end_warmup(tally) || take_snapshot(tally);
}

/* The first snapshot at or after the point where MSER-5 ends the warm-up; NULL: nothing is cut. */
static const struct snapshot *choose_snapshot(const struct tally *tally) {
    const unsigned slice =
        tally->fixed_warmup ? tally->warmup_slice : (unsigned)bal_warmup_mser5(tally->slice_queue, tally->slices);
    if (slice == 0)
        return NULL;
    for (unsigned i = 0; i < tally->snapshots; i++)
        if (tally->snapshot[i].slice >= slice)
            return &tally->snapshot[i];
    return NULL;
}

static void subtract_totals(struct totals *totals, const struct totals *before) {
    totals->response -= before->response;
    totals->waiting -= before->waiting;
    totals->arrivals -= before->arrivals;
    totals->immediate -= before->immediate;
    totals->completed -= before->completed;
    totals->probes -= before->probes;
    totals->reports -= before->reports;
    totals->queue -= before->queue;
    for (unsigned i = 0; i < LEVELS; i++)
        totals->tail[i] -= before->tail[i];
}

/* NaN when there is no slice. */
static double mean_queue(const struct tally *tally, unsigned first, unsigned end) {
    double area = 0;
    for (unsigned slice = first; slice < end; slice++)
        area += tally->slice_queue[slice] * (boundary(tally, slice + 1) - boundary(tally, slice));
    return area / (boundary(tally, end) - boundary(tally, first));
}

/* A quantile in slots is the whole number whose share of its bin the interpolated one lies in: exact up to 255, where every number has
 * a bin of its own. */
static double whole_slots(double quantile) {
    return fmax(ceil(quantile) - 1, 0);
}

static void percentiles(const struct tally *tally, const struct bal_histogram *h, double *out) {
    static const double level[] = {0.5, 0.9, 0.99, 0.999};
    for (unsigned i = 0; i < 4; i++) {
        const double quantile = bal_histogram_quantile(h, level[i]);
        out[i] = tally->slotted && quantile > 0 ? whole_slots(quantile) : quantile / tally->per_unit;
    }
}

void tally_finish(struct tally *tally, uint32_t servers, struct bal_trial *trial) {
    trial->events = tally->totals.arrivals + tally->totals.completed;
    for (unsigned q = 0; q < 4; q++)
        trial->quarter[q] = mean_queue(tally, tally->slices * q / 4, tally->slices * (q + 1) / 4);
    const struct snapshot *cut = choose_snapshot(tally);
    trial->warmup = cut ? boundary(tally, cut->slice) : 0;
    if (cut) {
        subtract_totals(&tally->totals, &cut->totals);
        subtract_packed(&tally->response, &cut->response);
        subtract_packed(&tally->waiting, &cut->waiting);
    }
    const struct totals *totals = &tally->totals;
    tally->waiting.count[0] += totals->immediate;
    const double time = tally->time - trial->warmup;
    const double completed = (double)totals->completed, started = (double)bal_histogram_total(&tally->waiting);
    const double arrivals = (double)totals->arrivals;
    const double probes = (double)totals->probes, reports = (double)totals->reports;
    double *metric = trial->metric;
    metric[BAL_RESPONSE_MEAN] = totals->response / completed;
    percentiles(tally, &tally->response, &metric[BAL_RESPONSE_P50]);
    metric[BAL_WAITING_MEAN] = totals->waiting / started;
    percentiles(tally, &tally->waiting, &metric[BAL_WAITING_P50]);
    metric[BAL_WAITING_PROBABILITY] = 1 - (double)totals->immediate / started;
    metric[BAL_QUEUE_MEAN] = totals->queue / time / servers;
    metric[BAL_QUEUE_TOTAL] = totals->queue / time;
    metric[BAL_PROBES_PER_JOB] = probes / arrivals;
    metric[BAL_REPORTS_PER_JOB] = reports / arrivals;
    metric[BAL_MESSAGES_PER_JOB] = (2 * probes + reports) / arrivals;
    metric[BAL_MESSAGES_PER_TIME] = (probes + reports) / time;
    trial->tail[0] = 1;
    for (unsigned i = 1; i < BAL_TAIL_LEVELS; i++)
        trial->tail[i] = totals->tail[i] > 0 ? totals->tail[i] / time / servers : 0;
    trial->jobs = totals->completed;
    if (trial->response)
        *trial->response = tally->response;
    if (trial->waiting)
        *trial->waiting = tally->waiting;
}
