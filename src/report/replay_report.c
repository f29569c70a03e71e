/* SPDX-License-Identifier: BSD-2-Clause */
/* The text report of a replay: what was in the log, the results of policies, the servers that they need. */
#include "report/replay_cells.h"

#include "base/strbuf.h"
#include "format/time_text.h"
#include "report/doubt_notes.h"
#include "report/log_report.h"
#include "report/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the head ---- */

static void print_arrivals(const struct bli_replay_report *report, FILE *out) {
    const struct bli_demand *demand = report->demand;
    const double speedup = report->replay->speedup;
    char window[BLI_TIME_TEXT], p50[BLI_TIME_TEXT], p99[BLI_TIME_TEXT];
    bli_time_length(demand->window, window);
    bli_time_length(demand->size_p50, p50);
    bli_time_length(demand->size_p99, p99);
    bli_head_line(out, "sizes", "p50 %s, p99 %s, squared coefficient of variation %.3g", p50, p99,
                  demand->scv);
    bli_head_line(out, "arrivals", "%.4g a second, %.4g in the busiest %s%s", demand->rate * speedup,
                  demand->peak_rate * speedup, window, speedup == 1 ? "" : " of the log");
    if (speedup != 1)
        bli_head_line(out, "speedup", "jobs come %g times as fast as they were recorded%s", speedup,
                      report->recorded || report->sized_for > 0
                          ? ", to the fleet of the recorded traffic; --servers says otherwise"
                          : "");
}

