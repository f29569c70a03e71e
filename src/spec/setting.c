/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done with the rows of settings: defaults, reading, printing, and completing a draft. */
#include "spec/setting.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const struct bal_section bal_section[BAL_SECTIONS] = {
    {"fleet", "", true, &bal_fleet_table},
    {"workload", "", true, &bal_workload_table},
    {"network", "", true, &bal_network_table},
    {"run", "run.", false, &bal_run_table},
};

const struct bal_field *bal_setting_at(size_t i, const struct bal_section **section) {
    for (size_t s = 0; s < BAL_SECTIONS; s++) {
        if (i < bal_section[s].table->count) {
            if (section)
                *section = &bal_section[s];
            return &bal_section[s].table->field[i];
        }
        i -= bal_section[s].table->count;
    }
    return NULL;
}

const struct bal_field *bal_setting_find(const char *name) {
    for (size_t s = 0; s < BAL_SECTIONS; s++) {
        const size_t prefix = strlen(bal_section[s].prefix);
        const struct bal_field *field = strncmp(name, bal_section[s].prefix, prefix) == 0
                                            ? bal_table_find(bal_section[s].table, name + prefix)
                                            : NULL;
        if (field)
            return field;
    }
    return NULL;
}

enum bal_code bal_setting_read(const struct bal_field *setting, const char *text, struct bal_draft *draft,
                               struct bal_error *err) {
    struct bal_error inner = {0};
    const enum bal_code code = setting->set(draft, text, &inner);
    if (!code)
        return BAL_OK;
    if (strncmp(inner.text, "not ", strlen("not ")) == 0)
        return bal_fail(err, code, "'%.60s' is %s", text, inner.text);
    return bal_fail(err, code, "%s", inner.text);
}

/* As values: most drafts keep most of them, and no text is read or printed for what is as it was. The rows
 * have them as text, for help and documentation; tests/unit/experiment.c compares the two. */
static const struct bal_draft defaults = {
    .c =
        {
            .model =
                {
                    .size.mean = 1,
                    .load = NAN,
                    .tasks = 1,
                    .reports.mean = 1,
                    .watts = {.busy = 200, .idle = 140, .setup = 200},
                    .slots = 1,
                    .network.dispatchers.count = 1,
                },
            .run.warmup = NAN,
            .replications = 10,
        },
    .jobs = NAN,
    .time = NAN,
    .warmup = NAN,
    .most = 1000,
};

void bal_draft_init(struct bal_draft *draft) {
    memcpy(draft, &defaults, sizeof *draft); /* with the gaps, so that members can be compared */
}

static bool is_untouched(const struct bal_field *setting, const struct bal_draft *draft) {
    const char *value = (const char *)draft + setting->at, *untouched = (const char *)&defaults + setting->at;
    return setting->size > 0 && memcmp(value, untouched, setting->size) == 0;
}

bool bal_setting_print(const struct bal_field *setting, const struct bal_draft *draft,
                       char text[BAL_SETTING_TEXT]) {
    if (setting->deprecated || is_untouched(setting, draft)) { /* another row prints what a former name sets
                                                                */
        strcpy(text, setting->default_value ? setting->default_value : "");
        return false;
    }
    const size_t length = setting->print(draft, text, BAL_SETTING_TEXT);
    assert(length < BAL_SETTING_TEXT);
    (void)length;
    return *text && (!setting->default_value || strcmp(text, setting->default_value) != 0);
}

bool bal_draft_is_open(const struct bal_draft *draft) {
    return isnan(draft->time) && isnan(draft->jobs);
}

double bal_draft_time(const struct bal_draft *draft) {
    const struct bal_model *model = &draft->c.model;
    if (!isnan(draft->time))
        return draft->time;
    if (isnan(draft->jobs))
        return bal_default_run_length(model);
    const double time = draft->jobs / bal_model_arrival_rate(model);
    return model->clock == BAL_CLOCK_SLOTTED ? ceil(time) : time;
}

void bal_draft_complete(struct bal_draft *draft) {
    struct bal_model *model = &draft->c.model;
    if (model->clock == BAL_CLOCK_SLOTTED && model->batch.kind == BAL_BATCH_NONE)
        bal_batch_parse("poisson", &model->batch, NULL);
    if (model->clock == BAL_CLOCK_SLOTTED && isnan(model->load))
        bal_model_set_load(model);
    draft->c.run.time = bal_draft_time(draft);
    draft->c.path = draft->window > 0 && !bal_draft_is_open(draft);
    if (draft->window > 0)
        draft->c.run.warmup = fmin(fmax(1 - draft->window / draft->c.run.time, 0), 0.999);
}

void bal_draft_choose_length(const struct bal_draft *draft, struct bal_case *cases, size_t count,
                             double usual) {
    if (!bal_draft_is_open(draft))
        return;
    for (size_t i = 0; i < count; i++)
        cases[i].run.warmup = draft->warmup;
    bal_choose_length(cases, count, usual, draft->window);
}
