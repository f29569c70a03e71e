/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads settings, policies and output options that commands have in common, and builds cases from them. */
#include "common.h"

#include "ballast/plugin.h"

#include "ballast/figure.h"

#include "format/file.h"
#include "policy/aliases.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The place of a setting among all of them. */
static size_t index_of(const struct bal_field *setting) {
    size_t i = 0;
    while (bal_setting_at(i, NULL) != setting)
        i++;
    assert(i < 64);
    return i;
}

static void set_default(struct cli_common *common, const struct bal_field *setting, const char *value) {
    const enum bal_code code = setting->set(&common->draft, value, NULL);
    assert(code == BAL_OK);
    (void)code;
}

void cli_common_init(struct cli_common *common, const struct cli_command *command) {
    *common = (struct cli_common){.seed = 1};
    bal_draft_init(&common->draft);
    const struct bal_field *setting;
    for (size_t i = 0; (setting = bal_setting_at(i, NULL)); i++)
        if (setting->cli_default)
            set_default(common, setting, setting->cli_default);
    struct cli_option option;
    for (size_t i = 0; cli_option_at(command, i, &option); i++)
        if (option.field && option.default_value && *option.default_value)
            set_default(common, option.field, option.default_value);
}

enum bal_code cli_common_set(struct cli_common *common, const struct bal_field *setting, const char *value,
                             struct bal_error *err) {
    const enum bal_code code = setting->set(&common->draft, value, err);
    if (!code)
        common->given |= UINT64_C(1) << index_of(setting);
    return code;
}

void cli_common_give(struct cli_common *common, const char *setting) {
    const struct bal_field *field = bal_setting_find(setting);
    assert(field);
    common->given |= UINT64_C(1) << index_of(field);
}

bool cli_common_given(const struct cli_common *common, const char *setting) {
    const struct bal_field *field = bal_setting_find(setting);
    assert(field);
    return common->given >> index_of(field) & 1;
}

enum bal_code cli_parse_policy(const char *text, struct bal_policy_spec *spec, struct bal_error *err) {
    return bal_plugin_is_path(text) ? bal_plugin_parse(text, spec, err) : bal_scheme_parse(text, spec, err);
}

enum bal_code cli_set_policy(void *into, const char *value, struct bal_error *err) {
    struct cli_common *common = into;
    if (common->policies == CLI_POLICIES_MAX)
        return bal_fail(err, BAL_E_RANGE, "too many; at most %d policies can be compared at once",
                        CLI_POLICIES_MAX);
    struct bal_policy_spec *spec = &common->policy[common->policies];
    const enum bal_code code = cli_parse_policy(value, spec, err);
    if (code)
        return code;
    const char *name = spec->policy->name;
    const bool ours = bal_plugin_is_path(value) || bal_name_is(name, value, strcspn(value, ":"));
    common->called[common->policies++] = ours ? NULL : value;
    return BAL_OK;
}

enum bal_code cli_set_seed(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 9007199254740991, true, "a whole number from 0"};
    return cli_number(value, &range, &((struct cli_common *)into)->seed, err);
}

enum bal_code cli_set_threads(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 1024, true, "a whole number from 1 to 1024"};
    return cli_number(value, &range, &((struct cli_common *)into)->threads, err);
}

enum bal_code cli_set_percentiles(void *into, const char *value, struct bal_error *err) {
    return bal_percentiles_add(value, &((struct cli_common *)into)->percentiles, err);
}

enum bal_code cli_set_format(void *into, const char *value, struct bal_error *err) {
    return cli_format(value, &((struct cli_common *)into)->format, err);
}

enum bal_code cli_set_output(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct cli_common *)into)->output = value;
    return BAL_OK;
}

enum bal_code cli_set_figure(void *into, const char *value, struct bal_error *err) {
    if (bal_figure_format_of(value) == BAL_FIGURE_FORMATS)
        return bal_fail(err, BAL_E_UNKNOWN, "the name must end in .svg, .png, .pdf, .eps or .csv");
    ((struct cli_common *)into)->figure = value;
    return bal_file_check(value, err);
}

enum bal_code cli_set_quiet(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct cli_common *)into)->quiet = true;
    return BAL_OK;
}

const char *cli_default_policy(size_t i) {
    static const char *const variants[] = {"jiq:else=least-conn", "jiq:else=hold"};
    const size_t behind = i - bal_policy_count;
    return i < bal_policy_count                          ? bal_policy_table[i]->name
           : behind < sizeof variants / sizeof *variants ? variants[behind]
                                                         : NULL;
}

/* Without --policy: every policy that can run this model, except those that choose by weights if there are no
 * weights, since they equal others then. If jobs arise at the servers: only the policy for that. */
