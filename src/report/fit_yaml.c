/* SPDX-License-Identifier: BSD-2-Clause */
/* The experiment file of a fitted workload. */
#include "report/fit_report.h"

#include "ballast/number.h"

#include "ballast/simulate.h"
#include "ballast/version.h"

#include "base/strbuf.h"
#include "base/utf8.h"
#include "format/text.h"
#include "format/time_text.h"
#include "report/log_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 100,
    JOBS_ENOUGH = 200000, /* of all replications of a point */
    REPLICATIONS = 4,
    REPLICATIONS_MAX = 100,
};

/* What a what-if asks: half of the traffic to twice as much. */
static const double factors[] = {0.5, 0.75, 1, 1.25, 1.5, 2};
#define LOAD_MAX 0.98 /* of the points other than that of the log */

static const char *const policies[] = {"random", "round-robin", "pod:d=2", "pod-ssp", "jiq", "jsq"};

/* In single quotes, on one line. */
static void put_quoted(const char *text, FILE *out) {
    fputc('\'', out);
    while (*text) {
        char letter[4], *end = letter;
        bli_utf8_put(&end, bli_utf8_next(&text));
        fputs(*letter == '\'' ? "'" : "", out);
        fwrite(letter, 1, (size_t)(end - letter), out);
    }
    fputc('\'', out);
}

/* A long value in lines, broken where a blank does no harm; YAML joins them by blanks. */
static void put_folded(const char *text, FILE *out) {
    if (strlen(text) < WIDTH - 20) {
        fprintf(out, " \"%s\"\n", text);
        return;
    }
    fputs(" >-\n", out);
    while (*text) {
        size_t length = strlen(text);
        for (size_t i = length > WIDTH ? WIDTH : 0; i > 0; i--)
            if (strchr(" ,;/", text[i - 1])) {
                length = i;
                break;
            }
        const bool blank = text[length - 1] == ' ';
        fprintf(out, "    %.*s\n", (int)(blank ? length - 1 : length), text);
        text += length;
    }
}

static void put_names(const struct bli_fit_report *report, FILE *out) {
    for (size_t i = 0; i < report->log_count && i < 3; i++) {
        fputs(i ? ", " : "", out);
        bli_text_print(report->logs[i], out);
    }
    if (report->log_count > 3)
        fprintf(out, " and %zu more", report->log_count - 3);
}

static void put_title(const struct bli_fit_report *report, FILE *out) {
    struct bli_strbuf title;
    if (bli_strbuf_open(&title)) {
        fputs("Fitted to ", title.stream);
        put_names(report, title.stream);
    }
    if (!bli_strbuf_close(&title)) {
        bli_stream_mark_incomplete(out);
        return;
    }
    fputs("title: ", out);
    put_quoted(title.text, out);
    fputc('\n', out);
    bli_strbuf_discard(&title);
}

static void put_fleet(const struct bli_fit_report *report, FILE *out) {
    char servers[4096], speeds[200];
    bli_servers_print(&report->model.servers, servers, sizeof servers);
    fputs("fleet:\n", out);
    if (report->recorded)
        fputs("  # as many as the log names\n", out);
    if (report->sized_for > 0)
        fprintf(out, "  # as many as make a load of at most %g at the peak\n", report->sized_for);
    fprintf(out, "  servers: %s\n", servers);
    if (report->model.slots == BLI_SLOTS_ALL)
        fputs("  slots: all\n", out);
    else if (report->model.slots > 1)
        fprintf(out, "  slots: %u\n", report->model.slots);
    if (bli_speeds_given(&report->model.speeds)) {
        bli_speeds_print(&report->model.speeds, speeds, sizeof speeds);
        fprintf(out, "  speeds: \"%s\"\n", speeds);
    }
}

static void put_workload(const struct bli_fit_report *report, FILE *out) {
    const struct bli_fit *fit = &report->fits->fit[report->chosen];
    const struct bli_fit_arrivals *arrivals = report->arrivals;
    char service[BLI_DIST_TEXT], curve[BLI_CURVE_TEXT], first[BLI_TIME_TEXT];
    bli_dist_print(&report->model.size, service, sizeof service);
    fputs("workload:\n", out);
    if (isnan(fit->distance))
        fputs("  # in seconds; the sizes of the log differ no more than they were measured\n", out);
    else
        fprintf(out,
                "  # in seconds; squared coefficient of variation %.4g, of the log %.4g; the distribution\n"
                "  # functions differ by %.4g at most\n",
                fit->c2, report->fits->c2, fit->distance);
    fputs("  service:", out);
    put_folded(service, out);
    if (report->model.classes)
        fprintf(out, "  high: %.6g\n", report->model.high);
    if (report->model.arrivals.kind != BLI_ARRIVALS_POISSON) {
        char how[BLI_ARRIVALS_TEXT];
        bli_arrivals_print(&report->model.arrivals, how, sizeof how);
        fprintf(out,
                "  # as bursty as the log: the dispersion of counts is off by %.0f %% in windows of %g s to "
                "%g s\n"
                "  arrivals: \"%s\"\n",
                100 * arrivals->burst[arrivals->as].error, arrivals->scale[0].window,
                arrivals->scale[arrivals->scales - 1].window, how);
    }
    if (report->model.curve.kind == BLI_CURVE_CONSTANT) {
        fputs("  # the rate of the log varies no more than chance would have it\n", out);
        return;
    }
    bli_time_moment((double)report->info->first * 1e-9, "%Y-%m-%d %H:%M:%S UTC", first);
    bli_curve_print(&report->model.curve, curve, sizeof curve);
    fprintf(out,
            "  # arrivals in %u bins of %.4g s over their mean; times are seconds since\n"
            "  # %s\n"
            "  curve:",
            arrivals->bins, arrivals->width, first);
    put_folded(curve, out);
}

