/* Every policy of the table, in a loop: is it documented, does it keep the contract of policy.h? And each of
 * the first ones: does it follow its rule? */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../goodness.h"
#include "../host.h"

static const uint32_t fleets[] = {1, 2, 3, 10};
enum { FLEETS = sizeof fleets / sizeof *fleets };

/* The policy with its defaults, if these fit so many servers. */
static bool default_spec(const struct bal_policy *policy, uint32_t servers, struct bal_policy_spec *spec) {
    host_parse(policy->name, spec);
    const struct bal_setting setting = {.servers = servers, .load = 0.9};
    return bal_policy_check(spec, &setting, NULL) == BAL_OK;
}

/* ---- documentation ---- */

static void assert_line(const struct bal_policy *policy, const char *what, const char *text) {
    if (!text || !*text || strchr(text, '\n') || strchr(text, '|')) /* the page of policies is a table with
                                                                       bars */
        fail_msg("policy %s: its %s is missing or not one plain line", policy->name, what);
}

static void assert_param(const struct bal_policy *policy, unsigned k) {
    const struct bal_param *param = &policy->params[k];
    assert_line(policy, "parameter's name", param->name);
    assert_line(policy, "parameter's help", param->help);
    assert_int_equal(strspn(param->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(param->name));
    const bool default_fits =
        isnan(param->fallback) || (param->low <= param->fallback && param->fallback <= param->high &&
                                   (!param->whole || param->fallback == floor(param->fallback)));
    if (!(param->low < param->high) || !default_fits ||
        (param->whole && (param->low != floor(param->low) || param->high != floor(param->high))))
        fail_msg("policy %s: the range or the default of %s makes no sense", policy->name, param->name);
    for (unsigned j = 0; j < k; j++)
        assert_string_not_equal(policy->params[j].name, param->name);
}

static void each_is_documented(void **state) {
    (void)state;
    assert_true(bal_policy_count >= 8);
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy *policy = bal_policy_table[i];
        assert_line(policy, "name", policy->name);
        assert_int_equal(strspn(policy->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(policy->name));
        assert_line(policy, "summary", policy->summary);
        assert_line(policy, "paper", policy->paper);
        assert_line(policy, "cost", policy->cost);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(bal_policy_table[j]->name, policy->name);
        assert_true(policy->param_count <= BAL_PARAMS_MAX);
        for (unsigned k = 0; k < policy->param_count; k++)
            assert_param(policy, k);
    }
}

static void each_has_the_functions_it_needs(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy *policy = bal_policy_table[i];
        const bool complete = policy->route && !policy->size == !policy->init &&
                              !policy->wants == !policy->report &&
                              !(policy->wants & BAL_WANTS_STILL_IDLE) == !policy->report_rate &&
                              (policy->size || !policy->memory_bits); /* what is remembered is somewhere */
        if (!complete)
            fail_msg("policy %s: a function is missing or too many", policy->name);
    }
}

/* ---- the contract ---- */

/* The sum that a cost such as "d + b probes" or "d1 or d2 probes" amounts to: the least and the most of its
 * alternatives. Costs that speak of no probes promise none. */
static void promised_probes(const struct bal_policy_spec *spec, uint32_t servers, double *least,
                            double *most) {
    char text[200];
    assert_true(strlen(spec->policy->cost) < sizeof text);
    strcpy(text, spec->policy->cost);
    char *probes = strstr(text, " probes");
    *least = *most = 0;
    if (!probes)
        return;
    *probes = 0;
    *least = INFINITY;
    double sum = 0;
    for (char *word = strtok(text, " +,"); word; word = strtok(NULL, " +,")) {
        if (strcmp(word, "or") == 0) {
            *least = fmin(*least, sum);
            *most = fmax(*most, sum);
            sum = 0;
            continue;
        }
        double value = strcmp(word, "N") == 0 ? (double)servers : NAN;
        for (unsigned k = 0; k < spec->policy->param_count; k++)
            if (strcmp(word, spec->policy->params[k].name) == 0)
                value = spec->value[k];
        if (isnan(value))
            fail_msg("policy %s: what is '%s' in its cost '%s'?", spec->policy->name, word,
                     spec->policy->cost);
        sum += value;
    }
    *least = fmin(*least, sum);
    *most = fmax(*most, sum);
}

