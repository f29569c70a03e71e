/* SPDX-License-Identifier: BSD-2-Clause */
/* Work stealing on its own: how much is stolen, where generators sit, the coins they flip, and what the chain
 * measures and refuses. That it makes the right steps is for tests/cross/stealing_twin.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/simulate.h"
#include "base/bernoulli_bits.h"

#include "../goodness.h"
#include "../theory/close.h"
#include "texts.h"

#include <stdio.h>
#include <string.h>

static struct bal_steal steal_of(const char *text) {
    struct bal_steal steal;
    struct bal_error err = {0};
    if (bal_steal_parse(text, &steal, &err))
        fail_msg("%s", err.text);
    return steal;
}

static struct bal_placement placement_of(const char *text) {
    struct bal_placement placement;
    struct bal_error err = {0};
    if (bal_placement_parse(text, &placement, &err))
        fail_msg("%s", err.text);
    return placement;
}

/* ---- steal functions ---- */

static void amounts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t length, amount;
    } known[] = {
        {"none", 1000, 0},
        {"half", 0, 0},
        {"half", 1, 0},
        {"half", 7, 3},
        {"half", UINT32_MAX, UINT32_MAX / 2},
        {"one", 1, 0},
        {"one", 2, 1},
        {"one", 1000, 1},
        {"constant(0)", 1000, 0},
        {"constant(40)", 79, 39},
        {"constant(40)", 80, 40},
        {"constant(40)", UINT32_MAX, 40},
        {"constant(1e9)", 3000000000u, 1000000000},
        {"40", 1000, 40},
        {"1k", 10000, 1000},
        {"log2", 0, 0},
        {"log2", 1, 0},
        {"log2", 2, 1},
        {"log2", 3, 1},
        {"log2", 4, 2},
        {"log2", 7, 2},
        {"log2", 8, 3},
        {"log2", UINT32_MAX, 31},
        {"sqrt", 0, 0},
        {"sqrt", 1, 0}, /* half is less */
        {"sqrt", 2, 1},
        {"sqrt", 3, 1},
        {"sqrt", 8, 2},
        {"sqrt", 9, 3},
        {"sqrt", 4294836224u, 65534}, /* 65535^2 - 1 */
        {"sqrt", 4294836225u, 65535},
        {"fraction(0.5)", 7, 3},
        {"fraction(0.29)", 100, 29}, /* although 0.29 x 100 is less than 29 in doubles */
        {"fraction(0.29)", 99, 28},
        {"fraction(0.1)", 9, 0},
        {"fraction(0.1)", 1000000000, 100000000},
        {"table(3 3 3)", 1, 0},
        {"table(0 0 1 1 7)", 3, 1},
        {"table(0 0 1 1 7)", 4, 2}, /* half is less */
        {"table(0 0 1 1 7)", 14, 7},
        {"table(0 0 1 1 7)", UINT32_MAX, 7},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct bal_steal steal = steal_of(known[i].text);
        const uint32_t amount = bal_steal_amount(&steal, known[i].length);
        if (amount != known[i].amount)
            fail_msg("%s of %u is %u, wanted %u", known[i].text, known[i].length, amount, known[i].amount);
    }
}

/* Never more than half, and never less of a longer queue. */
static void amounts_rise(void **state) {
    (void)state;
    static const char *const texts[] = {
        "none", "half", "one",           "constant(7)",   "log2",
        "sqrt", "0",    "fraction(0.3)", "fraction(0.5)", "table(0 0 1 5 5 90)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct bal_steal steal = steal_of(texts[i]);
        uint32_t before = 0;
        for (uint32_t length = 0; length < 70000; length++) {
            const uint32_t amount = bal_steal_amount(&steal, length);
            assert_true(amount >= before && amount <= length / 2);
            before = amount;
        }
    }
}

