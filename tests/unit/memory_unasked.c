/* SPDX-License-Identifier: BSD-2-Clause */
/* pod-memory with ask=new: the dispatcher asks d servers for a job and believes what it remembers of the b
 * best. What it does is followed here from the definition: the length that it remembers of a server is the
 * last one that it heard, and one more for each job that it has sent there since. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/policy.h"

#include <stdlib.h>
#include <string.h>

enum { SERVERS = 9, JOBS = 20000 };

struct host {
    uint32_t length[SERVERS];
};

static void check(const char *text, uint32_t d, uint32_t b) {
    struct bal_policy_spec spec;
    struct bal_error err;
    struct host host = {.length = {0}};
    if (bal_policy_parse(text, &spec, &err))
        fail_msg("%s", err.text);
    const struct bal_policy_context setting = {SERVERS, 0.9};
    void *state = malloc(bal_policy_size(&spec, &setting));
    assert_non_null(state);
    bal_policy_init(&spec, &setting, state);
    struct bal_rng rng, own;
    bal_rng_init(&rng, 11, 0, 0);
    bal_rng_init(&own, 12, 0, 0);
    struct bal_fleet fleet = {.servers = SERVERS, .length = host.length};
    uint32_t known = 0, name[4], believed[4]; /* what is remembered, in any order */
    for (int job = 0; job < JOBS; job++) {
        for (uint32_t s = 0; s < SERVERS; s++) /* queues of which the dispatcher hears nothing */
            host.length[s] = bal_rng_below(&own, 6);
        uint32_t ask[8];
        for (uint32_t i = 0; i < d; i++)
            ask[i] = bal_rng_below(&own, SERVERS);
        fleet.sample = ask; /* asked already: route sees these servers and no others */
        fleet.samples = d;
        const uint64_t probes = fleet.probes;
        const struct bal_job arrives = {.count = 1};
        const uint32_t to = bal_policy_route(&spec, state, &fleet, &arrives, &rng).server;
        assert_int_equal(fleet.probes, probes); /* nobody else is asked */
        uint32_t candidates = 0, who[12], length[12];
        for (uint32_t i = 0; i < known + d; i++) {
            const uint32_t server = i < known ? name[i] : ask[i - known];
            const uint32_t says = i < known ? believed[i] : host.length[server];
            uint32_t at = 0;
            while (at < candidates && who[at] != server)
                at++;
            who[at] = server;
            length[at] = says;
            candidates += at == candidates;
        }
        uint32_t least = UINT32_MAX, chosen = candidates;
        for (uint32_t i = 0; i < candidates; i++) {
            least = length[i] < least ? length[i] : least;
            chosen = who[i] == to ? i : chosen;
        }
        assert_true(chosen < candidates);
        assert_int_equal(length[chosen], least);
        length[chosen]++;
        /* Which of equals it remembers is drawn; the next decision must fit one of the ways. To follow it,
         * the queues are made such that there is one way only: those that tie for the last place are asked
         * again. */
        known = candidates < b ? candidates : b;
        for (uint32_t k = 0; k < known; k++) {
            uint32_t best = 0;
            for (uint32_t i = 1; i < candidates; i++)
                best = length[i] < length[best] ? i : best;
            name[k] = who[best];
            believed[k] = length[best];
            who[best] = who[--candidates];
            length[best] = length[candidates];
        }
        bool tied = false;
        for (uint32_t i = 0; i < candidates; i++)
            tied = tied || length[i] == believed[known - 1];
        if (tied) { /* begin anew: nothing is remembered */
            bal_policy_init(&spec, &setting, state);
            known = 0;
        }
    }
    free(state);
}

static void believes_what_it_remembers(void **state) {
    (void)state;
    check("pod-memory:d=1,b=1,ask=new", 1, 1);
    check("pod-memory:d=2,b=1,ask=new", 2, 1);
    check("pod-memory:d=2,b=3,ask=new", 2, 3);
}

/* Without servers that were asked before it asks d itself; with ask=all the remembered ones, too. */
static void probes_are_counted(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t probes;
    } cases[] = {
        {"pod-memory:d=1,b=1,ask=new", 1}, {"pod-memory:d=3,b=2,ask=new", 3}, {"pod-memory:d=1,b=1", 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bal_policy_spec spec;
        struct bal_error err;
        assert_int_equal(bal_policy_parse(cases[c].text, &spec, &err), BAL_OK);
        const struct bal_policy_context setting = {SERVERS, 0.9};
        void *block = malloc(bal_policy_size(&spec, &setting));
        assert_non_null(block);
        bal_policy_init(&spec, &setting, block);
        uint32_t length[SERVERS] = {0};
        struct bal_fleet fleet = {.servers = SERVERS, .length = length};
        struct bal_rng rng;
        bal_rng_init(&rng, 1, 0, 0);
        const struct bal_job job = {.count = 1};
        for (int i = 0; i < 100; i++) {
            const uint64_t before = fleet.probes;
            const uint32_t to = bal_policy_route(&spec, block, &fleet, &job, &rng).server;
            assert_true(to < SERVERS);
            if (i > 0)
                assert_int_equal(fleet.probes - before, cases[c].probes);
        }
        free(block);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(believes_what_it_remembers),
        cmocka_unit_test(probes_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
