/* SPDX-License-Identifier: BSD-2-Clause */
/* The contract on a real network, case by case: marks, reports that are lost, late or wrong, own counts,
 * holding, probes that take time, and what a host can do. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../goodness.h"
#include "../policy_host.h"

enum { N = 8 };

static void start(struct host *host, const char *policy) {
    struct bal_policy_spec spec;
    host_parse(policy, &spec);
    host_init(host, &spec, N, 700);
}

/* A heartbeat: the server is on and has so many jobs. */
static void tell_on(struct host *host, uint32_t server, uint32_t length) {
    const struct bal_server_state present = {.load = {.length = length}};
    bal_policy_sync_server(&host->spec, host->state, &host->fleet, server, &present);
}

static void tell_standing(struct host *host, uint32_t server, enum bal_server_status standing) {
    const struct bal_server_state present = {.status = standing};
    bal_policy_sync_server(&host->spec, host->state, &host->fleet, server, &present);
}

static struct bal_set *set_new(void) {
    struct bal_set *set = host_block(bal_set_size(N));
    bal_set_init(set, N);
    return set;
}

/* ---- reports ---- */

/* pi: the report of server 3 is lost. Nobody uses it, so that it has nothing new to report; its heartbeat
 * brings it back. */
static void a_lost_idle_report_is_mended_by_a_heartbeat(void **state) {
    (void)state;
    struct host host;
    start(&host, "pi");
    for (uint32_t server = 0; server < N; server++)
        if (server != 3)
            host_report(&host, BAL_REPORT_IDLE, server);
    uint64_t used = 0;
    for (int job = 0; job < 10000; job++) {
        const uint32_t to = host_route(&host, 1, false).server;
        used += to == 3;
        host_report(&host, BAL_REPORT_IDLE, to);
    }
    assert_int_equal(used, 0);
    for (int job = 0; job < 10000; job++) {
        if (job % 100 == 0)
            tell_on(&host, 3, 0);
        const uint32_t to = host_route(&host, 1, false).server;
        used += to == 3;
        host_report(&host, BAL_REPORT_IDLE, to);
    }
    assert_true(used > 1000);
    host_fini(&host);
}

/* An empty server whose token lies elsewhere is idle to nobody else, whatever was said before. */
static void a_promised_server_is_not_idle(void **state) {
    (void)state;
    struct host host;
    start(&host, "jiq");
    host_report_all(&host);
    assert_int_equal(bal_policy_tokens(&host.spec, host.state), N);
    for (uint32_t server = 0; server < N; server++) {
        const struct bal_server_state present = {.offered_elsewhere = true};
        bal_policy_sync_server(&host.spec, host.state, &host.fleet, server, &present);
    }
    assert_int_equal(bal_policy_tokens(&host.spec, host.state), 0);
    host_fini(&host);
}

/* Tokens that have been taken back, because the server is busy, off or gone, are not used; when it has left
 * or is not on it gets no job without a token either, where the policy knows. */
static void what_was_said_is_taken_back(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq", "pi", "rcpb:c=7,mu=1", "tabs", "lsq"};
    for (size_t i = 0; i < 5; i++) {
        struct host host;
        start(&host, policies[i]);
        const bool tokens = host.spec.policy->tokens;
        host_report_all(&host);
        assert_true(!tokens || bal_policy_tokens(&host.spec, host.state) >= N - 1);
        for (uint32_t server = 0; server < N; server++)
            tell_on(&host, server, 1);
        assert_int_equal(bal_policy_tokens(&host.spec, host.state), 0);
        host_report_all(&host);
        for (uint32_t server = 0; server < N; server++)
            if (server != 5)
                tell_standing(&host, server, server % 2 ? BAL_SERVER_GONE : BAL_SERVER_OFF);
        tell_on(&host, 5, 1);
        assert_int_equal(bal_policy_tokens(&host.spec, host.state), 0);
        if (host.spec.policy->wants & (BAL_WANTS_POWER | BAL_WANTS_LOAD))
            for (int job = 0; job < 100; job++)
                assert_int_equal(host_route(&host, 1, false).server, 5);
        tell_on(&host, 3, 0);
        host_report(&host, BAL_REPORT_STILL_IDLE, 3);
        assert_int_equal(host_route(&host, 1, false).server, 3);
        host_fini(&host);
    }
}

