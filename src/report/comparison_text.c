/* SPDX-License-Identifier: BSD-2-Clause */
/* The text table of a comparison: best policy first, with bars and confidence intervals. */
#include "report/comparison.h"

#include "ballast/number.h"
#include "ballast/predict.h"
#include "ballast/theory.h"
#include "base/strbuf.h"
#include "format/table.h"
#include "report/doubt_notes.h"
#include "report/metric.h"
#include "report/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 7 }; /* characters of the longest bar */
enum {
    CLASS_DECIMALS = 3
}; /* of means where there are classes: three of them, so that the columns stay narrow */

static const struct bli_estimate none = {NAN, NAN};

/* A bar of eighths of a character. */
static void bar_text(double part, char text[3 * BAR + 1]) {
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    const long units = lrint(fmax(part, 0) * BAR * 8);
    text[0] = 0;
    for (long i = 0; i < units / 8; i++)
        strcat(text, "\u2588");
    strcat(text, eighths[units % 8]);
}

/* As many decimals as the half-width justifies: its first two digits. */
static int decimals_of(double half, double value) {
    const double scale = half > 0 && isfinite(half) ? half : fabs(value) * 1e-3;
    if (!(scale > 0))
        return 3;
    const int decimals = 1 - (int)floor(log10(scale));
    const int most = fabs(value) >= 0.1 ? 4 : 6;
    return decimals < 0 ? 0 : decimals > most ? most : decimals;
}

/* Three or four digits, whatever the size. */
static void short_number(double value, char *text, size_t size) {
    if (!isfinite(value))
        snprintf(text, size, "%s", isnan(value) ? "" : "inf");
    else if (value == 0)
        snprintf(text, size, "0");
    else if (fabs(value) >= 1e6)
        snprintf(text, size, "%.3g", value);
    else
        snprintf(text, size, "%.*f",
                 fabs(value) >= 99.95     ? 0
                 : fabs(value) >= 9.995   ? 1
                 : fabs(value) >= 0.09995 ? 2
                                          : 3,
                 value);
}

static void short_count(double value, char *text, size_t size) {
    if (value >= 999.5e6)
        snprintf(text, size, "%.3gG", value / 1e9);
    else if (value >= 999.5e3)
        snprintf(text, size, "%.3gM", value / 1e6);
    else if (value >= 1e4)
        snprintf(text, size, "%.3gk", value / 1e3);
    else
        snprintf(text, size, "%.0f", value);
}

static void add_short(struct table *table, double value) {
    char text[32];
    short_number(value, text, sizeof text);
    bli_table_add(table, "%s", text);
}

/* What is not 0 is not shown as 0. */
static double shown_half(double half, int decimals) {
    return half > 0 ? fmax(half, pow(10, -decimals)) : half;
}

static void add_estimate(struct table *table, struct bli_estimate mean, int decimals, const char *mark) {
    if (isnan(mean.mean))
        bli_table_add(table, "%s", "");
    else if (isnan(mean.half_width))
        bli_table_add(table, "%.4g%s", mean.mean, mark);
    else
        bli_table_add(table, "%.*f \u00b1 %.*f%s", decimals, mean.mean, decimals,
                      shown_half(mean.half_width, decimals), mark);
}

static void add_mean(struct table *table, const struct bli_result *result, int decimals, const char *mark) {
    if (!bli_comparison_has_means(result))
        bli_table_add(table, "%s", bli_comparison_no_means(result));
    else
        add_estimate(table, result->metric[BLI_RESPONSE_MEAN], decimals, mark);
}

/* "≈ 2.658 (+0.1%)": with so many servers, to the digits that are right. */
static void add_expansion(struct table *table, const struct bli_result *result,
                          const struct bli_expansion *expansion) {
    char difference[32] = "";
    const double mean = result->metric[BLI_RESPONSE_MEAN].mean;
    if (bli_comparison_has_means(result))
        snprintf(difference, sizeof difference, " (%+.1f%%)",
                 bli_shown(100 * (mean / expansion->response_mean - 1), 1));
    bli_table_add(table, "%s %.*f%s", bli_theory_sign(BLI_THEORY_APPROXIMATE),
                  expansion->response_mean < 9.9995   ? 3
                  : expansion->response_mean < 99.995 ? 2
                                                      : 1,
                  expansion->response_mean, difference);
}

