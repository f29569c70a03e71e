/* SPDX-License-Identifier: BSD-2-Clause */
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
#include "base/inline.h"
#include "base/latency_ewma.h"
#include "base/length_index.h"
#include "engine/queues.h"
#include "engine/span_history.h"
#include "engine/tally.h"
#include "engine/weights.h"

#include <string.h>

enum {
    LENGTH_INDEX = 1,         /* servers are kept sorted by length */
    IDLE_REPORTS = 2,         /* servers report when they become idle */
    POISSON_IDLE_REPORTS = 4, /* idle servers report as a Poisson process */
    MIXED_SPEEDS = 8,         /* servers of different speeds */
    TASKS = 16,               /* jobs of several tasks */
    HAS_CLASSES = 32,         /* there are classes */
    CLASS_QUEUES = 64,        /* servers keep a queue for each class and prefer the high one */
    NONPREEMPTIVE = 128,      /* ... but never interrupt a job */
    POWER_SWITCHING = 256,    /* servers switch themselves off and are woken */
    FINITE_BUFFERS = 512,     /* buffers are finite */
    VARYING_RATE = 1024,      /* the arrival rate varies over time */
    RESPONSES_SEEN = 1 << 15, /* the policy receives responses */
    LOAD_REPORTS = 1 << 19,   /* servers report their load after completions */
    POLICY_CLOCK = 1 << 20,   /* the policy looks at the time */
    ASYNC_PROBES = 1 << 21,   /* it probes servers and does not wait */
    WEIGHT_INDEX = 1 << 22,   /* servers are kept by own count and weight */
    ABANDONMENT = 1 << 24, /* the event engine's: jobs give up waiting; always MULTISERVER, also with one slot
                            */
    REPAIRABLE = 1 << 25,  /* the event engine's: servers fail and are repaired; always MULTISERVER */
    PROCESSOR_SHARING = 1 << 23, /* event and network: jobs in service share what their server can do */
    COUNTED = 1 << 26,           /* the markov engine's: time is the number of events so far */
    /* The event engine's alone: */
    MULTISERVER = 2048,   /* servers work on several jobs at once */
    STEALING = 4096,      /* servers that run out of work steal */
    TRACE_JOBS = 8192,    /* jobs come from a trace */
    TIME_SERIES = 16384,  /* a history is kept */
    NON_POISSON = 65536,  /* arrivals are no Poisson process */
    JOB_GROUPS = 131072,  /* the history has kinds of jobs */
    FAIL_STOP = 262144,   /* servers fail */
    GRADED = 1 << 28,     /* there are more than two classes */
    LAST_FIRST = 1 << 29, /* servers are last come, first served */
    RARE = 1 << 30,     /* what few models have and is looked up as it goes: reports at the times of a renewal
                         * process (report_timer), a backlog (holds) */
    PREFETCH = 1 << 27, /* what events will look at is fetched ahead: far too many servers for the cache */
    SLOW_PATH = MULTISERVER | STEALING | TRACE_JOBS | TIME_SERIES | RESPONSES_SEEN | NON_POISSON |
                JOB_GROUPS | FAIL_STOP | LOAD_REPORTS | POLICY_CLOCK | ASYNC_PROBES | WEIGHT_INDEX |
                PROCESSOR_SHARING | ABANDONMENT | REPAIRABLE | GRADED | LAST_FIRST | RARE
};

/* Features that want times of their own, so that events cannot be counted in their place. */
#define NEEDS_CLOCK                                                                                          \
    ((unsigned)(POISSON_IDLE_REPORTS | POWER_SWITCHING | VARYING_RATE |                                      \
                (SLOW_PATH & ~(LOAD_REPORTS | WEIGHT_INDEX))))

/* As features for the choice of a loop: the one that looks at them as it goes. */
#define UNSPECIALISED (~0u)

/* The tag of an item: whether its service has begun, from a bit on its rank, from another its kind, and from
 * another its number among those that may give up. */
enum { TAG_STARTED = 1, TAG_RANK = 1, TAG_KIND = 8, TAG_WAITER = 32 };
enum { STAMP_TAG = 3, STAMP_EVENT = 2 }; /* the tag of a stamp, of two classes; its event from that bit on */

