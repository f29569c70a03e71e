/* SPDX-License-Identifier: BSD-2-Clause */
/* From an experiment to its trials: seeds, identities, what is run and what is found again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/store.h"

#include "spec/plan.h"
#include "store/store_private.h"
#include "store/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct bli_experiment *read_text(const char *text) {
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    if (bli_experiment_parse(text, strlen(text), "t.yaml", BLI_MODE_PLAIN, &e, &err))
        fail_msg("%s", err.text);
    return e;
}

#define FLEET "title: x\nfleet: {servers: 10}\n"
#define RUN "run: {time: 20, replications: 4}\n"

static struct bli_case cell(const struct bli_experiment *e, size_t point, size_t policy) {
    struct bli_case c;
    bli_experiment_case(e, point, policy, &c);
    return c;
}

/* ---- seeds and identities ---- */

static char *identity_of(const struct bli_experiment *e, size_t point, size_t policy) {
    const struct bli_case c = cell(e, point, policy);
    char *identity = bli_plan_identity(&c);
    assert_non_null(identity);
    return identity;
}

/* Is the identity of a cell the same in two experiments? */
static bool same_cell(const struct bli_experiment *a, size_t point_a, size_t policy_a,
                      const struct bli_experiment *b, size_t point_b, size_t policy_b) {
    char *x = identity_of(a, point_a, policy_a), *y = identity_of(b, point_b, policy_b);
    const bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

static void identity_says_everything(void **state) {
    (void)state;
    struct bli_experiment *e =
        read_text("title: x\nfleet: {servers: '3x1,2x4'}\nworkload: {load: 0.7, service: 'det(2)'}\n"
                  "policies: ['pod:d=3']\nrun: {time: 12.5, warmup: 0.25}\nseed: 9\n");
    char *identity = identity_of(e, 0, 0);
    char expected[300];
    snprintf(expected, sizeof expected,
             "servers=3x1,2x4\nload=0.7\nservice=det(2)\npolicy=pod:d=3\nengine=event\ntime=12.5\nwarmup=0."
             "25\nseed=%llu\nresults=4",
             (unsigned long long)cell(e, 0, 0).run.seed);
    assert_string_equal(identity, expected);
    free(identity);
    bli_experiment_free(e);
}

/* A window at the end of a run whose time is given is a span of a path; where the time is left open runs are
 * made long enough, and a warm-up is none. */
static void a_window_is_a_path(void **state) {
    (void)state;
    static const struct {
        const char *run;
        bool path;
    } rows[] = {{"{time: 20, window: 1}", true},   {"{time: 20, window: 20}", true},
                {"{jobs: 1000, window: 1}", true}, {"{time: 20}", false},
                {"{time: 20, warmup: 0}", false},  {"{window: 1}", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text, FLEET "workload: {load: 0.9}\npolicies: [jsq]\nrun: %s\n", rows[i].run);
        struct bli_experiment *e = read_text(text);
        assert_true(cell(e, 0, 0).path == rows[i].path);
        bli_experiment_free(e);
    }
}

/* Adding points, axes of one value or policies leaves the other cells what they were; changing anything else
 * does not. */
static void other_cells_stay(void **state) {
    (void)state;
    struct bli_experiment *a = read_text(FLEET "workload: {load: 0.9}\npolicies: [jsq, jiq]\n" RUN);
    struct bli_experiment *b =
        read_text(FLEET "policies: [random, 'pod:d=2', jiq]\n" RUN
                        "sweep: [{axis: load, values: [0.3, 0.9]}, {axis: service, values: [det, exp]}]\n");
    assert_true(same_cell(a, 0, 1, b, 3, 2));
    assert_false(same_cell(a, 0, 0, b, 3, 2));                     /* another policy */
    assert_false(same_cell(a, 0, 1, b, 1, 2));                     /* another point */
    assert_true(cell(a, 0, 0).run.seed == cell(b, 3, 0).run.seed); /* the same arrivals for all policies */
    assert_true(cell(b, 0, 0).run.seed != cell(b, 1, 0).run.seed);
    bli_experiment_free(b);
    static const char *const changed[] = {
        "title: x\nfleet: {servers: 11}\nworkload: {load: 0.9}\npolicies: [jsq, jiq]\n" RUN,
        FLEET "workload: {load: 0.91}\npolicies: [jsq, jiq]\n" RUN,
        FLEET "workload: {load: 0.9, high: 0.5}\npolicies: [jsq, jiq]\n" RUN,
        FLEET "workload: {load: 0.9}\npolicies: [jsq, jiq]\nrun: {time: 21}\n",
        FLEET "workload: {load: 0.9}\npolicies: [jsq, jiq]\nrun: {time: 20, warmup: 0.1}\n",
        FLEET "workload: {load: 0.9}\npolicies: [jsq, jiq]\nrun: {time: 20, engine: event}\n",
        FLEET "workload: {load: 0.9}\npolicies: [jsq, jiq]\nseed: 2\n" RUN,
    };
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        b = read_text(changed[i]);
        assert_false(same_cell(a, 0, 1, b, 0, 1));
        bli_experiment_free(b);
    }
    /* What is said in other words is the same. */
    b = read_text(
        "title: y\nfleet: {servers: 10x1}\nworkload: {load: 90%, service: exp(1), clock: continuous}\n"
        "policies: [jiq]\nrun: {jobs: 180, replications: 2, engine: markov}\nseed: 1\n");
    assert_true(same_cell(a, 0, 1, b, 0, 0));
    bli_experiment_free(b);
    bli_experiment_free(a);
}

