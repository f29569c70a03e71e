/* SPDX-License-Identifier: BSD-2-Clause */
/* From an experiment and its results to figures and a page. */
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
#include "format/html.h"
#include "report/metric.h"

static const char spec[] =
    "title: charts\n"
    "fleet: {servers: 10}\n"
    "sweep:\n"
    "  - {axis: load, values: [0.3, 0.6, 1.3]}\n"
    "  - {axis: service, label: law, values: [exp, {value: det, label: constant}]}\n"
    "policies: [random, {policy: 'pod:d=2', label: two}, {policy: jsq, label: all of them}]\n"
    "run: {jobs: 20k, replications: 4}\n"
    "metrics: [response.mean, messages.per_job]\n"
    "figures:\n"
    "  - {id: axis, title: mean, where: {service: exp}}\n"
    "  - {id: panels, panels: service, policies: [two, all of them], y-range: [0, 5]}\n"
    "  - {id: laws, series: service, policies: two, y: messages.per_job}\n"
    "  - {id: loads, x: service, series: load, policies: two}\n"
    "  - {id: bars, kind: bars, y: [messages.probes_per_job, messages.reports_per_job], where: {load: 0.6, "
    "service: exp}}\n"
    "  - {id: cdf, kind: cdf, where: {load: 0.6, service: exp}}\n"
    "  - {id: both, kind: ccdf, y: [response, waiting], series: metric, policies: two, where: {load: 0.6, "
    "service: exp}}\n"
    "  - {id: over, kind: cdf, where: {load: 1.3, service: exp}}\n"
    "  - {id: tail, kind: tail, log-y: yes, where: {load: 0.6, service: exp}}\n"
    "  - {id: same, x: load, series: service, policies: two, y: queue.tail.0, where: {load: [0.3, 0.6]}}\n";

#include "charts.h"

/* The series of a panel by name (NULL: any), simulated or computed. */
static const struct bli_series *series(const struct bli_panel *panel, unsigned group, bool theory) {
    for (size_t i = 0; i < panel->count; i++)
        if (panel->series[i].group == group && panel->series[i].theory == theory)
            return &panel->series[i];
    return NULL;
}

static size_t point_at(const struct bench *bench, size_t load, size_t service) {
    const size_t index[BLI_AXES_MAX] = {load, service};
    return bli_experiment_point(bench->e, index);
}

static void points_are_the_results(void **state) {
    const struct bench *bench = *state;
    struct bli_chart *made = chart(bench, "axis");
    const struct bli_figure *figure = bli_chart_figure(made);
    assert_string_equal(figure->title, "mean");
    assert_int_equal(figure->panels, 1);
    const struct bli_panel *panel = figure->panel;
    assert_string_equal(panel->x.label, "load");
    assert_string_equal(panel->y.label, "mean response time");
    assert_string_equal(panel->y.unit, "service times");
    static const double loads[] = {0.3, 0.6, 1.3};
    for (unsigned policy = 0; policy < 3; policy++) {
        const struct bli_series *points = series(panel, policy, false);
        assert_string_equal(points->name, bench->e->policy[policy].label);
        assert_int_equal(points->style, BLI_STYLE_POINTS);
        assert_int_equal(points->count, 3);
        for (size_t load = 0; load < 3; load++) {
            struct bli_result result;
            assert_int_equal(
                bli_store_result(bench->store, bench->e, point_at(bench, load, 0), policy, &result, NULL),
                BAL_OK);
            assert_true(points->x[load] == loads[load]);
            assert_true(points->y[load] == result.metric[BLI_RESPONSE_MEAN].mean);
            assert_true(points->half_width[load] == result.metric[BLI_RESPONSE_MEAN].half_width);
            assert_int_equal(points->verdict[load], result.verdict);
        }
        assert_int_equal(points->verdict[0], BLI_STABLE);
        assert_int_equal(points->verdict[2], BLI_UNSTABLE);
    }
    bli_chart_free(made);
}

static void theory_is_a_fine_line_over_loads(void **state) {
    const struct bench *bench = *state;
    struct bli_chart *made = chart(bench, "axis");
    const struct bli_panel *panel = bli_chart_figure(made)->panel;
    const struct bli_series *line = series(panel, 0, true);
    assert_non_null(line);
    assert_true(line->count > 50);
    for (size_t i = 0; i < line->count; i++)
        if (line->x[i] < 0.99)
            assert_true(fabs(line->y[i] * (1 - line->x[i]) - 1) < 1e-9); /* M/M/1 */
        else
            assert_false(isfinite(line->y[i]) && line->x[i] > 1);
    assert_null(bli_chart_figure(made)->theory); /* M/M/1 and a mean field: no one name for both */
    bli_chart_free(made);
}

