/* SPDX-License-Identifier: BSD-2-Clause */
/* What a dispatcher of a large fleet receives, sends and takes, by the number of stations and dispatchers.
 *
 *     bench-scale [--gap US] [--service MS] [--load X] [--loss X] [--policy P] [--seconds S] [N,M]...
 *
 * In simulated time: live_fleet.h. Datagrams and times follow from the arguments alone, the share of a
 * processor does not: it is the core alone, measured, without sockets. --gap 0: no station is asked for rarer
 * heartbeats than its own. */
#include "live_fleet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a request that never waits: its service alone. */
static double ideal_p99(double service_ns) {
    return service_ns * log(100);
}

static void print_row(const struct live_fleet_setting *f) {
    const struct live_fleet_measured m = live_fleet_measure(f);
    printf("%6u %5u %9.0f %9.0f %9.1f %% %8.1f %9.1f %9.1f\n", f->servers, f->dispatchers, m.received, m.sent,
           100 * m.processor, m.block / 1e6, m.p99_ns / 1e6,
           (ideal_p99(f->service_ns) + 2 * f->delay_ns) / 1e6);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const char *const rows[] = {"100,4", "1000,4", "1000,16", "10000,4", "10000,16", "10000,100"};
    struct live_fleet_setting f = {.service_ns = 100e6,
                                   .delay_ns = 1e5,
                                   .load = 0.7,
                                   .gap_ns = 200000,
                                   .policy = "jiq:else=least-conn",
                                   .seed = 1,
                                   .timed = true};
    double seconds = 5;
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        const char *option = argv[first];
        const double value = strtod(argv[first + 1], NULL);
        if (strcmp(option, "--gap") == 0 && value >= 0)
            f.gap_ns = (uint64_t)(value * 1e3);
        else if (strcmp(option, "--service") == 0 && value > 0)
            f.service_ns = value * 1e6;
        else if (strcmp(option, "--load") == 0 && value > 0 && value < 1)
            f.load = value;
        else if (strcmp(option, "--loss") == 0 && value >= 0 && value < 1)
            f.loss = value;
        else if (strcmp(option, "--seconds") == 0 && value > 0)
            seconds = value;
        else if (strcmp(option, "--policy") == 0)
            f.policy = argv[first + 1];
        else
            return fprintf(stderr, "bench-scale: '%s %s'\n", option, argv[first + 1]), 2;
    }
    const bool given = first < argc;
    printf("%s, load %g, service %g ms, delay %g us, room for a heartbeat in %g us\n", f.policy, f.load,
           f.service_ns / 1e6, f.delay_ns / 1e3, (double)f.gap_ns / 1e3);
    printf("     N     M  in, 1/s  out, 1/s        core       MB   p99, ms     ideal\n");
    for (int i = given ? first : 0; i < (given ? argc : (int)(sizeof rows / sizeof *rows)); i++) {
        const char *row = given ? argv[i] : rows[i];
        char *end;
        f.servers = (uint32_t)strtoul(row, &end, 10);
        f.dispatchers = *end == ',' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
        if (*end || f.servers < 1 || f.servers > LIVE_FLEET_SERVERS_MAX || f.dispatchers < 1 ||
            f.dispatchers > LIVE_FLEET_DISPATCHERS_MAX)
            return fprintf(stderr, "bench-scale: '%s': use N,M as in 1000,16\n", row), 2;
        f.requests = (uint64_t)(seconds * f.load * f.servers / (f.service_ns / 1e9));
        print_row(&f);
    }
    return 0;
}
