/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that all parts of the reader of experiment files use: values, references, errors. */
#include "spec/reader.h"

#include "base/utf8.h"
#include "plugin/loader.h"

#include <math.h>
#include <string.h>

void *bli_reader_take(struct bli_reader *reader, size_t count, size_t size) {
    void *memory = bli_arena_take(reader->arena, count, size);
    if (!memory)
        bal_fail(reader->err, BAL_E_MEMORY, "not enough memory for the experiment");
    return memory;
}

/* The document goes away after reading: copy. */
const char *bli_reader_text(struct bli_reader *reader, int map, const char *name) {
    const int node = bli_node_get(reader->document, map, name);
    if (!node)
        return NULL;
    const char *text = bli_node_text(reader->document, node);
    return bli_arena_text(reader->arena, text, strlen(text));
}

const char *bli_reader_line(struct bli_reader *reader, int map, const char *name) {
    const int node = bli_node_get(reader->document, map, name);
    if (!node)
        return NULL;
    const char *text = bli_node_text(reader->document, node);
    char *line = bli_arena_take(reader->arena, strlen(text) + 1, 1);
    if (!line)
        return "";
    strcpy(line, text);
    size_t length = bli_utf8_tame(line, "");
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
    return line;
}

double bli_reader_number(struct bli_reader *reader, int map, const char *name, double default_value) {
    const int node = bli_node_get(reader->document, map, name);
    double value = default_value;
    if (node)
        bli_field_number(bli_node_text(reader->document, node), &value);
    return value;
}

int bli_reader_choice(struct bli_reader *reader, int map, const char *name, const char *const *choices,
                      int default_value) {
    const int node = bli_node_get(reader->document, map, name);
    return node ? bli_choice_find(choices, bli_node_text(reader->document, node)) : default_value;
}

bool bli_reader_flag(struct bli_reader *reader, int map, const char *name, bool default_value) {
    return bli_reader_choice(reader, map, name, bli_flags, default_value) & 1;
}

size_t bli_reader_count(struct bli_reader *reader, int node) {
    if (!node)
        return 0;
    return bli_node_kind(reader->document, node) == BLI_NODE_LIST ? bli_node_count(reader->document, node)
                                                                  : 1;
}

int bli_reader_item(struct bli_reader *reader, int node, size_t i) {
    return bli_node_kind(reader->document, node) == BLI_NODE_LIST ? bli_node_item(reader->document, node, i)
                                                                  : node;
}

bool bli_reader_is_elsewhere(struct bli_reader *reader, int map) {
    const int only = bli_reader_choice(reader, map, "only", bli_modes, -1);
    return only >= 0 && only != (int)reader->e->mode;
}

/* "a, b, c": what there is, for a message. */
struct field_names {
    char text[300];
    size_t used;
};

static void add_name(struct field_names *names, const char *name) {
    if (names->used < sizeof names->text)
        names->used += (size_t)snprintf(names->text + names->used, sizeof names->text - names->used, "%s%s",
                                        names->used ? ", " : "", name);
}

enum bal_code bli_reader_policy(struct bli_reader *reader, int node, const char *field, int *policy) {
    const struct bli_experiment *e = reader->e;
    const char *text = bli_node_text(reader->document, node);
    struct bal_policy_spec spec;
    char wanted[400] = "", canonical[400];
    if (bli_scheme_parse(text, &spec, NULL) == BAL_OK)
        bal_policy_print(&spec, wanted, sizeof wanted);
    struct field_names names = {0};
    int same_spec = -1;
    for (size_t i = 0; i < e->policies; i++) {
        if (strcmp(e->policy[i].label, text) == 0 || bli_plugin_is_same(e->policy[i].text, text)) {
            *policy = (int)i;
            return BAL_OK;
        }
        bal_policy_print(&e->policy[i].spec, canonical, sizeof canonical);
        if (*wanted && strcmp(wanted, canonical) == 0)
            same_spec = (int)i;
        add_name(&names, e->policy[i].label);
    }
    if (same_spec < 0) {
        reader->dangling = true;
        return bli_reader_fail(reader, node, field, BAL_E_UNKNOWN,
                               "the experiment has no policy '%.60s'; it has %s", text, names.text);
    }
    *policy = same_spec;
    return BAL_OK;
}