static void assert_decision(const struct host *host, struct bal_decision decision) {
    const struct bal_policy *policy = host->spec.policy;
    const uint32_t servers = host->setting.servers;
    const bool refused = decision.server == BAL_NONE && policy->flags & BAL_MAY_REFUSE;
    const bool wakes_well = decision.wake == BAL_NONE || decision.wake < servers;
    const bool moves_well = decision.move_to == BAL_NONE || decision.move_to < servers;
    if (decision.move_to != BAL_NONE) /* then there is a job of lower rank to move, and whoever moves jobs
                                         says so */
        assert_true(policy->flags & BAL_MOVES_JOBS &&
                    host->urgent[decision.server] < host->length[decision.server]);
    if ((decision.server >= servers && !refused) || !wakes_well || !moves_well)
        fail_msg("policy %s: decision %u wake %u move %u of %u servers", policy->name, decision.server,
                 decision.wake, decision.move_to, servers);
}

static void join(struct host *host, struct bal_decision decision, struct bal_rng *rng) {
    if (decision.server == BAL_NONE)
        return;
    if (decision.move_to != BAL_NONE) {
        host->length[decision.server]--;
        host->length[decision.move_to]++;
    }
    host->length[decision.server]++;
    host->urgent[decision.server] += host->rank == 0;
    host->work[decision.server] += bal_rng_exp(rng);
}

/* One job leaves a server, an urgent one if there is any, and the server reports if that was the last. */
static void leave(struct host *host, uint32_t server) {
    if (host->length[server] == 0)
        return;
    host->work[server] *= (host->length[server] - 1.0) / host->length[server];
    host->urgent[server] -= host->urgent[server] > 0;
    if (--host->length[server] == 0)
        host_report(host, BAL_REPORT_IDLE, server);
}

/* A random life of each policy on small fleets: decisions name servers that exist, and what is asked is what
 * the cost says. The first decision may ask less, when there is nothing remembered yet. */
static void each_decides_and_pays_as_promised(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++)
        for (int f = 0; f < FLEETS; f++) {
            struct bal_policy_spec spec;
            if (!default_spec(bal_policy_table[i], fleets[f], &spec))
                continue;
            struct host host;
            host_init(&host, &spec, fleets[f], 81);
            host_report_all(&host);
            double least, most;
            promised_probes(&spec, fleets[f], &least, &most);
            struct bal_rng rng;
            bal_rng_init(&rng, 82, i, BAL_STREAM_TEST);
            for (int step = 0; step < 5000; step++) {
                if (bal_rng_below(&rng, 2)) {
                    leave(&host, bal_rng_below(&rng, fleets[f]));
                    continue;
                }
                const uint64_t before = host.fleet.probes;
                host.rank = bal_rng_below(&rng, 2);
                const struct bal_decision decision = host_route(&host, 1, false);
                const double probes = (double)(host.fleet.probes - before);
                assert_decision(&host, decision);
                assert_int_equal(decision.parts, 0);
                if (probes > most || (probes < least && before > 0))
                    fail_msg("policy %s on %u servers: %g probes, but its cost is '%s'", spec.policy->name,
                             fleets[f], probes, spec.policy->cost);
                join(&host, decision, &rng);
            }
            host_fini(&host);
        }
}

/* The state is one flat block: a copy of its bytes goes on just like the original, and nothing depends on the
 * bytes that the block held before init. */
static void each_state_is_flat(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++) {
        enum { N = 10 };
        struct bal_policy_spec spec;
        if (!default_spec(bal_policy_table[i], N, &spec))
            continue;
        struct host host, twin;
        host_init(&host, &spec, N, 83);
        host_init(&twin, &spec, N, 83);
        const size_t size = bal_policy_size(&spec, &host.setting);
        memset(twin.state, 0, size);
        bal_policy_init(&spec, &twin.setting, twin.state);
        host_report_all(&host);
        host_report_all(&twin);
        struct bal_rng rng;
        bal_rng_init(&rng, 84, i, BAL_STREAM_TEST);
        for (int step = 0; step < 500; step++) {
            const uint32_t server = bal_rng_below(&rng, N);
            leave(&host, server);
            leave(&twin, server);
            const struct bal_decision a = host_route(&host, 1, false), b = host_route(&twin, 1, false);
            if (a.server != b.server || a.wake != b.wake || a.move_to != b.move_to)
                fail_msg("policy %s: its state depends on where it lies or on what was there",
                         spec.policy->name);
            if (a.server != BAL_NONE) {
                host.length[a.server]++;
                twin.length[a.server]++;
                host.work[a.server] = twin.work[a.server] += bal_rng_exp(&rng);
            }
            if (step % 50 == 0) { /* moves to another house */
                void *copy = host_block(size);
                memcpy(copy, host.state, size);
                memset(host.state, 0x5a, size);
                free(host.state);
                host.state = copy;
            }
        }
        host_fini(&host);
        host_fini(&twin);
    }
}

