/* SPDX-License-Identifier: BSD-2-Clause */
/* The page about all experiments in a store: what its parts share. report.c is the page, report_item.c one of
 * its experiments, with report_table.c for the results and report_repeat.c for how to repeat it. */
#ifndef REPORT_REPORT_PAGE_H
#define REPORT_REPORT_PAGE_H

#include "ballast/report.h"
#include "format/html.h"
#include "report/judgements.h"

struct page {
    struct bli_store *store;
    const char *path;
    FILE *out;
    bool no_gnuplot; /* found missing: reported once, not tried again */
};

/* An experiment of the page. Its number, from 1, is in the anchors: other experiments may use the same ids.
 */
struct item {
    size_t number;
    const struct bli_store_run *run;
    struct bli_experiment *experiment; /* NULL: it cannot be read */
    struct bal_error error;            /* why */
    struct bli_judged *judged;         /* one for each claim and finding */
    bool borrowed;                     /* both are the caller's of the page */
};

/* What the reader calls it. */
static inline const char *name_of(const struct item *item) {
    return item->experiment ? item->experiment->title : item->run->name;
}

static inline void put_text(const struct page *page, const char *text) {
    fputs(text, page->out);
}

static inline void put_fact(const struct page *page, const char *name, const char *text) {
    if (!text || !*text)
        return;
    bli_html_element("dt", NULL, name, page->out);
    bli_html_element("dd", NULL, text, page->out);
}

static inline const char *judgement_class(enum bli_judgement judgement) {
    return judgement == BLI_CLAIM_HOLDS ? "holds" : judgement == BLI_CLAIM_FAILS ? "fails" : "open";
}

static inline const char *judgement_sign(enum bli_judgement judgement) {
    return judgement == BLI_CLAIM_HOLDS ? "✓ " : judgement == BLI_CLAIM_FAILS ? "✗ " : "? ";
}

enum bal_code bli_page_item(struct page *page, const struct item *item, struct bal_error *err);
enum bal_code bli_page_table(const struct page *page, const struct bli_experiment *e, struct bal_error *err);
enum bal_code bli_page_repeat(const struct page *page, const struct item *item, struct bal_error *err);
/* "2024-05-01T12:00:00Z: version 0.1.0, gcc 12, Linux"; `before` is "" or ends in ": ". */
void bli_page_maker(const struct page *page, const char *name, const char *before, const char *version,
                    const char *compiler, const char *machine);
void bli_page_spec(const struct page *page, const struct item *item);

#endif
