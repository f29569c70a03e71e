/* The answer as nginx is told it: an upstream block. */
#include "report/replay_report.h"

#include "base/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What nginx has by itself for a policy; NULL: nothing. Without a word it takes servers in turn. */
static const char *words_of(const struct bal_policy_spec *policy) {
    const char *name = policy->policy->name;
    char text[BAL_REPLAY_LABEL];
    bal_policy_print(policy, text, sizeof text);
    if (strcmp(name, "round-robin") == 0)
        return "";
    if (strcmp(name, "random") == 0)
        return "random;";
    if (strcmp(text, "pod:d=2") == 0)
        return "random two least_conn;";
    if (strcmp(name, "jsq") == 0 || strcmp(name, "own") == 0)
        return "least_conn;";
    return NULL;
}

/* How many servers a policy needs: by the target, or those of the fleet. 0: no number will do. */
static uint32_t needs(const struct bal_replay_report *report, size_t i) {
    if (!report->target)
        return bal_servers_count(&report->replay->model.servers);
    return report->sizing[i].outcome == BAL_SIZED ? bal_servers_count(&report->sizing[i].c.model.servers) : 0;
}

/* The policy that needs the fewest servers, of those that nginx has by itself or of all; of equal ones that
 * of the best times. count: there is none. */
static size_t best_of(const struct bal_replay_report *report, const size_t *order, bool plain) {
    size_t best = report->count;
    for (size_t k = 0; k < report->count; k++) {
        const size_t i = order[k];
        if (needs(report, i) == 0 || (plain && !words_of(&report->cases[i].policy)))
            continue;
        if (best == report->count || needs(report, i) < needs(report, best))
            best = i;
    }
    return best;
}

static const struct bal_servers *fleet_of(const struct bal_replay_report *report, size_t i) {
    return report->target ? &report->sizing[i].c.model.servers : &report->replay->model.servers;
}

/* Servers that the log names come first; those that it lacks have a name that says so. */
static void print_server(const struct bal_replay_report *report, uint32_t number, double speed, FILE *out) {
    const size_t known = report->servers ? bal_log_servers_count(report->servers) : 0;
    if (number < known)
        fprintf(out, "    server %s", bal_log_servers_name(report->servers, number));
    else
        fprintf(out, "    server server%u.example", number + 1);
    const double weight = rint(speed);
    if (weight > 1)
        fprintf(out, " weight=%.0f", weight);
    fputs(";\n", out);
}

static void print_servers(const struct bal_replay_report *report, const struct bal_servers *servers,
                          FILE *out) {
    uint32_t number = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++)
            print_server(report, number++, servers->group[g].speed, out);
}

static void print_block(const struct bal_replay_report *report, size_t plain, size_t best, FILE *out) {
    char label[BAL_REPLAY_LABEL];
    const size_t shown = plain < report->count ? plain : best;
    const char *words = plain < report->count ? words_of(&report->cases[plain].policy) : "";
    fputs("upstream fleet {\n    zone fleet 64k; # counts are those of all workers\n", out);
    if (*words)
        fprintf(out, "    %s\n", words);
    if (best < report->count) {
        bal_policy_print(&report->cases[best].policy, label, sizeof label);
        fprintf(out, "    # with the module of Ballast, and %u server%s: ballast %s;\n", needs(report, best),
                needs(report, best) == 1 ? "" : "s", label);
    }
    print_servers(report, fleet_of(report, shown), out);
    fputs("}\n", out);
}

void bal_replay_nginx(const struct bal_replay_report *report, FILE *out) {
    size_t *order = bal_replay_order(report);
    if (!order) {
        bal_stream_lose(out);
        return;
    }
    const size_t plain = best_of(report, order, true), best = best_of(report, order, false);
    char label[BAL_REPLAY_LABEL];
    if (best == report->count) {
        fputs("# No number of servers meets the target: there is nothing to tell nginx.\n", out);
    } else {
        if (plain < report->count) {
            bal_replay_label(&report->cases[plain].policy, label);
            fprintf(out, "# %s, the best of the policies here that nginx has by itself: %u server%s.\n",
                    label, needs(report, plain), needs(report, plain) == 1 ? "" : "s");
        } else {
            fputs(
                "# None of these policies is one that nginx has by itself: it would take servers in turn.\n",
                out);
        }
        print_block(report, plain, best, out);
    }
    free(order);
}
