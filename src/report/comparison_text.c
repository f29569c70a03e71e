/* The table that a person reads: best policy first, bars for the eye, intervals for the mind. */
#include "report/comparison.h"

#include "ballast/known.h"
#include "ballast/number.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 8 }; /* characters of the longest bar */

/* A bar of eighths of a character. */
static void bar_text(double part, char text[3 * BAR + 1]) {
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    const long units = lrint(fmax(part, 0) * BAR * 8);
    text[0] = 0;
    for (long i = 0; i < units / 8; i++)
        strcat(text, "\u2588");
    strcat(text, eighths[units % 8]);
}

/* As many decimals as the half-width can bear: its first two digits. */
static int decimals_of(double half, double value) {
    const double scale = half > 0 && isfinite(half) ? half : fabs(value) * 1e-3;
    if (!(scale > 0))
        return 3;
    const int decimals = 1 - (int)floor(log10(scale));
    return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

/* Three or four digits, whatever the size. */
static void short_number(double value, char *text, size_t size) {
    if (!isfinite(value))
        snprintf(text, size, "%s", isnan(value) ? "" : "inf");
    else if (value == 0)
        snprintf(text, size, "0");
    else if (fabs(value) >= 1e6)
        snprintf(text, size, "%.3g", value);
    else
        snprintf(text, size, "%.*f",
                 fabs(value) >= 99.95     ? 0
                 : fabs(value) >= 9.995   ? 1
                 : fabs(value) >= 0.09995 ? 2
                                          : 3,
                 value);
}

static void short_count(double value, char *text, size_t size) {
    if (value >= 1e9)
        snprintf(text, size, "%.3gG", value / 1e9);
    else if (value >= 1e6)
        snprintf(text, size, "%.3gM", value / 1e6);
    else if (value >= 1e4)
        snprintf(text, size, "%.3gk", value / 1e3);
    else
        snprintf(text, size, "%.0f", value);
}

static void add_short(struct table *table, double value) {
    char text[32];
    short_number(value, text, sizeof text);
    table_add(table, "%s", text);
}

static void add_mean(struct table *table, const struct bal_result *result) {
    const struct bal_estimate mean = result->metric[BAL_RESPONSE_MEAN];
    if (result->replications == 0)
        table_add(table, "no trial done");
    else if (result->verdict == BAL_UNSTABLE)
        table_add(table, "unstable");
    else if (isnan(mean.half))
        table_add(table, "%.4g", mean.mean);
    else
        table_add(table, "%.*f \u00b1 %.*f%s", decimals_of(mean.half, mean.mean), mean.mean,
                  decimals_of(mean.half, mean.mean), mean.half, result->verdict == BAL_UNDECIDED ? " ?" : "");
}

/* What theory says, and how far the simulation is from it. */
static void add_theory(struct table *table, const struct bal_case *c, const struct bal_result *result) {
    const struct bal_known known = bal_known_of(&c->model, &c->policy);
    if (known.kind == BAL_KNOWN_NOTHING || isnan(known.response_mean)) {
        table_add(table, "%s", "");
        return;
    }
    char value[32];
    short_number(known.response_mean, value, sizeof value);
    const char *sign = known.kind == BAL_KNOWN_EXACT ? "=" : "\u2192";
    if (comparison_has_means(result) && isfinite(known.response_mean))
        table_add(table, "%s %s (%+.1f%%)", sign, value,
                  100 * (result->metric[BAL_RESPONSE_MEAN].mean / known.response_mean - 1));
    else
        table_add(table, "%s %s", sign, value);
}

static double longest(const struct comparison *comparison) {
    double most = 0;
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison_has_means(&comparison->results[i]))
            most = fmax(most, comparison->results[i].metric[BAL_RESPONSE_MEAN].mean);
    return most;
}

