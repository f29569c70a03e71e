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
    if (bli_percentile_looks(name))
        return BLI_OF_RESPONSE;
    for (int d = 0; d < BLI_DISTRIBUTIONS; d++) {
        const char *median = bli_metric_table[bli_distribution_median((enum bli_distribution)d)].name;
        const size_t prefix = strlen(median) - strlen("p50");
        *percentile = name + prefix;
        if (strncmp(name, median, prefix) == 0 && bli_percentile_looks(*percentile))
            return d;
    }
    return -1;
}

static enum bal_code find_percentile(const char *name, struct bli_quantity *quantity, struct bal_error *err) {
    const char *text;
    const int distribution = percentile_of(name, &text);
    double quantile;
    if (distribution < 0)
        return BAL_E_UNKNOWN;
    const enum bal_code code = bli_percentile_parse(text, strlen(text), &quantile, err);
    if (code)
        return code;
    const int metric = (int)bli_distribution_metric((enum bli_distribution)distribution, quantile);
    *quantity = metric < BLI_METRIC_COUNT
                    ? (struct bli_quantity){.metric = metric}
                    : (struct bli_quantity){(int)bli_distribution_median((enum bli_distribution)distribution),
                                            distribution, quantile};
    return BAL_OK;
}

enum bal_code bli_quantity_find(const char *name, struct bli_quantity *quantity, struct bal_error *err) {
    const int metric = (int)bli_metric_find(name);
    if (metric < BLI_METRIC_COUNT) {
        *quantity = (struct bli_quantity){.metric = metric};
        return BAL_OK;
    }
    const size_t prefix = sizeof tail_name - 1;
    if (strncmp(name, tail_name, prefix) != 0 || strspn(name + prefix, "0123456789") != strlen(name + prefix))
        return find_percentile(name, quantity, err);
    double level;
    if (!bli_number_parse(name + prefix, strlen(name + prefix), &level) || level >= BLI_TAIL_LEVELS)
        return BAL_E_UNKNOWN;
    *quantity = (struct bli_quantity){.metric = BLI_METRIC_COUNT, .level = (int)level};
    return BAL_OK;
}

const char *bli_quantity_text(struct bli_quantity quantity, char text[BLI_QUANTITY_TEXT]) {
    if (quantity.quantile > 0) {
        const char *median = bli_metric_table[quantity.metric].name;
        char name[BLI_PERCENTILE_TEXT];
        snprintf(text, BLI_QUANTITY_TEXT, "%.*s%s", (int)(strlen(median) - strlen("p50")), median,
                 bli_percentile_name(quantity.quantile, name));
        return text;
    }
    if (quantity.metric < BLI_METRIC_COUNT)
        return bli_metric_table[quantity.metric].name;
    snprintf(text, BLI_QUANTITY_TEXT, "%s%d", tail_name, quantity.level);
    return text;
}

/* Times and numbers of jobs grow with the queues; fractions and messages do not. */
bool bli_quantity_diverges(struct bli_quantity quantity) {
    if (quantity.metric == BLI_METRIC_COUNT)
        return false;
    const char *unit = bli_metric_table[quantity.metric].unit;
    return strcmp(unit, "time") == 0 || strcmp(unit, "jobs") == 0;
}

double bli_quantity_of_trial(struct bli_quantity quantity, const struct bli_trial *trial) {
    return quantity.quantile > 0                ? NAN /* histograms know */
           : quantity.metric < BLI_METRIC_COUNT ? trial->metric[quantity.metric]
                                                : trial->tail[quantity.level];
}

/* Theory for all jobs or for those of one class: a metric by its place after RESPONSE_MEAN. */
static double known_time(int place, double response, double waiting, double probability,
                         const double *quantile) {
    switch (place) {
    case BLI_RESPONSE_MEAN:
        return response;
    case BLI_RESPONSE_P50:
    case BLI_RESPONSE_P90:
    case BLI_RESPONSE_P99:
    case BLI_RESPONSE_P999:
        return quantile[place - BLI_RESPONSE_P50];
    case BLI_WAITING_MEAN:
        return waiting;
    case BLI_WAITING_PROBABILITY:
        return probability;
    default:
        return NAN;
    }
}

static double known_of_class(const struct bli_prediction_class *class, int place) {
    return known_time(place, class->response_mean, class->waiting_mean, class->waiting_probability,
                      class->response_quantile);
}

enum { TIMES = BLI_WAITING_PROBABILITY - BLI_RESPONSE_MEAN }; /* metrics after the first of a class */

