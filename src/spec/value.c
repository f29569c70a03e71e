/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds fields and choices by name; parses and prints the values of settings: numbers, choices and flags. */
#include "spec/value.h"

#include "spec/fields.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct bli_field *bli_table_find(const struct bli_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->field[i].name, name) == 0)
            return &table->field[i];
    return NULL;
}

int bli_choice_find(const char *const *choices, const char *text) {
    for (int i = 0; choices[i]; i++)
        if (strcmp(choices[i], text) == 0)
            return i;
    return -1;
}

bool bli_field_number(const char *text, double *value) {
    return bli_share_parse(text, strlen(text), value);
}

enum bal_code bli_value_number(const char *text, const struct bli_value_range *range, double *value,
                               struct bal_error *err) {
    double parsed;
    if (!bli_field_number(text, &parsed) || !(parsed >= range->low && parsed <= range->high) ||
        (range->whole && parsed != floor(parsed)))
        return bal_fail(err, BAL_E_RANGE, "not %s", range->what);
    *value = parsed;
    return BAL_OK;
}

enum bal_code bli_value_whole(const char *text, const struct bli_value_range *range, uint32_t *value,
                              struct bal_error *err) {
    double parsed = 0;
    const enum bal_code code = bli_value_number(text, range, &parsed, err);
    if (!code)
        *value = (uint32_t)parsed;
    return code;
}

enum bal_code bli_value_choice(const char *text, const char *(*name)(int), int count, int *choice,
                               struct bal_error *err) {
    char list[200] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(text, name(i)) == 0) {
            *choice = i;
            return BAL_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", name(i));
    }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of %s", list);
}

enum bal_code bli_value_flag(const char *text, bool *flag, struct bal_error *err) {
    const int found = bli_choice_find(bli_flags, text);
    if (found < 0)
        return bal_fail(err, BAL_E_SYNTAX, "not one of yes, no");
    *flag = found & 1;
    return BAL_OK;
}

size_t bli_value_print_text(const char *from, char *text, size_t size) {
    return (size_t)snprintf(text, size, "%s", from);
}

size_t bli_value_print_number(double value, char *text, size_t size) {
    char shortest[BLI_NUMBER_TEXT];
    bli_number_print(value, shortest);
    return bli_value_print_text(shortest, text, size);
}

size_t bli_value_print_flag(bool flag, char *text, size_t size) {
    return bli_value_print_text(flag ? "yes" : "no", text, size);
}

size_t bli_value_print_or(double value, bool there, const char *word, char *text, size_t size) {
    return there ? bli_value_print_number(value, text, size) : bli_value_print_text(word, text, size);
}
