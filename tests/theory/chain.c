/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains of a few servers against formulas, against a literal chain of two servers that are told apart,
 * against each other, against simulation, and the expansion in 1/N against them.
 *
 * Seeds are fixed. A simulated value may be 4.5 standard errors off, which Student's t with 19 degrees of
 * freedom is with probability 2.5e-4: in 33 comparisons 8e-3 in all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "ballast/theory.h"
#include "close.h"
#include "exact.h"
#include "theory/chain.h"

enum { MOST = 100000 };

static struct bli_prediction solve(const char *policy, const char *servers, double load) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_model model = model_of(servers, "exp", load);
    struct bli_prediction known;
    struct bli_chain chain;
    assert_int_equal(bli_theory_solve_chain(&model, &spec, MOST, false, &known, &chain), BLI_CHAIN_SOLVED);
    assert_int_equal(known.kind, BLI_THEORY_EXACT);
    assert_true(chain.lost < (bli_servers_count(&model.servers) > CHAIN_SERVERS ? 1e-6 : 1e-11));
    return known;
}

/* One probe makes N queues M/M/1, and so is any policy that has one server only. */
static void queues_of_their_own(void **state) {
    (void)state;
    static const struct {
        const char *policy, *servers;
        double load;
    } cases[] = {{"pod:d=1", "1", 0.9}, {"pod:d=1", "2", 0.5}, {"pod:d=1", "3", 0.3},
                 {"jsq", "1", 0.8},     {"jiq", "1", 0.8},     {"pi", "1", 0.8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double load = cases[i].load, rate = 1 - load;
        const struct bli_prediction known = solve(cases[i].policy, cases[i].servers, load);
        assert_close(known.response_mean, 1 / rate, 1e-9);
        assert_close(known.waiting_probability, load, 1e-9);
        assert_close(known.response_quantile[2], log(100) / rate, 1e-7);
        for (unsigned k = 0; k < 6; k++)
            assert_close(known.tail[k], pow(load, k), 1e-9);
    }
}

/* ---- two servers that are told apart ---- */

enum { EDGE = 64 };

/* How many of the jobs that come go to the first server, which has a jobs, the other b. */
static double first_share(const char *policy, unsigned a, unsigned b) {
    if (strcmp(policy, "jsq") == 0)
        return a < b ? 1 : a > b ? 0 : 0.5;
    if (strcmp(policy, "pod:d=2") == 0)
        return a < b ? 0.75 : a > b ? 0.25 : 0.5;
    if (strcmp(policy, "scd:m=4") == 0) /* 2 (level - a) - 1 and 2 (level - b) - 1, six together: both in */
        return fmin(fmax(0.5 + ((double)b - a) / 6, 0), 1);
    return a == 0 && b > 0 ? 1 : b == 0 && a > 0 ? 0 : 0.5; /* jiq */
}

/* The chain step by step until nothing changes. */
static double literal_mean(const char *policy, double load) {
    static double now[EDGE][EDGE], next[EDGE][EDGE];
    memset(now, 0, sizeof now);
    now[0][0] = 1;
    const double step = 1 / (2 * load + 2);
    double mean = 0, before = -1;
    for (int round = 0; fabs(mean - before) > 1e-14; round++) {
        before = mean;
        for (int k = 0; k < 200; k++) {
            memset(next, 0, sizeof next);
            for (unsigned a = 0; a < EDGE; a++)
                for (unsigned b = 0; b < EDGE; b++) {
                    const double share = first_share(policy, a, b), mass = now[a][b] * step;
                    next[a + 1 < EDGE ? a + 1 : a][b] += mass * 2 * load * share;
                    next[a][b + 1 < EDGE ? b + 1 : b] += mass * 2 * load * (1 - share);
                    next[a > 0 ? a - 1 : 0][b] += mass;
                    next[a][b > 0 ? b - 1 : 0] += mass;
                }
            memcpy(now, next, sizeof now);
        }
        mean = 0;
        for (unsigned a = 0; a < EDGE; a++)
            for (unsigned b = 0; b < EDGE; b++)
                mean += now[a][b] * (a + b);
    }
    return mean / (2 * load);
}

static void as_the_literal_chain(void **state) {
    (void)state;
    static const char *const policies[] = {"jsq", "pod:d=2", "jiq", "scd:m=4"};
    for (size_t i = 0; i < 4; i++)
        assert_close(solve(policies[i], "2", 0.6).response_mean, literal_mean(policies[i], 0.6), 1e-9);
}

/* pod-memory, with the server that is remembered: the first or the other. */
static double literal_mean_of_memory(unsigned d, double load) {
    static double now[2][EDGE][EDGE], next[2][EDGE][EDGE];
    memset(now, 0, sizeof now);
    now[0][0][0] = 1;
    const double step = 1 / (2 * load + 2), alone = d == 1 ? 0.5 : 0.25; /* only the remembered one is seen */
    double mean = 0, before = -1;
    while (fabs(mean - before) > 1e-14) {
        before = mean;
        for (int k = 0; k < 200; k++) {
            memset(next, 0, sizeof next);
            for (unsigned m = 0; m < 2; m++)
                for (unsigned a = 0; a + 1 < EDGE; a++)
                    for (unsigned b = 0; b + 1 < EDGE; b++) {
                        const double mass = now[m][a][b] * step, come = mass * 2 * load;
                        const double first = a < b ? 1 : a > b ? 0 : 0.5;
                        const double knows_a = a + 1 < b ? 1 : a + 1 > b ? 0 : 0.5; /* it joined a */
                        const double knows_b = b + 1 < a ? 1 : b + 1 > a ? 0 : 0.5;
                        next[m][a > 0 ? a - 1 : 0][b] += mass;
                        next[m][a][b > 0 ? b - 1 : 0] += mass;
                        next[m][a + (m == 0)][b + (m == 1)] += come * alone;
                        next[0][a + 1][b] += come * (1 - alone) * first * knows_a;
                        next[1][a + 1][b] += come * (1 - alone) * first * (1 - knows_a);
                        next[1][a][b + 1] += come * (1 - alone) * (1 - first) * knows_b;
                        next[0][a][b + 1] += come * (1 - alone) * (1 - first) * (1 - knows_b);
                    }
            memcpy(now, next, sizeof now);
        }
        mean = 0;
        for (unsigned a = 0; a < EDGE; a++)
            for (unsigned b = 0; b < EDGE; b++)
                mean += (now[0][a][b] + now[1][a][b]) * (a + b);
    }
    return mean / (2 * load);
}

static void memory_as_the_literal_chain(void **state) {
    (void)state;
    assert_close(solve("pod-memory", "2", 0.5).response_mean, literal_mean_of_memory(1, 0.5), 1e-9);
    assert_close(solve("pod-memory:d=2,b=1", "2", 0.5).response_mean, literal_mean_of_memory(2, 0.5), 1e-9);
    assert_close(solve("pod-memory", "1", 0.8).response_mean, 1 / (1 - 0.8), 1e-9);
    assert_close(solve("pod-memory:d=100,b=1", "3", 0.6).response_mean, solve("jsq", "3", 0.6).response_mean,
                 1e-9); /* all are seen */
}

/* ---- two classes ---- */

static struct bli_model model_of_classes(const char *servers, double load, double high) {
    struct bli_model model = model_of(servers, "exp", load);
    model.classes = true;
    model.high = high;
    return model;
}

static struct bli_prediction solve_classes(const char *policy, const char *servers, double load,
                                           double high) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_model model = model_of_classes(servers, load, high);
    struct bli_prediction known;
    struct bli_chain chain;
    assert_int_equal(bli_theory_solve_chain(&model, &spec, MOST, false, &known, &chain), BLI_CHAIN_SOLVED);
    assert_true(chain.lost < (bli_servers_count(&model.servers) > CHAIN_SERVERS ? 1e-6 : 1e-11));
    if (high > 0 && high < 1)
        assert_close(high * known.high.response_mean + (1 - high) * known.low.response_mean,
                     known.response_mean, 1e-9);
    return known;
}

