/* What a person reads of a replay: what was in the log, how the policies did, how many servers they need. */
#include "report/replay_report.h"

#include "base/gather.h"
#include "format/time_text.h"
#include "report/doubt.h"
#include "report/log_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers and times ---- */

enum { NUMBER = 32 };

/* Three or four digits, whatever the size; nothing for what is not known. Returns text. */
static const char *print_number(double value, char text[NUMBER]) {
    const int decimals = value >= 99.95     ? 0
                         : value >= 9.995   ? 1
                         : value >= 0.9995  ? 2
                         : value >= 0.09995 ? 3
                                            : 4;
    if (!isfinite(value))
        snprintf(text, NUMBER, "%s", isnan(value) ? "" : "inf");
    else
        snprintf(text, NUMBER, "%.*f", value == 0 ? 0 : decimals, value);
    return text;
}

static void add_number(struct table *table, double value) {
    char text[NUMBER];
    bal_table_add(table, "%s", print_number(value, text));
}

/* As many decimals as the half-width can bear. */
static void add_mean(struct table *table, struct bal_estimate mean, bool doubted) {
    const char *mark = doubted ? " !" : "";
    char text[NUMBER];
    if (!(mean.half > 1e-5 * mean.mean)) { /* also where there is none */
        bal_table_add(table, "%s%s", print_number(mean.mean, text), mark);
        return;
    }
    const int decimals = 1 - (int)floor(log10(mean.half));
    const int shown = decimals < 0 ? 0 : decimals > 4 ? 4 : decimals;
    bal_table_add(table, "%.*f \u00b1 %.*f%s", shown, mean.mean, shown, mean.half, mark);
}

struct bal_replay_unit bal_replay_unit(const struct bal_replay_report *report) {
    double best = INFINITY;
    for (size_t i = 0; i < report->count; i++)
        best = fmin(best, report->results[i].metric[BAL_RESPONSE_MEAN].mean);
    return best < 1e-3 ? (struct bal_replay_unit){"us", 1e-6}
           : best < 1  ? (struct bal_replay_unit){"ms", 1e-3}
                       : (struct bal_replay_unit){"s", 1};
}

static struct bal_replay_unit energy_unit(double joules) {
    return joules < 3.6e6   ? (struct bal_replay_unit){"Wh", 3.6e3}
           : joules < 3.6e9 ? (struct bal_replay_unit){"kWh", 3.6e6}
                            : (struct bal_replay_unit){"MWh", 3.6e9};
}

static double largest_energy(const struct bal_replay_report *report) {
    double most = 0;
    for (size_t i = 0; i < report->count; i++)
        most = fmax(most, bal_replay_energy(&report->results[i]));
    return most;
}

/* ---- policies ---- */

void bal_replay_label(const struct bal_policy_spec *policy, char text[BAL_REPLAY_LABEL]) {
    if (policy->policy->power)
        snprintf(text, BAL_REPLAY_LABEL, "%s", policy->policy->name);
    else
        bal_policy_print(policy, text, BAL_REPLAY_LABEL);
}

/* The share of all jobs that was turned away. */
static double turned_away(const struct bal_result *result) {
    return result->metric[BAL_REFUSED].mean + result->metric[BAL_LOST].mean;
}

/* Whoever turns more than a hundredth away comes last: its times are those of the others. So do unknown
 * values. */
static bool is_better(const struct bal_result *a, const struct bal_result *b, enum bal_metric metric) {
    const bool a_serves = turned_away(a) <= 0.01, b_serves = turned_away(b) <= 0.01;
    if (a_serves != b_serves)
        return a_serves;
    const double x = a->metric[metric].mean, y = b->metric[metric].mean;
    return x < y || (!isnan(x) && isnan(y));
}

