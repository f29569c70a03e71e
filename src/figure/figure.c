/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures: check, script, picture, file. */
#include "ballast/figure.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "figure/data.h"
#include "figure/gnuplot.h"
#include "figure/plot.h"
#include "figure/svg.h"
#include "format/file.h"
#include "format/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const suffixes[BLI_FIGURE_FORMATS] = {"svg", "png", "pdf", "eps", "csv"};

const char *bli_figure_format_text(enum bli_figure_format format) {
    return suffixes[format];
}

enum bli_figure_format bli_figure_format_of(const char *path) {
    const char *dot = strrchr(path, '.');
    int format = 0;
    while (format < BLI_FIGURE_FORMATS && !(dot && strcmp(dot + 1, suffixes[format]) == 0))
        format++;
    return (enum bli_figure_format)format;
}

static enum bal_code check_axis(const struct bli_axis *axis, const char *name, struct bal_error *err) {
    if (axis->low == 0 && axis->high == 0)
        return BAL_OK;
    if (axis->low >= axis->high)
        return bal_fail(err, BAL_E_RANGE,
                        "the %s axis ends at %g, before it begins at %g; its end must be above", name,
                        axis->high, axis->low);
    if (fabs(axis->low) > BLI_SCALE_LARGEST || fabs(axis->high) > BLI_SCALE_LARGEST)
        return bal_fail(err, BAL_E_RANGE, "the %s axis reaches beyond %g", name, BLI_SCALE_LARGEST);
    if (axis->log && (axis->low <= 0 || axis->high <= 0))
        return bal_fail(err, BAL_E_RANGE,
                        "the %s axis is logarithmic and cannot reach %g; its ends must be above 0", name,
                        axis->low <= 0 ? axis->low : axis->high);
    return BAL_OK;
}

static enum bal_code check_panel(const struct bli_panel *panel, struct bal_error *err) {
    enum bal_code code = check_axis(&panel->x, "x", err);
    if (!code)
        code = check_axis(&panel->y, "y", err);
    for (size_t i = 0; i < panel->count && !code; i++)
        if (panel->series[i].group > BLI_GROUP_INK)
            code = bal_fail(err, BAL_E_RANGE, "more than %d groups of curves in one figure; draw fewer",
                            BLI_FIGURE_GROUPS_MAX);
    return code;
}

static bool is_size(double value, double low, double high) {
    return value == 0 || (value >= low && value <= high);
}

enum bal_code bli_figure_check(const struct bli_figure *figure, struct bal_error *err) {
    if (figure->panels == 0 || figure->panels > BLI_PANELS_MAX)
        return bal_fail(err, BAL_E_RANGE, "%zu panels in one figure; there must be 1 to %d", figure->panels,
                        BLI_PANELS_MAX);
    const struct bli_figure_size *size = &figure->size;
    if (!is_size(size->width, 72, 7200) || !is_size(size->height, 36, 7200) || !is_size(size->letters, 4, 72))
        return bal_fail(
            err, BAL_E_RANGE,
            "a figure of %g x %g points with letters of %g points; it must be 1 to 100 inches wide,"
            " 0.5 to 100 inches high, with letters of 4 to 72 points",
            size->width, size->height, size->letters);
    for (size_t i = 0; i < figure->panels; i++) {
        const enum bal_code code = check_panel(&figure->panel[i], err);
        if (code)
            return code;
    }
    return BAL_OK;
}

enum bal_code bli_figure_script(const struct bli_figure *figure, enum bli_figure_format format, char **script,
                                struct bal_error *err) {
    const enum bal_code code =
        format < BLI_FIGURE_CSV ? bli_figure_check(figure, err)
                                : bal_fail(err, BAL_E_UNKNOWN, "csv is written without a script of gnuplot");
    if (code)
        return code;
    struct bli_strbuf text = {0};
    struct layout *layout = bli_layout_new(figure);
    const double least = layout ? layout->least_height : 0;
    if (layout && bli_strbuf_open(&text))
        bli_plot_write(figure, layout, format, text.stream);
    bli_layout_free(layout);
    if (figure->size.height > 0 && least > figure->size.height) {
        bli_strbuf_discard(&text);
        return bal_fail(
            err, BAL_E_RANGE,
            "a figure %.4g points high has no room for its panels and legend; they need %.0f points",
            figure->size.height, ceil(least));
    }
    if (!bli_strbuf_close(&text) || bli_memory_is_lost()) {
        bli_strbuf_discard(&text);
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a figure");
    }
    *script = text.text;
    return BAL_OK;
}

/* Replaces *data by what a page can take. */
static enum bal_code finish_svg(const struct bli_figure *figure, char **data, size_t *size,
                                struct bal_error *err) {
    char *title = bli_text_formula(figure->title);
    char *finished = title ? bli_svg_finish(*data, title, size) : NULL;
    free(title);
    free(*data);
    *data = finished;
    return finished ? BAL_OK : bal_fail(err, BAL_E_MEMORY, "not enough memory for a figure");
}

static enum bal_code render_data(const struct bli_figure *figure, char **data, size_t *size,
                                 struct bal_error *err) {
    struct bli_strbuf text;
    if (bli_strbuf_open(&text))
        bli_figure_data_write(figure, text.stream);
    if (!bli_strbuf_close(&text))
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a figure");
    *data = text.text;
    *size = text.size;
    return BAL_OK;
}

enum bal_code bli_figure_render(const struct bli_figure *figure, enum bli_figure_format format, char **data,
                                size_t *size, struct bal_error *err) {
    if (format == BLI_FIGURE_CSV)
        return render_data(figure, data, size, err);
    char *script = NULL;
    enum bal_code code = bli_figure_script(figure, format, &script, err);
    if (code)
        return code;
    code = bli_gnuplot_run(script, strlen(script), data, size, err);
    free(script);
    if (!code && format == BLI_FIGURE_SVG)
        code = finish_svg(figure, data, size, err);
    return code;
}

enum bal_code bli_figure_write(const struct bli_figure *figure, const char *path, struct bal_error *err) {
    const enum bli_figure_format format = bli_figure_format_of(path);
    if (format == BLI_FIGURE_FORMATS)
        return bal_fail(err, BAL_E_UNKNOWN,
                        "figure '%s': its name must end in .svg, .png, .pdf, .eps or .csv", path);
    char *data = NULL;
    size_t size = 0;
    enum bal_code code = bli_figure_render(figure, format, &data, &size, err);
    if (code)
        return code;
    code = bli_file_write(path, data, size, err);
    free(data);
    return code;
}
