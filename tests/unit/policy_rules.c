/* SPDX-License-Identifier: BSD-2-Clause */
/* Does each policy follow its rule? On fleets that stand still, where the law of its decisions is known, and
 * on lists of who is idle. How batches are split is in policy_splits.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../goodness.h"
#include "../policy_host.h"

enum { N = 6, DRAWS = 40000 };

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

/* nginx's smooth order for weights 5, 1, 1; equal weights are round-robin; and a server that is closed for a
 * while gets no more than its share afterwards. */
static void weighted_round_robin_is_smooth(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("weighted-round-robin", &spec);
    struct host host;
    host_init(&host, &spec, 3, 91);
    for (uint32_t job = 0; job < 9; job++)
        assert_int_equal(host_route(&host, 1, false).server, job % 3);
    double weight[] = {5, 1, 1};
    host.fleet.weight = weight;
    static const uint32_t order[] = {0, 0, 1, 0, 2, 0, 0};
    for (uint32_t job = 0; job < 21; job++)
        assert_int_equal(host_route(&host, 1, false).server, order[job % 7]);
    const struct bal_decision split = host_route(&host, 14, true);
    static const uint32_t wanted[] = {10, 2, 2};
    assert_int_equal(split.parts, 3);
    for (uint32_t part = 0; part < 3; part++) {
        assert_int_equal(host.fleet.shares[part].server, part);
        assert_int_equal(host.fleet.shares[part].count, wanted[part]);
    }
    host_fini(&host);
}

/* As it is defined, each server for itself. */
static uint32_t literal_weighted(double *credit, const double *weight, const bool *open, uint32_t servers) {
    double all = 0;
    uint32_t best = BAL_NONE;
    for (uint32_t s = 0; s < servers; s++)
        all += open[s] ? weight[s] : 0;
    for (uint32_t s = 0; s < servers; s++) {
        if (!open[s])
            continue;
        credit[s] = fmin(fmax(credit[s], -all) + weight[s], 2 * all);
        if (best == BAL_NONE || credit[s] > credit[best])
            best = s;
    }
    credit[best] -= all;
    return best;
}

/* Neighbours of the same weight are taken together; the order is that of the definition, to the last job,
 * also when one of them has gone or has got another weight. */
static void weighted_round_robin_by_runs_is_the_literal_one(void **state) {
    (void)state;
    enum { SERVERS = 60 };
    struct bal_policy_spec spec;
    host_parse("weighted-round-robin", &spec);
    for (uint32_t runs = 1; runs <= SERVERS; runs += runs < 5 ? 1 : 11) {
        const uint32_t change = runs % 3;
        struct bal_set *set = host_block(bal_set_size(SERVERS));
        bal_set_init(set, SERVERS);
        struct host host;
        host_init(&host, &spec, SERVERS, 93);
        double weight[SERVERS], credit[SERVERS] = {0};
        bool open[SERVERS];
        for (uint32_t s = 0; s < SERVERS; s++) {
            weight[s] = 1 + (s * runs / SERVERS * 7 % 5) * 0.75;
            open[s] = true;
            bal_set_insert(set, s);
        }
        host.fleet.weight = weight;
        for (uint32_t job = 0; job < 2000; job++) {
            for (uint32_t s = 0; job == 1000 && change == 0 && s < SERVERS; s++)
                weight[s] += s % 3 + 1;
            if (job == 1000 && change == 1) {
                open[7] = false;
                bal_set_remove(set, 7);
                host.fleet.eligible = set;
            }
            assert_int_equal(host_route(&host, 1, false).server,
                             literal_weighted(credit, weight, open, SERVERS));
        }
        host_fini(&host);
        free(set);
    }
}

/* In proportion to the weights; a host that knows a faster way is asked. False alarm: 2e-6 each. */
static uint32_t always_the_last(struct bal_fleet *fleet, struct bal_rng *rng) {
    (void)rng;
    return fleet->servers - 1;
}

static void weighted_random_is_in_proportion(void **state) {
    (void)state;
    enum { SERVERS = 4 };
    struct bal_policy_spec spec;
    host_parse("weighted-random", &spec);
    struct host host;
    host_init(&host, &spec, SERVERS, 92);
    const double weight[SERVERS] = {1, 2, 3, 4};
    struct bal_set *open = host_block(bal_set_size(SERVERS));
    bal_set_init(open, SERVERS);
    for (uint32_t server = 0; server < 3; server++)
        bal_set_insert(open, server);
    host.fleet.weight = weight;
    for (int closed = 0; closed < 2; closed++) {
        host.fleet.eligible = closed ? open : NULL;
        const double all = closed ? 6 : 10, p[SERVERS] = {1 / all, 2 / all, 3 / all, closed ? 0 : 4 / all};
        uint64_t count[SERVERS] = {0};
        for (int draw = 0; draw < 20000; draw++)
            count[host_route(&host, 1, false).server]++;
        assert_fits("weighted-random", p, count, closed ? 3 : SERVERS);
        assert_true(!closed || count[3] == 0);
    }
    host.fleet.draw_by_weight = always_the_last;
    assert_int_equal(host_route(&host, 1, false).server, SERVERS - 1);
    bal_set_remove(open, 0), bal_set_remove(open, 1), bal_set_remove(open, 2);
    host.fleet.draw_by_weight = NULL;
    assert_int_equal(host_route(&host, 1, false).server, BAL_NONE);
    free(open);
    host_fini(&host);
}

/* Where each goes on a fleet that stands still: the requests of each server, its weight, and the server. */
static void policies_choose_by_weight(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        uint32_t own[3];
        double weight[3];
        uint32_t to;
    } cases[] = {
        {"sed", {0, 2, 9}, {1, 4, 8}, 1},          /* 1, 3/4, 10/8 */
        {"sed", {0, 3, 7}, {1, 2, 9}, 2},          /* 1, 2, 8/9: the slow idle one is left idle */
        {"fastest-idle", {0, 3, 7}, {1, 2, 9}, 0}, /* which here gets it */
        {"fastest-idle", {0, 0, 1}, {1, 2, 9}, 1},
        {"fastest-idle", {1, 2, 9}, {1, 4, 8}, 1},
        {"least-conn", {2, 4, 9}, {1, 4, 8}, 1}, /* 2, 1, 9/8 */
        {"least-conn", {1, 4, 0}, {1, 4, 8}, 2},
        {"jiq:idle=fastest", {0, 0, 0}, {1, 4, 3}, 1},
        {"pi:idle=fastest", {0, 0, 0}, {1, 3, 4}, 2},
        {"jiq:idle=lowest", {0, 0, 0}, {1, 4, 3}, 0},
        {"pi:idle=lowest", {0, 0, 0}, {1, 3, 4}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bal_policy_spec spec;
        host_parse(cases[i].policy, &spec);
        struct host host;
        host_init(&host, &spec, 3, 93);
        memcpy(host.length, cases[i].own, sizeof cases[i].own);
        host.fleet.weight = cases[i].weight;
        host_report_all(&host);
        const uint32_t to = host_route(&host, 1, false).server;
        if (to != cases[i].to)
            fail_msg("case %zu, %s: server %u", i, cases[i].policy, to);
        host_fini(&host);
    }
}

