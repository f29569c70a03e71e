/* SPDX-License-Identifier: BSD-2-Clause */
/* Definition 3 of Gamarnik, Tsitsiklis and Zubeldia (2016): renaming the servers renames the decisions of a
 * symmetric policy and changes nothing else; and the policies that do not say so of themselves have a reason.
 *
 * Two worlds live through the same history, but in one of them the servers bear other names: jobs are routed,
 * the same servers (under their names there) finish jobs and report. The last decision is compared, names
 * translated back, over many independent histories: the two samples must come from one law. A chi-square test
 * of homogeneity raises a false alarm with probability 1e-6 at most; there are fewer than 300 of them (the
 * size of the table of policies, times settings and names), so that all of them together do so with less than
 * 3e-4. Seeds are fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../goodness.h"
#include "ballast/policy.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { SERVERS = 5, STEPS = 12, HISTORIES = 20000, CELLS_MAX = 4096 };

/* ---- one world ---- */

struct world {
    const struct bal_policy_spec *spec;
    const uint32_t *name; /* the server that the history calls i is called name[i] here */
    void *state;
    uint32_t length[SERVERS], urgent[SERVERS];
    bool off[SERVERS];
    struct bal_share shares[SERVERS];
    uint32_t ask[SERVERS];
    struct bal_fleet fleet;
};

/* What a policy that asks for work is told: it depends on the queue alone. */
static double work(struct bal_fleet *fleet, uint32_t server) {
    return 0.7 * fleet->length[server];
}

static void world_report(struct world *world, enum bal_report what, uint32_t server) {
    bal_policy_report(world->spec, world->state, &world->fleet, what, server, NULL);
}

/* What a server says of itself depends on the queue alone. */
static void world_report_load(struct world *world, uint32_t server) {
    const struct bal_reply load = {world->length[server], world->urgent[server], 1.5 * world->length[server]};
    bal_policy_report(world->spec, world->state, &world->fleet, BAL_REPORT_LOAD, server, &load);
}

/* All servers are on and idle, and the dispatcher knows. The order of those reports is part of the history.
 */
static void world_start(struct world *world, const struct bal_policy_context *setting) {
    memset(world->length, 0, sizeof world->length);
    memset(world->urgent, 0, sizeof world->urgent);
    memset(world->off, 0, sizeof world->off);
    world->fleet = (struct bal_fleet){.servers = SERVERS,
                                      .length = world->length,
                                      .urgent = world->urgent,
                                      .shares = world->shares,
                                      .work = work,
                                      .own = world->length,
                                      .ask = world->ask,
                                      .ask_room = SERVERS};
    bal_policy_init(world->spec, setting, world->state);
    for (uint32_t i = 0; i < SERVERS; i++)
        world_report(world, BAL_REPORT_IDLE, world->name[i]);
}

static void world_put(struct world *world, uint32_t server, uint32_t count, uint32_t rank) {
    world->length[server] += count;
    world->urgent[server] += rank == 0 ? count : 0;
}

/* A decision in words that can be compared: who gets how many, who is woken, who gets the job that moves. */
struct outcome {
    uint32_t count[SERVERS];
    uint32_t wake, move_to;
};

static struct outcome world_route(struct world *world, const struct bal_job *job, struct bal_rng *rng) {
    world->fleet.now += 0.5;
    const struct bal_decision to = bal_policy_route(world->spec, world->state, &world->fleet, job, rng);
    struct outcome outcome = {.wake = to.wake, .move_to = to.move_to};
    if (to.parts == 0 && to.server != BAL_NONE)
        outcome.count[to.server] = job->count;
    for (uint32_t i = 0; i < to.parts; i++)
        outcome.count[world->shares[i].server] = world->shares[i].count;
    for (uint32_t server = 0; server < SERVERS; server++)
        world_put(world, server, outcome.count[server], job->rank);
    if (to.move_to != BAL_NONE) {
        world->length[to.server]--;
        world->length[to.move_to]++;
    }
    if (to.wake != BAL_NONE) { /* its set-up takes no time here */
        world->off[to.wake] = false;
        world_report(world, BAL_REPORT_ON, to.wake);
    }
    for (uint32_t i = 0; i < world->fleet.asks; i++)
        world_report_load(world, world->ask[i]);
    world->fleet.asks = 0;
    return outcome;
}

