/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams for each request of a live fleet, and mean responses: requests that are held next to those that
 * are sent by own counts.
 *
 *     bench-datagrams [--requests K] [--service MS] [--delay US] [N,M,LOAD]...
 *
 * In simulated time: live_fleet.h. What it prints follows from its arguments alone. The rows without
 * arguments are those of docs/live-core.md. */
#include "live_fleet.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct live_fleet_measured measure_policy(struct live_fleet_setting setting, const char *policy) {
    setting.policy = policy;
    return live_fleet_measure(&setting);
}

static void print_row(const struct live_fleet_setting *f) {
    const struct live_fleet_measured hold = measure_policy(*f, "jiq:else=hold"),
                                     own = measure_policy(*f, "jiq:else=least-conn");
    /* Of heartbeats alone: every station to every dispatcher. */
    const double beats = f->dispatchers * f->service_ns / 100e6 / f->load;
    printf("%4u %4u %6g %9.2f %9.2f %7.2f %9.2f %9.3f %9.3f %7.1f %%\n", f->servers, f->dispatchers, f->load,
           hold.datagrams, own.datagrams, hold.datagrams / own.datagrams, beats, hold.mean_ns / 1e6,
           own.mean_ns / 1e6, 100 * hold.held);
}

/* N,M,LOAD */
static bool read_row(const char *row, struct live_fleet_setting *f) {
    char *end;
    f->servers = (uint32_t)strtoul(row, &end, 10);
    if (*end != ',')
        return false;
    f->dispatchers = (uint32_t)strtoul(end + 1, &end, 10);
    if (*end != ',')
        return false;
    f->load = strtod(end + 1, &end);
    return *end == '\0';
}

int main(int argc, char **argv) {
    static const char *const rows[] = {"10,4,0.01", "10,4,0.3",    "10,4,0.9",   "50,4,0.01",
                                       "50,4,0.3",  "50,4,0.9",    "200,4,0.01", "200,4,0.3",
                                       "200,4,0.9", "200,16,0.01", "200,16,0.3", "200,16,0.9"};
    struct live_fleet_setting f = {.service_ns = 5e6, .delay_ns = 1e5, .seed = 1, .requests = 40000};
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        const double value = strtod(argv[first + 1], NULL);
        if (strcmp(argv[first], "--requests") == 0 && value >= 10)
            f.requests = (uint64_t)value;
        else if (strcmp(argv[first], "--service") == 0 && value > 0)
            f.service_ns = value * 1e6;
        else if (strcmp(argv[first], "--delay") == 0 && value > 0)
            f.delay_ns = value * 1e3;
        else
            return fprintf(stderr, "bench-datagrams: '%s %s'\n", argv[first], argv[first + 1]), 2;
    }
    const bool given = first < argc;
    printf("service %g ms, delay %g us, a beat of 100 ms; datagrams for each request\n", f.service_ns / 1e6,
           f.delay_ns / 1e3);
    printf("   N    M   load      hold       own   ratio     beats mean hold  mean own    held\n");
    for (int i = given ? first : 0; i < (given ? argc : (int)(sizeof rows / sizeof *rows)); i++) {
        const char *row = given ? argv[i] : rows[i];
        if (!read_row(row, &f) || f.servers < 1 || f.servers > LIVE_FLEET_SERVERS_MAX || f.dispatchers < 1 ||
            f.dispatchers > LIVE_FLEET_DISPATCHERS_MAX || !(f.load > 0))
            return fprintf(stderr, "bench-datagrams: '%s': use N,M,LOAD as in 50,4,0.3\n", row), 2;
        print_row(&f);
    }
    return 0;
}
