/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps: which points of a plane are stable. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/report.h"

static const char spec[] = "title: map\n"
                           "sweep:\n"
                           "  - {axis: load, values: [0.2, 0.4, 1.5]}\n"
                           "  - axis: servers\n"
                           "    label: fast servers\n"
                           "    values: [{value: '4x1', label: 0}, {value: '2x1,2x3', label: 2}]\n"
                           "policies: [random]\n"
                           "run: {jobs: 200k, replications: 4}\n"
                           "figures:\n"
                           "  - {id: map, kind: map, x: load, series: servers}\n";

#include "charts.h"

static const struct bli_series *named(const struct bli_panel *panel, const char *name) {
    for (size_t i = 0; i < panel->count; i++)
        if (strcmp(panel->series[i].name, name) == 0)
            return &panel->series[i];
    return NULL;
}

static bool has_point(const struct bli_series *series, double x, double y) {
    for (size_t i = 0; i < series->count; i++)
        if (series->x[i] == x && series->y[i] == y)
            return true;
    return false;
}

/* Loads below 0.5 are stable whatever the servers, 1.5 is not: seen by the verdict with certainty, for all
 * purposes. */
static void every_point_is_with_its_verdict(void **state) {
    struct bli_chart *made = chart(*state, "map");
    const struct bli_panel *panel = bli_chart_figure(made)->panel;
    assert_string_equal(panel->x.label, "load");
    assert_string_equal(panel->y.label, "fast servers");
    const struct bli_series *stable = named(panel, "stable"), *unstable = named(panel, "unstable");
    assert_non_null(stable);
    assert_non_null(unstable);
    assert_null(named(panel, "undecided"));
    assert_int_equal(stable->count, 2 * 4); /* each with a gap behind it: no line joins the points */
    assert_int_equal(unstable->count, 2 * 2);
    for (int y = 0; y <= 2; y += 2) {
        assert_true(has_point(stable, 0.2, y) && has_point(stable, 0.4, y));
        assert_true(has_point(unstable, 1.5, y));
    }
    for (size_t i = 1; i < stable->count; i += 2)
        assert_true(isnan(stable->y[i]));
    bli_chart_free(made);
}

/* Random sends a slow server as much as a fast one: critical at the load of the slow ones. */
static void what_is_proved_is_a_line_along_its_row(void **state) {
    struct bli_chart *made = chart(*state, "map");
    const struct bli_series *line = named(bli_chart_figure(made)->panel, "proved unstable");
    assert_non_null(line);
    assert_int_equal(line->style, BLI_STYLE_LINE);
    assert_int_equal(line->count, 2 * 3);
    const double from[] = {1, 0.5};
    for (int row = 0; row < 2; row++) {
        const int at = 3 * row;
        assert_true(line->x[at] == from[row] && line->y[at] == 2. * row);
        assert_true(line->x[at + 1] == 1.5 && line->y[at + 1] == 2. * row);
        assert_true(isnan(line->y[at + 2])); /* nothing joins it to the next row */
    }
    bli_chart_free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_with_its_verdict),
        cmocka_unit_test(what_is_proved_is_a_line_along_its_row),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
