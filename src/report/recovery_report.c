/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints how service times were recovered from a log, and how certain they are. */
#include "report/recovery_report.h"

#include "report/metric.h"

#include "format/time_text.h"
#include "report/log_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *bli_recovery_mark(const struct bli_recovery *recovery) {
    switch (recovery->times) {
    case BLI_TIMES_WAITING:
        return "service times include waiting";
    case BLI_TIMES_UNKNOWN:
        return "service times may include waiting";
    case BLI_TIMES_LIGHT:
        return "service times are estimated";
    default:
        return NULL;
    }
}

/* ---- slots of the recorded servers ---- */

static void format_confidence(const struct bli_recovery_report *report, char *text, size_t size) {
    const struct bli_recovery *r = report->recovery;
    char low[BLI_TIME_TEXT], high[BLI_TIME_TEXT];
    bli_time_length(r->low_mean, low);
    bli_time_length(r->high_mean, high);
    const uint32_t given = report->slots_given;
    if (r->times == BLI_TIMES_SHARED)
        snprintf(text, size, "%s", given ? "as --slots says" : "which explains the times best");
    else if (given > 0 && given < r->slots_low)
        snprintf(text, size,
                 "as --slots says, but the log disproves it: %.3g %% of requests leave before so"
                 " many that came earlier, which needs %u or more",
                 100 * r->overtaking, r->slots_low);
    else if (given > 0 && r->slots_high > 0 && given > r->slots_high)
        snprintf(text, size,
                 "as --slots says, but the log speaks for %u%s%.0u: with so many, requests that find no free"
                 " slot would take %.3g times as long as others",
                 r->slots_low, r->slots_low < r->slots_high ? " to " : "",
                 r->slots_low < r->slots_high ? r->slots_high : 0, r->dependence);
    else if (given > 0)
        snprintf(text, size, "as --slots says");
    else if (r->slots_told)
        snprintf(text, size, "as the log says ($ballast_slots)");
    else if (r->slots_high == 0)
        snprintf(text, size,
                 "or more, which the log does not tell: hardly any request finds so many; this is a guess,"
                 " and --slots says it");
    else if (report->spread)
        snprintf(text, size,
                 "by the order of lines, or %u to %u, which would make the mean service time %s to %s",
                 r->slots_low, r->slots_high, low, high);
    else if (r->slots_low < r->slots_high)
        snprintf(text, size, "as the log tells, or %u to %u, which would make the mean service time %s to %s",
                 r->slots_low, r->slots_high, low, high);
    else
        snprintf(text, size, "as the log tells; no other number explains it");
}

bool bli_recovery_slots_are_guessed(const struct bli_recovery_report *report) {
    const struct bli_recovery *r = report->recovery;
    if (report->works)
        return false;
    return report->slots_given == 0 && (r->servers == 0 || r->slots_open);
}

static void print_servers(const struct bli_recovery_report *report, FILE *out) {
    const struct bli_recovery *r = report->recovery;
    char seen[60] = "", sure[300];
    if (r->servers_seen > r->servers)
        snprintf(seen, sizeof seen, " at once, %u in all", r->servers_seen);
    format_confidence(report, sure, sizeof sure);
    bli_head_line(out, "servers", "%u%s (%s)", r->servers, seen, report->field);
    if (r->times == BLI_TIMES_SHARED)
        bli_head_line(out, "", "each shares its time among all requests there, %u at full speed, %s",
                      r->slots, sure);
    else
        bli_head_line(out, "", "each serves %u request%s at a time, in order, %s", r->slots,
                      r->slots == 1 ? "" : "s", sure);
}

/* ---- waiting ---- */

static void print_both(const struct bli_recovery *r, const char *made, FILE *out) {
    char logged[BLI_TIME_TEXT], logged_p99[BLI_TIME_TEXT], mean[BLI_TIME_TEXT], p99[BLI_TIME_TEXT];
    bli_time_length(r->logged_mean, logged);
    bli_time_length(r->logged_p99, logged_p99);
    bli_time_length(r->service_mean, mean);
    bli_time_length(r->service_p99, p99);
    bli_head_line(out, "", "logged: mean %s, p99 %s; %s: mean %s, p99 %s", logged, logged_p99, made, mean,
                  p99);
}

