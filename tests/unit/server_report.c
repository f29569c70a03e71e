/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of load: what include/ballast/live/server_report.h promises of any text, and what a dispatcher does
 * with them, late, absent, false or hostile. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live/dispatcher_private.h"

#define MS UINT64_C(1000000)

/* ---- texts ---- */

static const struct bal_load_fields engine = {.running = "named_metrics.num_requests_running",
                                              .waiting = "named_metrics.num_requests_waiting",
                                              .utilization = "named_metrics.kv_cache_usage_perc"};
static const struct bal_load_fields standard = {.running = ""};

/* The text is read from memory that ends with it, so that a byte too far is seen by sanitizers. */
static bool is_read(const struct bal_load_fields *fields, const char *text, struct bal_load_report *report) {
    const size_t length = strlen(text);
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    const bool good = bal_load_report_read(fields, copy, length, report);
    free(copy);
    if (!good)
        assert_true(isnan(report->running) && isnan(report->waiting) && isnan(report->utilization));
    return good;
}

static void both_forms_say_the_same(void **state) {
    (void)state;
    static const char *const texts[] = {
        "TEXT named_metrics.kv_cache_usage_perc=0.25, named_metrics.num_requests_waiting=3.0, "
        "named_metrics.num_requests_running=12",
        "TEXT cpu_utilization=0.9,named_metrics.num_requests_running=12,named_metrics.num_requests_waiting=3,"
        "named_metrics.kv_cache_usage_perc=2.5e-1",
        "JSON {\"named_metrics\": {\"kv_cache_usage_perc\": 0.25, \"num_requests_waiting\": 3.0, "
        "\"num_requests_running\": 12}}",
        " JSON\t{\"eps\":-1,\"utilization\":{\"a\":{\"num_requests_waiting\":7}},\"x\":\"a\\\"b\\\\\","
        "\"named_metrics\":{\"num_requests_waiting\":3,\"num_requests_running\":12,"
        "\"kv_cache_usage_perc\":0.25},\"y\":null,\"z\":true,\"e\":{}} ",
    };
    struct bal_load_report report;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(is_read(&engine, texts[i], &report));
        assert_true(report.running == 12 && report.waiting == 3 && report.utilization == 0.25);
    }
}

static void the_standard_fields_of_utilization(void **state) {
    (void)state;
    struct bal_load_report report;
    assert_true(is_read(&standard, "TEXT cpu_utilization=0.3, mem_utilization=0.8", &report));
    assert_true(report.utilization == 0.3 && isnan(report.running) && isnan(report.waiting));
    assert_true(is_read(&standard, "TEXT cpu_utilization=0.3,application_utilization=1.7", &report));
    assert_true(report.utilization == 1.7);
    assert_true(is_read(&standard, "JSON {\"application_utilization\":0,\"cpu_utilization\":0.5}", &report));
    assert_true(report.utilization == 0);
    assert_true(is_read(&engine, "TEXT cpu_utilization=0.3", &report)); /* another field was named */
    assert_true(isnan(report.utilization));
    assert_true(is_read(&standard, "TEXT rps_fractional=10", &report)); /* a report that says nothing */
    assert_true(isnan(report.utilization));
    assert_true(is_read(&standard, "JSON {}", &report));
}

static void what_is_no_report(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "TEXT",
        "JSON",
        "JSON ",
        "BIN CgA=",
        "text cpu_utilization=1",
        "TEXTcpu_utilization=1",
        "cpu_utilization=1",
        "TEXT cpu_utilization",
        "TEXT =1",
        "TEXT cpu_utilization=",
        "TEXT cpu_utilization=1,",
        "TEXT cpu_utilization=1,,eps=1",
        "TEXT cpu_utilization=1 2",
        "TEXT cpu_utilization=-0.1",
        "TEXT cpu_utilization=nan",
        "TEXT cpu_utilization=inf",
        "TEXT cpu_utilization=1e400",
        "TEXT cpu_utilization=1000001",
        "TEXT cpu_utilization=0x1",
        "TEXT cpu_utilization=1k",
        "TEXT cpu_utilization=1,cpu_utilization=1",
        "TEXT cpu_utilization=00000000000000000000000000000000000000001",
        "JSON []",
        "JSON {\"cpu_utilization\": \"1\"}",
        "JSON {\"cpu_utilization\": 1",
        "JSON {\"cpu_utilization\": 1}}",
        "JSON {\"cpu_utilization\": 1,}",
        "JSON {\"cpu_utilization\" 1}",
        "JSON {cpu_utilization: 1}",
        "JSON {\"cpu_utilization\": {}, \"a\": [1]}",
        "JSON {\"cpu_utilization\": true}",
        "JSON {\"cpu_utilization\": 1, \"cpu_utilization\": 1}",
        "JSON {\"a\": \"\\",
        "JSON {\"a\": \"b\nc\"}",
        "JSON {\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}",
    };
    struct bal_load_report report;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (is_read(&standard, texts[i], &report))
            fail_msg("a report: %s", texts[i]);
}

