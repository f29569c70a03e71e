/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of policies and settings for the page, which has no copies of its own. */
#include "host.h"

#include "ballast/version.h"
#include "format/json.h"
#include "page_json.h"
#include "spec/setting.h"

static void write_param(struct json *json, const struct bal_param *param) {
    bli_json_open_line(json, NULL, '{');
    bli_json_text(json, "name", param->name);
    bli_json_number(json, "low", param->low);
    bli_json_number(json, "high", param->high);
    bli_json_number(json, "default", param->default_value);
    bli_json_bool(json, "whole", param->whole);
    bli_json_bool(json, "shown", param->always_shown);
    bli_json_text(json, "help", param->help);
    if (param->words) {
        bli_json_open_line(json, "words", '[');
        for (int i = 0; i <= (int)param->high; i++)
            bli_json_text(json, NULL, param->words[i]);
        bli_json_close(json, ']');
    }
    bli_json_close(json, '}');
}

static void write_policy(struct json *json, const struct bal_policy *policy) {
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "name", policy->name);
    bli_json_text(json, "summary", policy->summary);
    bli_json_text(json, "cost", policy->cost);
    bli_json_text(json, "paper", policy->paper);
    bli_json_open(json, "parameters", '[');
    for (size_t i = 0; i < policy->param_count; i++)
        write_param(json, &policy->params[i]);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

/* Those that `ballast compare` has an option for. */
static void write_setting(struct json *json, const struct bli_field *field,
                          const struct bli_section *section) {
    if (!field->argument && !field->flag)
        return;
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "name", field->option ? field->option : field->name);
    bli_json_text(json, "section", section->name);
    bli_json_bool(json, "flag", field->flag != NULL);
    bli_json_text(json, "argument", field->argument ? field->argument : "");
    bli_json_text(json, "default",
                  field->cli_default     ? field->cli_default
                  : field->default_value ? field->default_value
                                         : "");
    bli_json_text(json, "help", field->help);
    bli_json_close(json, '}');
}

void play_tables(void) {
    struct page_json out;
    struct json *json = page_json_open(&out);
    if (!json)
        return;
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "version", BALLAST_VERSION);
    bli_json_open(json, "policies", '[');
    for (size_t i = 0; i < bal_policy_count; i++)
        write_policy(json, bal_policy_table[i]);
    bli_json_close(json, ']');
    bli_json_open(json, "settings", '[');
    const struct bli_section *section;
    const struct bli_field *field;
    for (size_t i = 0; (field = bli_setting_at(i, &section)); i++)
        write_setting(json, field, section);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
    page_json_close(&out);
}