static bool shows_expansion(const struct bli_theory_row *theory_row) {
    return theory_row->known.kind == BLI_THEORY_LIMIT && theory_row->expanded &&
           bli_expansion_is_close(&theory_row->expansion);
}

/* What theory says, and how far the simulation is from it. */
static void add_theory(struct table *table, const struct bli_case *c, const struct bli_result *result,
                       const struct bli_theory_row *theory_row) {
    const struct bli_prediction *known = &theory_row->known;
    if (theory_row->critical_load <= c->model.load) {
        bli_table_add(table, "load < %.3g", theory_row->critical_load);
        return;
    }
    if (known->kind == BLI_THEORY_UNKNOWN || isnan(known->response_mean)) {
        bli_table_add(table, "%s", "");
        return;
    }
    if (shows_expansion(theory_row)) {
        add_expansion(table, result, &theory_row->expansion);
        return;
    }
    char value[32];
    short_number(known->response_mean, value, sizeof value);
    const char *sign = bli_theory_sign(known->kind);
    if (bli_comparison_has_means(result) && isfinite(known->response_mean))
        bli_table_add(
            table, "%s %s (%+.1f%%)", sign, value,
            bli_shown(100 * (result->metric[BLI_RESPONSE_MEAN].mean / known->response_mean - 1), 1));
    else
        bli_table_add(table, "%s %s", sign, value);
}

static double longest_mean(const struct comparison *comparison) {
    double most = 0;
    for (size_t i = 0; i < comparison->count; i++)
        if (bli_comparison_has_means(&comparison->results[i]))
            most = fmax(most, comparison->results[i].metric[BLI_RESPONSE_MEAN].mean);
    return most;
}

/* Does a policy that is compared switch servers off? Then what they draw takes the place of two quantiles. */
static bool shows_power(const struct comparison *comparison) {
    bool powered = false;
    for (size_t i = 0; i < comparison->count; i++)
        powered = powered || comparison->cases[i].policy.policy->power;
    return powered;
}

/* Which columns a table has. */
struct columns {
    struct bli_percentiles percentiles;
    bool classes, powered;
    bool theory;   /* next to each percentile */
    uint32_t many; /* classes, if there are more than two: means only, for lack of space */
    bool bars;     /* they fit */
};

static struct columns columns_of(const struct comparison *comparison) {
    enum { WITH_BARS = 2 }; /* percentiles, in a table of at most 110 characters */
    static const struct bli_percentiles one = {1, {0.99}}, two = {2, {0.5, 0.99}};
    const struct bli_case *c = &comparison->cases[0];
    const bool classes = c->model.classes, powered = !classes && shows_power(comparison);
    const struct bli_percentiles *shown = c->run.percentiles   ? c->run.percentiles
                                          : classes || powered ? &one
                                                               : &two;
    return (struct columns){.percentiles = *shown,
                            .classes = classes,
                            .many = c->model.class_count,
                            .powered = powered,
                            .theory = comparison->theory_columns && !classes,
                            .bars = !classes && !comparison->theory_columns &&
                                    shown->count + powered <= WITH_BARS};
}

/* By the expansion where it is close at this percentile, else as known for the policy, or nothing. */
static void add_percentile_theory(struct table *table, const struct bli_case *c,
                                  const struct bli_theory_row *theory_row, double quantile) {
    static const double usual[] = {0.5, 0.9, 0.99, 0.999};
    const struct bli_prediction *known = &theory_row->known;
    const struct bli_expansion *expansion = &theory_row->expansion;
    enum bli_theory_kind kind = known->kind;
    double value = NAN;
    char text[32];
    for (int i = 0; i < 4; i++)
        if (fabs(quantile - usual[i]) < 1e-12)
            value = known->response_quantile[i];
    for (int i = 0; i < 4 && kind == BLI_THEORY_LIMIT && theory_row->expanded; i++)
        if (fabs(quantile - usual[i]) < 1e-12 &&
            expansion->quantile_error[i] <= 0.01 * expansion->response_quantile[i]) {
            value = expansion->response_quantile[i];
            kind = BLI_THEORY_APPROXIMATE;
        }
    if (isnan(value) && theory_row->solved.states == 0)
        value = bli_theory_quantile(&c->model, &c->policy, BLI_THEORY_RESPONSE, quantile);
    short_number(value, text, sizeof text);
    if (kind == BLI_THEORY_UNKNOWN || isnan(value) || theory_row->critical_load <= c->model.load)
        bli_table_add(table, "%s", "");
    else
        bli_table_add(table, "%s %s", bli_theory_sign(kind), text);
}