/* Definition 3 of the pull paper, seen from outside: a fleet that is the same for every server gives every
 * server the same chance, in the first decision and in later ones. False alarm: 2e-6 for each of 4 places of
 * some 10 policies. */
static void symmetric_ones_treat_servers_alike(void **state) {
    (void)state;
    enum { N = 7, DRAWS = 20000, JOBS = N + 4 };
    static const int looked_at[] = {0, 1, N, N + 3};
    for (size_t i = 0; i < bal_policy_count; i++) {
        struct bal_policy_spec spec;
        if (!(bal_policy_table[i]->flags & BAL_SYMMETRIC) || !default_spec(bal_policy_table[i], N, &spec))
            continue;
        struct host host;
        host_init(&host, &spec, N, 85);
        uint64_t count[JOBS][N] = {{0}};
        for (int draw = 0; draw < DRAWS; draw++) {
            bal_policy_init(&spec, &host.setting, host.state);
            memset(host.length, 0, N * sizeof *host.length);
            memset(host.work, 0, N * sizeof *host.work);
            host_report_all(&host);
            for (int job = 0; job < JOBS; job++) {
                const struct bal_decision decision = host_route(&host, 1, false);
                assert_true(decision.server < N); /* there is room for everybody */
                count[job][decision.server]++;
                host.length[decision.server]++;
                host.work[decision.server] += 1;
            }
        }
        const double p[N] = {1. / N, 1. / N, 1. / N, 1. / N, 1. / N, 1. / N, 1. / N};
        for (size_t k = 0; k < sizeof looked_at / sizeof *looked_at; k++)
            assert_fits(spec.policy->name, p, count[looked_at[k]], N);
        host_fini(&host);
    }
}

/* Divided among servers: nothing is lost or invented, no server is named twice, and shares are not empty. */
static void assert_split(const struct host *host, struct bal_decision decision, uint32_t count) {
    assert_decision(host, decision);
    if (decision.parts == 0)
        return;
    assert_true(decision.parts <= host->setting.servers);
    bool seen[64] = {false};
    uint64_t sum = 0;
    for (uint32_t part = 0; part < decision.parts; part++) {
        const struct bal_share share = host->fleet.shares[part];
        if (share.server >= host->setting.servers || share.count == 0 || seen[share.server])
            fail_msg("policy %s: share %u of %u is %u jobs to server %u", host->spec.policy->name, part,
                     decision.parts, share.count, share.server);
        seen[share.server] = true;
        sum += share.count;
    }
    if (sum != count)
        fail_msg("policy %s: %u jobs were split into %llu", host->spec.policy->name, count,
                 (unsigned long long)sum);
}

static void each_splits_without_loss(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 7, 100, 12345};
    for (size_t i = 0; i < bal_policy_count; i++)
        for (int f = 0; f < FLEETS; f++) {
            struct bal_policy_spec spec;
            if (!default_spec(bal_policy_table[i], fleets[f], &spec))
                continue;
            struct host host;
            host_init(&host, &spec, fleets[f], 86);
            host_report_all(&host);
            struct bal_rng rng;
            bal_rng_init(&rng, 87, i, BAL_STREAM_TEST);
            for (int step = 0; step < 600; step++) {
                for (uint32_t server = 0; server < fleets[f]; server++)
                    host.length[server] = bal_rng_below(&rng, 5);
                if (bal_rng_below(&rng, 3) == 0)
                    host_report(&host, BAL_REPORT_IDLE, bal_rng_below(&rng, fleets[f]));
                const uint32_t count = counts[bal_rng_below(&rng, sizeof counts / sizeof *counts)];
                assert_split(&host, host_route(&host, count, true), count);
                assert_int_equal(host_route(&host, count, false).parts, 0); /* unless it may not be split */
            }
            host_fini(&host);
        }
}

