/* SPDX-License-Identifier: BSD-2-Clause */
/* The axes of a sweep: which fields they set, and to which values. */
#include "spec/reader.h"

#include "ballast/number.h"

#include <math.h>
#include <string.h>

enum { VALUES_MAX = 2000 };

static enum bal_code unknown_field(struct bli_reader *reader, int node, const char *name) {
    char list[300] = "";
    size_t used = 0;
    const struct bli_section *section;
    const struct bli_field *setting;
    for (size_t i = 0; (setting = bli_setting_at(i, &section)) && used < sizeof list; i++)
        if (!setting->deprecated)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%s", used ? ", " : "",
                                     section->prefix, setting->name);
    return bli_reader_fail(
        reader, node, "axis", BAL_E_UNKNOWN,
        "there is no field '%.60s' to sweep; there are %s and parameters of policies, such as pod.d", name,
        list);
}

/* pod.d or policy.d: some policy of the experiment must have it. */
static enum bal_code find_parameter(struct bli_reader *reader, int node, const char *name,
                                    struct bli_swept *swept) {
    const char *dot = strchr(name, '.');
    if (!dot || dot == name || !dot[1])
        return unknown_field(reader, node, name);
    const char *prefix = bli_arena_text(reader->arena, name, (size_t)(dot - name));
    swept->policy = strcmp(prefix, "policy") == 0 ? NULL : prefix;
    swept->param = dot + 1;
    bool named = !swept->policy;
    for (size_t i = 0; i < reader->e->policies; i++) {
        const struct bal_policy *policy = reader->e->policy[i].spec.policy;
        if (bli_swept_param(swept, policy))
            return BAL_OK;
        named = named || strcmp(policy->name, swept->policy) == 0;
    }
    reader->dangling = true;
    if (named)
        return bli_reader_fail(reader, node, "axis", BAL_E_UNKNOWN,
                               "no policy of the experiment has a parameter '%.60s' that could be swept",
                               name);
    if (!bli_scheme_find(prefix))
        return unknown_field(reader, node, name);
    return bli_reader_fail(
        reader, node, "axis", BAL_E_UNKNOWN,
        "'%.60s' sweeps a parameter of %s, but that is not among the policies; add it there", name, prefix);
}

/* A field that two axes set would have the value of the second. */
static enum bal_code check_once(struct bli_reader *reader, int node, size_t axis, unsigned field,
                                const char *name) {
    for (size_t a = 0; a <= axis; a++)
        for (unsigned f = 0; f < (a < axis ? reader->e->axis[a].fields : field); f++)
            if (strcmp(reader->e->axis[a].field[f], name) == 0)
                return bli_reader_fail(reader, node, "axis", BAL_E_MODEL,
                                       "'%.60s' is swept twice; sweep it once", name);
    return BAL_OK;
}

static enum bal_code read_fields(struct bli_reader *reader, int map, size_t index,
                                 struct bli_sweep_axis *axis) {
    const int node = bli_node_get(reader->document, map, "axis");
    const size_t count = bli_reader_count(reader, node);
    if (count > BLI_AXIS_FIELDS_MAX)
        return bli_reader_fail(reader, node, "axis", BAL_E_RANGE,
                               "it sets %zu fields; at most %d can be set together", count,
                               BLI_AXIS_FIELDS_MAX);
    for (unsigned f = 0; f < count; f++) {
        const int item = bli_reader_item(reader, node, f);
        const char *text = bli_node_text(reader->document, item);
        const char *name = bli_arena_text(reader->arena, text, strlen(text));
        struct bli_swept *swept = &reader->e->own->swept[index][f];
        swept->setting = bli_setting_find(name);
        enum bal_code code = swept->setting ? BAL_OK : find_parameter(reader, item, name, swept);
        axis->field[f] = name;
        axis->fields = f + 1;
        if (!code)
            code = check_once(reader, item, index, f, name);
        if (code)
            return code;
    }
    axis->name = axis->field[0];
    return BAL_OK;
}

