/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a value of a figure stands in its experiment, and what such a place is called. */
#include "report/chart_build.h"
#include "report/metric.h"

#include <stdio.h>
#include <string.h>

enum bal_code bli_chart_no_memory(struct chart_builder *b) {
    return bal_fail(b->err, BAL_E_MEMORY, "not enough memory for figure '%s'", b->plot->id);
}

static bool is_chosen(const struct chart_builder *b, int what, size_t member) {
    const struct bli_selection *where = &b->plot->where;
    if (what == BLI_BY_POLICY)
        return !where->policy || where->policy[member];
    return what < 0 || !where->value[what] || where->value[what][member];
}

static size_t size_of(const struct chart_builder *b, int what) {
    switch (what) {
    case BLI_BY_NOTHING:
        return 1;
    case BLI_BY_POLICY:
        return b->experiment->policies;
    case BLI_BY_METRIC:
        return b->plot->metrics;
    default:
        return b->experiment->axis[what].count;
    }
}

bool bli_chart_dimension(struct chart_builder *b, struct dimension *dimension, int what) {
    const size_t size = size_of(b, what);
    *dimension = (struct dimension){.what = what, .member = bli_arena_take(b->arena, size, sizeof(size_t))};
    if (!dimension->member)
        return false;
    for (size_t i = 0; i < size; i++)
        if (is_chosen(b, what, i))
            dimension->member[dimension->count++] = i;
    return true;
}

static size_t first_chosen(const struct chart_builder *b, int what) {
    size_t i = 0;
    while (i + 1 < size_of(b, what) && !is_chosen(b, what, i))
        i++;
    return i;
}

struct chart_place bli_chart_start(const struct chart_builder *b) {
    struct chart_place place = {.policy = first_chosen(b, BLI_BY_POLICY)};
    for (size_t a = 0; a < b->experiment->axes; a++)
        place.index[a] = first_chosen(b, (int)a);
    return place;
}

/* The place, moved to the i-th chosen member of the dimension. */
struct chart_place bli_chart_moved(struct chart_place place, const struct dimension *dimension, size_t i) {
    const size_t member = dimension->member[i];
    if (dimension->what == BLI_BY_POLICY)
        place.policy = member;
    else if (dimension->what == BLI_BY_METRIC)
        place.metric = member;
    else if (dimension->what >= 0)
        place.index[dimension->what] = member;
    return place;
}

struct bli_case bli_chart_case(const struct chart_builder *b, const struct chart_place *place) {
    struct bli_case c;
    bli_experiment_case(b->experiment, bli_experiment_point(b->experiment, place->index), place->policy, &c);
    return c;
}

char *bli_chart_text(struct chart_builder *b, const char *first, const char *middle, const char *second) {
    const size_t size = strlen(first) + strlen(middle) + strlen(second) + 1;
    char *text = bli_arena_take(b->arena, size, 1);
    if (text)
        snprintf(text, size, "%s%s%s", first, middle, second);
    return text;
}

/* An axis without a label is called as its setting is, not by the place of the setting in a file: run.time is
 * "time", policy.d is "d", and pod.d, which other policies may have too, is "d of pod". */
const char *bli_chart_axis_text(struct chart_builder *b, const struct bli_sweep_axis *axis) {
    const char *point = strchr(axis->name, '.');
    if (!point || strcmp(axis->label, axis->name) != 0)
        return axis->label;
    const size_t length = (size_t)(point - axis->name);
    if (strncmp(axis->name, "run.", 4) == 0 || strncmp(axis->name, "policy.", 7) == 0)
        return point + 1;
    const char *policy = bli_arena_text(b->arena, axis->name, length);
    return policy ? bli_chart_text(b, point + 1, " of ", policy) : NULL;
}

const char *bli_chart_metric_text(struct chart_builder *b, struct bli_quantity quantity) {
    char text[BLI_METRIC_TEXT];
    const struct chart_place place = bli_chart_start(b);
    const struct bli_case c = bli_chart_case(b, &place);
    bli_metric_label(quantity, &c.model, text);
    return bli_arena_text(b->arena, text, strlen(text));
}

/* What a member is called; "" for BLI_BY_NOTHING, NULL without memory. */
const char *bli_chart_name(struct chart_builder *b, const struct dimension *dimension, size_t i) {
    const size_t member = dimension->member[i];
    if (dimension->what == BLI_BY_NOTHING)
        return "";
    if (dimension->what == BLI_BY_POLICY)
        return b->experiment->policy[member].label;
    if (dimension->what == BLI_BY_METRIC)
        return bli_chart_metric_text(b, b->plot->metric[member]);
    const struct bli_sweep_axis *axis = &b->experiment->axis[dimension->what];
    return bli_chart_text(b, bli_chart_axis_text(b, axis), axis->numeric ? " = " : " ",
                          axis->value[member].label);
}

bool bli_chart_has_numbers(const struct chart_builder *b) {
    return b->x.what >= 0 && b->experiment->axis[b->x.what].numeric &&
           (b->plot->kind == BLI_PLOT_AXIS || b->plot->kind == BLI_PLOT_MAP);
}

double bli_chart_x(const struct chart_builder *b, size_t i) {
    return bli_chart_has_numbers(b) ? b->experiment->axis[b->x.what].value[b->x.member[i]].number : (double)i;
}
