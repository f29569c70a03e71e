/* SPDX-License-Identifier: BSD-2-Clause */
/* A replay to look at: a figure over the time of the log, and a page with everything. */
#include "report/replay_report.h"

#include "ballast/figure.h"
#include "ballast/version.h"

#include "base/strbuf.h"
#include "figure/svg.h"
#include "format/html.h"
#include "format/time_text.h"

#include <math.h>
#include <stdlib.h>

/* More lines than this cannot be distinguished: policies from the best to the worst, and those that switch
 * servers off. */
enum { ALWAYS_ON = 5, SWITCHING = 2, LINES = ALWAYS_ON + SWITCHING };

enum panel { ARRIVALS, RESPONSE, POWER, PANELS };

/* What the figure points into. */
struct page_drawing {
    char title[200], axis[BLI_TIME_TEXT], note[160];
    double x[BLI_REPLAY_SPANS], rate[BLI_REPLAY_SPANS];
    size_t lines;
    size_t who[LINES]; /* indices of results */
    char name[LINES][BLI_REPLAY_LABEL];
    double p99[LINES][BLI_REPLAY_SPANS], watts[LINES][BLI_REPLAY_SPANS];
    struct bli_series series[PANELS][LINES + 1];
    struct bli_panel panel[PANELS];
    struct bli_figure figure;
};

/* ---- the axis of time ---- */

struct clock {
    double origin; /* seconds since 1970, a round moment */
    double unit;
    const char *unit_name;
};

static void set_clock(const struct bli_trace_info *info, struct clock *clock, char label[BLI_TIME_TEXT]) {
    const double first = (double)info->first * 1e-9;
    const struct {
        double span, round, unit;
        const char *name, *format;
    } choices[] = {
        {2 * 86400, 86400, 86400, "days", "time since %Y-%m-%d, UTC"},
        {2 * 3600, 86400, 3600, "h", "time of day on %Y-%m-%d, UTC"},
        {120, 3600, 60, "min", "time since %Y-%m-%d %H:%M, UTC"},
        {0, 60, 1, "s", "time since %Y-%m-%d %H:%M, UTC"},
    };
    unsigned i = 0;
    while (info->span < choices[i].span)
        i++;
    /* A log that begins shortly before midnight belongs to the next day. */
    const double begin = first + info->span / 50;
    *clock =
        (struct clock){floor(begin / choices[i].round) * choices[i].round, choices[i].unit, choices[i].name};
    bli_time_moment(clock->origin, choices[i].format, label);
}

/* ---- the lines ---- */

/* Is the policy of this rank, of so many, one of those that are shown? They are evenly spaced. */
static bool is_shown(size_t rank, size_t count, size_t most) {
    if (count <= most)
        return true;
    for (size_t i = 0; i < most; i++)
        if (rank == i * (count - 1) / (most - 1))
            return true;
    return false;
}

/* Do servers that are always on draw the same under all policies? Work takes as long on each of them, unless
 * they differ in speed or do several jobs at once: then it is less when jobs are kept together. */
static bool power_is_common(const struct bli_replay_report *report) {
    const struct bli_model *model = &report->replay->model;
    return model->servers.groups == 1 && model->slots <= 1;
}

static void choose_lines(const struct bli_replay_report *report, const size_t *order,
                         struct page_drawing *drawing) {
    size_t switching = 0, rank[2] = {0, 0};
    for (size_t i = 0; i < report->count; i++)
        switching += report->cases[i].policy.policy->power != NULL;
    const size_t count[2] = {report->count - switching, switching};
    for (size_t i = 0; i < report->count; i++) {
        const bool switches = report->cases[order[i]].policy.policy->power;
        if (is_shown(rank[switches]++, count[switches], switches ? SWITCHING : ALWAYS_ON))
            drawing->who[drawing->lines++] = order[i];
    }
    int used = 0;
    if (drawing->lines < report->count)
        used = snprintf(drawing->note, sizeof drawing->note,
                        "%zu of %zu policies, from the best to the worst. ", drawing->lines, report->count);
    if (power_is_common(report))
        snprintf(drawing->note + used, sizeof drawing->note - (size_t)used,
                 "The power of the best policy stands for all whose servers are always on.");
}

