/* SPDX-License-Identifier: BSD-2-Clause */
/* What theory knows of policies: one file theory_<policy>.c for each or for a family, one line for each file
 * in list.def.
 *
 * A row holds what is known of one policy; what is not known is left out. The public functions of predict.h
 * check what holds for all policies (equal servers, one slot, ...), find the row by the policy's name, and
 * ask it. */
#ifndef THEORY_POLICY_THEORY_H
#define THEORY_POLICY_THEORY_H

#include "ballast/predict.h"
#include "ballast/theory.h"
#include "theory/chain.h"
#include "theory/expansion_models.h"

/* A model with equal servers in the units of theory.h: mean size 1, unit speed. */
struct bli_uniform {
    double lambda;
    uint32_t servers;
    uint32_t dispatchers;
    double unit; /* mean service time */
    bool exponential;
    const struct bli_dist *reports; /* the model's, where idle servers report at the times of a renewal
                                     * process that is not Poisson; else NULL */
};

struct bli_policy_theory {
    const char *policy; /* its name */
    bool else_uniform;  /* nothing here holds when a job without a token does not go to a uniform server */

    /* All jobs together, on equal servers of one slot that serve first come, first served. Asked only about
     * exponential sizes, unless any_sizes. */
    struct bli_prediction (*fifo)(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u);
    bool any_sizes;
    /* The same on servers of different speeds, whatever the sizes. */
    struct bli_prediction (*unequal)(const struct bli_model *model, const struct bal_policy_spec *policy);
    bool any_dispatchers; /* what is said here holds for, or looks at, several dispatchers next to the servers
                           */
    /* Two classes, where more is known than follows from fifo (bli_theory_classes_of_fifo). */
    struct bli_prediction (*classes)(const struct bli_model *model, const struct bal_policy_spec *policy,
                                     const struct bli_uniform *u, enum bli_discipline discipline);
    /* More than two classes, on servers that prefer the urgent ones: the mean response time of all classes up
     * to one, which have this share of the jobs, where it is not that of the high one of two. */
    double (*up_to)(const struct bli_model *model, const struct bal_policy_spec *policy,
                    const struct bli_uniform *u, double share);
    /* Servers of several slots, exponential sizes, one class. */
    struct bli_prediction (*slots)(const struct bli_model *model, const struct bal_policy_spec *policy,
                                   const struct bli_uniform *u);
    /* Servers whose speed depends on the jobs in service, whatever the sizes. */
    struct bli_prediction (*speeds)(const struct bli_model *model, const struct bli_uniform *u);
    /* Arrivals that are no Poisson process, on equal servers of one slot, one class. */
    struct bli_prediction (*arrivals)(const struct bli_model *model, const struct bal_policy_spec *policy,
                                      const struct bli_uniform *u);
    /* Jobs that give up after exponential times; servers that fail and resume, unseen, and times exponential.
     */
    /* One dispatcher that refuses jobs beyond a hold-limit; NULL: nothing is known. */
    struct bli_prediction (*hold_limit)(const struct bli_model *model, const struct bal_policy_spec *policy,
                                        const struct bli_uniform *u);
    struct bli_prediction (*patience)(const struct bli_model *model, const struct bli_uniform *u);
    struct bli_prediction (*failures)(const struct bli_model *model, const struct bli_uniform *u);
    /* bli_theory_expand, on such a model. */
    bool (*expand)(const struct bli_model *model, const struct bal_policy_spec *policy,
                   const struct bli_uniform *u, struct bli_expansion *expansion);
    /* ... and on one of servers of different speeds, exponential sizes. */
    bool (*expand_unequal)(const struct bli_model *model, const struct bal_policy_spec *policy,
                           struct bli_expansion *expansion);
    /* bli_theory_solve_chain, on such a model with one dispatcher: fills in the rest of the rules. False: its
     * parameters have no chain. */
    bool (*chain)(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                  struct chain_rules *rules);
    /* ... and with two classes. */
    bool (*chain_classes)(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                          enum bli_discipline discipline, struct chain_rules *rules);
    /* The waiting time where it has an exponential tail; lambda < 1. */
    struct bli_wait (*wait)(const struct bal_policy_spec *policy, const struct bli_uniform *u);
    /* Where it has none: the fraction of jobs whose time is longer than t mean service times. */
    double (*longer)(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                     enum bli_theory_time what, double t);
    /* How many uniform servers a job is shown, of which it joins the shortest; with stealing this is all that
     * matters. */
    unsigned (*choices)(const struct bal_policy_spec *policy);

    /* bli_theory_critical_load and bli_theory_unstable_load, without buffers and stealing. */
    double (*critical_load)(const struct bli_model *model, const struct bal_policy_spec *policy);
    double (*unstable_load)(const struct bli_model *model, const struct bal_policy_spec *policy);

