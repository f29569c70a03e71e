/* SPDX-License-Identifier: BSD-2-Clause */
/* Every parameter of every policy does something, whatever the others are: none is taken and then ignored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/scheme.h"
#include "ballast/simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where a parameter may show what it does; each of them is tried until it does. */
enum circumstances {
    STEADY, /* a small fleet with much to do */
    BURSTY, /* a larger one, where servers are woken in bursts and what is known grows old in silences */
    FAR,    /* the same for several dispatchers, whose messages take time and are lost now and then */
    CIRCUMSTANCES,
};

/* Jobs of three tasks for those that can divide them, two classes for those that tell them apart, and servers
 * of two speeds, of which some policies ask, before all that know no common queue. */
static struct bli_model model_for(const struct bal_policy *policy, enum circumstances around) {
    struct bli_model model = {.load = around == STEADY ? 0.8 : 0.15};
    const bool ranks = policy->flags & BAL_TAKES_RANKS, pooled = bli_scheme_of(policy) == BLI_SCHEME_POOLED;
    const bool routed = bli_scheme_of(policy) == BLI_SCHEME_POLICY;
    const char *few = routed ? "4x1,4x1.5" : "8", *many = routed ? "15x1,15x1.5" : "30";
    assert_int_equal(bli_servers_parse(around == STEADY ? few : many, &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp", &model.size, NULL), BAL_OK);
    model.tasks = ranks || pooled || around != STEADY ? 1 : 3;
    model.classes = ranks;
    model.high = ranks ? 0.4 : 0;
    if (around != STEADY)
        assert_int_equal(bli_arrivals_parse("mmpp(1,25; 0.01,125)", &model.arrivals, NULL), BAL_OK);
    if (around == FAR) {
        model.network.dispatchers.count = 3;
        model.network.loss = 0.2;
        assert_int_equal(bli_dist_parse("exp(0.2)", &model.network.delay, NULL), BAL_OK);
    }
    return model;
}

/* Two values of a parameter, neither of them left open, nor the least number of something, with which there
 * may be nothing left to choose. */
static double value_of(const struct bal_param *param, unsigned which) {
    const double first = isnan(param->default_value) ? param->whole ? param->low + 1 : fmax(param->low, 0.5)
                                                     : param->default_value;
    const double other = param->whole ? first + 1 : 5 * first;
    const double less = param->whole ? first - 1 : first / 2;
    return which == 0 ? first : other <= param->high ? other : fmax(param->low, less);
}

/* What the policy does with these values, or false if it cannot be had with them. */
static bool run_with(const struct bal_policy_spec *spec, enum circumstances around, double *mean_response) {
    const struct bli_model model = model_for(spec->policy, around);
    const struct bli_run run = {.seed = 6, .time = around == STEADY ? 400 : 2000, .warmup = 0};
    static struct bli_trial trial;
    memset(&trial, 0, sizeof trial);
    enum bli_engine engine;
    if (bli_simulate_check(&model, spec, BLI_ENGINE_AUTO, &engine, NULL))
        return false;
    struct bal_error err = {0};
    if (bli_simulate(&model, spec, &run, &trial, &err))
        fail_msg("%s: %s", spec->policy->name, err.text);
    *mean_response = trial.metric[BLI_RESPONSE_MEAN];
    return true;
}

/* Do they do the same wherever both can be had? *places: how many that are. */
static bool are_alike(const struct bal_policy_spec *one, const struct bal_policy_spec *other,
                      unsigned *places) {
    *places = 0;
    for (enum circumstances around = 0; around < CIRCUMSTANCES; around++) {
        double a, b;
        if (!run_with(one, around, &a) || !run_with(other, around, &b))
            continue;
        ++*places;
        if (a != b)
            return false;
    }
    return true;
}

/* Bit i of `which` says which of its two values parameter i has; bit i of `given`, whether it is given at
 * all. */
static struct bal_policy_spec spec_of(const struct bal_policy *policy, unsigned which, unsigned given) {
    struct bal_policy_spec spec;
    assert_int_equal(bli_scheme_parse(policy->name, &spec, NULL), BAL_OK);
    for (unsigned i = 0; i < policy->param_count; i++)
        if (given & 1u << i)
            spec.value[i] = value_of(&policy->params[i], which >> i & 1);
    return spec;
}

/* Those that have no value unless they are given one. What is not given is otherwise as if its first value
 * were. */
static unsigned may_be_left_open(const struct bal_policy *policy) {
    unsigned open = 0;
    for (unsigned i = 0; i < policy->param_count; i++)
        open |= isnan(policy->params[i].default_value) ? 1u << i : 0;
    return open;
}

/* How many pairs were compared. */
static unsigned try_policy(const struct bal_policy *policy) {
    unsigned compared = 0;
    const unsigned all = 1u << policy->param_count, open = may_be_left_open(policy);
    for (unsigned given = 1; given < all; given++)
        for (unsigned which = 0; which < all; which++)
            for (unsigned i = 0; i < policy->param_count; i++) {
                const unsigned bit = 1u << i;
                if ((given | open) != all - 1 || !(given & bit) || which & bit || (which & ~given))
                    continue;
                const struct bal_policy_spec one = spec_of(policy, which, given),
                                             other = spec_of(policy, which | bit, given);
                unsigned places;
                const bool alike = are_alike(&one, &other, &places);
                compared += places > 0;
                if (!alike || places == 0)
                    continue;
                char texts[2][200];
                bal_policy_print(&one, texts[0], sizeof texts[0]);
                bal_policy_print(&other, texts[1], sizeof texts[1]);
                fail_msg("%s and %s do the same", texts[0], texts[1]);
            }
    return compared;
}

static void no_parameter_is_ignored(void **unused) {
    (void)unused;
    const struct bal_policy *policy;
    for (size_t i = 0; (policy = bli_scheme_at(i)); i++)
        if (policy->param_count > 0 && try_policy(policy) == 0)
            fail_msg("%s could not be tried", policy->name);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_parameter_is_ignored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
