/* SPDX-License-Identifier: BSD-2-Clause */
/* How batches are divided: water-filling, even division among idle servers, scattering. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/policy_common.h"

#include "../goodness.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

/* A fleet with queues of the given lengths, and what each server got. */
struct bench {
    uint32_t servers;
    uint32_t length[MOST];
    uint32_t got[MOST];
    struct bal_share shares[MOST];
    struct bal_fleet fleet;
};

static void set_up(struct bench *b, uint32_t servers) {
    b->servers = servers;
    b->fleet = (struct bal_fleet){.servers = servers, .length = b->length, .shares = b->shares};
}

/* Adds up the shares; every part is of some use and no server has two. */
static void collect(struct bench *b, struct bal_decision decision, uint32_t count) {
    memset(b->got, 0, sizeof b->got);
    uint64_t sum = 0;
    assert_true(decision.parts >= 1 && decision.parts <= b->servers);
    for (uint32_t i = 0; i < decision.parts; i++) {
        const struct bal_share share = b->shares[i];
        assert_true(share.server < b->servers && share.count > 0 && b->got[share.server] == 0);
        b->got[share.server] = share.count;
        sum += share.count;
    }
    assert_true(sum == count);
    assert_true(decision.server == b->shares[0].server);
    assert_true(decision.wake == BAL_NONE && decision.move_to == BAL_NONE);
}

static void fill_all(struct bench *b, uint32_t count, struct bal_rng *rng) {
    for (uint32_t i = 0; i < b->servers; i++)
        b->shares[i] = (struct bal_share){i, b->length[i]};
    collect(b, bli_water_fill(&b->fleet, b->servers, count, rng), count);
}

static struct bal_rng stream(uint64_t seed) {
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    return rng;
}

/* Lengths (1,2,4) and 3 jobs give (3,3,4). */
static void example(void **state) {
    (void)state;
    struct bench b = {.length = {1, 2, 4}};
    set_up(&b, 3);
    struct bal_rng rng = stream(1);
    fill_all(&b, 3, &rng);
    assert_int_equal(b.got[0], 2);
    assert_int_equal(b.got[1], 1);
    assert_int_equal(b.got[2], 0);
}

static uint32_t random_length(struct bal_rng *rng, uint32_t kind) {
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return bal_rng_below(rng, 4);
    case 2:
        return bal_rng_below(rng, 1000);
    case 3: /* a few high ones among low ones */
        return bal_rng_below(rng, 5) == 0 ? 4000000000u + bal_rng_below(rng, 10) : bal_rng_below(rng, 10);
    default: /* all close to the top of what a length can be */
        return 4294967000u + bal_rng_below(rng, 20);
    }
}

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Job by job to the lowest queue: which of several lowest it is does not matter to the sorted result. */
static void fill_slowly(uint32_t *length, uint32_t servers, uint32_t count) {
    for (uint32_t job = 0; job < count; job++) {
        uint32_t lowest = 0;
        for (uint32_t i = 1; i < servers; i++)
            if (length[i] < length[lowest])
                lowest = i;
        length[lowest]++;
    }
}

/* On 20000 random vectors: what goes in comes out, only the lowest are filled, none of them above the water
 * level by more than one, and the lengths afterwards are those of the slow way. */
static void properties(void **state) {
    (void)state;
    struct bal_rng rng = stream(2);
    for (int trial = 0; trial < 20000; trial++) {
        struct bench b;
        set_up(&b, 1 + bal_rng_below(&rng, MOST));
        const uint32_t kind = bal_rng_below(&rng, 5);
        for (uint32_t i = 0; i < b.servers; i++)
            b.length[i] = random_length(&rng, kind);
        const uint32_t count = 1 + bal_rng_below(&rng, trial % 2 ? 10 : 200);
        fill_all(&b, count, &rng);
        uint32_t after[MOST], slow[MOST], lowest = UINT32_MAX;
        for (uint32_t i = 0; i < b.servers; i++) {
            after[i] = b.length[i] + b.got[i];
            slow[i] = b.length[i];
            lowest = after[i] < lowest ? after[i] : lowest;
        }
        for (uint32_t i = 0; i < b.servers; i++)
            assert_true(b.got[i] == 0 || after[i] <= lowest + 1);
        fill_slowly(slow, b.servers, count);
        qsort(after, b.servers, sizeof *after, ascending);
        qsort(slow, b.servers, sizeof *slow, ascending);
        assert_memory_equal(after, slow, b.servers * sizeof *after);
    }
}