/* With their half-widths, to the first digit of them. theory_row: NULL where there are no columns for it. */
static void put_percentiles(struct table *table, const struct columns *columns, const struct bli_case *c,
                            const struct bli_result *result, enum bli_distribution distribution,
                            const struct bli_theory_row *theory_row, struct doubt_notes *notes) {
    for (unsigned i = 0; i < columns->percentiles.count; i++) {
        const double quantile = columns->percentiles.quantile[i];
        char text[BLI_METRIC_TEXT], name[BLI_PERCENTILE_TEXT];
        struct bli_estimate value = none;
        if (bli_comparison_has_means(result))
            value = bli_result_quantile(c, result, distribution, quantile);
        bli_percentile_cell(value, text);
        if (bli_table_column(table, 'r', "%s", bli_percentile_print(quantile, name)))
            bli_table_add(table, "%s%s", text, *text ? bli_doubt_add_rare(notes, c, result, quantile) : "");
        if (columns->theory && bli_table_column(table, 'l', "%s", ""))
            add_percentile_theory(table, c, theory_row, quantile);
    }
}

/* "least-conn": a policy that was asked for by another name has both. */
static void name_of(const struct comparison *comparison, size_t i, char text[200]) {
    const char *called = comparison->called ? comparison->called[i] : NULL;
    const size_t length = bal_policy_print(&comparison->cases[i].policy, text, 200);
    if (called && length < 199)
        snprintf(text + length, 200 - length, " (%.*s)", (int)fmin((double)strcspn(called, ":"), 60), called);
}

/* The policy, and the mean of all its jobs. */
static void put_subject(struct table *table, const char *head, const char *policy, const struct bli_case *c,
                        const struct bli_result *result, int decimals, struct doubt_notes *notes) {
    if (bli_table_column(table, 'l', "policy"))
        bli_table_add(table, "%s%s", policy, bli_sizes_mark(c->policy.policy));
    if (bli_table_column(table, 'r', "%s", head))
        add_mean(table, result, decimals, bli_doubt_add(notes, policy, c, result));
}

static void put_messages(struct table *table, const struct bli_result *result) {
    if (bli_table_column(table, 'r', "msgs"))
        add_short(table, result->metric[BLI_MESSAGES_PER_JOB].mean);
}

static void put_row(struct table *table, const struct columns *columns, const char *policy,
                    const struct bli_case *c, const struct bli_result *result,
                    const struct bli_theory_row *theory_row, double most, struct doubt_notes *notes) {
    char bar[3 * BAR + 1] = "", bits[32];
    const bool known = bli_comparison_has_means(result);
    if (known)
        bar_text(result->metric[BLI_RESPONSE_MEAN].mean / most, bar);
    short_count(result->memory_bits, bits, sizeof bits);
    const struct bli_estimate mean = result->metric[BLI_RESPONSE_MEAN];
    put_subject(table, "mean response", policy, c, result, decimals_of(mean.half_width, mean.mean), notes);
    if (columns->bars && bli_table_column(table, 'l', "%s", ""))
        bli_table_add(table, "%s", bar);
    put_percentiles(table, columns, c, result, BLI_OF_RESPONSE, theory_row, notes);
    if (columns->powered && bli_table_column(table, 'r', "watts"))
        add_short(table, result->verdict == BLI_UNSTABLE ? NAN : result->metric[BLI_POWER_MEAN].mean);
    if (bli_table_column(table, 'r', "waits"))
        bli_table_add_number(table, "%.1f%%",
                             known ? 100 * result->metric[BLI_WAITING_PROBABILITY].mean : NAN);
    put_messages(table, result);
    if (bli_table_column(table, 'r', "bits"))
        bli_table_add(table, "%s", bits);
    if (bli_table_column(table, 'l', "theory"))
        add_theory(table, c, result, theory_row);
}

