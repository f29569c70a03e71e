/* What a trial keeps while it runs: sums, histograms and the time integrals of queue lengths.
 *
 * The run is cut into SLICES equal slices of time. Each gives one average of the total queue, from which warm-up and drift are judged
 * afterwards. To be able to take the warm-up out of everything else, the sums are copied at those slice boundaries where it may
 * end; what was measured is then the total less the copy. In slotted time a slice is a whole number of slots, so that slices may
 * differ by one slot, and a run of fewer than SLICES slots has a slice for each of them.
 *
 * The fraction of servers with at least k jobs is integrated without touching the other levels: a server that reaches level k at
 * time x (since the slice began) adds -x to that level, one that leaves it adds +x, and at the end of the slice every server still
 * there adds the width. */
#ifndef ENGINE_TALLY_H
#define ENGINE_TALLY_H

#include "ballast/simulate.h"

enum { SLICES = 1000, SNAPSHOTS = 20 }; /* the most of each; the warm-up ends at a snapshot, by half of the run */

enum { LEVELS = BAL_TAIL_LEVELS + 1 }; /* the last one stands for all levels from there up */

struct level {
    double area;
    int64_t count;
};

/* Totals since the start; the difference of two of them is what happened in between. */
struct totals {
    double response;
    double waiting;
    uint64_t arrivals;
    uint64_t immediate; /* services begun without waiting; the others are in the histogram of waiting times */
    uint64_t completed;
    uint64_t probes;
    uint64_t reports;
    double queue;        /* integral of the total queue over time */
    double tail[LEVELS]; /* integral of the number of servers with at least i jobs */
};

/* The bins of a histogram between the first and the last that are not empty. */
struct packed_histogram {
    unsigned first, end;
    uint64_t *count;
};

struct snapshot {
    unsigned slice;
    struct totals totals;
    struct packed_histogram response, waiting;
};

struct tally {
    double time;        /* length of the run */
    bool slotted;       /* times are whole numbers of slots */
    unsigned slices;    /* how many there are */
    unsigned slice;     /* how many are closed */
    double slice_start, slice_end;
    double per_unit;    /* 1 / mean size: histograms hold times in units of it */
    struct level level[LEVELS];
    struct totals totals;
    struct bal_histogram response, waiting;
    double slice_queue[SLICES];
    unsigned snapshots;
    struct snapshot snapshot[SNAPSHOTS];
    bool fixed_warmup;
    unsigned warmup_slice; /* when it is fixed */
};

enum bal_code tally_init(struct tally *tally, const struct bal_run *run, double unit);
/* For slotted time, in units of slots; the last slot need not be complete in run->time, but is simulated. */
enum bal_code tally_init_slotted(struct tally *tally, const struct bal_run *run);
void tally_fini(struct tally *tally);

/* Jobs in the system. */
int64_t tally_queue(const struct tally *tally);

/* Closes the current slice. probes is the fleet's meter. Returns false when there is no memory. */
bool tally_close_slice(struct tally *tally, uint64_t probes);

/* Works out the metrics of a complete run. */
void tally_finish(struct tally *tally, uint32_t servers, struct bal_trial *trial);

static inline bool tally_done(const struct tally *tally) {
    return tally->slice == tally->slices;
}

/* A server now has `length` jobs, one more than before. */
static inline void tally_up(struct tally *tally, double now, uint32_t length) {
    struct level *level = &tally->level[length < LEVELS - 1 ? length : LEVELS - 1];
    level->count++;
    level->area -= now - tally->slice_start;
}

/* A server had `length` jobs and now has one less. */
static inline void tally_down(struct tally *tally, double now, uint32_t length) {
    struct level *level = &tally->level[length < LEVELS - 1 ? length : LEVELS - 1];
    level->count--;
    level->area += now - tally->slice_start;
}

/* A job has joined a server that now has `length` jobs; if it is alone it starts at once. */
static inline void tally_join(struct tally *tally, uint32_t length) {
    tally->totals.immediate += length == 1;
}

/* A job starts service after waiting. When `real` is false nothing happens, but without a branch: whether a queue is empty cannot be
 * predicted. */
static inline void tally_start(struct tally *tally, double waiting, bool real) {
    tally->totals.waiting += real ? waiting : 0;
    tally->waiting.count[bal_histogram_bin(waiting * tally->per_unit)] += real;
}

static inline void tally_complete(struct tally *tally, double response) {
    tally->totals.completed++;
    tally->totals.response += response;
    bal_histogram_add(&tally->response, response * tally->per_unit);
}

#endif
