/* SPDX-License-Identifier: BSD-2-Clause */
/* The first term of the expansion in 1/N where a dispatcher remembers something, or servers steal, against
 * what is exact: the Markov chain of N servers with room for few jobs each, made from the rules of the policy
 * as docs/policies.md and docs/stealing.md say them, and solved by elimination. N (mean - limit) is a series
 * in 1/N, whose value at 1/N = 0 follows from several N; so are the distribution of what is remembered and N
 * times the covariance. What this leaves as an error shrinks as N are added; two to five times as much is
 * allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "theory/expansion_models.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 4, SIZES = 8, SERVERS = 100, MOVES = 64 };

/* Servers with exactly i jobs, and what is remembered. A job that comes to a full server is lost. */
struct fleet {
    unsigned servers[LEVELS + 1], memory;
};

struct moves {
    unsigned count;
    struct fleet to[MOVES];
    double rate[MOVES];
};

struct rules {
    double load;
    unsigned levels, memories; /* values of what is remembered: 0 .. memories - 1 */
    unsigned c, d, amount;     /* of rcpb; of pod and pod-memory; jobs that are stolen at most */
    double mu;
    bool others; /* a server asks one of the others, not of all */
    bool (*possible)(const struct rules *rules, const struct fleet *fleet);
    void (*move)(const struct rules *rules, const struct fleet *fleet, unsigned n, struct moves *moves);
};

/* The fleet after one server of `from` jobs has `to` jobs; to be changed further by the caller. */
static struct fleet *move_server(struct moves *moves, const struct fleet *fleet, double rate, unsigned from,
                                 unsigned to) {
    assert_true(moves->count < MOVES);
    struct fleet *next = &moves->to[moves->count];
    moves->rate[moves->count++] = rate;
    *next = *fleet;
    next->servers[from]--;
    next->servers[to]++;
    return next;
}

/* ---- rcpb ---- */

/* Names are of different idle servers. */
static bool rcpb_possible(const struct rules *rules, const struct fleet *fleet) {
    (void)rules;
    return fleet->memory <= fleet->servers[0];
}

static void rcpb_move(const struct rules *rules, const struct fleet *fleet, unsigned n, struct moves *moves) {
    for (unsigned i = 1; i <= rules->levels; i++)
        if (fleet->servers[i] > 0)
            move_server(moves, fleet, fleet->servers[i], i, i - 1);
    if (fleet->memory < rules->c && fleet->servers[0] > fleet->memory)
        move_server(moves, fleet, rules->mu * (fleet->servers[0] - fleet->memory), 0, 0)->memory++;
    if (fleet->memory > 0) {
        move_server(moves, fleet, rules->load * n, 0, 1)->memory--;
        return;
    }
    for (unsigned i = 0; i < rules->levels; i++)
        if (fleet->servers[i] > 0)
            move_server(moves, fleet, rules->load * n * fleet->servers[i] / n, i, i + 1);
}

/* ---- pod-memory ---- */

static bool memory_possible(const struct rules *rules, const struct fleet *fleet) {
    (void)rules;
    return fleet->servers[fleet->memory] > 0;
}

/* Every server by itself, the remembered one first; what is drawn are d of their numbers. */
static void memory_move(const struct rules *rules, const struct fleet *fleet, unsigned n,
                        struct moves *moves) {
    unsigned jobs[SERVERS], count = 1, draws = 1;
    double rate[LEVELS + 1][LEVELS + 1] = {{0}}; /* of joining a queue and remembering another */
    jobs[0] = fleet->memory;
    if (jobs[0] > 0)
        move_server(moves, fleet, 1, jobs[0], jobs[0] - 1)->memory--;
    for (unsigned i = 0; i <= rules->levels; i++) {
        const unsigned others = fleet->servers[i] - (i == fleet->memory);
        if (i > 0 && others > 0)
            move_server(moves, fleet, others, i, i - 1);
        for (unsigned k = 0; k < others; k++)
            jobs[count++] = i;
    }
    assert_int_equal(count, n);
    for (unsigned i = 0; i < rules->d; i++)
        draws *= n;
    for (unsigned draw = 0; draw < draws; draw++) {
        unsigned joined = 0;
        for (unsigned i = 0, rest = draw; i < rules->d; i++, rest /= n)
            joined = jobs[rest % n] < jobs[joined] ? rest % n : joined;
        if (jobs[joined] == rules->levels)
            continue;
        jobs[joined]++;
        unsigned left = jobs[0];
        for (unsigned i = 0, rest = draw; i < rules->d; i++, rest /= n)
            left = jobs[rest % n] < left ? jobs[rest % n] : left;
        jobs[joined]--;
        rate[jobs[joined]][left] += rules->load * n / draws;
    }
    for (unsigned i = 0; i < rules->levels; i++)
        for (unsigned left = 0; left <= rules->levels; left++)
            if (rate[i][left] > 0)
                move_server(moves, fleet, rate[i][left], i, i + 1)->memory = left;
}