/* The prediction of theory for a class, without the difference, for lack of space. */
static void add_class_theory(struct table *table, enum bli_theory_kind kind, double mean) {
    char value[32];
    short_number(mean, value, sizeof value);
    if (kind == BLI_THEORY_UNKNOWN || isnan(mean))
        bli_table_add(table, "%s", "");
    else
        bli_table_add(table, "%s %s", bli_theory_sign(kind), value);
}

/* The mean of a class of jobs, and what theory says of it. */
static void put_class_mean(struct table *table, const char *head, struct bli_estimate mean,
                           enum bli_theory_kind kind, double theory) {
    if (bli_table_column(table, 'r', "%s", head))
        add_estimate(table, mean, CLASS_DECIMALS, "");
    if (bli_table_column(table, 'l', "theory"))
        add_class_theory(table, kind, theory);
}

/* With two classes: columns for both instead of more columns about all jobs. */
static void put_class_row(struct table *table, const struct columns *columns, const char *policy,
                          const struct bli_case *c, const struct bli_result *result,
                          const struct bli_prediction *known, struct doubt_notes *notes) {
    static const enum bli_distribution of[] = {BLI_OF_HIGH_RESPONSE, BLI_OF_LOW_RESPONSE};
    const double theory[] = {known->high.response_mean, known->low.response_mean};
    const bool has = bli_comparison_has_means(result);
    put_subject(table, "all jobs", policy, c, result, CLASS_DECIMALS, notes);
    for (int i = 0; i < 2; i++) {
        const struct bli_estimate *mean = &result->metric[bli_distribution_median(of[i])] - 1;
        put_class_mean(table, i == 0 ? "high jobs" : "low jobs", has ? *mean : none, known->kind, theory[i]);
        put_percentiles(table, columns, c, result, of[i], NULL, notes);
    }
    put_messages(table, result);
}

/* Where there are more than two. */
static void put_many_row(struct table *table, const struct columns *columns, const char *policy,
                         const struct bli_case *c, const struct bli_result *result,
                         const struct bli_prediction *known, struct doubt_notes *notes) {
    const bool has = bli_comparison_has_means(result);
    put_subject(table, "all jobs", policy, c, result, CLASS_DECIMALS, notes);
    for (uint32_t i = 0; i < columns->many; i++) {
        char head[20];
        snprintf(head, sizeof head, "class %u", i + 1);
        put_class_mean(table, head, has ? result->metric[BLI_CLASS_1_RESPONSE_MEAN + 2 * i] : none,
                       known->kind, known->class_response[i]);
    }
    put_messages(table, result);
}

/* ", 30 % of jobs high": which classes there are; "" when there are none. */
static void classes_text(const struct bli_model *model, char *text, size_t size) {
    text[0] = 0;
    if (!model->classes)
        return;
    char shares[8 * BLI_NUMBER_TEXT];
    bli_model_print_classes(model, shares, sizeof shares);
    const int length = model->class_count > 2
                           ? snprintf(text, size, ", classes %.100s", shares)
                           : snprintf(text, size, ", %.4g %% of jobs high", 100 * model->high);
    if (model->discipline != BLI_DISCIPLINE_AUTO)
        snprintf(text + length, size - (size_t)length, " (%s)", bli_discipline_text(model->discipline));
}

/* What arrives: sizes in continuous time; batches, or generators at the servers, in slotted time. */
static void work_text(const struct bli_model *model, char *text, size_t size) {
    char dist[BLI_BATCH_TEXT];
    const bool slotted = model->clock == BLI_CLOCK_SLOTTED;
    if (slotted && model->steal.kind != BAL_STEAL_NONE) {
        char placement[BAL_PLACEMENT_TEXT];
        bal_placement_print(&model->placement, placement, sizeof placement);
        snprintf(text, size, "slotted, generators %.100s", placement);
        return;
    }
    if (slotted) {
        bli_batch_print(&model->batch, dist, sizeof dist);
        snprintf(text, size, "slotted, batches %.100s, %s", dist, model->split ? "split" : "whole");
        return;
    }
    bli_dist_print(&model->size, dist, sizeof dist);
    snprintf(text, size, "service %.150s", dist);
}

