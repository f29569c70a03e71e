/* SPDX-License-Identifier: BSD-2-Clause */
/* The indexed heap against a scan of all times. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "base/heap.h"

/* time[id] is NaN when the id has none. */
static void assert_heap(const struct bli_heap *heap, const double *time, uint32_t ids) {
    uint32_t count = 0;
    for (uint32_t id = 0; id < ids; id++) {
        if (isnan(time[id])) {
            assert_int_equal(heap->place[id], BLI_HEAP_ABSENT);
            continue;
        }
        count++;
        assert_true(heap->place[id] < heap->count);
        assert_int_equal(heap->slot[heap->place[id]].id, id);
        assert_true(heap->slot[heap->place[id]].time == time[id]);
    }
    assert_int_equal(heap->count, count);
    for (uint32_t slot = 1; slot < heap->count; slot++)
        assert_true(heap->slot[(slot - 1) / 4].time <= heap->slot[slot].time);
}

static double earliest(const double *time, uint32_t ids) {
    double least = INFINITY;
    for (uint32_t id = 0; id < ids; id++)
        least = time[id] < least ? time[id] : least; /* a NaN is not less */
    return least;
}

static void follows_a_scan(void **state) {
    (void)state;
    const uint32_t sizes[] = {1, 2, 4, 5, 6, 21, 22, 300};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint32_t ids = sizes[s];
        struct bli_heap heap;
        assert_int_equal(bli_heap_init(&heap, ids), BAL_OK);
        double *time = malloc(ids * sizeof *time);
        assert_non_null(time);
        for (uint32_t id = 0; id < ids; id++)
            time[id] = NAN;
        struct bal_rng rng;
        bal_rng_init(&rng, 51, ids, BAL_STREAM_TEST);
        uint32_t most = 0;
        for (int step = 0; step < 20000; step++) {
            const uint32_t id = bal_rng_below(&rng, ids);
            /* whole numbers now and then, so that times are shared */
            const double draw =
                bal_rng_below(&rng, 4) ? bal_rng_uniform(&rng) * 100 : bal_rng_below(&rng, 100);
            if (isnan(time[id])) {
                bli_heap_insert(&heap, id, time[id] = draw);
            } else if (bal_rng_below(&rng, 3) == 0) {
                bli_heap_remove(&heap, id);
                time[id] = NAN;
            } else if (bal_rng_below(&rng, 2)) {
                const uint32_t first = heap.slot[0].id;
                bli_heap_change(&heap, first, time[first] += draw);
            } else {
                bli_heap_change(&heap, id, time[id] = draw);
            }
            if (heap.count > 0)
                assert_true(heap.slot[0].time == earliest(time, ids));
            if (step % 32 == 0)
                assert_heap(&heap, time, ids);
            most = heap.count > most ? heap.count : most;
        }
        assert_heap(&heap, time, ids);
        assert_true(most >= ids - ids / 4);
        bli_heap_fini(&heap);
        bli_heap_fini(&heap); /* harmless */
        free(time);
    }
}

/* Taking the first away again and again sorts. */
static void sorts(void **state) {
    (void)state;
    enum { N = 1000 };
    struct bli_heap heap;
    assert_int_equal(bli_heap_init(&heap, N), BAL_OK);
    struct bal_rng rng;
    bal_rng_init(&rng, 52, 0, BAL_STREAM_TEST);
    for (uint32_t id = 0; id < N; id++)
        bli_heap_insert(&heap, id, bal_rng_below(&rng, N / 2));
    double last = -1;
    bool seen[N] = {false};
    while (heap.count > 0) {
        const struct bli_pending first = heap.slot[0];
        assert_true(first.time >= last && !seen[first.id]);
        last = first.time;
        seen[first.id] = true;
        bli_heap_remove(&heap, first.id);
    }
    for (uint32_t id = 0; id < N; id++)
        assert_true(seen[id]);
    bli_heap_fini(&heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_scan),
        cmocka_unit_test(sorts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
