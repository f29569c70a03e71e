/* SPDX-License-Identifier: BSD-2-Clause */
/* A live fleet in simulated time, by the engine live-core, with the settings of nginx: a beat of 100 ms, 10
 * ms for replies. Poisson arrivals, exponential service. Every datagram and every hop of a request takes the
 * same delay, or an exponential one, so that they overtake each other; datagrams get lost if that is wanted.
 * What is measured follows from the setting alone. Ends the program with a message where that fails.
 */
#ifndef BENCH_LIVE_FLEET_H
#define BENCH_LIVE_FLEET_H

#include <stdbool.h>
#include <stdint.h>

enum { LIVE_FLEET_SERVERS_MAX = 10000, LIVE_FLEET_DISPATCHERS_MAX = 128 };

struct live_fleet_setting {
    uint32_t servers, dispatchers;
    uint32_t slots; /* of each server; 0 is 1 */
    double load, service_ns, delay_ns;
    bool delays_vary; /* they are exponential with that mean */
    double loss;      /* of datagrams, each alone */
    uint64_t gap_ns;  /* bal_dispatcher_config.gap_ns */
    const char *policy;
    uint64_t seed;     /* from 1 on */
    uint64_t requests; /* that come while it is measured, on average; a tenth as many come first */
    bool timed;        /* measure what the first dispatcher takes of a processor */
};

/* For each request: */
struct live_fleet_measured {
    double datagrams;
    double piggybacked; /* offers that came with a response and cost no datagram */
    double mean_ns;
    double held; /* the share of requests that were held at all */
    double p99_ns;
    double received, sent; /* datagrams of a dispatcher, in a second */
    double processor;      /* the share that the core of a dispatcher takes, sockets not included */
    double block;          /* bytes of a dispatcher's block */
};

struct live_fleet_measured live_fleet_measure(const struct live_fleet_setting *setting);

#endif