/* Formulas of one server, and what is pod if there is one class only or both probe as many servers. */
static void classes_as_known(void **state) {
    (void)state;
    static const char *const preempting[] = {"pod-sep:d=1", "pod-sep:d=2", "pod-ssp:d1=1,d2=2",
                                             "pod-ssp:d1=2,d2=2"};
    for (size_t i = 0; i < 4; i++) {
        const struct bli_prediction known = solve_classes(preempting[i], "1", 0.8, 0.3);
        assert_close(known.response_mean, 1 / (1 - 0.8), 1e-9);
        assert_close(known.high.response_mean, 1 / (1 - 0.24), 1e-9);
        assert_close(known.low.response_mean, 1 / ((1 - 0.24) * (1 - 0.8)), 1e-9);
        assert_close(known.high.waiting_probability, 0.24, 1e-9);
        assert_close(known.low.waiting_probability, 0.8, 1e-9);
        assert_close(known.high.response_quantile[2], log(100) / (1 - 0.24), 1e-7);
        assert_close(known.high_tail[2], 0.24 * 0.24, 1e-9);
    }
    const struct bli_prediction pod = solve("pod:d=2", "3", 0.6);
    static const char *const twice[] = {"pod-scp:d1=2,d2=2", "pod-sep:d=2", "pod-ssp:d1=2,d2=2"};
    for (size_t i = 0; i < 3; i++) {
        assert_close(solve_classes(twice[i], "3", 0.6, 0.4).response_mean, pod.response_mean, 1e-9);
        assert_close(solve_classes(twice[i], "3", 0.6, 0).low.response_mean, pod.response_mean, 1e-9);
        const struct bli_prediction high = solve_classes(twice[i], "3", 0.6, 1);
        assert_close(high.high.response_mean, pod.response_mean, 1e-9);
        assert_close(high.high.response_quantile[1], pod.response_quantile[1], 1e-7);
        assert_true(isnan(high.low.response_mean));
    }
    const struct bli_prediction scp = solve_classes("pod-scp:d1=2,d2=2", "3", 0.6, 0.4);
    assert_close(scp.low.response_quantile[2], pod.response_quantile[2], 1e-7);
    assert_close(scp.high.waiting_probability, pod.waiting_probability, 1e-9);
}

