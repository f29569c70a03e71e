/* SPDX-License-Identifier: BSD-2-Clause */
/* The slotted engine: time in slots, jobs in batches, random service capacities (Atar et al. 2020).
 *
 * In slot t = 1, 2, ...: (1) a(t) jobs arrive; (2) the policy routes them; (3) server i finishes up to s_i(t)
 * jobs, also of those that have just arrived; (4) a server that had jobs in this slot and finished them all
 * reports that it is idle. A job that arrives in slot t and leaves in slot t' has completion time t' - t + 1,
 * of which t' - t slots are waiting.
 *
 * Arrivals and capacities have streams of their own, and every server draws a capacity in every slot, whether
 * it has work or not: so all policies see the same input.
 *
 * With several dispatchers each job of a batch comes to one of them; they decide at the same time, each for
 * its part of the batch and by the state at the beginning of the slot, and a server reports to one of them.
 *
 * A queue holds runs (arrival slot, jobs), not jobs: a batch of any size costs the same, and completion times
 * are exact for every job. They are counted by value, and go to the histograms once a slice. */
#include "engine/engine.h"
#include "engine/queues.h"
#include "engine/tally.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTED = 4096 }; /* completion times below this are counted by value */

/* Servers with this many jobs or more are one level. */
enum { TOP = LEVELS - 1 };

struct slotted_dispatcher {
    void *state;
    struct bal_fleet fleet;
    struct bal_rng rng;
    struct bal_job job; /* its part of the batch */
    struct bal_decision decision;
    uint32_t *own; /* its jobs at each server; kept where there are several dispatchers */
};

struct slotted {
    uint32_t servers;
    uint32_t *jobs;         /* Q_i, what the policy sees */
    uint32_t *capacity;     /* s_i of this slot */
    uint64_t *front;        /* the first run of each server that has jobs: slot << 32 | jobs */
    struct bli_queues runs; /* those behind it */
    uint32_t *sender;       /* of the first run: which dispatcher; where there are several */
    uint64_t queue;         /* sum of the Q_i */

    const struct bli_model *model;
    struct bli_batch batch;
    struct bal_rng arrivals, service, network;

    const struct bal_policy *policy;
    const struct bal_policy_spec *spec;
    struct slotted_dispatcher *dispatcher;
    uint32_t dispatchers;
    bool reporting;
    double *speed; /* mean capacity of each server, for policies that ask for work */

    const struct bli_run *run;
    uint64_t slot;
    uint64_t asked;     /* dispatchers, by servers, for their tokens */
    uint32_t preloaded; /* servers that start with jobs */

    /* of the current slice */
    uint64_t queue_sum;         /* over its slots, at the end of each */
    int64_t offset;             /* slots of it that are over */
    int64_t held[LEVELS];       /* slots x servers with exactly so many jobs, as in tally.h */
    uint64_t finished[COUNTED]; /* jobs by completion time */
    struct tally tally;
};

/* An internal error: the message names the trial. */
static _Noreturn void internal_error(const struct slotted *s, const char *what) {
    fprintf(stderr, "ballast: internal error: %s (policy %s, seed %llu, replication %llu, slot %llu)\n", what,
            s->policy->name, (unsigned long long)s->run->seed, (unsigned long long)s->run->replication,
            (unsigned long long)s->slot);
    abort();
}

/* ---- what is measured ---- */

/* A server passes from one number of jobs to another in the current slot. */
static inline void move_level(struct slotted *s, uint32_t from, uint32_t to) {
    s->held[from < TOP ? from : TOP] += s->offset;
    s->held[to < TOP ? to : TOP] -= s->offset;
}

static inline void count_completed(struct slotted *s, uint32_t completion, uint32_t count) {
    if (__builtin_expect(completion < COUNTED, 1))
        s->finished[completion] += count;
    else
        tally_complete_slots(&s->tally.all, completion, count);
}

static void flush_finished(struct slotted *s) {
    for (uint32_t completion = 1; completion < COUNTED; completion++)
        if (s->finished[completion]) {
            tally_complete_slots(&s->tally.all, completion, s->finished[completion]);
            s->finished[completion] = 0;
        }
}

/* Turns servers with exactly l jobs into servers with at least l, and hands them to the tally, which adds
 * count x width to every area. The level at the top stands for all from there up: it gets what the others
 * leave of the total queue. */
