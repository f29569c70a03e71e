/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatchers that hold so many jobs and refuse the rest, the less urgent first: against M/M/N/N+K, against a
 * chain of several classes that is solved here, and against a second simulator that keeps all jobs in one
 * array.
 *
 * Seeds are fixed. A mean may be 4.5 standard errors off, which Student's t with 19 degrees of freedom is
 * with probability 2.5e-4, in 40 comparisons 1e-2 in all; the second simulator is compared at 1e-4 each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "close.h"
#include "exact.h"

enum { RUNS = 20 };

static struct bli_model limited(const char *servers, const char *size, double load, const char *classes,
                                const char *limit) {
    struct bli_model model = model_of(servers, size, load);
    struct bal_error err;
    if ((classes && bli_model_parse_classes(classes, &model, &err)) ||
        bli_hold_limit_parse(limit, &model.hold_limit, &err))
        fail_msg("%s", err.text);
    return model;
}

static struct bli_run run_of(const struct bli_model *model, double jobs) {
    return (struct bli_run){.seed = 1917, .time = jobs / bli_model_arrival_rate(model), .warmup = 0.1};
}

static struct replications run(const struct bli_model *model, const char *policy, double jobs) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_run how = run_of(model, jobs);
    return replicate(model, &spec, &how, RUNS);
}

/* ---- one class ---- */

/* The part of jobs that find all places taken, in a way of its own: Erlang's recursion for loss, continued
 * through the places. */
static double refused_of(double a, unsigned n, unsigned places) {
    double loss = 1;
    for (unsigned k = 1; k <= n + places; k++) {
        const double rate = k < n ? k : n;
        loss = a * loss / (rate + a * loss);
    }
    return loss;
}

static void assert_mmnk(const char *servers, unsigned n, double load, const char *limit, unsigned places,
                        double jobs) {
    const struct bli_model model = limited(servers, "exp", load, NULL, limit);
    const struct bal_policy_spec spec = policy_of("jiq:else=hold");
    const struct bli_prediction known = bli_theory_predict(&model, &spec);
    const double refused = refused_of(load * n, n, places);
    assert_int_equal(known.kind, BLI_THEORY_EXACT);
    struct replications r = run(&model, "jiq:else=hold", jobs);
    assert_mean(&r, BLI_REFUSED, refused, 0, servers);
    assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, 0, servers);
    /* Little's law, of those that are let in. */
    assert_mean(&r, BLI_QUEUE_TOTAL, known.response_mean * load * n * (1 - refused), 0, servers);
    if (places)
        assert_mean(&r, BLI_WAITING_PROBABILITY, known.waiting_probability, 0, servers);
    replications_free(&r);
}

static void one_class_is_known(void **state) {
    (void)state;
    assert_mmnk("10", 10, 0.9, "5", 5, 120000);
    assert_mmnk("4", 4, 1.3, "20", 20, 60000);
    assert_mmnk("6", 6, 0.8, "0", 0, 60000);
    assert_mmnk("1", 1, 0.7, "2", 2, 60000);
    /* Without a limit that is ever met it is M/M/N; a policy that holds none does not notice. */
    const struct bli_model wide = limited("5", "exp", 0.6, NULL, "500");
    struct bli_model without = wide;
    without.hold_limit = (struct bli_hold_limit){0};
    static const char *const policies[] = {"jiq:else=hold", "random"};
    for (int i = 0; i < 2; i++) {
        const struct bal_policy_spec spec = policy_of(policies[i]);
        assert_close(bli_theory_predict(&wide, &spec).response_mean,
                     bli_theory_predict(&without, &spec).response_mean, 1e-12);
    }
    assert_true(isnan(bli_theory_lower_bound(&wide)));
}

/* What does not find a place is refused, so that no load is too much. */
static void no_load_is_too_much(void **state) {
    (void)state;
    const struct bli_model model = limited("4", "exp", 1.3, NULL, "20");
    const struct bal_policy_spec holds = policy_of("jiq:else=hold"), none = policy_of("random");
    assert_true(isnan(bli_theory_critical_load(&model, &holds)));
    assert_true(bli_theory_critical_load(&model, &none) == 1);
}

