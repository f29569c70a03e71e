/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be asked of a cell, by name. */
#include "ballast/experiment.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char tail_name[] = "queue.tail.";

/* "response.p95": of which distribution, and what follows the point; -1: of none. */
static int percentile_of(const char *name, const char **percentile) {
    *percentile = name;
    if (bal_percentile_looks(name))
        return BAL_OF_RESPONSE;
    for (int d = 0; d < BAL_DISTRIBUTIONS; d++) {
        const char *median = bal_metric_table[bal_distribution_median((enum bal_distribution)d)].name;
        const size_t prefix = strlen(median) - strlen("p50");
        *percentile = name + prefix;
        if (strncmp(name, median, prefix) == 0 && bal_percentile_looks(*percentile))
            return d;
    }
    return -1;
}

static enum bal_code find_percentile(const char *name, struct bal_quantity *quantity, struct bal_error *err) {
    const char *text;
    const int distribution = percentile_of(name, &text);
    double quantile;
    if (distribution < 0)
        return BAL_E_UNKNOWN;
    const enum bal_code code = bal_percentile_parse(text, strlen(text), &quantile, err);
    if (code)
        return code;
    const int metric = (int)bal_distribution_metric((enum bal_distribution)distribution, quantile);
    *quantity = metric < BAL_METRIC_COUNT
                    ? (struct bal_quantity){.metric = metric}
                    : (struct bal_quantity){(int)bal_distribution_median((enum bal_distribution)distribution),
                                            distribution, quantile};
    return BAL_OK;
}

enum bal_code bal_quantity_find(const char *name, struct bal_quantity *quantity, struct bal_error *err) {
    const int metric = (int)bal_metric_find(name);
    if (metric < BAL_METRIC_COUNT) {
        *quantity = (struct bal_quantity){.metric = metric};
        return BAL_OK;
    }
    const size_t prefix = sizeof tail_name - 1;
    if (strncmp(name, tail_name, prefix) != 0 || strspn(name + prefix, "0123456789") != strlen(name + prefix))
        return find_percentile(name, quantity, err);
    double level;
    if (!bal_number_parse(name + prefix, strlen(name + prefix), &level) || level >= BAL_TAIL_LEVELS)
        return BAL_E_UNKNOWN;
    *quantity = (struct bal_quantity){.metric = BAL_METRIC_COUNT, .level = (int)level};
    return BAL_OK;
}

const char *bal_quantity_text(struct bal_quantity quantity, char text[BAL_QUANTITY_TEXT]) {
    if (quantity.quantile > 0) {
        const char *median = bal_metric_table[quantity.metric].name;
        char name[BAL_PERCENTILE_TEXT];
        snprintf(text, BAL_QUANTITY_TEXT, "%.*s%s", (int)(strlen(median) - strlen("p50")), median,
                 bal_percentile_name(quantity.quantile, name));
        return text;
    }
    if (quantity.metric < BAL_METRIC_COUNT)
        return bal_metric_table[quantity.metric].name;
    snprintf(text, BAL_QUANTITY_TEXT, "%s%d", tail_name, quantity.level);
    return text;
}

/* Times and numbers of jobs grow with the queues; fractions and messages do not. */
bool bal_quantity_diverges(struct bal_quantity quantity) {
    if (quantity.metric == BAL_METRIC_COUNT)
        return false;
    const char *unit = bal_metric_table[quantity.metric].unit;
    return strcmp(unit, "time") == 0 || strcmp(unit, "jobs") == 0;
}

double bal_quantity_of_trial(struct bal_quantity quantity, const struct bal_trial *trial) {
    return quantity.quantile > 0                ? NAN /* histograms know */
           : quantity.metric < BAL_METRIC_COUNT ? trial->metric[quantity.metric]
                                                : trial->tail[quantity.level];
}

/* Theory for all jobs or for those of one class: a metric by its place after RESPONSE_MEAN. */
static double known_time(int place, double response, double waiting, double probability,
                         const double *quantile) {
    switch (place) {
    case BAL_RESPONSE_MEAN:
        return response;
    case BAL_RESPONSE_P50:
    case BAL_RESPONSE_P90:
    case BAL_RESPONSE_P99:
    case BAL_RESPONSE_P999:
        return quantile[place - BAL_RESPONSE_P50];
    case BAL_WAITING_MEAN:
        return waiting;
    case BAL_WAITING_PROBABILITY:
        return probability;
    default:
        return NAN;
    }
}

static double known_of_class(const struct bal_prediction_class *class, int place) {
    return known_time(place, class->response_mean, class->waiting_mean, class->waiting_probability,
                      class->response_quantile);
}

enum { TIMES = BAL_WAITING_PROBABILITY - BAL_RESPONSE_MEAN }; /* metrics after the first of a class */

