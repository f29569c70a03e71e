/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints a fitted workload as tables and as JSON. */
#include "report/fit_report.h"

#include "report/head.h"
#include "report/log_report.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- for people ---- */

static double peak_load(const struct bli_fit_report *report) {
    return report->model.load * bli_curve_max(&report->model.curve);
}

static void print_arrivals(const struct bli_fit_report *report, FILE *out) {
    const struct bli_fit_arrivals *arrivals = report->arrivals;
    if (report->model.curve.kind == BLI_CURVE_CONSTANT) {
        bli_head_line(out, "arrivals", "%.4g a second; the rate is constant as far as can be told",
                      arrivals->rate);
        return;
    }
    double least = HUGE_VAL;
    for (unsigned i = 0; i < report->model.curve.points; i++)
        least = fmin(least, report->model.curve.factor[i]);
    bli_head_line(
        out, "arrivals", "%.4g a second; a curve of %u points %.4g s apart, from %.3g to %.3g times the mean",
        arrivals->rate, arrivals->bins, arrivals->width, least, bli_curve_max(&report->model.curve));
}

/* Why nothing can be told: windows of powers of ten seconds are to be twice as long as the steps of the
 * times, and a hundred of them are to be in the log (src/workload/fit_arrivals.c). */
static void print_unknown_flow(const struct bli_fit_arrivals *arrivals, FILE *out) {
    const double window = pow(10, ceil(log10(2 * arrivals->resolution) - 1e-9));
    const bool coarse = arrivals->resolution > 0 && window > arrivals->span / 100;
    if (coarse && arrivals->rate * arrivals->span / 100 >= 0.3)
        bli_head_line(out, "flow",
                      "unknown: times in steps of %.4g s are too coarse to tell whether it is like a Poisson "
                      "process; windows of %g s, of which there must be 100, need a log of %g s, and this "
                      "one has %.0f s",
                      arrivals->resolution, window, 100 * window, arrivals->span);
    else if (arrivals->rate * arrivals->span / 100 < 0.3)
        bli_head_line(out, "flow", "too short a log to tell whether it is like a Poisson process");
    else
        bli_head_line(out, "flow",
                      "unknown: times in steps of %.4g s are too coarse to tell whether it is like a Poisson "
                      "process, with so many jobs a second",
                      arrivals->resolution);
}

static void print_flow(const struct bli_fit_arrivals *arrivals, FILE *out) {
    static const char *const words[] = {
        [BLI_FIT_POISSON] = "like a Poisson process, which is what simulations draw",
        [BLI_FIT_BURSTY] = "burstier than a Poisson process; simulations will draw arrivals that are so, too",
        [BLI_FIT_REGULAR] =
            "more regular than the Poisson process that simulations draw: true delays are shorter",
    };
    char scales[50 * BLI_FIT_SCALES] = "";
    size_t used = 0;
    for (unsigned i = 0; i < arrivals->scales; i++)
        used += (size_t)snprintf(scales + used, sizeof scales - used, "%s %.3g in %g s", i ? "," : "",
                                 arrivals->scale[i].dispersion, arrivals->scale[i].window);
    if (arrivals->flow == BLI_FIT_UNKNOWN) {
        print_unknown_flow(arrivals, out);
        return;
    }
    bli_head_line(out, "flow", "%s", words[arrivals->flow]);
    if (arrivals->scales > 0 && arrivals->flow != BLI_FIT_BURSTY)
        bli_head_line(out, "", "(dispersion of counts%s)", scales);
}

/* The burstiness of each fit, compared with the log. */
static void print_bursts(const struct bli_fit_arrivals *arrivals, enum bli_table_style style, FILE *out) {
    if (arrivals->flow != BLI_FIT_BURSTY)
        return;
    struct table table;
    bli_table_begin(&table, "arrivals|parameters|misfit");
    table.columns += arrivals->scales;
    for (unsigned i = 0; i < arrivals->scales; i++)
        bli_table_add(&table, "in %g s", arrivals->scale[i].window);
    bli_table_add(&table, "the log");
    bli_table_add(&table, "%s", "");
    bli_table_add(&table, "%s", "");
    for (unsigned i = 0; i < arrivals->scales; i++)
        bli_table_add(&table, "%.4g", arrivals->scale[i].dispersion);
    for (unsigned m = 0; m < BLI_FIT_BURST_COUNT; m++) {
        const struct bli_fit_burst *fit = &arrivals->burst[m];
        if (!fit->made)
            continue;
        bli_table_add(&table, "%s%s", bli_fit_burst_table[m].name, m == arrivals->as ? " \u25c0" : "");
        bli_table_add(&table, "%u", fit->parameters);
        bli_table_add(&table, "%.4g", fit->misfit);
        for (unsigned i = 0; i < arrivals->scales; i++)
            bli_table_add(&table, "%.4g", fit->dispersion[i]);
    }
    bli_table_print(&table, "lrrrrrrrr", style, out);
    bli_table_fini(&table);
    char text[BLI_ARRIVALS_TEXT];
    bli_arrivals_print(&arrivals->burst[arrivals->as].arrivals, text, sizeof text);
    fprintf(out, "\n\u25c0 the least misfit, with 4 for each parameter: %s\n  %s\n\n",
            bli_fit_burst_table[arrivals->as].meaning, text);
    bli_table_wrap(
        "",
        "Dispersions of the counts in windows of so many seconds, 1 for a Poisson process. misfit: "
        "squares of what they differ by from the log, in units of its errors.",
        0, out);
    fputc('\n', out);
}

