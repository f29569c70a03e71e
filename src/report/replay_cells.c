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
const char *bal_cell_number(double value, char text[BAL_CELL]) {
    const int decimals = value >= 99.95     ? 0
                         : value >= 9.995   ? 1
                         : value >= 0.9995  ? 2
                         : value >= 0.09995 ? 3
                                            : 4;
    if (!isfinite(value))
        snprintf(text, BAL_CELL, "%s", isnan(value) ? "" : "inf");
    else
        snprintf(text, BAL_CELL, "%.*f", value == 0 ? 0 : decimals, value);
    return text;
}

void bal_cell_add(struct table *table, double value) {
    char text[BAL_CELL];
    bal_table_add(table, "%s", bal_cell_number(value, text));
}

/* As many decimals as the half-width can bear: it has so many digits. */
void bal_cell_add_estimate(struct table *table, struct bal_estimate value, int digits, const char *mark) {
    char text[BAL_CELL];
    if (!(value.half_width > 1e-5 * value.mean)) { /* also where there is none */
        bal_table_add(table, "%s%s", bal_cell_number(value.mean, text), mark);
        return;
    }
    const int decimals = digits - 1 - (int)floor(log10(value.half_width));
    const int shown = decimals < 0 ? 0 : decimals > 4 ? 4 : decimals;
    bal_table_add(table, "%.*f \u00b1 %.*f%s", shown, value.mean, shown, value.half_width, mark);
}

struct bal_replay_unit bal_replay_unit(const struct bal_replay_report *report) {
    double best = INFINITY;
    for (size_t i = 0; i < report->count; i++)
        best = fmin(best, report->outcomes[i].result.metric[BAL_RESPONSE_MEAN].mean);
    return bal_time_unit(best);
}

struct bal_replay_unit bal_time_unit(double seconds) {
    return seconds < 1e-3 ? (struct bal_replay_unit){"us", 1e-6}
           : seconds < 1  ? (struct bal_replay_unit){"ms", 1e-3}
                          : (struct bal_replay_unit){"s", 1};
}

struct bal_replay_unit bal_energy_unit(double joules) {
    return joules < 3.6e6   ? (struct bal_replay_unit){"Wh", 3.6e3}
           : joules < 3.6e9 ? (struct bal_replay_unit){"kWh", 3.6e6}
                            : (struct bal_replay_unit){"MWh", 3.6e9};
}

/* 0: the mean. */
static double quantile_of(const struct bal_replay_report *report, enum bal_response_time which) {
    static const double usual[] = {0, 0.5, 0.9, 0.99, 0.999};
    return which >= BAL_TIME_ASKED    ? report->replay->percentiles.quantile[which - BAL_TIME_ASKED]
           : which == BAL_TIME_WANTED ? report->target->quantile
                                      : usual[which];
}

static bool is_same(double a, double b) {
    return fabs(a - b) < 1e-9;
}

