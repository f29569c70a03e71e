/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports: the figures of an experiment and a page that shows everything about it.
 *
 * All of it is made from a store of results (ballast/store.h), at any time after or during a run. */
#ifndef BALLAST_REPORT_H
#define BALLAST_REPORT_H

#include "ballast/figure.h"
#include "ballast/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One of the figures of an experiment, filled from the store. Points without results are left out, and so is
 * the mean of what grows without bound where the policy is unstable. */
struct bli_chart;

/* plot is an index into experiment->plot. The chart holds copies of the results and texts of the experiment,
 * which must outlive it. */
enum bal_code bli_chart_new(struct bli_store *store, const struct bli_experiment *experiment, size_t plot,
                            struct bli_chart **chart, struct bal_error *err);
void bli_chart_free(struct bli_chart *chart);                             /* NULL is allowed */
const struct bli_figure *bli_chart_figure(const struct bli_chart *chart); /* lives as long as the chart */

/* What is drawn unless it is said otherwise: for pages and papers, with the data. */
#define BLI_CHART_FORMATS                                                                                    \
    (1u << BLI_FIGURE_SVG | 1u << BLI_FIGURE_PNG | 1u << BLI_FIGURE_PDF | 1u << BLI_FIGURE_CSV)

/* Which figures are to be drawn, and where. */
struct bli_chart_files {
    const char *directory; /* must exist */
    unsigned formats;      /* bits 1 << enum bli_figure_format */
    struct bli_figure_size size;
    const char *only; /* NULL: all, else that of this id */
    /* Called with the path of each file that was written; may be NULL. */
    void (*written)(void *context, const char *path);
    void *context;
};

/* Draws figures of the experiment into files called EXPERIMENT-ID.svg and so on. BAL_E_UNKNOWN when there is
 * none of that id. */
enum bal_code bli_chart_write(struct bli_store *store, const struct bli_experiment *experiment,
                              const struct bli_chart_files *files, struct bal_error *err);

/* The same for all experiments that bli_report_write would show. path is the name of the store for the
 * reader. */
enum bal_code bli_report_figures(struct bli_store *store, const char *path,
                                 const struct bli_chart_files *files, struct bal_error *err);

/* Writes one HTML page about the newest run of each experiment in the store: claims, figures, tables and how
 * to repeat it all. The page needs nothing from elsewhere. Without gnuplot it has a note in place of
 * figures. */
enum bal_code bli_report_write(struct bli_store *store, const char *path, FILE *out, struct bal_error *err);

/* Experiments that are read and judged already. They stay the caller's. */
struct bli_report_known {
    struct bli_experiment *const *experiment;
    struct bli_judged *const *judged; /* one for each claim and finding of each */
    size_t count;
};

/* The same; what is known is neither read nor judged again, where the store has its text and mode. */
enum bal_code bli_report_write_known(struct bli_store *store, const char *path,
                                     const struct bli_report_known *known, FILE *out, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
