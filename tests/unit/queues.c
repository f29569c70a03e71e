/* SPDX-License-Identifier: BSD-2-Clause */
/* Ring queues against plain arrays that shift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "engine/queues.h"

enum { QUEUES = 7, ROOM = 3000 };

/* Item k of queue i is item[i][k]; its words are item * 1000 + w. */
struct model {
    uint64_t item[QUEUES][ROOM];
    uint32_t length[QUEUES];
    uint64_t next;
};

static void assert_item(const struct bli_queues *queues, uint32_t i, uint32_t k, uint64_t item) {
    const union bli_claim_word *word = bli_queues_at(queues, i, queues->words, k);
    if (queues->words == BLI_STAMP)
        assert_true(*(const uint32_t *)(const void *)word == (uint32_t)item);
    for (uint32_t w = 0; w < queues->words; w++)
        assert_true(word[w].bits == item * 1000 + w);
}

static void assert_queue(const struct bli_queues *queues, const struct model *model, uint32_t i) {
    assert_int_equal(queues->length[i], model->length[i]);
    for (uint32_t k = 0; k < model->length[i]; k++)
        assert_item(queues, i, k, model->item[i][k]);
}

static const struct bli_ring *ring_of(const struct bli_queues *queues, uint32_t i) {
    return bli_queues_ring(queues, i, queues->words);
}

/* No two blocks in use overlap and each holds its queue: memory can be neither shared nor lost track of. */
static void assert_blocks(const struct bli_queues *queues) {
    for (uint32_t i = 0; i < queues->count; i++) {
        const struct bli_ring *a = ring_of(queues, i);
        const size_t bytes = bli_item_bytes(queues->words);
        const char *end = a->block + a->size * bytes;
        const char *line = (const char *)a + bli_ring_line(queues->words);
        assert_true(a->block == a->inside ? end <= line && line < end + bytes : a->size >= BLI_RING_MIN);
        assert_true(queues->length[i] <= a->size);
        for (uint32_t j = 0; j < i; j++) {
            const struct bli_ring *b = ring_of(queues, j);
            assert_true(end <= b->block || b->block + b->size * bytes <= a->block);
        }
    }
}

static void push(struct bli_queues *queues, struct model *model, uint32_t i) {
    union bli_claim_word *word = bli_queues_push(queues, i, queues->words);
    assert_non_null(word);
    const uint64_t item = ++model->next;
    if (queues->words == BLI_STAMP)
        *(uint32_t *)(void *)word = (uint32_t)item;
    for (uint32_t w = 0; w < queues->words; w++)
        word[w].bits = item * 1000 + w;
    model->item[i][model->length[i]++] = item;
}

static void drop(struct bli_queues *queues, struct model *model, uint32_t i) {
    bli_queues_drop(queues, i, queues->words);
    model->length[i]--;
    memmove(model->item[i], model->item[i] + 1, model->length[i] * sizeof model->item[i][0]);
}

static void drop_back(struct bli_queues *queues, struct model *model, uint32_t i) {
    bli_queues_drop_back(queues, i, queues->words);
    model->length[i]--;
}

static void back_to_front(struct bli_queues *queues, struct model *model, uint32_t i) {
    const uint32_t last = model->length[i] - 1;
    const uint64_t item = model->item[i][last];
    bli_queues_back_to_front(queues, i, queues->words);
    memmove(model->item[i] + 1, model->item[i], last * sizeof *model->item[i]);
    model->item[i][0] = item;
}

