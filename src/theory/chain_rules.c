/* SPDX-License-Identifier: BSD-2-Clause */
/* What each policy does in a chain of a few servers. */
#include "theory/chain.h"

#include <math.h>

static unsigned jobs_at(const struct chain_state *state, unsigned i) {
    return state->server[i] & CHAIN_JOBS;
}

static void send_job(const struct chain_state *state, unsigned i, double rate, struct chain_moves *moves) {
    struct chain_state to = *state;
    to.server[i]++;
    if (rate > 0)
        bli_chain_move(moves, rate, &to);
}

/* The probability that all of d servers are among `count` of n. */
static double all_among(const struct chain_rules *rules, unsigned d, unsigned count) {
    double product = 1;
    if (count == rules->servers)
        return 1;
    for (unsigned k = 0; k < d && product > 0; k++)
        product *= rules->distinct ? (count > k ? (double)(count - k) / (rules->servers - k) : 0)
                                   : (double)count / rules->servers;
    return product;
}

/* Jobs that see d servers. These are in falling order, so that those from i on have fewer jobs, or as many.
 */
static void send_to_shortest(const struct chain_rules *rules, const struct chain_state *state, unsigned d,
                             double rate, struct chain_moves *moves) {
    for (unsigned first = 0; first < rules->servers;) {
        unsigned next = first + 1;
        while (next < rules->servers && jobs_at(state, next) == jobs_at(state, first))
            next++;
        send_job(state, first, rate * (all_among(rules, d, next) - all_among(rules, d, first)), moves);
        first = next;
    }
}

void bli_chain_pod(const struct chain_rules *rules, const struct chain_state *state,
                   struct chain_moves *moves) {
    send_to_shortest(rules, state, rules->d, rules->lambda * rules->servers, moves);
}

/* What is in the queues is of any class. */
void bli_chain_scp(const struct chain_rules *rules, const struct chain_state *state,
                   struct chain_moves *moves) {
    const double arrivals = rules->lambda * rules->servers;
    send_to_shortest(rules, state, rules->d, (1 - rules->high) * arrivals, moves);
    send_to_shortest(rules, state, rules->d_high, rules->high * arrivals, moves);
}

static void send_to_tagged(const struct chain_rules *rules, const struct chain_state *state, unsigned i,
                           double rate, struct chain_moves *moves) {
    const unsigned one = 1u << CHAIN_TAGGED_SHIFT, high = state->server[i] & (unsigned)CHAIN_TAGGED_HIGH;
    if (bli_chain_jobs(state->server[i], true) == CHAIN_TAGGED_JOBS || high == CHAIN_TAGGED_HIGH) {
        bli_chain_cut(moves, rate);
        return;
    }
    struct chain_state to = *state;
    to.server[i] = (uint16_t)(state->server[i] + one + 1);
    if (rules->high > 0)
        bli_chain_move(moves, rate * rules->high, &to);
    to.server[i] = (uint16_t)(state->server[i] + one);
    if (rules->high < 1)
        bli_chain_move(moves, rate * (1 - rules->high), &to);
}

/* Jobs are sent by totals, and what is high at one server depends on no others: it is enough to know it of
 * one. */
void bli_chain_sep(const struct chain_rules *rules, const struct chain_state *state,
                   struct chain_moves *moves) {
    for (unsigned i = 0; i < rules->servers; i++) {
        const unsigned jobs = bli_chain_jobs(state->server[i], true);
        unsigned longer = 0, equal = 0;
        for (unsigned k = 0; k < rules->servers; k++) {
            const unsigned other = bli_chain_jobs(state->server[k], true);
            longer += other > jobs;
            equal += other == jobs;
        }
        const double joins =
            (all_among(rules, rules->d, longer + equal) - all_among(rules, rules->d, longer)) / equal *
            rules->lambda * rules->servers;
        if (joins > 0 && state->server[i] & CHAIN_TAGGED)
            send_to_tagged(rules, state, i, joins, moves);
        else
            send_job(state, i, joins, moves);
    }
}

void bli_chain_jsq(const struct chain_rules *rules, const struct chain_state *state,
                   struct chain_moves *moves) {
    send_job(state, rules->servers - 1, rules->lambda * rules->servers, moves);
}

/* d dispatchers: chances max(0, level - key) over their sum, 2 (d - 1), where the key of i jobs is 2 i + 1.
 * The level is found from the shortest queues on. */
void bli_chain_scd(const struct chain_rules *rules, const struct chain_state *state,
                   struct chain_moves *moves) {
    if (rules->d == 1) {
        bli_chain_jsq(rules, state, moves);
        return;
    }
    double keys = 2.0 * (rules->d - 1);
    unsigned likely = 0;
    while (likely < rules->servers) {
        const double key = 2.0 * jobs_at(state, rules->servers - 1 - likely) + 1;
        if (likely > 0 && key >= keys / likely)
            break;
        keys += key;
        likely++;
    }
    for (unsigned i = rules->servers - likely; i < rules->servers; i++) {
        const double chance = (keys / likely - 2.0 * jobs_at(state, i) - 1) / (2.0 * (rules->d - 1));
        send_job(state, i, rules->lambda * rules->servers * chance, moves);
    }
}

