/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions by name: settings, the run with its progress and its end, values of answers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/lab.h"
#include "ballast/question.h"

#include "question/datum_tree.h"

#include "comma_locale.h"

static struct bal_question *new_question(const char *name, const struct bal_question_host *host) {
    struct bal_question *question;
    struct bal_error err = {0};
    assert_int_equal(bal_question_new(name, host, &question, &err), BAL_OK);
    return question;
}

static void set(struct bal_question *question, const char *name, const char *value) {
    struct bal_error err = {0};
    if (bal_question_set(question, name, value, &err))
        fail_msg("%s=%s: %s", name, value, err.text);
}

static void assert_refused(struct bal_question *question, const char *name, const char *value,
                           const char *why) {
    struct bal_error err = {0};
    assert_int_not_equal(bal_question_set(question, name, value, &err), BAL_OK);
    if (!strstr(err.text, why))
        fail_msg("%s=%s: '%s' does not say '%s'", name, value, err.text, why);
}

static struct bal_answer *run(struct bal_question *question) {
    struct bal_answer *answer;
    struct bal_error err = {0};
    if (bal_question_run(question, &answer, &err))
        fail_msg("%s", err.text);
    return answer;
}

static void names_are_checked(void **state) {
    (void)state;
    struct bal_question *question;
    struct bal_error err = {0};
    assert_int_equal(bal_question_new("comparr", NULL, &question, &err), BAL_E_UNKNOWN);
    assert_null(question);
    assert_non_null(strstr(err.text, "did you mean 'compare'?"));
    assert_int_equal(bal_question_new("live", NULL, &question, NULL), BAL_E_UNKNOWN);
    question = new_question("compare", NULL);
    assert_refused(question, "laod", "0.5", "compare: unknown option '--laod=0.5'; did you mean '--load'?");
    assert_refused(question, "load", "-1", "--load -1: ");
    assert_refused(question, "policy", "jqi", "did you mean");
    assert_refused(question, "explain", "yes", "takes no value");
    assert_refused(question, "output", "file", "unknown option");
    assert_refused(question, "quiet", "", "unknown option");
    bal_question_free(question);
    bal_question_free(NULL);
}

/* Every question says what it can be told; names of earlier versions are taken. */
static void settings_are_listed(void **state) {
    (void)state;
    static const char *const names[] = {"compare",   "replay", "cheapest", "priority-share", "tune",
                                        "stability", "fluid",  "frontier", "price",          "share"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bal_question *question = new_question(names[i], NULL);
        struct bal_question_setting setting;
        size_t count = 0;
        bool format = false;
        while (bal_question_setting_at(question, count, &setting)) {
            assert_true(*setting.help);
            assert_string_not_equal(setting.name, "output");
            assert_string_not_equal(setting.name, "quiet");
            format |= strcmp(setting.name, "format") == 0;
            count++;
        }
        assert_true(count >= 13 && format);
        bal_question_free(question);
    }
}

static void settings_must_fit_together(void **state) {
    (void)state;
    struct bal_error err = {0};
    struct bal_answer *answer;
    struct bal_question *question = new_question("compare", NULL);
    set(question, "time", "100");
    set(question, "jobs", "1k");
    assert_int_equal(bal_question_check(question, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "--time and --jobs"));
    assert_int_equal(bal_question_run(question, &answer, &err), BAL_E_MODEL);
    assert_null(answer);
    bal_question_free(question);
    question = new_question("fluid", NULL);
    assert_int_equal(bal_question_check(question, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "name a policy"));
    bal_question_free(question);
    question = new_question("replay", NULL);
    assert_int_equal(bal_question_run(question, &answer, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "which log?"));
    bal_question_free(question);
}