static void flush_levels(struct slotted *s) {
    const int64_t width = s->offset;
    int64_t now[LEVELS] = {0};
    for (uint32_t server = 0; server < s->servers; server++)
        now[s->jobs[server] < TOP ? s->jobs[server] : TOP]++;
    int64_t area = 0, count = 0, area_left = (int64_t)s->queue_sum, count_left = (int64_t)s->queue;
    for (unsigned l = TOP; l > 0; l--) {
        area += s->held[l] + width * now[l];
        count += now[l];
        s->tally.level[l] = (struct level){(double)(area - width * count), count};
        area_left -= l < TOP ? area : 0;
        count_left -= l < TOP ? count : 0;
    }
    s->tally.level[TOP] = (struct level){(double)(area_left - width * count_left), count_left};
    memset(s->held, 0, sizeof s->held);
}

static enum bal_code close_slice(struct slotted *s) {
    flush_finished(s);
    flush_levels(s);
    s->queue_sum = 0;
    s->offset = 0;
    uint64_t probes = s->asked;
    for (uint32_t d = 0; d < s->dispatchers; d++)
        probes += s->dispatcher[d].fleet.probes;
    return bli_tally_close_slice(&s->tally, probes) ? BAL_OK : BAL_E_MEMORY;
}

/* ---- a slot ---- */

/* many: there are several dispatchers. A constant where speed matters. */
static inline enum bal_code enqueue_jobs(struct slotted *s, uint32_t server, uint32_t count, uint32_t sender,
                                         bool many) {
    if (__builtin_expect(server >= s->servers, 0))
        internal_error(s, "the policy chose a server that does not exist");
    const uint32_t before = s->jobs[server];
    if (__builtin_expect(count > UINT32_MAX - before, 0))
        return BAL_E_MEMORY;
    const uint64_t run = s->slot << 32 | count;
    if (before == 0) {
        s->front[server] = run;
        if (many)
            s->sender[server] = sender;
    } else {
        union bli_claim_word *back = bli_queues_push(&s->runs, server, many ? 2 : 1);
        if (__builtin_expect(!back, 0))
            return BAL_E_MEMORY;
        back->bits = run;
        if (many)
            back[1].bits = sender;
    }
    s->jobs[server] = before + count;
    s->queue += count;
    s->tally.totals.parts++;
    if (many)
        s->dispatcher[sender].own[server] += count;
    move_level(s, before, before + count);
    return BAL_OK;
}

static enum bal_code join_parts(struct slotted *s, uint32_t sender, uint32_t parts, bool many) {
    const struct slotted_dispatcher *d = &s->dispatcher[sender];
    if (!d->job.split || parts > s->servers)
        internal_error(s, "the policy divided a batch in a way that it must not");
    uint64_t sum = 0;
    for (uint32_t i = 0; i < parts; i++) {
        const struct bal_share share = d->fleet.shares[i];
        const enum bal_code code = enqueue_jobs(s, share.server, share.count, sender, many);
        if (code)
            return code;
        sum += share.count;
    }
    if (sum != d->job.count)
        internal_error(s, "the parts of a batch do not add up to it");
    return BAL_OK;
}

static inline void call_policy(struct slotted *s, struct slotted_dispatcher *d) {
    d->decision = s->policy->route(d->state, &d->fleet, &d->job, &d->rng);
}

static inline enum bal_code apply_decision(struct slotted *s, uint32_t sender, bool many) {
    const struct slotted_dispatcher *d = &s->dispatcher[sender];
    return d->decision.parts == 0 ? enqueue_jobs(s, d->decision.server, d->job.count, sender, many)
                                  : join_parts(s, sender, d->decision.parts, many);
}

/* Dispatchers do not know each other's decisions in this slot: all decide before any job is sent. */
static enum bal_code arrive_at_many(struct slotted *s, uint32_t count) {
    for (uint32_t d = 0; d < s->dispatchers; d++)
        s->dispatcher[d].job.count = 0;
    for (uint32_t i = 0; i < count; i++)
        s->dispatcher[bli_dispatchers_draw(&s->model->network.dispatchers, &s->network)].job.count++;
    for (uint32_t d = 0; d < s->dispatchers; d++)
        if (s->dispatcher[d].job.count)
            call_policy(s, &s->dispatcher[d]);
    enum bal_code code = BAL_OK;
    for (uint32_t d = 0; d < s->dispatchers && !code; d++)
        if (s->dispatcher[d].job.count) {
            s->tally.totals.batches++;
            code = apply_decision(s, d, true);
        }
    return code;
}