    /* bli_theory_relaxation: in continuous time, without slots, buffers, tasks, stealing and load curves. */
    double (*relaxation)(const struct bli_model *model, const struct bal_policy_spec *policy);

    /* The fluid model; any_fluid: also with sizes that are not exponential, loads that change, and buffers.
     */
    enum bal_code (*fluid)(struct bli_theory_fluid *fluid, const struct bli_model *model,
                           const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                           struct bal_error *err);
    bool any_fluid;
};

/* The row of a policy on a model; one in which nothing is known when it has none. */
const struct bli_policy_theory *bli_policy_theory(const struct bli_model *model,
                                                  const struct bal_policy_spec *policy);
/* Where there is one server only every policy sends all jobs to it: what is known of `random` is known of
 * it. Returns policy, or *any, which is random. (A policy that holds jobs or switches the server off does
 * otherwise, and so may one with classes; and some cannot be had of one server.) */
const struct bal_policy_spec *bli_theory_equivalent_policy(const struct bli_model *model,
                                                           const struct bal_policy_spec *policy,
                                                           struct bal_policy_spec *any);
/* All rows; NULL behind the last. */
const struct bli_policy_theory *bli_policy_theory_at(size_t i);

/* Does a job that finds no token go to a uniform server, as in the papers? Also where there are no tokens. */
bool bli_else_is_uniform(const struct bal_policy_spec *policy);

/* Is the model one of equal servers of one slot? Sets *uniform if so. */
bool bli_uniform_of(const struct bli_model *model, struct bli_uniform *uniform);
bool bli_servers_are_equal(const struct bli_servers *servers);

/* Is it one of servers of one slot, of any speeds, that get one class of jobs by a Poisson process? */
bool bli_is_plain_unequal(const struct bli_model *model);

/* ---- what rows are made of ---- */

#define BLI_THEORY_NO_CLASS                                                                                  \
    { NAN, NAN, NAN, {NAN, NAN, NAN, NAN}, NAN, NAN }
extern const struct bli_prediction bli_theory_unknown;
extern const double bli_theory_quantiles[4];

/* Poisson arrivals are divided among servers of different speeds at random, equally or in proportion to the
 * speed: each is a queue of its own. */
struct bli_prediction bli_theory_separate_queues(const struct bli_model *model, bool by_speed);

struct bli_prediction bli_theory_from_wait(struct bli_wait wait, double unit, enum bli_theory_kind kind,
                                           const char *source);
/* M/M/n+M: n servers with a queue of their own, whose jobs give up. */
struct bli_prediction bli_theory_impatient(const struct bli_model *model, const struct bli_uniform *u,
                                           double n);
/* In the limit of many servers no job waits: a `fifo`. */
struct bli_prediction bli_theory_no_wait(const struct bli_model *model, const struct bal_policy_spec *policy,
                                         const struct bli_uniform *u);

/* Two classes under a policy that is blind to them. */
struct bli_prediction bli_theory_classes_of_fifo(const struct bli_model *model,
                                                 const struct bal_policy_spec *policy,
                                                 const struct bli_uniform *u, enum bli_discipline discipline);

/* Stable at every load below 1: a `critical_load`; the next, if the servers are equal; the third, where a job
 * joins one of d uniform servers. */
double bli_critical_always(const struct bli_model *model, const struct bal_policy_spec *policy);
double bli_critical_if_equal(const struct bli_model *model, const struct bal_policy_spec *policy);
double bli_critical_of_d(const struct bli_servers *servers, double d, bool replace);

/* How fast servers that are queues of their own forget their start, if their gaps have that squared
 * coefficient of variation; and the whole fleet as one queue N times as fast, which no policy beats. */
double bli_relaxation_apart(const struct bli_model *model, double arrivals);
/* ... and where each gets jobs in proportion to its speed. */
double bli_relaxation_by_speed(const struct bli_model *model, double arrivals);
double bli_relaxation_together(const struct bli_model *model);

/* How far an expansion may be off: the two terms, and the mean wait in the limit. */
double bli_expansion_error(double limit_waiting, double first, double second, unsigned d);

/* Does no job see a server twice? */
bool bli_choices_are_distinct(const struct bal_policy_spec *policy);

/* By Little's theorem, to 1/N, from events and a state near the fixed point, which becomes that. */
bool bli_expand_first(const struct fast_model *model, double *x, const struct bli_uniform *u,
                      struct bli_expansion *expansion);

/* Of pod at equal servers: all jobs together, by Little's theorem. */
bool bli_expand_pod(const struct bli_pod *pod, bool distinct, const struct bli_uniform *u,
                    struct bli_expansion *expansion);

enum bal_code bli_fluid_use_pod(struct bli_theory_fluid *fluid, double lambda, double p, unsigned d1,
                                unsigned d2);
enum bal_code bli_fluid_use_rcpb(struct bli_theory_fluid *fluid, const struct bli_rcpb *rcpb);

#endif
