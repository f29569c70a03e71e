/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of ratios and of bounds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ballast/report.h"
#include "ballast/theory.h"

static const char spec[] =
    "title: ratios\n"
    "fleet: {servers: 20}\n"
    "workload: {load: 0.8}\n"
    "sweep: {axis: high, values: [0.2, 0.6]}\n"
    "policies: ['pod:d=2', 'pod-sep:d=2', 'pod-ssp:d1=2,d2=3']\n"
    "run: {jobs: 20k, replications: 4}\n"
    "figures:\n"
    "  - {id: gain, y: high.response.mean, over: 'pod:d=2', over-metric: response.mean, inverse: yes}\n"
    "  - {id: loss, y: low.response.mean, over: 'pod:d=2', over-metric: response.mean, y-label: loss}\n"
    "  - {id: same, over: 'pod:d=2'}\n"
    "  - {id: bound, y: low.response.mean, bound: yes, policies: 'pod-sep:d=2'}\n"
    "  - {id: without, y: low.response.mean, policies: 'pod-sep:d=2'}\n";

enum { POD, SEP, SSP };

#include "charts.h"

static const struct bli_series *find(const struct bli_panel *panel, unsigned group, bool theory, bool bound) {
    for (size_t i = 0; i < panel->count; i++) {
        const struct bli_series *series = &panel->series[i];
        if (series->group == group && series->theory == theory && series->bound == bound)
            return series;
    }
    return NULL;
}

static double mean_of(const struct bench *bench, size_t point, size_t policy, enum bli_metric metric) {
    struct bli_result result;
    assert_int_equal(bli_store_result(bench->store, bench->e, point, policy, &result, NULL), BAL_OK);
    return result.metric[metric].mean;
}

static void ratios_of_measured_means(void **state) {
    const struct bench *bench = *state;
    struct bli_chart *gain = chart(bench, "gain"), *loss = chart(bench, "loss");
    for (size_t point = 0; point < 2; point++)
        for (unsigned policy = POD; policy <= SSP; policy++) {
            const double pod = mean_of(bench, point, POD, BLI_RESPONSE_MEAN);
            const double high = mean_of(bench, point, policy, BLI_HIGH_RESPONSE_MEAN);
            const double low = mean_of(bench, point, policy, BLI_LOW_RESPONSE_MEAN);
            const struct bli_series *x = find(bli_chart_figure(gain)->panel, policy, false, false);
            const struct bli_series *y = find(bli_chart_figure(loss)->panel, policy, false, false);
            assert_true(fabs(x->y[point] - pod / high) < 1e-12 * x->y[point]);
            assert_true(fabs(y->y[point] - low / pod) < 1e-12 * y->y[point]);
            assert_true(x->half_width[point] > 0 && x->half_width[point] < 0.2 * x->y[point]);
        }
    bli_chart_free(gain);
    bli_chart_free(loss);
}

/* A policy over itself is 1, without error: the ratio is taken replication by replication. */
static void ratios_are_paired(void **state) {
    struct bli_chart *same = chart(*state, "same");
    const struct bli_series *series = find(bli_chart_figure(same)->panel, POD, false, false);
    for (size_t point = 0; point < 2; point++) {
        assert_true(fabs(series->y[point] - 1) < 1e-12);
        assert_true(series->half_width[point] < 1e-12);
    }
    assert_string_equal(bli_chart_figure(same)->panel->y.label, "mean response time over that of pod:d=2");
    bli_chart_free(same);
}

/* Theory is divided as well, and along shares it is a fine line. */
static void ratios_of_theory(void **state) {
    struct bli_chart *gain = chart(*state, "gain"), *loss = chart(*state, "loss");
    const struct bli_series *x = find(bli_chart_figure(gain)->panel, SSP, true, false);
    const struct bli_series *y = find(bli_chart_figure(loss)->panel, SSP, true, false);
    assert_non_null(x);
    assert_non_null(y);
    assert_true(x->count > 50);
    for (size_t i = 0; i < x->count; i++) {
        const struct bli_priority priority = {BLI_PRIORITY_SSP, 0.8, x->x[i], 2, 3};
        const struct bli_priority_result result = bli_priority_solve(&priority);
        assert_true(fabs(x->y[i] - result.gain) < 1e-9);
        assert_true(fabs(y->y[i] - result.loss) < 1e-9);
    }
    assert_string_equal(bli_chart_figure(loss)->panel->y.label, "loss");
    bli_chart_free(gain);
    bli_chart_free(loss);
}

static void bounds_are_lines_of_their_own(void **state) {
    struct bli_chart *bound = chart(*state, "bound"), *without = chart(*state, "without");
    const struct bli_series *line = find(bli_chart_figure(bound)->panel, 0, true, true);
    const struct bli_series *theory = find(bli_chart_figure(bound)->panel, 0, true, false);
    assert_non_null(line);
    assert_non_null(theory);
    for (size_t i = 0; i < line->count; i++) {
        assert_true(fabs(line->y[i] - bli_sep_low_bound(0.8, line->x[i], 2)) < 1e-9);
        assert_true(theory->y[i] < line->y[i]);
    }
    assert_null(find(bli_chart_figure(without)->panel, 0, true, true));
    char *script = NULL;
    struct bal_error err;
    if (bli_figure_script(bli_chart_figure(bound), BLI_FIGURE_SVG, &script, &err))
        fail_msg("%s", err.text);
    assert_non_null(strstr(script, " dt (")); /* dashed, and so in the legend */
    assert_non_null(strstr(script, "'bound'"));
    free(script);
    bli_chart_free(bound);
    bli_chart_free(without);
}

static void assert_refused(const char *figure, const char *why) {
    char text[800];
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    snprintf(text, sizeof text,
             "title: t\nfleet: {servers: 9}\nsweep: {axis: load, values: [0.5, 0.6]}\npolicies: [random, "
             "jsq]\nfigures:\n  - {id: f, %s}\n",
             figure);
    assert_int_not_equal(bli_experiment_parse(text, strlen(text), "t", BLI_MODE_PLAIN, &e, &err), BAL_OK);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
}

static void what_cannot_be_divided(void **state) {
    (void)state;
    assert_refused("over: pod", "pod");
    assert_refused("inverse: yes", "needs `over`");
    assert_refused("over-metric: response.mean", "needs `over`");
    assert_refused("over: jsq, over-metric: response", "response");
    assert_refused("over: jsq, kind: cdf, where: {load: 0.5}", "axis or bars");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_of_measured_means), cmocka_unit_test(ratios_are_paired),
        cmocka_unit_test(ratios_of_theory),         cmocka_unit_test(bounds_are_lines_of_their_own),
        cmocka_unit_test(what_cannot_be_divided),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