/* Two servers that are told apart, each with its jobs one by one. A server that prefers high jobs has its
 * state in `high` and `low`; one that does not has a queue of classes, the first in bit 0 (1: high). */
enum { HIGH_EDGE = 14, LOW_EDGE = 18, QUEUE_EDGE = 7, SERVER_STATES = 256, WAYS = 12 };

struct literal_server {
    unsigned high, low, queue;
};

struct literal {
    char policy; /* c, e or s: pod-scp, pod-sep, pod-ssp */
    unsigned d[2];
    double share[2], load; /* of low and of high jobs */
    size_t ways;
    struct literal_way {
        unsigned from, to;
        double rate;
    } * way;
};

static unsigned index_of(const struct literal *l, struct literal_server server) {
    return l->policy == 'c' ? (1u << (server.high + server.low)) - 1 + server.queue
                            : server.high * LOW_EDGE + server.low;
}

static bool server_of(const struct literal *l, unsigned index, struct literal_server *server) {
    *server = (struct literal_server){index / LOW_EDGE, index % LOW_EDGE, 0};
    if (l->policy != 'c')
        return server->high < HIGH_EDGE;
    unsigned jobs = 0;
    while (index + 1 >= 2u << jobs)
        jobs++;
    server->queue = index + 1 - (1u << jobs);
    server->high = (unsigned)__builtin_popcount(server->queue);
    server->low = jobs - server->high;
    return jobs <= QUEUE_EDGE;
}

static void join_server(struct literal_server *server, unsigned class) {
    server->queue |= class << (server->high + server->low);
    *(class ? &server->high : &server->low) += 1;
}

static void end_job(const struct literal *l, struct literal_server *server) {
    const bool high = l->policy == 'c' ? server->queue & 1 : server->high > 0;
    server->queue >>= 1;
    *(high ? &server->high : &server->low) -= 1;
}

/* What does not fit is left out. */
static void add_way(struct literal *l, unsigned from, const struct literal_server at[2], double rate) {
    for (int i = 0; i < 2; i++)
        if (l->policy == 'c' ? at[i].high + at[i].low > QUEUE_EDGE
                             : at[i].high >= HIGH_EDGE || at[i].low >= LOW_EDGE)
            return;
    const unsigned to = index_of(l, at[0]) * SERVER_STATES + index_of(l, at[1]);
    for (size_t i = l->ways; i > 0 && l->way[i - 1].from == from; i--)
        if (l->way[i - 1].to == to) {
            l->way[i - 1].rate += rate;
            return;
        }
    assert_true(l->ways < (size_t)SERVER_STATES * SERVER_STATES * WAYS);
    l->way[l->ways++] = (struct literal_way){from, to, rate};
}

/* A job that saw the servers a and b, one of which may be the other. */
static void send_literally(struct literal *l, unsigned from, const struct literal_server at[2],
                           unsigned class, const unsigned seen[2], double rate) {
    unsigned total[2], high[2];
    for (int i = 0; i < 2; i++) {
        high[i] = at[seen[i]].high;
        total[i] = at[seen[i]].high + at[seen[i]].low;
    }
    const unsigned *key = class && l->policy == 's' ? high : total;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) { /* the chosen one, and one with the least total */
            const double chance = (key[a] < key[!a]   ? 1
                                   : key[a] > key[!a] ? 0
                                                      : 0.5) *
                                  (total[b] < total[!b]   ? 1
                                   : total[b] > total[!b] ? 0
                                                          : 0.5);
            struct literal_server next[2] = {at[0], at[1]};
            if (chance <= 0)
                continue;
            if (total[a] > total[b]) {
                assert_true(class && l->policy == 's' && next[seen[a]].low > 0);
                next[seen[a]].low--;
                next[seen[b]].low++;
            }
            join_server(&next[seen[a]], class);
            add_way(l, from, next, rate * chance);
        }
}

