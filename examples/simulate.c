/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulation from C: two policies on one fleet, with confidence intervals.
 *
 *     cc simulate.c -o simulate $(pkg-config --cflags --libs ballast)
 *     ./simulate
 *
 * A case is one policy on one model. bal_lab_run() simulates all replications of all cases on all processors.
 */
#include <ballast/lab.h>

#include <math.h>
#include <stdio.h>

enum { POLICIES = 2 };
static const char *const policies[POLICIES] = {"jiq", "pod:d=2"};

int main(void) {
    struct bal_error err;
    struct bal_case cases[POLICIES] = {0};
    struct bal_result results[POLICIES];

    for (unsigned i = 0; i < POLICIES; i++) {
        struct bal_case *c = &cases[i];
        c->model.load = 0.9;
        c->run = (struct bal_run){.seed = 1, .time = 20000, .warmup = NAN};
        c->replications = 10;
        if (bal_servers_parse("100", &c->model.servers, &err) ||
            bal_dist_parse("exp", &c->model.size, &err) || bal_policy_parse(policies[i], &c->policy, &err)) {
            fprintf(stderr, "simulate: %s\n", err.text);
            return 2;
        }
    }
    if (bal_lab_run(cases, POLICIES, &(struct bal_lab_options){0}, results, &err)) {
        fprintf(stderr, "simulate: %s\n", err.text);
        return 1;
    }
    for (unsigned i = 0; i < POLICIES; i++) {
        const struct bal_estimate mean = results[i].metric[BAL_RESPONSE_MEAN];
        printf("%-8s mean response %.3f ± %.3f, %s%s\n", policies[i], mean.mean, mean.half_width,
               bal_verdict_text(results[i].verdict), results[i].doubts ? ", doubted" : "");
    }
    return 0;
}
