/* SPDX-License-Identifier: BSD-2-Clause */
/* Fast paths against plain ones.
 *
 * run.reference asks for the loop that decides everything as it goes, and for no index. Where no index is
 * involved the trajectory must be the same to the last bit. An index draws ties in another way than a scan,
 * so there the decisions are checked one by one, and the results as those of two different simulations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../agree.h"
#include "../goodness.h"
#include "base/length_index.h"
#include "base/tournament.h"
#include "engine/system.h"
#include "texts.h"
#include "trials.h"

static struct bli_model model_of(const char *servers, const char *size, double load, bool classes) {
    struct bli_model model = {.load = load, .classes = classes, .high = classes ? 0.4 : 0};
    struct bal_error err;
    if (bli_servers_parse(servers, &model.servers, &err) || bli_dist_parse(size, &model.size, &err))
        fail_msg("%s", err.text);
    return model;
}

static void assert_same(const struct bli_trial *a, const struct bli_trial *b, const char *what) {
    assert_same_trial(a, b, what);
    assert_true(a->events == b->events && a->engine == b->engine);
}

/* ---- the same trajectory ---- */

static bool has_index(const struct bal_policy_spec *spec) {
    return bal_policy_flags(spec) & (BAL_NEEDS_INDEX | BAL_NEEDS_WORK);
}

static void same_trajectory_without_an_index(void **state) {
    (void)state;
    static const char *const fleets[] = {"1", "10", "5x1,3x2,2x0.5"};
    static const enum bli_engine engines[] = {BLI_ENGINE_MARKOV, BLI_ENGINE_EVENT};
    unsigned compared = 0;
    for (size_t i = 0; i < bal_policy_count; i++)
        for (int f = 0; f < 3; f++)
            for (int e = 0; e < 2; e++) {
                const struct bal_policy_spec spec = policy_of(bal_policy_table[i]->name);
                const struct bli_model model =
                    model_of(fleets[f], "exp", 0.6, bal_policy_table[i]->flags & BAL_TAKES_RANKS);
                enum bli_engine chosen;
                if (has_index(&spec) || bli_simulate_check(&model, &spec, engines[e], &chosen, NULL))
                    continue;
                struct bli_run run = {.seed = 401,
                                      .replication = i,
                                      .time = 20000 / bli_model_arrival_rate(&model),
                                      .warmup = NAN,
                                      .engine = engines[e]};
                const struct bli_trial fast = trial_of(&model, &spec, &run);
                run.reference = true;
                const struct bli_trial plain = trial_of(&model, &spec, &run);
                assert_same(&fast, &plain, spec.policy->name);
                compared++;
            }
    assert_true(compared >= 6 * 3 * 2);
}

/* On fleets that do not fit into the cache queues are fetched ahead, and it is foreseen where jobs will go;
 * short runs draw their times, long ones count events. */
static void same_trajectory_on_a_large_fleet(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        double jobs;
        enum bli_engine engine;
    } runs[] = {{"jiq", 6e5, BLI_ENGINE_MARKOV},     {"pi", 6e5, BLI_ENGINE_MARKOV},
                {"pod:d=2", 6e5, BLI_ENGINE_MARKOV}, {"jiq", 1e5, BLI_ENGINE_MARKOV},
                {"tabs", 1e5, BLI_ENGINE_MARKOV},    {"pod:d=2", 1e5, BLI_ENGINE_EVENT},
                {"jiq", 1e5, BLI_ENGINE_EVENT}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const struct bal_policy_spec spec = policy_of(runs[i].policy);
        const struct bli_model model = model_of("90k", "exp", 0.9, false);
        struct bli_run run = {.seed = 403,
                              .time = runs[i].jobs / bli_model_arrival_rate(&model),
                              .warmup = NAN,
                              .engine = runs[i].engine};
        const struct bli_trial fast = trial_of(&model, &spec, &run);
        run.reference = true;
        const struct bli_trial plain = trial_of(&model, &spec, &run);
        assert_same(&fast, &plain, runs[i].policy);
    }
}