/* The server finishes a job if it has one, else it says that it is still idle or switches itself off. */
static void world_act(struct world *world, uint32_t server, unsigned how) {
    if (world->off[server])
        return;
    if (world->length[server] > 0) {
        world->length[server]--;
        world->urgent[server] -= world->urgent[server] > 0;
        bal_policy_response(world->spec, world->state, &world->fleet, server, 1 + how, false);
        if (how > 0)
            world_report_load(world, server);
        if (world->length[server] == 0)
            world_report(world, BAL_REPORT_IDLE, server);
    } else if (how == 0 && world->spec->policy->wants & BAL_WANTS_POWER) {
        world->off[server] = true;
        world_report(world, BAL_REPORT_OFF, server);
    } else {
        world_report(world, BAL_REPORT_STILL_IDLE, server);
    }
}

/* ---- many histories ---- */

struct cell {
    struct outcome outcome;
    double count[2];
};

struct tally {
    struct cell cell[CELLS_MAX];
    size_t cells;
};

static void tally_add(struct tally *tally, const struct outcome *outcome, int which) {
    size_t i = 0;
    while (i < tally->cells && memcmp(&tally->cell[i].outcome, outcome, sizeof *outcome) != 0)
        i++;
    if (i == tally->cells) {
        assert_true(tally->cells < CELLS_MAX);
        tally->cell[tally->cells++].outcome = *outcome;
    }
    tally->cell[i].count[which]++;
}

static uint32_t translated(const uint32_t *name, uint32_t server) {
    if (server == BAL_NONE)
        return server;
    uint32_t i = 0;
    while (name[i] != server)
        i++;
    return i;
}

static struct outcome outcome_translated(const struct outcome *outcome, const uint32_t *name) {
    struct outcome back = {.wake = translated(name, outcome->wake),
                           .move_to = translated(name, outcome->move_to)};
    for (uint32_t i = 0; i < SERVERS; i++)
        back.count[i] = outcome->count[name[i]];
    return back;
}

/* The history: which servers act between two jobs, and of which rank the jobs are. Servers finish less than
 * they are sent, and not all the same, so that all kinds of states occur. */
struct script {
    uint32_t actor[STEPS][2];
    unsigned how[STEPS][2];
    uint32_t rank[STEPS];
};

static struct script script_of(uint64_t seed) {
    struct script script;
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    for (int step = 0; step < STEPS; step++) {
        script.rank[step] = bal_rng_below(&rng, 2);
        for (int i = 0; i < 2; i++) {
            script.actor[step][i] = bal_rng_below(&rng, SERVERS);
            script.how[step][i] = bal_rng_below(&rng, 2);
        }
    }
    return script;
}

static struct outcome live(struct world *world, const struct bal_policy_context *setting,
                           const struct script *script, uint32_t count, struct bal_rng *rng) {
    world_start(world, setting);
    struct outcome last = {0};
    for (int step = 0; step < STEPS; step++) {
        const struct bal_job job = {.count = count, .rank = script->rank[step], .split = count > 1};
        last = world_route(world, &job, rng);
        for (int i = 0; i < 2 && step + 1 < STEPS; i++)
            world_act(world, world->name[script->actor[step][i]], script->how[step][i]);
    }
    return outcome_translated(&last, world->name);
}

/* Chi-square of homogeneity of two samples of one size. Cells with fewer than 20 in both together are pooled.
 */
static double homogeneity(const struct tally *tally, double *df) {
    double statistic = 0, cells = 0, rest[2] = {0, 0};
    for (size_t i = 0; i < tally->cells; i++) {
        const double a = tally->cell[i].count[0], b = tally->cell[i].count[1];
        if (a + b < 20) {
            rest[0] += a;
            rest[1] += b;
            continue;
        }
        statistic += (a - b) * (a - b) / (a + b);
        cells++;
    }
    if (rest[0] + rest[1] >= 20) {
        statistic += (rest[0] - rest[1]) * (rest[0] - rest[1]) / (rest[0] + rest[1]);
        cells++;
    }
    *df = cells - 1;
    return statistic;
}

static const uint32_t names[][SERVERS] = {
    {1, 0, 2, 3, 4},
    {1, 2, 3, 4, 0},
    {4, 2, 0, 1, 3},
};