static void seeds_fit_json(void **state) {
    (void)state;
    struct bli_experiment *e =
        read_text(FLEET "policies: [jsq]\nsweep: {axis: load, from: 0.1, to: 0.9, points: 1000}\n" RUN);
    for (size_t point = 0; point < e->points; point++)
        assert_true(cell(e, point, 0).run.seed < UINT64_C(1) << 53);
    bli_experiment_free(e);
}

/* Stored trials are good as long as the same trial gives the same numbers. When this fails although the seeds
 * and the models are right, an engine computes something else than before: raise its results_revision
 * in src/spec/plan.c, so that older files of results are not mixed with new ones, and put the new numbers
 * here.
 */
static void same_numbers_as_ever(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double mean;
        enum bli_metric metric;
    } known[] = {
        {FLEET "workload: {load: 0.8}\npolicies: ['pod:d=2']\n" RUN, 1.3248989853867332, BLI_RESPONSE_MEAN},
        {FLEET "workload: {load: 0.8, service: 'erlang(3)'}\npolicies: [jiq]\n" RUN, 1.251537175528467,
         BLI_RESPONSE_MEAN},
        {"title: x\nfleet: {servers: '3x1,2xuniform(1,5)'}\nworkload: {clock: slotted, load: 0.7}\n"
         "policies: [pi]\nrun: {time: 500}\n",
         2.8983320095313743, BLI_RESPONSE_MEAN},
        {FLEET "workload: {load: 0.8}\nnetwork: {dispatchers: 2, delay: 0.1}\n"
               "policies: ['jiq:else=hold']\n" RUN,
         1.2545285546406926, BLI_RESPONSE_MEAN},
        {FLEET "workload: {load: 0.6}\nnetwork: {dispatchers: 2, churn: '50,5'}\npolicies: [jsq]\n" RUN,
         1.026674275412502, BLI_RESPONSE_MEAN},
        {FLEET "workload: {load: 0.8}\npolicies: [central]\n" RUN, 0.85324853029737302, BLI_RESPONSE_MEAN},
        {FLEET
         "workload: {clock: slotted, load: 0.7, steal: half, placement: 'hosts(1)'}\npolicies: [stealing]\n"
         "run: {time: 500}\n",
         0.4385, BLI_STEALING_REQUESTS},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct bli_experiment *e = read_text(known[i].text);
        struct bli_case c = cell(e, 0, 0);
        struct bli_trial trial = {.jobs = 0};
        struct bal_error err = {0};
        assert_int_equal(bli_simulate(&c.model, &c.policy, &c.run, &trial, &err), BAL_OK);
        const double mean = trial.metric[known[i].metric];
        if (!(fabs(mean - known[i].mean) <= 1e-12 * mean))
            fail_msg("case %zu: %s is %.17g instead of %.17g", i, bli_metric_table[known[i].metric].name,
                     mean, known[i].mean);
        bli_experiment_free(e);
    }
}