static void print_fleet(const struct bli_fit_report *report, FILE *out) {
    char servers[300], slots[300], peak[40] = "", chosen[80] = "";
    const char *over = report->model.load >= 1 ? "; it is too small: more work comes than it can do" : "";
    bli_servers_print(&report->model.servers, servers, sizeof servers);
    bli_head_slots_and_speeds(&report->model, slots, sizeof slots);
    if (report->model.curve.kind != BLI_CURVE_CONSTANT)
        snprintf(peak, sizeof peak, ", %.3g at the peak", peak_load(report));
    if (report->recorded)
        snprintf(chosen, sizeof chosen, "; that of the log, --servers says otherwise");
    if (report->sized_for > 0)
        snprintf(chosen, sizeof chosen, "; chosen for %g at the peak, --servers says otherwise",
                 report->sized_for);
    bli_head_line(out, "fleet", "%s server%s%s: load %.3g on average%s%s%s", servers,
                  strcmp(servers, "1") == 0 ? "" : "s", slots, report->model.load, peak, chosen, over);
}

static void add_quantiles(struct table *table, const double *quantile) {
    for (unsigned i = 0; i < BLI_FIT_QUANTILES; i++)
        bli_table_add(table, "%.4g", quantile[i]);
}

static void add_fit(struct table *table, const struct bli_fit_report *report, enum bli_fit_method method) {
    const struct bli_fit *fit = &report->fits->fit[method];
    bli_table_add(table, "%s%s", bli_fit_method_table[method].name,
                  method == report->chosen ? " \u25c0" : "");
    bli_table_add(table, "%u", fit->parameters);
    bli_table_add_number(table, "%+.0f", fit->bic - report->fits->fit[report->fits->best].bic);
    bli_table_add_number(table, "%.4f", fit->distance);
    bli_table_add(table, "%.4g", fit->c2);
    add_quantiles(table, fit->quantile);
}

static void print_fits(const struct bli_fit_report *report, enum bli_table_style style, FILE *out) {
    struct table table;
    bli_table_begin(&table, "law|parameters|bic|distance|c2");
    table.columns += BLI_FIT_QUANTILES;
    for (unsigned i = 0; i < BLI_FIT_QUANTILES; i++)
        bli_table_add(&table, "p%g", 100 * bli_fit_quantile[i]);
    bli_table_add(&table, "the log");
    for (int i = 0; i < 3; i++)
        bli_table_add(&table, "%s", "");
    bli_table_add(&table, "%.4g", report->fits->c2);
    add_quantiles(&table, report->fits->quantile);
    for (unsigned i = 0; i < BLI_FIT_METHOD_COUNT; i++)
        if (report->fits->fit[i].made)
            add_fit(&table, report, (enum bli_fit_method)i);
    bli_table_print(&table, "lrrrrrrrr", style, out);
    bli_table_fini(&table);
}

/* Phases from this one on to the end of its chain, and the mean time in them. */
static unsigned chain_of(const struct bli_dist *dist, unsigned phase, double *mean) {
    unsigned length = 0;
    *mean = 0;
    while (phase < dist->phases) {
        *mean += 1 / dist->rate[phase];
        length++;
        unsigned next = 0;
        while (next < dist->phases && dist->jump[phase][next] < 1)
            next++;
        phase = next;
    }
    return length;
}

/* A fitted phase-type law is a mixture of chains, which says more than its matrix. */
static void print_chains(const struct bli_dist *dist, FILE *out) {
    char text[50 * BLI_DIST_PHASES] = "";
    size_t used = 0;
    for (unsigned i = 0; i < dist->phases; i++) {
        if (dist->start[i] == 0)
            continue;
        double mean;
        const unsigned length = chain_of(dist, i, &mean);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.4g\u00b7", used ? " + " : "",
                                 dist->start[i]);
        used += (size_t)(length == 1
                             ? snprintf(text + used, sizeof text - used, "exp(%.4g)", mean)
                             : snprintf(text + used, sizeof text - used, "erlang(%u,%.4g)", length, mean));
    }
    bli_table_wrap("", text, 2, out);
}

