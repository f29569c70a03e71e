/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads settings and policies, checks them together, and drafts cases from them. */
#include "question/request.h"

#include "plugin/loader.h"

#include "ballast/figure.h"

#include "format/file.h"
#include "policy/aliases.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The place of a setting among all of them. */
static size_t index_of(const struct bli_field *setting) {
    size_t i = 0;
    while (bli_setting_at(i, NULL) != setting)
        i++;
    assert(i < 64);
    return i;
}

/* The default of a question or of commands, where it is another one than that of the setting. */
static void set_default(struct bli_request *request, const struct bli_field *setting, const char *value) {
    if (!setting->cli_default && setting->default_value && strcmp(value, setting->default_value) == 0)
        return;
    const enum bal_code code = setting->set(&request->draft, value, NULL);
    assert(code == BAL_OK);
    (void)code;
}

void bli_request_init(struct bli_request *request, const struct bli_options *options) {
    *request = (struct bli_request){.seed = 1};
    bli_draft_init(&request->draft);
    const struct bli_field *setting;
    for (size_t i = 0; (setting = bli_setting_at(i, NULL)); i++)
        if (setting->cli_default)
            set_default(request, setting, setting->cli_default);
    for (size_t i = 0; i < options->count; i++) {
        const struct bli_option *option = &options->option[i];
        if (option->field && option->default_value && *option->default_value)
            set_default(request, option->field, option->default_value);
    }
}

enum bal_code bli_request_set(struct bli_request *request, const struct bli_field *setting, const char *value,
                              struct bal_error *err) {
    const enum bal_code code = setting->set(&request->draft, value, err);
    if (!code)
        request->given |= UINT64_C(1) << index_of(setting);
    return code;
}

void bli_request_mark(struct bli_request *request, const char *setting) {
    const struct bli_field *field = bli_setting_find(setting);
    assert(field);
    request->given |= UINT64_C(1) << index_of(field);
}

bool bli_request_has(const struct bli_request *request, const char *setting) {
    const struct bli_field *field = bli_setting_find(setting);
    assert(field);
    return request->given >> index_of(field) & 1;
}

enum bal_code bli_request_parse_policy(const char *text, struct bal_policy_spec *spec,
                                       struct bal_error *err) {
    return bli_plugin_is_path(text) ? bli_plugin_parse(text, spec, err) : bli_scheme_parse(text, spec, err);
}

enum bal_code bli_request_set_policy(void *into, const char *value, struct bal_error *err) {
    struct bli_request *request = into;
    if (request->policies == BLI_REQUEST_POLICIES)
        return bal_fail(err, BAL_E_RANGE, "too many; at most %d policies can be compared at once",
                        BLI_REQUEST_POLICIES);
    struct bal_policy_spec *spec = &request->policy[request->policies];
    const enum bal_code code = bli_request_parse_policy(value, spec, err);
    if (code)
        return code;
    const char *name = spec->policy->name;
    const bool ours = bli_plugin_is_path(value) || bli_name_is(name, value, strcspn(value, ":"));
    request->called[request->policies++] = ours ? NULL : value;
    return BAL_OK;
}

enum bal_code bli_request_set_percentiles(void *into, const char *value, struct bal_error *err) {
    return bli_percentiles_add(value, &((struct bli_request *)into)->percentiles, err);
}

enum bal_code bli_request_set_format_but_csv(void *into, const char *value, struct bal_error *err) {
    if (strcmp(value, "csv") == 0)
        return bal_fail(err, BAL_E_UNKNOWN, "not one of text, markdown, json");
    return bli_form_parse(value, &((struct bli_request *)into)->format, err);
}

enum bal_code bli_request_set_figure(void *into, const char *value, struct bal_error *err) {
    if (bli_figure_format_of(value) == BLI_FIGURE_FORMATS)
        return bal_fail(err, BAL_E_UNKNOWN, "the name must end in .svg, .png, .pdf, .eps or .csv");
    ((struct bli_request *)into)->figure = value;
    return bli_file_check(value, err);
}

const char *bli_default_policy(size_t i) {
    static const char *const variants[] = {"jiq:else=least-conn", "jiq:else=hold"};
    const size_t behind = i - bal_policy_count;
    return i < bal_policy_count                          ? bal_policy_table[i]->name
           : behind < sizeof variants / sizeof *variants ? variants[behind]
                                                         : NULL;
}

/* Without --policy: every policy that can run this model, except those that choose by weights if there are no
 * weights, since they equal others then, and those that want to be named. If jobs arise at the servers: only
 * the policy for that. */
static void choose_all(struct bli_request *request) {
    const struct bli_model *model = &request->draft.c.model;
    const bool steals = model->steal.kind != BAL_STEAL_NONE;
    if (bli_request_has(request, "placement") || (model->clock == BLI_CLOCK_SLOTTED && steals)) {
        bli_scheme_parse("stealing", &request->policy[request->policies++], NULL);
        return;
    }
    const char *name;
    for (size_t i = 0; (name = bli_default_policy(i)) && request->policies < BLI_REQUEST_POLICIES; i++) {
        struct bal_policy_spec *spec = &request->policy[request->policies];
        if (bal_policy_parse(name, spec, NULL) == BAL_OK && bli_simulate_is_distinct(model, spec->policy) &&
            bli_simulate_check(model, spec, request->draft.c.run.engine, &request->engine[request->policies],
                               NULL) == BAL_OK)
            request->policies++;
    }
}

