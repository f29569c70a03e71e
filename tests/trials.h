/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials that must be the same to the last bit. Include after <cmocka.h>. */
#ifndef BALLAST_TESTS_TRIALS_H
#define BALLAST_TESTS_TRIALS_H

#include "ballast/simulate.h"

#include <string.h>

/* A run that cannot be made fails the test. */
static inline struct bli_trial trial_of(const struct bli_model *model, const struct bal_policy_spec *spec,
                                        const struct bli_run *run) {
    struct bli_trial trial = {0};
    struct bal_error err;
    if (bli_simulate(model, spec, run, &trial, &err))
        fail_msg("%s: %s", spec->policy->name, err.text);
    return trial;
}

/* All that was measured; engines may count events in other ways, and none takes the same time. */
static inline void assert_same_trial(const struct bli_trial *a, const struct bli_trial *b, const char *what) {
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        if (memcmp(&a->metric[m], &b->metric[m], sizeof a->metric[m]) != 0)
            fail_msg("%s: %s is %.17g and %.17g", what, bli_metric_table[m].name, a->metric[m], b->metric[m]);
    assert_memory_equal(a->tail, b->tail, sizeof a->tail);
    assert_memory_equal(a->quarter, b->quarter, sizeof a->quarter);
    assert_true(a->jobs == b->jobs && a->warmup == b->warmup);
}

#endif
