/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON and csv of a comparison, and the order of its rows; the text table is in comparison_text.c. */
#include "report/comparison.h"

#include "ballast/number.h"
#include "ballast/predict.h"
#include "ballast/theory.h"
#include "base/strbuf.h"
#include "report/doubt_notes.h"
#include "report/json_parts.h"
#include "report/metric.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char bli_outlasted_text[] = "Runs go on after the end of their load curve, which stays as it is there: "
                                  "end them with it (time), or let it repeat.";

const char *bli_comparison_no_means(const struct bli_result *result) {
    return result->replications == 0         ? "no trial done"
           : result->verdict == BLI_UNSTABLE ? "unstable"
           : result->jobs == 0               ? "no job done"
                                             : NULL;
}

bool bli_comparison_has_means(const struct bli_result *result) {
    return bli_comparison_no_means(result) == NULL;
}

static bool is_better(const struct bli_result *a, const struct bli_result *b) {
    if (bli_comparison_has_means(a) != bli_comparison_has_means(b))
        return bli_comparison_has_means(a);
    return bli_comparison_has_means(a) &&
           a->metric[BLI_RESPONSE_MEAN].mean < b->metric[BLI_RESPONSE_MEAN].mean;
}

void bli_comparison_order(const struct bli_result *results, size_t count, size_t *order) {
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && is_better(&results[i], &results[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static const struct bli_estimate unknown = {NAN, NAN};

/* Percentiles that were asked for in addition to the usual ones. */
static void json_asked(struct json *json, const struct bli_case *c, const struct bli_result *result,
                       enum bli_distribution distribution, bool known) {
    const struct bli_percentiles *asked = c->run.percentiles;
    bli_json_varies(json, true);
    for (unsigned i = 0; asked && i < asked->count; i++) {
        char name[BLI_PERCENTILE_TEXT];
        if (bli_distribution_metric(distribution, asked->quantile[i]) == BLI_METRIC_COUNT)
            bli_json_estimate(json, bli_percentile_name(asked->quantile[i], name), "_ci",
                              known ? result->percentile[distribution][i] : unknown);
    }
    bli_json_varies(json, false);
}

/* The percentiles whose intervals are too short. */
static void json_rare(struct json *json, const struct bli_case *c, const struct bli_result *result) {
    static const double usual[] = {0.5, 0.9, 0.99, 0.999};
    static const char *const names[] = {"p50", "p90", "p99", "p999"};
    const struct bli_percentiles *asked = c->run.percentiles;
    bli_json_open_line(json, "rare", '[');
    for (unsigned i = 0; i < 4 + (asked ? asked->count : 0); i++) {
        const double quantile = i < 4 ? usual[i] : asked->quantile[i - 4];
        char name[BLI_PERCENTILE_TEXT];
        if (bli_result_spells(c, result, quantile) < BLI_SPELLS_MIN)
            bli_json_text(json, NULL, i < 4 ? names[i] : bli_percentile_print(quantile, name));
    }
    bli_json_close(json, ']');
}

/* The mean of an object, and its half-width. */
static void json_mean(struct json *json, struct bli_estimate mean) {
    bli_json_number(json, "mean", mean.mean);
    bli_json_number(json, "ci", mean.half_width);
}

/* Metrics as KEY and KEY_ci, from `first` on; unknown unless `known`. */
static void json_metrics(struct json *json, const char *const *names, unsigned count,
                         const struct bli_estimate *first, bool known) {
    for (unsigned i = 0; i < count; i++)
        bli_json_estimate(json, names[i], "_ci", known ? first[i] : unknown);
}

/* Metrics that JSON has as objects, by their names there. */
struct member {
    const char *name;
    enum bli_metric metric;
};
static const struct member messages[] = {{"probes_per_job", BLI_PROBES_PER_JOB},
                                         {"reports_per_job", BLI_REPORTS_PER_JOB},
                                         {"per_job", BLI_MESSAGES_PER_JOB},
                                         {"per_time", BLI_MESSAGES_PER_TIME},
                                         {NULL, 0}};
static const struct member power[] = {{"mean", BLI_POWER_MEAN},
                                      {"waste", BLI_POWER_WASTE},
                                      {"energy_per_job", BLI_ENERGY_PER_JOB},
                                      {"busy", BLI_SERVERS_BUSY},
                                      {"standby", BLI_SERVERS_STANDBY},
                                      {"setup", BLI_SERVERS_SETUP},
                                      {"off", BLI_SERVERS_OFF},
                                      {NULL, 0}};
static const struct member stealing[] = {{"requests", BLI_STEALING_REQUESTS},
                                         {"steals", BLI_STEALING_STEALS},
                                         {"moved", BLI_STEALING_MOVED},
                                         {NULL, 0}};
static const struct member high_tail[] = {
    {"1", BLI_HIGH_TAIL_1}, {"2", BLI_HIGH_TAIL_2}, {"3", BLI_HIGH_TAIL_3}, {NULL, 0}};

/* Each as KEY and KEY_ci. The caller closes the object. */
static void json_open_members(struct json *json, const char *key, const struct member *member,
                              const struct bli_result *result) {
    bli_json_open_line(json, key, '{');
    for (; member->name; member++) {
        char about[BLI_ABOUT_TEXT];
        bli_json_about(json, bli_metric_about(member->metric, about));
        bli_json_estimate(json, member->name, "_ci", result->metric[member->metric]);
    }
}

/* mean, ci and percentiles; the metric of the mean comes before that of the median, and what follows it is in
 * the order of BLI_TIME_METRICS. */
static void json_times(struct json *json, const char *key, const struct bli_case *c,
                       const struct bli_result *result, enum bli_distribution distribution) {
    static const char *const names[] = {"p50", "p90", "p99", "p999", "probability"};
    const int first = (int)bli_distribution_median(distribution) - 1;
    const struct bli_estimate *metric = &result->metric[first];
    const bool known = bli_comparison_has_means(result);
    bli_json_open_line(json, key, '{');
    json_mean(json, known ? metric[0] : unknown);
    json_metrics(json, names, 4, metric + 1, known);
    json_asked(json, c, result, distribution, known);
    json_rare(json, c, result);
    if (first == BLI_WAITING_MEAN || first == BLI_HIGH_WAITING_MEAN || first == BLI_LOW_WAITING_MEAN)
        json_metrics(json, names + 4, 1, metric + 5, known);
    bli_json_close(json, '}');
}

/* How many fractions are more than rounding. */
static size_t count_levels(const double *value, size_t count) {
    size_t levels = 0;
    while (levels < count && value[levels] > 1e-9)
        levels++;
    return levels;
}

static void json_queue(struct json *json, const struct bli_result *result) {
    const bool known = bli_comparison_has_means(result);
    bli_json_open_line(json, "queue", '{');
    json_mean(json, known ? result->metric[BLI_QUEUE_MEAN] : unknown);
    bli_json_estimate(json, "total", "_ci", known ? result->metric[BLI_QUEUE_TOTAL] : unknown);
    bli_json_numbers(json, "tail", result->tail, known ? count_levels(result->tail, BLI_TAIL_LEVELS) : 0);
    bli_json_close(json, '}');
}

/* What the theorems say of the chain. */
static void json_proof(struct json *json, const struct bli_theory_row *theory_row) {
    bli_json_text(json, "proof", bli_proof_text(theory_row->proof.proof));
    bli_json_text(json, "proof_by", theory_row->proof.why);
    bli_json_number(json, "bound_log10", bli_tower_log10(&theory_row->bound.mean));
    bli_json_bool(json, "bound_holds", theory_row->bound.holds);
}

static void json_class(struct json *json, const char *key, const struct bli_case *c,
                       const struct bli_result *result, enum bli_distribution response,
                       enum bli_distribution waiting, int probes) {
    bli_json_open(json, key, '{');
    json_times(json, "response", c, result, response);
    json_times(json, "waiting", c, result, waiting);
    bli_json_estimate(json, "probes_per_job", "_ci", result->metric[probes]);
    if (response == BLI_OF_HIGH_RESPONSE) {
        bli_json_open(json, "queue", '{');
        json_open_members(json, "tail", high_tail, result);
        bli_json_close(json, '}');
        bli_json_close(json, '}');
    }
    bli_json_close(json, '}');
}

static void json_classes(struct json *json, const struct bli_case *c, const struct bli_result *result) {
    bli_json_open(json, "classes", '{');
    json_class(json, "high", c, result, BLI_OF_HIGH_RESPONSE, BLI_OF_HIGH_WAITING, BLI_HIGH_PROBES_PER_JOB);
    json_class(json, "low", c, result, BLI_OF_LOW_RESPONSE, BLI_OF_LOW_WAITING, BLI_LOW_PROBES_PER_JOB);
    bli_json_estimate(json, "moves_per_high_job", "_ci", result->metric[BLI_MOVES_PER_HIGH_JOB]);
    bli_json_close(json, '}');
}

static const char *const quantile_names[] = {"response_p50", "response_p90", "response_p99", "response_p999"};

static void json_class_theory(struct json *json, const char *key, const struct bli_prediction_class *class) {
    bli_json_open_line(json, key, '{');
    bli_json_number(json, "response_mean", class->response_mean);
    bli_json_number(json, "response_bound", class->response_bound);
    bli_json_number(json, "waiting_mean", class->waiting_mean);
    bli_json_number(json, "waiting_probability", class->waiting_probability);
    for (int i = 0; i < 4; i++)
        bli_json_number(json, quantile_names[i], class->response_quantile[i]);
    bli_json_close(json, '}');
}

/* More than two classes, the most urgent first. */
static void json_many_classes(struct json *json, const struct bli_case *c, const struct bli_result *result,
                              const struct bli_prediction *known) {
    bli_json_open(json, "by_class", '[');
    for (uint32_t i = 0; i < c->model.class_count; i++) {
        const struct bli_estimate *of = &result->metric[BLI_CLASS_1_RESPONSE_MEAN + 2 * i];
        const bool has = bli_comparison_has_means(result);
        bli_json_open_line(json, NULL, '{');
        bli_json_number(json, "share", c->model.share[i]);
        bli_json_number(json, "response_mean", has ? of[0].mean : NAN);
        bli_json_number(json, "ci", has ? of[0].half_width : NAN);
        bli_json_number(json, "response_p99", has ? of[1].mean : NAN);
        bli_json_number(json, "theory", known->class_response[i]);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
}

static void json_expansion(struct json *json, const struct bli_expansion *expansion) {
    bli_json_open_line(json, "expansion", '{');
    bli_json_number(json, "limit", expansion->limit);
    bli_json_number(json, "first", expansion->first);
    bli_json_number(json, "second", expansion->second);
    bli_json_number(json, "response_mean", expansion->response_mean);
    bli_json_number(json, "error", expansion->error);
    for (int i = 0; i < 4 && bli_json_if(json, !isnan(expansion->response_quantile[0])); i++) {
        char error[40];
        snprintf(error, sizeof error, "%s_error", quantile_names[i]);
        bli_json_number(json, quantile_names[i], expansion->response_quantile[i]);
        bli_json_number(json, error, expansion->quantile_error[i]);
    }
    bli_json_close(json, '}');
}

static void json_theory(struct json *json, const struct bli_theory_row *theory_row, bool classes) {
    const struct bli_prediction *known = &theory_row->known;
    if (!bli_json_if(json, known->kind != BLI_THEORY_UNKNOWN)) {
        bli_json_null(json, "theory");
        return;
    }
    bli_json_open_line(json, "theory", '{');
    bli_json_number(json, "response_mean", known->response_mean);
    bli_json_number(json, "waiting_mean", known->waiting_mean);
    if (bli_json_if(json, !isnan(known->gave_up)))
        bli_json_number(json, "gave_up", known->gave_up);
    for (int i = 0; i < 4; i++)
        bli_json_number(json, quantile_names[i], known->response_quantile[i]);
    if (bli_json_if(json, classes)) {
        json_class_theory(json, "high", &known->high);
        json_class_theory(json, "low", &known->low);
    }
    bli_json_text(json, "kind", bli_theory_kind_name(known->kind));
    bli_json_text(json, "source", known->source);
    if (bli_json_if(json, theory_row->solved.states > 0)) {
        bli_json_count(json, "states", theory_row->solved.states);
        bli_json_number(json, "lost", theory_row->solved.lost);
        if (bli_json_if(json, theory_row->solved.error > 0))
            bli_json_number(json, "error", theory_row->solved.error);
    }
    if (bli_json_if(json, known->fit_error > 0))
        bli_json_number(json, "fit_error", known->fit_error);
    if (bli_json_if(json, theory_row->expanded))
        json_expansion(json, &theory_row->expansion);
    bli_json_numbers(json, "tail", known->tail, count_levels(known->tail, known->levels));
    bli_json_close(json, '}');
}

/* How heavy the load was, and of what lay at all servers together what was measured. */
static void json_load(struct json *json, const struct bli_result *result) {
    static const char *const names[] = {"p50", "p90", "p99", "p999", "tail"};
    bli_json_open_line(json, "load", '{');
    bli_json_number(json, "achieved", result->metric[BLI_LOAD_ACHIEVED].mean);
    bli_json_number(json, "ci", result->metric[BLI_LOAD_ACHIEVED].half_width);
    bli_json_bool(json, "outlasted_curve", result->outlasted);
    for (int i = 0; i < 5; i++)
        if (bli_json_if(json, !isnan(result->metric[BLI_LOAD_P50 + i].mean)))
            bli_json_number(json, names[i], result->metric[BLI_LOAD_P50 + i].mean);
    bli_json_close(json, '}');
}

void bli_comparison_json_fields(struct json *json, const struct bli_case *c, const struct bli_result *result,
                                const struct bli_theory_row *theory_row) {
    bli_json_text(json, "policy", bli_policy_name(&c->policy).text);
    json_times(json, "response", c, result, BLI_OF_RESPONSE);
    json_times(json, "waiting", c, result, BLI_OF_WAITING);
    json_queue(json, result);
    json_open_members(json, "messages", messages, result);
    bli_json_close(json, '}');
    json_open_members(json, "power", power, result);
    bli_json_close(json, '}');
    bli_json_estimate(json, "lost", "_ci", result->metric[BLI_LOST]);
    bli_json_estimate(json, "refused", "_ci", result->metric[BLI_REFUSED]);
    if (bli_json_if(json, c->model.patience.mean > 0))
        bli_json_estimate(json, "gave_up", "_ci", result->metric[BLI_GAVE_UP]);
    if (bli_json_if(json, bli_network_fails(&c->model.network) || bli_failures_happen(&c->model.failures)))
        bli_json_estimate(json, "failed", "_ci", result->metric[BLI_FAILED]);
    if (bli_json_if(json, c->model.steal.kind != BAL_STEAL_NONE)) {
        json_open_members(json, "stealing", stealing, result);
        if (bli_json_if(json, theory_row->chain))
            json_proof(json, theory_row);
        bli_json_close(json, '}');
    }
    if (bli_json_if(json, c->model.classes))
        json_classes(json, c, result);
    if (bli_json_if(json, c->model.class_count > 2))
        json_many_classes(json, c, result, &theory_row->known);
    bli_json_number(json, "memory_bits", result->memory_bits);
    bli_json_text(json, "verdict", bli_verdict_text(result->verdict));
    bli_doubt_json(json, result->doubts);
    json_theory(json, theory_row, c->model.classes);
    bli_json_text(json, "engine", bli_engine_text(result->engine));
    bli_json_count(json, "replications", result->replications);
    bli_json_bool(json, "precise", result->precise);
    if (bli_json_if(json, result->controls > 0))
        bli_json_count(json, "controls", result->controls);
    json_load(json, result);
    bli_json_interval(json, "transient", result->metric[BLI_TRANSIENT]);
    bli_json_interval(json, "drift", result->metric[BLI_DRIFT]);
    if (bli_json_if(json, !isnan(result->metric[BLI_FLUID_DISTANCE].mean)))
        bli_json_interval(json, "fluid_distance", result->metric[BLI_FLUID_DISTANCE]);
    bli_json_number(json, "time", result->time);
    bli_json_number(json, "warmup", result->warmup);
    bli_json_count(json, "jobs", result->jobs);
    bli_json_count(json, "events", result->events);
    bli_json_number(json, "seconds", result->seconds);
}

/* Counts of messages and arrivals exist even when means of times do not. */
static bool is_message(int metric) {
    return metric == BLI_LOAD_ACHIEVED || (metric >= BLI_PROBES_PER_JOB && metric <= BLI_MESSAGES_PER_TIME) ||
           (metric >= BLI_HIGH_PROBES_PER_JOB && metric <= BLI_STEALING_MOVED);
}

static bool has_metric(const struct bli_result *result, int metric) {
    return result->replications > 0 && (bli_comparison_has_means(result) || is_message(metric));
}

void bli_comparison_json_metrics(struct json *json, const struct bli_result *result) {
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        if (bli_json_if(json, result->replications > 0 && !isnan(result->metric[m].mean))) {
            char about[BLI_ABOUT_TEXT];
            bli_json_about(json, bli_metric_about((enum bli_metric)m, about));
            bli_json_interval(json, bli_metric_table[m].name,
                              has_metric(result, m) ? result->metric[m] : unknown);
        }
}

void bli_comparison_json_result(struct json *json, const struct bli_case *c, const struct bli_result *result,
                                const struct bli_theory_row *theory_row) {
    bli_json_open(json, NULL, '{');
    bli_comparison_json_fields(json, c, result, theory_row);
    bli_json_open(json, "metrics", '{');
    bli_comparison_json_metrics(json, result);
    bli_json_close(json, '}');
    bli_json_close(json, '}');
}

/* What arrives, and the parts of the model that are not as usual. */
static void json_work(struct json *json, const struct bli_model *model) {
    const bool slotted = model->clock == BLI_CLOCK_SLOTTED, steals = model->steal.kind != BAL_STEAL_NONE;
    bli_json_model_if(json, model, steals, "steal victims");
    bli_json_model_if(json, model, slotted, "clock");
    bli_json_model_if(json, model, slotted && steals, "placement");
    bli_json_model_if(json, model, slotted && !steals, "batch split!");
    bli_json_model_if(json, model, !slotted, "service tasks#? buffer#? curve? standby? setup?");
}

static void json_spec(struct json *json, const struct comparison *comparison) {
    const struct bli_case *c = &comparison->cases[0];
    char text[1000];
    bli_json_open(json, "spec", '{');
    bli_json_model(json, &c->model, "servers slots#? load#");
    json_work(json, &c->model);
    if (bli_json_if(json, c->model.classes)) {
        bli_json_number(json, "high", c->model.high);
        if (bli_json_if(json, c->model.class_count > 2)) {
            bli_model_print_classes(&c->model, text, sizeof text);
            bli_json_text(json, "classes", text);
        }
        bli_json_text(json, "discipline", bli_discipline_text(c->model.discipline));
    }
    bli_json_number(json, "time", comparison->results[0].time);
    bli_json_number(json, "jobs", comparison->jobs);
    bli_json_number_or_text(json, "warmup", c->run.warmup,
                            isnan(c->run.warmup)               ? "auto"
                            : c->run.warmup == BLI_WARMUP_MSER ? "mser"
                                                               : NULL);
    bli_json_count(json, "replications", c->replications);
    bli_json_number(json, "precision", comparison->precision > 0 ? comparison->precision : NAN);
    bli_json_count(json, "seed", c->run.seed);
    bli_json_number(json, "floor_response_mean", comparison->theory_row[0].floor_response);
    bli_json_bool(json, "cut_short", comparison->cut_short);
    bli_json_close(json, '}');
}

static void print_json(const struct comparison *comparison, const size_t *order, struct bli_rows *rows) {
    struct json *json = rows->json;
    bli_rows_open(rows);
    json_spec(json, comparison);
    bli_head_json(json, comparison->draft, NULL);
    bli_json_open(json, "results", '[');
    for (size_t i = 0; i < comparison->count; i++)
        bli_comparison_json_result(json, &comparison->cases[order[i]], &comparison->results[order[i]],
                                   &comparison->theory_row[order[i]]);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

/* The distributions of whose percentiles a case has been asked, one after the other; false: there are no
 * more. */
static bool is_asked(const struct bli_case *c, unsigned distribution) {
    return distribution <= BLI_OF_WAITING || (c->model.classes && distribution <= BLI_OF_LOW_WAITING);
}

/* Percentiles that are metrics have their columns. */
static bool is_extra(const struct bli_percentiles *asked, unsigned i) {
    return bli_distribution_metric(BLI_OF_RESPONSE, asked->quantile[i]) == BLI_METRIC_COUNT;
}

static void put_asked(struct bli_rows *rows, const struct bli_case *c, const struct bli_result *result) {
    const struct bli_percentiles *asked = c->run.percentiles;
    const bool has = result->replications > 0 && bli_comparison_has_means(result);
    for (unsigned d = 0; asked && d < BLI_DISTRIBUTIONS && is_asked(c, d); d++)
        for (unsigned i = 0; i < asked->count; i++) {
            const struct bli_quantity quantity = {(int)bli_distribution_median((enum bli_distribution)d),
                                                  (int)d, asked->quantile[i]};
            char text[BLI_QUANTITY_TEXT];
            if (is_extra(asked, i))
                bli_row_varying(rows, bli_quantity_text(quantity, text),
                                "a percentile that was asked for|time|`--percentiles`",
                                has ? result->percentile[d][i] : unknown);
        }
}

/* The percentiles of a distribution whose intervals are too short, with spaces between. */
static void put_rare(struct bli_rows *rows, const char *name, const struct bli_case *c,
                     const struct bli_result *result, bool known) {
    static const double usual[] = {0.5, 0.9, 0.99, 0.999};
    static const char *const names[] = {"p50", "p90", "p99", "p999"};
    char text[40] = "";
    for (int i = 0; i < 4 && known; i++)
        if (bli_result_spells(c, result, usual[i]) < BLI_SPELLS_MIN)
            strcat(strcat(text, *text ? " " : ""), names[i]);
    bli_row_text(
        rows, name,
        "percentiles of too few spells of long queues; `waiting.rare`, `high.response.rare`, ... alike",
        text);
}

static const struct bli_prediction_class unknown_class = {NAN, NAN, NAN, {NAN, NAN, NAN, NAN}, NAN, NAN};

/* "theory.response_p50", or of a class "theory.high.response_p50". */
static void put_theory(struct bli_rows *rows, const char *class, const char *name, const char *about,
                       double value) {
    char whole[80];
    snprintf(whole, sizeof whole, "theory.%s%s", class, name);
    bli_row_number(rows, whole, about, value);
}

static void put_theory_quantiles(struct bli_rows *rows, const char *class, const double *quantile) {
    static const char about[] = "its percentiles: `p90`, `p99`, `p999` alike|time";
    for (int i = 0; i < (rows->names ? 1 : 4); i++)
        put_theory(rows, class, quantile_names[i], about, quantile[i]);
}

static void put_theory_class(struct bli_rows *rows, const char *class,
                             const struct bli_prediction_class *known) {
    put_theory(rows, class, "response_mean", "of the class|time|two classes", known->response_mean);
    put_theory(rows, class, "response_bound", "what that is at most|time|two classes", known->response_bound);
    put_theory(rows, class, "waiting_mean", "of the class|time|two classes", known->waiting_mean);
    put_theory(rows, class, "waiting_probability", "jobs of the class that wait|share|two classes",
               known->waiting_probability);
    put_theory_quantiles(rows, class, known->response_quantile);
}

/* As JSON has it: nothing where nothing is known. */
static void put_theories(struct bli_rows *rows, const struct bli_theory_row *theory_row, bool classes) {
    const struct bli_prediction *known = &theory_row->known;
    const bool any = known->kind != BLI_THEORY_UNKNOWN, expanded = theory_row->expanded;
    put_theory(rows, "", "response_mean", "mean response time by theory|time",
               any ? known->response_mean : NAN);
    put_theory(rows, "", "waiting_mean", "mean waiting time by theory|time", any ? known->waiting_mean : NAN);
    put_theory_quantiles(rows, "", any ? known->response_quantile : unknown_class.response_quantile);
    put_theory_class(rows, "high.", any && classes ? &known->high : &unknown_class);
    put_theory_class(rows, "low.", any && classes ? &known->low : &unknown_class);
    put_theory(rows, "", "gave_up", "jobs that give up|share|`--patience`", any ? known->gave_up : NAN);
    bli_row_text(rows, "theory.kind", "`exact`, `approximate` or `limit` of many servers",
                 any ? bli_theory_kind_name(known->kind) : "");
    bli_row_text(rows, "theory.source", "whose theory it is", any ? known->source : "");
    bli_row_list(rows, "theory.tail", "the same as `queue.tail`, by theory|share", known->tail,
                 any ? count_levels(known->tail, known->levels) : 0);
    put_theory(rows, "", "expansion", "mean response time by theory for so many servers|time",
               expanded ? theory_row->expansion.response_mean : NAN);
    put_theory(rows, "", "expansion.error", "how far that may be off|time",
               expanded ? theory_row->expansion.error : NAN);
    put_theory(rows, "", "fit_error", "what phases in place of the law may cost|time",
               any && known->fit_error > 0 ? known->fit_error : NAN);
}

void bli_comparison_put(struct bli_rows *rows, const struct bli_case *c, const struct bli_result *result,
                        const struct bli_theory_row *theory_row) {
    static const char *const rare[] = {"response.rare",     "waiting.rare",      "high.response.rare",
                                       "high.waiting.rare", "low.response.rare", "low.waiting.rare"};
    const bool means = bli_comparison_has_means(result);
    char doubts[BLI_DOUBT_WORDS];
    bli_doubt_words(result->doubts, doubts);
    bli_row_policy(rows, &c->policy);
    bli_row_verdict(rows, result->verdict);
    if (!bli_row_several(rows, "METRIC", bli_row_metrics_about))
        for (int m = 0; m < BLI_METRIC_COUNT; m++)
            bli_row_metric(rows, (enum bli_metric)m, has_metric(result, m) ? result->metric[m] : unknown);
    bli_row_list(rows, "queue.tail", bli_row_tail_about, result->tail,
                 means ? count_levels(result->tail, BLI_TAIL_LEVELS) : 0);
    put_theories(rows, theory_row, c->model.classes);
    bli_row_engine(rows, result->engine);
    bli_row_count(rows, "replications", "how many there were", result->replications);
    bli_row_bool(rows, "precise", "was the wanted precision reached?", result->precise, bli_no_yes);
    bli_row_work(rows, result->jobs, result->events);
    bli_row_number(rows, "time", "length of a replication|time", result->time);
    bli_row_number(rows, "warmup", "part of it in front of what is measured|share", result->warmup);
    bli_row_text(rows, "doubts", bli_row_doubts_about, doubts);
    for (int i = 0; i < (rows->names ? 1 : 6); i++)
        put_rare(rows, rare[i], c, result, i < 2 || c->model.classes);
    bli_row_bool(rows, "outlasted_curve", "did a run go on after its load curve?", result->outlasted,
                 bli_no_yes);
    put_asked(rows, c, result);
}

static void print_csv(const struct comparison *comparison, const size_t *order, struct bli_rows *rows) {
    for (size_t i = 0; i < comparison->count; i++)
        do {
            bli_row_begin(rows);
            bli_comparison_put(rows, &comparison->cases[order[i]], &comparison->results[order[i]],
                               &comparison->theory_row[order[i]]);
        } while (bli_row_end(rows, comparison->draft));
}

void bli_comparison_print(const struct comparison *comparison, struct bli_rows *rows) {
    size_t *order = malloc((comparison->count + 1) * sizeof *order);
    if (!order) {
        bli_stream_mark_incomplete(rows->own.out);
        return;
    }
    bli_comparison_order(comparison->results, comparison->count, order);
    if (rows->text)
        bli_comparison_text(comparison, order, rows->style, rows->text);
    else if (rows->json)
        print_json(comparison, order, rows);
    else
        print_csv(comparison, order, rows);
    free(order);
}

/* The percentile of which it has been asked is one that is no metric. */
void bli_comparison_sample(struct bli_comparison_sample *sample) {
    static const struct bli_percentiles asked = {1, {0.95}};
    sample->draft = bli_rows_sample();
    sample->draft.c.run.percentiles = &asked;
    sample->theory_row = bli_theory_row_of(&sample->draft.c);
    sample->result = (struct bli_result){.replications = 0};
}

void bli_comparison_describe(struct bli_rows *rows) {
    struct bli_comparison_sample sample;
    bli_comparison_sample(&sample);
    const struct comparison comparison = {.cases = &sample.draft.c,
                                          .results = &sample.result,
                                          .theory_row = &sample.theory_row,
                                          .count = 1,
                                          .draft = &sample.draft};
    bli_comparison_print(&comparison, rows);
}