static void list_literally(struct literal *l, unsigned from, const struct literal_server at[2]) {
    for (int i = 0; i < 2; i++) {
        struct literal_server next[2] = {at[0], at[1]};
        if (at[i].high + at[i].low == 0)
            continue;
        end_job(l, &next[i]);
        add_way(l, from, next, 1);
    }
    for (unsigned high = 0; high < 2; high++)
        for (unsigned a = 0; a < 2; a++)
            for (unsigned b = 0; b < 2; b++) {
                const unsigned seen[2] = {a, l->d[high] == 1 ? a : b};
                send_literally(l, from, at, high, seen, 2 * l->load * l->share[high] / 4);
            }
}

/* The mean response times of low and high jobs, by Little's law. */
static void solve_literally(struct literal *l, double mean[2]) {
    enum { STATES = SERVER_STATES * SERVER_STATES };
    double *now = calloc(STATES, sizeof *now), *next = calloc(STATES, sizeof *next);
    l->way = malloc((size_t)STATES * WAYS * sizeof *l->way);
    assert_true(now && next && l->way);
    struct literal_server at[2];
    for (unsigned from = 0; from < STATES; from++)
        if (server_of(l, from / SERVER_STATES, &at[0]) && server_of(l, from % SERVER_STATES, &at[1]))
            list_literally(l, from, at);
    now[0] = 1;
    const double step = 1 / (2 * l->load + 2);
    double change = 1;
    while (change > 1e-13) {
        memcpy(next, now, STATES * sizeof *now);
        for (size_t i = 0; i < l->ways; i++) {
            const struct literal_way *way = &l->way[i];
            const double flow = now[way->from] * way->rate * step;
            next[way->from] -= flow;
            next[way->to] += flow;
        }
        change = 0;
        for (size_t i = 0; i < STATES; i++)
            change += fabs(next[i] - now[i]);
        double *other = now;
        now = next;
        next = other;
    }
    mean[0] = mean[1] = 0;
    for (unsigned i = 0; i < STATES; i++)
        if (server_of(l, i / SERVER_STATES, &at[0]) && server_of(l, i % SERVER_STATES, &at[1])) {
            mean[0] += now[i] * (at[0].low + at[1].low) / (2 * l->load * l->share[0]);
            mean[1] += now[i] * (at[0].high + at[1].high) / (2 * l->load * l->share[1]);
        }
    free(now);
    free(next);
    free(l->way);
}

static void classes_as_the_literal_chain(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        struct literal literal;
        double error;
    } cases[] = {{"pod-sep:d=2", {'e', {2, 2}, {0.4, 0.6}, 0.35, 0, NULL}, 1e-9},
                 {"pod-ssp:d1=2,d2=2", {'s', {2, 2}, {0.4, 0.6}, 0.35, 0, NULL}, 1e-9},
                 {"pod-ssp:d1=1,d2=2", {'s', {1, 2}, {0.5, 0.5}, 0.3, 0, NULL}, 1e-8},
                 {"pod-scp:d1=1,d2=2", {'c', {1, 2}, {0.5, 0.5}, 0.1, 0, NULL}, 1e-6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct literal l = cases[i].literal;
        double mean[2];
        solve_literally(&l, mean);
        const struct bli_prediction known = solve_classes(cases[i].policy, "2", l.load, l.share[1]);
        assert_close(known.low.response_mean, mean[0], cases[i].error);
        assert_close(known.high.response_mean, mean[1], cases[i].error);
    }
}