/* Weights have no unit: those of 1 and 2 say what those of 8 and 16 do, and 1/8 and 1/4. Powers of two, so
 * that nothing is rounded and every decision must be the same. */
static void the_scale_of_weights_says_nothing(void **state) {
    (void)state;
    static const char *const policies[] = {"least-conn",
                                           "least-conn:d=2",
                                           "least-conn:d=2,replace=1",
                                           "least-conn:ties=turn",
                                           "least-conn:ties=queue",
                                           "sed",
                                           "fastest-idle",
                                           "ewma",
                                           "ewma:d=6",
                                           "scd:m=1",
                                           "scd:m=3",
                                           "jiq:else=least-conn",
                                           "pi:idle=fastest",
                                           "tabs",
                                           "weighted-random",
                                           "weighted-round-robin"};
    static const double scales[] = {1, 8, 0.125};
    enum { SCALES = sizeof scales / sizeof *scales };
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bal_policy_spec spec;
        host_parse(policies[i], &spec);
        struct host hosts[SCALES];
        double weight[SCALES][N];
        for (int h = 0; h < SCALES; h++) {
            host_init(&hosts[h], &spec, N, 95);
            for (uint32_t server = 0; server < N; server++)
                weight[h][server] = scales[h] * (1 + server % 3);
            hosts[h].fleet.weight = weight[h];
            host_report_all(&hosts[h]);
        }
        struct bal_rng rng;
        bal_rng_init(&rng, 96, N, BAL_STREAM_TEST);
        for (int job = 0; job < 300; job++) {
            const uint32_t leaving = bal_rng_below(&rng, N);
            const bool leaves = bal_rng_below(&rng, 2);
            uint32_t to[SCALES];
            for (int h = 0; h < SCALES; h++) {
                to[h] = host_route(&hosts[h], 1, false).server;
                if (to[h] != to[0])
                    fail_msg(
                        "%s: job %d goes to server %u, and to %u where all weights are %g times as large",
                        policies[i], job, to[0], to[h], scales[h]);
                if (to[h] != BAL_NONE)
                    hosts[h].length[to[h]]++;
                if (leaves)
                    host_leave(&hosts[h], leaving);
            }
        }
        for (int h = 0; h < SCALES; h++)
            host_fini(&hosts[h]);
    }
}

/* The servers of one job after the other, whose requests stay where they are; a letter is a response. */
static void assert_goes(const char *policy, const double *weight, uint32_t own, const char *story) {
    struct bal_policy_spec spec;
    host_parse(policy, &spec);
    struct host host;
    host_init(&host, &spec, 4, 97);
    host.fleet.weight = weight;
    for (uint32_t server = 0; server < 4; server++)
        host.length[server] = own;
    for (const char *at = story; *at; at++) {
        if (*at >= 'a') {
            host.length[*at - 'a']--;
            bal_policy_response(&spec, host.state, &host.fleet, (uint32_t)(*at - 'a'), 1, false);
            continue;
        }
        const uint32_t to = host_route(&host, 1, false).server;
        if (to != (uint32_t)(*at - '0'))
            fail_msg("%s, %s: the one at %d goes to server %u", policy, story, (int)(at - story), to);
        host.length[to]++;
    }
    host_fini(&host);
}

/* nginx's least_conn: the equals earn 1 each, the richest pays for all. After 0 1 2 3 credits are -3, -1, 1
 * and 3, so that the next round is the other way round, or 3 comes before 1 when both have answered.
 * HAProxy's leastconn takes the one that has been so for longest. */
static void equals_go_in_turn_or_in_line(void **state) {
    (void)state;
    static const double weight[] = {2, 1, 1, 1};
    assert_goes("least-conn:ties=turn", NULL, 0, "01233210");
    assert_goes("least-conn:ties=turn", NULL, 0, "0123db31bd31");
    assert_goes("least-conn:ties=turn", NULL, 0, "012332ab1001cd231");
    assert_goes("least-conn:ties=turn", weight, 0, "012303201010230");
    assert_goes("least-conn:ties=queue", NULL, 0, "01230123");
    assert_goes("least-conn:ties=queue", NULL, 0, "0123db31bd13");
    assert_goes("least-conn:ties=queue", NULL, 1, "01bc2312");
}

/* A batch that is split raises the lowest counts over weights: 12 jobs on empty servers of weights 1, 2 and 3
 * are 2, 4 and 6. */
static void splits_follow_the_weights(void **state) {
    (void)state;
    static const char *const policies[] = {"least-conn",           "sed",
                                           "jiq:else=least-conn",  "least-conn:d=3",
                                           "least-conn:ties=turn", "least-conn:ties=queue"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bal_policy_spec spec;
        host_parse(policies[i], &spec);
        struct host host;
        host_init(&host, &spec, 3, 94);
        const double weight[] = {1, 2, 3};
        host.fleet.weight = weight;
        const struct bal_decision split = host_route(&host, 12, true);
        assert_int_equal(split.parts, 3);
        for (uint32_t part = 0; part < 3; part++)
            assert_int_equal(host.fleet.shares[part].count, 2 * (host.fleet.shares[part].server + 1));
        host_fini(&host);
    }
}

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

/* False alarm: 2e-6 for each of 22 laws. */
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
        {"pod:d=3,stop=1", 3, true},
        {"pod:d=2,replace=0,stop=1", 2, false},
        {"pod:d=50,stop=1", 50, true},
        {"jsq", N, false},
        {"scd:m=1", N, false},
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

