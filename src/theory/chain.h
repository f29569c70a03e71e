/* SPDX-License-Identifier: BSD-2-Clause */
/* A few equal servers as a Markov chain, solved as it is. Servers are interchangeable, so that a state is
 * what each of them has, in falling order. */
#ifndef THEORY_CHAIN_H
#define THEORY_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHAIN_SERVERS = 8 };

/* What one server has: jobs, and what a policy knows of it. */
enum {
    CHAIN_JOBS = 0x0fff,
    CHAIN_OFF = 0x1000,
    CHAIN_SETUP = 0x2000,
    CHAIN_NAMED = 0x4000, /* the dispatcher keeps its name */
    CHAIN_LAST = 0x8000,  /* it was the last idle one that got a job */
};

struct chain_state {
    uint16_t server[CHAIN_SERVERS]; /* the others are 0 */
};

struct chain_rules;
struct chain_moves;

/* Calls bal_chain_move for everything that may happen in a state but the end of a job, which is the same for
 * all.
 */
typedef void chain_rule(const struct chain_rules *rules, const struct chain_state *state,
                        struct chain_moves *moves);

struct chain_rules {
    unsigned servers;
    double lambda; /* jobs for a server in a mean service time */
    chain_rule *rule;
    unsigned d, names; /* parameters of the policies that have them */
    bool distinct;
    double report, standby, setup; /* rates */
};

/* With this rate the state becomes `to`, in any order. */
void bal_chain_move(struct chain_moves *moves, double rate, const struct chain_state *to);

chain_rule bal_chain_pod, bal_chain_jsq, bal_chain_jiq, bal_chain_pi, bal_chain_rcpb, bal_chain_tabs;

enum { CHAIN_LEVELS = 512 };
struct chain_answer {
    size_t states;
    double lost;               /* share of jobs that came where the chain is cut off */
    double accepted;           /* jobs for a server in a unit of time that are not refused */
    double jobs;               /* mean, at a server */
    double tail[CHAIN_LEVELS]; /* fraction of servers with at least i jobs */
};

/* Stationary; states that are less likely than about 1e-13 are left out. False: there is no memory, more than
 * `most` states would be needed, or no convergence. O(states) memory, 60 bytes for each way out of one. */
bool bal_chain_solve(const struct chain_rules *rules, size_t most, struct chain_answer *answer);

#endif
