/* SPDX-License-Identifier: BSD-2-Clause */
/* A literal twin of the slotted model: recursions (4) and (8) of Atar et al. 2020, and the other policies, as
 * their definitions say it, with jobs one by one in plain arrays. It shares nothing with the engine but the
 * random numbers of arrivals and capacities.
 *
 * The policies choose at random, and code that draws at other moments, or in another order, cannot be asked
 * for the same choices. So the twin watches: in every slot it lists all choices that the definition allows,
 * each with its probability given all that happened before; the choice that the policy makes must be one of
 * them, and is carried out in both systems. What the definition keeps hidden (the last-idle server LI, the
 * remembered server) the twin knows as a distribution, which each choice sharpens. Queues, reports and
 * completion times must then agree in every slot, and the numbers of jobs that each server gets must agree
 * with their conditional expectations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/simulate.h"

#include "../theory/close.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAX = 5, JOBS_MAX = 40000, COMPLETIONS = 256, SLOTS = 1500 };

/* ---- choices ---- */

enum { NONE = N_MAX }; /* nothing is hidden */

/* Jobs that each server gets, and what is hidden afterwards. */
struct choice {
    double probability;
    int jobs[N_MAX];
    int hidden;
};

/* A list without duplicates; `place` finds a choice in it: index + 1, by hash. */
enum { CHOICES = 60000, PLACES = 131072 };
struct choices {
    size_t count;
    struct choice choice[CHOICES];
    uint32_t at[CHOICES]; /* its place */
    uint32_t place[PLACES];
};

static void clear(struct choices *choices) {
    for (size_t i = 0; i < choices->count; i++)
        choices->place[choices->at[i]] = 0;
    choices->count = 0;
}

static bool same_jobs(const int *a, const int *b) {
    return memcmp(a, b, N_MAX * sizeof *a) == 0;
}

static void add_choice(struct choices *choices, const struct choice *choice) {
    uint32_t hash = (uint32_t)choice->hidden;
    for (int i = 0; i < N_MAX; i++)
        hash = (hash * 61 + (uint32_t)choice->jobs[i]) * 2654435761u;
    for (uint32_t at = hash >> 15;; at = (at + 1) % PLACES) {
        uint32_t *place = &choices->place[at];
        if (*place == 0) {
            assert_true(choices->count < CHOICES);
            choices->at[choices->count] = at;
            choices->choice[choices->count++] = *choice;
            *place = (uint32_t)choices->count;
            return;
        }
        struct choice *known = &choices->choice[*place - 1];
        if (known->hidden == choice->hidden && same_jobs(known->jobs, choice->jobs)) {
            known->probability += choice->probability;
            return;
        }
    }
}

/* ---- the twin ---- */

struct literal;

static struct {
    const struct bli_model *model;
    const struct literal *literal;
    const struct bal_policy *real;
    int n;
    struct bli_batch batch;
    struct bal_rng arrivals, service;
    int slot;
    int pending; /* jobs that have arrived in this slot and wait for the policy; 0: the run is over */
    int job[N_MAX][JOBS_MAX]; /* the slot in which each job arrived, first come first */
    int length[N_MAX];        /* Q_i(t-1), then Q_i(t) */
    double mean_capacity[N_MAX];
    double hidden[N_MAX + 1]; /* probability that the hidden server is this one */
    /* what happened */
    int reported[SLOTS * N_MAX + N_MAX], reports; /* servers that became idle, in order */
    int heard;                                    /* how many of them the policy has been told */
    uint64_t completions[COMPLETIONS + 1];
    double queue_sum;
    uint64_t at_least[BLI_TAIL_LEVELS];
    uint64_t batches, parts; /* those that came, and servers that got jobs, slot by slot */
    /* jobs that server i got, less their expectation: sum and sum of squares */
    double surprise[N_MAX], surprise_squared[N_MAX];
} twin;

/* ---- the policies, as defined ---- */

struct literal {
    const char *policy;
    /* Adds all choices for a batch, `chance` being the probability of what is known so far: the hidden
     * server. */
    void (*choose)(int count, bool split, int hidden, double chance, struct choices *choices);
    /* A slot without arrivals: what becomes of the hidden server; NULL: nothing. */
    void (*rest)(void);
    int start;  /* the hidden server at the start */
    int probes; /* for each batch; ALL: as many as there are servers */
};
enum { ALL = -1 };

