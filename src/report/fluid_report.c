/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints a fluid path, and a simulated one next to it, as text, csv and JSON. */
#include "report/fluid_view.h"

#include "base/strbuf.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- for people ---- */

static const char *variant_text(const struct bli_theory_fluid *known) {
    static const char *const names[] = {"c and mu fixed", "high memory: c grows with the number of servers",
                                        "high message: mu grows with the number of servers"};
    return known->kind == BLI_FLUID_RCPB ? names[known->param.rcpb.variant] : NULL;
}

static void print_head(const struct fluid_view *view, FILE *out) {
    const char *variant =
        strcmp(view->report->policy->policy->name, "rcpb") == 0 ? variant_text(&view->followed->known) : NULL;
    static const char *const told[] = {"servers", "load", "start", "steal", NULL};
    struct bli_head head = {.used = 0};
    bli_head_add(&head, "%s at load %g from %s: fluid model%s%s", bli_policy_name(view->report->policy).text,
                 view->report->load, view->report->from, variant ? ", " : "", variant ? variant : "");
    if (view->followed->known.kind == BLI_FLUID_STEALING) {
        char steal[BAL_STEAL_TEXT];
        bal_steal_print(&view->followed->known.param.stealing.steal, steal, sizeof steal);
        bli_head_add(&head, ", idle servers steal %s", steal);
    }
    bli_head_add_settings(&head, view->report->draft, true, told);
    bli_head_print(&head, out);
    if (view->simulated)
        fprintf(out, "sim: one simulated system of %u servers, seed %llu\n", view->report->servers,
                (unsigned long long)view->report->seed);
    fputc('\n', out);
}

static void add_row(struct table *table, const struct fluid_view *view, size_t k) {
    bli_table_add(table, "%.6g", view->followed->time[k]);
    bli_table_add(table, "%.4f", bli_fluid_view_jobs(view, k));
    if (view->simulated)
        bli_table_add(table, "%.4f", bli_fluid_view_simulated_jobs(view, k));
    for (size_t i = 0; i < view->levels; i++) {
        bli_table_add(table, "%.4f", bli_fluid_view_at(view, k, view->level[i]));
        if (view->simulated)
            bli_table_add(table, "%.4f", bli_fluid_view_simulated_at(view, k, view->level[i]));
    }
    for (size_t i = 0; i < view->extras; i++) {
        bli_table_add(table, "%.4f", view->extra[i].fluid[k]);
        if (view->simulated)
            bli_table_add(table, "%.4f", view->extra[i].simulated[k]);
    }
}

static void add_limit(struct table *table, const struct fluid_view *view) {
    bli_table_add(table, "limit");
    bli_table_add(table, "%.4f", view->followed->limit_jobs);
    if (view->simulated)
        bli_table_add(table, "%s", "");
    for (size_t i = 0; i < view->levels; i++) {
        bli_table_add(table, "%.4f", view->followed->limit[view->level[i] - 1]);
        if (view->simulated)
            bli_table_add(table, "%s", "");
    }
    for (size_t i = 0; i < view->extras; i++) { /* those that are not busy are off */
        bli_table_add(table, "%.4f",
                      strcmp(view->extra[i].name, "off") == 0 ? 1 - view->followed->limit[0] : 0);
        if (view->simulated)
            bli_table_add(table, "%s", "");
    }
}

static void print_notes(const struct fluid_view *view, FILE *out) {
    fputs("\njobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service "
          "times.\n",
          out);
    if (view->extras)
        fputs("idle, setup, off: fractions of servers that are idle and on, in set-up, off.\n", out);
    if (view->followed->limit)
        fprintf(out, "limit: what the path tends to; jobs then wait %.4f on average.\n",
                fmax(view->followed->limit_jobs / view->report->load - 1, 0));
    else if (view->report->load < 1)
        fputs("There is no limit: the load varies, or servers never switch off.\n", out);
    else
        fputs("There is no limit: at a load of 1 or more the queues grow for ever.\n", out);
    if (!view->simulated)
        return;
    const struct bli_distance apart = view->followed->apart;
    fprintf(out, "The two paths are never farther apart than %.4f, in s_%zu at time %.4g.\n",
            apart.difference, apart.level, apart.time);
    for (size_t i = 0; i < view->extras; i++) {
        double most = 0;
        for (size_t k = 0; k < view->followed->times; k++)
            most = fmax(most, fabs(view->extra[i].fluid[k] - view->extra[i].simulated[k]));
        fprintf(out, "%s %s: %.4f%s", i ? "," : "In the states of servers,", view->extra[i].name, most,
                i + 1 == view->extras ? ".\n" : "");
    }
}

