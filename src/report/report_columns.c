/* SPDX-License-Identifier: BSD-2-Clause */
/* All reports whose columns can be told. */
#include "report/report_columns.h"

#include "ballast/experiment.h"
#include "base/strbuf.h"
#include "format/json_schema.h"

#include <assert.h>
#include <string.h>

static const struct report {
    const char *name; /* the command, and with which options */
    const char *what; /* what a row is; NULL: JSON has no table */
    bool csv;         /* otherwise only JSON has the columns */
    bli_describe *describe;
} reports[] = {
    {"compare", "policy", true, bli_comparison_describe},
    {"results", "point and policy, as `ballast run` has, too", true, bli_outcome_describe},
    {"results --trials", "replication", true, bli_trials_describe},
    {"results --histograms", "bin that is not empty", true, bli_histograms_describe},
    {"paper", "claim and finding", true, bli_paper_describe},
    {"live", "system", false, bli_live_describe},
    {"replay", "policy", true, bli_replay_describe},
    {"cheapest", "policy", true, bli_price_list_describe},
    {"cheapest --delay", "offer", true, bli_price_offers_describe},
    {"priority-share", NULL, false, bli_share_describe},
    {"tune tabs", "standby time and policy", true, bli_tune_describe},
    {"tune slots", "number of slots", true, bli_slots_describe},
    {"stability", "load or constant", true, bli_frontier_describe},
    {"stability --map", "load", true, bli_frontier_map_describe},
    {"fluid", "time", true, bli_fluid_describe},
    {"load", "outcome", true, bli_load_describe},
    {"fit", "law", false, bli_fit_describe},
    {"twin", "answer", false, bli_twin_describe},
};
enum { REPORTS = sizeof reports / sizeof *reports };

/* Is it one of that command? */
static bool is_of(const struct report *report, const char *command) {
    if (command && strcmp(command, "run") == 0)
        command = "results";
    const size_t length = command ? strlen(command) : 0;
    return strncmp(report->name, command ? command : "", length) == 0 &&
           (length == 0 || !report->name[length] || report->name[length] == ' ');
}

struct bli_experiment *bli_columns_experiment(void) {
    static const char text[] =
        "title: sample\nfleet: {servers: 1}\npolicies: [random]\n"
        "sweep: {axis: load, values: [0.5]}\nmetrics: [response.mean, response.p95]\nclaims:\n"
        "  - {id: a, says: a, measure: verdict, of: random, expect: stable}\n"
        "  - {id: b, says: b, measure: verdict, of: random, expect: stable, kind: definition}\n"
        "  - {id: c, says: c, measure: verdict, of: random, expect: stable, finding: a}\n";
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    const enum bal_code code =
        bli_experiment_parse(text, sizeof text - 1, "sample", BLI_MODE_PLAIN, &e, &err);
    assert(code == BAL_OK || code == BAL_E_MEMORY);
    return code ? NULL : e;
}

/* Code is marked in Markdown alone. */
static void strip_quotes(struct table *table) {
    for (size_t i = 0; i < table->cells; i++) {
        char *to = table->cell[i];
        for (const char *from = to; *from; from++)
            if (*from != '`')
                *to++ = *from;
        *to = 0;
    }
}

static void print_names(const struct report *report, enum bli_table_style style, FILE *out) {
    struct table table;
    bli_table_begin(&table, "column|unit|when|what it is");
    struct bli_rows rows = {.names = &table};
    report->describe(&rows);
    const char *head = style == BLI_TABLE_MARKDOWN ? "### " : "";
    fprintf(out, "%sballast %s\n\nA row for each %s%s.\n\n", head, report->name, report->what,
            report->csv ? "" : "; in JSON only");
    if (style != BLI_TABLE_MARKDOWN)
        strip_quotes(&table);
    if (style != BLI_TABLE_MARKDOWN)
        bli_table_print(&table, "llll", style, out);
    for (size_t i = 0; i < table.cells && style == BLI_TABLE_MARKDOWN; i++) {
        fprintf(out, "%s%s%s", i % 4 ? " | " : "| ", table.cell[i], i % 4 == 3 ? " |\n" : "");
        fputs(i == 3 ? "|---|---|---|---|\n" : "", out);
    }
    bli_table_fini(&table);
}

bool bli_columns_print(const char *command, enum bli_table_style style, FILE *out) {
    bool any = false;
    for (size_t i = 0; i < REPORTS; i++) {
        if (!reports[i].what || !is_of(&reports[i], command))
            continue;
        fputs(any ? "\n" : "", out);
        any = true;
        print_names(&reports[i], style, out);
    }
    return any;
}

static void write_report(struct json *json, const void *report) {
    struct bli_rows rows = {.json = json};
    ((const struct report *)report)->describe(&rows);
}

bool bli_columns_schema(const char *command, FILE *out) {
    struct json json;
    bool any = false;
    bli_json_init(&json, out);
    bli_json_open(&json, NULL, '{');
    bli_json_text(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    bli_json_text(&json, "title", "What ballast prints as JSON, by command");
    bli_json_open(&json, "$defs", '{');
    for (size_t i = 0; i < REPORTS; i++)
        if (is_of(&reports[i], command)) {
            any = true;
            if (!bli_json_schema(&json, reports[i].name, write_report, &reports[i]))
                bli_stream_mark_incomplete(out);
        }
    bli_json_close(&json, '}');
    bli_json_close(&json, '}');
    return any;
}