/* Runs of fewer events have their times drawn, which takes less than working out what they were likely to be;
 * runs of more have events that no stamp can hold. */
enum { COUNTED_MIN = 1 << 20, COUNTED_MAX = 1 << (32 - STAMP_EVENT) };

/* Where a policy declares how many servers it draws for a job, they are drawn for many jobs at once, half a
 * ring buffer, so that the draws overlap. On large fleets the queues that it will read are prefetched some
 * jobs ahead, in bursts (markov.c explains why). */
enum { DRAWN_JOBS = 64, DRAWN_BURST = 8, DRAWS_MAX = 8 };

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
    uint32_t drawn_step; /* bli_system_draw comes before each so many of them, a power of 2 */
    uint32_t drawn[DRAWN_JOBS * DRAWS_MAX];
    bool large;                /* the queues do not fit into the cache: they are fetched in time */
    const char *prefetch_base; /* what the engine keeps for each server, fetched with its queue; NULL: nothing
                                */
    size_t prefetch_size;
    struct bal_job job;
    uint64_t kind_tag; /* JOB_GROUPS: of the job that arrives */
    struct bal_fleet fleet;
    struct bli_queues queues; /* one for each server; where CLASS_QUEUES one for each class: of two the high
                               * jobs of server s are in 2 s. Where MULTISERVER only those that wait; the
                               * others have a slot. */
    uint32_t *length;         /* jobs at each server */
    uint32_t *urgent;         /* of these, high ones (HAS_CLASSES) */
    uint32_t classes;         /* of jobs */
    uint32_t *upto; /* of the jobs at server s those of rank r or more urgent, at s classes + r (GRADED) */
    struct bal_move move[BLI_JOB_CLASSES_MAX]; /* jobs that give way (GRADED) */
    uint8_t *serving;                          /* rank in service (NONPREEMPTIVE, but not MULTISERVER) */
    /* MULTISERVER: slot i of server s is s slots + i. As many jobs as there are, up to the number of slots,
     * are in service. */
    uint32_t slots;
    union bli_claim_word *in_slot; /* the job in each slot */
    uint32_t *vacant;              /* for each server: its free slots, first in its row of `slots` places */
    struct bli_length_index length_index;
    struct weights weights;
    struct ranking ranking; /* WEIGHT_INDEX */
    struct bal_set *idle;   /* POISSON_IDLE_REPORTS */
    double report_rate;     /* of each idle server */
    double report_left;     /* what is left of the exponential after which one of them reports */
    struct bal_rng report_rng, class_rng;
    double below[BLI_JOB_CLASSES_MAX]; /* shares of a class and all more urgent ones, but for the last class
                                        */
    uint8_t rank[RANKS]; /* of coming jobs, and the next of them: drawn ahead, so that the draws overlap */
    unsigned rank_drawn;
    uint32_t buffer;
    struct bli_start start;
    /* POWER_SWITCHING: servers that stand by and those in set-up; with rates these clocks have no memory, so
     * that one draw serves all of them. The event engine, where the distributions may be any, keeps timers of
     * its own and leaves the rates 0. */
    struct bal_set *standby, *setup;
    double standby_rate, setup_rate;
    double power_left;              /* as report_left; for the engine to begin with */
    uint32_t began_on, began_setup; /* servers that stood by and that were in set-up at the start */
    bool holds;                     /* jobs may wait at dispatchers */
    /* RARE: a server is idle from now on, or no longer; NULL: its reports need no timer */
    void (*report_timer)(struct system *system, uint32_t server, double now, bool idle);
    bool unbounded_reports; /* servers repeat themselves: their reports have no bound by jobs */
    struct bal_rng power_rng;
    void (*power_timer)(struct system *system, uint32_t server, double now, unsigned state); /* NULL: the
                                                                                                rates hold */
    const struct bli_curve *curve;
    double per_max; /* 1 / its largest value */
    struct bal_rng thinning_rng;
    struct tally tally;
    struct history history;
    double next_stop; /* when the loop must call bli_system_advance: the end of a slice or of a span of the
                       * history, or a time of the path */
    size_t sampled;   /* times of the path that have passed */
    const struct bli_run *run;
    double now;
    double per_unit;      /* 1 / a mean service time, the unit of the policy's times */
    double load_share;    /* LOAD_REPORTS: of the completions after which a server reports its load */
    uint32_t *unreported; /* where load_share is above 1: of each server, completions since */
    struct latency_ewma *latency_ewma; /* ASYNC_PROBES */
    uint32_t ask[64];                  /* the servers that the policy wants to probe */
};

