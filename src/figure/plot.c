/* SPDX-License-Identifier: BSD-2-Clause */
/* The script places everything by absolute position (see layout.c) and uses gnuplot for what it does best:
 * clipping, shapes, dashes, error bars and the formats themselves. Text is `noenhanced`, so that braces and
 * underscores are letters. */
#include "figure/plot.h"

#include "figure/plot_private.h"

static void write_ticks(const struct pen *pen, char axis, const struct scale *scale) {
    fprintf(pen->out, "set %ctics scale 0.5,0.25 nomirror out enhanced offset 0,%s tc rgb '" INK "'", axis,
            axis == 'x' ? pen->device->lift : "0");
    bli_pen_font(pen, SMALL_LETTERS, false);
    fputs(" (", pen->out);
    for (size_t i = 0; i < scale->count; i++) {
        const struct tick *tick = &scale->tick[i];
        if (i > 0)
            fputs(", ", pen->out);
        bli_pen_quoted(pen, tick->text);
        putc(' ', pen->out);
        bli_pen_number(pen, tick->at);
        fputs(tick->minor ? " 1" : "", pen->out);
    }
    fputs(")\n", pen->out);
}

/* The text of a tick is a format, in which a percent sign must be doubled. */
static void put_tick_name(const struct pen *pen, const char *name) {
    putc('\'', pen->out);
    for (; *name; name++)
        if (*name == '%')
            fputs("%%", pen->out);
        else if (*name == '\'')
            fputs(BLI_PEN_APOSTROPHE, pen->out);
        else
            putc(*name, pen->out);
    putc('\'', pen->out);
}

static void write_names(const struct pen *pen, const struct panel_layout *place) {
    fprintf(pen->out, "set xtics scale 0 nomirror out noenhanced offset 0,%s tc rgb '" INK "'",
            place->turn > 0 ? "0" : pen->device->lift);
    bli_pen_font(pen, SMALL_LETTERS, false);
    if (place->turn > 0)
        fprintf(pen->out, " rotate by %d right", (int)place->turn);
    else
        fputs(" norotate", pen->out);
    fputs(" (", pen->out);
    for (size_t i = 0; i < place->names; i++) {
        fputs(i > 0 ? ", " : "", pen->out);
        put_tick_name(pen, place->name[i]);
        fprintf(pen->out, " %zu", i);
    }
    fputs(")\n", pen->out);
}

static void write_range(const struct pen *pen, char axis, const struct scale *scale) {
    fprintf(pen->out, "%s logscale %c\nset %crange [", scale->log ? "set" : "unset", axis, axis);
    bli_pen_number(pen, scale->low);
    putc(':', pen->out);
    bli_pen_number(pen, scale->high);
    fputs("]\n", pen->out);
}

static void write_frame(const struct pen *pen, const struct bli_panel *panel,
                        const struct panel_layout *place) {
    static const char *const side[] = {"l", "r", "t", "b"};
    const double width = pen->layout->width, height = pen->layout->height;
    const struct box *frame = &place->frame;
    const double at[] = {frame->left / width, (frame->left + frame->width) / width, 1 - frame->top / height,
                         1 - (frame->top + frame->height) / height};
    for (int i = 0; i < 4; i++) {
        fprintf(pen->out, "set %smargin at screen ", side[i]);
        bli_pen_length(pen, at[i]);
        putc('\n', pen->out);
    }
    write_range(pen, 'x', &place->x);
    write_range(pen, 'y', &place->y);
    if (panel->x.names)
        write_names(pen, place);
    else
        write_ticks(pen, 'x', &place->x);
    write_ticks(pen, 'y', &place->y);
    fprintf(pen->out, "set grid %sytics back lt 1", panel->x.names ? "noxtics " : "xtics ");
    bli_pen_colour(pen, "#d0808080");
    bli_pen_line_width(pen, 0.4);
    putc('\n', pen->out);
}