/* A comparison by name has the numbers of one that is put together by hand, to the last bit. */
static void answers_are_those_of_the_lab(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq", "pod:d=2"};
    struct bli_case *cases = calloc(2, sizeof *cases);
    struct bli_result *results = calloc(2, sizeof *results);
    struct bal_question *question = new_question("compare", NULL);
    struct bal_error err = {0};
    set(question, "servers", "20");
    set(question, "time", "500");
    set(question, "replications", "4");
    set(question, "seed", "7");
    for (size_t i = 0; i < 2; i++) {
        set(question, "policy", policies[i]);
        cases[i].model.load = 0.9;
        cases[i].run = (struct bli_run){.seed = 7, .time = 500, .warmup = NAN};
        cases[i].replications = 4;
        assert_int_equal(bli_servers_parse("20", &cases[i].model.servers, &err), BAL_OK);
        assert_int_equal(bli_dist_parse("exp", &cases[i].model.size, &err), BAL_OK);
        assert_int_equal(bal_policy_parse(policies[i], &cases[i].policy, &err), BAL_OK);
    }
    assert_int_equal(bli_lab_run(cases, 2, &(struct bli_lab_options){.threads = 1}, results, &err), BAL_OK);
    struct bal_answer *answer = run(question);
    assert_int_equal(bal_answer_kind(answer), BAL_ANSWER_GOOD);
    const struct bal_datum *root = bal_answer_root(answer);
    assert_int_equal(bal_datum_kind(root), BAL_DATUM_OBJECT);
    assert_true(bal_datum_number(bal_datum_get(root, "spec.seed")) == 7);
    size_t rows = 0;
    for (const struct bal_datum *row = bal_datum_first(bal_datum_get(root, "results")); row;
         row = bal_datum_next(row), rows++) {
        const bool second = strcmp(bal_datum_text(bal_datum_get(row, "policy")), policies[1]) == 0;
        const struct bli_estimate mean = results[second].metric[BLI_RESPONSE_MEAN];
        assert_true(bal_datum_number(bal_datum_get(row, "response.mean")) == mean.mean);
        assert_true(bal_datum_number(bal_datum_get(row, "response.ci")) == mean.half_width);
        assert_int_equal(bal_datum_kind(bal_datum_get(row, "queue.tail")), BAL_DATUM_LIST);
        assert_int_equal(bal_datum_kind(bal_datum_get(row, "precise")), BAL_DATUM_BOOL);
        assert_true(bal_datum_is_true(bal_datum_get(row, "precise")));
    }
    assert_int_equal(rows, 2);
    bal_answer_free(answer);
    bal_question_free(question);
    free(cases);
    free(results);
}

/* All of an answer as text, from settings with a point. */
static char *ask_as_text(void) {
    struct bal_question *question = new_question("compare", NULL);
    set(question, "servers", "3x1,3x2.5");
    set(question, "load", "0.85");
    set(question, "jobs", "1500");
    set(question, "replications", "3");
    set(question, "policy", "jsq");
    set(question, "policy", "ewma:d=2,decay=2.5");
    set(question, "format", "text");
    struct bal_answer *answer = run(question);
    char *text = strdup(bal_answer_text(answer, NULL));
    bal_answer_free(answer);
    bal_question_free(question);
    return text;
}

/* The program that asks may print numbers with a comma; it still does afterwards. */
static void the_locale_of_the_program_plays_no_part(void **state) {
    (void)state;
    char directory[] = "/tmp/ballast-locale-XXXXXX", own[8];
    char *plain = ask_as_text();
    enter_comma_locale(directory);
    char *comma = ask_as_text();
    snprintf(own, sizeof own, "%.1f", 0.5);
    leave_comma_locale(directory);
    assert_non_null(strstr(plain, "0.85"));
    assert_string_equal(comma, plain);
    assert_string_equal(own, "0,5");
    free(comma);
    free(plain);
}

