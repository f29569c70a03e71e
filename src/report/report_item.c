/* SPDX-License-Identifier: BSD-2-Clause */
/* One experiment of the page: claims first, then figures, the table, and how to repeat it. */
#include "report/report_page.h"

#include "figure/svg.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- claims ---- */

static void put_answer(const struct page *page, const struct item *item, const struct bli_claim *claim) {
    if (claim->answers < 0)
        return;
    const char *id = item->experiment->claim[claim->answers].id;
    fprintf(page->out, "<dt>answers</dt><dd><a href=\"#claim-%zu-%s\">%s</a></dd>\n", item->number, id, id);
}

static void put_claim(const struct page *page, const struct item *item, const struct bli_claim *claim,
                      const struct bli_judged *judged) {
    fprintf(page->out, "<li class=\"%s %s\" id=\"claim-%zu-%s\">\n", claim->finding ? "finding" : "claim",
            judgement_class(judged->judgement), item->number, claim->id);
    char words[BLI_JUDGED_WORDS];
    bli_judged_words(claim, judged, words);
    fprintf(page->out, "<span class=\"badge\">%s%s%s</span>\n<p>", claim->finding ? "Our finding: " : "",
            judgement_sign(judged->judgement), words);
    if (claim->quote) {
        put_text(page, "\u201c");
        bli_html_text(claim->quote, page->out);
        put_text(page, "\u201d</p>\n<p>");
    }
    bli_html_text(claim->says, page->out);
    put_text(page, "</p>\n<dl>\n");
    char measured[sizeof judged->measured + sizeof judged->where + 8];
    snprintf(measured, sizeof measured, "%s%s%s", judged->measured, *judged->where ? " at " : "",
             judged->where);
    put_fact(page, "measured", measured);
    put_fact(page, "expected", judged->check->expected);
    put_fact(page, "undecided", judged->why);
    put_fact(page, "error", claim->error);
    put_fact(page, "reason", claim->reason);
    put_fact(page, "source", claim->section);
    put_fact(page, "kind", claim->kind ? bli_kinds[claim->kind] : NULL);
    put_answer(page, item, claim);
    put_fact(page, claim->finding ? "finding" : "claim", claim->id);
    put_text(page, "</dl>\n</li>\n");
}

static void put_group(const struct page *page, const struct item *item, enum bli_claim_group group) {
    static const char *const titles[] = {"Claims", "By definition", "Findings of ours"};
    const struct bli_experiment *e = item->experiment;
    bool any = false;
    for (size_t i = 0; i < e->claims; i++) {
        if (bli_claim_group_of(&e->claim[i]) != group)
            continue;
        if (!any)
            fprintf(page->out, "<h3>%s</h3>\n<ul class=\"claims\">\n", titles[group]);
        any = true;
        put_claim(page, item, &e->claim[i], &item->judged[i]);
    }
    put_text(page, any ? "</ul>\n" : "");
}

static void put_claims(const struct page *page, const struct item *item) {
    for (int group = 0; group < BLI_GROUPS; group++)
        put_group(page, item, (enum bli_claim_group)group);
}

/* ---- figures ---- */

static void put_figure(const struct page *page, const struct item *item, const struct bli_plot *plot,
                       const struct bli_figure *figure, const char *svg) {
    fprintf(page->out, "<figure id=\"figure-%zu-%s\"%s>\n", item->number, plot->id,
            figure->panels > 1 ? " class=\"wide\"" : "");
    put_text(page, bli_svg_element(svg));
    if (plot->caption || plot->section) {
        put_text(page, "<figcaption>");
        if (plot->section) {
            bli_html_text(plot->section, page->out);
            put_text(page, plot->caption ? ". " : "");
        }
        bli_html_text(plot->caption, page->out);
        put_text(page, "</figcaption>\n");
    }
    put_text(page, "</figure>\n");
}

static void put_no_figure(const struct page *page, const char *id, const char *why) {
    put_text(page, "<p class=\"soft\">Figure ");
    bli_html_text(id, page->out);
    put_text(page, " could not be drawn: ");
    bli_html_text(why, page->out);
    put_text(page, ".</p>\n");
}

