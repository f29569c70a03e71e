/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom a dispatcher that holds jobs asks, and when it tells all servers; for whom a server keeps a slot. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policy/backlog.h"
#include "policy/claim.h"

static const double patience = 2, beat = 10;

static enum bli_backlog_step next(struct bli_backlog *b, uint32_t held, double now) {
    return bli_backlog_next(b, held, now, patience, beat);
}

/* A question for each job that is held, and none while all are open. */
static void as_many_questions_as_jobs(void **state) {
    (void)state;
    struct bli_backlog b;
    bli_backlog_init(&b);
    for (uint32_t held = 1; held <= 3; held++) {
        assert_int_equal(next(&b, held, 0), BLI_BACKLOG_ASK);
        bli_backlog_asked(&b);
        assert_int_equal(next(&b, held, 0), BLI_BACKLOG_WAIT);
    }
    bli_backlog_answered(&b, true);
    assert_int_equal(next(&b, 2, 0), BLI_BACKLOG_WAIT);
    assert_int_equal(next(&b, 3, 0), BLI_BACKLOG_ASK);
}

/* Four answers that were no slot are enough; slots do not count, and a time without jobs begins again. */
static void four_misses_end_the_questions(void **state) {
    (void)state;
    struct bli_backlog b;
    bli_backlog_init(&b);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(next(&b, 1, 0), BLI_BACKLOG_ASK);
        bli_backlog_asked(&b);
        bli_backlog_answered(&b, i < 3);
    }
    assert_int_equal(next(&b, 1, 0), BLI_BACKLOG_WAIT);
    assert_int_equal(next(&b, 0, 0), BLI_BACKLOG_WAIT);
    assert_int_equal(next(&b, 1, 0), BLI_BACKLOG_ASK);
}

/* All servers are told when the time has come, again with every beat, and once when none is held. */
static void all_are_told_late(void **state) {
    (void)state;
    struct bli_backlog b;
    bli_backlog_init(&b);
    assert_int_equal(next(&b, 1, 5), BLI_BACKLOG_ASK); /* but there is none that looks idle */
    assert_true(b.announce_at == 7);
    assert_int_equal(next(&b, 2, 6.9), BLI_BACKLOG_ASK);
    assert_int_equal(next(&b, 2, 7), BLI_BACKLOG_ANNOUNCE);
    assert_int_equal(next(&b, 2, 7), BLI_BACKLOG_WAIT); /* no questions any longer */
    assert_int_equal(next(&b, 3, 16.9), BLI_BACKLOG_WAIT);
    assert_int_equal(next(&b, 3, 17), BLI_BACKLOG_ANNOUNCE);
    assert_int_equal(next(&b, 0, 18), BLI_BACKLOG_ANNOUNCE);
    assert_int_equal(next(&b, 0, 18), BLI_BACKLOG_WAIT);
    assert_int_equal(next(&b, 1, 20), BLI_BACKLOG_ASK);
    assert_true(b.announce_at == 22);
}

/* Not while an answer may bring a slot, however late it comes; four that brought none are enough. */
static void answers_are_awaited_before_all_are_told(void **state) {
    (void)state;
    struct bli_backlog b;
    bli_backlog_init(&b);
    for (uint32_t held = 1; held <= 5; held++) {
        assert_int_equal(next(&b, held, 0), BLI_BACKLOG_ASK);
        bli_backlog_asked(&b);
    }
    assert_int_equal(next(&b, 5, 2), BLI_BACKLOG_WAIT);
    assert_true(b.announce_at == 4);
    for (int i = 0; i < 3; i++)
        bli_backlog_answered(&b, false);
    assert_int_equal(next(&b, 2, 4), BLI_BACKLOG_WAIT);
    bli_backlog_answered(&b, false);
    assert_int_equal(next(&b, 2, 6), BLI_BACKLOG_ANNOUNCE); /* one is open still */
    assert_int_equal(next(&b, 2, 16), BLI_BACKLOG_ANNOUNCE);
    /* The only answer has come: all are told when it is time. */
    bli_backlog_init(&b);
    next(&b, 1, 0);
    bli_backlog_asked(&b);
    assert_int_equal(next(&b, 1, 2), BLI_BACKLOG_WAIT);
    bli_backlog_answered(&b, false);
    assert_int_equal(next(&b, 1, 4), BLI_BACKLOG_ANNOUNCE);
}

/* Jobs that were gone in time are not announced, and neither is that there are none. */
static void a_short_backlog_is_told_to_no_one(void **state) {
    (void)state;
    struct bli_backlog b;
    bli_backlog_init(&b);
    next(&b, 1, 0);
    assert_int_equal(next(&b, 0, 1), BLI_BACKLOG_WAIT);
    assert_true(b.announce_at == INFINITY);
}

/* A question that is not answered ends when the patience does for the hundredth time or so: then all are
 * told, and no other one is asked, however times are rounded. */