/* ---- several classes: the chain ---- */

enum { CLASSES = 3, PLACES = 7, SIDE = PLACES + 1, CELLS = SIDE * SIDE * SIDE };

struct chain {
    unsigned n, places, own[CLASSES];
    double rate[CLASSES];
    double p[CELLS], busy[64]; /* all servers have work; so many have and none waits */
    double refused[CLASSES];
};

static unsigned cell_of(const unsigned *waiting) {
    return (waiting[0] * SIDE + waiting[1]) * SIDE + waiting[2];
}

/* One of that class comes and waits, or not; who is refused, CLASSES: no one. */
static unsigned join(const struct chain *chain, unsigned *waiting, unsigned class) {
    if (waiting[class] >= chain->own[class])
        return class;
    if (waiting[0] + waiting[1] + waiting[2] == chain->places) {
        unsigned victim = CLASSES - 1;
        while (victim > class && waiting[victim] == 0)
            victim--;
        if (victim == class)
            return class;
        waiting[victim]--;
        waiting[class]++;
        return victim;
    }
    waiting[class]++;
    return CLASSES;
}

/* One step of the chain at rate `fast`, in which at most one thing happens. */
static void step(struct chain *chain, double fast) {
    static double next[CELLS];
    double busy[64] = {0};
    const double all = chain->rate[0] + chain->rate[1] + chain->rate[2];
    memset(next, 0, sizeof next);
    memset(chain->refused, 0, sizeof chain->refused);
    for (unsigned k = 0; k < chain->n; k++) {
        const double p = chain->busy[k];
        busy[k] += p * (1 - (all + k) / fast);
        if (k > 0)
            busy[k - 1] += p * k / fast;
        if (k + 1 < chain->n)
            busy[k + 1] += p * all / fast;
        else
            next[0] += p * all / fast;
    }
    unsigned w[CLASSES];
    for (w[0] = 0; w[0] < SIDE; w[0]++)
        for (w[1] = 0; w[1] < SIDE; w[1]++)
            for (w[2] = 0; w[2] < SIDE; w[2]++) {
                const unsigned here = cell_of(w);
                const double p = chain->p[here];
                next[here] += p * (1 - (all + chain->n) / fast);
                for (unsigned class = 0; class < CLASSES && p > 0; class ++) {
                    unsigned after[CLASSES] = {w[0], w[1], w[2]};
                    const unsigned refused = join(chain, after, class);
                    if (refused < CLASSES)
                        chain->refused[refused] += p * chain->rate[class];
                    next[cell_of(after)] += p * chain->rate[class] / fast;
                }
                unsigned served = 0, after[CLASSES] = {w[0], w[1], w[2]};
                while (served < CLASSES && w[served] == 0)
                    served++;
                if (served == CLASSES) {
                    busy[chain->n - 1] += p * chain->n / fast;
                } else {
                    after[served]--;
                    next[cell_of(after)] += p * chain->n / fast;
                }
            }
    memcpy(chain->p, next, sizeof next);
    memcpy(chain->busy, busy, sizeof busy);
}

static struct chain solve(unsigned n, double load, const double *share, unsigned places,
                          const unsigned *own) {
    struct chain chain = {.n = n, .places = places, .busy = {1}};
    for (unsigned class = 0; class < CLASSES; class ++) {
        chain.rate[class] = load * n * share[class];
        chain.own[class] = own[class];
    }
    for (unsigned i = 0; i < 20000; i++)
        step(&chain, n * (load + 1) * 1.01);
    for (unsigned class = 0; class < CLASSES; class ++)
        chain.refused[class] /= chain.rate[class];
    return chain;
}