/* Random operations on all queues; each swells and ebbs at a pace of its own, from empty to some hundreds. */
static void follow(uint32_t words, uint64_t seed) {
    struct bli_queues queues;
    assert_int_equal(bli_queues_init(&queues, QUEUES, words), BAL_OK);
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    struct bal_rng rng;
    bal_rng_init(&rng, seed, words, BAL_STREAM_TEST);
    unsigned largest = 0;
    for (uint32_t step = 0; step < 60000; step++) {
        const uint32_t i = bal_rng_below(&rng, QUEUES);
        const bool swelling = step / (500 * (i + 1)) % 2 == 0;
        const bool pushes = bal_rng_below(&rng, 10) < (swelling ? 8 : 2);
        if (pushes && model->length[i] < ROOM)
            push(&queues, model, i);
        else if (model->length[i] > 0 && bal_rng_below(&rng, 3) > 0)
            drop(&queues, model, i);
        else if (model->length[i] > 0)
            drop_back(&queues, model, i);
        if (model->length[i] > 0 && bal_rng_below(&rng, 4) == 0)
            back_to_front(&queues, model, i);
        largest = ring_of(&queues, i)->size > largest ? ring_of(&queues, i)->size : largest;
        assert_int_equal(queues.length[i], model->length[i]);
        if (model->length[i] > 0) {
            assert_item(&queues, i, 0, model->item[i][0]);
            assert_item(&queues, i, model->length[i] - 1, model->item[i][model->length[i] - 1]);
        }
        if (step % 512 == 0) {
            assert_blocks(&queues);
            for (uint32_t j = 0; j < QUEUES; j++)
                assert_queue(&queues, model, j);
        }
    }
    assert_true(largest >= 256); /* blocks have grown many times */
    for (uint32_t i = 0; i < QUEUES; i++) {
        assert_queue(&queues, model, i);
        while (model->length[i] > 0)
            (i % 2 ? drop : drop_back)(&queues, model, i);
        assert_ptr_equal(ring_of(&queues, i)->block, ring_of(&queues, i)->inside); /* and shrunk again */
    }
    assert_blocks(&queues);
    bli_queues_fini(&queues);
    free(model);
}

static void follow_arrays(void **state) {
    (void)state;
    follow(BLI_STAMP, 20);
    follow(1, 21);
    follow(2, 22);
    follow(3, 23);
}

/* A queue that swells to n items and ebbs away, again and again, on other servers each time: the arena must
 * not grow with the number of times, because blocks that were given back are used again. */
static void memory_is_used_again(void **state) {
    (void)state;
    enum { N = 10, SURGE = 1000 };
    struct bli_queues queues;
    assert_int_equal(bli_queues_init(&queues, N, 1), BAL_OK);
    uint64_t used = 0;
    for (uint32_t round = 0; round < 50; round++) {
        const uint32_t i = round % N;
        for (uint32_t k = 0; k < SURGE; k++)
            bli_queues_push(&queues, i, 1)->bits = k;
        for (uint32_t k = 0; k < SURGE; k++) {
            assert_true(bli_queues_at(&queues, i, 1, 0)->bits == k);
            bli_queues_drop(&queues, i, 1);
        }
        if (round == N)
            used = queues.used;
    }
    assert_true(queues.used == used);
    /* All block sizes together, twice over for growing and for shrinking. */
    assert_true(used <= 2 * 2 * 1024);
    bli_queues_fini(&queues);
}

/* A queue that hovers at a power of two must not change its block at every step. */
static void does_not_thrash(void **state) {
    (void)state;
    struct bli_queues queues;
    assert_int_equal(bli_queues_init(&queues, 1, 1), BAL_OK);
    unsigned exchanges = 0;
    for (uint32_t size = 4; size <= 1024; size *= 2) {
        while (queues.length[0] < size)
            bli_queues_push(&queues, 0, 1)->bits = 1;
        for (int step = 0; step < 100; step++) {
            const char *before = ring_of(&queues, 0)->block;
            bli_queues_push(&queues, 0, 1)->bits = 1;
            exchanges += ring_of(&queues, 0)->block != before;
            const char *between = ring_of(&queues, 0)->block;
            bli_queues_drop(&queues, 0, 1);
            exchanges += ring_of(&queues, 0)->block != between;
        }
    }
    assert_true(exchanges <= 9); /* once for each of the nine sizes */
    bli_queues_fini(&queues);
}

static void can_be_finished_twice(void **state) {
    (void)state;
    struct bli_queues queues;
    assert_int_equal(bli_queues_init(&queues, 3, 2), BAL_OK);
    bli_queues_fini(&queues);
    bli_queues_fini(&queues);
    assert_int_equal(bli_queues_init(&queues, UINT32_MAX, 1), BAL_E_MEMORY); /* more blocks than names for
                                                                                them */
    bli_queues_fini(&queues);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follow_arrays),
        cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(does_not_thrash),
        cmocka_unit_test(can_be_finished_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
