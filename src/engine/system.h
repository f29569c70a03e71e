/* The servers, their queues and the dispatcher, as the continuous-time engines share them.
 *
 * An engine decides when something happens; what then happens is here. The functions are inline and take
 * `features` as a constant where the loop is specialised, so that what a model does not need costs nothing.
 *
 * A queued item is `words` words: first its arrival time, then what the engine adds, and last, where there
 * are classes, its tag. Where time is counted in events it is a stamp: the number of the event at which it
 * came, and below that its tag. */
#ifndef ENGINE_SYSTEM_H
#define ENGINE_SYSTEM_H

#include "ballast/set.h"
#include "base/by_length.h"
#include "base/folded.h"
#include "base/pace.h"
#include "engine/history.h"
#include "engine/queues.h"
#include "engine/tally.h"
#include "engine/weights.h"

#include <string.h>

enum {
    INDEXED = 1,          /* servers are kept sorted by length */
    REPORTING = 2,        /* servers report when they become idle */
    RATED = 4,            /* idle servers report at a rate */
    MIXED = 8,            /* servers of different speeds */
    TASKS = 16,           /* jobs of several tasks */
    RANKED = 32,          /* there are classes */
    LANED = 64,           /* servers keep a queue for each class and prefer the high one */
    HOLDING = 128,        /* ... but never interrupt a job */
    POWERED = 256,        /* servers switch themselves off and are woken */
    BOUNDED = 512,        /* buffers are finite */
    VARYING = 1024,       /* the arrival rate varies over time */
    OBSERVED = 1 << 15,   /* the policy is told of responses */
    LOADED = 1 << 19,     /* servers report their load after completions */
    TIMED = 1 << 20,      /* the policy looks at the time */
    ASKING = 1 << 21,     /* it asks servers and does not wait */
    WEIGHED = 1 << 22,    /* servers are kept by own count and weight */
    PATIENT = 1 << 24,    /* the event engine's: jobs give up waiting; always MANY, also with one slot */
    UNRELIABLE = 1 << 25, /* the event engine's: servers fail and are repaired; always MANY */
    SHARED = 1 << 23,     /* the event engine's: servers work on all their jobs at once */
    COUNTED = 1 << 26,    /* the markov engine's: time is the number of events so far */
    /* The event engine's alone: */
    MANY = 2048,          /* servers work on several jobs at once */
    STEALING = 4096,      /* servers that run out of work steal */
    RECORDED = 8192,      /* jobs come from a trace */
    HISTORIED = 16384,    /* a history is kept */
    BURSTY = 65536,       /* arrivals are no Poisson process */
    KINDED = 131072,      /* the history tells kinds of jobs apart */
    FAILING = 262144,     /* servers fail */
    FARSIGHTED = 1 << 27, /* what events will look at is fetched ahead: far too many servers for the cache */
    UNUSUAL = MANY | STEALING | RECORDED | HISTORIED | OBSERVED | BURSTY | KINDED | FAILING | LOADED | TIMED |
              ASKING | WEIGHED | SHARED | PATIENT | UNRELIABLE
};

/* Features that want times of their own, so that events cannot be counted in their place. */
#define TIMELY ((unsigned)(RATED | POWERED | VARYING | (UNUSUAL & ~(LOADED | WEIGHED))))

/* As features for the choice of a loop: the one that looks at them as it goes. */
#define UNSPECIALISED (~0u)

/* The tag of an item: its rank, whether its service has begun, from a bit on its kind, and from another its
 * number among those that may give up. */
enum { TAG_RANK = 1, TAG_STARTED = 2, TAG_KIND = 8, TAG_WAITER = 32 };
enum {
    STAMP_TAG = TAG_RANK | TAG_STARTED,
    STAMP_EVENT = 2
}; /* the tag of a stamp; its event from that bit on */

/* Runs of fewer events have their times drawn, which takes less than working out what they were likely to be;
 * runs of more have events that no stamp can hold. */
enum { COUNTED_LEAST = 1 << 20, COUNTED_MOST = 1 << (32 - STAMP_EVENT) };