static void length_is_bounded(void **state) {
    (void)state;
    struct bal_load_report report;
    char text[BAL_LOAD_LENGTH + 2] = "TEXT cpu_utilization=0.5,";
    size_t at = strlen(text);
    memset(text + at, 'x', sizeof text - 1 - at);
    memcpy(text + BAL_LOAD_LENGTH - 2, "=1", 3);
    assert_true(is_read(&standard, text, &report));
    text[BAL_LOAD_LENGTH] = '1';
    text[BAL_LOAD_LENGTH + 1] = 0;
    assert_false(is_read(&standard, text, &report));
}

/* ---- dispatchers ---- */

struct fixture {
    void *block;
    struct bal_dispatcher *d;
    uint64_t now;
};

static struct bal_dispatcher_config config_of(uint32_t servers) {
    return (struct bal_dispatcher_config){.servers = servers,
                                          .workers = 2,
                                          .requests = 64,
                                          .held = 16,
                                          .hold_ns = 60000 * MS,
                                          .slots = 4,
                                          .load_ns = 1000 * MS};
}

static void is_sound(const struct fixture *f) {
    const char *fault = bal_dispatcher_find_inconsistency(f->d);
    if (fault)
        fail_msg("%s", fault);
}

static struct fixture begin(const char *text, const struct bal_dispatcher_config *config) {
    struct bal_policy_spec policy;
    struct bal_error err = {0};
    struct fixture f = {.now = 1000 * MS};
    if (bal_policy_parse(text, &policy, &err) || bal_dispatcher_check(&policy, config, &err))
        fail_msg("%s", err.text);
    f.block = aligned_alloc(64, bal_dispatcher_size(&policy, config));
    f.d = malloc(bal_dispatcher_view_size(&policy, config));
    assert_true(f.block && f.d);
    bal_dispatcher_create(f.block, &policy, config, f.now);
    assert_int_equal(bal_dispatcher_open(f.d, f.block, 1, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_join(f.d, f.now, 11, 1, &err), BAL_OK);
    struct bal_dispatcher_server servers[200];
    char names[200][16];
    for (uint32_t i = 0; i < config->servers; i++) {
        snprintf(names[i], sizeof names[i], "10.0.0.%u:80", i);
        servers[i] = (struct bal_dispatcher_server){.name = names[i]};
    }
    if (bal_dispatcher_configure(f.d, f.now, servers, config->servers, &err))
        fail_msg("%s", err.text);
    is_sound(&f);
    return f;
}

static void end(struct fixture *f) {
    is_sound(f);
    free(f->d);
    free(f->block);
}

static struct bal_dispatch arrive(struct fixture *f) {
    struct bal_dispatch to;
    bal_dispatcher_arrive(f->d, f->now, 0, &to);
    is_sound(f);
    return to;
}

static void post(struct fixture *f, uint32_t server, double running, double waiting, double utilization) {
    const struct bal_load_report report = {running, waiting, utilization};
    bal_dispatcher_post_load(f->d, server, &report);
}

/* Returns when it must be called again. */
static uint64_t let_pass(struct fixture *f, uint64_t ms) {
    f->now += ms * MS;
    const uint64_t next = bal_dispatcher_run_timers(f->d, f->now);
    is_sound(f);
    return next;
}

static uint32_t jobs_at(const struct fixture *f, uint32_t server) {
    return bal_dispatcher_server(f->d, server).jobs;
}

static void jobs_are_what_the_report_says(void **state) {
    (void)state;
    static const struct {
        double running, waiting, utilization;
        uint32_t jobs;
    } cases[] = {
        {3, NAN, NAN, 3},         {3, 2, NAN, 5},     {NAN, 2, NAN, 6},   {NAN, 0, NAN, 0},
        {NAN, NAN, 0.5, 2},       {NAN, NAN, 0.1, 0}, {NAN, NAN, 1, 4},   {NAN, NAN, 7, 4},
        {1, NAN, 1, 4},           {NAN, 0, 0.75, 3},  {NAN, 3, 0.25, 7},  {1e6, 1e6, NAN, 1000000},
        {NAN, 1e6, 1e6, 1000000}, {0, 0, 0, 0},       {2.4, NAN, NAN, 2},
    };
    struct bal_dispatcher_config config = config_of(2);
    struct fixture f = begin("jsq", &config);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        post(&f, 1, cases[i].running, cases[i].waiting, cases[i].utilization);
        let_pass(&f, 1);
        assert_int_equal(jobs_at(&f, 1), cases[i].jobs);
        assert_int_equal(jobs_at(&f, 0), 0);
    }
    end(&f);
}

