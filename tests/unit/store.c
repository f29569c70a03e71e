/* SPDX-License-Identifier: BSD-2-Clause */
/* The store of results: what is put in comes out again, and files that are not ours are left alone. */
#include <setjmp.h>

#include "ballast/version.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/store.h"

#include "store/serialize.h"
#include "store/store_private.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/ballast-store-XXXXXX";

static const char *path_of(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int make_directory(void **state) {
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command); /* NOLINT: the name is our own */
}

static struct bli_store *open_store(const char *name, enum bli_store_access access) {
    struct bli_store *store = NULL;
    struct bal_error err = {0};
    if (bli_store_open(path_of(name), access, &store, &err))
        fail_msg("%s", err.text);
    return store;
}

static struct bli_experiment *read_text(const char *text) {
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    if (bli_experiment_parse(text, strlen(text), "t.yaml", BLI_MODE_PLAIN, &e, &err))
        fail_msg("%s", err.text);
    return e;
}

/* A trial full of awkward numbers, different for each seed. */
static struct bli_trial make_trial(uint64_t seed, struct bli_histogram *response,
                                   struct bli_histogram *waiting) {
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    struct bli_trial trial = {.histogram = {response, waiting}};
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        trial.metric[m] = bal_rng_normal(&rng) * 1e3;
    trial.metric[3] = NAN;
    trial.metric[4] = INFINITY;
    trial.metric[5] = -0.0;
    trial.metric[6] = 5e-324;
    for (int i = 0; i < 17; i++)
        trial.tail[i] = bal_rng_uniform(&rng);
    for (int i = 0; i < 4; i++)
        trial.quarter[i] = bal_rng_exp(&rng);
    trial.warmup = 1.0 / 3;
    trial.seconds = 0.25;
    trial.jobs = UINT64_C(0x123456789abcdef);
    trial.events = bal_rng_next(&rng) >> 1;
    trial.engine = BLI_ENGINE_EVENT;
    for (int i = 0; i < 1000; i++) {
        bli_histogram_add(response,
                          bli_dist_sample(&(struct bli_dist){.kind = BLI_DIST_EXP, .mean = 1}, &rng));
        waiting->count[bal_rng_below(&rng, BLI_HISTOGRAM_BINS)] +=
            bal_rng_next(&rng) >> bal_rng_below(&rng, 64);
    }
    response->count[0] = UINT64_MAX;
    response->count[BLI_HISTOGRAM_BINS - 1] = 1;
    return trial;
}

static void assert_same_trial(const struct bli_trial *a, const struct bli_trial *b) {
    assert_memory_equal(a->metric, b->metric, sizeof a->metric);
    assert_memory_equal(a->tail, b->tail, sizeof a->tail);
    assert_memory_equal(a->quarter, b->quarter, sizeof a->quarter);
    assert_true(a->warmup == b->warmup && a->seconds == b->seconds);
    assert_true(a->jobs == b->jobs && a->events == b->events && a->engine == b->engine);
}

static struct bli_histogram histogram[4];

static void packed_trials_unpack(void **state) {
    (void)state;
    memset(histogram, 0, sizeof histogram);
    struct bli_trial trial = make_trial(1, &histogram[0], &histogram[1]);
    uint8_t *bytes = malloc(BLI_PACKED_TRIAL);
    const size_t size = bli_pack_trial(&trial, bytes);
    assert_true(size <= BLI_PACKED_TRIAL);
    struct bli_trial back = {.histogram = {&histogram[2], &histogram[3]}};
    assert_true(bli_unpack_trial(bytes, size, &back));
    assert_same_trial(&trial, &back);
    assert_memory_equal(&histogram[0], &histogram[2], sizeof histogram[0]);
    assert_memory_equal(&histogram[1], &histogram[3], sizeof histogram[0]);
    /* Every beginning of it is either refused or harmless. */
    for (size_t part = 0; part < size; part += 97)
        bli_unpack_trial(bytes, part, &back);
    memset(bytes, 0xff, size);
    assert_false(bli_unpack_trial(bytes, size, &back));
    /* Those of classes and of the load too. */
    memset(&histogram[2], 0, 2 * sizeof histogram[2]);
    trial.histogram[BLI_OF_LOW_WAITING] = &histogram[1];
    back = (struct bli_trial){
        .histogram = {[BLI_OF_LOW_WAITING] = &histogram[2], [BLI_OF_LOAD] = &histogram[3]}};
    assert_true(bli_unpack_trial(bytes, bli_pack_trial(&trial, bytes), &back));
    assert_memory_equal(&histogram[1], &histogram[2], sizeof histogram[0]);
    assert_int_equal(bli_histogram_total(&histogram[3]), 0);
    free(bytes);
}

