/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers whose speed depends on the number of jobs in service, each a queue of its own: a birth-death
 * process whose death rate with k jobs is the total rate with as many of them in service as have a slot.
 *
 * With exponential sizes that is exact. Where all jobs are in service the queue is symmetric (Kelly 1979,
 * section 3.3), and the numbers of jobs and the means are the same for any law of sizes. */
#include "theory/speeds_queue.h"

#include <math.h>

/* What is summed over the states up to the last in which the rate changes, and over all behind it, where the
 * probabilities are those of a geometric law. */
struct queue_sums {
    double all;     /* of the weights of all states, to which the others are relative */
    double jobs;    /* of the jobs */
    double waiting; /* ... of those without a slot */
    double no_slot; /* of the states in which a job that comes finds no slot */
};

static void add_state(struct queue_sums *sums, double weight, double k, uint32_t slots) {
    sums->all += weight;
    sums->jobs += weight * k;
    sums->waiting += slots > 0 && k > slots ? weight * (k - slots) : 0;
    sums->no_slot += slots > 0 && k >= slots ? weight : 0;
}

/* The states behind k, each of r times the weight of the one in front. */
static void add_geometric(struct queue_sums *sums, double weight, double k, double r, uint32_t slots) {
    const double mass = weight * r / (1 - r), beyond = mass / (1 - r); /* sums of r^i and i r^i */
    sums->all += mass;
    sums->jobs += mass * k + beyond;
    if (slots == 0)
        return;
    sums->waiting += mass * (k - slots) + beyond;
    sums->no_slot += mass;
}

struct bli_prediction bli_theory_speeds_queue(const struct bli_speeds *speeds, uint32_t slots,
                                              double arrivals, double mean, bool exponential) {
    struct bli_prediction known = bli_theory_unknown;
    if (!exponential && slots > 0)
        return known;
    const uint32_t last = slots > 0 ? slots : bli_speeds_last(speeds);
    const double full = bli_speeds_rate(speeds, last) / mean, r = arrivals / full;
    known.kind = BLI_THEORY_EXACT;
    known.source = slots > 0 ? "M/M/1 with speeds" : "M/G/1-PS with speeds";
    if (!(r < 1)) {
        known.response_mean = known.waiting_mean = INFINITY;
        return known;
    }
    struct queue_sums sums = {0};
    double weight = 1, tail[BLI_THEORY_LEVELS] = {0};
    for (uint32_t k = 0;; k++) {
        add_state(&sums, weight, k, slots);
        if (k + 1 < BLI_THEORY_LEVELS)
            tail[k + 1] = sums.all; /* up to k jobs, for now */
        if (k == last)
            break;
        weight *= arrivals * mean / bli_speeds_rate(speeds, k + 1);
        if (sums.all > 1e250) { /* many states: only ratios count */
            weight /= 1e250;
            sums.all /= 1e250, sums.jobs /= 1e250, sums.waiting /= 1e250, sums.no_slot /= 1e250;
            for (uint32_t i = 1; i < BLI_THEORY_LEVELS; i++)
                tail[i] /= 1e250;
        }
    }
    add_geometric(&sums, weight, last, r, slots);
    known.response_mean = sums.jobs / sums.all / arrivals;
    known.waiting_mean = sums.waiting / sums.all / arrivals;
    known.waiting_probability = sums.no_slot / sums.all;
    known.levels = BLI_THEORY_LEVELS;
    known.tail[0] = 1;
    for (uint32_t i = 1; i < BLI_THEORY_LEVELS; i++)
        known.tail[i] = i <= last + 1 ? 1 - tail[i] / sums.all : known.tail[i - 1] * r;
    return known;
}
