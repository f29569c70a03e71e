#include "report/fluid_report.h"

#include "ballast/figure.h"
#include "ballast/number.h"
#include "ballast/version.h"
#include "base/gather.h"
#include "format/json.h"
#include "format/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOBS_LEVELS = 1 << 16
}; /* the equilibrium is summed up to here; its tail falls at least geometrically */

/* Not below 0, where the integrator may end up by a rounding error. */
static double fluid_at(const struct bal_fluid_report *report, size_t k, size_t level) {
    return fmax(bal_fluid_path_at(report->fluid, k, level - 1), 0);
}

static double simulated_at(const struct bal_fluid_report *report, size_t k, size_t level) {
    const struct bal_path *path = report->simulated;
    return level <= path->levels ? path->fraction[k * path->levels + level - 1] : 0;
}

/* Mean jobs at a server. */
static double fluid_jobs(const struct bal_fluid_report *report, size_t k) {
    double jobs = 0;
    for (size_t i = 1; i <= report->fluid->columns; i++)
        jobs += fluid_at(report, k, i);
    return jobs;
}

static double simulated_jobs(const struct bal_fluid_report *report, size_t k) {
    double jobs = 0;
    for (size_t i = 1; i <= report->simulated->levels; i++)
        jobs += simulated_at(report, k, i);
    return jobs;
}

/* What the path tends to: the levels that are shown, and the mean jobs at a server. */
struct limit {
    bool exists;
    double *s;
    double jobs;
};

static struct limit limit_of(const struct bal_fluid_report *report, FILE *out) {
    struct limit limit = {0};
    double *s = malloc(JOBS_LEVELS * sizeof *s);
    if (!s)
        bal_stream_lose(out);
    if (!s || !bal_known_fluid_equilibrium(report->known, s, JOBS_LEVELS)) {
        free(s);
        return limit;
    }
    limit.exists = true;
    limit.s = s;
    for (size_t i = JOBS_LEVELS; i-- > 0;)
        limit.jobs += s[i];
    return limit;
}

/* ---- for people ---- */

static const char *variant_text(const struct bal_known_fluid *known) {
    static const char *const names[] = {"c and mu fixed", "high memory: c grows with the number of servers",
                                        "high message: mu grows with the number of servers"};
    return known->kind == BAL_FLUID_RCPB ? names[known->param.rcpb.variant] : NULL;
}

static void print_head(const struct bal_fluid_report *report, FILE *out) {
    char policy[200];
    bal_policy_print(report->policy, policy, sizeof policy);
    const char *variant =
        strcmp(report->policy->policy->name, "rcpb") == 0 ? variant_text(report->known) : NULL;
    static const char *const told[] = {"servers", "load", "start", "steal", NULL};
    struct bal_head head = {.used = 0};
    bal_head_add(&head, "%s at load %g from %s: fluid model%s%s", policy, report->load, report->from,
                 variant ? ", " : "", variant ? variant : "");
    if (report->known->kind == BAL_FLUID_STEALING) {
        char steal[BAL_STEAL_TEXT];
        bal_steal_print(&report->known->param.stealing.steal, steal, sizeof steal);
        bal_head_add(&head, ", idle servers steal %s", steal);
    }
    bal_head_add_settings(&head, report->draft, true, told);
    bal_head_print(&head, out);
    if (report->simulated)
        fprintf(out, "sim: one simulated system of %u servers, seed %llu\n", report->servers,
                (unsigned long long)report->seed);
    fputc('\n', out);
}

static void add_row(struct table *table, const struct bal_fluid_report *report, size_t k) {
    bal_table_add(table, "%.6g", report->time[k]);
    bal_table_add(table, "%.4f", fluid_jobs(report, k));
    if (report->simulated)
        bal_table_add(table, "%.4f", simulated_jobs(report, k));
    for (size_t i = 0; i < report->levels; i++) {
        bal_table_add(table, "%.4f", fluid_at(report, k, report->level[i]));
        if (report->simulated)
            bal_table_add(table, "%.4f", simulated_at(report, k, report->level[i]));
    }
    for (size_t i = 0; i < report->extras; i++) {
        bal_table_add(table, "%.4f", report->extra[i].fluid[k]);
        if (report->simulated)
            bal_table_add(table, "%.4f", report->extra[i].simulated[k]);
    }
}