static void add_row(struct table *table, const struct bal_case *c, const struct bal_result *result,
                    double most) {
    char policy[200], bar[3 * BAR + 1] = "", bits[32];
    bal_policy_print(&c->policy, policy, sizeof policy);
    const bool known = comparison_has_means(result);
    if (known)
        bar_text(result->metric[BAL_RESPONSE_MEAN].mean / most, bar);
    short_count(result->memory_bits, bits, sizeof bits);
    table_add(table, "%s", policy);
    add_mean(table, result);
    table_add(table, "%s", bar);
    add_short(table, known ? result->metric[BAL_RESPONSE_P50].mean : NAN);
    add_short(table, known ? result->metric[BAL_RESPONSE_P99].mean : NAN);
    add_short(table, known ? result->metric[BAL_RESPONSE_P999].mean : NAN);
    if (known)
        table_add(table, "%.1f%%", 100 * result->metric[BAL_WAITING_PROBABILITY].mean);
    else
        table_add(table, "%s", "");
    add_short(table, result->metric[BAL_MESSAGES_PER_JOB].mean);
    table_add(table, "%s", bits);
    add_theory(table, c, result);
}

static void print_setting(const struct comparison *comparison, FILE *out) {
    const struct bal_case *c = &comparison->cases[0];
    char servers[300], service[200], jobs[32];
    bal_servers_print(&c->model.servers, servers, sizeof servers);
    bal_law_print(&c->model.size, service, sizeof service);
    short_count(comparison->jobs, jobs, sizeof jobs);
    fprintf(out, "%s servers at load %g, service %s; %u replications of %s jobs each, seed %llu\n\n", servers,
            c->model.load, service, c->replications, jobs, (unsigned long long)c->run.seed);
}

static void print_notes(const struct comparison *comparison, FILE *out) {
    bool exact = false, limit = false, undecided = false, unstable = false;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bal_known known =
            bal_known_of(&comparison->cases[i].model, &comparison->cases[i].policy);
        exact = exact || known.kind == BAL_KNOWN_EXACT;
        limit = limit || known.kind == BAL_KNOWN_LIMIT;
        const struct bal_result *result = &comparison->results[i];
        undecided = undecided || (result->replications > 0 && result->verdict == BAL_UNDECIDED);
        unstable = unstable || (result->replications > 0 && result->verdict == BAL_UNSTABLE);
    }
    const double floor_mean = bal_known_floor(&comparison->cases[0].model);
    fputc('\n', out);
    if (isfinite(floor_mean))
        fprintf(out, "No policy can beat %.4f: one common queue for all servers (M/M/N).\n", floor_mean);
    fputs("\u00b1: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe "
          "is two.\n",
          out);
    if (exact || limit)
        fprintf(out, "theory:%s%s%s, with the difference of the simulation.\n", exact ? " = exact" : "",
                exact && limit ? "," : "", limit ? " \u2192 limit of many servers" : "");
    if (unstable)
        fputs("unstable: the queue grows without bound, so there is no mean.\n", out);
    if (undecided)
        fputs("?: stable or not could not be decided; a longer run (--jobs) tells.\n", out);
}

void comparison_text(const struct comparison *comparison, FILE *out) {
    size_t *order = malloc((comparison->count + 1) * sizeof *order);
    if (!order)
        return;
    comparison_order(comparison->results, comparison->count, order);
    print_setting(comparison, out);
    static const char *const head[] = {"policy", "mean response", "",     "p50",  "p99",
                                       "p99.9",  "waits",         "msgs", "bits", "theory"};
    struct table table;
    table_init(&table, sizeof head / sizeof *head);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        table_add(&table, "%s", head[i]);
    const double most = longest(comparison);
    for (size_t i = 0; i < comparison->count; i++)
        add_row(&table, &comparison->cases[order[i]], &comparison->results[order[i]], most);
    table_print(&table, "lrlrrrrrrl", true, out);
    table_fini(&table);
    print_notes(comparison, out);
    free(order);
}
