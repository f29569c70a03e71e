/* What can be asked of a cell, by name. */
#include "ballast/experiment.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char tail_name[] = "queue.tail.";

bool bal_quantity_find(const char *name, struct bal_quantity *quantity) {
    const int metric = (int)bal_metric_find(name);
    if (metric < BAL_METRIC_COUNT) {
        *quantity = (struct bal_quantity){metric, 0};
        return true;
    }
    const size_t prefix = sizeof tail_name - 1;
    if (strncmp(name, tail_name, prefix) != 0 || strspn(name + prefix, "0123456789") != strlen(name + prefix))
        return false;
    double level;
    if (!bal_number_parse(name + prefix, strlen(name + prefix), &level) || level >= BAL_TAIL_LEVELS)
        return false;
    *quantity = (struct bal_quantity){BAL_METRIC_COUNT, (int)level};
    return true;
}

const char *bal_quantity_text(struct bal_quantity quantity, char text[32]) {
    if (quantity.metric < BAL_METRIC_COUNT)
        return bal_metric_table[quantity.metric].name;
    snprintf(text, 32, "%s%d", tail_name, quantity.level);
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
    return quantity.metric < BAL_METRIC_COUNT ? trial->metric[quantity.metric] : trial->tail[quantity.level];
}

/* The metrics of one class, counted from that of its mean response time: the eleven of BAL_TIME_METRICS. */
static double of_class(int metric, const struct bal_known_class *class) {
    switch (metric) {
    case BAL_RESPONSE_MEAN:
        return class->response_mean;
    case BAL_WAITING_MEAN:
        return class->waiting_mean;
    case BAL_WAITING_PROBABILITY:
        return class->waiting_probability;
    case BAL_RESPONSE_P50:
    case BAL_RESPONSE_P90:
    case BAL_RESPONSE_P99:
    case BAL_RESPONSE_P999:
        return class->response_quantile[metric - BAL_RESPONSE_P50];
    default:
        return NAN;
    }
}

double bal_quantity_of_known(struct bal_quantity quantity, const struct bal_model *model,
                             const struct bal_known *known) {
    if (known->kind == BAL_KNOWN_NOTHING)
        return NAN;
    if (quantity.metric >= BAL_HIGH_RESPONSE_MEAN && quantity.metric <= BAL_HIGH_WAITING_PROBABILITY)
        return of_class(quantity.metric - BAL_HIGH_RESPONSE_MEAN, &known->high);
    if (quantity.metric >= BAL_LOW_RESPONSE_MEAN && quantity.metric <= BAL_LOW_WAITING_PROBABILITY)
        return of_class(quantity.metric - BAL_LOW_RESPONSE_MEAN, &known->low);
    const double rate = bal_model_arrival_rate(model);
    switch (quantity.metric) {
    case BAL_METRIC_COUNT:
        return (unsigned)quantity.level < known->levels ? known->tail[quantity.level]
               : known->levels > 0                      ? 0 /* what is beyond the levels that were worth keeping */
                                                        : NAN;
    case BAL_RESPONSE_MEAN:
        return known->response_mean;
    case BAL_WAITING_MEAN:
        return known->waiting_mean;
    case BAL_WAITING_PROBABILITY:
        return known->waiting_probability;
    case BAL_RESPONSE_P50:
    case BAL_RESPONSE_P90:
    case BAL_RESPONSE_P99:
    case BAL_RESPONSE_P999:
        return known->response_quantile[quantity.metric - BAL_RESPONSE_P50];
    case BAL_QUEUE_TOTAL: /* Little's law */
        return known->response_mean * rate;
    case BAL_QUEUE_MEAN:
        return known->response_mean * rate / bal_servers_count(&model->servers);
    default:
        return NAN;
    }
}