static struct bli_series line_series(const struct page_drawing *drawing, size_t i, const double *y) {
    return (struct bli_series){.name = drawing->name[i],
                               .group = (unsigned)i,
                               .style = BLI_STYLE_LINE,
                               .count = BLI_REPLAY_SPANS,
                               .x = drawing->x,
                               .y = y};
}

static double largest_value(const double *value) {
    double most = 0;
    for (size_t k = 0; k < BLI_REPLAY_SPANS; k++)
        most = value[k] > most ? value[k] : most;
    return most;
}

static double smallest_value(const double *value) {
    double least = INFINITY;
    for (size_t k = 0; k < BLI_REPLAY_SPANS; k++)
        least = value[k] < least ? value[k] : least;
    return least;
}

static void scale_values(const double *from, double factor, double *to) {
    for (size_t k = 0; k < BLI_REPLAY_SPANS; k++)
        to[k] = from[k] * factor;
}

static void draw_arrivals(const struct bli_replay_report *report, struct page_drawing *drawing) {
    scale_values(report->demand->span_rate, report->replay->speedup, drawing->rate);
    drawing->series[ARRIVALS][0] = (struct bli_series){.group = BLI_GROUP_INK,
                                                       .style = BLI_STYLE_LINE,
                                                       .count = BLI_REPLAY_SPANS,
                                                       .x = drawing->x,
                                                       .y = drawing->rate};
    drawing->panel[ARRIVALS].count = 1;
    drawing->panel[ARRIVALS].y =
        (struct bli_axis){.label = "arrivals", .unit = "per second", .low = 0, .high = NAN};
}

static void draw_response(const struct bli_replay_report *report, struct page_drawing *drawing) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < drawing->lines; i++) {
        least = fmin(least, smallest_value(report->history[drawing->who[i]].p99));
        most = fmax(most, largest_value(report->history[drawing->who[i]].p99));
    }
    const struct bli_replay_unit unit = bli_time_unit(least);
    for (size_t i = 0; i < drawing->lines; i++) {
        scale_values(report->history[drawing->who[i]].p99, 1 / unit.seconds, drawing->p99[i]);
        drawing->series[RESPONSE][i] = line_series(drawing, i, drawing->p99[i]);
    }
    drawing->panel[RESPONSE].count = drawing->lines;
    drawing->panel[RESPONSE].y =
        (struct bli_axis){.label = "p99 of response times", .unit = unit.name, .log = most > 20 * least};
    if (!drawing->panel[RESPONSE].y.log) /* from 0: small differences are none of importance, or none at all
                                          */
        drawing->panel[RESPONSE].y.high = NAN;
}

static void draw_power(const struct bli_replay_report *report, struct page_drawing *drawing) {
    double most = 0;
    bool on = false;
    size_t count = 0;
    for (size_t i = 0; i < drawing->lines; i++)
        most = fmax(most, largest_value(report->history[drawing->who[i]].watts));
    const double unit = most < 1e3 ? 1 : most < 1e6 ? 1e3 : 1e6;
    for (size_t i = 0; i < drawing->lines; i++) {
        const bool switches = report->cases[drawing->who[i]].policy.policy->power;
        if (!switches && on && power_is_common(report))
            continue;
        on = on || !switches;
        scale_values(report->history[drawing->who[i]].watts, 1 / unit, drawing->watts[i]);
        drawing->series[POWER][count++] = line_series(drawing, i, drawing->watts[i]);
    }
    drawing->panel[POWER].count = count;
    drawing->panel[POWER].y = (struct bli_axis){.label = "power of the fleet",
                                                .unit = unit == 1     ? "W"
                                                        : unit == 1e3 ? "kW"
                                                                      : "MW",
                                                .low = 0,
                                                .high = NAN};
}

