/* SPDX-License-Identifier: BSD-2-Clause */
/* gnuplot could place legend, labels and margins by itself, but it guesses the width of text and differs from
 * format to format; panels would not line up and legends would cover data. Here all of it is decided once for
 * all formats. */
#include "figure/layout.h"

#include "format/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double one_column = 252, two_columns = 516; /* of a paper */
static const double edge = 5;                            /* free at the edges of the figure */
static const double line_height = 11;
static const double wider = 1.15;   /* digits of DejaVu Sans, which often replaces Helvetica, are wider */
static const double tick_gap = 6.5; /* between an axis and the text of its ticks */
static const double strip_row = 7;  /* height of a row of marks of unstable points */
static const double largest_strip = 0.25; /* of the height of a panel; rows are lower where they are many */
static const double panel_gap = 10;       /* between panels */
static const double bar_share = 0.8;      /* of a place on the x axis that is filled by bars */

bool bli_layout_unstable(const struct bli_series *series, size_t i) {
    return series->verdict && series->verdict[i] == BLI_UNSTABLE && !series->theory;
}

bool bli_layout_drawable(const struct bli_panel *panel, const struct bli_series *series, size_t i) {
    const double x = series->x[i], y = series->y[i], least = 1 / BLI_SCALE_LARGEST;
    return !bli_layout_unstable(series, i) && fabs(x) <= BLI_SCALE_LARGEST && fabs(y) <= BLI_SCALE_LARGEST &&
           (!panel->x.log || x >= least) && (!panel->y.log || y >= least);
}

bool bli_layout_lost_to_log(const struct bli_panel *panel, const struct bli_series *series, size_t i) {
    const double x = series->x[i], y = series->y[i];
    if (series->theory || bli_layout_unstable(series, i) || !isfinite(x) || !isfinite(y))
        return false;
    /* A curve that has reached 0 has ended, and a bar of height 0 is written out. */
    const bool low = series->style == BLI_STYLE_POINTS ? y <= 0 : series->style == BLI_STYLE_BARS && y < 0;
    return (panel->x.log && x <= 0) || (panel->y.log && low);
}

double bli_layout_interval_low(const struct bli_panel *panel, const struct bli_series *series, size_t i) {
    const double low = series->y[i] - series->half_width[i];
    return panel->y.nonnegative && series->y[i] >= 0 ? fmax(low, 0) : low;
}

bool bli_layout_doubted(const struct bli_panel *panel, const struct bli_series *series, size_t i) {
    return series->doubted && series->doubted[i] && !series->theory && bli_layout_drawable(panel, series, i);
}

/* ---- groups in a panel ---- */

static bool has_unstable(const struct bli_series *series) {
    for (size_t i = 0; i < series->count; i++)
        if (bli_layout_unstable(series, i))
            return true;
    return false;
}

static bool has_undecided(const struct bli_series *series) {
    for (size_t i = 0; i < series->count; i++)
        if (series->verdict && !series->theory && series->verdict[i] == BLI_UNDECIDED &&
            series->style == BLI_STYLE_POINTS)
            return true;
    return false;
}

static bool is_bar(const struct bli_series *series) {
    return series->style == BLI_STYLE_BARS;
}

/* How many different groups below `below` have a series that passes. */
static unsigned count_groups(const struct bli_panel *panel, unsigned below,
                             bool (*passes)(const struct bli_series *)) {
    bool seen[BLI_FIGURE_GROUPS_MAX + 1] = {false};
    unsigned count = 0;
    for (size_t i = 0; i < panel->count; i++) {
        const struct bli_series *series = &panel->series[i];
        if (series->group >= below || seen[series->group] || !passes(series))
            continue;
        seen[series->group] = true;
        count++;
    }
    return count;
}

unsigned bli_layout_bar_rank(const struct bli_panel *panel, unsigned group) {
    return count_groups(panel, group, is_bar);
}

unsigned bli_layout_strip_rank(const struct bli_panel *panel, unsigned group) {
    return count_groups(panel, group, has_unstable);
}