/* words: size of a queued item without the tag. rate: at which events come, if nothing else decides when;
 * time may then be counted in them (COUNTED). The system must stay where it is: the policy's view of it
 * points inside. */
enum bal_code bli_system_init(struct system *system, const struct bli_model *model,
                              const struct bal_policy_spec *policy, const struct bli_run *run, uint32_t words,
                              double rate, struct bal_error *err);
void bli_system_fini(struct system *system);

/* Jobs that a server begins with. */
uint32_t bli_system_first_jobs(const struct system *system, uint32_t server);

/* Puts the jobs there that the run begins with, one by one with the engine's own function. */
enum bal_code bli_system_begin(struct system *system,
                               enum bal_code (*join)(struct system *system, uint32_t server));

/* Time has reached `now`, past next_stop, and what happens then has not happened yet: notes the path and
 * closes as many slices as that takes. BAL_OK: go on; otherwise the run is over: tally_done() returns whether
 * it is complete. */
enum bal_code bli_system_advance(struct system *system, double now);

/* The last recorded job has left, and `now` is not before the end of the run: closes what is open. */
enum bal_code bli_system_drained(struct system *system, double now);

/* Notes the present state for all times of the path and spans of the history up to now. Events that happen
 * inside a step of the loop call it first, so that the path shows what was there before them. */
void bli_system_sample(struct system *system, double now);

/* Before the next drawn_step jobs: draws and fetches what lies ahead of them. */
void bli_system_draw(struct system *system);

/* Draws the ranks of the next RANKS jobs. */
void bli_system_draw_ranks(struct system *system);

/* Handles the code that the loop returned: fills in *trial if the run is complete, otherwise sets *err, which
 * is set already for codes other than BAL_E_MEMORY and BAL_E_STOPPED. */
enum bal_code bli_system_end(struct system *system, enum bal_code code, struct bli_trial *trial,
                             struct bal_error *err);

/* An internal error: stops with a message that names the trial. */
_Noreturn void bli_system_internal_error(const struct system *system, const char *what);

ALWAYS_INLINE uint32_t item_words(uint32_t words, unsigned features) {
    return features & COUNTED ? BLI_STAMP
                              : words + (features & (HAS_CLASSES | JOB_GROUPS | ABANDONMENT) ? 1 : 0);
}

ALWAYS_INLINE uint64_t *item_tag(union bli_claim_word *item, uint32_t words) {
    return &item[words - 1].bits;
}

ALWAYS_INLINE uint32_t *item_stamp(union bli_claim_word *item) {
    return (uint32_t *)(void *)item;
}

ALWAYS_INLINE uint32_t tag_rank(uint64_t tag) {
    return (uint32_t)(tag >> TAG_RANK) & (BLI_JOB_CLASSES_MAX - 1);
}

/* Its rank, and whether its service has begun. */
ALWAYS_INLINE uint32_t item_flags(union bli_claim_word *item, uint32_t words) {
    return words == BLI_STAMP ? *item_stamp(item) & STAMP_TAG : (uint32_t)*item_tag(item, words);
}

ALWAYS_INLINE void item_start(union bli_claim_word *item, uint32_t words, bool real) {
    if (words == BLI_STAMP)
        *item_stamp(item) |= (uint32_t)real * TAG_STARTED;
    else
        *item_tag(item, words) |= (uint64_t)real * TAG_STARTED;
}

/* How long it has been there. */
ALWAYS_INLINE double item_age(union bli_claim_word *item, uint32_t words, double now) {
    if (words == BLI_STAMP)
        return (double)(int32_t)((uint32_t)(int32_t)now - (*item_stamp(item) >> STAMP_EVENT));
    return now - item[0].real;
}

/* ---- queues ---- */

