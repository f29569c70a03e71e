/* SPDX-License-Identifier: BSD-2-Clause */
/* The lab: runs many trials in parallel, and combines their results.
 *
 * A case is one policy on one model; its replications are independent trials. Cases are given as an array and
 * their results come back as an array. Results do not depend on the number of threads. */
#ifndef BALLAST_LAB_H
#define BALLAST_LAB_H

#include "ballast/predict.h"
#include "ballast/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bli_case {
    struct bli_model model;
    struct bal_policy_spec policy;
    struct bli_run run;    /* its replication and stop are set for each trial */
    unsigned replications; /* at least this many, >= 1 */
    unsigned draws; /* a trial is the mean of so many, with the same arrivals and sizes and other random
                     * choices (run.draw); 0 is 1 */
    bool path;      /* a span of a path from its start was asked for, not the steady state: it need not have
                       settled, and theory of the steady state does not apply */
    bool fluid; /* see how far the path from an idle fleet is from that of the fluid model: fluid.distance */
    double precision; /* when above 0: add replications until the half-width of the mean response time is at
                       * most this fraction of it; the mean is found with control variates where there are */
    double max_run_length; /* when above run.time: while the result is doubted as settling, the run is done
                            * again twice as long, and where a precision would take many replications so much
                            * longer that few do, up to this length; 0: its length is what it is */
    /* What theory says of this model and policy, so that it is not computed again for each result; NULL: not
     * known, or not computed yet. */
    const struct bli_prediction *known;
    const struct bli_expansion *expansion;
};

/* Why a result is doubted: its interval may miss the true value more often than its confidence promises. */
enum bli_doubt {
    BLI_DOUBT_SETTLING = 1 << 0, /* queues were on their way from how they began while they were measured */
    BLI_DOUBT_THEORY = 1 << 1,   /* it lies far from what is known, exactly or for so many servers */
    BLI_DOUBT_TAIL = 1 << 2,     /* sizes without a third moment: the mean has no finite variance */
    BLI_DOUBT_FEW = 1 << 3,      /* a replication has measured fewer than 100 jobs */
    BLI_DOUBT_GROWING = 1 << 4, /* queues grew until the end of recorded jobs: all depends on where that is */
    BLI_DOUBT_BOUND = 1 << 5,   /* its interval lies below what no policy can beat */
    BLI_DOUBT_PRECISION = 1 << 6, /* a precision was wanted, and is not reached or cannot be trusted */
};
enum {
    BLI_DOUBTS = 7, /* how many there are */
    /* doubts about the value itself: the last one only means that its interval is wide */
    BLI_DOUBTS_OF_VALUE = BLI_DOUBT_PRECISION - 1,
};
const char *bli_doubt_text(enum bli_doubt doubt); /* "settling", "theory", "tail", "few", "growing",
                                                     "bound", "precision" */

/* How fast the fleet of a case forgets how it began. */
struct bli_time_constant {
    double constant; /* what is missing of the mean queue falls about like exp(-t/constant); NaN: not known */
    double together; /* the part of it that is one for the whole fleet, so that there is no more of it to be
                        seen in more servers; 0 where that is not measured */
    bool known;      /* by theory; otherwise the slowest that is plausible */
};

/* The combined result of the replications of a case. */
struct bli_result {
    struct bli_estimate metric[BLI_METRIC_COUNT];
    struct bli_estimate percentile[BLI_DISTRIBUTIONS][BLI_PERCENTILES_MAX]; /* that were asked for */
    double tail[BLI_TAIL_LEVELS];
    enum bli_verdict verdict;
    enum bli_engine engine;
    double memory_bits;
    unsigned replications; /* complete ones; 0: nothing is known */
    unsigned controls;     /* control variates that the mean response time was found with, where a precision
                            * is wanted: its interval has so many degrees of freedom less */
    unsigned doubts;       /* of enum bli_doubt; 0: none, or there are no means to doubt */
    struct bli_time_constant settling;
    bool precise;   /* the wanted precision was reached, undoubted (true when none was wanted) */
    double time;    /* length of its runs */
    bool outlasted; /* the runs went on after the end of their load curve, which stayed as it was */
    double warmup;  /* mean fraction of the run that was cut */
    uint64_t jobs;  /* measured */
    uint64_t events;
    double seconds; /* of processor time, all its trials */
};

struct bli_lab_options {
    unsigned threads;          /* 0: one for each processor */
    unsigned max_replications; /* most replications that the precision may ask for; 0: 1000 */
    bool independent_lengths;  /* cases that may be made longer are so each on its own; otherwise all of them
                                * together, so  that they see the same arrivals throughout */
    const volatile int *stop;  /* when set and not 0: finish early with what is there; may be NULL */
    /* Called now and then from one of the threads, never from two at once; may be NULL. `part` is the share
     * of all work known so far that is done, 0 to 1. */
    void (*progress)(void *context, double part);
    void *progress_context;
};