static double waiting_in(const struct chain *chain) {
    double sum = 0;
    for (unsigned a = 0; a < SIDE; a++)
        for (unsigned b = 0; b < SIDE; b++)
            for (unsigned c = 0; c < SIDE; c++)
                sum += (a + b + c) * chain->p[cell_of((unsigned[]){a, b, c})];
    return sum;
}

static void classes_are_their_chain(void **state) {
    (void)state;
    static const double share[] = {0.3, 0.3, 0.4};
    static const struct {
        const char *limit;
        unsigned own[CLASSES];
    } cases[] = {{"3", {3, 3, 3}}, {"3,3,2,1", {3, 2, 1}}, {"7,2,7,7", {2, 7, 7}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *limit = cases[i].limit;
        const struct chain chain = solve(3, 1.4, share, (unsigned)atoi(limit), cases[i].own);
        const struct bli_model model = limited("3", "exp", 1.4, "0.3,0.3,0.4", limit);
        struct replications r = run(&model, "jiq:else=hold", 200000);
        double all = 0;
        for (unsigned class = 0; class < CLASSES; class ++) {
            assert_mean(&r, BLI_CLASS_1_REFUSED + (int)class, chain.refused[class], 0, limit);
            all += share[class] * chain.refused[class];
        }
        assert_mean(&r, BLI_REFUSED, all, 0, limit);
        assert_mean(&r, BLI_HIGH_REFUSED, chain.refused[0], 0, limit);
        assert_mean(&r, BLI_LOW_REFUSED, chain.refused[2], 0, limit);
        assert_mean(&r, BLI_QUEUE_TOTAL, waiting_in(&chain) + 3 * 1.4 * (1 - all), 0, limit);
        replications_free(&r);
    }
}

/* ---- a second simulator: any sizes, and who of a class gives way ---- */

enum { SERVERS = 3, MOST = 6 };

struct waiter {
    double arrival;
    unsigned class;
};

struct literal {
    struct bal_rng rng;
    double now, warm, end, free_at[SERVERS];
    struct waiter in_service[SERVERS], waiting[MOST];
    unsigned waits;
    double response[CLASSES], answered[CLASSES], come[CLASSES], refused[CLASSES];
};

static void refuse(struct literal *l, unsigned class) {
    l->refused[class] += l->now > l->warm;
}

static void serve(struct literal *l, unsigned server, struct waiter job) {
    l->in_service[server] = job;
    l->free_at[server] = l->now + 0.2 + 1.6 * bal_rng_uniform(&l->rng);
}

/* Removes one and closes the gap: those in front stay in front. */
static struct waiter leave_queue(struct literal *l, unsigned at) {
    const struct waiter job = l->waiting[at];
    memmove(l->waiting + at, l->waiting + at + 1, (l->waits - at - 1) * sizeof job);
    l->waits--;
    return job;
}

static void arrive(struct literal *l, const unsigned *own) {
    const double u = bal_rng_uniform(&l->rng);
    const struct waiter job = {l->now, u < 0.3 ? 0 : u < 0.6 ? 1 : 2};
    l->come[job.class] += l->now > l->warm;
    for (unsigned server = 0; server < SERVERS; server++)
        if (l->free_at[server] == INFINITY) {
            serve(l, server, job);
            return;
        }
    unsigned alike = 0, victim = MOST;
    for (unsigned i = 0; i < l->waits; i++) {
        alike += l->waiting[i].class == job.class;
        if (l->waiting[i].class > job.class &&
            (victim == MOST || l->waiting[i].class >= l->waiting[victim].class))
            victim = i; /* the last one of the least urgent */
    }
    if (alike >= own[job.class] || (l->waits == MOST && victim == MOST)) {
        refuse(l, job.class);
        return;
    }
    if (l->waits == MOST)
        refuse(l, leave_queue(l, victim).class);
    l->waiting[l->waits++] = job;
}

static void depart(struct literal *l, unsigned server) {
    const struct waiter done = l->in_service[server];
    l->response[done.class] += l->now > l->warm ? l->now - done.arrival : 0;
    l->answered[done.class] += l->now > l->warm;
    l->free_at[server] = INFINITY;
    unsigned next = 0;
    for (unsigned i = 1; i < l->waits; i++)
        if (l->waiting[i].class < l->waiting[next].class)
            next = i;
    if (l->waits)
        serve(l, server, leave_queue(l, next));
}

static void simulate_literally(double rate, double end, uint64_t seed, const unsigned *own, double *value) {
    struct literal l = {.warm = 0.1 * end, .end = end, .free_at = {INFINITY, INFINITY, INFINITY}};
    bal_rng_init(&l.rng, seed, 0, 0);
    double arrives = bal_rng_exp(&l.rng) / rate;
    for (;;) {
        unsigned first = 0;
        for (unsigned server = 1; server < SERVERS; server++)
            first = l.free_at[server] < l.free_at[first] ? server : first;
        l.now = fmin(arrives, l.free_at[first]);
        if (l.now > l.end)
            break;
        if (l.now == arrives) {
            arrive(&l, own);
            arrives = l.now + bal_rng_exp(&l.rng) / rate;
        } else {
            depart(&l, first);
        }
    }
    for (unsigned class = 0; class < CLASSES; class ++) {
        value[BLI_CLASS_1_REFUSED + class] = l.refused[class] / l.come[class];
        value[BLI_CLASS_1_RESPONSE_MEAN + 2 * class] = l.response[class] / l.answered[class];
    }
}

static void sizes_may_be_any(void **state) {
    (void)state;
    static const unsigned own[][CLASSES] = {{MOST, MOST, MOST}, {MOST, 4, 2}};
    static const char *const limit[] = {"6", "6,6,4,2"};
    for (int i = 0; i < 2; i++) {
        const struct bli_model model = limited("3", "uniform(0.2,1.8)", 1.4, "0.3,0.3,0.4", limit[i]);
        struct replications r = run(&model, "jiq:else=hold", 20000), twin = replications_new(RUNS);
        for (unsigned k = 0; k < RUNS; k++)
            simulate_literally(bli_model_arrival_rate(&model), run_of(&model, 20000).time, 4711 + k, own[i],
                               twin.value[k]);
        bool good = true;
        for (int class = 0; class < CLASSES; class ++) {
            good &= agrees(&r, &twin, BLI_CLASS_1_REFUSED + class, 1e-4, 0, limit[i]);
            good &= agrees(&r, &twin, BLI_CLASS_1_RESPONSE_MEAN + 2 * class, 1e-4, 0, limit[i]);
        }
        assert_true(good);
        replications_free(&r);
        replications_free(&twin);
    }
}

/* ---- texts, and what cannot be had ---- */

static void limits_have_texts(void **state) {
    (void)state;
    static const char *const good[] = {"none", "0", "20", "20,20,5", "8,1,2,3,4,5,6,7,8"},
                             *const bad[] = {"",    "-1",   "1.5", "20,",  ",20",
                                             "2e9", "20,0", "x",   "20;5", "8,1,2,3,4,5,6,7,8,9"};
    struct bli_hold_limit limit = {.jobs = 7}, before;
    struct bal_error err;
    char text[100];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(bli_hold_limit_parse(good[i], &limit, &err), BAL_OK);
        assert_int_equal(bli_hold_limit_print(&limit, text, sizeof text), strlen(good[i]));
        assert_string_equal(text, good[i]);
        assert_int_equal(bli_hold_limit_print(&limit, NULL, 0), strlen(good[i]));
    }
    before = limit;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(bli_hold_limit_parse(bad[i], &limit, &err), BAL_E_RANGE);
        assert_memory_equal(&limit, &before, sizeof limit);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_class_is_known),      cmocka_unit_test(no_load_is_too_much),
        cmocka_unit_test(classes_are_their_chain), cmocka_unit_test(sizes_may_be_any),
        cmocka_unit_test(limits_have_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