ALWAYS_INLINE uint32_t system_lanes(const struct system *system, unsigned features) {
    return !(features & CLASS_QUEUES) ? 1 : features & GRADED ? system->classes : 2;
}

ALWAYS_INLINE uint32_t lane_of(const struct system *system, uint32_t server, uint32_t rank,
                               unsigned features) {
    return features & CLASS_QUEUES ? system_lanes(system, features) * server + rank : server;
}

/* The most urgent rank of which a server has jobs; the last one if it has none. */
ALWAYS_INLINE uint32_t first_rank(const struct system *system, uint32_t server, unsigned features) {
    const uint32_t *length = system->queues.length + lane_of(system, server, 0, features);
    if (!(features & GRADED))
        return length[0] == 0;
    uint32_t rank = 0;
    while (rank + 1 < system->classes && length[rank] == 0)
        rank++;
    return rank;
}

/* The queue whose front is in service at a server that has jobs. */
ALWAYS_INLINE uint32_t lane_in_service(const struct system *system, uint32_t server, unsigned features) {
    if (!(features & CLASS_QUEUES))
        return server;
    if (features & NONPREEMPTIVE)
        return lane_of(system, server, system->serving[server], features);
    return lane_of(system, server, first_rank(system, server, features), features);
}

/* ---- power ---- */

ALWAYS_INLINE void system_stand_by(struct system *system, double now, uint32_t server) {
    bal_set_insert(system->standby, server);
    tally_power_up(&system->tally, now, POWER_STANDBY);
    if (system->power_timer)
        system->power_timer(system, server, now, POWER_STANDBY);
}

ALWAYS_INLINE void system_leave_standby(struct system *system, double now, uint32_t server) {
    if (!bal_set_remove(system->standby, server)) {
        system->now = now;
        bli_system_internal_error(system, "the policy sent a job to a server that is off");
    }
    tally_power_down(&system->tally, now, POWER_STANDBY);
    if (system->power_timer)
        system->power_timer(system, server, now, POWER_STATES);
}

/* The dispatcher starts a server that is off. Has no effect on one that is already starting. */
ALWAYS_INLINE void system_wake(struct system *system, double now, uint32_t server) {
    if (server < system->servers && bal_set_contains(system->setup, server))
        return;
    if (server >= system->servers || system->length[server] > 0 ||
        bal_set_contains(system->standby, server) || !bal_set_insert(system->setup, server)) {
        system->now = now;
        bli_system_internal_error(system, "the policy woke a server that is not off");
    }
    tally_power_change(&system->tally, now, POWER_OFF, POWER_SETUP);
    if (system->power_timer)
        system->power_timer(system, server, now, POWER_SETUP);
}

ALWAYS_INLINE void system_switch_off(struct system *system, double now, uint32_t server) {
    bal_set_remove(system->standby, server);
    tally_power_change(&system->tally, now, POWER_STANDBY, POWER_OFF);
    system->tally.totals.reports++;
    system->policy->report(system->state, &system->fleet, BAL_REPORT_OFF, server, NULL);
}

/* The dispatcher has named a server whose set-up is aborted: it is off, and reports it. */
ALWAYS_INLINE void system_abort_setup(struct system *system, double now) {
    const uint32_t server = system->fleet.abort;
    system->fleet.aborts = false;
    if (server >= system->servers || !bal_set_remove(system->setup, server)) {
        system->now = now;
        bli_system_internal_error(system, "the policy aborted the set-up of a server that is in none");
    }
    tally_power_change(&system->tally, now, POWER_SETUP, POWER_OFF);
    if (system->power_timer)
        system->power_timer(system, server, now, POWER_STATES);
    system->tally.totals.reports++;
    system->policy->report(system->state, &system->fleet, BAL_REPORT_OFF, server, NULL);
}

ALWAYS_INLINE void system_end_setup(struct system *system, double now, uint32_t server) {
    bal_set_remove(system->setup, server);
    tally_power_down(&system->tally, now, POWER_SETUP);
    system_stand_by(system, now, server);
    system->tally.totals.reports++;
    system->policy->report(system->state, &system->fleet, BAL_REPORT_ON, server, NULL);
}