/* ---- random and pod, with stealing ---- */

static bool stealing_possible(const struct rules *rules, const struct fleet *fleet) {
    (void)rules;
    (void)fleet;
    return true;
}

static void stealing_move(const struct rules *rules, const struct fleet *fleet, unsigned n,
                          struct moves *moves) {
    double longer = 1; /* the probability that all drawn have at least i jobs */
    for (unsigned i = 0, more = n; i < rules->levels; i++) {
        more -= fleet->servers[i];
        const double next = pow((double)more / n, rules->d);
        if (fleet->servers[i] > 0)
            move_server(moves, fleet, rules->load * n * (longer - next), i, i + 1);
        longer = next;
    }
    for (unsigned i = 2; i <= rules->levels; i++)
        if (fleet->servers[i] > 0)
            move_server(moves, fleet, fleet->servers[i], i, i - 1);
    double nothing = 1;
    for (unsigned i = 2; i <= rules->levels && fleet->servers[1] > 0; i++) {
        const unsigned gets = i / 2 < rules->amount ? i / 2 : rules->amount;
        const double asked = (double)fleet->servers[i] / (n - rules->others);
        nothing -= asked;
        if (asked > 0) {
            struct fleet *next = move_server(moves, fleet, fleet->servers[1] * asked, 1, gets);
            next->servers[i]--;
            next->servers[i - gets]++;
        }
    }
    if (fleet->servers[1] > 0 && nothing > 0)
        move_server(moves, fleet, fleet->servers[1] * nothing, 1, 0);
}

/* ---- the chain ---- */

struct chain {
    unsigned n;
    size_t states, band; /* no move goes farther */
    struct fleet *fleet;
    size_t *number; /* of a fleet, by its digits in base n + 1 */
    double *rate;   /* states * (2 band + 1): from i to j at i (2 band + 1) + j - i + band */
    double *share;  /* of time, for each state */
};

static size_t *number_of(struct chain *chain, const struct rules *rules, const struct fleet *fleet) {
    size_t digits = 0;
    for (unsigned i = rules->levels; i > 0; i--) {
        unsigned at_least = 0;
        for (unsigned k = i; k <= rules->levels; k++)
            at_least += fleet->servers[k];
        digits = digits * (chain->n + 1) + at_least;
    }
    return &chain->number[digits * rules->memories + fleet->memory];
}

/* All fleets with `rest` servers of at least `level` jobs; those with few busy servers come first. */
static void add_fleets(struct chain *chain, const struct rules *rules, struct fleet *fleet, unsigned level,
                       unsigned rest) {
    assert_true(level <= rules->levels);
    for (unsigned longer = 0; longer <= rest && level < rules->levels; longer++) {
        fleet->servers[level] = rest - longer;
        add_fleets(chain, rules, fleet, level + 1, longer);
    }
    fleet->servers[level] = rest;
    for (fleet->memory = 0; level == rules->levels && fleet->memory < rules->memories; fleet->memory++)
        if (rules->possible(rules, fleet)) {
            *number_of(chain, rules, fleet) = chain->states;
            chain->fleet[chain->states++] = *fleet;
        }
}