/* ---- running ---- */

static char path[] = "/tmp/ballast-plan-XXXXXX";

static int make_store(void **state) {
    const int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    struct bli_store *store = NULL;
    struct bal_error err = {0};
    if (bli_store_open(path, BLI_STORE_WRITE, &store, &err))
        return -1;
    *state = store;
    return 0;
}

static int remove_store(void **state) {
    bli_store_close(*state);
    unlink(path);
    memcpy(strrchr(path, '-') + 1, "XXXXXX", 6);
    return 0;
}

struct watch {
    struct bli_sweep_progress last;
    size_t calls;
    volatile int stop;
    size_t stop_after;
};

static void watch(void *context, const struct bli_sweep_progress *progress) {
    struct watch *w = context;
    assert_true(progress->done >= w->last.done && progress->done <= progress->total);
    assert_true(progress->cost_done <= progress->cost_total * (1 + 1e-12));
    w->last = *progress;
    if (++w->calls == w->stop_after)
        w->stop = 1;
}

static enum bal_code run_watched(const struct bli_experiment *e, struct bli_store *store, unsigned threads,
                                 struct watch *w) {
    const struct bli_sweep_options options = {
        .threads = threads, .stop = &w->stop, .progress = watch, .progress_context = w};
    struct bal_error err = {0};
    const enum bal_code code = bli_sweep_run(e, store, &options, &err);
    if (code && code != BAL_E_STOPPED)
        fail_msg("%s", err.text);
    return code;
}

/* How many trials a run still has to do. */
static size_t run_all(const struct bli_experiment *e, struct bli_store *store) {
    struct watch w = {.calls = 0};
    assert_int_equal(run_watched(e, store, 2, &w), BAL_OK);
    return w.calls;
}

static struct bli_result result_of(const struct bli_experiment *e, struct bli_store *store, size_t point,
                                   size_t policy) {
    struct bli_result result;
    struct bal_error err = {0};
    assert_int_equal(bli_store_result(store, e, point, policy, &result, &err), BAL_OK);
    return result;
}

static struct bli_estimate quantity_of(const struct bli_experiment *e, struct bli_store *store, size_t point,
                                       size_t policy, struct bli_quantity quantity) {
    struct bli_cell cell;
    struct bli_estimate estimate;
    struct bal_error err = {0};
    assert_int_equal(bli_cell_load(&cell, store, e, point, policy, &err), BAL_OK);
    assert_int_equal(bli_cell_quantity(&cell, store, quantity, &estimate, &err), BAL_OK);
    bli_cell_fini(&cell);
    return estimate;
}

/* The results of the store are those of the lab on the same cases. */
static void results_are_those_of_the_lab(void **state) {
    struct bli_store *store = *state;
    struct bli_experiment *e =
        read_text(FLEET "policies: [jsq, 'pod:d=2']\nsweep: {axis: load, values: [0.5, 0.8]}\n" RUN);
    assert_int_equal(run_all(e, store), 16);
    for (size_t point = 0; point < 2; point++)
        for (size_t policy = 0; policy < 2; policy++) {
            const struct bli_case c = cell(e, point, policy);
            struct bli_result direct;
            struct bal_error err = {0};
            const struct bli_lab_options options = {.threads = 1};
            assert_int_equal(bli_lab_run(&c, 1, &options, &direct, &err), BAL_OK);
            const struct bli_result stored = result_of(e, store, point, policy);
            assert_memory_equal(direct.metric, stored.metric, sizeof direct.metric);
            assert_memory_equal(direct.tail, stored.tail, sizeof direct.tail);
            assert_true(direct.verdict == stored.verdict && direct.jobs == stored.jobs &&
                        direct.engine == stored.engine);
            assert_int_equal(stored.replications, 4);
        }
    bli_experiment_free(e);
}

