/* SPDX-License-Identifier: BSD-2-Clause */
/* The stationary distribution of a chain whose states are found on the way.
 *
 * The states are those that are likely enough: from a likely one on, whatever would be entered at a rate
 * above a threshold is added, and the chain is solved again, until hardly anything leads to what is left out.
 * A chain is solved by sweeps of Gauss and Seidel. These are slow where the fleet as a whole fills up, which
 * takes 1/(1 - lambda)^2 of them; so between sweeps all states of so many jobs are one, and that chain of
 * births and deaths is solved at once (Takahashi 1975; Koury, McAllister and Stewart 1984). A sparse
 * factorisation would fill in: with six servers it is a grid of six dimensions. */
#include "theory/chain.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOVES = 80, SWEEPS_MAX = 20000, SWEEPS_CHECK = 10, TOTAL_MAX = 16384, ROUNDS_MAX = 50 };
/* How far a chain is followed: a few servers to all digits, many as far as states are not too many, and
 * either less far where an answer is wanted at once. */
static const struct {
    double least;      /* flow into a state that is worth adding */
    double negligible; /* part of all flow that leads to what is left out */
    double precise;    /* of the equations, all together, in the end */
} aims[] = {{1e-15, 1e-11, 1e-12}, {1e-10, 1e-6, 1e-9}, {1e-8, 3e-5, 1e-7}};
static const double rough = 1e-4; /* ... and while states are added */

struct chain_moves {
    unsigned count;
    double cut, longer; /* rates */
    double rate[MOVES];
    struct chain_state to[MOVES];
};

struct chain {
    const struct chain_rules *rules;
    size_t most;
    struct chain_state *state;
    uint16_t *total; /* jobs */
    double *probability;
    double *leaves; /* the rate at which a state is left for others of the chain */
    size_t count, room;
    uint32_t *slot; /* hash table of states: 0, or 1 + index */
    size_t slots;
    size_t *start; /* ways into state i: start[i] .. start[i + 1] - 1 */
    uint32_t *from;
    double *rate;
    size_t ways;
};

/* In falling order; nearly so already. */
static void sort_servers(uint16_t server[CHAIN_PARTS]) {
    for (unsigned i = 1; i < CHAIN_PARTS; i++)
        for (unsigned j = i; j > 0 && server[j] > server[j - 1]; j--) {
            const uint16_t other = server[j];
            server[j] = server[j - 1];
            server[j - 1] = other;
        }
}

void bli_chain_move(struct chain_moves *moves, double rate, const struct chain_state *to) {
    struct chain_state sorted = *to;
    sort_servers(sorted.server);
    for (unsigned i = 0; i < moves->count; i++)
        if (memcmp(&moves->to[i], &sorted, sizeof sorted) == 0) {
            moves->rate[i] += rate;
            return;
        }
    moves->rate[moves->count] = rate;
    moves->to[moves->count++] = sorted;
}

void bli_chain_cut(struct chain_moves *moves, double rate) {
    moves->cut += rate;
}

void bli_chain_lengthen(struct chain_moves *moves, double rate) {
    moves->longer += rate;
}

static unsigned aim_of(const struct chain_rules *rules) {
    return rules->quick ? 2 : rules->by_levels ? 1 : 0;
}

/* ---- the states ---- */

static size_t hash_of(const struct chain_state *state) {
    uint64_t words[CHAIN_PARTS / 4];
    memcpy(words, state->server, sizeof words);
    uint64_t hash = words[0] * 0x9e3779b97f4a7c15u ^ words[1] * 0xc2b2ae3d27d4eb4fu ^
                    words[2] * 0x165667b19e3779f9u ^ words[3] * 0x27d4eb2f165667c5u;
    hash ^= hash >> 29;
    return (size_t)(hash * 0xbf58476d1ce4e5b9u >> 20);
}

/* The slot where it is, or where it would be. */
static size_t slot_of(const struct chain *chain, const struct chain_state *state) {
    size_t slot = hash_of(state) & (chain->slots - 1);
    while (chain->slot[slot] && memcmp(&chain->state[chain->slot[slot] - 1], state, sizeof *state) != 0)
        slot = (slot + 1) & (chain->slots - 1);
    return slot;
}

static bool grow(void **array, size_t count, size_t size) {
    void *more = realloc(*array, count * size);
    if (more)
        *array = more;
    else
        bli_memory_lose();
    return more != NULL;
}

