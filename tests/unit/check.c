/* SPDX-License-Identifier: BSD-2-Clause */
/* Health checks: when servers are checked and by whom, what results mean, and that checks, ejection and
 * max_fails close and open a server as include/ballast/live/check.h says. After every step of a dispatcher
 * its block must be sound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/live/check_response.h"
#include "live/dispatcher_private.h"

#define MS UINT64_C(1000000)

static const struct bal_check_config usual = {
    .interval_ns = 2000 * MS, .timeout_ns = 1000 * MS, .rises = 2, .falls = 3};

/* ---- the schedule ---- */

static struct bli_checks *new_checks(uint32_t servers, const struct bal_check_config *config,
                                     struct bal_rng *rng) {
    struct bli_checks *checks = malloc(bli_checks_size(servers));
    assert_non_null(checks);
    bal_rng_init(rng, 7, 0, BAL_STREAM_NETWORK);
    bli_checks_init(checks, servers);
    checks->config = *config;
    for (uint32_t i = 0; i < servers; i++)
        bli_checks_add(checks, i, 1000 * MS, rng);
    assert_null(bli_checks_find_inconsistency(checks));
    return checks;
}

/* Sends and finishes at once all that is due by then; returns how many there were. */
static uint32_t pass_due(struct bli_checks *checks, uint64_t now, uint32_t worker, struct bal_rng *rng) {
    struct bal_check_order order;
    uint32_t count = 0;
    while (bli_checks_next(checks, now, worker, rng, &order)) {
        assert_int_equal(bli_checks_finish(checks, now, order.ticket, BAL_CHECK_PASSED, rng), order.server);
        count++;
    }
    assert_null(bli_checks_find_inconsistency(checks));
    return count;
}

/* A thousand servers that join at once, with 2 s between checks: 500 of them in a second, so 2.5 in each 5
 * ms. At the start, where the rate of first checks is highest, it is ln(1000) times 100 in a second. A
 * Poisson number of mean 3.5 exceeds 20 with probability below 1e-9 in each of 6000 windows; the seed is
 * fixed. */
static void a_thousand_servers_are_spread(void **state) {
    struct bal_rng rng;
    struct bli_checks *checks = new_checks(1000, &usual, &rng);
    uint32_t most = 0, all = 0;
    (void)state;
    for (uint64_t now = 1000 * MS; now < 31000 * MS; now += 5 * MS) {
        const uint32_t count = pass_due(checks, now, 0, &rng);
        most = count > most ? count : most;
        all += count;
    }
    assert_true(most <= 20);
    /* 30 s: one first check, one after half an interval on average, then one in each interval. */
    assert_true(all > 15000 && all < 16500);
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(checks->server[i].passed >= 13);
    free(checks);
}

/* The processor was away for a minute: what is overdue does not begin at once. */
static void missed_checks_are_spread(void **state) {
    struct bal_rng rng;
    struct bli_checks *checks = new_checks(1000, &usual, &rng);
    uint32_t most = 0, all = 0;
    (void)state;
    for (uint64_t now = 1000 * MS; now < 5000 * MS; now += 5 * MS)
        pass_due(checks, now, 0, &rng);
    for (uint64_t now = 65000 * MS; now < 67000 * MS; now += 5 * MS) {
        const uint32_t count = pass_due(checks, now, 0, &rng);
        most = count > most ? count : most;
        all += count;
    }
    assert_true(most <= 20);
    assert_true(all >= 1000);
    free(checks);
}

/* It is away again and again, for longer than that: it checks all the same, one server each time that it
 * asks, and each of them in its turn. */
static void a_process_that_is_always_late_checks(void **state) {
    struct bal_rng rng;
    struct bli_checks *checks = new_checks(4, &usual, &rng);
    uint64_t now = 1000 * MS;
    (void)state;
    pass_due(checks, now, 0, &rng);
    for (int i = 0; i < 40; i++)
        assert_true(pass_due(checks, now += 600 * MS, 0, &rng) <= 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(checks->server[i].passed >= 8);
    free(checks);
}

/* Gaps of one server: uniform from 0.9 to 1.1 intervals. */
static void gaps_are_drawn(void **state) {
    struct bal_rng rng;
    struct bli_checks *checks = new_checks(1, &usual, &rng);
    uint64_t now = 1000 * MS, last = 0;
    double least = INFINITY, most = 0;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const uint64_t due = bli_checks_due(checks);
        while (now + 100 * MS < due)
            assert_int_equal(pass_due(checks, now += 100 * MS, 0, &rng), 0);
        now = due > now ? due : now;
        assert_int_equal(pass_due(checks, now, 0, &rng), 1);
        if (i > 2) {
            const double gap = (double)(now - last) / (double)usual.interval_ns;
            least = fmin(least, gap);
            most = fmax(most, gap);
        }
        last = now;
    }
    assert_true(least >= 0.9 && least < 0.902);
    assert_true(most <= 1.1 && most > 1.098);
    free(checks);
}