static void only_what_is_missing_is_run(void **state) {
    struct bli_store *store = *state;
    struct bli_experiment *e =
        read_text(FLEET "policies: [jsq, jiq]\nsweep: {axis: load, values: [0.5, 0.8]}\n" RUN);
    struct bli_sweep_progress progress;
    struct bal_error err = {0};
    assert_int_equal(bli_sweep_status(e, NULL, &progress, &err), BAL_OK);
    assert_true(progress.total == 16 && progress.done == 0);
    assert_int_equal(bli_sweep_status(e, store, &progress, &err), BAL_OK);
    assert_true(progress.total == 16 && progress.done == 0);
    assert_int_equal(run_all(e, store), 16);
    assert_int_equal(run_all(e, store), 0);
    assert_int_equal(bli_sweep_status(e, store, &progress, &err), BAL_OK);
    assert_true(progress.total == 16 && progress.done == 16 && progress.found == 16 &&
                progress.cost_total == 0);
    bli_experiment_free(e);
    /* one more point, one more policy, more replications, fewer replications */
    e = read_text(FLEET "policies: [jsq, jiq]\nsweep: {axis: load, values: [0.5, 0.6, 0.8]}\n" RUN);
    assert_int_equal(run_all(e, store), 8);
    bli_experiment_free(e);
    e = read_text(FLEET "policies: [random, jsq, jiq]\nsweep: {axis: load, values: [0.5, 0.6, 0.8]}\n" RUN);
    assert_int_equal(run_all(e, store), 12);
    bli_experiment_free(e);
    e = read_text(FLEET "policies: [jsq]\nworkload: {load: 0.6}\nrun: {time: 20, replications: 7}\n");
    assert_int_equal(run_all(e, store), 3);
    assert_int_equal(result_of(e, store, 0, 0).replications, 7);
    bli_experiment_free(e);
    e = read_text(FLEET "policies: [jsq]\nworkload: {load: 0.6}\nrun: {time: 20, replications: 2}\n");
    assert_int_equal(run_all(e, store), 0);
    assert_int_equal(result_of(e, store, 0, 0).replications, 2); /* what else is stored plays no part */
    bli_experiment_free(e);
}

/* A policy that an axis does not concern is run once. */
static void equal_cells_are_run_once(void **state) {
    struct bli_store *store = *state;
    struct bli_experiment *e = read_text(FLEET "workload: {load: 0.5}\npolicies: [jsq, pod]\n"
                                               "sweep: {axis: pod.d, values: [1, 2, 3]}\n" RUN);
    struct bli_sweep_progress progress;
    struct bal_error err = {0};
    assert_int_equal(bli_sweep_status(e, NULL, &progress, &err), BAL_OK);
    assert_int_equal(progress.total, 16);
    assert_int_equal(run_all(e, store), 16); /* jsq once, pod three times */
    const struct bli_result a = result_of(e, store, 0, 0), b = result_of(e, store, 2, 0);
    assert_memory_equal(a.metric, b.metric, sizeof a.metric);
    bli_experiment_free(e);
    /* Also when they want different numbers of replications. */
    e = read_text(FLEET "workload: {load: 0.6}\npolicies: [jsq]\nsweep: {axis: run.replications, values: [2, "
                        "5, 3]}\nrun: {time: 20}\n");
    assert_int_equal(run_all(e, store), 5);
    assert_int_equal(result_of(e, store, 0, 0).replications, 2);
    assert_int_equal(result_of(e, store, 1, 0).replications, 5);
    bli_experiment_free(e);
}

static void stopped_runs_go_on(void **state) {
    struct bli_store *store = *state;
    struct bli_experiment *e =
        read_text(FLEET "policies: [jsq, jiq]\nsweep: {axis: load, values: [0.5, 0.8]}\n" RUN);
    struct watch w = {.stop_after = 5};
    assert_int_equal(run_watched(e, store, 1, &w), BAL_E_STOPPED);
    assert_int_equal(w.last.done, 5);
    struct bli_store_run *runs = NULL;
    size_t count = 0;
    struct bal_error err = {0};
    assert_int_equal(bli_store_runs(store, &runs, &count, &err), BAL_OK);
    assert_true(count == 1 && !runs[0].ended);
    free(runs);
    assert_int_equal(run_all(e, store), 11);
    assert_int_equal(bli_store_runs(store, &runs, &count, &err), BAL_OK);
    assert_true(count == 1 && runs[0].ended);
    free(runs);
    bli_experiment_free(e);
}