unsigned bli_layout_strip_rows(const struct bli_panel *panel) {
    return count_groups(panel, BLI_FIGURE_GROUPS_MAX + 1, has_unstable);
}

double bli_layout_bar_width(const struct panel_layout *panel) {
    return bar_share / panel->bars;
}

double bli_layout_bar(const struct panel_layout *panel, unsigned k, double x) {
    return x + (k - (panel->bars - 1) / 2.0) * bli_layout_bar_width(panel);
}

/* ---- axes ---- */

/* The largest value that was measured; NaN: nothing was. */
static double largest_measured(const struct bli_panel *panel) {
    double largest = NAN;
    for (size_t s = 0; s < panel->count; s++) {
        const struct bli_series *series = &panel->series[s];
        for (size_t i = 0; i < series->count && !series->theory; i++)
            if (bli_layout_drawable(panel, series, i))
                largest = fmax(largest, series->y[i]);
    }
    return largest;
}

/* A computed line that runs to its pole would flatten what was measured: on a linear axis it leaves the panel
 * at twice the largest measured value. */
static bool is_towards_pole(const struct bli_panel *panel, const struct bli_series *series, size_t i,
                            double largest) {
    return series->theory && series->style != BLI_STYLE_BARS && !panel->x.names && !panel->y.log &&
           largest > 0 && series->y[i] > 2 * largest;
}

static void span_of(const struct bli_panel *panel, struct span *x, struct span *y) {
    *x = *y = bli_span_empty;
    const double largest = largest_measured(panel);
    for (size_t s = 0; s < panel->count; s++) {
        const struct bli_series *series = &panel->series[s];
        for (size_t i = 0; i < series->count; i++) {
            if (bli_layout_unstable(series, i) || bli_layout_lost_to_log(panel, series, i))
                bli_span_add(x, series->x[i]);
            if (!bli_layout_drawable(panel, series, i))
                continue;
            bli_span_add(x, series->x[i]);
            if (!is_towards_pole(panel, series, i, largest))
                bli_span_add(y, series->y[i]);
            if (!series->half_width)
                continue;
            bli_span_add(y, series->y[i] + series->half_width[i]);
            /* An interval that reaches 0 does not determine where a logarithmic axis begins. */
            if (!panel->y.log || series->y[i] - series->half_width[i] > 0.2 * series->y[i])
                bli_span_add(y, bli_layout_interval_low(panel, series, i));
        }
    }
}

static void scale_names(struct panel_layout *out, const struct bli_panel *panel) {
    out->x = (struct scale){.low = -0.6, .high = (double)panel->x.name_count - 0.4};
    if (out->x.high <= out->x.low)
        out->x.high = 1;
}

static void place_scales(struct panel_layout *out, const struct bli_panel *panel, double width, double height,
                         unsigned rows) {
    struct span x, y;
    span_of(panel, &x, &y);
    out->bars = count_groups(panel, BLI_FIGURE_GROUPS_MAX + 1, is_bar);
    if (out->bars > 0) {
        /* Bars show their length: they begin at 0, or, where there is no 0, well below the shortest. */
        if (!panel->y.log)
            bli_span_add(&y, 0);
        else if (y.least <= y.high)
            bli_span_add(&y, y.least / fmax(2, pow(y.high / y.least, 0.15)));
    } else {
        out->bars = 1;
    }
    if (panel->x.names) {
        scale_names(out, panel);
    } else {
        const struct scale_wish wish = {panel->x.log, panel->x.low, panel->x.high, false,
                                        width,        true,         panel->x.hours};
        bli_scale_init(&out->x, &wish, &x);
    }
    const struct scale_wish wish = {panel->y.log, panel->y.low, panel->y.high, true,
                                    height,       false,        panel->y.hours};
    bli_scale_init(&out->y, &wish, &y);
    out->strip = 1;
    if (rows > 0) {
        const double share = fmin((rows * strip_row + 2) / height, largest_strip);
        bli_scale_extend(&out->y, share / (1 - share));
        out->strip = 1 - share;
        out->strip_row = share * height / fmax(bli_layout_strip_rows(panel), 1);
    }
}