static void print_law(const struct bli_fit_report *report, FILE *out) {
    char text[BLI_DIST_TEXT];
    bli_dist_print(&report->model.size, text, sizeof text);
    fprintf(out, "\n\u25c0 %s: %s\n",
            report->forced                                 ? "as asked"
            : isnan(report->fits->fit[report->chosen].bic) ? "the only one"
                                                           : "the least bic",
            bli_fit_method_table[report->chosen].meaning);
    if (report->model.size.kind == BLI_DIST_PHASE)
        print_chains(&report->model.size, out);
    else
        fprintf(out, "  %s\n", text);
    snprintf(
        text, sizeof text,
        "bic: Schwarz's criterion above that of the best. distance: of the distribution functions, at "
        "most; a law known beforehand would exceed %.4f in one of 20 samples. c2: squared coefficient of "
        "variation. Percentiles are in seconds. Every law has the mean of the log, %.7g s.",
        report->fits->distance_5pc, report->fits->mean);
    fputc('\n', out);
    bli_table_wrap("", text, 0, out);
}

static void print_text(const struct bli_fit_report *report, enum bli_table_style style, FILE *out) {
    bli_log_summary_text(report->summary, report->info, out);
    bli_recovery_text(report->times, out);
    print_arrivals(report, out);
    print_flow(report->arrivals, out);
    print_fleet(report, out);
    fputc('\n', out);
    print_bursts(report->arrivals, style, out);
    print_fits(report, style, out);
    print_law(report, out);
}

/* ---- for programs ---- */

