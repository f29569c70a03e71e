/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers sorted by length against sorting them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "base/length_index.h"

static uint32_t least_of(const uint32_t *length, uint32_t count) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        least = length[i] < least ? length[i] : least;
    return least;
}

/* order is a permutation that ascends in length, place is its inverse, end[l] counts the servers with at most
 * l jobs. */
static void assert_sorted(const struct bli_length_index *index, const uint32_t *length) {
    for (uint32_t at = 0; at < index->count; at++) {
        assert_true(index->order[at] < index->count);
        assert_int_equal(index->place[index->order[at]], at);
        assert_true(at == 0 || length[index->order[at - 1]] <= length[index->order[at]]);
    }
    for (uint32_t level = 0; level < index->levels; level++) {
        uint32_t at_most = 0;
        for (uint32_t server = 0; server < index->count; server++)
            at_most += length[server] <= level;
        assert_int_equal(index->end[level], at_most);
    }
}

static void assert_shortest(const struct bli_length_index *index, const uint32_t *length) {
    const uint32_t least = least_of(length, index->count);
    const uint32_t ties = bli_length_index_ties(index, least);
    uint32_t expected = 0;
    for (uint32_t server = 0; server < index->count; server++)
        expected += length[server] == least;
    assert_int_equal(ties, expected);
    for (uint32_t at = 0; at < ties; at++)
        assert_int_equal(length[index->order[at]], least);
}

/* Random steps up and down; in the last third nearly all go up on few servers, so that levels must be added.
 */
static void follows_sorting(void **state) {
    (void)state;
    const uint32_t counts[] = {1, 2, 3, 10, 100};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const uint32_t count = counts[c];
        struct bli_length_index index;
        assert_int_equal(bli_length_index_init(&index, count), BAL_OK);
        uint32_t *length = calloc(count, sizeof *length);
        assert_non_null(length);
        struct bal_rng rng;
        bal_rng_init(&rng, 31, count, BAL_STREAM_TEST);
        const uint32_t levels = index.levels;
        enum { STEPS = 9000 };
        for (uint32_t step = 0; step < STEPS; step++) {
            const bool surge = step > 2 * STEPS / 3;
            const uint32_t server = bal_rng_below(&rng, surge && count > 2 ? 2 : count);
            const bool up = bal_rng_below(&rng, 100) < (surge ? 90 : 50);
            if (up) {
                assert_true(bli_length_index_increment(&index, server, length[server]));
                length[server]++;
            } else if (length[server] > 0) {
                bli_length_index_decrement(&index, server, length[server]);
                length[server]--;
            }
            assert_shortest(&index, length);
            if (step % 64 == 0)
                assert_sorted(&index, length);
        }
        assert_sorted(&index, length);
        assert_true(index.levels > levels);
        bli_length_index_fini(&index);
        free(length);
    }
}

/* Levels that are added late know all servers. */
static void reserves_levels(void **state) {
    (void)state;
    struct bli_length_index index;
    assert_int_equal(bli_length_index_init(&index, 5), BAL_OK);
    const uint32_t length[5] = {0};
    assert_true(bli_length_index_reserve(&index, 100000));
    assert_true(index.levels > 100000);
    assert_sorted(&index, length);
    bli_length_index_fini(&index);
    bli_length_index_fini(&index); /* harmless */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_sorting),
        cmocka_unit_test(reserves_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