static int idle_servers(int *server) {
    int count = 0;
    for (int i = 0; i < twin.n; i++)
        if (twin.length[i] == 0)
            server[count++] = i;
    return count;
}

/* The whole batch to one server. */
static void give(int server, int count, int hidden, double chance, struct choices *choices) {
    struct choice choice = {.probability = chance, .hidden = hidden};
    choice.jobs[server] = count;
    add_choice(choices, &choice);
}

/* The jobs one after the other, each to a uniform one of those among `servers` (a set, as bits) that have the
 * shortest queue, or simply to a uniform one. */
static void pour(unsigned servers, bool lowest_first, int count, int hidden, double chance,
                 struct choices *choices) {
    static struct choices lists[2];
    struct choices *now = &lists[0], *next = &lists[1];
    clear(now);
    add_choice(now, &(struct choice){.probability = chance, .hidden = hidden});
    for (int job = 0; job < count; job++) {
        clear(next);
        for (size_t c = 0; c < now->count; c++) {
            struct choice choice = now->choice[c];
            int lowest = INT32_MAX, ties = 0;
            for (int i = 0; i < twin.n; i++) {
                const int level = lowest_first ? twin.length[i] + choice.jobs[i] : 0;
                if (!(servers >> i & 1) || level > lowest)
                    continue;
                ties = level < lowest ? 1 : ties + 1;
                lowest = level;
            }
            choice.probability /= ties;
            for (int i = 0; i < twin.n; i++) {
                const int level = lowest_first ? twin.length[i] + choice.jobs[i] : 0;
                if (!(servers >> i & 1) || level > lowest)
                    continue;
                choice.jobs[i]++;
                add_choice(next, &choice);
                choice.jobs[i]--;
            }
        }
        struct choices *other = now;
        now = next;
        next = other;
    }
    for (size_t c = 0; c < now->count; c++)
        add_choice(choices, &now->choice[c]);
}

/* The jobs one after the other, each to a server by these chances. */
static void deal(const double *chances, int count, int hidden, double chance, struct choices *choices) {
    static struct choices lists[2];
    struct choices *now = &lists[0], *next = &lists[1];
    clear(now);
    add_choice(now, &(struct choice){.probability = chance, .hidden = hidden});
    for (int job = 0; job < count; job++) {
        clear(next);
        for (size_t c = 0; c < now->count; c++)
            for (int i = 0; i < twin.n; i++) {
                struct choice choice = now->choice[c];
                choice.probability *= chances[i];
                choice.jobs[i]++;
                if (chances[i] > 0)
                    add_choice(next, &choice);
            }
        struct choices *other = now;
        now = next;
        next = other;
    }
    for (size_t c = 0; c < now->count; c++)
        add_choice(choices, &now->choice[c]);
}

static unsigned everybody(void) {
    return (1u << twin.n) - 1;
}

static void choose_random(int count, bool split, int hidden, double chance, struct choices *choices) {
    if (split)
        pour(everybody(), false, count, hidden, chance, choices);
    else
        for (int i = 0; i < twin.n; i++)
            give(i, count, hidden, chance / twin.n, choices);
}

/* hidden: the next server in turn */
static void choose_round_robin(int count, bool split, int hidden, double chance, struct choices *choices) {
    struct choice choice = {.probability = chance, .hidden = hidden};
    for (int job = 0; job < count; job++) {
        choice.jobs[choice.hidden]++;
        if (split || job == count - 1)
            choice.hidden = (choice.hidden + 1) % twin.n;
    }
    add_choice(choices, &choice);
}

/* The batch to the shortest queue among a set, ties uniform; split: water-filling. */
static void choose_shortest(unsigned servers, int count, bool split, int hidden, double chance,
                            struct choices *choices) {
    if (split) {
        pour(servers, true, count, hidden, chance, choices);
        return;
    }
    static struct choices one;
    clear(&one);
    pour(servers, true, 1, hidden, chance, &one);
    for (size_t c = 0; c < one.count; c++)
        for (int i = 0; i < twin.n; i++)
            if (one.choice[c].jobs[i])
                give(i, count, hidden, one.choice[c].probability, choices);
}

