/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints rows of reports as csv or JSON. */
#include "report/rows.h"

#include "ballast/number.h"
#include "ballast/scheme.h"
#include "ballast/version.h"
#include "format/csv.h"
#include "report/doubt_notes.h"
#include "report/head.h"
#include "report/metric.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const bli_no_yes[2] = {"no", "yes"}, *const bli_zero_one[2] = {"0", "1"};

struct bli_rows *bli_rows_init(struct bli_rows *rows, enum bli_form form, FILE *out) {
    *rows = (struct bli_rows){.style = form == BLI_FORM_MARKDOWN ? BLI_TABLE_MARKDOWN : BLI_TABLE_RULED};
    if (form == BLI_FORM_CSV)
        rows->csv = out;
    else if (form == BLI_FORM_JSON)
        rows->json = &rows->own;
    else
        rows->text = out;
    bli_json_init(&rows->own, out);
    return rows;
}

void bli_rows_open(struct bli_rows *rows) {
    bli_json_open(rows->json, NULL, '{');
    bli_json_text(rows->json, "version", BALLAST_VERSION);
}

const char bli_row_doubts_about[] = "why its numbers are doubted, in words of docs/statistics.md",
           bli_row_metrics_about[] = "each metric by its name, and `METRIC.ci`, half of its 95 % interval",
           bli_row_axis_about[] = "the value of each axis of the sweep, by its name",
           bli_row_tail_about[] = "servers with at least 0, 1, 2, ... jobs; in csv with blanks between|share";

void bli_row_begin(struct bli_rows *rows) {
    rows->first = true;
    rows->doubted = false;
    rows->state = rows->state == BLI_ROWS_NEW ? BLI_ROWS_NAMES : BLI_ROWS_VALUES;
    if (rows->json)
        (rows->lines ? bli_json_open : bli_json_open_line)(rows->json, NULL, '{');
}

bool bli_row_if(const struct bli_rows *rows, bool condition) {
    return rows->names || (rows->json ? bli_json_if(rows->json, condition) : condition);
}

/* The line of a column that is described: its name, perhaps with a second one, unit, when, meaning. */
static void describe(struct bli_rows *rows, const char *name, const char *second, const char *about) {
    char text[BLI_ABOUT_TEXT];
    if (rows->state != BLI_ROWS_NAMES)
        return;
    bli_table_add(rows->names, "`%s`%s%s%s", name, *second ? ", `" : "", second, *second ? "`" : "");
    bli_table_add(rows->names, "%s", bli_about_part(about, BLI_ABOUT_UNIT, text));
    bli_table_add(rows->names, "%s", bli_about_part(about, BLI_ABOUT_WHEN, text));
    bli_table_add(rows->names, "%s", bli_about_part(about, BLI_ABOUT_MEANING, text));
}

/* Begins a column: true where it is only described. */
static bool is_described(struct bli_rows *rows, const char *name, const char *about) {
    if (rows->names)
        describe(rows, name, "", about);
    else if (rows->json)
        bli_json_about(rows->json, about);
    return rows->names;
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
    if (rows->doubted && rows->names)
        describe(rows, "doubts", "", bli_row_doubts_about);
    if (settings && rows->names)
        describe(rows, "settings", "", "settings that are not at their default, `NAME=VALUE; ...`; csv only");
    if (rows->names)
        return false;
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

void bli_row_text(struct bli_rows *rows, const char *name, const char *about, const char *text) {
    if (is_described(rows, name, about))
        return;
    if (rows->json)
        bli_json_text(rows->json, name, text);
    else
        print_field(rows, name, text ? text : "");
}

void bli_row_quoted(struct bli_rows *rows, const char *name, const char *about, const char *text) {
    if (!rows->csv || rows->state == BLI_ROWS_NAMES) {
        bli_row_text(rows, name, about, text);
        return;
    }
    fprintf(rows->csv, "%s\"%s\"", rows->first ? "" : ",", text);
    rows->first = false;
}

void bli_row_number(struct bli_rows *rows, const char *name, const char *about, double value) {
    char text[BLI_NUMBER_TEXT] = "";
    if (is_described(rows, name, about))
        return;
    if (rows->json) {
        bli_json_number(rows->json, name, value);
        return;
    }
    if (isfinite(value))
        bli_number_print(value, text);
    print_field(rows, name, text);
}

void bli_row_count(struct bli_rows *rows, const char *name, const char *about, uint64_t count) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, count);
    if (is_described(rows, name, about))
        return;
    if (rows->json)
        bli_json_count(rows->json, name, count);
    else
        print_field(rows, name, text);
}

