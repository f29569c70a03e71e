/* SPDX-License-Identifier: BSD-2-Clause */
/* The expansion of pod in 1/N against published values, against a literal twin that differentiates
 * numerically and eliminates densely, against what is exactly known, and against simulation.
 *
 * Seeds are fixed. A simulated mean may be 4.5 standard errors off, which Student's t with 19 degrees of
 * freedom is with probability 2.5e-4: in five comparisons 1.3e-3 in all. */
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
#include "theory/expansion_models.h"
#include "theory/expansion_pod.h"
#include "theory/pod_groups.h"
#include "theory/symmetric.h"

#include <string.h>

static struct bli_expansion expand(const char *policy, const char *servers, double load) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_model model = model_of(servers, "exp", load);
    struct bli_expansion expansion;
    assert_true(bli_theory_expand(&model, &spec, &expansion));
    return expansion;
}

/* Gast, Bortolussi and Tribastone 2019, table 3: mean queues of N servers, to 1/N and to 1/N^2. */
static void as_published(void **state) {
    (void)state;
    static const struct {
        unsigned n, d;
        double load, limit, first, second;
    } table[] = {
        {10, 2, 0.7, 1.1301, 1.2150, 1.2191},  {20, 2, 0.7, 1.1301, 1.1726, 1.1736},
        {10, 2, 0.9, 2.3527, 2.7513, 2.8045},  {20, 2, 0.9, 2.3527, 2.5520, 2.5653},
        {10, 2, 0.95, 3.2139, 4.1017, 4.3265}, {20, 2, 0.95, 3.2139, 3.6578, 3.7140},
        {10, 3, 0.9, 1.8251, 2.2364, 2.3322},  {20, 3, 0.9, 1.8251, 2.0307, 2.0547},
        {50, 3, 0.9, 1.8251, 1.9073, 1.9112},  {100, 3, 0.9, 1.8251, 1.8662, 1.8672},
        {10, 4, 0.95, 2.0771, 2.9834, 3.8704}, {20, 4, 0.95, 2.0771, 2.5303, 2.7520},
        {50, 4, 0.95, 2.0771, 2.2584, 2.2939}, {100, 4, 0.95, 2.0771, 2.1678, 2.1766},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char policy[20], servers[20];
        const double n = table[i].n, load = table[i].load;
        snprintf(policy, sizeof policy, "pod:d=%u", table[i].d);
        snprintf(servers, sizeof servers, "%u", table[i].n);
        const struct bli_expansion known = expand(policy, servers, load);
        assert_true(fabs(known.limit * load - table[i].limit) < 6e-5);
        assert_true(fabs((known.limit + known.first / n) * load - table[i].first) < 6e-5);
        assert_true(fabs(known.response_mean * load - table[i].second) < 6e-5);
    }
}

/* The limit is that of the closed form, and the mean of N M/M/1 queues does not depend on N. */
static void limits_are_known(void **state) {
    (void)state;
    static const double loads[] = {0.3, 0.5, 0.9, 0.99};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        for (unsigned d = 2; d < 6; d++) {
            char policy[20];
            const struct bli_pod pod = bli_pod_plain(loads[i], d);
            snprintf(policy, sizeof policy, "pod:d=%u", d);
            assert_close(expand(policy, "30", loads[i]).limit, bli_pod_response(&pod, d), 1e-12);
        }
    const struct bli_expansion one = expand("pod:d=1", "30", 0.05);
    assert_close(one.response_mean, 1 / 0.95, 1e-9);
    assert_true(fabs(one.first) < 1e-9 && fabs(one.second) < 1e-7);
    const struct bli_expansion long_tail = expand("pod:d=1", "30", 0.5); /* too many levels for 1/N^2 */
    assert_true(fabs(long_tail.first) < 1e-9 && isnan(long_tail.second) && isnan(long_tail.error));
}

/* ---- the literal twin ---- */

enum { MOST = 16 };

/* The drift of the paper, for d servers drawn with replacement. */
static void twin_drift(const double *v, size_t n, double lambda, double d, double *drift) {
    for (size_t i = 0; i < n; i++) {
        const double before = i > 0 ? v[i - 1] : 1, next = i + 1 < n ? v[i + 1] : 0;
        drift[i] = lambda * (pow(before, d) - pow(v[i], d)) - (v[i] - next);
    }
}

