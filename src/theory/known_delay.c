/* The whole law of response and waiting times, where servers are first come, first served and sizes
 * exponential. */
#include "ballast/theory.h"
#include "theory/uniform.h"

#include <math.h>
#include <string.h>

/* Policies under which waiting has an exponential tail. */
static bool wait_of(const struct bal_policy_spec *policy, const struct bal_uniform *u,
                    struct bal_wait *wait) {
    const char *name = policy->policy->name;
    if (strcmp(name, "random") == 0) {
        *wait = bal_wait_mm1(u->lambda);
    } else if (strcmp(name, "least-work") == 0) {
        *wait = bal_wait_mmn(u->lambda, u->servers);
    } else if (strcmp(name, "round-robin") == 0) {
        *wait = bal_wait_round_robin(u->lambda, u->servers);
    } else if (strcmp(name, "rcpb") == 0) {
        const struct bal_setting setting = {u->servers, u->lambda};
        const struct bal_rcpb rcpb = {BAL_RCPB_CONSTRAINED, u->lambda,
                                      bal_policy_report_rate(policy, &setting), (uint64_t)policy->value[0]};
        *wait = bal_rcpb_wait(&rcpb);
    } else {
        return false;
    }
    return true;
}

double bal_known_longer(const struct bal_model *model, const struct bal_policy_spec *policy,
                        enum bal_known_time what, double t) {
    struct bal_uniform u;
    if (!bal_uniform_of(model, &u) || !u.exponential || model->classes || !(u.lambda < 1))
        return NAN;
    t /= u.unit;
    struct bal_wait wait;
    if (wait_of(policy, &u, &wait))
        return what == BAL_KNOWN_RESPONSE ? bal_wait_response_tail(&wait, t) : bal_wait_tail(&wait, t);
    if (strcmp(policy->policy->name, "pod") != 0)
        return NAN;
    const struct bal_pod pod = bal_pod_plain(u.lambda, (unsigned)policy->value[0]);
    return what == BAL_KNOWN_RESPONSE ? bal_pod_response_tail(&pod, pod.d1, t)
                                      : bal_pod_waiting_tail(&pod, pod.d1, t);
}