static double *rate_at(struct chain *chain, size_t from, size_t to) {
    return &chain->rate[from * (2 * chain->band + 1) + to + chain->band - from];
}

/* Two passes: how far moves go, then their rates. */
static void find_rates(struct chain *chain, const struct rules *rules) {
    for (int pass = 0; pass < 2; pass++) {
        for (size_t from = 0; from < chain->states; from++) {
            struct moves moves = {.count = 0};
            rules->move(rules, &chain->fleet[from], chain->n, &moves);
            for (unsigned k = 0; k < moves.count; k++) {
                const size_t to = *number_of(chain, rules, &moves.to[k]);
                const size_t far = to > from ? to - from : from - to;
                if (pass == 0 && far > chain->band)
                    chain->band = far;
                if (pass == 1 && far > 0)
                    *rate_at(chain, from, to) += moves.rate[k];
            }
        }
        if (pass == 0)
            chain->rate = calloc(chain->states * (2 * chain->band + 1), sizeof *chain->rate);
        assert_non_null(chain->rate);
    }
}

/* Grassmann, Taksar and Heyman (1985): the last state goes, and its time to those in front of it. Nothing is
 * subtracted. */
static void find_shares(struct chain *chain) {
    for (size_t last = chain->states - 1; last > 0; last--) {
        const size_t begin = last > chain->band ? last - chain->band : 0;
        double leaves = 0;
        for (size_t j = begin; j < last; j++)
            leaves += *rate_at(chain, last, j);
        assert_true(leaves > 0);
        for (size_t i = begin; i < last; i++) {
            const double visits = *rate_at(chain, i, last) /= leaves;
            double *row = rate_at(chain, i, begin);
            const double *from = rate_at(chain, last, begin);
            for (size_t j = 0; j < last - begin && visits > 0; j++)
                row[j] += visits * from[j];
        }
    }
    double sum = chain->share[0] = 1;
    for (size_t state = 1; state < chain->states; state++) {
        for (size_t i = state > chain->band ? state - chain->band : 0; i < state; i++)
            chain->share[state] += chain->share[i] * *rate_at(chain, i, state);
        sum += chain->share[state];
    }
    for (size_t state = 0; state < chain->states; state++)
        chain->share[state] /= sum;
}

/* Of the fractions of servers with at least i + 1 jobs: the means, and those of products; and the
 * distribution of what is remembered. */
struct exact {
    double mean[LEVELS], product[LEVELS][LEVELS], memory[LEVELS + 1];
};

static void add_state(const struct fleet *fleet, unsigned n, double share, struct exact *exact) {
    double x[LEVELS] = {0};
    for (unsigned i = 1; i <= LEVELS; i++)
        for (unsigned k = 0; k < i; k++)
            x[k] += (double)fleet->servers[i] / n;
    for (unsigned i = 0; i < LEVELS; i++) {
        exact->mean[i] += share * x[i];
        for (unsigned k = 0; k < LEVELS; k++)
            exact->product[i][k] += share * x[i] * x[k];
    }
    exact->memory[fleet->memory] += share;
}

static struct exact exact_of(const struct rules *rules, unsigned n) {
    struct chain chain = {.n = n};
    struct exact exact = {.mean = {0}};
    size_t most = rules->memories;
    assert_true(n <= SERVERS);
    for (unsigned i = 0; i < rules->levels; i++)
        most *= n + 1;
    chain.fleet = calloc(most, sizeof *chain.fleet);
    chain.number = calloc(most, sizeof *chain.number);
    assert_true(chain.fleet && chain.number);
    add_fleets(&chain, rules, &(struct fleet){.memory = 0}, 0, n);
    find_rates(&chain, rules);
    chain.share = calloc(chain.states, sizeof *chain.share);
    assert_non_null(chain.share);
    find_shares(&chain);
    for (size_t state = 0; state < chain.states; state++)
        add_state(&chain.fleet[state], n, chain.share[state], &exact);
    free(chain.fleet);
    free(chain.number);
    free(chain.rate);
    free(chain.share);
    return exact;
}

