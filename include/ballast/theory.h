/* SPDX-License-Identifier: BSD-2-Clause */
/* Theory: what queueing theory knows about the policies, as plain numbers without simulation.
 *
 * Units: service times have mean 1 and servers unit speed, so that time is counted in mean service times
 * and lambda, the arrival rate per server, is the load; only the M/G/1 functions take other sizes.
 *
 * Conventions: a response time is the waiting time and the service time together. A mean that does not
 * exist, or a system without a steady state (lambda >= 1), gives INFINITY. A parameter outside its range
 * (lambda < 0, a probability outside [0, 1], d = 0, a NaN) gives NAN. Nothing here has state or prints; a
 * function allocates only where its comment says so, and gives NAN when there is no memory.
 *
 * What is exact for a finite number of servers, what only in the limit of many, and what is a bound, is
 * said with each group and gathered in docs/theory.md. */
#ifndef BALLAST_THEORY_H
#define BALLAST_THEORY_H

#include "ballast/dist.h"
#include "ballast/stealing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Queues whose waiting time has an exponential tail ---------------------------------------------------
 *
 * P(W > t) = probability * exp(-rate * t), t >= 0, and the service that follows is exponential of mean 1.
 * This is the whole distribution of the delay in M/M/1, M/M/N, E_k/M/1 and D/M/1, and of rcpb in the limit of
 * many servers. */
struct bli_wait {
    double probability; /* that a job waits at all */
    double rate;        /* of the exponential time that a waiting job waits; 0 without a steady state */
};

/* One server, Poisson arrivals: the random policy, exactly, whatever the number of servers. */
struct bli_wait bli_wait_mm1(double lambda);

/* Many servers and one common queue, Poisson arrivals of rate lambda * servers: no policy has a smaller mean.
 * O(servers), and stable to many millions of them. */
struct bli_wait bli_wait_mmn(double lambda, uint64_t servers);

/* The round-robin policy over so many servers, exactly: each sees every servers-th arrival of a Poisson
 * process. */
struct bli_wait bli_wait_round_robin(double lambda, uint64_t servers);

/* Arrivals at equal distances 1/lambda: the limit of round-robin over many servers. */
struct bli_wait bli_wait_dm1(double lambda);

double bli_wait_mean(const struct bli_wait *wait);
double bli_wait_response_mean(const struct bli_wait *wait);

/* P(W > t) and P(R > t). */
double bli_wait_tail(const struct bli_wait *wait, double t);
double bli_wait_response_tail(const struct bli_wait *wait, double t);

/* The least t with P(W <= t) >= q, 0 <= q <= 1 (INFINITY at q = 1 if jobs ever wait); the same for R. */
double bli_wait_quantile(const struct bli_wait *wait, double q);
double bli_wait_response_quantile(const struct bli_wait *wait, double q);

/* Erlang-A, M/M/n+M (Palm 1957; Garnett, Mandelbaum and Reiman 2002): jobs come at rate lambda > 0 to one
 * queue in front of n servers of rate 1, and give up at rate theta > 0 while they wait. Always stable. O(n +
 * lambda). */
struct bli_erlang_a {
    double gave_up;     /* share of all jobs */
    double waiting;     /* mean wait of those that are served */
    double probability; /* that a job waits, whether it is served in the end or gives up */
    double queue;       /* mean number of jobs, those in service included */
};
struct bli_erlang_a bli_erlang_a(double lambda, double n, double theta);

/* M/M/1 with breakdowns (White and Christie 1958): jobs come at rate lambda and are served at rate 1 by a
 * server that fails at rate alpha, busy or not, and is repaired at rate beta; interrupted jobs go on where
 * they were. The mean number of jobs; INFINITY from lambda = beta / (alpha + beta) on. */
double bli_breakdown_queue(double lambda, double alpha, double beta);

/* ---- One server, general sizes ---------------------------------------------------------------------------
 *
 * Poisson arrivals of rate lambda, sizes with E[S] = m1 and E[S^2] = m2 (INFINITY is allowed). Exact. */