/* Those that can run this model, in their order. */
static void put_policies(const struct bli_fit_report *report, FILE *out) {
    const char *comma = "";
    fputs("policies: [", out);
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bal_policy_spec spec;
        enum bli_engine engine;
        if (bal_policy_parse(policies[i], &spec, NULL) ||
            bli_simulate_check(&report->model, &spec, BLI_ENGINE_AUTO, &engine, NULL))
            continue;
        fprintf(out, "%s\"%s\"", comma, policies[i]);
        comma = ", ";
    }
    fputs("]\nbaseline: random\n", out);
}

static void put_sweep(const struct bli_fit_report *report, FILE *out) {
    const char *comma = "";
    fprintf(out, "# the log is at %.4g\nsweep:\n  axis: load\n  values: [", report->model.load);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        const double load = factors[i] * report->model.load;
        if (load > LOAD_MAX && factors[i] != 1)
            continue;
        fprintf(out, "%s%.4g", comma, load);
        comma = ", ";
    }
    fputs("]\n", out);
}

static double replications_of(const struct bli_fit_report *report) {
    return fmin(fmax(ceil(JOBS_ENOUGH / (double)report->info->jobs), REPLICATIONS), REPLICATIONS_MAX);
}

static void put_run(const struct bli_fit_report *report, FILE *out) {
    if (report->model.curve.kind == BLI_CURVE_CONSTANT) {
        fputs("run:\n  jobs: 500k\n  replications: 5\nquick:\n  run: {jobs: 50k, replications: 3}\n", out);
        return;
    }
    const double replications = replications_of(report);
    char time[BLI_NUMBER_TEXT];
    bli_number_print(bli_curve_end(&report->model.curve), time);
    fprintf(out,
            "# the time of the log, from its beginning with an idle fleet\n"
            "run:\n  time: %s\n  warmup: 0\n  replications: %.0f\n"
            "quick:\n  run: {replications: %.0f}\n",
            time, replications, fmax(rint(replications / 4), 2));
}

/* What was read, as comments. */
static void put_summary(const struct bli_fit_report *report, FILE *out) {
    struct bli_strbuf summary;
    if (bli_strbuf_open(&summary)) {
        bli_log_summary_text(report->summary, report->info, summary.stream);
        bli_recovery_text(report->times, summary.stream);
    }
    if (!bli_strbuf_close(&summary)) {
        bli_stream_mark_incomplete(out);
        return;
    }
    for (const char *line = summary.text; *line; line += strcspn(line, "\n") + 1)
        fprintf(out, "# %.*s\n", (int)strcspn(line, "\n"), line);
    bli_strbuf_discard(&summary);
}

void bli_fit_yaml(const struct bli_fit_report *report, FILE *out) {
    fputs("# A workload fitted by ballast " BALLAST_VERSION " to ", out);
    put_names(report, out);
    fputc('\n', out);
    put_summary(report, out);
    put_title(report, out);
    fprintf(out,
            "about: >\n"
            "  The sizes of the log as a law and its arrivals as a %s whose rate follows a\n"
            "  curve. Times are in seconds.\n"
            "unit: seconds\n",
            report->model.arrivals.kind == BLI_ARRIVALS_POISSON ? "Poisson process" : "process of bursts");
    put_fleet(report, out);
    put_workload(report, out);
    put_policies(report, out);
    put_sweep(report, out);
    put_run(report, out);
    fprintf(out, "metrics: [response.mean, response.p90, response.p99, response.p999,%s messages.per_job]\n",
            report->model.classes ? " high.response.p99, low.response.p99," : "");
    fputs(
        "figures:\n"
        "  - {id: mean, title: Mean response time, x: load, y: response.mean, log-y: yes}\n"
        "  - {id: tail, title: 99th percentile of the response time, x: load, y: response.p99, log-y: yes}\n",
        out);
}
