/* The lab: many trials side by side, and what they say together.
 *
 * A case is one policy on one model; its replications are independent trials. Cases are given as an array and
 * their results come back as an array. Results do not depend on the number of threads. */
#ifndef BALLAST_LAB_H
#define BALLAST_LAB_H

#include "ballast/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bal_case {
    struct bal_model model;
    struct bal_policy_spec policy;
    struct bal_run run;    /* its replication and stop are set for each trial */
    unsigned replications; /* at least this many, >= 1 */
    bool fluid; /* see how far the path from an idle fleet is from that of the fluid model: fluid.distance */
    double precision; /* when above 0: add replications until the half-width of the mean response time is at
                       * most this fraction of it */
};

/* What the replications of a case say together. */
struct bal_result {
    struct bal_estimate metric[BAL_METRIC_COUNT];
    double tail[BAL_TAIL_LEVELS];
    enum bal_verdict verdict;
    enum bal_engine engine;
    double memory_bits;
    unsigned replications; /* complete ones; 0: nothing is known */
    bool precise;          /* the wanted precision was reached (true when none was wanted) */
    bool outlasted;        /* the runs went on after the end of their load curve, which stayed as it was */
    double warmup;         /* mean fraction of the run that was cut */
    uint64_t jobs;         /* measured */
    uint64_t events;
    double seconds; /* processor time of all its trials */
};

struct bal_lab_options {
    unsigned threads;         /* 0: one for each processor */
    unsigned most;            /* most replications that the precision may ask for; 0: 1000 */
    const volatile int *stop; /* when set and not 0: finish early with what is there; may be NULL */
    /* Called now and then from one of the threads, never from two at once; may be NULL. `part` is the share
     * of all work known so far that is done, 0 to 1. */
    void (*progress)(void *context, double part);
    void *progress_context;
};

/* Runs all replications of all cases, the long ones first. result has room for count. Returns BAL_E_STOPPED,
 * with results from the trials that were complete, when told to stop. */
enum bal_code bal_lab_run(const struct bal_case *cases, size_t count, const struct bal_lab_options *options,
                          struct bal_result *result, struct bal_error *err);

/* The same conclusion from trials made elsewhere. trial[0..count) are the replications of one case, in order.
 */
void bal_result_of(const struct bal_case *c, const struct bal_trial *trial, size_t count,
                   struct bal_result *result);

/* How many replications the case should have after what its first ones say, at most `most`: as many as it has
 * when its precision is reached or none is wanted. Depends on nothing else, so whoever asks in the same steps
 * gets the same answers. */
unsigned bal_replications_needed(const struct bal_case *c, const struct bal_result *result, unsigned most);

/* One trial of a case, run as *run says, which is c->run but for what differs from trial to trial. */
enum bal_code bal_case_trial(const struct bal_case *c, const struct bal_run *run, struct bal_trial *trial,
                             struct bal_error *err);

/* Has the policy a fluid model that its path can be compared with? */
enum bal_code bal_case_fluid_check(const struct bal_case *c, struct bal_error *err);

/* Rough processor time of one trial in arbitrary units, to order and to report progress. */
double bal_case_cost(const struct bal_case *c);

/* Runs task(context, i) for all i in [0, count) on so many threads (0: one for each processor), in order of i
 * as threads become free. Stops handing out when *stop is set. */
enum bal_code bal_pool_run(unsigned threads, size_t count, void (*task)(void *context, size_t i),
                           void *context, const volatile int *stop);

#ifdef __cplusplus
}
#endif
#endif