static void add_limit(struct table *table, const struct bal_fluid_report *report, const struct limit *limit) {
    bal_table_add(table, "limit");
    bal_table_add(table, "%.4f", limit->jobs);
    if (report->simulated)
        bal_table_add(table, "%s", "");
    for (size_t i = 0; i < report->levels; i++) {
        bal_table_add(table, "%.4f", limit->s[report->level[i] - 1]);
        if (report->simulated)
            bal_table_add(table, "%s", "");
    }
    for (size_t i = 0; i < report->extras; i++) { /* those that are not busy are off */
        bal_table_add(table, "%.4f", strcmp(report->extra[i].name, "off") == 0 ? 1 - limit->s[0] : 0);
        if (report->simulated)
            bal_table_add(table, "%s", "");
    }
}

static void print_notes(const struct bal_fluid_report *report, const struct limit *limit, FILE *out) {
    fputs("\njobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service "
          "times.\n",
          out);
    if (report->extras)
        fputs("idle, setup, off: fractions of servers that are idle and on, in set-up, off.\n", out);
    if (limit->exists)
        fprintf(out, "limit: what the path tends to; jobs then wait %.4f on average.\n",
                fmax(limit->jobs / report->load - 1, 0));
    else if (report->load < 1)
        fputs("There is no limit: the load varies, or servers never switch off.\n", out);
    else
        fputs("There is no limit: at a load of 1 or more the queues grow for ever.\n", out);
    if (!report->simulated)
        return;
    const struct bal_distance apart = bal_path_distance(report->simulated, report->fluid);
    fprintf(out, "The two paths are never farther apart than %.4f, in s_%zu at time %.4g.\n",
            apart.difference, apart.level, apart.time);
    for (size_t i = 0; i < report->extras; i++) {
        double most = 0;
        for (size_t k = 0; k < report->times; k++)
            most = fmax(most, fabs(report->extra[i].fluid[k] - report->extra[i].simulated[k]));
        fprintf(out, "%s %s: %.4f%s", i ? "," : "In the states of servers,", report->extra[i].name, most,
                i + 1 == report->extras ? ".\n" : "");
    }
}

void bal_fluid_text(const struct bal_fluid_report *report, FILE *out) {
    const size_t columns = (report->simulated ? 2 : 1) * (report->levels + report->extras + 1) + 1;
    char *align = malloc(columns + 1);
    if (!align) {
        bal_stream_lose(out);
        return;
    }
    memset(align, 'r', columns);
    align[columns] = 0;
    struct limit limit = limit_of(report, out);
    struct table table;
    bal_table_init(&table, (unsigned)columns);
    bal_table_add(&table, "t");
    for (size_t i = 0; i <= report->levels; i++) {
        if (i == 0)
            bal_table_add(&table, "jobs");
        else
            bal_table_add(&table, "s_%zu", report->level[i - 1]);
        if (report->simulated)
            bal_table_add(&table, "sim");
    }
    for (size_t i = 0; i < report->extras; i++) {
        bal_table_add(&table, "%s", report->extra[i].name);
        if (report->simulated)
            bal_table_add(&table, "sim");
    }
    for (size_t k = 0; k < report->times; k += report->every)
        add_row(&table, report, k);
    if (limit.exists)
        add_limit(&table, report, &limit);
    print_head(report, out);
    bal_table_print(&table, align, true, out);
    print_notes(report, &limit, out);
    bal_table_fini(&table);
    free(limit.s);
    free(align);
}

/* ---- for programs ---- */

/* Ten decimals, which are right; the integrator's next ones are not, and differ from machine to machine. */
static double tidy(double value) {
    return round(value * 1e10) / 1e10;
}

static void csv_number(double value, FILE *out) {
    char text[BAL_NUMBER_TEXT];
    bal_number_print(tidy(value), text);
    fprintf(out, ",%s", text);
}