static bool chain_grow(struct chain *chain) {
    const size_t room = chain->room > 0 ? 2 * chain->room : 1024;
    if (!grow((void **)&chain->state, room, sizeof *chain->state) ||
        !grow((void **)&chain->total, room, sizeof *chain->total) ||
        !grow((void **)&chain->probability, room, sizeof *chain->probability) ||
        !grow((void **)&chain->leaves, room, sizeof *chain->leaves) ||
        !grow((void **)&chain->start, room + 1, sizeof *chain->start) ||
        !grow((void **)&chain->slot, 2 * room, sizeof *chain->slot))
        return false;
    chain->room = room;
    chain->slots = 2 * room;
    memset(chain->slot, 0, chain->slots * sizeof *chain->slot);
    for (size_t i = 0; i < chain->count; i++)
        chain->slot[slot_of(chain, &chain->state[i])] = (uint32_t)i + 1;
    return true;
}

static unsigned total_of(const struct chain_rules *rules, const struct chain_state *state) {
    unsigned total = 0;
    for (unsigned i = 0; i < CHAIN_PARTS; i++)
        total += bli_chain_jobs(state->server[i], rules->preempts);
    return total;
}

static bool chain_add(struct chain *chain, const struct chain_state *state, double probability) {
    if (chain->count == chain->most || (chain->count == chain->room && !chain_grow(chain)))
        return false;
    chain->state[chain->count] = *state;
    chain->total[chain->count] = (uint16_t)total_of(chain->rules, state);
    chain->probability[chain->count] = probability;
    chain->slot[slot_of(chain, state)] = (uint32_t)++chain->count;
    return true;
}

/* At a tagged server it is a high one if there is any. */
static unsigned job_in_service(const struct chain_rules *rules, uint16_t server) {
    if (!rules->preempts || !(server & CHAIN_TAGGED))
        return 1;
    return (1u << CHAIN_TAGGED_SHIFT) + (server & CHAIN_TAGGED_HIGH ? 1 : 0);
}

static void list_moves(const struct chain_rules *rules, const struct chain_state *state,
                       struct chain_moves *moves) {
    moves->count = 0;
    moves->cut = moves->longer = 0;
    for (unsigned i = 0; i < (rules->by_levels ? CHAIN_PARTS : rules->servers); i++) {
        const unsigned next = rules->by_levels && i + 1 < CHAIN_PARTS ? state->server[i + 1] : 0;
        const unsigned jobs = bli_chain_jobs(state->server[i], rules->preempts);
        struct chain_state to = *state;
        to.server[i] = (uint16_t)(to.server[i] - job_in_service(rules, state->server[i]));
        if (jobs > next) /* by levels: so many servers have i + 1 jobs */
            bli_chain_move(moves,
                           !rules->by_levels         ? 1
                           : i + 1 == rules->longest ? jobs * (1 - rules->beyond)
                                                     : jobs - next,
                           &to);
    }
    rules->rule(rules, state, moves);
}

/* Adds what is entered at a rate above the threshold, also from what is added. */
static bool add_likely(struct chain *chain) {
    struct chain_moves moves;
    for (size_t i = 0; i < chain->count; i++) {
        list_moves(chain->rules, &chain->state[i], &moves);
        double leaves = 0;
        for (unsigned m = 0; m < moves.count; m++)
            leaves += moves.rate[m];
        for (unsigned m = 0; m < moves.count; m++) {
            const double flow = chain->probability[i] * moves.rate[m];
            if (flow < aims[aim_of(chain->rules)].least || chain->slot[slot_of(chain, &moves.to[m])])
                continue;
            if (total_of(chain->rules, &moves.to[m]) >= TOTAL_MAX ||
                !chain_add(chain, &moves.to[m], 1.4 * flow / leaves))
                return false;
        }
    }
    return true;
}

/* ---- the equations ---- */

static uint32_t index_of(const struct chain *chain, const struct chain_state *state) {
    return chain->slot[slot_of(chain, state)];
}

/* Ways into each state, from ways out of all. */
static bool list_ways(struct chain *chain) {
    struct chain_moves moves;
    memset(chain->start, 0, (chain->count + 1) * sizeof *chain->start);
    chain->ways = 0;
    for (size_t i = 0; i < chain->count; i++) {
        list_moves(chain->rules, &chain->state[i], &moves);
        chain->leaves[i] = 0;
        for (unsigned m = 0; m < moves.count; m++) {
            const uint32_t to = index_of(chain, &moves.to[m]);
            if (to == 0 || to == i + 1)
                continue;
            chain->leaves[i] += moves.rate[m];
            chain->start[to]++;
            chain->ways++;
        }
    }
    for (size_t i = 0; i < chain->count; i++)
        chain->start[i + 1] += chain->start[i];
    if (!grow((void **)&chain->from, chain->ways + 1, sizeof *chain->from) ||
        !grow((void **)&chain->rate, chain->ways + 1, sizeof *chain->rate))
        return false;
    for (size_t i = chain->count; i-- > 0;) {
        list_moves(chain->rules, &chain->state[i], &moves);
        for (unsigned m = 0; m < moves.count; m++) {
            const uint32_t to = index_of(chain, &moves.to[m]);
            if (to == 0 || to == i + 1)
                continue;
            const size_t way = --chain->start[to];
            chain->from[way] = (uint32_t)i;
            chain->rate[way] = moves.rate[m];
        }
    }
    memmove(chain->start, chain->start + 1, chain->count * sizeof *chain->start);
    chain->start[chain->count] = chain->ways;
    return true;
}

