/* SPDX-License-Identifier: BSD-2-Clause */
/* The price of policies: what they cost in memory and messages, what delay that buys, and which is the
 * cheapest for a wanted delay.
 *
 * Gamarnik, Tsitsiklis and Zubeldia (2016) ask whether the waiting time vanishes as servers are added at the
 * same load. Their Theorem 5: not under any symmetric policy whose memory is at most a constant times log2 N
 * bits and whose servers and dispatcher exchange at most a constant times N messages in a unit of time. More
 * memory or more messages can be enough, and for some policies it is. */
#ifndef BALLAST_PRICE_H
#define BALLAST_PRICE_H

#include "ballast/lab.h"
#include "ballast/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a policy costs ---- */

/* How a cost grows with the number N of servers, the parameters being what they are. */
enum bli_growth {
    BLI_GROWTH_NONE,  /* there is no cost */
    BLI_GROWTH_SMALL, /* at most a constant times log2 N bits; at most a constant times N messages in a unit
                         of time */
    BLI_GROWTH_LARGE, /* more than that */
};

/* Does the mean waiting time vanish as servers are added at the same load and with the same parameters? */
enum bli_vanishing {
    BLI_VANISHING_NEVER,    /* no policy of its kind can: Theorem 5 */
    BLI_VANISHING_NO,       /* it is known not to */
    BLI_VANISHING_YES,      /* it is known to */
    BLI_VANISHING_POSSIBLE, /* Theorem 5 does not forbid it */
    BLI_VANISHING_UNKNOWN,  /* the theorem does not cover such a system or policy */
};
const char *bli_vanishing_text(enum bli_vanishing vanishing); /* "cannot", "no", "yes", "may", "not covered"
                                                               */

struct bli_price {
    double memory_bits;
    double probes;  /* per job, at most */
    double reports; /* per job, at most, once the system is stationary */
    enum bli_growth memory, messages;
    enum bli_vanishing vanishing;
};

/* Found from what the policy declares and, for the probes, from watching it dispatch on made-up fleets of two
 * sizes; no policy is known by name. The policy must fit the model (bli_simulate_check). O(servers). */
enum bal_code bli_price_of(const struct bli_model *model, const struct bal_policy_spec *policy,
                           struct bli_price *price, struct bal_error *err);

/* Messages per job at most, a probe counted as two. */
static inline double bli_price_messages(const struct bli_price *price) {
    return 2 * price->probes + price->reports;
}

/* ---- the cheapest policies for a wanted delay ---- */

struct bli_wish {
    double waiting;     /* largest mean waiting time, in the unit of the model, > 0 */
    double messages;    /* most messages per job, a probe counted as two; INFINITY: any number */
    double memory_bits; /* most bits of memory; INFINITY: any number */
};

enum bli_fulfilment {
    BLI_WISH_MET,       /* by the 95 % interval of the simulation, or by theory */
    BLI_WISH_UNDECIDED, /* the interval contains the wish, or is doubted */
    BLI_WISH_MISSED,
};

struct bli_offer {
    struct bal_policy_spec policy;
    struct bli_price price;
    struct bli_prediction known; /* what theory predicts for it: its expansion, where that is close */
    double error;   /* how far known.waiting_mean may be off, where it is exact or close for so many servers;
                       NaN:   it is a limit, or not known */
    bool by_theory; /* that decides, and nothing was simulated: result has the waiting time, +- the error, and
                       the messages of theory, and no replication */
    struct bli_result result;
    enum bli_fulfilment fulfilment;
    bool cheapest; /* it meets the wish, and none that does costs no more of both and less of one */
};

enum { BLI_OFFERS_MAX = 64 };

/* What theory knows to meet a wish, although it costs more. */
struct bli_offer_hint {
    struct bal_policy_spec policy; /* NULL: there is none such */
    struct bli_price price;
    double waiting;
};

struct bli_price_offers {
    size_t count;
    struct bli_offer offer[BLI_OFFERS_MAX]; /* first those that meet the wish, by messages; then the others,
                                               by delay */
    /* When none meets it: what theory knows to meet it with more messages, or with more memory, than was
     * wished. */
    struct bli_offer_hint more_messages, more_memory;
    double floor_waiting; /* no policy waits less: one common queue. A wish for less is not searched for: no
                             offers */
};

/* Parameters are first chosen by theory (d of pod, c and mup of rcpb), or tried one after the other where
 * there is none (d and b of pod-memory), then simulated as c->run and c->replications say, and made more
 * expensive until the simulation confirms that they meet the wish. Where theory decides that is exact, or
 * close for so many servers, of a policy whose servers report nothing (so that its messages are known),
 * nothing is simulated. With c->max_run_length above 0 the length of c->run is the least, and each is made as
 * long as it needs (bli_choose_length). c->policy is ignored. The model must have equal servers, exponential
 * sizes, one class, one task and load < 1 (BAL_E_MODEL). The caller frees *offers. Returns BAL_E_STOPPED, and
 * no offers, when the caller stops it. */
enum bal_code bli_price_search(const struct bli_case *c, const struct bli_wish *wish,
                               const struct bli_lab_options *options, struct bli_price_offers **offers,
                               struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
