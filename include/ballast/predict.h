/* SPDX-License-Identifier: BSD-2-Clause */
/* What theory predicts for a policy on a model, where a result is known, for comparison with simulated
 * values. */
#ifndef BALLAST_PREDICT_H
#define BALLAST_PREDICT_H

#include "ballast/fluid.h"
#include "ballast/model.h"
#include "ballast/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bli_theory_kind {
    BLI_THEORY_UNKNOWN,
    BLI_THEORY_EXACT,       /* holds for this very system */
    BLI_THEORY_LIMIT,       /* holds as the number of servers grows */
    BLI_THEORY_APPROXIMATE, /* an approximation: no limit makes it exact */
};
const char *bli_theory_sign(enum bli_theory_kind kind);      /* "=", "\u2192", "\u2248" */
const char *bli_theory_kind_name(enum bli_theory_kind kind); /* "exact", "limit", "approximation" */

enum { BLI_THEORY_LEVELS = 128 };

/* The jobs of one class, where there are two. */
struct bli_prediction_class {
    double response_mean, waiting_mean;
    double waiting_probability;  /* that a job waits at all */
    double response_quantile[4]; /* 50, 90, 99, 99.9 % */
    double response_bound; /* of response_mean, where one is proved: from below for high, from above for low
                              jobs; NaN where it is less than a service time, which would be no information */
    double response_cut; /* pod-sep: that bound as the paper's figures have it, for queues of up to three jobs
                          */
};

/* Times are in the unit of the model. What is not known is NaN; what does not exist is INFINITY. */
struct bli_prediction {
    enum bli_theory_kind kind;
    const char *source; /* "M/M/1", "mean field", ... */
    double response_mean, waiting_mean;
    double waiting_limit; /* waiting_mean as servers are added, load and parameters being the same */
    double waiting_bound; /* of waiting_mean, from above, for all loads below 1 with as many reports per job
                           */
    double waiting_probability; /* that a job waits at all */
    double gave_up;             /* share of jobs that give up; the rest is of those that are served */
    double fit_error; /* of response_mean: an estimate of what a law of sizes that is put in place of the
                         model's costs; 0: there is none */
    double response_quantile[4];           /* 50, 90, 99, 99.9 % */
    unsigned levels;                       /* how many of tail are known */
    double tail[BLI_THEORY_LEVELS];        /* fraction of servers with at least i jobs */
    struct bli_prediction_class high, low; /* the most and the least urgent class */
    double high_tail[4]; /* fraction of servers with at least i high jobs; i = 0 is 1 where it is known */
    double class_response[BLI_JOB_CLASSES_MAX]; /* the mean response time of each, where there are more than
                                                 * two
                                                 */
};

struct bli_prediction bli_theory_predict(const struct bli_model *model, const struct bal_policy_spec *policy);

/* The mean response time with so many servers, where the equations of the limit are smooth: an expansion in
 * 1/N (docs/theory.md). What is not known is NaN. */
struct bli_expansion {
    double limit, first, second; /* N servers: limit + first / N + second / N^2 */
    double response_mean;        /* that sum */
    double error;                /* how far it may be from the truth: an estimate, no bound */
    /* 50, 90, 99, 99.9 %, first come, first served, and the same of them; NaN for other disciplines */
    double response_quantile[4], quantile_error[4];
};

/* For pod and its sisters with exponential sizes on equal servers of one slot, and for pod on others, in less
 * than a tenth of a second; false where none is known, and nothing is written. */
bool bli_theory_expand(const struct bli_model *model, const struct bal_policy_spec *policy,
                       struct bli_expansion *expansion);

/* Is the expansion within this part of the truth, by its own estimate? */
static inline bool bli_expansion_is_close(const struct bli_expansion *expansion) {
    return expansion->error <= 0.01 * expansion->response_mean;
}

/* Equal servers with exponential sizes are a Markov chain that can be solved as it is (docs/theory.md): pod,
 * jsq, scd, least-conn, jiq, pi, rcpb, tabs and pod-memory with up to eight servers, and with two classes
 * pod-scp, pod-sep and pod-ssp; pod, jsq, least-conn, jiq, pod-scp and pod-ssp with more, as far as queues
 * are short. */
struct bli_chain {
    size_t states;
    double lost;  /* share of jobs that come where the chain is cut off */
    double error; /* of the mean response time, estimated, of an answer that is an approximation; else 0 */
};
#define BLI_CHAIN_CLOSE 0.01 /* part of the mean that such an error may be */
enum bli_chain_outcome {
    BLI_CHAIN_SOLVED,
    BLI_CHAIN_NONE,  /* the policy, or the model, has no such chain */
    BLI_CHAIN_LARGE, /* too many servers, or more than `most` states would be needed; or there is no memory */
};

/* Fills in *known, exact but for what is cut off, and *chain; means are right to about 1e-9, and so is the
 * distribution; with more than eight servers to about 1e-5. Some seconds for 100 000 states. quick: less
 * precise, with an estimate of the error, which takes part of a second for 10 000 states. Where jiq has too
 * many states the mean is an approximation from shorter queues, with such an estimate, and all that is set.
 */
enum bli_chain_outcome bli_theory_solve_chain(const struct bli_model *model,
                                              const struct bal_policy_spec *policy, size_t most, bool quick,
                                              struct bli_prediction *known, struct bli_chain *chain);

