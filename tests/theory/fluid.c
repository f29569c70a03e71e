/* SPDX-License-Identifier: BSD-2-Clause */
/* Fluid paths: against a plain integration of the same equations, at equilibrium, and by what is proved
 * about them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/fluid.h"
#include "ballast/random.h"
#include "close.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { FULL = 20 };

/* The models of all tests, and their equilibria. */
static const struct bli_pod pods[] = {
    {0.9, 0, 2, 2}, {0.8, 0, 1, 1}, {0.95, 0.5, 1, 4}, {0.9, 0.3, 2, 3}, {0.99, 0, 50, 50},
};
static const struct bli_rcpb rcpbs[] = {
    {BLI_RCPB_CONSTRAINED, 0.9, 9, 2},   {BLI_RCPB_CONSTRAINED, 0.8, 1, 1},
    {BLI_RCPB_CONSTRAINED, 0.9, 90, 5},  {BLI_RCPB_HIGH_MEMORY, 0.9, 4.5, 0},
    {BLI_RCPB_HIGH_MEMORY, 0.9, 9, 0}, /* the edge, mu' = 1 */
    {BLI_RCPB_HIGH_MEMORY, 0.8, 100, 0}, {BLI_RCPB_HIGH_MESSAGE, 0.9, 0, 0},
    {BLI_RCPB_HIGH_MESSAGE, 0.6, 0, 0},
};
enum { MODELS = LENGTH(pods) + LENGTH(rcpbs) };

static struct bli_fluid_model model_of(size_t i) {
    return i < LENGTH(pods) ? bli_fluid_pod(&pods[i]) : bli_fluid_rcpb(&rcpbs[i - LENGTH(pods)]);
}

static double lambda_of(size_t i) {
    return i < LENGTH(pods) ? pods[i].lambda : rcpbs[i - LENGTH(pods)].lambda;
}

/* s_i at equilibrium. */
static double equilibrium(size_t model, size_t i) {
    if (model >= LENGTH(pods))
        return bli_rcpb_tail(&rcpbs[model - LENGTH(pods)], i);
    double v[400] = {0};
    const size_t n = bli_pod_tail(&pods[model], v, LENGTH(v));
    assert_true(n <= LENGTH(v));
    return i < LENGTH(v) ? v[i] : 0;
}

static int falling(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void random_state(struct bal_rng *rng, double *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        s[i] = bal_rng_uniform(rng) < 0.2 ? 1 : bal_rng_uniform(rng);
    qsort(s, n, sizeof *s, falling);
}

static struct bli_fluid_path path_of(const struct bli_fluid_model *model, const double *start, size_t n,
                                     const double *times, size_t count) {
    struct bli_fluid_path path;
    struct bal_error err;
    if (bli_fluid_path_init(&path, model, start, n, times, count, &err))
        fail_msg("%s", err.text);
    assert_true(path.edge < 1e-12);
    return path;
}

/* ---- equilibrium ---- */

static void assert_reaches_equilibrium(size_t m, const double *start, size_t n) {
    const struct bli_fluid_model model = model_of(m);
    const double end = 2500;
    struct bli_fluid_path path = path_of(&model, start, n, &end, 1);
    for (size_t i = 1; i <= path.columns + 1; i++)
        assert_true(within(bli_fluid_path_at(&path, 0, i - 1), equilibrium(m, i), 1e-8));
    bli_fluid_path_fini(&path);
}

static void reaches_equilibrium(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (size_t m = 0; m < MODELS; m++) {
        assert_reaches_equilibrium(m, NULL, 0);
        double s[FULL];
        for (size_t i = 0; i < FULL; i++)
            s[i] = 1;
        assert_reaches_equilibrium(m, s, FULL);
        for (int k = 0; k < 3; k++) {
            random_state(&rng, s, FULL);
            assert_reaches_equilibrium(m, s, FULL);
        }
    }
}

static void stays_at_equilibrium(void **state) {
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        const struct bli_fluid_model model = model_of(m);
        double s[400];
        for (size_t i = 0; i < LENGTH(s); i++)
            s[i] = equilibrium(m, i + 1);
        const double times[] = {0, 1, 10, 100};
        struct bli_fluid_path path = path_of(&model, s, LENGTH(s), times, LENGTH(times));
        for (size_t k = 0; k < LENGTH(times); k++)
            for (size_t i = 0; i < LENGTH(s); i++)
                assert_true(within(bli_fluid_path_at(&path, k, i), s[i], 1e-12));
        bli_fluid_path_fini(&path);
    }
}