/* Mean waiting time, FIFO (Pollaczek and Khinchine). Add m1 for the response time. */
double bli_mg1_waiting(double lambda, double m1, double m2);

/* Classes 0 (served first) .. n-1, FIFO within a class. */
struct bli_mg1_class {
    double lambda, m1, m2;
};

/* Mean response time of class k < n when an arriving job of a higher class interrupts the one in service,
 * which goes on later from where it stopped. O(k). */
double bli_mg1_preemptive(const struct bli_mg1_class *classes, size_t n, size_t k);

/* The same when a job in service is never interrupted (Cobham). O(n). */
double bli_mg1_nonpreemptive(const struct bli_mg1_class *classes, size_t n, size_t k);

/* ---- Power of d choices -----------------------------------------------------------------------------------
 *
 * In the limit of many servers, each job joining the shortest of d1 queues (of d2 with probability p). v_i
 * is the fraction of servers with at least i jobs. p = 0 is plain pod:d=d1. */
struct bli_pod {
    double lambda;
    double p;
    unsigned d1, d2; /* >= 1 */
};

/* The plain policy pod:d=d. */
static inline struct bli_pod bli_pod_plain(double lambda, unsigned d) {
    const struct bli_pod pod = {lambda, 0.0, d, d};
    return pod;
}

/* Writes v_0 = 1, v_1, .., at most size of them, and returns how many there are up to the last one that is
 * at least 1e-15: like snprintf, the value returned may be larger than size. 0 without a steady state or if
 * a parameter is out of range. O(values): few, unless d1 = 1 and lambda and 1 - p are close to 1. */
size_t bli_pod_tail(const struct bli_pod *pod, double *v, size_t size);

/* The time constant, in mean service times, with which small deviations from the fixed point die out: the
 * inverse of the least eigenvalue of the linearised equations. For plain power of d >= 2 choices at a load
 * below 1; NaN otherwise. Relative error 1e-6. O(levels). */
double bli_pod_relaxation(const struct bli_pod *pod);

/* Mean response and waiting time of a job that probes d >= 1 servers (d1 and d2 are the two kinds of jobs in
 * the system; another d means a single extra job). Relative error below 1e-12. Cost as bli_pod_tail; NAN when
 * that means more than 2^24 levels. */
double bli_pod_response(const struct bli_pod *pod, unsigned d);
double bli_pod_waiting(const struct bli_pod *pod, unsigned d);

/* P(R > t), P(W > t) and their quantiles, for FIFO servers; 0 <= q < 1. Allocate. Absolute error of the
 * probabilities about 1e-14. */
double bli_pod_response_tail(const struct bli_pod *pod, unsigned d, double t);
double bli_pod_waiting_tail(const struct bli_pod *pod, unsigned d, double t);
double bli_pod_response_quantile(const struct bli_pod *pod, unsigned d, double q);
double bli_pod_waiting_quantile(const struct bli_pod *pod, unsigned d, double q);

/* ---- The resource constrained pull-based policy ----------------------------------------------------------
 *
 * Limits of many servers, in three regimes. Idle servers report at rate mu, the dispatcher keeps at most c
 * names. */
enum bli_rcpb_variant {
    BLI_RCPB_CONSTRAINED,  /* c and mu fixed */
    BLI_RCPB_HIGH_MEMORY,  /* c grows without bound, mu fixed; the field c is ignored */
    BLI_RCPB_HIGH_MESSAGE, /* mu grows without bound, c >= 1 fixed; both fields are ignored */
};

struct bli_rcpb {
    enum bli_rcpb_variant variant;
    double lambda;
    double mu;  /* reports per idle server and unit of time, >= 0 */
    uint64_t c; /* names stored, >= 1 */
};

/* mu that makes mu' = mup, the number of reports per job: mu = mup * lambda / (1 - lambda). */
double bli_rcpb_mu(double lambda, double mup);

/* Probability that the store is empty while a fraction s1 of the servers is busy; P0* is this at s1 =
 * lambda. In the high message regime, 0 for s1 < 1; at s1 = 1 it depends on the queues too and NAN is
 * returned. */
double bli_rcpb_empty(const struct bli_rcpb *rcpb, double s1);

