/* What theory says about a policy on a model, where it says anything: put beside the simulated values. */
#ifndef BALLAST_KNOWN_H
#define BALLAST_KNOWN_H

#include "ballast/fluid.h"
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

/* The jobs of one class, where there are two. */
struct bal_known_class {
    double response_mean, waiting_mean;
    double waiting_probability;  /* that a job waits at all */
    double response_quantile[4]; /* 50, 90, 99, 99.9 % */
    double response_bound; /* of response_mean, where one is proved: from below for high, from above for low
                              jobs */
};

/* Times are in the unit of the model. What is not known is NaN; what does not exist is INFINITY. */
struct bal_known {
    enum bal_known_kind kind;
    const char *source; /* "M/M/1", "mean field", ... */
    double response_mean, waiting_mean;
    double waiting_limit; /* waiting_mean as servers are added at the same load and with the same parameters
                           */
    double waiting_probability;    /* that a job waits at all */
    double response_quantile[4];   /* 50, 90, 99, 99.9 % */
    unsigned levels;               /* how many of tail are known */
    double tail[BAL_KNOWN_LEVELS]; /* fraction of servers with at least i jobs */
    struct bal_known_class high, low;
};

struct bal_known bal_known_of(const struct bal_model *model, const struct bal_policy_spec *policy);

/* The fraction of jobs whose response or waiting time is longer than t, by the same theory. NaN where the law is not
 * known, although its mean may be, and without a steady state. Costs as bal_pod_response_tail for pod, else O(1). */
enum bal_known_time { BAL_KNOWN_RESPONSE, BAL_KNOWN_WAITING };
double bal_known_longer(const struct bal_model *model, const struct bal_policy_spec *policy,
                        enum bal_known_time what, double t);

/* The mean response time that no policy can beat which does not know job sizes better than their law: one
 * common queue before all servers (M/M/N). NaN unless sizes are exponential and speeds equal. */
double bal_known_floor(const struct bal_model *model);

/* The load below which the policy keeps these servers stable and above which it does not; at most 1, and
 * smaller where it sends the slow ones more than they can do. NaN where it is not known. For sizes of finite
 * mean, batches of finite variance, whole or split. O(groups). */
double bal_known_critical_load(const struct bal_model *model, const struct bal_policy_spec *policy);

/* The fluid model of a policy and its parameters, which it points to: it must stay where it is. */
enum bal_fluid_kind { BAL_FLUID_POD, BAL_FLUID_RCPB };
struct bal_known_fluid {
    struct bal_fluid_model model;
    enum bal_fluid_kind kind; /* which of the parameters */
    union {
        struct bal_pod pod;
        struct bal_rcpb rcpb;
    } param;
};

/* Time in the fluid model is counted in mean service times. variant is that of rcpb and says in which limit:
 * with its own c and mu held fixed, or with one of them growing with the number of servers; other policies
 * have one limit only and take BAL_RCPB_CONSTRAINED. BAL_E_MODEL where no fluid model is known: the error
 * names the policies that have one, or what the model would have to be. */
enum bal_code bal_known_fluid_init(struct bal_known_fluid *fluid, const struct bal_model *model,
                                   const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                                   struct bal_error *err);

/* Writes s_1, ..., s_n of the state that its paths tend to; false, and nothing written, when there is none
 * (load >= 1). */
bool bal_known_fluid_equilibrium(const struct bal_known_fluid *fluid, double *s, size_t n);

#ifdef __cplusplus
}
#endif
#endif