static void one_process_checks(void **state) {
    struct bal_rng rng;
    struct bli_checks *checks = new_checks(1, &usual, &rng);
    struct bal_check_order first, second;
    (void)state;
    uint64_t now = 1000 * MS + 10 * MS;
    assert_true(bli_checks_next(checks, now, 3, &rng, &first));
    assert_false(bli_checks_next(checks, now, 4, &rng, &second));
    /* It asks no more, though it is alive: after two seconds another one checks. */
    now += (uint64_t)BAL_CHECK_LEASE_MS * MS;
    assert_false(bli_checks_next(checks, now, 4, &rng, &second));
    bool taken = false;
    for (int i = 0; i < 100 && !taken; i++)
        taken = bli_checks_next(checks, now += MS, 4, &rng, &second);
    assert_true(taken);
    assert_int_equal(checks->worker, 4);
    assert_int_equal(bli_checks_finish(checks, now, first.ticket, BAL_CHECK_REFUSED, &rng), BAL_NONE);
    assert_int_equal(checks->server[0].failed, 0);
    /* One that says so is replaced at once, and its check is made again. */
    bli_checks_release(checks, 4);
    assert_null(bli_checks_find_inconsistency(checks));
    assert_int_equal(bli_checks_finish(checks, now, second.ticket, BAL_CHECK_REFUSED, &rng), BAL_NONE);
    assert_true(bli_checks_next(checks, now + MS, 5, &rng, &second));
    bli_checks_release(checks, 4); /* that is not the one that checks */
    assert_int_equal(checks->worker, 5);
    assert_int_equal(bli_checks_finish(checks, now + MS, second.ticket, BAL_CHECK_PASSED, &rng), 0);
    free(checks);
}

/* The state after a text of results: + passed, - failed. */
static enum bal_check_state state_after(const struct bal_check_config *config, const char *results) {
    struct bal_rng rng;
    struct bal_check_order order;
    struct bli_checks *checks = new_checks(1, config, &rng);
    uint64_t now = 1000 * MS;
    for (; *results; results++) {
        do
            now += 100 * MS;
        while (!bli_checks_next(checks, now, 0, &rng, &order));
        assert_false(bli_checks_next(checks, now, 0, &rng, &(struct bal_check_order){0}));
        bli_checks_finish(checks, now, order.ticket, *results == '+' ? BAL_CHECK_PASSED : BAL_CHECK_REFUSED,
                          &rng);
        assert_null(bli_checks_find_inconsistency(checks));
    }
    const enum bal_check_state state = (enum bal_check_state)checks->server[0].state;
    free(checks);
    return state;
}

static void results_in_a_row_count(void **state) {
    (void)state;
    assert_int_equal(state_after(&usual, ""), BAL_CHECK_UNCHECKED);
    assert_int_equal(state_after(&usual, "+"), BAL_CHECK_PASSING);
    assert_int_equal(state_after(&usual, "--"), BAL_CHECK_UNCHECKED);
    assert_int_equal(state_after(&usual, "---"), BAL_CHECK_FAILING);
    assert_int_equal(state_after(&usual, "--+--"), BAL_CHECK_PASSING);
    assert_int_equal(state_after(&usual, "+--+--+---"), BAL_CHECK_FAILING);
    assert_int_equal(state_after(&usual, "---+"), BAL_CHECK_FAILING);
    assert_int_equal(state_after(&usual, "---+-+"), BAL_CHECK_FAILING);
    assert_int_equal(state_after(&usual, "---++"), BAL_CHECK_PASSING);
    assert_int_equal(state_after(&usual, "---++--"), BAL_CHECK_PASSING);
    assert_int_equal(state_after(&usual, "---++---"), BAL_CHECK_FAILING);
}

static void what_says_nothing_is_repeated(void **state) {
    struct bal_rng rng;
    struct bal_check_order order;
    struct bli_checks *checks = new_checks(1, &usual, &rng);
    (void)state;
    assert_true(bli_checks_next(checks, 1010 * MS, 0, &rng, &order));
    bli_checks_finish(checks, 1010 * MS, order.ticket, BAL_CHECK_LOCAL, &rng);
    assert_int_equal(checks->server[0].result, BAL_CHECK_NONE);
    assert_true(bli_checks_next(checks, 4000 * MS, 0, &rng, &order) ||
                bli_checks_next(checks, 4100 * MS, 0, &rng, &order));
    /* Far beyond the time-out: the process that should have watched it was stopped. */
    bli_checks_finish(checks, 6000 * MS, order.ticket, BAL_CHECK_TIMED_OUT, &rng);
    assert_int_equal(checks->server[0].result, BAL_CHECK_NONE);
    assert_int_equal(checks->server[0].failed, 0);
    free(checks);
}

/* ---- a dispatcher ---- */

struct host {
    void *block;
    struct bal_dispatcher *d[2]; /* two processes */
    uint64_t now;
};

static const char *const names[] = {"a:1", "b:1", "c:1", "d:1"};

