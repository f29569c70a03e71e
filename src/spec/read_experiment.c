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
static enum bal_code find_policy(struct bal_reader *reader, int node, int *text, enum bal_proxy *proxy) {
    static const char *const names[] = {
        [BAL_PROXY_BALLAST] = "policy", [BAL_PROXY_NGINX] = "nginx", [BAL_PROXY_HAPROXY] = "haproxy"};
    *text = node;
    *proxy = BAL_PROXY_BALLAST;
    if (bal_node_kind(reader->document, node) != BAL_NODE_MAP)
        return BAL_OK;
    *text = 0;
    for (int i = 0; i < 3; i++) {
        const int found = bal_node_get(reader->document, node, names[i]);
        if (found && *text)
            return bal_reader_fail(reader, found, names[i], BAL_E_MODEL,
                                   "`%s` says already what distributes the jobs; give one of them",
                                   names[*proxy]);
        if (!found)
            continue;
        *text = found;
        *proxy = (enum bal_proxy)i;
    }
    if (!*text)
        return bal_reader_lacks(reader, node, "policies", "policy", "name or name:key=value,...: `pod:d=2`");
    if (*proxy != BAL_PROXY_BALLAST && !reader->e->live)
        return bal_reader_fail(reader, *text, names[*proxy], BAL_E_MODEL,
                               "other proxies can be measured, not simulated: `live` says how");
    return BAL_OK;
}

static enum bal_code check_label(struct bal_reader *reader, int node, size_t index,
                                 const struct bal_experiment_policy *entries) {
    static const char *const reserved[] = {"theory", "bound", "floor", "policy", "metric", NULL};
    const char *label = entries[index].label;
    if (bal_choice_find(reserved, label) >= 0)
        return bal_reader_fail(reader, node, "label", BAL_E_RANGE,
                               "'%s' has a meaning of its own; choose another label", label);
    for (size_t i = 0; i < index; i++)
        if (strcmp(entries[i].label, label) == 0)
            return bal_reader_fail(reader, node, "policies", BAL_E_RANGE,
                                   "'%.60s' is there twice; give each a `label` of its own", label);
    return BAL_OK;
}

/* A policy from a file is called by its own name, not by its path. */
static enum bal_code read_plugin(struct bal_reader *reader, int node, struct bal_experiment_policy *entry,
                                 struct bal_error *inner) {
    const char *words = bal_node_text(reader->document, node);
    if (reader->e->live)
        return bal_fail(inner, BAL_E_MODEL,
                        "'%.200s' is a file; what is measured here are the policies that are built in. "
                        "Simulate it with `ballast run`",
                        words);
    const enum bal_code code = bal_plugin_parse(words, &entry->spec, inner);
    if (code || entry->label)
        return code;
    char label[400];
    snprintf(label, sizeof label, "%s%s", entry->spec.policy->name, bal_plugin_params(words));
    entry->label = bal_arena_text(reader->arena, label, strlen(label));
    return BAL_OK;
}

static enum bal_code read_policy(struct bal_reader *reader, int node, size_t index,
                                 struct bal_experiment_policy *entries) {
    struct bal_document *document = reader->document;
    struct bal_experiment_policy *entry = &entries[index];
    int text;
    enum bal_code code = find_policy(reader, node, &text, &entry->proxy);
    if (code)
        return code;
    if (node != text)
        entry->label = bal_reader_line(reader, node, "label");
    struct bal_error inner = {0};
    const char *words = bal_node_text(document, text);
    if (entry->proxy != BAL_PROXY_BALLAST)
        code = bal_baseline_parse(entry->proxy, words, &entry->spec, &inner);
    else if (bal_plugin_is_path(words))
        code = read_plugin(reader, text, entry, &inner);
    else
        code = bal_scheme_parse(words, &entry->spec, &inner);
    if (code)
        return bal_reader_fail(reader, text, "policies", code, "%s", inner.text);
    entry->text = bal_arena_text(reader->arena, words, strlen(words));
    if (!entry->label)
        entry->label = bal_live_label(reader, entry);
    return check_label(reader, node, index, entries);
}

