/* SPDX-License-Identifier: BSD-2-Clause */
/* Every policy of the table, in a loop: is it documented, and does it keep the contract of policy.h? */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../goodness.h"
#include "../policy_host.h"
#include "../variants.h"
#include "ballast/scheme.h"

static const uint32_t fleets[] = {1, 2, 3, 10};
enum { FLEETS = sizeof fleets / sizeof *fleets };

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
    const bool default_fits = isnan(param->default_value) ||
                              (param->low <= param->default_value && param->default_value <= param->high &&
                               (!param->whole || param->default_value == floor(param->default_value)));
    if (!(param->low < param->high) || !default_fits ||
        (param->whole && (param->low != floor(param->low) || param->high != floor(param->high))))
        fail_msg("policy %s: the range or the default of %s makes no sense", policy->name, param->name);
    for (unsigned j = 0; j < k; j++)
        assert_string_not_equal(policy->params[j].name, param->name);
}

static void assert_documented(const struct bal_policy *policy) {
    assert_line(policy, "name", policy->name);
    assert_int_equal(strspn(policy->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(policy->name));
    assert_line(policy, "summary", policy->summary);
    assert_line(policy, "paper", policy->paper);
    assert_line(policy, "cost", policy->cost);
    assert_true(policy->param_count <= BAL_PARAMS_MAX);
    for (unsigned k = 0; k < policy->param_count; k++)
        assert_param(policy, k);
    assert_ptr_equal(bli_scheme_find(policy->name), policy); /* the first of its name: there is no other */
}

static void each_is_documented(void **state) {
    (void)state;
    assert_true(bal_policy_count >= 8);
    assert_true(bli_pooled_count >= 2 && bli_generated_count >= 1);
    size_t count = 0;
    while (bli_scheme_at(count))
        assert_documented(bli_scheme_at(count++));
    assert_true(count == bal_policy_count + bli_pooled_count + bli_generated_count);
}

/* What no dispatcher can host is not among the policies, by whatever way they are looked for. */
static void schemes_without_a_dispatcher_are_no_policies(void **state) {
    (void)state;
    for (size_t i = 0; bli_scheme_at(i); i++) {
        const struct bal_policy *scheme = bli_scheme_at(i);
        const bool is_policy = bli_scheme_of(scheme) == BLI_SCHEME_POLICY;
        struct bal_policy_spec spec;
        assert_true(is_policy == (scheme->route != NULL));
        assert_true(is_policy == (bal_policy_at(i) == scheme));
        assert_true(is_policy == (bal_policy_find(scheme->name) == scheme));
        assert_true(is_policy == (bal_policy_parse(scheme->name, &spec, NULL) == BAL_OK));
        assert_int_equal(bli_scheme_parse(scheme->name, &spec, NULL), BAL_OK);
        assert_ptr_equal(spec.policy, scheme);
    }
}

static void each_has_the_functions_it_needs(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy *policy = bal_policy_table[i];
        const bool complete = policy->route && !policy->size == !policy->init &&
                              !policy->size == !policy->is_consistent && (!policy->wants || policy->report) &&
                              (!policy->load_share || policy->wants & BAL_WANTS_LOAD) &&
                              !(policy->wants & BAL_WANTS_STILL_IDLE) == !policy->report_rate &&
                              !(policy->wants & BAL_WANTS_POWER) == !policy->power &&
                              /* what is remembered is somewhere: here, or in the host's own counts */
                              (policy->size || policy->flags & BAL_NEEDS_OWN || !policy->memory_bits);
        if (!complete)
            fail_msg("policy %s: a function is missing or too many", policy->name);
    }
}

/* ---- the contract ---- */

/* The sum that a cost such as "d + b probes" or "d1 or d2 probes" amounts to: the least and the most of its
 * alternatives, where what is not whole is rounded at each job. Costs that speak of no probes promise none.
 * With stop=1 the first answer may be enough. */