/* ", idle servers steal half of others"; "" without stealing. */
static void steal_text(const struct bli_model *model, char *text, size_t size) {
    text[0] = 0;
    if (model->steal.kind == BAL_STEAL_NONE)
        return;
    char steal[BAL_STEAL_TEXT];
    bal_steal_print(&model->steal, steal, sizeof steal);
    snprintf(text, size, ", idle servers steal %.80s%s", steal, model->others ? " from others" : "");
}

static void print_setting(const struct comparison *comparison, FILE *out) {
    const struct bli_case *c = &comparison->cases[0];
    const char *shares = c->model.discipline == BLI_DISCIPLINE_SHARING ? " that share themselves"
                         : c->model.discipline == BLI_DISCIPLINE_LIFO  ? " that serve the last job first"
                                                                       : "";
    char servers[300], slots[40] = "", work[200], classes[160], steal[140], jobs[32];
    bli_servers_print(&c->model.servers, servers, sizeof servers);
    bli_head_slots(&c->model, slots, sizeof slots);
    work_text(&c->model, work, sizeof work);
    classes_text(&c->model, classes, sizeof classes);
    steal_text(&c->model, steal, sizeof steal);
    short_count(comparison->jobs, jobs, sizeof jobs);
    static const char *const told[] = {
        "servers", "slots", "discipline", "clock", "load",      "service", "high",         "classes", "batch",
        "split",   "steal", "victims",    "jobs",  "placement", "time",    "replications", NULL};
    struct bli_head head = {.used = 0};
    bli_head_add(&head, "%s server%s%s%s at load %g, %s%s%s", servers,
                 bli_servers_count(&c->model.servers) == 1 ? "" : "s", slots, shares, c->model.load, work,
                 classes, steal);
    bli_head_add_settings(&head, comparison->draft, true, told);
    bli_head_add(&head, "; %s%u replications of %s jobs each", comparison->precision > 0 ? "at least " : "",
                 c->replications, jobs);
    if (isnan(comparison->draft->warmup) && c->run.warmup >= 0 && !(comparison->draft->window > 0))
        bli_head_add(&head, ", measured after %g %% of it", 100 * c->run.warmup);
    bli_head_add_settings(&head, comparison->draft, false, told);
    bli_head_add(&head, ", seed" BLI_TABLE_JOIN "%llu", (unsigned long long)c->run.seed);
    bli_head_print(&head, out);
    fputc('\n', out);
}

static void print_moves(const struct comparison *comparison, FILE *out) {
    for (size_t i = 0; i < comparison->count; i++) {
        const double moves = comparison->results[i].metric[BLI_MOVES_PER_HIGH_JOB].mean;
        if (!(moves > 0))
            continue;
        fprintf(out,
                comparison->cases[i].model.class_count > 2
                    ? "%s moves jobs to other servers, %.3g for each job of class 1.\n"
                    : "%s moves %.3g low jobs to another server per high job.\n",
                bli_policy_name(&comparison->cases[i].policy).text, moves);
    }
}

static void print_steals(const struct comparison *comparison, FILE *out) {
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bli_estimate *metric = comparison->results[i].metric;
        const double requests = metric[BLI_STEALING_REQUESTS].mean, steals = metric[BLI_STEALING_STEALS].mean;
        if (!(requests > 0))
            continue;
        const bool slotted = comparison->cases[i].model.clock == BLI_CLOCK_SLOTTED;
        fprintf(out,
                "%s: %.3g requests a server and %s, %.3g %% of them get work; a job is stolen %.3g times.\n",
                bli_policy_name(&comparison->cases[i].policy).text, requests,
                slotted ? "slot" : "unit of time", 100 * steals / requests, metric[BLI_STEALING_MOVED].mean);
    }
}