/* Nobody has been idle yet: uniform. False alarm: 2e-6. */
static void pi_begun_on_a_busy_fleet_spreads_its_jobs(void **state) {
    (void)state;
    struct host host;
    start(&host, "pi");
    for (uint32_t server = 0; server < N; server++)
        tell_on(&host, server, 2);
    uint64_t count[N] = {0};
    for (int job = 0; job < 20000; job++)
        count[host_route(&host, 1, false).server]++;
    const double p[N] = {1. / N, 1. / N, 1. / N, 1. / N, 1. / N, 1. / N, 1. / N, 1. / N};
    assert_fits("pi on a busy fleet", p, count, N);
    host_report(&host, BAL_REPORT_IDLE, 5);
    for (int job = 0; job < 100; job++)
        assert_int_equal(host_route(&host, 1, false).server, 5); /* from then on it persists */
    host_report(&host, BAL_REPORT_GONE, 5);
    uint64_t again = 0;
    for (int job = 0; job < 1000; job++)
        again += host_route(&host, 1, false).server == 5;
    assert_true(again < 300);
    host_fini(&host);
}

static void an_idle_report_after_off_leaves_a_server_in_one_set(void **state) {
    (void)state;
    struct host host;
    start(&host, "tabs");
    host_report(&host, BAL_REPORT_OFF, 2);
    host_report(&host, BAL_REPORT_IDLE, 2); /* it was sent before, and overtaken */
    assert_true(bal_policy_is_consistent(&host.spec, &host.setting, host.state));
    assert_int_equal(host_route(&host, 1, false).server, 2); /* it is believed */
    for (int job = 0; job < 100; job++)                      /* but not woken, too */
        assert_true(host_route(&host, 1, false).wake == BAL_NONE);
    host_report(&host, BAL_REPORT_OFF, 2); /* the truth again */
    const struct bal_decision decision = host_route(&host, 1, false);
    assert_true(decision.server != 2 && decision.wake == 2);
    assert_true(bal_policy_is_consistent(&host.spec, &host.setting, host.state));
    host_fini(&host);
}

/* Every wake is lost, and no heartbeat comes either: each job that is refused wakes again, everybody in turn.
 */
static void lost_wakes_do_not_put_tabs_to_sleep_for_ever(void **state) {
    (void)state;
    struct host host;
    start(&host, "tabs");
    for (uint32_t server = 0; server < N; server++)
        host_report(&host, BAL_REPORT_OFF, server);
    for (int job = 0; job < N; job++)
        assert_true(host_route(&host, 1, false).wake < N); /* lost */
    bool woken[N] = {false};
    for (int job = 0; job < N; job++) {
        const struct bal_decision decision = host_route(&host, 1, false);
        assert_true(decision.server == BAL_NONE && decision.wake < N);
        woken[decision.wake] = true;
    }
    for (uint32_t server = 0; server < N; server++)
        assert_true(woken[server]);
    /* With somebody on a wake that was lost is told by the heartbeat of the server that still is off. */
    host_report(&host, BAL_REPORT_ON, 0);
    assert_int_equal(host_route(&host, 1, false).server, 0);
    assert_true(host_route(&host, 1, false).wake == BAL_NONE);
    tell_standing(&host, 6, BAL_SERVER_OFF);
    assert_true(host_route(&host, 1, false).wake == 6);
    host_fini(&host);
}

/* A job that is held is asked for again at every report; that is no reason to start one more server each
 * time. But when a start has failed, so that fewer are in set-up than wait, another is. */