static inline enum bal_code handle_arrivals(struct slotted *s, bool many) {
    const uint32_t count = bli_batch_sample(&s->batch, &s->arrivals);
    if (count == 0)
        return BAL_OK;
    if (many)
        return arrive_at_many(s, count);
    s->tally.totals.batches++;
    s->dispatcher->job.count = count;
    call_policy(s, s->dispatcher);
    return apply_decision(s, 0, false);
}

static void draw_capacities(struct slotted *s) {
    const struct bli_servers *servers = &s->model->servers;
    uint32_t *capacity = s->capacity;
    for (unsigned g = 0; g < servers->groups; g++) {
        const struct bli_group *group = &servers->group[g];
        if (group->capacity.kind != BLI_BATCH_NONE)
            bli_batch_sample_many(&group->capacity, &s->service, capacity, group->count);
        capacity += group->count;
    }
}

/* The first `count` jobs of a server leave. Slots are kept modulo 2^32, which is enough for differences. */
static inline void dequeue_jobs(struct slotted *s, uint32_t server, uint32_t count, bool many) {
    for (;;) {
        const uint64_t run = s->front[server];
        const uint32_t jobs = (uint32_t)run;
        const uint32_t completion = (uint32_t)s->slot - (uint32_t)(run >> 32) + 1;
        if (many)
            s->dispatcher[s->sender[server]].own[server] -= count < jobs ? count : jobs;
        if (count < jobs) {
            s->front[server] = run - count;
            count_completed(s, completion, count);
            return;
        }
        count_completed(s, completion, jobs);
        count -= jobs;
        if (s->runs.length[server] == 0)
            return;
        const union bli_claim_word *next = bli_queues_front(&s->runs, server, many ? 2 : 1);
        s->front[server] = next->bits;
        if (many)
            s->sender[server] = (uint32_t)next[1].bits;
        bli_queues_drop(&s->runs, server, many ? 2 : 1);
        if (count == 0)
            return;
    }
}

/* A uniform dispatcher, or that with the fewest tokens of some. */
static uint32_t pick_report_target(struct slotted *s) {
    const uint32_t choices = bal_policy_report_choices(s->spec);
    uint32_t best = bal_rng_below(&s->network, s->dispatchers);
    for (uint32_t i = 1; i < choices; i++) {
        const uint32_t other = bal_rng_below(&s->network, s->dispatchers);
        if (bal_policy_tokens(s->spec, s->dispatcher[other].state) <
            bal_policy_tokens(s->spec, s->dispatcher[best].state))
            best = other;
    }
    s->asked += choices > 1 ? choices : 0;
    return best;
}

static void become_idle(struct slotted *s, uint32_t server, bool many) {
    if (!s->reporting)
        return;
    struct slotted_dispatcher *d = &s->dispatcher[many ? pick_report_target(s) : 0];
    s->tally.totals.reports++;
    s->policy->report(d->state, &d->fleet, BAL_REPORT_IDLE, server, NULL);
}

/* Q_i(t) = max(0, Q_i(t-1) + a_i(t) - s_i(t)). No policy acts between these reports, so they may be sent on
 * the way. */
static inline void serve_slot(struct slotted *s, bool many) {
    uint64_t served = 0;
    for (uint32_t server = 0; server < s->servers; server++) {
        const uint32_t before = s->jobs[server];
        if (before == 0)
            continue;
        const uint32_t count = before < s->capacity[server] ? before : s->capacity[server];
        const uint32_t after = before - count;
        s->jobs[server] = after;
        served += count;
        dequeue_jobs(s, server, count, many);
        if (after < TOP)
            move_level(s, before, after);
        if (after == 0)
            become_idle(s, server, many);
    }
    s->queue -= served;
}