/* Its chances by definition, the level by halving: parts are the jobs of all dispatchers, `size` each. */
static void scd_law(const uint32_t length[N], const double weight[N], double parts, double size,
                    double p[N]) {
    const double sum = 2 * size * (parts - 1);
    double low = 0, high = 1e6;
    for (int step = 0; step < 200; step++) {
        const double level = (low + high) / 2;
        double total = 0;
        for (int s = 0; s < N; s++)
            total += fmax(0, level * weight[s] - 2.0 * length[s] - size);
        *(total < sum ? &low : &high) = level;
    }
    for (int s = 0; s < N; s++)
        p[s] = fmax(0, high * weight[s] - 2.0 * length[s] - size) / sum;
}

/* What it is to make small: the squares of the queues over the weights that are expected. */
static double squares_of(const uint32_t length[N], const double weight[N], double parts, double size,
                         const double p[N]) {
    double sum = 0;
    for (int s = 0; s < N; s++)
        sum +=
            (pow(length[s] + size * parts * p[s], 2) + size * size * parts * p[s] * (1 - p[s])) / weight[s];
    return sum;
}

/* No other chances have a smaller sum: to move some from one server to another makes it larger. */
static void assert_least_squares(const uint32_t length[N], const double weight[N], double parts, double size,
                                 const double p[N]) {
    const double least = squares_of(length, weight, parts, size, p);
    for (int from = 0; from < N; from++)
        for (int to = 0; to < N; to++) {
            const double step = fmin(p[from], 0.01);
            double other[N];
            memcpy(other, p, sizeof other);
            other[from] -= step;
            other[to] += step;
            assert_true(squares_of(length, weight, parts, size, other) >= least * (1 - 1e-12));
        }
}

/* Of replies that stand twice in a sample one counts. That is found out in time that grows with the sample:
 * where each reply is compared with all others, a decision of this fleet takes a second of a processor. */
static void scd_takes_large_samples(void **state) {
    (void)state;
    enum { SERVERS = 100000, DECISIONS = 20, SHORT = SERVERS - 3 };
    struct bal_policy_spec spec;
    struct host host;
    host_parse("scd", &spec);
    host_init(&host, &spec, SERVERS, 98);
    uint32_t *sample = host_block(2 * SERVERS * sizeof *sample);
    for (uint32_t i = 0; i < SERVERS; i++) {
        sample[2 * i] = sample[2 * i + 1] = i;
        host.length[i] = i == SHORT ? 0 : 1000;
    }
    host.fleet.sample = sample;
    host.fleet.samples = 2 * SERVERS;
    const clock_t begun = clock();
    for (int i = 0; i < DECISIONS; i++)
        assert_int_equal(host_route(&host, 1, false).server, SHORT);
    assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < 5);
    free(sample);
    host_fini(&host);
}

/* By hand first: queues 0 and 1, three dispatchers: (level - 1) + (level - 3) = 4, so that the level is 4 and
 * the chances 3/4 and 1/4; of four jobs of one, (level - 1) + (level - 3) = 6, 2/3 and 1/3 for each. False
 * alarm: 2e-6 for each of 18 laws. */
static void scd_coordinates(void **state) {
    (void)state;
    static const uint32_t lengths[][N] = {{0, 1, 9, 9, 9, 9}, {3, 0, 2, 5, 1, 4}, {2, 1, 1, 3, 1, 2}};
    static const double weights[][N] = {{1, 1, 1, 1, 1, 1}, {1, 2, 4, 1, 3, 0.5}};
    static const uint32_t dispatchers[] = {2, 3, 200};
    double p[N];
    scd_law(lengths[0], weights[0], 3, 1, p);
    assert_true(fabs(p[0] - 0.75) < 1e-12 && fabs(p[1] - 0.25) < 1e-12 && p[2] == 0);
    for (int l = 0; l < 3; l++)
        for (int w = 0; w < 2; w++)
            for (int d = 0; d < 3; d++) {
                char text[20];
                snprintf(text, sizeof text, "scd:m=%u", dispatchers[d]);
                struct bal_policy_spec spec;
                host_parse(text, &spec);
                struct host host;
                host_init(&host, &spec, N, 98);
                memcpy(host.length, lengths[l], sizeof lengths[l]);
                host.fleet.weight = w ? weights[w] : NULL;
                const uint32_t size = d == 0 ? 3 : 1; /* not split, a batch is one job of its size */
                scd_law(lengths[l], weights[w], dispatchers[d], size, p);
                assert_least_squares(lengths[l], weights[w], dispatchers[d], size, p);
                uint64_t count[N] = {0};
                for (int draw = 0; draw < DRAWS; draw++)
                    count[host_route(&host, size, false).server]++;
                assert_fits(text, p, count, N);
                assert_true(host.fleet.probes == (uint64_t)DRAWS * N);
                host_fini(&host);
            }
    struct bal_policy_spec spec;
    host_parse("scd:m=1", &spec);
    struct host host;
    host_init(&host, &spec, N, 99);
    memcpy(host.length, lengths[0], sizeof lengths[0]);
    static const double binomial[] = {1 / 81., 8 / 81., 24 / 81., 32 / 81., 16 / 81.};
    uint64_t count[5] = {0};
    for (int draw = 0; draw < DRAWS; draw++) {
        const struct bal_decision split = host_route(&host, 4, true);
        uint32_t first = 0;
        for (uint32_t part = 0; part < split.parts; part++) {
            assert_true(host.fleet.shares[part].server < 2);
            first += host.fleet.shares[part].server == 0 ? host.fleet.shares[part].count : 0;
        }
        count[first]++;
    }
    assert_fits("scd, four jobs", binomial, count, 5);
    const double weight[N] = {1, 4, 30, 1, 1, 1}; /* keys over weights: 1, 3/4, 19/30 */
    host.fleet.weight = weight;
    for (int draw = 0; draw < 100; draw++)
        assert_int_equal(host_route(&host, 1, false).server, 2);
    host_fini(&host);
}

/* One after the other until one is idle: with replacement the i-th is asked with probability (1 - k/N)^(i -
 * 1), where k of N servers are idle. The mean may be 5 standard errors off: false alarm 6e-7 each. Without
 * replacement at most one more than there are busy ones, and with none idle all d. A batch of m jobs looks
 * for m of them. */
