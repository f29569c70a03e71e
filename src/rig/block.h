/* SPDX-License-Identifier: BSD-2-Clause */
/* A block: the requests of one replication of the lab's arrivals, sent to a fleet of real processes, and
 * their outcomes. */
#ifndef RIG_BLOCK_H
#define RIG_BLOCK_H

#include "ballast/load.h"
#include "ballast/store.h"
#include "rig/rig.h"

struct rig_request_outcome {
    double time, ended; /* seconds from the start */
    unsigned class_;
    unsigned front;  /* the dispatcher that it was sent to */
    unsigned served; /* how many good answers servers have sent */
    bool good, resent;
};

/* A visit of a request to a server. */
struct rig_visit {
    double from, to;
    unsigned server;
    size_t number; /* of the request; SIZE_MAX: none of ours */
};

/* The memory of a process at the first and at the last measurement, in bytes. */
struct rig_memory {
    char name[32];
    double first, last;
};

/* The beginning or the end of a fault. */
struct rig_event {
    double time;
    struct bli_fault fault;
    bool begins;
    size_t order; /* order among events at the same time */
};

struct rig_block {
    struct rig *rig;
    struct rig_request_outcome *outcome; /* by number */
    size_t outcomes, room;
    struct rig_visit *visit;
    size_t visits;
    bool no_memory;
    double start; /* of the schedule, on bli_clock */
    double overslept;
    struct bli_load_result *load;
    /* faults */
    struct rig_event *event; /* what is to happen, by time */
    size_t events, next;
    struct bal_error fault;
    /* memory */
    struct rig_memory *memory;
    size_t processes;
    unsigned looks;
    /* facts */
    struct bli_fact *fact;
    size_t facts, fact_room;
};

/* Runs it. the histograms of response and waiting times must be set. BAL_E_STOPPED if it was asked to stop.
 */
enum bal_code bli_block_run(struct rig_block *block, struct rig *rig, uint64_t replication,
                            const volatile int *stop, void (*progress)(void *context, double part),
                            void *context, struct bli_trial *trial, struct bal_error *err);
void bli_block_fini(struct rig_block *block);
/* How long messages take each way, in seconds: half of what a short request to the idle fleet takes beyond
 * its service, with two digits. */
enum bal_code bli_block_measure_delay(struct rig *rig, const volatile int *stop, double *delay,
                                      struct bal_error *err);

/* Was the machine so busy that the block is not reliable, and is the block short enough to be measured again?
 * Decided by how late generator and servers were, not by the answers. Never with `urgent: no`, which is meant
 * to measure such disturbances. */
bool bli_block_is_disturbed(const struct rig_block *block);

__attribute__((format(printf, 3, 4))) void bli_block_record(struct rig_block *block, double value,
                                                            const char *name, ...);

/* Makes the list of events. False without memory. */
bool bli_fault_plan(struct rig_block *block);
/* Carries out the events that are due; returns the time of the next one. */
double bli_fault_step(struct rig_block *block, double now);
/* Records, for each fault, how many requests were lost and doubled, and by how much and for how long slots
 * were exceeded. */
void bli_recovery_record(struct rig_block *block);
/* The largest number of concurrent visits at any server between two times. */
unsigned bli_max_concurrent(const struct rig_block *block, double from, double to);

/* Measures the memory of each process after a tenth of a block that is long enough, and at its end; returns
 * the time of the next measurement. The other function records by how much it grew. */
double bli_memory_step(struct rig_block *block, double now);
void bli_memory_record(struct rig_block *block);

#endif