double bal_quantity_of_known(struct bal_quantity quantity, const struct bal_model *model,
                             const struct bal_prediction *known) {
    const int metric = quantity.metric;
    const double rate = bal_model_arrival_rate(model);
    if (known->kind == BAL_THEORY_UNKNOWN || quantity.quantile > 0)
        return NAN;
    if (metric == BAL_METRIC_COUNT) /* beyond the levels that were worth keeping there is nothing */
        return (unsigned)quantity.level < known->levels ? known->tail[quantity.level]
               : known->levels > 0                      ? 0
                                                        : NAN;
    if (metric == BAL_QUEUE_TOTAL) /* Little's law */
        return known->response_mean * rate;
    if (metric == BAL_QUEUE_MEAN)
        return known->response_mean * rate / bal_servers_count(&model->servers);
    if (metric >= BAL_HIGH_RESPONSE_MEAN && metric <= BAL_HIGH_RESPONSE_MEAN + TIMES)
        return known_of_class(&known->high, metric - BAL_HIGH_RESPONSE_MEAN);
    if (metric >= BAL_LOW_RESPONSE_MEAN && metric <= BAL_LOW_RESPONSE_MEAN + TIMES)
        return known_of_class(&known->low, metric - BAL_LOW_RESPONSE_MEAN);
    if (metric >= BAL_HIGH_TAIL_1 && metric <= BAL_HIGH_TAIL_3)
        return known->high_tail[metric - BAL_HIGH_TAIL_1 + 1];
    if (metric >= BAL_CLASS_1_RESPONSE_MEAN && metric <= BAL_CLASS_8_RESPONSE_P99)
        return (metric - BAL_CLASS_1_RESPONSE_MEAN) % 2 == 0
                   ? known->class_response[(metric - BAL_CLASS_1_RESPONSE_MEAN) / 2]
                   : NAN;
    return known_time(metric, known->response_mean, known->waiting_mean, known->waiting_probability,
                      known->response_quantile);
}

double bal_quantity_bound(struct bal_quantity quantity, const struct bal_prediction *known) {
    if (known->kind == BAL_THEORY_UNKNOWN || quantity.quantile > 0)
        return NAN;
    return quantity.metric == BAL_WAITING_MEAN         ? known->waiting_bound
           : quantity.metric == BAL_HIGH_RESPONSE_MEAN ? known->high.response_bound
           : quantity.metric == BAL_LOW_RESPONSE_MEAN  ? known->low.response_bound
                                                       : NAN;
}

double bal_quantity_cut(struct bal_quantity quantity, const struct bal_prediction *known) {
    return quantity.quantile > 0                       ? NAN
           : quantity.metric == BAL_HIGH_RESPONSE_MEAN ? known->high.response_cut
           : quantity.metric == BAL_LOW_RESPONSE_MEAN  ? known->low.response_cut
                                                       : NAN;
}

/* Power from the fractions of servers in each state. */
static double known_power(int metric, const struct bal_model *model, const struct bal_theory_averages *span) {
    const struct bal_watts watts = bal_watts_of(&model->watts);
    const double mean = span->busy * watts.busy + span->standby * watts.idle + span->setup * watts.setup +
                        span->off * watts.off;
    switch (metric) {
    case BAL_SERVERS_BUSY:
        return span->busy;
    case BAL_SERVERS_STANDBY:
        return span->standby;
    case BAL_SERVERS_SETUP:
        return span->setup;
    case BAL_SERVERS_OFF:
        return span->off;
    case BAL_POWER_MEAN:
        return mean;
    case BAL_POWER_WASTE:
        return mean / (span->busy * watts.busy + (1 - span->busy) * watts.off) - 1;
    default:
        return NAN;
    }
}

static double known_over(struct bal_quantity quantity, const struct bal_model *model,
                         const struct bal_theory_averages *span) {
    switch (quantity.metric) {
    case BAL_METRIC_COUNT:
        return span->tail[quantity.level];
    case BAL_QUEUE_MEAN:
        return span->jobs;
    case BAL_QUEUE_TOTAL:
        return span->jobs * bal_servers_count(&model->servers);
    case BAL_WAITING_MEAN:
        return span->waiting_mean;
    default:
        return known_power(quantity.metric, model, span);
    }
}

double bal_quantity_of_case(struct bal_quantity quantity, const struct bal_case *c, const char **source) {
    const char *unused;
    const char **name = source ? source : &unused;
    struct bal_theory_averages span;
    if (c->run.warmup >= 0 &&
        bal_theory_average(&c->model, &c->policy, c->run.warmup * c->run.time, c->run.time, &span)) {
        *name = "fluid limit";
        return quantity.quantile > 0 ? NAN : known_over(quantity, &c->model, &span);
    }
    const struct bal_prediction known = bal_theory_predict(&c->model, &c->policy);
    *name = known.source;
    if (quantity.quantile > 0)
        return quantity.level > BAL_OF_WAITING
                   ? NAN
                   : bal_theory_quantile(&c->model, &c->policy,
                                         quantity.level == BAL_OF_RESPONSE ? BAL_THEORY_RESPONSE
                                                                           : BAL_THEORY_WAITING,
                                         quantity.quantile);
    if (c->policy.policy->power && known.kind == BAL_THEORY_LIMIT && c->model.load < 1) {
        /* in the limit a server is busy or off */
        const struct bal_theory_averages limit = {.busy = c->model.load, .off = 1 - c->model.load};
        const double power = known_power(quantity.metric, &c->model, &limit);
        if (!isnan(power))
            return power;
    }
    return bal_quantity_of_known(quantity, &c->model, &known);
}
