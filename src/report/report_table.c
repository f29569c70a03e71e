/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of an experiment as a table of the page. */
#include "report/report_page.h"

#include "report/comparison.h"
#include "report/doubt_notes.h"
#include "report/metric.h"

#include <math.h>

enum {
    ROWS_OPEN = 30,  /* a table of more rows is folded */
    ROWS_MAX = 2000, /* and one of more still is cut */
};

static void put_table_head(const struct page *page, const struct bli_experiment *e) {
    put_text(page, "<thead><tr>");
    for (size_t a = 0; a < e->axes; a++)
        bli_html_table_head(e->axis[a].label, false, BLI_HTML_COLUMN, page->out);
    bli_html_table_head("policy", true, BLI_HTML_COLUMN, page->out);
    bli_html_table_head("verdict", true, BLI_HTML_COLUMN, page->out);
    for (size_t m = 0; m < e->metrics; m++) {
        char text[BLI_QUANTITY_TEXT];
        bli_html_table_head(bli_quantity_text(e->metric[m], text), false, BLI_HTML_COLUMN, page->out);
    }
    bli_html_table_head("replications", false, BLI_HTML_COLUMN, page->out);
    put_text(page, "</tr></thead>\n");
}

static enum bal_code put_value(const struct page *page, const struct bli_cell *cell,
                               struct bli_quantity quantity, struct bal_error *err) {
    struct bli_estimate estimate = {NAN, NAN};
    if (cell->result.verdict != BLI_UNSTABLE || !bli_quantity_diverges(quantity)) {
        const enum bal_code code = bli_cell_quantity(cell, page->store, quantity, &estimate, err);
        if (code)
            return code;
    }
    char text[BLI_METRIC_TEXT];
    bli_metric_print(estimate, text);
    bli_html_element("td", NULL, *text ? text : "–", page->out);
    return BAL_OK;
}

/* "stable", "stable, doubted: settling theory", "not run" */
static void print_verdict(const struct bli_result *result, char *text, size_t size) {
    char words[BLI_DOUBT_WORDS];
    bli_doubt_words(result->doubts, words);
    snprintf(text, size, "%s%s%s", result->replications > 0 ? bli_verdict_text(result->verdict) : "not run",
             *words ? ", doubted: " : "", words);
}

static enum bal_code put_cell(const struct page *page, const struct bli_experiment *e, size_t point,
                              size_t policy, const struct bli_cell *cell, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    put_text(page, policy == 0 && point > 0 ? "<tr class=\"first\">" : "<tr>");
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(e, point, index);
    for (size_t a = 0; a < e->axes; a++)
        bli_html_element("td", NULL, e->axis[a].value[index[a]].label, page->out);
    bli_html_table_head(e->policy[policy].label, true, BLI_HTML_ROW, page->out);
    char verdict[120];
    print_verdict(&cell->result, verdict, sizeof verdict);
    bli_html_element("td", "l", verdict, page->out);
    for (size_t m = 0; m < e->metrics && !code; m++)
        code = put_value(page, cell, e->metric[m], err);
    fprintf(page->out, "<td>%u</td></tr>\n", cell->result.replications);
    return code;
}

static enum bal_code put_row(const struct page *page, const struct bli_experiment *e, size_t point,
                             size_t policy, struct bal_error *err) {
    struct bli_cell cell;
    enum bal_code code = bli_cell_load(&cell, page->store, e, point, policy, err);
    if (!code)
        code = put_cell(page, e, point, policy, &cell, err);
    bli_cell_fini(&cell);
    return code;
}

/* Does a run of the experiment go on after the end of its curve? */
static bool outlasts_curve(const struct bli_experiment *e) {
    bool found = false;
    for (size_t point = 0; point < e->points && !found; point++) {
        struct bli_case c;
        bli_experiment_case(e, point, 0, &c);
        found = c.run.time > bli_curve_end(&c.model.curve);
    }
    return found;
}

enum bal_code bli_page_table(const struct page *page, const struct bli_experiment *e, struct bal_error *err) {
    const size_t rows = e->points * e->policies;
    fprintf(page->out, "<details class=\"results\"%s><summary>Results: %zu points, %zu policies</summary>\n",
            rows <= ROWS_OPEN ? " open" : "", e->points, e->policies);
    put_text(page,
             "<p class=\"soft\">± is the half-width of the 95 % confidence interval. A dash stands where a "
             "mean would say "
             "nothing: the policy is unstable there. A result is doubted where its interval may miss the "
             "truth: it was measured while queues were still settling, lies far from exact theory, comes "
             "from sizes whose tail is too heavy or from too few jobs, or has not reached the wanted "
             "precision.</p>\n");
    bli_html_table_begin("Every point with every policy", page->out);
    put_table_head(page, e);
    put_text(page, "<tbody>\n");
    for (size_t i = 0; i < rows && i < ROWS_MAX; i++) {
        const enum bal_code code = put_row(page, e, i / e->policies, i % e->policies, err);
        if (code)
            return code;
    }
    put_text(page, "</tbody>");
    bli_html_table_end(page->out);
    if (outlasts_curve(e))
        bli_html_element("p", "soft", bli_outlasted_text, page->out);
    if (rows > ROWS_MAX)
        fprintf(page->out,
                "<p class=\"soft\">The first %d of %zu rows; ballast results exports all of them.</p>\n",
                ROWS_MAX, rows);
    put_text(page, "</details>\n");
    return BAL_OK;
}