enum bal_code bal_read_policies(struct bal_reader *reader) {
    struct bal_experiment *e = reader->e;
    const int list = bal_node_get(reader->document, reader->root, "policies");
    const size_t count = bal_node_count(reader->document, list);
    const size_t most = e->live ? BAL_EXPERIMENT_POLICIES / 2 : BAL_EXPERIMENT_POLICIES;
    if (count > most)
        return bal_reader_fail(reader, list, "policies", BAL_E_RANGE,
                               "there are %zu policies; at most %zu are possible", count, most);
    struct bal_experiment_policy *entries = bal_reader_take(reader, 2 * count, sizeof *entries);
    unsigned *item = bal_reader_take(reader, 2 * count, sizeof *item);
    if (!entries || !item)
        return BAL_E_MEMORY;
    e->own->item = item;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const int node = bal_node_item(reader->document, list, i);
        enum bal_code code = read_policy(reader, node, used, entries);
        item[used++] = (unsigned)i;
        if (!code && e->live && bal_live_pair(reader, &entries[used - 1], (int)used)) {
            code = check_label(reader, node, used, entries);
            item[used++] = (unsigned)i;
        }
        if (code)
            return code;
    }
    e->policy = entries;
    e->policies = used;
    const int baseline = bal_node_get(reader->document, reader->root, "baseline");
    int index = 0;
    const enum bal_code code = baseline ? bal_reader_policy(reader, baseline, "baseline", &index) : BAL_OK;
    e->baseline = (size_t)index;
    return code;
}

/* ---- settings ---- */

/* Applies the values of a map to the draft, section by section in the order of the tables. */
static enum bal_code apply_overrides(struct bal_reader *reader, int map, struct bal_draft *draft) {
    struct bal_document *document = reader->document;
    for (size_t i = 0; map && i < BAL_SECTIONS; i++) {
        const int section = bal_node_get(document, map, bal_section[i].name);
        const struct bal_table *table = bal_section[i].table;
        for (size_t f = 0; f < table->count; f++) {
            const int node = bal_node_get(document, section, table->field[f].name);
            struct bal_error inner = {0};
            if (node && bal_setting_read(&table->field[f], bal_node_text(document, node), draft, &inner))
                return bal_reader_fail(reader, node, table->field[f].name, inner.code, "%s", inner.text);
        }
    }
    return BAL_OK;
}

/* jobs, time and slots say the same thing. */
static enum bal_code check_length(struct bal_reader *reader, int map) {
    const int run = bal_node_get(reader->document, map, "run");
    static const char *const lengths[] = {"jobs", "time", "slots"};
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        const int node = bal_node_get(reader->document, run, lengths[i]);
        if (node && first)
            return bal_reader_fail(reader, node, lengths[i], BAL_E_MODEL,
                                   "`%s` says already how long a run is; give one of them", first);
        first = node ? lengths[i] : first;
    }
    return BAL_OK;
}

static enum bal_code read_settings(struct bal_reader *reader) {
    struct bal_draft *base = &reader->e->own->base;
    bal_draft_init(base);
    base->live = reader->e->live != NULL;
    enum bal_code code = check_length(reader, reader->root);
    if (!code)
        code = check_length(reader, reader->overrides);
    if (!code)
        code = apply_overrides(reader, reader->root, base);
    if (!code)
        code = apply_overrides(reader, reader->overrides, base);
    if (!code && reader->e->live)
        code = bal_live_settings(reader, base);
    return code;
}

static bool is_swept(const struct bal_experiment *e, const struct bal_field *setting) {
    for (size_t a = 0; a < e->axes; a++)
        for (unsigned f = 0; f < e->axis[a].fields; f++)
            if (e->own->swept[a][f].setting == setting)
                return true;
    return false;
}

/* A setting without a default must come from somewhere. */
static enum bal_code check_settings(struct bal_reader *reader) {
    for (size_t i = 0; i < BAL_SECTIONS; i++) {
        const struct bal_table *table = bal_section[i].table;
        const int section = bal_node_get(reader->document, reader->root, bal_section[i].name);
        const int override = bal_node_get(reader->document, reader->overrides, bal_section[i].name);
        for (size_t f = 0; f < table->count; f++) {
            const struct bal_field *field = &table->field[f];
            if (field->default_value || bal_node_get(reader->document, section, field->name) ||
                bal_node_get(reader->document, override, field->name) || is_swept(reader->e, field))
                continue;
            return bal_reader_lacks(reader, section, bal_section[i].name, field->name, field->help);
        }
    }
    return BAL_OK;
}

/* ---- cells ---- */

/* Where the policy stands in the file. */
static int policy_node(struct bal_reader *reader, size_t policy) {
    return bal_node_item(reader->document, bal_node_get(reader->document, reader->root, "policies"),
                         reader->e->own->item[policy]);
}

