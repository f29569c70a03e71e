/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the heads of reports: what was run, with every setting that differs from its default. */
#include "report/head.h"

#include "format/table.h"

#include <stdarg.h>
#include <string.h>

enum { LONGEST = 200 }; /* characters of a value: a table of a day's load would fill the screen */

void bal_head_add(struct bal_head *head, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const size_t room = sizeof head->text - head->used;
    const int length = vsnprintf(head->text + head->used, room, format, args);
    va_end(args);
    head->used += length >= 0 && (size_t)length < room ? (size_t)length : room - 1;
}

static bool is_printed_elsewhere(const struct bal_field *setting, const char *const *told) {
    for (; told && *told; told++)
        if (strcmp(setting->name, *told) == 0)
            return true;
    return false;
}

void bal_head_add_settings(struct bal_head *head, const struct bal_draft *draft, bool model,
                           const char *const *told) {
    const struct bal_section *section;
    const struct bal_field *setting;
    char text[BAL_SETTING_TEXT];
    for (size_t i = 0; (setting = bal_setting_at(i, &section)); i++)
        if (section->model == model && !is_printed_elsewhere(setting, told) &&
            bal_setting_print(setting, draft, text))
            bal_head_add(head, "%s%s" BAL_TABLE_JOIN "%.*s%s", head->used ? ", " : "", setting->name, LONGEST,
                         text, strlen(text) > LONGEST ? "..." : "");
}

void bal_head_slots(const struct bal_model *model, char *text, size_t size) {
    if (model->slots == BAL_SLOTS_ALL)
        snprintf(text, size, " that work on all jobs at once");
    else if (model->slots > 1)
        snprintf(text, size, " of %u slots", model->slots);
    else
        text[0] = 0;
}

void bal_head_print(const struct bal_head *head, FILE *out) {
    bal_table_wrap("", head->text, 0, out);
}

/* An empty section is left out. */
void bal_head_json(struct json *json, const struct bal_draft *draft, const char *const *told) {
    char text[BAL_SETTING_TEXT];
    bal_json_open(json, "settings", '{');
    for (size_t s = 0; s < BAL_SECTIONS; s++) {
        const struct bal_table *table = bal_section[s].table;
        bool open = false;
        for (size_t i = 0; i < table->count; i++) {
            if (is_printed_elsewhere(&table->field[i], told) ||
                !bal_setting_print(&table->field[i], draft, text))
                continue;
            if (!open)
                bal_json_open_line(json, bal_section[s].name, '{');
            open = true;
            bal_json_text(json, table->field[i].name, text);
        }
        if (open)
            bal_json_close(json, '}');
    }
    bal_json_close(json, '}');
}

static void put_inside_quotes(const char *text, FILE *out) {
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '"' ? "\"" : "", *text);
}

void bal_head_csv(const struct bal_draft *draft, FILE *out) {
    char text[BAL_SETTING_TEXT];
    fputs(",\"", out);
    const char *separator = "";
    const struct bal_section *section;
    const struct bal_field *setting;
    for (size_t i = 0; (setting = bal_setting_at(i, &section)); i++) {
        if (!bal_setting_print(setting, draft, text))
            continue;
        fprintf(out, "%s%s%s=", separator, section->prefix, setting->name);
        put_inside_quotes(text, out);
        separator = "; ";
    }
    fputc('"', out);
}
