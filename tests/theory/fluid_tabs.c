/* SPDX-License-Identifier: BSD-2-Clause */
/* The fluid model of tabs: balance of mass and signs along paths from random states, convergence, phases, and
 * a plain twin that steps over what the model locates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/fluid.h"
#include "ballast/random.h"
#include "close.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TIMES = 201 };

static struct bli_tabs tabs_of(double lambda, double mu, double nu, const char *size, const char *curve) {
    struct bli_dist dist;
    struct bli_curve shape;
    struct bli_tabs tabs = {0};
    struct bal_error err = {0};
    if (bli_dist_parse(size, &dist, &err) || bli_curve_parse(curve, &shape, &err) ||
        bli_tabs_init(&tabs, lambda, mu, nu, &dist, &shape, &err))
        fail_msg("%s", err.text);
    return tabs;
}

static void even_times(double until, double *time) {
    for (size_t k = 0; k < TIMES; k++)
        time[k] = until * (double)k / (TIMES - 1);
}

/* ---- the model with one more number: jobs that have left ---- */

struct counted {
    struct bli_tabs tabs;
    struct bli_fluid_model inner;
};

static enum bal_code counted_check(const void *param, const double *y, size_t n, struct bal_error *err) {
    const struct counted *c = param;
    return c->inner.check(c->inner.param, y + 1, n - 1, err);
}

static void counted_rhs(const void *param, int mode, double t, const double *y, size_t levels, double *dy) {
    const struct counted *c = param;
    c->inner.rhs(c->inner.param, mode, t, y + 1, levels, dy + 1);
    dy[0] = 0;
    for (unsigned j = 0; j < c->tabs.phases; j++)
        dy[0] += y[3 + j] * c->tabs.rate[j] * c->tabs.leave[j];
}

static void counted_root(const void *param, int mode, double t, const double *y, double *g) {
    const struct counted *c = param;
    c->inner.root(c->inner.param, mode, t, y + 1, g);
}

static int counted_next(const void *param, int mode, double t, double *y) {
    const struct counted *c = param;
    return c->inner.next(c->inner.param, mode, t, y + 1);
}

static struct bli_fluid_model counted_model(struct counted *c) {
    c->inner = bli_fluid_tabs(&c->tabs);
    struct bli_fluid_model model = c->inner;
    model.head++;
    model.hubs++;
    model.param = c;
    model.check = counted_check;
    model.rhs = counted_rhs;
    model.root = counted_root;
    model.next = counted_next;
    return model;
}

/* Jobs that have arrived by time t. */
static double arrived(const struct bli_tabs *tabs, double t) {
    const struct bli_curve *curve = &tabs->curve;
    if (curve->kind == BLI_CURVE_CONSTANT)
        return tabs->lambda * t;
    const double turn = 2 * acos(-1) / curve->period;
    return tabs->lambda * (t + curve->amplitude * (1 - cos(turn * t)) / turn);
}

/* A random state: servers busy, off, in set-up and idle in random shares, with tails that fall at random. */
static size_t random_state(const struct bli_tabs *tabs, struct bal_rng *rng, double *y) {
    double share[4], sum = 0;
    for (int i = 0; i < 4; i++)
        sum += share[i] = bal_rng_exp(rng);
    if (bal_rng_below(rng, 3) == 0) /* on the edge: nobody idle and on */
        sum -= share[3], share[3] = 0;
    if (bal_rng_below(rng, 3) == 0) /* nobody off */
        sum -= share[0], share[0] = 0;
    y[0] = 0;
    y[1] = share[0] / sum;
    y[2] = share[1] / sum;
    const size_t levels = 1 + bal_rng_below(rng, 6);
    double weight = 0, part[BLI_DIST_PHASES];
    for (unsigned j = 0; j < tabs->phases; j++)
        weight += part[j] = bal_rng_exp(rng);
    for (unsigned j = 0; j < tabs->phases; j++) {
        double q = share[2] / sum * part[j] / weight;
        for (size_t i = 0; i < levels; i++, q *= bal_rng_uniform(rng))
            y[3 + i * tabs->phases + j] = q;
    }
    return 3 + levels * tabs->phases;
}

