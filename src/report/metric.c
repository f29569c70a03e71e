/* SPDX-License-Identifier: BSD-2-Clause */
/* Names, units and rounding of metrics in tables and figures. */
#include "report/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 91st, 92nd, 93rd, 95th, 97.5th. */
static const char *ordinal_text(double number) {
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    const double last = fmod(number, 10);
    return number > 10 && number < 20 ? "th" : last == floor(last) && last < 4 ? endings[(int)last] : "th";
}

/* The table explains: "high class: mean response time: from arrival to completion". Its explanation stands
 * behind the last colon, the first comma or a semicolon. */
void bli_metric_label(struct bli_quantity quantity, const struct bli_model *model,
                      char text[BLI_METRIC_TEXT]) {
    if (quantity.metric == BLI_METRIC_COUNT) {
        snprintf(text, BLI_METRIC_TEXT, "fraction of servers with at least %d job%s", quantity.level,
                 quantity.level == 1 ? "" : "s");
        return;
    }
    const struct bli_metric_info *info = &bli_metric_table[quantity.metric];
    if (quantity.quantile > 0) { /* as the next one behind the median: "90th percentile of the response time"
                                  */
        const double percent = 100 * quantity.quantile;
        const char *meaning = strstr(info[1].meaning, "90th percentile");
        snprintf(text, BLI_METRIC_TEXT, "%.*s%.10g%s%s", (int)(meaning - info[1].meaning), info[1].meaning,
                 percent, ordinal_text(percent), meaning + strlen("90th"));
        char *over = strstr(text, ", ");
        if (over)
            *over = '\0';
        return;
    }
    snprintf(text, BLI_METRIC_TEXT, "%s", info->meaning);
    char *explanation = strstr(text, ": from ");
    if (!explanation)
        explanation = strstr(text, ", ");
    if (!explanation)
        explanation = strstr(text, "; ");
    if (explanation)
        *explanation = '\0';
    char *time = strstr(text, "unit of time");
    if (time && model->clock == BLI_CLOCK_SLOTTED)
        strcpy(time, "slot");
    /* What was cut off may have held the unit. */
    if (strcmp(info->unit, "per job") == 0 && !strstr(text, "per"))
        strncat(text, " per job", BLI_METRIC_TEXT - strlen(text) - 1);
}

const char *bli_metric_unit(struct bli_quantity quantity, const struct bli_model *model) {
    if (quantity.metric == BLI_METRIC_COUNT)
        return "";
    const char *unit = bli_metric_table[quantity.metric].unit;
    if (strcmp(unit, "time") == 0)
        return model->clock == BLI_CLOCK_SLOTTED ? "slots"
               : model->size.mean == 1           ? "service times"
                                                 : "units of time";
    return strncmp(unit, "per ", 4) == 0 ? "" : unit;
}

const char *bli_metric_about(enum bli_metric metric, char text[BLI_ABOUT_TEXT]) {
    snprintf(text, BLI_ABOUT_TEXT, "%s|%s", bli_metric_table[metric].meaning, bli_metric_table[metric].unit);
    return text;
}

/* A number with so many decimals, or as a power of ten when it is far from 1. */
static size_t print_number(double value, int decimals, char *text, size_t size) {
    const double magnitude = fabs(value);
    if (magnitude >= 1e7 || (magnitude > 0 && decimals > 7))
        return (size_t)snprintf(text, size, "%.3g", value);
    return (size_t)snprintf(text, size, "%.*f", decimals < 0 ? 0 : decimals, value);
}

static void print_estimate(struct bli_estimate estimate, int digits, char text[BLI_METRIC_TEXT]) {
    text[0] = '\0';
    if (isnan(estimate.mean))
        return;
    const bool known = isfinite(estimate.half_width) && estimate.half_width > 0;
    if (!known) {
        snprintf(text, BLI_METRIC_TEXT, "%.4g", estimate.mean);
        return;
    }
    const int decimals = digits - 1 - (int)floor(log10(estimate.half_width));
    const size_t length = print_number(estimate.mean, decimals, text, BLI_METRIC_TEXT);
    const size_t sign = (size_t)snprintf(text + length, BLI_METRIC_TEXT - length, " ± ");
    print_number(estimate.half_width, decimals, text + length + sign, BLI_METRIC_TEXT - length - sign);
}

void bli_metric_print(struct bli_estimate estimate, char text[BLI_METRIC_TEXT]) {
    print_estimate(estimate, 2, text);
}

void bli_percentile_cell(struct bli_estimate estimate, char text[BLI_METRIC_TEXT]) {
    if (estimate.half_width > 0) /* histograms give percentiles to a thousandth at best */
        estimate.half_width = fmax(estimate.half_width, 1e-3 * fabs(estimate.mean));
    const double first = estimate.half_width / pow(10, floor(log10(estimate.half_width))); /* NaN where there
                                                                                              is none */
    print_estimate(estimate, first < 2 ? 2 : 1, text);
}

double bli_shown(double value, int decimals) {
    return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}
