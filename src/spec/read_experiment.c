/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads an experiment file: the document against the tables first, then what its parts mean. */
#include "spec/embed_files.h"
#include "spec/reader.h"

#include "plugin/loader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- policies ---- */

/* Which of the three ways to name what distributes the jobs is used, and where. */
static enum bal_code find_policy(struct bli_reader *reader, int node, int *text, enum bli_proxy *proxy) {
    static const char *const names[] = {
        [BLI_PROXY_BALLAST] = "policy", [BLI_PROXY_NGINX] = "nginx", [BLI_PROXY_HAPROXY] = "haproxy"};
    *text = node;
    *proxy = BLI_PROXY_BALLAST;
    if (bli_node_kind(reader->document, node) != BLI_NODE_MAP)
        return BAL_OK;
    *text = 0;
    for (int i = 0; i < 3; i++) {
        const int found = bli_node_get(reader->document, node, names[i]);
        if (found && *text)
            return bli_reader_fail(reader, found, names[i], BAL_E_MODEL,
                                   "`%s` says already what distributes the jobs; give one of them",
                                   names[*proxy]);
        if (!found)
            continue;
        *text = found;
        *proxy = (enum bli_proxy)i;
    }
    if (!*text)
        return bli_reader_lacks(reader, node, "policies", "policy", "name or name:key=value,...: `pod:d=2`");
    if (*proxy != BLI_PROXY_BALLAST && !reader->e->live)
        return bli_reader_fail(reader, *text, names[*proxy], BAL_E_MODEL,
                               "other proxies can be measured, not simulated: `live` says how");
    return BAL_OK;
}

static enum bal_code check_label(struct bli_reader *reader, int node, size_t index,
                                 const struct bli_experiment_policy *entries) {
    static const char *const reserved[] = {"theory", "bound", "floor", "policy", "metric", NULL};
    const char *label = entries[index].label;
    if (bli_choice_find(reserved, label) >= 0)
        return bli_reader_fail(reader, node, "label", BAL_E_RANGE,
                               "'%s' has a meaning of its own; choose another label", label);
    for (size_t i = 0; i < index; i++)
        if (strcmp(entries[i].label, label) == 0)
            return bli_reader_fail(reader, node, "policies", BAL_E_RANGE,
                                   "'%.60s' is there twice; give each a `label` of its own", label);
    return BAL_OK;
}

/* A policy from a file is called by its own name, not by its path. */
static enum bal_code read_plugin(struct bli_reader *reader, int node, struct bli_experiment_policy *entry,
                                 struct bal_error *inner) {
    const char *words = bli_node_text(reader->document, node);
    if (reader->e->live)
        return bal_fail(inner, BAL_E_MODEL,
                        "'%.200s' is a file; what is measured here are the policies that are built in. "
                        "Simulate it with `ballast run`",
                        words);
    const enum bal_code code = bli_plugin_parse(words, &entry->spec, inner);
    if (code || entry->label)
        return code;
    char label[400];
    snprintf(label, sizeof label, "%s%s", entry->spec.policy->name, bli_plugin_params(words));
    entry->label = bli_arena_text(reader->arena, label, strlen(label));
    return BAL_OK;
}

static enum bal_code read_policy(struct bli_reader *reader, int node, size_t index,
                                 struct bli_experiment_policy *entries) {
    struct bli_document *document = reader->document;
    struct bli_experiment_policy *entry = &entries[index];
    int text;
    enum bal_code code = find_policy(reader, node, &text, &entry->proxy);
    if (code)
        return code;
    if (node != text)
        entry->label = bli_reader_line(reader, node, "label");
    struct bal_error inner = {0};
    const char *words = bli_node_text(document, text);
    if (entry->proxy != BLI_PROXY_BALLAST)
        code = bli_baseline_parse(entry->proxy, words, &entry->spec, &inner);
    else if (bli_plugin_is_path(words))
        code = read_plugin(reader, text, entry, &inner);
    else
        code = bli_scheme_parse(words, &entry->spec, &inner);
    if (code)
        return bli_reader_fail(reader, text, "policies", code, "%s", inner.text);
    entry->text = bli_arena_text(reader->arena, words, strlen(words));
    if (!entry->label)
        entry->label = entry->proxy == BLI_PROXY_BALLAST ? entry->text : bli_live_label(reader, entry);
    return check_label(reader, node, index, entries);
}

