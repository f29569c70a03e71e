/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints rows of reports as csv or JSON. */
#include "report/rows.h"

#include "ballast/number.h"
#include "format/csv.h"
#include "report/doubt_notes.h"
#include "report/head.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const bli_no_yes[2] = {"no", "yes"}, *const bli_zero_one[2] = {"0", "1"};

void bli_row_begin(struct bli_rows *rows) {
    rows->first = true;
    rows->doubted = false;
    rows->state = rows->state == BLI_ROWS_NEW ? BLI_ROWS_NAMES : BLI_ROWS_VALUES;
    if (rows->json)
        (rows->lines ? bli_json_open : bli_json_open_line)(rows->json, NULL, '{');
}

/* A field of csv: the name, in the head. */
static void print_field(struct bli_rows *rows, const char *name, const char *text) {
    if (!rows->first)
        fputc(',', rows->csv);
    rows->first = false;
    if (rows->state == BLI_ROWS_VALUES || !rows->quote_names) {
        bli_csv_text(rows->state == BLI_ROWS_NAMES ? name : text, rows->csv);
        return;
    }
    fputc('"', rows->csv);
    for (; *name; name++)
        fprintf(rows->csv, "%s%c", *name == '"' ? "\"" : "", *name);
    fputc('"', rows->csv);
}

bool bli_row_end(struct bli_rows *rows, const struct bli_draft *settings) {
    char words[BLI_DOUBT_WORDS];
    if (rows->json) {
        bli_json_close(rows->json, '}');
        return false;
    }
    bli_doubt_words(rows->doubts, words);
    if (rows->doubted)
        print_field(rows, "doubts", words);
    if (settings && rows->state == BLI_ROWS_NAMES)
        fputs(",settings", rows->csv);
    else if (settings)
        bli_head_csv(settings, rows->csv);
    fputc('\n', rows->csv);
    return rows->state == BLI_ROWS_NAMES && !rows->names_only;
}

void bli_row_text(struct bli_rows *rows, const char *name, const char *text) {
    if (!rows->json)
        print_field(rows, name, text ? text : "");
    else if (text)
        bli_json_text(rows->json, name, text);
    else
        bli_json_null(rows->json, name);
}

void bli_row_quoted(struct bli_rows *rows, const char *name, const char *text) {
    if (rows->json || rows->state == BLI_ROWS_NAMES) {
        bli_row_text(rows, name, text);
        return;
    }
    fprintf(rows->csv, "%s\"%s\"", rows->first ? "" : ",", text);
    rows->first = false;
}

void bli_row_number(struct bli_rows *rows, const char *name, double value) {
    char text[BLI_NUMBER_TEXT] = "";
    if (rows->json) {
        bli_json_number(rows->json, name, value);
        return;
    }
    if (isfinite(value))
        bli_number_print(value, text);
    print_field(rows, name, text);
}

void bli_row_count(struct bli_rows *rows, const char *name, uint64_t count) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, count);
    if (rows->json)
        bli_json_count(rows->json, name, count);
    else
        print_field(rows, name, text);
}

void bli_row_bool(struct bli_rows *rows, const char *name, bool value, const char *const words[2]) {
    if (rows->json)
        bli_json_bool(rows->json, name, value);
    else
        print_field(rows, name, words[value]);
}

void bli_row_estimate(struct bli_rows *rows, const char *name, struct bli_estimate estimate) {
    char half[200];
    snprintf(half, sizeof half, "%s%s", name, rows->half ? rows->half : ".ci");
    bli_row_number(rows, name, estimate.mean);
    bli_row_number(rows, half, estimate.half_width);
}

void bli_row_doubts(struct bli_rows *rows, unsigned doubts) {
    rows->doubted = true;
    rows->doubts = doubts;
    if (rows->json)
        bli_doubt_json(rows->json, doubts);
}

void bli_row_list(struct bli_rows *rows, const char *name, const double *value, size_t count) {
    if (rows->json) {
        bli_json_open_line(rows->json, name, '[');
        for (size_t i = 0; i < count; i++)
            bli_json_number(rows->json, NULL, value[i]);
        bli_json_close(rows->json, ']');
        return;
    }
    print_field(rows, name, "");
    for (size_t i = 0; i < count && rows->state == BLI_ROWS_VALUES; i++) {
        char number[BLI_NUMBER_TEXT];
        bli_number_print(value[i], number);
        fprintf(rows->csv, "%s%s", i > 0 ? " " : "", number);
    }
}