/* ---- a plain integration: Runge and Kutta's method of order 4 over a fixed number of levels ---- */

enum { LEVELS = 64 };

/* Definition 1 of the paper on rcpb and equation (10) of the one on priority. The boundary s_1 = 1 is held
 * by hand. */
static void plain_rhs(size_t m, const double *s, double *ds) {
    const double lambda = lambda_of(m);
    for (size_t i = 0; i < LEVELS; i++) {
        const double above = i > 0 ? s[i - 1] : 1, below = i + 1 < LEVELS ? s[i + 1] : 0;
        double come;
        if (m < LENGTH(pods)) {
            const struct bli_pod *pod = &pods[m];
            come = (1 - pod->p) * (pow(above, pod->d1) - pow(s[i], pod->d1)) +
                   pod->p * (pow(above, pod->d2) - pow(s[i], pod->d2));
        } else {
            const struct bli_rcpb *rcpb = &rcpbs[m - LENGTH(pods)];
            const double x = rcpb->mu * (1 - s[0]) / lambda;
            double p0 = 0;
            if (rcpb->variant == BLI_RCPB_CONSTRAINED) {
                double sum = 0;
                for (uint64_t k = 0; k <= rcpb->c; k++)
                    sum += pow(x, (double)k);
                p0 = 1 / sum;
            } else if (rcpb->variant == BLI_RCPB_HIGH_MEMORY)
                p0 = fmax(0, 1 - x);
            else if (s[0] >= 1)
                p0 = fmax(0, 1 - (1 - s[1]) / lambda);
            come = i == 0 ? 1 - s[0] * p0 : (above - s[i]) * p0;
        }
        ds[i] = lambda * come - (s[i] - below);
    }
}

