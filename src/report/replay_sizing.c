/* SPDX-License-Identifier: BSD-2-Clause */
/* How many servers each policy needs, for people. */
#include "report/replay_cells.h"
#include "report/sizes.h"

#include "format/time_text.h"
#include "report/doubt_notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ", N in 4x1,Nx2". */
static void print_open_fleet(const struct bli_servers *servers, unsigned open, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, ", N in ");
    for (unsigned g = 0; g < servers->groups && used < size; g++) {
        const char *comma = g > 0 ? "," : "";
        if (g == open)
            used += (size_t)snprintf(text + used, size - used, "%sNx%g", comma, servers->group[g].speed);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%ux%g", comma, servers->group[g].count,
                                     servers->group[g].speed);
    }
}

void bli_sizing_title(const struct bli_replay_report *report, FILE *out) {
    const struct bli_model *model = &report->replay->model;
    char length[40], slots[80] = "", fleet[400] = "";
    bli_time_length(report->target->seconds, length);
    const bool guessed = bli_recovery_slots_are_guessed(report->times);
    char speeds[100];
    bli_speeds_print(&model->speeds, speeds, sizeof speeds);
    if (model->slots == BLI_SLOTS_ALL)
        snprintf(slots, sizeof slots, ", %.36s each", speeds);
    else if (bli_speeds_given(&model->speeds))
        snprintf(slots, sizeof slots, ", %u slots and %.36s each", model->slots, speeds);
    else if (model->slots > 1 || guessed)
        snprintf(slots, sizeof slots, ", %u slot%s each%s", model->slots > 1 ? model->slots : 1,
                 model->slots > 1 ? "s" : "",
                 !guessed                               ? ""
                 : report->times->recovery->servers > 0 ? " (a guess)"
                                                        : " (assumed)");
    if (report->replay->vary_given && model->servers.groups > 1)
        print_open_fleet(&model->servers, report->replay->vary, fleet, sizeof fleet);
    else if (model->servers.group[0].speed != 1)
        snprintf(fleet, sizeof fleet, ", speed %g", model->servers.group[0].speed);
    char failing[60] = "";
    if (report->replay->failing > 0)
        snprintf(failing, sizeof failing, ", of which %u fail%s", report->replay->failing,
                 report->replay->failing == 1 ? "s" : "");
    fprintf(out, "Servers needed for %s \u2264 %s%s%s%s\n", report->target->name, length, fleet, slots,
            failing);
}

/* Fewest servers first; those that never will do last. */
static bool needs_less(const struct bli_sizing *a, const struct bli_sizing *b) {
    return a->outcome != b->outcome ? a->outcome == BLI_SIZED
                                    : a->outcome == BLI_SIZED && a->servers < b->servers;
}

/* "4 (3 to 6)", "> 100" */
static void add_servers(struct table *table, const struct bli_sizing *sizing) {
    const char *mark = sizing->at.result.doubts ? " !" : "";
    if (sizing->outcome == BLI_SIZE_BEYOND)
        bli_table_add(table, "> %u", sizing->servers);
    else if (sizing->outcome != BLI_SIZED)
        bli_table_add(table, "none");
    else if (sizing->low == 0)
        bli_table_add(table, "%u (?)%s", sizing->servers, mark);
    else if (sizing->high == 0)
        bli_table_add(table, "%u (%u or more)%s", sizing->servers, sizing->low, mark);
    else if (sizing->low < sizing->high)
        bli_table_add(table, "%u (%u to %u)%s", sizing->servers, sizing->low, sizing->high, mark);
    else
        bli_table_add(table, "%u%s", sizing->servers, mark);
}

static void put_sizing(struct table *table, const struct bli_replay_report *report, size_t i,
                       struct bli_replay_unit unit, struct bli_replay_unit energy) {
    static const struct bli_estimate unknown = {NAN, NAN};
    const struct bli_sizing *sizing = &report->sizing[i];
    const bool sized = sizing->outcome == BLI_SIZED;
    if (bli_table_column(table, 'l', "policy"))
        bli_table_add(table, "%s%s", bli_replay_name(&report->cases[i].policy).text,
                      bli_sizes_mark(report->cases[i].policy.policy));
    if (bli_table_column(table, 'r', "servers"))
        add_servers(table, sizing);
    if (bli_table_column(table, 'r', "load"))
        bli_table_add_number(table, "%.3f", sized ? sizing->c.model.load : NAN);
    if (bli_table_column(table, 'r', "%s, %s", report->target->name, unit.name))
        bli_cell_add_wanted(table, report->target, sized ? sizing->at.time[BLI_TIME_WANTED] : unknown, unit);
    if (bli_table_column(table, 'r', "one fewer"))
        bli_cell_add(table, sized ? sizing->one_fewer / unit.seconds : NAN);
    bli_put_costs(table, report, &sizing->c, sized ? &sizing->at.result : NULL, energy);
    bli_put_mark(table, report);
}

