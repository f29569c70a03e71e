/* One HTML page about all that a store has seen: claims first, then figures, tables, and how to repeat it. */
#include "ballast/report.h"

#include "ballast/version.h"
#include "figure/svg.h"
#include "format/html.h"
#include "report/comparison.h"
#include "report/doubt.h"
#include "report/judgements.h"
#include "report/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_OPEN = 30,  /* a table of more rows is folded */
    ROWS_MAX = 2000, /* and one of more still is cut */
};

struct page {
    struct bal_store *store;
    const char *path;
    FILE *out;
    bool no_gnuplot; /* found missing: said once, not tried again */
};

/* An experiment of the page. Its number, from 1, is in the anchors: other experiments may use the same ids.
 */
struct item {
    size_t number;
    const struct bal_store_run *run;
    struct bal_experiment *experiment; /* NULL: it cannot be read */
    struct bal_error error;            /* why */
    struct bal_judged *judged;         /* one for each claim and finding */
};

/* What the reader calls it. */
static const char *name_of(const struct item *item) {
    return item->experiment ? item->experiment->title : item->run->name;
}

/* ---- small parts ---- */

static void put(const struct page *page, const char *text) {
    fputs(text, page->out);
}

static void put_fact(const struct page *page, const char *name, const char *text) {
    if (!text || !*text)
        return;
    bal_html_element("dt", NULL, name, page->out);
    bal_html_element("dd", NULL, text, page->out);
}

static const char *judgement_class(enum bal_judgement judgement) {
    return judgement == BAL_CLAIM_HOLDS ? "holds" : judgement == BAL_CLAIM_FAILS ? "fails" : "open";
}

static const char *judgement_sign(enum bal_judgement judgement) {
    return judgement == BAL_CLAIM_HOLDS ? "✓ " : judgement == BAL_CLAIM_FAILS ? "✗ " : "? ";
}

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
    fprintf(page->out, "<span class=\"badge\">%s%s%s</span>\n<p>", claim->finding ? "Our finding: " : "",
            judgement_sign(judged->judgement), bal_judgement_text(judged->judgement));
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

/* ---- tables ---- */

static void put_table_head(const struct page *page, const struct bal_experiment *e) {
    put(page, "<thead><tr>");
    for (size_t a = 0; a < e->axes; a++)
        bal_html_table_head(e->axis[a].label, false, BAL_HTML_COLUMN, page->out);
    bal_html_table_head("policy", true, BAL_HTML_COLUMN, page->out);
    bal_html_table_head("verdict", true, BAL_HTML_COLUMN, page->out);
    for (size_t m = 0; m < e->metrics; m++) {
        char text[32];
        bal_html_table_head(bal_quantity_text(e->metric[m], text), false, BAL_HTML_COLUMN, page->out);
    }
    bal_html_table_head("replications", false, BAL_HTML_COLUMN, page->out);
    put(page, "</tr></thead>\n");
}

static enum bal_code put_value(const struct page *page, const struct bal_experiment *e, size_t point,
                               size_t policy, struct bal_quantity quantity, const struct bal_result *result,
                               struct bal_error *err) {
    struct bal_estimate estimate = {NAN, NAN};
    if (result->verdict != BAL_UNSTABLE || !bal_quantity_diverges(quantity)) {
        const enum bal_code code =
            bal_store_quantity(page->store, e, point, policy, quantity, &estimate, err);
        if (code)
            return code;
    }
    char text[BAL_METRIC_TEXT];
    bal_metric_print(estimate, text);
    bal_html_element("td", NULL, *text ? text : "–", page->out);
    return BAL_OK;
}

/* "stable", "stable, doubted: settling theory", "not run" */
static void print_verdict(const struct bal_result *result, char *text, size_t size) {
    char words[BAL_DOUBT_WORDS];
    bal_doubt_words(result->doubts, words);
    snprintf(text, size, "%s%s%s", result->replications > 0 ? bal_verdict_text(result->verdict) : "not run",
             *words ? ", doubted: " : "", words);
}

static enum bal_code put_row(const struct page *page, const struct bal_experiment *e, size_t point,
                             size_t policy, struct bal_error *err) {
    struct bal_result result;
    enum bal_code code = bal_store_result(page->store, e, point, policy, &result, err);
    if (code)
        return code;
    put(page, policy == 0 && point > 0 ? "<tr class=\"first\">" : "<tr>");
    size_t index[BAL_AXES_MAX];
    bal_experiment_coordinates(e, point, index);
    for (size_t a = 0; a < e->axes; a++)
        bal_html_element("td", NULL, e->axis[a].value[index[a]].label, page->out);
    bal_html_table_head(e->policy[policy].label, true, BAL_HTML_ROW, page->out);
    char verdict[120];
    print_verdict(&result, verdict, sizeof verdict);
    bal_html_element("td", "l", verdict, page->out);
    for (size_t m = 0; m < e->metrics && !code; m++)
        code = put_value(page, e, point, policy, e->metric[m], &result, err);
    fprintf(page->out, "<td>%u</td></tr>\n", result.replications);
    return code;
}

