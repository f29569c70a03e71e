/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints how many jobs may have high priority. */
#include "report/share_report.h"

#include "report/doubt_notes.h"
#include "report/json_parts.h"
#include "report/report_columns.h"

#include <math.h>

static bool is_wanted_gain(const struct bli_priority_share_wish *wish) {
    return wish->gain > 0;
}

static bool is_wanted_loss(const struct bli_priority_share_wish *wish) {
    return isfinite(wish->loss);
}

/* ---- for people ---- */

/* "gain >= 2.5 and loss <= 2" */
static void wish_text(const struct bli_priority_share_wish *wish, char *text, size_t size) {
    char gain[40] = "", loss[40] = "";
    if (is_wanted_gain(wish))
        snprintf(gain, sizeof gain, "gain >= %g", wish->gain);
    if (is_wanted_loss(wish))
        snprintf(loss, sizeof loss, "loss <= %g", wish->loss);
    snprintf(text, size, "%s%s%s", gain, *gain && *loss ? " and " : "", loss);
}

static void print_none(const struct bli_share_report *report, FILE *out) {
    const struct bli_priority *priority = &report->wish->priority;
    const struct bli_priority_share_found *found = &report->answer->found;
    char policy[BLI_PRIORITY_SHARE_TEXT], wish[80];
    bli_priority_share_policy(priority, policy);
    wish_text(report->wish, wish, sizeof wish);
    fprintf(out, "No share of high jobs gives %s with %s at load %g.\n", wish, policy, priority->lambda);
    if (priority->lambda >= 1)
        fprintf(out, "From load 1 on the queues grow without bound.\n");
    else
        fprintf(out,
                "Each for itself: the gain is at most %.3g (with %g %% high), the loss at least %.3g (with "
                "%g %%).\n",
                found->most_gain, 100 * found->most_gain_at, found->least_loss, 100 * found->least_loss_at);
}

static void add_row(struct table *table, const struct bli_priority_share_answer *answer, const char *what,
                    const char *wanted, double theory, struct bli_estimate measured) {
    bli_table_add(table, "%s", what);
    bli_table_add(table, "%s", wanted);
    bli_table_add(table, "%.4f", theory);
    if (!answer->simulated)
        return;
    const char *mark = answer->sure ? "" : " !";
    if (isnan(measured.mean))
        bli_table_add(table, "%s", "");
    else if (isnan(measured.half_width))
        bli_table_add(table, "%.4f%s", measured.mean, mark);
    else
        bli_table_add(table, "%.4f \u00b1 %.4f%s", measured.mean, measured.half_width, mark);
}

static void print_table(const struct bli_share_report *report, enum bli_table_style style, FILE *out) {
    const struct bli_priority_share_wish *wish = report->wish;
    const struct bli_priority_share_answer *answer = report->answer;
    const struct bli_priority_result *theory = &answer->found.theory;
    const struct bli_priority_share_measured *measured = &answer->measured;
    char plain[BLI_PRIORITY_SHARE_TEXT], pod_label[BLI_PRIORITY_SHARE_TEXT + 20], gain[40] = "",
                                                                                  loss[40] = "";
    bli_priority_share_plain(&wish->priority, plain);
    snprintf(pod_label, sizeof pod_label, "mean response, %s", plain);
    if (is_wanted_gain(wish))
        snprintf(gain, sizeof gain, ">= %g", wish->gain);
    if (is_wanted_loss(wish))
        snprintf(loss, sizeof loss, "<= %g", wish->loss);
    struct table table;
    bli_table_init(&table, answer->simulated ? 4 : 3);
    bli_table_add(&table, "%s", "");
    bli_table_add(&table, "wanted");
    bli_table_add(&table, "theory");
    if (answer->simulated)
        bli_table_add(&table, "%u servers", answer->servers);
    add_row(&table, answer, "gain: pod over high", gain, theory->gain, measured->gain);
    add_row(&table, answer, "loss: low over pod", loss, theory->loss, measured->loss);
    add_row(&table, answer, "mean response, high", "", theory->high, measured->high);
    add_row(&table, answer, "mean response, low", "", theory->low, measured->low);
    add_row(&table, answer, pod_label, "", theory->pod, measured->pod);
    bli_table_print(&table, "llrr", style, out);
    bli_table_fini(&table);
}

static void print_doubts(const struct bli_priority_share_measured *measured, FILE *out) {
    const struct bli_result *results[2] = {&measured->with, &measured->without};
    struct doubt_notes notes = {0};
    fputs("Undecided: the simulation is doubted.\n", out);
    for (int i = 0; i < 2; i++) {
        bli_doubt_add(&notes, bli_policy_name(&measured->cases[i].policy).text, &measured->cases[i],
                      results[i]);
    }
    bli_doubt_print(&notes, BLI_REMEDY_OPTION, out);
}

