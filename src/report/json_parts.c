/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints settings of a model and estimates as JSON. */
#include "report/json_parts.h"

#include "ballast/number.h"
#include "spec/setting.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Of a time of switching the setting says the mean even where it is 1, the law does not. */
static void print_law(const struct bal_model *model, const char *name, char text[BAL_SETTING_TEXT]) {
    const struct bal_dist *law = strcmp(name, "standby") == 0 ? &model->standby
                                 : strcmp(name, "setup") == 0 ? &model->setup
                                                              : NULL;
    if (law && law->mean > 0)
        bal_dist_print(law, text, BAL_SETTING_TEXT);
}

static void json_setting(struct json *json, const struct bal_draft *draft, const char *name,
                         const char *marks) {
    const struct bal_field *setting = bal_setting_find(name);
    char text[BAL_SETTING_TEXT];
    double number;
    assert(setting);
    if (!bal_setting_print(setting, draft, text) && strchr(marks, '?'))
        return;
    print_law(&draft->c.model, name, text);
    if (strchr(marks, '!'))
        bal_json_bool(json, name, strcmp(text, "yes") == 0);
    else if (strchr(marks, '#') && (!*text || bal_number_parse(text, strlen(text), &number)))
        bal_json_number(json, name, *text ? number : NAN);
    else
        bal_json_text(json, name, text);
}

void bal_json_model(struct json *json, const struct bal_model *model, const char *names) {
    struct bal_draft draft;
    bal_draft_init(&draft);
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

void bal_json_estimate(struct json *json, const char *key, const char *suffix, struct bal_estimate estimate) {
    char name[128];
    bal_json_number(json, key, estimate.mean);
    snprintf(name, sizeof name, "%s%s", key, suffix);
    bal_json_number(json, name, estimate.half_width);
}

void bal_json_interval(struct json *json, const char *key, struct bal_estimate estimate) {
    bal_json_open_line(json, key, '{');
    bal_json_number(json, "mean", estimate.mean);
    bal_json_number(json, "ci", estimate.half_width);
    bal_json_close(json, '}');
}
