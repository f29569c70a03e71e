/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, marks and columns of the tables of a replay. */
#include "report/replay_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of quantiles, which are those of histograms: a smaller half-width is meaningless. */
#define QUANTILE_ERROR 0.004

/* ---- numbers and times ---- */

/* Three or four digits, whatever the size; empty if unknown. Returns text. */
const char *bli_cell_number(double value, char text[BLI_CELL]) {
    const int decimals = value >= 99.95     ? 0
                         : value >= 9.995   ? 1
                         : value >= 0.9995  ? 2
                         : value >= 0.09995 ? 3
                                            : 4;
    if (!isfinite(value))
        snprintf(text, BLI_CELL, "%s", isnan(value) ? "" : "inf");
    else
        snprintf(text, BLI_CELL, "%.*f", value == 0 ? 0 : decimals, value);
    return text;
}

void bli_cell_add(struct table *table, double value) {
    char text[BLI_CELL];
    bli_table_add(table, "%s", bli_cell_number(value, text));
}

/* As many decimals as the half-width can bear: it has so many digits. */
void bli_cell_add_estimate(struct table *table, struct bli_estimate value, int digits, const char *mark) {
    char text[BLI_CELL];
    if (!(value.half_width > 1e-5 * value.mean)) { /* also where there is none */
        bli_table_add(table, "%s%s", bli_cell_number(value.mean, text), mark);
        return;
    }
    const int decimals = digits - 1 - (int)floor(log10(value.half_width));
    const int shown = decimals < 0 ? 0 : decimals > 4 ? 4 : decimals;
    bli_table_add(table, "%.*f \u00b1 %.*f%s", shown, value.mean, shown, value.half_width, mark);
}

struct bli_replay_unit bli_replay_unit(const struct bli_replay_report *report) {
    double best = INFINITY;
    for (size_t i = 0; i < report->count; i++)
        best = fmin(best, report->outcomes[i].result.metric[BLI_RESPONSE_MEAN].mean);
    return bli_time_unit(best);
}

struct bli_replay_unit bli_time_unit(double seconds) {
    return seconds < 1e-3 ? (struct bli_replay_unit){"us", 1e-6}
           : seconds < 1  ? (struct bli_replay_unit){"ms", 1e-3}
                          : (struct bli_replay_unit){"s", 1};
}

struct bli_replay_unit bli_energy_unit(double joules) {
    return joules < 3.6e6   ? (struct bli_replay_unit){"Wh", 3.6e3}
           : joules < 3.6e9 ? (struct bli_replay_unit){"kWh", 3.6e6}
                            : (struct bli_replay_unit){"MWh", 3.6e9};
}

/* 0: the mean. */
static double quantile_of(const struct bli_replay_report *report, enum bli_response_time which) {
    static const double usual[] = {0, 0.5, 0.9, 0.99, 0.999};
    return which >= BLI_TIME_ASKED    ? report->replay->percentiles.quantile[which - BLI_TIME_ASKED]
           : which == BLI_TIME_WANTED ? report->target->quantile
                                      : usual[which];
}

static bool is_same(double a, double b) {
    return fabs(a - b) < 1e-9;
}

/* In its place, if its quantile is not there. */
static unsigned insert_quantile(const struct bli_replay_report *report, enum bli_response_time which,
                                enum bli_response_time *shown, unsigned count) {
    const double quantile = quantile_of(report, which);
    unsigned at = 0;
    while (at < count && quantile_of(report, shown[at]) < quantile - 1e-9)
        at++;
    if (at < count && is_same(quantile_of(report, shown[at]), quantile))
        return count;
    memmove(&shown[at + 1], &shown[at], (count - at) * sizeof *shown);
    shown[at] = which;
    return count + 1;
}

unsigned bli_shown_quantiles(const struct bli_replay_report *report,
                             enum bli_response_time shown[BLI_REPLAY_TIMES]) {
    const unsigned asked = report->replay->percentiles.count;
    unsigned count = 0;
    for (unsigned i = 0; i < asked; i++)
        count = insert_quantile(report, (enum bli_response_time)(BLI_TIME_ASKED + i), shown, count);
    if (asked == 0) {
        count = insert_quantile(report, BLI_TIME_P50, shown, count);
        count = insert_quantile(report, BLI_TIME_P99, shown, count);
    }
    return report->target && report->target->quantile > 0
               ? insert_quantile(report, BLI_TIME_WANTED, shown, count)
               : count;
}

const char *bli_quantile_name(const struct bli_replay_report *report, enum bli_response_time which,
                              char text[BLI_PERCENTILE_TEXT]) {
    return bli_percentile_print(quantile_of(report, which), text);
}

const char *bli_time_name(const struct bli_replay_report *report, enum bli_response_time which,
                          char text[BLI_PERCENTILE_TEXT]) {
    return which == BLI_TIME_MEAN     ? "mean"
           : which == BLI_TIME_WANTED ? "target"
                                      : bli_percentile_name(quantile_of(report, which), text);
}

bool bli_time_is_told(const struct bli_replay_report *report, enum bli_response_time which) {
    if (which < BLI_TIME_WANTED)
        return true;
    if (which == BLI_TIME_WANTED)
        return report->target;
    return which < BLI_TIME_ASKED + report->replay->percentiles.count &&
           bli_distribution_metric(BLI_OF_RESPONSE, quantile_of(report, which)) == BLI_METRIC_COUNT;
}

/* ---- policies ---- */

