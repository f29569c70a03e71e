/* SPDX-License-Identifier: BSD-2-Clause */
/* How long it takes to know the mean response to a hundredth: for each policy, processor time until the 95 %
 * interval is 1 % of the mean to each side. What users wait for, and what engines and estimates share.
 *
 * `plain` and `controlled` are worked out from the spread of 40 runs, over replications alone and with
 * control variates (docs/statistics.md), so that they are known to a fifth or so; `taken` is what the lab
 * really takes with a wanted precision of 1 %, which begins with ten runs.
 *
 * With --controls it prints how much narrower control variates make the interval instead, on fleets of
 * several sizes and at several loads. */
#include "bare.h"
#include "measure.h"

#include "ballast/lab.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RUNS = 40 };

/* A case as `compare --precision 1%` begins with it; false: it is no row. */
static bool make_case(const struct bal_policy *policy, const char *servers, double load, struct bli_case *c) {
    struct bal_error err;
    enum bli_engine engine;
    *c = (struct bli_case){
        .model = {.load = load, .classes = policy->flags & BAL_TAKES_RANKS, .high = 0.5},
        .run = {.seed = 1, .warmup = NAN},
        .replications = 10,
        .precision = 0.01,
    };
    if (bli_servers_parse(servers, &c->model.servers, &err) || bli_dist_parse("exp", &c->model.size, &err) ||
        bli_scheme_parse(policy->name, &c->policy, &err))
        die(err.text);
    const char *not = NULL;
    if (!bli_simulate_is_distinct(&c->model, policy))
        not = "another policy where servers are equal";
    else if (bli_simulate_check(&c->model, &c->policy, BLI_ENGINE_AUTO, &engine, &err))
        not = err.text;
    if (not )
        printf("%-22s %s\n", policy->name, not );
    else
        bli_choose_length(c, 1, bli_initial_run_length(c, 1), 0);
    return !not ;
}

struct spread {
    struct bli_result plain, controlled;
    double seconds; /* of the processor, for all runs */
};

static struct spread measure_case(const struct bli_case *c) {
    static struct bli_trial trial[RUNS];
    struct bal_error err;
    const double start = processor_time();
    for (uint64_t i = 0; i < RUNS; i++) {
        struct bli_run run = c->run;
        run.replication = i;
        memset(&trial[i], 0, sizeof trial[i]);
        if (bli_case_trial(c, &run, &trial[i], &err))
            die(err.text);
    }
    struct spread spread = {.seconds = processor_time() - start};
    struct bli_case plain = *c;
    plain.precision = 0;
    bli_result_of(&plain, trial, RUNS, &spread.plain);
    bli_result_of(c, trial, RUNS, &spread.controlled);
    return spread;
}

static double relative_half_width(const struct bli_result *result) {
    const struct bli_estimate mean = result->metric[BLI_RESPONSE_MEAN];
    return mean.half_width / mean.mean;
}

static double seconds_to(double precision, const struct bli_result *result, double seconds) {
    return seconds * pow(relative_half_width(result) / precision, 2);
}

static void print_row(const struct bal_policy *policy) {
    struct bli_case c;
    if (!make_case(policy, "100", 0.9, &c))
        return;
    const struct spread spread = measure_case(&c);
    const struct bli_lab_options options = {.threads = 1};
    struct bli_result result;
    struct bal_error err;
    const double start = processor_time();
    if (bli_lab_run(&c, 1, &options, &result, &err))
        die(err.text);
    const double taken = processor_time() - start;
    printf("%-22s %8.3f %11.3f %8.3f  %2u x %4.0fk jobs, to %.2f %%%s\n", policy->name,
           seconds_to(c.precision, &spread.plain, spread.seconds),
           seconds_to(c.precision, &spread.controlled, spread.seconds), taken, result.replications,
           result.time * bli_model_arrival_rate(&c.model) / 1e3, 100 * relative_half_width(&result),
           result.precise ? "" : ", doubted");
    fflush(stdout);
}

static void print_policies(void) {
    printf("100 servers at load 0.9, exponential sizes: seconds to 1 %%\n");
    printf("%-22s %8s %11s %8s\n", "policy", "plain", "controlled", "taken");
    const struct bal_policy *policy;
    for (size_t i = 0; (policy = bli_scheme_at(i)); i++)
        print_row(policy);
}

/* What q coefficients cost an interval from n replications: (n - 2) / (n - 2 - q) of the variance, on
 * average, and q degrees of freedom. */
static double cost_of(double q, double n) {
    return sqrt((n - 2) / (n - 2 - q)) * bli_student_quantile(0.975, n - 1 - q) /
           bli_student_quantile(0.975, n - 1);
}

/* What the interval from 20 replications becomes, over what it is without. */
static double interval_ratio(const struct spread *spread) {
    const double q = spread->controlled.controls;
    return relative_half_width(&spread->controlled) / relative_half_width(&spread->plain) * cost_of(q, 20) /
           cost_of(q, RUNS);
}

static void print_controls(void) {
    static const char *const policies[] = {"random", "jsq", "pod", "jiq", "rcpb", "tabs", "pod-ssp"};
    static const char *const fleets[] = {"10", "100", "1000"};
    static const double loads[] = {0.5, 0.9};
    enum { POLICIES = sizeof policies / sizeof *policies };
    printf("half-width with control variates over that without, from 20 replications\n");
    printf("(from 10 it is %.2f times that, from 40 %.2f times)\n", cost_of(2, 10) / cost_of(2, 20),
           cost_of(2, 40) / cost_of(2, 20));
    printf("servers  load");
    for (int p = 0; p < POLICIES; p++)
        printf("  %7s", policies[p]);
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++)
        for (size_t l = 0; l < sizeof loads / sizeof *loads; l++) {
            printf("\n%7s  %4g", fleets[f], loads[l]);
            for (int p = 0; p < POLICIES; p++) {
                struct bli_case c;
                if (!make_case(bli_scheme_find(policies[p]), fleets[f], loads[l], &c))
                    continue;
                const struct spread spread = measure_case(&c);
                printf("  %7.2f", interval_ratio(&spread));
                fflush(stdout);
            }
        }
    putchar('\n');
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--controls") == 0)
        print_controls();
    else
        print_policies();
    return 0;
}
