/* One declaration per policy file. */
#ifndef POLICY_TABLE_H
#define POLICY_TABLE_H

#include "ballast/policy.h"

extern const struct bal_policy bal_policy_random;
extern const struct bal_policy bal_policy_round_robin;
extern const struct bal_policy bal_policy_jsq;
extern const struct bal_policy bal_policy_pod;
extern const struct bal_policy bal_policy_pod_memory;
extern const struct bal_policy bal_policy_least_work;
extern const struct bal_policy bal_policy_jiq;
extern const struct bal_policy bal_policy_pi;
extern const struct bal_policy bal_policy_rcpb;
extern const struct bal_policy bal_policy_pod_scp;
extern const struct bal_policy bal_policy_pod_sep;
extern const struct bal_policy bal_policy_pod_ssp;
extern const struct bal_policy bal_policy_tabs;
extern const struct bal_policy bal_policy_own;

#endif
