/* SPDX-License-Identifier: BSD-2-Clause */
/* What figures say about results that are not to be taken as they are: doubts, units, curves without a
 * line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/report.h"

/* The variance of a mean of pareto(2.2) is not known from a sample: always doubted. */
static const char spec[] =
    "title: marks\n"
    "fleet: {servers: 4}\n"
    "sweep:\n"
    "  - {axis: load, values: [0.3, 0.4]}\n"
    "  - {axis: service, label: law, values: [exp, {value: 'pareto(2.2)', label: heavy}]}\n"
    "policies: [random, jsq]\n"
    "run: {jobs: 40k, replications: 4}\n"
    "figures:\n"
    "  - {id: law, x: service, where: {load: 0.3}, policies: random}\n"
    "  - {id: ratio, x: service, where: {load: 0.3}, policies: jsq, over: random}\n"
    "  - {id: cdf, kind: cdf, series: service, where: {load: 0.3}, policies: random}\n"
    "  - {id: alone, kind: ccdf, theory: no, where: {load: 0.3, service: exp}}\n"
    "  - {id: mixed, y: [response.mean, messages.per_job, memory.bits], series: metric, policies: jsq,\n"
    "     where: {service: exp}}\n"
    "  - {id: times, y: [response.mean, waiting.mean], series: metric, policies: jsq, where: {service: "
    "exp}}\n";

#include "charts.h"

static void doubted_results_are_marked(void **state) {
    static const char *const ids[] = {"law", "ratio"}; /* a ratio is as good as the worse of its parts */
    for (int i = 0; i < 2; i++) {
        struct bli_chart *made = chart(*state, ids[i]);
        const struct bli_series *points = bli_chart_figure(made)->panel->series;
        assert_false(points->theory);
        assert_int_equal(points->count, 2);
        assert_false(points->doubted[0]);
        assert_true(points->doubted[1]);
        bli_chart_free(made);
    }
}

static void doubted_curves_are_named_so(void **state) {
    struct bli_chart *made = chart(*state, "cdf");
    const struct bli_panel *panel = bli_chart_figure(made)->panel;
    assert_string_equal(panel->series[0].name, "law exp");
    assert_string_equal(panel->series[1].name, "law heavy (doubted)");
    bli_chart_free(made);
}

static void curves_without_theory_are_called_simulated(void **state) {
    struct bli_chart *made = chart(*state, "alone");
    assert_string_equal(bli_chart_figure(made)->measured, "simulation");
    char *script;
    assert_int_equal(bli_figure_script(bli_chart_figure(made), BLI_FIGURE_SVG, &script, NULL), BAL_OK);
    assert_non_null(strstr(script, "'simulation'"));
    free(script);
    bli_chart_free(made);
}

/* The unit of the first metric is not that of the others. */
static void mixed_units_are_in_the_legend(void **state) {
    struct bli_chart *made = chart(*state, "mixed");
    const struct bli_panel *panel = bli_chart_figure(made)->panel;
    assert_string_equal(panel->y.label, "value, in the unit of the legend");
    assert_null(panel->y.unit);
    assert_string_equal(panel->series[0].name, "mean response time (service times)");
    assert_string_equal(panel->series[1].name, "messages per job");
    assert_string_equal(panel->series[2].name, "memory of the dispatcher (bits)");
    bli_chart_free(made);
    made = chart(*state, "times"); /* one unit for both: it is on the axis */
    panel = bli_chart_figure(made)->panel;
    assert_string_equal(panel->y.label, "service times");
    assert_string_equal(panel->series[0].name, "mean response time");
    bli_chart_free(made);
}

static void values_are_not_below_zero(void **state) {
    struct bli_chart *made = chart(*state, "law");
    assert_true(bli_chart_figure(made)->panel->y.nonnegative);
    bli_chart_free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubted_results_are_marked),
        cmocka_unit_test(doubted_curves_are_named_so),
        cmocka_unit_test(curves_without_theory_are_called_simulated),
        cmocka_unit_test(mixed_units_are_in_the_legend),
        cmocka_unit_test(values_are_not_below_zero),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