static void plain_step(size_t m, double *s, double h) {
    double k[4][LEVELS], shifted[LEVELS];
    static const double shift[] = {0, 0.5, 0.5, 1};
    for (int stage = 0; stage < 4; stage++) {
        for (size_t i = 0; i < LEVELS; i++)
            shifted[i] = stage > 0 ? s[i] + shift[stage] * h * k[stage - 1][i] : s[i];
        plain_rhs(m, shifted, k[stage]);
    }
    for (size_t i = 0; i < LEVELS; i++)
        s[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

/* A step that would carry s_1 beyond 1 (high message only) is halved until it ends there, and the rest
 * follows from s_1 = 1. */
static void plain_advance(size_t m, double *s, double h) {
    double tried[LEVELS];
    memcpy(tried, s, sizeof tried);
    plain_step(m, tried, h);
    if (tried[0] <= 1) {
        memcpy(s, tried, sizeof tried);
        return;
    }
    double below = 0, above = h;
    while (above - below > 1e-15) {
        const double middle = (below + above) / 2;
        memcpy(tried, s, sizeof tried);
        plain_step(m, tried, middle);
        *(tried[0] <= 1 ? &below : &above) = middle;
    }
    plain_step(m, s, below);
    s[0] = 1;
    plain_step(m, s, h - below);
    s[0] = fmin(s[0], 1);
}

static void follows_plain_integration(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 2, 0, BAL_STREAM_TEST);
    static const double times[] = {0.5, 1, 2, 4};
    for (size_t m = 0; m < MODELS; m++) {
        const struct bli_fluid_model model = model_of(m);
        double start[10], s[LEVELS] = {0};
        random_state(&rng, start, LENGTH(start));
        if (m == MODELS - 2) /* a state that runs into s_1 = 1 and leaves it again */
            memcpy(start, (double[]){0.95, 0.9}, 2 * sizeof *start), memset(start + 2, 0, 8 * sizeof *start);
        memcpy(s, start, sizeof start);
        struct bli_fluid_path path = path_of(&model, start, LENGTH(start), times, LENGTH(times));
        const int per_unit = 1000;
        for (size_t k = 0, done = 0; k < LENGTH(times); k++) {
            for (; done < (size_t)(times[k] * per_unit); done++)
                plain_advance(m, s, 1.0 / per_unit);
            /* Order 4 but for the kinks, at which the plain integration loses up to h^2 times a jump of
             * slope. */
            const double error = model.roots > 0 ? 2e-6 : 1e-9;
            for (size_t i = 0; i < LEVELS; i++)
                if (!within(bli_fluid_path_at(&path, k, i), s[i], error))
                    fail_msg("model %zu, t = %g: s_%zu = %.12f, wanted %.12f", m, times[k], i + 1,
                             bli_fluid_path_at(&path, k, i), s[i]);
        }
        bli_fluid_path_fini(&path);
    }
}

/* ---- what is proved ---- */

/* High message from s = (a, b): as long as s_1 < 1, s_2 = b e^-t and s_1 = lambda + (a - lambda) e^-t + b t
 * e^-t. */
static void high_message_slides_along_its_boundary(void **state) {
    (void)state;
    const double lambda = 0.9, a = 0.95, b = 0.9;
    const struct bli_rcpb rcpb = {BLI_RCPB_HIGH_MESSAGE, lambda, 0, 1};
    const struct bli_fluid_model model = bli_fluid_rcpb(&rcpb);
    double hit = 0, missed = 1;
    while (missed - hit > 1e-15) {
        const double t = (hit + missed) / 2;
        *(lambda + (a - lambda) * exp(-t) + b * t * exp(-t) < 1 ? &hit : &missed) = t;
    }
    enum { COUNT = 4001 };
    static double times[COUNT];
    for (size_t k = 0; k < COUNT; k++)
        times[k] = (double)k / 400;
    const double start[] = {a, b};
    struct bli_fluid_path path = path_of(&model, start, 2, times, COUNT);
    assert_int_equal(path.switches, 2);
    bool left = false;
    for (size_t k = 0; k < COUNT; k++) {
        const double t = times[k], s1 = bli_fluid_path_at(&path, k, 0), s2 = bli_fluid_path_at(&path, k, 1);
        if (t < hit) {
            assert_close(s1, lambda + (a - lambda) * exp(-t) + b * t * exp(-t), 1e-9);
            assert_close(s2, b * exp(-t), 1e-9);
            continue;
        }
        left = left || s2 < 1 - lambda;
        if (left)
            assert_true(s1 < 1);
        else
            assert_close(s1, 1, 0);
    }
    assert_true(left);
    bli_fluid_path_fini(&path);
}

/* A path from a larger state stays larger (Lemma 8; it holds for power of d choices as well). */
static void monotone_in_the_start(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 3, 0, BAL_STREAM_TEST);
    double times[60];
    for (size_t k = 0; k < LENGTH(times); k++)
        times[k] = 0.05 * (double)(k * k) / 3;
    for (size_t m = 0; m < MODELS; m++)
        for (int pair = 0; pair < 3; pair++) {
            const struct bli_fluid_model model = model_of(m);
            double small[FULL], large[FULL];
            random_state(&rng, small, FULL);
            random_state(&rng, large, FULL);
            for (size_t i = 0; i < FULL; i++) {
                const double x = small[i], y = large[i];
                small[i] = fmin(x, y);
                large[i] = fmax(x, y);
            }
            struct bli_fluid_path below = path_of(&model, small, FULL, times, LENGTH(times));
            struct bli_fluid_path above = path_of(&model, large, FULL, times, LENGTH(times));
            for (size_t k = 0; k < LENGTH(times); k++)
                for (size_t i = 0; i < above.columns; i++) {
                    const double s = bli_fluid_path_at(&below, k, i),
                                 next = bli_fluid_path_at(&below, k, i + 1);
                    assert_true(s <= bli_fluid_path_at(&above, k, i) + 1e-9);
                    assert_true(s <= 1 + 1e-9 && next <= s + 1e-9 && next >= -1e-9); /* and it is a state */
                }
            bli_fluid_path_fini(&below);
            bli_fluid_path_fini(&above);
        }
}

/* Another model with its balance lambda t - integral of s_1 carried in front. */
struct balanced {
    struct bli_fluid_model model;
    double lambda;
};

static enum bal_code balanced_check(const void *param, const double *y, size_t n, struct bal_error *err) {
    const struct balanced *balanced = param;
    return balanced->model.check(balanced->model.param, y + 1, n - 1, err);
}

static void balanced_rhs(const void *param, int mode, double t, const double *y, size_t levels, double *dy) {
    const struct balanced *balanced = param;
    dy[0] = balanced->lambda - y[1];
    balanced->model.rhs(balanced->model.param, mode, t, y + 1, levels, dy + 1);
}

static void balanced_root(const void *param, int mode, double t, const double *y, double *g) {
    const struct balanced *balanced = param;
    balanced->model.root(balanced->model.param, mode, t, y + 1, g);
}