/* Gauss-Jordan with the largest pivot. */
static void twin_solve(double *a, double *b, size_t n) {
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k; i < n; i++)
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        for (size_t j = 0; j < n; j++) {
            const double other = a[k * n + j];
            a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = other;
        }
        const double other = b[k];
        b[k] = b[pivot], b[pivot] = other;
        for (size_t i = 0; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n && i != k; j++)
                a[i * n + j] -= factor * a[k * n + j];
            b[i] -= i != k ? factor * b[k] : 0;
        }
    }
    for (size_t k = 0; k < n; k++)
        b[k] /= a[k * n + k];
}

/* The coefficient of 1/N of the mean queue by differences of the drift: V = -A^-1 (sum of B W) / 2, where W
 * solves all n^2 equations A W + W A' + Q = 0 at once. */
static double twin_first(const double *v, size_t n, double lambda, double d) {
    static const double step = 1e-3;
    double a[MOST * MOST], up[MOST], down[MOST], here[MOST], x[MOST];
    static double big[MOST * MOST * MOST * MOST], w[MOST * MOST];
    memcpy(x, v, n * sizeof *v);
    for (size_t j = 0; j < n; j++) { /* of degree 4 at most: five points would be exact, two of each are
                                        enough */
        double near[MOST], far[MOST];
        for (size_t i = 0; i < n; i++)
            a[i * n + j] = 0;
        for (int scale = 1; scale <= 2; scale++) {
            x[j] = v[j] + scale * step, twin_drift(x, n, lambda, d, up);
            x[j] = v[j] - scale * step, twin_drift(x, n, lambda, d, down);
            for (size_t i = 0; i < n; i++)
                (scale == 1 ? near : far)[i] = (up[i] - down[i]) / (2 * scale * step);
        }
        for (size_t i = 0; i < n; i++)
            a[i * n + j] = (4 * near[i] - far[i]) / 3;
        x[j] = v[j];
    }
    memset(big, 0, sizeof big);
    memset(w, 0, sizeof w);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++) {
                big[(i * n + j) * n * n + k * n + j] += a[i * n + k];
                big[(i * n + j) * n * n + i * n + k] += a[j * n + k];
            }
    for (size_t i = 0; i < n; i++) /* arrivals and departures, which are as frequent in the steady state */
        w[i * n + i] = -2 * (v[i] - (i + 1 < n ? v[i + 1] : 0));
    twin_solve(big, w, n * n);
    twin_drift(v, n, lambda, d, here);
    double bias[MOST] = {0};
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) {
            double corner[4][MOST];
            for (int c = 0; c < 4; c++) {
                memcpy(x, v, n * sizeof *v);
                x[j] += c & 1 ? step : -step;
                x[k] += c & 2 ? step : -step;
                twin_drift(x, n, lambda, d, corner[c]);
            }
            for (size_t i = 0; i < n; i++)
                bias[i] -= (corner[0][i] - corner[1][i] - corner[2][i] + corner[3][i]) / (4 * step * step) *
                           w[j * n + k] / 2;
        }
    twin_solve(a, bias, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bias[i];
    return sum;
}