static double widest_tick(const struct scale *scale) {
    double width = 0;
    for (size_t i = 0; i < scale->count; i++)
        if (!scale->tick[i].minor)
            width = fmax(width, SMALL_LETTERS * bli_tick_width(&scale->tick[i]));
    return width;
}

/* ---- texts ---- */

/* At most so wide, with an ellipsis where something had to go. */
static void truncate_text(char *text, double width) {
    if (bli_text_width(text, strlen(text)) <= width)
        return;
    const size_t keep = bli_text_break(text, width - bli_text_width("...", 3));
    if (strlen(text) >= keep + 3)
        strcpy(text + keep, "...");
}

static char *axis_text(const struct bli_axis *axis) {
    char *label = bli_text_formula(axis->label), *unit = bli_text_clean(axis->unit), *text = NULL;
    if (label && unit && asprintf(&text, *unit ? "%s (%s)" : "%s", label, unit) < 0)
        text = NULL;
    free(label);
    free(unit);
    return text;
}

static bool has_axis_text(const struct bli_axis *axis) {
    return (axis->label && *axis->label) || (axis->unit && *axis->unit);
}

static bool same_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_axis(const struct bli_axis *a, const struct bli_axis *b) {
    return same_text(a->label, b->label) && same_text(a->unit, b->unit);
}

/* ---- panels ---- */

struct grid {
    size_t columns, rows;
    double frame_width, frame_height;
    double margin[BLI_PANELS_MAX]; /* left of the frames of a column */
    double left[BLI_PANELS_MAX];   /* where they begin */
};

static size_t choose_columns(const struct bli_figure *figure) {
    if (figure->columns > 0)
        return figure->columns < figure->panels ? figure->columns : figure->panels;
    return figure->panels <= 3 ? figure->panels : figure->panels == 4 ? 2 : 3;
}

/* A label that the next panel in the same column (row) has as well is shown once, below (left of) them all.
 */
static bool shows_x_label(const struct bli_figure *figure, const struct grid *grid, size_t i) {
    const size_t below = i + grid->columns;
    return has_axis_text(&figure->panel[i].x) &&
           (below >= figure->panels || !same_axis(&figure->panel[i].x, &figure->panel[below].x));
}

static bool shows_y_label(const struct bli_figure *figure, const struct grid *grid, size_t i) {
    return has_axis_text(&figure->panel[i].y) &&
           (i % grid->columns == 0 || !same_axis(&figure->panel[i].y, &figure->panel[i - 1].y));
}

static double name_width(const char *name) {
    return SMALL_LETTERS * bli_text_width(name, strlen(name));
}

static bool make_names(struct panel_layout *out, const struct bli_axis *axis) {
    if (!axis->names || axis->name_count == 0)
        return true;
    out->name = calloc(axis->name_count, sizeof *out->name);
    if (!out->name)
        return false;
    for (; out->names < axis->name_count; out->names++) {
        out->name[out->names] = bli_text_formula(axis->names[out->names]);
        if (!out->name[out->names])
            return false;
    }
    return true;
}

/* Names are horizontal if the widest fits between its neighbours; otherwise they are turned and end below
 * their place. Then each may be as long as the space to its left, but not so long that the figure becomes too
 * high. Returns the height. */
static double place_names_below(struct panel_layout *out, double left, double width) {
    static const double turn = 35, sine = 0.574, cosine = 0.819, longest = 100;
    double widest = 0;
    for (size_t i = 0; i < out->names; i++)
        widest = fmax(widest, name_width(out->name[i]));
    if (widest + 4 <= width / (out->x.high - out->x.low))
        return line_height - 1;
    out->turn = turn;
    widest = 0;
    for (size_t i = 0; i < out->names; i++) {
        const double place = left + width * bli_scale_share(&out->x, (double)i);
        truncate_text(out->name[i], fmin(longest, place / cosine - SMALL_LETTERS) / SMALL_LETTERS);
        widest = fmax(widest, name_width(out->name[i]));
    }
    return sine * widest + cosine * SMALL_LETTERS;
}

/* Length of the text in front of " (unit)". */
static size_t unit_begins(const char *text) {
    size_t at = strlen(text);
    while (at > 0 && text[at] != '(')
        at--;
    return at > 0 ? at - 1 : 0;
}