static int balanced_next(const void *param, int mode, double t, double *y) {
    const struct balanced *balanced = param;
    return balanced->model.next(balanced->model.param, mode, t, y + 1);
}

/* d/dt sum of s_i = lambda - s_1. */
static void mass_balance(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 4, 0, BAL_STREAM_TEST);
    double times[101];
    for (size_t k = 0; k < LENGTH(times); k++)
        times[k] = (double)k;
    for (size_t m = 0; m < MODELS; m++)
        for (int run = 0; run < 3; run++) {
            const struct balanced balanced = {model_of(m), lambda_of(m)};
            struct bli_fluid_model model = balanced.model;
            model.head = 1;
            model.hubs = balanced.model.hubs + 2; /* the balance itself, and s_1, which it contains */
            model.param = &balanced;
            model.check = balanced_check;
            model.rhs = balanced_rhs;
            if (model.roots > 0) {
                model.root = balanced_root;
                model.next = balanced_next;
            }
            double start[1 + FULL] = {0};
            random_state(&rng, start + 1, run == 0 ? 0 : FULL);
            double before = 0;
            for (size_t i = 1; i <= FULL; i++)
                before += start[i];
            struct bli_fluid_path path = path_of(&model, start, LENGTH(start), times, LENGTH(times));
            for (size_t k = 0; k < LENGTH(times); k++) {
                double mass = 0;
                for (size_t i = 1; i < path.columns; i++)
                    mass += bli_fluid_path_at(&path, k, i);
                assert_true(within(mass - before, bli_fluid_path_at(&path, k, 0), 1e-8));
            }
            bli_fluid_path_fini(&path);
        }
}

/* The same by Simpson's rule from the states alone, for the smooth models. */
static void mass_balance_by_quadrature(void **state) {
    (void)state;
    enum { COUNT = 8001 };
    static double times[COUNT];
    const double h = 0.005;
    for (size_t k = 0; k < COUNT; k++)
        times[k] = (double)k * h;
    for (size_t m = 0; m < MODELS; m++) {
        const struct bli_fluid_model model = model_of(m);
        if (model.roots > 0)
            continue;
        struct bli_fluid_path path = path_of(&model, NULL, 0, times, COUNT);
        double balance = 0;
        for (size_t k = 0; k < COUNT; k += 2) {
            double mass = 0;
            for (size_t i = 0; i < path.columns; i++)
                mass += bli_fluid_path_at(&path, k, i);
            assert_true(within(mass, balance, 1e-8));
            if (k + 2 < COUNT)
                balance += 2 * h * lambda_of(m) -
                           h / 3 *
                               (bli_fluid_path_at(&path, k, 0) + 4 * bli_fluid_path_at(&path, k + 1, 0) +
                                bli_fluid_path_at(&path, k + 2, 0));
        }
        bli_fluid_path_fini(&path);
    }
}

/* ---- the integrator itself ---- */

/* A hybrid model that depends on time and has two roots and only a head: y' = cos t - 1/10 reflected at 0
 * (mode 0 inside, mode 1 at rest), and a clock that counts time at rest. */
static enum bal_code bounce_check(const void *param, const double *y, size_t n, struct bal_error *err) {
    (void)param, (void)y, (void)n, (void)err;
    return BAL_OK;
}

static void bounce_rhs(const void *param, int mode, double t, const double *y, size_t levels, double *dy) {
    (void)param, (void)y;
    dy[0] = mode == 0 ? cos(t) - 0.1 : 0;
    dy[1] = mode;
    for (size_t i = 0; i < levels; i++)
        dy[2 + i] = -y[2 + i];
}

static void bounce_root(const void *param, int mode, double t, const double *y, double *g) {
    (void)param;
    g[0] = mode == 0 ? -y[0] : -1;
    g[1] = mode == 1 ? cos(t) - 0.1 : -1;
}

static int bounce_next(const void *param, int mode, double t, double *y) {
    (void)param, (void)t;
    if (mode == 0)
        y[0] = 0;
    return mode == 0;
}