void bal_fluid_csv(const struct bal_fluid_report *report, FILE *out) {
    fputs("t,jobs", out);
    for (size_t i = 0; i < report->levels; i++)
        fprintf(out, ",s%zu", report->level[i]);
    for (size_t i = 0; i < report->extras; i++)
        fprintf(out, ",%s", report->extra[i].name);
    if (report->simulated) {
        fputs(",sim.jobs", out);
        for (size_t i = 0; i < report->levels; i++)
            fprintf(out, ",sim.s%zu", report->level[i]);
        for (size_t i = 0; i < report->extras; i++)
            fprintf(out, ",sim.%s", report->extra[i].name);
    }
    fputc('\n', out);
    for (size_t k = 0; k < report->times; k += report->every) {
        char text[BAL_NUMBER_TEXT];
        bal_number_print(report->time[k], text);
        fputs(text, out);
        csv_number(fluid_jobs(report, k), out);
        for (size_t i = 0; i < report->levels; i++)
            csv_number(fluid_at(report, k, report->level[i]), out);
        for (size_t i = 0; i < report->extras; i++)
            csv_number(report->extra[i].fluid[k], out);
        if (report->simulated) {
            csv_number(simulated_jobs(report, k), out);
            for (size_t i = 0; i < report->levels; i++)
                csv_number(simulated_at(report, k, report->level[i]), out);
            for (size_t i = 0; i < report->extras; i++)
                csv_number(report->extra[i].simulated[k], out);
        }
        fputc('\n', out);
    }
}

static void json_state(struct json *json, const char *key, double jobs,
                       double (*at)(const struct bal_fluid_report *, size_t, size_t),
                       const struct bal_fluid_report *report, size_t k) {
    bal_json_open_line(json, key, '{');
    bal_json_number(json, "jobs", tidy(jobs));
    bal_json_open_line(json, "s", '[');
    for (size_t i = 0; i < report->levels; i++)
        bal_json_number(json, NULL, tidy(at(report, k, report->level[i])));
    bal_json_close(json, ']');
    for (size_t i = 0; i < report->extras; i++)
        bal_json_number(json, report->extra[i].name,
                        tidy((at == fluid_at ? report->extra[i].fluid : report->extra[i].simulated)[k]));
    bal_json_close(json, '}');
}

static void json_spec(struct json *json, const struct bal_fluid_report *report) {
    static const char *const variants[] = {"constrained", "high-memory", "high-message"};
    char policy[200];
    bal_policy_print(report->policy, policy, sizeof policy);
    bal_json_open(json, "spec", '{');
    bal_json_text(json, "policy", policy);
    if (report->known->kind == BAL_FLUID_RCPB)
        bal_json_text(json, "variant", variants[report->known->param.rcpb.variant]);
    if (report->known->kind == BAL_FLUID_STEALING) {
        char steal[BAL_STEAL_TEXT];
        bal_steal_print(&report->known->param.stealing.steal, steal, sizeof steal);
        bal_json_text(json, "steal", steal);
    }
    bal_json_number(json, "load", report->load);
    bal_json_text(json, "from", report->from);
    bal_json_number(json, "until", report->time[report->times - 1]);
    if (report->simulated) {
        bal_json_count(json, "servers", report->servers);
        bal_json_count(json, "seed", report->seed);
    }
    bal_json_close(json, '}');
    static const char *const told[] = {"servers", NULL}; /* there are as many as can be */
    bal_head_json(json, report->draft, report->simulated ? NULL : told);
}

static void json_limit(struct json *json, const struct bal_fluid_report *report) {
    struct limit limit = limit_of(report, json->out);
    if (!limit.exists) {
        bal_json_null(json, "limit");
        return;
    }
    bal_json_open_line(json, "limit", '{');
    bal_json_number(json, "waiting_mean", tidy(fmax(limit.jobs / report->load - 1, 0)));
    bal_json_number(json, "jobs", tidy(limit.jobs));
    bal_json_open_line(json, "s", '[');
    for (size_t i = 0; i < report->levels; i++)
        bal_json_number(json, NULL, tidy(limit.s[report->level[i] - 1]));
    bal_json_close(json, ']');
    bal_json_close(json, '}');
    free(limit.s);
}

static void json_distance(struct json *json, const struct bal_fluid_report *report) {
    if (!report->simulated) {
        bal_json_null(json, "distance");
        return;
    }
    const struct bal_distance apart = bal_path_distance(report->simulated, report->fluid);
    bal_json_open_line(json, "distance", '{');
    bal_json_number(json, "norm", tidy(apart.norm));
    bal_json_number(json, "difference", tidy(apart.difference));
    bal_json_number(json, "time", apart.time);
    bal_json_count(json, "level", apart.level);
    bal_json_close(json, '}');
}

