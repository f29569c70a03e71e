/* SPDX-License-Identifier: BSD-2-Clause */
/* Results are a function of the cases alone: the same bits on any number of threads, with a wanted precision
 * and without, and what a stopped run leaves is what its complete trials say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/lab.h"

#include <math.h>

static struct bli_case case_of(const char *policy, const char *servers, const char *size, double load,
                               double jobs) {
    struct bli_case c = {.model = {.load = load}, .replications = 4};
    struct bal_error err;
    if (bal_policy_parse(policy, &c.policy, &err) || bli_servers_parse(servers, &c.model.servers, &err) ||
        bli_dist_parse(size, &c.model.size, &err))
        fail_msg("%s", err.text);
    c.run = (struct bli_run){.seed = 501, .time = jobs / bli_model_arrival_rate(&c.model), .warmup = NAN};
    return c;
}

enum { CASES = 6 };

/* Different policies, engines, lengths and numbers of replications, so that threads finish in many orders. */
static void fill_cases(struct bli_case cases[CASES], double precision) {
    cases[0] = case_of("jsq", "10", "exp", 0.9, 20000);
    cases[1] = case_of("pod:d=2", "5x1,5x2", "exp", 0.6, 30000);
    cases[2] = case_of("least-work", "10", "hyper(4)", 0.7, 10000);
    cases[3] = case_of("jiq", "3", "det", 0.8, 5000);
    cases[4] = case_of("random", "2", "exp", 0.5, 2000);
    cases[5] = case_of("pi", "10", "exp", 1.1, 8000); /* unstable: no precision to wait for */
    for (int i = 0; i < CASES; i++) {
        cases[i].replications = 3 + (unsigned)i;
        cases[i].precision = precision;
    }
}

static void assert_same(const struct bli_result *a, const struct bli_result *b) {
    for (int m = 0; m < BLI_METRIC_COUNT; m++) {
        assert_memory_equal(&a->metric[m].mean, &b->metric[m].mean, sizeof a->metric[m].mean);
        assert_memory_equal(&a->metric[m].half_width, &b->metric[m].half_width,
                            sizeof a->metric[m].half_width);
    }
    assert_memory_equal(a->tail, b->tail, sizeof a->tail);
    assert_int_equal(a->verdict, b->verdict);
    assert_int_equal(a->engine, b->engine);
    assert_int_equal(a->replications, b->replications);
    assert_int_equal(a->precise, b->precise);
    assert_true(a->warmup == b->warmup && a->memory_bits == b->memory_bits && a->time == b->time);
    assert_true(a->jobs == b->jobs && a->events == b->events);
}

static void run_all(const struct bli_case *cases, unsigned threads, struct bli_result *results) {
    const struct bli_lab_options options = {.threads = threads, .max_replications = 40};
    struct bal_error err;
    if (bli_lab_run(cases, CASES, &options, results, &err))
        fail_msg("%s", err.text);
}

static void same_for_any_threads(double precision) {
    struct bli_case cases[CASES];
    fill_cases(cases, precision);
    struct bli_result *one = calloc(CASES, sizeof *one), *many = calloc(CASES, sizeof *many);
    assert_true(one && many);
    run_all(cases, 1, one);
    static const unsigned threads[] = {2, 5, 0};
    for (int t = 0; t < 3; t++) {
        memset(many, 0xa5, CASES * sizeof *many);
        run_all(cases, threads[t], many);
        for (int i = 0; i < CASES; i++)
            assert_same(&one[i], &many[i]);
    }
    if (precision > 0) {
        unsigned more = 0, reached = 0;
        for (int i = 0; i < CASES; i++) {
            const struct bli_estimate response = one[i].metric[BLI_RESPONSE_MEAN];
            more += one[i].replications > cases[i].replications;
            reached += one[i].precise;
            assert_true(one[i].replications >= cases[i].replications && one[i].replications <= 40);
            assert_int_equal(one[i].precise, response.half_width <= precision * response.mean);
        }
        assert_true(more >= 2 && reached >= 2); /* the rounds were used, and not in vain */
    } else {
        for (int i = 0; i < CASES; i++)
            assert_true(one[i].replications == cases[i].replications && one[i].precise);
    }
    free(one);
    free(many);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    same_for_any_threads(0);
}

