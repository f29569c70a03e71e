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
 * A queue holds runs (arrival slot, jobs), not jobs: a batch costs the same whatever its size, and completion
 * times are exact for every job. They are counted by value, and go to the histograms once a slice. */
#include "base/queues.h"
#include "engine/engine.h"
#include "engine/tally.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTED = 4096 }; /* completion times below this are counted by value */

/* Servers with this many jobs or more are one level. */
enum { TOP = LEVELS - 1 };

struct slotted {
    uint32_t servers;
    uint32_t *jobs;         /* Q_i, what the policy sees */
    uint32_t *capacity;     /* s_i of this slot */
    uint64_t *front;        /* the first run of each server that has jobs: slot << 32 | jobs */
    struct bal_queues runs; /* those behind it */
    uint64_t queue;         /* sum of the Q_i */

    const struct bal_model *model;
    struct bal_batch batch;
    struct bal_rng arrivals, service, decisions;

    const struct bal_policy *policy;
    void *state;
    struct bal_job job;
    struct bal_fleet fleet;
    bool reporting;
    double *speed; /* mean capacity of each server, for policies that ask for work */

    const struct bal_run *run;
    uint64_t slot;
    uint64_t sent; /* batches, or parts of them, that servers have received */

    /* of the current slice */
    uint64_t queue_sum;         /* over its slots, at the end of each */
    int64_t offset;             /* slots of it that are over */
    int64_t held[LEVELS];       /* slots x servers with exactly so many jobs, as in tally.h */
    uint64_t finished[COUNTED]; /* jobs by completion time */
    struct tally tally;
};