/* The fraction of jobs whose response or waiting time is longer than t, by the same theory. NaN where the
 * distribution is not known, although its mean may be, and without a steady state. Costs as
 * bli_pod_response_tail for pod, else O(1). */
enum bli_theory_time { BLI_THEORY_RESPONSE, BLI_THEORY_WAITING };
double bli_theory_tail(const struct bli_model *model, const struct bal_policy_spec *policy,
                       enum bli_theory_time what, double t);

/* The time that this part of all jobs does not exceed, 0 < quantile < 1, by the same theory; NaN where the
 * distribution is not known. Some hundred times as expensive. */
double bli_theory_quantile(const struct bli_model *model, const struct bal_policy_spec *policy,
                           enum bli_theory_time what, double quantile);

/* A lower bound of the mean response time for all policies that know only the distribution of job sizes: one
 * common queue in front of all servers (M/M/N; with k slots a server M/M/(N k)). NaN unless sizes are
 * exponential and speeds equal. */
double bli_theory_lower_bound(const struct bli_model *model);

/* The load below which the policy keeps these servers stable and above which it does not; at most 1, and
 * smaller where it sends the slow ones more than they can do. NaN where it is not known. For sizes of finite
 * mean, batches of finite variance, whole or split. O(groups). */
double bli_theory_critical_load(const struct bli_model *model, const struct bal_policy_spec *policy);

/* How fast a fleet that begins idle forgets it: what is missing of the mean queue falls about like exp(-t/r),
 * and r, in the unit of the model, is the answer. NaN where it is not known: for policies other than random,
 * round-robin, pod, least-work and central, for sizes of infinite variance, arrivals that are not Poisson,
 * several or distant dispatchers, and where there is no steady state. O(groups); pod in some microseconds. */
double bli_theory_relaxation(const struct bli_model *model, const struct bal_policy_spec *policy);

/* Where it is not known, the slowest plausible value, in the unit of the model. NaN where nothing is known:
 * no steady state, slotted time, buffers, load curves, arrivals in phases, sizes of infinite variance, jobs
 * that give up, servers that fail. O(groups). */
struct bli_slowest {
    double all;      /* that of `random`, or of queues as long as those seen and of the fleet as a whole */
    double together; /* of the fleet as a whole, as one queue N times as fast: no policy can be faster */
};
/* waiting: how many were seen to wait at a server, or for each of its slots, on average; NaN: not known. */
struct bli_slowest bli_slowest_relaxation(const struct bli_model *model, double waiting);

/* The load above which it is proved not to be stable: the critical load where that is known, for policy
 * `stealing` Theorem 9 of Berenbrink et al. 2001. NaN where nothing is known. */
double bli_theory_unstable_load(const struct bli_model *model, const struct bal_policy_spec *policy);

/* The fluid model of a policy and its parameters, which it points to: it must stay where it is. */
enum bli_fluid_kind { BLI_FLUID_POD, BLI_FLUID_RCPB, BLI_FLUID_TABS, BLI_FLUID_STEALING };
struct bli_theory_fluid {
    struct bli_fluid_model model;
    enum bli_fluid_kind kind; /* which of the parameters */
    union {
        struct bli_pod pod;
        struct bli_rcpb rcpb;
        struct bli_tabs tabs;
        struct bli_stealing stealing;
    } param;
};

/* Time in the fluid model is counted in mean service times. variant is that of rcpb and says in which limit:
 * with its own c and mu held fixed, or with one of them growing with the number of servers; other policies
 * have one limit only and take BLI_RCPB_CONSTRAINED. BAL_E_MODEL where no fluid model is known: the error
 * names the policies that have one, or what the model would have to be. */
enum bal_code bli_theory_fluid_init(struct bli_theory_fluid *fluid, const struct bli_model *model,
                                    const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                                    struct bal_error *err);

/* Writes s_1, ..., s_n of the state that its paths tend to; false, and nothing written, when there is none
 * (load >= 1). */
bool bli_theory_fluid_equilibrium(const struct bli_theory_fluid *fluid, double *s, size_t n);

/* The state that a model with this start has at time 0, for a policy that switches servers off. The caller
 * frees it; *n is its length. NULL when there is no memory. */
double *bli_theory_fluid_start(const struct bli_theory_fluid *fluid, const struct bli_start *start,
                               size_t *n);

/* Of a path whose state is more than s_1, s_2, ... (tabs: phases and power states): *levels has s_i alone,
 * and standby and setup the fractions of servers that are idle and on and in set-up at its times. The caller
 * ends *levels with bli_fluid_path_fini. */
enum bal_code bli_theory_fluid_levels(const struct bli_theory_fluid *fluid, const struct bli_fluid_path *path,
                                      struct bli_fluid_path *levels, double *standby, double *setup,
                                      struct bal_error *err);

/* Averages over a span of time, in the limit of many servers. */
struct bli_theory_averages {
    double busy, standby, setup, off; /* fractions of servers */
    double jobs;                      /* at a server */
    double waiting_mean;              /* of the jobs that arrive, where few wait at its ends */
    double tail[BLI_THEORY_LEVELS];   /* fraction of servers with at least i jobs */
};

/* What the fluid model predicts for the span between two times, from the model's start on: for tabs, under
 * any load curve. False where there is no such model. */
bool bli_theory_average(const struct bli_model *model, const struct bal_policy_spec *policy, double from,
                        double until, struct bli_theory_averages *span);

#ifdef __cplusplus
}
#endif
#endif