/* least-work on equal servers: ties happen among idle servers only, and which of them takes the job makes no
 * difference to any job. So here the index must give the same to the last bit, although it draws in another
 * way. */
static void same_jobs_under_least_work(void **state) {
    (void)state;
    static const char *const fleets[] = {"1", "2", "3", "10", "100"};
    static const char *const sizes[] = {"exp", "hyper(4)", "erlang(2)"};
    for (int f = 0; f < 5; f++)
        for (int s = 0; s < 3; s++) {
            const struct bal_policy_spec spec = policy_of("least-work");
            const struct bli_model model = model_of(fleets[f], sizes[s], 0.9, false);
            struct bli_run run = {.seed = 402,
                                  .time = 20000 / bli_model_arrival_rate(&model),
                                  .warmup = 0.1,
                                  .engine = BLI_ENGINE_EVENT};
            const struct bli_trial fast = trial_of(&model, &spec, &run);
            run.reference = true;
            const struct bli_trial plain = trial_of(&model, &spec, &run);
            assert_same(&fast, &plain, "least-work");
        }
}

/* ---- decisions one by one ---- */

/* Counts how often the k-th of the tied servers, in order of their names, is chosen: uniform for every number
 * of ties. */
enum { TIES_MAX = 8 };
struct tie_counts {
    uint64_t count[TIES_MAX + 1][TIES_MAX];
};

static void note_tie(struct tie_counts *counts, uint32_t ties, uint32_t which) {
    if (ties <= TIES_MAX)
        counts->count[ties][which]++;
}

/* False alarm: 2e-6 for each number of ties. */
static void assert_uniform_ties(const char *what, const struct tie_counts *counts) {
    unsigned tested = 0;
    for (uint32_t ties = 2; ties <= TIES_MAX; ties++) {
        double p[TIES_MAX];
        uint64_t total = 0;
        for (uint32_t k = 0; k < ties; k++) {
            p[k] = 1.0 / ties;
            total += counts->count[ties][k];
        }
        if (total < 1000)
            continue;
        assert_fits(what, p, counts->count[ties], ties);
        tested++;
    }
    assert_true(tested >= 3);
}

/* The place of the chosen one among the servers with the least key; fails if it is not one of them. */
static uint32_t place_among_least(const double *key, uint32_t n, uint32_t chosen, uint32_t *ties) {
    double least = INFINITY;
    for (uint32_t s = 0; s < n; s++)
        least = fmin(least, key[s]);
    assert_true(chosen < n && key[chosen] == least);
    uint32_t place = 0;
    *ties = 0;
    for (uint32_t s = 0; s < n; s++) {
        place += s < chosen && key[s] == least;
        *ties += key[s] == least;
    }
    return place;
}

enum { N = 8, DECISIONS = 100000 };

/* A host that keeps the servers sorted by length and the plain lengths, and answers from either. */
struct two_ways {
    struct bli_length_index by_length;
    struct bli_tournament *least;
    uint32_t length[N];
    double free_at[N]; /* IDLE when there is nothing to do */
    double now;
};
#define IDLE (-1.0)

static uint32_t shortest(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct two_ways *host = fleet->host;
    const uint32_t ties = bli_length_index_ties(&host->by_length, fleet->length[host->by_length.order[0]]);
    return host->by_length.order[bal_rng_below(rng, ties)];
}

static uint32_t least_work(struct bal_fleet *fleet, struct bal_rng *rng) {
    return bli_tournament_draw(((const struct two_ways *)fleet->host)->least, rng);
}

static double work(struct bal_fleet *fleet, uint32_t server) {
    const struct two_ways *host = fleet->host;
    return fmax(host->free_at[server] - host->now, 0);
}

