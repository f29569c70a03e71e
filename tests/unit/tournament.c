/* SPDX-License-Identifier: BSD-2-Clause */
/* The tournament tree against a scan of the keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/tournament.h"

#include "../goodness.h"

/* A block of exactly its size: the sanitizer sees a step beyond. */
static struct bli_tournament *tree_new(uint32_t n, double key) {
    struct bli_tournament *tree = malloc(bli_tournament_size(n));
    assert_non_null(tree);
    bli_tournament_init(tree, n, key);
    return tree;
}

static double least_of(const double *key, uint32_t n) {
    double least = key[0];
    for (uint32_t i = 1; i < n; i++)
        least = fmin(least, key[i]);
    return least;
}

/* Keys from a small range, so that there are ties of every number; each draw must be one of the least. */
static void draws_the_least(void **state) {
    (void)state;
    const uint32_t sizes[] = {1, 2, 3, 5, 8, 100, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint32_t n = sizes[s];
        struct bli_tournament *tree = tree_new(n, -1.0);
        double *key = malloc(n * sizeof *key);
        assert_non_null(key);
        for (uint32_t i = 0; i < n; i++)
            key[i] = -1.0;
        struct bal_rng rng;
        bal_rng_init(&rng, 41, n, BAL_STREAM_TEST);
        for (int step = 0; step < 20000; step++) {
            const uint32_t drawn = bli_tournament_draw(tree, &rng);
            assert_true(drawn < n);
            if (n < 200 || step % 16 == 0)
                assert_true(key[drawn] == least_of(key, n));
            /* mostly the least itself changes, as in use; the key has one of eight values, or one of its own
             */
            const uint32_t i = bal_rng_below(&rng, 3) ? drawn : bal_rng_below(&rng, n);
            key[i] = bal_rng_below(&rng, 4) ? bal_rng_below(&rng, 8) : 7 + bal_rng_uniform(&rng);
            bli_tournament_set(tree, i, key[i]);
        }
        free(tree);
        free(key);
    }
}

/* Each of the tied leaves equally often, wherever they stand in the tree. False alarm: 2e-6 for each of 40
 * patterns. */
static void draws_ties_uniformly(void **state) {
    (void)state;
    enum { N = 13, DRAWS = 20000 };
    struct bal_rng rng;
    bal_rng_init(&rng, 42, 0, BAL_STREAM_TEST);
    for (int pattern = 0; pattern < 40; pattern++) {
        struct bli_tournament *tree = tree_new(N, 3.5);
        double p[N] = {0};
        uint32_t ties = 0;
        while (ties == 0)
            for (uint32_t i = 0; i < N; i++) {
                const bool least = bal_rng_below(&rng, 1 + (uint32_t)pattern % 4) == 0;
                bli_tournament_set(tree, i, least ? 1.25 : 1.25 + bal_rng_open(&rng));
                ties += least;
                p[i] = least;
            }
        double members = 0;
        for (uint32_t i = 0; i < N; i++)
            members += p[i];
        for (uint32_t i = 0; i < N; i++)
            p[i] /= members;
        uint64_t count[N] = {0};
        for (int draw = 0; draw < DRAWS; draw++)
            count[bli_tournament_draw(tree, &rng)]++;
        assert_fits("ties", p, count, N);
        free(tree);
    }
}

/* A draw without a choice takes no random number: it must not, lest a stream shift for nothing. */
static void one_leaf_needs_no_draw(void **state) {
    (void)state;
    struct bli_tournament *tree = tree_new(6, 2.0);
    bli_tournament_set(tree, 4, 1.0);
    struct bal_rng rng, before;
    bal_rng_init(&rng, 43, 0, BAL_STREAM_TEST);
    before = rng;
    assert_int_equal(bli_tournament_draw(tree, &rng), 4);
    assert_memory_equal(&rng, &before, sizeof rng);
    free(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_the_least),
        cmocka_unit_test(draws_ties_uniformly),
        cmocka_unit_test(one_leaf_needs_no_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
