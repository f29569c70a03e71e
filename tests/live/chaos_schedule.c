/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens in a cycle, drawn from its seed, as a live file: anyone can run it with `ballast live` too. */
#include "chaos.h"

#include "ballast/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SERVERS = 10, STATION_HOSTS = 2, FAULTS_MAX = 4 };

enum target { DISPATCHER, STATION, APP, HOST, CUT, TARGETS };

static const struct {
    const char *name;
    enum target target;
} kinds[] = {
    {"kill-dispatcher", DISPATCHER},
    {"restart-dispatcher", DISPATCHER},
    {"stop-dispatcher", DISPATCHER},
    {"reload", DISPATCHER},
    {"kill-worker", DISPATCHER},
    {"stop-worker", DISPATCHER},
    {"abort", DISPATCHER},
    {"kill-station", STATION},
    {"restart-station", STATION},
    {"stop-station", STATION},
    {"hang", APP},
    {"fail", APP},
    {"refuse", APP},
    {"link-down", HOST},
    {"deaf", HOST},
    {"mute", HOST},
    {"cut", CUT},
    {"reload-station", STATION},
};

struct schedule {
    struct bal_rng rng;
    unsigned dispatchers;
    bool ipv6;
    char faults[2000], *at;
    double end;   /* of the last fault */
    double drain; /* seconds that it takes until what has piled up is done */
    bool used[TARGETS][SERVERS];
};

static unsigned below(struct schedule *s, unsigned limit) {
    return (unsigned)bal_rng_below(&s->rng, limit);
}

static double between(struct schedule *s, double low, double high) {
    return round(10 * (low + (high - low) * bal_rng_uniform(&s->rng))) / 10;
}

static unsigned count_of(const struct schedule *s, enum target target) {
    return target == DISPATCHER || target == CUT ? s->dispatchers
           : target == HOST                      ? s->dispatchers + STATION_HOSTS
                                                 : SERVERS;
}

/* Is what is sent to a dispatcher meanwhile not lost, but there when the fault is over, in its socket or sent
 * again by clients? At load 0.5 as much can be done in a second, next to what comes, as has come in one. */
static bool piles_up(const struct schedule *s, const char *name, enum target target, unsigned of) {
    return (target == DISPATCHER && strncmp(name, "stop-", 5) == 0) ||
           (target == HOST && of < s->dispatchers && strcmp(name, "link-down") == 0);
}

/* No two at a time of one process: the end of one would be the end of the other. */
static void add_fault(struct schedule *s) {
    const unsigned kind = below(s, sizeof kinds / sizeof *kinds);
    const enum target target = kinds[kind].target;
    const unsigned of = below(s, count_of(s, target)), to = s->dispatchers + below(s, STATION_HOSTS);
    const double at = between(s, CHAOS_QUIET, 2 * CHAOS_QUIET), lasts = between(s, 1, CHAOS_LONGEST);
    if (s->used[target][of])
        return;
    s->used[target][of] = true;
    s->end = fmax(s->end, at + lasts);
    s->drain += piles_up(s, kinds[kind].name, target, of) ? lasts / s->dispatchers : 0;
    s->at += sprintf(s->at, "    - {fault: %s, of: %u, at: %g, for: %g", kinds[kind].name, of, at, lasts);
    if (target == CUT)
        s->at += sprintf(s->at, ", to: %u", to);
    s->at += sprintf(s->at, "}\n");
}

static void put_head(const struct schedule *s, uint64_t seed, const char *policy, const char *curve,
                     double seconds, char *text) {
    const bool power = strncmp(policy, "tabs", 4) == 0;
    snprintf(
        text, CHAOS_FILE,
        "title: chaos\nseed: %llu\nfleet: {servers: %d}\n"
        "workload: {load: 0.5, service: exp(0.05), curve: '%s'}\nnetwork: {dispatchers: %u}\n"
        "policies: [%s]\nlive:\n  seconds: %g\n  rounds: 1\n  timeout: 2\n  hosts: %u\n  apart: yes\n%s%s"
        "  faults:\n%s",
        (unsigned long long)seed, SERVERS, curve, s->dispatchers, policy, seconds,
        s->dispatchers + STATION_HOSTS, s->ipv6 ? "  ipv6: yes\n" : "", power ? "  keepers: yes\n" : "",
        s->faults);
}

void chaos_file(uint64_t seed, const char *policy, bool ipv6, char text[CHAOS_FILE]) {
    struct schedule s = {.dispatchers = 2, .ipv6 = ipv6};
    char curve[200];
    s.at = s.faults;
    bal_rng_init(&s.rng, seed, 0, BAL_STREAM_TEST);
    s.dispatchers += below(&s, 2);
    const unsigned faults = 1 + below(&s, FAULTS_MAX);
    for (unsigned i = 0; i < faults; i++)
        add_fault(&s);
    /* A burst of load 1.3 for a second, anywhere in the time of the faults. */
    const double burst = between(&s, CHAOS_QUIET, fmax(CHAOS_QUIET, s.end - 1));
    snprintf(curve, sizeof curve, "table(0:1 %g:1 %g:2.6 %g:2.6 %g:1)", burst, burst + 0.01, burst + 1,
             burst + 1.01);
    if (s.drain > 0)
        s.drain += 1.6; /* 160 requests of the burst that come on top, of 100 a second that can be done */
    put_head(&s, seed, policy, curve, fmax(s.end, burst + 1) + ceil(s.drain) + CHAOS_CALM, text);
}

/* Both dispatchers get load 1.3, the first is killed while it holds, and what is sent to it afterwards is
 * lost: load 0.3 is left for the second. */
void chaos_trial_file(uint64_t seed, const char *policy, bool ipv6, char text[CHAOS_FILE]) {
    struct schedule s = {.dispatchers = 2, .ipv6 = ipv6};
    char curve[200];
    snprintf(s.faults, sizeof s.faults, "    - {fault: kill-dispatcher, of: 0, at: %d, for: %g}\n",
             TRIAL_KILL, TRIAL_SECONDS - TRIAL_KILL - 0.1);
    snprintf(curve, sizeof curve, "table(0:2.6 %d:2.6 %g:1.2)", TRIAL_KILL, TRIAL_KILL + 0.01);
    put_head(&s, seed, policy, curve, TRIAL_SECONDS, text);
}