static void steal_texts(void **state) {
    (void)state;
    static const char *const canonical[][2] = {
        {"none", "none"},
        {"half", "half"},
        {"one", "one"},
        {"log2", "log2"},
        {"sqrt", "sqrt"},
        {"12", "constant(12)"},
        {"constant(1k)", "constant(1000)"},
        {"fraction(0.250)", "fraction(0.25)"},
        {"table(0 0  1 2 )", "table(0 0 1 2)"},
    };
    for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++) {
        const struct bal_steal steal = steal_of(canonical[i][0]);
        char text[BAL_STEAL_TEXT], cut[4];
        const size_t length = bal_steal_print(&steal, text, sizeof text);
        assert_string_equal(text, canonical[i][1]);
        assert_int_equal(length, strlen(text));
        assert_int_equal(bal_steal_print(&steal, NULL, 0), length);
        assert_int_equal(bal_steal_print(&steal, cut, sizeof cut), length);
        assert_memory_equal(cut, text, 3);
        assert_int_equal(cut[3], 0);
    }
    static const struct bal_steal zero;
    assert_int_equal(zero.kind, steal_of("none").kind);
}

static void bad_steals(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"", "there is no such function"},
        {"Half", "there is no such function"},
        {"third", "there is no such function"},
        {"constant", "there is no such function"},
        {"constant()", "a constant is a whole number from 0 to 1e9"},
        {"constant(1.5)", "a constant is a whole number from 0 to 1e9"},
        {"constant(-1)", "a constant is a whole number from 0 to 1e9"},
        {"constant(2e9)", "a constant is a whole number from 0 to 1e9"},
        {"constant(1) ", "a constant is a whole number from 0 to 1e9"},
        {"constant(1", "a constant is a whole number from 0 to 1e9"},
        {"-3", "a constant is a whole number from 0 to 1e9"},
        {"0.5", "a constant is a whole number from 0 to 1e9"},
        {"fraction(0)", "this is not a fraction"},
        {"fraction(0.51)", "this is not a fraction"},
        {"fraction(x)", "this is not a fraction"},
        {"table()", "a table has at least one entry and ends with its parenthesis"},
        {"table(1", "a table has at least one entry and ends with its parenthesis"},
        {"table(1 2) ", "a table has at least one entry and ends with its parenthesis"},
        {"table(2 1)", "a table must not fall"},
        {"table(1 x)", "a table has whole numbers from 0 to 1e9"},
        {"table(1.5)", "a table has whole numbers from 0 to 1e9"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bal_steal steal = steal_of("sqrt");
        struct bal_error err = {0};
        assert_int_equal(bal_steal_parse(bad[i][0], &steal, &err), BAL_E_RANGE);
        assert_int_equal(steal.kind, BAL_STEAL_SQRT); /* untouched */
        char start[200];
        snprintf(start, sizeof start, "steal '%s': %s; write none, half,", bad[i][0], bad[i][1]);
        if (strncmp(err.text, start, strlen(start)) != 0)
            fail_msg("%s", err.text);
    }
    /* as long as may be, and one more */
    char text[BAL_STEAL_TEXT + 20] = "table(";
    for (int i = 0; i < BAL_STEAL_ENTRIES; i++)
        strcat(text, i ? " 1000000000" : "1000000000");
    strcat(text, ")");
    const struct bal_steal steal = steal_of(text);
    char printed[BAL_STEAL_TEXT];
    assert_true(bal_steal_print(&steal, printed, sizeof printed) < sizeof printed);
    assert_string_equal(printed, text);
    strcpy(text + strlen(text) - 1, " 1000000000)");
    struct bal_steal untouched;
    assert_int_equal(bal_steal_parse(text, &untouched, NULL), BAL_E_RANGE);
}

/* ---- placements ---- */

static void placement_texts(void **state) {
    (void)state;
    static const char *const canonical[][2] = {
        {"even", "even"},
        {"moving", "moving"},
        {"longest", "longest"},
        {"shortest", "shortest"},
        {"cycling", "cycling"},
        {"walk", "walk"},
        {"hosts(4)", "hosts(4)"},
        {"1", "hosts(1)"},
        {"1k", "hosts(1000)"},
        {"map(0:3)", "map(0:3)"},
        {"map(7:1  2:5 11:1 )", "map(2:5 7:1 11:1)"},
    };
    for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++) {
        const struct bal_placement placement = placement_of(canonical[i][0]);
        char text[BAL_PLACEMENT_TEXT], cut[4];
        const size_t length = bal_placement_print(&placement, text, sizeof text);
        assert_string_equal(text, canonical[i][1]);
        assert_int_equal(length, strlen(text));
        assert_int_equal(bal_placement_print(&placement, NULL, 0), length);
        assert_int_equal(bal_placement_print(&placement, cut, sizeof cut), length);
        assert_memory_equal(cut, text, 3);
        assert_int_equal(cut[3], 0);
    }
    static const struct bal_placement zero;
    assert_int_equal(zero.kind, placement_of("even").kind);
}