/* As many levels as fit into a line. */
static size_t most_columns(const struct bli_fluid_report *report) {
    enum { ALONE = 9, BESIDE = 4 };
    const struct bli_fluid_path_solution *followed = report->followed;
    return followed->power[0] ? BESIDE / 2 : followed->simulated.fraction ? BESIDE : ALONE;
}

static void print_text(const struct fluid_view *view, enum bli_table_style style, FILE *out) {
    const size_t columns = (view->simulated ? 2 : 1) * (view->levels + view->extras + 1) + 1;
    char *align = malloc(columns + 1);
    if (!align) {
        bli_stream_mark_incomplete(out);
        return;
    }
    memset(align, 'r', columns);
    align[columns] = 0;
    struct table table;
    bli_table_init(&table, (unsigned)columns);
    bli_table_add(&table, "t");
    for (size_t i = 0; i <= view->levels; i++) {
        if (i == 0)
            bli_table_add(&table, "jobs");
        else
            bli_table_add(&table, "s_%zu", view->level[i - 1]);
        if (view->simulated)
            bli_table_add(&table, "sim");
    }
    for (size_t i = 0; i < view->extras; i++) {
        bli_table_add(&table, "%s", view->extra[i].name);
        if (view->simulated)
            bli_table_add(&table, "sim");
    }
    for (size_t k = 0; k < view->followed->times; k += view->followed->every)
        add_row(&table, view, k);
    if (view->followed->limit)
        add_limit(&table, view);
    print_head(view, out);
    bli_table_print(&table, align, style, out);
    print_notes(view, out);
    bli_table_fini(&table);
    free(align);
}

/* ---- for programs ---- */

/* Ten decimals, which are right; the integrator's next ones are not, and differ from machine to machine. */
static double round_to_ten_decimals(double value) {
    return round(value * 1e10) / 1e10;
}

/* Of the fluid path, or of the simulated one. */
static void put_value(struct bli_rows *rows, bool simulated, const char *name, const char *about,
                      double value) {
    char whole[60];
    snprintf(whole, sizeof whole, "%s%s", simulated ? "sim." : "", name);
    bli_row_number(rows, whole, about, round_to_ten_decimals(value));
}

static void put_state(struct bli_rows *rows, const struct fluid_view *view, size_t k, bool simulated) {
    put_value(rows, simulated, "jobs",
              simulated ? "the same, simulated||`--simulate`" : "mean number of jobs at a server",
              (simulated ? bli_fluid_view_simulated_jobs : bli_fluid_view_jobs)(view, k));
    for (size_t i = 0; i < view->levels; i++) {
        char name[40];
        snprintf(name, sizeof name, "s%zu", view->level[i]);
        put_value(rows, simulated, name,
                  simulated ? "the same, simulated||`--simulate`"
                            : "servers with at least so many jobs; `s2`, ... alike|share",
                  (simulated ? bli_fluid_view_simulated_at : bli_fluid_view_at)(view, k, view->level[i]));
    }
    for (size_t i = 0; i < view->extras; i++)
        put_value(rows, simulated, view->extra[i].name, "servers in that state|share|servers switch off",
                  (simulated ? view->extra[i].simulated : view->extra[i].fluid)[k]);
}

static void put_path(const struct fluid_view *view, struct bli_rows *rows) {
    for (size_t k = 0; k < view->followed->times; k += view->followed->every)
        do {
            bli_row_begin(rows);
            bli_row_number(rows, "t", "time|mean service times", view->followed->time[k]);
            put_state(rows, view, k, false);
            if (view->simulated)
                put_state(rows, view, k, true);
        } while (bli_row_end(rows, NULL));
}

static void json_state(struct json *json, const char *key, bool simulated, const struct fluid_view *view,
                       size_t k) {
    double fraction[BLI_TAIL_LEVELS];
    for (size_t i = 0; i < view->levels; i++)
        fraction[i] = round_to_ten_decimals(
            (simulated ? bli_fluid_view_simulated_at : bli_fluid_view_at)(view, k, view->level[i]));
    bli_json_open_line(json, key, '{');
    bli_json_number(
        json, "jobs",
        round_to_ten_decimals((simulated ? bli_fluid_view_simulated_jobs : bli_fluid_view_jobs)(view, k)));
    bli_json_numbers(json, "s", fraction, view->levels);
    for (size_t i = 0; i < view->extras; i++)
        bli_json_number(
            json, view->extra[i].name,
            round_to_ten_decimals((simulated ? view->extra[i].simulated : view->extra[i].fluid)[k]));
    bli_json_close(json, '}');
}