struct worst {
    double mass, sign, monotone;
};

static void look_at_path(const struct counted *c, const struct bli_fluid_path *path, const double *time,
                         struct worst *worst) {
    const unsigned phases = c->tabs.phases;
    double first = 0;
    for (size_t k = 0; k < TIMES; k++) {
        double jobs = 0, on = 1 - bli_fluid_path_at(path, k, 1) - bli_fluid_path_at(path, k, 2);
        for (size_t i = 3; i < path->columns; i++) {
            const double q = bli_fluid_path_at(path, k, i);
            jobs += q;
            worst->monotone = fmax(worst->monotone, bli_fluid_path_at(path, k, i + phases) - q);
        }
        for (unsigned j = 0; j < phases; j++)
            on -= bli_fluid_path_at(path, k, 3 + j);
        if (k == 0)
            first = jobs;
        const double balance = jobs + bli_fluid_path_at(path, k, 0) - first - arrived(&c->tabs, time[k]);
        worst->mass = fmax(worst->mass, fabs(balance));
        worst->sign = fmax(worst->sign, -on);
        worst->sign = fmax(worst->sign, -bli_fluid_path_at(path, k, 1));
        worst->sign = fmax(worst->sign, -bli_fluid_path_at(path, k, 2));
    }
}

static void keeps_mass_and_signs_from_random_states(void **unused) {
    (void)unused;
    static const char *const sizes[] = {"exp", "erlang(3)", "hyper(0.75,2,0.25,0.4)",
                                        "phase(0.4 0.6;1 2;0 0.5/0.3 0)"};
    static const char *const curves[] = {"constant", "sine(0.6,20)"};
    struct bal_rng rng;
    bal_rng_init(&rng, 7, 0, BAL_STREAM_TEST);
    struct worst worst = {0};
    size_t switches = 0;
    for (unsigned trial = 0; trial < 100; trial++) {
        const double lambda = 0.05 + 0.9 * bal_rng_uniform(&rng);
        const double mu = pow(10, -2 + 3 * bal_rng_uniform(&rng)),
                     nu = pow(10, -2 + 3 * bal_rng_uniform(&rng));
        struct counted c = {.tabs = tabs_of(lambda, mu, nu, sizes[trial % 4], curves[trial / 4 % 2])};
        c.tabs.unit = 1; /* curves in mean service times */
        const struct bli_fluid_model model = counted_model(&c);
        double y[3 + 6 * BLI_DIST_PHASES] = {0}, time[TIMES];
        const size_t n = random_state(&c.tabs, &rng, y);
        even_times(50, time);
        struct bli_fluid_path path;
        struct bal_error err = {0};
        if (bli_fluid_path_init(&path, &model, y, n, time, TIMES, &err))
            fail_msg("trial %u: %s", trial, err.text);
        look_at_path(&c, &path, time, &worst);
        switches += path.switches;
        bli_fluid_path_fini(&path);
    }
    if (!(worst.mass < 1e-8 && worst.sign < 1e-8 && worst.monotone < 1e-8))
        fail_msg("mass is off by %g, u, d0 or d1 falls below 0 by %g, a level rises by %g", worst.mass,
                 worst.sign, worst.monotone);
    assert_true(switches > 100); /* the modes were put to the test */
}

/* ---- fixed points ---- */