static void choose_jsq(int count, bool split, int hidden, double chance, struct choices *choices) {
    choose_shortest(everybody(), count, split, hidden, chance, choices);
}

/* m dispatchers with as many jobs each, by the definition: chances max(0, level - 2 q - size) over their sum,
 * and the level by halving. A batch that is not split is one job of its size. */
static void choose_coordinated(int m, int count, bool split, int hidden, double chance,
                               struct choices *choices) {
    const int size = split ? 1 : count, all = split ? m * count : m;
    if (all == 1) {
        choose_jsq(count, split, hidden, chance, choices);
        return;
    }
    const double sum = 2.0 * size * (all - 1);
    double low = 0, high = 2.0 * JOBS_MAX + size + sum, chances[N_MAX];
    for (int step = 0; step < 200; step++) {
        const double level = (low + high) / 2;
        double total = 0;
        for (int i = 0; i < twin.n; i++)
            total += fmax(0, level - 2 * twin.length[i] - size);
        *(total < sum ? &low : &high) = level;
    }
    for (int i = 0; i < twin.n; i++)
        chances[i] = fmax(0, high - 2 * twin.length[i] - size) / sum;
    if (split)
        deal(chances, count, hidden, chance, choices);
    for (int i = 0; !split && i < twin.n; i++)
        if (chances[i] > 0)
            give(i, count, hidden, chance * chances[i], choices);
}

static void choose_scd(int count, bool split, int hidden, double chance, struct choices *choices) {
    choose_coordinated(1, count, split, hidden, chance, choices);
}

static void choose_scd_of_three(int count, bool split, int hidden, double chance, struct choices *choices) {
    choose_coordinated(3, count, split, hidden, chance, choices);
}

static void choose_pod(int count, bool split, int hidden, double chance, struct choices *choices) {
    for (int i = 0; i < twin.n; i++)
        for (int j = 0; j < twin.n; j++)
            choose_shortest(1u << i | 1u << j, count, split, hidden, chance / (twin.n * twin.n), choices);
}

static void choose_pod_distinct(int count, bool split, int hidden, double chance, struct choices *choices) {
    const int pairs = twin.n * (twin.n - 1);
    for (int i = 0; i < twin.n; i++)
        for (int j = 0; j < twin.n; j++)
            if (i != j)
                choose_shortest(1u << i | 1u << j, count, split, hidden, chance / pairs, choices);
}

/* hidden: the remembered server. The sampled one competes with it; afterwards the shorter of the two is
 * remembered. */
static void choose_pod_memory(int count, bool split, int hidden, double chance, struct choices *choices) {
    static struct choices sent;
    for (int sampled = 0; sampled < twin.n; sampled++) {
        const int other = hidden == NONE ? sampled : hidden;
        clear(&sent);
        choose_shortest(1u << sampled | 1u << other, count, split, NONE, chance / twin.n, &sent);
        for (size_t c = 0; c < sent.count; c++) {
            struct choice choice = sent.choice[c];
            const int x = twin.length[sampled] + choice.jobs[sampled];
            const int y = twin.length[other] + choice.jobs[other];
            choice.probability *= x == y ? 0.5 : 1;
            if (x <= y) {
                choice.hidden = sampled;
                add_choice(choices, &choice);
            }
            if (y <= x) {
                choice.hidden = other;
                add_choice(choices, &choice);
            }
        }
    }
}

/* The server that is expected to be free first; batches are never split. */
static void choose_least_work(int count, bool split, int hidden, double chance, struct choices *choices) {
    (void)split;
    int best[N_MAX], ties = 0;
    for (int i = 0; i < twin.n; i++) {
        const double ahead =
            ties ? twin.length[i] * twin.mean_capacity[best[0]] - twin.length[best[0]] * twin.mean_capacity[i]
                 : -1;
        if (ahead > 0)
            continue;
        ties = ahead < 0 ? 0 : ties;
        best[ties++] = i;
    }
    for (int k = 0; k < ties; k++)
        give(best[k], count, hidden, chance / ties, choices);
}