/* Where a policy says how many servers it draws for a job they are drawn for many jobs in one go, half a
 * circle, so that the draws overlap. On large fleets the queues that it will look at are fetched some jobs
 * ahead, in bursts (markov.c says why). */
enum { DRAWN_JOBS = 64, DRAWN_BURST = 8, DRAWS_MOST = 8 };

/* Bytes of queues that the cache of a core holds, as such caches are today: where there are no more, fetching
 * them ahead takes longer than it spares. */
enum { LARGE_FLEET = 1 << 19 };

enum { RANKS = 64 };

struct system {
    uint32_t servers;
    unsigned features;
    const struct bal_policy *policy;
    void *state;
    struct bal_rng rng;  /* the policy's */
    uint32_t draws;      /* of servers that are made ahead for each job; 0: the policy draws itself */
    uint32_t job_drawn;  /* of the jobs in the circle, the next one */
    uint32_t drawn_step; /* bal_system_draw comes before each so many of them, a power of 2 */
    uint32_t drawn[DRAWN_JOBS * DRAWS_MOST];
    bool large;         /* the queues do not fit into the cache: they are fetched in time */
    const char *beside; /* what the engine keeps for each server, fetched with its queue; NULL: nothing */
    size_t beside_size;
    struct bal_job job;
    uint64_t kind_tag; /* KINDED: of the job that arrives */
    struct bal_fleet fleet;
    struct bal_queues queues; /* one for each server; two where LANED: the high jobs of server s are in 2 s.
                               * Where MANY only those that wait; the others have a slot. */
    uint32_t *length;         /* jobs at each server */
    uint32_t *urgent;         /* of these, high ones (RANKED) */
    uint8_t *serving;         /* rank in service (HOLDING, but not MANY) */
    /* MANY: slot i of server s is s slots + i. As many jobs as there are, up to the number of slots, are in
     * service. */
    uint32_t slots;
    union bal_word *in_slot; /* the job in each slot */
    uint32_t *vacant;        /* for each server: its free slots, first in its row of `slots` places */
    struct bal_by_length by_length;
    struct weights weights;
    struct ranking ranking; /* WEIGHED */
    struct bal_set *idle;   /* RATED */
    double report_rate;     /* of each idle server */
    double report_left;     /* what is left of the exponential after which one of them reports */
    struct bal_rng report_rng, class_rng;
    double high;         /* share of the high class */
    uint8_t rank[RANKS]; /* of coming jobs, and the next of them: drawn ahead, so that the draws overlap */
    unsigned rank_drawn;
    uint32_t buffer;
    struct bal_start start;
    /* POWERED: servers that stand by and those in set-up; with rates these clocks have no memory, so that one
     * draw serves all of them. The event engine, where the laws may be any, keeps timers of its own and
     * leaves the rates 0. */
    struct bal_set *standby, *setup;
    double standby_rate, setup_rate;
    double power_left;              /* as report_left; for the engine to begin with */
    uint32_t began_on, began_setup; /* servers that stood by and that were in set-up at the start */
    bool chatty;                    /* servers repeat themselves: their reports have no bound by jobs */
    struct bal_rng power_rng;
    void (*power_timer)(struct system *system, uint32_t server, double now, unsigned state); /* NULL: the
                                                                                                rates hold */
    const struct bal_curve *curve;
    double per_most; /* 1 / its largest value */
    struct bal_rng thinning_rng;
    struct tally tally;
    struct history history;
    double next_stop; /* when the loop must call bal_system_advance: the end of a slice or of a span of the
                       * history, or a time of the path */
    size_t sampled;   /* times of the path that have passed */
    const struct bal_run *run;
    double now;
    double per_unit;   /* 1 / a mean service time, the unit of the policy's times */
    double load_share; /* LOADED: of the completions after which a server reports its load */
    struct pace *pace; /* ASKING */
    uint32_t ask[64];  /* whom the policy wants asked */
};

/* words: size of a queued item without the tag. rate: at which events come, if nothing else decides when;
 * time may then be counted in them (COUNTED). The system must stay where it is: the policy's view of it
 * points inside. */
enum bal_code bal_system_init(struct system *system, const struct bal_model *model,
                              const struct bal_policy_spec *policy, const struct bal_run *run, uint32_t words,
                              double rate, struct bal_error *err);