static void damaged_histograms_are_refused(void **state) {
    (void)state;
    memset(histogram, 0, sizeof histogram);
    static const uint8_t far[] = {0x82, 0x40, 1}, endless[] = {0x80, 0x80}, half[] = {1},
                         wide[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1};
    assert_true(bli_unpack_histogram(NULL, 0, &histogram[0]));
    assert_true(bli_unpack_histogram((const uint8_t[]){0x81, 0x40, 1}, 3, &histogram[0])); /* the last bin */
    assert_int_equal(histogram[0].count[BLI_HISTOGRAM_BINS - 1], 1);
    assert_false(bli_unpack_histogram(far, sizeof far, &histogram[0]));
    assert_false(bli_unpack_histogram(endless, sizeof endless, &histogram[0]));
    assert_false(bli_unpack_histogram(half, sizeof half, &histogram[0]));
    assert_false(bli_unpack_histogram(wide, sizeof wide, &histogram[0]));
}

static void count_found(void *context, unsigned replication) {
    (void)replication;
    ++*(unsigned *)context;
}

static void trials_come_back(void **state) {
    (void)state;
    struct bli_store *store = open_store("trials.db", BLI_STORE_WRITE);
    struct bal_error err = {0};
    int64_t cell = 0, other = 0;
    assert_int_equal(bli_store_cell(store, "a=1\nb=2", false, &cell, &err), BAL_OK);
    assert_int_equal(cell, 0);
    assert_int_equal(bli_store_cell(store, "a=1\nb=2", true, &cell, &err), BAL_OK);
    assert_int_equal(bli_store_cell(store, "a=1\nb=3", true, &other, &err), BAL_OK);
    assert_true(cell > 0 && other > 0 && cell != other);
    struct bli_trial trial[3];
    for (unsigned r = 0; r < 3; r++) {
        memset(histogram, 0, sizeof histogram);
        trial[r] = make_trial(r, &histogram[0], &histogram[1]);
        assert_int_equal(bli_store_put(store, cell, 2 * r, &trial[r], &err), BAL_OK);
    }
    bli_store_close(store);

    store = open_store("trials.db", BLI_STORE_READ);
    struct bli_trial back[10];
    unsigned which[10];
    size_t count = 0;
    assert_int_equal(bli_store_get(store, cell, 10, back, which, &count, &err), BAL_OK);
    assert_int_equal(count, 3);
    for (unsigned r = 0; r < 3; r++) {
        assert_int_equal(which[r], 2 * r);
        assert_same_trial(&trial[r], &back[r]);
    }
    assert_int_equal(bli_store_get(store, cell, 4, back, NULL, &count, &err), BAL_OK);
    assert_int_equal(count, 2);
    assert_int_equal(bli_store_get(store, other, 4, back, NULL, &count, &err), BAL_OK);
    assert_int_equal(count, 0);
    unsigned found = 0;
    assert_int_equal(bli_store_list(store, cell, 4, false, count_found, &found, &err), BAL_OK);
    assert_int_equal(found, 2);
    memset(&histogram[2], 0, 2 * sizeof histogram[2]);
    assert_int_equal(bli_store_add_histograms(store, cell, 10, &histogram[2], NULL, &err), BAL_OK);
    assert_int_equal(histogram[2].count[BLI_HISTOGRAM_BINS - 1], 3);
    bli_store_close(store);
}

static void execute(const char *name, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path_of(name), &db), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

/* Metrics are known by name: written by a version with other metrics in another order, a trial is read where
 * it says what we ask, and is not complete where it does not. */