static void jsq_decides_alike(void **state) {
    (void)state;
    struct two_ways host = {.now = 0};
    assert_int_equal(bli_length_index_init(&host.by_length, N), BAL_OK);
    struct bal_fleet indexed = {.servers = N, .length = host.length, .shortest = shortest, .host = &host};
    struct bal_fleet scanned = {.servers = N, .length = host.length, .host = &host};
    struct tie_counts by_index = {{{0}}}, by_scan = {{{0}}};
    struct bal_rng rng;
    bal_rng_init(&rng, 411, 0, BAL_STREAM_TEST);
    for (int i = 0; i < DECISIONS; i++) {
        double key[N];
        for (uint32_t s = 0; s < N; s++)
            key[s] = host.length[s];
        uint32_t ties;
        const uint32_t a = bal_probe_shortest(&indexed, &rng), b = bal_probe_shortest(&scanned, &rng);
        const uint32_t place_a = place_among_least(key, N, a, &ties),
                       place_b = place_among_least(key, N, b, &ties);
        note_tie(&by_index, ties, place_a);
        note_tie(&by_scan, ties, place_b);
        /* somebody gets the job, and a random one or two leave */
        assert_true(bli_length_index_increment(&host.by_length, a, host.length[a]));
        host.length[a]++;
        for (uint32_t leaving = bal_rng_below(&rng, 3); leaving > 0; leaving--) {
            const uint32_t s = bal_rng_below(&rng, N);
            if (host.length[s] == 0)
                continue;
            bli_length_index_decrement(&host.by_length, s, host.length[s]);
            host.length[s]--;
        }
    }
    assert_true(indexed.probes == (uint64_t)DECISIONS * N && scanned.probes == indexed.probes);
    assert_uniform_ties("jsq by index", &by_index);
    assert_uniform_ties("jsq by scan", &by_scan);
    bli_length_index_fini(&host.by_length);
}

static void least_work_decides_alike(void **state) {
    (void)state;
    struct two_ways host = {.now = 0};
    host.least = malloc(bli_tournament_size(N));
    assert_non_null(host.least);
    bli_tournament_init(host.least, N, IDLE);
    for (uint32_t s = 0; s < N; s++)
        host.free_at[s] = IDLE;
    struct bal_fleet indexed = {
        .servers = N, .length = host.length, .work = work, .least_work = least_work, .host = &host};
    struct bal_fleet scanned = {.servers = N, .length = host.length, .work = work, .host = &host};
    struct tie_counts by_index = {{{0}}}, by_scan = {{{0}}};
    struct bal_rng rng;
    bal_rng_init(&rng, 412, 0, BAL_STREAM_TEST);
    for (int i = 0; i < DECISIONS; i++) {
        double key[N];
        for (uint32_t s = 0; s < N; s++)
            key[s] = work(&scanned, s);
        uint32_t ties;
        const uint32_t a = bal_probe_least_work(&indexed, &rng), b = bal_probe_least_work(&scanned, &rng);
        const uint32_t place_a = place_among_least(key, N, a, &ties),
                       place_b = place_among_least(key, N, b, &ties);
        note_tie(&by_index, ties, place_a);
        note_tie(&by_scan, ties, place_b);
        /* whole sizes, so that busy servers are tied too */
        host.free_at[a] = fmax(host.free_at[a], host.now) + 1 + bal_rng_below(&rng, 12);
        bli_tournament_set(host.least, a, host.free_at[a]);
        host.now += 1;
        for (uint32_t s = 0; s < N; s++)
            if (host.free_at[s] != IDLE && host.free_at[s] <= host.now)
                bli_tournament_set(host.least, s, host.free_at[s] = IDLE);
    }
    assert_true(indexed.probes == (uint64_t)DECISIONS * N && scanned.probes == indexed.probes);
    assert_uniform_ties("least work by index", &by_index);
    assert_uniform_ties("least work by scan", &by_scan);
    free(host.least);
}

/* The engines' own index: a system under jsq is fed jobs and loses them at random, and each decision must be
 * one of the shortest. So must it be where nothing moves: what leaves at random hides a choice that is not.
 * False alarm: 2e-6 for each number of ties. */