void bal_system_fini(struct system *system);

/* Jobs that a server begins with. */
uint32_t bal_system_first_jobs(const struct system *system, uint32_t server);

/* Puts the jobs there that the run begins with, one by one with the engine's own function. */
enum bal_code bal_system_begin(struct system *system,
                               enum bal_code (*join)(struct system *system, uint32_t server));

/* Time has reached `now`, past next_stop, and what happens then has not happened yet: notes the path and
 * closes as many slices as that takes. BAL_OK: go on; otherwise the run is over: tally_done() tells whether
 * it is complete. */
enum bal_code bal_system_advance(struct system *system, double now);

/* The last recorded job has left, and `now` is not before the end of the run: closes what is open. */
enum bal_code bal_system_drained(struct system *system, double now);

/* Notes the present state for all times of the path and spans of the history up to now. Events that happen
 * inside a step of the loop call it first, so that the path shows what was there before them. */
void bal_system_sample(struct system *system, double now);

/* Before the next drawn_step jobs: draws and fetches what lies ahead of them. */
void bal_system_draw(struct system *system);

/* Draws the ranks of the next RANKS jobs. */
void bal_system_draw_ranks(struct system *system);

/* What the loop's answer means: fills in *trial if the run is complete, else tells why not, but for codes
 * besides BAL_E_MEMORY and BAL_E_STOPPED, where *err is set already. */
enum bal_code bal_system_end(struct system *system, enum bal_code code, struct bal_trial *trial,
                             struct bal_error *err);

/* Stops with a message that names the trial: what follows would be our own mistake. */
_Noreturn void bal_system_broken(const struct system *system, const char *what);

FOLDED uint32_t item_words(uint32_t words, unsigned features) {
    return features & COUNTED ? BAL_STAMP : words + (features & (RANKED | KINDED | PATIENT) ? 1 : 0);
}

FOLDED uint64_t *item_tag(union bal_word *item, uint32_t words) {
    return &item[words - 1].bits;
}

FOLDED uint32_t *item_stamp(union bal_word *item) {
    return (uint32_t *)(void *)item;
}

/* Its rank, and whether its service has begun. */
FOLDED uint32_t item_flags(union bal_word *item, uint32_t words) {
    return words == BAL_STAMP ? *item_stamp(item) & STAMP_TAG : (uint32_t)*item_tag(item, words);
}

FOLDED void item_start(union bal_word *item, uint32_t words, bool real) {
    if (words == BAL_STAMP)
        *item_stamp(item) |= (uint32_t)real * TAG_STARTED;
    else
        *item_tag(item, words) |= (uint64_t)real * TAG_STARTED;
}

/* How long it has been there. */
FOLDED double item_age(union bal_word *item, uint32_t words, double now) {
    if (words == BAL_STAMP)
        return (double)(int32_t)((uint32_t)(int32_t)now - (*item_stamp(item) >> STAMP_EVENT));
    return now - item[0].real;
}

/* ---- queues ---- */

FOLDED uint32_t lane_of(uint32_t server, uint32_t rank, unsigned features) {
    return features & LANED ? 2 * server + rank : server;
}

/* The queue whose front is in service at a server that has jobs. */
FOLDED uint32_t lane_in_service(const struct system *system, uint32_t server, unsigned features) {
    if (!(features & LANED))
        return server;
    if (features & HOLDING)
        return 2 * server + system->serving[server];
    return 2 * server + (system->queues.length[2 * server] == 0);
}

/* ---- power ---- */

FOLDED void system_stand_by(struct system *system, double now, uint32_t server) {
    bal_set_insert(system->standby, server);
    tally_power_up(&system->tally, now, POWER_STANDBY);
    if (system->power_timer)
        system->power_timer(system, server, now, POWER_STANDBY);
}

FOLDED void system_leave_standby(struct system *system, double now, uint32_t server) {
    if (!bal_set_remove(system->standby, server)) {
        system->now = now;
        bal_system_broken(system, "the policy sent a job to a server that is off");
    }
    tally_power_down(&system->tally, now, POWER_STANDBY);
    if (system->power_timer)
        system->power_timer(system, server, now, POWER_STATES);
}