static void classes_as_simulated(void **state) {
    (void)state;
    static const struct {
        const char *policy, *servers;
        double load, high;
    } cases[] = {{"pod-sep:d=2", "4", 0.6, 0.4},
                 {"pod-ssp:d1=1,d2=3", "4", 0.6, 0.4},
                 {"pod-scp:d1=1,d2=2", "4", 0.5, 0.4},
                 {"pod-ssp:d1=2,d2=4", "12", 0.5, 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model = model_of_classes(cases[i].servers, cases[i].load, cases[i].high);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        const struct bli_prediction known =
            solve_classes(cases[i].policy, cases[i].servers, cases[i].load, cases[i].high);
        const struct bli_run run = {
            .seed = 3805, .time = 200000 / bli_model_arrival_rate(&model), .warmup = 0.1};
        struct replications r = replicate(&model, &spec, &run, 20);
        assert_mean(&r, BLI_HIGH_RESPONSE_MEAN, known.high.response_mean, 0, cases[i].policy);
        assert_mean(&r, BLI_LOW_RESPONSE_MEAN, known.low.response_mean, 0, cases[i].policy);
        assert_mean(&r, BLI_HIGH_RESPONSE_P99, known.high.response_quantile[2], 0, cases[i].policy);
        replications_free(&r);
    }
}

static void other_classes_have_none(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        enum bli_discipline discipline;
    } cases[] = {{"pod-sep", BLI_DISCIPLINE_FIFO},
                 {"pod-ssp", BLI_DISCIPLINE_NONPREEMPTIVE},
                 {"pod-scp", BLI_DISCIPLINE_PREEMPTIVE},
                 {"jsq", BLI_DISCIPLINE_AUTO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = model_of_classes("2", 0.5, 0.5);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        struct bli_prediction known;
        struct bli_chain chain;
        model.discipline = cases[i].discipline;
        assert_int_equal(bli_theory_solve_chain(&model, &spec, MOST, false, &known, &chain), BLI_CHAIN_NONE);
    }
}

/* ---- each other ---- */

static void some_are_the_same(void **state) {
    (void)state;
    const double jsq = solve("jsq", "3", 0.8).response_mean, jiq = solve("jiq", "3", 0.5).response_mean;
    assert_close(solve("pod:d=3,replace=0", "3", 0.8).response_mean, jsq, 1e-9);
    assert_close(solve("least-conn", "3", 0.8).response_mean, jsq, 1e-9);
    assert_close(solve("scd:m=1", "3", 0.8).response_mean, jsq, 1e-9);
    assert_close(solve("scd:m=1000000", "3", 0.4).response_mean, 1 / (1 - 0.4), 1e-4); /* all servers alike */
    assert_close(solve("tabs:mu=0,nu=1", "3", 0.5).response_mean, jiq, 1e-9);
    assert_close(solve("jiq", "2", 0.7).response_mean, solve("rcpb:c=1,mu=1e7", "2", 0.7).response_mean,
                 0.2); /* a name is missing at times */
    assert_true(solve("pi", "2", 0.7).response_mean > jsq);
}

/* The estimate of the error of the expansion holds, and where it says that this is at most 1 % it is right.
 */
static void the_expansion_is_as_good_as_it_says(void **state) {
    (void)state;
    unsigned close = 0;
    for (unsigned i = 0; i < 3 * 4 * 2; i++) {
        static const double loads[] = {0.3, 0.5, 0.7};
        const double load = loads[i % 3];
        const unsigned d = 2 + i / 3 % 4, distinct = i / 12;
        for (unsigned n = 2; n <= 6; n += n > 3 ? 2 : 1) {
            char policy[40], servers[8];
            snprintf(policy, sizeof policy, "pod:d=%u,replace=%u", d, !distinct);
            snprintf(servers, sizeof servers, "%u", n);
            if (distinct && d > n)
                continue;
            const struct bal_policy_spec spec = policy_of(policy);
            const struct bli_model model = model_of(servers, "exp", load);
            struct bli_expansion expansion;
            assert_true(bli_theory_expand(&model, &spec, &expansion));
            const struct bli_prediction exact = solve(policy, servers, load);
            const double off = fabs(expansion.response_mean - exact.response_mean);
            if (off > expansion.error)
                fail_msg("%s, load %g, %u servers: off by %g, said %g", policy, load, n, off,
                         expansion.error);
            close += bli_expansion_is_close(&expansion);
            for (int q = 0; q < 4; q++)
                if (!(fabs(expansion.response_quantile[q] - exact.response_quantile[q]) <=
                      expansion.quantile_error[q]))
                    fail_msg("%s, load %g, %u servers: percentile %d is %g, said %g +- %g", policy, load, n,
                             q, exact.response_quantile[q], expansion.response_quantile[q],
                             expansion.quantile_error[q]);
        }
    }
    assert_in_range(close, 10, 60); /* of 68: it says something */
}

/* So does that of the expansion to 1/N of policies with a memory, which tends to the chains as servers are
 * added: what is missing is of the order of 1/N^2. */
static void memories_are_expanded_as_well_as_they_say(void **state) {
    (void)state;
    static const char *const policies[] = {"pod-memory", "pod-memory:d=2", "rcpb:c=1",
                                           "rcpb:c=2",   "rcpb:c=1,mu=3",  "rcpb:c=2,mu=0.5"};
    static const double loads[] = {0.3, 0.5};
    for (size_t i = 0; i < 2 * sizeof policies / sizeof *policies; i++) {
        double missing[8];
        for (unsigned n = 3; n <= 6; n++) {
            const double load = loads[i % 2];
            char servers[8];
            snprintf(servers, sizeof servers, "%u", n);
            const struct bal_policy_spec spec = policy_of(policies[i / 2]);
            const struct bli_model model = model_of(servers, "exp", load);
            struct bli_expansion expansion;
            assert_true(bli_theory_expand(&model, &spec, &expansion));
            missing[n] = expansion.response_mean - solve(policies[i / 2], servers, load).response_mean;
            if (!(fabs(missing[n]) < expansion.error))
                fail_msg("%s, load %g, %u servers: off by %g, said %g", policies[i / 2], load, n, missing[n],
                         expansion.error);
        }
        assert_true(fabs(missing[6]) < 0.8 * fabs(missing[4]) || fabs(missing[6]) < 0.02);
    }
}

/* With 1/N^2 the error falls like 1/N^3. */
static void the_error_falls(void **state) {
    (void)state;
    double scaled[2];
    for (int i = 0; i < 2; i++) {
        const double exact = solve("pod:d=2", i ? "6" : "3", 0.5).response_mean;
        const struct bal_policy_spec spec = policy_of("pod:d=2");
        const struct bli_model model = model_of(i ? "6" : "3", "exp", 0.5);
        struct bli_expansion expansion;
        assert_true(bli_theory_expand(&model, &spec, &expansion));
        scaled[i] = fabs(expansion.response_mean - exact) * (i ? 216 : 27);
    }
    assert_true(scaled[1] < 3 * scaled[0] && scaled[1] > scaled[0] / 3);
}

/* Near no load the first job that waits finds the same server twice; near full load all servers are one. */
static void ends_are_as_known(void **state) {
    (void)state;
    assert_close((solve("pod:d=2", "3", 1e-4).response_mean - 1) / 1e-4, 1.0 / 3, 1e-3);
    assert_close((solve("pod:d=3", "2", 1e-4).response_mean - 1) / 1e-4, 1.0 / 4, 1e-3);
    assert_close((1 - 0.99) * solve("jsq", "2", 0.99).response_mean, 0.5, 0.02);
    assert_close((1 - 0.99) * solve("pod:d=2", "2", 0.99).response_mean, 0.5, 0.05);
}

/* ---- many servers ---- */

/* The same chain by the numbers of servers at each level. */
static void levels_say_what_servers_say(void **state) {
    (void)state;
    static const struct {
        const char *name;
        struct chain_rules rules;
    } cases[] = {
        {"jsq", {.servers = 6, .lambda = 0.7, .rule = bli_chain_jsq, .level_rule = bli_chain_jsq_levels}},
        {"jiq", {.servers = 4, .lambda = 0.6, .rule = bli_chain_jiq, .level_rule = bli_chain_jiq_levels}},
        {"pod",
         {.servers = 5, .lambda = 0.6, .rule = bli_chain_pod, .level_rule = bli_chain_pod_levels, .d = 2}},
        {"pod distinct",
         {.servers = 5,
          .lambda = 0.6,
          .rule = bli_chain_pod,
          .level_rule = bli_chain_pod_levels,
          .d = 3,
          .distinct = true}},
        {"pod-scp",
         {.servers = 5,
          .lambda = 0.5,
          .rule = bli_chain_scp,
          .level_rule = bli_chain_scp_levels,
          .d = 2,
          .d_high = 3,
          .high = 0.3}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chain_answer one, other;
        struct chain_rules rules = cases[i].rules;
        assert_true(bli_chain_solve(&rules, 100000, &one));
        rules.by_levels = true;
        rules.rule = rules.level_rule;
        assert_true(bli_chain_solve(&rules, 100000, &other));
        assert_true(other.lost < 1e-6);
        assert_close(other.jobs, one.jobs, 1e-5);
        for (unsigned k = 0; k < 5; k++)
            assert_true(fabs(other.tail[k] - one.tail[k]) < 1e-5 &&
                        fabs(other.high_finds[k] - one.high_finds[k]) < 1e-5 &&
                        fabs(other.low_finds[k] - one.low_finds[k]) < 1e-5);
    }
}

/* Many servers, where the expansion is close, and jsq by simulation: the limit is 10 % off. */
static void many_servers_are_known(void **state) {
    (void)state;
    const struct bal_policy_spec pod = policy_of("pod:d=2"), jsq = policy_of("jsq");
    const struct bli_model twenty = model_of("20", "exp", 0.5), fleet = model_of("40", "exp", 0.9);
    struct bli_expansion expansion;
    assert_true(bli_theory_expand(&twenty, &pod, &expansion));
    assert_true(fabs(solve("pod:d=2", "20", 0.5).response_mean - expansion.response_mean) < expansion.error);
    const struct bli_prediction known = solve("jsq", "40", 0.9);
    const struct bli_run run = {.seed = 3804, .time = 400000 / bli_model_arrival_rate(&fleet), .warmup = 0.1};
    struct replications r = replicate(&fleet, &jsq, &run, 20);
    assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, 0, "jsq");
    assert_mean(&r, BLI_RESPONSE_P99, known.response_quantile[2], 0, "jsq");
    replications_free(&r);
}

/* What is said at once is as near to the chain as it says, and jiq's shorter queues are so too. */
static void quick_answers_are_as_good_as_they_say(void **state) {
    (void)state;
    static const struct {
        const char *policy, *servers;
        double load;
    } cases[] = {{"jsq", "2", 0.9},
                 {"jsq", "20", 0.7},
                 {"jsq", "20", 0.9},
                 {"jsq", "50", 0.9},
                 {"jsq", "100", 0.9},
                 {"jsq", "100", 0.8},
                 {"jsq", "10", 0.5},
                 {"jiq", "3", 0.7},
                 {"pi", "2", 0.7},
                 {"pod:d=2", "3", 0.7},
                 {"rcpb:c=2", "3", 0.5},
                 {"tabs:mu=0.5,nu=0.5", "2", 0.4},
                 {"jiq", "9", 0.5},
                 {"jiq", "10", 0.6},
                 {"jiq", "20", 0.6},
                 {"jiq", "50", 0.7},
                 {"pod-memory:d=2", "2", 0.7},
                 {"jiq", "100", 0.7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        const struct bli_model model = model_of(cases[i].servers, "exp", cases[i].load);
        struct bli_prediction known;
        struct bli_chain chain;
        assert_int_equal(bli_theory_solve_chain(&model, &spec, 10000, true, &known, &chain),
                         BLI_CHAIN_SOLVED);
        assert_int_equal(known.kind, BLI_THEORY_APPROXIMATE);
        const double exact = solve(cases[i].policy, cases[i].servers, cases[i].load).response_mean;
        assert_true(chain.error > 0 && chain.error <= BLI_CHAIN_CLOSE * exact);
        if (fabs(known.response_mean - exact) > chain.error + 2e-5 * exact)
            fail_msg("%s, load %g, %s servers: off by %g, said %g", cases[i].policy, cases[i].load,
                     cases[i].servers, known.response_mean - exact, chain.error);
    }
}

/* Where all queues are told apart nothing is left to guess; where few are, the steps get smaller. */
static void shorter_queues_tend_to_the_chain(void **state) {
    (void)state;
    const double exact = solve("jiq", "9", 0.6).response_mean * 0.6;
    double off = INFINITY;
    for (unsigned longest = 1; longest < 9; longest++) {
        const struct chain_rules rules = {.servers = 9,
                                          .lambda = 0.6,
                                          .by_levels = true,
                                          .rule = bli_chain_jiq_levels,
                                          .longest = longest,
                                          .beyond = 0.3};
        struct chain_answer answer;
        assert_true(bli_chain_solve(&rules, 100000, &answer));
        assert_close(answer.tail[1], 0.6, 1e-5);
        assert_close(answer.accepted, 0.6, 1e-9);
        assert_true(exact - answer.jobs > -1e-5 * exact &&
                    exact - answer.jobs < fmax(0.6 * off, 1e-5 * exact));
        off = exact - answer.jobs;
    }
}

static void jiq_is_as_simulated(void **state) {
    (void)state;
    static const struct {
        const char *servers;
        double load;
        bool quick;
    } cases[] = {{"20", 0.9, false}, {"50", 0.9, true}, {"100", 0.9, true}};
    const struct bal_policy_spec jiq = policy_of("jiq");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model = model_of(cases[i].servers, "exp", cases[i].load);
        struct bli_prediction known;
        struct bli_chain chain;
        assert_int_equal(bli_theory_solve_chain(&model, &jiq, cases[i].quick ? 10000 : 50000, cases[i].quick,
                                                &known, &chain),
                         BLI_CHAIN_SOLVED);
        const struct bli_run run = {
            .seed = 3806, .time = 500000 / bli_model_arrival_rate(&model), .warmup = 0.1};
        struct replications r = replicate(&model, &jiq, &run, 20);
        assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, chain.error / known.response_mean, "jiq");
        replications_free(&r);
    }
    const struct bli_model full = model_of("20", "exp", 0.99);
    struct bli_prediction known;
    struct bli_chain chain;
    assert_int_equal(bli_theory_solve_chain(&full, &jiq, 10000, true, &known, &chain), BLI_CHAIN_LARGE);
}

