/* SPDX-License-Identifier: BSD-2-Clause */
/* An agenda gives back what was put there by time, and at equal times in the order of putting. */
#include "base/event_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/random.h"

enum { MOST = 3000 };

struct entry {
    double time;
    uint64_t order;
};

/* The first of those that are there, by looking at all of them. */
static uint32_t first_of(const struct entry *entry, const bool *there) {
    uint32_t best = MOST;
    for (uint32_t id = 0; id < MOST; id++)
        if (there[id] && (best == MOST || entry[id].time < entry[best].time ||
                          (entry[id].time == entry[best].time && entry[id].order < entry[best].order)))
            best = id;
    return best;
}

/* Times of a coarse grid, so that many are equal; the number of entries rises and falls. */
static void storm(struct bli_event_list *list, uint32_t steps, uint32_t most, uint64_t replication) {
    static struct entry entry[MOST];
    static bool there[MOST];
    uint64_t order = 0;
    double now = 0;
    struct bal_rng rng;
    bal_rng_init(&rng, 21, replication, BAL_STREAM_TEST);
    for (uint32_t step = 0; step < steps; step++) {
        const bool fills = step / (2 * most) % 2 == 0;
        if (bal_rng_uniform(&rng) < (fills ? 0.7 : 0.3)) {
            const uint32_t id = bal_rng_below(&rng, most);
            if (there[id])
                continue;
            entry[id] = (struct entry){now + bal_rng_below(&rng, 20) * 0.25, order++};
            there[id] = true;
            assert_true(bli_event_list_add(list, entry[id].time, id));
        } else if (list->count) {
            const uint32_t expected = first_of(entry, there);
            now = bli_event_list_next_time(list);
            assert_true(now == entry[expected].time);
            assert_int_equal(bli_event_list_first(list), expected);
            assert_int_equal(bli_event_list_pop(list), expected);
            there[expected] = false;
        } else {
            assert_true(bli_event_list_next_time(list) == INFINITY);
        }
    }
    while (list->count)
        there[bli_event_list_pop(list)] = false;
}

static void by_time_and_then_by_order(void **state) {
    (void)state;
    struct bli_event_list list = {0};
    storm(&list, 2000, 5, 0);
    storm(&list, 20000, 200, 1);
    storm(&list, 20000, MOST, 2);
    bli_event_list_fini(&list);
}

/* Orders have 32 bits and begin at 0 again when they are used up. */
static void orders_that_are_used_up_change_nothing(void **state) {
    (void)state;
    struct bli_event_list list = {0};
    list.order = UINT32_MAX - 2000;
    storm(&list, 20000, 300, 3);
    assert_true(list.order < UINT32_MAX - 2000);
    bli_event_list_fini(&list);
}

static void huge_times_and_none(void **state) {
    (void)state;
    struct bli_event_list list = {0};
    const double times[] = {1e300, 0, INFINITY, 5e-324, 1e300, 0};
    const uint32_t expected[] = {1, 5, 3, 0, 4, 2};
    for (uint32_t id = 0; id < 6; id++)
        assert_true(bli_event_list_add(&list, times[id], id));
    for (int i = 0; i < 6; i++)
        assert_int_equal(bli_event_list_pop(&list), expected[i]);
    assert_int_equal(list.count, 0);
    bli_event_list_fini(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_time_and_then_by_order),
        cmocka_unit_test(orders_that_are_used_up_change_nothing),
        cmocka_unit_test(huge_times_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