/* The value at 0 of the polynomial in 1/n through these (Neville). */
static double at_infinity(const unsigned *n, const double *value, unsigned count) {
    double p[SIZES];
    memcpy(p, value, count * sizeof *p);
    for (unsigned step = 1; step < count; step++)
        for (unsigned i = 0; i + step < count; i++)
            p[i] = (n[i + step] * p[i + 1] - n[i] * p[i]) / ((double)n[i + step] - n[i]);
    return p[0];
}

static void assert_near(double value, double wanted, double error) {
    if (!(fabs(value - wanted) <= error))
        fail_msg("%.9g, exactly %.9g, may be %.3g off", value, wanted, error);
}

struct limits {
    double x[LEVELS], first[LEVELS], lag[LEVELS], spread[LEVELS][LEVELS];
};

/* With these numbers of servers, up to the part `error` of the largest of the first terms. The spread is what
 * the chains say. */
static struct limits compare(const struct rules *rules, const struct fast_model *model,
                             const unsigned servers[SIZES], double error) {
    struct limits limits;
    double largest = 0, average[LEVELS + 1], value[SIZES];
    unsigned count = 0;
    for (unsigned i = 0; i < rules->levels; i++)
        limits.x[i] = pow(0.5, i + 1);
    assert_int_equal(model->n, rules->levels);
    assert_int_equal(model->states, rules->memories);
    assert_true(bli_expansion_fast(model, limits.x, limits.first, limits.lag));
    assert_true(bli_expansion_fast_average(model, limits.x, average));
    for (unsigned i = 0; i < rules->levels; i++)
        largest = fmax(largest, fabs(limits.first[i]));
    struct exact exact[SIZES];
    for (; count < SIZES && servers[count] > 0; count++)
        exact[count] = exact_of(rules, servers[count]);
    for (unsigned i = 0; i < rules->levels; i++) {
        for (unsigned k = 0; k < count; k++)
            value[k] = servers[k] * (exact[k].mean[i] - limits.x[i]);
        assert_near(limits.first[i], at_infinity(servers, value, count), error * largest);
        for (unsigned j = 0; j < rules->levels; j++) {
            for (unsigned k = 0; k < count; k++)
                value[k] = servers[k] * (exact[k].product[i][j] - exact[k].mean[i] * exact[k].mean[j]);
            limits.spread[i][j] = at_infinity(servers, value, count);
        }
    }
    for (unsigned i = 0; i < rules->memories; i++) {
        for (unsigned k = 0; k < count; k++)
            value[k] = exact[k].memory[i];
        assert_near(average[i], at_infinity(servers, value, count), error);
    }
    return limits;
}

/* What two levels of servers see of names on average: these are a queue of room c. */
static void rcpb_drift(const struct rules *rules, const double x[2], double drift[2]) {
    double sum = 0;
    for (unsigned names = 0; names <= rules->c; names++)
        sum += pow(rules->mu * (1 - x[0]) / rules->load, names);
    drift[0] = rules->load * (1 - x[0] / sum) - (x[0] - x[1]);
    drift[1] = rules->load * (x[0] - x[1]) / sum - x[1];
}

/* Noise moves the mean as far as the drift is curved: A (first - lag) + F'' W / 2 = 0, W being the exact
 * spread. So the lag is what it should be, too. */
static void noise_and_lag_are_apart(const struct rules *rules, const struct limits *limits, double error) {
    static const double step = 1e-4;
    double rest[2] = {0}, up[2], down[2], here[2];
    rcpb_drift(rules, limits->x, here);
    for (unsigned j = 0; j < 2; j++)
        for (unsigned k = 0; k < 2; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double x[2] = {limits->x[0], limits->x[1]};
                x[j] += step, x[k] += sign * step;
                rcpb_drift(rules, x, up);
                x[j] -= 2 * step, x[k] -= 2 * sign * step;
                rcpb_drift(rules, x, down);
                for (unsigned i = 0; i < 2; i++)
                    rest[i] += sign * (up[i] + down[i]) / (4 * step * step) * limits->spread[j][k] / 2;
            }
    for (unsigned j = 0; j < 2; j++) {
        double x[2] = {limits->x[0], limits->x[1]};
        x[j] += step;
        rcpb_drift(rules, x, up);
        x[j] -= 2 * step;
        rcpb_drift(rules, x, down);
        for (unsigned i = 0; i < 2; i++) {
            assert_near(here[i], 0, 1e-12);
            rest[i] += (up[i] - down[i]) / (2 * step) * (limits->first[j] - limits->lag[j]);
        }
    }
    for (unsigned i = 0; i < 2; i++)
        assert_near(rest[i], 0, error);
}