/* What the theorems say of the stealing chain: is it stable, and how large is its load at most? */
static void print_proof(const struct comparison *comparison, FILE *out) {
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bli_theory_row *theory_row = &comparison->theory_row[i];
        if (!theory_row->chain)
            continue;
        const struct bli_stealing_bound *bound = &theory_row->bound;
        fprintf(out, "stability: %s (%s).\n", bli_proof_text(theory_row->proof.proof), theory_row->proof.why);
        char most[100];
        bli_tower_print(&bound->mean, most, sizeof most);
        if (bound->holds)
            fprintf(out, "mean load: at most %s, by Theorem 2.\n", most);
        else if (isfinite(bound->mean.value))
            fprintf(out, "mean load: Theorem 2 does not apply here; its formula gives %s.\n", most);
        return; /* there is one such policy, and all cases have one model */
    }
}

/* Of each class, where there are classes. */
static void print_refused_classes(const struct bli_case *c, const struct bli_result *result, FILE *out) {
    const unsigned classes = bli_model_classes(&c->model);
    for (unsigned i = 0; classes > 2 && i < classes; i++)
        fprintf(out, "%s%u: %.3g %%", i ? ", " : " (", i + 1,
                100 * result->metric[BLI_CLASS_1_REFUSED + i].mean);
    if (classes == 2)
        fprintf(out, " (high: %.3g %%, low: %.3g %%", 100 * result->metric[BLI_HIGH_REFUSED].mean,
                100 * result->metric[BLI_LOW_REFUSED].mean);
    if (classes > 1)
        fputc(')', out);
}

static void print_shedding(const struct comparison *comparison, size_t i, FILE *out) {
    const struct bli_result *result = &comparison->results[i];
    fprintf(out, "%s refuses %.3g %% of all jobs", bli_policy_name(&comparison->cases[i].policy).text,
            100 * result->metric[BLI_REFUSED].mean);
    print_refused_classes(&comparison->cases[i], result, out);
    fputs(", because no more may wait; times are of the others.\n", out);
}

static void print_losses(const struct comparison *comparison, FILE *out) {
    for (size_t i = 0; i < comparison->count; i++) {
        const double lost = comparison->results[i].metric[BLI_LOST].mean;
        const double refused = comparison->results[i].metric[BLI_REFUSED].mean;
        if (!(lost + refused > 0)) /* nor where no job came */
            continue;
        if (comparison->cases[i].model.hold_limit.given) {
            print_shedding(comparison, i, out);
            continue;
        }
        const bool discards = bal_policy_flags(&comparison->cases[i].policy) & BAL_DISCARDS;
        const char *where = !discards ? "full buffers"
                            : comparison->cases[i].model.buffer == 0
                                ? "servers that are off"
                                : "full buffers and servers that are off";
        fprintf(out, "%s loses %.3g %% of all jobs at %s and refuses %.3g %% with no server on.\n",
                bli_policy_name(&comparison->cases[i].policy).text, 100 * lost, where, 100 * refused);
    }
}

/* One line for each, as theory has it where it is known. */
static void print_leaving(const struct comparison *comparison, FILE *out) {
    for (size_t i = 0; i < comparison->count && comparison->cases[0].model.patience.mean > 0; i++) {
        char share[BLI_METRIC_TEXT], theory[60] = "";
        const struct bli_estimate gave_up = comparison->results[i].metric[BLI_GAVE_UP];
        bli_metric_print((struct bli_estimate){100 * gave_up.mean, 100 * gave_up.half_width}, share);
        if (!isnan(comparison->theory_row[i].known.gave_up))
            snprintf(theory, sizeof theory, " (theory: %.4g %%)",
                     100 * comparison->theory_row[i].known.gave_up);
        if (*share)
            fprintf(out, "%s: %s %% of jobs give up%s; times are of the others.\n",
                    bli_policy_name(&comparison->cases[i].policy).text, share, theory);
    }
}

static void print_failures(const struct comparison *comparison, FILE *out) {
    for (size_t i = 0; i < comparison->count; i++) {
        const double failed = comparison->results[i].metric[BLI_FAILED].mean;
        if (!(failed > 0))
            continue;
        fprintf(out, "%s fails %.3g %% of all jobs: a wrong answer, or none. Its times are of the others.\n",
                bli_policy_name(&comparison->cases[i].policy).text, 100 * failed);
    }
}