static void json_spec(struct json *json, const struct fluid_view *view) {
    static const char *const variants[] = {"constrained", "high-memory", "high-message"};
    bli_json_open(json, "spec", '{');
    bli_json_text(json, "policy", bli_policy_name(view->report->policy).text);
    if (bli_json_if(json, view->followed->known.kind == BLI_FLUID_RCPB))
        bli_json_text(json, "variant", variants[view->followed->known.param.rcpb.variant]);
    if (bli_json_if(json, view->followed->known.kind == BLI_FLUID_STEALING)) {
        char steal[BAL_STEAL_TEXT];
        bal_steal_print(&view->followed->known.param.stealing.steal, steal, sizeof steal);
        bli_json_text(json, "steal", steal);
    }
    bli_json_number(json, "load", view->report->load);
    bli_json_text(json, "from", view->report->from);
    bli_json_number(json, "until", view->followed->time[view->followed->times - 1]);
    if (bli_json_if(json, view->simulated)) {
        bli_json_count(json, "servers", view->report->servers);
        bli_json_count(json, "seed", view->report->seed);
    }
    bli_json_close(json, '}');
    static const char *const told[] = {"servers", NULL}; /* there are as many as can be */
    bli_head_json(json, view->report->draft, view->simulated ? NULL : told);
}

static void json_path(struct json *json, const struct fluid_view *view) {
    bli_json_open(json, "path", '[');
    for (size_t k = 0; k < view->followed->times; k += view->followed->every) {
        bli_json_open_line(json, NULL, '{');
        bli_json_number(json, "t", view->followed->time[k]);
        json_state(json, "fluid", false, view, k);
        if (view->simulated)
            json_state(json, "simulated", true, view, k);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
}

static void json_limit(struct json *json, const struct fluid_view *view) {
    const struct bli_fluid_path_solution *followed = view->followed;
    double fraction[BLI_TAIL_LEVELS] = {0};
    if (!bli_json_if(json, followed->limit)) {
        bli_json_null(json, "limit");
        return;
    }
    for (size_t i = 0; i < view->levels && followed->limit; i++)
        fraction[i] = round_to_ten_decimals(followed->limit[view->level[i] - 1]);
    bli_json_open_line(json, "limit", '{');
    bli_json_number(json, "waiting_mean",
                    round_to_ten_decimals(fmax(followed->limit_jobs / view->report->load - 1, 0)));
    bli_json_number(json, "jobs", round_to_ten_decimals(followed->limit_jobs));
    bli_json_numbers(json, "s", fraction, view->levels);
    bli_json_close(json, '}');
}

static void json_distance(struct json *json, const struct fluid_view *view) {
    if (!bli_json_if(json, view->simulated)) {
        bli_json_null(json, "distance");
        return;
    }
    const struct bli_distance apart = view->followed->apart;
    bli_json_open_line(json, "distance", '{');
    bli_json_number(json, "norm", round_to_ten_decimals(apart.norm));
    bli_json_number(json, "difference", round_to_ten_decimals(apart.difference));
    bli_json_number(json, "time", apart.time);
    bli_json_count(json, "level", apart.level);
    bli_json_close(json, '}');
}

static void print_json(const struct fluid_view *view, struct bli_rows *rows) {
    bli_rows_open(rows);
    json_spec(rows->json, view);
    json_limit(rows->json, view);
    json_distance(rows->json, view);
    json_path(rows->json, view);
    bli_json_close(rows->json, '}');
}

void bli_fluid_print(const struct bli_fluid_report *report, struct bli_rows *rows) {
    const struct fluid_view view =
        bli_fluid_view(report, rows->text ? most_columns(report) : BLI_TAIL_LEVELS);
    if (rows->text)
        print_text(&view, rows->style, rows->text);
    else if (rows->json)
        print_json(&view, rows);
    else
        put_path(&view, rows);
}

void bli_fluid_describe(struct bli_rows *rows) {
    static double zero;
    const bool all = !rows->json || bli_json_if(rows->json, false);
    const struct bli_draft draft = bli_rows_sample();
    struct bli_fluid_path_solution followed = {.times = 1,
                                               .every = 1,
                                               .time = &zero,
                                               .fluid = {.times = 1, .columns = 1, .state = &zero},
                                               .simulated = {.times = 1, .levels = 1}};
    for (int i = 0; i < BLI_FLUID_PATH_POWERS && all; i++)
        followed.power[i] = followed.simulated_power[i] = &zero;
    followed.simulated.fraction = all ? &zero : NULL;
    const struct bli_fluid_report report = {&draft.c.policy, "empty", 0.5, &draft, &followed, 1, 1, 1};
    bli_fluid_print(&report, rows);
}