static void a_held_job_wakes_one_server_and_not_all(void **state) {
    (void)state;
    struct host host;
    start(&host, "tabs:else=hold");
    for (uint32_t server = 1; server < N; server++)
        host_report(&host, BAL_REPORT_OFF, server);
    const uint32_t woken = host_route(&host, 1, false).wake;
    assert_true(woken >= 1 && woken < N);
    const struct bal_job held = {.count = 1, .held = 1};
    for (int beat = 0; beat < 50; beat++) {
        const struct bal_decision decision =
            bal_policy_route(&host.spec, host.state, &host.fleet, &held, &host.rng);
        assert_true(decision.server == BAL_HOLD && decision.wake == BAL_NONE);
    }
    host_report(&host, BAL_REPORT_OFF, woken);
    assert_true(bal_policy_route(&host.spec, host.state, &host.fleet, &held, &host.rng).wake < N);
    assert_true(bal_policy_route(&host.spec, host.state, &host.fleet, &held, &host.rng).wake == BAL_NONE);
    assert_true(host_route(&host, 1, false).wake < N); /* a new one wakes one more */
    host_fini(&host);
}

static void a_number_out_of_range_is_refused(void **state) {
    (void)state;
    static const uint32_t wrong[] = {N, N + 1, 1u << 31, BAL_HOLD, BAL_NONE};
    for (size_t i = 0; i < bal_policy_count; i++) {
        struct host host;
        start(&host, bal_policy_table[i]->name);
        const size_t size = bal_policy_size(&host.spec, &host.setting);
        void *before = host_block(size);
        memcpy(before, host.state, size);
        const struct bal_reply load = {1, 0, 1};
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            for (unsigned what = 0; what < 40; what++)
                assert_false(bal_policy_report(&host.spec, host.state, &host.fleet, (enum bal_report)what,
                                               wrong[k], &load));
            bal_policy_response(&host.spec, host.state, &host.fleet, wrong[k], 1, false);
            tell_on(&host, wrong[k], 0);
        }
        for (int what = BAL_REPORT_LOAD + 1; what < 100; what++)
            assert_false(
                bal_policy_report(&host.spec, host.state, &host.fleet, (enum bal_report)what, 0, &load));
        assert_false(bal_policy_report(&host.spec, host.state, &host.fleet, BAL_REPORT_LOAD, 0, NULL));
        assert_memory_equal(before, host.state, size);
        free(before);
        host_fini(&host);
    }
}

/* Set up for 8, and then there are 4: whatever was remembered. */
static void a_fleet_that_shrinks_is_kept_to(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count + 1; i++) {
        struct host host;
        start(&host, i < bal_policy_count ? bal_policy_table[i]->name : "pod:d=3,replace=0");
        host_report_all(&host);
        for (int job = 0; job < 21; job++)
            host_route(&host, 1, false);
        host_report_all(&host);
        host.fleet.servers = 4;
        for (int job = 0; job < 1000; job++) {
            const struct bal_decision decision = host_route(&host, 1, false);
            if (decision.server >= 4)
                fail_msg("policy %s: server %u of 4", host.spec.policy->name, decision.server);
        }
        host_fini(&host);
    }
}

/* ---- marks ---- */

/* One server after the other is closed; the last is closed, too; then one opens. */
static void closed_servers_are_left_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++) {
        struct host host;
        start(&host, bal_policy_table[i]->name);
        struct bal_set *open = set_new();
        for (uint32_t server = 0; server < N; server++)
            bal_set_insert(open, server);
        host.fleet.eligible = open;
        for (uint32_t closed = 0; closed < N; closed++) {
            host_report_all(&host);
            bal_set_remove(open, (closed * 3) % N);
            for (int job = 0; job < 50; job++) {
                const struct bal_decision decision = host_route(&host, 1, false);
                const bool none = decision.server == BAL_NONE && open->count == 0;
                if (!none && !bal_set_contains(open, decision.server))
                    fail_msg("policy %s: server %u is closed", host.spec.policy->name, decision.server);
            }
        }
        bal_set_insert(open, 6);
        assert_int_equal(host_route(&host, 1, false).server, 6);
        free(open);
        host_fini(&host);
    }
}

