/* One experiment of the page: claims first, then figures, the table, and how to repeat it. */
#include "report/report_page.h"

#include "figure/svg.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- claims ---- */

static void put_answer(const struct page *page, const struct item *item, const struct bal_claim *claim) {
    if (claim->answers < 0)
        return;
    const char *id = item->experiment->claim[claim->answers].id;
    fprintf(page->out, "<dt>answers</dt><dd><a href=\"#claim-%zu-%s\">%s</a></dd>\n", item->number, id, id);
}

static void put_claim(const struct page *page, const struct item *item, const struct bal_claim *claim,
                      const struct bal_judged *judged) {
    fprintf(page->out, "<li class=\"%s %s\" id=\"claim-%zu-%s\">\n", claim->finding ? "finding" : "claim",
            judgement_class(judged->judgement), item->number, claim->id);
    char words[BAL_JUDGED_WORDS];
    bal_judged_words(judged, words);
    fprintf(page->out, "<span class=\"badge\">%s%s%s</span>\n<p>", claim->finding ? "Our finding: " : "",
            judgement_sign(judged->judgement), words);
    bal_html_text(claim->says, page->out);
    put(page, "</p>\n<dl>\n");
    char measured[sizeof judged->measured + sizeof judged->where + 8];
    snprintf(measured, sizeof measured, "%s%s%s", judged->measured, *judged->where ? " at " : "",
             judged->where);
    put_fact(page, "measured", measured);
    put_fact(page, "expected", claim->expected);
    put_fact(page, "undecided", judged->why);
    put_fact(page, "source", claim->section);
    put_answer(page, item, claim);
    put_fact(page, claim->finding ? "finding" : "claim", claim->id);
    put(page, "</dl>\n</li>\n");
}

static void put_claims(const struct page *page, const struct item *item) {
    const struct bal_experiment *e = item->experiment;
    if (e->claims == 0)
        return;
    bool findings = false;
    for (size_t i = 0; i < e->claims; i++)
        findings = findings || e->claim[i].finding;
    fprintf(page->out, "<h3>Claims%s</h3>\n<ul class=\"claims\">\n", findings ? " and findings" : "");
    for (size_t i = 0; i < e->claims; i++)
        put_claim(page, item, &e->claim[i], &item->judged[i]);
    put(page, "</ul>\n");
}

/* ---- figures ---- */

static void put_figure(const struct page *page, const struct item *item, const struct bal_plot *plot,
                       const struct bal_figure *figure, const char *svg) {
    fprintf(page->out, "<figure id=\"figure-%zu-%s\"%s>\n", item->number, plot->id,
            figure->panels > 1 ? " class=\"wide\"" : "");
    put(page, bal_svg_element(svg));
    if (plot->caption || plot->section) {
        put(page, "<figcaption>");
        if (plot->section) {
            bal_html_text(plot->section, page->out);
            put(page, plot->caption ? ". " : "");
        }
        bal_html_text(plot->caption, page->out);
        put(page, "</figcaption>\n");
    }
    put(page, "</figure>\n");
}

static void put_no_figure(const struct page *page, const char *id, const char *why) {
    put(page, "<p class=\"soft\">Figure ");
    bal_html_text(id, page->out);
    put(page, " could not be drawn: ");
    bal_html_text(why, page->out);
    put(page, ".</p>\n");
}

static enum bal_code put_figures(struct page *page, const struct item *item, struct bal_error *err) {
    const struct bal_experiment *e = item->experiment;
    if (e->plots > 0)
        put(page, "<h3>Figures</h3>\n<div class=\"figures\">\n");
    for (size_t i = 0; i < e->plots && !page->no_gnuplot; i++) {
        struct bal_chart *chart;
        const enum bal_code code = bal_chart_new(page->store, e, i, &chart, err);
        if (code == BAL_E_MEMORY || code == BAL_E_IO)
            return code;
        if (code) { /* a file may ask for what cannot be drawn; the rest of the page is still worth having */
            put_no_figure(page, e->plot[i].id, err->text);
            continue;
        }
        char *svg;
        size_t size;
        const enum bal_code drawn =
            bal_figure_render(bal_chart_figure(chart), BAL_FIGURE_SVG, &svg, &size, err);
        if (drawn == BAL_E_MEMORY) {
            bal_chart_free(chart);
            return drawn;
        }
        if (drawn) {
            put_no_figure(page, e->plot[i].id, err->text);
            page->no_gnuplot = true;
        } else {
            put_figure(page, item, &e->plot[i], bal_chart_figure(chart), svg);
            free(svg);
        }
        bal_chart_free(chart);
    }
    put(page, e->plots > 0 ? "</div>\n" : "");
    return BAL_OK;
}

/* ---- an experiment ---- */

static enum bal_code put_state(const struct page *page, const struct item *item, struct bal_error *err) {
    const struct bal_experiment *e = item->experiment;
    struct bal_sweep_progress progress;
    const enum bal_code code = bal_sweep_status(e, page->store, &progress, err);
    if (code)
        return code;
    put(page, "<p class=\"soft\">");
    if (e->paper) {
        put(page, "Paper ");
        bal_html_text(e->paper, page->out);
        put(page, e->section ? ", " : ". ");
    }
    if (e->section) {
        bal_html_text(e->section, page->out);
        put(page, ". ");
    }
    fprintf(page->out, "Experiment ");
    bal_html_text(e->name, page->out);
    fprintf(page->out, ", %s%s; %zu trials, seed %" PRIu64 ".</p>\n",
            e->mode == BAL_MODE_PLAIN ? "as written" : bal_mode_text(e->mode),
            e->mode == BAL_MODE_PLAIN ? "" : " sizes", progress.total, e->seed);
    if (progress.done < progress.total)
        fprintf(
            page->out,
            "<p class=\"open\"><span class=\"badge\">Not complete:</span> %zu of %zu trials are done.</p>\n",
            progress.done, progress.total);
    return BAL_OK;
}

/* One that cannot be read (another version wrote it, or the file is damaged) takes nothing from the others.
 */
static void put_unreadable(const struct page *page, const struct item *item) {
    put(page, "<p class=\"fails\"><span class=\"badge\">This experiment cannot be read:</span> ");
    bal_html_text(item->error.text, page->out);
    put(page, ".</p>\n<dl class=\"facts\">\n");
    bal_page_maker(page, "begun", item->run->started, item->run->version, item->run->compiler,
                   item->run->machine);
    put(page, "</dl>\n");
    bal_page_spec(page, item);
}

enum bal_code bal_page_item(struct page *page, const struct item *item, struct bal_error *err) {
    const struct bal_experiment *e = item->experiment;
    fprintf(page->out, "<section id=\"experiment-%zu\">\n", item->number);
    bal_html_element("h2", NULL, name_of(item), page->out);
    if (!e) {
        put_unreadable(page, item);
        put(page, "</section>\n");
        return BAL_OK;
    }
    enum bal_code code = put_state(page, item, err);
    if (e->about)
        bal_html_element("p", NULL, e->about, page->out);
    put_claims(page, item);
    if (!code)
        code = put_figures(page, item, err);
    if (!code)
        code = bal_page_table(page, e, err);
    if (!code)
        code = bal_page_repeat(page, item, err);
    put(page, "</section>\n");
    return code;
}