void bli_replay_label(const struct bal_policy_spec *policy, char text[BLI_REPLAY_LABEL]) {
    if (!policy->policy->power) {
        bal_policy_print(policy, text, BLI_REPLAY_LABEL);
        return;
    }
    char all[BLI_REPLAY_LABEL], plain[BLI_REPLAY_LABEL], *save = NULL;
    struct bal_policy_spec by_default;
    bli_scheme_parse(policy->policy->name, &by_default, NULL);
    bal_policy_print(&by_default, plain, sizeof plain);
    bal_policy_print(policy, all, sizeof all);
    size_t used = (size_t)snprintf(text, BLI_REPLAY_LABEL, "%s", strtok_r(all, ":,", &save));
    const char *join = ":";
    for (const char *part; (part = strtok_r(NULL, ":,", &save)) && used < BLI_REPLAY_LABEL;) {
        if (strncmp(part, "mu=", 3) == 0 || strncmp(part, "nu=", 3) == 0 || strcmp(part, "none=hold") == 0 ||
            strstr(plain, part))
            continue;
        used += (size_t)snprintf(text + used, BLI_REPLAY_LABEL - used, "%s%s", join, part);
        join = ",";
    }
}

struct bli_policy_name bli_replay_name(const struct bal_policy_spec *policy) {
    struct bli_policy_name name;
    bli_replay_label(policy, name.text);
    return name;
}

/* The share of all jobs that was turned away. */
double bli_turned_away(const struct bli_result *result) {
    return result->metric[BLI_REFUSED].mean + result->metric[BLI_LOST].mean;
}

/* A policy that turns more than a hundredth of the jobs away comes last: its times are only those of the jobs
 * that it accepted. So do unknown values. */
static bool is_better(const struct bli_replay_outcome *a, const struct bli_replay_outcome *b,
                      enum bli_response_time time) {
    const bool a_serves = bli_turned_away(&a->result) <= 0.01, b_serves = bli_turned_away(&b->result) <= 0.01;
    if (a_serves != b_serves)
        return a_serves;
    const double x = a->time[time].mean, y = b->time[time].mean;
    return x < y || (!isnan(x) && isnan(y));
}

/* The time by which policies are compared. */
enum bli_response_time bli_leading(const struct bli_replay_report *report) {
    return report->target ? BLI_TIME_WANTED : BLI_TIME_MEAN;
}

const char *bli_leading_name(const struct bli_replay_report *report) {
    return report->target ? report->target->name : "mean";
}

size_t *bli_replay_order(const struct bli_replay_report *report) {
    size_t *order = malloc((report->count + 1) * sizeof *order);
    if (!order)
        return NULL;
    for (size_t i = 0; i < report->count; i++) {
        size_t at = i;
        for (;
             at > 0 && is_better(&report->outcomes[i], &report->outcomes[order[at - 1]], bli_leading(report));
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/* ---- cells ---- */

/* Each row whose numbers depend on doubtful times is marked. */
bool bli_is_marked(const struct bli_replay_report *report) {
    return bli_times_are_doubtful(report->times->recovery->times);
}

void bli_put_mark(struct table *table, const struct bli_replay_report *report) {
    if (bli_is_marked(report) && bli_table_column(table, 'l', "service times"))
        bli_table_add(table, "%s", bli_times_text(report->times->recovery->times));
}

struct bli_estimate bli_in_unit(struct bli_estimate time, struct bli_replay_unit unit) {
    return (struct bli_estimate){time.mean / unit.seconds, time.half_width / unit.seconds};
}

void bli_cell_add_time(struct table *table, struct bli_estimate time, struct bli_replay_unit unit) {
    if (time.half_width < QUANTILE_ERROR * time.mean)
        time.half_width = NAN;
    bli_cell_add_estimate(table, bli_in_unit(time, unit), 1, "");
}

void bli_cell_add_wanted(struct table *table, const struct bli_target *target, struct bli_estimate time,
                         struct bli_replay_unit unit) {
    if (target->quantile == 0)
        bli_cell_add_estimate(table, bli_in_unit(time, unit), 2, "");
    else
        bli_cell_add_time(table, time, unit);
}

void bli_put_quantiles(struct table *table, const struct bli_replay_report *report,
                       const struct bli_estimate *time, struct bli_replay_unit unit) {
    enum bli_response_time shown[BLI_REPLAY_TIMES];
    const unsigned times = bli_shown_quantiles(report, shown);
    for (unsigned t = 0; t < times; t++) {
        char name[BLI_PERCENTILE_TEXT];
        if (bli_table_column(table, 'r', "%s", bli_quantile_name(report, shown[t], name)))
            bli_cell_add_time(table, time[shown[t]], unit);
    }
}

bool bli_is_priced(const struct bli_replay_report *report) {
    return !isnan(report->price);
}

double bli_replay_cost(const struct bli_replay_report *report, const struct bli_case *c,
                       const struct bli_result *result) {
    return report->price * bli_replay_server_time(c, result) / 3600;
}

/* What the marks mean, and what to do about it. */
void bli_replay_doubt(const struct bli_replay_report *report, FILE *out) {
    const char *mark = bli_recovery_mark(report->times->recovery);
    if (mark)
        fprintf(out, "Mind: %s, and so every number here rests on that; see 'waiting' above.\n", mark);
}

void bli_put_costs(struct table *table, const struct bli_replay_report *report, const struct bli_case *c,
                   const struct bli_result *result, struct bli_replay_unit energy) {
    if (bli_table_column(table, 'r', "%s", energy.name))
        bli_cell_add(table, result ? bli_replay_energy(result) / energy.seconds : NAN);
    if (bli_table_column(table, 'r', "watts"))
        bli_cell_add(table, result ? result->metric[BLI_POWER_MEAN].mean : NAN);
    if (bli_is_priced(report) && bli_table_column(table, 'r', "cost"))
        bli_cell_add(table, result ? bli_replay_cost(report, c, result) : NAN);
}