static void print_recovered(const struct bli_recovery_report *report, FILE *out) {
    const struct bli_recovery *r = report->recovery;
    bli_head_line(out, "waiting", "%.3g %% of the logged time, at the servers; service times are recovered",
                  bli_shown(100 * r->share.mean, 3));
    print_both(r, "recovered", out);
    if (r->logged_load > 1)
        bli_head_line(out, "",
                      "by the logged times these servers would have had load %.3g, by the recovered "
                      "ones %.3g",
                      r->logged_load, r->service_load);
    if (r->times == BLI_TIMES_SHARED) {
        char mean[BLI_TIME_TEXT];
        bli_time_length(r->shared_mean, mean);
        bli_head_line(out, "",
                      "read as served in order, the mean would be %s; a replay serves in order, so that "
                      "percentiles on servers that share would be others; with --speeds find it shares too",
                      mean);
    }
    if (report->spread && r->times == BLI_TIMES_IN_ORDER)
        bli_head_line(out, "",
                      "times are whole seconds: by the order of lines within each; right on average, "
                      "rougher in percentiles%s",
                      r->slots > 1 ? ", and whether servers share their time is not seen" : "");
    if (r->abandoned > 0)
        bli_head_line(out, "", "%" PRIu64 " request%s given up before service began %s no job", r->abandoned,
                      r->abandoned == 1 ? "" : "s", r->abandoned == 1 ? "is" : "are");
    if (r->unserved > 0)
        bli_head_line(out, "", "%" PRIu64 " job%s without a server: as logged", r->unserved,
                      r->unserved == 1 ? "" : "s");
}

/* What to do about it that no server is named. */
static void print_remedy(const struct bli_recovery_report *report, FILE *out) {
    if (*report->perhaps)
        bli_head_line(out, "",
                      "%s may tell who served a request: if it does, --server-field %s has it recovered",
                      report->perhaps, report->perhaps);
    else
        bli_head_line(out, "",
                      "log who served a request ($upstream_addr in nginx), or name the field that says it "
                      "(--server-field), to have it recovered");
}

static void print_light(const struct bli_recovery_report *report, FILE *out) {
    const struct bli_recovery *r = report->recovery;
    if (isnan(r->share.half_width))
        bli_head_line(out, "waiting", "about %.2g %% of the logged time, or more",
                      bli_shown(100 * r->share.mean, 3));
    else
        bli_head_line(out, "waiting", "%.0f \u00b1 %.0f %% of the logged time, or more",
                      bli_shown(100 * r->share.mean, 0), 100 * r->share.half_width);
    bli_head_line(out, "",
                  "no server is named: service times are estimated from requests that found the "
                  "fewest others, %.3g on average where all found %.3g; these waited too, so that the "
                  "estimate is rather too long",
                  r->light_others, r->mean_others);
    print_both(r, "estimated", out);
    print_remedy(report, out);
}

static void print_kept(const struct bli_recovery_report *report, FILE *out) {
    const struct bli_recovery *r = report->recovery;
    bli_head_line(out, "waiting",
                  "%.2g %% of the logged time, and left in it: service times include waiting%s",
                  bli_shown(100 * r->share.mean, 3), report->kept ? " (--waiting keep)" : "");
}

static void print_clean(const struct bli_recovery_report *report, FILE *out) {
    const struct bli_recovery *r = report->recovery;
    const double share = 100 * r->share.mean;
    if (r->servers > 0)
        bli_head_line(out, "waiting", "%.2g %% of the logged time, left in it%s", bli_shown(share, 3),
                      report->kept ? " (--waiting keep)" : "");
    else if (r->mean_others == 0)
        bli_head_line(out, "waiting", "none: no request found another");
    else if (share < -0.5)
        bli_head_line(out, "waiting",
                      "none is seen: requests that found the fewest others took %.0f %% longer", -share);
    else
        bli_head_line(out, "waiting", "none is seen: %.0f \u00b1 %.0f %% of the logged time", fmax(share, 0),
                      100 * r->share.half_width);
}

/* ---- works at speeds ---- */

/* "batch(8,0.15), shared by all", "4 slots, in order". */
static void format_speeds(const struct bli_speeds *speeds, uint32_t slots, char *text, size_t size) {
    char name[200];
    bli_speeds_print(speeds, name, sizeof name);
    if (!bli_speeds_given(speeds))
        snprintf(text, size, "%u slot%s of full speed, in order", slots, slots == 1 ? "" : "s");
    else if (slots)
        snprintf(text, size, "%s, shared by the first %u, the others in order", name, slots);
    else
        snprintf(text, size, "%s, shared by all that are there", name);
}