/* The dispatcher starts a server that is off. To one that is starting already it says nothing new. */
FOLDED void system_wake(struct system *system, double now, uint32_t server) {
    if (server < system->servers && bal_set_contains(system->setup, server))
        return;
    if (server >= system->servers || system->length[server] > 0 ||
        bal_set_contains(system->standby, server) || !bal_set_insert(system->setup, server)) {
        system->now = now;
        bal_system_broken(system, "the policy woke a server that is not off");
    }
    tally_power_change(&system->tally, now, POWER_OFF, POWER_SETUP);
    if (system->power_timer)
        system->power_timer(system, server, now, POWER_SETUP);
}

FOLDED void system_switch_off(struct system *system, double now, uint32_t server) {
    bal_set_remove(system->standby, server);
    tally_power_change(&system->tally, now, POWER_STANDBY, POWER_OFF);
    system->tally.totals.reports++;
    system->policy->report(system->state, &system->fleet, BAL_REPORT_OFF, server, NULL);
}

FOLDED void system_end_setup(struct system *system, double now, uint32_t server) {
    bal_set_remove(system->setup, server);
    tally_power_down(&system->tally, now, POWER_SETUP);
    system_stand_by(system, now, server);
    system->tally.totals.reports++;
    system->policy->report(system->state, &system->fleet, BAL_REPORT_ON, server, NULL);
}

/* The most jobs with which a server has a free slot, and so is idle in the eyes of the dispatcher: with one
 * slot none. */
FOLDED uint32_t system_room(const struct system *system, unsigned features) {
    return features & MANY ? system->slots - 1 : 0;
}

/* The jobs at each server. With one queue a server they are that queue's length, and said so the compiler
 * keeps in a register what it has just written there. */
FOLDED uint32_t *system_lengths(const struct system *system, unsigned features) {
    return features & (LANED | MANY) ? system->length : system->queues.length;
}

/* A server has one job more / less. */
FOLDED bool system_count_up(struct system *system, double now, uint32_t server, uint32_t rank,
                            unsigned features) {
    uint32_t *const length = system_lengths(system, features);
    const uint32_t before = features & (LANED | MANY) ? length[server]++ : length[server] - 1;
    if (features & RANKED)
        tally_class_up(&system->tally, now, rank, system->urgent[server] += rank == 0);
    if (features & INDEXED && !bal_by_length_up(&system->by_length, server, before))
        return false;
    if (features & WEIGHED)
        bal_ranking_change(&system->ranking, &system->fleet, server);
    if (features & RATED && before == system_room(system, features))
        bal_set_remove(system->idle, server);
    if (features & POWERED && before == 0)
        system_leave_standby(system, now, server);
    tally_up(&system->tally, now, before + 1);
    return true;
}

FOLDED uint32_t system_count_down(struct system *system, double now, uint32_t server, uint32_t rank,
                                  unsigned features) {
    uint32_t *const length = system_lengths(system, features);
    const uint32_t left = features & (LANED | MANY) ? --length[server] : length[server];
    if (features & RANKED) {
        tally_class_down(&system->tally, now, rank, system->urgent[server]);
        system->urgent[server] -= rank == 0;
    }
    tally_down(&system->tally, now, left + 1);
    if (features & INDEXED)
        bal_by_length_down(&system->by_length, server, left + 1);
    if (features & WEIGHED)
        bal_ranking_change(&system->ranking, &system->fleet, server);
    if (features & RATED && left == system_room(system, features))
        bal_set_insert(system->idle, server);
    if (features & POWERED && left == 0)
        system_stand_by(system, now, server);
    if (features & REPORTING && left <= system_room(system, features)) {
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_IDLE, server, NULL);
    }
    return left;
}

/* Room for a job at the back of a server's queue; NULL when there is no memory. */
FOLDED union bal_word *system_push(struct system *system, double now, uint32_t server, uint32_t rank,
                                   uint32_t words, unsigned features) {
    union bal_word *item = bal_queues_push(&system->queues, lane_of(server, rank, features), words);
    if (__builtin_expect(!item, 0) || !system_count_up(system, now, server, rank, features))
        return NULL;
    if (features & (RANKED | KINDED | PATIENT) && !(features & COUNTED))
        *item_tag(item, words) = rank | system->kind_tag;
    return item;
}