/* The batch is divided over the idle servers, if there are any. */
static bool choose_idle(int count, bool split, int hidden, double chance, struct choices *choices) {
    int idle[N_MAX];
    const int idle_count = idle_servers(idle);
    unsigned servers = 0;
    for (int k = 0; k < idle_count; k++)
        servers |= 1u << idle[k];
    if (idle_count > 0)
        choose_shortest(servers, count, split, hidden, chance, choices);
    return idle_count > 0;
}

static void choose_jiq(int count, bool split, int hidden, double chance, struct choices *choices) {
    if (!choose_idle(count, split, hidden, chance, choices))
        choose_random(count, split, hidden, chance, choices);
}

static void choose_jiq_own(int count, bool split, int hidden, double chance, struct choices *choices) {
    if (!choose_idle(count, split, hidden, chance, choices))
        choose_jsq(count, split, hidden, chance, choices);
}

/* hidden: LI(t-1). Recursion (4): if nobody is idle LI stays, otherwise it is uniform on the idle servers.
 * Recursion (8) is the same, but that the batch is divided among the idle servers if there are any. */
static void choose_pi(int count, bool split, int hidden, double chance, struct choices *choices) {
    int idle[N_MAX];
    const int idle_count = idle_servers(idle);
    if (idle_count == 0) {
        give(hidden, count, hidden, chance, choices);
        return;
    }
    for (int k = 0; k < idle_count; k++) {
        const int last_idle = idle[k];
        if (split)
            choose_jiq(count, true, last_idle, chance / idle_count, choices);
        else
            give(last_idle, count, last_idle, chance / idle_count, choices);
    }
}

/* Each job to a uniform idle server. */
static void choose_pi_each(int count, bool split, int hidden, double chance, struct choices *choices) {
    int idle[N_MAX];
    const int idle_count = idle_servers(idle);
    if (!split || count == 1 || idle_count == 0) {
        choose_pi(count, split, hidden, chance, choices);
        return;
    }
    unsigned set = 0;
    for (int k = 0; k < idle_count; k++)
        set |= 1u << idle[k];
    for (int k = 0; k < idle_count; k++)
        pour(set, false, count, idle[k], chance / idle_count, choices);
}

/* To each idle server in turn, in a uniform order, half of what is left, and to the last one the rest. */
static void halve(unsigned set, struct choice choice, int left, struct choices *choices) {
    const int members = __builtin_popcount(set);
    if (left == 0) {
        add_choice(choices, &choice);
        return;
    }
    const int part = members > 1 ? left - left / 2 : left;
    choice.probability /= members;
    for (int i = 0; i < twin.n; i++)
        if (set >> i & 1) {
            struct choice next = choice;
            next.jobs[i] = part;
            halve(set & ~(1u << i), next, left - part, choices);
        }
}

static void choose_pi_halves(int count, bool split, int hidden, double chance, struct choices *choices) {
    int idle[N_MAX];
    const int idle_count = idle_servers(idle);
    if (!split || count == 1 || idle_count == 0) {
        choose_pi(count, split, hidden, chance, choices);
        return;
    }
    unsigned set = 0;
    for (int k = 0; k < idle_count; k++)
        set |= 1u << idle[k];
    for (int k = 0; k < idle_count; k++)
        halve(set, (struct choice){.probability = chance / idle_count, .hidden = idle[k]}, count, choices);
}

/* LI is drawn in a slot without arrivals too. */
static void rest_pi(void) {
    int idle[N_MAX];
    const int idle_count = idle_servers(idle);
    if (idle_count == 0)
        return;
    memset(twin.hidden, 0, sizeof twin.hidden);
    for (int k = 0; k < idle_count; k++)
        twin.hidden[idle[k]] = 1.0 / idle_count;
}

static const struct literal literals[] = {
    {"random", choose_random, NULL, NONE, 0},
    {"round-robin", choose_round_robin, NULL, 0, 0},
    {"jsq", choose_jsq, NULL, NONE, ALL},
    {"pod:d=2", choose_pod, NULL, NONE, 2},
    {"pod:d=2,replace=0", choose_pod_distinct, NULL, NONE, 2},
    {"pod-memory:d=1,b=1", choose_pod_memory, NULL, NONE, 2},
    {"least-work", choose_least_work, NULL, NONE, ALL},
    {"scd:m=1", choose_scd, NULL, NONE, ALL},
    {"scd:m=3", choose_scd_of_three, NULL, NONE, ALL},
    {"jiq", choose_jiq, NULL, NONE, 0},
    {"jiq:else=least-conn", choose_jiq_own, NULL, NONE, 0},
    {"least-conn", choose_jsq, NULL, NONE, 0}, /* the only dispatcher has sent all jobs that are there */
    {"least-conn:d=2", choose_pod_distinct, NULL, NONE, 0},
    {"least-conn:d=2,replace=1", choose_pod, NULL, NONE, 0},
    {"pi", choose_pi, rest_pi, 0, 0}, /* all start idle, so LI(0) does not matter */
    {"pi:split=each", choose_pi_each, rest_pi, 0, 0},
    {"pi:split=halves", choose_pi_halves, rest_pi, 0, 0},
};

