/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a paper: its selected experiments, their results, the verdicts, and the page. */
#ifndef REPORT_PAPER_WORK_H
#define REPORT_PAPER_WORK_H

#include "ballast/store.h"
#include "report/paper.h"

struct bli_paper_work {
    struct bli_paper paper;
    enum bli_mode mode;
    char *directory; /* for what is made */
    size_t count;
    struct bli_experiment **experiment; /* those that are run */
    const char **only;                  /* the figure of each that is drawn, NULL: all */
    struct bli_store *store;
    struct bli_judged **judged; /* of each experiment, one for each claim and finding */
};

/* Reads the experiments of the paper of that name, or in that directory if the name has a slash, and opens
 * the store. figure: only the experiment of that name, or with that figure; NULL: all. output: the directory;
 * NULL: named after the paper and the mode. On failure there is nothing to end. */
enum bal_code bli_paper_work_init(struct bli_paper_work *work, const char *name, enum bli_mode mode,
                                  const char *figure, const char *output, struct bal_error *err);
void bli_paper_work_fini(struct bli_paper_work *work);

/* The time that its trials took, and when the last of its experiments was complete. */
struct bli_paper_cost {
    size_t trials;
    double seconds; /* of all trials one after another, by the clock on the wall */
    char day[11];   /* "2024-05-01"; "" where it is not complete */
};
enum bal_code bli_paper_work_cost(const struct bli_paper_work *work, struct bli_paper_cost *cost,
                                  struct bal_error *err);

/* After all trials are run: judges every claim and finding; draws the figures; writes the page. */
enum bal_code bli_paper_work_judge(struct bli_paper_work *work, struct bal_error *err);
enum bal_code bli_paper_work_draw(const struct bli_paper_work *work, struct bal_error *err);
enum bal_code bli_paper_work_page(const struct bli_paper_work *work, FILE *out, struct bal_error *err);

#endif
