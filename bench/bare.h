/* SPDX-License-Identifier: BSD-2-Clause */
/* The bare loop: what everything else is measured against. The uniformised Markov chain of pod:d=2, queue
 * lengths only: no times, no jobs, no policy, no statistics. It draws as exactly as the engine does (53 bits
 * for the event, servers without bias); the state of the generator stays in registers, and whether a queue is
 * empty costs no branch. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stdint.h>
#include <time.h>

/* Runs about so many events (arrivals and completions) on 1000 servers at load 0.9 and returns events per
 * second of processor time. */
double bare_speed(uint64_t events);

/* The same where all rates are whole numbers, so that one multiplication of whole numbers draws an event:
 * what no engine can count on. */
double bare_whole_speed(uint64_t events);

/* Processor time of this thread: other programs on the machine disturb it less than the wall clock. */
static inline double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