enum bal_code bli_reader_axis(struct bli_reader *reader, int node, const char *field, int *axis) {
    const struct bli_experiment *e = reader->e;
    const char *text = bli_node_text(reader->document, node);
    struct field_names names = {0};
    for (size_t a = 0; a < e->axes; a++) {
        if (strcmp(e->axis[a].name, text) == 0) {
            *axis = (int)a;
            return BAL_OK;
        }
        add_name(&names, e->axis[a].name);
    }
    reader->dangling = true;
    if (e->axes == 0)
        return bli_reader_fail(reader, node, field, BAL_E_UNKNOWN, "'%.60s' is not swept; there is no sweep",
                               text);
    return bli_reader_fail(reader, node, field, BAL_E_UNKNOWN,
                           "'%.60s' is not an axis of the sweep; these are: %s", text, names.text);
}

enum bal_code bli_reader_quantity(struct bli_reader *reader, int node, const char *field,
                                  struct bli_quantity *quantity) {
    const char *text = bli_node_text(reader->document, node);
    struct bal_error why = {0};
    const enum bal_code code = bli_quantity_find(text, quantity, &why);
    if (code == BAL_E_RANGE)
        return bli_reader_fail(reader, node, field, code, "%s", why.text);
    if (!code) {
        reader->e->distributions |= quantity->quantile > 0 && quantity->level > BLI_OF_WAITING;
        return BAL_OK;
    }
    /* There are too many metrics for one line: those that begin alike, else the first words of all. */
    struct field_names names = {0};
    const size_t word = strcspn(text, ".");
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        if (strncmp(bli_metric_table[m].name, text, word) == 0 && bli_metric_table[m].name[word] == '.')
            add_name(&names, bli_metric_table[m].name);
    if (!names.used)
        for (int m = 0; m < BLI_METRIC_COUNT; m++)
            if (m == 0 || strncmp(bli_metric_table[m].name, bli_metric_table[m - 1].name,
                                  strcspn(bli_metric_table[m].name, ".") + 1) != 0)
                add_name(&names, bli_metric_table[m].name);
    if (word == 5 && strncmp(text, "queue", 5) == 0)
        add_name(&names, "queue.tail.LEVEL (0 to 127)");
    return bli_reader_fail(reader, node, field, BAL_E_UNKNOWN, "there is no metric '%.60s'; there are %s%s",
                           text, names.text, word ? "" : ", ...");
}

/* By label, by text, or as the same number: 0.90 is 0.9. */
static bool is_value(const struct bli_sweep_value *value, const char *text, double number) {
    return strcmp(value->label, text) == 0 || strcmp(value->text[0], text) == 0 || value->number == number;
}

enum bal_code bli_reader_value(struct bli_reader *reader, int node, int axis, int *value) {
    const struct bli_sweep_axis *a = &reader->e->axis[axis];
    if (bli_node_kind(reader->document, node) != BLI_NODE_TEXT)
        return bli_reader_fail(reader, node, a->name, BAL_E_SYNTAX,
                               "this should be one value of the axis, such as %s", a->value[0].label);
    const enum bal_code code = bli_document_count_steps(reader->document, a->count, reader->err);
    if (code)
        return code;
    const char *text = bli_node_text(reader->document, node);
    double number = NAN;
    bli_field_number(text, &number);
    struct field_names names = {0};
    for (size_t i = 0; i < a->count; i++) {
        if (is_value(&a->value[i], text, number)) {
            *value = (int)i;
            return BAL_OK;
        }
        add_name(&names, a->value[i].label);
    }
    reader->dangling = true;
    return bli_reader_fail(reader, node, a->name, BAL_E_UNKNOWN,
                           "'%.60s' is not a value of this axis; these are: %s", text, names.text);
}