static void print_error(const struct bli_share_report *report, FILE *out) {
    static const char *const told[] = {"replications", NULL};
    struct bli_head head = {.used = 0};
    bli_head_add(&head, "\u00b1: 95 %% confidence over %u replications",
                 report->answer->measured.replications);
    bli_head_add_settings(&head, report->draft, false, told);
    bli_head_add(&head, ", seed" BLI_TABLE_JOIN "%llu. theory: limit of many servers.",
                 (unsigned long long)report->seed);
    bli_head_print(&head, out);
}

static void print_confirmation(const struct bli_priority_share_answer *answer, FILE *out) {
    if (isnan(answer->miss))
        fputs("Not confirmed: a class of jobs was not measured. Use longer runs (--jobs).\n", out);
    else if (!answer->sure)
        print_doubts(&answer->measured, out);
    else if (!answer->confirmed)
        fprintf(out,
                "Not confirmed: with %u servers the wish is missed by %.1f %%. Wish for less, or use more "
                "servers.\n",
                answer->servers, 100 * answer->miss);
    else if (answer->miss > 0)
        fprintf(out, "Confirmed by simulation, to within %.1f %%.\n", ceil(1000 * answer->miss) / 10);
    else
        fputs("Confirmed by simulation.\n", out);
}

static void print_text(const struct bli_share_report *report, enum bli_table_style style, FILE *out) {
    const struct bli_priority_share_answer *answer = report->answer;
    if (isnan(answer->found.p)) {
        print_none(report, out);
        return;
    }
    char policy[BLI_PRIORITY_SHARE_TEXT], wish[80];
    bli_priority_share_policy(&report->wish->priority, policy);
    wish_text(report->wish, wish, sizeof wish);
    fprintf(out, "At load %g up to %.2f %% of jobs can be high: %s then has %s.\n\n",
            report->wish->priority.lambda, 100 * answer->found.p, policy, wish);
    print_table(report, style, out);
    if (!answer->simulated || answer->measured.replications == 0)
        return;
    fputc('\n', out);
    if (answer->measured.replications > 1)
        print_error(report, out);
    print_confirmation(answer, out);
}

/* ---- for programs ---- */

static void json_spec(struct json *json, const struct bli_share_report *report) {
    const struct bli_priority_share_wish *wish = report->wish;
    char policy[BLI_PRIORITY_SHARE_TEXT];
    bli_priority_share_policy(&wish->priority, policy);
    bli_json_open(json, "spec", '{');
    bli_json_text(json, "policy", policy);
    bli_json_number(json, "load", wish->priority.lambda);
    bli_json_number(json, "gain", is_wanted_gain(wish) ? wish->gain : NAN);
    bli_json_number(json, "loss", wish->loss);
    bli_json_close(json, '}');
    bli_head_json(json, report->draft, NULL);
}

static void json_theory(struct json *json, const struct bli_priority_share_found *found) {
    bli_json_open(json, "theory", '{');
    bli_json_number(json, "gain", found->theory.gain);
    bli_json_number(json, "loss", found->theory.loss);
    bli_json_number(json, "high", found->theory.high);
    bli_json_number(json, "low", found->theory.low);
    bli_json_number(json, "pod", found->theory.pod);
    bli_json_number(json, "most_gain", found->most_gain);
    bli_json_number(json, "least_loss", found->least_loss);
    bli_json_close(json, '}');
}

static void json_simulation(struct json *json, const struct bli_share_report *report) {
    const struct bli_priority_share_answer *answer = report->answer;
    const struct bli_priority_share_measured *measured = &answer->measured;
    if (!bli_json_if(json, answer->simulated)) {
        bli_json_null(json, "simulation");
        return;
    }
    bli_json_open(json, "simulation", '{');
    bli_json_count(json, "servers", answer->servers);
    bli_json_number(json, "time", measured->with.time);
    bli_json_count(json, "replications", measured->replications);
    bli_json_count(json, "seed", report->seed);
    bli_json_interval(json, "gain", measured->gain);
    bli_json_interval(json, "loss", measured->loss);
    bli_json_interval(json, "high", measured->high);
    bli_json_interval(json, "low", measured->low);
    bli_json_interval(json, "pod", measured->pod);
    bli_doubt_json(json, measured->with.doubts | measured->without.doubts);
    bli_json_bool(json, "confirmed", answer->confirmed);
    bli_json_bool(json, "cut_short", answer->cut_short);
    bli_json_close(json, '}');
}

void bli_share_print(const struct bli_share_report *report, struct bli_rows *rows) {
    struct json *json = rows->json;
    if (rows->text) {
        print_text(report, rows->style, rows->text);
        return;
    }
    bli_rows_open(rows);
    json_spec(json, report);
    bli_json_number(json, "share", report->answer->found.p);
    json_theory(json, &report->answer->found);
    json_simulation(json, report);
    bli_json_close(json, '}');
}

void bli_share_describe(struct bli_rows *rows) {
    const struct bli_draft draft = bli_rows_sample();
    const struct bli_priority_share_wish wish = {.gain = 1};
    const struct bli_priority_share_answer answer = {.servers = 1};
    const struct bli_share_report report = {&wish, &answer, &draft, 1};
    bli_share_print(&report, rows);
}