/* With a wanted precision the number of replications follows from the trials, whatever the interruptions and
 * threads. */
static void precision_is_reached_in_the_same_steps(void **state) {
    struct bli_store *store = *state;
    static const char text[] = FLEET "policies: [random, jsq]\nsweep: {axis: load, values: [0.5, 0.8]}\n"
                                     "run: {time: 200, replications: 3, precision: 2%, most: 60}\n";
    struct bli_experiment *e = read_text(text);
    struct watch w = {.stop_after = 15};
    assert_int_equal(run_watched(e, store, 2, &w), BAL_E_STOPPED);
    run_all(e, store);
    assert_int_equal(run_all(e, store), 0);
    unsigned largest = 0, controlled = 0;
    for (size_t point = 0; point < 2; point++)
        for (size_t policy = 0; policy < 2; policy++) {
            const struct bli_case c = cell(e, point, policy);
            const struct bli_lab_options options = {.threads = 1, .max_replications = 60};
            struct bli_result direct;
            struct bal_error err = {0};
            assert_int_equal(bli_lab_run(&c, 1, &options, &direct, &err), BAL_OK);
            const struct bli_result stored = result_of(e, store, point, policy);
            assert_int_equal(stored.replications, direct.replications);
            assert_memory_equal(direct.metric, stored.metric, sizeof direct.metric);
            largest = stored.replications > largest ? stored.replications : largest;
            const struct bli_quantity mean = {.metric = BLI_RESPONSE_MEAN};
            /* by tables and figures: as precise as it was found to be */
            const struct bli_estimate shown = quantity_of(e, store, point, policy, mean);
            assert_memory_equal(&shown, &stored.metric[BLI_RESPONSE_MEAN], sizeof shown);
            controlled += stored.controls > 0;
        }
    assert_true(largest > 3 && controlled > 0);
    bli_experiment_free(e);
}

/* Longest first, and every trial once. */
static void longest_trials_come_first(void **state) {
    struct bli_store *store = *state;
    struct bli_experiment *e =
        read_text(FLEET "workload: {load: 0.5}\npolicies: [jsq, jiq]\n"
                        "sweep: {axis: run.time, values: [10, 40, 20]}\nrun: {replications: 2}\n");
    struct bli_sweep *sweep;
    struct bal_error err = {0};
    const struct bli_sweep_options options = {.threads = 1};
    assert_int_equal(bli_sweep_new(e, store, &options, &sweep, &err), BAL_OK);
    struct bli_task task;
    double before = INFINITY;
    unsigned count = 0;
    for (; bli_sweep_next(sweep, &task) == BLI_NEXT_TASK; count++) {
        const struct bli_case c = cell(e, task.point, task.policy);
        assert_true(bli_case_cost(&c) <= before);
        before = bli_case_cost(&c);
    }
    assert_int_equal(count, 12);
    assert_int_equal(bli_sweep_next(sweep, &task), BLI_NEXT_WAIT); /* twelve are under way */
    const struct bal_error why = {.code = BAL_E_STOPPED};
    for (unsigned i = 0; i < count; i++)
        bli_sweep_add_trial(sweep, &task, NULL, &why);
    assert_int_equal(bli_sweep_next(sweep, &task), BLI_NEXT_END);
    assert_int_equal(bli_sweep_finish(sweep, &err), BAL_E_STOPPED);
    bli_sweep_free(sweep);
    bli_experiment_free(e);
}

/* A failure ends the sweep and is told. */
static void failures_end_the_sweep(void **state) {
    struct bli_store *store = *state;
    struct bli_experiment *e = read_text(FLEET "workload: {load: 0.5}\npolicies: [jsq]\n" RUN);
    struct bli_sweep *sweep;
    struct bal_error err = {0};
    const struct bli_sweep_options options = {.threads = 1};
    assert_int_equal(bli_sweep_new(e, store, &options, &sweep, &err), BAL_OK);
    struct bli_task task;
    assert_int_equal(bli_sweep_next(sweep, &task), BLI_NEXT_TASK);
    const struct bal_error why = {.code = BAL_E_MEMORY, .text = "no room"};
    bli_sweep_add_trial(sweep, &task, NULL, &why);
    assert_int_equal(bli_sweep_next(sweep, &task), BLI_NEXT_END);
    assert_int_equal(bli_sweep_finish(sweep, &err), BAL_E_MEMORY);
    assert_string_equal(err.text, "no room");
    bli_sweep_free(sweep);
    bli_experiment_free(e);
}