/* The service of a job begins, or goes on. When `real` is false nothing happens, but without a branch, which
 * could not be predicted. */
FOLDED void system_serve(struct system *system, double now, union bal_word *item, uint32_t words, bool real) {
    const uint32_t flags = item_flags(item, words);
    const bool begins = real & !(flags & TAG_STARTED);
    item_start(item, words, real);
    struct channel *class_channel = &system->tally.by_class[flags & TAG_RANK];
    const double waiting = item_age(item, words, now);
    const bool waited = waiting > 0;
    tally_start(&system->tally, &system->tally.all, waiting, begins & waited);
    tally_start(&system->tally, class_channel, waiting, begins & waited);
    system->tally.all.immediate += begins & !waited;
    class_channel->immediate += begins & !waited;
}

/* The same of a job that has just come. */
FOLDED void system_serve_at_once(struct system *system, union bal_word *item, uint32_t words, bool real) {
    item_start(item, words, real);
    system->tally.all.immediate += real;
    system->tally.by_class[item_flags(item, words) & TAG_RANK].immediate += real;
}

/* ---- routing ---- */

FOLDED void system_check_server(struct system *system, double now, uint32_t server) {
    if (__builtin_expect(server >= system->servers, 0)) {
        system->now = now;
        bal_system_broken(system, "the policy chose a server that does not exist");
    }
}

FOLDED void system_draw_class(struct system *system, unsigned features) {
    if (!(features & RANKED) || features & RECORDED) /* a recorded job has its class */
        return;
    if (__builtin_expect(system->rank_drawn == RANKS, 0))
        bal_system_draw_ranks(system);
    system->job.rank = system->rank[system->rank_drawn++];
}

/* What a server says of itself. */
FOLDED struct bal_reply system_reply(const struct system *system, uint32_t server) {
    return (struct bal_reply){.length = system->length[server],
                              .urgent = system->urgent ? system->urgent[server] : 0,
                              .latency = pace_latency(&system->pace[server], system->length[server])};
}

/* The servers that the policy wants asked reply at once: they have the job already that it has just sent. */
FOLDED void system_answer(struct system *system) {
    struct bal_fleet *fleet = &system->fleet;
    for (uint32_t i = 0; i < fleet->asks; i++) {
        const struct bal_reply reply = system_reply(system, fleet->ask[i]);
        system->policy->report(system->state, fleet, BAL_REPORT_LOAD, fleet->ask[i], &reply);
    }
    fleet->asks = 0;
}

/* The servers that the policy draws for the next job, if they are drawn ahead. */
FOLDED const uint32_t *system_drawn(struct system *system) {
    if (!system->draws)
        return NULL;
    const uint32_t job = system->job_drawn;
    if ((job & (system->drawn_step - 1)) == 0)
        bal_system_draw(system);
    system->job_drawn = (job + 1) % DRAWN_JOBS;
    return system->drawn + job * system->draws;
}

/* Draws the class of the next job, unless it is recorded, and asks the policy where it goes. */
FOLDED struct bal_decision system_route(struct system *system, double now, unsigned features) {
    const uint64_t probes = system->fleet.probes;
    if (features & TIMED)
        system->fleet.now = now * system->per_unit;
    system_draw_class(system, features);
    system->fleet.drawn = system_drawn(system);
    const struct bal_decision decision =
        system->policy->route(system->state, &system->fleet, &system->job, &system->rng);
    if (features & POWERED && decision.wake != BAL_NONE)
        system_wake(system, now, decision.wake);
    if (!(features & (POWERED | UNRELIABLE)) || decision.server != BAL_NONE)
        system_check_server(system, now, decision.server);
    if (features & RANKED) {
        system->tally.by_class[system->job.rank].routed += system->job.count;
        system->tally.by_class[system->job.rank].probes += system->fleet.probes - probes;
    }
    return decision;
}