/* Does it look symmetric under these names? */
static bool looks_symmetric(const struct bal_policy_spec *spec, const uint32_t *name, uint32_t count,
                            uint64_t seed) {
    static const uint32_t plain[SERVERS] = {0, 1, 2, 3, 4};
    static struct tally tally;
    tally.cells = 0;
    const struct bal_policy_context setting = {SERVERS, 0.9};
    const struct script script = script_of(seed);
    struct world world[2] = {{.spec = spec, .name = plain}, {.spec = spec, .name = name}};
    for (int which = 0; which < 2; which++) {
        world[which].state = malloc(bal_policy_size(spec, &setting) + 1);
        assert_non_null(world[which].state);
        struct bal_rng rng;
        bal_rng_init(&rng, seed, (uint64_t)which + 1, BAL_STREAM_TEST);
        for (int i = 0; i < HISTORIES; i++) {
            const struct outcome outcome = live(&world[which], &setting, &script, count, &rng);
            tally_add(&tally, &outcome, which);
        }
        free(world[which].state);
    }
    double df;
    const double statistic = homogeneity(&tally, &df);
    return df == 0 || statistic <= chi_square_limit(df);
}

/* ---- the policies ---- */

/* Every policy as it is listed, and some with other parameters. */
static const char *const more[] = {"pod:d=3,replace=0",        "pod:d=1,pertask=1",
                                   "pod-memory:d=2,b=2",       "rcpb:c=3,mup=1",
                                   "pod-ssp:d1=1,d2=3",        "jiq:else=least-conn",
                                   "jiq:else=least-conn2",     "jiq:idle=fastest",
                                   "pi:idle=fastest",          "tabs:else=least-conn",
                                   "tabs:else=least-conn2",    "least-conn:d=2",
                                   "pod-memory:ask=new",       "pi:split=each",
                                   "pi:split=halves",          "lsq:p=0.5,d=1",
                                   "prequal:r=1.5,remove=0.5", "least-conn:d=2,replace=1",
                                   "jiq:idle=lowest",          "tabs:idle=lowest"};

static bool listed(size_t i, struct bal_policy_spec *spec) {
    if (i >= bal_policy_count + LENGTH(more))
        return false;
    const char *text = i < bal_policy_count ? bal_policy_table[i]->name : more[i - bal_policy_count];
    struct bal_error err;
    if (bal_policy_parse(text, spec, &err))
        fail_msg("%s", err.text);
    return true;
}

/* Jobs of several tasks go only to policies that know how to divide them. */
static bool divides(const struct bal_policy *policy) {
    return !(policy->flags & (BAL_TAKES_RANKS | BAL_NEEDS_WORK)) && !(policy->wants & BAL_WANTS_POWER);
}

static void symmetric_policies_are(void **state) {
    (void)state;
    struct bal_policy_spec spec;
    for (size_t i = 0; listed(i, &spec); i++) {
        if (!(bal_policy_flags(&spec) & BAL_SYMMETRIC))
            continue;
        for (size_t k = 0; k < LENGTH(names); k++)
            for (uint32_t count = 1; count <= (divides(spec.policy) ? 3 : 1); count += 2)
                if (!looks_symmetric(&spec, names[k], count, 10 + k))
                    fail_msg(
                        "%s, names %zu, jobs of %u: renaming the servers does more than rename the decisions",
                        spec.policy->name, k, count);
    }
}

/* What does not claim it must not be, under one renaming at least: a policy that is symmetric should say so.
 */
static void others_are_not(void **state) {
    (void)state;
    size_t others = 0;
    struct bal_policy_spec spec;
    for (size_t i = 0; listed(i, &spec); i++) {
        if (bal_policy_flags(&spec) & BAL_SYMMETRIC)
            continue;
        others++;
        bool symmetric = true;
        for (size_t k = 0; k < LENGTH(names) && symmetric; k++)
            symmetric = looks_symmetric(&spec, names[k], 1, 10 + k);
        if (symmetric)
            fail_msg("%s: it looks symmetric but does not say so", spec.policy->name);
    }
    assert_true(others >= 1);
    const struct bal_policy *round_robin = bal_policy_find("round-robin");
    assert_non_null(round_robin);
    assert_false(round_robin->flags & BAL_SYMMETRIC);
}

/* The test must see even a small preference: 2 % more for server 0, which it hits one time in five without.
 */
static struct bal_decision biased_route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                        struct bal_rng *rng) {
    (void)state, (void)job;
    return bal_to(bal_rng_uniform(rng) < 0.025 ? 0 : bal_rng_below(rng, fleet->servers));
}

static void a_small_preference_is_seen(void **state) {
    (void)state;
    static const struct bal_policy biased = {.name = "biased", .route = biased_route};
    const struct bal_policy_spec spec = {.policy = &biased};
    for (size_t k = 0; k < LENGTH(names); k++)
        assert_false(looks_symmetric(&spec, names[k], 1, 10 + k));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_policies_are),
        cmocka_unit_test(others_are_not),
        cmocka_unit_test(a_small_preference_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