static void configure(struct host *h, uint32_t servers, uint32_t down) {
    struct bal_dispatcher_server list[4];
    struct bal_error err;
    for (uint32_t i = 0; i < servers; i++)
        list[i] = (struct bal_dispatcher_server){
            .name = names[i], .down = i == down, .max_fails = 1, .fail_ns = 5000 * MS};
    assert_int_equal(bal_dispatcher_configure(h->d[0], h->now, list, servers, &err), BAL_OK);
    assert_null(bal_dispatcher_find_inconsistency(h->d[0]));
}

static struct host start(const char *policy, uint32_t servers, const struct bal_check_config *config) {
    const struct bal_dispatcher_config settings = {.servers = 4,
                                                   .workers = 4,
                                                   .requests = 32,
                                                   .held = 16,
                                                   .hold_ns = 60000 * MS,
                                                   .refuse_beyond = true,
                                                   .failures = 3,
                                                   .back_off_ns = 1000 * MS};
    struct bal_policy_spec spec;
    struct bal_error err;
    struct host h = {.now = 1000 * MS};
    assert_int_equal(bal_policy_parse(policy, &spec, &err), BAL_OK);
    h.block = malloc(bal_dispatcher_size(&spec, &settings));
    assert_non_null(h.block);
    bal_dispatcher_create(h.block, &spec, &settings, h.now);
    for (int i = 0; i < 2; i++) {
        h.d[i] = malloc(bal_dispatcher_view_size(&spec, &settings));
        assert_non_null(h.d[i]);
        assert_int_equal(bal_dispatcher_open(h.d[i], h.block, 11 + (uint64_t)i, &err), BAL_OK);
        assert_int_equal(bal_dispatcher_join(h.d[i], h.now, 100 + (uint64_t)i, 1, &err), BAL_OK);
    }
    configure(&h, servers, BAL_NONE);
    bal_dispatcher_configure_checks(h.d[0], h.now, config);
    assert_null(bal_dispatcher_find_inconsistency(h.d[0]));
    return h;
}

static void finish(struct host *h) {
    free(h->d[0]);
    free(h->d[1]);
    free(h->block);
}

/* Every server is checked once, within an interval and a half; `bad`: a set of those that fail. */
static void round_of_checks(struct host *h, unsigned bad) {
    unsigned seen = 0;
    struct bal_check_order order;
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < 4; i++)
        wanted |= bal_dispatcher_check_view(h->d[0], i).checked ? 1u << i : 0;
    for (int step = 0; seen != wanted; step++) {
        assert_true(step < 400);
        h->now += 10 * MS;
        bal_dispatcher_run_timers(h->d[0], h->now);
        while (bal_dispatcher_next_check(h->d[0], h->now, &order)) {
            if (seen >> order.server & 1) { /* the second one may come before the first of another */
                bal_dispatcher_finish_check(h->d[0], h->now, order.ticket, BAL_CHECK_LOCAL);
                continue;
            }
            seen |= 1u << order.server;
            bal_dispatcher_finish_check(h->d[0], h->now, order.ticket,
                                        bad >> order.server & 1 ? BAL_CHECK_STATUS : BAL_CHECK_PASSED);
            assert_null(bal_dispatcher_find_inconsistency(h->d[0]));
        }
    }
}

static unsigned open_servers(const struct host *h) {
    unsigned open = 0;
    for (uint32_t i = 0; i < 4; i++)
        open |= bal_dispatcher_server(h->d[0], i).open ? 1u << i : 0;
    return open;
}

static void failing_servers_get_nothing(void **state) {
    static const char *const policies[] = {"random", "least-conn", "jiq", "pod:d=2", "round-robin", "rcpb"};
    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct host h = start(policies[p], 4, &usual);
        round_of_checks(&h, 1 << 1);
        round_of_checks(&h, 1 << 1);
        assert_int_equal(open_servers(&h), 15);
        round_of_checks(&h, 1 << 1);
        assert_int_equal(open_servers(&h), 15 - 2);
        for (int i = 0; i < 100; i++) {
            struct bal_dispatch to;
            bal_dispatcher_arrive(h.d[0], h.now, 0, &to);
            assert_int_equal(to.verdict, BAL_SEND);
            assert_int_not_equal(to.server, 1);
            assert_true(bal_dispatcher_respond(h.d[0], h.now, to.ticket, BAL_OUTCOME_GOOD));
        }
        round_of_checks(&h, 0);
        assert_int_equal(open_servers(&h), 15 - 2);
        round_of_checks(&h, 0);
        assert_int_equal(open_servers(&h), 15);
        finish(&h);
    }
}