/* ---- the four steps, literally ---- */

static void join(int server, int count) {
    for (int job = 0; job < count; job++) {
        assert_true(twin.length[server] < JOBS_MAX);
        twin.job[server][twin.length[server]++] = twin.slot;
    }
}

static void leave(int server) {
    const int completion = twin.slot - twin.job[server][0] + 1;
    twin.completions[completion < COMPLETIONS ? completion : COMPLETIONS]++;
    twin.length[server]--;
    memmove(twin.job[server], twin.job[server] + 1, (size_t)twin.length[server] * sizeof **twin.job);
}

static void draw_capacities(uint32_t *capacity) {
    for (unsigned g = 0; g < twin.model->servers.groups; g++) {
        const struct bli_group *group = &twin.model->servers.group[g];
        if (group->capacity.kind != BLI_BATCH_NONE)
            bli_batch_sample_many(&group->capacity, &twin.service, capacity, group->count);
        for (uint32_t i = 0; i < group->count; i++, capacity++)
            if (group->capacity.kind == BLI_BATCH_NONE)
                *capacity = (uint32_t)group->speed;
    }
}

static void serve_and_report(void) {
    uint32_t capacity[N_MAX];
    draw_capacities(capacity);
    for (int i = 0; i < twin.n; i++) {
        const bool had_jobs = twin.length[i] > 0;
        for (uint32_t job = 0; job < capacity[i] && twin.length[i] > 0; job++)
            leave(i);
        if (had_jobs && twin.length[i] == 0)
            twin.reported[twin.reports++] = i;
        twin.queue_sum += twin.length[i];
        for (int level = 0; level < BLI_TAIL_LEVELS && level <= twin.length[i]; level++)
            twin.at_least[level]++;
    }
}

/* Lives through slots until jobs arrive in one. */
static void next_batch(void) {
    for (twin.pending = 0; twin.slot < SLOTS;) {
        twin.slot++;
        twin.pending = (int)bli_batch_sample(&twin.batch, &twin.arrivals);
        if (twin.pending > 0)
            return;
        if (twin.literal->rest)
            twin.literal->rest();
        serve_and_report();
    }
}

/* ---- watching ---- */

/* The policy has made this choice: was it allowed, what did we expect, and what do we know now? */
static void judge(const int *jobs, bool split) {
    static struct choices choices;
    clear(&choices);
    for (int hidden = 0; hidden <= NONE; hidden++)
        if (twin.hidden[hidden] > 0)
            twin.literal->choose(twin.pending, split, hidden, twin.hidden[hidden], &choices);
    double total = 0, allowed = 0, expected[N_MAX] = {0}, hidden_after[N_MAX + 1] = {0};
    for (size_t c = 0; c < choices.count; c++) {
        const struct choice *choice = &choices.choice[c];
        total += choice->probability;
        for (int i = 0; i < twin.n; i++)
            expected[i] += choice->probability * choice->jobs[i];
        if (!same_jobs(choice->jobs, jobs))
            continue;
        allowed += choice->probability;
        hidden_after[choice->hidden] += choice->probability;
    }
    assert_close(total, 1, 1e-9);
    if (!(allowed > 0))
        fail_msg("%s, slot %d: a choice that the definition does not allow", twin.literal->policy, twin.slot);
    for (int hidden = 0; hidden <= NONE; hidden++)
        twin.hidden[hidden] = hidden_after[hidden] / allowed;
    for (int i = 0; i < twin.n; i++) {
        const double surprise = jobs[i] - expected[i];
        twin.surprise[i] += surprise;
        twin.surprise_squared[i] += surprise * surprise;
    }
}

