/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies as text: what is read, what is printed, and what errors say. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/number.h"
#include "ballast/scheme.h"
#include "policy/parse.h"

static struct bal_policy_spec parse(const char *text) {
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bal_policy_parse(text, &spec, &err))
        fail_msg("'%s': %s", text, err.text);
    return spec;
}

static bool same(const struct bal_policy_spec *a, const struct bal_policy_spec *b) {
    for (unsigned i = 0; i < a->policy->param_count; i++)
        if (a->value[i] != b->value[i] && !(isnan(a->value[i]) && isnan(b->value[i])))
            return false;
    return a->policy == b->policy;
}

/* Text in, canonical text out. */
static void reads_and_prints(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"random", "random"},
        {"random:", NULL},
        {"round-robin", "round-robin"},
        {"jsq", "jsq"},
        {"least-work", "least-work"},
        {"jiq", "jiq"},
        {"pi", "pi"},
        {"pod", "pod:d=2"},
        {"pod:d=2", "pod:d=2"},
        {"pod:d=3", "pod:d=3"},
        {"pod:d=1k", "pod:d=1000"},
        {"pod:d=2e0,replace=1", "pod:d=2,replace=1"},
        {"pod:replace=0", "pod:d=2,replace=0"},
        {"pod:replace=0,d=5", "pod:d=5,replace=0"},
        {"pod-memory", "pod-memory:d=1,b=1"},
        {"pod-memory:b=3", "pod-memory:d=1,b=3"},
        {"pod-memory:b=3,d=2", "pod-memory:d=2,b=3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bal_policy_spec spec;
        struct bal_error err;
        if (!cases[i].canonical) {
            assert_int_not_equal(bal_policy_parse(cases[i].text, &spec, &err), BAL_OK);
            continue;
        }
        spec = parse(cases[i].text);
        char text[200];
        assert_int_equal(bal_policy_print(&spec, text, sizeof text), strlen(cases[i].canonical));
        assert_string_equal(text, cases[i].canonical);
        const struct bal_policy_spec back = parse(text);
        assert_true(same(&spec, &back));
    }
}