/* ---- simulation ---- */

static void as_simulated(void **state) {
    (void)state;
    enum { RUNS = 20 };
    static const struct {
        const char *policy, *servers;
        double load;
    } cases[] = {{"jiq", "4", 0.6},
                 {"pi", "3", 0.6},
                 {"rcpb:c=2", "4", 0.5},
                 {"tabs:mu=0.5,nu=0.5", "3", 0.4},
                 {"scd:m=3", "5", 0.6},
                 {"pod-memory", "4", 0.6},
                 {"pod-memory:d=3,b=1", "4", 0.6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model = model_of(cases[i].servers, "exp", cases[i].load);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        const struct bli_prediction known = solve(cases[i].policy, cases[i].servers, cases[i].load);
        const struct bli_run run = {
            .seed = 3802, .time = 300000 / bli_model_arrival_rate(&model), .warmup = 0.1};
        struct replications r = replicate(&model, &spec, &run, RUNS);
        assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, 0, cases[i].policy);
        assert_mean(&r, BLI_RESPONSE_P99, known.response_quantile[2], 0, cases[i].policy);
        replications_free(&r);
    }
}

static enum bli_chain_outcome outcome(const char *policy, const char *servers, const char *size,
                                      double load) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_model model = model_of(servers, size, load);
    struct bli_prediction known;
    struct bli_chain chain;
    return bli_theory_solve_chain(&model, &spec, 2000, false, &known, &chain);
}