enum bal_code bli_read_policies(struct bli_reader *reader) {
    struct bli_experiment *e = reader->e;
    const int list = bli_node_get(reader->document, reader->root, "policies");
    const size_t count = bli_node_count(reader->document, list);
    const size_t most = e->live ? BLI_EXPERIMENT_POLICIES / 2 : BLI_EXPERIMENT_POLICIES;
    if (count > most)
        return bli_reader_fail(reader, list, "policies", BAL_E_RANGE,
                               "there are %zu policies; at most %zu are possible", count, most);
    struct bli_experiment_policy *entries = bli_reader_take(reader, 2 * count, sizeof *entries);
    unsigned *item = bli_reader_take(reader, 2 * count, sizeof *item);
    if (!entries || !item)
        return BAL_E_MEMORY;
    e->own->item = item;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const int node = bli_node_item(reader->document, list, i);
        enum bal_code code = read_policy(reader, node, used, entries);
        item[used++] = (unsigned)i;
        if (!code && e->live && bli_live_pair(reader, &entries[used - 1], (int)used)) {
            code = check_label(reader, node, used, entries);
            item[used++] = (unsigned)i;
        }
        if (code)
            return code;
    }
    e->policy = entries;
    e->policies = used;
    const int baseline = bli_node_get(reader->document, reader->root, "baseline");
    int index = 0;
    const enum bal_code code = baseline ? bli_reader_policy(reader, baseline, "baseline", &index) : BAL_OK;
    e->baseline = (size_t)index;
    return code;
}

/* ---- settings ---- */

/* Applies the values of a map to the draft, section by section in the order of the tables. */
static enum bal_code apply_overrides(struct bli_reader *reader, int map, struct bli_draft *draft) {
    struct bli_document *document = reader->document;
    for (size_t i = 0; map && i < BLI_SECTIONS; i++) {
        const int section = bli_node_get(document, map, bli_section[i].name);
        const struct bli_table *table = bli_section[i].table;
        for (size_t f = 0; f < table->count; f++) {
            const int node = bli_node_get(document, section, table->field[f].name);
            struct bal_error inner = {0};
            if (node && bli_setting_read(&table->field[f], bli_node_text(document, node), draft, &inner))
                return bli_reader_fail(reader, node, table->field[f].name, inner.code, "%s", inner.text);
        }
    }
    return BAL_OK;
}

/* jobs, time and slots say the same thing. */
static enum bal_code check_length(struct bli_reader *reader, int map) {
    const int run = bli_node_get(reader->document, map, "run");
    static const char *const lengths[] = {"jobs", "time", "slots"};
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        const int node = bli_node_get(reader->document, run, lengths[i]);
        if (node && first)
            return bli_reader_fail(reader, node, lengths[i], BAL_E_MODEL,
                                   "`%s` says already how long a run is; give one of them", first);
        first = node ? lengths[i] : first;
    }
    return BAL_OK;
}

static enum bal_code read_settings(struct bli_reader *reader) {
    struct bli_draft *base = &reader->e->own->base;
    bli_draft_init(base);
    base->live = reader->e->live != NULL;
    enum bal_code code = check_length(reader, reader->root);
    if (!code)
        code = check_length(reader, reader->overrides);
    if (!code)
        code = apply_overrides(reader, reader->root, base);
    if (!code)
        code = apply_overrides(reader, reader->overrides, base);
    if (!code && reader->e->live)
        code = bli_live_settings(reader, base);
    return code;
}

static bool is_swept(const struct bli_experiment *e, const struct bli_field *setting) {
    for (size_t a = 0; a < e->axes; a++)
        for (unsigned f = 0; f < e->axis[a].fields; f++)
            if (e->own->swept[a][f].setting == setting)
                return true;
    return false;
}

/* A setting without a default must come from somewhere. */
static enum bal_code check_settings(struct bli_reader *reader) {
    for (size_t i = 0; i < BLI_SECTIONS; i++) {
        const struct bli_table *table = bli_section[i].table;
        const int section = bli_node_get(reader->document, reader->root, bli_section[i].name);
        const int override = bli_node_get(reader->document, reader->overrides, bli_section[i].name);
        for (size_t f = 0; f < table->count; f++) {
            const struct bli_field *field = &table->field[f];
            if (field->default_value || bli_node_get(reader->document, section, field->name) ||
                bli_node_get(reader->document, override, field->name) || is_swept(reader->e, field))
                continue;
            return bli_reader_lacks(reader, section, bli_section[i].name, field->name, field->help);
        }
    }
    return BAL_OK;
}

/* ---- cells ---- */

/* Where the policy stands in the file. */
static int policy_node(struct bli_reader *reader, size_t policy) {
    return bli_node_item(reader->document, bli_node_get(reader->document, reader->root, "policies"),
                         reader->e->own->item[policy]);
}

