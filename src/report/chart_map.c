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
                                   enum bli_verdict verdict, struct chart_column *column) {
    if (!bli_chart_add_value(b, column, 2 * b->x.count * b->series.count))
        return bli_chart_no_memory(b);
    column->count = 0;
    for (size_t s = 0; s < b->series.count; s++)
        for (size_t i = 0; i < b->x.count; i++) {
            const struct chart_place there = bli_chart_moved(bli_chart_moved(place, &b->series, s), &b->x, i);
            const size_t point = bli_experiment_point(b->experiment, there.index);
            struct bli_result result;
            const enum bal_code code =
                bli_store_result(b->store, b->experiment, point, there.policy, &result, b->err);
            if (code)
                return code;
            if (result.replications == 0 || result.verdict != verdict)
                continue;
            bli_chart_put_exact(column, column->count++, bli_chart_x(b, i), y_of(b, s));
            bli_chart_put_exact(column, column->count++, bli_chart_x(b, i), NAN); /* no line to the next */
        }
    return BAL_OK;
}

/* Where x is a load: the loads that are known to be unstable, as a line along each row. Between the rows
 * nothing is known, so that they are not joined. */
static enum bal_code fill_frontier(struct chart_builder *b, struct chart_place place,
                                   struct chart_column *column) {
    if (!bli_chart_add_value(b, column, 3 * b->series.count))
        return bli_chart_no_memory(b);
    for (size_t s = 0; s < b->series.count; s++) {
        const struct chart_place there = bli_chart_moved(place, &b->series, s);
        const struct bli_case c = bli_chart_case(b, &there);
        const double load = is_load(b) ? bli_theory_unstable_load(&c.model, &c.policy) : NAN;
        const double most = bli_chart_x(b, b->x.count - 1);
        const double y = load <= most ? y_of(b, s) : NAN;
        bli_chart_put_exact(column, 3 * s, load, y);
        bli_chart_put_exact(column, 3 * s + 1, most, y);
        bli_chart_put_exact(column, 3 * s + 2, most, NAN); /* no line to the next */
    }
    return BAL_OK;
}

enum bal_code bli_chart_fill_map(struct chart_builder *b, struct chart_place place, struct bli_panel *panel) {
    static const struct {
        enum bli_verdict verdict;
        const char *name;
    } kinds[] = {{BLI_STABLE, "stable"}, {BLI_UNSTABLE, "unstable"}, {BLI_UNDECIDED, "undecided"}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct bli_series *series = bli_arena_take(b->arena, KINDS + 1, sizeof *series);
    if (!series)
        return bli_chart_no_memory(b);
    for (unsigned k = 0; k < KINDS + 1; k++) {
        struct chart_column column;
        const enum bal_code code =
            k < KINDS ? fill_verdicts(b, place, kinds[k].verdict, &column) : fill_frontier(b, place, &column);
        if (code)
            return code;
        struct bli_series *s = &series[panel->count];
        bli_chart_attach(s, &column);
        s->verdict = NULL;
        s->group = k;
        s->style = k < KINDS ? BLI_STYLE_POINTS : BLI_STYLE_LINE;
        s->name = k < KINDS ? kinds[k].name : "proved unstable";
        panel->count += bli_chart_any_known(s);
    }
    panel->series = series;
    return BAL_OK;
}
