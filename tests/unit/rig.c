/* SPDX-License-Identifier: BSD-2-Clause */
/* Real fleets: what follows from what was measured. The processes are tried by tests/nginx/live. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig/block.h"
#include "rig/live_verdict.h"

/* ---- verdicts ---- */

/* Servers that are late are slower. */
static struct rig_row row_of(double mean, double mean_half, double p99, double p99_half, double overslept) {
    const struct bli_model model = {.load = 0.9, .size = {.mean = 0.05}};
    struct rig_row row = {.lab_mean = {.mean = 0.1},
                          .mean_ratio = {.mean = mean, .half_width = mean_half},
                          .p99_ratio = {.mean = p99, .half_width = p99_half},
                          .late = 1e-4, /* 0.1 % */
                          .slower = true,
                          .overslept = overslept};
    bli_live_verdict_decide(&row, &model);
    return row;
}

static void verdicts_need_intervals(void **state) {
    (void)state;
    assert_int_equal(row_of(1.04, 0.05, 0.91, 0.1, 0).verdict, RIG_AGREES);
    assert_int_equal(row_of(1.06, 0.05, 1, 0.1, 0).verdict, RIG_UNDECIDED);
    assert_int_equal(row_of(1, 0.02, 1.15, 0.1, 0).verdict, RIG_UNDECIDED);
    assert_int_equal(row_of(1.2, 0.06, 1, 0.1, 0).verdict, RIG_UNDECIDED); /* not by twice its width */
    assert_int_equal(row_of(1.2, 0.04, 1, 0.1, 0).verdict, RIG_DIFFERS);
    assert_int_equal(row_of(0.8, 0.04, 1, 0.1, 0).verdict, RIG_DIFFERS);
    assert_int_equal(row_of(1, 0.01, 1.5, 0.1, 0).verdict, RIG_DIFFERS);
    assert_int_equal(row_of(1.5, NAN, 1.5, NAN, 0).verdict, RIG_UNDECIDED);
    assert_non_null(strstr(row_of(1.5, NAN, 1.5, NAN, 0).reason, "one block"));
}

/* What the machine may have added is part of the doubt: it can hide a difference and look like one, but not
 * every one. */
static void what_the_machine_added_is_doubt(void **state) {
    (void)state;
    struct rig_row row = row_of(1.25, 0.01, 1, 0.01, 1e-3); /* 1 ms of 50 at load 0.9: up to 20 % */
    assert_int_equal(row.verdict, RIG_UNDECIDED);
    assert_non_null(strstr(row.reason, "too busy"));
    assert_true(fabs(row.added - 0.211) < 1e-9);
    assert_int_equal(row_of(1.5, 0.01, 1.5, 0.01, 1e-3).verdict, RIG_DIFFERS);
    assert_int_equal(row_of(0.8, 0.01, 1, 0.01, 1e-3).verdict, RIG_DIFFERS); /* being late hastens nothing */
    assert_int_equal(row_of(1.01, 0.01, 1, 0.01, 1e-3).verdict, RIG_UNDECIDED);
    assert_int_equal(row_of(1.01, 0.01, 1, 0.01, 3e-4).verdict, RIG_AGREES);
}

/* 1 ms late of answers of 100 ms, where it does not make servers slower, is 1 %. */
static void being_late_matters_by_how_long_answers_take(void **state) {
    (void)state;
    const struct bli_model model = {.load = 0.9, .size = {.mean = 0.05}};
    struct rig_row row = {.lab_mean = {.mean = 0.1},
                          .mean_ratio = {.mean = 1.03, .half_width = 0.05},
                          .p99_ratio = {.mean = 1, .half_width = 0.1},
                          .late = 5e-4,
                          .overslept = 5e-4};
    bli_live_verdict_decide(&row, &model);
    assert_true(fabs(row.added - 0.01) < 1e-12);
    assert_int_equal(row.verdict, RIG_AGREES);
}

/* Blocks of 1.5 s on 16 servers behind 4 dispatchers, as in the demo, or the mean of so many draws. With
 * seven of them the interval of p99 can be too wide to decide. */