static enum bal_code check_point(struct bli_reader *reader, size_t point) {
    const struct bli_experiment *e = reader->e;
    struct bli_document *document = reader->document;
    char where[200], at[220] = "";
    bli_experiment_point_text(e, point, where, sizeof where);
    if (*where)
        snprintf(at, sizeof at, "at %s: ", where);
    struct bli_draft draft;
    bli_plan_point(e, point, &draft);
    const int workload = bli_node_get(document, reader->root, "workload");
    if (isnan(draft.c.model.load))
        return bli_reader_lacks(reader, workload, "workload", "load",
                                "give it, such as `load: 0.9`, or sweep it");
    if (draft.c.model.clock == BLI_CLOCK_CONTINUOUS &&
        (draft.c.model.split || draft.c.model.batch.kind != BLI_BATCH_NONE))
        return bli_reader_fail(
            reader, workload, "workload", BAL_E_MODEL,
            "%sbatches arrive in slotted time; add `clock: slotted`, or leave `batch` and `split` out", at);
    struct bal_error inner = {0};
    if (bli_model_check(&draft.c.model, &inner))
        return bli_reader_fail(reader, workload, "workload", inner.code, "%s%s", at, inner.text);
    if (!isfinite(draft.c.run.time) || draft.c.run.time > 1e15)
        return bli_reader_fail(reader, bli_node_get(document, reader->root, "run"), "run", BAL_E_RANGE,
                               "%sa run would take %g units of time; make it shorter", at, draft.c.run.time);
    if (e->live) {
        const enum bal_code code =
            bli_live_check_point(reader, &draft, bli_node_get(document, reader->root, "policies"), at);
        if (code)
            return code;
    }
    for (size_t p = 0; p < e->policies; p++) {
        bli_plan_policy(e, point, p, &draft);
        if (bli_simulate_check(&draft.c.model, &draft.c.policy, draft.c.run.engine,
                               &e->own->engine[point * e->policies + p], &inner))
            return bli_reader_fail(reader, policy_node(reader, p), "policies", inner.code, "%s%s", at,
                                   inner.text);
        if (draft.c.fluid && bli_case_fluid_check(&draft.c, &inner))
            return bli_reader_fail(reader, policy_node(reader, p), "policies", inner.code,
                                   "%s`fluid: yes`: %s", at, inner.text);
    }
    return BAL_OK;
}

static enum bal_code check_cells(struct bli_reader *reader) {
    enum bal_code code = BAL_OK;
    for (size_t point = 0; !code && point < reader->e->points; point++)
        code = check_point(reader, point);
    return code;
}

/* ---- the rest ---- */

static enum bal_code read_metrics(struct bli_reader *reader) {
    static const int default_value[] = {BLI_RESPONSE_MEAN, BLI_RESPONSE_P99, BLI_MESSAGES_PER_JOB};
    struct bli_experiment *e = reader->e;
    const int node = bli_node_get(reader->document, reader->root, "metrics");
    e->metrics = node ? bli_reader_count(reader, node) : sizeof default_value / sizeof *default_value;
    struct bli_quantity *metric = bli_reader_take(reader, e->metrics, sizeof *metric);
    if (!metric)
        return BAL_E_MEMORY;
    e->metric = metric;
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < e->metrics; i++)
        if (node)
            code = bli_reader_quantity(reader, bli_reader_item(reader, node, i), "metrics", &metric[i]);
        else
            metric[i].metric = default_value[i];
    return code;
}

/* Room for the engines, and for the delays of messages where they are measured. */
static enum bal_code make_cells(struct bli_reader *reader) {
    struct bli_experiment *e = reader->e;
    const size_t count = e->points * e->policies;
    e->own->engine = bli_reader_take(reader, count, sizeof *e->own->engine);
    if (e->live)
        e->own->delay = bli_reader_take(reader, count, sizeof *e->own->delay);
    return reader->arena->lost ? BAL_E_MEMORY : BAL_OK;
}

static enum bal_code read_all(struct bli_reader *reader) {
    struct bli_experiment *e = reader->e;
    enum bal_code code =
        bli_table_check(&bli_experiment_table, reader->document, reader->root, "experiment", reader->err);
    if (code)
        return code;
    if (e->mode != BLI_MODE_PLAIN)
        reader->overrides = bli_node_get(reader->document, reader->root, bli_mode_text(e->mode));
    e->title = bli_reader_line(reader, reader->root, "title");
    e->about = bli_reader_text(reader, reader->root, "about");
    e->unit = bli_reader_line(reader, reader->root, "unit");
    e->paper = bli_reader_line(reader, reader->root, "paper");
    e->section = bli_reader_line(reader, reader->root, "section");
    e->seed = (uint64_t)bli_reader_number(reader, reader->root, "seed", 1);
    /* Checks that need a correct file come last, so that as many mistakes as possible are found at once. */
    const struct {
        const char *key; /* without which there is nothing to read; NULL: there is always something */
        enum bal_code (*read)(struct bli_reader *);
    } part[] = {{"live", bli_read_live},
                {NULL, bli_read_policies},
                {NULL, read_settings},
                {NULL, bli_read_sweep},
                {NULL, make_cells},
                {NULL, read_metrics},
                {"figures", bli_read_figures},
                {"claims", bli_read_claims},
                {NULL, check_settings},
                {NULL, check_cells}};
    for (size_t i = 0; !code && i < sizeof part / sizeof *part; i++)
        if (!part[i].key || bli_node_get(reader->document, reader->root, part[i].key))
            code = part[i].read(reader);
    return code;
}

