/* SPDX-License-Identifier: BSD-2-Clause */
/* Equal servers as a Markov chain, solved as it is. Servers are interchangeable, so that a state is what each
 * of them has, in falling order; or, where policies look at queues only, how many servers have at least one
 * job, two, and so on, which also does for many servers whose queues are short. */
#ifndef THEORY_CHAIN_H
#define THEORY_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHAIN_SERVERS = 8, /* most of them, one by one */
    CHAIN_PARTS = 16,  /* of a state: longest queues, level by level */
    CHAIN_MANY = 4000, /* most servers, level by level */
};

/* What one server has: jobs, and what a policy knows of it. */
enum {
    CHAIN_JOBS = 0x0fff,
    CHAIN_OFF = 0x1000,
    CHAIN_SETUP = 0x2000,
    CHAIN_NAMED = 0x4000, /* the dispatcher keeps its name, or remembers it */
    CHAIN_LAST = 0x8000,  /* it was the last idle one that got a job */
};

/* Where servers prefer one of two classes, one of them is known better: all its jobs and the high ones. */
enum {
    CHAIN_TAGGED = 0x8000,
    CHAIN_TAGGED_SHIFT = 7,
    CHAIN_TAGGED_JOBS = 0xff,
    CHAIN_TAGGED_HIGH = 0x7f,
};

struct chain_state {
    uint16_t server[CHAIN_PARTS]; /* the others are 0; or [i]: servers with more than i jobs */
};

struct chain_rules;
struct chain_moves;

/* Calls bli_chain_move for everything that may happen in a state but the end of a job, which is the same for
 * all.
 */
typedef void chain_rule(const struct chain_rules *rules, const struct chain_state *state,
                        struct chain_moves *moves);

struct chain_rules {
    unsigned servers;
    double lambda; /* jobs for a server in a mean service time */
    bool by_levels;
    chain_rule *rule;       /* for the way that is taken */
    chain_rule *level_rule; /* NULL: the policy knows more than queues */
    bool quick;             /* follow the chain less far */
    /* By levels, jiq: longer queues count as one of so many jobs, and such a server becomes one of a job less
     * at the rate 1 - beyond, as if this part of them had more at any time. 0: no. */
    unsigned longest;
    double beyond;
    uint16_t first;    /* one of the servers of the empty fleet; the others are 0 */
    unsigned d, names; /* parameters of the policies that have them */
    bool distinct;
    double report, standby, setup; /* rates */
    /* Two classes of jobs. */
    bool preempts;   /* high ones interrupt low ones; states tell them apart at a tagged server */
    bool high_apart; /* states have totals only: the high ones are a pod of d_high of their own */
    double high;     /* share of the high ones */
    unsigned d_high; /* servers that a high job sees, a low one d; 0: classes are not told apart there */
};

static inline unsigned bli_chain_jobs(uint16_t server, bool preempts) {
    return preempts && server & CHAIN_TAGGED ? (unsigned)server >> CHAIN_TAGGED_SHIFT & CHAIN_TAGGED_JOBS
                                             : server & (unsigned)CHAIN_JOBS;
}

/* The probability that a job which sees d servers, and joins the shortest, finds at least i jobs there. */
double bli_chain_finds(const struct chain_rules *rules, const struct chain_state *state, unsigned d,
                       unsigned i);

/* With this rate the state becomes `to`, in any order; or a job joins a queue that is too long for a state.
 */
void bli_chain_move(struct chain_moves *moves, double rate, const struct chain_state *to);
void bli_chain_cut(struct chain_moves *moves, double rate);
/* ... or one that is as long as states tell, or longer. */
void bli_chain_lengthen(struct chain_moves *moves, double rate);

chain_rule bli_chain_pod, bli_chain_jsq, bli_chain_scd, bli_chain_jiq, bli_chain_pi, bli_chain_rcpb;
chain_rule bli_chain_tabs, bli_chain_memory;
chain_rule bli_chain_scp, bli_chain_scp_levels, bli_chain_sep;
chain_rule bli_chain_pod_levels, bli_chain_jsq_levels, bli_chain_jiq_levels;

enum { CHAIN_LEVELS = 512 };
struct chain_answer {
    size_t states;
    double lost;                    /* share of jobs that came where the chain is cut off */
    double accepted;                /* jobs for a server in a unit of time that are not refused */
    double jobs;                    /* mean, at a server */
    double beyond;                  /* of the servers with queues as long as states tell, those with more */
    double tail[CHAIN_LEVELS];      /* fraction of servers with at least i jobs */
    double high_tail[CHAIN_LEVELS]; /* ... high jobs, if these interrupt others */
    /* With d_high: the probability that a high or a low job finds at least i jobs. */
    double high_finds[CHAIN_LEVELS], low_finds[CHAIN_LEVELS];
};

/* Stationary; states that are less likely than about 1e-13 are left out. False: there is no memory, more than
 * `most` states would be needed, or no convergence. O(states) memory, 60 bytes for each way out of one. */
bool bli_chain_solve(const struct chain_rules *rules, size_t most, struct chain_answer *answer);

#endif