/* A process dies between any two calls, or in the middle of one: what is known stays. */
static void a_rebuild_keeps_what_is_known(void **state) {
    struct host h = start("least-conn", 4, &usual);
    struct bal_check_order order;
    (void)state;
    for (int i = 0; i < 3; i++)
        round_of_checks(&h, 1 << 2);
    while (!bal_dispatcher_next_check(h.d[0], h.now += 10 * MS, &order))
        ;
    h.d[0]->block->busy = 1;
    h.d[0]->checks->failing = 77;
    bal_dispatcher_reap(h.d[1], h.now, 0);
    assert_null(bal_dispatcher_find_inconsistency(h.d[1]));
    assert_int_equal(open_servers(&h), 15 - 4);
    assert_int_equal(bal_dispatcher_check_view(h.d[1], 2).state, BAL_CHECK_FAILING);
    /* The other process makes the check that was under way, at once. */
    struct bal_check_order again;
    assert_true(bal_dispatcher_next_check(h.d[1], h.now + 1, &again));
    assert_int_equal(again.server, order.server);
    assert_int_not_equal(again.ticket, order.ticket);
    finish(&h);
}

static void mandatory_servers_wait_for_their_first_check(void **state) {
    struct bal_check_config config = usual;
    struct bal_dispatch to;
    (void)state;
    config.mandatory = true;
    struct host h = start("least-conn", 3, &config);
    assert_int_equal(open_servers(&h), 0);
    bal_dispatcher_arrive(h.d[0], h.now, 0, &to);
    assert_int_equal(to.verdict, BAL_REFUSE);
    assert_int_equal(to.reason, BAL_REASON_NONE_OPEN);
    round_of_checks(&h, 1 << 1);
    assert_int_equal(open_servers(&h), 5); /* one check is enough for those that have never failed ... */
    round_of_checks(&h, 0);
    assert_int_equal(open_servers(&h), 7);
    configure(&h, 4, BAL_NONE); /* ... and one that joins waits for it */
    assert_int_equal(open_servers(&h), 7);
    round_of_checks(&h, 0);
    assert_int_equal(open_servers(&h), 15);
    configure(&h, 4, 0);
    round_of_checks(&h, 0);
    assert_false(bal_dispatcher_check_view(h.d[0], 0).checked); /* one that is down is not checked ... */
    configure(&h, 4, BAL_NONE);                                 /* ... and joins when it is back */
    assert_int_equal(open_servers(&h), 14);
    round_of_checks(&h, 0);
    assert_int_equal(open_servers(&h), 15);
    finish(&h);
}

/* Where requests may wait, they wait for the first check, but not for a server that fails its checks. */
static void requests_wait_for_the_first_check(void **state) {
    struct bal_check_config config = usual;
    struct bal_dispatch to;
    (void)state;
    config.mandatory = true;
    struct host h = start("jiq:else=hold", 1, &config);
    bal_dispatcher_arrive(h.d[0], h.now, 0, &to);
    assert_int_equal(to.verdict, BAL_WAIT);
    round_of_checks(&h, 0);
    assert_true(bal_dispatcher_next_decision(h.d[0], h.now, &to));
    assert_int_equal(to.verdict, BAL_SEND);
    assert_true(bal_dispatcher_respond(h.d[0], h.now, to.ticket, BAL_OUTCOME_GOOD));
    for (int i = 0; i < 3; i++)
        round_of_checks(&h, 1);
    bal_dispatcher_arrive(h.d[0], h.now, 0, &to);
    assert_int_equal(to.verdict, BAL_REFUSE);
    assert_int_equal(to.reason, BAL_REASON_NONE_OPEN);
    finish(&h);
}

static void fail_requests(struct host *h, uint32_t server, int count) {
    for (int i = 0; count; i++) {
        struct bal_dispatch to;
        assert_true(i < 2000);
        bal_dispatcher_arrive(h->d[0], h->now, 0, &to);
        assert_int_equal(to.verdict, BAL_SEND);
        bal_dispatcher_respond(h->d[0], h->now, to.ticket,
                               to.server == server ? BAL_OUTCOME_BAD : BAL_OUTCOME_GOOD);
        count -= to.server == server;
    }
    assert_null(bal_dispatcher_find_inconsistency(h->d[0]));
}

/* The page of health says yes, requests say no: no it is. */
static void a_passing_check_does_not_end_an_ejection(void **state) {
    struct host h = start("random", 4, &usual);
    (void)state;
    round_of_checks(&h, 0);
    round_of_checks(&h, 0);
    fail_requests(&h, 0, 3);
    assert_true(bal_dispatcher_server(h.d[0], 0).ejected);
    const uint64_t until = bal_dispatcher_server(h.d[0], 0).until;
    for (uint64_t now = h.now; now < until; now = h.now += 10 * MS) {
        struct bal_check_order order;
        bal_dispatcher_run_timers(h.d[0], now);
        while (bal_dispatcher_next_check(h.d[0], now, &order))
            bal_dispatcher_finish_check(h.d[0], now, order.ticket, BAL_CHECK_PASSED);
        assert_true(bal_dispatcher_server(h.d[0], 0).ejected);
        assert_false(bal_dispatcher_server(h.d[0], 0).open);
    }
    finish(&h);
}

