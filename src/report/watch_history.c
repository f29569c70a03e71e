/* SPDX-License-Identifier: BSD-2-Clause */
/* The last two minutes of a dispatcher or station, a row of letters for each measure. */
#include "report/watch.h"

#include "format/time_text.h"

#include <math.h>
#include <string.h>

enum {
    SPAN = 120,  /* seconds */
    AROUND = 32, /* columns of a row that are no cells */
    CELLS_MIN = 12
};

enum measure { RATE, P99, HELD, ON, MEASURES };

static const struct watch_series *find_series(const struct watch_history *history,
                                              const struct watch_fleet *fleet) {
    for (size_t i = 0; history && i < history->count; i++) {
        const struct watch_series *s = &history->series[i];
        if (strcmp(s->name, fleet->name) == 0 && s->backup == fleet->backup && s->station == !fleet->policy)
            return s;
    }
    return NULL;
}

static double value_of(const struct watch_point *point, enum measure measure) {
    const double value[MEASURES] = {point->arrived / point->seconds, point->p99, point->held, point->on};
    return value[measure];
}

/* Of the points that lie in it at least by half: the mean rate, the fewest servers, the most of the others.
 * NaN: nothing is known. */
static double cell_value(const struct watch_series *s, enum measure measure, double from, double to) {
    double sum = 0, seconds = 0, most = NAN, least = NAN;
    for (size_t i = s->points; i > 0 && s->point[i - 1].time > from; i--) {
        const struct watch_point *point = &s->point[i - 1];
        const double inside = fmin(point->time, to) - fmax(point->time - point->seconds, from);
        const double half = 0.499 * fmin(point->seconds, to - from); /* two that are halves of it are in it */
        const double value = value_of(point, measure);
        if (!(point->seconds > 0 && inside > half) || isnan(value))
            continue;
        sum += value * inside;
        seconds += inside;
        most = fmax(most, value);
        least = fmin(least, value);
    }
    return measure == RATE ? sum / seconds : measure == ON ? least : most;
}

/* The most cells that there is room for, of whole seconds; 0: too few. */
static unsigned count_cells(unsigned columns) {
    for (unsigned seconds = 1; SPAN / seconds >= CELLS_MIN; seconds++)
        if (SPAN % seconds == 0 && SPAN / seconds + AROUND <= columns)
            return SPAN / seconds;
    return 0;
}

static void print_cell(double value, double most, bool blocks, FILE *out) {
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, *const plain[] = {
                                                                                    "_", ".", ":", "-",
                                                                                    "=", "+", "*", "#"};
    const unsigned height = value > 0 ? (unsigned)fmax(1, fmin(7, ceil(7 * value / most))) : 0;
    fputs(isnan(value) ? " " : (blocks ? bars : plain)[height], out);
}

/* Its greatest value is that of the highest letter; the lowest one is 0. */
static void print_most(double most, enum measure measure, FILE *out) {
    char length[BLI_TIME_TEXT];
    bli_time_length(most, length);
    if (most == 0)
        fputs("  0\n", out);
    else if (measure == P99)
        fprintf(out, "  0 to %s\n", length);
    else
        fprintf(out, measure == RATE && most < 100 ? "  0 to %.3g\n" : "  0 to %.0f\n", most);
}

static void print_measure(const struct watch_series *s, enum measure measure, const char *name,
                          unsigned cells, bool blocks, FILE *out) {
    const double end = s->point[s->points - 1].time;
    const unsigned seconds = SPAN / cells;
    double value[SPAN], most = NAN;
    for (unsigned i = 0; i < cells; i++) {
        value[i] = cell_value(s, measure, end - (cells - i) * seconds, end - (cells - i - 1) * seconds);
        most = fmax(most, value[i]);
    }
    if (isnan(most))
        return;
    fprintf(out, "  %-10s  ", name);
    for (unsigned i = 0; i < cells; i++)
        print_cell(value[i], most, blocks, out);
    print_most(most, measure, out);
}

void bli_watch_print_history(const struct watch_history *history, const struct watch_fleet *fleet,
                             const struct watch_view *view, FILE *out) {
    const struct watch_series *s = find_series(history, fleet);
    const unsigned cells = count_cells(view->columns);
    const char *const names[MEASURES] = {"requests/s", "p99", fleet->policy ? "held" : "in line", "on"};
    if (!s || s->points == 0 || cells == 0)
        return;
    for (enum measure measure = 0; measure < MEASURES; measure++)
        print_measure(s, measure, names[measure], cells, view->blocks, out);
    fprintf(out, "  %-10s  2 min ago%*s\n", "", (int)cells - 9, "now");
}