/* A token of a server that is closed for a while is not lost. */
static void a_token_outlives_a_closed_door(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq", "pi", "rcpb:c=5,mu=1", "tabs"};
    for (size_t i = 0; i < 4; i++) {
        struct host host;
        start(&host, policies[i]);
        for (uint32_t server = 0; server < N; server++)
            tell_on(&host, server, 1);
        host_report(&host, BAL_REPORT_IDLE, 3);
        host_report(&host, BAL_REPORT_STILL_IDLE, 3);
        struct bal_set *open = set_new();
        for (uint32_t server = 4; server < N; server++)
            bal_set_insert(open, server);
        host.fleet.eligible = open;
        assert_true(host_route(&host, 1, false).server >= 4);
        bal_set_insert(open, 3);
        assert_int_equal(host_route(&host, 1, false).server, 3);
        free(open);
        host_fini(&host);
    }
}

/* Among the open ones with a token each is as likely as any other. False alarm: 2e-6 for each. */
static void open_tokens_are_drawn_uniformly(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq",        "pi", "tabs", "random", "pod:d=2,replace=0",
                                           "least-conn", "lsq"};
    for (size_t i = 0; i < 7; i++) {
        struct host host;
        start(&host, policies[i]);
        struct bal_set *open = set_new();
        for (uint32_t server = 0; server < N; server += 2)
            bal_set_insert(open, server);
        host.fleet.eligible = open;
        uint64_t count[N] = {0};
        for (int draw = 0; draw < 20000; draw++) {
            bal_policy_init(&host.spec, &host.setting, host.state);
            for (uint32_t server = 0; server < N; server++)
                host_report(&host, BAL_REPORT_IDLE, server);
            count[host_route(&host, 1, false).server]++;
        }
        const double p[N] = {0.25, 0, 0.25, 0, 0.25, 0, 0.25, 0};
        assert_fits(policies[i], p, count, N);
        free(open);
        host_fini(&host);
    }
}

/* ---- own counts, weights, holding ---- */

static void own_counts_decide_without_a_token(void **state) {
    (void)state;
    struct host host;
    start(&host, "jiq:else=least-conn");
    uint32_t own[N] = {3, 2, 5, 1, 4, 1, 2, 9};
    host.fleet.own = own;
    uint64_t count[N] = {0};
    for (int draw = 0; draw < 10000; draw++)
        count[host_route(&host, 1, false).server]++;
    const double p[N] = {0, 0, 0, 0.5, 0, 0.5, 0, 0};
    assert_fits("jiq:else=least-conn", p, count, N);
    const double weight[N] = {1, 1, 10, 1, 1, 1, 1, 1};
    host.fleet.weight = weight; /* 5 over 10 is the least */
    assert_int_equal(host_route(&host, 1, false).server, 2);
    assert_true(host.fleet.probes == 0);
    host_report(&host, BAL_REPORT_IDLE, 7);
    assert_int_equal(host_route(&host, 1, false).server, 7); /* a token goes first */
    host_fini(&host);

    /* The better of two different ones: k of the other 7 are worse than a server with k below it. */
    start(&host, "jiq:else=least-conn2");
    uint32_t ranks[N] = {0, 1, 2, 3, 4, 5, 6, 7};
    host.fleet.own = ranks;
    uint64_t count2[N] = {0};
    double p2[N];
    for (int draw = 0; draw < 20000; draw++)
        count2[host_route(&host, 1, false).server]++;
    for (int server = 0; server < N; server++)
        p2[server] = (N - 1 - server) / (N * (N - 1) / 2.0);
    assert_fits("jiq:else=least-conn2", p2, count2, N);
    host_fini(&host);
}