static void threads_do_not_matter_with_precision(void **state) {
    (void)state;
    same_for_any_threads(0.03);
}

/* Runs that are made longer for a precision, together: the same for any threads, precise, and so long that
 * the one that needs fewest has about twenty, not hundreds. */
static void threads_do_not_matter_where_runs_grow(void **state) {
    (void)state;
    enum { GROWING = 2 };
    struct bli_case cases[GROWING] = {case_of("jiq", "10", "exp", 0.7, 2000),
                                      case_of("random", "10", "exp", 0.7, 2000)};
    struct bli_result one[GROWING], many[GROWING];
    for (int i = 0; i < GROWING; i++) {
        cases[i].replications = 10;
        cases[i].precision = 0.004;
        cases[i].max_run_length = 1000 * cases[i].run.time;
    }
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        const struct bli_lab_options options = {.threads = threads};
        assert_int_equal(bli_lab_run(cases, GROWING, &options, threads == 1 ? one : many, NULL), BAL_OK);
    }
    for (int i = 0; i < GROWING; i++) {
        assert_same(&one[i], &many[i]);
        assert_true(one[i].precise && one[i].time > cases[i].run.time && one[i].time == one[0].time);
    }
    assert_true(one[0].replications <= 60 && one[1].replications > one[0].replications);
    assert_true(one[0].time < 70 * cases[0].run.time); /* `random` alone would make it 150 times as long */
}

/* A single run, or two, tell nothing of how many a precision takes: more are made before runs are made
 * longer, and then the precision is reached as it is from ten. */
static void a_precision_may_begin_with_few_runs(void **state) {
    (void)state;
    const struct bli_lab_options options = {.threads = 2, .max_replications = 60};
    struct bli_result result;
    for (unsigned few = 1; few <= 2; few++) {
        struct bli_case c = case_of("jiq", "10", "exp", 0.7, 2000);
        c.replications = few;
        c.precision = 0.004;
        c.max_run_length = 1000 * c.run.time;
        assert_int_equal(bli_lab_run(&c, 1, &options, &result, NULL), BAL_OK);
        assert_true(result.precise && result.replications > 5);
        assert_true(result.time > c.run.time && result.time < 70 * c.run.time);
    }
}

/* A case gives the same alone and in company. */
static void company_does_not_matter(void **state) {
    (void)state;
    struct bli_case cases[CASES];
    fill_cases(cases, 0);
    struct bli_result *all = calloc(CASES, sizeof *all), *alone = calloc(1, sizeof *alone);
    assert_true(all && alone);
    run_all(cases, 2, all);
    const struct bli_lab_options options = {.threads = 2};
    for (int i = 0; i < CASES; i++) {
        assert_int_equal(bli_lab_run(&cases[i], 1, &options, alone, NULL), BAL_OK);
        assert_same(&all[i], alone);
    }
    free(all);
    free(alone);
}

/* The trials of a case, run by hand, lead to the same conclusion; another seed to another. */
static void trials_by_hand_say_the_same(void **state) {
    (void)state;
    struct bli_case c = case_of("pod:d=2", "10", "exp", 0.8, 5000);
    struct bli_trial *trial = calloc(c.replications, sizeof *trial);
    struct bli_result *lab = calloc(2, sizeof *lab), *hand = &lab[1];
    assert_true(trial && lab);
    for (unsigned r = 0; r < c.replications; r++) {
        struct bli_run run = c.run;
        run.replication = r;
        assert_int_equal(bli_simulate(&c.model, &c.policy, &run, &trial[r], NULL), BAL_OK);
    }
    bli_result_of(&c, trial, c.replications, hand);
    const struct bli_lab_options options = {.threads = 2};
    assert_int_equal(bli_lab_run(&c, 1, &options, lab, NULL), BAL_OK);
    assert_same(lab, hand);
    c.run.seed++;
    assert_int_equal(bli_lab_run(&c, 1, &options, hand, NULL), BAL_OK);
    assert_true(lab->metric[BLI_RESPONSE_MEAN].mean != hand->metric[BLI_RESPONSE_MEAN].mean);
    free(trial);
    free(lab);
}

/* ---- stopping ---- */