static void paths_end_at_the_fixed_point(void **unused) {
    (void)unused;
    static const struct {
        double lambda, mu, nu;
        const char *size;
        double until;
    } cases[] = {
        {0.3, 0.1, 0.1, "exp", 400},
        {0.9, 0.5, 2, "exp", 2000},
        {0.3, 0.1, 0.1, "hyper(0.75,2,0.25,0.4)", 400},
        {0.7, 1, 0.05, "erlang(4)", 1000},
        {0.5, 0.3, 0.3, "phase(0.4 0.6;1 2;0 0.5/0.3 0)", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_tabs tabs =
            tabs_of(cases[i].lambda, cases[i].mu, cases[i].nu, cases[i].size, "constant");
        const struct bli_fluid_model model = bli_fluid_tabs(&tabs);
        double y[2 + BLI_DIST_PHASES] = {0}, fixed[2 + BLI_DIST_PHASES];
        const struct bli_start start = {.busy = 0.1, .off = 0.9};
        bli_tabs_start(&tabs, &start, y);
        bli_tabs_fixed_point(&tabs, fixed);
        struct bli_fluid_path path;
        struct bal_error err = {0};
        if (bli_fluid_path_init(&path, &model, y, 2 + tabs.phases, &cases[i].until, 1, &err))
            fail_msg("%s", err.text);
        for (size_t k = 0; k < path.columns; k++) {
            const double wanted = k < 2 + tabs.phases ? fixed[k] : 0;
            if (fabs(path.state[k] - wanted) > 1e-8)
                fail_msg("%s: number %zu is %.12g and tends to %.12g", cases[i].size, k, path.state[k],
                         wanted);
        }
        bli_fluid_path_fini(&path);
    }
}

/* ---- a grid of settings ---- */

/* One setting of the grid: it must be followed to its end, keep mass and signs, and settle where it should if
 * it has had the time. Returns why not, or NULL. */
static const char *follow_setting(struct counted *c, const struct bli_start *start, double until) {
    static char why[400];
    const struct bli_fluid_model model = counted_model(c);
    double y[3 + BLI_DIST_PHASES] = {0}, fixed[2 + BLI_DIST_PHASES], time[TIMES];
    const size_t first = 2 + c->tabs.phases;
    bli_tabs_start(&c->tabs, start, y + 1);
    even_times(until, time);
    struct bli_fluid_path path;
    struct bal_error err = {0};
    if (bli_fluid_path_init(&path, &model, y, 1 + first, time, TIMES, &err)) {
        snprintf(why, sizeof why, "%.300s", err.text);
        return why;
    }
    struct worst worst = {0};
    look_at_path(c, &path, time, &worst);
    double away = 0;
    bli_tabs_fixed_point(&c->tabs, fixed);
    for (size_t k = 0; k + 1 < path.columns; k++)
        away = fmax(away, fabs(bli_fluid_path_at(&path, TIMES - 1, k + 1) - (k < first ? fixed[k] : 0)));
    bli_fluid_path_fini(&path);
    /* The slowest of standby, set-up and what a load close to 1 leaves of a service decide. */
    const double slowest = fmin(fmin(c->tabs.mu, c->tabs.nu), 1 - c->tabs.lambda);
    const bool settled = until * slowest > 60;
    if (worst.mass < 1e-8 && worst.sign < 1e-8 && worst.monotone < 1e-8 && !(settled && away > 1e-6))
        return NULL;
    snprintf(why, sizeof why,
             "mass is off by %g, a part falls below 0 by %g, a level rises by %g, the end is %g away",
             worst.mass, worst.sign, worst.monotone, away);
    return why;
}

/* Most of these come to rest within their time, where u and F - lambda are both 0 and their signs noise; each
 * rate of standby goes with each of set-up in turn. */
static void no_setting_of_a_grid_fails(void **unused) {
    (void)unused;
    static const double loads[] = {0.05, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99};
    static const double rates[][2] = {{0.1, 0.1}, {0.01, 1}, {1, 0.01}, {1, 1}, {10, 10}, {10, 0.1}, {0, 1}};
    static const struct bli_start starts[] = {{0, 0, 0}, {1, 0, 0}, {0.1, 0, 0.9}, {0.3, 0.7, 0}};
    static const struct {
        const char *size;
        double until;
        size_t stride; /* every so many of the grid */
    } kinds[] = {{"exp", 60, 1}, {"exp", 2000, 5}, {"erlang(3)", 60, 8}, {"hyper(0.75,2,0.25,0.4)", 60, 8}};
    enum { LOADS = sizeof loads / sizeof *loads, RATES = sizeof rates / sizeof *rates, STARTS = 4 };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < LOADS * RATES * STARTS; i += kinds[k].stride) {
            const double load = loads[i % LOADS], *rate = rates[i / LOADS % RATES];
            const size_t start = i / LOADS / RATES;
            struct counted c = {.tabs = tabs_of(load, rate[0], rate[1], kinds[k].size, "constant")};
            const char *why = follow_setting(&c, &starts[start], kinds[k].until);
            if (why)
                fail_msg("load %g, mu %g, nu %g, start %zu, until %g, %s: %s", load, rate[0], rate[1], start,
                         kinds[k].until, kinds[k].size, why);
        }
}