/* Tries the value on everything that it is meant for. */
static enum bal_code try_value(struct bli_reader *reader, int node, const struct bli_swept *swept,
                               const char *field, const char *text) {
    struct bal_error inner = {0};
    if (swept->setting) {
        struct bli_draft draft = reader->e->own->base;
        if (bli_setting_read(swept->setting, text, &draft, &inner))
            return bli_reader_fail(reader, node, field, inner.code, "%s", inner.text);
        return BAL_OK;
    }
    double number;
    if (!bli_field_number(text, &number))
        return bli_reader_fail(reader, node, field, BAL_E_SYNTAX, "'%.60s' is not a number", text);
    char value[BLI_NUMBER_TEXT];
    bli_number_print(number, value);
    for (size_t i = 0; i < reader->e->policies; i++) {
        const struct bal_policy *policy = reader->e->policy[i].spec.policy;
        if (!bli_swept_param(swept, policy))
            continue;
        char spec_text[200];
        snprintf(spec_text, sizeof spec_text, "%s:%s=%s", policy->name, swept->param, value);
        struct bal_policy_spec spec;
        if (bli_scheme_parse(spec_text, &spec, &inner))
            return bli_reader_fail(reader, node, field, inner.code, "%s", inner.text);
    }
    return BAL_OK;
}

/* text, [text, ...] or {value: ..., label: ...} */
static enum bal_code read_value(struct bli_reader *reader, int node, size_t index,
                                const struct bli_sweep_axis *axis, struct bli_sweep_value *value) {
    struct bli_document *document = reader->document;
    int texts = node;
    if (bli_node_kind(document, node) == BLI_NODE_MAP) {
        texts = bli_node_get(document, node, "value");
        value->label = bli_reader_line(reader, node, "label");
    }
    if (bli_reader_count(reader, texts) != axis->fields)
        return bli_reader_fail(reader, texts, "values", BAL_E_SYNTAX,
                               "a value has %zu parts where the axis sets %u field%s; give as many",
                               bli_reader_count(reader, texts), axis->fields, axis->fields > 1 ? "s" : "");
    for (unsigned f = 0; f < axis->fields; f++) {
        const int item = bli_reader_item(reader, texts, f);
        const char *text = bli_node_text(document, item);
        const enum bal_code code =
            try_value(reader, item, &reader->e->own->swept[index][f], axis->field[f], text);
        if (code)
            return code;
        value->text[f] = bli_arena_text(reader->arena, text, strlen(text));
    }
    value->number = NAN;
    if (!value->label)
        value->label = value->text[0];
    if (!bli_field_number(value->text[0], &value->number))
        bli_field_number(value->label, &value->number); /* constant(8) with label 8 */
    return BAL_OK;
}

static enum bal_code read_list(struct bli_reader *reader, int list, size_t index,
                               struct bli_sweep_axis *axis) {
    const size_t count = bli_node_count(reader->document, list);
    if (count > VALUES_MAX)
        return bli_reader_fail(reader, list, "values", BAL_E_RANGE,
                               "there are %zu values; at most %d are possible", count, VALUES_MAX);
    struct bli_sweep_value *values = bli_reader_take(reader, count, sizeof *values);
    if (!values)
        return BAL_E_MEMORY;
    axis->value = values;
    axis->count = count;
    for (size_t i = 0; i < count; i++) {
        const int node = bli_node_item(reader->document, list, i);
        const enum bal_code code = read_value(reader, node, index, axis, &values[i]);
        if (code)
            return code;
        for (size_t j = 0; j < i; j++)
            if (strcmp(values[i].label, values[j].label) == 0 || values[i].number == values[j].number)
                return bli_reader_fail(reader, node, axis->name, BAL_E_RANGE,
                                       "'%.60s' is there twice; give each value once", values[i].label);
    }
    return BAL_OK;
}

/* Does the field take whole numbers only? */
static bool is_whole(const struct bli_reader *reader, const struct bli_swept *swept) {
    if (swept->setting)
        return swept->setting->whole;
    for (size_t i = 0; i < reader->e->policies; i++) {
        const struct bal_param *param = bli_swept_param(swept, reader->e->policy[i].spec.policy);
        if (param && param->whole)
            return true;
    }
    return false;
}

