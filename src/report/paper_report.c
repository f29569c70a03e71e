/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the list of papers, and what was judged of one. */
#include "report/paper_report.h"

#include "format/json.h"
#include "format/table.h"

/* ---- the list ---- */

void bal_papers_json(const struct bal_papers *papers, FILE *out) {
    struct json json;
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '[');
    for (size_t i = 0; i < papers->count; i++) {
        bal_json_open_line(&json, NULL, '{');
        bal_json_text(&json, "paper", papers->paper[i].name);
        bal_json_text(&json, "title", papers->paper[i].title);
        bal_json_text(&json, "source", papers->paper[i].source);
        bal_json_count(&json, "experiments", papers->paper[i].experiments);
        bal_json_close(&json, '}');
    }
    bal_json_close(&json, ']');
}

void bal_papers_text(const struct bal_papers *papers, FILE *out) {
    for (size_t i = 0; i < papers->count; i++) {
        bal_table_wrap(papers->paper[i].name, papers->paper[i].title, 15, out);
        bal_table_wrap("", papers->paper[i].source, 15, out);
    }
    fputs("\nballast paper NAME --quick judges the claims of one in a minute or two.\n", out);
}

/* ---- one paper ---- */

struct bal_tally bal_paper_tally(const struct bal_paper_work *work) {
    struct bal_tally tally = {0};
    for (size_t i = 0; i < work->count; i++)
        bal_tally_add(&tally, work->experiment[i], work->judged[i]);
    return tally;
}

void bal_paper_text(const struct bal_paper_work *work, bool drawn, FILE *out) {
    const struct bal_tally tally = bal_paper_tally(work);
    fprintf(out, "%s: %s\n", work->paper.name, work->paper.title);
    bal_table_wrap("", work->paper.source, 0, out);
    for (int group = 0; group < BAL_GROUPS; group++)
        for (size_t i = 0; i < work->count; i++)
            bal_judgements_text(work->experiment[i], work->judged[i], (enum bal_claim_group)group, out);
    fputc('\n', out);
    bal_tally_print(&tally, out);
    fprintf(out, "%s in %s/\n",
            drawn ? "report.html, figures and results.db are" : "report.html and results.db are",
            work->directory);
}

void bal_paper_json(const struct bal_paper_work *work, FILE *out) {
    struct json json;
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '{');
    bal_json_text(&json, "paper", work->paper.name);
    bal_json_text(&json, "title", work->paper.title);
    bal_json_text(&json, "mode", bal_mode_text(work->mode));
    bal_json_text(&json, "output", work->directory);
    for (int group = 0; group < BAL_GROUPS; group++) {
        bal_json_open(&json, bal_claim_group_names[group], '[');
        for (size_t i = 0; i < work->count; i++)
            bal_judgements_json(&json, work->experiment[i], work->judged[i], (enum bal_claim_group)group);
        bal_json_close(&json, ']');
    }
    bal_json_close(&json, '}');
}

void bal_paper_csv(const struct bal_paper_work *work, FILE *out) {
    bal_judgements_csv_head(out);
    for (size_t i = 0; i < work->count; i++)
        bal_judgements_csv(work->experiment[i], work->judged[i], out);
}

/* Is there one of the group? */
static bool has_group(const struct bal_paper_work *work, enum bal_claim_group group) {
    for (size_t i = 0; i < work->count; i++)
        for (size_t k = 0; k < work->experiment[i]->claims; k++)
            if (bal_claim_group_of(&work->experiment[i]->claim[k]) == group)
                return true;
    return false;
}

/* "Run of 2024-05-01 in quick sizes: 1620 trials of 290 s in all." */
static void print_cost(const struct bal_paper_work *work, FILE *out) {
    struct bal_paper_cost cost;
    struct bal_error err = {0};
    if (bal_paper_work_cost(work, &cost, &err) == BAL_OK)
        fprintf(out, "Run of %s in %s sizes: %zu trials of %.0f s in all.\n", cost.day,
                bal_mode_text(work->mode), cost.trials, cost.seconds);
}

void bal_paper_markdown(const struct bal_paper_work *work, FILE *out) {
    static const char *const titles[] = {"What the paper says",
                                         "What holds by definition, and is not counted", "What we found"};
    const struct bal_tally tally = bal_paper_tally(work);
    bal_tally_print(&tally, out);
    print_cost(work, out);
    for (int group = 0; group < BAL_GROUPS; group++) {
        if (!has_group(work, (enum bal_claim_group)group))
            continue;
        fprintf(out, "\n### %s\n\n", titles[group]);
        bal_judgements_markdown_head((enum bal_claim_group)group, out);
        for (size_t i = 0; i < work->count; i++)
            bal_judgements_markdown(work->experiment[i], work->judged[i], (enum bal_claim_group)group, out);
    }
}
