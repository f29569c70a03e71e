/* SPDX-License-Identifier: BSD-2-Clause */
/* A page about a store in which one experiment cannot be read: the others are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/report.h"

#include "base/strbuf.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/ballast-report-XXXXXX";
static char path[60];

static void run_one(struct bli_store *store, const char *name) {
    static const char text[] = "title: About %s\nfleet: {servers: 2}\npolicies: [jsq]\n"
                               "sweep: {axis: load, values: [0.3, 0.5]}\nrun: {jobs: 50, replications: 2}\n"
                               "figures: [{id: f, x: load, y: response.mean}]\n";
    char spec[400];
    snprintf(spec, sizeof spec, text, name);
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    if (bli_experiment_parse(spec, strlen(spec), name, BLI_MODE_PLAIN, &e, &err) ||
        bli_sweep_run(e, store, &(struct bli_sweep_options){.threads = 1}, &err))
        fail_msg("%s", err.text);
    bli_experiment_free(e);
}

/* Three experiments, the middle one cut short as UTF-16 once was. */
static int make_store(void **state) {
    (void)state;
    struct bli_store *store;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/t.db", directory);
    if (bli_store_open(path, BLI_STORE_WRITE, &store, NULL))
        return -1;
    run_one(store, "first");
    run_one(store, "second");
    run_one(store, "third");
    bli_store_close(store);
    sqlite3 *db;
    const bool good =
        sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_exec(db, "UPDATE run SET spec = 'fl' WHERE name = 'second'", NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return good ? 0 : -1;
}

static int remove_store(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command); /* NOLINT: the name is our own */
}

static void a_page_shows_the_others(void **state) {
    (void)state;
    struct bli_store *store;
    struct bal_error err = {0};
    struct bli_strbuf page;
    assert_int_equal(bli_store_open(path, BLI_STORE_READ, &store, &err), BAL_OK);
    assert_true(bli_strbuf_open(&page));
    if (bli_report_write(store, path, page.stream, &err))
        fail_msg("%s", err.text);
    assert_true(bli_strbuf_close(&page));
    assert_non_null(strstr(page.text, "<h2>About first</h2>"));
    assert_non_null(strstr(page.text, "<h2>About third</h2>"));
    assert_non_null(strstr(page.text,
                           "<h2>second</h2>\n<p class=\"fails\"><span class=\"badge\">This experiment "
                           "cannot be read:</span> second:1: "));
    assert_non_null(strstr(page.text, "second</a> (cannot be read)</li>"));
    bli_strbuf_discard(&page);
    bli_store_close(store);
}

static void count_file(void *context, const char *file) {
    (void)file;
    ++*(int *)context;
}

static void figures_of_the_others_are_drawn(void **state) {
    (void)state;
    struct bli_store *store;
    struct bal_error err = {0};
    int drawn = 0;
    assert_int_equal(bli_store_open(path, BLI_STORE_READ, &store, &err), BAL_OK);
    const struct bli_chart_files files = {
        .directory = directory, .formats = 1u << BLI_FIGURE_SVG, .written = count_file, .context = &drawn};
    assert_int_equal(bli_report_figures(store, path, &files, &err), BAL_E_SYNTAX);
    assert_int_equal(drawn, 2);
    assert_non_null(strstr(err.text, "experiment 'second' cannot be read: second:1: "));
    bli_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_shows_the_others),
        cmocka_unit_test(figures_of_the_others_are_drawn),
    };
    return cmocka_run_group_tests(tests, make_store, remove_store);
}
