/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow start: whatever the policy, a server that has come back gets no more than its growing share, and all
 * of it as soon as nobody else can do the work. After every step the block must be sound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/live/check.h"
#include "ballast/live/slow_start.h"
#include "live/dispatcher_private.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
enum { SERVERS = 10, REQUESTS = 64 };

struct host {
    void *block;
    struct bal_dispatcher *d;
    uint64_t now;
    struct bal_rng rng;
    uint32_t under_way;
    uint64_t ticket[REQUESTS];
    uint32_t at[REQUESTS];
    uint32_t sent[SERVERS];
};

static char names[SERVERS][4];

static void check_block(const struct host *h) {
    const char *fault = bal_dispatcher_find_inconsistency(h->d);
    if (fault)
        print_error("%s\n", fault);
    assert_null(fault);
}

/* down: a set of servers. weight: of server 0. */
static void configure(struct host *h, uint32_t servers, unsigned down, double weight) {
    struct bal_dispatcher_server list[SERVERS];
    struct bal_error err;
    for (uint32_t i = 0; i < servers; i++) {
        snprintf(names[i], sizeof names[i], "%c:1", 'a' + (int)i);
        list[i] = (struct bal_dispatcher_server){
            .name = names[i], .down = down >> i & 1, .weight = i ? 1 : weight, .max_fails = 0};
    }
    assert_int_equal(bal_dispatcher_configure(h->d, h->now, list, servers, &err), BAL_OK);
    check_block(h);
}

static struct host start(const char *policy, uint32_t servers, uint64_t slow_ns) {
    const struct bal_dispatcher_config settings = {.servers = SERVERS,
                                                   .workers = 1,
                                                   .requests = REQUESTS,
                                                   .slots = 2,
                                                   .held = 32,
                                                   .hold_ns = 3600 * S,
                                                   .refuse_beyond = true,
                                                   .failures = 3,
                                                   .back_off_ns = 100 * MS};
    struct bal_policy_spec spec;
    struct bal_error err;
    struct host h = {.now = 1000 * MS};
    bal_rng_init(&h.rng, 3, 0, BAL_STREAM_NETWORK);
    assert_int_equal(bal_policy_parse(policy, &spec, &err), BAL_OK);
    h.block = malloc(bal_dispatcher_size(&spec, &settings));
    h.d = malloc(bal_dispatcher_view_size(&spec, &settings));
    assert_true(h.block && h.d);
    bal_dispatcher_create(h.block, &spec, &settings, h.now);
    assert_int_equal(bal_dispatcher_open(h.d, h.block, 11, &err), BAL_OK);
    assert_int_equal(bal_dispatcher_join(h.d, h.now, 100, 1, &err), BAL_OK);
    configure(&h, servers, 0, 1);
    bal_dispatcher_configure_slow_start(h.d, h.now, slow_ns);
    check_block(&h);
    return h;
}

static void finish(struct host *h) {
    free(h->d);
    free(h->block);
}

static void record(struct host *h, const struct bal_dispatch *to) {
    h->ticket[h->under_way] = to->ticket;
    h->at[h->under_way++] = to->server;
    h->sent[to->server]++;
}

static void take_decisions(struct host *h) {
    struct bal_dispatch to;
    while (bal_dispatcher_next_decision(h->d, h->now, &to)) {
        assert_int_equal(to.verdict, BAL_SEND);
        record(h, &to);
    }
}

static void end_one(struct host *h, uint32_t i, enum bal_outcome outcome) {
    assert_true(bal_dispatcher_respond(h->d, h->now, h->ticket[i], outcome));
    h->ticket[i] = h->ticket[--h->under_way];
    h->at[i] = h->at[h->under_way];
    take_decisions(h);
}

static void arrive(struct host *h) {
    struct bal_dispatch to;
    bal_dispatcher_arrive(h->d, h->now, 0, &to);
    assert_int_not_equal(to.verdict, BAL_REFUSE);
    if (to.verdict == BAL_SEND)
        record(h, &to);
    take_decisions(h);
}

/* A request each 10 ms, with up to `most` under way, for that long. */
static void run(struct host *h, uint64_t ns, uint32_t most) {
    memset(h->sent, 0, sizeof h->sent);
    for (const uint64_t end = h->now + ns; h->now < end; h->now += 10 * MS) {
        while (h->under_way && (h->under_way >= most || bal_rng_below(&h->rng, 2)))
            end_one(h, bal_rng_below(&h->rng, h->under_way), BAL_OUTCOME_GOOD);
        bal_dispatcher_run_timers(h->d, h->now);
        take_decisions(h);
        arrive(h);
        check_block(h);
    }
}