/* ---- level by level ---- */

/* To a server with i jobs. */
static void send_to_level(const struct chain_rules *rules, const struct chain_state *state, unsigned i,
                          double rate, struct chain_moves *moves) {
    struct chain_state to = *state;
    if (rules->longest > 0 && i == rules->longest) {
        bli_chain_lengthen(moves, rate);
        return;
    }
    if (i == CHAIN_PARTS) {
        bli_chain_cut(moves, rate);
        return;
    }
    to.server[i]++;
    if (rate > 0)
        bli_chain_move(moves, rate, &to);
}

/* Servers with at least i jobs. */
static unsigned servers_at(const struct chain_rules *rules, const struct chain_state *state, unsigned i) {
    return i == 0 ? rules->servers : i <= CHAIN_PARTS ? state->server[i - 1] : 0;
}

static void send_to_shortest_level(const struct chain_rules *rules, const struct chain_state *state,
                                   unsigned d, double rate, struct chain_moves *moves) {
    for (unsigned i = 0; i <= CHAIN_PARTS; i++) {
        const double joins = all_among(rules, d, servers_at(rules, state, i)) -
                             all_among(rules, d, servers_at(rules, state, i + 1));
        if (joins > 0)
            send_to_level(rules, state, i, rate * joins, moves);
    }
}

void bli_chain_pod_levels(const struct chain_rules *rules, const struct chain_state *state,
                          struct chain_moves *moves) {
    send_to_shortest_level(rules, state, rules->d, rules->lambda * rules->servers, moves);
}

void bli_chain_scp_levels(const struct chain_rules *rules, const struct chain_state *state,
                          struct chain_moves *moves) {
    const double arrivals = rules->lambda * rules->servers;
    send_to_shortest_level(rules, state, rules->d, (1 - rules->high) * arrivals, moves);
    send_to_shortest_level(rules, state, rules->d_high, rules->high * arrivals, moves);
}

double bli_chain_finds(const struct chain_rules *rules, const struct chain_state *state, unsigned d,
                       unsigned i) {
    unsigned servers = rules->by_levels ? servers_at(rules, state, i) : 0;
    for (unsigned k = 0; k < rules->servers && !rules->by_levels; k++)
        servers += jobs_at(state, k) >= i;
    return all_among(rules, d, servers);
}

void bli_chain_jsq_levels(const struct chain_rules *rules, const struct chain_state *state,
                          struct chain_moves *moves) {
    unsigned i = 0;
    while (i < CHAIN_PARTS && state->server[i] == rules->servers)
        i++;
    send_to_level(rules, state, i, rules->lambda * rules->servers, moves);
}

void bli_chain_jiq_levels(const struct chain_rules *rules, const struct chain_state *state,
                          struct chain_moves *moves) {
    if (state->server[0] < rules->servers) {
        send_to_level(rules, state, 0, rules->lambda * rules->servers, moves);
        return;
    }
    for (unsigned i = 1; i <= CHAIN_PARTS; i++) {
        const unsigned servers = servers_at(rules, state, i) - servers_at(rules, state, i + 1);
        if (servers > 0)
            send_to_level(rules, state, i, rules->lambda * servers, moves);
    }
}

/* ---- server by server ---- */

static void send_uniformly(const struct chain_rules *rules, const struct chain_state *state,
                           struct chain_moves *moves) {
    for (unsigned i = 0; i < rules->servers; i++)
        send_job(state, i, rules->lambda, moves);
}

void bli_chain_jiq(const struct chain_rules *rules, const struct chain_state *state,
                   struct chain_moves *moves) {
    if (jobs_at(state, rules->servers - 1) == 0)
        send_job(state, rules->servers - 1, rules->lambda * rules->servers, moves);
    else
        send_uniformly(rules, state, moves);
}

/* Which of the idle servers gets the job, the one that was last or another, makes no difference. */
void bli_chain_pi(const struct chain_rules *rules, const struct chain_state *state,
                  struct chain_moves *moves) {
    unsigned last = rules->servers, idle = rules->servers;
    for (unsigned i = 0; i < rules->servers; i++) {
        if (state->server[i] & CHAIN_LAST)
            last = i;
        if (jobs_at(state, i) == 0)
            idle = i;
    }
    if (idle == rules->servers) {
        send_job(state, last, rules->lambda * rules->servers, moves);
        return;
    }
    struct chain_state to = *state;
    if (last < rules->servers)
        to.server[last] &= (uint16_t)~CHAIN_LAST;
    to.server[idle] = CHAIN_LAST | 1;
    bli_chain_move(moves, rules->lambda * rules->servers, &to);
}