/* ---- the rules ---- */

static void round_robin_takes_turns(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("round-robin", &spec);
    struct host host;
    host_init(&host, &spec, 5, 91);
    for (uint32_t job = 0; job < 23; job++)
        assert_int_equal(host_route(&host, 1, false).server, job % 5);
    const struct bal_decision split = host_route(&host, 7, true); /* dealt out like cards from server 3 on */
    assert_int_equal(split.parts, 5);
    static const struct bal_share wanted[] = {{3, 2}, {4, 2}, {0, 1}, {1, 1}, {2, 1}};
    for (int part = 0; part < 5; part++) {
        assert_int_equal(host.fleet.shares[part].server, wanted[part].server);
        assert_int_equal(host.fleet.shares[part].count, wanted[part].count);
    }
    assert_int_equal(host_route(&host, 1, false).server, 0); /* where the cards ended */
    host_fini(&host);
}

enum { N = 6, DRAWS = 40000 };

/* How often each server is chosen while the fleet stands still. */
static void assert_chosen(struct host *host, const double p[N]) {
    uint64_t count[N] = {0};
    for (int draw = 0; draw < DRAWS; draw++)
        count[host_route(host, 1, false).server]++;
    assert_fits(host->spec.policy->name, p, count, N);
}

/* The chance of each server under pod: the shortest level among d samples, divided by those who share it. */
static void pod_law(const uint32_t length[N], int d, bool replace, double p[N]) {
    for (int s = 0; s < N; s++) {
        int longer = 0, same = 0;
        for (int t = 0; t < N; t++) {
            longer += length[t] > length[s];
            same += length[t] == length[s];
        }
        double all_longer = 1, none_shorter = 1; /* all d samples longer; all d samples no shorter */
        for (int i = 0; i < d; i++) {
            const int taken = replace ? 0 : i;
            all_longer *= fmax(longer - taken, 0) / (double)(N - taken);
            none_shorter *= fmax(longer + same - taken, 0) / (double)(N - taken);
        }
        p[s] = (none_shorter - all_longer) / same;
    }
}

/* False alarm: 2e-6 for each of 14 laws. */
static void those_that_probe_follow_their_law(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        int d;
        bool replace;
    } cases[] = {
        {"random", 1, true},
        {"pod:d=1", 1, true},
        {"pod:d=2", 2, true},
        {"pod:d=3", 3, true},
        {"pod:d=2,replace=0", 2, false},
        {"pod:d=6,replace=0", 6, false},
        {"jsq", N, false},
    };
    static const uint32_t lengths[][N] = {{3, 0, 2, 5, 1, 4}, {2, 1, 1, 3, 1, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int l = 0; l < 2; l++) {
            struct bal_policy_spec spec;
            host_parse(cases[c].policy, &spec);
            struct host host;
            host_init(&host, &spec, N, 92);
            memcpy(host.length, lengths[l], sizeof lengths[l]);
            double p[N];
            pod_law(lengths[l], cases[c].d, cases[c].replace, p);
            assert_chosen(&host, p);
            host_fini(&host);
        }
}

/* False alarm: 4e-6. */
static void least_work_minds_work_and_not_length(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("least-work", &spec);
    struct host host;
    host_init(&host, &spec, N, 93);
    const double work[N] = {2.5, 0.75, 0.8, 0.75, 9, 0.75};
    const uint32_t length[N] = {0, 9, 1, 9, 0, 9};
    memcpy(host.work, work, sizeof work);
    memcpy(host.length, length, sizeof length);
    const double ties[N] = {0, 1. / 3, 0, 1. / 3, 0, 1. / 3};
    assert_chosen(&host, ties);
    host.work[2] = 0.7499999;
    const double alone[N] = {0, 0, 1, 0, 0, 0};
    assert_chosen(&host, alone);
    host_fini(&host);
}

/* d = b = 1: the first job goes anywhere; from then on the remembered server meets one sample. False alarm:
 * 2e-6 for each of 3 laws. */