/* Held jobs are one common queue: M/M/N, unless only so many may be held. */
static void held_jobs_are_one_queue(void **state) {
    (void)state;
    const struct bal_policy_spec spec = policy_of("jiq:else=hold");
    struct bli_model model = model_of("5", "exp", 0.8);
    const struct bli_prediction known = bli_theory_predict(&model, &spec);
    const struct bli_wait wait = bli_wait_mmn(0.8, 5);
    assert_int_equal(known.kind, BLI_THEORY_EXACT);
    assert_close(known.response_mean, bli_wait_response_mean(&wait), 1e-12);
    const struct bli_run run = {.seed = 3803, .time = 300000 / bli_model_arrival_rate(&model), .warmup = 0.1};
    struct replications r = replicate(&model, &spec, &run, 20);
    assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, 0, "jiq:else=hold");
    assert_mean(&r, BLI_RESPONSE_P99, known.response_quantile[2], 0, "jiq:else=hold");
    replications_free(&r);
    model.backlog = 1;
    assert_int_equal(bli_theory_predict(&model, &spec).kind, BLI_THEORY_LIMIT);
}

static void others_have_none(void **state) {
    (void)state;
    assert_int_equal(outcome("jsq", "2", "exp", 0.5), BLI_CHAIN_SOLVED);
    assert_int_equal(outcome("jsq", "2", "erlang(2)", 0.5), BLI_CHAIN_NONE);
    assert_int_equal(outcome("jsq", "1x1,1x2", "exp", 0.5), BLI_CHAIN_NONE);
    assert_int_equal(outcome("jsq", "2", "exp", 1), BLI_CHAIN_NONE);
    assert_int_equal(outcome("jiq:else=hold", "2", "exp", 0.5), BLI_CHAIN_NONE);
    assert_int_equal(outcome("round-robin", "2", "exp", 0.5), BLI_CHAIN_NONE);
    assert_int_equal(outcome("tabs:after=2", "2", "exp", 0.5), BLI_CHAIN_NONE);
    assert_int_equal(outcome("pod-memory:d=1,b=2", "3", "exp", 0.5), BLI_CHAIN_NONE);
    assert_int_equal(outcome("pod-memory:ask=new", "3", "exp", 0.5), BLI_CHAIN_NONE);
    assert_int_equal(outcome("pi", "9", "exp", 0.5), BLI_CHAIN_LARGE);
    assert_int_equal(outcome("scd:m=2", "9", "exp", 0.5), BLI_CHAIN_LARGE);
    assert_int_equal(outcome("jsq", "9", "exp", 0.5), BLI_CHAIN_SOLVED);
    assert_int_equal(outcome("jsq", "5000", "exp", 0.5), BLI_CHAIN_LARGE);
    assert_int_equal(outcome("random", "20", "exp", 0.9), BLI_CHAIN_NONE);
    assert_int_equal(outcome("pod:d=1", "9", "exp", 0.9), BLI_CHAIN_LARGE); /* queues of more than 16 */
    assert_int_equal(outcome("jsq", "6", "exp", 0.9), BLI_CHAIN_LARGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_of_their_own),
        cmocka_unit_test(as_the_literal_chain),
        cmocka_unit_test(memory_as_the_literal_chain),
        cmocka_unit_test(classes_as_known),
        cmocka_unit_test(classes_as_the_literal_chain),
        cmocka_unit_test(classes_as_simulated),
        cmocka_unit_test(other_classes_have_none),
        cmocka_unit_test(some_are_the_same),
        cmocka_unit_test(the_expansion_is_as_good_as_it_says),
        cmocka_unit_test(memories_are_expanded_as_well_as_they_say),
        cmocka_unit_test(the_error_falls),
        cmocka_unit_test(ends_are_as_known),
        cmocka_unit_test(levels_say_what_servers_say),
        cmocka_unit_test(many_servers_are_known),
        cmocka_unit_test(quick_answers_are_as_good_as_they_say),
        cmocka_unit_test(shorter_queues_tend_to_the_chain),
        cmocka_unit_test(jiq_is_as_simulated),
        cmocka_unit_test(as_simulated),
        cmocka_unit_test(held_jobs_are_one_queue),
        cmocka_unit_test(others_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
