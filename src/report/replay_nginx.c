/* The answer as nginx is told it: an upstream block. */
#include "report/replay_report.h"

#include "base/gather.h"

#include <arpa/inet.h>
#include <ctype.h>
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

static bool is_port(const char *text) {
    char *end;
    const long port = strtol(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == 0 && port > 0 && port < 65536;
}

/* nginx takes addresses as they are, and looks names up when it starts. Only the former are copied from a
 * log: they cannot be anything else. IPv4 and IPv6 in brackets, with a port or without; a socket. */
static bool is_address(const char *name) {
    static const char path[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    if (strncmp(name, "unix:/", 6) == 0)
        return name[5 + strspn(name + 5, path)] == 0;
    const bool bracket = *name == '[';
    const char *host = name + bracket;
    const size_t length = strcspn(host, bracket ? "]" : ":");
    char address[INET6_ADDRSTRLEN];
    if (length >= sizeof address || (bracket && !host[length]))
        return false;
    snprintf(address, sizeof address, "%.*s", (int)length, host);
    struct in6_addr binary; /* room for either kind */
    const char *behind = host + length + bracket;
    return inet_pton(bracket ? AF_INET6 : AF_INET, address, &binary) == 1 &&
           (*behind == 0 || (*behind == ':' && is_port(behind + 1)));
}

/* How much of the traffic is meant for servers of that speed: small whole numbers in the right ratio. */
static unsigned weight_of(const struct bal_servers *servers, double speed) {
    enum { PARTS = 10 };
    double slowest = speed;
    for (unsigned g = 0; g < servers->groups; g++)
        slowest = fmin(slowest, servers->group[g].speed);
    unsigned divisor = PARTS;
    for (unsigned g = 0; g < servers->groups; g++)
        for (unsigned rest = (unsigned)rint(PARTS * servers->group[g].speed / slowest); rest > 0;) {
            const unsigned next = divisor % rest;
            divisor = rest;
            rest = next;
        }
    return (unsigned)rint(PARTS * speed / slowest) / divisor;
}

/* Servers whose addresses the log tells come first; the others stand for those that are to come. */
static void print_server(const struct bal_replay_report *report, uint32_t number, unsigned weight,
                         FILE *out) {
    const size_t known = report->servers ? bal_log_servers_count(report->servers) : 0;
    const char *name = number < known ? bal_log_servers_name(report->servers, number) : "";
    if (is_address(name))
        fprintf(out, "    server %s", name);
    else
        fprintf(out, "    server 10.0.%u.%u:80", number / 250 % 250, 1 + number % 250);
    if (weight > 1)
        fprintf(out, " weight=%u", weight);
    fputs(is_address(name) ? ";\n" : "; # put its address here\n", out);
}

static void print_servers(const struct bal_replay_report *report, const struct bal_servers *servers,
                          FILE *out) {
    uint32_t number = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++)
            print_server(report, number++, weight_of(servers, servers->group[g].speed), out);
}

static void print_block(const struct bal_replay_report *report, size_t plain, size_t best, FILE *out) {
    char label[BAL_REPLAY_LABEL];
    const size_t shown = plain < report->count ? plain : best;
    const char *words = plain < report->count ? words_of(&report->cases[plain].policy) : "";
    /* nginx 1.22 needs less than 1 kB for a server */
    const unsigned zone = 64 + bal_servers_count(fleet_of(report, shown));
    fprintf(out, "upstream fleet {\n    zone fleet %uk; # counts are those of all workers\n", zone);
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