static void pod_memory_remembers(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("pod-memory:d=1,b=1", &spec);
    struct host host;
    host_init(&host, &spec, N, 94);
    static const struct {
        uint32_t remembered, others; /* lengths when the second job comes */
        double stays;                /* chance that it goes to the remembered server */
    } cases[] = {{0, 5, 1}, {5, 0, 1. / N}, {4, 4, 1. / N + (N - 1.) / N / 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t count[2] = {0};
        for (int draw = 0; draw < DRAWS; draw++) {
            bal_policy_init(&spec, &host.setting, host.state);
            const uint32_t first = host_route(&host, 1, false).server;
            for (uint32_t s = 0; s < N; s++)
                host.length[s] = s == first ? cases[c].remembered : cases[c].others;
            count[host_route(&host, 1, false).server == first]++;
        }
        const double p[2] = {1 - cases[c].stays, cases[c].stays};
        assert_fits("second job", p, count, 2);
    }
    host_fini(&host);
}

/* Of two candidates with 3 jobs each one gets the job and has 4; the other is remembered. It shows when all
 * but server 0 become longer: if the job went elsewhere although server 0 was a candidate, the next one must
 * go to server 0. */
static void pod_memory_counts_its_own_job(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("pod-memory:d=1,b=1", &spec);
    struct host host;
    host_init(&host, &spec, N, 107);
    int seen = 0;
    while (seen < 1000) {
        bal_policy_init(&spec, &host.setting, host.state);
        for (uint32_t s = 0; s < N; s++)
            host.length[s] = 3;
        if (host_route(&host, 1, false).server != 0) /* until the memory is server 0 */
            continue;
        const uint32_t second = host_route(&host, 1, false).server;
        if (second == 0)
            continue;
        seen++;
        for (uint32_t s = 1; s < N; s++)
            host.length[s] = 100;
        assert_int_equal(host_route(&host, 1, false).server, 0);
    }
    host_fini(&host);
}

/* When the job makes two candidates equal, each of them is remembered half of the time: server 0, which is
 * remembered, has 2 jobs and gets a third, as many as all others have. Whether it is remembered again shows
 * when it becomes the shortest: it is chosen next if it is, and otherwise if it is sampled. False alarm:
 * 2e-6. */
static void pod_memory_breaks_ties_evenly(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("pod-memory:d=1,b=1", &spec);
    struct host host;
    host_init(&host, &spec, N, 108);
    uint64_t count[2] = {0};
    while (count[0] + count[1] < DRAWS) {
        bal_policy_init(&spec, &host.setting, host.state);
        if (host_route(&host, 1, false).server != 0) /* until the memory is server 0 */
            continue;
        for (uint32_t s = 0; s < N; s++)
            host.length[s] = s == 0 ? 2 : 3;
        assert_int_equal(host_route(&host, 1, false).server, 0);
        host.length[0] = 0;
        count[host_route(&host, 1, false).server == 0]++;
    }
    const double again = 1. / N + (N - 1.) / N / 2; /* it was the sample itself, or the coin fell its way */
    const double next = again + (1 - again) / N;
    const double p[2] = {1 - next, next};
    assert_fits("remembered again", p, count, 2);
    host_fini(&host);
}

/* Many remembered servers: of d + b = 2 + 3 candidates the least loaded ones stay, each server once. */
static void pod_memory_keeps_the_best(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("pod-memory:d=2,b=3", &spec);
    struct host host;
    host_init(&host, &spec, 30, 95);
    for (uint32_t s = 0; s < 30; s++)
        host.length[s] = s;
    uint32_t least = UINT32_MAX;
    for (int job = 0; job < 300; job++) {
        const uint64_t before = host.fleet.probes;
        const uint32_t server = host_route(&host, 1, false).server;
        const uint64_t probes = host.fleet.probes - before;
        assert_true(job == 0 ? probes == 2 : probes <= 5);
        if (job > 2)
            assert_int_equal(probes, 5);
        /* lengths stand still, so the best server ever seen is never forgotten: decisions only improve */
        assert_true(server <= least);
        least = server;
    }
    assert_int_equal(least, 0);
    host_fini(&host);
}

/* jiq and pi against a plain list of who has said that it is idle and has not got a job since. */
static void idle_servers_come_first(const char *name, bool persistent) {
    struct bal_policy_spec spec;
    host_parse(name, &spec);
    struct host host;
    host_init(&host, &spec, N, 96);
    host_report_all(&host);
    bool idle[N];
    memset(idle, true, sizeof idle);
    uint32_t idle_count = N, last = UINT32_MAX;
    uint64_t to_idle = 0, to_busy[N] = {0};
    struct bal_rng rng;
    bal_rng_init(&rng, 97, persistent, BAL_STREAM_TEST);
    for (int step = 0; step < 200000; step++) {
        const uint32_t leaving = bal_rng_below(&rng, N);
        if (bal_rng_below(&rng, 2) && host.length[leaving] > 0) {
            leave(&host, leaving);
            if (host.length[leaving] == 0) {
                idle[leaving] = true;
                idle_count++;
            }
            continue;
        }
        const uint32_t server = host_route(&host, 1, false).server;
        host.length[server]++;
        if (idle_count > 0) {
            assert_true(idle[server]);
            idle[server] = false;
            idle_count--;
            last = server;
            to_idle++;
        } else if (persistent) {
            assert_int_equal(server, last);
            to_busy[0]++;
        } else {
            to_busy[server]++;
        }
    }
    uint64_t busy = 0;
    for (int s = 0; s < N; s++)
        busy += to_busy[s];
    assert_true(to_idle > 1000 && busy > 1000); /* both cases were seen */
    if (!persistent) {
        const double p[N] = {1. / N, 1. / N, 1. / N, 1. / N, 1. / N, 1. / N};
        assert_fits("jiq without an idle server", p, to_busy, N);
    }
    assert_true(host.fleet.probes == 0);
    host_fini(&host);
}

static void jiq_prefers_idle_servers(void **state) {
    (void)state;
    idle_servers_come_first("jiq", false);
}

static void pi_persists(void **state) {
    (void)state;
    idle_servers_come_first("pi", true);
}

/* A server that reports twice is there once, and a report nobody wants is ignored. */
static void reports_may_be_repeated(void **state) {
    (void)state;
    static const char *const names[] = {"jiq", "pi"};
    for (int i = 0; i < 2; i++) {
        struct bal_policy_spec spec;
        host_parse(names[i], &spec);
        struct host host;
        host_init(&host, &spec, N, 98);
        host_report(&host, BAL_REPORT_IDLE, 4);
        host_report(&host, BAL_REPORT_IDLE, 4);
        host_report(&host, BAL_REPORT_OFF, 2);
        host_report(&host, BAL_REPORT_STILL_IDLE, 3);
        assert_int_equal(host_route(&host, 1, false).server, 4);
        int again = 0;
        for (int draw = 0; draw < 1000; draw++)
            again += host_route(&host, 1, false).server == 4;
        assert_true(i == 1 ? again == 1000 : again > 50 && again < 350); /* mean 167, deviation 12: 1e-15 */
        host_fini(&host);
    }
}

/* ---- splitting ---- */

static void assert_shares(struct host *host, uint32_t count, const uint32_t wanted[N]) {
    const struct bal_decision decision = host_route(host, count, true);
    assert_split(host, decision, count);
    uint32_t got[N] = {0};
    for (uint32_t part = 0; part < decision.parts; part++)
        got[host->fleet.shares[part].server] = host->fleet.shares[part].count;
    if (decision.parts == 0)
        got[decision.server] = count;
    for (int s = 0; s < N; s++)
        assert_int_equal(got[s], wanted[s]);
}

/* Where the shares are determined. */
static void water_fills_by_hand(void **state) {
    (void)state;
    static const struct {
        uint32_t length[N], count, wanted[N];
    } cases[] = {
        {{1, 2, 4, 9, 9, 9}, 3, {2, 1, 0, 0, 0, 0}}, /* the example of the model's page: (1, 2, 4) becomes (3,
                                                        3, 4) */
        {{0, 0, 0, 0, 0, 0}, 6, {1, 1, 1, 1, 1, 1}},
        {{0, 0, 0, 0, 0, 0}, 600, {100, 100, 100, 100, 100, 100}},
        {{5, 0, 5, 5, 5, 5}, 5, {0, 5, 0, 0, 0, 0}},
        {{5, 0, 5, 5, 5, 5}, 11, {1, 6, 1, 1, 1, 1}},
        {{3, 1, 2, 7, 7, 7}, 3, {0, 2, 1, 0, 0, 0}},
    };
    struct bal_policy_spec spec;
    host_parse("jsq", &spec);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct host host;
        host_init(&host, &spec, N, 101);
        memcpy(host.length, cases[c].length, sizeof cases[c].length);
        assert_shares(&host, cases[c].count, cases[c].wanted);
        assert_true(host.fleet.probes == N);
        host_fini(&host);
    }
}