static const char *const policies[] = {
    "random",      "round-robin", "least-conn",    "jiq", "jiq:else=least-conn",
    "pod:d=2",     "jsq",         "jiq:else=hold", "pi",  "rcpb",
    "ewma",        "prequal",     "lsq",           "sed", "weighted-random",
    "fastest-idle"};

/* Of 100 requests a second a tenth would be the server's. In 30 s its credit grows by the integral of
 * 10 t / 30, which is t^2 / 6: 16.7 in the first 10 s, 66.7 in 20 s, 150 in 30 s. It never gets more. */
static void no_policy_gives_more_than_the_share(void **state) {
    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct host h = start(policies[p], SERVERS, 30 * S);
        run(&h, 5 * S, 8);
        configure(&h, SERVERS, 1u << 3, 1);
        run(&h, 5 * S, 8);
        assert_int_equal(h.sent[3], 0);
        configure(&h, SERVERS, 0, 1);
        double sent = 0;
        for (int i = 1; i <= 3; i++) {
            run(&h, 10 * S, 8);
            sent += h.sent[3];
            if (sent > 100.0 * i * i / 6 + 1)
                print_error("%s: %g requests in %d s\n", policies[p], sent, 10 * i);
            assert_true(sent <= 100.0 * i * i / 6 + 1);
            assert_true(sent >= 100.0 * i * i / 6 / 4); /* drawing one of ten leaves some of its credit unused
                                                         */
        }
        assert_true(bal_dispatcher_slow_start_share(h.d, h.now, 3) >= 1);
        run(&h, 30 * S, 8);
        assert_true(h.sent[3] > 150);
        finish(&h);
    }
}

/* The same with weights: a server of weight 3 among nine of weight 1 has a quarter. */
static void shares_are_by_weight(void **state) {
    (void)state;
    struct host h = start("least-conn", SERVERS, 30 * S);
    configure(&h, SERVERS, 1, 3);
    run(&h, 5 * S, 20);
    configure(&h, SERVERS, 0, 3);
    run(&h, 30 * S, 20);
    assert_true(h.sent[0] <= 3000 * 0.25 / 2 + 1);
    assert_true(h.sent[0] >= 3000 * 0.25 / 2 * 0.7);
    finish(&h);
}

/* A fleet that begins as a whole, or of which nobody else is left, starts at once. */
static void nobody_else_is_there(void **state) {
    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct host h = start(policies[p], 2, 1000 * S);
        run(&h, 1 * S, 3);
        assert_int_equal(h.sent[0] + h.sent[1], 100);
        configure(&h, 2, 1, 1);
        run(&h, 1 * S, 2);
        configure(&h, 2, 0, 1);
        run(&h, 1 * S, 2);
        assert_true(h.sent[0] <= 1);
        configure(&h, 2, 2, 1); /* the other one leaves: it gets all */
        run(&h, 1 * S, 2);
        assert_int_equal(h.sent[0], 100);
        configure(&h, 2, 0, 1); /* and comes back: both warm up, and both are used */
        run(&h, 1 * S, 3);
        assert_true(h.sent[0] + h.sent[1] >= 95);
        finish(&h);
    }
}

/* A request that has failed at the only other server goes to the one that warms up. */
static void retries_may_use_it(void **state) {
    struct host h = start("least-conn", 2, 1000 * S);
    struct bal_dispatch to;
    (void)state;
    configure(&h, 2, 1, 1);
    configure(&h, 2, 0, 1);
    bal_dispatcher_arrive(h.d, h.now, 0, &to);
    assert_int_equal(to.server, 1);
    assert_true(bal_dispatcher_retry(h.d, h.now, to.ticket, BAL_OUTCOME_FAILED, &to));
    assert_int_equal(to.verdict, BAL_SEND);
    assert_int_equal(to.server, 0);
    check_block(&h);
    assert_true(bal_dispatcher_respond(h.d, h.now, to.ticket, BAL_OUTCOME_GOOD));
    finish(&h);
}

/* Requests that are held do not wait for a server that warms up longer than for those that work, and none
 * waits for ever. */
