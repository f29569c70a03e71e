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
    for (size_t i = 0; i < work->count; i++)
        bal_judgements_text(work->experiment[i], work->judged[i], out);
    fputc('\n', out);
    bal_tally_print(&tally, out);
    fprintf(out, "%s in %s/\n",
            drawn ? "report.html, figures and results.db are" : "report.html and results.db are",
            work->directory);
}

void bal_paper_json(const struct bal_paper_work *work, FILE *out) {
    static const char *const lists[] = {"claims", "findings"};
    struct json json;
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '{');
    bal_json_text(&json, "paper", work->paper.name);
    bal_json_text(&json, "title", work->paper.title);
    bal_json_text(&json, "mode", bal_mode_text(work->mode));
    bal_json_text(&json, "output", work->directory);
    for (int list = 0; list < 2; list++) {
        bal_json_open(&json, lists[list], '[');
        for (size_t i = 0; i < work->count; i++)
            bal_judgements_json(&json, work->experiment[i], work->judged[i], list == 1);
        bal_json_close(&json, ']');
    }
    bal_json_close(&json, '}');
}

void bal_paper_csv(const struct bal_paper_work *work, FILE *out) {
    bal_judgements_csv_head(out);
    for (size_t i = 0; i < work->count; i++)
        bal_judgements_csv(work->experiment[i], work->judged[i], out);
}

void bal_paper_markdown(const struct bal_paper_work *work, FILE *out) {
    const struct bal_tally tally = bal_paper_tally(work);
    bal_judgements_markdown_head(out);
    for (size_t i = 0; i < work->count; i++)
        bal_judgements_markdown(work->experiment[i], work->judged[i], out);
    fputc('\n', out);
    bal_tally_print(&tally, out);
}