static void bad_placements(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"", "there is no such placement"},
        {"hosts", "there is no such placement"},
        {"hosts()", "the number of hosts is a whole number from 1"},
        {"hosts(0)", "the number of hosts is a whole number from 1"},
        {"hosts(1.5)", "the number of hosts is a whole number from 1"},
        {"hosts(1", "the number of hosts is a whole number from 1"},
        {"hosts(1) ", "the number of hosts is a whole number from 1"},
        {"hosts(1))", "the number of hosts is a whole number from 1"},
        {"hosts(1G)", "the number of hosts is a whole number from 1"},
        {"0", "the number of hosts is a whole number from 1"},
        {"map()", "a map has at least one host and ends with its parenthesis"},
        {"map(0:1", "a part of a map is HOST:GENERATORS, hosts counted from 0"},
        {"map(0:1 ", "a map has at least one host and ends with its parenthesis"},
        {"map(0)", "a part of a map is HOST:GENERATORS, hosts counted from 0"},
        {"map(0:0)", "a part of a map is HOST:GENERATORS, hosts counted from 0"},
        {"map(-1:2)", "a part of a map is HOST:GENERATORS, hosts counted from 0"},
        {"map(2:1 2:1)", "a host is named twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bal_placement placement = placement_of("walk");
        struct bal_error err = {0};
        assert_int_equal(bal_placement_parse(bad[i][0], &placement, &err), BAL_E_RANGE);
        assert_int_equal(placement.kind, BAL_PLACEMENT_WALK); /* untouched */
        char start[200];
        snprintf(start, sizeof start, "placement '%s': %s; write even,", bad[i][0], bad[i][1]);
        if (strncmp(err.text, start, strlen(start)) != 0)
            fail_msg("%s", err.text);
    }
}

static void placements_fit(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
        uint32_t servers;
    } known[] = {
        {"even", NULL, 1},
        {"walk", NULL, 1},
        {"hosts(4)", NULL, 4},
        {"hosts(5)", "placement 'hosts(5)' on 4 servers; write hosts(1) to hosts(4)", 4},
        {"map(0:1 3:3)", NULL, 4},
        {"map(0:1 3:2)",
         "placement 'map' places 3 generators on 4 servers; there must be as many generators as servers", 4},
        {"map(0:1 4:3)", "placement 'map' names host 4 of 4 servers; they are counted from 0 to 3", 4},
        {"map(0:100M 1:100M)",
         "placement 'map' places 200000000 generators on 2 servers; there must be as many generators as "
         "servers",
         2},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct bal_placement placement = placement_of(known[i].text);
        struct bal_error err = {0};
        const enum bal_code code = bal_placement_check(&placement, known[i].servers, &err);
        assert_int_equal(code, known[i].why ? BAL_E_MODEL : BAL_OK);
        if (known[i].why)
            assert_string_equal(err.text, known[i].why);
    }
}

/* ---- coins ---- */

/* Each of the 64 flips has the right probability, and their number is binomial, so that they do not depend on
 * each other. False alarm 1e-6 for each of some 20 assertions. */