/* In its place, if its quantile is not there. */
static unsigned insert_quantile(const struct bal_replay_report *report, enum bal_response_time which,
                                enum bal_response_time *shown, unsigned count) {
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

unsigned bal_shown_quantiles(const struct bal_replay_report *report,
                             enum bal_response_time shown[BAL_REPLAY_TIMES]) {
    const unsigned asked = report->replay->percentiles.count;
    unsigned count = 0;
    for (unsigned i = 0; i < asked; i++)
        count = insert_quantile(report, (enum bal_response_time)(BAL_TIME_ASKED + i), shown, count);
    if (asked == 0) {
        count = insert_quantile(report, BAL_TIME_P50, shown, count);
        count = insert_quantile(report, BAL_TIME_P99, shown, count);
    }
    return report->target && report->target->quantile > 0
               ? insert_quantile(report, BAL_TIME_WANTED, shown, count)
               : count;
}

const char *bal_quantile_name(const struct bal_replay_report *report, enum bal_response_time which,
                              char text[BAL_PERCENTILE_TEXT]) {
    return bal_percentile_print(quantile_of(report, which), text);
}

const char *bal_time_name(const struct bal_replay_report *report, enum bal_response_time which,
                          char text[BAL_PERCENTILE_TEXT]) {
    return which == BAL_TIME_MEAN     ? "mean"
           : which == BAL_TIME_WANTED ? "target"
                                      : bal_percentile_name(quantile_of(report, which), text);
}

bool bal_time_is_told(const struct bal_replay_report *report, enum bal_response_time which) {
    if (which < BAL_TIME_WANTED)
        return true;
    if (which == BAL_TIME_WANTED)
        return report->target;
    return which < BAL_TIME_ASKED + report->replay->percentiles.count &&
           bal_distribution_metric(BAL_OF_RESPONSE, quantile_of(report, which)) == BAL_METRIC_COUNT;
}

/* ---- policies ---- */

void bal_replay_label(const struct bal_policy_spec *policy, char text[BAL_REPLAY_LABEL]) {
    if (!policy->policy->power) {
        bal_policy_print(policy, text, BAL_REPLAY_LABEL);
        return;
    }
    char all[BAL_REPLAY_LABEL], plain[BAL_REPLAY_LABEL], *save = NULL;
    struct bal_policy_spec by_default;
    bal_scheme_parse(policy->policy->name, &by_default, NULL);
    bal_policy_print(&by_default, plain, sizeof plain);
    bal_policy_print(policy, all, sizeof all);
    size_t used = (size_t)snprintf(text, BAL_REPLAY_LABEL, "%s", strtok_r(all, ":,", &save));
    const char *join = ":";
    for (const char *part; (part = strtok_r(NULL, ":,", &save)) && used < BAL_REPLAY_LABEL;) {
        if (strncmp(part, "mu=", 3) == 0 || strncmp(part, "nu=", 3) == 0 || strcmp(part, "none=hold") == 0 ||
            strstr(plain, part))
            continue;
        used += (size_t)snprintf(text + used, BAL_REPLAY_LABEL - used, "%s%s", join, part);
        join = ",";
    }
}

/* The share of all jobs that was turned away. */
double bal_turned_away(const struct bal_result *result) {
    return result->metric[BAL_REFUSED].mean + result->metric[BAL_LOST].mean;
}

/* A policy that turns more than a hundredth of the jobs away comes last: its times are only those of the jobs
 * that it accepted. So do unknown values. */
static bool is_better(const struct bal_replay_outcome *a, const struct bal_replay_outcome *b,
                      enum bal_response_time time) {
    const bool a_serves = bal_turned_away(&a->result) <= 0.01, b_serves = bal_turned_away(&b->result) <= 0.01;
    if (a_serves != b_serves)
        return a_serves;
    const double x = a->time[time].mean, y = b->time[time].mean;
    return x < y || (!isnan(x) && isnan(y));
}

/* The time by which policies are compared. */
enum bal_response_time bal_leading(const struct bal_replay_report *report) {
    return report->target ? BAL_TIME_WANTED : BAL_TIME_MEAN;
}

const char *bal_leading_name(const struct bal_replay_report *report) {
    return report->target ? report->target->name : "mean";
}

size_t *bal_replay_order(const struct bal_replay_report *report) {
    size_t *order = malloc((report->count + 1) * sizeof *order);
    if (!order)
        return NULL;
    for (size_t i = 0; i < report->count; i++) {
        size_t at = i;
        for (;
             at > 0 && is_better(&report->outcomes[i], &report->outcomes[order[at - 1]], bal_leading(report));
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/* ---- cells ---- */

/* Each row whose numbers depend on doubtful times is marked. */
bool bal_is_marked(const struct bal_replay_report *report) {
    return bal_times_are_doubtful(report->times->recovery->times);
}

void bal_put_mark(struct table *table, const struct bal_replay_report *report) {
    if (bal_is_marked(report) && bal_table_column(table, 'l', "service times"))
        bal_table_add(table, "%s", bal_times_text(report->times->recovery->times));
}

struct bal_estimate bal_in_unit(struct bal_estimate time, struct bal_replay_unit unit) {
    return (struct bal_estimate){time.mean / unit.seconds, time.half_width / unit.seconds};
}

void bal_cell_add_time(struct table *table, struct bal_estimate time, struct bal_replay_unit unit) {
    if (time.half_width < QUANTILE_ERROR * time.mean)
        time.half_width = NAN;
    bal_cell_add_estimate(table, bal_in_unit(time, unit), 1, "");
}

void bal_cell_add_wanted(struct table *table, const struct bal_target *target, struct bal_estimate time,
                         struct bal_replay_unit unit) {
    if (target->quantile == 0)
        bal_cell_add_estimate(table, bal_in_unit(time, unit), 2, "");
    else
        bal_cell_add_time(table, time, unit);
}

void bal_put_quantiles(struct table *table, const struct bal_replay_report *report,
                       const struct bal_estimate *time, struct bal_replay_unit unit) {
    enum bal_response_time shown[BAL_REPLAY_TIMES];
    const unsigned times = bal_shown_quantiles(report, shown);
    for (unsigned t = 0; t < times; t++) {
        char name[BAL_PERCENTILE_TEXT];
        if (bal_table_column(table, 'r', "%s", bal_quantile_name(report, shown[t], name)))
            bal_cell_add_time(table, time[shown[t]], unit);
    }
}

bool bal_is_priced(const struct bal_replay_report *report) {
    return !isnan(report->price);
}

double bal_replay_cost(const struct bal_replay_report *report, const struct bal_case *c,
                       const struct bal_result *result) {
    return report->price * bal_replay_server_time(c, result) / 3600;
}

/* What the marks mean, and what to do about it. */
void bal_replay_doubt(const struct bal_replay_report *report, FILE *out) {
    const char *mark = bal_recovery_mark(report->times->recovery);
    if (mark)
        fprintf(out, "Mind: %s, and so every number here rests on that; see 'waiting' above.\n", mark);
}

void bal_put_costs(struct table *table, const struct bal_replay_report *report, const struct bal_case *c,
                   const struct bal_result *result, struct bal_replay_unit energy) {
    if (bal_table_column(table, 'r', "%s", energy.name))
        bal_cell_add(table, result ? bal_replay_energy(result) / energy.seconds : NAN);
    if (bal_table_column(table, 'r', "watts"))
        bal_cell_add(table, result ? result->metric[BAL_POWER_MEAN].mean : NAN);
    if (bal_is_priced(report) && bal_table_column(table, 'r', "cost"))
        bal_cell_add(table, result ? bal_replay_cost(report, c, result) : NAN);
}