/* Of the first policy that was simulated; the first of all where none was. */
static const struct bli_result *first_result(const struct comparison *comparison) {
    size_t i = 0;
    while (i + 1 < comparison->count && comparison->results[i].replications == 0)
        i++;
    return &comparison->results[i];
}

/* Events that the means do not show: those after the end of the run, or over before jobs are measured. A span
 * of a path is chosen with the events in mind. */
static void print_events(const struct comparison *comparison, FILE *out) {
    const struct bli_case *c = &comparison->cases[0];
    const struct bli_network_events *events = &c->model.network.events;
    const struct bli_result *result = first_result(comparison);
    const double from = result->warmup * result->time;
    for (unsigned i = 0; i < events->count && !c->path && result->replications > 0; i++) {
        const struct bli_network_event *event = &events->event[i];
        if (event->at >= result->time)
            fprintf(out, "Event %u, at %g, is not in the times, as the run ends at %g: see --time.\n", i + 1,
                    event->at, result->time);
        else if (event->at + event->length + event->down < from)
            fprintf(out,
                    "Event %u, at %g, is not in the times, which are measured from %g on: see --time and "
                    "--window.\n",
                    i + 1, event->at, from);
    }
}

/* A curve multiplies the load: print the resulting load, and whether the run continued after its end. */
static void print_load(const struct comparison *comparison, FILE *out) {
    const struct bli_case *c = &comparison->cases[0];
    const struct bli_result *result = first_result(comparison); /* all policies get the same arrivals */
    char load[BLI_METRIC_TEXT];
    bli_metric_print(result->metric[BLI_LOAD_ACHIEVED], load);
    if (c->model.curve.kind == BLI_CURVE_CONSTANT || result->replications == 0)
        return;
    fprintf(out, "The load that came was %s; it is %g where the curve is 1.\n", load, c->model.load);
    const double end = bli_curve_end(&c->model.curve);
    if (result->outlasted)
        fprintf(
            out,
            "The curve ends at time %g of %g and stays at %g from there on; end the run with it (--time), "
            "or let it repeat.\n",
            end, c->run.time, bli_curve_at(&c->model.curve, end));
}

/* Rows that lie below what cannot be beaten, but not with all of their interval. (Others are doubted.) */
static void print_chance(const struct comparison *comparison, double floor_mean, FILE *out) {
    char names[400] = "";
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bli_estimate mean = comparison->results[i].metric[BLI_RESPONSE_MEAN];
        const bool by_chance = bli_comparison_has_means(&comparison->results[i]) && mean.mean < floor_mean &&
                               mean.mean + mean.half_width >= floor_mean;
        const size_t length = strlen(names);
        if (!by_chance)
            continue;
        snprintf(names + length, sizeof names - length, "%s", length ? ", " : "");
        bal_policy_print(&comparison->cases[i].policy, names + strlen(names), sizeof names - strlen(names));
    }
    if (*names)
        fprintf(out, "By chance below it, with an interval that reaches it: %s.\n", names);
}

/* What one common queue would do, where that is known. */
static void print_floor(const struct comparison *comparison, double floor_mean, FILE *out) {
    const struct bli_model *model = &comparison->cases[0].model;
    if (!isfinite(floor_mean))
        return;
    fprintf(out, "No policy can beat %.4f: one common queue for all ", floor_mean);
    const unsigned long long slots = (unsigned long long)bli_servers_count(&model->servers) * model->slots;
    if (model->slots > 1)
        fprintf(out, "%llu slots (M/M/%llu).\n", slots, slots);
    else
        fputs("servers (M/M/N).\n", out);
    print_chance(comparison, floor_mean, out);
}

/* What the times are counted in. */
static void print_unit(const struct bli_model *model, FILE *out) {
    if (model->clock == BLI_CLOCK_SLOTTED)
        fputs("Times are in slots.\n", out);
    else if (model->size.mean == 1)
        fputs("Times are in mean service times.\n", out);
    else
        fprintf(out, "Times are in the unit of the service times, whose mean is %.4g.\n", model->size.mean);
}

