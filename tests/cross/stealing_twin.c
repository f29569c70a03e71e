/* SPDX-License-Identifier: BSD-2-Clause */
/* A literal twin of the work-stealing chain, figure 1 of Berenbrink, Friedetzky and Goldberg 2001: jobs one
 * by one in plain arrays, every step as it is defined. It shares nothing with the engine but the coins,
 * victims and ties, which it draws from the same streams in the order that engine/stealing_chain.h tells. All
 * queues must hold the same jobs after every slot, for every steal function, placement and rule of victims;
 * and what a trial measures must be what the twin has counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/stealing_chain.h"

#include "../goodness.h"
#include "../theory/close.h"

#include <stdio.h>
#include <string.h>

enum { N_MAX = 130, JOBS_MAX = 1 << 17, RESPONSES = 1 << 15, ASKERS = 6 };

/* ---- the steal functions, as defined ---- */

static int f_half(int l) {
    return l / 2;
}

static int at_most_half(int amount, int l) {
    return amount < l / 2 ? amount : l / 2;
}

static int f_nothing(int l) {
    return 0 * l;
}

static int f_one(int l) {
    return at_most_half(1, l);
}

static int f_five(int l) {
    return at_most_half(5, l);
}

static int f_log2(int l) {
    int log = 0;
    while (2 << log <= l)
        log++;
    return at_most_half(log, l);
}

static int f_sqrt(int l) {
    int root = 0;
    while ((root + 1) * (root + 1) <= l)
        root++;
    return at_most_half(root, l);
}

static int f_three_tenths(int l) {
    return 3 * l / 10;
}

static int f_table(int l) {
    return at_most_half(l < 4 ? 0 : l == 4 ? 1 : l < 9 ? 2 : 7, l);
}

