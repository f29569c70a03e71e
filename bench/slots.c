/* SPDX-License-Identifier: BSD-2-Clause */
/* Does slots=auto find a good number of slots? What it costs the first requests; and, for apps of known
 * curves, loads, sizes and disturbances: the number that it finds, its p99 of the response relative to the
 * best fixed number, how long it took, and two rivals in the same place. docs/servers.md explains the
 * columns. usage: bench-slots [REQUESTS] */
#include "slots_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const curves[] = {"cores(4)", "cores(16)", "batch(8,0.15)",
                                     "table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)"};
static const char *const sizes[] = {"exp", "lognormal(2)"};
static const double loads[] = {0.5, 0.8, 0.95};
static const char *const disturbances[DISTURBANCES] = {"", "deploy", "neighbour"};
static const uint32_t slots[] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12,  14, 16,
                                 20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 256};

enum { SLOTS = sizeof slots / sizeof *slots };

struct fixed {
    double p99[SLOTS], best;
    uint32_t best_slots;
};

static struct fixed run_fixed(const struct trial *trial) {
    struct fixed fixed = {.best = INFINITY};
    for (uint32_t i = 0; i < SLOTS; i++) {
        const bool too_few =
            bli_speeds_top(&trial->speeds, slots[i]) <= trial->load * bli_speeds_top(&trial->speeds, 0);
        fixed.p99[i] = too_few ? INFINITY : slots_world_run(trial, LIMIT_FIXED, slots[i]).p99;
        if (fixed.p99[i] < fixed.best) {
            fixed.best = fixed.p99[i];
            fixed.best_slots = slots[i];
        }
    }
    return fixed;
}

/* Relative to the best; all numbers that can be found are in the table, up to 64. */
static double cost_of(const struct fixed *fixed, uint32_t limit) {
    uint32_t i = 0;
    while (i + 1 < SLOTS && slots[i] < limit)
        i++;
    return fixed->p99[i] / fixed->best;
}

/* Requests until the limit is, and stays, one whose p99 is within 10 % of the best. */
static uint64_t settled_after(const struct fixed *fixed, const struct outcome *outcome) {
    uint64_t from = outcome->began;
    for (uint32_t i = 0; i < outcome->steps; i++) {
        const bool lasts = i + 1 < outcome->steps;
        if (cost_of(fixed, outcome->step[i].limit) > 1.1 && (!lasts || outcome->step[i + 1].request > from))
            from = lasts ? outcome->step[i + 1].request : UINT64_MAX;
    }
    return from == UINT64_MAX ? from : from - outcome->began;
}

static void print_ratio(double ratio) {
    if (ratio < 9.995)
        printf(" %5.2f", ratio);
    else
        printf("  > 10");
}

static void print_row(const struct trial *trial, const char *speeds, const char *law) {
    static struct outcome found, gradient2, aimd;
    const struct fixed fixed = run_fixed(trial);
    found = slots_world_run(trial, LIMIT_AUTO, 0);
    gradient2 = slots_world_run(trial, LIMIT_GRADIENT2, 0);
    aimd = slots_world_run(trial, LIMIT_AIMD, 0);
    const uint64_t settled = settled_after(&fixed, &found);
    printf("%-13.13s %-12s %4.2f %-9s %4u |%4u", speeds, law, trial->load, disturbances[trial->disturbance],
           fixed.best_slots, found.last);
    print_ratio(cost_of(&fixed, found.last));
    print_ratio(found.p99 / fixed.best);
    if (settled == UINT64_MAX)
        printf("  never");
    else
        printf(" %5.1fk", (double)settled / 1000);
    printf(" |%4.0f", gradient2.limit);
    print_ratio(gradient2.p99 / fixed.best);
    printf(" |%4.0f", aimd.limit);
    print_ratio(aimd.p99 / fixed.best);
    puts("");
    fflush(stdout);
}

/* The mean response of the first requests, relative to that with the right number from the beginning. */
static double first_cost(struct trial *trial, uint32_t right) {
    double found = 0, fixed = 0;
    for (trial->seed = 1; trial->seed <= 30; trial->seed++) {
        found += slots_world_run(trial, LIMIT_AUTO, 0).first;
        fixed += slots_world_run(trial, LIMIT_FIXED, right).first;
    }
    return found / fixed;
}

static enum bal_code print_first_costs(void) {
    static const uint32_t right[] = {4, 16, 8, 8};
    struct trial trial = {.mean = 0.005, .requests = FIRST_REQUESTS};
    enum bal_code code = bli_dist_parse("exp", &trial.sizes, NULL);
    printf("first %d requests  right K  load 0.5    0.8   0.95\n", FIRST_REQUESTS);
    for (unsigned c = 0; c < sizeof curves / sizeof *curves && !code; c++) {
        code = bli_speeds_parse(curves[c], &trial.speeds, NULL);
        printf("%-20.13s %4u       ", curves[c], right[c]);
        for (unsigned i = 0; i < 3; i++) {
            trial.load = loads[i];
            printf(" %6.2f", first_cost(&trial, right[c]));
        }
        puts("");
    }
    puts("");
    return code;
}

int main(int argc, char **argv) {
    struct trial trial = {
        .mean = 0.005, .requests = argc > 1 ? strtoull(argv[1], NULL, 10) : 400000, .seed = 1};
    if (print_first_costs())
        return 1;
    puts("                                         best |       slots=auto        | gradient2 |   AIMD\n"
         "curve         sizes        load disturbed    K |   K   p99  live settled |   K  live |   K  live");
    for (unsigned d = 0; d < DISTURBANCES; d++)
        for (unsigned c = 0; c < sizeof curves / sizeof *curves; c++)
            for (unsigned law = 0; law < 2; law++)
                for (unsigned i = 0; i < 3; i++) {
                    trial.disturbance = (enum disturbance)d;
                    trial.load = loads[i];
                    if (bli_speeds_parse(curves[c], &trial.speeds, NULL) ||
                        bli_dist_parse(sizes[law], &trial.sizes, NULL))
                        return 1;
                    print_row(&trial, curves[c], sizes[law]);
                }
    return 0;
}
