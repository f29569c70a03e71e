/* SPDX-License-Identifier: BSD-2-Clause */
/* Random streams and variates.
 *
 * There is no global generator. A stream is derived from (seed, replication, purpose): two streams that
 * differ in any of the three are independent for all practical purposes, and the same three give the same
 * numbers on every machine and with every compiler. Giving arrivals, sizes, services and policy decisions
 * each a stream of its own is what lets every policy see the same traffic (common random numbers).
 *
 * The generator is xoshiro256++ (Blackman and Vigna, 2019), period 2^256 - 1. Everything here is O(1). */
#ifndef BALLAST_RANDOM_H
#define BALLAST_RANDOM_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bal_rng {
    uint64_t s[4];
};

/* What a stream is for. The numbers are part of every published result: never renumber, only append. */
enum bal_purpose {
    BAL_STREAM_ARRIVALS = 1,    /* when jobs arrive, and how many at once; what the events of the markov
                                 * engine are */
    BAL_STREAM_SIZES = 2,       /* how much work each job brings */
    BAL_STREAM_SERVICE = 3,     /* service completions and capacities */
    BAL_STREAM_POLICY = 4,      /* the decisions of the policy */
    BAL_STREAM_REPORTS = 5,     /* when servers report by themselves */
    BAL_STREAM_CLASSES = 6,     /* which class a job belongs to */
    BAL_STREAM_START = 7,       /* the starting state */
    BAL_STREAM_POWER = 8,       /* standby and set-up times */
    BAL_STREAM_THINNING = 9,    /* which possible arrivals are real when the rate varies */
    BAL_STREAM_STEALING = 10,   /* which servers idle ones try to steal from, and which of several thieves is
                                   served */
    BAL_STREAM_PLACES = 11,     /* where generators of jobs go */
    BAL_STREAM_NETWORK = 12,    /* delays and losses of messages, receivers of reports; in slotted time
                                   dispatchers of jobs */
    BAL_STREAM_CHURN = 13,      /* when servers fail and return */
    BAL_STREAM_RESAMPLING = 14, /* which parts of a log stand for others like it */
    BAL_STREAM_PATIENCE = 15,   /* after which time jobs give up waiting */
    BAL_STREAM_FAILURES = 16,   /* when servers of the event engine fail and are repaired */
    BAL_STREAM_GAPS = 17,       /* times between the events of the markov engine */
    BAL_STREAM_ORIGINS = 18,    /* to which dispatcher each job comes */
    BAL_STREAM_TEST = 1000,     /* free for tests and callers; so is everything above */
};

void bal_rng_init(struct bal_rng *rng, uint64_t seed, uint64_t replication, uint64_t purpose);

/* Uniform on all 64-bit words. */
static inline uint64_t bal_rng_next(struct bal_rng *rng) {
    uint64_t *s = rng->s;
    const uint64_t sum = s[0] + s[3];
    const uint64_t result = ((sum << 23) | (sum >> 41)) + s[0];
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform on [0, 1), a multiple of 2^-53. */
static inline double bal_rng_uniform(struct bal_rng *rng) {
    return (double)(bal_rng_next(rng) >> 11) * 0x1p-53;
}

/* Uniform on (0, 1): never 0, so that its logarithm and its inverse powers are finite. */
static inline double bal_rng_open(struct bal_rng *rng) {
    return ((double)(bal_rng_next(rng) >> 12) + 0.5) * 0x1p-52;
}

uint32_t bal_rng_below_retry(struct bal_rng *rng, uint32_t n, uint64_t product);

/* Uniform on {0, ..., n-1}, n >= 1, without bias (Lemire 2019). */
static inline uint32_t bal_rng_below(struct bal_rng *rng, uint32_t n) {
    const uint64_t product = (bal_rng_next(rng) >> 32) * n;
    if (__builtin_expect((uint32_t)product < n, 0)) {
        struct bal_rng copy = *rng; /* so that a caller can keep the state in registers */
        const uint32_t drawn = bal_rng_below_retry(&copy, n, product);
        *rng = copy;
        return drawn;
    }
    return (uint32_t)(product >> 32);
}

/* Tables of the exponential ziggurat: 256 strips of equal area under exp(-x). */
extern const double bal_exp_width[256];    /* strip i: x = bits * width */
extern const uint64_t bal_exp_inside[256]; /* below this the point lies under the curve for certain */
double bal_rng_exp_edge(struct bal_rng *rng, uint64_t bits);

/* Exponential with mean 1 (ziggurat; Marsaglia and Tsang 2000). Always > 0 is not promised: 0 has
 * probability 2^-53. */
static inline double bal_rng_exp(struct bal_rng *rng) {
    const uint64_t bits = bal_rng_next(rng);
    const unsigned strip = bits & 255;
    const uint64_t x = bits >> 11;
    if (__builtin_expect(x < bal_exp_inside[strip], 1))
        return (double)x * bal_exp_width[strip];
    struct bal_rng copy = *rng; /* as above */
    const double drawn = bal_rng_exp_edge(&copy, bits);
    *rng = copy;
    return drawn;
}

/* Standard normal. */
double bal_rng_normal(struct bal_rng *rng);

/* Gamma with the given shape > 0 and scale 1. */
double bal_rng_gamma(struct bal_rng *rng, double shape);

/* Poisson with 0 <= mean <= 2^62, exact for every mean; O(1). */
uint64_t bal_rng_poisson(struct bal_rng *rng, double mean);

/* Number of failures before the first success, success probability 0 < p <= 1; numbers above 2^63 become
 * 2^63. */
uint64_t bal_rng_geometric(struct bal_rng *rng, double p);

#ifdef __cplusplus
}
#endif
#endif
