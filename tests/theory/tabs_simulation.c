/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that switch off, simulated: tabs against a literal twin and against its fluid model, delayed-off
 * against the stationary law of its chain, buffers and varying loads against formulas. Statistical tests
 * compare means with their own standard errors at 4.5 of them: with fixed seeds each comparison had a chance
 * of 7e-6 to fail by accident, and there are some fifty.
 * Comparisons in percent leave room for three standard errors or more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/fluid.h"
#include "ballast/lab.h"
#include "ballast/predict.h"
#include "ballast/random.h"
#include "texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double sigmas = 4.5;

/* ---- running ---- */

static struct bli_model model_of(const char *servers, double load) {
    struct bli_model model = {.load = load};
    assert_int_equal(bli_servers_parse(servers, &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp", &model.size, NULL), BAL_OK);
    return model;
}

/* Eight replications of so many jobs, after a tenth of warm-up. */
static struct bli_result run_of(const struct bli_model *model, const char *policy, double jobs,
                                enum bli_engine engine) {
    const struct bli_case c = {
        .model = *model,
        .policy = policy_of(policy),
        .run = {.seed = 3, .time = jobs / bli_model_arrival_rate(model), .warmup = 0.1, .engine = engine},
        .replications = 8,
    };
    const struct bli_lab_options options = {.threads = 2};
    struct bli_result result;
    struct bal_error err = {0};
    if (bli_lab_run(&c, 1, &options, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

/* The standard error of a metric over eight replications. */
static double error_of(struct bli_estimate estimate) {
    return estimate.half_width / bli_student_quantile(0.975, 7);
}

/* Student's t with 7 degrees of freedom at the probability of so many sigmas of the normal. */
static double limit(void) {
    return bli_student_quantile(1 - erfc(sigmas / sqrt(2)) / 2, 7);
}

static void agrees(const char *what, struct bli_estimate simulated, double exact) {
    const double off = fabs(simulated.mean - exact), allowed = limit() * error_of(simulated) + 1e-12;
    if (!(off <= allowed))
        fail_msg("%s: simulated %.6g, exact %.6g; they differ by %.3g, allowed %.3g", what, simulated.mean,
                 exact, off, allowed);
}

/* Power as the paper shows it: over the 340 W of a busy and an idle server together. */
static double paper_power(const struct bli_result *result) {
    return result->metric[BLI_POWER_MEAN].mean / 340;
}

static void near(const char *what, double value, double wanted, double part) {
    if (!(fabs(value - wanted) <= part * wanted))
        fail_msg("%s is %.5g, not within %g %% of %.5g", what, value, 100 * part, wanted);
}

/* ---- the chain of delayed-off ---- */

/* b servers are busy, and k jobs wait (k > 0) or -k servers stand by (k < 0). In set-up are min(k, n - b). */
struct chain {
    int n, most; /* servers, most jobs waiting */
    double lambda, mu, nu;
    double *p;
};

static bool is_state(const struct chain *c, int b, int k) {
    return b >= 0 && b <= c->n && k <= c->most && k >= -c->n && (k >= 0 || b - k <= c->n);
}

static double *at(const struct chain *c, int b, int k) {
    return &c->p[b * (c->n + c->most + 1) + k + c->n];
}

static double p_of(const struct chain *c, int b, int k) {
    return is_state(c, b, k) ? *at(c, b, k) : 0;
}

static int setups(const struct chain *c, int b, int k) {
    return k <= 0 ? 0 : k < c->n - b ? k : c->n - b;
}

/* The balance of one state, solved for it. */
static double balanced(const struct chain *c, int b, int k) {
    const double out = (k < c->most ? c->lambda : 0) + b + c->nu * setups(c, b, k) + (k < 0 ? -k * c->mu : 0);
    double in = k <= 0 ? c->lambda * p_of(c, b - 1, k - 1) : c->lambda * p_of(c, b, k - 1); /* arrivals */
    in += k >= 0 ? b * p_of(c, b, k + 1) : (b + 1) * p_of(c, b + 1, k + 1);                 /* completions */
    if (k >= 0)
        in += c->nu * setups(c, b - 1, k + 1) * p_of(c, b - 1, k + 1); /* set-ups end */
    if (k <= 0)
        in += (1 - k) * c->mu * p_of(c, b, k - 1); /* standby ends */
    return in / out;
}

struct stationary {
    double waiting, standby, setup, waits, change;
};

/* One sweep of Gauss-Seidel. */
static struct stationary sweep(struct chain *c) {
    struct stationary s = {0};
    double total = 0, waiting = 0;
    for (int b = 0; b <= c->n; b++)
        for (int k = -c->n; k <= c->most; k++) {
            if (!is_state(c, b, k))
                continue;
            const double p = balanced(c, b, k);
            s.change += fabs(p - *at(c, b, k));
            *at(c, b, k) = p;
            total += p;
            waiting += k > 0 ? k * p : 0;
            s.waits += k >= 0 ? p : 0; /* an arrival that finds nobody standing by */
            s.standby += k < 0 ? -k * p : 0;
            s.setup += setups(c, b, k) * p;
        }
    for (int i = 0; i < (c->n + 1) * (c->n + c->most + 1); i++)
        c->p[i] /= total;
    s.waiting = waiting / total / c->lambda; /* Little */
    s.standby /= total * c->n;
    s.setup /= total * c->n;
    s.waits /= total;
    s.change /= total;
    return s;
}

static struct stationary solve(int n, int most, double load, double mu, double nu) {
    struct chain c = {n, most, load * n, mu, nu, NULL};
    c.p = calloc((size_t)(n + 1) * (size_t)(n + most + 1), sizeof *c.p);
    assert_non_null(c.p);
    for (int b = 0; b <= n; b++)
        for (int k = -n; k <= most; k++)
            if (is_state(&c, b, k))
                *at(&c, b, k) = exp(-fabs(b - load * n) - abs(k));
    struct stationary s = {.change = 1};
    for (int i = 0; i < 20000 && s.change > 1e-11; i++)
        s = sweep(&c);
    assert_true(s.change <= 1e-11);
    free(c.p);
    return s;
}

static void compare_with_chain(int n, double load, double mu, double nu, int most, double jobs) {
    const struct stationary exact = solve(n, most, load, mu, nu);
    char servers[20], policy[80];
    snprintf(servers, sizeof servers, "%d", n);
    snprintf(policy, sizeof policy, "delayed-off:mu=%g,nu=%g", mu, nu);
    const struct bli_model model = model_of(servers, load);
    const struct bli_result result = run_of(&model, policy, jobs, BLI_ENGINE_AUTO);
    assert_int_equal(result.engine, BLI_ENGINE_POOLED);
    agrees("waiting", result.metric[BLI_WAITING_MEAN], exact.waiting);
    agrees("response", result.metric[BLI_RESPONSE_MEAN], exact.waiting + 1);
    agrees("jobs that wait", result.metric[BLI_WAITING_PROBABILITY], exact.waits);
    agrees("standby", result.metric[BLI_SERVERS_STANDBY], exact.standby);
    agrees("set-up", result.metric[BLI_SERVERS_SETUP], exact.setup);
    agrees("busy", result.metric[BLI_SERVERS_BUSY], load);
}

static void delayed_off_has_the_law_of_its_chain(void **unused) {
    (void)unused;
    compare_with_chain(1, 0.5, 0.5, 0.25, 400, 2e5);
    compare_with_chain(1, 0.3, 0.1, 0.1, 400, 2e5);
    compare_with_chain(2, 0.7, 0.3, 0.5, 600, 2e5);
    compare_with_chain(2, 0.4, 2, 0.1, 400, 2e5);
    compare_with_chain(10, 0.5, 0.2, 0.2, 300, 2e5);
}

/* The statement of the model gives check values from one run each. At N = 100 its W = 0.1036 is 3 % below the
 * chain above, which for 100 servers says 0.106861 (and 0.2085 for P/340); so that one is held to 5 %. */
static void delayed_off_meets_the_check_values(void **unused) {
    (void)unused;
    struct bli_model model = model_of("100", 0.3);
    struct bli_result result = run_of(&model, "delayed-off:mu=0.1,nu=0.1", 1e6, BLI_ENGINE_AUTO);
    agrees("waiting", result.metric[BLI_WAITING_MEAN], 0.106861);
    agrees("standby", result.metric[BLI_SERVERS_STANDBY], 0.03206);
    near("P/340 at N = 100", paper_power(&result), 0.2079, 0.02);
    near("W at N = 100", result.metric[BLI_WAITING_MEAN].mean, 0.1036, 0.05);
    model = model_of("1000", 0.3);
    result = run_of(&model, "delayed-off:mu=0.1,nu=0.1", 1.2e6, BLI_ENGINE_AUTO);
    near("P/340 at N = 1000", paper_power(&result), 0.1861, 0.02);
    near("W at N = 1000", result.metric[BLI_WAITING_MEAN].mean, 0.0325, 0.02);
}

/* M/M/N: the exact waiting time, through the same engine. */
static void a_common_queue_is_mmn(void **unused) {
    (void)unused;
    const struct bli_model model = model_of("10", 0.8);
    const struct bli_result result = run_of(&model, "central", 5e5, BLI_ENGINE_AUTO);
    const struct bli_wait wait = bli_wait_mmn(0.8, 10);
    agrees("waiting", result.metric[BLI_WAITING_MEAN], bli_wait_mean(&wait));
    agrees("jobs that wait", result.metric[BLI_WAITING_PROBABILITY], wait.probability);
    agrees("power", result.metric[BLI_POWER_MEAN], 0.8 * 200 + 0.2 * 140);
}

/* ---- tabs ---- */

/* The chain of tabs as it is stated, one event at a time, on plain arrays. */
enum colour { YELLOW, GREEN, RED, ORANGE };

struct twin {
    int servers, count[4], *length;
    enum colour *colour;
    long jobs;
    struct bal_rng rng;
};

static int any(struct twin *w, enum colour colour) {
    for (;;) {
        const int server = (int)bal_rng_below(&w->rng, (uint32_t)w->servers);
        if (w->colour[server] == colour)
            return server;
    }
}

static void paint(struct twin *w, int server, enum colour colour) {
    w->count[w->colour[server]]--;
    w->count[colour]++;
    w->colour[server] = colour;
}

static void twin_arrive(struct twin *w) {
    if (w->count[GREEN] > 0) {
        const int server = any(w, GREEN);
        paint(w, server, YELLOW);
        w->length[server] = 1;
        w->jobs++;
        return;
    }
    if (w->count[YELLOW] > 0) {
        w->length[any(w, YELLOW)]++;
        w->jobs++;
    }
    if (w->count[RED] > 0)
        paint(w, any(w, RED), ORANGE);
}

static void twin_complete(struct twin *w) {
    const int server = any(w, YELLOW);
    w->jobs--;
    if (--w->length[server] == 0)
        paint(w, server, GREEN);
}

struct averages {
    double waiting, power;
};

static struct averages twin_run(int servers, double lambda, double mu, double nu, double warm, double time,
                                uint64_t replication) {
    struct twin w = {.servers = servers, .count = {0, servers, 0, 0}};
    w.length = calloc((size_t)servers, sizeof *w.length);
    w.colour = calloc((size_t)servers, sizeof *w.colour);
    assert_true(w.length && w.colour);
    for (int i = 0; i < servers; i++)
        w.colour[i] = GREEN;
    bal_rng_init(&w.rng, 5, replication, BAL_STREAM_TEST);
    double area[4] = {0}, jobs = 0;
    for (double now = 0; now < warm + time;) {
        const double arrivals = lambda * servers, completions = w.count[YELLOW], ends = mu * w.count[GREEN];
        const double total = arrivals + completions + ends + nu * w.count[ORANGE];
        const double gap = bal_rng_exp(&w.rng) / total;
        if (now >= warm) {
            for (int c = 0; c < 4; c++)
                area[c] += w.count[c] * gap;
            jobs += (double)w.jobs * gap;
        }
        now += gap;
        const double which = bal_rng_uniform(&w.rng) * total;
        if (which < arrivals)
            twin_arrive(&w);
        else if (which < arrivals + completions)
            twin_complete(&w);
        else if (which < arrivals + completions + ends)
            paint(&w, any(&w, GREEN), RED);
        else
            paint(&w, any(&w, ORANGE), GREEN);
    }
    free(w.length);
    free(w.colour);
    const double scale = 1 / (time * servers);
    return (struct averages){(jobs - area[YELLOW]) * scale / lambda,
                             (10 * (area[YELLOW] + area[ORANGE]) + 7 * area[GREEN]) / 17 * scale};
}

static void agree_both(const char *what, struct bli_estimate one, struct bli_estimate other) {
    const double allowed = limit() * hypot(error_of(one), error_of(other));
    if (!(fabs(one.mean - other.mean) <= allowed))
        fail_msg("%s: %.6g and %.6g differ by more than %.3g", what, one.mean, other.mean, allowed);
}

static void engines_agree_with_a_literal_twin(void **unused) {
    (void)unused;
    double waiting[8], power[8];
    for (unsigned r = 0; r < 8; r++) {
        const struct averages a = twin_run(100, 0.3, 0.1, 0.1, 500, 6000, r);
        waiting[r] = a.waiting;
        power[r] = 340 * a.power;
    }
    const struct bli_estimate twin_waiting = bli_estimate_mean(waiting, 8),
                              twin_power = bli_estimate_mean(power, 8);
    const struct bli_model model = model_of("100", 0.3);
    for (int engine = BLI_ENGINE_MARKOV; engine <= BLI_ENGINE_EVENT; engine++) {
        const struct bli_result result = run_of(&model, "tabs:mu=0.1,nu=0.1", 3e5, (enum bli_engine)engine);
        agree_both("waiting", result.metric[BLI_WAITING_MEAN], twin_waiting);
        agree_both("power", result.metric[BLI_POWER_MEAN], twin_power);
    }
}

/* The statement of the model gives N = 100: 0.0391 and 0.2787; N = 1000: 0.0114 and 0.2085, one run each. At
 * N = 1000 the twin above, run for a time of 260 000 in all, gives W = 0.01111 with a standard error of
 * 0.00004 and P/340 = 0.2080: the stated W is 3 % above both, as much as runs of length 10 000 scatter (1.7 %
 * of standard deviation). So W is held to 2 % of the twin and 4 % of the stated value. */
static void tabs_meets_the_check_values(void **unused) {
    (void)unused;
    struct bli_model model = model_of("100", 0.3);
    struct bli_result result = run_of(&model, "tabs:mu=0.1,nu=0.1", 1e6, BLI_ENGINE_AUTO);
    near("W at N = 100", result.metric[BLI_WAITING_MEAN].mean, 0.0391, 0.02);
    near("P/340 at N = 100", paper_power(&result), 0.2787, 0.02);
    assert_true(result.metric[BLI_REFUSED].mean == 0 && result.metric[BLI_LOST].mean == 0);
    model = model_of("1000", 0.3);
    result = run_of(&model, "tabs:mu=0.1,nu=0.1", 2e6, BLI_ENGINE_AUTO);
    near("W at N = 1000, by the twin", result.metric[BLI_WAITING_MEAN].mean, 0.0111, 0.02);
    near("W at N = 1000, as stated", result.metric[BLI_WAITING_MEAN].mean, 0.0114, 0.04);
    near("P/340 at N = 1000", paper_power(&result), 0.2085, 0.02);
    assert_true(result.metric[BLI_REFUSED].mean == 0);
    assert_true(result.metric[BLI_REPORTS_PER_JOB].mean <= 2);
}

/* A server that never switches off: no job waits for a set-up, and the mean is that of jiq. */
static void infinite_standby_is_jiq(void **unused) {
    (void)unused;
    const struct bli_model model = model_of("20", 0.9);
    for (int engine = BLI_ENGINE_MARKOV; engine <= BLI_ENGINE_EVENT; engine++) {
        const struct bli_result tabs = run_of(&model, "tabs:mu=0,nu=1", 2e5, (enum bli_engine)engine);
        const struct bli_result jiq = run_of(&model, "jiq", 2e5, (enum bli_engine)engine);
        assert_true(tabs.metric[BLI_SERVERS_OFF].mean < 1e-12 && tabs.metric[BLI_SERVERS_SETUP].mean == 0);
        agree_both("response", tabs.metric[BLI_RESPONSE_MEAN], jiq.metric[BLI_RESPONSE_MEAN]);
        agree_both("power", tabs.metric[BLI_POWER_MEAN], jiq.metric[BLI_POWER_MEAN]);
    }
}

/* Every job without an idle server starts a set-up. The less these vary, the later the first of several is
 * over, and the more jobs queue and start others meanwhile: waiting and set-ups grow from exponential over
 * Erlang to constant times. */
static void steadier_setups_wait_longer(void **unused) {
    (void)unused;
    static const char *const dists[] = {"exp(10)", "erlang(4,10)", "det(10)"};
    struct bli_model model = model_of("100", 0.3);
    double waiting = 0, setup = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bli_dist_parse(dists[i], &model.setup, NULL), BAL_OK);
        const struct bli_result result = run_of(&model, "tabs:mu=0.1,nu=123", 3e5, BLI_ENGINE_EVENT);
        const struct bli_estimate now = result.metric[BLI_WAITING_MEAN];
        if (i == 0) /* the law of the model in place of the policy's */
            near("W with exponential set-ups", now.mean, 0.0389, 0.03);
        assert_true(now.mean > waiting + 2 * now.half_width);
        assert_true(result.metric[BLI_SERVERS_SETUP].mean > setup);
        waiting = now.mean;
        setup = result.metric[BLI_SERVERS_SETUP].mean;
    }
    /* Without memory the law does not matter to the other engine: the same chain. */
    assert_int_equal(bli_dist_parse("exp(10)", &model.setup, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp(10)", &model.standby, NULL), BAL_OK);
    const struct bli_result markov = run_of(&model, "tabs:mu=5,nu=5", 3e5, BLI_ENGINE_MARKOV);
    near("W by the laws of the model", markov.metric[BLI_WAITING_MEAN].mean, 0.0389, 0.03);
}

/* ---- starting states, losses ---- */

static void jobs_without_a_server_are_refused(void **unused) {
    (void)unused;
    struct bli_model model = model_of("50", 0.3);
    assert_int_equal(bli_start_parse("off=1", &model.start, NULL), BAL_OK);
    for (int engine = BLI_ENGINE_MARKOV; engine <= BLI_ENGINE_EVENT; engine++) {
        const struct bli_run run = {.seed = 1, .time = 20, .warmup = 0, .engine = (enum bli_engine)engine};
        const struct bal_policy_spec policy = policy_of("tabs:mu=0.1,nu=0.1");
        struct bli_trial trial = {0};
        struct bal_error err = {0};
        assert_int_equal(bli_simulate(&model, &policy, &run, &trial, &err), BAL_OK);
        assert_true(trial.metric[BLI_REFUSED] > 0 && trial.metric[BLI_REFUSED] < 1);
    }
}

/* Buffers and busy servers that begin with several jobs: fractions over the last half of a unit of time lie
 * within 0.012 of those of the fluid model. They scatter by less than 0.0036 from run to run with 20 000
 * servers (a fraction by sqrt(1/4N), and half as much again because servers go on and off together), so that
 * the mean of eight runs is within 4.5 of its standard errors, 0.006, and as much is left for the number of
 * servers. */
static void paths_with_buffers_are_those_of_the_fluid_model(void **unused) {
    (void)unused;
    static const struct {
        uint32_t buffer;
        const char *start;
        double until;
    } cases[] = {{1, "busy=0.1,off=0.9", 8},
                 {2, "busy=0.2,off=0.8,jobs=2", 5},
                 {3, "busy=0.1,setup=0.3,off=0.6,jobs=3", 12},
                 {0, "busy=0.3,off=0.7,jobs=5", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = model_of("20000", 0.6);
        model.buffer = cases[i].buffer;
        assert_int_equal(bli_start_parse(cases[i].start, &model.start, NULL), BAL_OK);
        const double until = cases[i].until;
        const struct bli_case c = {
            .model = model,
            .policy = policy_of("tabs:mu=0.2,nu=0.1"),
            .run = {.seed = 9, .time = until, .warmup = 1 - 0.5 / until},
            .replications = 8,
        };
        const struct bli_lab_options options = {.threads = 2};
        struct bli_result result;
        struct bli_theory_averages span;
        assert_int_equal(bli_lab_run(&c, 1, &options, &result, NULL), BAL_OK);
        assert_true(bli_theory_average(&model, &c.policy, until - 0.5, until, &span));
        const double apart[] = {result.metric[BLI_SERVERS_BUSY].mean - span.busy,
                                result.metric[BLI_SERVERS_OFF].mean - span.off,
                                result.metric[BLI_SERVERS_SETUP].mean - span.setup,
                                result.tail[2] - span.tail[2], result.tail[3] - span.tail[3]};
        for (int k = 0; k < 5; k++)
            if (!(fabs(apart[k]) < 0.012))
                fail_msg("case %zu: number %d is %.4f away from the fluid model", i, k, apart[k]);
    }
}

static void servers_start_as_told(void **unused) {
    (void)unused;
    struct bli_model model = model_of("1000", 0.3);
    assert_int_equal(bli_start_parse("busy=0.1,setup=0.2,off=0.4", &model.start, NULL), BAL_OK);
    const double time[] = {0};
    for (int engine = BLI_ENGINE_MARKOV; engine <= BLI_ENGINE_EVENT; engine++) {
        double fraction[2], standby, setup;
        struct bli_path path = {.times = 1,
                                .time = time,
                                .levels = 2,
                                .fraction = fraction,
                                .standby = &standby,
                                .setup = &setup};
        const struct bli_run run = {
            .seed = 1, .time = 10, .warmup = 0, .engine = (enum bli_engine)engine, .path = &path};
        const struct bal_policy_spec policy = policy_of("tabs:mu=5,nu=5");
        struct bli_trial trial = {0};
        struct bal_error err = {0};
        assert_int_equal(bli_simulate(&model, &policy, &run, &trial, &err), BAL_OK);
        assert_true(fraction[0] == 0.1 && fraction[1] == 0 && standby == 0.3 && setup == 0.2);
    }
}

/* M/M/1/B: a job is lost with probability (1-r) r^B / (1 - r^(B+1)). */
static void full_buffers_lose_jobs(void **unused) {
    (void)unused;
    struct bli_model model = model_of("3", 0.8);
    for (uint32_t buffer = 1; buffer <= 4; buffer += 3)
        for (int engine = BLI_ENGINE_MARKOV; engine <= BLI_ENGINE_EVENT; engine++) {
            model.buffer = buffer;
            const struct bli_result result = run_of(&model, "random", 2e5, (enum bli_engine)engine);
            agrees("lost", result.metric[BLI_LOST],
                   (1 - 0.8) * pow(0.8, buffer) / (1 - pow(0.8, buffer + 1)));
        }
}

/* With servers to spare the busy fraction is that of infinitely many: lambda (1 + A (sin wt - w cos wt)/(1 +
 * w^2)) once the start is forgotten. At N = 10^5 the standard deviation is below 0.002. */
static void varying_loads_are_followed(void **unused) {
    (void)unused;
    enum { TIMES = 81 };
    struct bli_model model = model_of("100k", 0.3);
    assert_int_equal(bli_curve_parse("sine(0.8,10)", &model.curve, NULL), BAL_OK);
    double time[TIMES], fraction[TIMES];
    for (int k = 0; k < TIMES; k++)
        time[k] = 20 + 0.25 * k;
    const double w = 2 * acos(-1) / 10;
    for (int engine = BLI_ENGINE_MARKOV; engine <= BLI_ENGINE_EVENT; engine++) {
        struct bli_path path = {.times = TIMES, .time = time, .levels = 1, .fraction = fraction};
        const struct bli_run run = {
            .seed = 2, .time = 40, .warmup = 0, .engine = (enum bli_engine)engine, .path = &path};
        const struct bal_policy_spec policy = policy_of("jiq");
        struct bli_trial trial = {0};
        struct bal_error err = {0};
        assert_int_equal(bli_simulate(&model, &policy, &run, &trial, &err), BAL_OK);
        for (int k = 0; k < TIMES; k++) {
            const double t = time[k], wanted = 0.3 * (1 + 0.8 * (sin(w * t) - w * cos(w * t)) / (1 + w * w));
            if (!(fabs(fraction[k] - wanted) < 0.01))
                fail_msg("at time %g a fraction %g is busy, not %g", t, fraction[k], wanted);
        }
    }
}

/* ---- paths over the fluid model ---- */

/* At N = 10^5 the largest distance over all times and states is a random number of about 0.008 (0.005 to
 * 0.020 over 24 seeds, the larger ones in the servers that are off and in set-up); with this seed it is below
 * 0.01 in all three settings. */

static void paths_follow_the_fluid_model(void **unused) {
    (void)unused;
    enum { TIMES = 401, LEVELS = 5 };
    static const struct {
        const char *size, *curve;
    } cases[] = {
        {"exp", "constant"},
        {"exp", "table(0:1)"},
        {"hyper(0.75,2,0.25,0.4)", "constant"},
    };
    for (int i = 0; i < 3; i++) {
        struct bli_model model = model_of("100k", 0.3);
        struct bal_error err = {0};
        assert_int_equal(bli_dist_parse(cases[i].size, &model.size, NULL), BAL_OK);
        assert_int_equal(bli_curve_parse(cases[i].curve, &model.curve, NULL), BAL_OK);
        if (i == 1) /* 0.3 + 0.2 sin(t/10) */
            model.curve =
                (struct bli_curve){.kind = BLI_CURVE_SINE, .amplitude = 2.0 / 3, .period = 20 * acos(-1)};
        assert_int_equal(bli_start_parse("busy=0.1,off=0.9", &model.start, NULL), BAL_OK);
        static double time[TIMES], fraction[TIMES * LEVELS], standby[TIMES], setup[TIMES];
        for (int k = 0; k < TIMES; k++)
            time[k] = 100.0 * k / (TIMES - 1);
        struct bli_path path = {.times = TIMES,
                                .time = time,
                                .levels = LEVELS,
                                .fraction = fraction,
                                .standby = standby,
                                .setup = setup};
        const struct bli_run run = {.seed = 2, .time = 100, .warmup = 0, .path = &path};
        const struct bal_policy_spec policy = policy_of("tabs:mu=0.1,nu=0.1");
        struct bli_trial trial = {0};
        if (bli_simulate(&model, &policy, &run, &trial, &err))
            fail_msg("%s", err.text);
        assert_true(trial.metric[BLI_REFUSED] == 0);

        struct bli_tabs tabs;
        assert_int_equal(bli_tabs_init(&tabs, 0.3, 0.1, 0.1, &model.size, &model.curve, &err), BAL_OK);
        const struct bli_fluid_model fluid = bli_fluid_tabs(&tabs);
        double y[2 + BLI_DIST_PHASES] = {0}, worst = 0;
        bli_tabs_start(&tabs, &model.start, y);
        struct bli_fluid_path limit_path;
        assert_int_equal(bli_fluid_path_init(&limit_path, &fluid, y, 2 + tabs.phases, time, TIMES, &err),
                         BAL_OK);
        for (size_t k = 0; k < TIMES; k++) {
            double idle = 1 - bli_fluid_path_at(&limit_path, k, 0) - bli_fluid_path_at(&limit_path, k, 1);
            for (size_t level = 0; level < LEVELS; level++) {
                double q = 0;
                for (unsigned j = 0; j < tabs.phases; j++)
                    q += bli_fluid_path_at(&limit_path, k, 2 + level * tabs.phases + j);
                worst = fmax(worst, fabs(fraction[k * LEVELS + level] - q));
                idle -= level == 0 ? q : 0;
            }
            worst = fmax(worst, fabs(setup[k] - bli_fluid_path_at(&limit_path, k, 1)));
            worst = fmax(worst, fabs(standby[k] - idle));
        }
        bli_fluid_path_fini(&limit_path);
        if (!(worst < 0.01))
            fail_msg("%s, %s: a path of 100k servers is %g away from the fluid", cases[i].size,
                     cases[i].curve, worst);
    }
}

/* ---- insensitivity ---- */

/* Waiting and waste fall as N grows, for exponential and hyper-exponential sizes, to levels that are close.
 */
static void more_servers_waste_less(void **unused) {
    (void)unused;
    double exponential[2][2];
    for (int dist = 0; dist < 2; dist++)
        for (int i = 0; i < 2; i++) {
            struct bli_model model = model_of(i ? "1000" : "100", 0.3);
            assert_int_equal(bli_dist_parse(dist ? "hyper(0.75,2,0.25,0.4)" : "exp", &model.size, NULL),
                             BAL_OK);
            const struct bli_result result =
                run_of(&model, "tabs:mu=0.1,nu=0.1", i ? 6e5 : 2e5, BLI_ENGINE_AUTO);
            exponential[dist][i] = result.metric[BLI_POWER_WASTE].mean;
        }
    for (int dist = 0; dist < 2; dist++)
        assert_true(exponential[dist][1] < exponential[dist][0] / 2);
    near("waste with hyper-exponential sizes", exponential[1][1], exponential[0][1], 0.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delayed_off_has_the_law_of_its_chain),
        cmocka_unit_test(delayed_off_meets_the_check_values),
        cmocka_unit_test(a_common_queue_is_mmn),
        cmocka_unit_test(engines_agree_with_a_literal_twin),
        cmocka_unit_test(tabs_meets_the_check_values),
        cmocka_unit_test(infinite_standby_is_jiq),
        cmocka_unit_test(steadier_setups_wait_longer),
        cmocka_unit_test(jobs_without_a_server_are_refused),
        cmocka_unit_test(paths_with_buffers_are_those_of_the_fluid_model),
        cmocka_unit_test(servers_start_as_told),
        cmocka_unit_test(full_buffers_lose_jobs),
        cmocka_unit_test(varying_loads_are_followed),
        cmocka_unit_test(paths_follow_the_fluid_model),
        cmocka_unit_test(more_servers_waste_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