/* tabs compares busy servers alone: those that are off have no requests either. */
static void tabs_compares_busy_servers_alone(void **state) {
    (void)state;
    struct host host;
    start(&host, "tabs:else=least-conn");
    uint32_t own[N] = {0};
    host.fleet.own = own;
    for (uint32_t server = 0; server < N; server++)
        if (server < 4)
            tell_standing(&host, server, BAL_SERVER_OFF);
        else
            tell_on(&host, server, 1);
    for (int job = 0; job < 100; job++) {
        const uint32_t to = host_route(&host, 1, false).server;
        assert_true(to >= 4 && to < N);
        for (uint32_t server = 4; server < N; server++)
            assert_true(own[to] <= own[server]);
        own[to]++;
        if (job % 3 == 2) {
            own[to]--;
            bal_policy_response(&host.spec, host.state, &host.fleet, to, 1, false);
        }
        assert_true(bal_policy_is_consistent(&host.spec, &host.setting, host.state));
    }
    host_fini(&host);
}

/* The job waits at the dispatcher until a token comes, or until it may not wait any longer. */
static void a_job_without_a_token_is_held(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq:else=hold", "rcpb:c=3,mu=1,else=hold", "tabs:else=hold"};
    for (size_t i = 0; i < 3; i++) {
        struct host host;
        start(&host, policies[i]);
        const struct bal_host no_patience = {"this proxy", BAL_CAN_ALL & ~BAL_CAN_HOLD};
        struct bal_error err;
        assert_int_equal(bal_policy_check(&host.spec, &host.setting, &no_patience, &err), BAL_E_MODEL);
        assert_non_null(strstr(err.text, "needs a dispatcher that can hold jobs, which this proxy does not"));
        assert_int_equal(host_route(&host, 1, false).server, BAL_HOLD);
        assert_int_equal(host_route(&host, 1, false).server, BAL_HOLD);
        host_report(&host, BAL_REPORT_IDLE, 4);
        host_report(&host, BAL_REPORT_STILL_IDLE, 4);
        assert_int_equal(bal_policy_tokens(&host.spec, host.state), 1);
        assert_int_equal(host_route(&host, 1, false).server, 4);
        assert_int_equal(host_route(&host, 1, false).server, BAL_HOLD);
        const struct bal_job job = {.count = 1, .at_once = true};
        for (int draw = 0; draw < 100; draw++)
            assert_true(bal_policy_route(&host.spec, host.state, &host.fleet, &job, &host.rng).server < N);
        host_fini(&host);
    }
}

/* ---- probes that take time ---- */

/* Asking first and deciding afterwards is the same decision when nothing has happened in between: to the last
 * draw, but for pod-ssp, which breaks ties while it asks. */
static void asking_first_decides_alike(void **state) {
    (void)state;
    static const char *const policies[] = {
        "pod:d=2",           "pod:d=3,replace=0", "jsq", "least-work",       "pod-memory:d=2,b=2",
        "pod-scp:d1=1,d2=3", "pod-sep:d=2",       "jiq", "pod-ssp:d1=2,d2=1"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct host once, twice;
        start(&once, policies[i]);
        start(&twice, policies[i]);
        struct bal_rng rng;
        bal_rng_init(&rng, 701, i, BAL_STREAM_TEST);
        for (int step = 0; step < 2000; step++) {
            const uint32_t rank = bal_rng_below(&rng, 2), leaves = bal_rng_below(&rng, N);
            const struct bal_job job = {.count = 1, .rank = rank};
            const struct bal_decision a =
                bal_policy_route(&once.spec, once.state, &once.fleet, &job, &once.rng);
            uint32_t sample[64];
            const uint32_t samples =
                bal_policy_sample(&twice.spec, twice.state, &twice.fleet, &job, &twice.rng);
            memcpy(sample, twice.ask, samples * sizeof *sample);
            twice.fleet.asks = 0;
            twice.fleet.sample = samples ? sample : NULL;
            twice.fleet.samples = samples;
            const struct bal_decision b =
                bal_policy_route(&twice.spec, twice.state, &twice.fleet, &job, &twice.rng);
            twice.fleet.sample = NULL;
            if (a.server != b.server || a.move_to != b.move_to || once.fleet.probes != twice.fleet.probes)
                fail_msg("%s, job %d: %u and %u", policies[i], step, a.server, b.server);
            once.rank = twice.rank = rank;
            host_join(&once, a, &rng);
            memcpy(twice.length, once.length, N * sizeof *once.length);
            memcpy(twice.urgent, once.urgent, N * sizeof *once.urgent);
            memcpy(twice.work, once.work, N * sizeof *once.work);
            host_leave(&once, leaves);
            host_leave(&twice, leaves);
        }
        host_fini(&once);
        host_fini(&twice);
    }
}