struct spacing {
    double from, to, step;
    size_t count;
    bool log;
};

/* To 12 digits: enough for any grid that a person means, and 0.1 + 2 * 0.1 becomes 0.3. Powers of ten up to
 * 10^22 are exact, so the quotient is the number nearest to the decimal. */
static double round_digits(double value) {
    if (value == 0 || !(fabs(value) > 1e-10 && fabs(value) < 1e12))
        return value;
    const double scale = pow(10, 11 - floor(log10(fabs(value))));
    return rint(value * scale) / scale;
}

static double spaced_value(const struct spacing *s, size_t i, bool whole) {
    const double part = (double)i / (double)(s->count > 1 ? s->count - 1 : 1);
    const double value = s->log           ? s->from * pow(s->to / s->from, part)
                         : isnan(s->step) ? s->from + (s->to - s->from) * part
                                          : s->from + (double)i * s->step;
    return whole ? rint(value) : round_digits(value);
}

static enum bal_code check_spacing(struct bli_reader *reader, int map, struct spacing *s) {
    const int points = bli_node_get(reader->document, map, "points");
    if (isnan(s->from) || isnan(s->to))
        return bli_reader_fail(reader, map, "sweep", BAL_E_SYNTAX,
                               "an axis needs `values`, or `from` and `to` with `step` or `points`");
    if ((points != 0) == !isnan(s->step))
        return bli_reader_fail(reader, map, "sweep", BAL_E_SYNTAX,
                               "between `from` and `to` either `step` or `points` must be given, not both");
    if (!(s->from < s->to))
        return bli_reader_fail(reader, map, "sweep", BAL_E_RANGE,
                               "`from` is %g and `to` is %g; `to` must be larger", s->from, s->to);
    if (s->log && (!points || !(s->from > 0)))
        return bli_reader_fail(reader, map, "log", BAL_E_RANGE,
                               "logarithmic spacing needs `points`, and `from` above 0");
    if (points) {
        s->count = (size_t)bli_reader_number(reader, map, "points", 2);
        return BAL_OK;
    }
    const double steps = (s->to - s->from) / s->step * (1 + 1e-12);
    if (!(s->step > 0) || !(steps < VALUES_MAX))
        return bli_reader_fail(reader, bli_node_get(reader->document, map, "step"), "step", BAL_E_RANGE,
                               "%g is not a step above 0 that makes at most %d values", s->step, VALUES_MAX);
    s->count = (size_t)steps + 1;
    return BAL_OK;
}

static enum bal_code read_spaced(struct bli_reader *reader, int map, size_t index,
                                 struct bli_sweep_axis *axis) {
    struct spacing s = {
        .from = bli_reader_number(reader, map, "from", NAN),
        .to = bli_reader_number(reader, map, "to", NAN),
        .step = bli_reader_number(reader, map, "step", NAN),
        .log = bli_reader_flag(reader, map, "log", false),
    };
    const enum bal_code bad = check_spacing(reader, map, &s);
    if (bad)
        return bad;
    if (axis->fields > 1)
        return bli_reader_fail(reader, map, "sweep", BAL_E_SYNTAX,
                               "an axis that sets several fields needs `values`");
    const struct bli_swept *swept = &reader->e->own->swept[index][0];
    const bool whole = is_whole(reader, swept);
    struct bli_sweep_value *values = bli_reader_take(reader, s.count, sizeof *values);
    if (!values)
        return BAL_E_MEMORY;
    axis->value = values;
    axis->log = s.log;
    const int node = bli_node_get(reader->document, map, "from");
    for (size_t i = 0; i < s.count; i++) {
        const double number = spaced_value(&s, i, whole);
        if (axis->count > 0 && number == values[axis->count - 1].number)
            continue; /* rounded to the same whole number */
        char text[BLI_NUMBER_TEXT];
        bli_number_print(number, text);
        const enum bal_code code = try_value(reader, node, swept, axis->name, text);
        if (code)
            return code;
        const char *copy = bli_arena_text(reader->arena, text, strlen(text));
        values[axis->count++] = (struct bli_sweep_value){.text = {copy}, .label = copy, .number = number};
    }
    return BAL_OK;
}