/* On the same arrivals differences are known far better than the values. */
static void ratios_are_paired(void **state) {
    struct bli_store *store = *state;
    struct bli_experiment *e = read_text(FLEET "workload: {load: 0.9}\npolicies: [jsq, 'pod:d=5,replace=0']\n"
                                               "run: {time: 300, replications: 10}\n");
    run_all(e, store);
    const struct bli_result a = result_of(e, store, 0, 0), b = result_of(e, store, 0, 1);
    struct bli_estimate ratio;
    struct bal_error err = {0};
    const struct bli_quantity mean = {BLI_RESPONSE_MEAN, 0};
    struct bli_cell cell[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(bli_cell_load(&cell[i], store, e, 0, i, &err), BAL_OK);
    assert_int_equal(bli_cell_ratio(&cell[1], store, mean, &cell[0], mean, &ratio, &err), BAL_OK);
    const struct bli_estimate x = b.metric[BLI_RESPONSE_MEAN], y = a.metric[BLI_RESPONSE_MEAN];
    assert_true(fabs(ratio.mean - x.mean / y.mean) < 1e-12);
    const double unpaired = hypot(x.half_width / y.mean, x.mean * y.half_width / y.mean / y.mean);
    assert_true(ratio.half_width < unpaired / 2);
    assert_int_equal(bli_cell_ratio(&cell[0], store, mean, &cell[0], mean, &ratio, &err), BAL_OK);
    assert_true(ratio.mean == 1 && ratio.half_width == 0);
    for (size_t i = 0; i < 2; i++)
        bli_cell_fini(&cell[i]);
    const struct bli_estimate quantity = quantity_of(e, store, 0, 0, mean);
    assert_true(quantity.mean == y.mean && quantity.half_width == y.half_width);
    bli_experiment_free(e);
}

static void histograms_are_kept(void **state) {
    struct bli_store *store = *state;
    struct bli_experiment *e =
        read_text("title: x\nfleet: {servers: 10}\nworkload: {load: 0.5, service: exp(4)}\n"
                  "policies: [random]\nrun: {time: 2000, replications: 4}\n");
    run_all(e, store);
    static struct bli_histogram response, waiting;
    double unit = 0;
    struct bal_error err = {0};
    memset(&response, 0, sizeof response);
    assert_int_equal(bli_store_histograms(store, e, 0, 0, &response, &waiting, &unit, &err), BAL_OK);
    assert_true(unit == 4);
    const struct bli_result result = result_of(e, store, 0, 0);
    assert_int_equal(bli_histogram_total(&response), result.jobs);
    /* M/M/1: the median is 2 ln 2 mean sizes; 5 000 jobs know it within a few percent. */
    assert_true(fabs(bli_histogram_quantile(&response, 0.5) - 2 * M_LN2) < 0.2);
    bli_experiment_free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_says_everything),
        cmocka_unit_test(a_window_is_a_path),
        cmocka_unit_test(other_cells_stay),
        cmocka_unit_test(seeds_fit_json),
        cmocka_unit_test(same_numbers_as_ever),
        cmocka_unit_test_setup_teardown(results_are_those_of_the_lab, make_store, remove_store),
        cmocka_unit_test_setup_teardown(only_what_is_missing_is_run, make_store, remove_store),
        cmocka_unit_test_setup_teardown(equal_cells_are_run_once, make_store, remove_store),
        cmocka_unit_test_setup_teardown(stopped_runs_go_on, make_store, remove_store),
        cmocka_unit_test_setup_teardown(precision_is_reached_in_the_same_steps, make_store, remove_store),
        cmocka_unit_test_setup_teardown(longest_trials_come_first, make_store, remove_store),
        cmocka_unit_test_setup_teardown(failures_end_the_sweep, make_store, remove_store),
        cmocka_unit_test_setup_teardown(ratios_are_paired, make_store, remove_store),
        cmocka_unit_test_setup_teardown(histograms_are_kept, make_store, remove_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