/* A large batch on empty servers: the sum of lengths and jobs exceeds 32 bits nowhere on the way. */
static void large_batches(void **state) {
    (void)state;
    struct bench b = {.length = {4000000000u, 4000000000u, 0}};
    set_up(&b, 3);
    struct bal_rng rng = stream(3);
    fill_all(&b, 4000000000u, &rng);
    assert_true(b.got[2] == 4000000000u);
    fill_all(&b, 4000000006u, &rng);
    assert_true(b.got[0] == 2 && b.got[1] == 2 && b.got[2] == 4000000002u);
}

/* Two jobs for the four servers of the lowest level, (0,0,3,0,0): each of the six pairs is as likely as the
 * others. */
static void remainder_is_uniform(void **state) {
    (void)state;
    struct bench b = {.length = {0, 0, 3, 0, 0}};
    set_up(&b, 5);
    struct bal_rng rng = stream(4);
    uint64_t count[6] = {0};
    static const int pair_of[5][5] = {[0][1] = 1, [0][3] = 2, [0][4] = 3, [1][3] = 4, [1][4] = 5, [3][4] = 6};
    for (int trial = 0; trial < 60000; trial++) {
        fill_all(&b, 2, &rng);
        uint32_t first = 5, second = 5;
        for (uint32_t i = 0; i < 5; i++)
            if (b.got[i])
                *(first == 5 ? &first : &second) = i;
        assert_true(second < 5 && pair_of[first][second] > 0);
        count[pair_of[first][second] - 1]++;
    }
    const double p[6] = {1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0};
    assert_fits("remainder", p, count, 6); /* false alarm: 2e-6 */
}

/* Idle servers get equal parts, but for one job; those that got something are no longer idle. */
static void division(void **state) {
    (void)state;
    struct bal_rng rng = stream(5);
    struct bal_set *idle = malloc(bal_set_size(MOST));
    uint64_t extra[7] = {0}, extras = 0;
    for (int trial = 0; trial < 20000; trial++) {
        struct bench b = {.servers = 0};
        set_up(&b, MOST);
        bal_set_init(idle, MOST);
        const uint32_t members = trial % 2 ? 7 : 1 + bal_rng_below(&rng, MOST);
        for (uint32_t i = 0; i < members; i++)
            bal_set_insert(idle, i);
        const uint32_t count = 1 + bal_rng_below(&rng, 100);
        collect(&b, bli_divide_among(BLI_IDLE_ANY, idle, &b.fleet, count, &rng), count);
        for (uint32_t i = 0; i < MOST; i++) {
            const uint32_t each = i < members ? count / members : 0;
            assert_true(b.got[i] == each || (i < members && b.got[i] == each + 1));
            assert_true(bal_set_contains(idle, i) == (i < members && b.got[i] == 0));
            if (trial % 2 && i < 7 && b.got[i] > each) {
                extra[i]++;
                extras++;
            }
        }
    }
    /* The remainder goes to a uniform subset, so its members are negatively correlated and the statistic is
     * smaller than chi-square: false alarm below 2e-6. */
    double p[7];
    for (int i = 0; i < 7; i++)
        p[i] = 1 / 7.0;
    assert_true(extras > 10000);
    assert_fits("division", p, extra, 7);
    free(idle);
}

/* Every job goes to a uniform server, on its own: the number that one of 8 servers gets of 20 is binomial. */
static void scattering(void **state) {
    (void)state;
    enum { JOBS = 20, SERVERS = 8 };
    struct bench b = {.servers = 0};
    set_up(&b, SERVERS);
    struct bal_rng rng = stream(6);
    uint64_t count[JOBS + 1] = {0};
    for (int trial = 0; trial < 50000; trial++) {
        collect(&b, bli_scatter(&b.fleet, JOBS, &rng), JOBS);
        count[b.got[trial % SERVERS]]++;
    }
    double p[JOBS + 1] = {pow(1 - 1.0 / SERVERS, JOBS)};
    for (int k = 1; k <= JOBS; k++)
        p[k] = p[k - 1] * (JOBS - k + 1) / k / (SERVERS - 1);
    assert_fits("scattering", p, count, JOBS + 1); /* false alarm: 2e-6 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example),       cmocka_unit_test(properties),
        cmocka_unit_test(large_batches), cmocka_unit_test(remainder_is_uniform),
        cmocka_unit_test(division),      cmocka_unit_test(scattering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
