/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the tables of fields for editors (a JSON schema) and for people (Markdown). */
#include "spec/fields.h"

#include "ballast/number.h"

#include <string.h>

/* ---- JSON schema ---- */

static void write_text(const char *text, FILE *out) {
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void write_choices(const char *const *choices, FILE *out) {
    fputs("{\"enum\": [", out);
    for (int i = 0; choices[i]; i++) {
        fputs(i ? ", " : "", out);
        write_text(choices[i], out);
    }
    fputs("]}", out);
}

static void write_number(const struct bli_field *field, FILE *out) {
    char low[BLI_NUMBER_TEXT], high[BLI_NUMBER_TEXT];
    fputs("{\"type\": [\"number\", \"string\"]", out); /* "10k" and "2%" are texts to an editor */
    if (field->low > -1e300) {
        bli_number_print(field->low, low);
        bli_number_print(field->high, high);
        fprintf(out, ", \"minimum\": %s, \"maximum\": %s", low, high);
    }
    if (field->whole)
        fputs(", \"multipleOf\": 1", out);
    fputc('}', out);
}

/* The kind of a single value. */
static void write_type(const struct bli_field *field, FILE *out) {
    switch (field->type) {
    case BLI_TYPE_NUMBER:
        write_number(field, out);
        break;
    case BLI_TYPE_FLAG:
        fputs("{\"enum\": [true, false, \"yes\", \"no\"]}", out);
        break;
    case BLI_TYPE_CHOICE:
        write_choices(field->choices, out);
        break;
    case BLI_TYPE_ID:
        fputs("{\"type\": \"string\", \"pattern\": \"^[A-Za-z0-9_-]{1,60}$\"}", out);
        break;
    case BLI_TYPE_TEXT:
    case BLI_TYPE_SETTING:
        fputs("{\"type\": [\"string\", \"number\", \"boolean\"]}", out);
        break;
    }
}

static void write_table(const struct bli_table *table, int depth, FILE *out);

static void write_kinds(const struct bli_field *field, unsigned kinds, int depth, FILE *out);

static void write_list(const struct bli_field *field, unsigned items, int depth, FILE *out) {
    fputs("{\"type\": \"array\", \"items\": ", out);
    write_kinds(field, items, depth, out);
    fputc('}', out);
}

static void write_kind(const struct bli_field *field, unsigned kind, unsigned items, int depth, FILE *out) {
    if (kind == BLI_IS_TEXT)
        write_type(field, out);
    else if (kind == BLI_IS_LIST)
        write_list(field, items, depth, out);
    else if (field->table)
        write_table(field->table, depth, out);
    else
        fputs("{\"type\": \"object\"}", out);
}

/* One kind as it is, several as alternatives; a list among the members of a list has texts. */
static void write_kinds(const struct bli_field *field, unsigned kinds, int depth, FILE *out) {
    const bool several = kinds & (kinds - 1);
    const unsigned items = kinds == field->is ? field->items : BLI_IS_TEXT;
    fputs(several ? "{\"anyOf\": [" : "", out);
    bool first = true;
    for (unsigned kind = BLI_IS_TEXT; kind <= BLI_IS_MAP; kind <<= 1) {
        if (!(kinds & kind))
            continue;
        fputs(first ? "" : ", ", out);
        first = false;
        write_kind(field, kind, items, depth, out);
    }
    fputs(several ? "]}" : "", out);
}

static void write_required(const struct bli_table *table, FILE *out) {
    bool any = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct bli_field *field = &table->field[i];
        if (field->default_value || field->type == BLI_TYPE_SETTING)
            continue;
        fputs(any ? ", " : "\"required\": [", out);
        any = true;
        write_text(field->name, out);
    }
    fputs(any ? "], " : "", out);
}

