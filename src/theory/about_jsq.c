/* jsq, and pod-memory and lsq, of which less is known. */
#include "theory/about.h"

#include <math.h>

/* Vargaftik, Keslassy and Orda (2020): as long as the estimates are put right from time to time. */
static double critical_of_lsq(const struct bal_model *model, const struct bal_policy_spec *policy) {
    (void)model;
    return bal_policy_value(policy, "p") > 0 || bal_policy_value(policy, "d") > 0 ? 1 : NAN;
}

const struct bal_about bal_about_jsq[] = {
    {.policy = "jsq",
     .any_dispatchers = true,
     .fifo = bal_known_no_wait,
     .critical_load = bal_critical_always},
    {.policy = "lsq", .any_dispatchers = true, .critical_load = critical_of_lsq},
    {.policy = "pod-memory", .critical_load = bal_critical_always},
    {0}};