/* Breaks the text of an axis where its unit begins or else where it must. */
static bool make_label(char *line[LABEL_LINES], const struct bli_axis *axis, double points) {
    char *text = axis_text(axis);
    const double room = points / LETTERS;
    const char *at = text;
    for (size_t i = 0; at && *at && i < LABEL_LINES; i++) {
        size_t length = strlen(at);
        const size_t label = i == 0 && axis->unit && *axis->unit ? unit_begins(at) : 0;
        if (bli_text_width(at, length) > room && i + 1 < LABEL_LINES)
            length = label > 0 && bli_text_width(at, label) <= room ? label : bli_text_break(at, room);
        line[i] = strndup(at, length);
        at = line[i] ? at + length + (at[length] == ' ') : NULL;
    }
    free(text);
    if (at && line[LABEL_LINES - 1])
        truncate_text(line[LABEL_LINES - 1], room);
    return at != NULL;
}

static size_t count_lines(char *const line[LABEL_LINES]) {
    size_t lines = 0;
    while (lines < LABEL_LINES && line[lines])
        lines++;
    return lines;
}

/* The texts that panel i shows, made before anything is placed: margins depend on them. */
static bool make_texts(const struct bli_figure *figure, const struct grid *grid, struct layout *layout,
                       size_t i) {
    const struct bli_panel *panel = &figure->panel[i];
    struct panel_layout *out = &layout->panel[i];
    if (panel->title && *panel->title && !(out->title = bli_text_formula(panel->title)))
        return false;
    if (!make_names(out, &panel->x))
        return false;
    if (shows_x_label(figure, grid, i) && !make_label(out->x_label, &panel->x, grid->frame_width + 20))
        return false;
    return !shows_y_label(figure, grid, i) || make_label(out->y_label, &panel->y, grid->frame_height + 20);
}

static double label_width(const struct panel_layout *panel) {
    const size_t lines = count_lines(panel->y_label);
    return lines == 0 ? 0 : (double)lines * line_height + (lines > 1 ? 3 : 4);
}

/* What stands left of the frame: the label and the texts of the ticks. */
static double left_of(const struct panel_layout *panel) {
    return label_width(panel) + wider * widest_tick(&panel->y) + tick_gap;
}

static void place_texts(const struct grid *grid, struct panel_layout *out, size_t column,
                        double name_height) {
    if (out->title)
        truncate_text(out->title, (out->frame.width + 20) / LETTERS);
    out->title_at = out->frame.top - line_height * 0.65;
    const double below = out->frame.top + out->frame.height + tick_gap + name_height + line_height / 2;
    const double left = out->frame.left - grid->margin[column] + line_height / 2;
    for (int i = 0; i < LABEL_LINES; i++) {
        out->x_label_at[i] = below + i * line_height;
        out->y_label_at[i] = left + i * (line_height - 1);
    }
}

/* Columns are as wide as what stands left of their frames allows; all frames are of one size. */
static void place_columns(const struct bli_figure *figure, struct grid *grid, const struct layout *layout) {
    for (size_t i = 0; i < figure->panels; i++)
        grid->margin[i % grid->columns] = fmax(grid->margin[i % grid->columns], left_of(&layout->panel[i]));
    double used = 0;
    for (size_t c = 0; c < grid->columns; c++)
        used += grid->margin[c] + panel_gap;
    grid->frame_width = (layout->width - 2 * edge - used) / (double)grid->columns;
    double at = edge;
    for (size_t c = 0; c < grid->columns; c++) {
        grid->left[c] = at + grid->margin[c];
        at = grid->left[c] + grid->frame_width + panel_gap;
    }
}