static void print_notes(const struct comparison *comparison, const struct doubt_notes *notes, FILE *out) {
    bool exact = false, limit = false, near = false, unstable = false, sizes = false, controlled = false;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bli_prediction *known = &comparison->theory_row[i].known;
        const bool shown = !comparison->cases[i].model.classes || !isnan(known->high.response_mean);
        exact = exact || (shown && known->kind == BLI_THEORY_EXACT);
        const bool expanded =
            !comparison->cases[i].model.classes && shows_expansion(&comparison->theory_row[i]);
        limit = limit || (shown && !expanded && known->kind == BLI_THEORY_LIMIT);
        near = near || expanded || (shown && known->kind == BLI_THEORY_APPROXIMATE);
        sizes = sizes || *bli_sizes_mark(comparison->cases[i].policy.policy);
        const struct bli_result *result = &comparison->results[i];
        unstable = unstable || (result->replications > 0 && result->verdict == BLI_UNSTABLE);
        controlled = controlled || result->controls > 0;
    }
    fputc('\n', out);
    print_load(comparison, out);
    print_events(comparison, out);
    print_floor(comparison, comparison->theory_row[0].floor_response, out);
    print_unit(&comparison->cases[0].model, out);
    const bool classes = comparison->cases[0].model.classes;
    const bool exponential = bli_dist_is_exponential(&comparison->cases[0].model.size);
    fprintf(out, "\u00b1: 95 %% confidence over replications. %smsgs: per job, a probe is two.\n",
            comparison->cases[0].model.class_count > 2 ? "Class 1 is the most urgent. "
            : classes                                  ? "Percentiles: of the class. "
                                                       : "waits: jobs that wait at all. ");
    if (controlled)
        fputs("mean response: with control variates, as a precision is wanted (docs/statistics.md).\n", out);
    if (exact || limit || near)
        fprintf(out, "theory:%s%s%s%s%s%s.\n", exact ? " = exact" : "", exact && limit ? "," : "",
                limit ? " \u2192 limit of many servers" : "", (exact || limit) && near ? "," : "",
                !near         ? ""
                : exponential ? " \u2248 approximation for so many servers"
                              : " \u2248 approximation for many servers, sizes being fitted by phases",
                classes ? "" : ", with the difference of the simulation");
    if (sizes)
        fputs(BLI_SIZES_NOTE "\n", out);
    if (classes)
        print_moves(comparison, out);
    else if (shows_power(comparison))
        fputs("watts: mean power of a server, busy, idle, in set-up or off.\n", out);
    print_steals(comparison, out);
    print_proof(comparison, out);
    print_losses(comparison, out);
    print_leaving(comparison, out);
    print_failures(comparison, out);
    if (unstable)
        fprintf(out, "unstable: the queue grows without bound, so there is no mean.%s\n",
                classes ? "" : " load < x: what theory allows.");
    bli_doubt_print(notes, BLI_REMEDY_OPTION, out);
}

static void print_table(const struct comparison *comparison, const size_t *order, struct doubt_notes *notes,
                        enum bli_table_style style, FILE *out) {
    const struct columns columns = columns_of(comparison);
    struct table table;
    bli_table_init(&table, 0);
    const double most = longest_mean(comparison);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bli_case *c = &comparison->cases[order[i]];
        const struct bli_result *result = &comparison->results[order[i]];
        const struct bli_theory_row *theory_row = &comparison->theory_row[order[i]];
        char policy[200];
        name_of(comparison, order[i], policy);
        do
            if (columns.many > 2)
                put_many_row(&table, &columns, policy, c, result, &theory_row->known, notes);
            else if (columns.classes)
                put_class_row(&table, &columns, policy, c, result, &theory_row->known, notes);
            else
                put_row(&table, &columns, policy, c, result, theory_row, most, notes);
        while (bli_table_end_row(&table));
    }
    bli_table_print(&table, table.align, style, out);
    bli_table_fini(&table);
}

void bli_comparison_text(const struct comparison *comparison, const size_t *order, enum bli_table_style style,
                         FILE *out) {
    struct doubt_notes notes = {0};
    print_setting(comparison, out);
    print_table(comparison, order, &notes, style, out);
    print_notes(comparison, &notes, out);
}