/* The most jobs with which a server has a free slot, and so is idle in the eyes of the dispatcher: with one
 * slot none. */
ALWAYS_INLINE uint32_t system_room(const struct system *system, unsigned features) {
    return features & MULTISERVER ? system->slots - 1 : 0;
}

/* The jobs at each server. With one queue per server they are the length of that queue; written this way, the
 * compiler keeps in a register what it has just written there. */
ALWAYS_INLINE uint32_t *system_lengths(const struct system *system, unsigned features) {
    return features & (CLASS_QUEUES | MULTISERVER) ? system->length : system->queues.length;
}

/* A server has one job more / less. */
ALWAYS_INLINE bool system_count_up(struct system *system, double now, uint32_t server, uint32_t rank,
                                   unsigned features) {
    uint32_t *const length = system_lengths(system, features);
    const uint32_t before = features & (CLASS_QUEUES | MULTISERVER) ? length[server]++ : length[server] - 1;
    if (features & HAS_CLASSES)
        tally_class_up(&system->tally, now, features & GRADED ? rank > 0 : rank,
                       system->urgent[server] += rank == 0);
    for (uint32_t r = rank; features & GRADED && r < system->classes; r++)
        system->upto[server * system->classes + r]++;
    if (features & LENGTH_INDEX && !bli_length_index_increment(&system->length_index, server, before))
        return false;
    if (features & WEIGHT_INDEX)
        bli_ranking_change(&system->ranking, &system->fleet, server);
    if (features & POISSON_IDLE_REPORTS && before == system_room(system, features))
        bal_set_remove(system->idle, server);
    if (features & RARE && system->report_timer && before == system_room(system, features))
        system->report_timer(system, server, now, false);
    if (features & POWER_SWITCHING && before == 0)
        system_leave_standby(system, now, server);
    tally_up(&system->tally, now, before + 1);
    return true;
}

ALWAYS_INLINE uint32_t system_count_down(struct system *system, double now, uint32_t server, uint32_t rank,
                                         unsigned features) {
    uint32_t *const length = system_lengths(system, features);
    const uint32_t left = features & (CLASS_QUEUES | MULTISERVER) ? --length[server] : length[server];
    if (features & HAS_CLASSES) {
        tally_class_down(&system->tally, now, features & GRADED ? rank > 0 : rank, system->urgent[server]);
        system->urgent[server] -= rank == 0;
    }
    for (uint32_t r = rank; features & GRADED && r < system->classes; r++)
        system->upto[server * system->classes + r]--;
    tally_down(&system->tally, now, left + 1);
    if (features & LENGTH_INDEX)
        bli_length_index_decrement(&system->length_index, server, left + 1);
    if (features & WEIGHT_INDEX)
        bli_ranking_change(&system->ranking, &system->fleet, server);
    if (features & POISSON_IDLE_REPORTS && left == system_room(system, features))
        bal_set_insert(system->idle, server);
    if (features & RARE && system->report_timer && left == system_room(system, features))
        system->report_timer(system, server, now, true);
    if (features & POWER_SWITCHING && left == 0)
        system_stand_by(system, now, server);
    if (features & IDLE_REPORTS && left <= system_room(system, features)) {
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_IDLE, server, NULL);
    }
    return left;
}

/* Adds a job at the back of a server's queue; NULL when there is no memory. */
ALWAYS_INLINE union bli_claim_word *system_push(struct system *system, double now, uint32_t server,
                                                uint32_t rank, uint32_t words, unsigned features) {
    union bli_claim_word *item =
        bli_queues_push(&system->queues, lane_of(system, server, rank, features), words);
    if (__builtin_expect(!item, 0) || !system_count_up(system, now, server, rank, features))
        return NULL;
    if (features & (HAS_CLASSES | JOB_GROUPS | ABANDONMENT) && !(features & COUNTED))
        *item_tag(item, words) = (uint64_t)rank << TAG_RANK | system->kind_tag;
    return item;
}

/* The service of a job begins, or goes on. When `real` is false nothing happens, but without a branch, which
 * could not be predicted. */
