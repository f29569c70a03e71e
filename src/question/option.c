/* SPDX-License-Identifier: BSD-2-Clause */
/* Expands tables of options, finds an option by its name, and reads its value. */
#include "question/option.h"

#include "ballast/number.h"
#include "question/request.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Fills in from the setting what the row leaves open. */
static void fill_from_setting(struct bli_option *option) {
    const struct bli_field *field = option->field;
    if (!option->name)
        option->name = field->option ? field->option : field->name;
    if (!option->argument)
        option->argument = field->argument;
    if (!option->help)
        option->help = field->help;
    if (!option->default_value)
        option->default_value = field->cli_default ? field->cli_default
                                : field->flag      ? ""
                                                   : field->default_value;
}

static void add(struct bli_options *options, const struct bli_option *row, const struct bli_field *field) {
    assert(options->count < BLI_OPTIONS_MAX && (row->set || row->kept || field));
    struct bli_option *option = &options->option[options->count++];
    *option = *row;
    option->subject = options->subject;
    option->field = field;
    if (field)
        fill_from_setting(option);
}

/* Has the table an option of its own of this name? */
static bool has_own_option(const struct bli_option *row, size_t count, const struct bli_field *field) {
    const char *name = field->option ? field->option : field->name;
    for (size_t i = 0; i < count; i++)
        if (row[i].name && strcmp(row[i].name, name) == 0)
            return true;
    return false;
}

static void add_group(struct bli_options *options, const struct bli_option *row, size_t count,
                      const struct bli_option *group) {
    const struct bli_section *section;
    const struct bli_field *field;
    for (size_t k = 0; (field = bli_setting_at(k, &section)); k++)
        if ((field->argument || field->flag) && section->model == (group->group == BLI_MODEL_SETTINGS) &&
            !has_own_option(row, count, field)) {
            options->subject = section->name;
            add(options, group, field);
        }
}

/* The setting of a group before it, which this row only reads in another way; NULL: there is none. */
static struct bli_option *find_reread(struct bli_options *options, const struct bli_option *row,
                                      const struct bli_field *field) {
    for (size_t i = 0; row->set && field && i < options->count; i++)
        if (options->option[i].field == field)
            return &options->option[i];
    return NULL;
}

void bli_options_expand(struct bli_options *options, const char *of, const struct bli_option *row,
                        size_t count) {
    options->of = of;
    options->count = 0;
    options->subject = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct bli_field *field = row[i].setting ? bli_setting_find(row[i].setting) : NULL;
        struct bli_option *reread = find_reread(options, &row[i], field);
        if (row[i].subject)
            options->subject = row[i].subject;
        else if (row[i].group)
            add_group(options, row, count, &row[i]);
        else if (reread)
            reread->set = row[i].set;
        else
            add(options, &row[i], field);
    }
}

const char *bli_option_head(const struct bli_options *options, size_t i) {
    enum { MANY = 24 };
    const char *subject = options->option[i].subject;
    if (i == 0)
        return options->count > MANY && subject ? subject : "options";
    return options->count > MANY && subject != options->option[i - 1].subject ? subject : NULL;
}

/* Names of earlier versions: accepted, but not shown. NULL: of any question or command. */
static const struct {
    const char *of, *name, *now;
} deprecated[] = {
    {"replay", "class", "group"},
    {"replay", "keeper", "autoscale"},
    {"replay", "price", "cost-per-hour"},
    {"stability", "n", "servers"},
    {"test-server", "with", "exit-with-pid"},
    {"twin", "fewer", "remove-servers"},
    {"twin", "now", "current-policy"},
    {"twin", "traffic", "traffic-factor"},
    {NULL, "quarantine", "ejection"},
    {NULL, "sinkhole", "fail-fast"},
};

static const char *replace_deprecated(const char *of, const char *name, size_t length) {
    for (size_t i = 0; i < sizeof deprecated / sizeof *deprecated; i++)
        if ((!deprecated[i].of || strcmp(deprecated[i].of, of) == 0) &&
            strlen(deprecated[i].name) == length && strncmp(deprecated[i].name, name, length) == 0)
            return deprecated[i].now;
    return NULL;
}

const struct bli_option *bli_option_find(const struct bli_options *options, const char *name, size_t length) {
    for (size_t i = 0; i < options->count; i++)
        if (strlen(options->option[i].name) == length && strncmp(options->option[i].name, name, length) == 0)
            return &options->option[i];
    const char *now = replace_deprecated(options->of, name, length);
    return now ? bli_option_find(options, now, strlen(now)) : NULL;
}

static enum bal_code store_value(const struct bli_option *option, const char *value, void *member,
                                 struct bal_error *err) {
    switch (option->kept) {
    case BLI_KEPT_NOT:
        break;
    case BLI_KEPT_TEXT:
        *(const char **)member = value;
        break;
    case BLI_KEPT_FLAG:
        *(bool *)member = true;
        break;
    case BLI_KEPT_NUMBER:
        return bli_option_number(value, &option->range, member, err);
    case BLI_KEPT_FORM:
        return bli_form_parse(value, member, err);
    }
    return BAL_OK;
}

enum bal_code bli_option_set(const struct bli_option *option, const char *value, void *into,
                             struct bal_error *err) {
    if (option->set)
        return option->set(into, value, err);
    if (option->kept)
        return store_value(option, value, (char *)into + option->offset, err);
    return bli_request_set(into, option->field, option->argument ? value : option->field->flag, err);
}

/* Help of settings is written for the documentation, with backquotes around what can be typed. */
void bli_option_help(const struct bli_option *option, char text[BLI_OPTION_HELP]) {
    size_t used = 0;
    for (const char *c = option->help; *c && used < BLI_OPTION_HELP - 1; c++)
        if (*c != '`')
            text[used++] = *c;
    text[used] = 0;
    if (option->field && *option->default_value)
        snprintf(text + used, BLI_OPTION_HELP - used, " (default %s)", option->default_value);
}

enum bal_code bli_option_number(const char *value, const struct bli_option_range *range, double *number,
                                struct bal_error *err) {
    double parsed;
    if (!bli_share_parse(value, strlen(value), &parsed) || !(parsed >= range->low && parsed <= range->high) ||
        (range->whole && parsed != floor(parsed)))
        return bal_fail(err, BAL_E_RANGE, "not %s", range->what);
    *number = parsed;
    return BAL_OK;
}

enum bal_code bli_form_parse(const char *value, enum bli_form *form, struct bal_error *err) {
    static const char *const names[] = {"text", "csv", "json", "markdown"};
    for (int i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0) {
            *form = (enum bli_form)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of text, csv, json, markdown");
}