/* q_1j = lambda eta_j / (eta_0 g_j): for these laws by hand. */
static void fixed_points_are_known(void **unused) {
    (void)unused;
    double y[2 + BLI_DIST_PHASES];
    const struct bli_tabs hyper = tabs_of(0.3, 0.1, 0.1, "hyper(0.75,2,0.25,0.4)", "constant");
    bli_tabs_fixed_point(&hyper, y);
    assert_close(y[0], 0.7, 1e-15);
    assert_true(y[1] == 0);
    assert_close(y[2], 0.3 * 0.75 / 2, 1e-15);
    assert_close(y[3], 0.3 * 0.25 / 0.4, 1e-15);
    /* n_1 = 0.4 + 0.3 n_2, n_2 = 0.6 + 0.5 n_1: n_1 = 0.58/0.85, n_2 = 0.8/0.85; mean n_1 + n_2/2 =
     * 0.98/0.85. */
    const struct bli_tabs phase = tabs_of(0.5, 1, 1, "phase(0.4 0.6;1 2;0 0.5/0.3 0)", "constant");
    bli_tabs_fixed_point(&phase, y);
    assert_close(y[2], 0.5 * 0.58 / 0.98, 1e-14);
    assert_close(y[3], 0.5 * 0.4 / 0.98, 1e-14);
}

/* ---- phases ---- */

static void follow(const struct bli_tabs *tabs, double until, struct bli_fluid_path *path, double *time) {
    const struct bli_fluid_model model = bli_fluid_tabs(tabs);
    const struct bli_start start = {.busy = 0.1, .off = 0.85, .setup = 0.05};
    double y[2 + BLI_DIST_PHASES] = {0};
    bli_tabs_start(tabs, &start, y);
    even_times(until, time);
    struct bal_error err = {0};
    if (bli_fluid_path_init(path, &model, y, 2 + tabs->phases, time, TIMES, &err))
        fail_msg("%s", err.text);
}

static double level_at(const struct bli_fluid_path *path, unsigned phases, size_t k, size_t level) {
    double q = 0;
    for (unsigned j = 0; j < phases; j++)
        q += bli_fluid_path_at(path, k, 2 + (level - 1) * phases + j);
    return q;
}

/* Phases of equal rates that jobs leave at once are one phase in disguise. */
static void one_phase_is_exponential(void **unused) {
    (void)unused;
    static const char *const disguises[] = {"phase(1;1;0)", "phase(0.3 0.7;1 1;0 0/0 0)",
                                            "hyper(0.2,1,0.5,1,0.3,1)"};
    double time[TIMES];
    const struct bli_tabs plain = tabs_of(0.4, 0.2, 0.3, "exp", "sine(0.5,30)");
    struct bli_fluid_path one, other;
    follow(&plain, 80, &one, time);
    for (size_t i = 0; i < sizeof disguises / sizeof *disguises; i++) {
        const struct bli_tabs tabs = tabs_of(0.4, 0.2, 0.3, disguises[i], "sine(0.5,30)");
        follow(&tabs, 80, &other, time);
        double worst = 0;
        for (size_t k = 0; k < TIMES; k++) {
            worst = fmax(worst, fabs(bli_fluid_path_at(&one, k, 0) - bli_fluid_path_at(&other, k, 0)));
            worst = fmax(worst, fabs(bli_fluid_path_at(&one, k, 1) - bli_fluid_path_at(&other, k, 1)));
            for (size_t level = 1; level < 20; level++)
                worst =
                    fmax(worst, fabs(level_at(&one, 1, k, level) - level_at(&other, tabs.phases, k, level)));
        }
        if (!(worst < 1e-9))
            fail_msg("%s is %g away from exp", disguises[i], worst);
        bli_fluid_path_fini(&other);
    }
    bli_fluid_path_fini(&one);
}

