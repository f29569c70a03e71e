/* SPDX-License-Identifier: BSD-2-Clause */
/* The indexable set against an array of flags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/set.h"

#include "../goodness.h"

static struct bal_set *new_set(uint32_t capacity) {
    struct bal_set *set = malloc(bal_set_size(capacity)); /* exactly: the sanitizer sees a step beyond */
    assert_non_null(set);
    bal_set_init(set, capacity);
    return set;
}

/* The members are exactly those of the flags, each once. */
static void assert_same(const struct bal_set *set, const bool *member, bool *seen) {
    uint32_t count = 0;
    for (uint32_t x = 0; x < set->capacity; x++) {
        assert_int_equal(bal_set_contains(set, x), member[x]);
        count += member[x];
        seen[x] = false;
    }
    assert_int_equal(set->count, count);
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t x = set->slot[i];
        assert_true(x < set->capacity && member[x] && !seen[x]);
        seen[x] = true;
    }
}

/* Runs of mostly insertions and of mostly removals, so that it is full and empty from time to time. */
static void follows_flags(void **state) {
    (void)state;
    const uint32_t capacities[] = {1, 2, 3, 10, 257};
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        const uint32_t capacity = capacities[c];
        struct bal_set *set = new_set(capacity);
        bool *member = calloc(capacity, sizeof *member);
        bool *seen = calloc(capacity, sizeof *seen);
        assert_true(member && seen);
        struct bal_rng rng;
        bal_rng_init(&rng, 11, capacity, BAL_STREAM_TEST);
        uint32_t least = UINT32_MAX, most = 0;
        assert_same(set, member, seen);
        for (uint32_t step = 0; step < 20 * capacity + 2000; step++) {
            const bool filling = step / (3 * capacity) % 2 == 0;
            const uint32_t x = bal_rng_below(&rng, capacity);
            const bool insert = (bal_rng_below(&rng, 10) > 0) == filling;
            assert_int_equal(insert ? bal_set_insert(set, x) : bal_set_remove(set, x), member[x] != insert);
            member[x] = insert;
            assert_int_equal(bal_set_contains(set, x), insert);
            if (step % 16 == 0 || capacity < 16)
                assert_same(set, member, seen);
            least = set->count < least && step > 3 * capacity ? set->count : least;
            most = set->count > most ? set->count : most;
        }
        assert_same(set, member, seen);
        assert_true(least <= capacity / 4 && most >= capacity - capacity / 4); /* both ends were visited */
        free(set);
        free(member);
        free(seen);
    }
}

static void can_be_emptied_and_filled(void **state) {
    (void)state;
    enum { N = 100 };
    struct bal_set *set = new_set(N);
    for (int round = 0; round < 3; round++) {
        for (uint32_t x = 0; x < N; x++)
            assert_true(bal_set_insert(set, x));
        assert_int_equal(set->count, N);
        for (uint32_t x = 0; x < N; x++)
            assert_false(bal_set_insert(set, x));
        for (uint32_t x = N; x-- > 0;)
            assert_true(bal_set_remove(set, round == 1 ? N - 1 - x : x));
        assert_int_equal(set->count, 0);
        for (uint32_t x = 0; x < N; x++)
            assert_false(bal_set_remove(set, x));
    }
    free(set);
}

/* Draws hit each member equally often and nothing else, also after removals have stirred the slots. False
 * alarm: 2e-6. */
static void draws_uniformly(void **state) {
    (void)state;
    enum { N = 20, DRAWS = 100000 };
    struct bal_set *set = new_set(N);
    for (uint32_t x = 0; x < N; x++)
        bal_set_insert(set, x);
    for (uint32_t x = 0; x < N; x += 3)
        bal_set_remove(set, x);
    bal_set_insert(set, 6);
    double p[N] = {0};
    for (uint32_t i = 0; i < set->count; i++)
        p[set->slot[i]] = 1.0 / set->count;
    assert_true(p[0] == 0 && p[6] > 0);
    uint64_t count[N] = {0};
    struct bal_rng rng;
    bal_rng_init(&rng, 12, 0, BAL_STREAM_TEST);
    for (int i = 0; i < DRAWS; i++)
        count[bal_set_uniform(set, &rng)]++;
    assert_fits("uniform member", p, count, N);
    free(set);
}

/* No pointers inside: a copy of the bytes is a set of its own. */
static void survives_a_copy(void **state) {
    (void)state;
    enum { N = 8 };
    struct bal_set *set = new_set(N);
    bal_set_insert(set, 3);
    bal_set_insert(set, 5);
    struct bal_set *copy = malloc(bal_set_size(N));
    assert_non_null(copy);
    memcpy(copy, set, bal_set_size(N));
    bal_set_remove(set, 3);
    free(set);
    assert_true(bal_set_contains(copy, 3) && bal_set_contains(copy, 5));
    assert_true(bal_set_remove(copy, 5));
    assert_int_equal(copy->count, 1);
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_flags),
        cmocka_unit_test(can_be_emptied_and_filled),
        cmocka_unit_test(draws_uniformly),
        cmocka_unit_test(survives_a_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
