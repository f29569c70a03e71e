/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a document against the tables of fields. */
#include "spec/fields.h"

#include "base/nearest.h"

#include "ballast/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names for a message, separated by commas. */
static void list_fields(const struct bli_table *table, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < table->count && used < size; i++)
        if (!table->field[i].deprecated)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", table->field[i].name);
}

static void list_choices(const char *const *choices, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; choices[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", choices[i]);
}

static bool is_id(const char *text) {
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '-' && *text != '_')
            return false;
    return true;
}

static enum bal_code check_number(const struct bli_field *field, struct bli_document *document, int node,
                                  struct bal_error *err) {
    const char *text = bli_node_text(document, node);
    double value;
    if (bli_field_number(text, &value) && value >= field->low && value <= field->high &&
        (!field->whole || value == floor(value)))
        return BAL_OK;
    if (field->low <= -1e300)
        return bli_document_fail(document, err, node, field->name, BAL_E_SYNTAX,
                                 "'%.60s' is not a number, such as 0.5, 10k or 2%%", text);
    char low[BLI_NUMBER_TEXT], high[BLI_NUMBER_TEXT];
    bli_number_print(field->low, low);
    bli_number_print(field->high, high);
    return bli_document_fail(document, err, node, field->name, BAL_E_RANGE,
                             "'%.60s' is not a %snumber from %s to %s", text, field->whole ? "whole " : "",
                             low, high);
}

static enum bal_code check_choice(const struct bli_field *field, const char *const *choices,
                                  struct bli_document *document, int node, struct bal_error *err) {
    const char *text = bli_node_text(document, node);
    if (bli_choice_find(choices, text) >= 0)
        return BAL_OK;
    char list[360];
    list_choices(choices, list, sizeof list);
    return bli_document_fail(document, err, node, field->name, BAL_E_UNKNOWN, "'%.60s' is none of %s", text,
                             list);
}

static enum bal_code check_text(const struct bli_field *field, struct bli_document *document, int node,
                                struct bal_error *err) {
    const char *text = bli_node_text(document, node);
    if (!*text)
        return bli_document_fail(document, err, node, field->name, BAL_E_SYNTAX,
                                 "it is empty; give it a value or leave it out");
    switch (field->type) {
    case BLI_TYPE_NUMBER:
        return check_number(field, document, node, err);
    case BLI_TYPE_FLAG:
        return check_choice(field, bli_flags, document, node, err);
    case BLI_TYPE_CHOICE:
        return check_choice(field, field->choices, document, node, err);
    case BLI_TYPE_ID:
        if (!is_id(text) || strlen(text) > 60)
            return bli_document_fail(document, err, node, field->name, BAL_E_SYNTAX,
                                     "'%.60s' is not a name: at most 60 letters, digits, '-' and '_'", text);
        return BAL_OK;
    case BLI_TYPE_TEXT:
    case BLI_TYPE_SETTING:
        break;
    }
    return BAL_OK;
}

static enum bal_code wrong_kind(const struct bli_field *field, unsigned allowed,
                                struct bli_document *document, int node, struct bal_error *err) {
    static const char *const found[] = {"a single value", "a list", "a map of fields"};
    static const char *const wanted[] = {"",
                                         "a value",
                                         "a list",
                                         "a value or a list",
                                         "a map of fields",
                                         "a value or a map of fields",
                                         "a list or a map of fields",
                                         "a value, a list or a map of fields"};
    return bli_document_fail(document, err, node, field->name, BAL_E_SYNTAX, "this is %s; it should be %s",
                             found[bli_node_kind(document, node)], wanted[allowed]);
}

/* A member of a list; a list among them holds texts. */
static enum bal_code check_item(const struct bli_field *field, unsigned allowed,
                                struct bli_document *document, int node, struct bal_error *err) {
    const enum bli_node_kind kind = bli_node_kind(document, node);
    if (!(allowed & 1u << kind))
        return wrong_kind(field, allowed, document, node, err);
    enum bal_code code = bli_document_count_steps(document, 1, err);
    if (code)
        return code;
    if (kind == BLI_NODE_TEXT)
        return check_text(field, document, node, err);
    if (kind == BLI_NODE_MAP)
        return bli_table_check(field->table, document, node, field->name, err);
    for (size_t i = 0; !code && i < bli_node_count(document, node); i++)
        code = check_item(field, BLI_IS_TEXT, document, bli_node_item(document, node, i), err);
    return code;
}

static enum bal_code check_value(const struct bli_field *field, struct bli_document *document, int node,
                                 struct bal_error *err) {
    const enum bli_node_kind kind = bli_node_kind(document, node);
    if (!(field->is & 1u << kind))
        return wrong_kind(field, field->is, document, node, err);
    if (kind == BLI_NODE_TEXT)
        return check_text(field, document, node, err);
    if (kind == BLI_NODE_MAP)
        return field->table ? bli_table_check(field->table, document, node, field->name, err) : BAL_OK;
    if (bli_node_count(document, node) == 0)
        return bli_document_fail(document, err, node, field->name, BAL_E_SYNTAX,
                                 "the list is empty; leave it out or put something in it");
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < bli_node_count(document, node); i++)
        code = check_item(field, field->items, document, bli_node_item(document, node, i), err);
    return code;
}

static enum bal_code check_key(const struct bli_table *table, struct bli_document *document, int node,
                               size_t i, struct bal_error *err) {
    const int key = bli_node_key(document, node, i);
    if (bli_node_kind(document, key) != BLI_NODE_TEXT)
        return bli_document_fail(document, err, key, table->name, BAL_E_SYNTAX,
                                 "a field must have a plain name");
    const char *name = bli_node_text(document, key);
    char list[300];
    if (!bli_table_find(table, name)) {
        struct bli_nearest nearest = {.text = name, .length = strlen(name)};
        for (size_t f = 0; f < table->count; f++)
            if (!table->field[f].deprecated)
                bli_nearest_offer(&nearest, table->field[f].name);
        if (nearest.name)
            return bli_document_fail(document, err, key, table->name, BAL_E_UNKNOWN,
                                     "there is no field '%.60s'; did you mean '%s'?", name, nearest.name);
        list_fields(table, list, sizeof list);
        return bli_document_fail(document, err, key, table->name, BAL_E_UNKNOWN,
                                 "there is no field '%.60s'; there are %s", name, list);
    }
    if (bli_node_get(document, node, name) != bli_node_value(document, node, i))
        return bli_document_fail(document, err, key, name, BAL_E_SYNTAX, "it is given twice; give it once");
    return BAL_OK;
}

enum bal_code bli_table_check(const struct bli_table *table, struct bli_document *document, int node,
                              const char *field, struct bal_error *err) {
    if (bli_node_kind(document, node) != BLI_NODE_MAP)
        return bli_document_fail(document, err, node, field, BAL_E_SYNTAX,
                                 "this should be a map of fields, such as '%s: ...'", table->field[0].name);
    for (size_t i = 0; i < bli_node_count(document, node); i++) {
        enum bal_code code = check_key(table, document, node, i, err);
        if (!code)
            code = bli_document_count_steps(document, 1, err);
        if (code)
            return code;
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct bli_field *f = &table->field[i];
        const int value = bli_node_get(document, node, f->name);
        if (!value && !f->default_value && f->type != BLI_TYPE_SETTING)
            return bli_document_fail_missing(document, err, node, field, f->name, f->help);
        const enum bal_code code = value ? check_value(f, document, value, err) : BAL_OK;
        if (code)
            return code;
    }
    return BAL_OK;
}