/* ---- a plain twin ---- */

/* Euler's method on the equations as they are written, with p0 by the sign of u: it dithers about u = 0 by a
 * step, so it is right to some steps. */
static void assert_agrees_with_small_steps(double gain) {
    enum { LEVELS = 60, STEPS = 400000 };
    const double lambda = 0.4, mu = 0.2, nu = 0.3, until = 40, h = until / STEPS;
    struct bli_tabs tabs = tabs_of(lambda, mu, nu, "exp", "sine(0.5,30)");
    tabs.gain = gain;
    struct bli_fluid_path path;
    double time[TIMES];
    follow(&tabs, until, &path, time);
    double q[LEVELS + 2] = {0, 0.1}, d0 = 0.85, d1 = 0.05, worst = 0;
    for (long step = 0; step <= STEPS; step++) {
        if (step % (STEPS / (TIMES - 1)) == 0) {
            const size_t k = (size_t)(step / (STEPS / (TIMES - 1)));
            worst = fmax(worst, fabs(d0 - bli_fluid_path_at(&path, k, 0)));
            worst = fmax(worst, fabs(d1 - bli_fluid_path_at(&path, k, 1)));
            for (size_t i = 1; i <= 10; i++)
                worst = fmax(worst, fabs(q[i] - bli_fluid_path_at(&path, k, 1 + i)));
        }
        const double rate = lambda * (1 + 0.5 * sin(2 * acos(-1) * (double)step * h / 30));
        const double u = 1 - q[1] - d0 - d1;
        const double p0 = u > 0 ? 1 : fmin(1, (nu * d1 + q[1] - q[2]) / rate);
        const double missing = fmax(0, rate - nu * d1 - (q[1] - q[2]));
        const double x = d0 <= 0 ? 0 : gain > 0 ? gain * missing : rate * (1 - p0);
        double dq[LEVELS + 1];
        for (int i = 1; i <= LEVELS; i++)
            dq[i] = rate * (i == 1 ? p0 : (1 - p0) * (q[i - 1] - q[i]) / q[1]) - (q[i] - q[i + 1]);
        for (int i = 1; i <= LEVELS; i++)
            q[i] += h * dq[i];
        d0 += h * (mu * u - x);
        d1 += h * (x - nu * d1);
    }
    bli_fluid_path_fini(&path);
    if (!(worst < 1e-3))
        fail_msg("gain %g: the paths are %g apart", gain, worst);
}

static void agrees_with_small_steps(void **unused) {
    (void)unused;
    assert_agrees_with_small_steps(0);
    assert_agrees_with_small_steps(1); /* rate-idle */
    assert_agrees_with_small_steps(0.3);
}

/* The same for sizes in two phases that change into each other, buffers, and servers that begin with several
 * jobs: as the equations stand in the head of fluid_tabs.c, one step after another, with q[i][j] = 0 above
 * the buffer. */
struct steps {
    double lambda, mu, nu, until;
    uint32_t buffer; /* 0: none */
    struct bli_start start;
};

enum { PHASES = 2, ROOMS = 40 };
static const double phase_start[] = {0.4, 0.6}, phase_jump[][2] = {{0, 0.5}, {0.3, 0}},
                    phase_leave[] = {0.5, 0.7};

