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

/* Jobs of three tasks for those that can divide them, two classes for those that tell them apart, and servers
 * of two speeds, of which some policies ask, before all that know no common queue. */
static struct bal_model model_for(const struct bal_policy *policy) {
    struct bal_model model = {.load = 0.8};
    const bool ranks = policy->flags & BAL_TAKES_RANKS;
    const char *servers = bal_scheme_of(policy) == BAL_SCHEME_POLICY ? "4x1,4x1.5" : "8";
    assert_int_equal(bal_servers_parse(servers, &model.servers, NULL), BAL_OK);
    assert_int_equal(bal_law_parse("exp", &model.size, NULL), BAL_OK);
    model.tasks = ranks || bal_scheme_of(policy) == BAL_SCHEME_POOLED ? 1 : 3;
    model.classes = ranks;
    model.high = ranks ? 0.4 : 0;
    if (bal_scheme_of(policy) == BAL_SCHEME_POOLED) /* so few that not all servers are wanted all the time */
        model.load = 0.25;
    return model;
}

/* Two values of a parameter, neither of them left open. */
static double value_of(const struct bal_param *param, unsigned which) {
    const double first = isnan(param->fallback) ? fmax(param->low, param->whole ? 0 : 0.5) : param->fallback;
    const double other = param->whole ? first + 1 : 5 * first;
    const double less = param->whole ? first - 1 : first / 2;
    return which == 0 ? first : other <= param->high ? other : fmax(param->low, less);
}

/* What the policy does with these values, or false if it cannot be had with them. */
static bool run_with(const struct bal_policy_spec *spec, double metric[BAL_METRIC_COUNT]) {
    const struct bal_model model = model_for(spec->policy);
    const bool pooled = bal_scheme_of(spec->policy) == BAL_SCHEME_POOLED; /* slow to change their minds */
    const struct bal_run run = {.seed = 6, .time = pooled ? 4000 : 400, .warmup = 0};
    static struct bal_trial trial;
    memset(&trial, 0, sizeof trial);
    enum bal_engine engine;
    if (bal_simulate_check(&model, spec, BAL_ENGINE_AUTO, &engine, NULL))
        return false;
    struct bal_error err = {0};
    if (bal_simulate(&model, spec, &run, &trial, &err))
        fail_msg("%s: %s", spec->policy->name, err.text);
    memcpy(metric, trial.metric, sizeof trial.metric);
    return true;
}

/* What is known to do nothing here, and why. */
static bool is_excused(const char *policy, const char *param) {
    static const struct {
        const char *policy, *param;
    } excused[] = {
        {"jiq", "report"},     /* chooses among dispatchers, of which there is one */
        {"prequal", "remove"}, /* with so few servers the replies for one job are all that the pool holds: */
        {"prequal", "age"},    /* none grows old. tests/unit/policy_rules tries both */
        {"windowed", "panic"}, /* so small a fleet at so low a load never panics: */
        {"windowed", "threshold"}, /* see tests/cross/windowed_twin */
    };
    for (size_t i = 0; i < sizeof excused / sizeof *excused; i++)
        if (strcmp(excused[i].policy, policy) == 0 && strcmp(excused[i].param, param) == 0)
            return true;
    return false;
}

/* Bit i of `which` says which of its two values parameter i has; bit i of `given`, whether it is given at
 * all. */
static struct bal_policy_spec spec_of(const struct bal_policy *policy, unsigned which, unsigned given) {
    struct bal_policy_spec spec;
    assert_int_equal(bal_scheme_parse(policy->name, &spec, NULL), BAL_OK);
    for (unsigned i = 0; i < policy->param_count; i++)
        if (given & 1u << i)
            spec.value[i] = value_of(&policy->params[i], which >> i & 1);
    return spec;
}

static unsigned try_policy(const struct bal_policy *policy) {
    unsigned compared = 0;
    const unsigned all = 1u << policy->param_count;
    for (unsigned given = 1; given < all; given++)
        for (unsigned which = 0; which < all; which++)
            for (unsigned i = 0; i < policy->param_count; i++) {
                const unsigned bit = 1u << i;
                if (!(given & bit) || which & bit || (which & ~given) ||
                    is_excused(policy->name, policy->params[i].name))
                    continue;
                const struct bal_policy_spec one = spec_of(policy, which, given),
                                             other = spec_of(policy, which | bit, given);
                double a[BAL_METRIC_COUNT], b[BAL_METRIC_COUNT];
                if (!run_with(&one, a) || !run_with(&other, b))
                    continue;
                compared++;
                char texts[2][200];
                bal_policy_print(&one, texts[0], sizeof texts[0]);
                bal_policy_print(&other, texts[1], sizeof texts[1]);
                if (a[BAL_RESPONSE_MEAN] == b[BAL_RESPONSE_MEAN])
                    fail_msg("%s and %s do the same", texts[0], texts[1]);
            }
    return compared;
}

static void no_parameter_is_ignored(void **unused) {
    (void)unused;
    const struct bal_policy *policy;
    for (size_t i = 0; (policy = bal_scheme_at(i)); i++)
        if (policy->param_count > 0 && try_policy(policy) == 0)
            fail_msg("%s could not be tried", policy->name);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_parameter_is_ignored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
