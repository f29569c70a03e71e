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

/* What theory says of all jobs or of those of one class: a metric by its place after RESPONSE_MEAN. */
static double known_time(int place, double response, double waiting, double probability, const double *quantile) {
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

static double known_of_class(const struct bal_known_class *class, int place) {
    return known_time(place, class->response_mean, class->waiting_mean, class->waiting_probability,
                      class->response_quantile);
}

enum { TIMES = BAL_WAITING_PROBABILITY - BAL_RESPONSE_MEAN }; /* metrics after the first of a class */

double bal_quantity_of_known(struct bal_quantity quantity, const struct bal_model *model,
                             const struct bal_known *known) {
    const int metric = quantity.metric;
    const double rate = bal_model_arrival_rate(model);
    if (known->kind == BAL_KNOWN_NOTHING)
        return NAN;
    if (metric == BAL_METRIC_COUNT) /* beyond the levels that were worth keeping there is nothing */
        return (unsigned)quantity.level < known->levels ? known->tail[quantity.level] : known->levels > 0 ? 0 : NAN;
    if (metric == BAL_QUEUE_TOTAL) /* Little's law */
        return known->response_mean * rate;
    if (metric == BAL_QUEUE_MEAN)
        return known->response_mean * rate / bal_servers_count(&model->servers);
    if (metric >= BAL_HIGH_RESPONSE_MEAN && metric <= BAL_HIGH_RESPONSE_MEAN + TIMES)
        return known_of_class(&known->high, metric - BAL_HIGH_RESPONSE_MEAN);
    if (metric >= BAL_LOW_RESPONSE_MEAN && metric <= BAL_LOW_RESPONSE_MEAN + TIMES)
        return known_of_class(&known->low, metric - BAL_LOW_RESPONSE_MEAN);
    return known_time(metric, known->response_mean, known->waiting_mean, known->waiting_probability,
                      known->response_quantile);
}

double bal_quantity_bound(struct bal_quantity quantity, const struct bal_known *known) {
    if (known->kind == BAL_KNOWN_NOTHING)
        return NAN;
    return quantity.metric == BAL_HIGH_RESPONSE_MEAN  ? known->high.response_bound
           : quantity.metric == BAL_LOW_RESPONSE_MEAN ? known->low.response_bound
                                                      : NAN;
}
