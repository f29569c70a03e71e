/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the data of a figure as csv. */
#include "figure/data.h"

#include "ballast/number.h"

#include "format/csv.h"

#include <math.h>

static const char *kind_of(const struct bli_figure *figure, const struct bli_series *series) {
    if (series->bound)
        return "bound";
    if (series->theory)
        return figure->theory ? figure->theory : "theory";
    return figure->measured ? figure->measured : "simulation";
}

static void write_text(const char *text, FILE *out) {
    bli_csv_text(text ? text : "", out);
    putc(',', out);
}

static void write_axis(const struct bli_axis *axis, FILE *out) {
    if (axis->label && axis->unit && *axis->unit) {
        char text[600];
        snprintf(text, sizeof text, "%s (%s)", axis->label, axis->unit);
        write_text(text, out);
        return;
    }
    write_text(axis->label && *axis->label ? axis->label : axis->unit, out);
}

static void write_place(const struct bli_axis *axis, double x, FILE *out) {
    if (axis->names && x >= 0 && x < (double)axis->name_count && x == floor(x)) {
        write_text(axis->names[(size_t)x], out);
        return;
    }
    char text[BLI_NUMBER_TEXT];
    bli_number_print(x, text);
    fprintf(out, "%s,", text);
}

static void write_point(const struct bli_figure *figure, const struct bli_panel *panel,
                        const struct bli_series *series, size_t i, FILE *out) {
    const bool measured = !series->theory;
    write_text(panel->title, out);
    write_text(series->name, out);
    write_text(kind_of(figure, series), out);
    write_axis(&panel->x, out);
    write_place(&panel->x, series->x[i], out);
    write_axis(&panel->y, out);
    char y[BLI_NUMBER_TEXT] = "";
    if (isfinite(series->y[i]))
        bli_number_print(series->y[i], y);
    fputs(y, out);
    bli_csv_number(series->half_width ? series->half_width[i] : NAN, out);
    fprintf(out, ",%s,%s\n", measured && series->verdict ? bli_verdict_text(series->verdict[i]) : "",
            measured && series->doubted ? series->doubted[i] ? "yes" : "no" : "");
}

void bli_figure_data_write(const struct bli_figure *figure, FILE *out) {
    fputs("panel,series,kind,x.label,x,y.label,y,y.ci,verdict,doubted\n", out);
    for (size_t p = 0; p < figure->panels; p++)
        for (size_t s = 0; s < figure->panel[p].count; s++) {
            const struct bli_series *series = &figure->panel[p].series[s];
            for (size_t i = 0; i < series->count; i++)
                if (isfinite(series->x[i]))
                    write_point(figure, &figure->panel[p], series, i, out);
        }
}