static void pod_stops_at_an_idle_server(void **state) {
    (void)state;
    static const uint32_t lengths[][N] = {{3, 0, 2, 5, 1, 4}, {2, 0, 0, 3, 0, 2}};
    static const int idle[] = {1, 3};
    struct bal_policy_spec spec;
    for (int l = 0; l < 2; l++)
        for (int d = 1; d < 40; d += 6) {
            char text[60];
            snprintf(text, sizeof text, "pod:d=%d,stop=1", d);
            host_parse(text, &spec);
            struct host host;
            host_init(&host, &spec, N, 97);
            memcpy(host.length, lengths[l], sizeof lengths[l]);
            double mean = 0, square = 0;
            for (int i = 0; i < d; i++) {
                const double asked = pow(1 - idle[l] / (double)N, i);
                mean += asked;
                square += (2 * i + 1) * asked;
            }
            for (int draw = 0; draw < DRAWS; draw++)
                host_route(&host, 1, false);
            const double error = sqrt(fmax(square - mean * mean, 0) / DRAWS);
            if (!(fabs((double)host.fleet.probes / DRAWS - mean) <= 5 * error + 1e-12))
                fail_msg("%s: %g probes, not %g", text, (double)host.fleet.probes / DRAWS, mean);
            host_fini(&host);
        }
    struct host host;
    host_parse("pod:d=6,replace=0,stop=1", &spec);
    host_init(&host, &spec, N, 98);
    memcpy(host.length, lengths[1], sizeof lengths[1]);
    for (int draw = 0; draw < 1000; draw++) {
        const uint64_t before = host.fleet.probes;
        assert_int_equal(host.length[host_route(&host, 1, false).server], 0);
        assert_in_range(host.fleet.probes - before, 1, 4);
        const uint64_t between = host.fleet.probes;
        assert_int_equal(host_route(&host, 2, true).parts, 2);
        assert_in_range(host.fleet.probes - between, 2, 5);
    }
    for (uint32_t server = 0; server < N; server++)
        host.length[server] = 1 + server;
    const uint64_t before = host.fleet.probes;
    assert_int_equal(host_route(&host, 1, false).server, 0);
    assert_int_equal(host.fleet.probes - before, N);
    host_fini(&host);
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
    for (int draw = 0; draw < 50000 && seen < 1000; draw++) { /* one in 14 is of use */
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
    assert_int_equal(seen, 1000);
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
    for (int draw = 0; draw < 2 * N * DRAWS && count[0] + count[1] < DRAWS; draw++) {
        bal_policy_init(&spec, &host.setting, host.state);
        if (host_route(&host, 1, false).server != 0) /* until the memory is server 0 */
            continue;
        for (uint32_t s = 0; s < N; s++)
            host.length[s] = s == 0 ? 2 : 3;
        assert_int_equal(host_route(&host, 1, false).server, 0);
        host.length[0] = 0;
        count[host_route(&host, 1, false).server == 0]++;
    }
    assert_int_equal(count[0] + count[1], DRAWS);
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
            host_leave(&host, leaving);
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

/* rcpb: at most c names, none twice; a name is deleted when it is used; without one, anybody. False alarm:
 * 2e-6. */
static void rcpb_keeps_few_names(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("rcpb:c=2", &spec);
    struct host host;
    host_init(&host, &spec, N, 109);
    uint64_t without_a_name[N] = {0};
    for (int round = 0; round < DRAWS; round++) {
        host_report(&host, BAL_REPORT_STILL_IDLE, 4);
        host_report(&host, BAL_REPORT_STILL_IDLE, 4); /* there already */
        host_report(&host, BAL_REPORT_STILL_IDLE, 1);
        host_report(&host, BAL_REPORT_STILL_IDLE, 5); /* the store is full */
        host_report(&host, BAL_REPORT_IDLE, 3);       /* not what it wants */
        const uint32_t first = host_route(&host, 1, false).server,
                       second = host_route(&host, 1, false).server;
        assert_true((first == 4 && second == 1) || (first == 1 && second == 4));
        without_a_name[host_route(&host, 1, false).server]++;
    }
    const double p[N] = {1. / N, 1. / N, 1. / N, 1. / N, 1. / N, 1. / N};
    assert_fits("rcpb without a name", p, without_a_name, N);
    assert_true(host.fleet.probes == 0);
    host_fini(&host);
}

/* rate-idle, ten servers at load 0.5, so that five jobs come in a mean service: with three servers of one job
 * each and two in set-up at rate 0.5 four become idle, and the chance of a start is 0.8 (1 - 4/5), although
 * one is idle. False alarm: 1e-6 each. */
static void rate_idle_starts_what_is_missing(void **state) {
    (void)state;
    enum { SERVERS = 10, OFF = 4 };
    static const uint32_t length[SERVERS] = {1, 1, 1, 2, 0};
    struct bal_policy_spec spec;
    host_parse("rate-idle:nu=0.5,gain=0.8", &spec);
    uint64_t woken[2] = {0, 0}, which[OFF - 1] = {0};
    for (uint64_t draw = 0; draw < 4000; draw++) {
        struct host host;
        host_init(&host, &spec, SERVERS, 1000 + draw);
        const struct bal_policy_context half = {SERVERS, 0.5};
        bal_policy_init(&spec, &half, host.state);
        for (uint32_t server = 0; server < SERVERS; server++) {
            host.length[server] = length[server];
            host_report(&host,
                        server < 4    ? BAL_REPORT_BUSY
                        : server == 4 ? BAL_REPORT_IDLE
                        : server < 7  ? BAL_REPORT_SETUP
                                      : BAL_REPORT_OFF,
                        server);
        }
        const struct bal_decision decision = host_route(&host, 1, false);
        assert_int_equal(decision.server, 4);
        const bool wakes = decision.wake != BAL_NONE;
        assert_true(!wakes || decision.wake >= 7);
        woken[wakes]++;
        if (wakes)
            which[decision.wake - 7]++;
        host_fini(&host);
    }
    assert_fits("rate-idle", (const double[]){0.84, 0.16}, woken, 2);
    assert_fits("rate-idle, who", (const double[]){1. / 3, 1. / 3, 1. / 3}, which, OFF - 1);
    struct bal_error err;
    const struct bal_policy_context unknown = {SERVERS, NAN};
    assert_int_equal(bal_policy_check(&spec, &unknown, NULL, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "the load is not known here; use tabs"));
}

/* With no server on a job is refused, and one is started unless one is on its way. */
static void rate_idle_does_not_stay_off(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("rate-idle:gain=0.001", &spec);
    struct host host;
    host_init(&host, &spec, 3, 133);
    for (uint32_t server = 0; server < 3; server++)
        host_report(&host, BAL_REPORT_OFF, server);
    struct bal_decision decision = host_route(&host, 1, false);
    assert_true(decision.server == BAL_NONE && decision.wake < 3);
    const uint32_t first = decision.wake;
    decision = host_route(&host, 1, false);
    assert_true(decision.server == BAL_NONE && decision.wake == BAL_NONE);
    host_report(&host, BAL_REPORT_ON, first);
    assert_int_equal(host_route(&host, 1, false).server, first);
    host_fini(&host);
}

/* last-idle: one name, that of the last report, for all jobs until the next; anybody without it. */
static void last_idle_keeps_one_name(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("last-idle:mu=0.01", &spec);
    struct host host;
    host_init(&host, &spec, N, 134);
    bool used[N] = {false};
    for (int i = 0; i < 200; i++)
        used[host_route(&host, 1, false).server] = true;
    for (uint32_t server = 0; server < N; server++)
        assert_true(used[server]);
    host_report(&host, BAL_REPORT_STILL_IDLE, 3);
    host_report(&host, BAL_REPORT_STILL_IDLE, 2);
    for (int i = 0; i < 20; i++)
        assert_int_equal(host_route(&host, 1, false).server, 2);
    host_report(&host, BAL_REPORT_BUSY, 2); /* which it is, with the jobs that it has got */
    host_report(&host, BAL_REPORT_GONE, 3);
    assert_int_equal(host_route(&host, 1, false).server, 2);
    host_report(&host, BAL_REPORT_GONE, 2);
    assert_int_equal(bal_policy_tokens(&spec, host.state), 0);
    host_fini(&host);
}

/* tabs: green servers first; else a busy one, and a red one is woken, once; with nobody on the job is
 * refused, and those that were woken are told again in turn: the wake may have been lost. */
static void tabs_follows_the_colours(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("tabs", &spec);
    struct host host;
    host_init(&host, &spec, 4, 110);
    host_report_all(&host);
    host_report(&host, BAL_REPORT_OFF, 0);
    host_report(&host, BAL_REPORT_OFF, 1);
    bool used[4] = {false};
    for (int job = 0; job < 2; job++) {
        const struct bal_decision decision = host_route(&host, 1, false);
        assert_true(decision.server >= 2 && decision.server < 4 && !used[decision.server]);
        assert_true(decision.wake == BAL_NONE);
        used[decision.server] = true;
    }
    bool woken[4] = {false};
    for (int job = 0; job < 2; job++) {
        const struct bal_decision decision = host_route(&host, 1, false);
        assert_true(decision.server >= 2 && decision.server < 4); /* busy, and not the one that is off */
        assert_true(decision.wake < 2 && !woken[decision.wake]);
        woken[decision.wake] = true;
    }
    assert_true(host_route(&host, 1, false).wake == BAL_NONE); /* both are on their way */
    host_report(&host, BAL_REPORT_ON, 1);
    assert_int_equal(host_route(&host, 1, false).server, 1);
    host_fini(&host);

    host_init(&host, &spec, 2, 111);
    host_report(&host, BAL_REPORT_OFF, 0);
    host_report(&host, BAL_REPORT_OFF, 1);
    struct bal_decision decision = host_route(&host, 1, false);
    assert_true(decision.server == BAL_NONE && decision.wake < 2);
    const uint32_t first = decision.wake;
    decision = host_route(&host, 1, false);
    assert_true(decision.server == BAL_NONE && decision.wake == 1 - first);
    bool again[2] = {false};
    for (int job = 0; job < 2; job++) {
        decision = host_route(&host, 1, false);
        assert_true(decision.server == BAL_NONE && decision.wake < 2);
        again[decision.wake] = true;
    }
    assert_true(again[0] && again[1]);
    host_report(&host, BAL_REPORT_ON, 1);
    decision = host_route(&host, 1, false);
    assert_true(decision.server == 1 && decision.wake == BAL_NONE);
    assert_true(host_route(&host, 1, false).wake == BAL_NONE); /* somebody is on */
    host_fini(&host);
}

/* With abort=yes a job that finds a green server aborts one set-up, and only then; the server is red again.
 */
/* With idle=lowest servers are filled and started in order; with after=2 a second job in a row that finds
 * none idle starts one, and the first of all does at once. */
static void tabs_packs(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    struct host host;
    host_parse("tabs:idle=lowest,after=2", &spec);
    host_init(&host, &spec, 4, 112);
    for (uint32_t server = 4; server-- > 0;)
        host_report(&host, BAL_REPORT_OFF, server);
    assert_int_equal(host_route(&host, 1, false).wake, 0); /* none is on */
    host_report(&host, BAL_REPORT_ON, 0);
    for (int job = 0; job < 3; job++) { /* two that come together, and then an idle server again */
        const struct bal_decision first = host_route(&host, 1, false), second = host_route(&host, 1, false);
        assert_true(first.server == 0 && first.wake == BAL_NONE);
        assert_true(second.server == 0 && second.wake == BAL_NONE);
        host_report(&host, BAL_REPORT_IDLE, 0);
    }
    assert_int_equal(host_route(&host, 1, false).wake, BAL_NONE);
    assert_int_equal(host_route(&host, 1, false).wake, BAL_NONE);
    assert_int_equal(host_route(&host, 1, false).wake, 1); /* the second in a row */
    assert_int_equal(host_route(&host, 1, false).wake, BAL_NONE);
    assert_int_equal(host_route(&host, 1, false).wake, 2);
    host_report(&host, BAL_REPORT_ON, 2);
    host_report(&host, BAL_REPORT_ON, 1);
    assert_int_equal(host_route(&host, 1, false).server, 1);
    assert_int_equal(host_route(&host, 1, false).server, 2);
    host_fini(&host);
}

static void tabs_aborts_setups(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    struct host host;
    host_parse("tabs", &spec);
    assert_false(bal_policy_flags(&spec) & BAL_ABORTS);
    host_parse("tabs:abort=yes", &spec);
    assert_true(bal_policy_flags(&spec) & BAL_ABORTS);
    host_init(&host, &spec, 5, 118);
    for (uint32_t server = 1; server < 5; server++)
        host_report(&host, BAL_REPORT_OFF, server);
    bool woken[5] = {false};
    for (int job = 0; job < 3; job++)
        woken[host_route(&host, 1, false).wake] = true;
    assert_false(host.fleet.aborts);
    bool aborted[5] = {false};
    for (int job = 0; job < 3; job++) {
        host_report(&host, BAL_REPORT_IDLE, 0);
        assert_int_equal(host_route(&host, 1, false).server, 0);
        assert_true(host.fleet.aborts && woken[host.fleet.abort] && !aborted[host.fleet.abort]);
        aborted[host.fleet.abort] = true;
        host.fleet.aborts = false;
    }
    host_report(&host, BAL_REPORT_IDLE, 0);
    host_route(&host, 1, false);
    assert_false(host.fleet.aborts);  /* none is left */
    for (int job = 0; job < 4; job++) /* all four are red: each is started once more */
        assert_true(host_route(&host, 1, false).wake != BAL_NONE);
    assert_true(host_route(&host, 1, false).wake == BAL_NONE);
    host_fini(&host);
}

/* With none=hold a job that finds no server on waits for one, and while others wait it does so for an idle
 * one; one that may not wait any longer goes to a busy server. The lab's own default is to refuse it. */
static void tabs_waits_where_none_is_on(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("tabs", &spec);
    assert_false(bal_policy_flags(&spec) & BAL_MAY_HOLD);
    bal_policy_wait_for_power(&spec);
    assert_true(bal_policy_flags(&spec) & BAL_MAY_HOLD);
    struct host host;
    host_init(&host, &spec, 2, 112);
    host_report(&host, BAL_REPORT_OFF, 0);
    host_report(&host, BAL_REPORT_OFF, 1);
    struct bal_decision decision = host_route(&host, 1, false);
    assert_true(decision.server == BAL_HOLD && decision.wake < 2);
    const uint32_t first = decision.wake;
    host_report(&host, BAL_REPORT_ON, first);
    assert_int_equal(host_route(&host, 1, false).server, first);
    decision = host_route(&host, 1, false); /* it is busy: as `else` says */
    assert_true(decision.server == first && decision.wake == 1 - first);
    const struct bal_job held = {.count = 1, .held = 1}, urgent = {.count = 1, .held = 1, .at_once = true};
    assert_true(bal_policy_route(&spec, host.state, &host.fleet, &held, &host.rng).server == BAL_HOLD);
    assert_true(bal_policy_route(&spec, host.state, &host.fleet, &urgent, &host.rng).server == first);
    host_fini(&host);
}

/* What is said stays, and policies that switch nothing off know nothing of it. */
static void what_is_said_of_power_stays(void **state) {
    (void)state;
    static const char *const texts[] = {"tabs:mu=0.1,nu=0.1,none=refuse", "tabs:mu=0.1,nu=0.1,else=hold",
                                        "jiq", "tabs:mu=0.1,nu=0.1,none=hold"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct bal_policy_spec spec;
        char text[100];
        host_parse(texts[i], &spec);
        bal_policy_wait_for_power(&spec);
        bal_policy_print(&spec, text, sizeof text);
        assert_string_equal(text, texts[i]);
    }
}

static void reply(struct host *host, uint32_t server, uint32_t in_flight, double latency) {
    const struct bal_reply load = {in_flight, 0, latency};
    assert_true(bal_policy_report(&host->spec, host->state, &host->fleet, BAL_REPORT_LOAD, server, &load));
}

/* Nobody answers: the pool is what the test puts there. */
static uint32_t prequal_to(struct host *host) {
    const struct bal_job job = {.count = 1};
    const uint32_t to = bal_policy_route(&host->spec, host->state, &host->fleet, &job, &host->rng).server;
    host->fleet.asks = 0;
    return to;
}

/* The cold one with the least latency; of hot ones that with the fewest requests; and a job more is counted
 * where it is sent. */
static void prequal_prefers_the_cold(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("prequal:r=0,pool=6,remove=0,q=0.5", &spec);
    struct host host;
    host_init(&host, &spec, N, 120);
    reply(&host, 0, 2, 0.1); /* one of three has fewer: at the threshold, and cold */
    reply(&host, 1, 1, 5);
    reply(&host, 2, 9, 0.01); /* hot */
    assert_int_equal(prequal_to(&host), 0);
    assert_int_equal(prequal_to(&host), 1); /* 0 has three now, and is hot */
    assert_int_equal(prequal_to(&host), 1); /* 2 is not above the threshold */
    assert_int_equal(prequal_to(&host), 0); /* all are hot: 3, 3 and 9 requests */
    host_report(&host, BAL_REPORT_GONE, 0);
    host_report(&host, BAL_REPORT_GONE, 1);
    uint64_t others = 0;
    for (int job = 0; job < 100; job++)
        others += prequal_to(&host) != 2; /* one reply is too few */
    assert_true(others > 50);
    host_fini(&host);
}

/* Taken out in turn: the worst, the oldest; and whatever has grown old. */
static void prequal_takes_replies_out(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("prequal:r=0,pool=6,remove=1,q=1", &spec);
    struct host host;
    host_init(&host, &spec, N, 121);
    reply(&host, 0, 1, 1);
    reply(&host, 1, 1, 6);
    reply(&host, 2, 1, 2);
    reply(&host, 3, 1, 5);
    reply(&host, 4, 1, 3);
    reply(&host, 5, 1, 4);
    assert_int_equal(prequal_to(&host), 0); /* then 1, the worst, goes */
    assert_int_equal(prequal_to(&host), 0); /* then 0, the oldest */
    assert_int_equal(prequal_to(&host), 2); /* 3 */
    assert_int_equal(prequal_to(&host), 2); /* 2 */
    assert_int_equal(prequal_to(&host), 4); /* 5: 4 is left, which is too few */
    uint64_t others = 0;
    for (int job = 0; job < 100; job++)
        others += prequal_to(&host) != 4;
    assert_true(others > 50);
    host_fini(&host);

    host_parse("prequal:r=0,pool=6,remove=0,q=1,age=2", &spec);
    host_init(&host, &spec, N, 122);
    reply(&host, 0, 1, 1);
    host.fleet.now = 1.5;
    reply(&host, 1, 1, 2);
    reply(&host, 2, 1, 3);
    assert_int_equal(prequal_to(&host), 0);
    host.fleet.now = 2.5;
    assert_int_equal(prequal_to(&host), 1); /* 0 has grown old */
    host.fleet.now = 0.5;
    assert_int_equal(prequal_to(&host), 1); /* a clock that steps back makes nobody older */
    host_fini(&host);
}

/* b = 2 / ((1 - m/N) r - remove) = 2 / (0.5 * 4 - 0.4) = 1.25 uses of a reply on average. */
static void prequal_uses_a_reply_as_often_as_it_should(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("prequal:r=4,pool=3,remove=0.4,q=1", &spec);
    struct host host;
    host_init(&host, &spec, N, 123);
    enum { TRIES = 20000 };
    int twice = 0;
    for (int i = 0; i < TRIES; i++) {
        bal_policy_init(&spec, &host.setting, host.state);
        reply(&host, 0, 0, 1);
        reply(&host, 1, 0, 2);
        reply(&host, 2, 0, 3);
        assert_int_equal(prequal_to(&host), 0);
        twice += prequal_to(&host) == 0;
    }
    assert_true(fabs(twice - 0.25 * TRIES) < NORMAL_LIMIT * sqrt(TRIES * 0.25 * 0.75));
    host_fini(&host);
}

/* A peak is believed at once and forgotten slowly; a quick failure is not believed. */
static void ewma_jumps_up_and_comes_down_slowly(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("ewma:d=6,decay=10", &spec);
    struct host host;
    host_init(&host, &spec, N, 124);
    uint32_t own[N] = {0};
    host.fleet.own = own;
    const struct bal_job job = {.count = 1};
#define TO() bal_policy_route(&spec, host.state, &host.fleet, &job, &host.rng).server
#define ANSWER(server, time, failed)                                                                         \
    bal_policy_response(&spec, host.state, &host.fleet, (server), (time), (failed))
    for (uint32_t server = 0; server < N; server++)
        ANSWER(server, 2 + 0.1 * server, false);
    assert_int_equal(TO(), 0);
    own[0] = 1; /* 4 against 2.1 */
    assert_int_equal(TO(), 1);
    own[0] = 0;
    ANSWER(0, 8, false);
    assert_int_equal(TO(), 1);
    ANSWER(0, 0.001, true);
    assert_int_equal(TO(), 1);
    host.fleet.now = 10;
    ANSWER(0, 0.001, false); /* 8 / e + a little = 2.94 against 2.1 / e */
    assert_int_equal(TO(), 1);
    for (uint32_t server = 1; server < N; server++)
        ANSWER(server, 2.8, false);
    assert_int_not_equal(TO(), 0);
    for (uint32_t server = 1; server < N; server++)
        ANSWER(server, 3, false);
    assert_int_equal(TO(), 0);
    host_report(&host, BAL_REPORT_GONE, 3); /* nothing is known of it, and it has a request: left alone */
    own[3] = 1;
    for (int i = 0; i < 20; i++)
        assert_int_equal(TO(), 0);
    own[3] = 0;
    assert_int_equal(TO(), 3); /* without one it is tried */
#undef TO
#undef ANSWER
    host_fini(&host);
}

/* Estimates count what was sent, are put right by reports, and forget those that have left. */
static void lsq_believes_the_last_report(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("lsq", &spec);
    struct host host;
    host_init(&host, &spec, N, 125);
    bool seen[N] = {false};
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t to = host_route(&host, 1, false).server;
        assert_false(seen[to]);
        seen[to] = true;
    }
    for (uint32_t server = 0; server < N; server++)
        reply(&host, server, 5 + server, NAN);
    assert_int_equal(host_route(&host, 1, false).server, 0);
    reply(&host, 4, 2, NAN);
    for (int i = 0; i < 3; i++)
        assert_int_equal(host_route(&host, 1, false).server, 4);
    host_report(&host, BAL_REPORT_GONE, 4);
    for (int i = 0; i < 100; i++)
        assert_true(host_route(&host, 1, false).server != 4);
    assert_true(host.fleet.probes == 0);
    host_fini(&host);
}

/* Which server a job goes to at a time. */
static uint32_t care_at(struct host *host, double now) {
    host->fleet.now = now;
    return host_route(host, 1, false).server;
}

/* Two servers, x = 3: jobs are thought to take one unit of time each, but no more than two are taken off
 * between two reports, and none with service=0. */
static void care_emulates_between_reports(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("care:x=3", &spec);
    struct host host;
    host_init(&host, &spec, 2, 126);
    reply(&host, 0, 5, NAN);
    reply(&host, 1, 3, NAN);
    assert_int_equal(care_at(&host, 0.5), 1); /* 5 and 3: then 5 and 4 */
    assert_int_equal(care_at(&host, 0.9), 1); /* 5 and 4: then 5 and 5 */
    reply(&host, 0, 6, NAN);
    reply(&host, 1, 4, NAN);
    assert_int_equal(care_at(&host, 1.5), 1); /* 5.4 and 3.4 are left: 6 and 4 */
    assert_int_equal(care_at(&host, 2.8), 1); /* 4.1 and 3.1: 5 and 4 */
    host_fini(&host);
    host_init(&host, &spec, 2, 127);
    reply(&host, 0, 5, NAN);
    reply(&host, 1, 4, NAN);
    assert_int_equal(care_at(&host, 100), 1); /* both less two, as the cut has it: 3 and 2, then 3 and 3 */
    for (int i = 0; i < 8; i++) {
        host.fleet.now = 0;
        reply(&host, 0, 5, NAN);
        host.fleet.now = 100;
        reply(&host, 1, 2, NAN);
        assert_int_equal(care_at(&host, 100), 1); /* 3, by the cut, and 2 */
    }
    reply(&host, 0, 3, NAN);
    host_report(&host, BAL_REPORT_GONE, 1);
    for (int i = 0; i < 20; i++)
        assert_int_equal(care_at(&host, 100), 0);
    reply(&host, 1, 30, NAN);                /* 23 there and 30 */
    assert_int_equal(care_at(&host, 99), 0); /* the time goes back: none passes */
    host_fini(&host);
    static const double weight[] = {1, 3}; /* rates 1/2 and 3/2 */
    host_init(&host, &spec, 2, 128);
    host.fleet.weight = weight;
    reply(&host, 0, 2, NAN);
    reply(&host, 1, 3, NAN);
    assert_int_equal(care_at(&host, 1.4), 1); /* 2 and 1: 1.3 and 0.9 are left */
    host_fini(&host);
    host_parse("care:x=3,service=0", &spec);
    host_init(&host, &spec, 2, 129);
    reply(&host, 0, 2, NAN);
    reply(&host, 1, 1, NAN);
    assert_int_equal(care_at(&host, 100), 1);
    reply(&host, 1, 3, NAN);
    assert_int_equal(care_at(&host, 200), 0);
    assert_true(host.fleet.probes == 0);
    host_fini(&host);
}

/* The board is what was there when the period began, whatever is sent since; and hosts whose probes take time
 * are told once in a period to send them. */
static void board_is_looked_at_once_in_a_period(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("board:t=10,pick=shortest", &spec);
    struct host host;
    host_init(&host, &spec, N, 130);
    for (uint32_t server = 0; server < N; server++)
        host.length[server] = server == 3 ? 1 : 5;
    static const double times[] = {7, 9.8, 7, 12, 11, 9, 19};
    for (int i = 0; i < 7; i++) {
        if (i == 3)
            host.length[3] = 6, host.length[4] = 2;
        assert_int_equal(care_at(&host, times[i]), i < 3 ? 3 : 4);
        assert_int_equal(host.fleet.probes, i < 3 ? N : 2 * N);
    }
    const struct bal_job job = {.count = 1};
    const uint32_t sample[] = {5};
    host.fleet.now = 31;
    assert_int_equal(bal_policy_sample(&spec, host.state, &host.fleet, &job, &host.rng), N);
    host.fleet.asks = 0;
    assert_int_equal(bal_policy_sample(&spec, host.state, &host.fleet, &job, &host.rng), 0);
    assert_int_equal(host_route(&host, 1, false).server, 4); /* they are on their way */
    host.length[5] = 1;
    host.fleet.sample = sample;
    host.fleet.samples = 1;
    assert_int_equal(host_route(&host, 1, false).server, 5);
    host.fleet.sample = NULL;
    assert_int_equal(host_route(&host, 1, false).server, 5);
    host_fini(&host);
}

/* As many jobs as in a period before it fill the queues 0 and 4 up: with 6 to 5 each, with 2 the first alone.
 */
static void board_interprets_what_a_period_brings(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    host_parse("board:t=10,pick=interpret", &spec);
    struct host host;
    host_init(&host, &spec, 2, 131);
    host.length[1] = 4;
    for (int i = 0; i < 12; i++)
        care_at(&host, 5);
    uint64_t got[2] = {0, 0};
    for (int i = 0; i < 6000; i++) /* the second period without jobs: 12 in two */
        got[care_at(&host, 25)]++;
    assert_fits("board", (const double[]){5. / 6, 1. / 6}, got, 2);
    host_fini(&host);
    host_init(&host, &spec, 2, 132);
    host.length[1] = 4;
    care_at(&host, 5);
    care_at(&host, 5);
    for (int i = 0; i < 100; i++)
        assert_int_equal(care_at(&host, 15), 0);
    host_fini(&host);
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
            const struct bal_policy_context setting = {.servers = sizes[s].servers, .load = 0.9};
            assert_true(bal_policy_memory_bits(&spec, &setting) ==
                        cases[c].names * sizes[s].name + cases[c].flags * sizes[s].servers);
        }
}