/* Differences of second order of a polynomial of degree 3 are exact, of degree 4 off by step^2. */
static void agrees_with_the_twin(void **state) {
    (void)state;
    static const struct {
        double load;
        unsigned d;
    } cases[] = {{0.5, 2}, {0.9, 2}, {0.95, 2}, {0.7, 3}, {0.9, 3}, {0.9, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double v[MOST + 1];
        char policy[20];
        const struct bli_pod pod = bli_pod_plain(cases[i].load, cases[i].d);
        const size_t n = bli_pod_tail(&pod, v, MOST + 1) - 1;
        assert_true(n <= MOST);
        snprintf(policy, sizeof policy, "pod:d=%u", cases[i].d);
        assert_close(twin_first(v + 1, n, cases[i].load, cases[i].d) / cases[i].load,
                     expand(policy, "10", cases[i].load).first, cases[i].d > 3 ? 1e-4 : 1e-6);
    }
}

/* ---- the parts ---- */

/* Events, all together, are the drift that fluid paths integrate; and with one group of two speeds that are
 * equal, the two halves add up to it. */
static void events_make_the_drift(void **state) {
    (void)state;
    enum { LEVELS = 6 };
    static const double v[LEVELS] = {0.9, 0.7, 0.4, 0.2, 0.1, 0.03};
    const struct bli_pod pod = {0.8, 0.3, 2, 4};
    const struct bli_fluid_model fluid = bli_fluid_pod(&pod);
    double wanted[LEVELS], sum[2 * LEVELS] = {0}, x[2 * LEVELS];
    fluid.rhs(fluid.param, 0, 0, v, LEVELS, wanted);
    const struct expansion_pod halves = {.lambda = pod.lambda,
                                         .p = pod.p,
                                         .d = {pod.d1, pod.d2},
                                         .groups = 2,
                                         .share = {0.25, 0.75},
                                         .speed = {1, 1},
                                         .levels = LEVELS};
    const struct expansion_model model = bli_expansion_pod_model(&halves);
    struct jet_space space;
    bli_jet_space_init(&space);
    for (size_t i = 0; i < 2 * LEVELS; i++)
        x[i] = v[i % LEVELS] * halves.share[i / LEVELS];
    for (size_t e = 0; e < model.events; e++) {
        struct expansion_event event = {.arguments = 0};
        struct jet argument[JET_ARGUMENTS];
        model.event(model.param, e, &event);
        for (unsigned p = 0; p < event.arguments; p++) {
            double value = event.argument[p].constant;
            for (unsigned i = 0; i < event.argument[p].count; i++)
                value += event.argument[p].factor[i] * x[event.argument[p].coordinate[i]];
            argument[p] = bli_jet_argument(&space, p, value);
        }
        const struct jet rate = model.rate(model.param, e, &space, argument);
        for (unsigned i = 0; i < event.jump.count; i++)
            sum[event.jump.coordinate[i]] += event.jump.factor[i] * rate.term[0];
    }
    for (size_t i = 0; i < LEVELS; i++)
        assert_true(fabs(sum[i] + sum[LEVELS + i] - wanted[i]) < 1e-14);
}

/* Products of jets have the coefficients of products of polynomials. */
static void jets_are_polynomials(void **state) {
    (void)state;
    struct jet_space space;
    bli_jet_space_init(&space);
    const struct jet x = bli_jet_argument(&space, 0, 2), y = bli_jet_argument(&space, 3, -1),
                     e = bli_jet_epsilon(&space);
    const struct jet cube = bli_jet_power(&space, &x, 3), product = bli_jet_multiply(&space, &cube, &y);
    static const struct {
        unsigned power[JET_ARGUMENTS + 1];
        double wanted;
    } terms[] = {{{0}, -8},         {{1}, -12},          {{2}, -6},          {{3}, -1},
                 {{4}, 0},          {{0, 0, 0, 1}, 8},   {{1, 0, 0, 1}, 12}, {{2, 0, 0, 1}, 6},
                 {{3, 0, 0, 1}, 1}, {{0, 0, 0, 0, 1}, 0}};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        assert_true(product.term[bli_jet_index(&space, terms[i].power)] == terms[i].wanted);
    const struct jet square = bli_jet_multiply(&space, &e, &e), with = bli_jet_multiply(&space, &e, &product);
    assert_true(square.term[bli_jet_index(&space, (unsigned[]){0, 0, 0, 0, 2})] == 1);
    assert_true(with.term[bli_jet_index(&space, (unsigned[]){2, 0, 0, 0, 1})] == -6);
    const struct jet none = bli_jet_multiply(&space, &square, &e); /* weighs 6 */
    for (size_t i = 0; i < JET_TERMS; i++)
        assert_true(none.term[i] == 0);
}

/* Put into the equations, solutions of all three orders fit. */
static void solutions_solve(void **state) {
    (void)state;
    enum { N = 5 };
    double dense[N * N] = {0}, right[N * N * N], x[N * N * N];
    for (size_t i = 0; i < N; i++) {
        dense[i * N + i] = -2 - 0.3 * (double)i;
        dense[i * N + (i + 1) % N] = 0.9;
        dense[((i + 2) % N) * N + i] = -0.4;
    }
    for (size_t i = 0; i < N * N * N; i++) { /* symmetric */
        const double a = (double)(i / N / N), b = (double)(i / N % N), c = (double)(i % N);
        right[i] = 1 + a * b * c - cos(a + b + c);
    }
    struct sparse_matrix a;
    assert_true(bli_sparse_matrix_init(&a, dense, N));
    assert_true(bli_symmetric_solve(&a, 3, right, x));
    for (size_t i = 0; i < N * N * N; i++) {
        double sum = right[i];
        for (size_t j = 0; j < N; j++)
            sum += dense[i / N / N * N + j] * x[j * N * N + i % (N * N)] +
                   dense[i / N % N * N + j] * x[i / N / N * N * N + j * N + i % N] +
                   dense[i % N * N + j] * x[i / N * N + j];
        assert_true(fabs(sum) < 1e-12);
    }
    assert_true(bli_symmetric_solve(&a, 2, right, x)); /* its first N * N numbers are 1 - cos(b + c) */
    for (size_t i = 0; i < N * N; i++) {
        double sum = right[i];
        for (size_t j = 0; j < N; j++)
            sum += dense[i / N * N + j] * x[j * N + i % N] + dense[i % N * N + j] * x[i / N * N + j];
        assert_true(fabs(sum) < 1e-12);
    }
    bli_sparse_matrix_fini(&a);
    memset(dense, 0, sizeof dense);
    dense[0] = 1; /* singular */
    assert_true(bli_sparse_matrix_init(&a, dense, N));
    assert_false(bli_symmetric_solve(&a, 1, right, x));
    bli_sparse_matrix_fini(&a);
}

/* ---- simulation ---- */

static void as_simulated(void **state) {
    (void)state;
    enum { RUNS = 20 };
    static const struct {
        const char *policy, *servers;
        double load, share;
    } cases[] = {{"pod:d=2", "20", 0.8, 0},
                 {"pod:d=2,replace=0", "10", 0.8, 0},
                 {"least-conn:d=3", "30", 0.7, 0},
                 {"pod-scp:d1=2,d2=3", "20", 0.8, 0.4},
                 {"pod-ssp:d1=2,d2=3", "20", 0.8, 0.4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = model_of(cases[i].servers, "exp", cases[i].load);
        model.classes = cases[i].share > 0;
        model.high = cases[i].share;
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        struct bli_expansion expansion;
        assert_true(bli_theory_expand(&model, &spec, &expansion));
        assert_true(bli_expansion_is_close(&expansion));
        const struct bli_run run = {.seed = 3801,
                                    .time = 400000 / bli_model_arrival_rate(&model),
                                    .warmup = 0.1,
                                    .engine = BLI_ENGINE_MARKOV};
        struct replications r = replicate(&model, &spec, &run, RUNS);
        assert_mean(&r, BLI_RESPONSE_MEAN, expansion.response_mean, expansion.error / expansion.response_mean,
                    cases[i].policy);
        double mean, error2;
        describe(&r, BLI_RESPONSE_MEAN, &mean, &error2);
        assert_true(fabs(mean - expansion.response_mean) < fabs(mean - expansion.limit) / 4);
        replications_free(&r);
    }
}

/* What is not a fleet of servers with exponential sizes has none, nor have policies that jump. */
static void others_have_none(void **state) {
    (void)state;
    struct bli_expansion expansion;
    const struct bal_policy_spec pod = policy_of("pod:d=2"), jsq = policy_of("jsq");
    struct bli_model model = model_of("10", "exp", 0.9);
    assert_true(bli_theory_expand(&model, &pod, &expansion));
    assert_false(bli_theory_expand(&model, &jsq, &expansion));
    model.load = 1;
    assert_false(bli_theory_expand(&model, &pod, &expansion));
    model = model_of("10", "erlang(2)", 0.9);
    assert_false(bli_theory_expand(&model, &pod, &expansion));
    model = model_of("5x1,5x2", "erlang(2)", 0.5);
    assert_false(bli_theory_expand(&model, &pod, &expansion));
    model = model_of("5x1,5x2", "exp", 0.5);
    assert_false(bli_theory_expand(&model, &jsq, &expansion));
}

/* Where jobs are not served in the order in which they came, numbers of jobs and means stay, but percentiles
 * of times do not: servers that share themselves have a longer tail, and more short times. */
static void percentiles_are_of_jobs_in_order(void **state) {
    (void)state;
    static const enum bli_discipline others[] = {BLI_DISCIPLINE_SHARING, BLI_DISCIPLINE_LIFO};
    const struct bal_policy_spec spec = policy_of("pod:d=2");
    const struct bli_expansion in_order = expand("pod:d=2", "100", 0.8);
    for (int k = 0; k < 2; k++) {
        struct bli_model model = model_of("100", "exp", 0.8);
        struct bli_expansion expansion;
        model.discipline = others[k];
        assert_true(bli_theory_expand(&model, &spec, &expansion));
        assert_close(expansion.response_mean, in_order.response_mean, 1e-12);
        for (int i = 0; i < 4; i++) {
            assert_true(in_order.response_quantile[i] > 0);
            assert_true(isnan(expansion.response_quantile[i]) && isnan(expansion.quantile_error[i]));
        }
    }
}

/* ---- to 1/N alone ---- */

struct as_fast {
    struct expansion_model pod;
    unsigned states;
};

/* pod, with a fast variable that goes round and round and changes nothing. */
static void event_of_pod(const void *param, size_t i, struct fast_event *event) {
    const struct as_fast *as = param;
    const size_t turns = as->pod.events * as->states;
    event->from = i < turns ? (unsigned)(i / as->pod.events) : (unsigned)(i - turns);
    event->to = i < turns ? event->from : (event->from + 1) % as->states;
    if (i < turns)
        as->pod.event(as->pod.param, i % as->pod.events, &event->slow);
}

static struct jet rate_of_pod(const void *param, size_t i, const struct jet_space *space,
                              const struct jet *argument) {
    const struct as_fast *as = param;
    return i < as->pod.events * as->states ? as->pod.rate(as->pod.param, i % as->pod.events, space, argument)
                                           : bli_jet_constant(0.7);
}

static void pod_needs_no_memory(void **state) {
    (void)state;
    enum { LEVELS = 10 };
    for (unsigned states = 1; states <= 3; states += 2)
        for (int distinct = 0; distinct < 2; distinct++) {
            const struct expansion_pod pod = {.lambda = 0.8,
                                              .d = {2, 2},
                                              .distinct = distinct,
                                              .groups = 1,
                                              .share = {1},
                                              .speed = {1},
                                              .levels = LEVELS};
            const struct as_fast as = {bli_expansion_pod_model(&pod), states};
            const struct fast_model fast = {.param = &as,
                                            .n = LEVELS,
                                            .states = states,
                                            .events = as.pod.events * states + (states > 1 ? states : 0),
                                            .event = event_of_pod,
                                            .rate = rate_of_pod};
            const struct bli_pod plain = bli_pod_plain(0.8, 2);
            double tail[LEVELS + 1] = {0}, x[LEVELS], first[LEVELS], lag[LEVELS];
            bli_pod_tail(&plain, tail, LEVELS + 1);
            memcpy(x, tail + 1, sizeof x);
            assert_true(bli_expansion_fast(&fast, x, first, lag));
            struct expansion wanted;
            assert_true(bli_expansion_init(&wanted, &as.pod, tail + 1, 1));
            for (size_t i = 0; i < LEVELS; i++)
                assert_true(fabs(x[i] - wanted.x[i]) < 1e-12 && fabs(first[i] - wanted.first[i]) < 1e-10);
            bli_expansion_fini(&wanted);
        }
}

static void first_terms_are_as_simulated(void **state) {
    (void)state;
    static const struct {
        const char *policy, *servers;
        double load;
        enum bal_steal_kind steal;
        bool others;
    } cases[] = {{"rcpb:c=2", "100", 0.5, BAL_STEAL_NONE, false},
                 {"rcpb:c=2,mu=9", "500", 0.9, BAL_STEAL_NONE, false},
                 {"pod-memory", "50", 0.8, BAL_STEAL_NONE, false},
                 {"pod-memory:d=2", "100", 0.7, BAL_STEAL_NONE, false},
                 {"random", "50", 0.8, BAL_STEAL_HALF, false},
                 {"random", "20", 0.8, BAL_STEAL_HALF, true},
                 {"pod:d=2", "30", 0.7, BAL_STEAL_ONE, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = model_of(cases[i].servers, "exp", cases[i].load);
        model.steal.kind = cases[i].steal;
        model.others = cases[i].others;
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        struct bli_expansion expansion;
        assert_true(bli_theory_expand(&model, &spec, &expansion));
        assert_true(isnan(expansion.second));
        assert_close(expansion.limit, bli_theory_predict(&model, &spec).response_mean, 1e-8);
        const struct bli_run run = {
            .seed = 3807, .time = 300000 / bli_model_arrival_rate(&model), .warmup = 0.1};
        struct replications r = replicate(&model, &spec, &run, 20);
        assert_mean(&r, BLI_RESPONSE_MEAN, expansion.response_mean, expansion.error / expansion.response_mean,
                    cases[i].policy);
        replications_free(&r);
    }
}

/* ---- servers of different speeds ---- */

/* Groups of one speed are one group; and simulation, with the error that is said. */
static void speeds_are_as_simulated(void **state) {
    (void)state;
    struct expansion_pod one = {.lambda = 0.6, .d = {2, 2}, .groups = 1, .share = {1}, .speed = {1}};
    struct expansion_pod two = {
        .lambda = 0.6, .d = {2, 2}, .groups = 2, .share = {0.3, 0.7}, .speed = {1, 1}};
    struct pod_groups a, b;
    assert_true(bli_pod_groups_solve(&one, &a) && bli_pod_groups_solve(&two, &b));
    const struct bli_pod pod = bli_pod_plain(0.6, 2);
    assert_close(a.jobs / 0.6, bli_pod_response(&pod, 2), 1e-9);
    assert_close(b.jobs, a.jobs, 1e-9);
    assert_close(b.first, a.first, 1e-6);
    assert_close(b.second, a.second, 1e-5);
    static const struct {
        const char *policy, *servers;
        double load;
    } cases[] = {{"pod:d=2", "10x1,10x2", 0.7}, {"pod:d=3", "20x1,40x3", 0.6}};
    for (int i = 0; i < 2; i++) {
        const struct bli_model model = model_of(cases[i].servers, "exp", cases[i].load);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        struct bli_expansion expansion;
        assert_true(bli_theory_expand(&model, &spec, &expansion) && bli_expansion_is_close(&expansion));
        const struct bli_run run = {
            .seed = 3805, .time = 1000000 / bli_model_arrival_rate(&model), .warmup = 0.1};
        struct replications r = replicate(&model, &spec, &run, 20);
        assert_mean(&r, BLI_RESPONSE_MEAN, expansion.response_mean, expansion.error / expansion.response_mean,
                    cases[i].servers);
        replications_free(&r);
    }
}

static void some_speeds_have_no_steady_state(void **state) {
    (void)state;
    const struct bal_policy_spec spec = policy_of("pod:d=2");
    struct bli_model model = model_of("50x1,50x10", "exp", 0.9);
    struct bli_expansion expansion;
    assert_int_equal(bli_theory_predict(&model, &spec).kind, BLI_THEORY_UNKNOWN);
    assert_false(bli_theory_expand(&model, &spec, &expansion));
    model = model_of("50x1,50x10", "erlang(2)", 0.1);
    assert_int_equal(bli_theory_predict(&model, &spec).kind, BLI_THEORY_UNKNOWN);
    model = model_of("50x1,50x10", "exp", 0.1);
    assert_int_equal(bli_theory_predict(&model, &spec).kind, BLI_THEORY_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_published),
        cmocka_unit_test(limits_are_known),
        cmocka_unit_test(agrees_with_the_twin),
        cmocka_unit_test(events_make_the_drift),
        cmocka_unit_test(jets_are_polynomials),
        cmocka_unit_test(solutions_solve),
        cmocka_unit_test(as_simulated),
        cmocka_unit_test(pod_needs_no_memory),
        cmocka_unit_test(first_terms_are_as_simulated),
        cmocka_unit_test(others_have_none),
        cmocka_unit_test(percentiles_are_of_jobs_in_order),
        cmocka_unit_test(speeds_are_as_simulated),
        cmocka_unit_test(some_speeds_have_no_steady_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