static void add_bursts(struct json *json, const struct bli_fit_arrivals *arrivals) {
    bli_json_open(json, "fits", '[');
    for (unsigned m = 0; m < BLI_FIT_BURST_COUNT; m++) {
        const struct bli_fit_burst *fit = &arrivals->burst[m];
        if (!fit->made && !bli_json_is_schema(json))
            continue;
        char text[BLI_ARRIVALS_TEXT];
        bli_arrivals_print(&fit->arrivals, text, sizeof text);
        bli_json_open(json, NULL, '{');
        bli_json_text(json, "method", bli_fit_burst_table[m].name);
        bli_json_text(json, "arrivals", text);
        bli_json_count(json, "parameters", fit->parameters);
        bli_json_number(json, "misfit", fit->misfit);
        bli_json_number(json, "error", fit->error);
        bli_json_numbers(json, "dispersion", fit->dispersion, arrivals->scales);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_text(json, "chosen", bli_fit_burst_table[arrivals->as].name);
}

static void add_arrivals(struct json *json, const struct bli_fit_arrivals *arrivals) {
    static const char *const flows[] = {[BLI_FIT_UNKNOWN] = "unknown",
                                        [BLI_FIT_POISSON] = "poisson",
                                        [BLI_FIT_BURSTY] = "bursty",
                                        [BLI_FIT_REGULAR] = "regular"};
    bli_json_open(json, "arrivals", '{');
    bli_json_number(json, "rate", arrivals->rate);
    bli_json_number(json, "span", arrivals->span);
    bli_json_number(json, "bin", arrivals->width);
    bli_json_open_line(json, "counts", '[');
    for (unsigned i = 0; i < arrivals->bins; i++)
        bli_json_count(json, NULL, arrivals->count[i]);
    bli_json_close(json, ']');
    bli_json_text(json, "flow", flows[arrivals->flow]);
    bli_json_open(json, "dispersion", '[');
    for (unsigned i = 0; i < arrivals->scales; i++) {
        bli_json_open_line(json, NULL, '{');
        bli_json_number(json, "window", arrivals->scale[i].window);
        bli_json_count(json, "windows", arrivals->scale[i].windows);
        bli_json_number(json, "dispersion", arrivals->scale[i].dispersion);
        bli_json_number(json, "error", arrivals->scale[i].error);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    add_bursts(json, arrivals);
    bli_json_close(json, '}');
}

static void add_sizes(struct json *json, const struct bli_fits *fits) {
    bli_json_open(json, "sizes", '{');
    bli_json_number(json, "mean", fits->mean);
    bli_json_number(json, "c2", fits->c2);
    bli_json_number(json, "resolution", fits->resolution);
    bli_json_number(json, "distance_5pc", fits->distance_5pc);
    bli_json_numbers(json, "percentiles", fits->quantile, BLI_FIT_QUANTILES);
    bli_json_close(json, '}');
}

static void put_fit(struct bli_rows *rows, enum bli_fit_method method, const struct bli_fit *fit) {
    char text[BLI_DIST_TEXT];
    bli_dist_print(&fit->dist, text, sizeof text);
    bli_row_begin(rows);
    bli_row_text(rows, "method", "which law, or how it was fitted", bli_fit_method_table[method].name);
    bli_row_text(rows, "law", "as `--service` takes it", text);
    bli_row_count(rows, "parameters", "parameters that were fitted", fit->parameters);
    bli_row_number(rows, "log_likelihood", "of the sizes under the law", fit->log_likelihood);
    bli_row_number(rows, "bic", "Schwarz's criterion, the least is best", fit->bic);
    bli_row_number(rows, "distance", "of the distribution functions, at most", fit->distance);
    bli_row_number(rows, "c2", "squared coefficient of variation", fit->c2);
    bli_row_list(rows, "percentiles", "those that the text shows|s", fit->quantile, BLI_FIT_QUANTILES);
    bli_row_end(rows, NULL);
}

static void add_fits(struct bli_rows *rows, const struct bli_fits *fits) {
    rows->lines = true;
    bli_json_open(rows->json, "fits", '[');
    for (unsigned i = 0; i < BLI_FIT_METHOD_COUNT; i++)
        if (fits->fit[i].made)
            put_fit(rows, (enum bli_fit_method)i, &fits->fit[i]);
    bli_json_close(rows->json, ']');
}

static void add_model(struct json *json, const struct bli_fit_report *report) {
    char servers[4096], service[BLI_DIST_TEXT], curve[BLI_CURVE_TEXT], arrivals[BLI_ARRIVALS_TEXT],
        speeds[200];
    bli_arrivals_print(&report->model.arrivals, arrivals, sizeof arrivals);
    bli_servers_print(&report->model.servers, servers, sizeof servers);
    bli_dist_print(&report->model.size, service, sizeof service);
    bli_curve_print(&report->model.curve, curve, sizeof curve);
    bli_json_open(json, "model", '{');
    bli_json_text(json, "servers", servers);
    bli_json_slots(json, &report->model);
    bli_speeds_print(&report->model.speeds, speeds, sizeof speeds);
    if (bli_json_if(json, bli_speeds_given(&report->model.speeds)))
        bli_json_text(json, "speeds", speeds);
    bli_json_number(json, "load", report->model.load);
    bli_json_number(json, "peak_load", peak_load(report));
    bli_json_text(json, "service", service);
    bli_json_text(json, "arrivals", arrivals);
    bli_json_text(json, "curve", curve);
    if (bli_json_if(json, report->model.classes))
        bli_json_number(json, "high", report->model.high);
    bli_json_close(json, '}');
}

static void print_json(const struct bli_fit_report *report, struct bli_rows *rows) {
    struct json *json = rows->json;
    bli_rows_open(rows);
    bli_log_summary_json(json, "log", report->summary, report->info);
    bli_recovery_json(json, "times", report->times);
    add_arrivals(json, report->arrivals);
    add_sizes(json, report->fits);
    add_fits(rows, report->fits);
    bli_json_text(json, "best", bli_fit_method_table[report->fits->best].name);
    bli_json_text(json, "chosen", bli_fit_method_table[report->chosen].name);
    add_model(json, report);
    bli_json_close(json, '}');
}

void bli_fit_print(const struct bli_fit_report *report, struct bli_rows *rows) {
    if (rows->text)
        print_text(report, rows->style, rows->text);
    else if (rows->json)
        print_json(report, rows);
    else
        put_fit(rows, report->fits->best, &report->fits->fit[report->fits->best]);
}

void bli_fit_describe(struct bli_rows *rows) {
    static const struct bli_log_summary summary = {.files = 0};
    static const struct bli_trace_info info = {.jobs = 0};
    static const struct bli_recovery recovery = {.servers = 0};
    static const struct bli_recovery_report times = {.recovery = &recovery, .field = "", .perhaps = ""};
    struct bli_fits *fits = calloc(1, sizeof *fits);
    struct bli_fit_arrivals *arrivals = calloc(1, sizeof *arrivals);
    const struct bli_fit_report report = {.summary = &summary,
                                          .times = &times,
                                          .info = &info,
                                          .fits = fits,
                                          .arrivals = arrivals,
                                          .model = bli_rows_sample().c.model};
    if (fits && arrivals) {
        fits->fit[0].made = true;
        arrivals->bins = arrivals->scales = 1;
        bli_fit_print(&report, rows);
    }
    free(fits);
    free(arrivals);
}