void bli_row_count_or_text(struct bli_rows *rows, const char *name, const char *about, uint64_t count,
                           const char *text) {
    if (rows->json) {
        bli_json_about(rows->json, about);
        bli_json_number_or_text(rows->json, name, (double)count, text);
    } else if (text) {
        bli_row_text(rows, name, about, text);
    } else {
        bli_row_count(rows, name, about, count);
    }
}

void bli_row_bool(struct bli_rows *rows, const char *name, const char *about, bool value,
                  const char *const words[2]) {
    if (is_described(rows, name, about))
        return;
    if (rows->json)
        bli_json_bool(rows->json, name, value);
    else
        print_field(rows, name, words[value]);
}

void bli_row_estimate(struct bli_rows *rows, const char *name, const char *about,
                      struct bli_estimate estimate) {
    char half[200];
    snprintf(half, sizeof half, "%s%s", name, rows->half ? rows->half : ".ci");
    if (rows->names) {
        describe(rows, name, half, about);
        return;
    }
    bli_row_number(rows, name, about, estimate.mean);
    bli_row_number(rows, half, "half of its 95 % interval", estimate.half_width);
}

void bli_row_varying(struct bli_rows *rows, const char *name, const char *about,
                     struct bli_estimate estimate) {
    if (rows->json)
        bli_json_varies(rows->json, true);
    bli_row_estimate(rows, name, about, estimate);
    if (rows->json)
        bli_json_varies(rows->json, false);
}

void bli_row_list(struct bli_rows *rows, const char *name, const char *about, const double *value,
                  size_t count) {
    if (is_described(rows, name, about))
        return;
    if (rows->json) {
        bli_json_numbers(rows->json, name, value, count);
        return;
    }
    print_field(rows, name, "");
    for (size_t i = 0; i < count && rows->state == BLI_ROWS_VALUES; i++) {
        char number[BLI_NUMBER_TEXT];
        bli_number_print(value[i], number);
        fprintf(rows->csv, "%s%s", i > 0 ? " " : "", number);
    }
}

bool bli_row_several(struct bli_rows *rows, const char *name, const char *about) {
    if (rows->names)
        describe(rows, name, "", about);
    return rows->names;
}

void bli_row_policy(struct bli_rows *rows, const struct bal_policy_spec *policy) {
    char text[200] = "";
    if (policy->policy)
        bal_policy_print(policy, text, sizeof text);
    bli_row_quoted(rows, "policy", "the policy with its parameters", text);
}

void bli_row_label(struct bli_rows *rows, const struct bli_experiment *e, size_t policy, uint64_t seed) {
    bli_row_text(rows, "label", "what the experiment calls the policy", e->policy[policy].label);
    bli_row_count(rows, "seed", "of its random numbers", seed);
}

void bli_row_verdict(struct bli_rows *rows, enum bli_verdict verdict) {
    bli_row_text(rows, "verdict", "`stable`, `unstable` or `undecided`", bli_verdict_text(verdict));
}

void bli_row_doubts(struct bli_rows *rows, unsigned doubts) {
    rows->doubted = true;
    rows->doubts = doubts;
    if (rows->json) {
        bli_json_about(rows->json, bli_row_doubts_about);
        bli_doubt_json(rows->json, doubts);
    }
}

void bli_row_engine(struct bli_rows *rows, enum bli_engine engine) {
    bli_row_text(rows, "engine", "what computed it", bli_engine_text(engine));
}

void bli_row_work(struct bli_rows *rows, uint64_t jobs, uint64_t events) {
    bli_row_count(rows, "jobs", "jobs that were measured", jobs);
    bli_row_count(rows, "events", "events that were computed", events);
}

void bli_row_metric(struct bli_rows *rows, enum bli_metric metric, struct bli_estimate value) {
    char about[BLI_ABOUT_TEXT];
    bli_row_estimate(rows, bli_metric_table[metric].name, bli_metric_about(metric, about), value);
}

struct bli_draft bli_rows_sample(void) {
    struct bli_draft draft;
    bli_draft_init(&draft);
    bli_setting_find("servers")->set(&draft, "1", NULL);
    draft.c.model.load = 0.5;
    bli_scheme_parse("random", &draft.c.policy, NULL);
    bli_draft_complete(&draft);
    return draft;
}