/* A job is complete. Returns its rank. */
FOLDED uint32_t system_measure(struct system *system, double now, union bal_word *item, uint32_t words,
                               unsigned features) {
    const double response = item_age(item, words, now);
    const uint32_t rank = features & RANKED ? item_flags(item, words) & TAG_RANK : 0;
    tally_complete(&system->tally, &system->tally.all, response);
    if (features & RANKED)
        tally_complete(&system->tally, &system->tally.by_class[rank], response);
    if (features & HISTORIED)
        history_complete(&system->history, &system->tally, item[0].real, response);
    if (features & KINDED)
        history_complete_kind(&system->history, &system->tally, (uint32_t)*item_tag(item, words) >> TAG_KIND,
                              response);
    return rank;
}

/* A job that was there for `age` has left a server with `left` jobs. What does that tell the policy, and what
 * does the server learn from it? */
FOLDED void system_after(struct system *system, double now, uint32_t server, double age, uint32_t left,
                         unsigned features) {
    const double response = age * system->per_unit;
    if (features & ASKING)
        pace_learn(&system->pace[server], response, left);
    if (features & OBSERVED) {
        system->fleet.now = now * system->per_unit;
        system->policy->response(system->state, &system->fleet, server, response, false);
    }
    if (features & LOADED && (left <= system_room(system, features) ||
                              bal_rng_uniform(&system->report_rng) < system->load_share)) {
        const struct bal_reply load = {left, system->urgent ? system->urgent[server] : 0, NAN};
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_LOAD, server, &load);
    }
}

/* The job in service at a server is complete: measures it and drops it. Returns how many jobs are left. */
FOLDED uint32_t system_complete(struct system *system, double now, uint32_t server, uint32_t words,
                                unsigned features) {
    const uint32_t lane = lane_in_service(system, server, features);
    union bal_word *item = bal_queues_front(&system->queues, lane, words);
    const double age = item_age(item, words, now);
    const uint32_t rank = system_measure(system, now, item, words, features);
    bal_queues_drop(&system->queues, lane, words);
    const uint32_t left = system_count_down(system, now, server, rank, features);
    if (features & (OBSERVED | ASKING | LOADED))
        system_after(system, now, server, age, left, features);
    return left;
}

/* The job that is next in service at a server, after a completion; its service begins. Where there are none
 * left, `real` is false, and nothing happens. */
FOLDED union bal_word *system_next(struct system *system, double now, uint32_t server, uint32_t words,
                                   unsigned features, bool real) {
    if (features & HOLDING)
        system->serving[server] = system->queues.length[2 * server] == 0;
    union bal_word *item =
        bal_queues_front(&system->queues, lane_in_service(system, server, features), words);
    if (features & RANKED)
        system_serve(system, now, item, words, real);
    else
        tally_start(&system->tally, &system->tally.all, item_age(item, words, now), real);
    return item;
}

/* Takes the last low job from one server to the back of another, which is now `*moved` there. Returns false
 * when there is no memory. A job that may not be interrupted stays: *moved is then NULL. */
FOLDED bool system_move(struct system *system, double now, uint32_t from, uint32_t to, uint32_t words,
                        unsigned features, union bal_word **moved) {
    *moved = NULL;
    system_check_server(system, now, to);
    const uint32_t lane = 2 * from + 1;
    const uint32_t low = system->queues.length[lane];
    if (low == 0) {
        system->now = now;
        bal_system_broken(system, "the policy moves a low job from a server that has none");
    }
    if (features & HOLDING && low == 1 && system->serving[from] == 1)
        return true;
    union bal_word copy[4];
    memcpy(copy, bal_queues_at(&system->queues, lane, words, low - 1), bal_item_bytes(words));
    bal_queues_drop_back(&system->queues, lane, words);
    system_count_down(system, now, from, 1, features);
    union bal_word *item = system_push(system, now, to, 1, words, features);
    if (!item)
        return false;
    memcpy(item, copy, bal_item_bytes(words));
    system->tally.totals.moves++;
    *moved = item;
    return true;
}

/* The parts of a job must add up to it and name servers that exist. */
FOLDED void system_check_parts(struct system *system, double now, uint32_t parts) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < parts && parts <= system->servers; i++) {
        system_check_server(system, now, system->fleet.shares[i].server);
        sum += system->fleet.shares[i].count;
    }
    if (__builtin_expect(sum != system->job.count, 0)) {
        system->now = now;
        bal_system_broken(system, "the parts of a job do not add up to it");
    }
}

