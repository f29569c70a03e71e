/* The policies that there are. To add one, write its file and name it here: parser, help, docs and tests
 * follow. */
#include "policy/table.h"

const struct bal_policy *const bal_policy_table[] = {
    &bal_policy_random,     &bal_policy_round_robin, &bal_policy_jsq,     &bal_policy_pod,
    &bal_policy_pod_memory, &bal_policy_least_work,  &bal_policy_jiq,     &bal_policy_pi,
    &bal_policy_rcpb,       &bal_policy_pod_scp,     &bal_policy_pod_sep, &bal_policy_pod_ssp,
    &bal_policy_tabs,       &bal_policy_own,
};
const size_t bal_policy_count = sizeof bal_policy_table / sizeof *bal_policy_table;