static void metrics_are_known_by_name(void **state) {
    (void)state;
    struct bli_store *store = open_store("metrics.db", BLI_STORE_WRITE);
    struct bal_error err = {0};
    int64_t cell;
    assert_int_equal(bli_store_cell(store, "a=1", true, &cell, &err), BAL_OK);
    memset(histogram, 0, sizeof histogram);
    struct bli_trial trial = make_trial(5, &histogram[0], &histogram[1]), back[1];
    trial.metric[0] = 11;
    trial.metric[1] = 22;
    assert_int_equal(bli_store_put(store, cell, 0, &trial, &err), BAL_OK);
    bli_store_close(store);
    char rename[300];
    snprintf(rename, sizeof rename,
             "UPDATE metric SET name = 'x' WHERE place = 0; UPDATE metric SET name = '%s' WHERE place = 1;"
             "UPDATE metric SET name = '%s' WHERE place = 0;",
             bli_metric_table[0].name, bli_metric_table[1].name);
    execute("metrics.db", rename);
    store = open_store("metrics.db", BLI_STORE_READ);
    size_t count;
    assert_int_equal(bli_store_get(store, cell, 1, back, NULL, &count, &err), BAL_OK);
    assert_int_equal(count, 1);
    assert_true(back[0].metric[0] == 22 && back[0].metric[1] == 11);
    bli_store_close(store);
    execute("metrics.db", "UPDATE metric SET name = 'older' WHERE place = 0");
    store = open_store("metrics.db", BLI_STORE_READ);
    assert_int_equal(bli_store_get(store, cell, 1, back, NULL, &count, &err), BAL_OK);
    assert_int_equal(count, 0);
    bli_store_close(store);
    /* What only newer models measure is no number in a trial of before. */
    char newer[200];
    snprintf(
        newer, sizeof newer,
        "UPDATE metric SET name = '%s' WHERE place = 0; UPDATE metric SET name = 'newer' WHERE name = '%s'",
        bli_metric_table[1].name, bli_metric_table[BLI_LOAD_TAIL].name);
    execute("metrics.db", newer);
    store = open_store("metrics.db", BLI_STORE_READ);
    assert_int_equal(bli_store_get(store, cell, 1, back, NULL, &count, &err), BAL_OK);
    assert_int_equal(count, 1);
    assert_true(back[0].metric[1] == 11 && isnan(back[0].metric[BLI_LOAD_TAIL]));
    bli_store_close(store);
    /* Nor is the drift, without which a trial can still be judged. */
    execute("metrics.db", "UPDATE metric SET name = 'none' WHERE name = 'drift'");
    store = open_store("metrics.db", BLI_STORE_READ);
    assert_int_equal(bli_store_get(store, cell, 1, back, NULL, &count, &err), BAL_OK);
    assert_true(count == 1 && isnan(back[0].metric[BLI_DRIFT]));
    bli_store_close(store);
    execute("metrics.db", "UPDATE metric SET name = 'older' WHERE place = 0");
    /* Opened for writing the file learns the metric, and the trial is replaced by a complete one. */
    store = open_store("metrics.db", BLI_STORE_WRITE);
    assert_int_equal(bli_store_get(store, cell, 1, back, NULL, &count, &err), BAL_OK);
    assert_int_equal(count, 0);
    assert_int_equal(bli_store_put(store, cell, 0, &trial, &err), BAL_OK);
    assert_int_equal(bli_store_get(store, cell, 1, back, NULL, &count, &err), BAL_OK);
    assert_int_equal(count, 1);
    assert_same_trial(&trial, &back[0]);
    bli_store_close(store);
}