static void hybrid_in_time(void **state) {
    (void)state;
    const struct bli_fluid_model model = {.name = "bounce",
                                          .head = 2,
                                          .width = 1,
                                          .hubs = 2,
                                          .roots = 2,
                                          .stride = 1,
                                          .check = bounce_check,
                                          .rhs = bounce_rhs,
                                          .root = bounce_root,
                                          .next = bounce_next};
    enum { TURNS = 100 };
    const double turn = 6.283185307179586;
    double times[TURNS];
    for (size_t k = 0; k < TURNS; k++)
        times[k] = turn * (double)(k + 1) + 1; /* every turn is alike from when it first rests */
    struct bli_fluid_path path = path_of(&model, NULL, 0, times, TURNS);
    const double awake = -acos(0.1); /* of each turn, when cos t rises through 1/10 */
    const double wanted = sin(1) - sin(awake) - 0.1 * (1 - awake);
    double asleep = 1, late = 4; /* when y returns to 0 */
    while (late - asleep > 1e-14) {
        const double t = (asleep + late) / 2;
        *(sin(t) - sin(awake) - 0.1 * (t - awake) > 0 ? &asleep : &late) = t;
    }
    for (size_t k = 0; k < TURNS; k++) {
        assert_close(bli_fluid_path_at(&path, k, 0), wanted, 1e-7);
        if (k > 0)
            assert_close(bli_fluid_path_at(&path, k, 1) - bli_fluid_path_at(&path, k - 1, 1),
                         turn - (asleep - awake), 1e-7);
    }
    assert_int_equal(path.switches, 2 * TURNS);
    bli_fluid_path_fini(&path);
}

/* Overload: mass grows by lambda - 1 a unit of time, and levels are added on the way, also beyond a long
 * starting state. */
static void levels_grow(void **state) {
    (void)state;
    const struct bli_pod pod = {1.5, 0, 2, 2};
    const struct bli_fluid_model model = bli_fluid_pod(&pod);
    double start[100] = {0};
    for (size_t i = 0; i < LENGTH(start); i++)
        start[i] = 1;
    const double times[] = {0, 0, 50, 200};
    struct bli_fluid_path path = path_of(&model, start, LENGTH(start), times, LENGTH(times));
    static const double masses[] = {100, 100, 125, 200};
    for (size_t k = 0; k < LENGTH(times); k++) {
        double mass = 0;
        for (size_t i = 0; i < path.columns; i++)
            mass += bli_fluid_path_at(&path, k, i);
        assert_close(mass, masses[k], 1e-9);
    }
    assert_true(path.columns > 200 && bli_fluid_path_at(&path, 3, 195) > 0.5 &&
                bli_fluid_path_at(&path, 2, 195) < 1e-9);
    assert_close(bli_fluid_path_at(&path, 0, path.columns + 7), 0, 0);
    bli_fluid_path_fini(&path);
}

static void edge_cases(void **state) {
    (void)state;
    const double times[] = {0, 1, 5};
    /* No arrivals: a queue of one job each empties like e^-t. */
    const struct bli_pod idle_pod = {0, 0, 2, 2};
    const struct bli_rcpb idle_rcpbs[] = {
        {BLI_RCPB_CONSTRAINED, 0, 1, 1}, {BLI_RCPB_HIGH_MEMORY, 0, 1, 1}, {BLI_RCPB_HIGH_MESSAGE, 0, 1, 1}};
    for (size_t m = 0; m < 4; m++) {
        const struct bli_fluid_model model =
            m == 0 ? bli_fluid_pod(&idle_pod) : bli_fluid_rcpb(&idle_rcpbs[m - 1]);
        const double one = 1;
        struct bli_fluid_path path = path_of(&model, &one, 1, times, LENGTH(times));
        for (size_t k = 0; k < LENGTH(times); k++)
            assert_close(bli_fluid_path_at(&path, k, 0), exp(-times[k]), 1e-8);
        bli_fluid_path_fini(&path);
    }
    /* Close to saturation, with very many probes, and with reports so many that the store follows at once. */
    const struct bli_pod heavy = {0.99999, 0, 2, 2}, greedy = {0.9, 0, 100000, 100000};
    const struct bli_rcpb loud = {BLI_RCPB_CONSTRAINED, 0.9, 1e7, 3},
                          memory = {BLI_RCPB_HIGH_MEMORY, 0.9, 1e7, 0};
    const struct bli_fluid_model models[] = {bli_fluid_pod(&heavy), bli_fluid_pod(&greedy),
                                             bli_fluid_rcpb(&loud), bli_fluid_rcpb(&memory)};
    double full[FULL];
    for (size_t i = 0; i < FULL; i++)
        full[i] = 1;
    const double end = 2000;
    for (size_t m = 0; m < LENGTH(models); m++) {
        struct bli_fluid_path path = path_of(&models[m], full, FULL, &end, 1);
        if (m > 0)
            assert_close(bli_fluid_path_at(&path, 0, 0), 0.9, 1e-6);
        bli_fluid_path_fini(&path);
    }
    /* Nothing asked, nothing owned. */
    struct bli_fluid_path path = path_of(&models[0], NULL, 0, NULL, 0);
    assert_null(path.state);
    bli_fluid_path_fini(&path);
}