/* What follows would be our own mistake: tell which trial shows it. */
static _Noreturn void broken(const struct slotted *s, const char *what) {
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

static inline void finish(struct slotted *s, uint32_t completion, uint32_t count) {
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
    return bal_tally_close_slice(&s->tally, s->fleet.probes) ? BAL_OK : BAL_E_MEMORY;
}

/* ---- a slot ---- */

static inline enum bal_code join(struct slotted *s, uint32_t server, uint32_t count) {
    if (__builtin_expect(server >= s->servers, 0))
        broken(s, "the policy chose a server that does not exist");
    const uint32_t before = s->jobs[server];
    if (__builtin_expect(count > UINT32_MAX - before, 0))
        return BAL_E_MEMORY;
    const uint64_t run = s->slot << 32 | count;
    if (before == 0) {
        s->front[server] = run;
    } else {
        union bal_word *back = bal_queues_push(&s->runs, server, 1);
        if (__builtin_expect(!back, 0))
            return BAL_E_MEMORY;
        back->bits = run;
    }
    s->jobs[server] = before + count;
    s->queue += count;
    s->sent++;
    move_level(s, before, before + count);
    return BAL_OK;
}

static enum bal_code join_parts(struct slotted *s, uint32_t parts) {
    if (!s->job.split || parts > s->servers)
        broken(s, "the policy divided a batch in a way that it must not");
    uint64_t sum = 0;
    for (uint32_t i = 0; i < parts; i++) {
        const struct bal_share share = s->fleet.shares[i];
        const enum bal_code code = join(s, share.server, share.count);
        if (code)
            return code;
        sum += share.count;
    }
    if (sum != s->job.count)
        broken(s, "the parts of a batch do not add up to it");
    return BAL_OK;
}

static enum bal_code arrive(struct slotted *s) {
    s->job.count = bal_batch_sample(&s->batch, &s->arrivals);
    if (s->job.count == 0)
        return BAL_OK;
    const struct bal_decision to = s->policy->route(s->state, &s->fleet, &s->job, &s->decisions);
    return to.parts == 0 ? join(s, to.server, s->job.count) : join_parts(s, to.parts);
}

static void draw_capacities(struct slotted *s) {
    const struct bal_servers *servers = &s->model->servers;
    uint32_t *capacity = s->capacity;
    for (unsigned g = 0; g < servers->groups; g++) {
        const struct bal_group *group = &servers->group[g];
        if (group->capacity.kind != BAL_BATCH_NONE)
            bal_batch_sample_many(&group->capacity, &s->service, capacity, group->count);
        capacity += group->count;
    }
}

/* The first `count` jobs of a server leave. Slots are kept modulo 2^32, which is enough for differences. */
static inline void leave(struct slotted *s, uint32_t server, uint32_t count) {
    for (;;) {
        const uint64_t run = s->front[server];
        const uint32_t jobs = (uint32_t)run;
        const uint32_t completion = (uint32_t)s->slot - (uint32_t)(run >> 32) + 1;
        if (count < jobs) {
            s->front[server] = run - count;
            finish(s, completion, count);
            return;
        }
        finish(s, completion, jobs);
        count -= jobs;
        if (s->runs.length[server] == 0)
            return;
        s->front[server] = bal_queues_at(&s->runs, server, 1, 0)->bits;
        bal_queues_drop(&s->runs, server);
        if (count == 0)
            return;
    }
}

static void become_idle(struct slotted *s, uint32_t server) {
    if (!s->reporting)
        return;
    s->tally.totals.reports++;
    s->policy->report(s->state, &s->fleet, BAL_REPORT_IDLE, server, NULL);
}

/* Q_i(t) = max(0, Q_i(t-1) + a_i(t) - s_i(t)). No policy acts between these reports, so they may be sent on
 * the way. */
static void serve(struct slotted *s) {
    uint64_t served = 0;
    for (uint32_t server = 0; server < s->servers; server++) {
        const uint32_t before = s->jobs[server];
        if (before == 0)
            continue;
        const uint32_t count = before < s->capacity[server] ? before : s->capacity[server];
        const uint32_t after = before - count;
        s->jobs[server] = after;
        served += count;
        leave(s, server, count);
        if (after < TOP)
            move_level(s, before, after);
        if (after == 0)
            become_idle(s, server);
    }
    s->queue -= served;
}

static enum bal_code run_slice(struct slotted *s) {
    const uint64_t end = (uint64_t)s->tally.slice_end;
    while (s->slot < end) {
        s->slot++;
        const enum bal_code code = arrive(s);
        if (code)
            return code;
        draw_capacities(s);
        serve(s);
        s->offset++;
        s->queue_sum += s->queue;
        /* Proposition 3.1: a server that reports has finished what it was sent, so there are no more reports
         * than batches, or parts of them. */
        if (__builtin_expect(s->tally.totals.reports > s->sent, 0))
            broken(s, "servers have sent more reports than they have received batches");
    }
    return close_slice(s);
}

static enum bal_code run_all(struct slotted *s) {
    while (!tally_done(&s->tally)) {
        const enum bal_code code = run_slice(s);
        if (code)
            return code;
        if (s->run->stop && *s->run->stop)
            break;
    }
    return BAL_OK;
}

/* ---- what the policy may ask ---- */

/* A uniform one of the shortest, in two passes that vectorise. */
static uint32_t shortest(struct bal_fleet *fleet, struct bal_rng *rng) {
    const uint32_t *length = fleet->length;
    uint32_t least = UINT32_MAX, ties = 0;
    for (uint32_t server = 0; server < fleet->servers; server++)
        least = length[server] < least ? length[server] : least;
    for (uint32_t server = 0; server < fleet->servers; server++)
        ties += length[server] == least;
    uint32_t skip = ties > 1 ? bal_rng_below(rng, ties) : 0;
    uint32_t server = 0;
    while (length[server] != least || skip-- > 0)
        server++;
    return server;
}

/* Expected slots until a server has finished what it has; nobody knows the capacities to come. */
static double work(struct bal_fleet *fleet, uint32_t server) {
    const struct slotted *s = fleet->host;
    return s->jobs[server] / s->speed[server];
}

/* ---- setting up ---- */

static void set_up_servers(struct slotted *s) {
    const struct bal_servers *servers = &s->model->servers;
    uint32_t server = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++, server++) {
            s->capacity[server] = (uint32_t)servers->group[g].speed; /* drawn anew where there is a law */
            if (s->speed)
                s->speed[server] = servers->group[g].speed;
        }
}