static bool reports(void) {
    return twin.real->wants & BAL_WANTS_IDLE;
}

static struct bal_decision watch_route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                       struct bal_rng *rng) {
    assert_true(twin.pending > 0 && (int)job->count == twin.pending && job->split == twin.model->split);
    assert_true(!reports() || twin.heard == twin.reports);
    for (int i = 0; i < twin.n; i++)
        if ((int)fleet->length[i] != twin.length[i])
            fail_msg("%s, slot %d: server %d has %u jobs and not %d", twin.literal->policy, twin.slot, i,
                     fleet->length[i], twin.length[i]);
    const struct bal_decision decision = twin.real->route(state, fleet, job, rng);
    int jobs[N_MAX] = {0};
    if (decision.parts == 0)
        jobs[decision.server] = (int)job->count;
    for (uint32_t part = 0; part < decision.parts; part++)
        jobs[fleet->shares[part].server] += (int)fleet->shares[part].count;
    judge(jobs, job->split);
    twin.batches++;
    for (int i = 0; i < twin.n; i++) {
        twin.parts += jobs[i] > 0;
        join(i, jobs[i]);
    }
    serve_and_report();
    next_batch();
    return decision;
}

static void watch_report(void *state, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                         const struct bal_reply *load) {
    assert_int_equal(what, BAL_REPORT_IDLE);
    assert_true(twin.heard < twin.reports && twin.reported[twin.heard] == (int)server);
    twin.heard++;
    twin.real->report(state, fleet, what, server, load);
}

static void start(const struct bli_model *model, const struct literal *literal, const struct bal_policy *real,
                  const struct bli_run *run) {
    memset(&twin, 0, sizeof twin);
    twin.model = model;
    twin.literal = literal;
    twin.real = real;
    twin.n = (int)bli_servers_count(&model->servers);
    twin.hidden[literal->start] = 1;
    assert_int_equal(bli_model_batch(model, &twin.batch, NULL), BAL_OK);
    bal_rng_init(&twin.arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&twin.service, run->seed, run->replication, BAL_STREAM_SERVICE);
    for (int i = 0; i < twin.n; i++)
        twin.reported[twin.reports++] = i; /* the dispatcher begins with the tokens of all servers */
    int server = 0;
    for (unsigned g = 0; g < model->servers.groups; g++)
        for (uint32_t i = 0; i < model->servers.group[g].count; i++)
            twin.mean_capacity[server++] = model->servers.group[g].speed;
    next_batch();
}

/* What the engine says about the whole run. */
static void compare_metrics(const struct bli_trial *trial) {
    const double *metric = trial->metric;
    uint64_t jobs = 0, responses = 0;
    for (int completion = 1; completion < COMPLETIONS; completion++) {
        assert_true(trial->histogram[BLI_OF_RESPONSE]->count[bli_histogram_bin(completion)] ==
                    twin.completions[completion]);
        assert_true(trial->histogram[BLI_OF_WAITING]->count[bli_histogram_bin(completion - 1)] ==
                    twin.completions[completion]);
        jobs += twin.completions[completion];
        responses += (uint64_t)completion * twin.completions[completion];
    }
    assert_true(trial->jobs == jobs + twin.completions[COMPLETIONS]);
    if (twin.completions[COMPLETIONS] == 0)
        assert_close(metric[BLI_RESPONSE_MEAN], (double)responses / (double)jobs, 1e-13);
    assert_close(metric[BLI_WAITING_PROBABILITY], 1 - (double)twin.completions[1] / (double)trial->jobs,
                 1e-12);
    assert_close(metric[BLI_QUEUE_TOTAL], twin.queue_sum / SLOTS, 1e-13);
    for (int level = 0; level < BLI_TAIL_LEVELS; level++)
        assert_close(trial->tail[level], (double)twin.at_least[level] / SLOTS / twin.n, 1e-12);
    const double sent = reports() ? twin.reports - twin.n : 0;
    const double first = strcmp(twin.real->name, "pod-memory") == 0; /* it remembers nobody yet */
    const double probes =
        (twin.literal->probes == ALL ? twin.n : twin.literal->probes) * (double)twin.batches - first;
    assert_close(metric[BLI_MESSAGES_PER_TIME], (sent + probes) / SLOTS, 1e-13);
    assert_close(metric[BLI_MESSAGES_PER_BATCH], (sent + probes) / (double)twin.batches, 1e-13);
    assert_close(metric[BLI_MESSAGES_PER_PART], (sent + probes) / (double)twin.parts, 1e-13);
}