static double inflow(const struct chain *chain, size_t i) {
    double sum = 0;
    for (size_t way = chain->start[i]; way < chain->start[i + 1]; way++)
        sum += chain->probability[chain->from[way]] * chain->rate[way];
    return sum;
}

/* How far the equations are from being solved, as a share of all flow. */
static double residual(const struct chain *chain) {
    double sum = 0, flow = 0;
    for (size_t i = 0; i < chain->count; i++) {
        const double leaves = chain->probability[i] * chain->leaves[i];
        sum += fabs(inflow(chain, i) - leaves);
        flow += leaves;
    }
    return flow > 0 ? sum / flow : 0;
}

/* The totals as a chain of births and deaths, solved exactly; all states of a total are scaled alike. */
static void aggregate(struct chain *chain, double *up, double *down, double *mass) {
    memset(up, 0, (TOTAL_MAX + 1) * sizeof *up);
    memset(down, 0, (TOTAL_MAX + 1) * sizeof *down);
    memset(mass, 0, (TOTAL_MAX + 1) * sizeof *mass);
    unsigned least = TOTAL_MAX, largest = 0;
    for (size_t i = 0; i < chain->count; i++) {
        const unsigned total = chain->total[i];
        least = total < least ? total : least;
        largest = total > largest ? total : largest;
        mass[total] += chain->probability[i];
        for (size_t way = chain->start[i]; way < chain->start[i + 1]; way++) {
            const size_t from = chain->from[way];
            const unsigned before = chain->total[from];
            const double flow = chain->probability[from] * chain->rate[way];
            if (before < total)
                up[before] += flow;
            else if (before > total)
                down[before] += flow;
        }
    }
    double scale = 1, sum = mass[least];
    for (unsigned n = least; n < largest; n++) { /* scale[n] up[n] = scale[n + 1] down[n + 1] */
        const double here = scale;
        scale = down[n + 1] > 0 ? here * up[n] / down[n + 1] : 0;
        up[n] = here; /* no longer needed: the scale of this total */
        sum += scale * mass[n + 1];
    }
    up[largest] = scale;
    for (size_t i = 0; i < chain->count; i++)
        chain->probability[i] *= up[chain->total[i]] / sum;
}

static void sweep(struct chain *chain, bool forwards) {
    for (size_t k = 0; k < chain->count; k++) {
        const size_t i = forwards ? k : chain->count - 1 - k;
        if (chain->leaves[i] > 0)
            chain->probability[i] = inflow(chain, i) / chain->leaves[i];
    }
}

/* False: no memory, or no convergence. */
static bool solve(struct chain *chain, unsigned sweeps, double wanted) {
    double *work = malloc(3 * (TOTAL_MAX + 1) * sizeof *work);
    bool solved = false;
    if (!work)
        bli_memory_lose();
    for (unsigned s = 1; work && !solved && s <= sweeps; s++) {
        aggregate(chain, work, work + TOTAL_MAX + 1, work + 2 * (TOTAL_MAX + 1));
        sweep(chain, s % 2);
        solved = s % SWEEPS_CHECK == 0 && residual(chain) < wanted;
    }
    if (work)
        aggregate(chain, work, work + TOTAL_MAX + 1, work + 2 * (TOTAL_MAX + 1));
    free(work);
    return solved;
}

/* ---- what it says ---- */

/* What a job of each class finds, which sees the state as it is at any time. */
static void add_found(const struct chain_rules *rules, const struct chain_state *state, double probability,
                      struct chain_answer *answer) {
    for (unsigned i = 0; i < CHAIN_LEVELS; i++) {
        const double high = bli_chain_finds(rules, state, rules->d_high, i),
                     low = bli_chain_finds(rules, state, rules->d, i);
        answer->high_finds[i] += probability * high;
        answer->low_finds[i] += probability * low;
        if (high <= 0 && low <= 0)
            break;
    }
}