static inline enum bal_code run_slice(struct slotted *s, bool many) {
    const uint64_t end = (uint64_t)s->tally.slice_end;
    while (s->slot < end) {
        s->slot++;
        const enum bal_code code = handle_arrivals(s, many);
        if (code)
            return code;
        draw_capacities(s);
        serve_slot(s, many);
        s->offset++;
        s->queue_sum += s->queue;
        /* Proposition 3.1: a server that reports has finished what it was sent, so there are no more reports
         * than batches, or parts of them. */
        if (__builtin_expect(s->tally.totals.reports > s->tally.totals.parts + s->preloaded, 0))
            internal_error(s, "servers have sent more reports than they have received batches");
    }
    return close_slice(s);
}

static enum bal_code run_all(struct slotted *s) {
    while (!tally_done(&s->tally)) {
        const enum bal_code code = s->dispatchers > 1 ? run_slice(s, true) : run_slice(s, false);
        if (code)
            return code;
        if (s->run->stop && *s->run->stop)
            break;
    }
    return BAL_OK;
}

/* ---- what the policy may ask ---- */

/* A uniform one of the shortest, in two passes that vectorise. */
static uint32_t least_of(const uint32_t *length, uint32_t servers, struct bal_rng *rng) {
    uint32_t least = UINT32_MAX, ties = 0;
    for (uint32_t server = 0; server < servers; server++)
        least = length[server] < least ? length[server] : least;
    for (uint32_t server = 0; server < servers; server++)
        ties += length[server] == least;
    uint32_t skip = ties > 1 ? bal_rng_below(rng, ties) : 0;
    uint32_t server = 0;
    while (length[server] != least || skip-- > 0)
        server++;
    return server;
}

static uint32_t find_shortest(struct bal_fleet *fleet, struct bal_rng *rng) {
    return least_of(fleet->length, fleet->servers, rng);
}

static uint32_t find_fewest_own(struct bal_fleet *fleet, struct bal_rng *rng) {
    return least_of(fleet->own, fleet->servers, rng);
}

/* Expected slots until a server has finished its jobs; future capacities are unknown. */
static double expected_work(struct bal_fleet *fleet, uint32_t server) {
    const struct slotted *s = fleet->host;
    return s->jobs[server] / s->speed[server];
}

/* ---- setting up ---- */

static void set_up_servers(struct slotted *s) {
    const struct bli_servers *servers = &s->model->servers;
    uint32_t server = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++, server++) {
            s->capacity[server] = (uint32_t)servers->group[g].speed; /* drawn in each slot where there is a
                                                                        distribution */
            if (s->speed)
                s->speed[server] = servers->group[g].speed;
        }
}

/* One that is alone has sent all jobs that are there. */
static enum bal_code set_up_dispatcher(struct slotted *s, uint32_t index,
                                       const struct bal_policy_context *setting) {
    struct slotted_dispatcher *d = &s->dispatcher[index];
    const bool many = s->dispatchers > 1;
    d->job = (struct bal_job){.split = s->model->split};
    d->state = malloc(bal_policy_size(s->spec, setting) + 1);
    d->own = many ? calloc(s->servers, sizeof *d->own) : NULL;
    d->fleet =
        (struct bal_fleet){.servers = s->servers,
                           .length = s->jobs,
                           .shares = d->job.split ? malloc(s->servers * sizeof *d->fleet.shares) : NULL,
                           .shortest = s->run->reference ? NULL : find_shortest,
                           .fewest_own = s->run->reference ? NULL : find_fewest_own,
                           .own = many ? d->own : s->jobs,
                           .work = s->speed ? expected_work : NULL,
                           .host = s};
    if (!d->state || (many && !d->own) || (d->job.split && !d->fleet.shares))
        return BAL_E_MEMORY;
    bal_policy_init(s->spec, setting, d->state);
    bal_rng_init(&d->rng, s->run->seed, s->run->replication, BAL_STREAM_POLICY + ((uint64_t)index << 32));
    return BAL_OK;
}

static enum bal_code set_up_dispatchers(struct slotted *s, const struct bal_policy_spec *spec) {
    const struct bal_policy_context setting = {s->servers, s->model->load};
    s->spec = spec;
    s->policy = spec->policy;
    s->reporting = spec->policy->wants & BAL_WANTS_IDLE;
    s->dispatchers = s->model->network.dispatchers.count > 1 ? s->model->network.dispatchers.count : 1;
    s->dispatcher = calloc(s->dispatchers, sizeof *s->dispatcher);
    s->sender = malloc(s->servers * sizeof *s->sender);
    enum bal_code code = s->dispatcher && s->sender ? BAL_OK : BAL_E_MEMORY;
    for (uint32_t d = 0; d < s->dispatchers && !code; d++)
        code = set_up_dispatcher(s, d, &setting);
    return code;
}

