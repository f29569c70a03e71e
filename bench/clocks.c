/* SPDX-License-Identifier: BSD-2-Clause */
/* What counting events spares in noise: pairs of runs with the same events, one with its times drawn and one
 * with its time counted. The difference of a pair is the noise of the drawn times alone; shown is its part of
 * the variance of a run. */
#include "measure.h"

#include "ballast/policy.h"

#include <math.h>
#include <stdio.h>

enum { PAIRS = 40 };

static const struct {
    const char *servers, *policy;
    double load;
} rows[] = {{"1", "random", 0.5},    {"1", "random", 0.9},    {"10", "pod:d=2", 0.5}, {"10", "pod:d=2", 0.9},
            {"100", "pod:d=2", 0.5}, {"100", "pod:d=2", 0.9}, {"100", "jiq", 0.9},    {"100", "jsq", 0.9},
            {"1000", "jiq", 0.9},    {"1000", "pod:d=2", 0.9}};

static double variance(const double *value) {
    double mean = 0, squares = 0;
    for (int i = 0; i < PAIRS; i++)
        mean += value[i] / PAIRS;
    for (int i = 0; i < PAIRS; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    return squares / (PAIRS - 1);
}

/* The part of the noise, from what was counted and from the differences to what was drawn. */
static double noise_fraction(const double *counted, const double *difference) {
    return variance(difference) / (variance(counted) + variance(difference));
}

int main(void) {
    printf("%-8s %-8s %-5s  noise of drawn times, of the variance of: mean response   p99\n", "servers",
           "policy", "load");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bli_model model = {.load = rows[i].load};
        struct bal_policy_spec policy;
        struct bal_error err = {0};
        if (bli_servers_parse(rows[i].servers, &model.servers, &err) ||
            bli_dist_parse("exp", &model.size, &err) || bal_policy_parse(rows[i].policy, &policy, &err))
            die(err.text);
        const double rate = bli_model_arrival_rate(&model) + bli_servers_capacity(&model.servers);
        double mean[2][PAIRS], p99[2][PAIRS];
        for (int r = 0; r < PAIRS; r++)
            for (int timed = 0; timed < 2; timed++) {
                const struct bli_run run = {.seed = 5,
                                            .replication = (uint64_t)r,
                                            .time = 1.1e6 / rate,
                                            .warmup = 0.2,
                                            .timed = timed,
                                            MARKOV};
                static struct bli_trial trial;
                if (bli_simulate(&model, &policy, &run, &trial, &err))
                    die(err.text);
                mean[timed][r] = trial.metric[BLI_RESPONSE_MEAN] - (timed ? mean[0][r] : 0);
                p99[timed][r] = trial.metric[BLI_RESPONSE_P99] - (timed ? p99[0][r] : 0);
            }
        printf("%-8s %-8s %-5g %54.3f %9.3f\n", rows[i].servers, rows[i].policy, rows[i].load,
               noise_fraction(mean[0], mean[1]), noise_fraction(p99[0], p99[1]));
        fflush(stdout);
    }
    return 0;
}