static void coins(void **state) {
    (void)state;
    static const double chances[] = {0.5, 0.9, 0.99, 0.3, 0x1p-20, 1e-6, 1 - 0x1p-53, 2 / 3.0};
    enum { WORDS = 60000 };
    for (size_t c = 0; c < sizeof chances / sizeof *chances; c++) {
        const double chance = chances[c];
        const struct bli_bernoulli coin = bli_bernoulli_make(chance);
        struct bal_rng rng;
        bal_rng_init(&rng, 7, c, BAL_STREAM_TEST);
        uint64_t heads[65] = {0}, place[64] = {0};
        for (int i = 0; i < WORDS; i++) {
            const uint64_t word = bli_bernoulli_draw(&coin, &rng, UINT64_MAX);
            heads[__builtin_popcountll(word)]++;
            for (int bit = 0; bit < 64; bit++)
                place[bit] += word >> bit & 1;
        }
        double p[65];
        for (int k = 0; k <= 64; k++)
            p[k] = exp(lgamma(65) - lgamma(k + 1) - lgamma(65 - k) + k * log(chance) +
                       (64 - k) * log1p(-chance));
        assert_fits("heads", p, heads, 65);
        double statistic = 0;
        for (int bit = 0; bit < 64; bit++)
            statistic += pow((double)place[bit] - WORDS * chance, 2) / (WORDS * chance * (1 - chance));
        if (WORDS * chance * (1 - chance) > 20)
            assert_true(statistic < chi_square_limit(64));
    }
    /* the ends */
    struct bal_rng rng;
    bal_rng_init(&rng, 7, 0, BAL_STREAM_TEST);
    const struct bli_bernoulli never = bli_bernoulli_make(0), always = bli_bernoulli_make(1);
    for (int i = 0; i < 1000; i++) {
        const uint64_t some = bal_rng_next(&rng);
        const struct bli_bernoulli coin = bli_bernoulli_make(0.7);
        assert_true(bli_bernoulli_draw(&never, &rng, some) == 0);
        assert_true(bli_bernoulli_draw(&always, &rng, some) == some);
        assert_true((bli_bernoulli_draw(&coin, &rng, some) & ~some) == 0);
    }
}

/* ---- the chain ---- */

static struct bli_model model_of(const char *servers, double load, const char *steal, const char *placement) {
    struct bli_model model = {.load = load, .clock = BLI_CLOCK_SLOTTED};
    struct bal_error err = {0};
    if (bli_servers_parse(servers, &model.servers, &err))
        fail_msg("%s", err.text);
    model.steal = steal_of(steal);
    model.placement = placement_of(placement);
    return model;
}

static struct bli_trial simulate(const struct bli_model *model, const struct bli_run *run) {
    struct bli_trial trial = {.jobs = 0};
    const struct bal_policy_spec policy = policy_of("stealing");
    struct bal_error err = {0};
    if (bli_simulate(model, &policy, run, &trial, &err))
        fail_msg("%s", err.text);
    return trial;
}

/* Both generators of two servers sit at the first and always make a job. In every slot the second server asks
 * the first, which has 2 jobs, and takes one; both jobs are served, and nothing is ever left. Whatever is cut
 * of it, the rest is the same. */
static void clockwork(void **state) {
    (void)state;
    struct bli_model model = model_of("2", 1, "half", "hosts(1)");
    model.others = true;
    for (int cut = 0; cut < 2; cut++) {
        const struct bli_run run = {.seed = 1, .time = 500, .warmup = cut ? 0.4 : 0};
        const struct bli_trial trial = simulate(&model, &run);
        const double *metric = trial.metric;
        assert_true(trial.jobs == (cut ? 600 : 1000) && trial.events == 2000);
        assert_true(metric[BLI_QUEUE_TOTAL] == 0 && metric[BLI_RESPONSE_MEAN] == 1);
        assert_true(metric[BLI_RESPONSE_P999] == 1 && metric[BLI_WAITING_MEAN] == 0);
        assert_true(metric[BLI_WAITING_PROBABILITY] == 0);
        assert_true(metric[BLI_STEALING_REQUESTS] == 0.5 && metric[BLI_STEALING_STEALS] == 0.5);
        assert_true(metric[BLI_STEALING_MOVED] == 0.5);
        assert_true(metric[BLI_PROBES_PER_JOB] == 0.5 && metric[BLI_MESSAGES_PER_TIME] == 1);
        assert_true(trial.tail[1] == 0);
    }
}

/* Without stealing one host of n generators that always make a job is a queue that grows by n - 1 in a slot:
 * Q(t) = (n - 1) t, whose mean over t = w + 1 .. T is (n - 1) (T + w + 1) / 2; and the job that is served in
 * slot t, the t-th, was made in slot ceil(t / n). Any number of slots, any part cut. */