/* What is wrong, and somewhere in the line what would be right. */
static void errors_tell_the_remedy(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum bal_code code;
        const char *says[4];
    } cases[] = {
        {"", BAL_E_UNKNOWN, {"unknown policy ''", "random", "pod-memory", "jiq"}},
        {"ramdom", BAL_E_UNKNOWN, {"'ramdom'", "did you mean 'random'?"}},
        {"frobnicate", BAL_E_UNKNOWN, {"'frobnicate'", "the policies are random, round-robin, jsq", "pi"}},
        {"pdo", BAL_E_UNKNOWN, {"'pdo'", "pod"}},
        {"po", BAL_E_UNKNOWN, {"'po'"}},
        {"pods", BAL_E_UNKNOWN, {"'pods'"}},
        {" pod", BAL_E_UNKNOWN, {"' pod'"}},
        {"pod,d=2", BAL_E_UNKNOWN, {"'pod,d=2'"}},
        {"pod:q=2", BAL_E_UNKNOWN, {"'pod' has no parameter 'q'", "it takes d, replace"}},
        {"pod:", BAL_E_UNKNOWN, {"no parameter ''", "it takes d"}},
        {"pod:,", BAL_E_UNKNOWN, {"no parameter ''"}},
        {"pod:d=2,", BAL_E_UNKNOWN, {"no parameter ''"}},
        {"pod:D=2", BAL_E_UNKNOWN, {"no parameter 'D'"}},
        {"pod:d =2", BAL_E_UNKNOWN, {"no parameter 'd '"}},
        {"jsq:d=2", BAL_E_UNKNOWN, {"'jsq' takes no parameters", "'d'"}},
        {"pod:d=0", BAL_E_RANGE, {"d=0", "whole number from 1 to 1000000", "servers probed"}},
        {"pod:d=-1", BAL_E_RANGE, {"d=-1", "from 1"}},
        {"pod:d=2.5", BAL_E_RANGE, {"d=2.5", "whole number"}},
        {"pod:d=1e7", BAL_E_RANGE, {"d=1e7", "to 1000000"}},
        {"pod:d=", BAL_E_RANGE, {"d= is not", "from 1"}},
        {"pod:d", BAL_E_RANGE, {"d= is not", "from 1"}},
        {"pod:d=two", BAL_E_RANGE, {"d=two", "from 1"}},
        {"pod:d=nan", BAL_E_RANGE, {"d=nan", "from 1"}},
        {"pod:d=inf", BAL_E_RANGE, {"d=inf", "from 1"}},
        {"pod:d= 2", BAL_E_RANGE, {"d= 2"}},
        {"pod:d=2 ", BAL_E_RANGE, {"d=2 "}},
        {"pod:d=2=3", BAL_E_RANGE, {"d=2=3"}},
        {"pod:d=2:b=1", BAL_E_RANGE, {"d=2:b=1"}},
        {"pod:replace=2", BAL_E_RANGE, {"replace=2", "from 0 to 1", "replacement"}},
        {"pod:d=2,d=3", BAL_E_SYNTAX, {"d is given twice", "once"}},
        {"pod-memory:b=0", BAL_E_RANGE, {"b=0", "from 1", "remembered"}},
        {"pod\n:d=2", BAL_E_UNKNOWN, {"'pod '"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bal_policy_spec spec, before;
        memset(&spec, 0x5a, sizeof spec);
        memcpy(&before, &spec, sizeof spec);
        struct bal_error err = {0};
        const enum bal_code code = bal_policy_parse(cases[i].text, &spec, &err);
        if (code != cases[i].code || err.code != code)
            fail_msg("'%s': code %d, text '%s'", cases[i].text, code, err.text);
        for (int s = 0; s < 4 && cases[i].says[s]; s++)
            if (!strstr(err.text, cases[i].says[s]))
                fail_msg("'%s': the error '%s' does not say '%s'", cases[i].text, err.text, cases[i].says[s]);
        assert_memory_equal(&spec, &before, sizeof spec); /* untouched */
        assert_int_equal(bal_policy_parse(cases[i].text, &spec, NULL), code);
    }
}

/* The list of policies in an error is complete: it must not outgrow its room unnoticed. */
static void the_list_is_complete(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    struct bal_error err;
    assert_int_equal(bal_policy_parse("no-such-policy", &spec, &err), BAL_E_UNKNOWN);
    for (size_t i = 0; bal_policy_at(i); i++)
        if (!strstr(err.text, bal_policy_at(i)->name))
            fail_msg("%s is missing in: %s", bal_policy_at(i)->name, err.text);
    assert_null(strstr(err.text, "..."));
    assert_int_equal(bli_scheme_parse("no-such-policy", &spec, &err), BAL_E_UNKNOWN);
    for (size_t i = 0; bli_scheme_at(i); i++)
        if (!strstr(err.text, bli_scheme_at(i)->name))
            fail_msg("%s is missing in: %s", bli_scheme_at(i)->name, err.text);
    assert_null(strstr(err.text, "..."));
}

/* Names of any length are quoted in part, and the remedy is still there. */
static void long_nonsense_is_cut(void **state) {
    (void)state;
    static const char *const heads[] = {"", "pod:", "pod:d=", "random:"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
        enum { LENGTH = 100000 };
        char *text = malloc(LENGTH + 1);
        assert_non_null(text);
        memset(text, 'y', LENGTH);
        memcpy(text, heads[h], strlen(heads[h]));
        text[LENGTH] = 0;
        struct bal_policy_spec spec;
        struct bal_error err;
        assert_int_not_equal(bal_policy_parse(text, &spec, &err), BAL_OK);
        assert_null(strstr(err.text, "..."));
        assert_true(strlen(err.text) > 20);
        free(text);
    }
}

/* For every policy and parameter: both ends of the range are taken, the next numbers beyond are not; printing
 * brings the same spec back. */
static void every_range_is_kept(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy *policy = bal_policy_table[i];
        for (unsigned k = 0; k < policy->param_count; k++) {
            const struct bal_param *param = &policy->params[k];
            if (param->words)
                continue;
            const double step = param->whole ? 1 : 0;
            const double values[] = {param->low, param->high,
                                     step > 0 ? param->low - 1 : nextafter(param->low, -INFINITY),
                                     step > 0 ? param->high + 1 : nextafter(param->high, INFINITY)};
            for (int v = 0; v < 4; v++) {
                char number[BLI_NUMBER_TEXT], text[200];
                bli_number_print(values[v], number);
                snprintf(text, sizeof text, "%s:%s=%s", policy->name, param->name, number);
                struct bal_policy_spec spec;
                const enum bal_code code = bal_policy_parse(text, &spec, NULL);
                if (code != (v < 2 ? BAL_OK : BAL_E_RANGE))
                    fail_msg("'%s' gives code %d", text, code);
                if (code)
                    continue;
                assert_true(spec.value[k] == values[v]);
                bal_policy_print(&spec, text, sizeof text);
                const struct bal_policy_spec back = parse(text);
                assert_true(same(&spec, &back));
            }
        }
    }
}

/* For every parameter that is a word: each of them is taken and printed again, and nothing else is. */
static void every_word_is_kept(void **state) {
    (void)state;
    unsigned seen = 0;
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy *policy = bal_policy_table[i];
        for (unsigned k = 0; k < policy->param_count; k++) {
            const struct bal_param *param = &policy->params[k];
            for (unsigned word = 0; param->words && word <= (unsigned)param->high; word++) {
                char text[200], printed[200];
                snprintf(text, sizeof text, "%s:%s=%s", policy->name, param->name, param->words[word]);
                struct bal_policy_spec spec = parse(text);
                assert_true(spec.value[k] == word);
                bal_policy_print(&spec, printed, sizeof printed);
                const struct bal_policy_spec back = parse(printed);
                assert_true(same(&spec, &back));
                strcat(text, "x");
                assert_int_equal(bal_policy_parse(text, &spec, NULL), BAL_E_RANGE);
                snprintf(text, sizeof text, "%s:%s=%u", policy->name, param->name, word);
                assert_int_equal(bal_policy_parse(text, &spec, NULL), BAL_E_RANGE);
                seen++;
            }
        }
    }
    assert_true(seen >= 3 * 4); /* else= of three policies */
    struct bal_policy_spec spec;
    struct bal_error err;
    assert_int_equal(bal_policy_parse("jiq:else=nobody", &spec, &err), BAL_E_RANGE);
    assert_string_equal(err.text,
                        "policy 'jiq': else=nobody is not one of uniform, least-conn, least-conn2 or hold");
}