static enum bal_code check_point(struct bal_reader *reader, size_t point) {
    const struct bal_experiment *e = reader->e;
    struct bal_document *document = reader->document;
    char where[200], at[220] = "";
    bal_experiment_point_text(e, point, where, sizeof where);
    if (*where)
        snprintf(at, sizeof at, "at %s: ", where);
    struct bal_draft draft;
    bal_plan_point(e, point, &draft);
    const int workload = bal_node_get(document, reader->root, "workload");
    if (isnan(draft.c.model.load))
        return bal_reader_lacks(reader, workload, "workload", "load",
                                "give it, such as `load: 0.9`, or sweep it");
    if (draft.c.model.clock == BAL_CLOCK_CONTINUOUS &&
        (draft.c.model.split || draft.c.model.batch.kind != BAL_BATCH_NONE))
        return bal_reader_fail(
            reader, workload, "workload", BAL_E_MODEL,
            "%sbatches arrive in slotted time; add `clock: slotted`, or leave `batch` and `split` out", at);
    struct bal_error inner = {0};
    if (bal_model_check(&draft.c.model, &inner))
        return bal_reader_fail(reader, workload, "workload", inner.code, "%s%s", at, inner.text);
    if (!isfinite(draft.c.run.time) || draft.c.run.time > 1e15)
        return bal_reader_fail(reader, bal_node_get(document, reader->root, "run"), "run", BAL_E_RANGE,
                               "%sa run would take %g units of time; make it shorter", at, draft.c.run.time);
    if (e->live) {
        const enum bal_code code =
            bal_live_check_point(reader, &draft, bal_node_get(document, reader->root, "policies"), at);
        if (code)
            return code;
    }
    for (size_t p = 0; p < e->policies; p++) {
        enum bal_engine engine;
        bal_plan_policy(e, point, p, &draft);
        if (bal_simulate_check(&draft.c.model, &draft.c.policy, draft.c.run.engine, &engine, &inner))
            return bal_reader_fail(reader, policy_node(reader, p), "policies", inner.code, "%s%s", at,
                                   inner.text);
        if (draft.c.fluid && bal_case_fluid_check(&draft.c, &inner))
            return bal_reader_fail(reader, policy_node(reader, p), "policies", inner.code,
                                   "%s`fluid: yes`: %s", at, inner.text);
    }
    return BAL_OK;
}

static enum bal_code check_cells(struct bal_reader *reader) {
    enum bal_code code = BAL_OK;
    for (size_t point = 0; !code && point < reader->e->points; point++)
        code = check_point(reader, point);
    return code;
}

/* ---- the rest ---- */

static enum bal_code read_metrics(struct bal_reader *reader) {
    static const int default_value[] = {BAL_RESPONSE_MEAN, BAL_RESPONSE_P99, BAL_MESSAGES_PER_JOB};
    struct bal_experiment *e = reader->e;
    const int node = bal_node_get(reader->document, reader->root, "metrics");
    e->metrics = node ? bal_reader_count(reader, node) : sizeof default_value / sizeof *default_value;
    struct bal_quantity *metric = bal_reader_take(reader, e->metrics, sizeof *metric);
    if (!metric)
        return BAL_E_MEMORY;
    e->metric = metric;
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < e->metrics; i++)
        if (node)
            code = bal_reader_quantity(reader, bal_reader_item(reader, node, i), "metrics", &metric[i]);
        else
            metric[i].metric = default_value[i];
    return code;
}

/* Room for the delays of messages, where they are measured. */
static enum bal_code make_delays(struct bal_reader *reader) {
    struct bal_experiment *e = reader->e;
    if (!e->live)
        return BAL_OK;
    const size_t count = e->points * e->policies;
    e->own->delay = bal_reader_take(reader, count, sizeof *e->own->delay);
    for (size_t i = 0; e->own->delay && i < count; i++)
        e->own->delay[i] = 0;
    return e->own->delay ? BAL_OK : BAL_E_MEMORY;
}

static enum bal_code read_all(struct bal_reader *reader) {
    struct bal_experiment *e = reader->e;
    enum bal_code code =
        bal_table_check(&bal_experiment_table, reader->document, reader->root, "experiment", reader->err);
    if (code)
        return code;
    if (e->mode != BAL_MODE_PLAIN)
        reader->overrides = bal_node_get(reader->document, reader->root, bal_mode_text(e->mode));
    e->title = bal_reader_line(reader, reader->root, "title");
    e->about = bal_reader_text(reader, reader->root, "about");
    e->unit = bal_reader_line(reader, reader->root, "unit");
    e->paper = bal_reader_line(reader, reader->root, "paper");
    e->section = bal_reader_line(reader, reader->root, "section");
    e->seed = (uint64_t)bal_reader_number(reader, reader->root, "seed", 1);
    /* Checks that need a correct file come last, so that as many mistakes as possible are found at once. */
    enum bal_code (*const part[])(struct bal_reader *) = {
        bal_read_live, bal_read_policies, read_settings,   bal_read_sweep, make_delays,
        read_metrics,  bal_read_figures,  bal_read_claims, check_settings, check_cells};
    for (size_t i = 0; !code && i < sizeof part / sizeof *part; i++)
        code = part[i](reader);
    return code;
}