static bool place_panels(const struct bli_figure *figure, struct layout *layout, double *top) {
    struct grid grid = {.columns = choose_columns(figure)};
    grid.rows = (figure->panels + grid.columns - 1) / grid.columns;
    /* First guesses, to know how many ticks there are and so how wide their texts. */
    const double guess = layout->width / (double)grid.columns - 45;
    grid.frame_width = guess;
    if (!(layout->frame_height > 0)) {
        const double tall = layout->width == one_column ? 140 : fmax(140, layout->width * 140 / one_column);
        layout->frame_height = grid.columns == 1 && grid.rows == 1 ? tall : fmin(140, fmax(75, guess * 0.75));
    }
    grid.frame_height = layout->frame_height;
    layout->rows = grid.rows;
    /* All panels have the strip of the one that needs most, so that equal axes have equal heights. */
    unsigned rows = 0;
    for (size_t i = 0; i < figure->panels; i++) {
        const unsigned own = bli_layout_strip_rows(&figure->panel[i]);
        rows = own > rows ? own : rows;
    }
    for (size_t i = 0; i < figure->panels; i++)
        place_scales(&layout->panel[i], &figure->panel[i], guess, grid.frame_height, rows);
    for (size_t i = 0; i < figure->panels; i++)
        if (!make_texts(figure, &grid, layout, i))
            return false;
    place_columns(figure, &grid, layout);

    for (size_t row = 0; row < grid.rows; row++) {
        bool titles = false;
        size_t labels = 0;
        double name_height = line_height - 2;
        const size_t first = row * grid.columns;
        const size_t end = first + grid.columns < figure->panels ? first + grid.columns : figure->panels;
        for (size_t i = first; i < end; i++) {
            titles |= layout->panel[i].title != NULL;
            const size_t lines = count_lines(layout->panel[i].x_label);
            labels = lines > labels ? lines : labels;
            if (layout->panel[i].names > 0)
                name_height =
                    fmax(name_height,
                         place_names_below(&layout->panel[i], grid.left[i % grid.columns], grid.frame_width));
        }
        *top += titles ? line_height + 3 : 4;
        for (size_t i = first; i < end; i++) {
            layout->panel[i].frame =
                (struct box){grid.left[i % grid.columns], *top, grid.frame_width, grid.frame_height};
            place_texts(&grid, &layout->panel[i], i % grid.columns, name_height);
        }
        *top += grid.frame_height + tick_gap + name_height + (double)labels * line_height + 3;
    }
    return true;
}

/* ---- title ---- */

static bool place_title(const struct bli_figure *figure, struct layout *layout, double *top) {
    char *clean = bli_text_formula(figure->title);
    if (!clean)
        return false;
    const double width = (layout->width - 2 * edge) / (LETTERS * 1.1); /* bold letters are wider */
    const char *at = clean;
    while (*at && layout->title_lines < TITLE_LINES_MAX) {
        const size_t length = bli_text_break(at, width);
        const size_t i = layout->title_lines;
        layout->title_line[i] = strndup(at, length);
        if (!layout->title_line[i]) {
            free(clean);
            return false;
        }
        layout->title_at[i] = *top + line_height / 2;
        layout->title_lines++;
        *top += line_height;
        at += length;
        while (*at == ' ')
            at++;
    }
    free(clean);
    return true;
}

/* ---- legend ---- */

static bool add_entry(struct layout *layout, enum entry_kind kind, unsigned group, bool line,
                      const char *text) {
    struct entry *entry = &layout->entry[layout->entries];
    *entry = (struct entry){.kind = kind,
                            .group = group,
                            .text = bli_text_formula(text),
                            .sample = kind == ENTRY_NOTE ? 0
                                      : line             ? 16
                                                         : 7};
    if (!entry->text)
        return false;
    truncate_text(entry->text, (layout->width - 2 * edge - entry->sample - SAMPLE_GAP) / LETTERS);
    layout->entries++;
    return true;
}

static double entry_width(const struct entry *entry) {
    return entry->sample + SAMPLE_GAP + LETTERS * bli_text_width(entry->text, strlen(entry->text));
}