size_t *bal_replay_order(const struct bal_replay_report *report) {
    size_t *order = malloc((report->count + 1) * sizeof *order);
    if (!order)
        return NULL;
    const enum bal_metric metric = report->target ? report->target->metric : BAL_RESPONSE_MEAN;
    for (size_t i = 0; i < report->count; i++) {
        size_t at = i;
        for (; at > 0 && is_better(&report->results[i], &report->results[order[at - 1]], metric); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/* ---- the head ---- */

static void print_arrivals(const struct bal_replay_report *report, FILE *out) {
    const struct bal_demand *demand = report->demand;
    const double speedup = report->replay->speedup;
    char window[BAL_TIME_TEXT], p50[BAL_TIME_TEXT], p99[BAL_TIME_TEXT];
    bal_time_length(demand->window, window);
    bal_time_length(demand->size_p50, p50);
    bal_time_length(demand->size_p99, p99);
    bal_head_line(out, "sizes", "p50 %s, p99 %s, squared coefficient of variation %.3g", p50, p99,
                  demand->scv);
    bal_head_line(out, "arrivals", "%.4g a second, %.4g in the busiest %s%s", demand->rate * speedup,
                  demand->peak_rate * speedup, window, speedup == 1 ? "" : " of the log");
    if (speedup != 1)
        bal_head_line(out, "speedup", "jobs come %g times as fast as they were recorded%s", speedup,
                      report->recorded || report->sized_for > 0
                          ? ", to the fleet of the recorded traffic; --servers says otherwise"
                          : "");
}

static void print_fleet(const struct bal_replay_report *report, FILE *out) {
    const struct bal_replay *replay = report->replay;
    const struct bal_demand *demand = report->demand;
    const bool one_day = bal_trace_info(replay->trace)->span <= 86400;
    char servers[300], window[BAL_TIME_TEXT], when[BAL_TIME_TEXT], slots[40] = "";
    bal_servers_print(&replay->model.servers, servers, sizeof servers);
    bal_time_length(demand->window, window);
    bal_time_moment(demand->peak_at,
                    demand->window < 60 ? (one_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S")
                    : one_day           ? "%H:%M"
                                        : "%Y-%m-%d %H:%M",
                    when);
    if (replay->model.slots > 1)
        snprintf(slots, sizeof slots, " of %u slots", replay->model.slots);
    bal_head_line(out, "fleet", "%s server%s%s: load %.3g, in the busiest %s (from %s) %.3g", servers,
                  strcmp(servers, "1") == 0 ? "" : "s", slots, bal_replay_load(replay, demand->work), window,
                  when, bal_replay_load(replay, demand->peak_work));
    if (report->recorded)
        bal_head_line(out, "", "no --servers given: as many as the log names");
    if (report->sized_for > 0)
        bal_head_line(out, "", "no --servers given: so many that the load in the busiest %s is at most %g%s",
                      window, report->sized_for, report->replay->speedup == 1 ? "" : " as recorded");
    if (replay->model.steal.kind != BAL_STEAL_NONE) {
        char steal[BAL_STEAL_TEXT];
        bal_steal_print(&replay->model.steal, steal, sizeof steal);
        bal_head_line(out, "stealing", "a server that runs out of work steals from another: %s", steal);
    }
}

/* What else is set; the times of servers that switch off where a policy asks for them. */
static void print_settings(const struct bal_replay_report *report, FILE *out) {
    static const char *const told[] = {"servers",      "slots", "high",    "steal",
                                       "replications", "load",  "service", NULL};
    static const char *const told_without_power[] = {"servers", "slots",   "high",    "steal", "replications",
                                                     "load",    "service", "standby", "setup", NULL};
    bool power = false;
    for (size_t i = 0; i < report->count; i++)
        power = power || report->cases[i].policy.policy->power;
    const struct bal_draft draft = bal_replay_settings(report);
    struct bal_head head = {.used = 0};
    bal_head_add_settings(&head, &draft, true, power ? told : told_without_power);
    bal_head_add_settings(&head, &draft, false, told);
    if (head.used > 0)
        bal_head_line(out, "settings", "%s", head.text);
}

void bal_replay_head(const struct bal_replay_report *report, FILE *out) {
    const struct bal_trace_info *info = bal_trace_info(report->replay->trace);
    char first[BAL_TIME_TEXT], last[BAL_TIME_TEXT];
    bal_time_moment((double)info->first * 1e-9, "%Y-%m-%d %H:%M:%S", first);
    bal_time_moment((double)info->last * 1e-9, "%Y-%m-%d %H:%M:%S", last);
    bal_log_summary_text(report->summary, info, out);
    bal_recovery_text(report->times, out);
    bal_head_line(out, "span", "%s to %s UTC", first, last);
    print_arrivals(report, out);
    if (report->replay->model.classes)
        bal_head_line(out, "classes", "%.3g %% of jobs are high",
                      100 * (double)info->high / (double)info->jobs);
    print_fleet(report, out);
    print_settings(report, out);
}

/* ---- the table ---- */

/* Numbers that rest on doubtful times say so, each row of them. */
static bool is_marked(const struct bal_replay_report *report) {
    return bal_times_are_doubtful(report->times->recovery->times);
}

static void add_mark(struct table *table, const struct bal_replay_report *report) {
    if (is_marked(report))
        bal_table_add(table, "%s", bal_times_text(report->times->recovery->times));
}

static void add_time(struct table *table, const struct bal_result *result, enum bal_metric metric,
                     struct bal_replay_unit unit) {
    add_number(table, result->metric[metric].mean / unit.seconds);
}

static void add_row(struct table *table, const struct bal_replay_report *report, size_t i,
                    struct bal_replay_unit unit, struct bal_replay_unit energy) {
    const struct bal_result *result = &report->results[i];
    const struct bal_estimate mean = result->metric[BAL_RESPONSE_MEAN];
    char label[BAL_REPLAY_LABEL];
    bal_replay_label(&report->cases[i].policy, label);
    bal_table_add(table, "%s", label);
    add_mean(table, (struct bal_estimate){mean.mean / unit.seconds, mean.half / unit.seconds},
             result->doubts);
    add_time(table, result, BAL_RESPONSE_P50, unit);
    add_time(table, result, BAL_RESPONSE_P90, unit);
    add_time(table, result, BAL_RESPONSE_P99, unit);
    add_time(table, result, BAL_RESPONSE_P999, unit);
    if (report->replay->model.classes) {
        add_time(table, result, BAL_HIGH_RESPONSE_P99, unit);
        add_time(table, result, BAL_LOW_RESPONSE_P99, unit);
    }
    if (isnan(result->metric[BAL_WAITING_PROBABILITY].mean))
        bal_table_add(table, "%s", "");
    else
        bal_table_add(table, "%.1f%%", 100 * result->metric[BAL_WAITING_PROBABILITY].mean);
    add_number(table, result->metric[BAL_MESSAGES_PER_JOB].mean);
    add_number(table, bal_replay_energy(result) / energy.seconds);
    add_number(table, result->metric[BAL_POWER_MEAN].mean);
    add_mark(table, report);
}

/* Adds a column: its head, and how it is aligned. */
static void add_column(struct table *table, char *align, char letter, const char *head, const char *unit) {
    bal_table_add(table, "%s%s%s", head, *unit ? ", " : "", unit);
    const size_t used = strlen(align);
    align[used] = letter;
    align[used + 1] = 0;
}

void bal_replay_table(const struct bal_replay_report *report, const size_t *order, struct table *table,
                      char align[BAL_REPLAY_COLUMNS]) {
    const struct bal_replay_unit unit = bal_replay_unit(report);
    const struct bal_replay_unit energy = energy_unit(largest_energy(report));
    const bool classes = report->replay->model.classes;
    bal_table_init(table, (classes ? 12u : 10u) + is_marked(report));
    *align = 0;
    add_column(table, align, 'l', "policy", "");
    add_column(table, align, 'r', "mean", unit.name);
    static const char *const quantiles[] = {"p50", "p90", "p99", "p99.9"};
    for (int i = 0; i < 4; i++)
        add_column(table, align, 'r', quantiles[i], "");
    if (classes) {
        add_column(table, align, 'r', "high p99", "");
        add_column(table, align, 'r', "low p99", "");
    }
    add_column(table, align, 'r', "waits", "");
    add_column(table, align, 'r', "msgs", "");
    add_column(table, align, 'r', energy.name, "");
    add_column(table, align, 'r', "watts", "");
    if (is_marked(report))
        add_column(table, align, 'l', "service times", "");
    for (size_t i = 0; i < report->count; i++)
        add_row(table, report, order[i], unit, energy);
}

/* ---- what follows ---- */

/* What the marks mean, and what to do about it. */
static void print_doubt(const struct bal_replay_report *report, FILE *out) {
    const char *mark = bal_recovery_mark(report->times->recovery);
    if (mark)
        fprintf(out, "Mind: %s, and so every number here rests on that; see 'waiting' above.\n", mark);
}

static void print_overload(const struct bal_replay_report *report, FILE *out) {
    const double load = bal_replay_load(report->replay, report->demand->work);
    char window[BAL_TIME_TEXT];
    bal_time_length(report->demand->window, window);
    if (load < 1) {
        if (bal_replay_load(report->replay, report->demand->peak_work) >= 1)
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
    const struct bal_recovery *recovery = report->times->recovery;
    if (report->replay->speedup == 1 && recovery->servers == 0 && recovery->times != BAL_TIMES_SERVICE)
        fputs("If this is the fleet that wrote the log, that cannot be: its times include waiting.\n", out);
}

static void print_refusals(const struct bal_replay_report *report, const size_t *order, FILE *out) {
    for (size_t i = 0; i < report->count; i++) {
        const struct bal_result *result = &report->results[order[i]];
        if (!(turned_away(result) > 0))
            continue;
        char label[BAL_REPLAY_LABEL];
        bal_replay_label(&report->cases[order[i]].policy, label);
        fprintf(out, "%s refuses %.3g %% of all jobs because no server is on; its times are of the others.\n",
                label, 100 * turned_away(result));
    }
}

/* What to hold a policy against that switches servers off: jiq, which is tabs with all servers on, or the
 * best one whose servers are always on; count when there is none. */
static size_t always_on(const struct bal_replay_report *report, const size_t *order) {
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

static void print_saving(const struct bal_replay_report *report, size_t i, size_t other, FILE *out) {
    const struct bal_model *model = &report->cases[i].model;
    const struct bal_result *result = &report->results[i], *on = &report->results[other];
    const struct bal_replay_unit unit = bal_replay_unit(report);
    const double joules = bal_replay_energy(result), without = bal_replay_energy(on);
    const struct bal_replay_unit energy = energy_unit(fmax(joules, without));
    char label[BAL_REPLAY_LABEL], other_label[BAL_REPLAY_LABEL], standby[BAL_TIME_TEXT], setup[BAL_TIME_TEXT];
    bal_replay_label(&report->cases[i].policy, label);
    bal_replay_label(&report->cases[other].policy, other_label);
    bal_time_length(model->standby.mean, standby);
    bal_time_length(model->setup.mean, setup);
    char saving[40] = "as much as";
    const double less = 100 * (1 - joules / without);
    if (fabs(less) >= 0.05)
        snprintf(saving, sizeof saving, "%.1f %% %s than", fabs(less), less > 0 ? "less" : "more");
    char spent[NUMBER], other_spent[NUMBER], p99[NUMBER], other_p99[NUMBER];
    fprintf(out,
            "%s switches servers off after %s idle and on in %s: %s %s, %s %s (%s),\n"
            "  whose servers are always on; p99 %s %s beside %s.\n",
            label, standby, setup, print_number(joules / energy.seconds, spent), energy.name, saving,
            other_label, print_number(without / energy.seconds, other_spent),
            print_number(result->metric[BAL_RESPONSE_P99].mean / unit.seconds, p99), unit.name,
            print_number(on->metric[BAL_RESPONSE_P99].mean / unit.seconds, other_p99));
}

/* An idle server gets a job long before its time is up when jobs are short and many. */
static void print_hint(const struct bal_replay_report *report, size_t i, FILE *out) {
    enum { RARELY = 1000 }; /* one server in so many is off */
    const struct bal_case *c = &report->cases[i];
    if (report->results[i].metric[BAL_POWER_OFF].mean * RARELY >= 1)
        return;
    char label[BAL_REPLAY_LABEL], standby[BAL_TIME_TEXT], between[BAL_TIME_TEXT];
    bal_replay_label(&c->policy, label);
    bal_time_length(c->model.standby.mean, standby);
    bal_time_length(bal_servers_count(&c->model.servers) / bal_model_arrival_rate(&c->model), between);
    fprintf(out,
            "%s hardly ever finds a server idle for %s, as each gets a job every %s on average;\n"
            "  a shorter --standby may save more.\n",
            label, standby, between);
}

static void print_meaning(const struct bal_replay_report *report, FILE *out) {
    const char *first = report->target ? bal_target_name(report->target) : "mean";
    fprintf(out,
            "Response times in %s, best %s first. waits: jobs that wait at all. msgs: per job, a probe is "
            "two.\n",
            bal_replay_unit(report).name, first);
    fputs("Energy of the whole fleet until the last job has left; watts: mean of a server.\n", out);
    if (report->replay->replications > 1)
        fprintf(out,
                "\u00b1: 95 %% confidence over %u replays of the same jobs with other random choices of the "
                "policy.\n",
                report->replay->replications);
    else
        fputs("One replay of each policy: what its random choices change is not measured (--replications).\n",
              out);
}

/* Whether a replay is stable is no question: the jobs come to an end. */
static void print_doubts(const struct bal_replay_report *report, const size_t *order, FILE *out) {
    struct doubt_notes notes = {0};
    for (size_t i = 0; i < report->count; i++) {
        char label[BAL_REPLAY_LABEL];
        bal_replay_label(&report->cases[order[i]].policy, label);
        bal_doubt_take(&notes, label, &report->cases[order[i]], &report->results[order[i]]);
    }
    notes.undecided = false;
    bal_doubt_print(&notes, BAL_REMEDY_NONE, out);
}

void bal_replay_notes(const struct bal_replay_report *report, const size_t *order, FILE *out) {
    print_meaning(report, out);
    print_doubt(report, out);
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

/* ---- how many servers ---- */

void bal_sizing_title(const struct bal_replay_report *report, FILE *out) {
    const struct bal_model *model = &report->replay->model;
    char length[40], slots[40] = "", speed[40] = "";
    bal_time_length(report->target->seconds, length);
    if (model->slots > 1)
        snprintf(slots, sizeof slots, ", %u slots each", model->slots);
    if (model->servers.group[0].speed != 1)
        snprintf(speed, sizeof speed, ", speed %g", model->servers.group[0].speed);
    fprintf(out, "Servers needed for %s \u2264 %s%s%s\n", bal_target_name(report->target), length, speed,
            slots);
}

/* Fewest servers first; those that never will do last. */
static bool needs_less(const struct bal_sizing *a, const struct bal_sizing *b) {
    return a->outcome != b->outcome ? a->outcome == BAL_SIZED
                                    : a->outcome == BAL_SIZED && a->servers < b->servers;
}

static void add_sizing(struct table *table, const struct bal_replay_report *report, size_t i,
                       struct bal_replay_unit unit, struct bal_replay_unit energy) {
    const struct bal_sizing *sizing = &report->sizing[i];
    char label[BAL_REPLAY_LABEL];
    bal_replay_label(&report->cases[i].policy, label);
    bal_table_add(table, "%s", label);
    if (sizing->outcome != BAL_SIZED) {
        if (sizing->outcome == BAL_SIZE_BEYOND)
            bal_table_add(table, "> %u", sizing->servers);
        else
            bal_table_add(table, "none");
        for (int k = 0; k < 5; k++)
            bal_table_add(table, "%s", "");
        add_mark(table, report);
        return;
    }
    bal_table_add(table, "%u", sizing->servers);
    bal_table_add(table, "%.3f", sizing->c.model.load);
    add_time(table, &sizing->at, report->target->metric, unit);
    add_number(table, sizing->one_fewer / unit.seconds);
    add_number(table, bal_replay_energy(&sizing->at) / energy.seconds);
    add_number(table, sizing->at.metric[BAL_POWER_MEAN].mean);
    add_mark(table, report);
}

void bal_sizing_table(const struct bal_replay_report *report, const size_t *order, struct table *table,
                      char align[BAL_REPLAY_COLUMNS]) {
    const struct bal_replay_unit unit = bal_replay_unit(report);
    double most = 0;
    for (size_t i = 0; i < report->count; i++)
        if (report->sizing[i].outcome == BAL_SIZED)
            most = fmax(most, bal_replay_energy(&report->sizing[i].at));
    const struct bal_replay_unit energy = energy_unit(most);
    bal_table_init(table, 7 + is_marked(report));
    *align = 0;
    add_column(table, align, 'l', "policy", "");
    add_column(table, align, 'r', "servers", "");
    add_column(table, align, 'r', "load", "");
    add_column(table, align, 'r', bal_target_name(report->target), unit.name);
    add_column(table, align, 'r', "one fewer", "");
    add_column(table, align, 'r', energy.name, "");
    add_column(table, align, 'r', "watts", "");
    if (is_marked(report))
        add_column(table, align, 'l', "service times", "");
    size_t *rank = malloc((report->count + 1) * sizeof *rank);
    table->failed = table->failed || !rank;
    for (size_t i = 0; rank && i < report->count; i++) {
        size_t at = i;
        for (; at > 0 && needs_less(&report->sizing[order[i]], &report->sizing[rank[at - 1]]); at--)
            rank[at] = rank[at - 1];
        rank[at] = order[i];
    }
    for (size_t i = 0; rank && i < report->count; i++)
        add_sizing(table, report, rank[i], unit, energy);
    free(rank);
}

bool bal_sizing_is_hopeless(const struct bal_replay_report *report) {
    return report->sizing[0].outcome == BAL_SIZE_HOPELESS; /* which does not depend on the policy */
}

/* More servers do not help a policy that has all of them off at times. */
static void print_refusal(const struct bal_replay_report *report, size_t i, FILE *out) {
    const struct bal_sizing *sizing = &report->sizing[i];
    if (sizing->outcome != BAL_SIZE_BEYOND || !(turned_away(&sizing->at) > 0))
        return;
    char label[BAL_REPLAY_LABEL];
    bal_replay_label(&report->cases[i].policy, label);
    fprintf(out,
            "%s refuses %.3g %% of all jobs even then, as all servers are off at times: try a longer "
            "--standby.\n",
            label, 100 * turned_away(&sizing->at));
}

void bal_sizing_notes(const struct bal_replay_report *report, FILE *out) {
    const char *name = bal_target_name(report->target);
    if (bal_sizing_is_hopeless(report)) {
        char best[BAL_TIME_TEXT];
        bal_time_length(report->sizing[0].best, best);
        fprintf(out, "No number of servers will do: with no job waiting the %s would still be %s.\n", name,
                best);
        return;
    }
    bool beyond = false;
    for (size_t i = 0; i < report->count; i++)
        beyond = beyond || report->sizing[i].outcome == BAL_SIZE_BEYOND;
    fprintf(
        out,
        "Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not\n"
        "  (one fewer: their %s). That more servers are never worse is assumed.\n",
        name);
    print_doubt(report, out);
    if (beyond)
        fputs("> N: not met with N servers, the most that were tried.\n", out);
    for (size_t i = 0; i < report->count; i++)
        print_refusal(report, i, out);
}

/* ---- all of it ---- */

static void print_sizing(const struct bal_replay_report *report, const size_t *order, FILE *out) {
    struct table table;
    char align[BAL_REPLAY_COLUMNS];
    bal_sizing_title(report, out);
    fputc('\n', out);
    if (!bal_sizing_is_hopeless(report)) {
        bal_sizing_table(report, order, &table, align);
        bal_table_print(&table, align, true, out);
        bal_table_fini(&table);
        fputc('\n', out);
    }
    bal_sizing_notes(report, out);
}

void bal_replay_text(const struct bal_replay_report *report, FILE *out) {
    size_t *order = bal_replay_order(report);
    if (!order) {
        bal_stream_lose(out);
        return;
    }
    struct table table;
    char align[BAL_REPLAY_COLUMNS];
    bal_replay_head(report, out);
    fputc('\n', out);
    bal_replay_table(report, order, &table, align);
    bal_table_print(&table, align, true, out);
    bal_table_fini(&table);
    fputc('\n', out);
    bal_replay_notes(report, order, out);
    if (report->target) {
        fputc('\n', out);
        print_sizing(report, order, out);
    }
    free(order);
}