static void any_length(void **state) {
    (void)state;
    const struct bli_model model = model_of("5", 1, "constant(0)", "hosts(1)");
    static const double times[] = {1, 2, 3, 7, 39, 41, 999, 1000, 1001, 4321};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        for (int cut = 0; cut < 2; cut++) {
            const struct bli_run run = {.seed = 1, .time = times[i], .warmup = cut ? 0.4 : 0};
            const struct bli_trial trial = simulate(&model, &run);
            const double t = times[i], w = trial.warmup;
            assert_close(trial.metric[BLI_QUEUE_TOTAL], 2 * (t + w + 1), 1e-13);
            assert_true(trial.jobs == (uint64_t)(t - w) && trial.events == (uint64_t)(6 * t));
            double response = 0;
            for (double slot = w + 1; slot <= t; slot++)
                response += slot - ceil(slot / 5) + 1;
            assert_close(trial.metric[BLI_RESPONSE_MEAN], response / (t - w), 1e-13);
            assert_close(trial.metric[BLI_STEALING_REQUESTS], 0.8, 1e-13);
            assert_true(trial.metric[BLI_STEALING_STEALS] == 0 && trial.metric[BLI_STEALING_MOVED] == 0);
            assert_close(trial.tail[1], 0.2, 1e-13);
        }
}

/* The same jobs are made under every f and every placement. */
static void same_jobs(void **state) {
    (void)state;
    static const char *const steals[] = {"half", "one", "constant(0)"};
    static const char *const placements[] = {"even",          "hosts(1)", "hosts(7)", "moving", "walk",
                                             "map(9:99 5:1)", "longest",  "shortest", "cycling"};
    const struct bli_run run = {.seed = 3, .replication = 1, .time = 700};
    double made = NAN;
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof placements / sizeof *placements; k++) {
            const struct bli_model model = model_of("100", 0.37, steals[i], placements[k]);
            const struct bli_trial trial = simulate(&model, &run);
            const double jobs = trial.metric[BLI_MESSAGES_PER_TIME] * 700 / trial.metric[BLI_PROBES_PER_JOB];
            assert_true(isnan(made) || fabs(jobs - made) < 1e-6);
            made = jobs;
        }
}