/* The name of a file without directory and suffix. */
static const char *file_stem(struct bli_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return bli_arena_text(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static struct bli_experiment *new_experiment(const char *text, size_t length, const char *name,
                                             enum bli_mode mode) {
    struct bli_arena arena = {0};
    struct bli_experiment *e = bli_arena_take(&arena, 1, sizeof *e);
    struct bli_experiment_private *own = bli_arena_take(&arena, 1, sizeof *own);
    const char *short_name = file_stem(&arena, name);
    const char *spec = bli_arena_text(&arena, text, length);
    if (!e || !own || arena.lost) {
        bli_arena_fini(&arena);
        return NULL;
    }
    *e = (struct bli_experiment){.name = short_name, .spec = spec, .mode = mode, .own = own};
    own->arena = arena;
    return e;
}

enum bal_code bli_read_document(struct bli_document *document, const char *text, size_t length,
                                const char *name, enum bli_mode mode, struct bli_experiment **experiment,
                                bool *dangling, struct bal_error *err) {
    struct bli_experiment *e = new_experiment(text, length, name, mode);
    if (!e)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", name);
    struct bli_reader reader = {.document = document,
                                .root = bli_document_root(document),
                                .e = e,
                                .arena = &e->own->arena,
                                .err = err};
    enum bal_code code = read_all(&reader);
    if (reader.arena->lost) /* whatever else it then seemed to be */
        code = bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", name);
    *dangling = reader.dangling;
    if (code)
        bli_experiment_free(e);
    else
        *experiment = e;
    return code;
}

enum bal_code bli_read_yaml(const char *text, size_t length, const char *name, struct bli_document **document,
                            struct bal_error *err) {
    if (length > BLI_EXPERIMENT_BYTES)
        return bal_fail(err, BAL_E_RANGE, "%s: the file has %zu bytes; an experiment has at most %u", name,
                        length, BLI_EXPERIMENT_BYTES);
    const enum bal_code code = bli_embed_check(text, length, name, err);
    return code ? code : bli_document_new(text, length, name, document, err);
}

enum bal_code bli_experiment_parse(const char *text, size_t length, const char *name, enum bli_mode mode,
                                   struct bli_experiment **experiment, struct bal_error *err) {
    struct bli_document *document;
    bool dangling;
    enum bal_code code = bli_read_yaml(text, length, name, &document, err);
    if (code)
        return code;
    code = bli_read_document(document, text, length, name, mode, experiment, &dangling, err);
    bli_document_free(document);
    return code;
}

void bli_experiment_free(struct bli_experiment *experiment) {
    if (!experiment)
        return;
    struct bli_arena arena = experiment->own->arena; /* which holds the experiment itself */
    bli_arena_fini(&arena);
}

/* From here on the text of the experiment is all there is to it. */
enum bal_code bli_read_file(const char *path, char **text, size_t *length, struct bal_error *err) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return bal_fail(err, BAL_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    char *raw = malloc(BLI_EXPERIMENT_BYTES + 1);
    const size_t size = raw ? fread(raw, 1, BLI_EXPERIMENT_BYTES + 1, file) : 0;
    const bool failed = ferror(file);
    const int reason = errno;
    fclose(file);
    enum bal_code code;
    if (!raw)
        code = bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", path);
    else if (failed)
        code = bal_fail(err, BAL_E_IO, "%s: cannot be read: %s", path, strerror(reason));
    else
        code = bli_embed(raw, size, path, text, length, err);
    free(raw);
    return code;
}

enum bal_code bli_experiment_read(const char *path, enum bli_mode mode, struct bli_experiment **experiment,
                                  struct bal_error *err) {
    char *text;
    size_t length;
    enum bal_code code = bli_read_file(path, &text, &length, err);
    if (code)
        return code;
    code = bli_experiment_parse(text, length, path, mode, experiment, err);
    free(text);
    return code;
}