static void different_servers_must_exist(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    struct bal_error err;
    host_parse("pod:d=11,replace=0", &spec);
    struct bal_policy_context setting = {.servers = 10, .load = 0.9};
    assert_int_equal(bal_policy_check(&spec, &setting, NULL, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "d=11"));
    assert_non_null(strstr(err.text, "up to 10"));
    setting.servers = 11;
    assert_int_equal(bal_policy_check(&spec, &setting, NULL, &err), BAL_OK);
    host_parse("pod:d=11", &spec);
    setting.servers = 1;
    assert_int_equal(bal_policy_check(&spec, &setting, NULL, &err), BAL_OK);
}

/* An embedder's first program: what is not filled in is told, and nobody calls what is not there. */
static void a_view_without_work_is_refused(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    struct bal_error err = {0};
    host_parse("least-work", &spec);
    struct host host;
    host_init(&host, &spec, 3, 95);
    assert_int_equal(bal_policy_check_fleet(&spec, &host.fleet, &err), BAL_OK);
    host.fleet.work = NULL;
    assert_int_equal(bal_policy_check_fleet(&spec, &host.fleet, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "'least-work' looks at fleet.work"));
    assert_int_equal(host_route(&host, 1, false).server, BAL_NONE);
    host.fleet.own = NULL;
    host_parse("least-conn", &spec);
    assert_int_equal(bal_policy_check_fleet(&spec, &host.fleet, NULL), BAL_E_MODEL);
    host.fleet.length = NULL;
    host_parse("pod", &spec);
    assert_int_equal(bal_policy_check_fleet(&spec, &host.fleet, NULL), BAL_E_MODEL);
    host_parse("random", &spec);
    assert_int_equal(bal_policy_check_fleet(&spec, &host.fleet, NULL), BAL_OK);
    host_fini(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_robin_takes_turns),
        cmocka_unit_test(weighted_round_robin_is_smooth),
        cmocka_unit_test(weighted_round_robin_by_runs_is_the_literal_one),
        cmocka_unit_test(weighted_random_is_in_proportion),
        cmocka_unit_test(policies_choose_by_weight),
        cmocka_unit_test(the_scale_of_weights_says_nothing),
        cmocka_unit_test(equals_go_in_turn_or_in_line),
        cmocka_unit_test(splits_follow_the_weights),
        cmocka_unit_test(those_that_probe_follow_their_law),
        cmocka_unit_test(scd_takes_large_samples),
        cmocka_unit_test(scd_coordinates),
        cmocka_unit_test(pod_stops_at_an_idle_server),
        cmocka_unit_test(least_work_minds_work_and_not_length),
        cmocka_unit_test(pod_memory_remembers),
        cmocka_unit_test(pod_memory_counts_its_own_job),
        cmocka_unit_test(pod_memory_breaks_ties_evenly),
        cmocka_unit_test(pod_memory_keeps_the_best),
        cmocka_unit_test(jiq_prefers_idle_servers),
        cmocka_unit_test(pi_persists),
        cmocka_unit_test(rcpb_keeps_few_names),
        cmocka_unit_test(tabs_follows_the_colours),
        cmocka_unit_test(tabs_packs),
        cmocka_unit_test(tabs_aborts_setups),
        cmocka_unit_test(tabs_waits_where_none_is_on),
        cmocka_unit_test(what_is_said_of_power_stays),
        cmocka_unit_test(prequal_prefers_the_cold),
        cmocka_unit_test(prequal_takes_replies_out),
        cmocka_unit_test(prequal_uses_a_reply_as_often_as_it_should),
        cmocka_unit_test(ewma_jumps_up_and_comes_down_slowly),
        cmocka_unit_test(lsq_believes_the_last_report),
        cmocka_unit_test(care_emulates_between_reports),
        cmocka_unit_test(rate_idle_starts_what_is_missing),
        cmocka_unit_test(rate_idle_does_not_stay_off),
        cmocka_unit_test(last_idle_keeps_one_name),
        cmocka_unit_test(board_is_looked_at_once_in_a_period),
        cmocka_unit_test(board_interprets_what_a_period_brings),
        cmocka_unit_test(reports_may_be_repeated),
        cmocka_unit_test(memory_is_counted_in_bits),
        cmocka_unit_test(different_servers_must_exist),
        cmocka_unit_test(a_view_without_work_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