/* Jobs from generators arrive in slots; the user need not set that. */
static bool has_generators(const struct bli_request *request) {
    bool found = bli_request_has(request, "placement");
    for (size_t i = 0; i < request->policies; i++)
        found |= bli_scheme_of(request->policy[i].policy) == BLI_SCHEME_GENERATED;
    return found;
}

enum bal_code bli_request_check_length(const struct bli_request *request, struct bal_error *err) {
    if (bli_request_has(request, "run.time") && bli_request_has(request, "run.jobs"))
        return bal_fail(err, BAL_E_MODEL, "--time and --jobs: both say how long a run is; give one of them");
    return BAL_OK;
}

enum bal_code bli_request_check_explain(const struct bli_request *request, bool explain,
                                        struct bal_error *err) {
    if (explain && (request->format == BLI_FORM_CSV || request->format == BLI_FORM_JSON))
        return bal_fail(err, BAL_E_MODEL,
                        "--explain: sentences belong below a table; use --format text or markdown");
    return BAL_OK;
}

/* Options that do not go together. */
static enum bal_code check_together(const struct bli_request *request, struct bal_error *err) {
    const struct bli_model *model = &request->draft.c.model;
    const bool slotted = model->clock == BLI_CLOCK_SLOTTED, steals = model->steal.kind != BAL_STEAL_NONE;
    const bool batch = bli_request_has(request, "batch");
    const char *what =
        !slotted && model->split ? "--split: batches arrive in slotted time; add --slotted, or use --tasks"
        : !slotted && batch      ? "--batch: batches arrive in slotted time; add --slotted, or use --tasks"
        : slotted && bli_request_has(request, "service")
            ? "--service: in slotted time every job is one unit of capacity; leave it out"
        : model->others && !steals ? "--victims: no server steals; add --steal, such as --steal half"
        : slotted && steals && batch
            ? "--batch: where servers steal in slotted time, jobs come from generators; leave it out"
            : NULL;
    return what ? bal_fail(err, BAL_E_MODEL, "%s", what) : bli_request_check_length(request, err);
}

/* Limits of jobs that a dispatcher holds, where none does. */
static enum bal_code check_held(const struct bli_request *request, struct bal_error *err) {
    const struct bli_model *model = &request->draft.c.model;
    const char *limit = model->hold_limit.given ? "hold-limit" : model->backlog > 0 ? "backlog" : NULL;
    for (size_t i = 0; i < request->policies && limit; i++)
        if (bal_policy_flags(&request->policy[i]) & BAL_MAY_HOLD)
            limit = NULL;
    return limit ? bal_fail(err, BAL_E_MODEL,
                            "--%s: no policy here holds jobs; leave it out, or take one that does, such as "
                            "jiq:else=hold",
                            limit)
                 : BAL_OK;
}

enum bal_code bli_request_check(struct bli_request *request, struct bal_error *err) {
    struct bli_model *model = &request->draft.c.model;
    if (has_generators(request))
        model->clock = BLI_CLOCK_SLOTTED;
    enum bal_code code = check_together(request, err);
    if (code)
        return code;
    if (!bli_request_has(request, "load")) /* a batch with its own mean determines the load */
        bli_model_set_load(model);
    bli_draft_complete(&request->draft);
    code = bli_model_check(model, err);
    if (code)
        return code;
    memset(request->engine, BLI_ENGINE_AUTO, sizeof request->engine);
    if (request->policies == 0)
        choose_all(request);
    if (request->policies == 0)
        return bal_fail(err, BAL_E_MODEL, "no policy fits this model; name one with --policy to see why");
    for (size_t i = 0; i < request->policies; i++) {
        struct bal_error why = {0};
        enum bli_engine *engine = &request->engine[i];
        if (*engine == BLI_ENGINE_AUTO)
            code = bli_simulate_check(model, &request->policy[i], request->draft.c.run.engine, engine, &why);
        if (code)
            return bal_fail(err, code, "--policy: %s", why.text);
    }
    return check_held(request, err);
}

void bli_request_case(const struct bli_request *request, size_t policy, struct bli_case *c) {
    *c = request->draft.c;
    c->policy = request->policy[policy];
    c->run.seed = (uint64_t)request->seed;
    if (request->percentiles.count > 0)
        c->run.percentiles = &request->percentiles;
}

void bli_request_cases(const struct bli_request *request, struct bli_case *cases) {
    for (size_t i = 0; i < request->policies; i++) {
        bli_request_case(request, i, &cases[i]);
        cases[i].run.engine = request->engine[i];
        cases[i].run.engine_fits = request->engine[i] != BLI_ENGINE_AUTO;
    }
    const double usual = request->draft.window > 0 ? bli_default_run_length(&cases[0].model)
                                                   : bli_initial_run_length(cases, request->policies);
    bli_draft_choose_length(&request->draft, cases, request->policies, usual);
}