void bli_chain_rcpb(const struct chain_rules *rules, const struct chain_state *state,
                    struct chain_moves *moves) {
    unsigned names = 0;
    struct chain_state to;
    for (unsigned i = 0; i < rules->servers; i++)
        names += (state->server[i] & CHAIN_NAMED) != 0;
    for (unsigned i = 0; i < rules->servers; i++) {
        to = *state;
        if (state->server[i] == CHAIN_NAMED) {
            to.server[i] = 1;
            bli_chain_move(moves, rules->lambda * rules->servers / names, &to);
        } else if (state->server[i] == 0 && names < rules->names) {
            to.server[i] = CHAIN_NAMED;
            bli_chain_move(moves, rules->report, &to);
        }
    }
    if (names == 0)
        send_uniformly(rules, state, moves);
}

/* The probabilities that d servers are no others than the remembered one and i certain others, all of these
 * among them. */
static void set_seen(const struct chain_rules *rules, double seen[CHAIN_SERVERS]) {
    for (unsigned i = 0; i < rules->servers; i++) {
        double sum = 0, choose = 1;
        for (unsigned k = 0; k <= i; k++) { /* k of them are not */
            sum += choose * pow((double)(i + 1 - k) / rules->servers, rules->d);
            choose *= -(double)(i - k) / (k + 1);
        }
        seen[i] = sum;
    }
}

/* The servers of a set that have the fewest jobs. */
static unsigned shortest_of(const struct chain_state *state, unsigned set) {
    unsigned shortest = 0, least = CHAIN_JOBS;
    for (unsigned i = 0; i < CHAIN_SERVERS; i++) {
        const unsigned jobs = jobs_at(state, i);
        if (!(set >> i & 1) || jobs > least)
            continue;
        shortest = (jobs < least ? 0 : shortest) | 1u << i;
        least = jobs;
    }
    return shortest;
}

/* A job that sees these servers joins a shortest one; a shortest one after that is remembered. */
static void send_among(const struct chain_state *forgotten, unsigned set, double rate,
                       struct chain_moves *moves) {
    const unsigned best = shortest_of(forgotten, set);
    for (unsigned i = 0; i < CHAIN_SERVERS; i++) {
        struct chain_state to = *forgotten;
        if (!(best >> i & 1))
            continue;
        to.server[i]++;
        const unsigned next = shortest_of(&to, set);
        const double each = rate / __builtin_popcount(best) / __builtin_popcount(next);
        for (unsigned k = 0; k < CHAIN_SERVERS; k++) {
            struct chain_state known = to;
            known.server[k] |= CHAIN_NAMED;
            if (next >> k & 1)
                bli_chain_move(moves, each, &known);
        }
    }
}

void bli_chain_memory(const struct chain_rules *rules, const struct chain_state *state,
                      struct chain_moves *moves) {
    double seen[CHAIN_SERVERS];
    struct chain_state forgotten = *state;
    unsigned named = 0;
    for (unsigned i = 0; i < rules->servers; i++) {
        if (state->server[i] & CHAIN_NAMED)
            named = 1u << i;
        forgotten.server[i] = (uint16_t)jobs_at(state, i);
    }
    set_seen(rules, seen);
    for (unsigned set = 1; set < 1u << rules->servers; set++) {
        const unsigned others = (unsigned)__builtin_popcount(set) - 1;
        if (set & named && others <= rules->d)
            send_among(&forgotten, set, rules->lambda * rules->servers * seen[others], moves);
    }
}

/* A job that finds no idle server on starts one that is off, if there is any. */
static void start_server(const struct chain_state *state, unsigned servers, struct chain_state *to) {
    for (unsigned i = 0; i < servers; i++)
        if (state->server[i] == CHAIN_OFF) {
            to->server[i] = CHAIN_SETUP;
            return;
        }
}

static void switch_servers(const struct chain_rules *rules, const struct chain_state *state,
                           struct chain_moves *moves) {
    for (unsigned i = 0; i < rules->servers; i++) {
        struct chain_state to = *state;
        to.server[i] = state->server[i] == 0 ? CHAIN_OFF : 0;
        if (state->server[i] == 0 && rules->standby > 0)
            bli_chain_move(moves, rules->standby, &to);
        if (state->server[i] == CHAIN_SETUP)
            bli_chain_move(moves, rules->setup, &to);
    }
}

void bli_chain_tabs(const struct chain_rules *rules, const struct chain_state *state,
                    struct chain_moves *moves) {
    const double arrivals = rules->lambda * rules->servers;
    unsigned busy = 0, idle = rules->servers;
    for (unsigned i = 0; i < rules->servers; i++) {
        busy += jobs_at(state, i) > 0;
        if (state->server[i] == 0)
            idle = i;
    }
    switch_servers(rules, state, moves);
    if (idle < rules->servers) {
        send_job(state, idle, arrivals, moves);
        return;
    }
    struct chain_state to = *state;
    start_server(state, rules->servers, &to);
    if (busy == 0) /* refused */
        bli_chain_move(moves, arrivals, &to);
    for (unsigned i = 0; i < rules->servers; i++)
        if (jobs_at(state, i) > 0)
            send_job(&to, i, arrivals / busy, moves);
}