static void panels_series_and_names_follow_the_file(void **state) {
    const struct bench *bench = *state;
    struct bli_chart *made = chart(bench, "panels");
    const struct bli_figure *figure = bli_chart_figure(made);
    assert_int_equal(figure->panels, 2);
    assert_string_equal(figure->panel[0].title, "law exp");
    assert_string_equal(figure->panel[1].title, "law constant");
    assert_true(figure->panel[0].y.low == 0 && figure->panel[0].y.high == 5);
    assert_string_equal(series(&figure->panel[1], 0, false)->name, "two");
    assert_string_equal(series(&figure->panel[1], 1, false)->name, "all of them");
    assert_non_null(series(&figure->panel[1], 0, true)); /* pod with constant sizes, by its mean field */
    bli_chart_free(made);

    made = chart(bench, "laws");
    figure = bli_chart_figure(made);
    assert_string_equal(figure->panel->y.label, "messages per job");
    assert_string_equal(figure->panel->y.unit, "");
    const struct bli_series *points = series(figure->panel, 1, false);
    assert_string_equal(points->name, "law constant");
    assert_int_equal(points->verdict[2], BLI_STABLE); /* messages do not grow where queues do */
    assert_float_equal(points->y[2], 4, 1e-6);
    bli_chart_free(made);

    made = chart(bench, "loads");
    figure = bli_chart_figure(made);
    assert_int_equal(figure->panel->x.name_count, 2);
    assert_string_equal(figure->panel->x.names[1], "constant");
    assert_string_equal(series(figure->panel, 2, false)->name, "load = 1.3");
    bli_chart_free(made);
}

static void bars_stand_over_policies(void **state) {
    const struct bench *bench = *state;
    struct bli_chart *made = chart(bench, "bars");
    const struct bli_panel *panel = bli_chart_figure(made)->panel;
    assert_int_equal(panel->x.name_count, 3);
    assert_string_equal(panel->x.names[2], "all of them");
    assert_string_equal(panel->y.label, "per job");
    const struct bli_series *probes = series(panel, 0, false);
    assert_int_equal(probes->style, BLI_STYLE_BARS);
    assert_string_equal(probes->name, "servers asked per job");
    assert_true(probes->y[0] == 0 && probes->y[1] == 2 && probes->y[2] == 10);
    bli_chart_free(made);
}

/* It rises from 0 to 1, and crosses its theory's median where that is. */
static void distributions_are_distributions(void **state) {
    const struct bench *bench = *state;
    struct bli_chart *made = chart(bench, "cdf");
    const struct bli_panel *panel = bli_chart_figure(made)->panel;
    assert_string_equal(panel->x.label, "response time t");
    assert_string_equal(panel->y.label, "P(response time ≤ t)");
    const struct bli_series *curve = series(panel, 0, false);
    assert_true(curve->count > 50 && curve->count < 1000);
    for (size_t i = 1; i < curve->count; i++)
        assert_true(curve->x[i] > curve->x[i - 1] && curve->y[i] > curve->y[i - 1]);
    assert_true(curve->y[curve->count - 1] == 1);
    const struct bli_series *dist = series(panel, 0, true);
    for (size_t i = 0; i < dist->count; i++) /* M/M/1 at load 0.6: exponential of rate 0.4 */
        assert_true(fabs(dist->y[i] - (1 - exp(-0.4 * dist->x[i]))) < 1e-9);
    /* 4 replications of 20 000 jobs: about 0.01 of standard error, dependence included; false alarm below
     * 1e-6. */
    for (size_t i = 0; i < curve->count; i++)
        assert_true(fabs(curve->y[i] - (1 - exp(-0.4 * curve->x[i]))) < 0.05);
    bli_chart_free(made);

    made = chart(bench, "both");
    panel = bli_chart_figure(made)->panel;
    assert_string_equal(panel->y.label, "P(time > t)");
    const struct bli_series *response = series(panel, 0, false), *waiting = series(panel, 1, false);
    assert_true(response->y[0] > 0.9 && waiting->y[0] < 0.5); /* most do not wait with two choices at load 0.6
                                                               */
    bli_chart_free(made);

    made = chart(bench, "over");
    const struct bli_series *unstable = series(bli_chart_figure(made)->panel, 1, false);
    assert_int_equal(unstable->count, 0);
    assert_string_equal(unstable->name, "two (unstable: no curve)");
    bli_chart_free(made);
}

static void tails_go_down_in_steps_of_one(void **state) {
    const struct bench *bench = *state;
    struct bli_chart *made = chart(bench, "tail");
    const struct bli_panel *panel = bli_chart_figure(made)->panel;
    assert_true(panel->y.log);
    const struct bli_series *points = series(panel, 0, false), *line = series(panel, 0, true);
    assert_true(points->y[0] == 1 && fabs(points->y[1] - 0.6) < 0.05);
    for (size_t i = 0; i < line->count; i++)
        assert_true(line->x[i] == (double)i && fabs(line->y[i] - pow(0.6, (double)i)) < 1e-12);
    bli_chart_free(made);
}