/* Fraction of servers with at least i jobs at equilibrium: s_i* = lambda (lambda P0*)^(i-1), s_0* = 1. */
double bli_rcpb_tail(const struct bli_rcpb *rcpb, uint64_t i);

/* The distribution of the waiting time at equilibrium: that of M/M/1 at load lambda P0*. */
struct bli_wait bli_rcpb_wait(const struct bli_rcpb *rcpb);

/* Reports at the times of renewal processes, each of which begins when its server becomes idle, with gaps of
 * a law whose mean is 1/mu (its own mean says nothing). Constrained variant. */
struct bli_rcpb_renewal {
    double empty;   /* P0; NAN where it is not known: det, lognormal, pareto, bounded-pareto */
    double reports; /* of a server in a unit of time */
};
struct bli_rcpb_renewal bli_rcpb_renewal(const struct bli_rcpb *rcpb, const struct bli_dist *gap);

/* A bound of the mean waiting time for all lambda < 1 at the same mu': 1 / (mu' + .. + mu'^c). */
double bli_rcpb_bound(const struct bli_rcpb *rcpb);

/* Reports per server and unit of time, mu (1 - lambda); divided by lambda: per job. INFINITY in the high
 * message regime. */
double bli_rcpb_report_rate(const struct bli_rcpb *rcpb);

/* Bits that hold c names of servers: c ceil(log2 servers). */
double bli_rcpb_memory_bits(uint64_t c, uint64_t servers);

/* ---- Power of d choices with two classes ----------------------------------------------------------------
 *
 * A job is of the high class with probability p. Limits of many servers. */
enum bli_priority_policy {
    BLI_PRIORITY_SCP, /* pod-scp: high jobs probe d2 servers, low ones d1; servers are FIFO */
    BLI_PRIORITY_SEP, /* pod-sep: all jobs probe d1 (d2 is ignored); high jobs interrupt low ones */
    BLI_PRIORITY_SSP, /* pod-ssp: both, and low jobs are moved out of the way of high ones */
};

struct bli_priority {
    enum bli_priority_policy policy;
    double lambda;
    double p;
    unsigned d1, d2; /* >= 1 */
};

/* A class of share 0 has the response time that a single job of it would see (sep with p = 0: high is not
 * known and NAN). With lambda >= 1 low, all and pod are INFINITY and gain and loss NAN; high is still finite
 * under ssp if p lambda < 1, and not known under sep. */
struct bli_priority_result {
    double high; /* mean response time of high jobs */
    double low;  /* of low jobs */
    double all;  /* of all jobs */
    double pod;  /* mean response time of pod:d=d1 at the same load */
    double gain; /* pod / high */
    double loss; /* low / pod */
};

/* Relative error about 1e-12 (sep: that of high is larger by 1/p). Cost as bli_pod_tail. */
struct bli_priority_result bli_priority_solve(const struct bli_priority *priority);

/* An upper bound of the mean response time of low jobs under pod-sep (Theorem 8 of the paper), looser than
 * the exact value that bli_priority_solve gives. */
double bli_sep_low_bound(double lambda, double p, unsigned d);
/* The same cut at queues of `levels` jobs, the paper's j. It tends to the bound as they grow; the paper's
 * figures have three. Smaller than the bound, and not proved to be one. */
enum { BLI_SEP_FIGURE_LEVELS = 3 };
double bli_sep_low_cut(double lambda, double p, unsigned d, unsigned levels);

/* The largest share p of high jobs, 0 < p < 1, at which the gain is at least `gain` and the loss at most
 * `loss`; NAN if there is none. Under ssp and sep with d1 = d2 the gain falls and the loss grows with p
 * (proved for ssp, observed for sep), and the answer is exact to 1e-9. Otherwise loss and gain need not be
 * monotone: shares are scanned in steps of 1/1000 from 1 downwards, so an interval of good shares that is
 * shorter than a step may be missed. The field p of *priority is ignored. */
double bli_priority_share(const struct bli_priority *priority, double gain, double loss);