/* Runs all replications of all cases, the long ones first. result is an array of count. When the caller stops
 * it, it returns BAL_E_STOPPED with results from the complete trials. Runs that were being repeated at
 * another length count only if there were enough of them; otherwise the results are those of the earlier
 * runs. */
enum bal_code bli_lab_run(const struct bli_case *cases, size_t count, const struct bli_lab_options *options,
                          struct bli_result *result, struct bal_error *err);

/* Can something be decided by its intervals: are they there, is it stable, and not doubted? (That they are
 * not as narrow as was wanted is no reason not to.) */
bool bli_result_is_sure(const struct bli_result *result);

/* Is the mean response time farther from a known one than its 99.9 % interval and the error of that allow? */
bool bli_result_contradicts(const struct bli_result *result, double known, double error);

/* A quantile of the case that it was asked for, or that is always measured; NaN: neither. */
struct bli_estimate bli_result_quantile(const struct bli_case *c, const struct bli_result *result,
                                        enum bli_distribution distribution, double quantile);

/* How many spells of queues as long as those that a percentile is made of a replication has seen, about: the
 * time above the quantile (or below it, if that is less) in time constants. With fewer than ten of them the
 * percentile of a run is skewed, and the interval too short: it covers 93 % with five and 75 % with less
 * than one. NaN where no time constant is known or plausible. */
enum { BLI_SPELLS_MIN = 10 };
double bli_result_spells(const struct bli_case *c, const struct bli_result *result, double quantile);

/* The same combination, from trials that were run elsewhere. trial[0..count) are the replications of one
 * case, in order. */
void bli_result_of(const struct bli_case *c, const struct bli_trial *trial, size_t count,
                   struct bli_result *result);

/* How many replications the case should have, judged from its first ones, at most `max_replications`: as many
 * as it has when its precision is reached or none is wanted. Depends on nothing else: the same sequence of
 * calls gives the same answers. */
unsigned bli_replications_needed(const struct bli_case *c, const struct bli_result *result,
                                 unsigned max_replications);

/* One trial of a case with the settings in *run, which is c->run except for what differs from trial to
 * trial. */
enum bal_code bli_case_trial(const struct bli_case *c, const struct bli_run *run, struct bli_trial *trial,
                             struct bal_error *err);

/* Has the policy a fluid model that its path can be compared with? */
enum bal_code bli_case_fluid_check(const struct bli_case *c, struct bal_error *err);

/* ---- how long runs are ---- */

/* The usual length: 2M jobs and at least 100 a server, or 100k slots. */
double bli_default_run_length(const struct bli_model *model);

/* The length to begin with: the usual one, or shorter where a precision is wanted, so that no more is
 * simulated than that needs; 50k jobs at least, and 20 time constants of the slowest case. Runs that turn out
 * to be too short for the precision are made longer up to bli_case.max_run_length. */
double bli_initial_run_length(const struct bli_case *cases, size_t count);

/* Chooses the length of cases of one model that are to see the same arrivals: `usual`, or longer where theory
 * knows how fast the fleet forgets that it began idle (bli_theory_relaxation), so that what is measured
 * begins 7.5 time constants later, when 0.02 % of the mean queue are missing. Sets run.time and
 * max_run_length; run.warmup, too, if it is NaN and the usual one would not do, and if only the last `window`
 * is to be measured (0: that is not so). A run costs at most 40M jobs, or as much as the usual one: a case
 * that would need more does not get it, and is doubted. */
void bli_choose_length(struct bli_case *cases, size_t count, double usual, double window);

/* The length and warm-up of a run to try in place of one that is doubted as settling, at any cost. */
struct bli_advice {
    double time;
    double warmup; /* NaN: as it is */
    bool known; /* by theory it is long enough; otherwise it is what the slowest plausible fleet would take,
                   or four times as long */
};
struct bli_advice bli_advise_length(const struct bli_case *c, const struct bli_result *result);

/* Rough processor time of one trial in arbitrary units, to order and to report progress. */
double bli_case_cost(const struct bli_case *c);

/* Runs task(context, i) for all i in [0, count) on so many threads (0: one for each processor), in order of i
 * as threads become free. Stops handing out when *stop is set. */
enum bal_code bli_pool_run(unsigned threads, size_t count, void (*task)(void *context, size_t i),
                           void *context, const volatile int *stop);

#ifdef __cplusplus
}
#endif
#endif
