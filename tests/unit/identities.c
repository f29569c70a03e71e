/* SPDX-License-Identifier: BSD-2-Clause */
/* What must hold in any run, whatever the policy: Little's law, responses that are waits and services, losses
 * of a queue that is known. Each engine measures its two sides apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/scheme.h"
#include "ballast/simulate.h"

#include <math.h>
#include <string.h>

static struct bli_trial simulate(const struct bli_model *model, const char *name, double time,
                                 enum bli_engine engine) {
    struct bal_policy_spec policy;
    struct bli_trial trial = {0};
    struct bal_error err = {0};
    const struct bli_run run = {.seed = 31, .time = time, .warmup = 0.5, .engine = engine};
    if (bli_scheme_parse(name, &policy, &err) || bli_simulate(model, &policy, &run, &trial, &err))
        fail_msg("%s: %s", name, err.text);
    return trial;
}

static struct bli_model model_of(const char *servers, const char *size, double load) {
    struct bli_model model = {.load = load};
    assert_int_equal(bli_servers_parse(servers, &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(size, &model.size, NULL), BAL_OK);
    return model;
}

static const struct {
    const char *policy, *size;
    enum bli_engine engine;
} kinds[] = {
    {"jsq", "exp", BLI_ENGINE_MARKOV},   {"random", "exp", BLI_ENGINE_MARKOV},
    {"rcpb", "exp", BLI_ENGINE_MARKOV},  {"pod", "exp", BLI_ENGINE_EVENT},
    {"jiq", "det", BLI_ENGINE_EVENT},    {"least-work", "erlang(2)", BLI_ENGINE_EVENT},
    {"central", "exp", BLI_ENGINE_AUTO}, {"delayed-off:mu=1,nu=1", "det", BLI_ENGINE_AUTO},
};
enum { KINDS = sizeof kinds / sizeof *kinds, JOBS = 400000 };

/* Queue = rate x response, both measured; they differ by jobs that are there at the ends of what is measured:
 * some dozens of 200 000. */
static void littles_law(void **state) {
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        const struct bli_model model = model_of("10", kinds[i].size, 0.8);
        const struct bli_trial trial = simulate(&model, kinds[i].policy, JOBS / 8., kinds[i].engine);
        const double *m = trial.metric;
        const double rate = m[BLI_LOAD_ACHIEVED] * 10;
        const double ratio = rate * m[BLI_RESPONSE_MEAN] / m[BLI_QUEUE_TOTAL];
        if (!(fabs(ratio - 1) < 0.002))
            fail_msg("%s: rate x response is %.5f of the queue", kinds[i].policy, ratio);
        if (!(fabs(m[BLI_QUEUE_MEAN] * 10 - m[BLI_QUEUE_TOTAL]) < 1e-9 * m[BLI_QUEUE_TOTAL]))
            fail_msg("%s: queues of %g a server and %g in all", kinds[i].policy, m[BLI_QUEUE_MEAN],
                     m[BLI_QUEUE_TOTAL]);
    }
}

/* Response - waiting is the mean of 200 000 sizes; six deviations of it, 2e-9, and the ends as above. */
static void a_response_is_a_wait_and_a_service(void **state) {
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        const struct bli_model model = model_of("10", kinds[i].size, 0.8);
        const struct bli_trial trial = simulate(&model, kinds[i].policy, JOBS / 8., kinds[i].engine);
        const double *m = trial.metric, service = m[BLI_RESPONSE_MEAN] - m[BLI_WAITING_MEAN];
        if (!(fabs(service - 1) < 6 / sqrt(JOBS / 2.) + 0.002))
            fail_msg("%s: a service takes %.5f", kinds[i].policy, service);
        assert_true(m[BLI_WAITING_P50] <= m[BLI_RESPONSE_P50] && m[BLI_WAITING_P99] <= m[BLI_RESPONSE_P99]);
    }
}

/* One server with room for B jobs loses (1 - r) r^B / (1 - r^(B+1)). Losses come in bunches: the number of
 * them has a variance of at most (1 + r)/(1 - r) times that of independent ones. Six deviations: 2e-9. */