/* Nobody has answered in time, or those that did are closed by now: a uniform open server. */
static void without_an_answer_any_open_server_will_do(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++) {
        if (!bal_policy_table[i]->sample)
            continue;
        struct host host;
        start(&host, bal_policy_table[i]->name);
        struct bal_set *open = set_new();
        for (uint32_t server = 0; server < 4; server++)
            bal_set_insert(open, server);
        host.fleet.eligible = open;
        const uint32_t closed[] = {5, 6};
        uint64_t count[4] = {0};
        for (int draw = 0; draw < 8000; draw++) {
            host.fleet.sample = closed;
            host.fleet.samples = draw % 2 ? 2 : 0;
            const uint32_t to = host_route(&host, 1, false).server;
            assert_true(to < 4);
            count[to]++;
        }
        const double p[4] = {0.25, 0.25, 0.25, 0.25};
        assert_fits(host.spec.policy->name, p, count, 4);
        assert_true(host.fleet.probes == 0);
        free(open);
        host_fini(&host);
    }
}

/* ---- what a host can do ---- */

/* A host that can do all but one thing refuses exactly those policies that need it, in one line that names
 * both. */
static void a_host_that_lacks_something_says_what(void **state) {
    (void)state;
    const struct bal_policy_context setting = {N, 0.9};
    for (size_t i = 0; i < bal_policy_count; i++) {
        struct bal_policy_spec spec;
        host_parse(bal_policy_table[i]->name, &spec);
        const unsigned needs = bal_policy_needs(&spec);
        assert_true((needs & ~(unsigned)BAL_CAN_ALL) == 0);
        for (unsigned can = 1; can < BAL_CAN_ALL; can <<= 1) {
            const struct bal_host host = {"a host like this", BAL_CAN_ALL & ~can};
            struct bal_error err;
            const enum bal_code code = bal_policy_check(&spec, &setting, &host, &err);
            assert_int_equal(code, needs & can ? BAL_E_MODEL : BAL_OK);
            assert_true(!code ||
                        (strstr(err.text, spec.policy->name) && strstr(err.text, "a host like this")));
        }
        const struct bal_host enough = {"just enough", needs};
        assert_int_equal(bal_policy_check(&spec, &setting, &enough, NULL), BAL_OK);
    }
}