static void runs_are_noted(void **state) {
    (void)state;
    static const char text[] = "title: x\nfleet: {servers: 5}\nworkload: {load: 0.5}\npolicies: [jsq]\n";
    struct bli_experiment *e = read_text(text);
    struct bli_store *store = open_store("runs.db", BLI_STORE_WRITE);
    struct bal_error err = {0};
    struct bli_store_run *runs = NULL;
    size_t count = 9;
    int64_t first = 0, second = 0, third = 0;
    assert_int_equal(bli_store_runs(store, &runs, &count, &err), BAL_OK);
    assert_int_equal(count, 0);
    free(runs);
    assert_int_equal(bli_store_begin(store, e, true, &first, &err), BAL_OK);
    assert_int_equal(bli_store_begin(store, e, true, &second, &err), BAL_OK);
    assert_int_equal(first, second); /* the same file in the same mode */
    e->mode = BLI_MODE_FULL;
    assert_int_equal(bli_store_begin(store, e, true, &third, &err), BAL_OK);
    assert_int_not_equal(first, third);
    assert_int_equal(bli_store_end(store, first, &err), BAL_OK);
    assert_int_equal(bli_store_runs(store, &runs, &count, &err), BAL_OK);
    assert_int_equal(count, 2);
    assert_string_equal(runs[0].name, "t");
    assert_string_equal(runs[0].spec, text);
    assert_string_equal(runs[0].version, bli_store_version());
    assert_true(*runs[0].compiler && *runs[0].machine && strlen(runs[0].started) == 20);
    assert_int_equal(runs[0].mode, BLI_MODE_PLAIN);
    assert_int_equal(runs[1].mode, BLI_MODE_FULL);
    assert_non_null(runs[0].ended);
    assert_null(runs[1].ended);
    free(runs);
    /* Found complete again it stays ended; with more to do it is not. */
    assert_int_equal(bli_store_begin(store, e, false, &third, &err), BAL_OK);
    e->mode = BLI_MODE_PLAIN;
    assert_int_equal(bli_store_begin(store, e, false, &first, &err), BAL_OK);
    assert_int_equal(bli_store_runs(store, &runs, &count, &err), BAL_OK);
    assert_non_null(runs[0].ended);
    free(runs);
    assert_int_equal(bli_store_begin(store, e, true, &first, &err), BAL_OK);
    assert_int_equal(bli_store_runs(store, &runs, &count, &err), BAL_OK);
    assert_null(runs[0].ended);
    free(runs);
    bli_store_close(store);
    bli_experiment_free(e);
}

/* ---- who made what ---- */

static void change(const char *name, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path_of(name), &db), SQLITE_OK);
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    sqlite3_close(db);
}

static const char four_trials[] = "title: x\nfleet: {servers: 2}\nworkload: {load: 0.5}\npolicies: [jsq]\n"
                                  "run: {jobs: 50, replications: 4}\n";

static void run_all(const char *name, const struct bli_experiment *e) {
    struct bli_store *store = open_store(name, BLI_STORE_WRITE);
    struct bal_error err = {0};
    if (bli_sweep_run(e, store, &(struct bli_sweep_options){.threads = 1}, &err))
        fail_msg("%s", err.text);
    bli_store_close(store);
}

static struct bli_makers makers_of(const char *name, const struct bli_experiment *e) {
    struct bli_store *store = open_store(name, BLI_STORE_READ);
    struct bli_makers makers;
    struct bal_error err = {0};
    if (bli_store_makers(store, e, &makers, &err))
        fail_msg("%s", err.text);
    bli_store_close(store);
    return makers;
}

static void the_makers_of_trials_are_kept(void **state) {
    (void)state;
    struct bli_experiment *e = read_text(four_trials);
    run_all("makers.db", e);
    struct bli_makers makers = makers_of("makers.db", e);
    assert_int_equal(makers.count, 1);
    assert_int_equal(makers.maker[0].trials, 4);
    assert_string_equal(makers.maker[0].version, bli_store_version());
    /* All of it had been made by another version elsewhere, long ago. */
    change("makers.db",
           "UPDATE maker SET version = '0.0.1', machine = 'elsewhere';"
           "UPDATE run SET version = '0.0.1', machine = 'elsewhere', started = '2001-01-01T00:00:00Z',"
           " ended = '2001-01-01T00:00:01Z'");
    run_all("makers.db", e);
    makers = makers_of("makers.db", e);
    assert_int_equal(makers.count, 1);
    assert_string_equal(makers.maker[0].version, "0.0.1");
    assert_string_equal(makers.maker[0].machine, "elsewhere");
    struct bli_store *store = open_store("makers.db", BLI_STORE_READ);
    struct bli_store_run *runs;
    size_t count;
    assert_int_equal(bli_store_runs(store, &runs, &count, NULL), BAL_OK);
    assert_int_equal(count, 1);
    assert_string_equal(runs[0].version, "0.0.1");
    assert_string_equal(runs[0].machine, "elsewhere");
    assert_string_equal(runs[0].started, "2001-01-01T00:00:00Z");
    assert_string_equal(runs[0].ended, "2001-01-01T00:00:01Z");
    assert_string_equal(runs[0].latest_version, bli_store_version());
    assert_string_not_equal(runs[0].latest, "2001-01-01T00:00:00Z");
    free(runs);
    bli_store_close(store);
    /* What this one adds is its own. */
    change("makers.db", "DELETE FROM trial WHERE replication = 2");
    run_all("makers.db", e);
    makers = makers_of("makers.db", e);
    assert_int_equal(makers.count, 2);
    assert_int_equal(makers.maker[0].trials, 3);
    assert_int_equal(makers.maker[1].trials, 1);
    assert_string_equal(makers.maker[1].version, bli_store_version());
    bli_experiment_free(e);
}