static void print_range(const struct bli_speeds_fit *fit, FILE *out) {
    static const char *const what[BLI_CAUSES] = {"slots", "cores", "slowdown"};
    const struct bli_speeds_candidate *best = &fit->candidate[fit->best];
    const bool open = fit->best != BLI_CAUSE_BATCH && best->high >= fit->most;
    bli_head_line(
        out, "",
        "%s %.3g to %.3g%s (95 %%), from %" PRIu64 " requests%s, of which %.3g %% left others behind",
        what[fit->best], best->low, best->high, open ? " or more" : "", fit->jobs,
        fit->cut ? ", the first ones of the log" : "", 100 * (double)fit->shared / (double)fit->jobs);
}

/* How the other explanations compare. */
static void print_others(const struct bli_speeds_fit *fit, FILE *out) {
    for (int c = 0; c < BLI_CAUSES; c++) {
        char text[300];
        if (c == (int)fit->best)
            continue;
        format_speeds(&fit->candidate[c].speeds, fit->candidate[c].slots, text, sizeof text);
        bli_head_line(out, "",
                      fit->ahead[c] >= 2 ? "more likely than %s: by %.1f standard deviations"
                                         : "not told apart from %s: %.1f standard deviations",
                      text, fabs(fit->ahead[c]));
    }
}

/* Rates by the number there, at a few numbers. */
static void print_rates(const struct bli_speeds_fit *fit, FILE *out) {
    char text[300];
    size_t used = 0;
    for (unsigned k = 1; k <= fit->numbers; k += 1 + k / 3)
        if (fit->ended[k] >= 20 && used + 40 < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%u: %.3g \u00b1 %.2g",
                                     used ? ", " : "", k, fit->rate[k], 1.96 * fit->rate_sd[k]);
    if (used)
        bli_head_line(out, "", "work done per second with so many there: %s", text);
}

/* How far the log reaches. */
static void print_reach(const struct bli_speeds_fit *fit, FILE *out) {
    uint64_t ended = 0;
    unsigned k = 0;
    while (k < fit->numbers && 100 * ended < 99 * fit->jobs)
        ended += fit->ended[++k];
    if (100 * ended >= 99 * fit->jobs)
        bli_head_line(
            out, "",
            "seldom more than %u there (1 %% of requests): how fast servers are with more is a guess", k);
}

static void print_works(const struct bli_recovery_report *report, FILE *out) {
    const struct bli_speeds_recovery *s = report->works;
    const struct bli_recovery *r = report->recovery;
    char text[300];
    format_speeds(&s->speeds, s->slots, text, sizeof text);
    if (r->servers == 0) {
        bli_head_line(out, "servers", "each: %s, as --speeds says", text);
        bli_head_line(out, "", "no server is named, so that service times are taken as work at full speed");
        return;
    }
    bli_head_line(out, "servers", "%u (%s)", r->servers, report->field);
    if (s->computed) {
        bli_head_line(out, "", "each: %s, as --speeds says", text);
        bli_head_line(out, "", "service times are computed, and taken as work at full speed");
        return;
    }
    bli_head_line(out, "", "each: %s, %s", text,
                  !s->found     ? "as --speeds says"
                  : s->fit.told ? "which explains the times best"
                                : "which is the best guess: the log cannot tell");
    if (s->found) {
        print_range(&s->fit, out);
        print_others(&s->fit, out);
        print_rates(&s->fit, out);
        print_reach(&s->fit, out);
    }
    print_both(r, "work at full speed", out);
    if (r->unserved > 0)
        bli_head_line(out, "", "%" PRIu64 " job%s without a server: as logged", r->unserved,
                      r->unserved == 1 ? "" : "s");
}

static void json_candidate(struct json *json, const struct bli_speeds_fit *fit, int c) {
    const struct bli_speeds_candidate *candidate = &fit->candidate[c];
    char text[200];
    bli_json_open(json, bli_speeds_cause_name[c], '{');
    bli_speeds_print(&candidate->speeds, text, sizeof text);
    bli_json_text(json, "speeds", text);
    bli_json_count(json, "slots", candidate->slots);
    bli_json_number(json, "low", candidate->low);
    bli_json_number(json, "high", candidate->high);
    bli_json_number(json, "work", candidate->work_mean);
    bli_json_number(json, "behind", fit->ahead[c]);
    bli_json_close(json, '}');
}