ALWAYS_INLINE void system_serve(struct system *system, double now, union bli_claim_word *item, uint32_t words,
                                bool real) {
    const uint32_t flags = item_flags(item, words);
    const bool begins = real & !(flags & TAG_STARTED);
    item_start(item, words, real);
    struct channel *class_channel = &system->tally.by_class[tag_rank(flags)];
    const double waiting = item_age(item, words, now);
    const bool waited = waiting > 0;
    tally_start(&system->tally, &system->tally.all, waiting, begins & waited);
    tally_start(&system->tally, class_channel, waiting, begins & waited);
    system->tally.all.immediate += begins & !waited;
    class_channel->immediate += begins & !waited;
}

/* The same of a job that has just come. */
ALWAYS_INLINE void system_serve_at_once(struct system *system, union bli_claim_word *item, uint32_t words,
                                        bool real) {
    item_start(item, words, real);
    system->tally.all.immediate += real;
    system->tally.by_class[tag_rank(item_flags(item, words))].immediate += real;
}

/* ---- routing ---- */

ALWAYS_INLINE void system_check_server(struct system *system, double now, uint32_t server) {
    if (__builtin_expect(server >= system->servers, 0)) {
        if (server == BAL_HOLD && system->holds)
            return;
        system->now = now;
        bli_system_internal_error(system, "the policy chose a server that does not exist");
    }
}

ALWAYS_INLINE void system_draw_class(struct system *system, unsigned features) {
    if (!(features & HAS_CLASSES) || features & TRACE_JOBS) /* a recorded job has its class */
        return;
    if (__builtin_expect(system->rank_drawn == RANKS, 0))
        bli_system_draw_ranks(system);
    system->job.rank = system->rank[system->rank_drawn++];
}

/* The load of a server, as it sends it. */
ALWAYS_INLINE struct bal_reply system_reply(const struct system *system, uint32_t server) {
    return (struct bal_reply){
        .length = system->length[server],
        .urgent = system->urgent ? system->urgent[server] : 0,
        .latency = latency_ewma_predict(&system->latency_ewma[server], system->length[server])};
}

/* The servers that the policy wants to probe reply at once; the job that it has just sent is counted
 * already. */
ALWAYS_INLINE void system_answer_probes(struct system *system) {
    struct bal_fleet *fleet = &system->fleet;
    for (uint32_t i = 0; i < fleet->asks; i++) {
        const struct bal_reply reply = system_reply(system, fleet->ask[i]);
        system->policy->report(system->state, fleet, BAL_REPORT_LOAD, fleet->ask[i], &reply);
    }
    fleet->asks = 0;
}

/* The servers that the policy draws for the next job, if they are drawn ahead. */
ALWAYS_INLINE const uint32_t *system_drawn(struct system *system) {
    if (!system->draws)
        return NULL;
    const uint32_t job = system->job_drawn;
    if ((job & (system->drawn_step - 1)) == 0)
        bli_system_draw(system);
    system->job_drawn = (job + 1) % DRAWN_JOBS;
    return system->drawn + job * system->draws;
}

/* Draws the class of the next job, unless it is recorded, and has the policy route it. */
ALWAYS_INLINE struct bal_decision system_route(struct system *system, double now, unsigned features) {
    const uint64_t probes = system->fleet.probes;
    if (features & POLICY_CLOCK)
        system->fleet.now = now * system->per_unit;
    system_draw_class(system, features);
    system->fleet.drawn = system_drawn(system);
    const struct bal_decision decision =
        system->policy->route(system->state, &system->fleet, &system->job, &system->rng);
    if (features & POWER_SWITCHING && decision.wake != BAL_NONE)
        system_wake(system, now, decision.wake);
    if (features & POWER_SWITCHING && system->fleet.aborts)
        system_abort_setup(system, now);
    if (!(features & (POWER_SWITCHING | REPAIRABLE)) || decision.server != BAL_NONE)
        system_check_server(system, now, decision.server);
    if (features & HAS_CLASSES) {
        system->tally.by_class[system->job.rank].routed += system->job.count;
        system->tally.by_class[system->job.rank].probes += system->fleet.probes - probes;
    }
    return decision;
}

