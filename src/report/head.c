/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the heads of reports: what was run, with every setting that differs from its default. */
#include "report/head.h"

#include "format/table.h"

#include <stdarg.h>
#include <string.h>

enum { LONGEST = 200 }; /* characters of a value: a table of a day's load would fill the screen */

void bli_head_add(struct bli_head *head, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const size_t room = sizeof head->text - head->used;
    const int length = vsnprintf(head->text + head->used, room, format, args);
    va_end(args);
    head->used += length >= 0 && (size_t)length < room ? (size_t)length : room - 1;
}

static bool is_printed_elsewhere(const struct bli_field *setting, const char *const *told) {
    for (; told && *told; told++)
        if (strcmp(setting->name, *told) == 0)
            return true;
    return false;
}

void bli_head_add_settings(struct bli_head *head, const struct bli_draft *draft, bool model,
                           const char *const *told) {
    const struct bli_section *section;
    const struct bli_field *setting;
    char text[BLI_SETTING_TEXT];
    for (size_t i = 0; (setting = bli_setting_at(i, &section)); i++)
        if (section->model == model && !is_printed_elsewhere(setting, told) &&
            bli_setting_print(setting, draft, text))
            bli_head_add(head, "%s%s" BLI_TABLE_JOIN "%.*s%s", head->used ? ", " : "", setting->name, LONGEST,
                         text, strlen(text) > LONGEST ? "..." : "");
}

void bli_head_slots(const struct bli_model *model, char *text, size_t size) {
    if (model->slots == BLI_SLOTS_ALL)
        snprintf(text, size, " that work on all jobs at once");
    else if (model->slots > 1)
        snprintf(text, size, " of %u slots", model->slots);
    else
        text[0] = 0;
}

void bli_head_slots_and_speeds(const struct bli_model *model, char *text, size_t size) {
    char speeds[200];
    bli_head_slots(model, text, size);
    bli_speeds_print(&model->speeds, speeds, sizeof speeds);
    if (bli_speeds_given(&model->speeds) && strlen(text) < size)
        snprintf(text + strlen(text), size - strlen(text), ", speeds %s", speeds);
}

void bli_json_slots(struct json *json, const struct bli_model *model) {
    bli_json_number_or_text(json, "slots", model->slots > 0 ? model->slots : 1,
                            model->slots == BLI_SLOTS_ALL ? "all" : NULL);
}

struct bli_policy_name bli_policy_name(const struct bal_policy_spec *policy) {
    struct bli_policy_name name;
    bal_policy_print(policy, name.text, sizeof name.text);
    return name;
}

void bli_head_print(const struct bli_head *head, FILE *out) {
    bli_table_wrap("", head->text, 0, out);
}

/* An empty section is left out. */
void bli_head_json(struct json *json, const struct bli_draft *draft, const char *const *told) {
    char text[BLI_SETTING_TEXT];
    bli_json_open_map(json, "settings", false);
    for (size_t s = 0; s < BLI_SECTIONS; s++) {
        const struct bli_table *table = bli_section[s].table;
        bool open = false;
        for (size_t i = 0; i < table->count; i++) {
            if (is_printed_elsewhere(&table->field[i], told) ||
                !bli_setting_print(&table->field[i], draft, text))
                continue;
            if (!open)
                bli_json_open_map(json, bli_section[s].name, true);
            open = true;
            bli_json_text(json, table->field[i].name, text);
        }
        if (open)
            bli_json_close(json, '}');
    }
    bli_json_close(json, '}');
}

static void put_inside_quotes(const char *text, FILE *out) {
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '"' ? "\"" : "", *text);
}

void bli_head_csv(const struct bli_draft *draft, FILE *out) {
    char text[BLI_SETTING_TEXT];
    fputs(",\"", out);
    const char *separator = "";
    const struct bli_section *section;
    const struct bli_field *setting;
    for (size_t i = 0; (setting = bli_setting_at(i, &section)); i++) {
        if (!bli_setting_print(setting, draft, text))
            continue;
        fprintf(out, "%s%s%s=", separator, section->prefix, setting->name);
        put_inside_quotes(text, out);
        separator = "; ";
    }
    fputc('"', out);
}