struct stopper {
    volatile int stop;
    unsigned calls, stop_at;
    double last;
};

/* Progress is told after each trial and never falls. */
static void stop_after(void *context, double part) {
    struct stopper *stopper = context;
    assert_true(part >= stopper->last && part <= 1);
    stopper->last = part;
    if (++stopper->calls == stopper->stop_at)
        stopper->stop = 1;
}

/* On one thread trials end in a known order, so that it is known which are complete. */
static void a_stopped_run_keeps_what_is_complete(void **state) {
    (void)state;
    struct bli_case c = case_of("jsq", "10", "exp", 0.9, 20000);
    c.replications = 8;
    struct bli_result *result = calloc(2, sizeof *result), *hand = &result[1];
    assert_non_null(result);
    struct stopper stopper = {.stop_at = 3};
    const struct bli_lab_options options = {
        .threads = 1, .stop = &stopper.stop, .progress = stop_after, .progress_context = &stopper};
    struct bal_error err = {0};
    assert_int_equal(bli_lab_run(&c, 1, &options, result, &err), BAL_E_STOPPED);
    assert_int_equal(err.code, BAL_E_STOPPED);
    assert_true(strlen(err.text) > 0);
    assert_int_equal(result->replications, 3);
    c.replications = 3;
    const struct bli_lab_options quiet = {.threads = 1};
    assert_int_equal(bli_lab_run(&c, 1, &quiet, hand, NULL), BAL_OK);
    assert_same(result, hand);
    free(result);
}

static void stop_later(void *context, double part) {
    (void)part; /* it falls when runs are made longer */
    struct stopper *stopper = context;
    stopper->stop = ++stopper->calls >= stopper->stop_at;
}

/* The first ten runs of each of two cases tell that longer ones are needed, of which a few are complete when
 * the lab is stopped: too few to take the place of the others, and of one case there is none. */
static void a_stop_amid_longer_runs_keeps_the_shorter_ones(void **state) {
    (void)state;
    struct bli_case cases[2] = {case_of("jiq", "10", "exp", 0.7, 2000),
                                case_of("random", "10", "exp", 0.7, 2000)};
    for (int i = 0; i < 2; i++) {
        cases[i].replications = 10;
        cases[i].precision = 0.004;
        cases[i].max_run_length = 1000 * cases[i].run.time;
    }
    struct bli_result *result = calloc(4, sizeof *result), *shorter = result + 2;
    assert_non_null(result);
    for (unsigned extra = 0; extra < 4; extra++) {
        struct stopper stopper = {.stop_at = 20 + extra};
        const struct bli_lab_options options = {
            .threads = 1, .stop = &stopper.stop, .progress = stop_later, .progress_context = &stopper};
        struct bal_error err = {0};
        assert_int_equal(bli_lab_run(cases, 2, &options, extra ? result : shorter, &err), BAL_E_STOPPED);
        for (int i = 0; i < 2 && extra; i++) {
            assert_same(&result[i], &shorter[i]);
            assert_true(result[i].replications == 10 && result[i].time == cases[i].run.time);
        }
    }
    free(result);
}

/* The flag is set while one thread is in a trial of a minute: it ends at the next of its thousand slices and
 * is not counted; what the other thread has completed is. */
static void a_stop_interrupts_trials(void **state) {
    (void)state;
    struct bli_case cases[2] = {case_of("jsq", "10", "exp", 0.9, 1e9),
                                case_of("random", "2", "exp", 0.5, 1000)};
    cases[0].replications = 1;
    cases[1].replications = 50000;
    struct bli_result *result = calloc(2, sizeof *result);
    assert_non_null(result);
    struct stopper stopper = {.stop_at = 2};
    const struct bli_lab_options options = {
        .threads = 2, .stop = &stopper.stop, .progress = stop_after, .progress_context = &stopper};
    struct bal_error err = {0};
    assert_int_equal(bli_lab_run(cases, 2, &options, result, &err), BAL_E_STOPPED);
    assert_int_equal(result[0].replications, 0);
    assert_true(isnan(result[0].metric[BLI_RESPONSE_MEAN].mean));
    assert_true(result[1].replications >= 2 && result[1].replications < 50000);
    assert_true(result[1].metric[BLI_RESPONSE_MEAN].mean > 0);
    free(result);
}

