/* SPDX-License-Identifier: BSD-2-Clause */
/* One HTML page about all experiments in a store. */
#include "ballast/report.h"

#include "ballast/version.h"
#include "report/report_page.h"

#include <stdlib.h>
#include <string.h>

static const struct bli_report_known nothing_known = {.count = 0};

/* The newest run of each experiment, whatever its mode, in the order in which they were started. */
static bool is_newest(const struct bli_store_run *runs, size_t count, size_t i) {
    for (size_t later = i + 1; later < count; later++)
        if (strcmp(runs[later].name, runs[i].name) == 0)
            return false;
    return true;
}

static bool is_of_run(const struct bli_experiment *e, const struct bli_store_run *run) {
    return e->mode == run->mode && strcmp(e->name, run->name) == 0 && strcmp(e->spec, run->spec) == 0;
}

static enum bal_code item_init(const struct bli_store_run *run, const struct bli_report_known *known,
                               size_t number, struct item *item, struct bal_error *err) {
    *item = (struct item){.number = number, .run = run};
    for (size_t i = 0; i < known->count; i++)
        if (known->judged[i] && is_of_run(known->experiment[i], run)) {
            item->experiment = known->experiment[i];
            item->judged = known->judged[i];
            item->borrowed = true;
            return BAL_OK;
        }
    const enum bal_code code = bli_experiment_parse(run->spec, strlen(run->spec), run->name, run->mode,
                                                    &item->experiment, &item->error);
    return code == BAL_E_MEMORY ? bal_fail(err, code, "%s", item->error.text) : BAL_OK;
}

/* "✓ 41 claims hold · ✗ 4 claims do not hold" */
static void put_tally(const struct page *page, const size_t count[BLI_FATES], const char *one,
                      const char *several) {
    static const struct {
        enum bli_claim_status fate;
        enum bli_judgement judgement;
        const char *of_one, *of_several;
    } rows[] = {
        {BLI_CLAIM_STATUS_HOLDS, BLI_CLAIM_HOLDS, "holds", "hold"},
        {BLI_CLAIM_STATUS_UNEXPECTED, BLI_CLAIM_HOLDS, "holds although an error is stated",
         "hold although an error is stated"},
        {BLI_CLAIM_STATUS_ERROR, BLI_CLAIM_FAILS, "is an error of the paper, confirmed",
         "are errors of the paper, confirmed"},
        {BLI_CLAIM_STATUS_READING, BLI_CLAIM_FAILS, "does not hold as read", "do not hold as read"},
        {BLI_CLAIM_STATUS_FAILS, BLI_CLAIM_FAILS, "does not hold", "do not hold"},
        {BLI_CLAIM_STATUS_UNDECIDED, BLI_CLAIM_UNDECIDED, "is undecided", "are undecided"},
    };
    const char *before = "<p>";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t number = count[rows[i].fate];
        if (number == 0)
            continue;
        fprintf(page->out, "%s<span class=\"%s\"><span class=\"badge\">%s%zu %s %s</span></span>", before,
                judgement_class(rows[i].judgement), judgement_sign(rows[i].judgement), number,
                number == 1 ? one : several, number == 1 ? rows[i].of_one : rows[i].of_several);
        before = " · ";
    }
    put_text(page, *before == ' ' ? "</p>\n" : "");
}

static void put_summary(const struct page *page, const struct item *items, size_t count) {
    struct bli_tally tally = {0};
    for (size_t i = 0; i < count; i++)
        if (items[i].experiment)
            bli_tally_add(&tally, items[i].experiment, items[i].judged);
    put_tally(page, tally.claim, "claim", "claims");
    put_tally(page, tally.finding, "finding of ours", "findings of ours");
    if (count < 2)
        return;
    put_text(page, "<ul>\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(page->out, "<li><a href=\"#experiment-%zu\">", i + 1);
        bli_html_text(name_of(&items[i]), page->out);
        put_text(page, items[i].experiment ? "</a></li>\n" : "</a> (cannot be read)</li>\n");
    }
    put_text(page, "</ul>\n");
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
    bli_html_begin(title, page->out);
    put_text(page, "<header>\n");
    bli_html_element("h1", NULL, title, page->out);
    free(title);
    put_summary(page, items, count);
    put_text(page, "</header>\n<main>\n");
    enum bal_code code = BAL_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = bli_page_item(page, &items[i], err);
    put_text(page, "</main>\n<footer class=\"soft\">Made by Ballast " BALLAST_VERSION " from ");
    bli_html_text(page->path, page->out);
    put_text(page, ".</footer>\n");
    bli_html_end(page->out);
    return code;
}

/* Puts the experiments to be shown into *items, which the caller ends with items_free. */
static enum bal_code items_new(const struct page *page, const struct bli_report_known *known,
                               struct bli_store_run **runs, struct item **items, size_t *used,
                               struct bal_error *err) {
    size_t count = 0;
    *runs = NULL;
    *items = NULL;
    *used = 0;
    enum bal_code code = bli_store_runs(page->store, runs, &count, err);
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
            code = item_init(&(*runs)[i], known, *used, &(*items)[*used - 1], err);
            if (!code && (*items)[*used - 1].experiment)
                code = bli_store_adopt_delays(page->store, (*items)[*used - 1].experiment, err);
        }
    return code;
}

static void items_free(struct bli_store_run *runs, struct item *items, size_t used) {
    for (size_t i = 0; i < used; i++) {
        if (items[i].borrowed)
            continue;
        bli_experiment_free(items[i].experiment);
        free(items[i].judged);
    }
    free(items);
    free(runs);
}

enum bal_code bli_report_write(struct bli_store *store, const char *path, FILE *out, struct bal_error *err) {
    return bli_report_write_known(store, path, &nothing_known, out, err);
}

enum bal_code bli_report_write_known(struct bli_store *store, const char *path,
                                     const struct bli_report_known *known, FILE *out, struct bal_error *err) {
    struct page page = {.store = store, .path = path, .out = out};
    struct bli_store_run *runs;
    struct item *items;
    size_t count;
    enum bal_code code = items_new(&page, known, &runs, &items, &count, err);
    for (size_t i = 0; i < count && !code; i++)
        if (items[i].experiment && !items[i].judged)
            code = bli_judgements_new(store, items[i].experiment, &items[i].judged, err);
    if (!code)
        code = put_page(&page, items, count, err);
    items_free(runs, items, count);
    if (!code && ferror(out))
        code = bal_fail(err, BAL_E_IO, "the report cannot be written, or there is not enough memory for it");
    return code;
}

/* Draws the figures of one of them; BAL_E_UNKNOWN when it has none of those that are wanted. */
static enum bal_code draw_item(struct bli_store *store, const struct item *item,
                               const struct bli_chart_files *files, struct bal_error *err) {
    if (!item->experiment)
        return bal_fail(err, item->error.code, "experiment '%s' cannot be read: %s", item->run->name,
                        item->error.text);
    return bli_chart_write(store, item->experiment, files, err);
}

/* An error in one experiment is reported after the figures of the others are drawn. */
enum bal_code bli_report_figures(struct bli_store *store, const char *path,
                                 const struct bli_chart_files *files, struct bal_error *err) {
    const struct page page = {.store = store, .path = path};
    struct bli_store_run *runs;
    struct item *items;
    size_t count, drawn = 0;
    struct bal_error first = {0};
    enum bal_code code = items_new(&page, &nothing_known, &runs, &items, &count, err);
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