/* Does a run of the experiment go on after the end of its curve? */
static bool outlasts(const struct bal_experiment *e) {
    bool found = false;
    for (size_t point = 0; point < e->points && !found; point++) {
        struct bal_case c;
        bal_experiment_case(e, point, 0, &c);
        found = c.run.time > bal_curve_end(&c.model.curve);
    }
    return found;
}

static enum bal_code put_table(const struct page *page, const struct bal_experiment *e,
                               struct bal_error *err) {
    const size_t rows = e->points * e->policies;
    fprintf(page->out, "<details class=\"results\"%s><summary>Results: %zu points, %zu policies</summary>\n",
            rows <= ROWS_OPEN ? " open" : "", e->points, e->policies);
    put(page, "<p class=\"soft\">± is the half-width of the 95 % confidence interval. A dash stands where a "
              "mean would say "
              "nothing: the policy is unstable there. A result is doubted where its interval may miss the "
              "truth: it was measured while queues were still settling, lies far from exact theory, comes "
              "from sizes whose tail is too heavy or from too few jobs, or has not reached the wanted "
              "precision.</p>\n");
    bal_html_table_begin("Every point with every policy", page->out);
    put_table_head(page, e);
    put(page, "<tbody>\n");
    for (size_t i = 0; i < rows && i < ROWS_MAX; i++) {
        const enum bal_code code = put_row(page, e, i / e->policies, i % e->policies, err);
        if (code)
            return code;
    }
    put(page, "</tbody>");
    bal_html_table_end(page->out);
    if (outlasts(e))
        bal_html_element("p", "soft", bal_outlasted_text, page->out);
    if (rows > ROWS_MAX)
        fprintf(page->out,
                "<p class=\"soft\">The first %d of %zu rows; ballast results exports all of them.</p>\n",
                ROWS_MAX, rows);
    put(page, "</details>\n");
    return BAL_OK;
}

/* ---- how to repeat it ---- */

static const char *mode_option(enum bal_mode mode) {
    return mode == BAL_MODE_QUICK ? " --quick" : mode == BAL_MODE_FULL ? " --full" : "";
}

/* "2024-05-01T12:00:00Z: version 0.1.0, gcc 12, Linux"; before is "" or ends in ": ". */
static void put_maker(const struct page *page, const char *name, const char *before, const char *version,
                      const char *compiler, const char *machine) {
    char text[600];
    snprintf(text, sizeof text, "%sversion %s, %s, %s", before, version, compiler, machine);
    put_fact(page, name, text);
}

/* When, and by whom if the reader cannot know. */
static void put_moment(const struct page *page, const char *name, const char *when, const char *version,
                       const char *compiler, const char *machine, const struct bal_makers *makers) {
    const struct bal_maker *only = &makers->maker[0];
    char before[60];
    snprintf(before, sizeof before, "%s: ", when);
    if (makers->count == 1 && strcmp(only->version, version) == 0 && strcmp(only->compiler, compiler) == 0 &&
        strcmp(only->machine, machine) == 0)
        put_fact(page, name, when);
    else
        put_maker(page, name, before, version, compiler, machine);
}

/* Who made the trials, and who began the run and asked for it last. */
static enum bal_code put_makers(const struct page *page, const struct item *item, struct bal_error *err) {
    const struct bal_store_run *run = item->run;
    struct bal_makers makers;
    const enum bal_code code = bal_store_makers(page->store, item->experiment, &makers, err);
    if (code)
        return code;
    for (size_t i = 0; i < makers.count; i++) {
        const struct bal_maker *maker = &makers.maker[i];
        char trials[60] = "";
        if (makers.count > 1)
            snprintf(trials, sizeof trials, "%zu trials: ", maker->trials);
        if (maker->id)
            put_maker(page, "computed by", trials, maker->version, maker->compiler, maker->machine);
        else
            put_fact(page, "computed by", "a version that did not note it");
    }
    if (makers.others)
        put_fact(page, "computed by", "still others");
    put_moment(page, "started", run->started, run->version, run->compiler, run->machine, &makers);
    put_fact(page, "ended", run->ended ? run->ended : "not yet");
    if (run->latest && strcmp(run->latest, run->started) != 0)
        put_moment(page, "asked for again", run->latest, run->latest_version, run->latest_compiler,
                   run->latest_machine, &makers);
    return BAL_OK;
}

