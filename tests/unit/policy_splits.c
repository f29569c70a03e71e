/* SPDX-License-Identifier: BSD-2-Clause */
/* How the policies divide a batch among servers. */
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

enum { N = 6, DRAWS = 40000 };

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_fills_by_hand),
        cmocka_unit_test(water_fills_like_one_by_one),
        cmocka_unit_test(remainders_go_to_a_uniform_subset),
        cmocka_unit_test(batches_are_divided_among_the_idle),
        cmocka_unit_test(batch_sampling_probes_per_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
