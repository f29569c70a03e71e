/* SPDX-License-Identifier: BSD-2-Clause */
/* The number of servers on over time, as bench/live_power step writes it, drawn: a panel for each file.
 *
 * usage: bench-power_figure FIGURE.svg TITLE=FILE.csv...
 *
 * Lines of a file are `series,time,on`, in seconds and servers; the series are live, lab and fluid. */
#include "ballast/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE, LAB, FLUID, SERIES, POINTS = 2000, PANELS = 4 };

static const char *const names[SERIES] = {"live", "lab", "fluid"};
static const char *const legend[SERIES] = {"real apps", "simulated fleets of that size", "fluid limit"};

struct curves {
    size_t count[SERIES];
    double x[SERIES][POINTS], y[SERIES][POINTS];
    struct bli_series series[SERIES];
};

static struct curves curves[PANELS];

static int find_series(const char *name) {
    for (int i = 0; i < SERIES; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return SERIES;
}

static bool read_line(struct curves *c, char *line) {
    char *save = NULL;
    const char *const name = strtok_r(line, ",", &save), *const time = strtok_r(NULL, ",", &save),
                      *const on = strtok_r(NULL, ",\n", &save);
    const int i = name ? find_series(name) : SERIES;
    if (i == SERIES || !time || !on || c->count[i] == POINTS)
        return false;
    char *end;
    c->x[i][c->count[i]] = strtod(time, &end);
    const bool good = *end == '\0';
    c->y[i][c->count[i]++] = strtod(on, &end);
    return good && *end == '\0';
}

static bool read_curves(struct curves *c, const char *path) {
    char line[200];
    FILE *in = fopen(path, "r");
    bool good = in && fgets(line, sizeof line, in);
    while (good && fgets(line, sizeof line, in))
        good = read_line(c, line);
    if (in)
        fclose(in);
    if (!good)
        fprintf(stderr, "bench-power_figure: %s: not a file of live_power step\n", path);
    return good;
}

/* What was measured is a path, what was simulated points, and the limit a line of the theory. */
static void describe_series(struct curves *c) {
    for (unsigned i = 0; i < SERIES; i++)
        c->series[i] = (struct bli_series){.name = legend[i],
                                           .group = i,
                                           .style = i == LAB ? BLI_STYLE_POINTS : BLI_STYLE_LINE,
                                           .count = c->count[i],
                                           .x = c->x[i],
                                           .y = c->y[i]};
}

int main(int argc, char **argv) {
    struct bli_panel panel[PANELS] = {0};
    if (argc < 3 || argc > 2 + PANELS) {
        fputs("usage: bench-power_figure FIGURE.svg TITLE=FILE.csv...\n", stderr);
        return 2;
    }
    for (int i = 0; i + 2 < argc; i++) {
        char *path = strchr(argv[i + 2], '=');
        if (!path || !read_curves(&curves[i], path + 1))
            return 2;
        *path = '\0';
        describe_series(&curves[i]);
        panel[i] = (struct bli_panel){.title = argv[i + 2],
                                      .x = {.label = "time", .unit = "s"},
                                      .y = {.label = "servers on", .low = 0, .high = NAN},
                                      .series = curves[i].series,
                                      .count = SERIES};
    }
    const struct bli_figure figure = {.panel = panel, .panels = (size_t)argc - 2};
    struct bal_error err = {0};
    if (bli_figure_write(&figure, argv[1], &err)) {
        fprintf(stderr, "bench-power_figure: %s\n", err.text);
        return 1;
    }
    return 0;
}
