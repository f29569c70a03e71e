/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of the engines whose speed is measured, for the programs here that show it. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "ballast/simulate.h"

struct row {
    const char *what;
    const char *servers, *service, *policy;
    double load, jobs; /* expected; or slots */
    enum bli_engine engine;
    bool slotted;
    double wanted;                 /* least ratio to the bare loop; 0: none */
    double high;                   /* above 0: classes */
    uint32_t slots;                /* of a server */
    const char *steal, *placement; /* of work stealing; NULL: none */
    bool recorded;                 /* jobs from a trace */
    uint32_t dispatchers;          /* above 0: so many, and every message takes 0.1 on average */
    uint32_t tasks;                /* of a job */
};

#define MARKOV .engine = BLI_ENGINE_MARKOV
#define EVENT .engine = BLI_ENGINE_EVENT
#define NETWORK .engine = BLI_ENGINE_NETWORK
#define CHAIN .engine = BLI_ENGINE_STEALING, .slotted = true

enum { ROUNDS = 7 };

_Noreturn void die(const char *what);

/* Events (server-slots in slotted time) per second of processor time, in `trials` runs one after another. */
double speed_of(const struct row *row, unsigned trials);

/* The middle of several rounds, in turn with the bare loop: *fastest events a second, and their ratio. */
double ratio_of(const struct row *row, double *fastest);

double median_of(double *values, int count);

#endif