/* Checks close an ejected server, however long its ejection is; when they open it, it begins without it. */
static void checks_end_an_ejection_that_they_outlast(void **state) {
    struct host h = start("random", 4, &usual);
    (void)state;
    fail_requests(&h, 0, 3);
    assert_true(bal_dispatcher_server(h.d[0], 0).ejected);
    for (int i = 0; i < 3; i++)
        round_of_checks(&h, 1);
    assert_false(bal_dispatcher_server(h.d[0], 0).ejected);
    assert_true(bal_dispatcher_check_view(h.d[0], 0).closed);
    assert_false(bal_dispatcher_server(h.d[0], 0).open);
    round_of_checks(&h, 0);
    assert_false(bal_dispatcher_server(h.d[0], 0).open);
    round_of_checks(&h, 0);
    assert_true(bal_dispatcher_server(h.d[0], 0).open);
    finish(&h);
}

/* Of four servers two are closed by checks: of the others one may be ejected, not both. All may be closed by
 * checks. */
static void failing_servers_do_not_count_for_the_ejection(void **state) {
    struct host h = start("random", 4, &usual);
    struct bal_dispatch to;
    (void)state;
    for (int i = 0; i < 3; i++)
        round_of_checks(&h, 3);
    assert_int_equal(open_servers(&h), 12);
    fail_requests(&h, 2, 3);
    assert_true(bal_dispatcher_server(h.d[0], 2).ejected);
    fail_requests(&h, 3, 10);
    assert_false(bal_dispatcher_server(h.d[0], 3).ejected);
    for (int i = 0; i < 3; i++)
        round_of_checks(&h, 15);
    assert_int_equal(open_servers(&h), 0);
    bal_dispatcher_arrive(h.d[0], h.now, 0, &to);
    assert_int_equal(to.reason, BAL_REASON_NONE_OPEN);
    finish(&h);
}

/* A request that was under way when the checks closed its server decides nothing. */
static void late_failures_do_not_count(void **state) {
    struct host h = start("random", 4, &usual);
    struct bal_dispatch to[24];
    uint32_t failed = 0;
    (void)state;
    for (int i = 0; i < 24; i++)
        bal_dispatcher_arrive(h.d[0], h.now, 0, &to[i]);
    for (int i = 0; i < 3; i++)
        round_of_checks(&h, 1);
    for (int i = 0; i < 24; i++) {
        failed += to[i].server == 0;
        bal_dispatcher_respond(h.d[0], h.now, to[i].ticket,
                               to[i].server == 0 ? BAL_OUTCOME_FAILED : BAL_OUTCOME_GOOD);
    }
    assert_true(failed >= 3); /* enough for the ejection and for max_fails */
    assert_null(bal_dispatcher_find_inconsistency(h.d[0]));
    assert_false(bal_dispatcher_server(h.d[0], 0).ejected);
    assert_false(bal_dispatcher_server(h.d[0], 0).shut);
    round_of_checks(&h, 0);
    round_of_checks(&h, 0);
    assert_int_equal(open_servers(&h), 15);
    finish(&h);
}

/* Other numbers by a reload: what is known stays. None at all: nothing is closed. */
static void reloads_change_how_is_checked(void **state) {
    struct host h = start("random", 4, &usual);
    struct bal_check_config config = usual;
    (void)state;
    for (int i = 0; i < 3; i++)
        round_of_checks(&h, 1);
    config.interval_ns = 500 * MS;
    config.mandatory = true;
    bal_dispatcher_configure_checks(h.d[1], h.now, &config);
    assert_null(bal_dispatcher_find_inconsistency(h.d[0]));
    assert_int_equal(open_servers(&h), 14);
    bal_dispatcher_configure_checks(h.d[1], h.now, &(struct bal_check_config){0});
    assert_null(bal_dispatcher_find_inconsistency(h.d[0]));
    assert_int_equal(open_servers(&h), 15);
    assert_int_equal(bal_dispatcher_check_due(h.d[0]), UINT64_MAX);
    finish(&h);
}

/* After an hour has become 2 s no one waits for the rest of the hour. */
static void a_shorter_interval_counts_at_once(void **state) {
    struct bal_check_config config = usual;
    (void)state;
    config.interval_ns = 3600000 * MS;
    struct host h = start("random", 4, &config);
    round_of_checks(&h, 0);
    assert_true(bal_dispatcher_check_due(h.d[0]) > h.now + 2200 * MS);
    bal_dispatcher_configure_checks(h.d[1], h.now, &usual);
    assert_null(bal_dispatcher_find_inconsistency(h.d[0]));
    for (uint32_t i = 0; i < 4; i++)
        assert_true(h.d[0]->checks->server[i].due <= h.now + 2000 * MS);
    round_of_checks(&h, 1);
    finish(&h);
}