void bal_fluid_json(const struct bal_fluid_report *report, FILE *out) {
    struct json json;
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '{');
    bal_json_text(&json, "version", BALLAST_VERSION);
    json_spec(&json, report);
    json_limit(&json, report);
    json_distance(&json, report);
    bal_json_open(&json, "path", '[');
    for (size_t k = 0; k < report->times; k += report->every) {
        bal_json_open_line(&json, NULL, '{');
        bal_json_number(&json, "t", report->time[k]);
        json_state(&json, "fluid", fluid_jobs(report, k), fluid_at, report, k);
        if (report->simulated)
            json_state(&json, "simulated", simulated_jobs(report, k), simulated_at, report, k);
        bal_json_close(&json, '}');
    }
    bal_json_close(&json, ']');
    bal_json_close(&json, '}');
}

/* ---- figure ---- */

/* Lines for the fluid path at all times and points for the simulated one at those that are printed. */
struct drawing {
    double *values;
    char (*names)[24];
    struct bal_series *series;
    size_t count;
};

static bool drawing_init(struct drawing *drawing, const struct bal_fluid_report *report) {
    const size_t points = report->times / report->every + 1;
    const size_t curves = report->levels + report->extras;
    const size_t values = curves * (report->times + points) + points;
    *drawing = (struct drawing){.values = malloc(values * sizeof *drawing->values),
                                .names = malloc(curves * sizeof *drawing->names),
                                .series = calloc(2 * curves, sizeof *drawing->series)};
    return drawing->values && drawing->names && drawing->series;
}

static void drawing_fini(struct drawing *drawing) {
    free(drawing->values);
    free(drawing->names);
    free(drawing->series);
}

static void draw_levels(struct drawing *drawing, const struct bal_fluid_report *report) {
    double *next = drawing->values;
    double *point_time = next;
    size_t points = 0;
    for (size_t k = 0; k < report->times; k += report->every)
        point_time[points++] = report->time[k];
    next += points;
    for (size_t i = 0; i < report->levels + report->extras; i++) {
        const struct bal_fluid_extra *extra = i < report->levels ? NULL : &report->extra[i - report->levels];
        const size_t level = extra ? 0 : report->level[i];
        char *name = drawing->names[i];
        if (extra)
            snprintf(name, sizeof drawing->names[0], "%s", extra->name);
        else
            snprintf(name, sizeof drawing->names[0], "s_%zu", level);
        double *y = next;
        for (size_t k = 0; k < report->times; k++)
            *next++ = extra ? extra->fluid[k] : fluid_at(report, k, level);
        drawing->series[drawing->count++] = (struct bal_series){.name = name,
                                                                .group = (unsigned)i,
                                                                .style = BAL_STYLE_LINE,
                                                                .theory = true,
                                                                .count = report->times,
                                                                .x = report->time,
                                                                .y = y};
        if (!report->simulated)
            continue;
        y = next;
        for (size_t k = 0; k < report->times; k += report->every)
            *next++ = extra ? extra->simulated[k] : simulated_at(report, k, level);
        drawing->series[drawing->count++] = (struct bal_series){.name = name,
                                                                .group = (unsigned)i,
                                                                .style = BAL_STYLE_POINTS,
                                                                .count = points,
                                                                .x = point_time,
                                                                .y = y};
    }
}

enum bal_code bal_fluid_figure(const struct bal_fluid_report *report, const char *path,
                               struct bal_error *err) {
    struct drawing drawing;
    enum bal_code code = BAL_OK;
    if (!drawing_init(&drawing, report)) {
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for the figure");
        goto out;
    }
    draw_levels(&drawing, report);
    char policy[200], title[320], measured[60];
    bal_policy_print(report->policy, policy, sizeof policy);
    snprintf(title, sizeof title, "%s, load %g, from %s", policy, report->load, report->from);
    snprintf(measured, sizeof measured, "%u servers simulated", report->servers);
    const struct bal_panel panel = {
        .x = {.label = "time", .unit = "mean service times"},
        .y = {.label = report->extras ? "fraction of servers" : "servers with at least i jobs, s_i",
              .low = 0,
              .high = 1},
        .series = drawing.series,
        .count = drawing.count,
    };
    const struct bal_figure figure = {
        .title = title, .panel = &panel, .panels = 1, .measured = measured, .theory = "fluid model"};
    code = bal_figure_write(&figure, path, err);
out:
    drawing_fini(&drawing);
    return code;
}