void bli_sizing_table(const struct bli_replay_report *report, const size_t *order, struct table *table) {
    const struct bli_replay_unit unit = bli_replay_unit(report);
    double most = 0;
    for (size_t i = 0; i < report->count; i++)
        if (report->sizing[i].outcome == BLI_SIZED)
            most = fmax(most, bli_replay_energy(&report->sizing[i].at.result));
    const struct bli_replay_unit energy = bli_energy_unit(most);
    bli_table_init(table, 0);
    size_t *rank = malloc((report->count + 1) * sizeof *rank);
    table->failed = table->failed || !rank;
    for (size_t i = 0; rank && i < report->count; i++) {
        size_t at = i;
        for (; at > 0 && needs_less(&report->sizing[order[i]], &report->sizing[rank[at - 1]]); at--)
            rank[at] = rank[at - 1];
        rank[at] = order[i];
    }
    for (size_t i = 0; rank && i < report->count; i++)
        do
            put_sizing(table, report, rank[i], unit, energy);
        while (bli_table_end_row(table));
    free(rank);
}

bool bli_sizing_is_hopeless(const struct bli_replay_report *report) {
    return report->sizing[0].outcome == BLI_SIZE_HOPELESS; /* which does not depend on the policy */
}

/* More servers do not help a policy that has all of them off at times. */
static void print_refusal(const struct bli_replay_report *report, size_t i, FILE *out) {
    const struct bli_sizing *sizing = &report->sizing[i];
    if (sizing->outcome != BLI_SIZE_BEYOND || !(bli_turned_away(&sizing->at.result) > 0))
        return;
    fprintf(out,
            "%s refuses %.3g %% of all jobs even then, as all servers are off at times: try a longer "
            "--standby.\n",
            bli_replay_name(&report->cases[i].policy).text, 100 * bli_turned_away(&sizing->at.result));
}

/* A target for times does not cover jobs that have none. */
static void print_failures(const struct bli_replay_report *report, size_t i, FILE *out) {
    const struct bli_sizing *sizing = &report->sizing[i];
    const double failed = sizing->at.result.metric[BLI_FAILED].mean;
    if (sizing->outcome != BLI_SIZED || !(failed > 0))
        return;
    fprintf(out,
            "%s fails %.3g %% of all jobs on these %u servers: a wrong answer, or none. The target is met by "
            "the others.\n",
            bli_replay_name(&report->cases[i].policy).text, 100 * failed, sizing->servers);
}

static bool is_open_ended(const struct bli_replay_report *report) {
    for (size_t i = 0; i < report->count; i++)
        if (report->sizing[i].outcome == BLI_SIZED && report->sizing[i].low > 0 &&
            report->sizing[i].high == 0)
            return true;
    return false;
}

static bool is_unknown(const struct bli_replay_report *report) {
    for (size_t i = 0; i < report->count; i++)
        if (report->sizing[i].outcome == BLI_SIZED && report->sizing[i].low == 0)
            return true;
    return false;
}

/* What is wrong with fleets that meet the target. */
static void print_doubts(const struct bli_replay_report *report, FILE *out) {
    struct doubt_notes notes = {0};
    for (size_t i = 0; i < report->count; i++) {
        const struct bli_sizing *sizing = &report->sizing[i];
        if (sizing->outcome == BLI_SIZED)
            bli_doubt_add(&notes, bli_replay_name(&report->cases[i].policy).text, &sizing->c,
                          &sizing->at.result);
    }
    notes.undecided = false; /* the jobs come to an end */
    bli_doubt_print(&notes, BLI_REMEDY_NONE, out);
}

void bli_sizing_notes(const struct bli_replay_report *report, FILE *out) {
    const char *name = report->target->name;
    if (bli_sizing_is_hopeless(report)) {
        char best[BLI_TIME_TEXT];
        bli_time_length(report->sizing[0].best, best);
        fprintf(out, "No number of servers will do: with no job waiting the %s would still be %s.\n", name,
                best);
        return;
    }
    bool beyond = false;
    for (size_t i = 0; i < report->count; i++)
        beyond = beyond || report->sizing[i].outcome == BLI_SIZE_BEYOND;
    fprintf(
        out,
        "Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not\n"
        "  (one fewer: their %s). That more servers are never worse is assumed. In brackets: where the "
        "number\n"
        "  would lie in 95 %% of other logs like this one.\n",
        name);
    if (is_open_ended(report))
        fputs("or more: by some of those logs even several times as many servers would not do.\n", out);
    if (is_unknown(report))
        fputs("(?): it cannot be told, by too few jobs or queues that remember for too long.\n", out);
    bli_replay_doubt(report, out);
    print_doubts(report, out);
    if (beyond)
        fputs("> N: not met with N servers, the most that were tried.\n", out);
    for (size_t i = 0; i < report->count; i++)
        print_refusal(report, i, out);
    for (size_t i = 0; i < report->count; i++)
        print_failures(report, i, out);
}

void bli_sizing_text(const struct bli_replay_report *report, const size_t *order, enum bli_table_style style,
                     FILE *out) {
    struct table table;
    bli_sizing_title(report, out);
    fputc('\n', out);
    if (!bli_sizing_is_hopeless(report)) {
        bli_sizing_table(report, order, &table);
        bli_table_print(&table, table.align, style, out);
        bli_table_fini(&table);
        fputc('\n', out);
    }
    bli_sizing_notes(report, out);
}