/* Water-filling one by one: each job to a shortest of the candidates. Then the final lengths, sorted, are
 * determined. */
static int by_value(const void *a, const void *b) {
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static void water_fills_like_one_by_one(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("jsq", &spec);
    struct host host;
    host_init(&host, &spec, N, 102);
    struct bal_rng rng;
    bal_rng_init(&rng, 103, 0, BAL_STREAM_TEST);
    for (int round = 0; round < 3000; round++) {
        uint32_t slow[N], fast[N];
        const uint32_t spread = 1 + bal_rng_below(&rng, 20);
        for (int s = 0; s < N; s++)
            host.length[s] = slow[s] = fast[s] = bal_rng_below(&rng, spread);
        const uint32_t count = 2 + bal_rng_below(&rng, 60);
        const struct bal_decision decision = host_route(&host, count, true);
        assert_split(&host, decision, count);
        for (uint32_t part = 0; part < decision.parts; part++)
            fast[host.fleet.shares[part].server] += host.fleet.shares[part].count;
        for (uint32_t job = 0; job < count; job++) {
            int shortest = 0;
            for (int s = 1; s < N; s++)
                shortest = slow[s] < slow[shortest] ? s : shortest;
            slow[shortest]++;
        }
        qsort(slow, N, sizeof *slow, by_value);
        qsort(fast, N, sizeof *fast, by_value);
        assert_memory_equal(slow, fast, sizeof slow);
    }
    host_fini(&host);
}

/* What does not divide evenly goes to a uniform subset. Shares of server s above the even part, over many
 * splits. False alarm: 2e-6 for each of 4 policies. */
static void remainders_go_to_a_uniform_subset(void **state) {
    (void)state;
    static const char *const names[] = {"jsq", "jiq", "pi", "pod:d=6,replace=0"};
    enum { COUNT = 2 * N + 2 };
    for (int i = 0; i < 4; i++) {
        struct bal_policy_spec spec;
        host_parse(names[i], &spec);
        struct host host;
        host_init(&host, &spec, N, 104);
        uint64_t pairs[N * (N - 1) / 2] = {0};
        for (int draw = 0; draw < DRAWS; draw++) {
            host_report_all(&host);
            const struct bal_decision decision = host_route(&host, COUNT, true);
            assert_int_equal(decision.parts, N);
            uint32_t extra[2], extras = 0;
            for (uint32_t part = 0; part < N; part++) {
                const struct bal_share share = host.fleet.shares[part];
                assert_true(share.count == 2 || share.count == 3);
                if (share.count == 3) {
                    assert_true(extras < 2);
                    extra[extras++] = share.server;
                }
            }
            const uint32_t high = extra[0] > extra[1] ? extra[0] : extra[1];
            pairs[high * (high - 1) / 2 + (extra[0] + extra[1] - high)]++;
        }
        double p[N * (N - 1) / 2];
        for (int pair = 0; pair < N * (N - 1) / 2; pair++)
            p[pair] = 2. / (N * (N - 1));
        assert_fits(names[i], p, pairs, N * (N - 1) / 2);
        host_fini(&host);
    }
}

/* jiq and pi: only the idle ones share, and those that got something are idle no more. */
static void batches_are_divided_among_the_idle(void **state) {
    (void)state;
    static const char *const names[] = {"jiq", "pi"};
    for (int i = 0; i < 2; i++) {
        struct bal_policy_spec spec;
        host_parse(names[i], &spec);
        struct host host;
        host_init(&host, &spec, N, 105);
        host_report(&host, BAL_REPORT_IDLE, 1);
        host_report(&host, BAL_REPORT_IDLE, 3);
        host_report(&host, BAL_REPORT_IDLE, 5);
        struct bal_decision decision = host_route(&host, 2, true); /* two of the three */
        assert_int_equal(decision.parts, 2);
        assert_int_equal(host.fleet.shares[0].count + host.fleet.shares[1].count, 2);
        assert_int_equal(host.fleet.shares[0].server % 2 + host.fleet.shares[1].server % 2, 2);
        const uint32_t left = 1 + 3 + 5 - host.fleet.shares[0].server - host.fleet.shares[1].server;
        decision = host_route(&host, 10, true); /* all to the third */
        assert_split(&host, decision, 10);
        assert_int_equal(decision.server, left);
        assert_true(decision.parts <= 1);
        decision = host_route(&host, 10, true); /* nobody is idle */
        if (i == 1) {
            assert_int_equal(decision.parts, 0);
            assert_int_equal(decision.server, left); /* the last idle one takes it whole */
        } else {
            assert_true(decision.parts > 1); /* each job goes its own way: all to one place has probability
                                                1e-7 */
        }
        host_fini(&host);
    }
}

/* With pertask=1 a job of m tasks probes d m different servers, or all there are. */
static void batch_sampling_probes_per_task(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        uint32_t count;
        uint64_t probes;
    } cases[] = {
        {"pod:d=2,pertask=1", 2, 4},
        {"pod:d=2,pertask=1", 5, 10},
        {"pod:d=2,pertask=1", 50, 10},
        {"pod:d=20,pertask=1", 1, 10},
        {"pod:d=20,pertask=1", 2, 10},
        {"pod:d=2,replace=0", 5, 2},
        {"pod:d=2", 5, 2},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bal_policy_spec spec;
        host_parse(cases[c].policy, &spec);
        struct host host;
        host_init(&host, &spec, 10, 106);
        assert_split(&host, host_route(&host, cases[c].count, true), cases[c].count);
        assert_true(host.fleet.probes == cases[c].probes);
        host_fini(&host);
    }
}