/* Puts entries [first, end) into as many equally spaced columns as fit, in the middle of the figure. */
static void place_entries(struct layout *layout, size_t first, size_t end, double *top) {
    const double gap = 10, room = layout->width - 2 * edge;
    double column[ENTRIES_MAX], total = 0;
    size_t columns = end - first < 6 ? end - first : 6;
    for (; columns > 0; columns--) {
        memset(column, 0, sizeof column);
        for (size_t i = first; i < end; i++)
            column[(i - first) % columns] =
                fmax(column[(i - first) % columns], entry_width(&layout->entry[i]));
        total = gap * (double)(columns - 1);
        for (size_t c = 0; c < columns; c++)
            total += column[c];
        /* The last row should not be a lonely one where a narrower arrangement is as high. */
        const size_t rows = (end - first + columns - 1) / columns;
        if ((total <= room || columns == 1) &&
            (columns == 1 || (end - first + columns - 2) / (columns - 1) > rows))
            break;
    }
    double at = (layout->width - total) / 2;
    for (size_t c = 0; c < columns; c++) {
        for (size_t i = first + c; i < end; i += columns) {
            layout->entry[i].left = at;
            const size_t row = (i - first) / columns;
            layout->entry[i].middle = *top + line_height * ((double)row + 0.5);
        }
        at += column[c] + gap;
    }
    const size_t rows = columns > 0 ? (end - first + columns - 1) / columns : 0;
    *top += line_height * (double)rows;
}

static size_t count_points(const struct bli_figure *figure,
                           bool (*passes)(const struct bli_panel *, const struct bli_series *, size_t)) {
    size_t count = 0;
    for (size_t p = 0; p < figure->panels; p++)
        for (size_t s = 0; s < figure->panel[p].count; s++)
            for (size_t i = 0; i < figure->panel[p].series[s].count; i++)
                count += passes(&figure->panel[p], &figure->panel[p].series[s], i);
    return count;
}

static void scan_series(const struct bli_figure *figure, struct layout *layout, bool *unstable,
                        bool *undecided) {
    for (size_t p = 0; p < figure->panels; p++)
        for (size_t s = 0; s < figure->panel[p].count; s++) {
            const struct bli_series *series = &figure->panel[p].series[s];
            struct group_use *use = &layout->use[series->group];
            use->used = true;
            use->theory |= series->theory && !series->bound;
            layout->any_bound |= series->bound;
            if (!series->theory) {
                use->points |= series->style == BLI_STYLE_POINTS;
                use->line |= series->style == BLI_STYLE_LINE || series->style == BLI_STYLE_STEPS;
                use->bars |= series->style == BLI_STYLE_BARS;
            }
            if (!use->name)
                use->name = series->name;
            *unstable |= has_unstable(series);
            *undecided |= has_undecided(series);
        }
}

static bool same_ends(const struct scale *a, const struct scale *b) {
    const double slack = 1e-9 * (a->high - a->low);
    return fabs(a->low - b->low) <= slack && fabs(a->high - b->high) <= slack && a->log == b->log;
}

/* Are there panels that show the same, by their label, on axes that end elsewhere? Heights, or widths, cannot
 * be compared between them. */
static bool axes_differ(const struct bli_figure *figure, const struct layout *layout, bool vertical) {
    for (size_t i = 0; i < figure->panels; i++)
        for (size_t k = 0; k < i; k++) {
            const struct bli_panel *one = &figure->panel[i], *other = &figure->panel[k];
            const struct panel_layout *a = &layout->panel[i], *b = &layout->panel[k];
            if (vertical ? same_axis(&one->y, &other->y) && !same_ends(&a->y, &b->y)
                         : same_axis(&one->x, &other->x) && !same_ends(&a->x, &b->x))
                return true;
        }
    return false;
}

static bool add_notes(const struct bli_figure *figure, struct layout *layout) {
    bool good = true;
    if (axes_differ(figure, layout, true))
        good &= add_entry(layout, ENTRY_NOTE, 0, false, "panels differ in their y axes");
    if (axes_differ(figure, layout, false))
        good &= add_entry(layout, ENTRY_NOTE, 0, false, "panels differ in their x axes");
    const size_t lost = count_points(figure, bli_layout_lost_to_log);
    if (lost > 0) {
        char text[80];
        snprintf(text, sizeof text, "not shown: %zu point%s at or below 0 (log axis)", lost,
                 lost > 1 ? "s" : "");
        good &= add_entry(layout, ENTRY_NOTE, 0, false, text);
    }
    return good;
}