/* Zero has no place on a logarithmic axis; over a place without a bar it is written out. */
static void write_zeros(const struct pen *pen, const struct bli_panel *panel,
                        const struct panel_layout *place) {
    for (size_t s = 0; s < panel->count && panel->y.log; s++) {
        const struct bli_series *series = &panel->series[s];
        if (series->style != BLI_STYLE_BARS || series->theory)
            continue;
        for (size_t i = 0; i < series->count; i++) {
            if (series->y[i] != 0 || bli_layout_unstable(series, i))
                continue;
            const double x = bli_layout_bar(place, bli_layout_bar_rank(panel, series->group), series->x[i]);
            const double left = place->frame.left + bli_scale_share(&place->x, x) * place->frame.width;
            bli_pen_label(pen, "0", left, place->frame.top + place->frame.height - 5, "center", false);
        }
    }
}

static void write_panel_texts(const struct pen *pen, const struct panel_layout *place) {
    const struct box *frame = &place->frame;
    const double middle = frame->left + frame->width / 2;
    if (place->title)
        bli_pen_label(pen, place->title, middle, place->title_at, "center", false);
    for (int i = 0; i < LABEL_LINES && place->x_label[i]; i++)
        bli_pen_label(pen, place->x_label[i], middle, place->x_label_at[i], "center", false);
    for (int i = 0; i < LABEL_LINES && place->y_label[i]; i++)
        bli_pen_label(pen, place->y_label[i], place->y_label_at[i], frame->top + frame->height / 2,
                      "center rotate by 90", false);
    if (place->strip >= 1)
        return;
    fputs("set object rectangle from ", pen->out);
    bli_pen_place(pen, frame->left, frame->top + (1 - place->strip) * frame->height);
    fputs(" to ", pen->out);
    bli_pen_place(pen, frame->left + frame->width, frame->top);
    fputs(" behind fc rgb '#d0808080' fs solid 1 noborder\n", pen->out);
}

static void write_panel(const struct pen *pen, const struct bli_figure *figure, size_t p) {
    const struct bli_panel *panel = &figure->panel[p];
    const struct panel_layout *place = &pen->layout->panel[p];
    write_frame(pen, panel, place);
    write_panel_texts(pen, place);
    write_zeros(pen, panel, place);
    bli_plot_data(pen, panel, place, p);
    fputs("\nunset label\nunset arrow\nunset object\n", pen->out);
}

static void write_head(const struct pen *pen) {
    const struct device *device = pen->device;
    fputs("set encoding utf8\n", pen->out);
    fprintf(pen->out, "set terminal %s enhanced size ", device->name);
    bli_pen_length(pen, pen->layout->width * device->unit);
    fputs(device->inches ? "in," : ",", pen->out);
    bli_pen_length(pen, pen->layout->height * device->unit);
    fprintf(pen->out, "%s %s", device->inches ? "in" : "", device->options);
    bli_pen_font(pen, LETTERS, false);
    fputs("\nset multiplot\nunset key\nset style fill solid 1 noborder\n", pen->out);
    fputs("set border 3 lt 1", pen->out);
    bli_pen_colour(pen, INK);
    bli_pen_line_width(pen, 0.6);
    putc('\n', pen->out);
}

void bli_plot_write(const struct bli_figure *figure, const struct layout *layout,
                    enum bli_figure_format format, FILE *out) {
    struct device device = bli_pen_devices[format];
    device.unit *= layout->scale;
    device.letters *= layout->scale;
    device.line *= layout->scale;
    device.shape *= layout->scale;
    const struct pen pen = {out, layout, &device};
    write_head(&pen);
    for (size_t i = 0; i < layout->title_lines; i++)
        bli_pen_label(&pen, layout->title_line[i], layout->width / 2, layout->title_at[i], "center", true);
    bli_plot_legend(&pen);
    for (size_t p = 0; p < figure->panels; p++)
        write_panel(&pen, figure, p);
    fputs("unset multiplot\n", out);
}