/* A job is complete. Returns its rank. */
ALWAYS_INLINE uint32_t system_measure(struct system *system, double now, union bli_claim_word *item,
                                      uint32_t words, unsigned features) {
    const double response = item_age(item, words, now);
    const uint32_t rank = features & HAS_CLASSES ? tag_rank(item_flags(item, words)) : 0;
    tally_complete(&system->tally, &system->tally.all, response);
    if (features & HAS_CLASSES)
        tally_complete(&system->tally, &system->tally.by_class[rank], response);
    if (features & TIME_SERIES)
        history_complete(&system->history, &system->tally, item[0].real, response);
    if (features & JOB_GROUPS)
        history_complete_kind(&system->history, &system->tally, (uint32_t)*item_tag(item, words) >> TAG_KIND,
                              response);
    return rank;
}

/* After a completion: does the server report its load? free: it has a free slot. */
static inline bool system_load_is_due(struct system *system, uint32_t server, bool free) {
    if (__builtin_expect(!system->unreported, 1))
        return free || bal_rng_uniform(&system->report_rng) < system->load_share;
    if (++system->unreported[server] < system->load_share)
        return false;
    system->unreported[server] = 0;
    return true;
}

/* A job that was there for `age` has left a server with `left` jobs. Reports this to the policy, and updates
 * what the server keeps. */
ALWAYS_INLINE void system_after(struct system *system, double now, uint32_t server, double age, uint32_t left,
                                unsigned features) {
    const double response = age * system->per_unit;
    if (features & ASYNC_PROBES)
        latency_ewma_add(&system->latency_ewma[server], response, left);
    if (features & RESPONSES_SEEN) {
        system->fleet.now = now * system->per_unit;
        system->policy->response(system->state, &system->fleet, server, response, false);
    }
    if (features & LOAD_REPORTS &&
        system_load_is_due(system, server, left <= system_room(system, features))) {
        if (features & POLICY_CLOCK)
            system->fleet.now = now * system->per_unit;
        const struct bal_reply load = {left, system->urgent ? system->urgent[server] : 0, NAN};
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_LOAD, server, &load);
    }
}

/* The job in service at a server is complete: measures it and drops it. Returns how many jobs are left. */
ALWAYS_INLINE uint32_t system_complete(struct system *system, double now, uint32_t server, uint32_t words,
                                       unsigned features) {
    const uint32_t lane = lane_in_service(system, server, features);
    union bli_claim_word *item = bli_queues_front(&system->queues, lane, words);
    const double age = item_age(item, words, now);
    const uint32_t rank = system_measure(system, now, item, words, features);
    bli_queues_drop(&system->queues, lane, words);
    const uint32_t left = system_count_down(system, now, server, rank, features);
    if (features & (RESPONSES_SEEN | ASYNC_PROBES | LOAD_REPORTS))
        system_after(system, now, server, age, left, features);
    return left;
}

/* The job that is next in service at a server, after a completion; its service begins. Where there are none
 * left, `real` is false, and nothing happens. */
ALWAYS_INLINE union bli_claim_word *system_next(struct system *system, double now, uint32_t server,
                                                uint32_t words, unsigned features, bool real) {
    if (features & NONPREEMPTIVE)
        system->serving[server] = (uint8_t)first_rank(system, server, features);
    union bli_claim_word *item =
        bli_queues_front(&system->queues, lane_in_service(system, server, features), words);
    if (features & HAS_CLASSES)
        system_serve(system, now, item, words, real);
    else
        tally_start(&system->tally, &system->tally.all, item_age(item, words, now), real);
    return item;
}

/* Takes the last job of a rank from one server to the back of another, which is now `*moved` there. Returns
 * false when there is no memory. A job that may not be interrupted stays: *moved is then NULL. */