/* A file of a version that did not note it. */
static void stores_without_makers_are_gone_on_with(void **state) {
    (void)state;
    struct bli_experiment *e = read_text(four_trials);
    run_all("older.db", e);
    change("older.db", "DROP TABLE maker; ALTER TABLE trial DROP COLUMN maker;"
                       "ALTER TABLE run DROP COLUMN latest; ALTER TABLE run DROP COLUMN latest_maker");
    struct bli_makers makers = makers_of("older.db", e);
    assert_int_equal(makers.count, 0);
    struct bli_store *store = open_store("older.db", BLI_STORE_READ);
    struct bli_store_run *runs;
    size_t count;
    assert_int_equal(bli_store_runs(store, &runs, &count, NULL), BAL_OK);
    assert_int_equal(count, 1);
    assert_null(runs[0].latest);
    free(runs);
    bli_store_close(store);
    change("older.db", "DELETE FROM trial WHERE replication = 0");
    run_all("older.db", e);
    makers = makers_of("older.db", e);
    assert_int_equal(makers.count, 2);
    assert_int_equal(makers.maker[0].id, 0);
    assert_int_equal(makers.maker[0].trials + 2 * makers.maker[1].trials, 3 + 2 * 1);
    bli_experiment_free(e);
}

/* ---- percentiles ---- */

static const char two_classes[] = "title: x\nfleet: {servers: 2}\nworkload: {load: 0.5, high: 0.4}\n"
                                  "policies: [jsq]\nmetrics: [%s]\nrun: {jobs: 2k, replications: 3}\n";

static struct bli_experiment *asking_for(const char *metrics) {
    char text[500];
    snprintf(text, sizeof text, two_classes, metrics);
    return read_text(text);
}

static struct bli_estimate first_quantity(const char *name, const struct bli_experiment *e, size_t metric) {
    struct bli_store *store = open_store(name, BLI_STORE_READ);
    struct bli_estimate estimate = {NAN, NAN};
    struct bal_error err = {0};
    struct bli_cell cell;
    if (bli_cell_load(&cell, store, e, 0, 0, &err) ||
        bli_cell_quantity(&cell, store, e->metric[metric], &estimate, &err))
        fail_msg("%s", err.text);
    bli_cell_fini(&cell);
    bli_store_close(store);
    return estimate;
}

/* What lies on both sides of a percentile that is always measured lies on both sides here, too; and the lab,
 * which asks before it runs, finds the same. */
static void any_percentile_comes_from_stored_histograms(void **state) {
    (void)state;
    static const char *const names[] = {"response",     "waiting",      "high.response",
                                        "high.waiting", "low.response", "low.waiting"};
    struct bli_experiment *usual = asking_for("p99");
    run_all("percentiles.db", usual);
    struct bli_case c;
    bli_experiment_case(usual, 0, 0, &c);
    const struct bli_percentiles asked = {3, {0.899, 0.901, 0.95}};
    c.run.percentiles = &asked;
    struct bli_result lab;
    assert_int_equal(bli_lab_run(&c, 1, &(struct bli_lab_options){.threads = 1}, &lab, NULL), BAL_OK);
    for (unsigned d = 0; d < sizeof names / sizeof *names; d++) {
        char metrics[200];
        snprintf(metrics, sizeof metrics, "%s.p89.9, %s.p90, %s.p90.1, %s.p95", names[d], names[d], names[d],
                 names[d]);
        struct bli_experiment *e = asking_for(metrics);
        const double below = first_quantity("percentiles.db", e, 0).mean,
                     at = first_quantity("percentiles.db", e, 1).mean,
                     above = first_quantity("percentiles.db", e, 2).mean;
        assert_true(below < at && at < above && above - below < 0.1 * at);
        const struct bli_estimate stored = first_quantity("percentiles.db", e, 3);
        assert_true(stored.mean == lab.percentile[d][2].mean &&
                    stored.half_width == lab.percentile[d][2].half_width);
        assert_true(stored.half_width > 0);
        bli_experiment_free(e);
    }
    bli_experiment_free(usual);
}

/* A file of a version that kept two histograms a trial: it can be read, says what it can, and is run again
 * where it cannot. */
