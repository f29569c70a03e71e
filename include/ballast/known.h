/* What theory says about a policy on a model, where it says anything: put beside the simulated values. */
#ifndef BALLAST_KNOWN_H
#define BALLAST_KNOWN_H

#include "ballast/model.h"
#include "ballast/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bal_known_kind {
    BAL_KNOWN_NOTHING,
    BAL_KNOWN_EXACT, /* holds for this very system */
    BAL_KNOWN_LIMIT, /* holds as the number of servers grows */
};

enum { BAL_KNOWN_LEVELS = 128 };

/* Times are in the unit of the model. What is not known is NaN; what does not exist is INFINITY. */
struct bal_known {
    enum bal_known_kind kind;
    const char *source; /* "M/M/1", "mean field", ... */
    double response_mean, waiting_mean;
    double response_quantile[4]; /* 50, 90, 99, 99.9 % */
    unsigned levels;             /* how many of tail are known */
    double tail[BAL_KNOWN_LEVELS]; /* fraction of servers with at least i jobs */
};

struct bal_known bal_known_of(const struct bal_model *model, const struct bal_policy_spec *policy);

/* The mean response time that no policy can beat which does not know job sizes better than their law: one common queue before all servers
 * (M/M/N). NaN unless sizes are exponential and speeds equal. */
double bal_known_floor(const struct bal_model *model);

/* The load below which the policy keeps these servers stable and above which it does not; at most 1, and smaller where it
 * sends the slow ones more than they can do. NaN where it is not known. For sizes of finite mean, batches of finite
 * variance, whole or split. O(groups). */
double bal_known_critical_load(const struct bal_model *model, const struct bal_policy_spec *policy);

#ifdef __cplusplus
}
#endif
#endif