static void bad_input(void **state) {
    (void)state;
    const struct bli_pod good = {0.5, 0, 2, 2};
    const struct bli_fluid_model model = bli_fluid_pod(&good);
    const double rising[] = {0.5, 0.7}, above[] = {1.5}, negative[] = {0.5, -0.1}, unknown[] = {NAN};
    const struct {
        const double *start;
        size_t n;
        const char *text;
    } states[] = {
        {rising, 2, "pod: starting state: s_2 = 0.7; it must lie between 0 and s_1 = 0.5"},
        {above, 1, "pod: starting state: s_1 = 1.5; it must lie between 0 and s_0 = 1"},
        {negative, 2, "pod: starting state: s_2 = -0.1; it must lie between 0 and s_1 = 0.5"},
        {unknown, 1, NULL},
    };
    const double t = 1;
    struct bli_fluid_path path;
    struct bal_error err;
    for (size_t i = 0; i < LENGTH(states); i++) {
        assert_int_equal(bli_fluid_path_init(&path, &model, states[i].start, states[i].n, &t, 1, &err),
                         BAL_E_RANGE);
        if (states[i].text)
            assert_string_equal(err.text, states[i].text);
        assert_int_equal(bli_fluid_path_init(&path, &model, states[i].start, states[i].n, &t, 1, NULL),
                         BAL_E_RANGE);
    }
    const double times[][2] = {{-1, 0}, {2, 1}, {0, INFINITY}, {NAN, 1}};
    for (size_t i = 0; i < LENGTH(times); i++)
        assert_int_equal(bli_fluid_path_init(&path, &model, NULL, 0, times[i], 2, &err), BAL_E_RANGE);
    const struct bli_pod wrong[] = {{-1, 0, 2, 2}, {0.5, 2, 2, 2}, {0.5, 0, 0, 2}, {INFINITY, 0, 2, 2}};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        const struct bli_fluid_model bad = bli_fluid_pod(&wrong[i]);
        assert_int_equal(bli_fluid_path_init(&path, &bad, NULL, 0, &t, 1, &err), BAL_E_RANGE);
    }
    const struct bli_rcpb wrong_too[] = {{BLI_RCPB_CONSTRAINED, NAN, 1, 1},
                                         {BLI_RCPB_CONSTRAINED, 0.5, 1, 0},
                                         {BLI_RCPB_HIGH_MEMORY, 0.5, -1, 1}};
    for (size_t i = 0; i < LENGTH(wrong_too); i++) {
        const struct bli_fluid_model bad = bli_fluid_rcpb(&wrong_too[i]);
        assert_int_equal(bli_fluid_path_init(&path, &bad, NULL, 0, &t, 1, &err), BAL_E_RANGE);
    }
}

/* A right side that is not a number ends in an error, with nothing printed and nothing leaked. */
static void sick_rhs(const void *param, int mode, double t, const double *y, size_t levels, double *dy) {
    (void)param, (void)mode, (void)y;
    for (size_t i = 0; i < levels; i++)
        dy[i] = t > 1 ? (double)NAN : 0;
}

static void failure_is_reported(void **state) {
    (void)state;
    const struct bli_fluid_model model = {.name = "sick", .width = 1, .check = bounce_check, .rhs = sick_rhs};
    const double times[] = {0.5, 2};
    struct bli_fluid_path path;
    struct bal_error err;
    assert_int_equal(bli_fluid_path_init(&path, &model, NULL, 0, times, 2, &err), BAL_E_NUMERIC);
    assert_int_equal(err.code, BAL_E_NUMERIC);
    assert_non_null(strstr(err.text, "sick: integrator: "));
    assert_null(path.state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reaches_equilibrium),
        cmocka_unit_test(stays_at_equilibrium),
        cmocka_unit_test(follows_plain_integration),
        cmocka_unit_test(high_message_slides_along_its_boundary),
        cmocka_unit_test(monotone_in_the_start),
        cmocka_unit_test(mass_balance),
        cmocka_unit_test(mass_balance_by_quadrature),
        cmocka_unit_test(hybrid_in_time),
        cmocka_unit_test(levels_grow),
        cmocka_unit_test(edge_cases),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