static void refuses(void **state) {
    (void)state;
    struct bli_model good = model_of("8", 0.9, "half", "hosts(1)");
    const struct bal_policy_spec stealing = policy_of("stealing");
    struct bal_error err = {0};
    enum bli_engine engine;
    assert_int_equal(bli_simulate_check(&good, &stealing, BLI_ENGINE_AUTO, &engine, &err), BAL_OK);
    assert_int_equal(engine, BLI_ENGINE_STEALING);
    assert_int_equal(bli_simulate_check(&good, &stealing, BLI_ENGINE_STEALING, &engine, &err), BAL_OK);

    struct bli_model continuous = good, fast = model_of("4x1,4x2", 0.9, "half", "even");
    struct bli_model random = model_of("8xuniform(1,2)", 0.9, "half", "even");
    struct bli_model batch = good, split = good, loaded = good, none = good, many = good, lonely = good;
    continuous.clock = BLI_CLOCK_CONTINUOUS;
    assert_int_equal(bli_dist_parse("exp", &continuous.size, NULL), BAL_OK);
    struct bli_model timed = continuous, dispatched = good;
    continuous.placement = placement_of("even");
    assert_int_equal(bli_batch_parse("geometric", &batch.batch, NULL), BAL_OK);
    split.split = true;
    loaded.load = 1.01;
    none.steal = steal_of("none");
    assert_int_equal(bli_batch_parse("poisson", &none.batch, NULL), BAL_OK);
    many.placement = placement_of("hosts(9)");
    assert_int_equal(bli_servers_parse("1", &lonely.servers, NULL), BAL_OK);
    lonely.others = true;
    assert_int_equal(bli_batch_parse("poisson", &dispatched.batch, NULL), BAL_OK);
    const struct {
        const struct bli_model *model;
        const char *policy;
        enum bli_engine engine;
        const char *why;
    } bad[] = {
        {&good, "stealing", BLI_ENGINE_SLOTTED,
         "engine 'slotted' cannot simulate jobs that are made at the servers, servers that steal and "
         "generators at some of the servers (placement); use stealing or auto"},
        {&continuous, "stealing", BLI_ENGINE_AUTO, "policy 'stealing' needs slotted time"},
        {&timed, "stealing", BLI_ENGINE_AUTO, "generators of jobs and their placement need slotted time"},
        {&timed, "random", BLI_ENGINE_AUTO, "generators of jobs and their placement need slotted time"},
        {&fast, "stealing", BLI_ENGINE_AUTO,
         "policy 'stealing' needs servers that serve one job in each slot, such as 100"},
        {&random, "stealing", BLI_ENGINE_AUTO,
         "policy 'stealing' needs servers that serve one job in each slot, such as 100"},
        {&batch, "stealing", BLI_ENGINE_AUTO,
         "policy 'stealing' needs generators of jobs; leave out what is said of batches"},
        {&split, "stealing", BLI_ENGINE_AUTO,
         "policy 'stealing' needs generators of jobs; leave out what is said of batches"},
        {&loaded, "stealing", BLI_ENGINE_AUTO,
         "policy 'stealing' needs a load of at most 1: it is the probability that a generator makes a job"},
        {&none, "stealing", BLI_ENGINE_AUTO,
         "policy 'stealing' needs to know how much is stolen, such as half; constant(0) steals nothing"},
        {&many, "stealing", BLI_ENGINE_AUTO, "placement 'hosts(9)' on 8 servers; write hosts(1) to hosts(8)"},
        {&lonely, "stealing", BLI_ENGINE_AUTO, "the victim is one of the others, but there is only 1 server"},
        {&dispatched, "jsq", BLI_ENGINE_AUTO,
         "in slotted time servers steal under policy 'stealing' alone, not under 'jsq'; use that or "
         "continuous "
         "time"},
        {&continuous, "random", BLI_ENGINE_STEALING,
         "engine 'stealing' cannot simulate continuous time and a policy that chooses servers; use event or "
         "auto"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct bal_policy_spec policy = policy_of(bad[i].policy);
        assert_int_equal(bli_simulate_check(bad[i].model, &policy, bad[i].engine, &engine, &err),
                         BAL_E_MODEL);
        assert_string_equal(err.text, bad[i].why);
    }
    /* A dispatcher cannot host it. */
    const struct bal_policy_context setting = {8, 0.9};
    assert_int_equal(bal_policy_check(&stealing, &setting, NULL, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "a dispatcher cannot host it"));
    assert_true(bli_scheme_of(stealing.policy) == BLI_SCHEME_GENERATED && !stealing.policy->route);
    /* Paths are for continuous time. */
    double fraction;
    struct bli_path path = {.levels = 1, .fraction = &fraction};
    struct bli_run run = {.time = 10, .path = &path};
    struct bli_trial trial = {0};
    assert_int_equal(bli_simulate(&good, &stealing, &run, &trial, &err), BAL_E_MODEL);
    run = (struct bli_run){.time = 2e12};
    assert_int_equal(bli_simulate(&good, &stealing, &run, &trial, &err), BAL_E_RANGE);
}

static void stops(void **state) {
    (void)state;
    const struct bli_model model = model_of("100", 0.9, "half", "hosts(1)");
    const struct bal_policy_spec policy = policy_of("stealing");
    const volatile int stop = 1;
    const struct bli_run run = {.seed = 1, .time = 1e12, .stop = &stop};
    struct bli_trial trial = {0};
    assert_int_equal(bli_simulate(&model, &policy, &run, &trial, NULL), BAL_E_STOPPED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts),        cmocka_unit_test(amounts_rise),    cmocka_unit_test(steal_texts),
        cmocka_unit_test(bad_steals),     cmocka_unit_test(placement_texts), cmocka_unit_test(bad_placements),
        cmocka_unit_test(placements_fit), cmocka_unit_test(coins),           cmocka_unit_test(clockwork),
        cmocka_unit_test(any_length),     cmocka_unit_test(same_jobs),       cmocka_unit_test(refuses),
        cmocka_unit_test(stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