static bool place_legend(const struct bli_figure *figure, struct layout *layout, double *top) {
    bool unstable = false, undecided = false, measured = false, line = false, good = true;
    scan_series(figure, layout, &unstable, &undecided);
    for (unsigned g = 0; g <= BLI_FIGURE_GROUPS_MAX; g++) {
        const struct group_use *use = &layout->use[g];
        if (g != BLI_GROUP_INK && use->used && use->name && *use->name)
            good &= add_entry(layout, ENTRY_GROUP, g, !use->bars && (use->line || use->theory), use->name);
        layout->any_theory |= use->theory;
        measured |= use->points || use->line || use->bars;
        line |= use->line;
    }
    const size_t groups = layout->entries;
    if (measured && (layout->any_theory || figure->measured))
        good &=
            add_entry(layout, ENTRY_MEASURED, 0, line, figure->measured ? figure->measured : "simulation");
    if (measured && layout->any_theory)
        good &= add_entry(layout, ENTRY_THEORY, 0, true, figure->theory ? figure->theory : "theory");
    if (layout->any_bound)
        good &= add_entry(layout, ENTRY_BOUND, 0, true, "bound");
    if (undecided)
        good &= add_entry(layout, ENTRY_UNDECIDED, 0, false, "undecided");
    if (count_points(figure, bli_layout_doubted) > 0)
        good &= add_entry(layout, ENTRY_DOUBTED, 0, false, "doubted");
    if (unstable)
        good &= add_entry(layout, ENTRY_UNSTABLE, 0, false, "unstable");
    good &= add_notes(figure, layout);
    if (!good)
        return false;
    *top += layout->entries > 0 ? 3 : 0;
    place_entries(layout, 0, groups, top);
    place_entries(layout, groups, layout->entries, top);
    return true;
}

/* With panels of this height; 0: as usual. */
static struct layout *new_layout(const struct bli_figure *figure, double frame_height) {
    struct layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        return NULL;
    double top = edge;
    const struct bli_figure_size *size = &figure->size;
    layout->scale = size->letters > 0 ? size->letters / LETTERS : 1;
    layout->width = size->width > 0 ? size->width : choose_columns(figure) == 1 ? one_column : two_columns;
    layout->width /= layout->scale;
    layout->frame_height = frame_height;
    if (!place_title(figure, layout, &top) || !place_panels(figure, layout, &top) ||
        !place_legend(figure, layout, &top)) {
        bli_layout_free(layout);
        return NULL;
    }
    layout->height = ceil(top + edge);
    return layout;
}

struct layout *bli_layout_new(const struct bli_figure *figure) {
    static const double lowest = 30; /* of a panel */
    struct layout *layout = new_layout(figure, 0);
    if (!layout || !(figure->size.height > 0))
        return layout;
    const double height = figure->size.height / layout->scale, rows = (double)layout->rows;
    double frame = layout->frame_height + (height - layout->height) / rows;
    /* Higher panels may have shorter texts, so that what remains changes a little; it is rounded up. */
    for (int i = 0; i < 3; i++) {
        bli_layout_free(layout);
        layout = new_layout(figure, fmax(frame, lowest));
        if (!layout)
            return NULL;
        if (frame < lowest || layout->height <= height)
            break;
        frame -= (layout->height - height) / rows;
    }
    layout->least_height = layout->scale * layout->height;
    layout->height = fmax(height, layout->height);
    return layout;
}

void bli_layout_free(struct layout *layout) {
    if (!layout)
        return;
    for (size_t i = 0; i < TITLE_LINES_MAX; i++)
        free(layout->title_line[i]);
    for (size_t i = 0; i < BLI_PANELS_MAX; i++) {
        free(layout->panel[i].title);
        for (size_t k = 0; k < LABEL_LINES; k++) {
            free(layout->panel[i].x_label[k]);
            free(layout->panel[i].y_label[k]);
        }
        for (size_t k = 0; k < layout->panel[i].names; k++)
            free(layout->panel[i].name[k]);
        free(layout->panel[i].name);
    }
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        free(layout->entry[i].text);
    free(layout);
}
