/* SPDX-License-Identifier: BSD-2-Clause */
/* An experiment that has been run into a store of its own, for tests of its figures. The test defines
 * `static const char spec[]` before it includes this, after <cmocka.h>. */
#ifndef BALLAST_TESTS_CHARTS_H
#define BALLAST_TESTS_CHARTS_H

#include "ballast/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench {
    char path[64];
    struct bli_store *store;
    struct bli_experiment *e;
};

static int set_up(void **state) {
    struct bench *bench = calloc(1, sizeof *bench);
    struct bal_error err = {0};
    strcpy(bench->path, "/tmp/ballast-chart-XXXXXX");
    const int file = mkstemp(bench->path);
    close(file);
    unlink(bench->path);
    if (bli_experiment_parse(spec, strlen(spec), "charts", BLI_MODE_PLAIN, &bench->e, &err) ||
        bli_store_open(bench->path, BLI_STORE_WRITE, &bench->store, &err) ||
        bli_sweep_run(bench->e, bench->store, &(struct bli_sweep_options){.threads = 2}, &err))
        fail_msg("%s", err.text);
    *state = bench;
    return 0;
}

static int tear_down(void **state) {
    struct bench *bench = *state;
    bli_store_close(bench->store);
    bli_experiment_free(bench->e);
    static const char *const suffix[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s%s", bench->path, suffix[i]);
        unlink(path);
    }
    free(bench);
    return 0;
}

static struct bli_chart *chart(const struct bench *bench, const char *id) {
    struct bal_error err = {0};
    struct bli_chart *made = NULL;
    for (size_t i = 0; i < bench->e->plots; i++)
        if (strcmp(bench->e->plot[i].id, id) == 0 && bli_chart_new(bench->store, bench->e, i, &made, &err))
            fail_msg("%s", err.text);
    assert_non_null(made);
    return made;
}

#endif