static void other_formats_are_text(void **state) {
    (void)state;
    struct bal_question *question = new_question("fluid", NULL);
    set(question, "policy", "pod:d=2");
    set(question, "points", "3");
    set(question, "format", "csv");
    struct bal_answer *answer = run(question);
    size_t size;
    const char *text = bal_answer_text(answer, &size);
    assert_int_equal(size, strlen(text));
    assert_int_equal(strncmp(text, "t,", 2), 0);
    assert_null(bal_answer_root(answer));
    bal_answer_free(answer);
    bal_question_free(question);
}

/* ---- the host ---- */

struct watch {
    double last;
    unsigned calls, warnings;
    volatile int stop;
    double stop_at;
};

static void watch_progress(void *context, const char *doing, double part) {
    struct watch *watch = context;
    assert_null(doing);
    assert_true(part >= watch->last && part <= 1);
    watch->last = part;
    watch->calls++;
    if (part >= watch->stop_at)
        watch->stop = 1;
}

static void count_warning(void *context, const char *text, bool of_answer) {
    struct watch *watch = context;
    assert_true(of_answer && !strchr(text, '\n'));
    watch->warnings++;
}

static struct bal_question *watched_comparison(struct watch *watch) {
    const struct bal_question_host host = {
        .stop = &watch->stop, .progress = watch_progress, .warn = count_warning, .context = watch};
    struct bal_question *question = new_question("compare", &host);
    set(question, "policy", "random");
    set(question, "jobs", "20k");
    set(question, "threads", "1");
    return question;
}

static void progress_reaches_the_end(void **state) {
    (void)state;
    struct watch watch = {.stop_at = 2};
    struct bal_question *question = watched_comparison(&watch);
    struct bal_answer *answer = run(question);
    assert_true(watch.calls >= 2 && watch.last > 0.99);
    assert_int_equal(watch.warnings, 0);
    bal_answer_free(answer);
    bal_question_free(question);
}

static void what_is_stopped_is_cut_short_and_says_so(void **state) {
    (void)state;
    struct watch watch = {.stop_at = 0.3};
    struct bal_question *question = watched_comparison(&watch);
    struct bal_answer *answer = run(question);
    assert_int_equal(bal_answer_kind(answer), BAL_ANSWER_CUT_SHORT);
    assert_int_equal(watch.warnings, 1);
    assert_true(bal_datum_is_true(bal_datum_get(bal_answer_root(answer), "spec.cut_short")));
    assert_true(watch.last < 0.9);
    bal_answer_free(answer);
    bal_question_free(question);
}

static void what_cannot_be_had_is_an_answer(void **state) {
    (void)state;
    struct bal_question *question = new_question("priority-share", NULL);
    set(question, "gain", "1000");
    set(question, "theory-only", "");
    struct bal_answer *answer = run(question);
    assert_int_equal(bal_answer_kind(answer), BAL_ANSWER_NONE);
    bal_answer_free(answer);
    bal_question_free(question);
}

/* A policy of the host, known while its question is there. */
struct rotation {
    unsigned starts, routes;
};

static uint64_t start(void *context, uint32_t policy, uint32_t servers) {
    struct rotation *rotation = context;
    assert_int_equal(policy, 0);
    assert_int_equal(servers, 10);
    return ++rotation->starts;
}

static uint32_t route(void *context, uint32_t policy, uint64_t instance, struct bal_fleet *fleet,
                      uint32_t count, uint32_t rank, struct bal_rng *rng) {
    struct rotation *rotation = context;
    (void)policy, (void)rank, (void)rng;
    assert_int_equal(instance, rotation->starts);
    assert_int_equal(count, 1);
    assert_true(bal_question_fleet_is_open(fleet, 9));
    return rotation->routes++ % 10;
}