static void draw_figures(const struct bli_replay_report *report, const size_t *order,
                         struct page_drawing *drawing) {
    const struct bli_trace_info *info = bli_trace_info(report->replay->trace);
    struct clock clock;
    set_clock(info, &clock, drawing->axis);
    for (size_t k = 0; k < BLI_REPLAY_SPANS; k++)
        drawing->x[k] =
            ((double)info->first * 1e-9 - clock.origin + info->span * ((double)k + 0.5) / BLI_REPLAY_SPANS) /
            clock.unit;
    choose_lines(report, order, drawing);
    for (size_t i = 0; i < drawing->lines; i++)
        bli_replay_label(&report->cases[drawing->who[i]].policy, drawing->name[i]);
    draw_arrivals(report, drawing);
    draw_response(report, drawing);
    draw_power(report, drawing);
    char servers[100];
    bli_servers_print(&report->replay->model.servers, servers, sizeof servers);
    snprintf(drawing->title, sizeof drawing->title, "%.120s on %.60s servers", report->title, servers);
    for (int p = 0; p < PANELS; p++) {
        drawing->panel[p].series = drawing->series[p];
        drawing->panel[p].x =
            (struct bli_axis){.label = drawing->axis, .unit = clock.unit_name, .hours = clock.unit == 3600};
    }
    drawing->figure =
        (struct bli_figure){.title = drawing->title, .panel = drawing->panel, .panels = PANELS, .columns = 1};
}

static struct page_drawing *drawing_new(const struct bli_replay_report *report, struct bal_error *err) {
    struct page_drawing *drawing = calloc(1, sizeof *drawing);
    size_t *order = bli_replay_order(report);
    if (drawing && order) {
        draw_figures(report, order, drawing);
        free(order);
        return drawing;
    }
    free(drawing);
    free(order);
    bal_fail(err, BAL_E_MEMORY, "not enough memory for a figure");
    return NULL;
}

enum bal_code bli_replay_figure(const struct bli_replay_report *report, const char *path,
                                struct bal_error *err) {
    struct page_drawing *drawing = drawing_new(report, err);
    if (!drawing)
        return BAL_E_MEMORY;
    const enum bal_code code = bli_figure_write(&drawing->figure, path, err);
    free(drawing);
    return code;
}

/* ---- the page ---- */