static void one_theory_of_all_is_drawn_once(void **state) {
    const struct bench *bench = *state;
    struct bli_chart *made = chart(bench, "same");
    const struct bli_panel *panel = bli_chart_figure(made)->panel;
    size_t lines = 0;
    for (size_t i = 0; i < panel->count; i++)
        lines += panel->series[i].theory;
    assert_int_equal(lines, 1);
    bli_chart_free(made);
}

static void numbers_bear_their_digits(void **state) {
    (void)state;
    char text[BLI_METRIC_TEXT];
    bli_metric_print((struct bli_estimate){2.65813, 0.00512}, text);
    assert_string_equal(text, "2.6581 ± 0.0051");
    bli_metric_print((struct bli_estimate){23212.7, 345}, text);
    assert_string_equal(text, "23213 ± 345");
    bli_metric_print((struct bli_estimate){4, 0}, text);
    assert_string_equal(text, "4");
    bli_metric_print((struct bli_estimate){1.5, NAN}, text);
    assert_string_equal(text, "1.5");
    bli_metric_print((struct bli_estimate){NAN, NAN}, text);
    assert_string_equal(text, "");
    bli_metric_print((struct bli_estimate){3e-12, 1e-13}, text);
    assert_string_equal(text, "3e-12 ± 1e-13");
}

static void labels_are_short(void **state) {
    (void)state;
    struct bli_model model = {0};
    for (int m = 0; m <= BLI_METRIC_COUNT; m++) {
        char text[BLI_METRIC_TEXT];
        bli_metric_label((struct bli_quantity){.metric = m, .level = 3}, &model, text);
        assert_true(strlen(text) > 3 && strlen(text) < 60);
    }
    char text[BLI_METRIC_TEXT];
    model.clock = BLI_CLOCK_SLOTTED;
    bli_metric_label((struct bli_quantity){.metric = BLI_MESSAGES_PER_TIME}, &model, text);
    assert_string_equal(text, "messages per slot");
    bli_metric_label((struct bli_quantity){.metric = BLI_RESPONSE_MEAN}, &model, text);
    assert_string_equal(text, "mean response time");
}

static void html_is_escaped(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bli_html_text("<a href=\"x\" b='y'>&amp;\n\x01\xff λ</a>", out);
    bli_html_text(NULL, out);
    fclose(out);
    assert_string_equal(text,
                        "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;\n\uFFFD\uFFFD λ&lt;/a&gt;");
    free(text);
}

static void the_page_tells_all(void **state) {
    struct bench *bench = *state;
    struct bal_error err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (bli_report_write(bench->store, "x & y.db", out, &err))
        fail_msg("%s", err.text);
    fclose(out);
    assert_non_null(strstr(text, "<h1>charts</h1>"));
    assert_non_null(strstr(text, "x &amp; y.db"));
    for (size_t i = 0; i < bench->e->plots; i++) {
        char id[80];
        snprintf(id, sizeof id, "<figure id=\"figure-1-%s\"", bench->e->plot[i].id);
        assert_non_null(strstr(text, id));
    }
    size_t rows = 0;
    for (const char *at = text; (at = strstr(at, "<th scope=\"row\" class=\"l\">")); at++)
        rows++;
    assert_int_equal(rows, 3 * 2 * 3); /* a policy at each point */
    free(text);
}

/* The unit of time is what the experiment says it is; other axes have their own. */
static void the_unit_of_time_can_be_named(void **state) {
    const struct bench *bench = *state;
    struct bli_experiment *e = bench->e;
    const char *before = e->unit;
    e->unit = "seconds";
    struct bli_chart *times = chart(bench, "axis"), *messages = chart(bench, "laws");
    assert_string_equal(bli_chart_figure(times)->panel->y.unit, "seconds");
    assert_string_not_equal(bli_chart_figure(messages)->panel->y.unit, "seconds");
    bli_chart_free(times);
    bli_chart_free(messages);
    e->unit = before;
}

static void absent_figures_are_named(void **state) {
    struct bench *bench = *state;
    struct bal_error err = {0};
    const struct bli_chart_files files = {.directory = "/tmp", .formats = 1, .only = "nothing"};
    assert_int_equal(bli_report_figures(bench->store, "x.db", &files, &err), BAL_E_UNKNOWN);
    assert_string_equal(err.text, "'x.db' has no figure 'nothing'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_the_results),
        cmocka_unit_test(theory_is_a_fine_line_over_loads),
        cmocka_unit_test(panels_series_and_names_follow_the_file),
        cmocka_unit_test(bars_stand_over_policies),
        cmocka_unit_test(distributions_are_distributions),
        cmocka_unit_test(tails_go_down_in_steps_of_one),
        cmocka_unit_test(one_theory_of_all_is_drawn_once),
        cmocka_unit_test(numbers_bear_their_digits),
        cmocka_unit_test(labels_are_short),
        cmocka_unit_test(html_is_escaped),
        cmocka_unit_test(the_page_tells_all),
        cmocka_unit_test(the_unit_of_time_can_be_named),
        cmocka_unit_test(absent_figures_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
