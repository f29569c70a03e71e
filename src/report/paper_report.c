/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the list of papers, and what was judged of one. */
#include "report/paper_report.h"

#include "report/report_columns.h"

#include <stdlib.h>

/* ---- the list ---- */

void bli_papers_json(const struct bli_papers *papers, FILE *out) {
    struct json json;
    bli_json_init(&json, out);
    bli_json_open(&json, NULL, '[');
    for (size_t i = 0; i < papers->count; i++) {
        bli_json_open_line(&json, NULL, '{');
        bli_json_text(&json, "paper", papers->paper[i].name);
        bli_json_text(&json, "title", papers->paper[i].title);
        bli_json_text(&json, "source", papers->paper[i].source);
        bli_json_count(&json, "experiments", papers->paper[i].experiments);
        bli_json_close(&json, '}');
    }
    bli_json_close(&json, ']');
}

void bli_papers_text(const struct bli_papers *papers, FILE *out) {
    for (size_t i = 0; i < papers->count; i++) {
        bli_table_wrap(papers->paper[i].name, papers->paper[i].title, 15, out);
        bli_table_wrap("", papers->paper[i].source, 15, out);
    }
    fputs("\nballast paper NAME --quick judges the claims of one in a minute or two.\n", out);
}

/* ---- one paper ---- */

struct bli_tally bli_paper_tally(const struct bli_paper_work *work) {
    struct bli_tally tally = {0};
    for (size_t i = 0; i < work->count; i++)
        bli_tally_add(&tally, work->experiment[i], work->judged[i]);
    return tally;
}

static void print_text(const struct bli_paper_work *work, bool drawn, FILE *out) {
    const struct bli_tally tally = bli_paper_tally(work);
    fprintf(out, "%s: %s\n", work->paper.name, work->paper.title);
    bli_table_wrap("", work->paper.source, 0, out);
    for (int group = 0; group < BLI_GROUPS; group++)
        for (size_t i = 0; i < work->count; i++)
            bli_judgements_text(work->experiment[i], work->judged[i], (enum bli_claim_group)group, out);
    fputc('\n', out);
    bli_tally_print(&tally, out);
    fprintf(out, "%s in %s/\n",
            drawn ? "report.html, figures and results.db are" : "report.html and results.db are",
            work->directory);
}

static void print_json(const struct bli_paper_work *work, struct json *json) {
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "paper", work->paper.name);
    bli_json_text(json, "title", work->paper.title);
    bli_json_text(json, "mode", bli_mode_text(work->mode));
    bli_json_text(json, "output", work->directory);
    for (int group = 0; group < BLI_GROUPS; group++) {
        bli_json_open(json, bli_claim_group_names[group], '[');
        for (size_t i = 0; i < work->count; i++)
            bli_judgements_json(json, work->experiment[i], work->judged[i], (enum bli_claim_group)group);
        bli_json_close(json, ']');
    }
    bli_json_close(json, '}');
}

static void print_csv(const struct bli_paper_work *work, struct bli_rows *rows) {
    bli_judgements_csv_head(rows);
    for (size_t i = 0; i < work->count; i++)
        bli_judgements_csv(rows, work->experiment[i], work->judged[i]);
}

/* Is there one of the group? */
static bool has_group(const struct bli_paper_work *work, enum bli_claim_group group) {
    for (size_t i = 0; i < work->count; i++)
        for (size_t k = 0; k < work->experiment[i]->claims; k++)
            if (bli_claim_group_of(&work->experiment[i]->claim[k]) == group)
                return true;
    return false;
}

/* "Run of 2024-05-01 in quick sizes: 1620 trials of 290 s in all." */
static void print_cost(const struct bli_paper_work *work, FILE *out) {
    struct bli_paper_cost cost;
    struct bal_error err = {0};
    if (bli_paper_work_cost(work, &cost, &err) == BAL_OK)
        fprintf(out, "Run of %s in %s sizes: %zu trials of %.0f s in all.\n", cost.day,
                bli_mode_text(work->mode), cost.trials, cost.seconds);
}

static void print_markdown(const struct bli_paper_work *work, FILE *out) {
    static const char *const titles[] = {"What the paper says",
                                         "What holds by definition, and is not counted", "What we found"};
    const struct bli_tally tally = bli_paper_tally(work);
    bli_tally_print(&tally, out);
    print_cost(work, out);
    for (int group = 0; group < BLI_GROUPS; group++) {
        if (!has_group(work, (enum bli_claim_group)group))
            continue;
        fprintf(out, "\n### %s\n\n", titles[group]);
        bli_judgements_markdown_head((enum bli_claim_group)group, out);
        for (size_t i = 0; i < work->count; i++)
            bli_judgements_markdown(work->experiment[i], work->judged[i], (enum bli_claim_group)group, out);
    }
}

void bli_paper_print(const struct bli_paper_work *work, bool drawn, enum bli_form form, FILE *out) {
    struct bli_rows *rows = BLI_ROWS(form, out);
    if (form == BLI_FORM_TEXT)
        print_text(work, drawn, out);
    else if (form == BLI_FORM_MARKDOWN)
        print_markdown(work, out);
    else if (rows->json)
        print_json(work, rows->json);
    else
        print_csv(work, rows);
}

void bli_paper_describe(struct bli_rows *rows) {
    struct bli_experiment *e = bli_columns_experiment();
    struct bli_judged *judged = bli_judgements_sample(e);
    const struct bli_paper_work work = {.count = 1, .experiment = &e, .judged = &judged};
    if (judged && rows->json)
        print_json(&work, rows->json);
    else if (judged)
        bli_judgements_csv_head(rows);
    free(judged);
    bli_experiment_free(e);
}