/* Of the process that checks: it leaves, or says that it checks no more. */
static void processes_take_over(void **state) {
    struct host h = start("random", 4, &usual);
    struct bal_check_order order, other;
    (void)state;
    while (!bal_dispatcher_next_check(h.d[0], h.now += 10 * MS, &order))
        ;
    assert_false(bal_dispatcher_next_check(h.d[1], h.now += 3000 * MS / 2, &other));
    assert_int_equal(bal_dispatcher_check_due(h.d[1]), UINT64_MAX);
    bal_dispatcher_release_checks(h.d[0], h.now);
    assert_true(bal_dispatcher_next_check(h.d[1], h.now, &other) ||
                bal_dispatcher_next_check(h.d[1], h.now += 100 * MS, &other));
    bal_dispatcher_leave(h.d[1], h.now);
    assert_null(bal_dispatcher_find_inconsistency(h.d[0]));
    assert_int_equal(h.d[0]->checks->worker, BLI_NOBODY);
    finish(&h);
}

/* ---- responses ---- */

#define HEAD "HTTP/1.1 200 OK\r\n"
#define FRAMES_HEAD                                                                                          \
    "\0\0\0\4\0\0\0\0\0"                                                                                     \
    "\0\0\1\1\4\0\0\0\1\x88"
#define BYTES(text) (text), sizeof(text) - 1

/* A response, and what it means when it has come, or when the connection is closed behind it. */
static const struct {
    enum bal_check_protocol protocol;
    const char *text; /* that must be in the body */
    const char *bytes;
    size_t count;
    enum bal_check_result result;
} responses[] = {
    {BAL_CHECK_HTTP, "", BYTES(HEAD "\r\n"), BAL_CHECK_PASSED},
    {BAL_CHECK_HTTP, "", BYTES("HTTP/1.0 204\n\n"), BAL_CHECK_PASSED},
    {BAL_CHECK_HTTP, "", BYTES("HTTP/1.1 399 \r\nA: b\r\n\r\n"), BAL_CHECK_PASSED},
    {BAL_CHECK_HTTP, "", BYTES("HTTP/1.1 404 No\r\n"), BAL_CHECK_STATUS},
    {BAL_CHECK_HTTP, "", BYTES("HTTP/1.1 199 No\r\n"), BAL_CHECK_STATUS},
    {BAL_CHECK_HTTP, "", BYTES("HTTP/1.1 2000 No\r\n"), BAL_CHECK_MALFORMED},
    {BAL_CHECK_HTTP, "", BYTES("HTTP/1.1 20 No\r\n"), BAL_CHECK_MALFORMED},
    {BAL_CHECK_HTTP, "", BYTES("HTTP/11 200 OK\r\n"), BAL_CHECK_MALFORMED},
    {BAL_CHECK_HTTP, "", BYTES("http/1.1 200 OK\r\n"), BAL_CHECK_MALFORMED},
    {BAL_CHECK_HTTP, "", BYTES("\r\n"), BAL_CHECK_MALFORMED},
    {BAL_CHECK_HTTP, "", BYTES("SSH-2.0-x"), BAL_CHECK_MALFORMED},
    {BAL_CHECK_HTTP, "", BYTES(HEAD), BAL_CHECK_CLOSED},
    {BAL_CHECK_HTTP, "", BYTES(""), BAL_CHECK_CLOSED},
    {BAL_CHECK_HTTP, "aab", BYTES(HEAD "\r\naaaab"), BAL_CHECK_PASSED},
    {BAL_CHECK_HTTP, "aab", BYTES(HEAD "\r\naaba"), BAL_CHECK_PASSED},
    {BAL_CHECK_HTTP, "aab", BYTES(HEAD "aab: aab\r\n\r\naabx"), BAL_CHECK_PASSED},
    {BAL_CHECK_HTTP, "aab", BYTES(HEAD "aab: aab\r\n\r\naa b"), BAL_CHECK_BODY},
    {BAL_CHECK_HTTP, "ababc", BYTES(HEAD "\r\nabababc"), BAL_CHECK_PASSED},
    {BAL_CHECK_HTTP, "aab", BYTES(HEAD "Content-Length: 3\r\n\r\naaab"), BAL_CHECK_BODY},
    {BAL_CHECK_HTTP, "aab", BYTES(HEAD "content-LENGTH:4\r\n\r\naaab"), BAL_CHECK_PASSED},
    {BAL_CHECK_HTTP, "aab", BYTES(HEAD "Content-Length: 9\r\n\r\naa"), BAL_CHECK_CLOSED},
    {BAL_CHECK_HTTP, "aab", BYTES(HEAD "Content-Length: 0\r\n\r\n"), BAL_CHECK_BODY},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\7\0\0\0\0\0\1"
                       "\0\0\0\0\2\x08\1"),
     BAL_CHECK_PASSED},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\7\0\0\0\0\0\1"
                       "\0\0\0\0\2\x08\2"),
     BAL_CHECK_STATUS},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\5\0\0\0\0\0\1"
                       "\0\0\0\0\0"),
     BAL_CHECK_STATUS},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\7\0\0\0\0\0\1"
                       "\1\0\0\0\2\x08\1"),
     BAL_CHECK_MALFORMED},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\7\0\0\0\0\0\3"
                       "\0\0\0\0\2\x08\1"),
     BAL_CHECK_CLOSED},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\x0a\0\x8\0\0\0\1"
                       "\2\0\0\0\0\2\x08\1zz"),
     BAL_CHECK_PASSED},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\2\0\x8\0\0\0\1"
                       "\2z"),
     BAL_CHECK_MALFORMED},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\1\1\5\0\0\0\1"
                       "\x88"),
     BAL_CHECK_STATUS},
    {BAL_CHECK_GRPC, "",
     BYTES(FRAMES_HEAD "\0\0\4\3\0\0\0\0\1"
                       "\0\0\0\7"),
     BAL_CHECK_STATUS},
    {BAL_CHECK_GRPC, "", BYTES(FRAMES_HEAD "\0\0\x8\7\0\0\0\0\0"), BAL_CHECK_CLOSED},
    {BAL_CHECK_GRPC, "", BYTES(FRAMES_HEAD "\0\x40\1\0\0\0\0\0\1"), BAL_CHECK_MALFORMED},
    {BAL_CHECK_GRPC, "", BYTES("HTTP/1.1 400 Bad Request\r\n"), BAL_CHECK_MALFORMED},
    {BAL_CHECK_GRPC, "", BYTES("\0\0\1\1\4\0\0\0\1\x88"), BAL_CHECK_MALFORMED},
};

