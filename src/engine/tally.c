/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the sums, histograms and slices of a run into the measurements of a trial, with the warm-up
 * removed. */
#include "engine/tally.h"

#include "stats/erlang.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When a slice begins; the division is rounded last, so that it is exact where slices are whole numbers of
 * slots. */
static double slice_start(const struct tally *tally, unsigned slice) {
    if (slice > tally->slices)
        return INFINITY;
    const double time = tally->time * slice / tally->slices;
    return tally->slotted ? floor(time) : time;
}

static enum bal_code start_slices(struct tally *tally, const struct bli_run *run) {
    tally->slice_end = slice_start(tally, 1);
    tally->fixed_warmup = run->warmup != BLI_WARMUP_MSER;
    if (tally->fixed_warmup) {
        const double part = !isnan(run->warmup) ? run->warmup : run->trace ? 0 : BLI_WARMUP_DEFAULT;
        const unsigned slice = (unsigned)lrint(part * tally->slices);
        tally->warmup_slice = slice < tally->slices ? slice : tally->slices - 1;
    }
    return BAL_OK;
}

enum bal_code bli_tally_init(struct tally *tally, const struct bli_run *run, double unit, unsigned classes) {
    memset(tally, 0, sizeof *tally);
    tally->run = run;
    tally->time = run->time;
    tally->slices = SLICES;
    tally->drains = run->trace;
    tally->slots = 1;
    tally->unit = unit;
    tally->per_unit = 1 / unit;
    tally->classes = classes;
    if (classes > 1 && !(tally->by_class = calloc(classes, sizeof *tally->by_class)))
        return BAL_E_MEMORY;
    return start_slices(tally, run);
}

void bli_tally_count_events(struct tally *tally, double rate) {
    tally->rate = rate;
    tally->time *= rate;
    tally->per_unit = 1;
    tally->slice_end = slice_start(tally, 1);
}

enum bal_code bli_tally_init_slotted(struct tally *tally, const struct bli_run *run) {
    memset(tally, 0, sizeof *tally);
    tally->run = run;
    tally->time = ceil(run->time);
    tally->slotted = true;
    tally->slices = tally->time < SLICES ? (unsigned)tally->time : SLICES;
    tally->unit = tally->per_unit = 1;
    return start_slices(tally, run);
}

void bli_tally_fini(struct tally *tally) {
    for (unsigned i = 0; i < tally->snapshots; i++) {
        free(tally->snapshot[i].load.count);
        for (unsigned which = 0; which < CHANNELS; which++) {
            free(tally->snapshot[i].channel[which].response_histogram.count);
            free(tally->snapshot[i].channel[which].waiting_histogram.count);
        }
    }
    free(tally->by_class);
    tally->by_class = NULL;
    tally->snapshots = 0;
}

static unsigned channel_count(const struct tally *tally) {
    return tally->by_class ? HIGH + tally->classes : 1;
}

static struct channel *channel_of(struct tally *tally, unsigned which) {
    return which == ALL ? &tally->all : &tally->by_class[which - HIGH];
}