static const struct bli_field range_fields[] = {
    {.name = "from",
     .is = BLI_IS_TEXT,
     .type = BLI_TYPE_NUMBER,
     .low = -1e300,
     .high = 1e300,
     .default_value = "",
     .help = ""},
    {.name = "to",
     .is = BLI_IS_TEXT,
     .type = BLI_TYPE_NUMBER,
     .low = -1e300,
     .high = 1e300,
     .default_value = "",
     .help = ""},
};
static const struct bli_table range_table = {"where", "", range_fields,
                                             sizeof range_fields / sizeof *range_fields};

/* {from: 0.1, to: 0.7}: both ends included, either may be left out. */
static enum bal_code select_range(struct bli_reader *reader, int node, const struct bli_sweep_axis *axis,
                                  bool *flag) {
    const enum bal_code code = bli_table_check(&range_table, reader->document, node, axis->name, reader->err);
    if (code)
        return code;
    const double from = bli_reader_number(reader, node, "from", -INFINITY);
    const double to = bli_reader_number(reader, node, "to", INFINITY);
    bool any = false;
    for (size_t i = 0; i < axis->count; i++) {
        flag[i] = axis->value[i].number >= from - 1e-12 * fabs(from) &&
                  axis->value[i].number <= to + 1e-12 * fabs(to);
        any = any || flag[i];
    }
    if (!any)
        return bli_reader_fail(reader, node, axis->name, BAL_E_RANGE,
                               "no value of this axis lies there; it has %s to %s", axis->value[0].label,
                               axis->value[axis->count - 1].label);
    return BAL_OK;
}

static enum bal_code select_values(struct bli_reader *reader, int node, int axis, bool *flag) {
    const struct bli_sweep_axis *a = &reader->e->axis[axis];
    memset(flag, 0, a->count * sizeof *flag);
    if (bli_node_kind(reader->document, node) == BLI_NODE_MAP)
        return select_range(reader, node, a, flag);
    const size_t count = bli_reader_count(reader, node);
    if (count == 0)
        return bli_reader_fail(reader, node, a->name, BAL_E_SYNTAX,
                               "the list is empty; leave the axis out to mean all values");
    for (size_t i = 0; i < count; i++) {
        int value = 0;
        const enum bal_code code = bli_reader_value(reader, bli_reader_item(reader, node, i), axis, &value);
        if (code)
            return code;
        flag[value] = true;
    }
    return BAL_OK;
}

static enum bal_code select_policies(struct bli_reader *reader, int node, const char *field, bool *flag) {
    memset(flag, 0, reader->e->policies * sizeof *flag);
    for (size_t i = 0; i < bli_reader_count(reader, node); i++) {
        int policy = 0;
        const enum bal_code code =
            bli_reader_policy(reader, bli_reader_item(reader, node, i), field, &policy);
        if (code)
            return code;
        flag[policy] = true;
    }
    return BAL_OK;
}

enum bal_code bli_reader_selection(struct bli_reader *reader, int where, int policies,
                                   const char *policies_field, struct bli_selection *selection) {
    struct bli_document *document = reader->document;
    const struct bli_experiment *e = reader->e;
    bool *flags[BLI_AXES_MAX] = {0};
    for (size_t a = 0; a < e->axes; a++) {
        flags[a] = bli_reader_take(reader, e->axis[a].count, sizeof *flags[a]);
        if (!flags[a])
            return BAL_E_MEMORY;
        memset(flags[a], true, e->axis[a].count * sizeof *flags[a]);
        selection->value[a] = flags[a];
    }
    bool *policy = bli_reader_take(reader, e->policies, sizeof *policy);
    if (!policy)
        return BAL_E_MEMORY;
    memset(policy, true, e->policies * sizeof *policy);
    selection->policy = policy;
    for (size_t i = 0; where && i < bli_node_count(document, where); i++) {
        const int key = bli_node_key(document, where, i);
        int axis = 0;
        if (bli_node_kind(document, key) != BLI_NODE_TEXT)
            return bli_reader_fail(reader, key, "where", BAL_E_SYNTAX, "an axis must have a plain name");
        enum bal_code code = bli_reader_axis(reader, key, "where", &axis);
        if (!code)
            code = select_values(reader, bli_node_value(document, where, i), axis, flags[axis]);
        if (code)
            return code;
    }
    return policies ? select_policies(reader, policies, policies_field, policy) : BAL_OK;
}