/* What needs are made of. */
static void needs_are_told(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        unsigned needs;
    } cases[] = {
        {"random", 0},
        {"pod:d=2", BAL_CAN_PROBE},
        {"least-work", BAL_CAN_PROBE | BAL_CAN_WORK},
        {"pod-ssp", BAL_CAN_PROBE | BAL_CAN_RANKS | BAL_CAN_MOVE},
        {"jiq", BAL_CAN_IDLE},
        {"jiq:else=least-conn", BAL_CAN_IDLE | BAL_CAN_OWN},
        {"jiq:else=hold", BAL_CAN_IDLE | BAL_CAN_HOLD},
        {"rcpb:else=least-conn2", BAL_CAN_STILL_IDLE | BAL_CAN_OWN},
        {"tabs", BAL_CAN_IDLE | BAL_CAN_POWER | BAL_CAN_REFUSE},
        {"tabs:abort=yes", BAL_CAN_IDLE | BAL_CAN_POWER | BAL_CAN_REFUSE | BAL_CAN_ABORT},
        {"tabs:off=discard", BAL_CAN_IDLE | BAL_CAN_POWER | BAL_CAN_REFUSE | BAL_CAN_DISCARD},
        {"tabs:else=least-conn",
         BAL_CAN_IDLE | BAL_CAN_POWER | BAL_CAN_REFUSE | BAL_CAN_OWN | BAL_CAN_RESPONSES},
        {"rate-idle", BAL_CAN_IDLE | BAL_CAN_POWER | BAL_CAN_REFUSE | BAL_CAN_OWN},
        {"last-idle", BAL_CAN_STILL_IDLE},
        {"board", BAL_CAN_PROBE | BAL_CAN_TIME},
        {"least-conn", BAL_CAN_OWN},
        {"lsq", BAL_CAN_LOAD},
        {"lsq:d=1", BAL_CAN_LOAD | BAL_CAN_ASK},
        {"ewma", BAL_CAN_OWN | BAL_CAN_TIME | BAL_CAN_RESPONSES},
        {"prequal", BAL_CAN_ASK | BAL_CAN_TIME | BAL_CAN_LOAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bal_policy_spec spec;
        host_parse(cases[i].policy, &spec);
        if (bal_policy_needs(&spec) != cases[i].needs)
            fail_msg("%s needs %x", cases[i].policy, bal_policy_needs(&spec));
    }
}

/* Those that say that route and sample only read do not write; the others do, sooner or later. */
static void route_writes_nothing_where_it_says_so(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++) {
        struct host host;
        start(&host, bal_policy_table[i]->name);
        host_report_all(&host);
        for (uint32_t server = 0; server < N; server++)
            host_report_load(&host, server);
        const size_t size = bal_policy_size(&host.spec, &host.setting);
        void *before = host_block(size);
        memcpy(before, host.state, size);
        bool written = false;
        for (uint32_t step = 0; step < 200; step++) {
            const struct bal_job job = {.count = 1, .rank = step % 2};
            host.length[step % N] = step % 5;
            bal_policy_route(&host.spec, host.state, &host.fleet, &job, &host.rng);
            bal_policy_sample(&host.spec, host.state, &host.fleet, &job, &host.rng);
            written = written || memcmp(before, host.state, size) != 0;
            bal_policy_response(&host.spec, host.state, &host.fleet, step % N, 1, false);
        }
        const bool reads_only = bal_policy_flags(&host.spec) & BAL_READS_ONLY;
        if (written == reads_only)
            fail_msg("policy %s: route %s its state", host.spec.policy->name,
                     written ? "writes" : "does not write");
        free(before);
        host_fini(&host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_idle_report_is_mended_by_a_heartbeat),
        cmocka_unit_test(a_promised_server_is_not_idle),
        cmocka_unit_test(what_was_said_is_taken_back),
        cmocka_unit_test(pi_begun_on_a_busy_fleet_spreads_its_jobs),
        cmocka_unit_test(an_idle_report_after_off_leaves_a_server_in_one_set),
        cmocka_unit_test(lost_wakes_do_not_put_tabs_to_sleep_for_ever),
        cmocka_unit_test(a_held_job_wakes_one_server_and_not_all),
        cmocka_unit_test(a_number_out_of_range_is_refused),
        cmocka_unit_test(a_fleet_that_shrinks_is_kept_to),
        cmocka_unit_test(closed_servers_are_left_alone),
        cmocka_unit_test(a_token_outlives_a_closed_door),
        cmocka_unit_test(open_tokens_are_drawn_uniformly),
        cmocka_unit_test(own_counts_decide_without_a_token),
        cmocka_unit_test(tabs_compares_busy_servers_alone),
        cmocka_unit_test(a_job_without_a_token_is_held),
        cmocka_unit_test(asking_first_decides_alike),
        cmocka_unit_test(without_an_answer_any_open_server_will_do),
        cmocka_unit_test(a_host_that_lacks_something_says_what),
        cmocka_unit_test(needs_are_told),
        cmocka_unit_test(route_writes_nothing_where_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