static void full_buffers_lose_what_erlang_says(void **state) {
    (void)state;
    const double r = 0.8;
    for (unsigned buffer = 1; buffer <= 3; buffer++)
        for (int e = 0; e < 2; e++) {
            struct bli_model model = model_of("1", "exp", r);
            model.buffer = buffer;
            const struct bli_trial trial =
                simulate(&model, "random", JOBS / r, e ? BLI_ENGINE_EVENT : BLI_ENGINE_MARKOV);
            const double loss = (1 - r) * pow(r, buffer) / (1 - pow(r, buffer + 1));
            const double deviation = sqrt(loss * (1 - loss) / (JOBS / 2.) * (1 + r) / (1 - r));
            if (!(fabs(trial.metric[BLI_LOST] - loss) < 6 * deviation))
                fail_msg("%u places: %.5f are lost where %.5f should", buffer, trial.metric[BLI_LOST], loss);
        }
}

/* Nobody is on, and whoever is woken takes longer than the run: every job is refused. */
static void jobs_that_nobody_takes_are_refused(void **state) {
    (void)state;
    struct bli_model model = model_of("5", "exp", 0.5);
    model.start.off = 1;
    assert_int_equal(bli_dist_parse("det(1e9)", &model.setup, NULL), BAL_OK);
    const struct bli_trial trial = simulate(&model, "tabs", 1000, BLI_ENGINE_EVENT);
    assert_true(trial.metric[BLI_REFUSED] == 1 && trial.metric[BLI_LOST] == 0 && trial.jobs == 0);
    assert_true(trial.metric[BLI_SERVERS_BUSY] == 0 && trial.metric[BLI_SERVERS_STANDBY] == 0);
}

/* mup reports a job when busy servers are as many as the load says; of those measured, the reports are
 * Poisson. Six deviations: 2e-9. */
static void idle_servers_report_as_often_as_they_should(void **state) {
    (void)state;
    for (int e = 0; e < 2; e++) {
        const struct bli_model model = model_of("10", "exp", 0.8);
        const double time = 20000;
        const struct bli_trial trial =
            simulate(&model, "rcpb:c=2,mup=0.5", time, e ? BLI_ENGINE_EVENT : BLI_ENGINE_MARKOV);
        const double reports = trial.metric[BLI_MESSAGES_PER_TIME] * time / 2;
        const double wanted = 0.5 * 0.8 / 0.2 * 10 * (1 - trial.metric[BLI_SERVERS_BUSY]) * time / 2;
        if (!(fabs(reports - wanted) < 6 * sqrt(wanted)))
            fail_msg("%g reports instead of %g", reports, wanted);
    }
}

/* Jobs that find all servers idle go to each as often, whatever its speed: jobs of size 1 then take 1, 1/2
 * and 1/4 alike. Half of 60 000 jobs are measured, of which 1 % find others there; six deviations: 2e-9. */
static void ties_are_broken_uniformly(void **state) {
    (void)state;
    const double load = 0.003;
    const struct bli_model model = model_of("1x1,1x2,1x4", "det", load);
    for (int i = 0; i < 2; i++) {
        const char *policy = i ? "least-conn" : "jsq";
        const struct bli_trial trial = simulate(&model, policy, 60000 / (7 * load), BLI_ENGINE_EVENT);
        const double wanted = (1 + 0.5 + 0.25) / 3, deviation = 0.31 / sqrt(30000);
        const double mean = trial.metric[BLI_RESPONSE_MEAN];
        if (!(fabs(mean - wanted) < 6 * deviation + 0.01 * wanted))
            fail_msg("%s: mean response %g instead of %g", policy, mean, wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(littles_law),
        cmocka_unit_test(a_response_is_a_wait_and_a_service),
        cmocka_unit_test(full_buffers_lose_what_erlang_says),
        cmocka_unit_test(jobs_that_nobody_takes_are_refused),
        cmocka_unit_test(idle_servers_report_as_often_as_they_should),
        cmocka_unit_test(ties_are_broken_uniformly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