/* ---- the rest ---- */

static void memory_is_counted_in_bits(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        double names, flags; /* so many names of ceil(log2 N) bits, so many bits per server */
    } cases[] = {
        {"random", 0, 0},         {"round-robin", 1, 0}, {"jsq", 0, 0}, {"pod", 0, 0}, {"pod-memory", 1, 0},
        {"pod-memory:b=3", 3, 0}, {"least-work", 0, 0},  {"jiq", 0, 1}, {"pi", 1, 1},
    };
    static const struct {
        uint32_t servers;
        double name;
    } sizes[] = {{1, 0}, {2, 1}, {3, 2}, {10, 4}, {1024, 10}, {1025, 11}, {100000000, 27}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct bal_policy_spec spec;
            host_parse(cases[c].policy, &spec);
            const struct bal_setting setting = {.servers = sizes[s].servers, .load = 0.9};
            assert_true(bal_policy_memory_bits(&spec, &setting) ==
                        cases[c].names * sizes[s].name + cases[c].flags * sizes[s].servers);
        }
}

static void different_servers_must_exist(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    struct bal_error err;
    host_parse("pod:d=11,replace=0", &spec);
    struct bal_setting setting = {.servers = 10, .load = 0.9};
    assert_int_equal(bal_policy_check(&spec, &setting, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "d=11"));
    assert_non_null(strstr(err.text, "up to 10"));
    setting.servers = 11;
    assert_int_equal(bal_policy_check(&spec, &setting, &err), BAL_OK);
    host_parse("pod:d=11", &spec);
    setting.servers = 1;
    assert_int_equal(bal_policy_check(&spec, &setting, &err), BAL_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_documented),
        cmocka_unit_test(each_has_the_functions_it_needs),
        cmocka_unit_test(each_decides_and_pays_as_promised),
        cmocka_unit_test(each_state_is_flat),
        cmocka_unit_test(symmetric_ones_treat_servers_alike),
        cmocka_unit_test(each_splits_without_loss),
        cmocka_unit_test(round_robin_takes_turns),
        cmocka_unit_test(those_that_probe_follow_their_law),
        cmocka_unit_test(least_work_minds_work_and_not_length),
        cmocka_unit_test(pod_memory_remembers),
        cmocka_unit_test(pod_memory_counts_its_own_job),
        cmocka_unit_test(pod_memory_breaks_ties_evenly),
        cmocka_unit_test(pod_memory_keeps_the_best),
        cmocka_unit_test(jiq_prefers_idle_servers),
        cmocka_unit_test(pi_persists),
        cmocka_unit_test(reports_may_be_repeated),
        cmocka_unit_test(water_fills_by_hand),
        cmocka_unit_test(water_fills_like_one_by_one),
        cmocka_unit_test(remainders_go_to_a_uniform_subset),
        cmocka_unit_test(batches_are_divided_among_the_idle),
        cmocka_unit_test(batch_sampling_probes_per_task),
        cmocka_unit_test(memory_is_counted_in_bits),
        cmocka_unit_test(different_servers_must_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