static bool pack_histogram(const struct bli_histogram *h, struct packed_histogram *packed) {
    unsigned first = 0, end = BLI_HISTOGRAM_BINS;
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

static void subtract_packed(struct bli_histogram *h, const struct packed_histogram *packed) {
    for (unsigned bin = packed->first; bin < packed->end; bin++)
        h->count[bin] -= packed->count[bin - packed->first];
}

static bool may_end_warmup(const struct tally *tally) {
    if (tally->fixed_warmup)
        return tally->slice == tally->warmup_slice;
    const unsigned every = (tally->slices + 2 * SNAPSHOTS - 1) / (2 * SNAPSHOTS);
    return tally->slice % every == 0 && tally->slice <= tally->slices / 2;
}

static bool pack_channel(const struct channel *channel, struct packed_channel *packed) {
    *packed = (struct packed_channel){.response = channel->response,
                                      .waiting = channel->waiting,
                                      .immediate = channel->immediate,
                                      .completed = channel->completed,
                                      .gave_up = channel->gave_up,
                                      .refused = channel->refused,
                                      .routed = channel->routed,
                                      .probes = channel->probes};
    return pack_histogram(&channel->response_histogram, &packed->response_histogram) &&
           pack_histogram(&channel->waiting_histogram, &packed->waiting_histogram);
}

static void subtract_channel(struct channel *channel, const struct packed_channel *before) {
    channel->response -= before->response;
    channel->waiting -= before->waiting;
    channel->immediate -= before->immediate;
    channel->completed -= before->completed;
    channel->gave_up -= before->gave_up;
    channel->refused -= before->refused;
    channel->routed -= before->routed;
    channel->probes -= before->probes;
    subtract_packed(&channel->response_histogram, &before->response_histogram);
    subtract_packed(&channel->waiting_histogram, &before->waiting_histogram);
}

static bool take_snapshot(struct tally *tally) {
    struct snapshot *snapshot = &tally->snapshot[tally->snapshots++];
    snapshot->slice = tally->slice;
    snapshot->totals = tally->totals;
    bool packed = pack_histogram(&tally->load, &snapshot->load);
    for (unsigned which = 0; which < channel_count(tally); which++)
        packed = pack_channel(channel_of(tally, which), &snapshot->channel[which]) && packed;
    return packed;
}

/* No server is or was at this level, so that none is or was at a higher level either: except the top level,
 * in which slotted engines keep all lengths that they do not count separately. */
static bool is_empty(const struct level *level) {
    return level->count == 0 && level->area == 0;
}

int64_t bli_tally_queue(const struct tally *tally) {
    int64_t queue = tally->level[LEVELS - 1].count;
    for (unsigned i = 1; i < LEVELS - 1 && !is_empty(&tally->level[i]); i++)
        queue += tally->level[i].count;
    return queue;
}

/* Adds the area of a slice to the total and returns it. */
static double close_level(struct level *level, double width, double *total) {
    const double area = level->area + (double)level->count * width;
    level->area = 0;
    *total += area;
    return area;
}

/* All levels; returns the sum of their areas. */
static double close_levels(struct level *levels, double width, double *tail) {
    double sum = 0;
    for (unsigned i = 1; i < LEVELS - 1 && !is_empty(&levels[i]); i++)
        sum += close_level(&levels[i], width, &tail[i]);
    return sum + close_level(&levels[LEVELS - 1], width, &tail[LEVELS - 1]);
}

void bli_channel_take(struct channel *channel, double per_unit) {
    for (uint32_t i = 0; i < channel->responses.count; i++) {
        channel->response += channel->responses.time[i];
        bli_histogram_add(&channel->response_histogram, channel->responses.time[i] * per_unit);
    }
    for (uint32_t i = 0; i < channel->waitings.count; i++) {
        channel->waiting += channel->waitings.time[i];
        bli_histogram_add(&channel->waiting_histogram, channel->waitings.time[i] * per_unit);
    }
    channel->completed += channel->responses.count;
    channel->responses.count = channel->waitings.count = 0;
}

bool bli_tally_close_slice(struct tally *tally, uint64_t probes) {
    struct totals *totals = &tally->totals;
    for (unsigned which = 0; which < channel_count(tally); which++)
        bli_channel_take(channel_of(tally, which), tally->per_unit);
    const double width = tally->slice_end - tally->slice_start;
    const double queue = close_levels(tally->level, width, totals->tail);
    if (tally->by_class)
        close_levels(tally->class_level[0], width, totals->high_tail);
    for (unsigned i = 0; i < POWER_STATES; i++)
        close_level(&tally->power[i], width, &totals->power[i]);
    close_level(&tally->working, width, &totals->working);
    totals->queue += queue;
    totals->probes = probes;
    totals->arrivals = tally->all.completed + (uint64_t)bli_tally_queue(tally);
    if (tally->slice < tally->slices) /* not the drain */
        tally->slice_queue[tally->slice] = queue / width;
    tally->end = tally->slice_start = tally->slice_end;
    tally->slice++;
    tally->slice_end = slice_start(tally, tally->slice + 1);
    return !may_end_warmup(tally) || take_snapshot(tally);
}

bool bli_tally_is_enough(const struct tally *tally) {
    const struct bli_run *run = tally->run;
    if (run->stop && *run->stop)
        return true;
    if (!run->watch)
        return false;
    const struct bli_so_far so_far = {.jobs = tally->all.completed,
                                      .refused = tally->totals.refused + tally->totals.lost,
                                      .response = tally->all.response,
                                      .responses = &tally->all.response_histogram};
    return run->watch->is_enough(run->watch->context, &so_far);
}

bool bli_tally_end(struct tally *tally, double now, uint64_t probes) {
    while (tally->slice < tally->slices) /* the end of the last one may lie a rounding error behind now */
        if (!bli_tally_close_slice(tally, probes))
            return false;
    tally->slice_end = fmax(now, tally->slice_start);
    return bli_tally_close_slice(tally, probes);
}

/* Slices that MSER-5 takes for warm-up. */
static unsigned transient_slices(const struct tally *tally) {
    return (unsigned)bli_warmup_mser5(tally->slice_queue, tally->slices);
}

/* The first snapshot at or after the end of the warm-up; NULL: nothing is cut. */
static const struct snapshot *choose_snapshot(const struct tally *tally) {
    const unsigned slice = tally->fixed_warmup ? tally->warmup_slice : transient_slices(tally);
    if (slice == 0)
        return NULL;
    for (unsigned i = 0; i < tally->snapshots; i++)
        if (tally->snapshot[i].slice >= slice)
            return &tally->snapshot[i];
    /* MSER-5 wants half of a short run, and the last snapshot lies a little before that. */
    return tally->snapshots ? &tally->snapshot[tally->snapshots - 1] : NULL;
}

static void subtract_totals(struct totals *totals, const struct totals *before) {
    totals->arrivals -= before->arrivals;
    totals->probes -= before->probes;
    totals->reports -= before->reports;
    totals->batches -= before->batches;
    totals->parts -= before->parts;
    totals->moves -= before->moves;
    totals->lost -= before->lost;
    totals->refused -= before->refused;
    totals->failed -= before->failed;
    totals->gave_up -= before->gave_up;
    totals->requests -= before->requests;
    totals->steals -= before->steals;
    totals->stolen -= before->stolen;
    for (unsigned i = 0; i < POWER_STATES; i++)
        totals->power[i] -= before->power[i];
    totals->working -= before->working;
    totals->queue -= before->queue;
    for (unsigned i = 0; i < LEVELS; i++) {
        totals->tail[i] -= before->tail[i];
        totals->high_tail[i] -= before->high_tail[i];
    }
}

static void cut_warmup(struct tally *tally, const struct snapshot *cut) {
    subtract_totals(&tally->totals, &cut->totals);
    subtract_packed(&tally->load, &cut->load);
    for (unsigned which = 0; which < channel_count(tally); which++)
        subtract_channel(channel_of(tally, which), &cut->channel[which]);
}

/* NaN when there is no slice. */
static double mean_queue(const struct tally *tally, unsigned first, unsigned end) {
    double area = 0;
    for (unsigned slice = first; slice < end; slice++)
        area += tally->slice_queue[slice] * (slice_start(tally, slice + 1) - slice_start(tally, slice));
    return area / (slice_start(tally, end) - slice_start(tally, first));
}

/* What a queue that is still filling up shows: how much longer it is in the last three quarters of the
 * measured part than in the first, over its mean. Of all ways to divide that part this sees both a slow climb
 * and the rest of a fast one about as well as the best would. */
static double queue_drift(const struct tally *tally, unsigned cut) {
    const unsigned border = cut + (tally->slices - cut) / 4;
    const double mean = mean_queue(tally, cut, tally->slices);
    const double change = mean_queue(tally, border, tally->slices) - mean_queue(tally, cut, border);
    return mean > 0 || isnan(change) ? change / mean : 0;
}

/* ---- distributions ---- */

static const double usual[] = {0.5, 0.9, 0.99, 0.999};

enum bli_metric bli_distribution_median(enum bli_distribution distribution) {
    static const enum bli_metric medians[] = {
        BLI_RESPONSE_P50,     BLI_WAITING_P50,     BLI_HIGH_RESPONSE_P50, BLI_HIGH_WAITING_P50,
        BLI_LOW_RESPONSE_P50, BLI_LOW_WAITING_P50, BLI_LOAD_P50};
    return medians[distribution];
}

enum bli_metric bli_distribution_metric(enum bli_distribution distribution, double quantile) {
    for (unsigned i = 0; i < 4; i++)
        if (fabs(usual[i] - quantile) < 1e-9)
            return (enum bli_metric)((unsigned)bli_distribution_median(distribution) + i);
    return BLI_METRIC_COUNT;
}

/* A quantile in slots is the whole number whose share of its bin the interpolated one lies in: exact up to
 * 255, where every number has a bin of its own. */
static double whole_slots(double quantile) {
    return fmax(ceil(quantile) - 1, 0);
}

double bli_distribution_quantile(const struct bli_histogram *histogram, double quantile, double unit,
                                 bool slotted) {
    const double value = bli_histogram_quantile(histogram, quantile);
    return slotted && value > 0 ? whole_slots(value) : value / (1 / unit); /* as times were counted */
}

static void percentiles(const struct tally *tally, const struct bli_histogram *h, double *out) {
    for (unsigned i = 0; i < 4; i++)
        out[i] = bli_distribution_quantile(h, usual[i], tally->unit, tally->slotted);
}

/* NaN where there is nothing to divide by: nothing was measured. */
static double ratio_or_nan(double amount, double count) {
    return count > 0 ? amount / count : NAN;
}

/* The eleven metrics of BLI_TIME_METRICS, in its order. */
static void times_of(const struct tally *tally, struct channel *channel, double *metric) {
    channel->waiting_histogram.count[0] += channel->immediate;
    const double started = (double)bli_histogram_total(&channel->waiting_histogram);
    metric[0] = ratio_or_nan(channel->response, (double)channel->completed);
    percentiles(tally, &channel->response_histogram, metric + 1);
    metric[5] = ratio_or_nan(channel->waiting, started);
    percentiles(tally, &channel->waiting_histogram, metric + 6);
    /* Who gives up has waited. */
    metric[10] = 1 - ratio_or_nan((double)channel->immediate, started + (double)channel->gave_up);
}

static void class_metrics(struct tally *tally, double *metric) {
    struct channel *high = tally->by_class, *low = tally->by_class + tally->classes - 1;
    times_of(tally, high, &metric[BLI_HIGH_RESPONSE_MEAN]);
    times_of(tally, low, &metric[BLI_LOW_RESPONSE_MEAN]);
    metric[BLI_HIGH_PROBES_PER_JOB] = ratio_or_nan((double)high->probes, (double)high->routed);
    metric[BLI_LOW_PROBES_PER_JOB] = ratio_or_nan((double)low->probes, (double)low->routed);
    metric[BLI_HIGH_REFUSED] = ratio_or_nan((double)high->refused, (double)high->routed);
    metric[BLI_LOW_REFUSED] = ratio_or_nan((double)low->refused, (double)low->routed);
    for (unsigned i = 0; tally->classes > 2 && i < tally->classes; i++) {
        const struct channel *class = &tally->by_class[i];
        double *of_class = &metric[BLI_CLASS_1_RESPONSE_MEAN + 2 * i];
        of_class[0] = ratio_or_nan(class->response, (double)class->completed);
        of_class[1] = bli_distribution_quantile(&class->response_histogram, 0.99, tally->unit, false);
        metric[BLI_CLASS_1_REFUSED + i] = ratio_or_nan((double)class->refused, (double)class->routed);
    }
    metric[BLI_MOVES_PER_HIGH_JOB] = ratio_or_nan((double)tally->totals.moves, (double)high->routed);
}

/* From integrals to averages. Cutting the warm-up may leave a rounding error below 0. */
static void tail_of(const double *total, double time, uint32_t servers, double *tail) {
    tail[0] = 1;
    for (unsigned i = 1; i < BLI_TAIL_LEVELS; i++)
        tail[i] = total[i] > 0 ? total[i] / time / servers : 0;
}

static void queue_metrics(const struct tally *tally, uint32_t servers, double time, struct bli_trial *trial) {
    const struct totals *totals = &tally->totals;
    trial->metric[BLI_QUEUE_MEAN] = totals->queue / time / servers;
    trial->metric[BLI_QUEUE_TOTAL] = totals->queue / time;
    tail_of(totals->tail, time, servers, trial->tail);
    for (unsigned i = 1; tally->by_class && i <= 3; i++)
        trial->metric[BLI_HIGH_TAIL_1 + i - 1] = totals->high_tail[i] / time / servers;
    if (trial->high_tail)
        tail_of(totals->high_tail, time, servers, trial->high_tail);
}

/* Jobs that have come, whether they were let in or not. */
static double offered_jobs(const struct totals *totals) {
    return (double)(totals->arrivals + totals->lost + totals->refused + totals->failed + totals->gave_up);
}

static void message_metrics(const struct totals *totals, double time, double *metric) {
    const double jobs = offered_jobs(totals);
    const double probes = (double)totals->probes, reports = (double)totals->reports;
    metric[BLI_PROBES_PER_JOB] = ratio_or_nan(probes, jobs);
    metric[BLI_REPORTS_PER_JOB] = ratio_or_nan(reports, jobs);
    metric[BLI_MESSAGES_PER_JOB] = ratio_or_nan(2 * probes + reports, jobs);
    metric[BLI_MESSAGES_PER_TIME] = (probes + reports) / time;
    metric[BLI_MESSAGES_PER_BATCH] = ratio_or_nan(probes + reports, (double)totals->batches);
    metric[BLI_MESSAGES_PER_PART] = ratio_or_nan(probes + reports, (double)totals->parts);
    metric[BLI_LOAD_ACHIEVED] = jobs / time; /* the rest of it is up to the model */
}

static void stealing_metrics(const struct totals *totals, uint32_t servers, double time, double *metric) {
    metric[BLI_STEALING_REQUESTS] = (double)totals->requests / time / servers;
    metric[BLI_STEALING_STEALS] = (double)totals->steals / time / servers;
    metric[BLI_STEALING_MOVED] = ratio_or_nan((double)totals->stolen, offered_jobs(totals));
}

/* What all servers have done: their number in each state, or the part of their time in it. */
struct power_shares {
    double busy, standby, setup, off;
};

/* Where servers do not switch off, those that are neither busy nor gone stand by. */
static struct power_shares power_shares_of(const struct tally *tally, double all, double busy,
                                           const double *power) {
    if (!tally->powered)
        return (struct power_shares){
            .busy = busy, .standby = all - busy - power[POWER_OFF], .off = power[POWER_OFF]};
    return (struct power_shares){busy, power[POWER_STANDBY], power[POWER_SETUP], power[POWER_OFF]};
}

static double watts_of(const struct bli_watts *watts, const struct power_shares *doing) {
    return doing->busy * watts->busy + doing->standby * watts->idle + doing->setup * watts->setup +
           doing->off * watts->off;
}

static double area_until(const struct level *level, double width) {
    return level->area + (double)level->count * width;
}

double bli_tally_energy(const struct tally *tally, uint32_t servers, double until) {
    const double width = until - tally->slice_start;
    const double busy = tally->totals.tail[1] + area_until(&tally->level[1], width);
    double power[POWER_STATES];
    for (unsigned i = 0; i < POWER_STATES; i++)
        power[i] = tally->totals.power[i] + area_until(&tally->power[i], width);
    const struct power_shares doing = power_shares_of(tally, servers * until, busy, power);
    return watts_of(&tally->watts, &doing);
}

/* An internal error: the message names the trial. */
static _Noreturn void internal_error(const struct tally *tally, const char *what, double value) {
    fprintf(stderr, "ballast: internal error: %s %.17g (seed %llu, replication %llu, run of time %.17g)\n",
            what, value, (unsigned long long)tally->run->seed, (unsigned long long)tally->run->replication,
            tally->end);
    abort();
}

/* What rounding may do to a part of the whole run, and more to a part of what a warm-up leaves of it. */
static double rounding_tolerance(const struct tally *tally, double time) {
    return 1e-9 * tally->end / time;
}

/* The part of its time that servers are in a state; rounding alone may carry it past 0 or 1. */
static double part_of(const struct tally *tally, const char *what, double area, double time,
                      uint32_t servers) {
    const double part = area / time / servers, slack = rounding_tolerance(tally, time);
    if (!(part >= -slack && part <= 1 + slack))
        internal_error(tally, what, part);
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* Every server is in exactly one state at all times, so that the parts of all states are 1. */
static struct power_shares parts_of(const struct tally *tally, uint32_t servers, double time) {
    const double *power = tally->totals.power;
    const double part[POWER_STATES] = {
        part_of(tally, "the part of time that servers stand by is", power[POWER_STANDBY], time, servers),
        part_of(tally, "the part of time that servers are in set-up is", power[POWER_SETUP], time, servers),
        part_of(tally, "the part of time that servers are off is", power[POWER_OFF], time, servers)};
    const double busy =
        part_of(tally, "the part of time that servers are busy is", tally->totals.tail[1], time, servers);
    const struct power_shares parts = power_shares_of(tally, 1, busy, part);
    const double sum = parts.busy + parts.standby + parts.setup + parts.off;
    if (!(fabs(sum - 1) <= rounding_tolerance(tally, time)))
        internal_error(tally, "the parts of time in all states of servers sum to", sum);
    return parts;
}

/* The part of its time that a server would be busy if it always worked as fast as it can. Not known where
 * that takes more jobs than are counted. */
static double part_needed(const struct tally *tally, uint32_t servers, double time, double busy) {
    const struct totals *totals = &tally->totals;
    if (tally->slots > 1)
        return totals->working / tally->slots / time / servers;
    if (!tally->speeds)
        return busy;
    const uint32_t last = bli_speeds_last(tally->speeds),
                   most = tally->sharing < last ? tally->sharing : last;
    double work = 0, before = 0;
    for (uint32_t k = 1; k <= most && most < LEVELS - 1; k++) {
        const double rate = bli_speeds_rate(tally->speeds, k);
        work += (rate - before) * totals->tail[k];
        before = rate;
    }
    return most < LEVELS - 1 ? work / bli_speeds_top(tally->speeds, most) / time / servers : NAN;
}

/* Mean watts of a server, joules of a job, and what is spent above the least that the work needs. */
static void power_metrics(const struct tally *tally, uint32_t servers, double time, double *metric) {
    const struct bli_watts *watts = &tally->watts;
    const struct power_shares parts = parts_of(tally, servers, time);
    const double mean = watts_of(watts, &parts);
    const double needed = part_needed(tally, servers, time, parts.busy);
    metric[BLI_POWER_MEAN] = mean;
    metric[BLI_POWER_WASTE] = ratio_or_nan(mean, needed * watts->busy + (1 - needed) * watts->off) - 1;
    metric[BLI_ENERGY_PER_JOB] = ratio_or_nan(mean * servers * time, (double)tally->all.completed);
    metric[BLI_SERVERS_BUSY] = parts.busy;
    metric[BLI_SERVERS_STANDBY] = parts.standby;
    metric[BLI_SERVERS_SETUP] = parts.setup;
    metric[BLI_SERVERS_OFF] = parts.off;
}

static void loss_metrics(const struct tally *tally, double *metric) {
    const struct totals *totals = &tally->totals;
    if (tally->patient)
        metric[BLI_GAVE_UP] = ratio_or_nan((double)totals->gave_up, offered_jobs(totals));
    metric[BLI_LOST] = ratio_or_nan((double)totals->lost, offered_jobs(totals));
    metric[BLI_REFUSED] = ratio_or_nan((double)totals->refused, offered_jobs(totals));
    metric[BLI_FAILED] = ratio_or_nan((double)totals->failed, offered_jobs(totals));
}

static void load_metrics(const struct tally *tally, double *metric) {
    percentiles(tally, &tally->load, &metric[BLI_LOAD_P50]);
    const double last = metric[BLI_LOAD_P999] - metric[BLI_LOAD_P99];
    const double before = metric[BLI_LOAD_P99] - metric[BLI_LOAD_P90];
    metric[BLI_LOAD_TAIL] = before > 0 ? last / before : NAN;
}

/* NULL: there is none. */
static const struct bli_histogram *histogram_of(const struct tally *tally, enum bli_distribution which) {
    const struct channel *class = tally->by_class;
    switch (which) {
    case BLI_OF_RESPONSE:
        return &tally->all.response_histogram;
    case BLI_OF_WAITING:
        return &tally->all.waiting_histogram;
    case BLI_OF_HIGH_RESPONSE:
        return class ? &class[0].response_histogram : NULL;
    case BLI_OF_HIGH_WAITING:
        return class ? &class[0].waiting_histogram : NULL;
    case BLI_OF_LOW_RESPONSE:
        return class ? &class[tally->classes - 1].response_histogram : NULL;
    case BLI_OF_LOW_WAITING:
        return class ? &class[tally->classes - 1].waiting_histogram : NULL;
    default:
        return &tally->load;
    }
}

/* The percentiles that were asked for, and whole histograms. */
static void copy_results(const struct tally *tally, struct bli_trial *trial) {
    const struct bli_percentiles *asked = tally->run->percentiles;
    for (unsigned d = 0; d < BLI_DISTRIBUTIONS; d++) {
        const struct bli_histogram *histogram = histogram_of(tally, (enum bli_distribution)d);
        for (unsigned i = 0; asked && i < asked->count; i++)
            trial->percentile[d][i] = histogram ? bli_distribution_quantile(histogram, asked->quantile[i],
                                                                            tally->unit, tally->slotted)
                                                : NAN;
        if (histogram && trial->histogram[d])
            *trial->histogram[d] = *histogram;
    }
}

/* ---- from events to time ---- */

static void channel_to_time(struct channel *channel, double rate, double unit) {
    channel->response /= rate;
    channel->waiting /= rate;
    bli_erlang_mix(&channel->response_histogram, rate * unit);
    bli_erlang_mix(&channel->waiting_histogram, rate * unit);
}

/* Nothing else than queues is kept over time where events are counted: no power, and no slots. */
static void to_time(struct tally *tally) {
    struct totals *totals = &tally->totals;
    const double rate = tally->rate;
    for (unsigned which = 0; which < channel_count(tally); which++)
        channel_to_time(channel_of(tally, which), rate, tally->unit);
    totals->queue /= rate;
    for (unsigned i = 0; i < LEVELS; i++) {
        totals->tail[i] /= rate;
        totals->high_tail[i] /= rate;
    }
    tally->time /= rate;
    tally->end /= rate;
    tally->per_unit = 1 / tally->unit;
}

void bli_tally_finish(struct tally *tally, uint32_t servers, struct bli_trial *trial) {
    trial->events = tally->totals.arrivals + tally->all.completed;
    for (unsigned q = 0; q < 4; q++)
        trial->quarter[q] = mean_queue(tally, tally->slices * q / 4, tally->slices * (q + 1) / 4);
    const struct snapshot *cut = choose_snapshot(tally);
    trial->warmup = cut ? slice_start(tally, cut->slice) : 0;
    if (cut)
        cut_warmup(tally, cut);
    if (tally->rate > 0) {
        to_time(tally);
        trial->warmup /= tally->rate;
    }
    const double time = (tally->drains ? tally->end : tally->time) - trial->warmup;
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        trial->metric[m] = NAN;
    trial->metric[BLI_TRANSIENT] = (double)transient_slices(tally) / tally->slices;
    trial->metric[BLI_DRIFT] = queue_drift(tally, cut ? cut->slice : 0);
    times_of(tally, &tally->all, &trial->metric[BLI_RESPONSE_MEAN]);
    if (tally->by_class)
        class_metrics(tally, trial->metric);
    queue_metrics(tally, servers, time, trial);
    message_metrics(&tally->totals, time, trial->metric);
    loss_metrics(tally, trial->metric);
    if (!tally->slotted) /* slots know no watts, and a server may do in a slot all that came in it */
        power_metrics(tally, servers, time, trial->metric);
    if (tally->stealing)
        stealing_metrics(&tally->totals, servers, time, trial->metric);
    if (bli_histogram_total(&tally->load) > 0)
        load_metrics(tally, trial->metric);
    trial->jobs = tally->all.completed;
    copy_results(tally, trial);
}
