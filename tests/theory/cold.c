/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that come back cold, against integrals; and slow start in the lab: how many jobs a server gets
 * that has come back, against the share that it may have.
 *
 * Seeds are fixed. A mean may be 4.5 standard errors off (Student's t, 19 degrees of freedom: 2.5e-4 each)
 * and 1 % more, because at this load jobs sometimes meet others or a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "close.h"
#include "engine/network_engine.h"
#include "exact.h"

enum { RUNS = 20 };

static struct bli_model churning(const char *servers, const char *size, double load, const char *churn,
                                 const char *cold) {
    struct bli_model model = model_of(servers, size, load);
    struct bal_error err;
    if (bli_churn_parse(churn, &model.network.churn, &err) || bli_cold_parse(cold, &model.network.cold, &err))
        fail_msg("%s", err.text);
    return model;
}

/* ---- one server, so few jobs that none waits ---- */

static void assert_response(const struct bli_model *model, double known, const char *what) {
    const struct bal_policy_spec spec = policy_of("random");
    const struct bli_run run = {.seed = 77, .time = 40000 / bli_model_arrival_rate(model), .warmup = 0.05};
    struct replications r = replicate(model, &spec, &run, RUNS);
    assert_mean(&r, BLI_RESPONSE_MEAN, known, 0.01, what);
    replications_free(&r);
}

/* The age of an exponential time at which the server works is exponential where jobs come. */
static double mean_by_time(double factor, double over, double up) {
    const double ends = over / up;
    return 1 + (factor - 1) * (1 - (1 - exp(-ends)) / ends);
}

/* The k-th job after a return comes with probability p^(k+1), p being that one comes before the failure. */
static double mean_by_jobs(double factor, double over, double rate, double up) {
    const double p = rate * up / (1 + rate * up);
    double extra = 0;
    for (double k = 0; k < over; k++)
        extra += (factor - 1) * (1 - k / over) * pow(p, k + 1);
    return 1 + extra * (1 - p) / p;
}

static void cold_servers_are_as_slow_as_the_law(void **state) {
    (void)state;
    const struct bli_model by_time = churning("1", "det(1)", 0.002, "10000,100,lose", "6,8000"),
                           by_jobs = churning("1", "det(1)", 0.002, "10000,100,lose", "6,25,jobs"),
                           at_once = churning("1", "det(1)", 0.002, "10000,100,lose", "1,8000");
    assert_response(&by_time, mean_by_time(6, 8000, 10000), "time");
    assert_response(&by_jobs, mean_by_jobs(6, 25, 0.002, 10000), "jobs");
    assert_response(&at_once, 1, "a factor of 1");
}

/* ---- slow start ---- */

struct counting {
    const struct network *net;
    double from, to;
    unsigned jobs, first; /* that were sent in that time: all, and to server 0 */
};

static void count_sent(void *context, const struct message *message) {
    struct counting *c = context;
    if (message->type != JOB || !(c->net->now >= c->from && c->net->now < c->to))
        return;
    c->jobs++;
    c->first += message->server == 0;
}

static void ignore_job(void *context, uint32_t job) {
    (void)context, (void)job;
}

static void ignore_message(void *context, const struct message *message) {
    (void)context, (void)message;
}

/* The part of all jobs that server 0 gets from 10 to 10 + `span` after it has come back from a restart. */
static double share_after_restart(const char *policy, double slow_start, double span) {
    struct bli_model model = model_of("10", "exp", 0.5);
    struct bal_error err;
    const struct bal_policy_spec spec = policy_of(policy);
    unsigned jobs = 0, first = 0;
    model.network.heartbeat = 0.5;
    model.network.slow_start = slow_start;
    if (bli_network_events_parse("restart-servers:0.1@100+1", &model.network.events, &err))
        fail_msg("%s", err.text);
    for (unsigned i = 0; i < 40; i++) {
        const struct bli_run run = {.seed = 5, .replication = i, .time = 700};
        struct network *net;
        struct bli_trial trial = {0};
        if (bli_network_open(&model, &spec, &run, &net, &err))
            fail_msg("%s: %s", policy, err.text);
        struct counting counting = {.net = net, .from = 120, .to = 120 + span};
        const struct network_observer observer = {&counting, ignore_job, count_sent, ignore_message};
        net->observer = &observer;
        enum bal_code code = BAL_OK;
        while (!code)
            code = bli_network_step(net);
        assert_int_equal(bli_network_close(net, code, &trial, &err), BAL_OK);
        jobs += counting.jobs;
        first += counting.first;
    }
    assert_true(jobs > 1000);
    return (double)first / jobs;
}

/* It was back by 110 at the latest, and the share is the same for every policy. 40 runs have some 20000 jobs
 * in 100 units of time, of which a tenth is 2000; five standard deviations of the share are below 0.012. */
static void a_server_that_is_back_gets_a_growing_share(void **state) {
    (void)state;
    static const char *const policies[] = {"random", "round-robin", "least-conn", "least-conn:d=2",
                                           "pod:d=2"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const double early = share_after_restart(policies[i], 400, 100),
                     late = share_after_restart(policies[i], 400, 500),
                     at_once = share_after_restart(policies[i], 0, 100);
        /* From 10 or 20 to 120 of 400: about 17 % of a tenth, and never more than 30 %. */
        if (!(early > 0.004 && early < 0.03 + 0.006))
            fail_msg("%s: the server gets %g of the jobs at first", policies[i], early);
        if (!(late > early + 0.01))
            fail_msg("%s: the share does not grow: %g, then %g", policies[i], early, late);
        if (!(fabs(at_once - 0.1) < 0.012))
            fail_msg("%s: without slow start the server gets %g of the jobs", policies[i], at_once);
    }
}

/* ---- texts, and what cannot be had ---- */

static void laws_have_texts(void **state) {
    (void)state;
    static const char *const good[] = {"none", "5,20", "1,0.5", "2.5,100,jobs"},
                             *const bad[] = {"", "5", "0.5,20", "5,0", "5,20,times", "5,20,jobs,x", "x,20"};
    struct bli_cold cold = {.factor = 3, .over = 4}, before;
    struct bal_error err;
    char text[100];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(bli_cold_parse(good[i], &cold, &err), BAL_OK);
        assert_int_equal(bli_cold_print(&cold, text, sizeof text), strlen(good[i]));
        assert_string_equal(text, good[i]);
    }
    before = cold;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(bli_cold_parse(bad[i], &cold, &err), BAL_E_SYNTAX);
        assert_memory_equal(&cold, &before, sizeof cold);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cold_servers_are_as_slow_as_the_law),
        cmocka_unit_test(a_server_that_is_back_gets_a_growing_share),
        cmocka_unit_test(laws_have_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
