/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done with the rows of settings: defaults, reading, printing, and completing a draft. */
#include "spec/setting.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const struct bli_section bli_section[BLI_SECTIONS] = {
    {"fleet", "", true, &bli_fleet_table},
    {"workload", "", true, &bli_workload_table},
    {"network", "", true, &bli_network_table},
    {"run", "run.", false, &bli_run_table},
};

const struct bli_field *bli_setting_at(size_t i, const struct bli_section **section) {
    for (size_t s = 0; s < BLI_SECTIONS; s++) {
        if (i < bli_section[s].table->count) {
            if (section)
                *section = &bli_section[s];
            return &bli_section[s].table->field[i];
        }
        i -= bli_section[s].table->count;
    }
    return NULL;
}

const struct bli_field *bli_setting_find(const char *name) {
    for (size_t s = 0; s < BLI_SECTIONS; s++) {
        const size_t prefix = strlen(bli_section[s].prefix);
        const struct bli_field *field = strncmp(name, bli_section[s].prefix, prefix) == 0
                                            ? bli_table_find(bli_section[s].table, name + prefix)
                                            : NULL;
        if (field)
            return field;
    }
    return NULL;
}

enum bal_code bli_setting_read(const struct bli_field *setting, const char *text, struct bli_draft *draft,
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
static const struct bli_draft defaults = {
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

void bli_draft_init(struct bli_draft *draft) {
    memcpy(draft, &defaults, sizeof *draft); /* with the gaps, so that members can be compared */
}

static bool is_untouched(const struct bli_field *setting, const struct bli_draft *draft) {
    const char *value = (const char *)draft + setting->at, *untouched = (const char *)&defaults + setting->at;
    return setting->size > 0 && memcmp(value, untouched, setting->size) == 0;
}

bool bli_setting_print(const struct bli_field *setting, const struct bli_draft *draft,
                       char text[BLI_SETTING_TEXT]) {
    if (setting->deprecated || is_untouched(setting, draft)) { /* another row prints what a former name sets
                                                                */
        strcpy(text, setting->default_value ? setting->default_value : "");
        return false;
    }
    const size_t length = setting->print(draft, text, BLI_SETTING_TEXT);
    assert(length < BLI_SETTING_TEXT);
    (void)length;
    return *text && (!setting->default_value || strcmp(text, setting->default_value) != 0);
}

bool bli_draft_is_open(const struct bli_draft *draft) {
    return isnan(draft->time) && isnan(draft->jobs);
}

double bli_draft_time(const struct bli_draft *draft) {
    const struct bli_model *model = &draft->c.model;
    if (!isnan(draft->time))
        return draft->time;
    if (isnan(draft->jobs))
        return bli_default_run_length(model);
    const double time = draft->jobs / bli_model_arrival_rate(model);
    return model->clock == BLI_CLOCK_SLOTTED ? ceil(time) : time;
}

void bli_draft_complete(struct bli_draft *draft) {
    struct bli_model *model = &draft->c.model;
    if (model->clock == BLI_CLOCK_SLOTTED && model->batch.kind == BLI_BATCH_NONE)
        bli_batch_parse("poisson", &model->batch, NULL);
    if (model->clock == BLI_CLOCK_SLOTTED && isnan(model->load))
        bli_model_set_load(model);
    draft->c.run.time = bli_draft_time(draft);
    draft->c.path = draft->window > 0 && !bli_draft_is_open(draft);
    if (draft->window > 0)
        draft->c.run.warmup = fmin(fmax(1 - draft->window / draft->c.run.time, 0), 0.999);
}

void bli_draft_choose_length(const struct bli_draft *draft, struct bli_case *cases, size_t count,
                             double usual) {
    if (!bli_draft_is_open(draft))
        return;
    for (size_t i = 0; i < count; i++)
        cases[i].run.warmup = draft->warmup;
    bli_choose_length(cases, count, usual, draft->window);
}