static struct bal_check_expected expectation(enum bal_check_protocol protocol, const char *text) {
    struct bal_check_expected expected = {.protocol = protocol, .uri = "/", .host = "app"};
    strcpy(expected.text, text);
    assert_true(bal_check_ranges_parse(&expected, "200-399", 7));
    return expected;
}

/* However its bytes are cut. */
static enum bal_check_result result_of(const struct bal_check_expected *expected, const char *bytes,
                                       size_t count, size_t piece) {
    struct bal_check_reader reader;
    enum bal_check_result result = BAL_CHECK_NONE;
    bal_check_reader_init(&reader, expected);
    for (size_t at = 0; result == BAL_CHECK_NONE && at < count; at += piece)
        result = bal_check_reader_add(&reader, (const unsigned char *)bytes + at,
                                      count - at < piece ? count - at : piece);
    return result == BAL_CHECK_NONE ? bal_check_reader_end(&reader) : result;
}

static void responses_mean_what_they_say(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
        const struct bal_check_expected expected = expectation(responses[i].protocol, responses[i].text);
        for (size_t piece = 1; piece <= responses[i].count + 1; piece++) {
            const enum bal_check_result result =
                result_of(&expected, responses[i].bytes, responses[i].count, piece);
            if (result != responses[i].result)
                print_error("response %zu in pieces of %zu: %s\n", i, piece, bal_check_result_name(result));
            assert_int_equal(result, responses[i].result);
        }
    }
}

/* Frames without end that say nothing: of settings, and messages of another stream. */
static void endless_frames_end(void **state) {
    static const char frame[] = "\0\0\0\4\0\0\0\0", other[] = "\0\x40\0\0\0\0\0\0\3";
    const struct bal_check_expected expected = expectation(BAL_CHECK_GRPC, "");
    struct bal_check_reader reader;
    enum bal_check_result result = BAL_CHECK_NONE;
    unsigned char data[16384] = {0};
    size_t bytes = 0;
    (void)state;
    bal_check_reader_init(&reader, &expected);
    for (; result == BAL_CHECK_NONE && bytes < 1 << 20; bytes += sizeof frame)
        result = bal_check_reader_add(&reader, (const unsigned char *)frame, sizeof frame);
    assert_int_equal(result, BAL_CHECK_MALFORMED);
    assert_true(bytes <= BAL_CHECK_FRAMES + sizeof frame);
    bal_check_reader_init(&reader, &expected);
    result = bal_check_reader_add(&reader, (const unsigned char *)frame, sizeof frame);
    for (int i = 0; result == BAL_CHECK_NONE && i < 100; i++) {
        result = bal_check_reader_add(&reader, (const unsigned char *)other, sizeof other - 1);
        if (result == BAL_CHECK_NONE)
            result = bal_check_reader_add(&reader, data, sizeof data);
    }
    assert_int_equal(result, BAL_CHECK_MALFORMED);
}

/* A header without end, and a body without end that has no such text. */
static void endless_responses_end(void **state) {
    static const char head[] = HEAD "A: ", body[] = HEAD "\r\n";
    struct bal_check_expected expected = expectation(BAL_CHECK_HTTP, "ab");
    char *bytes = malloc(1 << 18);
    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'a', 1 << 18);
    memcpy(bytes, head, sizeof head - 1);
    assert_int_equal(result_of(&expected, bytes, 1 << 18, 4096), BAL_CHECK_MALFORMED);
    memcpy(bytes, body, sizeof body - 1);
    assert_int_equal(result_of(&expected, bytes, 1 << 18, 4096), BAL_CHECK_BODY);
    free(bytes);
}