/* Told to stop before it begins, it knows nothing. */
static void a_stop_at_once_leaves_nothing(void **state) {
    (void)state;
    const struct bli_case c = case_of("random", "2", "exp", 0.5, 1000);
    struct bli_result *result = calloc(1, sizeof *result);
    assert_non_null(result);
    const volatile int stop = 1;
    const struct bli_lab_options options = {.threads = 2, .stop = &stop};
    struct bal_error err = {0};
    assert_int_equal(bli_lab_run(&c, 1, &options, result, &err), BAL_E_STOPPED);
    assert_int_equal(result->replications, 0);
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        assert_true(isnan(result->metric[m].mean));
    struct bli_run run = c.run;
    run.stop = &stop;
    struct bli_trial trial = {0};
    assert_int_equal(bli_simulate(&c.model, &c.policy, &run, &trial, &err), BAL_E_STOPPED);
    free(result);
}

/* ---- errors ---- */

static void an_error_ends_the_run(void **state) {
    (void)state;
    struct bli_case cases[3] = {case_of("jsq", "10", "exp", 0.9, 1000),
                                case_of("pod:d=5,replace=0", "3", "exp", 0.9, 1000),
                                case_of("jsq", "10", "exp", 0.9, 1000)};
    struct bli_result *result = calloc(3, sizeof *result);
    assert_non_null(result);
    const struct bli_lab_options options = {.threads = 2};
    struct bal_error err = {0};
    assert_int_equal(bli_lab_run(cases, 3, &options, result, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "d=5"));
    assert_int_equal(bli_lab_run(cases, 3, &options, result, NULL), BAL_E_MODEL);
    cases[1] = cases[0];
    cases[1].run.time = -1;
    assert_int_equal(bli_lab_run(cases, 3, &options, result, &err), BAL_E_RANGE);
    cases[1].run.time = 100;
    cases[1].run.warmup = 1.5;
    assert_int_equal(bli_lab_run(cases, 3, &options, result, &err), BAL_E_RANGE);
    free(result);
}

static void nothing_to_do_is_done(void **state) {
    (void)state;
    const struct bli_lab_options options = {.threads = 2};
    struct bal_error err = {0};
    assert_int_equal(bli_lab_run(NULL, 0, &options, NULL, &err), BAL_OK);
}

/* ---- the pool ---- */

enum { TASKS = 1000 };
struct counts {
    atomic_int done[TASKS];
    volatile int stop;
};

static void count_task(void *context, size_t i) {
    struct counts *counts = context;
    atomic_fetch_add(&counts->done[i], 1);
    if (i == TASKS / 2)
        counts->stop = 1;
}

static void each_task_runs_once(void **state) {
    (void)state;
    static const unsigned threads[] = {1, 2, 5, 0, 2000};
    for (int t = 0; t < 5; t++) {
        struct counts counts = {.stop = 0};
        assert_int_equal(bli_pool_run(threads[t], TASKS, count_task, &counts, NULL), BAL_OK);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(atomic_load(&counts.done[i]), 1);
    }
    struct counts counts = {.stop = 0};
    assert_int_equal(bli_pool_run(3, 0, count_task, &counts, NULL), BAL_OK);
    assert_int_equal(bli_pool_run(1, TASKS, count_task, &counts, &counts.stop), BAL_OK);
    for (size_t i = 0; i < TASKS; i++)
        assert_int_equal(atomic_load(&counts.done[i]), i <= TASKS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(threads_do_not_matter_with_precision),
        cmocka_unit_test(threads_do_not_matter_where_runs_grow),
        cmocka_unit_test(a_precision_may_begin_with_few_runs),
        cmocka_unit_test(company_does_not_matter),
        cmocka_unit_test(trials_by_hand_say_the_same),
        cmocka_unit_test(a_stopped_run_keeps_what_is_complete),
        cmocka_unit_test(a_stop_amid_longer_runs_keeps_the_shorter_ones),
        cmocka_unit_test(a_stop_interrupts_trials),
        cmocka_unit_test(a_stop_at_once_leaves_nothing),
        cmocka_unit_test(an_error_ends_the_run),
        cmocka_unit_test(nothing_to_do_is_done),
        cmocka_unit_test(each_task_runs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