/* Always terminated, never beyond the end, and tells what would have been needed. */
static void prints_into_any_room(void **state) {
    (void)state;
    const struct bal_policy_spec spec = parse("pod-memory:d=12,b=3");
    static const char whole[] = "pod-memory:d=12,b=3";
    for (size_t size = 0; size < sizeof whole + 3; size++) {
        char text[sizeof whole + 4];
        memset(text, '#', sizeof text);
        assert_int_equal(bal_policy_print(&spec, text, size), sizeof whole - 1);
        assert_true(text[size] == '#');
        if (size > 0) {
            assert_int_equal(strlen(text), size < sizeof whole ? size - 1 : sizeof whole - 1);
            assert_memory_equal(text, whole, strlen(text));
        }
    }
}

static void finds_by_name(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++)
        assert_ptr_equal(bal_policy_find(bal_policy_table[i]->name), bal_policy_table[i]);
    assert_null(bal_policy_find("pod:d=2"));
    assert_null(bal_policy_find(""));
}

/* Names from elsewhere, however they are spelt; parameters may follow, and what is printed is ours. */
static void knows_other_names(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"least_conn", "least-conn"},
        {"leastconn", "least-conn"},
        {"least-connections", "least-conn"},
        {"random two", "least-conn:d=2"},
        {"LEAST_REQUEST", "least-conn:d=2"},
        {"LEAST_REQUEST:d=5", "least-conn:d=5"},
        {"Power of Two Choices", "pod:d=2"},
        {"ROUND_ROBIN", "round-robin"},
        {"RANDOM", "random"},
        {"Join-Idle-Queue:else=least-conn", "jiq:else=least-conn"},
        {"own", "least-conn"}, /* as earlier versions called it */
        {"own:d=3", "least-conn:d=3"},
        {"jiq:else=own", "jiq:else=least-conn"},
        {"jiq:else=own2", "jiq:else=least-conn2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bal_policy_spec spec;
        struct bal_error err = {0};
        char text[200];
        if (bal_policy_parse(cases[i][0], &spec, &err))
            fail_msg("%s", err.text);
        bal_policy_print(&spec, text, sizeof text);
        assert_string_equal(text, cases[i][1]);
    }
    const char *policy;
    for (size_t i = 0; bal_policy_alias_at(i, &policy); i++) {
        struct bal_policy_spec spec;
        assert_int_equal(bal_policy_parse(bal_policy_alias_at(i, NULL), &spec, NULL), BAL_OK);
        assert_int_equal(bal_policy_parse(policy, &spec, NULL), BAL_OK);
    }
    struct bal_policy_spec spec;
    struct bal_error err = {0};
    assert_int_equal(bal_policy_parse("leastcon", &spec, &err), BAL_E_UNKNOWN);
    assert_non_null(strstr(err.text, "did you mean 'least-conn'?"));
    assert_int_equal(bal_policy_parse("", &spec, NULL), BAL_E_UNKNOWN);
    assert_int_equal(bal_policy_parse("_-_", &spec, NULL), BAL_E_UNKNOWN);
}

static void *parse_mine(void *found) {
    struct bal_policy_spec spec;
    *(bool *)found = bal_policy_parse("mine", &spec, NULL) == BAL_OK;
    return NULL;
}

static void added_policies_are_those_of_a_thread(void **user) {
    (void)user;
    struct bal_policy mine = *bal_policy_find("random"), newer = mine;
    bool found = true;
    pthread_t other;
    mine.name = newer.name = "mine";
    assert_true(bli_policy_add(&mine));
    assert_ptr_equal(parse("mine").policy, &mine);
    assert_int_equal(pthread_create(&other, NULL, parse_mine, &found), 0);
    pthread_join(other, NULL);
    assert_false(found);
    assert_true(bli_policy_add(&newer));
    assert_ptr_equal(parse("mine").policy, &newer);
    assert_true(bli_policy_add(&mine));
    assert_ptr_equal(parse("mine").policy, &mine);
    assert_true(bli_policy_is_added(&newer));
    bli_policy_remove_added();
    assert_false(bli_policy_is_added(&mine));
    parse_mine(&found);
    assert_false(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_prints),     cmocka_unit_test(errors_tell_the_remedy),
        cmocka_unit_test(the_list_is_complete), cmocka_unit_test(long_nonsense_is_cut),
        cmocka_unit_test(every_range_is_kept),  cmocka_unit_test(every_word_is_kept),
        cmocka_unit_test(prints_into_any_room), cmocka_unit_test(finds_by_name),
        cmocka_unit_test(knows_other_names),    cmocka_unit_test(added_policies_are_those_of_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