static enum bal_code read_values(struct bli_reader *reader, int map, size_t index,
                                 struct bli_sweep_axis *axis) {
    static const char *const spacing[] = {"from", "to", "step", "points", "log"};
    axis->value = NULL;
    axis->count = 0;
    const int list = bli_node_get(reader->document, map, "values");
    for (size_t i = 0; list && i < sizeof spacing / sizeof *spacing; i++)
        if (bli_node_get(reader->document, map, spacing[i]))
            return bli_reader_fail(reader, list, "values", BAL_E_SYNTAX,
                                   "`values` and `%s` are both given; give one of them", spacing[i]);
    const enum bal_code code =
        list ? read_list(reader, list, index, axis) : read_spaced(reader, map, index, axis);
    if (code)
        return code;
    axis->numeric = true;
    for (size_t i = 0; i < axis->count; i++)
        axis->numeric = axis->numeric && !isnan(axis->value[i].number) &&
                        (i == 0 || axis->value[i].number > axis->value[i - 1].number);
    return BAL_OK;
}

/* The axis in the overrides that has the same name, 0: none. */
static int find_override(struct bli_reader *reader, const char *name) {
    const int sweep = bli_node_get(reader->document, reader->overrides, "sweep");
    for (size_t i = 0; i < bli_reader_count(reader, sweep); i++) {
        const int map = bli_reader_item(reader, sweep, i);
        const int axis = bli_node_get(reader->document, map, "axis");
        if (strcmp(bli_node_text(reader->document, bli_reader_item(reader, axis, 0)), name) == 0)
            return map;
    }
    return 0;
}

static enum bal_code check_overrides(struct bli_reader *reader) {
    const int sweep = bli_node_get(reader->document, reader->overrides, "sweep");
    for (size_t i = 0; i < bli_reader_count(reader, sweep); i++) {
        const int axis = bli_node_get(reader->document, bli_reader_item(reader, sweep, i), "axis");
        int index = 0;
        const enum bal_code code = bli_reader_axis(reader, bli_reader_item(reader, axis, 0), "axis", &index);
        if (code)
            return code;
    }
    return BAL_OK;
}

static enum bal_code read_axis(struct bli_reader *reader, int map, size_t index,
                               struct bli_sweep_axis *axis) {
    enum bal_code code = read_fields(reader, map, index, axis);
    if (code)
        return code;
    axis->label = bli_reader_line(reader, map, "label");
    const int override = find_override(reader, axis->name);
    if (override) {
        memset(axis->field, 0, sizeof axis->field);
        axis->fields = 0;
        code = read_fields(reader, override, index, axis);
        if (code)
            return code;
    }
    if (!axis->label)
        axis->label = axis->name;
    return read_values(reader, override ? override : map, index, axis);
}

enum bal_code bli_read_sweep(struct bli_reader *reader) {
    struct bli_experiment *e = reader->e;
    const int sweep = bli_node_get(reader->document, reader->root, "sweep");
    const size_t axes = bli_reader_count(reader, sweep);
    if (axes > BLI_AXES_MAX)
        return bli_reader_fail(reader, sweep, "sweep", BAL_E_RANGE,
                               "there are %zu axes; at most %d are possible", axes, BLI_AXES_MAX);
    struct bli_sweep_axis *axis = bli_reader_take(reader, axes, sizeof *axis);
    if (!axis)
        return BAL_E_MEMORY;
    e->axis = axis;
    e->points = 1;
    for (size_t a = 0; a < axes; a++) {
        const int map = bli_reader_item(reader, sweep, a);
        const enum bal_code code = read_axis(reader, map, a, &axis[a]);
        if (code)
            return code;
        e->axes = a + 1;
        e->points *= axis[a].count;
        if (e->points * e->policies > BLI_CELLS_MAX)
            return bli_reader_fail(reader, map, "sweep", BAL_E_RANGE,
                                   "the axes and policies make more than %u combinations; take fewer values",
                                   BLI_CELLS_MAX);
    }
    return check_overrides(reader);
}