static void rcpb_is_exact(void **state) {
    (void)state;
    static const struct {
        double load, mu;
        unsigned c, levels, servers[SIZES];
        double error;
    } cases[] = {{0.6, 1, 2, 2, {20, 30, 40, 50, 60, 80}, 3e-5},
                 {0.5, 2, 1, 2, {10, 20, 30, 40, 60}, 5e-5},
                 {0.7, 1, 3, 2, {20, 30, 40, 60, 80}, 3e-4},
                 {0.6, 1, 2, 3, {6, 8, 10, 12, 14, 16}, 6e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct expansion_rcpb rcpb = {cases[i].load, cases[i].mu, cases[i].c, cases[i].levels};
        const struct rules rules = {.load = rcpb.lambda,
                                    .levels = cases[i].levels,
                                    .memories = rcpb.c + 1,
                                    .c = rcpb.c,
                                    .mu = rcpb.mu,
                                    .possible = rcpb_possible,
                                    .move = rcpb_move};
        const struct fast_model model = bli_expansion_rcpb_model(&rcpb);
        const struct limits limits = compare(&rules, &model, cases[i].servers, cases[i].error);
        if (cases[i].levels == 2)
            noise_and_lag_are_apart(&rules, &limits, cases[i].error);
    }
}

static void memory_is_exact(void **state) {
    (void)state;
    static const struct {
        double load;
        unsigned d, levels, servers[SIZES];
        double error;
    } cases[] = {{0.6, 1, 2, {20, 40, 60, 80, 100}, 3e-4},
                 {0.6, 2, 2, {20, 30, 40, 50, 60}, 2e-2},
                 {0.8, 1, 3, {6, 8, 10, 12, 14, 16, 18}, 1.5e-2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct expansion_memory memory = {cases[i].load, cases[i].d, cases[i].levels};
        const struct rules rules = {.load = memory.lambda,
                                    .levels = cases[i].levels,
                                    .memories = cases[i].levels + 1,
                                    .d = memory.d,
                                    .possible = memory_possible,
                                    .move = memory_move};
        const struct fast_model model = bli_expansion_memory_model(&memory);
        compare(&rules, &model, cases[i].servers, cases[i].error);
    }
}

static void stealing_is_exact(void **state) {
    (void)state;
    static const struct {
        double load;
        unsigned d;
        enum bal_steal_kind steal;
        bool others;
        unsigned levels, servers[SIZES];
        double error;
    } cases[] = {{0.8, 1, BAL_STEAL_HALF, false, 4, {5, 6, 8, 10, 12}, 1e-3},
                 {0.7, 2, BAL_STEAL_ONE, true, 3, {6, 8, 12, 16, 20}, 6e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_stealing stealing = {
            .lambda = cases[i].load, .d = cases[i].d, .steal.kind = cases[i].steal};
        const struct expansion_stealing expansion = {&stealing, cases[i].others, cases[i].levels};
        const struct rules rules = {.load = stealing.lambda,
                                    .levels = cases[i].levels,
                                    .memories = 1,
                                    .d = stealing.d,
                                    .amount = cases[i].steal == BAL_STEAL_ONE ? 1 : LEVELS,
                                    .others = cases[i].others,
                                    .possible = stealing_possible,
                                    .move = stealing_move};
        const struct fast_model model = bli_expansion_stealing_model(&expansion);
        compare(&rules, &model, cases[i].servers, cases[i].error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rcpb_is_exact),
        cmocka_unit_test(memory_is_exact),
        cmocka_unit_test(stealing_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
