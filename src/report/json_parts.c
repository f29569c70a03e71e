/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints settings of a model and estimates as JSON. */
#include "report/json_parts.h"

#include "ballast/number.h"
#include "spec/setting.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Of a time of switching the setting says the mean even where it is 1, the law does not. */
static void print_law(const struct bli_model *model, const char *name, char text[BLI_SETTING_TEXT]) {
    const struct bli_dist *law = strcmp(name, "standby") == 0 ? &model->standby
                                 : strcmp(name, "setup") == 0 ? &model->setup
                                                              : NULL;
    if (law && law->mean > 0)
        bli_dist_print(law, text, BLI_SETTING_TEXT);
}

static void json_setting(struct json *json, const struct bli_draft *draft, const char *name,
                         const char *marks) {
    const struct bli_field *setting = bli_setting_find(name);
    char text[BLI_SETTING_TEXT];
    double number;
    assert(setting);
    if (!bli_setting_print(setting, draft, text) && strchr(marks, '?') && !bli_json_if(json, false))
        return;
    bli_json_about(json, setting->help);
    print_law(&draft->c.model, name, text);
    if (strchr(marks, '!'))
        bli_json_bool(json, name, strcmp(text, "yes") == 0);
    else if (strchr(marks, '#') && bli_number_parse(text, strlen(text), &number))
        bli_json_number_or_text(json, name, number, NULL);
    else if (strchr(marks, '#'))
        bli_json_number_or_text(json, name, NAN, *text ? text : NULL);
    else
        bli_json_text(json, name, text);
}

void bli_json_model(struct json *json, const struct bli_model *model, const char *names) {
    struct bli_draft draft;
    bli_draft_init(&draft);
    draft.c.model = *model;
    while (*names) {
        char name[32], marks[4];
        const size_t length = strcspn(names, " "), bare = strcspn(names, " #!?");
        snprintf(name, sizeof name, "%.*s", (int)bare, names);
        snprintf(marks, sizeof marks, "%.*s", (int)(length - bare), names + bare);
        json_setting(json, &draft, name, marks);
        names += length + strspn(names + length, " ");
    }
}

void bli_json_model_if(struct json *json, const struct bli_model *model, bool condition, const char *names) {
    if (bli_json_if(json, condition))
        bli_json_model(json, model, names);
}

void bli_json_estimate(struct json *json, const char *key, const char *suffix, struct bli_estimate estimate) {
    char name[128];
    bli_json_number(json, key, estimate.mean);
    snprintf(name, sizeof name, "%s%s", key, suffix);
    bli_json_number(json, name, estimate.half_width);
}

void bli_json_interval(struct json *json, const char *key, struct bli_estimate estimate) {
    bli_json_open_line(json, key, '{');
    bli_json_number(json, "mean", estimate.mean);
    bli_json_number(json, "ci", estimate.half_width);
    bli_json_close(json, '}');
}