/* The number of jobs that a server gets in a slot, less its expectation given the past, is a martingale
 * difference; the sum of many, divided by the root of the sum of their squares, is standard normal. 5.5 is
 * exceeded with probability 4e-8, and there are about 500 of them. */
static void compare_chances(void) {
    for (int i = 0; i < twin.n; i++) {
        const double deviation = sqrt(twin.surprise_squared[i]);
        if (!(fabs(twin.surprise[i]) <= 5.5 * deviation + 1e-6))
            fail_msg("%s: server %d got %g jobs more than expected, %g standard deviations",
                     twin.literal->policy, i, twin.surprise[i], twin.surprise[i] / deviation);
    }
}

static void run_beside(const struct bli_model *model, const struct literal *literal, bool plain,
                       uint64_t seed) {
    struct bal_policy_spec spec;
    assert_int_equal(bal_policy_parse(literal->policy, &spec, NULL), BAL_OK);
    const struct bli_run run = {.seed = seed, .replication = 2, .time = SLOTS, .reference = plain};
    start(model, literal, spec.policy, &run);
    struct bal_policy watcher = *spec.policy;
    watcher.route = watch_route;
    watcher.report = spec.policy->report ? watch_report : NULL;
    spec.policy = &watcher;
    static struct bli_histogram response, waiting;
    struct bli_trial trial = {.histogram = {&response, &waiting}};
    struct bal_error err = {0};
    if (bli_simulate(model, &spec, &run, &trial, &err))
        fail_msg("%s", err.text);
    assert_true(twin.slot == SLOTS && twin.pending == 0);
    assert_true(!reports() || twin.heard == twin.reports);
    compare_metrics(&trial);
    compare_chances();
}

static void every_policy(const char *servers, const char *batch, double load, bool split, bool plain) {
    struct bli_model model = {.load = load, .clock = BLI_CLOCK_SLOTTED, .split = split};
    struct bal_error err = {0};
    if (bli_servers_parse(servers, &model.servers, &err) || bli_batch_parse(batch, &model.batch, &err))
        fail_msg("%s", err.text);
    bli_model_set_load(&model);
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        run_beside(&model, &literals[i], plain, 1000 + i);
}

static void every_fleet(bool split) {
    every_policy("1x1,1xuniform(1,3),1xtable(1:0.5 2:0.25 7:0.25)", "poisson", 0.8, split, false);
    every_policy("2xuniform(1,2),1x5,1x1", "geometric", 0.3, split, true);
    every_policy("5x1", "table(0:0.5 3:0.3 10:0.2)", NAN, split, false);
    every_policy("1xuniform(1,30),1x2", "poisson", 0.97, split, true);
    every_policy("3xtable(1:0.9 4:0.1)", "bernoulli(0.9)", NAN, split, false);
}

static void whole_batches(void **state) {
    (void)state;
    every_fleet(false);
}

static void split_batches(void **state) {
    (void)state;
    every_fleet(true);
}

/* Every policy that can run in slots has its twin here. */
static void complete(void **state) {
    (void)state;
    struct bli_model model = {.load = 0.5, .clock = BLI_CLOCK_SLOTTED};
    assert_int_equal(bli_servers_parse("4x1", &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_batch_parse("poisson", &model.batch, NULL), BAL_OK);
    for (size_t i = 0; i < bal_policy_count; i++) {
        struct bal_policy_spec spec;
        enum bli_engine engine;
        const char *name = bal_policy_table[i]->name;
        if (bal_policy_parse(name, &spec, NULL) ||
            bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL))
            continue;
        bool found = false;
        for (size_t k = 0; k < sizeof literals / sizeof *literals; k++)
            found = found || strncmp(literals[k].policy, name, strcspn(literals[k].policy, ":")) == 0;
        if (!found)
            fail_msg("policy '%s' has no literal twin", name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_batches),
        cmocka_unit_test(split_batches),
        cmocka_unit_test(complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
