/* SPDX-License-Identifier: BSD-2-Clause */
/* Symmetry (Definition 3 of Gamarnik, Tsitsiklis and Zubeldia 2016), seen from outside: the same history
 * under other names of the servers must lead to the same law of each decision, under these names. Every
 * decision of a history is compared: the last one alone may be forced, since when only one server is idle
 * both "any idle server" and "the idle server of the lowest number" mean that one. */
#include "plugin/examine.h"

#include <math.h>

enum { HISTORIES = 20000, JOBS = 12, N = EXAMINE_SERVERS, CELLS = N + 1, SCRIPTS = 3 };

/* Which servers finish a job between two arrivals; names are those of a fleet that is not renamed. */
static void simulate_fleet(struct examined *x, const uint32_t *name, uint64_t script, uint32_t to[JOBS]) {
    struct bal_rng act;
    bal_rng_init(&act, script, 1, BAL_STREAM_TEST);
    bal_policy_init(x->spec, &x->setting, x->state);
    for (uint32_t i = 0; i < N; i++)
        x->length[i] = x->own[i] = 0;
    for (uint32_t i = 0; i < N; i++) {
        bal_policy_report(x->spec, x->state, &x->fleet, BAL_REPORT_ON, name[i], NULL);
        bal_policy_report(x->spec, x->state, &x->fleet, BAL_REPORT_IDLE, name[i], NULL);
    }
    for (int job = 0; job < JOBS; job++) {
        const struct bal_job arriving = {.count = 1, .at_once = true};
        x->fleet.now += 0.5;
        x->fleet.asks = 0;
        to[job] = bal_policy_route(x->spec, x->state, &x->fleet, &arriving, &x->rng).server;
        if (to[job] < N)
            x->own[to[job]] = ++x->length[to[job]];
        const uint32_t actor = name[bal_rng_below(&act, N)];
        if (x->length[actor] == 0 || job + 1 == JOBS)
            continue;
        x->own[actor] = --x->length[actor];
        bal_policy_response(x->spec, x->state, &x->fleet, actor, 1, false);
        const struct bal_reply load = {x->length[actor], 0, 1};
        bal_policy_report(x->spec, x->state, &x->fleet, BAL_REPORT_LOAD, actor, &load);
        if (x->length[actor] == 0)
            bal_policy_report(x->spec, x->state, &x->fleet, BAL_REPORT_IDLE, actor, NULL);
    }
}

static uint32_t index_of(const uint32_t *name, uint32_t server) {
    uint32_t i = 0;
    while (i < N && name[i] != server)
        i++;
    return i;
}

/* What chi-square with df degrees of freedom exceeds with probability 1e-7 (Wilson and Hilferty 1931). */
static double chi_square_limit(double df) {
    const double h = 2 / (9 * df);
    return df * pow(1 - h + 5.1993375821928 * sqrt(h), 3);
}

static bool are_symmetric(const double a[CELLS], const double b[CELLS]) {
    double statistic = 0, cells = 0;
    for (int i = 0; i < CELLS; i++) {
        statistic += a[i] + b[i] > 0 ? (a[i] - b[i]) * (a[i] - b[i]) / (a[i] + b[i]) : 0;
        cells += a[i] + b[i] > 0;
    }
    return cells < 2 || statistic <= chi_square_limit(cells - 1);
}

/* How often each decision of the history names each server, by the names of a fleet that is not renamed. */
static void count_decisions(struct examined *x, uint64_t script, bool renamed, double count[JOBS][CELLS]) {
    uint32_t name[N], to[JOBS];
    for (uint32_t i = 0; i < N; i++)
        name[i] = renamed ? (5 * i + 1 + (uint32_t)script) % N : i;
    for (int i = 0; i < HISTORIES; i++) {
        simulate_fleet(x, name, script, to);
        for (int job = 0; job < JOBS; job++)
            count[job][index_of(name, to[job])]++;
    }
}

enum bal_code bli_examine_symmetry(const struct bal_policy_spec *spec, struct bal_error *err) {
    struct examined x;
    enum bal_code code = bli_examined_init(&x, spec, 29, err);
    if (code)
        return code;
    x.fleet.weight = NULL;
    for (uint64_t script = 0; script < SCRIPTS && !code; script++) {
        double count[2][JOBS][CELLS] = {{{0}}};
        count_decisions(&x, script, false, count[0]);
        count_decisions(&x, script, true, count[1]);
        for (int job = 0; job < JOBS && !code; job++)
            if (!are_symmetric(count[0][job], count[1][job]))
                code = bal_fail(err, BAL_E_MODEL,
                                "it says that it is symmetric (BAL_SYMMETRIC), but servers of other numbers "
                                "are treated in another way");
    }
    bli_examined_fini(&x);
    return code;
}