static void print_fleet(const struct bli_replay_report *report, FILE *out) {
    const struct bli_replay *replay = report->replay;
    const struct bli_demand *demand = report->demand;
    const bool one_day = bli_trace_info(replay->trace)->span <= 86400;
    char servers[300], window[BLI_TIME_TEXT], when[BLI_TIME_TEXT], slots[40] = "";
    bli_servers_print(&replay->model.servers, servers, sizeof servers);
    bli_time_length(demand->window, window);
    bli_time_moment(demand->peak_at,
                    demand->window < 60 ? (one_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S")
                    : one_day           ? "%H:%M"
                                        : "%Y-%m-%d %H:%M",
                    when);
    if (replay->model.slots > 1 && replay->model.slots != BLI_SLOTS_ALL)
        snprintf(slots, sizeof slots, " of %u slots", replay->model.slots);
    bli_head_line(out, "fleet", "%s server%s%s: load %.3g, in the busiest %s (from %s) %.3g", servers,
                  strcmp(servers, "1") == 0 ? "" : "s", slots, bli_replay_load(replay, demand->work), window,
                  when, bli_replay_load(replay, demand->peak_work));
    if (report->recorded)
        bli_head_line(out, "", "no --servers given: as many as the log names");
    const struct bli_speeds_recovery *works = report->times->works;
    if (works && works->found && replay->model.slots != (works->slots ? works->slots : BLI_SLOTS_ALL))
        bli_head_line(
            out, "", "--slots is for this fleet alone: what the log's servers did is found from their times");
    const double wanted = report->sized_for * replay->speedup * (1 + 1e-9); /* rounding */
    const bool enough = bli_replay_load(replay, demand->peak_work) <= wanted;
    if (report->sized_for > 0)
        bli_head_line(out, "",
                      enough ? "%s: so many that the load in the busiest %s is at most %g%s"
                             : "%s: no more are taken, though the load in the busiest %s is above %g%s",
                      replay->vary_given ? "N until it is found" : "no --servers given", window,
                      report->sized_for, replay->speedup == 1 ? "" : " as recorded");
    if (bli_recovery_slots_are_guessed(report->times))
        bli_head_line(out, "", "a server works on %u request%s at a time: %s; --slots says it",
                      replay->model.slots > 1 ? replay->model.slots : 1, replay->model.slots > 1 ? "s" : "",
                      report->times->recovery->servers > 0 ? "a guess, on which all below depends"
                                                           : "assumed");
    if (replay->model.steal.kind != BAL_STEAL_NONE) {
        char steal[BAL_STEAL_TEXT];
        bal_steal_print(&replay->model.steal, steal, sizeof steal);
        bli_head_line(out, "stealing", "a server that runs out of work steals from another: %s", steal);
    }
}

/* What else is set; the times of servers that switch off where a policy asks for them. */
static void print_settings(const struct bli_replay_report *report, FILE *out) {
    static const char *const told[] = {"servers",      "slots", "high",    "steal",
                                       "replications", "load",  "service", NULL};
    static const char *const told_without_power[] = {"servers", "slots",   "high",    "steal", "replications",
                                                     "load",    "service", "standby", "setup", NULL};
    bool power = false;
    for (size_t i = 0; i < report->count; i++)
        power = power || report->cases[i].policy.policy->power;
    const struct bli_draft draft = bli_replay_settings(report);
    struct bli_head head = {.used = 0};
    bli_head_add_settings(&head, &draft, true, power ? told : told_without_power);
    bli_head_add_settings(&head, &draft, false, told);
    if (head.used > 0)
        bli_head_line(out, "settings", "%s", head.text);
}

void bli_replay_head(const struct bli_replay_report *report, FILE *out) {
    const struct bli_trace_info *info = bli_trace_info(report->replay->trace);
    char first[BLI_TIME_TEXT], last[BLI_TIME_TEXT];
    bli_time_moment((double)info->first * 1e-9, "%Y-%m-%d %H:%M:%S", first);
    bli_time_moment((double)info->last * 1e-9, "%Y-%m-%d %H:%M:%S", last);
    bli_log_summary_text(report->summary, info, out);
    bli_recovery_text(report->times, out);
    bli_head_line(out, "span", "%s to %s UTC", first, last);
    print_arrivals(report, out);
    for (size_t k = 1; k <= report->kinds; k++)
        bli_head_line(out, k == 1 ? "classes" : "", "%s: %.3g %% of jobs", report->kind[k - 1],
                      100 * (double)info->kind[k] / (double)info->jobs);
    if (report->replay->model.classes)
        bli_head_line(out, report->kinds > 0 ? "" : "classes", "%.3g %% of jobs are high",
                      100 * (double)info->high / (double)info->jobs);
    print_fleet(report, out);
    print_settings(report, out);
}

/* ---- the table ---- */

static double largest_energy(const struct bli_replay_report *report) {
    double most = 0;
    for (size_t i = 0; i < report->count; i++)
        most = fmax(most, bli_replay_energy(&report->outcomes[i].result));
    return most;
}

static void add_range(struct table *table, struct bli_confidence_range range, struct bli_replay_unit unit) {
    char low[BLI_CELL], high[BLI_CELL];
    if (isnan(range.low)) { /* too few jobs */
        bli_table_add(table, "?");
        return;
    }
    bli_table_add(table, "%s to %s", bli_cell_number(range.low / unit.seconds, low),
                  bli_cell_number(range.high / unit.seconds, high));
}

static void put_row(struct table *table, const struct bli_replay_report *report, size_t i,
                    struct bli_replay_unit unit, struct bli_replay_unit energy) {
    const struct bli_replay_outcome *outcome = &report->outcomes[i];
    const struct bli_result *result = &outcome->result;
    const struct bli_case *c = &report->cases[i];
    const bool classes = report->replay->model.classes;
    if (bli_table_column(table, 'l', "policy"))
        bli_table_add(table, "%s%s", bli_replay_name(&c->policy).text, bli_sizes_mark(c->policy.policy));
    if (bli_table_column(table, 'r', "mean, %s", unit.name))
        bli_cell_add_estimate(table, bli_in_unit(outcome->time[BLI_TIME_MEAN], unit), 2,
                              result->doubts ? " !" : "");
    bli_put_quantiles(table, report, outcome->time, unit);
    if (bli_table_column(table, 'r', "other logs"))
        add_range(table, outcome->log[bli_leading(report)], unit);
    if (classes && bli_table_column(table, 'r', "high p99"))
        bli_cell_add_time(table, result->metric[BLI_HIGH_RESPONSE_P99], unit);
    if (classes && bli_table_column(table, 'r', "low p99"))
        bli_cell_add_time(table, result->metric[BLI_LOW_RESPONSE_P99], unit);
    if (bli_table_column(table, 'r', "waits"))
        bli_table_add_number(table, "%.1f%%", 100 * result->metric[BLI_WAITING_PROBABILITY].mean);
    if (bli_table_column(table, 'r', "msgs"))
        bli_cell_add(table, result->metric[BLI_MESSAGES_PER_JOB].mean);
    bli_put_costs(table, report, c, result, energy);
    if (report->keeper && bli_table_column(table, 'r', "server h"))
        bli_cell_add(table, bli_replay_server_time(c, result) / 3600);
    bli_put_mark(table, report);
}

void bli_replay_table(const struct bli_replay_report *report, const size_t *order, struct table *table) {
    const struct bli_replay_unit unit = bli_replay_unit(report);
    const struct bli_replay_unit energy = bli_energy_unit(largest_energy(report));
    bli_table_init(table, 0);
    for (size_t i = 0; i < report->count; i++)
        do
            put_row(table, report, order[i], unit, energy);
        while (bli_table_end_row(table));
}

/* ---- what follows ---- */

static void print_overload(const struct bli_replay_report *report, FILE *out) {
    const double load = bli_replay_load(report->replay, report->demand->work);
    char window[BLI_TIME_TEXT];
    bli_time_length(report->demand->window, window);
    if (load < 1) {
        if (bli_replay_load(report->replay, report->demand->peak_work) >= 1)
            fprintf(out,
                    "In the busiest %s more work arrives than the fleet can do: queues grow under every "
                    "policy.\n",
                    window);
        return;
    }
    fprintf(out,
            "The fleet is too small: %.3g times the work that it can do arrives. Queues grow until the log "
            "ends.\n",
            load);
    const struct bli_recovery *recovery = report->times->recovery;
    if (report->replay->speedup == 1 && recovery->servers == 0 && recovery->times != BLI_TIMES_SERVICE)
        fputs("If this is the fleet that wrote the log, that cannot be: its times include waiting.\n", out);
}

static void print_refusals(const struct bli_replay_report *report, const size_t *order, FILE *out) {
    for (size_t i = 0; i < report->count; i++) {
        const struct bli_result *result = &report->outcomes[order[i]].result;
        const double failed = result->metric[BLI_FAILED].mean;
        char label[BLI_REPLAY_LABEL];
        bli_replay_label(&report->cases[order[i]].policy, label);
        if (bli_turned_away(result) > 0)
            fprintf(out,
                    "%s refuses %.3g %% of all jobs because no server is on; its times are of the others.\n",
                    label, 100 * bli_turned_away(result));
        if (failed > 0)
            fprintf(out,
                    "%s fails %.3g %% of all jobs: a wrong answer, or none. Its times are of the others.\n",
                    label, 100 * failed);
    }
}

/* What a policy that switches servers off is compared with: jiq, which is tabs with all servers on, or the
 * best one whose servers are always on; count when there is none. */
static size_t always_on(const struct bli_replay_report *report, const size_t *order) {
    size_t found = report->count;
    for (size_t i = report->count; i-- > 0;) {
        const struct bal_policy *policy = report->cases[order[i]].policy.policy;
        if (strcmp(policy->name, "jiq") == 0)
            return order[i];
        if (!policy->power)
            found = order[i];
    }
    return found;
}

/* How a policy decides who is on. */
static void print_ways(const struct bli_case *c, char *text, size_t size) {
    char standby[BLI_TIME_TEXT], setup[BLI_TIME_TEXT], window[BLI_TIME_TEXT];
    struct bli_window_rule rule;
    bli_time_length(c->model.standby.mean, standby);
    bli_time_length(c->model.setup.mean, setup);
    if (bli_window_rule_of(&c->policy, &rule)) {
        bli_time_length(rule.window, window);
        snprintf(text, size, "has as many on as the jobs of the last %s want, and on in %s", window, setup);
    } else {
        snprintf(text, size, "switches servers off after %s idle and on in %s", standby, setup);
    }
}

static void print_saving(const struct bli_replay_report *report, size_t i, size_t other, FILE *out) {
    const struct bli_result *result = &report->outcomes[i].result, *on = &report->outcomes[other].result;
    const struct bli_replay_unit unit = bli_replay_unit(report);
    const double joules = bli_replay_energy(result), without = bli_replay_energy(on);
    const struct bli_replay_unit energy = bli_energy_unit(fmax(joules, without));
    char ways[200];
    print_ways(&report->cases[i], ways, sizeof ways);
    char saving[40] = "as much as";
    const double less = 100 * (1 - joules / without);
    if (fabs(less) >= 0.05)
        snprintf(saving, sizeof saving, "%.1f %% %s than", fabs(less), less > 0 ? "less" : "more");
    char spent[BLI_CELL], other_spent[BLI_CELL], p99[BLI_CELL], other_p99[BLI_CELL];
    fprintf(out,
            "%s %s: %s %s, %s %s (%s),\n"
            "  whose servers are always on; p99 %s %s compared with %s.\n",
            bli_replay_name(&report->cases[i].policy).text, ways,
            bli_cell_number(joules / energy.seconds, spent), energy.name, saving,
            bli_replay_name(&report->cases[other].policy).text,
            bli_cell_number(without / energy.seconds, other_spent),
            bli_cell_number(result->metric[BLI_RESPONSE_P99].mean / unit.seconds, p99), unit.name,
            bli_cell_number(on->metric[BLI_RESPONSE_P99].mean / unit.seconds, other_p99));
}

/* An idle server gets a job long before its time is up when jobs are short and many. */
static void print_hint(const struct bli_replay_report *report, size_t i, FILE *out) {
    enum { RARELY = 1000 }; /* one server in so many is off */
    const struct bli_case *c = &report->cases[i];
    struct bli_window_rule rule;
    if (report->outcomes[i].result.metric[BLI_SERVERS_OFF].mean * RARELY >= 1 ||
        bli_window_rule_of(&c->policy, &rule))
        return;
    char standby[BLI_TIME_TEXT], between[BLI_TIME_TEXT];
    bli_time_length(c->model.standby.mean, standby);
    bli_time_length(bli_servers_count(&c->model.servers) / bli_model_arrival_rate(&c->model), between);
    fprintf(out,
            "%s hardly ever finds a server idle for %s, as each gets a job every %s on average;\n"
            "  a shorter --standby may save more.\n",
            bli_replay_name(&c->policy).text, standby, between);
}

static void print_failure(const struct bli_replay_report *report, FILE *out) {
    const struct bli_replay *replay = report->replay;
    char after[BLI_TIME_TEXT];
    bli_time_length(replay->fail_at / replay->speedup, after);
    fprintf(out, "%u server%s %s after %s, for good; the jobs there start again on others.\n",
            replay->failing, replay->failing == 1 ? "" : "s", replay->failing == 1 ? "fails" : "fail", after);
}

static bool is_untold(const struct bli_replay_report *report) {
    for (size_t i = 0; i < report->count; i++)
        if (isnan(report->outcomes[i].log[bli_leading(report)].low))
            return true;
    return false;
}

static void print_meaning(const struct bli_replay_report *report, FILE *out) {
    const bool drawn = bli_trace_info(report->replay->trace)->spread > 0;
    fprintf(out,
            "Response times in %s, best %s first. waits: jobs that wait at all. msgs: per job, a probe is "
            "two.\n",
            bli_replay_unit(report).name, bli_leading_name(report));
    for (size_t i = 0; i < report->count; i++)
        if (*bli_sizes_mark(report->cases[i].policy.policy)) {
            fputs(BLI_SIZES_NOTE "\n", out);
            break;
        }
    fputs("Energy of the whole fleet until the last job has left; watts: mean of a server.\n", out);
    if (bli_is_priced(report))
        fprintf(out, "cost: servers that are on, %g an hour each.\n", report->price);
    if (report->keeper)
        fputs("server h: hours for which servers are on or in set-up, all together.\n", out);
    if (report->replay->replications > 1)
        fprintf(out,
                "\u00b1: 95 %% confidence over %u replays of the same jobs with other random choices of the "
                "policy%s.\n",
                report->replay->replications, drawn ? ",\n  and of where in their second jobs arrive" : "");
    else
        fputs("One replay of each policy: what its random choices change is not measured (--replications).\n",
              out);
    fprintf(out, "other logs: where the %s would lie in 95 %% of other logs like this one%s.\n",
            bli_leading_name(report),
            is_untold(report)
                ? ";\n  ?: it cannot be told, by too few jobs or queues that remember for too long"
                : "");
    if (report->replay->failing > 0)
        print_failure(report, out);
}

/* Stability does not apply to a replay: it has a finite number of jobs. */
static void print_doubts(const struct bli_replay_report *report, const size_t *order, FILE *out) {
    struct doubt_notes notes = {0};
    for (size_t i = 0; i < report->count; i++) {
        bli_doubt_add(&notes, bli_replay_name(&report->cases[order[i]].policy).text, &report->cases[order[i]],
                      &report->outcomes[order[i]].result);
    }
    notes.undecided = false;
    bli_doubt_print(&notes, BLI_REMEDY_NONE, out);
}

void bli_replay_notes(const struct bli_replay_report *report, const size_t *order, FILE *out) {
    print_meaning(report, out);
    bli_replay_doubt(report, out);
    print_overload(report, out);
    print_doubts(report, order, out);
    print_refusals(report, order, out);
    const size_t other = always_on(report, order);
    for (size_t i = 0; i < report->count && other < report->count; i++)
        if (report->cases[order[i]].policy.policy->power) {
            print_saving(report, order[i], other, out);
            print_hint(report, order[i], out);
        }
}

/* ---- all of it ---- */

void bli_replay_text(const struct bli_replay_report *report, const size_t *order, enum bli_table_style style,
                     FILE *out) {
    struct table table;
    bli_replay_head(report, out);
    fputc('\n', out);
    bli_replay_table(report, order, &table);
    bli_table_print(&table, table.align, style, out);
    bli_table_fini(&table);
    fputc('\n', out);
    bli_replay_notes(report, order, out);
    if (report->kinds > 0) {
        fputc('\n', out);
        bli_kinds_text(report, order, style, out);
    }
    if (report->target) {
        fputc('\n', out);
        bli_sizing_text(report, order, style, out);
    }
    if (report->nginx) {
        fputc('\n', out);
        bli_replay_nginx(report, out);
    }
    if (report->explain)
        bli_replay_explain(report, out);
}
