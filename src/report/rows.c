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

const char *const bal_no_yes[2] = {"no", "yes"}, *const bal_zero_one[2] = {"0", "1"};

void bal_row_begin(struct bal_rows *rows) {
    rows->first = true;
    rows->doubted = false;
    rows->state = rows->state == BAL_ROWS_NEW ? BAL_ROWS_NAMES : BAL_ROWS_VALUES;
    if (rows->json)
        (rows->lines ? bal_json_open : bal_json_open_line)(rows->json, NULL, '{');
}

/* A field of csv: the name, in the head. */
static void print_field(struct bal_rows *rows, const char *name, const char *text) {
    if (!rows->first)
        fputc(',', rows->csv);
    rows->first = false;
    if (rows->state == BAL_ROWS_VALUES || !rows->quote_names) {
        bal_csv_text(rows->state == BAL_ROWS_NAMES ? name : text, rows->csv);
        return;
    }
    fputc('"', rows->csv);
    for (; *name; name++)
        fprintf(rows->csv, "%s%c", *name == '"' ? "\"" : "", *name);
    fputc('"', rows->csv);
}

bool bal_row_end(struct bal_rows *rows, const struct bal_draft *settings) {
    char words[BAL_DOUBT_WORDS];
    if (rows->json) {
        bal_json_close(rows->json, '}');
        return false;
    }
    bal_doubt_words(rows->doubts, words);
    if (rows->doubted)
        print_field(rows, "doubts", words);
    if (settings && rows->state == BAL_ROWS_NAMES)
        fputs(",settings", rows->csv);
    else if (settings)
        bal_head_csv(settings, rows->csv);
    fputc('\n', rows->csv);
    return rows->state == BAL_ROWS_NAMES && !rows->names_only;
}

void bal_row_text(struct bal_rows *rows, const char *name, const char *text) {
    if (!rows->json)
        print_field(rows, name, text ? text : "");
    else if (text)
        bal_json_text(rows->json, name, text);
    else
        bal_json_null(rows->json, name);
}

void bal_row_quoted(struct bal_rows *rows, const char *name, const char *text) {
    if (rows->json || rows->state == BAL_ROWS_NAMES) {
        bal_row_text(rows, name, text);
        return;
    }
    fprintf(rows->csv, "%s\"%s\"", rows->first ? "" : ",", text);
    rows->first = false;
}

void bal_row_number(struct bal_rows *rows, const char *name, double value) {
    char text[BAL_NUMBER_TEXT] = "";
    if (rows->json) {
        bal_json_number(rows->json, name, value);
        return;
    }
    if (isfinite(value))
        bal_number_print(value, text);
    print_field(rows, name, text);
}

void bal_row_count(struct bal_rows *rows, const char *name, uint64_t count) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, count);
    if (rows->json)
        bal_json_count(rows->json, name, count);
    else
        print_field(rows, name, text);
}

void bal_row_bool(struct bal_rows *rows, const char *name, bool value, const char *const words[2]) {
    if (rows->json)
        bal_json_bool(rows->json, name, value);
    else
        print_field(rows, name, words[value]);
}

void bal_row_estimate(struct bal_rows *rows, const char *name, struct bal_estimate estimate) {
    char half[200];
    snprintf(half, sizeof half, "%s%s", name, rows->half ? rows->half : ".ci");
    bal_row_number(rows, name, estimate.mean);
    bal_row_number(rows, half, estimate.half_width);
}

void bal_row_doubts(struct bal_rows *rows, unsigned doubts) {
    rows->doubted = true;
    rows->doubts = doubts;
    if (rows->json)
        bal_doubt_json(rows->json, doubts);
}

void bal_row_list(struct bal_rows *rows, const char *name, const double *value, size_t count) {
    if (rows->json) {
        bal_json_open_line(rows->json, name, '[');
        for (size_t i = 0; i < count; i++)
            bal_json_number(rows->json, NULL, value[i]);
        bal_json_close(rows->json, ']');
        return;
    }
    print_field(rows, name, "");
    for (size_t i = 0; i < count && rows->state == BAL_ROWS_VALUES; i++) {
        char number[BAL_NUMBER_TEXT];
        bal_number_print(value[i], number);
        fprintf(rows->csv, "%s%s", i > 0 ? " " : "", number);
    }
}