/* Can the server take one more job? If not it is lost, or refused when there is no server. */
FOLDED bool system_admits(struct system *system, uint32_t server, unsigned features) {
    if (features & (POWERED | UNRELIABLE) && server == BAL_NONE) {
        system->tally.totals.refused++;
        return false;
    }
    if (features & BOUNDED && system->length[server] >= system->buffer) {
        system->tally.totals.lost++;
        return false;
    }
    return true;
}

/* A job has come: the policy says where it goes, and the engine's `join` puts its tasks there and `move` a
 * job that gives way. Both are constants wherever this is inlined. */
FOLDED enum bal_code system_dispatch(struct system *system, double now, unsigned features,
                                     enum bal_code (*join)(struct system *system, double now, uint32_t server,
                                                           unsigned features),
                                     enum bal_code (*move)(struct system *system, double now, uint32_t from,
                                                           uint32_t to, unsigned features)) {
    const struct bal_decision decision = system_route(system, now, features);
    enum bal_code code = BAL_OK;
    if (features & TASKS && decision.parts) {
        system_check_parts(system, now, decision.parts);
        for (uint32_t part = 0; part < decision.parts; part++)
            for (uint32_t i = 0; i < system->fleet.shares[part].count && !code; i++)
                code = join(system, now, system->fleet.shares[part].server, features);
        return code;
    }
    for (uint32_t i = 0; i < (features & TASKS ? system->job.count : 1) && !code; i++)
        code = join(system, now, decision.server, features);
    if (features & LANED && decision.move_to != BAL_NONE && !code)
        code = move(system, now, decision.server, decision.move_to, features);
    return code;
}

/* Where the arrival rate varies, arrivals are possible at its largest value, and real with this probability.
 */
FOLDED bool system_arrival_is_real(struct system *system, double now) {
    return bal_rng_uniform(&system->thinning_rng) < bal_curve_at(system->curve, now) * system->per_most;
}

/* What a server does by itself at `now`, between two steps of the loop, happens like those: not before what
 * stops there is closed, nor after the run is over. Returns what bal_system_advance says. */
FOLDED enum bal_code system_reach(struct system *system, double now) {
    return __builtin_expect(now >= system->next_stop, 0) ? bal_system_advance(system, now) : BAL_OK;
}

/* Something that happens at a rate happens when an exponential is spent: does that last from one time to
 * another? */
FOLDED bool lasts(double *left, double rate, double from, double to) {
    const double spent = (to - from) * rate;
    const bool enough = *left > spent;
    if (enough)
        *left -= spent;
    return enough;
}

/* Servers switch off and finish their set-up between two times, at rates without memory. */
FOLDED enum bal_code system_power(struct system *system, double from, double to) {
    for (;;) {
        const double standby = system->standby_rate * system->standby->count;
        const double total = standby + system->setup_rate * system->setup->count;
        if (!(total > 0) || lasts(&system->power_left, total, from, to))
            return BAL_OK;
        from = fmin(from + system->power_left / total, to);
        system->power_left = bal_rng_exp(&system->power_rng);
        const enum bal_code code = system_reach(system, from);
        if (code)
            return code;
        if (bal_rng_uniform(&system->power_rng) * total < standby)
            system_switch_off(system, from, bal_set_uniform(system->standby, &system->power_rng));
        else
            system_end_setup(system, from, bal_set_uniform(system->setup, &system->power_rng));
    }
}

/* Idle servers report at their rate between two times. */
FOLDED enum bal_code system_report(struct system *system, double from, double to) {
    while (system->idle->count > 0) {
        const double rate = system->report_rate * system->idle->count;
        if (lasts(&system->report_left, rate, from, to))
            return BAL_OK;
        from = fmin(from + system->report_left / rate, to);
        system->report_left = bal_rng_exp(&system->report_rng);
        const enum bal_code code = system_reach(system, from);
        if (code)
            return code;
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_STILL_IDLE,
                               bal_set_uniform(system->idle, &system->report_rng), NULL);
    }
    return BAL_OK;
}

#endif