static enum bal_code set_up_policy(struct slotted *s, const struct bal_policy_spec *spec) {
    const struct bal_setting setting = {s->servers, s->model->load};
    s->policy = spec->policy;
    s->reporting = spec->policy->wants & BAL_WANTS_IDLE;
    s->job = (struct bal_job){.split = s->model->split};
    s->state = malloc(bal_policy_size(spec, &setting) + 1);
    s->fleet =
        (struct bal_fleet){.servers = s->servers,
                           .length = s->jobs,
                           .shares = s->job.split ? malloc(s->servers * sizeof *s->fleet.shares) : NULL,
                           .shortest = s->run->plain ? NULL : shortest,
                           .fewest_own = s->run->plain ? NULL : shortest,
                           .own = s->jobs, /* the only dispatcher has sent all */
                           .work = s->speed ? work : NULL,
                           .host = s};
    if (!s->state || (s->job.split && !s->fleet.shares))
        return BAL_E_MEMORY;
    bal_policy_init(spec, &setting, s->state);
    /* The dispatcher knows which servers start idle: those reports cost nothing. */
    for (uint32_t server = 0; server < s->servers; server++)
        if (s->jobs[server] == 0)
            bal_policy_report(spec, s->state, &s->fleet, BAL_REPORT_IDLE, server, NULL);
    return BAL_OK;
}

static enum bal_code set_up(struct slotted *s, const struct bal_policy_spec *policy) {
    s->jobs = calloc(s->servers, sizeof *s->jobs);
    s->capacity = malloc(s->servers * sizeof *s->capacity);
    s->front = malloc(s->servers * sizeof *s->front);
    const bool needs_work = policy->policy->flags & BAL_NEEDS_WORK;
    s->speed = needs_work ? malloc(s->servers * sizeof *s->speed) : NULL;
    if (!s->jobs || !s->capacity || !s->front || (needs_work && !s->speed) ||
        bal_queues_init(&s->runs, s->servers, 1))
        return BAL_E_MEMORY;
    set_up_servers(s);
    bal_rng_init(&s->arrivals, s->run->seed, s->run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&s->service, s->run->seed, s->run->replication, BAL_STREAM_SERVICE);
    bal_rng_init(&s->decisions, s->run->seed, s->run->replication, BAL_STREAM_POLICY);
    const uint32_t *initial = s->run->initial; /* arrived in slot 0 */
    enum bal_code code = BAL_OK;
    for (uint32_t server = 0; initial && server < s->servers && !code; server++)
        code = initial[server] > 0 ? join(s, server, initial[server]) : BAL_OK;
    if (!code)
        code = set_up_policy(s, policy);
    return code ? code : bal_tally_init_slotted(&s->tally, s->run);
}

static void tear_down(struct slotted *s) {
    bal_tally_fini(&s->tally);
    bal_queues_fini(&s->runs);
    free(s->fleet.shares);
    free(s->state);
    free(s->speed);
    free(s->front);
    free(s->capacity);
    free(s->jobs);
}

enum bal_code bal_engine_slotted(const struct bal_model *model, const struct bal_policy_spec *policy,
                                 const struct bal_run *run, struct bal_trial *trial, struct bal_error *err) {
    struct slotted *s = calloc(1, sizeof *s);
    if (!s)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    s->model = model;
    s->run = run;
    s->servers = bal_servers_count(&model->servers);
    enum bal_code code = bal_model_batch(model, &s->batch, err);
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
        bal_tally_finish(&s->tally, s->servers, trial);
out:
    tear_down(s);
    free(s);
    return code;
}
