/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps: where it is stable and where not, over two axes. */
#include "report/chart_build.h"

#include <math.h>
#include <string.h>

static bool is_load(const struct chart_builder *b) {
    return strcmp(b->experiment->axis[b->x.what].name, "load") == 0;
}

static double y_of(const struct chart_builder *b, size_t i) {
    return b->experiment->axis[b->series.what].value[b->series.member[i]].number;
}

/* The points of one verdict. */
static enum bal_code fill_verdicts(struct chart_builder *b, struct chart_place place,
                                   enum bal_verdict verdict, struct chart_column *column) {
    if (!bal_chart_add_value(b, column, 2 * b->x.count * b->series.count))
        return bal_chart_no_memory(b);
    column->count = 0;
    for (size_t s = 0; s < b->series.count; s++)
        for (size_t i = 0; i < b->x.count; i++) {
            const struct chart_place there = bal_chart_moved(bal_chart_moved(place, &b->series, s), &b->x, i);
            const size_t point = bal_experiment_point(b->experiment, there.index);
            struct bal_result result;
            const enum bal_code code =
                bal_store_result(b->store, b->experiment, point, there.policy, &result, b->err);
            if (code)
                return code;
            if (result.replications == 0 || result.verdict != verdict)
                continue;
            bal_chart_put_exact(column, column->count++, bal_chart_x(b, i), y_of(b, s));
            bal_chart_put_exact(column, column->count++, bal_chart_x(b, i), NAN); /* no line to the next */
        }
    return BAL_OK;
}

/* Where x is a load: the loads that are known to be unstable, as a line along each row. Between the rows
 * nothing is known, so that they are not joined. */
static enum bal_code fill_frontier(struct chart_builder *b, struct chart_place place,
                                   struct chart_column *column) {
    if (!bal_chart_add_value(b, column, 3 * b->series.count))
        return bal_chart_no_memory(b);
    for (size_t s = 0; s < b->series.count; s++) {
        const struct chart_place there = bal_chart_moved(place, &b->series, s);
        const struct bal_case c = bal_chart_case(b, &there);
        const double load = is_load(b) ? bal_theory_unstable_load(&c.model, &c.policy) : NAN;
        const double most = bal_chart_x(b, b->x.count - 1);
        const double y = load <= most ? y_of(b, s) : NAN;
        bal_chart_put_exact(column, 3 * s, load, y);
        bal_chart_put_exact(column, 3 * s + 1, most, y);
        bal_chart_put_exact(column, 3 * s + 2, most, NAN); /* no line to the next */
    }
    return BAL_OK;
}

enum bal_code bal_chart_fill_map(struct chart_builder *b, struct chart_place place, struct bal_panel *panel) {
    static const struct {
        enum bal_verdict verdict;
        const char *name;
    } kinds[] = {{BAL_STABLE, "stable"}, {BAL_UNSTABLE, "unstable"}, {BAL_UNDECIDED, "undecided"}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct bal_series *series = bal_arena_take(b->arena, KINDS + 1, sizeof *series);
    if (!series)
        return bal_chart_no_memory(b);
    for (unsigned k = 0; k < KINDS + 1; k++) {
        struct chart_column column;
        const enum bal_code code =
            k < KINDS ? fill_verdicts(b, place, kinds[k].verdict, &column) : fill_frontier(b, place, &column);
        if (code)
            return code;
        struct bal_series *s = &series[panel->count];
        bal_chart_attach(s, &column);
        s->verdict = NULL;
        s->group = k;
        s->style = k < KINDS ? BAL_STYLE_POINTS : BAL_STYLE_LINE;
        s->name = k < KINDS ? kinds[k].name : "proved unstable";
        panel->count += bal_chart_any_known(s);
    }
    panel->series = series;
    return BAL_OK;
}