static void choose_all(struct cli_common *common) {
    const struct bal_model *model = &common->draft.c.model;
    const bool steals = model->steal.kind != BAL_STEAL_NONE;
    if (cli_common_given(common, "placement") || (model->clock == BAL_CLOCK_SLOTTED && steals)) {
        bal_scheme_parse("stealing", &common->policy[common->policies++], NULL);
        return;
    }
    const char *name;
    for (size_t i = 0; (name = cli_default_policy(i)) && common->policies < CLI_POLICIES_MAX; i++) {
        struct bal_policy_spec spec;
        enum bal_engine engine;
        if (bal_policy_parse(name, &spec, NULL) == BAL_OK && bal_simulate_is_distinct(model, spec.policy) &&
            bal_simulate_check(model, &spec, common->draft.c.run.engine, &engine, NULL) == BAL_OK)
            common->policy[common->policies++] = spec;
    }
}

/* Jobs from generators arrive in slots; the user need not set that. */
static bool has_generators(const struct cli_common *common) {
    bool found = cli_common_given(common, "placement");
    for (size_t i = 0; i < common->policies; i++)
        found |= bal_scheme_of(common->policy[i].policy) == BAL_SCHEME_GENERATED;
    return found;
}

int cli_common_check_length(const struct cli_common *common) {
    if (cli_common_given(common, "run.time") && cli_common_given(common, "run.jobs"))
        return cli_fail("--time and --jobs: both say how long a run is; give one of them");
    return -1;
}

/* Options that do not go together. Returns -1 to go on, otherwise the exit status. */
static int check_together(const struct cli_common *common) {
    const struct bal_model *model = &common->draft.c.model;
    const bool slotted = model->clock == BAL_CLOCK_SLOTTED, steals = model->steal.kind != BAL_STEAL_NONE;
    if (!slotted && model->split)
        return cli_fail("--split: batches arrive in slotted time; add --slotted, or use --tasks");
    if (!slotted && cli_common_given(common, "batch"))
        return cli_fail("--batch: batches arrive in slotted time; add --slotted, or use --tasks");
    if (slotted && cli_common_given(common, "service"))
        return cli_fail("--service: in slotted time every job is one unit of capacity; leave it out");
    if (model->others && !steals)
        return cli_fail("--victims: no server steals; add --steal, such as --steal half");
    if (slotted && steals && cli_common_given(common, "batch"))
        return cli_fail(
            "--batch: where servers steal in slotted time, jobs come from generators; leave it out");
    return cli_common_check_length(common);
}

int cli_common_check(struct cli_common *common) {
    struct bal_model *model = &common->draft.c.model;
    struct bal_error err = {0};
    if (has_generators(common))
        model->clock = BAL_CLOCK_SLOTTED;
    const int status = check_together(common);
    if (status >= 0)
        return status;
    if (!cli_common_given(common, "load")) /* a batch with its own mean determines the load */
        bal_model_set_load(model);
    bal_draft_complete(&common->draft);
    if (bal_model_check(model, &err))
        return cli_fail("%s", err.text);
    if (common->policies == 0)
        choose_all(common);
    if (common->policies == 0)
        return cli_fail("no policy fits this model; name one with --policy to see why");
    for (size_t i = 0; i < common->policies; i++) {
        enum bal_engine engine;
        if (bal_simulate_check(model, &common->policy[i], common->draft.c.run.engine, &engine, &err))
            return cli_fail("--policy: %s", err.text);
    }
    return -1;
}

struct bal_draft cli_common_draft(const struct cli_common *common, size_t policy) {
    struct bal_draft draft = common->draft;
    bal_draft_complete(&draft);
    draft.c.policy = common->policy[policy];
    draft.c.run.seed = (uint64_t)common->seed;
    if (common->percentiles.count > 0)
        draft.c.run.percentiles = &common->percentiles;
    return draft;
}

void cli_common_cases(const struct cli_common *common, struct bal_case *cases) {
    for (size_t i = 0; i < common->policies; i++)
        cases[i] = cli_common_draft(common, i).c;
    const double usual = common->draft.window > 0 ? bal_default_run_length(&cases[0].model)
                                                  : bal_initial_run_length(cases, common->policies);
    bal_draft_choose_length(&common->draft, cases, common->policies, usual);
}

struct bal_lab_options cli_common_lab(const struct cli_common *common, struct cli_progress *progress) {
    cli_catch_signals();
    cli_progress_start(progress, common->quiet);
    return (struct bal_lab_options){.threads = (unsigned)common->threads,
                                    .max_replications = (unsigned)common->draft.most,
                                    .stop = cli_stop_flag(),
                                    .progress = cli_progress_show,
                                    .progress_context = progress};
}