static const struct function {
    const char *text;
    int (*f)(int l);
} functions[] = {
    {"constant(0)", f_nothing},
    {"half", f_half},
    {"one", f_one},
    {"constant(5)", f_five},
    {"log2", f_log2},
    {"sqrt", f_sqrt},
    {"fraction(0.3)", f_three_tenths},
    {"table(0 0 0 0 1 2 2 2 2 7)", f_table},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- the twin ---- */

static struct {
    int n;
    bool others;
    int (*f)(int l);
    struct bli_bernoulli coin;
    struct bal_rng arrivals, places, choices;
    int host[N_MAX]; /* of each generator */
    int slot;
    int job[N_MAX][JOBS_MAX]; /* the slot in which each was made, the first at head, the last before tail */
    int head[N_MAX], tail[N_MAX];
    /* what happened */
    uint64_t made, served, requests, steals, stolen;
    double queue_sum;
    uint64_t at_least[BLI_TAIL_LEVELS];
    uint64_t response[RESPONSES];
    uint64_t named[N_MAX];               /* as victims, by how far they stand behind who asks */
    uint64_t chosen[ASKERS][ASKERS + 1]; /* by number of askers: which of them was chosen, in order */
} twin;

static int length(int i) {
    return twin.tail[i] - twin.head[i];
}

static void push(int i, int job) {
    assert_true(twin.tail[i] < JOBS_MAX);
    twin.job[i][twin.tail[i]++] = job;
}

static bool on_one_server(enum bal_placement_kind kind) {
    return kind == BAL_PLACEMENT_MOVING || kind == BAL_PLACEMENT_LONGEST || kind == BAL_PLACEMENT_SHORTEST ||
           kind == BAL_PLACEMENT_CYCLING;
}

static void place_generators(const struct bal_placement *placement) {
    int g = 0;
    if (placement->kind == BAL_PLACEMENT_EVEN || placement->kind == BAL_PLACEMENT_WALK)
        for (; g < twin.n; g++)
            twin.host[g] = g;
    const int k = (int)placement->hosts;
    if (placement->kind == BAL_PLACEMENT_HOSTS)
        for (int host = 0; host < k; host++)
            for (int i = 0; i < twin.n / k + (host < twin.n % k); i++)
                twin.host[g++] = host;
    if (placement->kind == BAL_PLACEMENT_MAP)
        for (unsigned e = 0; e < placement->entries; e++)
            for (unsigned i = 0; i < placement->count[e]; i++)
                twin.host[g++] = (int)placement->host[e];
    assert_true(on_one_server(placement->kind) || g == twin.n);
}

/* Strictly more or fewer than every server in front of it. */
static int find_extreme(int sign) {
    int host = 0;
    for (int i = 1; i < twin.n; i++)
        if (sign * length(i) > sign * length(host))
            host = i;
    return host;
}

static void move_generators(enum bal_placement_kind kind) {
    if (on_one_server(kind)) {
        const int host = kind == BAL_PLACEMENT_LONGEST    ? find_extreme(1)
                         : kind == BAL_PLACEMENT_SHORTEST ? find_extreme(-1)
                         : kind == BAL_PLACEMENT_CYCLING  ? (twin.slot - 1) % twin.n
                                                         : (int)bal_rng_below(&twin.places, (uint32_t)twin.n);
        for (int g = 0; g < twin.n; g++)
            twin.host[g] = host;
    }
    uint64_t word = 0;
    for (int g = 0; kind == BAL_PLACEMENT_WALK && g < twin.n; g++) {
        word = g % 64 == 0 ? bal_rng_next(&twin.places) : word >> 1;
        twin.host[g] = (twin.host[g] + (word & 1 ? 1 : twin.n - 1)) % twin.n;
    }
}

static void make_jobs(void) {
    uint64_t word = 0;
    for (int g = 0; g < twin.n; g++) {
        const int left = twin.n - g;
        if (g % 64 == 0)
            word = bli_bernoulli_draw(&twin.coin, &twin.arrivals,
                                      left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0);
        if (word >> g % 64 & 1) {
            push(twin.host[g], twin.slot);
            twin.made++;
        }
    }
}

/* Steps 2 and 3. */
static void steal(void) {
    int before[N_MAX], asked[N_MAX] = {0}, thief[N_MAX] = {0}, rank[N_MAX] = {0};
    for (int i = 0; i < twin.n; i++)
        before[i] = length(i);
    for (int i = 0; i < twin.n; i++) {
        if (before[i] > 0)
            continue;
        twin.requests++;
        int victim = (int)bal_rng_below(&twin.choices, (uint32_t)(twin.n - twin.others));
        if (twin.others && victim >= i)
            victim++;
        assert_true(!twin.others || victim != i);
        twin.named[(victim - i + twin.n) % twin.n]++;
        if (twin.f(before[victim]) == 0)
            continue;
        asked[victim]++;
        if (asked[victim] == 1 || bal_rng_below(&twin.choices, (uint32_t)asked[victim]) == 0) {
            thief[victim] = i;
            rank[victim] = asked[victim] - 1;
        }
    }
    for (int victim = 0; victim < twin.n; victim++) {
        if (asked[victim] == 0)
            continue;
        const int jobs = twin.f(before[victim]), to = thief[victim];
        assert_true(length(victim) == before[victim] && before[to] == 0); /* nobody is robbed twice, */
        assert_true(length(to) == 0);                                     /* and nobody gets from two */
        assert_true(0 < jobs && jobs <= before[victim] / 2);
        for (int k = jobs; k > 0; k--)
            push(to, twin.job[victim][twin.tail[victim] - k]);
        twin.tail[victim] -= jobs;
        twin.steals++;
        twin.stolen += (uint64_t)jobs;
        if (asked[victim] <= ASKERS)
            twin.chosen[asked[victim] - 1][rank[victim]]++;
    }
}

static void serve(void) {
    for (int i = 0; i < twin.n; i++) {
        if (length(i) > 0) {
            const int response = twin.slot - twin.job[i][twin.head[i]++] + 1;
            assert_true(response >= 1 && response < RESPONSES);
            twin.response[response]++;
            twin.served++;
        }
        if (length(i) == 0)
            twin.head[i] = twin.tail[i] = 0;
        twin.queue_sum += length(i);
        for (int level = 0; level < BLI_TAIL_LEVELS && level <= length(i); level++)
            twin.at_least[level]++;
    }
}

static void start(const struct bli_model *model, const struct function *function, const struct bli_run *run) {
    memset(&twin, 0, offsetof(__typeof__(twin), job));
    memset(twin.head, 0, sizeof twin - offsetof(__typeof__(twin), head));
    twin.n = (int)bli_servers_count(&model->servers);
    twin.others = model->others;
    twin.f = function->f;
    twin.coin = bli_bernoulli_make(model->load);
    bal_rng_init(&twin.arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&twin.places, run->seed, run->replication, BAL_STREAM_PLACES);
    bal_rng_init(&twin.choices, run->seed, run->replication, BAL_STREAM_STEALING);
    place_generators(&model->placement);
}

/* ---- comparing ---- */

/* Job by job. The engine leaves jobs in its queues for a while after it has served them. */
static void compare_queue(const struct stealing *s, int server) {
    const uint32_t i = (uint32_t)server;
    const uint64_t through = s->end[i] < s->slot ? s->end[i] : s->slot;
    uint64_t skip = through > s->settled[i] ? through - s->settled[i] : 0;
    int job = twin.head[i];
    for (uint32_t k = 0; k < s->runs.length[i]; k++) {
        const uint64_t run = bli_queues_at(&s->runs, i, 1, k)->bits;
        for (uint32_t jobs = (uint32_t)run; jobs > 0; jobs--) {
            if (skip > 0) {
                skip--;
                continue;
            }
            assert_true(job < twin.tail[i]);
            assert_true(twin.job[i][job++] == (int)(run >> 32));
        }
    }
    assert_true(skip == 0 && job == twin.tail[i]);
}

static void compare_states(const struct stealing *s) {
    uint64_t queued = 0;
    for (int i = 0; i < twin.n; i++) {
        if (stealing_length(s, (uint32_t)i) != (uint64_t)length(i))
            fail_msg("slot %d: server %d has %llu jobs, wanted %d", twin.slot, i,
                     (unsigned long long)stealing_length(s, (uint32_t)i), length(i));
        queued += (uint64_t)length(i);
    }
    assert_true(s->created == twin.made && s->served == twin.served);
    assert_true(s->created == s->served + queued && stealing_queue(s) == queued);
    assert_true(s->tally.totals.requests == twin.requests);
    assert_true(s->tally.totals.steals == twin.steals && s->tally.totals.stolen == twin.stolen);
    for (int i = 0; (queued < 1000 || twin.slot % 101 == 0) && i < twin.n; i++)
        compare_queue(s, i);
}

static void compare_histogram(const struct bli_histogram *histogram, int shift) {
    static struct bli_histogram wanted;
    memset(&wanted, 0, sizeof wanted);
    for (int response = 1; response < RESPONSES; response++)
        if (twin.response[response])
            bli_histogram_add_many(&wanted, response - shift, twin.response[response]);
    assert_memory_equal(&wanted, histogram, sizeof wanted);
}

static void compare_metrics(const struct bli_trial *trial) {
    const double *metric = trial->metric, slots = twin.slot, n = twin.n;
    uint64_t jobs = 0, responses = 0;
    for (int response = 1; response < RESPONSES; response++) {
        jobs += twin.response[response];
        responses += (uint64_t)response * twin.response[response];
    }
    assert_true(trial->jobs == jobs && jobs == twin.served && trial->events == twin.made + twin.served);
    assert_close(metric[BLI_RESPONSE_MEAN], (double)responses / (double)jobs, 1e-13);
    assert_close(metric[BLI_WAITING_MEAN], (double)(responses - jobs) / (double)jobs, 1e-13);
    assert_close(metric[BLI_WAITING_PROBABILITY], 1 - (double)twin.response[1] / (double)jobs, 1e-12);
    compare_histogram(trial->histogram[BLI_OF_RESPONSE], 0);
    compare_histogram(trial->histogram[BLI_OF_WAITING], 1);
    assert_close(metric[BLI_QUEUE_TOTAL], twin.queue_sum / slots, 1e-13);
    for (int level = 0; level < BLI_TAIL_LEVELS; level++)
        assert_close(trial->tail[level], (double)twin.at_least[level] / slots / n, 1e-13);
    assert_close(metric[BLI_STEALING_REQUESTS], (double)twin.requests / slots / n, 1e-13);
    assert_close(metric[BLI_STEALING_STEALS], (double)twin.steals / slots / n, 1e-13);
    assert_close(metric[BLI_STEALING_MOVED], (double)twin.stolen / (double)twin.made, 1e-13);
    assert_close(metric[BLI_MESSAGES_PER_TIME], (double)twin.requests / slots, 1e-13);
    assert_close(metric[BLI_PROBES_PER_JOB], (double)twin.requests / (double)twin.made, 1e-13);
}

static void check_trial(const struct bli_model *model, const struct bli_run *run) {
    static struct bli_histogram response, waiting;
    struct bli_trial trial = {.histogram = {&response, &waiting}};
    struct bal_policy_spec policy;
    struct bal_error err = {0};
    if (bli_scheme_parse("stealing", &policy, &err) || bli_simulate(model, &policy, run, &trial, &err))
        fail_msg("%s", err.text);
    assert_int_equal(trial.engine, BLI_ENGINE_STEALING);
    compare_metrics(&trial);
}

static const uint32_t *initial; /* jobs at each server at the start; NULL: none */

static void run_beside(const char *servers, double load, const struct function *function,
                       const char *placement, bool others, int slots) {
    static struct stealing chain;
    struct bli_model model = {.load = load, .clock = BLI_CLOCK_SLOTTED, .others = others};
    struct bal_error err = {0};
    if (bli_servers_parse(servers, &model.servers, &err) ||
        bal_steal_parse(function->text, &model.steal, &err) ||
        bal_placement_parse(placement, &model.placement, &err))
        fail_msg("%s", err.text);
    const struct bli_run run = {.seed = (uint64_t)slots, .replication = 3, .time = slots, .initial = initial};
    assert_int_equal(bli_stealing_init(&chain, &model, &run), BAL_OK);
    start(&model, function, &run);
    for (int i = 0; initial && i < twin.n; i++)
        for (uint32_t k = 0; k < initial[i]; k++, twin.made++)
            push(i, 0);
    while (twin.slot < slots) {
        twin.slot++;
        move_generators(model.placement.kind);
        make_jobs();
        steal();
        serve();
        assert_int_equal(bli_stealing_step(&chain), BAL_OK);
        compare_states(&chain);
        /* Slices end anywhere: what they leave behind must not matter. */
        if (chain.slot == (uint64_t)chain.tally.slice_end)
            assert_int_equal(bli_stealing_close_slice(&chain), BAL_OK);
    }
    bli_stealing_fini(&chain);
    check_trial(&model, &run);
}

static void every_function(const char *servers, double load, const char *placement, int slots) {
    for (int i = 0; i < FUNCTIONS; i++)
        for (int others = 0; others < 2; others++)
            run_beside(servers, load, &functions[i], placement, others, slots);
}

static void even(void **state) {
    (void)state;
    every_function("70", 0.8, "even", 300);
    every_function("64", 1, "even", 100);
}

static void hosts(void **state) {
    (void)state;
    every_function("2", 0.9, "hosts(1)", 1200);
    every_function("64", 0.95, "hosts(1)", 400);
    every_function("65", 0.5, "hosts(4)", 1100);
    every_function("130", 0.9, "hosts(128)", 400);
}

static void moving(void **state) {
    (void)state;
    every_function("7", 0.97, "moving", 1500);
    every_function("100", 0.3, "moving", 1100);
}

static void adversaries(void **state) {
    (void)state;
    static const char *const kinds[] = {"longest", "shortest", "cycling"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        every_function("7", 0.97, kinds[i], 800);
        every_function("66", 0.3, kinds[i], 400);
    }
}

static void walk(void **state) {
    (void)state;
    every_function("3", 0.9, "walk", 1500);
    every_function("66", 0.95, "walk", 1100);
}

static void map(void **state) {
    (void)state;
    every_function("9", 0.9, "map(3:1 0:1 8:7)", 1500);
    every_function("80", 0.85, "map(79:64 2:1 17:15)", 600);
}

/* Jobs that are there at the start. */
static void beginnings(void **state) {
    (void)state;
    static const uint32_t many[9] = {300, 0, 1, 2, 0, 7, 0, 0, 1000};
    initial = many;
    every_function("9", 0.5, "hosts(2)", 700);
    every_function("9", 0.8, "even", 1500);
    initial = NULL;
}

/* One server, alone: with one generator nothing is ever left. */
static void alone(void **state) {
    (void)state;
    run_beside("1", 0.5, &functions[1], "hosts(1)", false, 1000);
    run_beside("1", 1, &functions[1], "walk", false, 10);
    assert_true(twin.queue_sum == 0 && twin.served == 10);
}

/* Queues that grow without end: long queues, response times beyond those that are counted by value, and
 * slices of many slots. */
static void overload(void **state) {
    (void)state;
    run_beside("4", 1, &functions[0], "hosts(1)", false, 25000);
    assert_true(twin.at_least[BLI_TAIL_LEVELS - 1] > 0);
    uint64_t late = 0;
    for (int response = STEALING_COUNTED; response < RESPONSES; response++)
        late += twin.response[response];
    assert_true(late > 1000);
    run_beside("20", 1, &functions[2], "hosts(2)", true, 6000);
}

/* A long run goes beyond slot 2^32, where the slots that are kept with jobs begin anew. Nothing depends on
 * where slots begin to count, so a chain that starts shortly before does what one from slot 0 does. */
static void beyond_the_count_of_slots(void **state) {
    (void)state;
    static struct stealing chain[2];
    struct bli_model model = {.load = 0.9, .clock = BLI_CLOCK_SLOTTED};
    assert_int_equal(bli_servers_parse("20", &model.servers, NULL), BAL_OK);
    assert_int_equal(bal_steal_parse("half", &model.steal, NULL), BAL_OK);
    assert_int_equal(bal_placement_parse("hosts(1)", &model.placement, NULL), BAL_OK);
    const struct bli_run run = {.seed = 9, .time = 2000};
    const uint64_t shift = (UINT64_C(1) << 32) - 1000;
    for (int i = 0; i < 2; i++)
        assert_int_equal(bli_stealing_init(&chain[i], &model, &run), BAL_OK);
    chain[1].slot = shift;
    for (uint32_t server = 0; server < 20; server++)
        chain[1].end[server] = chain[1].settled[server] = shift;
    for (int slot = 1; slot <= 2000; slot++) {
        for (int i = 0; i < 2; i++) {
            assert_int_equal(bli_stealing_step(&chain[i]), BAL_OK);
            if (slot % 2 == 0) /* a slice */
                assert_int_equal(bli_stealing_close_slice(&chain[i]), BAL_OK);
        }
        for (uint32_t server = 0; server < 20; server++)
            assert_int_equal(stealing_length(&chain[0], server), stealing_length(&chain[1], server));
    }
    assert_true(chain[1].slot > UINT64_C(1) << 32 && chain[0].tally.all.response > 1e5);
    for (int i = 0; i < 2; i++)
        bli_stealing_fini(&chain[i]);
    assert_memory_equal(&chain[0].tally.all, &chain[1].tally.all, sizeof chain[0].tally.all);
    assert_memory_equal(&chain[0].tally.totals, &chain[1].tally.totals, sizeof chain[0].tally.totals);
}

/* Victims are uniform, and so is the choice among those who ask at once. */
static void uniform(void **state) {
    (void)state;
    double p[N_MAX];
    for (int others = 0; others < 2; others++) {
        run_beside("12", 0.8, &functions[1], "hosts(2)", others, 60000);
        p[0] = others ? 0 : 1 / 12.0;
        for (int i = 1; i < 12; i++)
            p[i] = others ? 1 / 11.0 : 1 / 12.0;
        assert_fits("victims", p, twin.named, 12);
        for (int askers = 2; askers <= 4; askers++) {
            for (int i = 0; i < askers; i++)
                p[i] = 1.0 / askers;
            assert_fits("askers", p, twin.chosen[askers - 1], (size_t)askers);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even),
        cmocka_unit_test(hosts),
        cmocka_unit_test(moving),
        cmocka_unit_test(walk),
        cmocka_unit_test(map),
        cmocka_unit_test(adversaries),
        cmocka_unit_test(alone),
        cmocka_unit_test(overload),
        cmocka_unit_test(uniform),
        cmocka_unit_test(beginnings),
        cmocka_unit_test(beyond_the_count_of_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