static void held_requests_come_out(void **state) {
    struct host h = start("jiq:else=hold", 2, 1000 * S);
    (void)state;
    configure(&h, 2, 1, 1);
    configure(&h, 2, 0, 1);
    for (int i = 0; i < 6; i++)
        arrive(&h); /* two run, four wait */
    assert_int_equal(h.under_way, 2);
    assert_int_equal(bal_dispatcher_held(h.d, BAL_CLASSES_MAX), 4);
    configure(&h, 2, 2, 1); /* those at the other one run on; it warms up, and is all there is */
    bal_dispatcher_run_timers(h.d, h.now);
    take_decisions(&h);
    assert_int_equal(h.under_way, 4);
    while (h.under_way)
        end_one(&h, 0, BAL_OUTCOME_GOOD);
    assert_int_equal(bal_dispatcher_held(h.d, BAL_CLASSES_MAX), 0);
    check_block(&h);
    finish(&h);
}

/* It begins after an ejection, and when checks open the server; not after one failure. */
static void what_begins_it(void **state) {
    struct host h = start("round-robin", 4, 30 * S);
    const struct bal_check_config checks = {
        .interval_ns = 100 * MS, .timeout_ns = 100 * MS, .rises = 1, .falls = 1};
    (void)state;
    for (int failed = 0; failed < 3;) {
        arrive(&h);
        failed += h.at[0] == 2;
        end_one(&h, 0, h.at[0] == 2 ? BAL_OUTCOME_BAD : BAL_OUTCOME_GOOD);
        if (failed < 3)
            assert_true(bal_dispatcher_slow_start_share(h.d, h.now, 2) >= 1);
    }
    assert_true(bal_dispatcher_server(h.d, 2).ejected);
    h.now += 200 * MS;
    for (int i = 0; i < 8; i++) {
        bal_dispatcher_run_timers(h.d, h.now);
        arrive(&h);
        end_one(&h, 0, BAL_OUTCOME_GOOD);
    }
    assert_false(bal_dispatcher_server(h.d, 2).ejected);
    assert_true(bal_dispatcher_slow_start_share(h.d, h.now, 2) < 0.1);
    h.now += 31 * S;
    run(&h, 100 * MS, 2);
    assert_true(bal_dispatcher_slow_start_share(h.d, h.now, 2) >= 1);
    bal_dispatcher_configure_checks(h.d, h.now, &checks);
    bool was_failing = false, warms = false;
    for (int i = 0; i < 100 && !warms; i++) {
        struct bal_check_order order;
        h.now += 20 * MS;
        while (bal_dispatcher_next_check(h.d, h.now, &order)) {
            bal_dispatcher_finish_check(h.d, h.now, order.ticket,
                                        order.server == 1 && !was_failing ? BAL_CHECK_REFUSED
                                                                          : BAL_CHECK_PASSED);
            was_failing |= bal_dispatcher_check_view(h.d, 1).closed;
            check_block(&h);
        }
        warms = was_failing && bal_dispatcher_slow_start_share(h.d, h.now, 1) < 1;
    }
    assert_true(warms);
    finish(&h);
}

/* A process dies in the middle of an operation; and slow start is switched off while a server warms up. */
static void it_survives_and_ends(void **state) {
    struct host h = start("jiq", 4, 30 * S);
    (void)state;
    configure(&h, 4, 1, 1);
    configure(&h, 4, 0, 1);
    run(&h, 1 * S, 3);
    h.d->block->busy = 1;
    bal_dispatcher_run_timers(h.d, h.now);
    check_block(&h);
    assert_true(bal_dispatcher_slow_start_share(h.d, h.now, 0) < 0.1);
    run(&h, 1 * S, 3);
    assert_true(h.sent[0] <= 3);
    bal_dispatcher_configure_slow_start(h.d, h.now, 0);
    check_block(&h);
    assert_true(bal_dispatcher_slow_start_share(h.d, h.now, 0) >= 1);
    run(&h, 1 * S, 3);
    assert_true(h.sent[0] > 10);
    finish(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_policy_gives_more_than_the_share),
        cmocka_unit_test(shares_are_by_weight),
        cmocka_unit_test(nobody_else_is_there),
        cmocka_unit_test(retries_may_use_it),
        cmocka_unit_test(held_requests_come_out),
        cmocka_unit_test(what_begins_it),
        cmocka_unit_test(it_survives_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