static void write_table(const struct bli_table *table, int depth, FILE *out) {
    fputs("{\"type\": \"object\", \"additionalProperties\": false, ", out);
    write_required(table, out);
    fputs("\"properties\": {", out);
    const char *separator = "";
    for (size_t i = 0; i < table->count; i++) {
        const struct bli_field *field = &table->field[i];
        if (field->deprecated)
            continue;
        fprintf(out, "%s\n%*s", separator, 2 * depth + 2, "");
        separator = ",";
        write_text(field->name, out);
        fputs(": {\"description\": ", out);
        write_text(field->help, out);
        fputs(", \"allOf\": [", out);
        write_kinds(field, field->is, depth + 1, out);
        fputs("]}", out);
    }
    fprintf(out, "\n%*s}}", 2 * depth, "");
}

void bli_experiment_write_schema(FILE *out) {
    fputs("{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
          " \"title\": \"Ballast experiment\",\n"
          " \"description\": \"An experiment file of ballast run\",\n"
          " \"allOf\": [",
          out);
    write_table(&bli_experiment_table, 1, out);
    fputs("]}\n", out);
}

/* ---- Markdown ---- */

static void write_form(const struct bli_field *field, FILE *out) {
    static const char *const types[] = {"text", "name", "number", "`yes` or `no`", "choice", "value"};
    const char *type = field->type == BLI_TYPE_NUMBER && field->whole ? "whole number" : types[field->type];
    const char *separator = "";
    if (field->is & BLI_IS_TEXT) {
        fputs(type, out);
        separator = " or ";
    }
    if (field->is & BLI_IS_MAP) {
        fprintf(out, "%smap", separator);
        separator = " or ";
    }
    if (field->is & BLI_IS_LIST)
        fprintf(out, "%slist", separator);
}

static void write_rows(const struct bli_table *table, FILE *out) {
    fputs("\n| field | kind | default | meaning |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < table->count; i++) {
        const struct bli_field *field = &table->field[i];
        if (field->deprecated)
            continue;
        fprintf(out, "| `%s` | ", field->name);
        write_form(field, out);
        if (!field->default_value || field->cli_default) /* what commands take is no default of files */
            fputs(field->type == BLI_TYPE_SETTING ? " | required, unless swept | " : " | required | ", out);
        else if (*field->default_value)
            fprintf(out, " | `%s` | ", field->default_value);
        else
            fputs(" | | ", out);
        fprintf(out, "%s |\n", field->help);
    }
}

/* Tables that several fields share are printed once. */
enum { TABLES_MAX = 32 };

struct written_tables {
    const struct bli_table *table[TABLES_MAX];
    size_t count;
};

static void write_table_once(const struct bli_table *table, struct written_tables *written_tables,
                             FILE *out) {
    for (size_t i = 0; i < written_tables->count; i++)
        if (written_tables->table[i] == table)
            return;
    written_tables->table[written_tables->count++] = table;
    fprintf(out, "\n### `%s`\n\n%s\n", table->name, table->help);
    write_rows(table, out);
    for (size_t i = 0; i < table->count; i++)
        if (table->field[i].table)
            write_table_once(table->field[i].table, written_tables, out);
}

static void write_metrics(FILE *out) {
    fputs("\n### Metrics\n\n| metric | unit | meaning |\n|---|---|---|\n", out);
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        fprintf(out, "| `%s` | %s | %s |\n", bli_metric_table[m].name, bli_metric_table[m].unit,
                bli_metric_table[m].meaning);
    fputs("| `response.pX`, `waiting.pX`, `load.pX` | | any other percentile, 0 < X < 100: `response.p95`, "
          "`high.waiting.p97.5`; `p95` alone is that of the response time |\n",
          out);
    fprintf(out, "| `queue.tail.I` | | fraction of servers with at least I jobs, I from 0 to %d |\n",
            BLI_TAIL_LEVELS - 1);
}

void bli_experiment_write_fields(FILE *out) {
    struct written_tables written_tables = {.count = 0};
    write_table_once(&bli_experiment_table, &written_tables, out);
    write_metrics(out);
}