static void add_state(const struct chain_rules *rules, const struct chain_state *state, double share,
                      struct chain_answer *answer) {
    for (unsigned k = 0; k < (rules->by_levels ? CHAIN_PARTS : rules->servers); k++) {
        const unsigned jobs = bli_chain_jobs(state->server[k], rules->preempts);
        const bool tagged = rules->preempts && state->server[k] & CHAIN_TAGGED;
        const unsigned high = tagged ? state->server[k] & (unsigned)CHAIN_TAGGED_HIGH : 0;
        answer->jobs += share * jobs;
        if (rules->by_levels)
            answer->tail[k + 1] += share * jobs;
        for (unsigned level = 1; !rules->by_levels && level <= jobs && level < CHAIN_LEVELS; level++)
            answer->tail[level] += share;
        for (unsigned level = 1; level <= high; level++)
            answer->high_tail[level] += share * rules->servers;
    }
}

/* As many jobs lengthen a queue of k, or a longer one, as end at one of k + 1, or a longer one. Where states
 * end this is what the next level has; those behind it are taken to fall alike. */
static void add_beyond(const struct chain_rules *rules, double longer, struct chain_answer *answer) {
    const unsigned last = rules->longest;
    if (last == 0)
        return;
    answer->beyond = longer > 0 ? longer / answer->tail[last] : 0;
    for (unsigned k = last; k + 1 < CHAIN_LEVELS; k++)
        answer->tail[k + 1] = answer->tail[k] * answer->beyond;
    answer->jobs += longer / (1 - answer->beyond);
}

static void set_answer(const struct chain *chain, struct chain_answer *answer) {
    const unsigned servers = chain->rules->servers;
    const double arrivals = chain->rules->lambda * servers;
    struct chain_moves moves;
    *answer = (struct chain_answer){.states = chain->count, .tail = {1}};
    double accepted = 0, cut = 0, longer = 0;
    for (size_t i = 0; i < chain->count; i++) {
        const struct chain_state *state = &chain->state[i];
        add_state(chain->rules, state, chain->probability[i] / servers, answer);
        if (chain->rules->d_high > 0)
            add_found(chain->rules, state, chain->probability[i], answer);
        list_moves(chain->rules, state, &moves);
        for (unsigned m = 0; m < moves.count; m++) {
            const double flow = chain->probability[i] * moves.rate[m];
            const bool arrival = total_of(chain->rules, &moves.to[m]) > total_of(chain->rules, state);
            const bool outside = index_of(chain, &moves.to[m]) == 0;
            accepted += arrival ? flow : 0;
            cut += outside ? flow : 0;
        }
        accepted += chain->probability[i] * (moves.cut + moves.longer);
        longer += chain->probability[i] * moves.longer;
        cut += chain->probability[i] * moves.cut;
    }
    answer->accepted = accepted / servers;
    add_beyond(chain->rules, longer / servers, answer);
    answer->lost = cut / arrivals;
}

static void chain_fini(struct chain *chain) {
    free(chain->state);
    free(chain->total);
    free(chain->probability);
    free(chain->leaves);
    free(chain->slot);
    free(chain->start);
    free(chain->from);
    free(chain->rate);
}

/* Adds states until hardly anything leads to others; false also where there are too many. */
static bool follow_chain(struct chain *chain, struct chain_answer *answer) {
    const double negligible = aims[aim_of(chain->rules)].negligible,
                 precise = aims[aim_of(chain->rules)].precise;
    bool known = true;
    size_t before;
    do {
        before = chain->count;
        known = known && add_likely(chain) && list_ways(chain) && solve(chain, SWEEPS_MAX, rough);
        if (known)
            set_answer(chain, answer);
        if (known && answer->lost < negligible) {
            known = solve(chain, SWEEPS_MAX, precise);
            set_answer(chain, answer);
        }
    } while (known && answer->lost > negligible && chain->count > before);
    return known && answer->lost <= negligible;
}

bool bli_chain_solve(const struct chain_rules *given, size_t most, struct chain_answer *answer) {
    struct chain_rules rules = *given;
    struct chain chain = {.rules = &rules, .most = most};
    const struct chain_state first = {
        {rules.by_levels ? (uint16_t)(rules.lambda * rules.servers) : rules.first}};
    bool known = chain_grow(&chain) && chain_add(&chain, &first, 1) && follow_chain(&chain, answer);
    /* What lies beyond follows from what is told apart, and the other way round. */
    for (int i = 0; known && rules.longest > 0 && fabs(answer->beyond - rules.beyond) > 1e-5; i++) {
        rules.beyond = answer->beyond;
        known = i < ROUNDS_MAX && follow_chain(&chain, answer);
    }
    chain_fini(&chain);
    return known;
}
