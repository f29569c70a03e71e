/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that are held at several dispatchers: the lab's network engine and the live core, each in its own
 * simulated time, send the same messages for each job and answer as fast.
 *
 * The live core is run by the engine live-core: blocks, tickets, datagrams. The network engine knows none of
 * these; they have the rules in common (policy/offers.h, policy/slot_requests.h and others), and what each
 * makes of them is compared. Times are in mean services of 5 ms: a delay of 0.02 unless stated otherwise, a
 * beat of 20, 2 for replies. Where delays vary messages overtake each other; where datagrams get lost,
 * servers are silent now and then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../agree.h"

enum { RUNS = 12, REQUESTS = 10000 };

struct size {
    uint32_t servers, slots, dispatchers;
    double delay; /* of each message; 0: 0.02. Below 0: exponential with that mean */
    double loss;
    double beat; /* 0: 20 */
};

static double delay_of(struct size fleet) {
    return fleet.delay == 0 ? 0.02 : fabs(fleet.delay);
}

static struct replications run_by(enum bli_engine engine, struct size fleet, double load,
                                  const char *policy) {
    struct bli_model model = {.load = load};
    struct bal_policy_spec spec;
    model.servers = (struct bli_servers){.groups = 1, .group = {{.count = fleet.servers, .speed = 1}}};
    model.slots = fleet.slots;
    assert_int_equal(bli_dist_parse("exp", &model.size, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(fleet.delay < 0 ? "exp" : "det", &model.network.delay, NULL), BAL_OK);
    bli_dist_scale(&model.network.delay, delay_of(fleet));
    model.network.loss = fleet.loss;
    model.network.dispatchers.count = fleet.dispatchers;
    model.network.heartbeat = fleet.beat > 0 ? fleet.beat : 20;
    model.network.timeout = model.network.heartbeat / 10;
    assert_int_equal(bal_policy_parse(policy, &spec, NULL), BAL_OK);
    const struct bli_run run = {.seed = 1,
                                .time = 1.1 * REQUESTS / bli_model_arrival_rate(&model),
                                .warmup = 1 / 11.0,
                                .engine = engine};
    return replicate(&model, &spec, &run, RUNS);
}

/* Two quantities of eighteen fleets under two policies: with 1e-6 for each the test fails by chance with a
 * probability below 1e-4. Two parts of a thousand are allowed on top: the two begin in different ways. */
static const double alarm = 1e-6, slack = 0.002;

static bool agree(struct size fleet, double load, const char *policy) {
    struct replications live = run_by(BLI_ENGINE_CORE, fleet, load, policy);
    struct replications lab = run_by(BLI_ENGINE_NETWORK, fleet, load, policy);
    char what[160];
    snprintf(what, sizeof what,
             "%s, %u servers of %u slots, %u dispatchers, load %g, delay %g, loss %g: live and lab", policy,
             fleet.servers, fleet.slots, fleet.dispatchers, load, fleet.delay, fleet.loss);
    double live_mean, lab_mean, error, live_time, lab_time;
    describe(&live, BLI_REPORTS_PER_JOB, &live_mean, &error);
    describe(&lab, BLI_REPORTS_PER_JOB, &lab_mean, &error);
    describe(&live, BLI_RESPONSE_MEAN, &live_time, &error);
    describe(&lab, BLI_RESPONSE_MEAN, &lab_time, &error);
    print_message("# %s: %.3f and %.3f messages, %.3f and %.3f services\n", what, live_mean, lab_mean,
                  live_time, lab_time);
    bool good = agrees(&live, &lab, BLI_RESPONSE_MEAN, alarm, slack, what);
    good &= agrees(&live, &lab, BLI_REPORTS_PER_JOB, alarm, slack, what);
    replications_free(&live);
    replications_free(&lab);
    return good;
}

static void check_policy(const char *policy) {
    bool good = agree((struct size){5, 1, 2}, 0.5, policy);
    good &= agree((struct size){10, 1, 4}, 0.05, policy);
    good &= agree((struct size){10, 1, 4}, 0.3, policy);
    good &= agree((struct size){10, 1, 4}, 0.8, policy);
    good &= agree((struct size){50, 1, 4}, 0.3, policy);
    good &= agree((struct size){50, 1, 4}, 0.9, policy);
    good &= agree((struct size){50, 1, 16}, 0.3, policy);
    good &= agree((struct size){120, 1, 8}, 0.6, policy);
    good &= agree((struct size){10, 3, 4}, 0.3, policy);
    good &= agree((struct size){10, 3, 4}, 0.8, policy);
    good &= agree((struct size){50, 8, 4}, 0.9, policy);
    assert_true(good);
}

static void held_jobs_cost_the_same_messages(void **state) {
    (void)state;
    check_policy("jiq:else=hold");
}

static void so_do_jobs_that_are_not_held(void **state) {
    (void)state;
    check_policy("jiq:else=least-conn");
}

/* A delay of a third of a service, and messages that overtake each other; one in a hundred lost, one in ten,
 * more than half. */
static void check_disturbed(const char *policy) {
    bool good = agree((struct size){10, 1, 4, .delay = 0.3}, 0.4, policy);
    good &= agree((struct size){10, 1, 4, .delay = -0.3}, 0.4, policy);
    good &= agree((struct size){10, 3, 4, .delay = -0.1}, 0.7, policy);
    good &= agree((struct size){20, 1, 4, .loss = 0.01}, 0.7, policy);
    good &= agree((struct size){20, 1, 4, .delay = -0.1, .loss = 0.1}, 0.4, policy);
    good &= agree((struct size){10, 3, 2, .delay = -0.1, .loss = 0.1}, 0.6, policy);
    good &= agree((struct size){10, 1, 4, .loss = 0.6}, 0.1, policy);
    assert_true(good);
}

static void held_jobs_do_so_where_messages_are_late_or_lost(void **state) {
    (void)state;
    check_disturbed("jiq:else=hold");
}

static void so_do_others_where_messages_are_late_or_lost(void **state) {
    (void)state;
    check_disturbed("jiq:else=least-conn");
}

static double messages_of(enum bli_engine engine, struct size fleet, const char *policy) {
    struct replications runs = run_by(engine, fleet, 0.3, policy);
    double mean, error;
    describe(&runs, BLI_REPORTS_PER_JOB, &mean, &error);
    replications_free(&runs);
    return mean;
}

/* At a load of 0.3, where hardly any server is needed by two, holding costs at most half as much again as not
 * holding, however many servers there are. To tell all of them of each job would cost 62 messages with 50. */
static void messages_do_not_grow_with_the_fleet(void **state) {
    (void)state;
    for (uint32_t servers = 50; servers <= 200; servers *= 2)
        for (uint32_t dispatchers = 4; dispatchers <= 16; dispatchers *= 4) {
            const struct size fleet = {servers, 1, dispatchers};
            const double hold = messages_of(BLI_ENGINE_NETWORK, fleet, "jiq:else=hold");
            const double own = messages_of(BLI_ENGINE_NETWORK, fleet, "jiq:else=least-conn");
            print_message("# %u servers, %u dispatchers: %.2f messages, %.2f not held\n", servers,
                          dispatchers, hold, own);
            assert_true(hold < 1.5 * own);
        }
}

/* The same with services of 50 ms where an answer takes 6 ms, and all stations would be told after 0.5, 2.5
 * and 5 ms. If no one waited for answers holding would cost three to seven times as much. */
static void late_answers_cost_no_more(void **state) {
    (void)state;
    static const uint32_t servers[] = {10, 50, 200};
    for (unsigned i = 0; i < sizeof servers / sizeof *servers; i++) {
        const struct size fleet = {servers[i], 1, 4, .delay = 0.06, .beat = 2};
        const double hold = messages_of(BLI_ENGINE_CORE, fleet, "jiq:else=hold");
        const double not_held = messages_of(BLI_ENGINE_CORE, fleet, "jiq:else=least-conn");
        print_message("# %u servers, a delay of 3 ms: %.2f datagrams, %.2f not held\n", servers[i], hold,
                      not_held);
        assert_true(hold < 1.5 * not_held);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_jobs_cost_the_same_messages),
        cmocka_unit_test(so_do_jobs_that_are_not_held),
        cmocka_unit_test(held_jobs_do_so_where_messages_are_late_or_lost),
        cmocka_unit_test(so_do_others_where_messages_are_late_or_lost),
        cmocka_unit_test(messages_do_not_grow_with_the_fleet),
        cmocka_unit_test(late_answers_cost_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