static void a_question_that_ends_with_the_patience_ends_first(void **state) {
    (void)state;
    static const uint32_t servers[] = {1, 2, 4, 5, 10, 20, 25, 40, 50, 100};
    for (unsigned i = 0; i < sizeof servers / sizeof *servers; i++)
        for (double start = 0; start < 1e6; start += 7331.7) {
            const double timeout = 2, each = bli_backlog_patience(servers[i], timeout);
            struct bli_backlog b;
            bli_backlog_init(&b);
            assert_int_equal(bli_backlog_next(&b, 1, start, each, INFINITY), BLI_BACKLOG_ASK);
            bli_backlog_asked(&b);
            while (b.announce_at < start + timeout)
                assert_int_equal(bli_backlog_next(&b, 1, b.announce_at, each, INFINITY), BLI_BACKLOG_WAIT);
            bli_backlog_answered(&b, false);
            assert_int_equal(bli_backlog_next(&b, 1, start + timeout, each, INFINITY), BLI_BACKLOG_ANNOUNCE);
        }
}

static void without_beats_all_are_told_once(void **state) {
    (void)state;
    struct bli_backlog b;
    bli_backlog_init(&b);
    bli_backlog_next(&b, 1, 0, patience, INFINITY);
    assert_int_equal(bli_backlog_next(&b, 1, 2, patience, INFINITY), BLI_BACKLOG_ANNOUNCE);
    assert_int_equal(bli_backlog_next(&b, 1, 1e9, patience, INFINITY), BLI_BACKLOG_WAIT);
}

static void patience_grows_with_the_fleet(void **state) {
    (void)state;
    assert_float_equal(bli_backlog_patience(10, 8), 0.4, 1e-6);
    assert_float_equal(bli_backlog_patience(50, 8), 2, 1e-6);
    assert_float_equal(bli_backlog_patience(100, 8), 4, 1e-6);
    assert_float_equal(bli_backlog_patience(5000, 8), 4, 1e-6);
}

static bool is_seven(const void *host, uint32_t server) {
    (void)host;
    return server == 7;
}

/* Eight draws: one of N is found with probability 1 - (1 - 1/N)^8. Of 10000 trials with N = 8 the number that
 * find it has mean 6564 and deviation 47; six of them are exceeded with probability 2e-9. */
static void one_of_a_few_that_are_drawn(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    struct bal_set *open = malloc(bal_set_size(8));
    assert_non_null(open);
    bal_set_init(open, 8);
    assert_int_equal(bli_backlog_find(open, is_seven, NULL, &rng), BAL_SET_ABSENT);
    for (uint32_t server = 0; server < 8; server++)
        bal_set_insert(open, server);
    int found = 0;
    for (int i = 0; i < 10000; i++)
        found += bli_backlog_find(open, is_seven, NULL, &rng) == 7;
    assert_in_range(found, 6564 - 285, 6564 + 285);
    free(open);
}

/* ---- at servers ---- */

static void an_offer_is_reserved_for_one_beat(void **state) {
    (void)state;
    struct bli_slot_claim c = {.offered_at = 100};
    assert_false(claim_is_reserved(&c, 100, beat)); /* it does not hold any */
    claim_update(&c, 2, 200);
    assert_true(claim_is_reserved(&c, 100, beat));
    assert_true(claim_is_reserved(&c, 109.9, beat));
    assert_false(claim_is_reserved(&c, 110, beat));
    claim_update(&c, 2, 105);
    assert_false(claim_is_reserved(&c, 105, beat)); /* what it said has expired */
}

/* One that did not use its offer is barred for three beats; a job of it ends that. */
static void who_does_not_use_an_offer_is_barred(void **state) {
    (void)state;
    struct bli_slot_claim c = {.offered_at = 100};
    claim_retract(&c, 111, beat);
    assert_false(claim_is_barred(&c, 111)); /* it never said that it is hungry */
    claim_update(&c, 1, 1000);
    claim_retract(&c, 111, beat);
    assert_true(claim_is_barred(&c, 140.9));
    assert_false(claim_is_barred(&c, 141));
    c.offered_at = 120;
    assert_false(claim_is_reserved(&c, 121, beat));
    claim_slot_used(&c);
    assert_false(claim_is_barred(&c, 121));
    assert_true(claim_has_backlog(&c, 121)); /* it told all servers: it holds more */
    c.asked = 1;
    claim_slot_used(&c);
    assert_false(claim_has_backlog(&c, 121));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_questions_as_jobs),
        cmocka_unit_test(four_misses_end_the_questions),
        cmocka_unit_test(all_are_told_late),
        cmocka_unit_test(answers_are_awaited_before_all_are_told),
        cmocka_unit_test(a_short_backlog_is_told_to_no_one),
        cmocka_unit_test(a_question_that_ends_with_the_patience_ends_first),
        cmocka_unit_test(without_beats_all_are_told_once),
        cmocka_unit_test(patience_grows_with_the_fleet),
        cmocka_unit_test(one_of_a_few_that_are_drawn),
        cmocka_unit_test(an_offer_is_reserved_for_one_beat),
        cmocka_unit_test(who_does_not_use_an_offer_is_barred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