static void put_spec(const struct page *page, const struct item *item) {
    put(page, "<pre class=\"spec\">");
    bal_html_text(item->run->spec, page->out);
    put(page, "</pre>\n");
}

static enum bal_code put_repeat(const struct page *page, const struct item *item, struct bal_error *err) {
    const struct bal_experiment *e = item->experiment;
    put(page, "<details class=\"repeat\"><summary>How to repeat this</summary>\n");
    put(page, "<p>Save the experiment below as <code>");
    bal_html_text(e->name, page->out);
    put(page, ".yaml</code>. The same version of Ballast gives the same numbers on any "
              "machine.</p>\n<pre>ballast run ");
    bal_html_text(e->name, page->out);
    fprintf(page->out, ".yaml%s --db ", mode_option(e->mode));
    bal_html_text(page->path, page->out);
    put(page, "\nballast report ");
    bal_html_text(page->path, page->out);
    put(page, " -o report.html</pre>\n<dl class=\"facts\">\n");
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, e->seed);
    put_fact(page, "seed", seed);
    const enum bal_code code = put_makers(page, item, err);
    put(page, "</dl>\n");
    put_spec(page, item);
    put(page, "</details>\n");
    return code;
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
    put_maker(page, "begun", item->run->started, item->run->version, item->run->compiler, item->run->machine);
    put(page, "</dl>\n");
    put_spec(page, item);
}

static enum bal_code put_item(struct page *page, const struct item *item, struct bal_error *err) {
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
        code = put_table(page, e, err);
    if (!code)
        code = put_repeat(page, item, err);
    put(page, "</section>\n");
    return code;
}

/* ---- the page ---- */

/* The newest run of each experiment, whatever its mode, in the order in which they were started. */
static bool is_newest(const struct bal_store_run *runs, size_t count, size_t i) {
    for (size_t later = i + 1; later < count; later++)
        if (strcmp(runs[later].name, runs[i].name) == 0)
            return false;
    return true;
}

static enum bal_code item_init(const struct bal_store_run *run, size_t number, struct item *item,
                               struct bal_error *err) {
    *item = (struct item){.number = number, .run = run};
    const enum bal_code code = bal_experiment_parse(run->spec, strlen(run->spec), run->name, run->mode,
                                                    &item->experiment, &item->error);
    return code == BAL_E_MEMORY ? bal_fail(err, code, "%s", item->error.text) : BAL_OK;
}

/* "✓ 41 claims hold · ✗ 4 claims do not hold" */
static void put_tally(const struct page *page, const size_t judged[3], const char *one, const char *several) {
    static const enum bal_judgement order[] = {BAL_CLAIM_HOLDS, BAL_CLAIM_FAILS, BAL_CLAIM_UNDECIDED};
    static const char *const words[2][3] = {{"holds", "does not hold", "is undecided"},
                                            {"hold", "do not hold", "are undecided"}};
    const char *before = "<p>";
    for (int i = 0; i < 3; i++) {
        const size_t number = judged[order[i]];
        if (number == 0)
            continue;
        fprintf(page->out, "%s<span class=\"%s\"><span class=\"badge\">%s%zu %s %s</span></span>", before,
                judgement_class(order[i]), judgement_sign(order[i]), number, number == 1 ? one : several,
                words[number != 1][i]);
        before = " · ";
    }
    put(page, judged[0] + judged[1] + judged[2] > 0 ? "</p>\n" : "");
}

static void put_summary(const struct page *page, const struct item *items, size_t count) {
    struct bal_tally tally = {0};
    for (size_t i = 0; i < count; i++)
        if (items[i].experiment)
            bal_tally_add(&tally, items[i].experiment, items[i].judged);
    put_tally(page, tally.claim, "claim", "claims");
    put_tally(page, tally.finding, "finding of ours", "findings of ours");
    if (count < 2)
        return;
    put(page, "<ul>\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(page->out, "<li><a href=\"#experiment-%zu\">", i + 1);
        bal_html_text(name_of(&items[i]), page->out);
        put(page, items[i].experiment ? "</a></li>\n" : "</a> (cannot be read)</li>\n");
    }
    put(page, "</ul>\n");
}

static const char *paper_of(const struct item *item) {
    return item->experiment ? item->experiment->paper : NULL;
}