/* ---- The work stealing chain ------------------------------------------------------------------------------
 *
 * n processors and n generators in slotted time, each generator making a task with probability lambda in a
 * step; steal functions and placements are those of stealing.h. Bounds and what is proved about stability,
 * for every n. Theorems are those of Berenbrink, Friedetzky and Goldberg (2001). */

/* A number that may be beyond any double: `value`, put `powers` times into an exponent of 10. 1e300 and less
 * has powers 0; 10^(10^400) has powers 2 and value 400. Infinite: powers 0, value INFINITY. */
struct bli_tower {
    uint64_t powers;
    double value;
};
/* "123", "10^4567.8", "10^10^4567.8", "10^...^10^4567.8 (12 times 10^)", "infinite"; always terminated;
 * returns the length needed. */
size_t bli_tower_print(const struct bli_tower *tower, char *text, size_t size);
/* Its decimal logarithm; INFINITY when even that is beyond a double. */
double bli_tower_log10(const struct bli_tower *tower);

/* Theorem 2: for every placement, E[load] <= phi + 2 n^2 T / eps + n T in the steady state, the load being
 * all tasks in the system, provided that n is large enough for its proof. */
struct bli_stealing_bound {
    double c;     /* a constant as large as the proof of Lemma 4 needs */
    double gamma; /* how surely a loaded processor is asked while many ask (Lemma 4); 0 or less: n too small
                   */
    double alpha; /* 4 e (c + 1) */
    double nu;    /* n^-2 + n^-alpha: how often the T steps go wrong */
    double z;     /* ceil(alpha lg n): how often a task is passed on */
    double steps; /* T */
    double eps;   /* (1 - lambda/(1 - nu))/4; 0 or less: n too small */
    struct bli_tower phi;  /* Phi_f: above this load the load falls; infinite: f is too small at every load */
    struct bli_tower mean; /* the bound */
    bool holds;            /* phi is finite, and every step of the proof holds at this n and c */
    const char *missing;   /* what does not, if so; else NULL */
};

/* c = 0: the least that the proof allows; where n is so small that it allows none, that of large n, and the
 * bound is the value of the formula, but not proved. Any other c > 0 is taken as it is. n >= 2, 0 < lambda <
 * 1; otherwise nothing holds and all numbers are NAN. Some microseconds. */
struct bli_stealing_bound bli_stealing_bound(const struct bal_steal *steal, uint64_t n, double lambda,
                                             double c);

/* Theorem 2: P(load > phi + (2m + 1) n T) is at most this. */
double bli_stealing_bound_tail(const struct bli_stealing_bound *bound, uint64_t n, double m);

/* The least n of which all larger ones up to 2^50 are large enough for the proof; 0 when there is none
 * (lambda too close to 1). Found by bisection. */
uint64_t bli_stealing_bound_from(double lambda);

/* The supremum of f: INFINITY when it is unbounded. */
double bli_steal_max(const struct bal_steal *steal);

/* Theorem 9: generators on `hosts` processors and f below this at every load make the load grow for ever:
 * lambda n / hosts - 1. */
double bli_stealing_frontier(uint64_t n, double lambda, uint64_t hosts);

/* The same, sharper. Theorem 9 lets every host be robbed in every step, but a thief must choose it: when the
 * load does not grow, so few processors try to steal in a step that a host is robbed with probability p(e),
 * and f below (lambda n / hosts - 1) / p(e) is too small (docs/frontier.md has the proof). others: victims
 * are drawn from the others. */
double bli_stealing_frontier_asked(uint64_t n, double lambda, uint64_t hosts, bool others);

/* What is proved about a setting. */
enum bli_proof { BLI_PROOF_OPEN, BLI_PROOF_STABLE, BLI_PROOF_UNSTABLE };
const char *bli_proof_text(enum bli_proof proof); /* "open", "proved stable", "proved unstable" */
struct bli_stealing_proof {
    enum bli_proof proof;
    const char *why; /* "Theorem 9", ...; or why it is open */
};
struct bli_stealing_proof bli_stealing_prove(const struct bal_steal *steal,
                                             const struct bal_placement *placement, uint32_t n, double lambda,
                                             bool others);

#ifdef __cplusplus
}
#endif
#endif