static void the_engines_index_is_right(void **state) {
    (void)state;
    const struct bli_model model = model_of("8", "exp", 0.9, false);
    const struct bal_policy_spec spec = policy_of("jsq");
    const struct bli_run run = {.seed = 413, .time = 1e6, .warmup = 0};
    struct system *system = malloc(sizeof *system);
    assert_non_null(system);
    struct bal_error err;
    assert_int_equal(bli_system_init(system, &model, &spec, &run, 1, 0, &err), BAL_OK);
    assert_true(system->features & LENGTH_INDEX && system->fleet.shortest != NULL);
    static const double evenly[N] = {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125};
    uint64_t idle[N] = {0};
    struct tie_counts counts = {{{0}}};
    struct bal_rng rng;
    bal_rng_init(&rng, 414, 0, BAL_STREAM_TEST);
    for (int i = 0; i < DECISIONS; i++)
        idle[system->fleet.shortest(&system->fleet, &rng)]++;
    assert_fits("jsq in an idle engine", evenly, idle, N);
    for (int i = 0; i < DECISIONS; i++) {
        double key[N];
        for (uint32_t s = 0; s < N; s++)
            key[s] = system->length[s];
        const struct bal_decision decision = system_route(system, 0, LENGTH_INDEX);
        uint32_t ties;
        const uint32_t place = place_among_least(key, N, decision.server, &ties);
        note_tie(&counts, ties, place);
        assert_non_null(system_push(system, 0, decision.server, 0, 1, LENGTH_INDEX));
        for (uint32_t leaving = bal_rng_below(&rng, 3); leaving > 0; leaving--) {
            const uint32_t s = bal_rng_below(&rng, N);
            if (system->length[s] > 0) {
                bli_queues_drop(&system->queues, s, 1);
                system_count_down(system, 0, s, 0, LENGTH_INDEX);
            }
        }
    }
    assert_true(system->fleet.probes == (uint64_t)DECISIONS * N);
    assert_uniform_ties("jsq in an engine", &counts);
    bli_system_fini(system);
    free(system);
}

/* ---- the same results ---- */

/* A comparison fails by chance with probability 1e-7; there are 4 x some 25 of them. */
static void same_results_with_an_index(void **state) {
    (void)state;
    static const struct {
        const char *policy, *servers;
        enum bli_engine engine;
    } cases[] = {
        {"jsq", "8", BLI_ENGINE_MARKOV},
        {"jsq", "4x1,2x3", BLI_ENGINE_MARKOV},
        {"jsq", "4x1,2x3", BLI_ENGINE_EVENT},
        {"least-work", "4x1,2x3", BLI_ENGINE_EVENT},
    };
    bool good = true;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct bli_model model = model_of(cases[c].servers, "exp", 0.8, false);
        const struct bal_policy_spec spec = policy_of(cases[c].policy);
        struct bli_run run = {.seed = 415,
                              .time = 5000 / bli_model_arrival_rate(&model),
                              .warmup = 0.2,
                              .engine = cases[c].engine};
        struct replications fast = replicate(&model, &spec, &run, 60);
        run.reference = true;
        run.seed = 416; /* not the same jobs again: the comparison takes both sides as independent */
        struct replications plain = replicate(&model, &spec, &run, 60);
        for (int quantity = 0; quantity < QUANTITIES; quantity++)
            good &= agrees(&fast, &plain, quantity, 1e-7, 0, cases[c].policy);
        replications_free(&fast);
        replications_free(&plain);
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_trajectory_without_an_index),
        cmocka_unit_test(same_trajectory_on_a_large_fleet),
        cmocka_unit_test(same_jobs_under_least_work),
        cmocka_unit_test(jsq_decides_alike),
        cmocka_unit_test(least_work_decides_alike),
        cmocka_unit_test(the_engines_index_is_right),
        cmocka_unit_test(same_results_with_an_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