/* Which servers start idle is known, to one dispatcher of each: those reports cost nothing. */
static void send_initial_reports(struct slotted *s) {
    for (uint32_t server = 0; server < s->servers; server++) {
        if (s->jobs[server] > 0)
            continue;
        struct slotted_dispatcher *d =
            &s->dispatcher[s->dispatchers > 1 ? bal_rng_below(&s->network, s->dispatchers) : 0];
        bal_policy_report(s->spec, d->state, &d->fleet, BAL_REPORT_IDLE, server, NULL);
    }
}

/* Jobs that a server begins with. */
static uint32_t first_jobs(const struct slotted *s, uint32_t server) {
    const struct bli_start *start = &s->model->start;
    if (s->run->initial)
        return s->run->initial[server];
    return server < (uint32_t)lrint(start->busy * s->servers) ? bli_start_jobs(start) : 0;
}

static enum bal_code set_up(struct slotted *s, const struct bal_policy_spec *policy) {
    s->jobs = calloc(s->servers, sizeof *s->jobs);
    s->capacity = malloc(s->servers * sizeof *s->capacity);
    s->front = malloc(s->servers * sizeof *s->front);
    const bool needs_work = policy->policy->flags & BAL_NEEDS_WORK;
    s->speed = needs_work ? malloc(s->servers * sizeof *s->speed) : NULL;
    if (!s->jobs || !s->capacity || !s->front || (needs_work && !s->speed) || set_up_dispatchers(s, policy) ||
        bli_queues_init(&s->runs, s->servers, s->dispatchers > 1 ? 2 : 1))
        return BAL_E_MEMORY;
    set_up_servers(s);
    bal_rng_init(&s->arrivals, s->run->seed, s->run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&s->service, s->run->seed, s->run->replication, BAL_STREAM_SERVICE);
    bal_rng_init(&s->network, s->run->seed, s->run->replication, BAL_STREAM_NETWORK);
    enum bal_code code = BAL_OK;
    for (uint32_t server = 0; server < s->servers && !code; server++)
        if (first_jobs(s, server) > 0) { /* arrived in slot 0 */
            code = enqueue_jobs(s, server, first_jobs(s, server),
                                bli_dispatchers_draw(&s->model->network.dispatchers, &s->network),
                                s->dispatchers > 1);
            s->preloaded++;
        }
    send_initial_reports(s);
    return code ? code : bli_tally_init_slotted(&s->tally, s->run); /* counts from here on */
}

static void tear_down(struct slotted *s) {
    bli_tally_fini(&s->tally);
    bli_queues_fini(&s->runs);
    for (uint32_t d = 0; s->dispatcher && d < s->dispatchers; d++) {
        free(s->dispatcher[d].fleet.shares);
        free(s->dispatcher[d].state);
        free(s->dispatcher[d].own);
    }
    free(s->dispatcher);
    free(s->sender);
    free(s->speed);
    free(s->front);
    free(s->capacity);
    free(s->jobs);
}

enum bal_code bli_engine_slotted(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_run *run, struct bli_trial *trial, struct bal_error *err) {
    struct slotted *s = calloc(1, sizeof *s);
    if (!s)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    s->model = model;
    s->run = run;
    s->servers = bli_servers_count(&model->servers);
    enum bal_code code = bli_model_batch(model, &s->batch, err);
    if (code)
        goto out;
    code = set_up(s, policy);
    if (!code)
        code = run_all(s);
    if (code && s->slot == 0)
        bal_fail(err, code, "not enough memory for %u servers", s->servers);
    else if (code)
        bal_fail(err, code, "no room for more: in slot %llu the queues of %u servers hold %llu jobs",
                 (unsigned long long)s->slot, s->servers, (unsigned long long)s->queue);
    else if (!tally_done(&s->tally))
        code = bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    else
        bli_tally_finish(&s->tally, s->servers, trial);
out:
    tear_down(s);
    free(s);
    return code;
}