static void promised_probes(const struct bal_policy_spec *spec, uint32_t servers, double *least,
                            double *most) {
    char text[200];
    assert_true(strlen(spec->policy->cost) < sizeof text);
    strcpy(text, spec->policy->cost);
    char *probes = strstr(text, " probes");
    *least = *most = 0;
    if (!probes)
        return;
    const bool seldom = strcmp(probes, " probes a period") == 0; /* most jobs need none */
    *probes = 0;
    *least = INFINITY;
    double sum = 0;
    for (char *word = strtok(text, " +,"); word; word = strtok(NULL, " +,")) {
        if (strcmp(word, "or") == 0) {
            *least = fmin(*least, floor(sum));
            *most = fmax(*most, ceil(sum));
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
    *least = fmin(*least, floor(sum));
    *most = fmax(*most, ceil(sum));
    for (unsigned k = 0; k < spec->policy->param_count; k++)
        if (strcmp(spec->policy->params[k].name, "stop") == 0 && spec->value[k] == 1)
            *least = 1;
    if (seldom)
        *least = 0;
}

/* A random life of each policy on small fleets: decisions name servers that exist, and what is asked is what
 * the cost says. The first decisions may ask less, when there is nothing remembered yet. */
static void each_decides_and_pays_as_promised(void **state) {
    (void)state;
    unsigned tried = 0;
    for (size_t i = 0; i < bal_policy_count * VARIANTS; i++)
        for (int f = 0; f < FLEETS; f++) {
            struct bal_policy_spec spec;
            if (!variant_of(bal_policy_table[i / VARIANTS], (unsigned)(i % VARIANTS), fleets[f], &spec))
                continue;
            tried++;
            struct host host;
            host_init(&host, &spec, fleets[f], 81);
            host_report_all(&host);
            double least, most;
            promised_probes(&spec, fleets[f], &least, &most);
            least = fmin(least, fleets[f]); /* who asks different ones asks no more than there are */
            struct bal_rng rng;
            bal_rng_init(&rng, 82, i, BAL_STREAM_TEST);
            for (int step = 0; step < 2000; step++) {
                if (bal_rng_below(&rng, 2)) {
                    host_leave(&host, bal_rng_below(&rng, fleets[f]));
                    continue;
                }
                const uint64_t before = host.fleet.probes;
                host.rank = bal_rng_below(&rng, 2);
                const struct bal_decision decision = host_route(&host, 1, false);
                const double probes = (double)(host.fleet.probes - before);
                assert_decision(&host, decision);
                assert_int_equal(decision.parts, 0);
                if (probes > most || (probes < least && step > 200))
                    fail_msg("policy %s on %u servers: %g probes, but its cost is '%s'", spec.policy->name,
                             fleets[f], probes, spec.policy->cost);
                host_join(&host, decision, &rng);
            }
            host_fini(&host);
        }
    assert_true(tried > 4 * bal_policy_count); /* other parameters than the defaults, too */
}

/* The state is one flat block: a copy of its bytes goes on just like the original, and nothing depends on the
 * bytes that the block held before init. */
static void each_state_is_flat(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count * VARIANTS; i++) {
        enum { N = 10 };
        struct bal_policy_spec spec;
        if (!variant_of(bal_policy_table[i / VARIANTS], (unsigned)(i % VARIANTS), N, &spec))
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
            host_leave(&host, server);
            host_leave(&twin, server);
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
 * some 60 variants of policies. */
static void symmetric_ones_treat_servers_alike(void **state) {
    (void)state;
    enum { N = 7, DRAWS = 8000, JOBS = N + 4 };
    static const int looked_at[] = {0, 1, N, N + 3};
    for (size_t i = 0; i < bal_policy_count * VARIANTS; i++) {
        const struct bal_policy *policy = bal_policy_table[i / VARIANTS];
        struct bal_policy_spec spec;
        if (!variant_of(policy, (unsigned)(i % VARIANTS), N, &spec) ||
            !(bal_policy_flags(&spec) & BAL_SYMMETRIC))
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

/* The member of its pool that one draw tells is where the next job goes, and the server leaves the pool; one
 * that becomes idle joins it. */
static void pools_tell_where_jobs_go(void **state) {
    (void)state;
    enum { N = 20, STEPS = 2000 };
    static const char *const policies[] = {"jiq", "jiq:else=least-conn", "pi", "tabs"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bal_policy_spec spec;
        struct host host;
        host_parse(policies[i], &spec);
        host_init(&host, &spec, N, 41);
        host_report_all(&host);
        const struct bal_set *pool = spec.policy->pool(host.state);
        unsigned told = 0;
        for (int step = 0; step < STEPS; step++) {
            if (bal_rng_below(&host.rng, 3)) {
                const uint32_t server = bal_rng_below(&host.rng, N);
                const bool becomes_idle = host.length[server] == 1;
                host_leave(&host, server);
                assert_true(!becomes_idle || bal_set_contains(pool, server));
                continue;
            }
            struct bal_rng copy = host.rng, draws = host.rng;
            const uint32_t count = pool->count;
            const uint32_t server = count ? bal_set_uniform(pool, &copy) : BAL_NONE;
            const struct bal_decision decision = host_route(&host, 1, false);
            host_join(&host, decision, &draws);
            if (!count)
                continue;
            assert_int_equal(decision.server, server);
            assert_memory_equal(&copy, &host.rng, sizeof copy);
            assert_false(bal_set_contains(pool, server));
            told++;
        }
        assert_true(told > STEPS / 4);
        host_fini(&host);
    }
    struct bal_policy_spec spec;
    struct host host;
    host_parse("jiq:idle=fastest", &spec);
    host_init(&host, &spec, N, 42);
    assert_null(spec.policy->pool(host.state));
    host_fini(&host);
}

static void each_splits_without_loss(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 7, 100, 12345};
    for (size_t i = 0; i < bal_policy_count * VARIANTS; i++)
        for (int f = 0; f < FLEETS; f++) {
            struct bal_policy_spec spec;
            if (!variant_of(bal_policy_table[i / VARIANTS], (unsigned)(i % VARIANTS), fleets[f], &spec))
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_documented),
        cmocka_unit_test(schemes_without_a_dispatcher_are_no_policies),
        cmocka_unit_test(each_has_the_functions_it_needs),
        cmocka_unit_test(each_decides_and_pays_as_promised),
        cmocka_unit_test(each_state_is_flat),
        cmocka_unit_test(symmetric_ones_treat_servers_alike),
        cmocka_unit_test(pools_tell_where_jobs_go),
        cmocka_unit_test(each_splits_without_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