static void step_phases(const struct steps *s, const double *rate, double h, double q[ROOMS + 2][PHASES],
                        double *d0, double *d1) {
    const uint32_t levels = s->buffer ? s->buffer : ROOMS;
    const double busy = q[1][0] + q[1][1], u = 1 - busy - *d0 - *d1;
    double flow = s->nu * *d1;
    for (int j = 0; j < PHASES; j++)
        flow += (q[1][j] - q[2][j]) * rate[j] * phase_leave[j];
    const double chance = u > 0 ? 1 : fmin(1, flow / s->lambda), x = *d0 > 0 ? s->lambda * (1 - chance) : 0;
    double dq[ROOMS + 2][PHASES] = {{0}};
    for (uint32_t i = 1; i <= levels; i++)
        for (int j = 0; j < PHASES; j++) {
            dq[i][j] = s->lambda *
                       (i == 1 ? phase_start[j] * chance : (1 - chance) * (q[i - 1][j] - q[i][j]) / busy);
            dq[i][j] -= rate[j] * q[i][j];
            for (int k = 0; k < PHASES; k++)
                dq[i][j] += q[i][k] * rate[k] * phase_jump[k][j] +
                            phase_start[j] * q[i + 1][k] * rate[k] * phase_leave[k];
        }
    for (uint32_t i = 1; i <= levels; i++)
        for (int j = 0; j < PHASES; j++)
            q[i][j] += h * dq[i][j];
    *d0 += h * (s->mu * u - x);
    *d1 += h * (x - s->nu * *d1);
}

static double apart_by_steps(const struct steps *s) {
    enum { STEPS = 100000 };
    struct bli_tabs tabs = tabs_of(s->lambda, s->mu, s->nu, "phase(0.4 0.6;1 2;0 0.5/0.3 0)", "constant");
    tabs.buffer = s->buffer;
    const double rate[] = {0.98 / 0.85, 2 * 0.98 / 0.85}, h = s->until / STEPS; /* scaled to mean 1 */
    const struct bli_fluid_model model = bli_fluid_tabs(&tabs);
    const uint32_t jobs = bli_start_jobs(&s->start);
    double y[2 + ROOMS * PHASES] = {0}, time[TIMES], q[ROOMS + 2][PHASES] = {{0}};
    double d0 = s->start.off, d1 = s->start.setup, worst = 0;
    bli_tabs_start(&tabs, &s->start, y);
    even_times(s->until, time);
    struct bli_fluid_path path;
    struct bal_error err = {0};
    if (bli_fluid_path_init(&path, &model, y, 2 + jobs * PHASES, time, TIMES, &err))
        fail_msg("%s", err.text);
    assert_true(!s->buffer || path.columns <= 2 + (size_t)s->buffer * PHASES);
    for (uint32_t i = 1; i <= jobs; i++)
        for (int j = 0; j < PHASES; j++)
            q[i][j] = s->start.busy * phase_start[j];
    for (long step = 0; step <= STEPS; step++) {
        if (step % (STEPS / (TIMES - 1)) == 0) {
            const size_t k = (size_t)(step / (STEPS / (TIMES - 1)));
            worst = fmax(worst, fabs(d0 - bli_fluid_path_at(&path, k, 0)));
            worst = fmax(worst, fabs(d1 - bli_fluid_path_at(&path, k, 1)));
            for (size_t i = 1; i <= 12; i++)
                for (size_t j = 0; j < PHASES; j++)
                    worst = fmax(worst, fabs(q[i][j] - bli_fluid_path_at(&path, k, i * PHASES + j)));
        }
        step_phases(s, rate, h, q, &d0, &d1);
    }
    bli_fluid_path_fini(&path);
    return worst;
}

static void buffers_and_longer_queues_agree_with_small_steps(void **unused) {
    (void)unused;
    static const struct steps cases[] = {
        {0.4, 0.2, 0.3, 40, 0, {.busy = 0.1, .off = 0.85, .setup = 0.05}},
        {0.4, 0.2, 0.3, 40, 0, {.busy = 0.3, .off = 0.7, .jobs = 5}},
        {0.4, 0.2, 0.3, 40, 1, {.busy = 0.1, .off = 0.9}},
        {0.4, 0.2, 0.3, 40, 2, {.busy = 0.1, .off = 0.9, .jobs = 2}},
        {0.7, 0.5, 0.1, 40, 3, {.busy = 0.2, .setup = 0.2, .off = 0.6, .jobs = 3}},
        {0.7, 0.5, 0.1, 40, 5, {.busy = 1, .jobs = 5}},
        {1.5, 0.5, 0.1, 40, 4, {.busy = 0.2, .off = 0.8}}, /* more than can be served: most of it is lost */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double worst = apart_by_steps(&cases[i]);
        if (!(worst < 2e-3))
            fail_msg("case %zu: the paths are %g apart", i, worst);
    }
}