enum { BLOCKS = 10 };
static void simulate(const char *policy, unsigned draws, double *mean, double *p99) {
    struct bli_case c = {.model = {.load = 0.9, .network.dispatchers.count = 4},
                         .run = {.seed = 5, .time = 1.5, .warmup = 0},
                         .draws = draws};
    assert_int_equal(bli_servers_parse("16", &c.model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp(0.05)", &c.model.size, NULL), BAL_OK);
    assert_int_equal(bal_policy_parse(policy, &c.policy, NULL), BAL_OK);
    for (unsigned block = 0; block < BLOCKS; block++) {
        struct bli_trial trial = {0};
        c.run.replication = block;
        c.run.draw = draws > 1 ? 0 : 99;
        assert_int_equal(bli_case_trial(&c, &c.run, &trial, NULL), BAL_OK);
        mean[block] = trial.metric[BLI_RESPONSE_MEAN];
        p99[block] = trial.metric[BLI_RESPONSE_P99];
    }
}

/* In place of real processes a simulation, with other draws than the model's: the right model agrees, and
 * wrong ones are found out. */
static void a_wrong_model_is_found_out(void **state) {
    (void)state;
    static const struct {
        const char *real, *model;
        enum rig_verdict verdict;
    } cases[] = {
        {"least-conn:ties=turn", "least-conn:ties=turn", RIG_AGREES},
        {"least-conn:d=2", "least-conn:d=2", RIG_AGREES},
        {"jiq:else=least-conn", "jiq:else=least-conn", RIG_AGREES},
        {"random", "least-conn:ties=queue", RIG_DIFFERS},
        {"round-robin", "jiq:else=hold", RIG_DIFFERS},
        {"least-conn:ties=turn", "random", RIG_DIFFERS},
        {"jiq:else=hold", "least-conn:d=2", RIG_DIFFERS},
    };
    const struct bli_model model = {.load = 0.9, .size = {.mean = 0.05}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double live[2][BLOCKS], lab[2][BLOCKS];
        simulate(cases[i].real, 1, live[0], live[1]);
        simulate(cases[i].model, 16, lab[0], lab[1]);
        struct rig_row row = {.lab_mean = {.mean = 0.1},
                              .late = 3e-4,
                              .overslept = 3e-4,
                              .mean_ratio = bli_estimate_ratio(live[0], lab[0], BLOCKS),
                              .p99_ratio = bli_estimate_ratio(live[1], lab[1], BLOCKS)};
        bli_live_verdict_decide(&row, &model);
        if (row.verdict != cases[i].verdict)
            fail_msg("%s by the model %s: %s (%.3f ± %.3f, %.3f ± %.3f)", cases[i].real, cases[i].model,
                     bli_rig_verdict_text[row.verdict], row.mean_ratio.mean, row.mean_ratio.half_width,
                     row.p99_ratio.mean, row.p99_ratio.half_width);
    }
}

/* A short block is measured again by how late it was, and not by what it says. */
static void a_machine_that_stood_still_is_asked_again(void **state) {
    (void)state;
    const struct bli_live live = {.seconds = 2, .urgent = true}, patient = {.seconds = 2},
                          hour = {.seconds = 3600, .urgent = true},
                          faults = {.seconds = 2, .urgent = true, .faults = 1};
    struct rig rig = {.live = &live, .c = {.model = {.size = {.mean = 0.05}}}};
    struct bli_load_result *load = calloc(1, sizeof *load);
    assert_non_null(load);
    load->late.count = 100;
    load->late.sum = 0.04; /* 0.4 ms on average */
    struct rig_block block = {.rig = &rig, .load = load, .overslept = 2e-3};
    assert_false(bli_block_is_disturbed(&block));
    block.overslept = 2.2e-3;
    assert_true(bli_block_is_disturbed(&block));
    rig.c.model.size.mean = 0.1;
    assert_false(bli_block_is_disturbed(&block));
    block.overslept = 5e-3;
    assert_true(bli_block_is_disturbed(&block));
    rig.live = &hour;
    assert_false(bli_block_is_disturbed(&block));
    rig.live = &faults;
    assert_false(bli_block_is_disturbed(&block));
    rig.live = &patient;
    assert_false(bli_block_is_disturbed(&block));
    free(load);
}

/* ---- faults ---- */

static void those_who_leave_make_room(void **state) {
    (void)state;
    struct rig_visit visit[] = {{0, 1, 0}, {1, 2, 0}, {0.5, 3, 1}, {0.6, 3, 1}, {2.5, 4, 1}, {9, 10, 0}};
    const struct rig_block block = {.visit = visit, .visits = 6};
    assert_int_equal(bli_max_concurrent(&block, 0, INFINITY), 3);
    assert_int_equal(bli_max_concurrent(&block, 0, 2), 2);
    assert_int_equal(bli_max_concurrent(&block, 5, 20), 1);
    assert_int_equal(bli_max_concurrent(&block, 20, 30), 0);
}

static double noted(const struct rig_block *block, const char *name) {
    for (size_t i = 0; i < block->facts; i++)
        if (strcmp(block->fact[i].name, name) == 0)
            return block->fact[i].value;
    return NAN;
}

/* A failure belongs to the fault before which it became known; slow is what takes twice as long as anything
 * before the first one, ten service times at least. */
static void faults_are_charged_by_when_it_was_known(void **state) {
    (void)state;
    const struct bli_fault fault[] = {{.kind = BLI_FAULT_RELOAD, .at = 1}, {.kind = BLI_FAULT_HANG, .at = 5}};
    const struct bli_live live = {.faults = 2, .fault = fault};
    struct rig rig = {.live = &live, .stations = true, .c = {.model = {.size = {.mean = 0.01}}}};
    struct rig_request_outcome outcome[] = {
        {.time = 0, .ended = 0.1, .good = true, .served = 1},
        {.time = 0.9, .ended = 1.5, .good = false},            /* under way when it happened */
        {.time = 2, .ended = 2.15, .good = true, .served = 2}, /* slower than before, not twice as slow */
        {.time = 4.9, .ended = 5.5, .good = true, .served = 1, .resent = true},
        {.time = 6, .ended = 7, .good = true, .served = 1},
    };
    struct rig_block block = {.rig = &rig, .outcome = outcome, .outcomes = 5};
    bli_recovery_record(&block);
    assert_true(noted(&block, "fault0.lost") == 1);
    assert_true(noted(&block, "fault0.doubled") == 1);
    assert_true(noted(&block, "fault0.recovery") == 0);
    assert_true(noted(&block, "fault1.lost") == 0);
    assert_true(noted(&block, "fault1.resent") == 1);
    assert_true(fabs(noted(&block, "fault1.recovery") - 1) < 1e-12);
    assert_true(noted(&block, "fault0.exceeded") == 0);
    free(block.fact);
}

/* ---- the private directory ---- */

static void what_the_dead_have_left_is_removed(void **state) {
    (void)state;
    char parent[] = "/tmp/ballast-rig-XXXXXX", path[RIG_PATH], dead[RIG_PATH], alive[RIG_PATH],
         other[RIG_PATH];
    struct bal_error err = {0};
    assert_non_null(mkdtemp(parent));
    snprintf(dead, sizeof dead, "%s/ballast-live.999999999.abcdef", parent); /* beyond any process */
    snprintf(alive, sizeof alive, "%s/ballast-live.%ld.abcdef", parent, (long)getpid());
    snprintf(other, sizeof other, "%s/ballast-live.mine", parent);
    assert_int_equal(mkdir(dead, 0700) | mkdir(alive, 0700) | mkdir(other, 0700), 0);
    setenv("TMPDIR", parent, 1);
    assert_int_equal(bli_workdir_create(path, &err), BAL_OK);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_not_equal(access(dead, F_OK), 0);
    assert_int_equal(access(alive, F_OK) | access(other, F_OK), 0);
    bli_workdir_remove(path);
    assert_int_not_equal(access(path, F_OK), 0);
    bli_workdir_remove(parent);
    assert_int_not_equal(access(parent, F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_need_intervals),
        cmocka_unit_test(what_the_machine_added_is_doubt),
        cmocka_unit_test(being_late_matters_by_how_long_answers_take),
        cmocka_unit_test(a_wrong_model_is_found_out),
        cmocka_unit_test(a_machine_that_stood_still_is_asked_again),
        cmocka_unit_test(those_who_leave_make_room),
        cmocka_unit_test(faults_are_charged_by_when_it_was_known),
        cmocka_unit_test(what_the_dead_have_left_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