static void json_works(struct json *json, const struct bli_speeds_recovery *works) {
    char text[200];
    bli_json_open(json, "speeds", '{');
    bli_speeds_print(&works->speeds, text, sizeof text);
    bli_json_text(json, "text", text);
    bli_json_count(json, "slots", works->slots);
    bli_json_bool(json, "found", works->found);
    if (bli_json_if(json, works->found)) {
        bli_json_bool(json, "told", works->fit.told);
        bli_json_text(json, "best", bli_speeds_cause_name[works->fit.best]);
        bli_json_count(json, "jobs", works->fit.jobs);
        bli_json_count(json, "shared", works->fit.shared);
        bli_json_open(json, "candidates", '{');
        for (int c = 0; c < BLI_CAUSES; c++)
            json_candidate(json, &works->fit, c);
        bli_json_close(json, '}');
    }
    bli_json_close(json, '}');
}

/* ---- all of it ---- */

void bli_recovery_text(const struct bli_recovery_report *report, FILE *out) {
    const struct bli_recovery *r = report->recovery;
    if (report->works) {
        print_works(report, out);
        return;
    }
    if (r->servers > 0)
        print_servers(report, out);
    switch (r->times) {
    case BLI_TIMES_SERVICE:
        bli_head_line(out, "waiting", "none in the service times, by the name of their field");
        break;
    case BLI_TIMES_IN_ORDER:
    case BLI_TIMES_SHARED:
        print_recovered(report, out);
        break;
    case BLI_TIMES_CLEAN:
        print_clean(report, out);
        break;
    case BLI_TIMES_LIGHT:
        print_light(report, out);
        break;
    case BLI_TIMES_WAITING:
        print_kept(report, out);
        break;
    case BLI_TIMES_UNKNOWN:
        bli_head_line(out, "waiting",
                      "service times may include waiting: no server is named, and the log is too "
                      "short or too steady to tell");
        print_remedy(report, out);
        break;
    }
}

void bli_recovery_json(struct json *json, const char *key, const struct bli_recovery_report *report) {
    const struct bli_recovery *r = report->recovery;
    bli_json_open(json, key, '{');
    bli_json_text(json, "kind", bli_times_text(r->times));
    bli_json_bool(json, "doubtful", bli_times_are_doubtful(r->times));
    bli_json_open_line(json, "logged", '{');
    bli_json_number(json, "mean", r->logged_mean);
    bli_json_number(json, "p99", r->logged_p99);
    bli_json_close(json, '}');
    bli_json_open_line(json, "used", '{');
    bli_json_number(json, "mean", r->service_mean);
    bli_json_number(json, "p99", r->service_p99);
    bli_json_close(json, '}');
    static const struct bli_speeds_recovery none;
    if (bli_json_if(json, report->works))
        json_works(json, report->works ? report->works : &none);
    bli_json_number(json, "waiting_share", r->share.mean);
    bli_json_number(json, "waiting_share_ci", r->share.half_width);
    if (bli_json_if(json, r->servers > 0)) {
        bli_json_text(json, "server_field", report->field);
        bli_json_count(json, "servers", r->servers);
        bli_json_count(json, "servers_seen", r->servers_seen);
        bli_json_count(json, "slots", r->slots);
        bli_json_bool(json, "slots_given", report->slots_given > 0);
        bli_json_bool(json, "slots_told", r->slots_told);
        bli_json_count(json, "slots_low", r->slots_low);
        bli_json_number(json, "slots_high", r->slots_high > 0 ? (double)r->slots_high : NAN);
        bli_json_number(json, "overtaking", r->overtaking);
        bli_json_number(json, "dependence", r->dependence);
        bli_json_number(json, "logged_load", r->logged_load);
        bli_json_number(json, "load", r->service_load);
        bli_json_count(json, "unserved", r->unserved);
        bli_json_count(json, "abandoned", r->abandoned);
    }
    if (bli_json_if(json, r->servers == 0 && r->times != BLI_TIMES_SERVICE)) {
        bli_json_number(json, "light_others", r->light_others);
        bli_json_number(json, "mean_others", r->mean_others);
    }
    bli_json_close(json, '}');
}
