/* SPDX-License-Identifier: BSD-2-Clause */
/* What arrives is what is served: the load that came and the part of the servers that are busy, in every
 * engine, to a tenth of a percent. Averages of delays would not see an arrival rate that is off by a little;
 * these do. A sum of n independent sizes of squared variation c2 from Poisson arrivals errs by
 * sqrt((1 + c2)/n); six deviations: each comparison has a false alarm of 2e-9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/scheme.h"
#include "ballast/simulate.h"

#include <math.h>
#include <string.h>

static void compare(const char *what, const char *which, double value, double wanted, double deviation) {
    if (!(fabs(value - wanted) <= 6 * deviation))
        fail_msg("%s: %s is %.6f and should be %.6f, within %.6f", what, which, value, wanted, 6 * deviation);
}

struct setting {
    const char *policy, *servers, *size, *curve;
    double c2; /* of the sizes */
    double load, jobs;
    unsigned slots, tasks;
    enum bli_engine engine;
};

static struct bli_model model_of(const struct setting *s) {
    struct bli_model model = {.load = s->load, .slots = s->slots, .tasks = s->tasks};
    struct bal_error err = {0};
    if (bli_servers_parse(s->servers, &model.servers, &err) || bli_dist_parse(s->size, &model.size, &err) ||
        bli_curve_parse(s->curve ? s->curve : "constant", &model.curve, &err))
        fail_msg("%s", err.text);
    return model;
}

/* The mean of the curve over the last four fifths of the run, which are measured. */
static double mean_factor(const struct bli_model *model, double time) {
    enum { POINTS = 1000003 }; /* no multiple of what repeats */
    double sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += bli_curve_at(&model->curve, time * (0.2 + 0.8 * (i + 0.5) / POINTS)) / POINTS;
    return sum;
}

static void work_is_neither_lost_nor_made(void **state) {
    (void)state;
    static const struct setting settings[] = {
        {.policy = "jsq",
         .servers = "20",
         .size = "exp",
         .c2 = 1,
         .load = 0.7,
         .jobs = 6e6,
         .engine = BLI_ENGINE_MARKOV},
        {.policy = "random",
         .servers = "20",
         .size = "exp",
         .c2 = 1,
         .load = 0.3,
         .jobs = 6e6,
         .engine = BLI_ENGINE_MARKOV},
        {.policy = "pod",
         .servers = "30",
         .size = "exp",
         .c2 = 1,
         .load = 0.5,
         .jobs = 6e6,
         .tasks = 3,
         .engine = BLI_ENGINE_MARKOV},
        {.policy = "jiq",
         .servers = "20",
         .size = "exp",
         .c2 = 1,
         .load = 0.5,
         .jobs = 6e6,
         .engine = BLI_ENGINE_MARKOV,
         .curve = "sine(0.8,100)"},
        {.policy = "jiq",
         .servers = "20",
         .size = "det",
         .load = 0.6,
         .jobs = 4e6,
         .engine = BLI_ENGINE_EVENT},
        {.policy = "random",
         .servers = "5",
         .size = "uniform(0,2)",
         .c2 = 1. / 3,
         .load = 0.2,
         .jobs = 4e6,
         .engine = BLI_ENGINE_EVENT},
        {.policy = "pod",
         .servers = "20",
         .size = "det",
         .load = 0.4,
         .jobs = 4e6,
         .engine = BLI_ENGINE_EVENT,
         .curve = "table(0:0.4 50:1.6) repeat"},
        {.policy = "jsq",
         .servers = "10",
         .size = "det",
         .load = 0.6,
         .jobs = 4e6,
         .slots = 2,
         .engine = BLI_ENGINE_EVENT},
        {.policy = "central", .servers = "20", .size = "det", .load = 0.6, .jobs = 4e6},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct setting *s = &settings[i];
        const struct bli_model model = model_of(s);
        struct bal_policy_spec policy;
        assert_int_equal(bli_scheme_parse(s->policy, &policy, NULL), BAL_OK);
        const double time = s->jobs / bli_model_arrival_rate(&model);
        const struct bli_run run = {.seed = 77, .time = time, .warmup = 0.2, .engine = s->engine};
        struct bli_trial trial = {0};
        struct bal_error err = {0};
        if (bli_simulate(&model, &policy, &run, &trial, &err))
            fail_msg("%s: %s", s->policy, err.text);
        const double load = s->load * mean_factor(&model, time), jobs = 0.8 * s->jobs * load / s->load;
        const double tasks = s->tasks > 1 ? s->tasks : 1; /* they arrive together */
        compare(s->policy, "the load that came", trial.metric[BLI_LOAD_ACHIEVED], load,
                load * sqrt(tasks / jobs));
        if (s->slots <= 1) /* one that is busy may work on several jobs */
            compare(s->policy, "the part of servers that are busy", trial.metric[BLI_SERVERS_BUSY], load,
                    load * sqrt((tasks + s->c2) / jobs));
    }
}

/* In slots nobody is busy for a part of one, but what comes is counted. Generators make jobs one by one, with
 * less variation than Poisson's. */
static void slots_get_what_they_should(void **state) {
    (void)state;
    static const struct {
        const char *policy, *batch, *steal;
    } cases[] = {{"pi", "poisson", NULL}, {"jsq", "geometric", NULL}, {"stealing", NULL, "half"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = {.load = 0.7, .clock = BLI_CLOCK_SLOTTED};
        assert_int_equal(bli_servers_parse("50", &model.servers, NULL), BAL_OK);
        assert_int_equal(bli_dist_parse("exp", &model.size, NULL), BAL_OK);
        if (cases[i].batch)
            assert_int_equal(bli_batch_parse(cases[i].batch, &model.batch, NULL), BAL_OK);
        if (cases[i].steal)
            assert_int_equal(bal_steal_parse(cases[i].steal, &model.steal, NULL), BAL_OK);
        struct bal_policy_spec policy;
        assert_int_equal(bli_scheme_parse(cases[i].policy, &policy, NULL), BAL_OK);
        const struct bli_run run = {.seed = 78, .time = 200000, .warmup = 0.2};
        struct bli_trial trial = {0};
        struct bal_error err = {0};
        if (bli_simulate(&model, &policy, &run, &trial, &err))
            fail_msg("%s: %s", cases[i].policy, err.text);
        const double mean = 0.7 * 50, slots = 0.8 * run.time; /* a geometric batch has variance m + m^2 */
        const bool geometric = cases[i].batch && strcmp(cases[i].batch, "geometric") == 0;
        const double variance = geometric ? mean + mean * mean : mean;
        compare(cases[i].policy, "the load that came", trial.metric[BLI_LOAD_ACHIEVED], 0.7,
                0.7 * sqrt(variance / slots) / mean);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_neither_lost_nor_made),
        cmocka_unit_test(slots_get_what_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