/* The first row names the columns, the first column the rows. */
static void put_table(const struct table *table, const char *caption, FILE *out) {
    bli_html_table_begin(caption, out);
    for (size_t i = 0; i + table->columns <= table->cells; i += table->columns) {
        fputs(i == 0 ? "<thead><tr>\n" : "<tr>\n", out);
        for (size_t c = 0; c < table->columns; c++) {
            if (i == 0 || c == 0)
                bli_html_table_head(table->cell[i + c], table->align[c] == 'l',
                                    i == 0 ? BLI_HTML_COLUMN : BLI_HTML_ROW, out);
            else
                bli_html_element("td", table->align[c] == 'l' ? "l" : NULL, table->cell[i + c], out);
        }
        fputs(i == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n", out);
    }
    fputs("</tbody>", out);
    bli_html_table_end(out);
}

/* What was gathered, as one element. */
static void put_whole(struct bli_strbuf *gathered, const char *element, FILE *out) {
    if (!bli_strbuf_close(gathered)) {
        bli_stream_mark_incomplete(out);
        return;
    }
    if (gathered->size > 0 && gathered->text[gathered->size - 1] == '\n')
        gathered->text[gathered->size - 1] = 0;
    bli_html_element(element, NULL, gathered->text, out);
    free(gathered->text);
}

/* Each line as a paragraph, with the lines that go on with it. */
static void put_notes(struct bli_strbuf *gathered, FILE *out) {
    if (!bli_strbuf_close(gathered)) {
        bli_stream_mark_incomplete(out);
        return;
    }
    for (char *line = gathered->text, *end; *line; line = end) {
        end = line;
        do
            end += strcspn(end, "\n") + 1;
        while (*end == ' ');
        end[-1] = 0;
        bli_html_element("p", "soft", line, out);
    }
    free(gathered->text);
}

static bool put_head(const struct bli_replay_report *report, FILE *out) {
    struct bli_strbuf head;
    bli_html_element("h2", NULL, "What was read", out);
    if (!bli_strbuf_open(&head))
        return false;
    bli_replay_head(report, head.stream);
    put_whole(&head, "pre", out);
    return true;
}

static bool put_policies(const struct bli_replay_report *report, const size_t *order, FILE *out) {
    struct table table;
    struct bli_strbuf notes;
    bli_html_element("h2", NULL, "Policies", out);
    bli_replay_table(report, order, &table);
    const bool good = !table.failed && bli_strbuf_open(&notes);
    if (good) {
        put_table(&table, "Every policy on the recorded requests", out);
        bli_replay_notes(report, order, notes.stream);
        put_notes(&notes, out);
    }
    bli_table_fini(&table);
    return good;
}

static bool put_kinds(const struct bli_replay_report *report, const size_t *order, FILE *out) {
    struct table table;
    if (report->kinds == 0)
        return true;
    bli_html_element("h2", NULL, "Response times by class", out);
    bli_kinds_table(report, order, &table);
    const bool good = !table.failed;
    if (good)
        put_table(&table, "Response times by class", out);
    bli_table_fini(&table);
    return good;
}

static bool put_sizing(const struct bli_replay_report *report, const size_t *order, FILE *out) {
    struct table table;
    struct bli_strbuf title, notes;
    if (!report->target)
        return true;
    if (!bli_strbuf_open(&title))
        return false;
    bli_sizing_title(report, title.stream);
    put_whole(&title, "h2", out);
    bli_sizing_table(report, order, &table);
    const bool good = !table.failed && bli_strbuf_open(&notes);
    if (good) {
        if (!bli_sizing_is_hopeless(report))
            put_table(&table, "Servers needed", out);
        bli_sizing_notes(report, notes.stream);
        put_notes(&notes, out);
    }
    bli_table_fini(&table);
    return good;
}

/* Without gnuplot the page explains why there is no figure. */
static bool put_figure(const struct bli_replay_report *report, FILE *out) {
    struct bal_error err = {0};
    struct page_drawing *drawing = drawing_new(report, &err);
    if (!drawing)
        return false;
    char *svg = NULL;
    size_t size;
    bli_html_element("h2", NULL, "Over the time of the log", out);
    const enum bal_code code = bli_figure_render(&drawing->figure, BLI_FIGURE_SVG, &svg, &size, &err);
    if (code) {
        fputs("<p class=\"soft\">The figure could not be drawn: ", out);
        bli_html_text(err.text, out);
        fputs(".</p>\n", out);
    } else {
        fputs("<figure>\n", out);
        fputs(bli_svg_element(svg), out);
        if (*drawing->note)
            bli_html_element("figcaption", NULL, drawing->note, out);
        fputs("</figure>\n", out);
    }
    free(svg);
    free(drawing);
    return code != BAL_E_MEMORY;
}

enum bal_code bli_replay_page(const struct bli_replay_report *report, FILE *out, struct bal_error *err) {
    char title[300];
    snprintf(title, sizeof title, "Replay of %.250s", report->title);
    size_t *order = bli_replay_order(report);
    bool good = order;
    if (good) {
        bli_html_begin(title, out);
        fputs("<header>\n", out);
        bli_html_element("h1", NULL, title, out);
        fputs("</header>\n<main>\n", out);
        good = put_policies(report, order, out) && put_kinds(report, order, out) &&
               put_sizing(report, order, out) && put_figure(report, out) && put_head(report, out);
        fputs("</main>\n<footer class=\"soft\">Made by Ballast " BALLAST_VERSION ".</footer>\n", out);
        bli_html_end(out);
    }
    free(order);
    if (!good)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a report");
    return ferror(out)
               ? bal_fail(err, BAL_E_IO, "the report cannot be written, or there is not enough memory for it")
               : BAL_OK;
}