double bli_quantity_of_known(struct bli_quantity quantity, const struct bli_model *model,
                             const struct bli_prediction *known) {
    const int metric = quantity.metric;
    const double rate = bli_model_arrival_rate(model);
    if (known->kind == BLI_THEORY_UNKNOWN || quantity.quantile > 0)
        return NAN;
    if (metric == BLI_METRIC_COUNT) /* beyond the levels that were worth keeping there is nothing */
        return (unsigned)quantity.level < known->levels ? known->tail[quantity.level]
               : known->levels > 0                      ? 0
                                                        : NAN;
    if (metric == BLI_QUEUE_TOTAL) /* Little's law */
        return known->response_mean * rate;
    if (metric == BLI_QUEUE_MEAN)
        return known->response_mean * rate / bli_servers_count(&model->servers);
    if (metric >= BLI_HIGH_RESPONSE_MEAN && metric <= BLI_HIGH_RESPONSE_MEAN + TIMES)
        return known_of_class(&known->high, metric - BLI_HIGH_RESPONSE_MEAN);
    if (metric >= BLI_LOW_RESPONSE_MEAN && metric <= BLI_LOW_RESPONSE_MEAN + TIMES)
        return known_of_class(&known->low, metric - BLI_LOW_RESPONSE_MEAN);
    if (metric >= BLI_HIGH_TAIL_1 && metric <= BLI_HIGH_TAIL_3)
        return known->high_tail[metric - BLI_HIGH_TAIL_1 + 1];
    if (metric >= BLI_CLASS_1_RESPONSE_MEAN && metric <= BLI_CLASS_8_RESPONSE_P99)
        return (metric - BLI_CLASS_1_RESPONSE_MEAN) % 2 == 0
                   ? known->class_response[(metric - BLI_CLASS_1_RESPONSE_MEAN) / 2]
                   : NAN;
    return known_time(metric, known->response_mean, known->waiting_mean, known->waiting_probability,
                      known->response_quantile);
}

double bli_quantity_bound(struct bli_quantity quantity, const struct bli_prediction *known) {
    if (known->kind == BLI_THEORY_UNKNOWN || quantity.quantile > 0)
        return NAN;
    return quantity.metric == BLI_WAITING_MEAN         ? known->waiting_bound
           : quantity.metric == BLI_HIGH_RESPONSE_MEAN ? known->high.response_bound
           : quantity.metric == BLI_LOW_RESPONSE_MEAN  ? known->low.response_bound
                                                       : NAN;
}

double bli_quantity_cut(struct bli_quantity quantity, const struct bli_prediction *known) {
    return quantity.quantile > 0                       ? NAN
           : quantity.metric == BLI_HIGH_RESPONSE_MEAN ? known->high.response_cut
           : quantity.metric == BLI_LOW_RESPONSE_MEAN  ? known->low.response_cut
                                                       : NAN;
}

/* Power from the fractions of servers in each state. */
static double known_power(int metric, const struct bli_model *model, const struct bli_theory_averages *span) {
    const struct bli_watts watts = bli_watts_of(&model->watts);
    const double mean = span->busy * watts.busy + span->standby * watts.idle + span->setup * watts.setup +
                        span->off * watts.off;
    switch (metric) {
    case BLI_SERVERS_BUSY:
        return span->busy;
    case BLI_SERVERS_STANDBY:
        return span->standby;
    case BLI_SERVERS_SETUP:
        return span->setup;
    case BLI_SERVERS_OFF:
        return span->off;
    case BLI_POWER_MEAN:
        return mean;
    case BLI_POWER_WASTE:
        return mean / (span->busy * watts.busy + (1 - span->busy) * watts.off) - 1;
    default:
        return NAN;
    }
}

static double known_over(struct bli_quantity quantity, const struct bli_model *model,
                         const struct bli_theory_averages *span) {
    switch (quantity.metric) {
    case BLI_METRIC_COUNT:
        return span->tail[quantity.level];
    case BLI_QUEUE_MEAN:
        return span->jobs;
    case BLI_QUEUE_TOTAL:
        return span->jobs * bli_servers_count(&model->servers);
    case BLI_WAITING_MEAN:
        return span->waiting_mean;
    default:
        return known_power(quantity.metric, model, span);
    }
}

double bli_quantity_of_case(struct bli_quantity quantity, const struct bli_case *c, const char **source) {
    const char *unused;
    const char **name = source ? source : &unused;
    struct bli_theory_averages span;
    if (c->run.warmup >= 0 &&
        bli_theory_average(&c->model, &c->policy, c->run.warmup * c->run.time, c->run.time, &span)) {
        *name = "fluid limit";
        return quantity.quantile > 0 ? NAN : known_over(quantity, &c->model, &span);
    }
    const struct bli_prediction known = bli_theory_predict(&c->model, &c->policy);
    *name = known.source;
    if (quantity.quantile > 0)
        return quantity.level > BLI_OF_WAITING
                   ? NAN
                   : bli_theory_quantile(&c->model, &c->policy,
                                         quantity.level == BLI_OF_RESPONSE ? BLI_THEORY_RESPONSE
                                                                           : BLI_THEORY_WAITING,
                                         quantity.quantile);
    if (c->policy.policy->power && known.kind == BLI_THEORY_LIMIT && c->model.load < 1) {
        /* in the limit a server is busy or off */
        const struct bli_theory_averages limit = {.busy = c->model.load, .off = 1 - c->model.load};
        const double power = known_power(quantity.metric, &c->model, &limit);
        if (!isnan(power))
            return power;
    }
    return bli_quantity_of_known(quantity, &c->model, &known);
}