static void stores_without_classes_are_gone_on_with(void **state) {
    (void)state;
    struct bli_experiment *all = asking_for("p95"), *classes = asking_for("high.response.p95");
    run_all("classless.db", all);
    const double before = first_quantity("classless.db", all, 0).mean;
    const double known = first_quantity("classless.db", classes, 0).mean;
    change("classless.db", "ALTER TABLE trial DROP COLUMN others");
    assert_true(first_quantity("classless.db", all, 0).mean == before);
    assert_true(isnan(first_quantity("classless.db", classes, 0).mean));
    struct bli_sweep_progress progress;
    struct bli_store *store = open_store("classless.db", BLI_STORE_READ);
    assert_int_equal(bli_sweep_status(all, store, &progress, NULL), BAL_OK);
    assert_int_equal(progress.done, 3);
    assert_int_equal(bli_sweep_status(classes, store, &progress, NULL), BAL_OK);
    assert_int_equal(progress.done, 0);
    bli_store_close(store);
    run_all("classless.db", classes);
    assert_true(first_quantity("classless.db", classes, 0).mean == known);
    bli_experiment_free(all);
    bli_experiment_free(classes);
}

/* ---- what is beside it ---- */

static bool is_there(const char *name) {
    return access(path_of(name), F_OK) == 0;
}

static void readers_leave_nothing_behind(void **state) {
    (void)state;
    struct bli_experiment *e = read_text(four_trials);
    run_all("read.db", e);
    assert_false(is_there("read.db-wal") || is_there("read.db-shm"));
    struct bli_store *one = open_store("read.db", BLI_STORE_READ),
                     *two = open_store("read.db", BLI_STORE_READ);
    struct bli_sweep_progress progress;
    assert_int_equal(bli_sweep_status(e, one, &progress, NULL), BAL_OK);
    assert_int_equal(bli_sweep_status(e, two, &progress, NULL), BAL_OK);
    assert_int_equal(progress.done, 4);
    bli_store_close(one);
    bli_store_close(two);
    assert_false(is_there("read.db-wal") || is_there("read.db-shm"));
    /* Beside a writer they see what it has committed, and leave its files alone. */
    struct bli_store *writer = open_store("read.db", BLI_STORE_WRITE);
    memset(histogram, 0, sizeof histogram);
    const struct bli_trial trial = make_trial(3, &histogram[0], &histogram[1]);
    int64_t cell;
    assert_int_equal(bli_store_cell(writer, "another", true, &cell, NULL), BAL_OK);
    assert_int_equal(bli_store_put(writer, cell, 0, &trial, NULL), BAL_OK);
    one = open_store("read.db", BLI_STORE_READ);
    int64_t seen;
    assert_int_equal(bli_store_cell(one, "another", false, &seen, NULL), BAL_OK);
    assert_int_equal(seen, cell);
    bli_store_close(one);
    assert_true(is_there("read.db-wal"));
    bli_store_close(writer);
    assert_false(is_there("read.db-wal") || is_there("read.db-shm"));
    bli_experiment_free(e);
}

/* What a writer that was killed has left in the log is read, too. */
static void readers_see_what_a_killed_writer_left(void **state) {
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        struct bli_store *store = NULL;
        int64_t cell;
        const bool good = !bli_store_open(path_of("killed.db"), BLI_STORE_WRITE, &store, NULL) &&
                          !bli_store_cell(store, "kept", true, &cell, NULL);
        _exit(good ? 0 : 1); /* without closing */
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_true(is_there("killed.db-wal"));
    struct bli_store *store = open_store("killed.db", BLI_STORE_READ);
    int64_t cell = 0;
    assert_int_equal(bli_store_cell(store, "kept", false, &cell, NULL), BAL_OK);
    assert_int_not_equal(cell, 0);
    bli_store_close(store);
    assert_false(is_there("killed.db-wal") || is_there("killed.db-shm"));
}

/* ---- files that cannot be used ---- */

static void refuse(const char *name, enum bli_store_access access, enum bal_code code, const char *says) {
    struct bli_store *store = NULL;
    struct bal_error err = {0};
    assert_int_equal(bli_store_open(path_of(name), access, &store, &err), code);
    assert_null(store);
    if (!strstr(err.text, says) || strncmp(err.text, path_of(name), strlen(path_of(name))) != 0)
        fail_msg("says '%s' instead of '...%s...'", err.text, says);
}