static void the_queue_is_ours_and_the_others(void **state) {
    (void)state;
    struct bal_dispatcher_config config = config_of(2);
    struct fixture f = begin("jsq", &config);
    post(&f, 0, 3, NAN, NAN);
    for (int i = 0; i < 3; i++)
        assert_int_equal(arrive(&f).server, 1);
    const struct bal_dispatch tied = arrive(&f); /* three at each */
    if (tied.server == 1)
        assert_int_equal(arrive(&f).server, 0);
    assert_int_equal(jobs_at(&f, 0), 4);
    post(&f, 0, 4, NAN, NAN); /* ours is among them */
    let_pass(&f, 1);
    assert_int_equal(jobs_at(&f, 0), 4);
    assert_int_equal(bal_dispatcher_server(f.d, 0).others, 3);
    post(&f, 0, 0, 0, 0); /* it does not know of ours: that is still there */
    let_pass(&f, 1);
    assert_int_equal(jobs_at(&f, 0), 1);
    assert_int_equal(bal_dispatcher_server(f.d, 0).others, 0);
    end(&f);
}

static void a_report_counts_for_its_time_only(void **state) {
    (void)state;
    struct bal_dispatcher_config config = config_of(2);
    struct fixture f = begin("jsq", &config);
    post(&f, 0, 9, NAN, NAN);
    const uint64_t next = let_pass(&f, 0);
    assert_int_equal(next, f.now + 1000 * MS);
    let_pass(&f, 999);
    assert_int_equal(jobs_at(&f, 0), 9);
    let_pass(&f, 1);
    assert_int_equal(jobs_at(&f, 0), 0);
    post(&f, 0, 9, NAN, NAN); /* another one begins its own time */
    let_pass(&f, 600);
    post(&f, 0, 5, NAN, NAN);
    let_pass(&f, 600);
    assert_int_equal(jobs_at(&f, 0), 5);
    let_pass(&f, 1000);
    assert_int_equal(jobs_at(&f, 0), 0);
    end(&f);
}

static void a_server_without_room_is_not_idle(void **state) {
    (void)state;
    struct bal_dispatcher_config config = config_of(3);
    struct fixture f = begin("jiq:else=least-conn", &config);
    post(&f, 0, NAN, NAN, 1);
    post(&f, 2, 4, NAN, NAN);
    struct bal_dispatch to = arrive(&f);
    assert_int_equal(to.server, 1);
    assert_int_equal(to.reason, BAL_REASON_TOKEN);
    assert_int_not_equal(arrive(&f).server, 1); /* the token is used: the fewest of ours */
    post(&f, 2, 3, NAN, NAN);                   /* one has ended there */
    to = arrive(&f);
    assert_int_equal(to.server, 2);
    assert_int_equal(to.reason, BAL_REASON_TOKEN);
    end(&f);
}

static void held_requests_go_when_a_report_frees_a_slot(void **state) {
    (void)state;
    struct bal_dispatcher_config config = config_of(2);
    struct bal_dispatch held;
    struct fixture f = begin("jiq:else=hold", &config);
    post(&f, 0, 4, 7, NAN);
    post(&f, 1, 4, 0, NAN);
    assert_int_equal(arrive(&f).verdict, BAL_WAIT);
    assert_int_equal(arrive(&f).verdict, BAL_WAIT);
    assert_false(bal_dispatcher_next_decision(f.d, f.now, &held));
    post(&f, 1, 3, NAN, NAN);
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &held)); /* any operation finds it */
    assert_int_equal(held.verdict, BAL_SEND);
    assert_int_equal(held.server, 1);
    assert_false(bal_dispatcher_next_decision(f.d, f.now, &held));
    let_pass(&f, 1000); /* and so does the end of its time: a server that falls silent is not lost */
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &held));
    assert_int_equal(held.verdict, BAL_SEND);
    end(&f);
}