/* Any bytes at all: no reader reads or writes outside of its state (sanitizers watch). */
static void nonsense_is_survived(void **state) {
    struct bal_rng rng;
    (void)state;
    bal_rng_init(&rng, 5, 0, BAL_STREAM_NETWORK);
    for (int round = 0; round < 20000; round++) {
        const size_t i = bal_rng_below(&rng, sizeof responses / sizeof *responses);
        const struct bal_check_expected expected = expectation(responses[i].protocol, responses[i].text);
        char bytes[256];
        memcpy(bytes, responses[i].bytes, responses[i].count);
        for (int k = 0; k < 3 && responses[i].count; k++)
            bytes[bal_rng_below(&rng, (uint32_t)responses[i].count)] = (char)bal_rng_below(&rng, 256);
        (void)result_of(&expected, bytes, responses[i].count, 1 + bal_rng_below(&rng, 9));
    }
}

static void requests_fit(void **state) {
    struct bal_check_expected expected = expectation(BAL_CHECK_HTTP, "");
    char buffer[BAL_CHECK_REQUEST];
    (void)state;
    assert_int_equal(bal_check_request(&expected, buffer, sizeof buffer),
                     strlen("GET / HTTP/1.0\r\nHost: app\r\nUser-Agent: ballast-check\r\nAccept: */*\r\n"
                            "Connection: close\r\n\r\n"));
    memset(expected.uri, 'u', sizeof expected.uri - 1);
    memset(expected.host, 'h', sizeof expected.host - 1);
    memset(expected.text, 't', sizeof expected.text - 1);
    assert_true(bal_check_request(&expected, buffer, sizeof buffer) < sizeof buffer);
    /* Frames of HTTP/2: settings, a header of which the length is right, and a message of 5 and 258 bytes. */
    expected.protocol = BAL_CHECK_GRPC;
    const size_t size = bal_check_request(&expected, buffer, sizeof buffer);
    assert_true(size < sizeof buffer);
    size_t at = 24, frames = 0;
    for (; at < size; frames++)
        at += 9 + ((size_t)(unsigned char)buffer[at + 1] << 8 | (unsigned char)buffer[at + 2]);
    assert_int_equal(at, size);
    assert_int_equal(frames, 3);
    assert_int_equal((unsigned char)buffer[size - 263], 0);
    assert_int_equal(bal_check_request(&(struct bal_check_expected){0}, buffer, sizeof buffer), 0);
}

static void statuses_are_parsed(void **state) {
    struct bal_check_expected e = {0};
    static const char *const wrong[] = {"",     "20",      "200-", "-200", "200,,",
                                        "200,", "300-200", "99",   "600",  "2000"};
    (void)state;
    assert_true(bal_check_ranges_parse(&e, "200-399,404", 11));
    assert_int_equal(e.ranges, 2);
    assert_int_equal(e.range[0].from, 200);
    assert_int_equal(e.range[0].to, 399);
    assert_int_equal(e.range[1].from, 404);
    assert_int_equal(e.range[1].to, 404);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(bal_check_ranges_parse(&e, wrong[i], strlen(wrong[i])));
}

static void wrong_times_are_refused(void **state) {
    struct bal_check_config config = usual;
    struct bal_error err;
    (void)state;
    assert_int_equal(bal_check_config_check(&config, &err), BAL_OK);
    config.interval_ns = 9 * MS;
    assert_int_equal(bal_check_config_check(&config, &err), BAL_E_RANGE);
    config = usual;
    config.timeout_ns = 0;
    assert_int_equal(bal_check_config_check(&config, &err), BAL_E_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_servers_are_spread),
        cmocka_unit_test(missed_checks_are_spread),
        cmocka_unit_test(a_process_that_is_always_late_checks),
        cmocka_unit_test(gaps_are_drawn),
        cmocka_unit_test(one_process_checks),
        cmocka_unit_test(results_in_a_row_count),
        cmocka_unit_test(what_says_nothing_is_repeated),
        cmocka_unit_test(failing_servers_get_nothing),
        cmocka_unit_test(a_rebuild_keeps_what_is_known),
        cmocka_unit_test(mandatory_servers_wait_for_their_first_check),
        cmocka_unit_test(requests_wait_for_the_first_check),
        cmocka_unit_test(a_passing_check_does_not_end_an_ejection),
        cmocka_unit_test(checks_end_an_ejection_that_they_outlast),
        cmocka_unit_test(failing_servers_do_not_count_for_the_ejection),
        cmocka_unit_test(late_failures_do_not_count),
        cmocka_unit_test(reloads_change_how_is_checked),
        cmocka_unit_test(a_shorter_interval_counts_at_once),
        cmocka_unit_test(processes_take_over),
        cmocka_unit_test(responses_mean_what_they_say),
        cmocka_unit_test(endless_responses_end),
        cmocka_unit_test(endless_frames_end),
        cmocka_unit_test(nonsense_is_survived),
        cmocka_unit_test(requests_fit),
        cmocka_unit_test(statuses_are_parsed),
        cmocka_unit_test(wrong_times_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