/* The title of the only experiment, the paper of them all, or the name of the file; the caller frees it. */
static char *title_of(const struct page *page, const struct item *items, size_t count) {
    if (count == 1)
        return strdup(name_of(&items[0]));
    const char *paper = paper_of(&items[0]);
    for (size_t i = 1; i < count && paper; i++)
        if (!paper_of(&items[i]) || strcmp(paper_of(&items[i]), paper) != 0)
            paper = NULL;
    char *title;
    const char *slash = strrchr(page->path, '/');
    if (!paper)
        return strdup(slash ? slash + 1 : page->path);
    return asprintf(&title, "Paper: %s", paper) < 0 ? NULL : title;
}

static enum bal_code put_page(struct page *page, const struct item *items, size_t count,
                              struct bal_error *err) {
    char *title = title_of(page, items, count);
    if (!title)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a report");
    bal_html_begin(title, page->out);
    put(page, "<header>\n");
    bal_html_element("h1", NULL, title, page->out);
    free(title);
    put_summary(page, items, count);
    put(page, "</header>\n<main>\n");
    enum bal_code code = BAL_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = put_item(page, &items[i], err);
    put(page, "</main>\n<footer class=\"soft\">Made by Ballast " BALLAST_VERSION " from ");
    bal_html_text(page->path, page->out);
    put(page, ".</footer>\n");
    bal_html_end(page->out);
    return code;
}

/* Puts the experiments to be shown into *items, which the caller ends with items_free. */
static enum bal_code items_new(const struct page *page, struct bal_store_run **runs, struct item **items,
                               size_t *used, struct bal_error *err) {
    size_t count = 0;
    *runs = NULL;
    *items = NULL;
    *used = 0;
    enum bal_code code = bal_store_runs(page->store, runs, &count, err);
    if (code)
        return code;
    if (count == 0)
        return bal_fail(err, BAL_E_MODEL, "'%s' has seen no experiment yet; ballast run puts one there",
                        page->path);
    *items = calloc(count, sizeof **items);
    if (!*items)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a report");
    for (size_t i = 0; i < count && !code; i++)
        if (is_newest(*runs, count, i)) {
            ++*used;
            code = item_init(&(*runs)[i], *used, &(*items)[*used - 1], err);
        }
    return code;
}

static void items_free(struct bal_store_run *runs, struct item *items, size_t used) {
    for (size_t i = 0; i < used; i++) {
        bal_experiment_free(items[i].experiment);
        free(items[i].judged);
    }
    free(items);
    free(runs);
}

enum bal_code bal_report_write(struct bal_store *store, const char *path, FILE *out, struct bal_error *err) {
    struct page page = {.store = store, .path = path, .out = out};
    struct bal_store_run *runs;
    struct item *items;
    size_t count;
    enum bal_code code = items_new(&page, &runs, &items, &count, err);
    for (size_t i = 0; i < count && !code; i++)
        if (items[i].experiment)
            code = bal_judgements_new(store, items[i].experiment, &items[i].judged, err);
    if (!code)
        code = put_page(&page, items, count, err);
    items_free(runs, items, count);
    if (!code && ferror(out))
        code = bal_fail(err, BAL_E_IO, "the report cannot be written, or there is not enough memory for it");
    return code;
}

/* Draws the figures of one of them; BAL_E_UNKNOWN when it has none of those that are wanted. */
static enum bal_code draw_item(struct bal_store *store, const struct item *item,
                               const struct bal_chart_files *files, struct bal_error *err) {
    if (!item->experiment)
        return bal_fail(err, item->error.code, "experiment '%s' cannot be read: %s", item->run->name,
                        item->error.text);
    return bal_chart_write(store, item->experiment, files, err);
}

/* What is wrong with one experiment is told when the figures of the others are drawn. */
enum bal_code bal_report_figures(struct bal_store *store, const char *path,
                                 const struct bal_chart_files *files, struct bal_error *err) {
    const struct page page = {.store = store, .path = path};
    struct bal_store_run *runs;
    struct item *items;
    size_t count, drawn = 0;
    struct bal_error first = {0};
    enum bal_code code = items_new(&page, &runs, &items, &count, err);
    for (size_t i = 0; i < count && !code; i++) {
        struct bal_error why = {0};
        const enum bal_code of_item = draw_item(store, &items[i], files, &why);
        drawn += !of_item;
        if (of_item == BAL_E_MEMORY || of_item == BAL_E_IO)
            code = bal_fail(err, of_item, "%s", why.text);
        else if (of_item && of_item != BAL_E_UNKNOWN && !first.code)
            first = why;
    }
    items_free(runs, items, count);
    if (code || (files->only && drawn > 0))
        return code;
    if (first.code)
        return bal_fail(err, first.code, "%s", first.text);
    return drawn > 0 ? BAL_OK : bal_fail(err, BAL_E_UNKNOWN, "'%s' has no figure '%s'", path, files->only);
}