static void hosts_have_policies_of_their_own(void **state) {
    (void)state;
    static const char *const names[] = {"my-rotation", NULL};
    struct rotation rotation = {0};
    const struct bal_question_host host = {
        .context = &rotation, .policies = names, .start = start, .route = route};
    struct bal_question *question = new_question("compare", &host);
    set(question, "servers", "10");
    set(question, "policy", "my-rotation");
    set(question, "policy", "round-robin");
    set(question, "jobs", "5k");
    set(question, "replications", "2");
    set(question, "threads", "1");
    struct bal_answer *answer = run(question);
    assert_int_equal(rotation.starts, 2);
    assert_true(rotation.routes > 9000);
    const struct bal_datum *row = bal_datum_first(bal_datum_get(bal_answer_root(answer), "results"));
    assert_true(bal_datum_number(bal_datum_get(row, "response.mean")) > 1);
    assert_true(bal_datum_number(bal_datum_get(bal_datum_next(row), "response.mean")) > 1);
    bal_answer_free(answer);
    bal_question_free(question);
    question = new_question("compare", NULL);
    assert_refused(question, "policy", "my-rotation", "unknown policy");
    bal_question_free(question);
}

/* ---- values ---- */

static void values_are_read(void **state) {
    (void)state;
    static const char json[] = "{\"a\": {\"b.c\": [1, -2.5e3, null, {}], \"b\": {\"d\": \"x\\n\\u00e9\"}}, "
                               "\"t\": true, \"f\": false, \"\": []}";
    struct bal_datum *root = bli_datum_tree_new(json, strlen(json));
    assert_non_null(root);
    const struct bal_datum *list = bal_datum_get(root, "a.b.c"), *item = bal_datum_first(list);
    assert_int_equal(bal_datum_kind(list), BAL_DATUM_LIST);
    assert_string_equal(bal_datum_name(list), "b.c");
    assert_true(bal_datum_number(item) == 1);
    item = bal_datum_next(item);
    assert_true(bal_datum_number(item) == -2500);
    item = bal_datum_next(item);
    assert_int_equal(bal_datum_kind(item), BAL_DATUM_NULL);
    assert_true(isnan(bal_datum_number(item)));
    item = bal_datum_next(item);
    assert_int_equal(bal_datum_kind(item), BAL_DATUM_OBJECT);
    assert_null(bal_datum_first(item));
    assert_null(bal_datum_next(item));
    assert_string_equal(bal_datum_text(bal_datum_get(root, "a.b.d")), "x\n\303\251");
    assert_true(bal_datum_is_true(bal_datum_get(root, "t")));
    assert_false(bal_datum_is_true(bal_datum_get(root, "f")));
    assert_null(bal_datum_get(root, "a.x"));
    assert_null(bal_datum_get(root, "a.b.d.e"));
    assert_null(bal_datum_get(root, ""));
    free(root);
    assert_null(bli_datum_tree_new("{\"a\": }", 7));
    assert_null(bli_datum_tree_new("[1, 2", 5));
}

static void nothing_has_no_value(void **state) {
    (void)state;
    assert_int_equal(bal_datum_kind(NULL), BAL_DATUM_NULL);
    assert_true(isnan(bal_datum_number(NULL)));
    assert_string_equal(bal_datum_text(NULL), "");
    assert_string_equal(bal_datum_name(NULL), "");
    assert_false(bal_datum_is_true(NULL));
    assert_null(bal_datum_first(NULL));
    assert_null(bal_datum_next(NULL));
    assert_null(bal_datum_get(NULL, "a"));
    bal_answer_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(settings_are_listed),
        cmocka_unit_test(settings_must_fit_together),
        cmocka_unit_test(answers_are_those_of_the_lab),
        cmocka_unit_test(the_locale_of_the_program_plays_no_part),
        cmocka_unit_test(other_formats_are_text),
        cmocka_unit_test(progress_reaches_the_end),
        cmocka_unit_test(what_is_stopped_is_cut_short_and_says_so),
        cmocka_unit_test(what_cannot_be_had_is_an_answer),
        cmocka_unit_test(hosts_have_policies_of_their_own),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(nothing_has_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