static enum bal_code put_figures(struct page *page, const struct item *item, struct bal_error *err) {
    const struct bli_experiment *e = item->experiment;
    if (e->plots > 0)
        put_text(page, "<h3>Figures</h3>\n<div class=\"figures\">\n");
    for (size_t i = 0; i < e->plots && !page->no_gnuplot; i++) {
        struct bli_chart *chart;
        const enum bal_code code = bli_chart_new(page->store, e, i, &chart, err);
        if (code == BAL_E_MEMORY || code == BAL_E_IO)
            return code;
        if (code) { /* a file may ask for what cannot be drawn; the rest of the page is still worth having */
            put_no_figure(page, e->plot[i].id, err->text);
            continue;
        }
        char *svg;
        size_t size;
        const enum bal_code drawn =
            bli_figure_render(bli_chart_figure(chart), BLI_FIGURE_SVG, &svg, &size, err);
        if (drawn == BAL_E_MEMORY) {
            bli_chart_free(chart);
            return drawn;
        }
        if (drawn) {
            put_no_figure(page, e->plot[i].id, err->text);
            page->no_gnuplot = true;
        } else {
            put_figure(page, item, &e->plot[i], bli_chart_figure(chart), svg);
            free(svg);
        }
        bli_chart_free(chart);
    }
    put_text(page, e->plots > 0 ? "</div>\n" : "");
    return BAL_OK;
}

/* ---- an experiment ---- */

static enum bal_code put_state(const struct page *page, const struct item *item, struct bal_error *err) {
    const struct bli_experiment *e = item->experiment;
    struct bli_sweep_progress progress;
    const enum bal_code code = bli_sweep_status(e, page->store, &progress, err);
    if (code)
        return code;
    put_text(page, "<p class=\"soft\">");
    if (e->paper) {
        put_text(page, "Paper ");
        bli_html_text(e->paper, page->out);
        put_text(page, e->section ? ", " : ". ");
    }
    if (e->section) {
        bli_html_text(e->section, page->out);
        put_text(page, ". ");
    }
    fprintf(page->out, "Experiment ");
    bli_html_text(e->name, page->out);
    fprintf(page->out, ", %s%s; %zu trials, seed %" PRIu64 ".</p>\n",
            e->mode == BLI_MODE_PLAIN ? "as written" : bli_mode_text(e->mode),
            e->mode == BLI_MODE_PLAIN ? "" : " sizes", progress.total, e->seed);
    if (progress.done < progress.total)
        fprintf(
            page->out,
            "<p class=\"open\"><span class=\"badge\">Not complete:</span> %zu of %zu trials are done.</p>\n",
            progress.done, progress.total);
    return BAL_OK;
}

/* One that cannot be read (another version wrote it, or the file is damaged) does not affect the others. */
static void put_unreadable(const struct page *page, const struct item *item) {
    put_text(page, "<p class=\"fails\"><span class=\"badge\">This experiment cannot be read:</span> ");
    bli_html_text(item->error.text, page->out);
    put_text(page, ".</p>\n<dl class=\"facts\">\n");
    bli_page_maker(page, "begun", item->run->started, item->run->version, item->run->compiler,
                   item->run->machine);
    put_text(page, "</dl>\n");
    bli_page_spec(page, item);
}

enum bal_code bli_page_item(struct page *page, const struct item *item, struct bal_error *err) {
    const struct bli_experiment *e = item->experiment;
    fprintf(page->out, "<section id=\"experiment-%zu\">\n", item->number);
    bli_html_element("h2", NULL, name_of(item), page->out);
    if (!e) {
        put_unreadable(page, item);
        put_text(page, "</section>\n");
        return BAL_OK;
    }
    enum bal_code code = put_state(page, item, err);
    if (e->about)
        bli_html_element("p", NULL, e->about, page->out);
    put_claims(page, item);
    if (!code)
        code = put_figures(page, item, err);
    if (!code)
        code = bli_page_table(page, e, err);
    if (!code)
        code = bli_page_repeat(page, item, err);
    put_text(page, "</section>\n");
    return code;
}