/* The name of a file without directory and suffix. */
static const char *file_stem(struct bal_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return bal_arena_text(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static struct bal_experiment *new_experiment(const char *text, size_t length, const char *name,
                                             enum bal_mode mode) {
    struct bal_arena arena = {0};
    struct bal_experiment *e = bal_arena_take(&arena, 1, sizeof *e);
    struct bal_experiment_private *own = bal_arena_take(&arena, 1, sizeof *own);
    const char *short_name = file_stem(&arena, name);
    const char *spec = bal_arena_text(&arena, text, length);
    if (!e || !own || arena.lost) {
        bal_arena_fini(&arena);
        return NULL;
    }
    *e = (struct bal_experiment){.name = short_name, .spec = spec, .mode = mode, .own = own};
    own->arena = arena;
    return e;
}

enum bal_code bal_read_document(struct bal_document *document, const char *text, size_t length,
                                const char *name, enum bal_mode mode, struct bal_experiment **experiment,
                                bool *dangling, struct bal_error *err) {
    struct bal_experiment *e = new_experiment(text, length, name, mode);
    if (!e)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", name);
    struct bal_reader reader = {.document = document,
                                .root = bal_document_root(document),
                                .e = e,
                                .arena = &e->own->arena,
                                .err = err};
    enum bal_code code = read_all(&reader);
    if (reader.arena->lost) /* whatever else it then seemed to be */
        code = bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", name);
    *dangling = reader.dangling;
    if (code)
        bal_experiment_free(e);
    else
        *experiment = e;
    return code;
}

enum bal_code bal_read_yaml(const char *text, size_t length, const char *name, struct bal_document **document,
                            struct bal_error *err) {
    if (length > BAL_EXPERIMENT_BYTES)
        return bal_fail(err, BAL_E_RANGE, "%s: the file has %zu bytes; an experiment has at most %u", name,
                        length, BAL_EXPERIMENT_BYTES);
    const enum bal_code code = bal_embed_check(text, length, name, err);
    return code ? code : bal_document_new(text, length, name, document, err);
}

enum bal_code bal_experiment_parse(const char *text, size_t length, const char *name, enum bal_mode mode,
                                   struct bal_experiment **experiment, struct bal_error *err) {
    struct bal_document *document;
    bool dangling;
    enum bal_code code = bal_read_yaml(text, length, name, &document, err);
    if (code)
        return code;
    code = bal_read_document(document, text, length, name, mode, experiment, &dangling, err);
    bal_document_free(document);
    return code;
}

void bal_experiment_free(struct bal_experiment *experiment) {
    if (!experiment)
        return;
    struct bal_arena arena = experiment->own->arena; /* which holds the experiment itself */
    bal_arena_fini(&arena);
}

/* From here on the text of the experiment is all there is to it. */
enum bal_code bal_read_file(const char *path, char **text, size_t *length, struct bal_error *err) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return bal_fail(err, BAL_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    char *raw = malloc(BAL_EXPERIMENT_BYTES + 1);
    const size_t size = raw ? fread(raw, 1, BAL_EXPERIMENT_BYTES + 1, file) : 0;
    const bool failed = ferror(file);
    const int reason = errno;
    fclose(file);
    enum bal_code code;
    if (!raw)
        code = bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", path);
    else if (failed)
        code = bal_fail(err, BAL_E_IO, "%s: cannot be read: %s", path, strerror(reason));
    else
        code = bal_embed(raw, size, path, text, length, err);
    free(raw);
    return code;
}

enum bal_code bal_experiment_read(const char *path, enum bal_mode mode, struct bal_experiment **experiment,
                                  struct bal_error *err) {
    char *text;
    size_t length;
    enum bal_code code = bal_read_file(path, &text, &length, err);
    if (code)
        return code;
    code = bal_experiment_parse(text, length, path, mode, experiment, err);
    free(text);
    return code;
}