/* A fleet that gets more than it can do fills all its buffers: of all levels the last are those of M/M/1/B at
 * each server. And a start that does not fit is refused. */
static void buffers_that_fill_are_mm1b(void **unused) {
    (void)unused;
    struct bli_tabs tabs = tabs_of(1.5, 0.5, 0.1, "exp", "constant");
    tabs.buffer = 4;
    const struct bli_fluid_model model = bli_fluid_tabs(&tabs);
    const double start[] = {0.8, 0, 0.2}, time = 2000;
    struct bli_fluid_path path;
    struct bal_error err = {0};
    if (bli_fluid_path_init(&path, &model, start, 3, &time, 1, &err))
        fail_msg("%s", err.text);
    /* An idle server gets a job at once, so that a server has one job at least: a chain on 1..4 that goes up
     * at the rate of jobs that find none idle, 1.5 - p_1, and down at 1, but for the last job, which another
     * replaces. */
    double p[5] = {0, 0.2, 0.2, 0.2, 0.2};
    for (int round = 0; round < 1000; round++) {
        const double up = 1.5 - p[1];
        double total = 0;
        p[1] = 1 / (1 + up + up * up + up * up * up);
        for (int i = 2; i <= 4; i++)
            p[i] = p[i - 1] * up;
        for (int i = 1; i <= 4; i++)
            total += p[i];
        assert_close(total, 1, 1e-12);
    }
    double tail = 1;
    for (size_t i = 1; i <= 4; tail -= p[i], i++)
        assert_close(bli_fluid_path_at(&path, 0, 1 + i), tail, 1e-8);
    assert_close(bli_fluid_path_at(&path, 0, 0), 0, 1e-8);
    assert_int_equal(path.columns, 6);
    bli_fluid_path_fini(&path);
    const double full[] = {0, 0, 0.5, 0.5, 0.5, 0.5, 0.1};
    assert_int_equal(bli_fluid_path_init(&path, &model, full, 7, &time, 1, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, "buffers of 4 jobs"));
}

static void refuses_what_cannot_be(void **unused) {
    (void)unused;
    struct bli_dist dist;
    struct bli_tabs tabs;
    struct bal_error err = {0};
    assert_int_equal(bli_dist_parse("pareto(2)", &dist, NULL), BAL_OK);
    assert_int_equal(bli_tabs_init(&tabs, 0.3, 1, 1, &dist, NULL, &err), BAL_E_MODEL);
    assert_int_equal(bli_dist_parse("erlang(17)", &dist, NULL), BAL_OK);
    assert_int_equal(bli_tabs_init(&tabs, 0.3, 1, 1, &dist, NULL, &err), BAL_E_MODEL);
    assert_int_equal(bli_dist_parse("exp", &dist, NULL), BAL_OK);
    assert_int_equal(bli_tabs_init(&tabs, 0.3, 1, 1, &dist, NULL, &err), BAL_OK);
    static const double bad[][3] = {{1, 0, 0},      {0.5, 0.5, 0}, {0.6, 0, 0.6}, {-0.1, 0, 0.5},
                                    {0, -0.1, 0.5}, {0, 0, -0.5},  {0, 0, NAN}};
    const double time = 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bli_fluid_path path;
        const struct bli_fluid_model model = bli_fluid_tabs(&tabs);
        assert_int_equal(bli_fluid_path_init(&path, &model, bad[i], 3, &time, 1, &err), BAL_E_RANGE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_mass_and_signs_from_random_states),
        cmocka_unit_test(paths_end_at_the_fixed_point),
        cmocka_unit_test(no_setting_of_a_grid_fails),
        cmocka_unit_test(fixed_points_are_known),
        cmocka_unit_test(one_phase_is_exponential),
        cmocka_unit_test(agrees_with_small_steps),
        cmocka_unit_test(buffers_and_longer_queues_agree_with_small_steps),
        cmocka_unit_test(buffers_that_fill_are_mm1b),
        cmocka_unit_test(refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