static void write_file(const char *name, const char *bytes, size_t size) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void assert_file(const char *name, const char *bytes, size_t size) {
    char found[5000];
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    assert_int_equal(fread(found, 1, sizeof found, file), size);
    assert_memory_equal(found, bytes, size);
    fclose(file);
}

static void foreign_files_are_left_alone(void **state) {
    (void)state;
    static const char text[] = "title: an experiment, not its results\n";
    write_file("text.db", text, sizeof text);
    refuse("text.db", BLI_STORE_WRITE, BAL_E_FORMAT, "not a store of results");
    refuse("text.db", BLI_STORE_READ, BAL_E_FORMAT, "not a store of results");
    assert_file("text.db", text, sizeof text);
    write_file("short.db", "SQLite format 3", 16);
    refuse("short.db", BLI_STORE_WRITE, BAL_E_FORMAT, "not a store of results");
    execute("other.db", "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
    refuse("other.db", BLI_STORE_WRITE, BAL_E_FORMAT, "SQLite file of another program");
    refuse("other.db", BLI_STORE_READ, BAL_E_FORMAT, "SQLite file of another program");
    execute("other.db", "INSERT INTO t VALUES(2)");
    write_file("empty.db", "", 0);
    refuse("empty.db", BLI_STORE_READ, BAL_E_FORMAT, "empty");
    bli_store_close(open_store("empty.db", BLI_STORE_WRITE)); /* becomes a new store */
    bli_store_close(open_store("empty.db", BLI_STORE_READ));
    refuse("none.db", BLI_STORE_READ, BAL_E_IO, "No such file");
    refuse("no/where.db", BLI_STORE_WRITE, BAL_E_IO, "No such file");
    refuse(".", BLI_STORE_WRITE, BAL_E_IO, "Is a directory");
}

static void newer_files_are_refused(void **state) {
    (void)state;
    bli_store_close(open_store("newer.db", BLI_STORE_WRITE));
    execute("newer.db", "PRAGMA user_version = 99");
    refuse("newer.db", BLI_STORE_WRITE, BAL_E_FORMAT, "newer version of ballast (format 99");
    refuse("newer.db", BLI_STORE_READ, BAL_E_FORMAT, "newer version of ballast (format 99");
}

static void damaged_files_are_told(void **state) {
    (void)state;
    struct bli_store *store = open_store("damaged.db", BLI_STORE_WRITE);
    bli_store_close(store);
    FILE *file = fopen(path_of("damaged.db"), "r+b");
    assert_non_null(file);
    fseek(file, 100, SEEK_SET); /* behind the header */
    for (int i = 0; i < 20000; i++)
        fputc(0xa5, file);
    fclose(file);
    refuse("damaged.db", BLI_STORE_WRITE, BAL_E_FORMAT, "damaged");
    refuse("damaged.db", BLI_STORE_READ, BAL_E_FORMAT, "damaged");
}

/* Tries to open in another process, which is the point of the lock. */
static int status_elsewhere(const char *name, enum bli_store_access access) {
    const pid_t child = fork();
    if (child == 0) {
        struct bli_store *store = NULL;
        struct bal_error err = {0};
        const enum bal_code code = bli_store_open(path_of(name), access, &store, &err);
        bli_store_close(store);
        _exit(code && !strstr(err.text, "another run is writing") ? 99 : (int)code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void one_writes_at_a_time(void **state) {
    (void)state;
    struct bli_store *store = open_store("locked.db", BLI_STORE_WRITE);
    assert_int_equal(status_elsewhere("locked.db", BLI_STORE_WRITE), BAL_E_IO);
    assert_int_equal(status_elsewhere("locked.db", BLI_STORE_READ), BAL_OK);
    bli_store_close(store);
    assert_int_equal(status_elsewhere("locked.db", BLI_STORE_WRITE), BAL_OK);
}

/* What cannot be written must not be written to; what cannot be written can be read. Root may write anything,
 * so it is somebody else who tries. */
static int status_of_nobody(const char *name, enum bli_store_access access) {
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(98);
        struct bli_store *store = NULL;
        struct bal_error err = {0};
        const enum bal_code code = bli_store_open(path_of(name), access, &store, &err);
        struct bli_store_run *runs = NULL;
        size_t count = 9;
        if (!code && (bli_store_runs(store, &runs, &count, &err) || count != 0))
            _exit(97);
        _exit(code && !strstr(err.text, "cannot be written: Permission denied") ? 99 : (int)code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_only_files(void **state) {
    (void)state;
    bli_store_close(open_store("kept.db", BLI_STORE_WRITE));
    assert_int_equal(chmod(path_of("kept.db"), 0444), 0);
    assert_int_equal(chmod(directory, 0555), 0);
    const int writing = status_of_nobody("kept.db", BLI_STORE_WRITE);
    const int reading = status_of_nobody("kept.db", BLI_STORE_READ);
    assert_int_equal(chmod(directory, 0755), 0);
    assert_int_equal(writing, BAL_E_IO);
    assert_int_equal(reading, BAL_OK);
}

static double delay_of(const struct bli_experiment *e, size_t policy) {
    struct bli_case c;
    bli_experiment_case(e, 0, policy, &c);
    return c.model.network.delay.mean;
}

/* Each system's own goes to its prediction, and to nothing else; the arrivals stay what they were. */
static void predictions_get_the_delay_that_was_measured(void **state) {
    (void)state;
    static const char text[] = "title: x\nfleet: {servers: 2}\nworkload: {load: 0.5, service: exp(0.05)}\n"
                               "network: {dispatchers: 2, delay: measured}\npolicies: [jiq, least-conn]\n"
                               "live: {rounds: 2}\n";
    struct bli_store *store = open_store("delay.db", BLI_STORE_WRITE);
    struct bli_experiment *e = read_text(text);
    struct bli_histogram *response = calloc(1, sizeof *response), *waiting = calloc(1, sizeof *waiting);
    const struct bli_trial trial = make_trial(1, response, waiting);
    const struct bli_fact facts[] = {{"delay", 0.0002}, {"delay", 0.0004}};
    struct bli_case before, after;
    bli_experiment_case(e, 0, 1, &before);
    assert_int_equal(bli_store_adopt_delays(store, e, NULL), BAL_OK);
    assert_true(delay_of(e, 1) == 0);
    for (size_t i = 0; i < 2; i++) { /* each is followed by its prediction */
        assert_int_equal(bli_store_put_measured(store, e, 0, 2 * i, 0, &trial, &facts[i], 1, NULL), BAL_OK);
        assert_int_equal(bli_store_put_measured(store, e, 0, 2 * i, 1, &trial, NULL, 0, NULL), BAL_OK);
    }
    assert_int_equal(bli_store_adopt_delays(store, e, NULL), BAL_OK);
    assert_true(delay_of(e, 0) == 0 && delay_of(e, 2) == 0);
    assert_true(delay_of(e, 1) == 0.0002 && delay_of(e, 3) == 0.0004);
    bli_experiment_case(e, 0, 1, &after);
    assert_true(before.run.seed == after.run.seed);
    struct bli_sweep_progress progress; /* what was measured is found there, behind a prediction too */
    assert_int_equal(bli_sweep_status(e, store, &progress, NULL), BAL_OK);
    assert_int_equal(progress.done, 4);
    bli_experiment_free(e);
    e = read_text(text);
    assert_true(delay_of(e, 3) == 0);
    assert_int_equal(bli_store_adopt_delays(store, e, NULL), BAL_OK);
    assert_true(delay_of(e, 3) == 0.0004);
    bli_experiment_free(e);
    bli_store_close(store);
    free(response);
    free(waiting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_get_the_delay_that_was_measured),
        cmocka_unit_test(packed_trials_unpack),
        cmocka_unit_test(damaged_histograms_are_refused),
        cmocka_unit_test(trials_come_back),
        cmocka_unit_test(metrics_are_known_by_name),
        cmocka_unit_test(runs_are_noted),
        cmocka_unit_test(foreign_files_are_left_alone),
        cmocka_unit_test(newer_files_are_refused),
        cmocka_unit_test(damaged_files_are_told),
        cmocka_unit_test(one_writes_at_a_time),
        cmocka_unit_test(read_only_files),
        cmocka_unit_test(the_makers_of_trials_are_kept),
        cmocka_unit_test(stores_without_makers_are_gone_on_with),
        cmocka_unit_test(any_percentile_comes_from_stored_histograms),
        cmocka_unit_test(stores_without_classes_are_gone_on_with),
        cmocka_unit_test(readers_leave_nothing_behind),
        cmocka_unit_test(readers_see_what_a_killed_writer_left),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
