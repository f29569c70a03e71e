/* SPDX-License-Identifier: BSD-2-Clause */
/* Infers the number of slots of a server from overtaking and from how sizes depend on the queue. */
#include "recover/slot_inference.h"

#include <math.h>

enum { MOST = BLI_EVIDENCE_MAX };

#define NANOSECONDS 1e9
/* Overtaking beyond this disproves a number of slots. Where the order of arrivals is drawn within seconds it
 * happens by chance, to some percent of the jobs; where it is not, only to requests that are out of the
 * ordinary. */
#define OVERTAKING_MAX 0.001
#define OVERTAKING_COARSE 0.1
#define SURE 2.0    /* standard errors within which two numbers of slots cannot be distinguished: 95 % */
#define CERTAIN 3.3 /* and beyond which servers are said to share their time: 99.9 % ... */
#define SHARED 1.15 /* ... if the effect is not a small one */

void bli_evidence_add(struct bli_evidence *evidence, unsigned block, const struct bli_departures *departures,
                      int64_t arrives, int64_t leaves, int64_t tolerance) {
    struct bli_evidence_block *to = &evidence->block[block];
    const size_t others = bli_departures_count(departures), found = others < MOST ? others : MOST;
    evidence->jobs++;
    to->found[found]++;
    to->logged[found] += (double)(leaves - arrives) / NANOSECONDS;
    for (size_t k = 1; k <= found; k++) {
        const int64_t served = leaves - bli_departures_last(departures, k);
        to->served[found][k] += served > 0 ? (double)served / NANOSECONDS : 0; /* as it would be taken */
    }
    const size_t after = bli_departures_after(departures, leaves + tolerance);
    evidence->overtaken[after < MOST ? after : MOST]++;
}

double bli_evidence_overtaking(const struct bli_evidence *evidence, uint32_t k) {
    uint64_t jobs = 0;
    for (uint32_t n = k; n <= MOST; n++)
        jobs += evidence->overtaken[n];
    return (double)jobs / (double)evidence->jobs;
}

/* Sums of sizes with k slots, of jobs that find at least `from` and fewer than `to` others. */
static double sum_sizes(const struct bli_evidence_block *block, uint32_t k, uint32_t from, uint32_t to) {
    double sum = 0;
    for (uint32_t n = from; n < to; n++)
        sum += n < k ? block->logged[n] : block->served[n][k];
    return sum;
}

static uint64_t count_jobs(const struct bli_evidence_block *block, uint32_t from, uint32_t to) {
    uint64_t sum = 0;
    for (uint32_t n = from; n < to; n++)
        sum += block->found[n];
    return sum;
}

double bli_evidence_mean(const struct bli_evidence *evidence, uint32_t k) {
    double sum = 0;
    for (unsigned b = 0; b < BLI_STRATA; b++)
        sum += sum_sizes(&evidence->block[b], k, 0, MOST + 1);
    return sum / (double)evidence->jobs;
}

/* Sizes with k slots: of jobs that find `middle` others or more, below `end`, over those that find fewer. */
static struct bli_contrast compare_sizes(const struct bli_evidence *evidence, uint32_t k, uint32_t middle,
                                         uint32_t end) {
    struct bli_stratum strata[BLI_STRATA];
    for (unsigned b = 0; b < BLI_STRATA; b++) {
        const struct bli_evidence_block *block = &evidence->block[b];
        strata[b] =
            (struct bli_stratum){.count = {count_jobs(block, 0, middle), count_jobs(block, middle, end)},
                                 .sum = {sum_sizes(block, k, 0, middle), sum_sizes(block, k, middle, end)}};
    }
    return bli_strata_compare(strata);
}

double bli_evidence_dependence(const struct bli_evidence *evidence, uint32_t k) {
    return exp(compare_sizes(evidence, k, k, MOST + 1).log_ratio);
}

static uint32_t least_slots(const struct bli_evidence *evidence, bool coarse) {
    uint32_t k = 1;
    while (k < MOST && bli_evidence_overtaking(evidence, k) > (coarse ? OVERTAKING_COARSE : OVERTAKING_MAX))
        k++;
    return k;
}

/* With enough slots for what overtaking proves, a job that finds one free begins at once; that it then takes
 * longer the more others there are is because it shares with them. */
static bool is_shared(const struct bli_evidence *evidence, uint32_t least) {
    if (least < 2)
        return false;
    const struct bli_contrast contrast = compare_sizes(evidence, least, (least + 1) / 2, least);
    return contrast.log_ratio > log(SHARED) && contrast.log_ratio > CERTAIN * contrast.error;
}

struct bli_evidence_slots bli_evidence_infer_slots(const struct bli_evidence *evidence, bool coarse) {
    const uint32_t least = least_slots(evidence, coarse);
    struct bli_evidence_slots judged = {.least = least, .slots = least, .low = least, .high = 0};
    judged.shared = !coarse && is_shared(evidence, least);
    /* Sizes grow with the number of slots that is assumed, so the right one is where they cross 1. */
    double nearest = INFINITY;
    bool within = false;
    for (uint32_t k = least; k <= MOST; k++) {
        const struct bli_contrast contrast = compare_sizes(evidence, k, least, MOST + 1);
        if (isnan(contrast.log_ratio)) /* hardly any job finds so many others, or sizes would be below 0 */
            continue;
        const double distance = fabs(contrast.log_ratio);
        const bool fits = distance <= SURE * contrast.error;
        if (fits && !within)
            judged.low = k;
        if (fits)
            judged.high = k;
        within = within || fits;
        if (distance < nearest) {
            nearest = distance;
            judged.slots = k;
        }
    }
    if (isinf(nearest))
        return judged;
    if (coarse) { /* who was there when a job came is uncertain too, by about one */
        judged.low = judged.slots > 1 ? judged.slots - 1 : 1;
        judged.high = judged.slots + 1;
        return judged;
    }
    if (!within)
        judged.low = judged.high = judged.slots;
    judged.low = judged.slots < judged.low ? judged.slots : judged.low;
    judged.high = judged.high == MOST ? 0 : judged.slots > judged.high ? judged.slots : judged.high;
    return judged;
}