static void nonsense_changes_nothing(void **state) {
    (void)state;
    struct bal_dispatcher_config config = config_of(2);
    struct fixture f = begin("pod:d=2", &config);
    bal_dispatcher_post_load(f.d, 0, NULL);
    bal_dispatcher_post_load(f.d, 1, NULL);
    post(&f, 0, NAN, NAN, NAN);
    post(&f, 2, 5, 5, 5); /* there is no such server */
    post(&f, UINT32_MAX, 5, 5, 5);
    let_pass(&f, 1);
    assert_int_equal(jobs_at(&f, 0), 0);
    assert_int_equal(jobs_at(&f, 1), 0);
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(f.d);
    assert_int_equal(counts.load_reports, 1);
    assert_int_equal(counts.load_malformed, 2);
    end(&f);
}

/* Which of 200 have reported is known to 64 bits. */
static void every_server_of_many_is_found(void **state) {
    (void)state;
    struct bal_dispatcher_config config = config_of(200);
    struct fixture f = begin("jsq", &config);
    for (uint32_t server = 0; server < 200; server += 3)
        post(&f, server, 1 + server, NAN, NAN);
    let_pass(&f, 1);
    for (uint32_t server = 0; server < 200; server++)
        assert_int_equal(jobs_at(&f, server), server % 3 ? 0 : 1 + server);
    end(&f);
}

/* A process dies between the two steps of posting: the next report brings everything in order. Or in the
 * middle of an operation: what was reported stays, and the queue is right again. */
static void a_killed_process_leaves_no_trace(void **state) {
    (void)state;
    struct bal_dispatcher_config config = config_of(2);
    struct fixture f = begin("jsq", &config);
    f.d->loads[0] = 1 + 9;
    let_pass(&f, 1);
    assert_int_equal(jobs_at(&f, 0), 0);
    post(&f, 1, 2, NAN, NAN);
    post(&f, 0, 3, NAN, NAN);
    let_pass(&f, 1);
    assert_int_equal(jobs_at(&f, 0), 3);
    (void)arrive(&f);
    f.d->load[0] = 77;
    f.d->server[1].others = 5;
    f.d->server[1].others_until = 0;
    f.d->block->busy = 1;
    let_pass(&f, 1);
    assert_int_equal(jobs_at(&f, 0), 3);
    assert_int_equal(jobs_at(&f, 1), 1);
    assert_int_equal(bal_dispatcher_counts(f.d).rebuilds, 1);
    end(&f);
}

static void a_server_that_leaves_takes_its_report_along(void **state) {
    (void)state;
    struct bal_dispatcher_config config = config_of(2);
    struct fixture f = begin("jsq", &config);
    struct bal_error err;
    struct bal_dispatcher_server servers[] = {{.name = "10.0.0.0:80"}, {.name = "10.0.0.9:80"}};
    post(&f, 1, 9, NAN, NAN);
    let_pass(&f, 1);
    assert_int_equal(jobs_at(&f, 1), 9);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 1, &err), BAL_OK);
    post(&f, 1, 9, NAN, NAN); /* late */
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 2, &err), BAL_OK);
    is_sound(&f);
    assert_int_equal(jobs_at(&f, 1), 0);
    end(&f);
}

static void what_does_not_go_together_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *policy, *word;
    } cases[] = {
        {"least-conn", "looks at no queue"}, {"random", "looks at no queue"}, {"ewma", "looks at no queue"}};
    struct bal_policy_spec policy;
    struct bal_error err;
    struct bal_dispatcher_config config = config_of(2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(bal_policy_parse(cases[i].policy, &policy, &err), BAL_OK);
        assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_MODEL);
        assert_non_null(strstr(err.text, cases[i].word));
    }
    assert_int_equal(bal_policy_parse("jsq", &policy, &err), BAL_OK);
    config.min_slots = 1;
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_MODEL);
    config = config_of(2);
    config.load_ns = UINT64_MAX;
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_RANGE);
    config = config_of(2);
    config.stations = true;
    config.id = config.boot = 1;
    config.probe_ns = config.grace_ns = config.beat_ns = MS;
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_MODEL);
    config.load_ns = 0;
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_say_the_same),
        cmocka_unit_test(the_standard_fields_of_utilization),
        cmocka_unit_test(what_is_no_report),
        cmocka_unit_test(length_is_bounded),
        cmocka_unit_test(jobs_are_what_the_report_says),
        cmocka_unit_test(the_queue_is_ours_and_the_others),
        cmocka_unit_test(a_report_counts_for_its_time_only),
        cmocka_unit_test(a_server_without_room_is_not_idle),
        cmocka_unit_test(held_requests_go_when_a_report_frees_a_slot),
        cmocka_unit_test(nonsense_changes_nothing),
        cmocka_unit_test(every_server_of_many_is_found),
        cmocka_unit_test(a_killed_process_leaves_no_trace),
        cmocka_unit_test(a_server_that_leaves_takes_its_report_along),
        cmocka_unit_test(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