ALWAYS_INLINE bool system_move(struct system *system, double now, const struct bal_move *move, uint32_t words,
                               unsigned features, union bli_claim_word **moved) {
    *moved = NULL;
    const uint32_t from = move->from, to = move->to, rank = features & GRADED ? move->rank : 1;
    system_check_server(system, now, to);
    const uint32_t lane = lane_of(system, from, rank, features);
    const uint32_t low = system->queues.length[lane];
    if (low == 0) {
        system->now = now;
        bli_system_internal_error(system, "the policy moves a job from a server that has none of its class");
    }
    if (features & NONPREEMPTIVE && low == 1 && system->serving[from] == rank)
        return true;
    union bli_claim_word copy[4];
    memcpy(copy, bli_queues_at(&system->queues, lane, words, low - 1), bli_item_bytes(words));
    bli_queues_drop_back(&system->queues, lane, words);
    system_count_down(system, now, from, rank, features);
    union bli_claim_word *item = system_push(system, now, to, rank, words, features);
    if (!item)
        return false;
    memcpy(item, copy, bli_item_bytes(words));
    system->tally.totals.moves++;
    *moved = item;
    return true;
}

/* The parts of a job must add up to it and name servers that exist. */
ALWAYS_INLINE void system_check_parts(struct system *system, double now, uint32_t parts) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < parts && parts <= system->servers; i++) {
        system_check_server(system, now, system->fleet.shares[i].server);
        sum += system->fleet.shares[i].count;
    }
    if (__builtin_expect(sum != system->job.count, 0)) {
        system->now = now;
        bli_system_internal_error(system, "the parts of a job do not add up to it");
    }
}

/* Can the server take one more job? If not it is lost, or refused when there is no server. */
ALWAYS_INLINE bool system_admits(struct system *system, uint32_t server, unsigned features) {
    if (features & (POWER_SWITCHING | REPAIRABLE) && server == BAL_NONE) {
        system->tally.totals.refused++;
        if (features & HAS_CLASSES)
            system->tally.by_class[system->job.rank].refused++;
        return false;
    }
    if (features & FINITE_BUFFERS && system->length[server] >= system->buffer) {
        system->tally.totals.lost++;
        return false;
    }
    return true;
}

/* A job has arrived: the policy routes it, and the engine's `join` puts its tasks there and `move` a job that
 * gives way. Both are constants wherever this is inlined. */
ALWAYS_INLINE enum bal_code
system_dispatch(struct system *system, double now, unsigned features,
                enum bal_code (*join)(struct system *system, double now, uint32_t server, unsigned features),
                enum bal_code (*move)(struct system *system, double now, const struct bal_move *move,
                                      unsigned features)) {
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
    for (uint32_t i = 0; features & GRADED && i < system->fleet.moves && !code; i++)
        code = move(system, now, &system->move[i], features);
    if (features & GRADED)
        system->fleet.moves = 0;
    const struct bal_move last = {1, decision.server, decision.move_to};
    if (features & CLASS_QUEUES && decision.move_to != BAL_NONE && !code)
        code = move(system, now, &last, features);
    return code;
}

/* Where the arrival rate varies, arrivals are possible at its largest value, and real with this probability.
 */
ALWAYS_INLINE bool system_arrival_is_real(struct system *system, double now) {
    return bal_rng_uniform(&system->thinning_rng) < bli_curve_at(system->curve, now) * system->per_max;
}

/* What a server does by itself at `now`, between two steps of the loop, happens like those: not before what
 * stops there is closed, nor after the run is over. Returns what bli_system_advance returns. */
ALWAYS_INLINE enum bal_code system_reach(struct system *system, double now) {
    return __builtin_expect(now >= system->next_stop, 0) ? bli_system_advance(system, now) : BAL_OK;
}

/* Something that happens at a rate happens when an exponential is spent: does that last from one time to
 * another? */
ALWAYS_INLINE bool exponential_outlasts(double *left, double rate, double from, double to) {
    const double spent = (to - from) * rate;
    const bool enough = *left > spent;
    if (enough)
        *left -= spent;
    return enough;
}

/* Servers switch off and finish their set-up between two times, at rates without memory. */
ALWAYS_INLINE enum bal_code system_power(struct system *system, double from, double to) {
    for (;;) {
        const double standby = system->standby_rate * system->standby->count;
        const double total = standby + system->setup_rate * system->setup->count;
        if (!(total > 0) || exponential_outlasts(&system->power_left, total, from, to))
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
ALWAYS_INLINE enum bal_code system_report(struct system *system, double from, double to) {
    while (system->idle->count > 0) {
        const double rate = system->report_rate * system->idle->count;
        if (exponential_outlasts(&system->report_left, rate, from, to))
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
