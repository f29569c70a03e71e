/* SPDX-License-Identifier: BSD-2-Clause */
/* The policy contract: how a dispatcher decides where work goes.
 *
 * A policy follows Definition 2 of Gamarnik, Tsitsiklis and Zubeldia (2016): servers report by themselves,
 * the dispatcher keeps a bounded memory, it may probe servers when a job arrives, and it decides only from
 * its memory and the replies. A policy uses no clock, no engine and no socket. The same object runs in the
 * simulator and in a live dispatcher:
 *
 *     struct bal_policy_spec spec;
 *     struct bal_error err;
 *     if (bal_policy_parse("pod:d=2", &spec, &err))          ... err.text says why
 *     const struct bal_policy_context context = {.servers = n, .load = 0.9};
 *     const struct bal_host host = {"this proxy", BAL_CAN_PROBE | BAL_CAN_IDLE};
 *     if (bal_policy_check(&spec, &context, &host, &err))    ... does it fit this fleet and this host?
 *     void *state = malloc(bal_policy_size(&spec, &context));
 *     bal_policy_init(&spec, &context, state);
 *     if (bal_policy_check_fleet(&spec, &fleet, &err))       ... has the view all that it looks at?
 *     ... for each job:
 *     struct bal_decision to = bal_policy_route(&spec, state, &fleet, &job, &rng);
 *     ... and when a server reports that it is idle:
 *     bal_policy_report(&spec, state, &fleet, BAL_REPORT_IDLE, server, NULL);
 *
 * The state is one flat block that the caller owns; a policy never allocates. A policy sees a server only
 * through bal_probe() and the functions next to it, which count probes: there is no other way to read a queue
 * length.
 *
 * On a real network (details are in docs/embedding.md):
 *
 * Servers that may not be chosen. context.servers is a capacity: servers have the numbers 0 ... servers - 1,
 * and fleet.servers is the same number. Which of them may be chosen now is fleet.eligible, a set that the
 * host keeps: a server that is down, full, tried already by this request or not there at all is not in it.
 * Joining and leaving are changes of that set. Probes, decisions, wake and move_to name eligible servers
 * alone; when there is none the answer is BAL_NONE. NULL means that all are eligible, and costs nothing.
 *
 * Reports describe the present state of a server, not an event: they may be lost, repeated, late or wrong. A
 * policy always believes the last one. A host repeats them (a heartbeat: bal_policy_sync_server) so often
 * that a wrong one does not last too long, and retracts them (BAL_REPORT_BUSY, BAL_REPORT_GONE) when it knows
 * that they are wrong. A number out of range is ignored.
 *
 * Slots. A server that works on k jobs at once is idle, here and in every report, when it has a free slot:
 * fewer than k jobs. It reports that it is idle each time that a job leaves it with a free slot. To a policy
 * that may hold jobs it also reports when a job has arrived and a slot is still free. Queue lengths and own
 * counts are all jobs at the server, in service or not.
 *
 * Speeds and weights. Most policies need not know them: a fast server is idle more often and its queue is
 * shorter. A host that has weights (twice the weight, twice the work; the speed, if it is known) sets them in
 * fleet.weight, and may change them at any time. Policies that compare own counts then compare own count over
 * weight, those with the flag BAL_TAKES_WEIGHTS choose by them, and the others do not look at them.
 *
 * Time. A policy that needs the present time finds it in fleet.now. It may have any origin and any unit;
 * response times, latencies and the policy's parameters that are times have the same unit. In the lab it is
 * the mean service time, in a live dispatcher the second. If the time goes back, no time has passed.
 *
 * Locking. One lock for a state: the caller of route, sample, report, sync_server or response holds it.
 * Policies with the flag BAL_READS_ONLY do not write their state in route and sample, so that for these two a
 * shared lock is enough. A fleet view and a random stream belong to one worker (thread or process); what the
 * view points to may be shared, under the same lock. A worker seeds its stream after the fork: two that draw
 * the same numbers choose the same servers. The state holds no pointers, so processes may map it at different
 * addresses. */
#ifndef BALLAST_POLICY_H
#define BALLAST_POLICY_H

#include "ballast/error.h"
#include "ballast/random.h"
#include "ballast/set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BAL_NONE UINT32_MAX       /* no server */
#define BAL_HOLD (UINT32_MAX - 1) /* as a decision: the job waits at the dispatcher */
enum { BAL_PARAMS_MAX = 8 };      /* most parameters of a policy */

/* ---- what a policy is shown ---- */

/* A part of a batch and where it goes. */
struct bal_share {
    uint32_t server;
    uint32_t count;
};

/* The state of a server as it sends it: in the reply to a probe, and in a report of its load. */
struct bal_reply {
    uint32_t length; /* jobs there, those in service included */
    uint32_t urgent; /* those of rank 0 among them; 0 where there are no classes */
    double latency; /* the response time that a job arriving now would have, estimated from recent jobs there;
                       NaN: unknown */
};

/* By what servers are compared, w being their weight, or 1. */
enum bal_own_rule {
    BAL_OWN_FEWEST,     /* own / w */
    BAL_OWN_SOONEST,    /* (own + 1) / w: how long a job that comes now would take */
    BAL_OWN_IDLE_FIRST, /* servers without own requests first, the fastest of them first; then by (own + 1) /
                           w */
};

enum { BAL_RANKS_MAX = 8 }; /* classes of jobs */

/* The last job of a rank moves from one server to another. */
struct bal_move {
    uint32_t rank, from, to;
};

struct bal_fleet;

/* The servers as a dispatcher may see them. The host (an engine, a proxy) fills it in and keeps it up to
 * date; policies use the functions below, never the members. What a host cannot do may stay NULL. */
struct bal_fleet {
    uint32_t servers;
    const uint32_t *length;   /* jobs at each server, the one in service included */
    const uint32_t *urgent;   /* those of rank 0 among them; NULL where there are no classes */
    uint64_t probes;          /* how many probes have been sent in all */
    struct bal_share *shares; /* array of one share per server; NULL where batches are never split */
    /* Optional answers of a host that keeps an index; each must return a uniform one of the best open
     * servers, or BAL_NONE when none is eligible. */
    uint32_t (*shortest)(struct bal_fleet *fleet, struct bal_rng *rng);
    uint32_t (*least_work)(struct bal_fleet *fleet, struct bal_rng *rng);
    uint32_t (*fewest_own)(struct bal_fleet *fleet, struct bal_rng *rng); /* by own count over weight */
    uint32_t (*best_own)(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng);
    /* ... and this one an eligible server, each with a probability in proportion to its weight. */
    uint32_t (*draw_by_weight)(struct bal_fleet *fleet, struct bal_rng *rng);
    /* Time until a job that joins now would begin: until the server has finished what it has or, if it works
     * on several jobs at once, until the first of its slots is free. Required by policies that need work. */
    double (*work)(struct bal_fleet *fleet, uint32_t server);
    void *host; /* for the host's own use in the functions above */

    const struct bal_set *eligible; /* the servers that may be chosen, a set of capacity `servers`; NULL: all
                                     */
    const uint32_t *own;            /* requests of this dispatcher at each server that are not answered yet */
    const double *weight;           /* of each server, above 0; NULL: all alike */
    double now;

    /* Probes that route does not wait for. The array holds ask_room server numbers; the policy writes the
     * servers to probe to ask[0..asks), and the host sets asks back to 0 when it has taken them. */
    uint32_t *ask;
    uint32_t ask_room, asks;
    /* A server whose set-up is to be aborted: route of a policy with BAL_ABORTS names it here and sets
     * aborts, which the host sets back when it has sent the message to the server. */
    bool aborts;
    uint32_t abort;
    /* Servers that have been probed for this job already and have answered: see bal_policy_sample(). NULL:
     * route probes by itself. */
    const uint32_t *sample;
    uint32_t samples;
    /* The uniform servers of this job, drawn ahead from the stream that is handed to route, by a host that
     * needs to know early which queues will be read: as many as the policy declares. NULL: not drawn. */
    const uint32_t *drawn;
    /* More than two classes: how many, and for server s, in upto[s * classes + r], its jobs of rank r and of
     * more urgent ones. A policy with BAL_MOVES_JOBS leaves the jobs that give way in move[0..moves), in
     * that order, and the host sets moves back to 0 when it has moved them. NULL: at most two. */
    const uint32_t *upto;
    uint32_t classes, moves;
    struct bal_move *move; /* array of BAL_RANKS_MAX */
};

/* What arrives. */
struct bal_job {
    uint32_t count; /* jobs in the batch, at least 1 */
    uint32_t rank;  /* class: 0 is the most urgent */
    bool split;     /* may the batch be divided among servers? */
    bool at_once;   /* it may not be held, or not any longer */
    uint32_t held;  /* route is called again for a held job: how many jobs are held, this one included; 0: a
                       new job */
};

/* May this server be chosen? Any number is allowed, also one out of range. */
static inline bool bal_is_eligible(const struct bal_fleet *fleet, uint32_t server) {
    return server < fleet->servers && (!fleet->eligible || bal_set_contains(fleet->eligible, server));
}

static inline uint32_t bal_eligible_count(const struct bal_fleet *fleet) {
    return fleet->eligible ? fleet->eligible->count : fleet->servers;
}

/* The i-th eligible server, in an order that holds until the set changes. */
static inline uint32_t bal_eligible_at(const struct bal_fleet *fleet, uint32_t i) {
    return fleet->eligible ? fleet->eligible->slot[i] : i;
}

/* A uniform eligible server, or BAL_NONE. */
static inline uint32_t bal_draw(const struct bal_fleet *fleet, struct bal_rng *rng) {
    if (__builtin_expect(!fleet->eligible, 1))
        return bal_rng_below(rng, fleet->servers);
    return fleet->eligible->count ? bal_set_uniform(fleet->eligible, rng) : BAL_NONE;
}

/* The i-th of the uniform servers that a policy draws for a job, or BAL_NONE. */
static inline uint32_t bal_drawn(const struct bal_fleet *fleet, uint32_t i, struct bal_rng *rng) {
    return fleet->drawn ? fleet->drawn[i] : bal_draw(fleet, rng);
}

/* Probes one server for its queue length. Costs one probe (a query and a reply), unless the host has probed
 * it for this job already: then this is that reply. */
static inline uint32_t bal_probe(struct bal_fleet *fleet, uint32_t server) {
    fleet->probes += !fleet->sample;
    return fleet->length[server];
}

/* The same, with the number of urgent jobs; without the latency. */
static inline struct bal_reply bal_probe_ranks(struct bal_fleet *fleet, uint32_t server) {
    fleet->probes += !fleet->sample;
    const struct bal_reply reply = {fleet->length[server], fleet->urgent ? fleet->urgent[server] : 0, 0};
    return reply;
}

/* The same where there are more than two classes: the jobs of rank r and of more urgent ones, for each r. */
static inline const uint32_t *bal_probe_classes(struct bal_fleet *fleet, uint32_t server) {
    fleet->probes += !fleet->sample;
    return fleet->upto + (size_t)server * fleet->classes;
}

/* Probes all eligible servers and returns a uniform one of those with the shortest queue / the least work, or
 * BAL_NONE. Costs one probe for each, whatever structure the host uses to answer; without one it is a scan of
 * O(servers). */
uint32_t bal_probe_shortest(struct bal_fleet *fleet, struct bal_rng *rng);
uint32_t bal_probe_least_work(struct bal_fleet *fleet, struct bal_rng *rng);

/* Probes a server and does not wait: the reply comes later as a report of its load, or never. Costs one
 * probe. Returns false, and sends nothing, when the array is full. */
static inline bool bal_ask(struct bal_fleet *fleet, uint32_t server) {
    if (fleet->asks >= fleet->ask_room)
        return false;
    fleet->ask[fleet->asks++] = server;
    fleet->probes++;
    return true;
}

/* Requests of this dispatcher that the server has not answered yet. Costs nothing: it has sent them, and sees
 * the responses. */
static inline uint32_t bal_own(const struct bal_fleet *fleet, uint32_t server) {
    return fleet->own[server];
}

/* The same over the weight of the server: what is compared. */
static inline double bal_own_over_weight(const struct bal_fleet *fleet, uint32_t server) {
    return fleet->weight ? fleet->own[server] / fleet->weight[server] : fleet->own[server];
}

static inline double bal_weight(const struct bal_fleet *fleet, uint32_t server) {
    return fleet->weight ? fleet->weight[server] : 1;
}

/* What a rule compares, for a server with `more` requests in addition to its own count; smaller is better. */
static inline double bal_own_key(const struct bal_fleet *fleet, uint32_t server, enum bal_own_rule rule,
                                 uint32_t more) {
    const double own = (double)fleet->own[server] + more, weight = bal_weight(fleet, server);
    if (rule == BAL_OWN_IDLE_FIRST && own == 0)
        return -weight;
    return (rule == BAL_OWN_FEWEST ? own : own + 1) / weight;
}

/* A uniform one of the eligible servers with the fewest own requests (over their weight), or of those that
 * are best by a rule, or BAL_NONE. O(1) or O(log servers) where the host keeps an index, else a scan. */
uint32_t bal_own_fewest(struct bal_fleet *fleet, struct bal_rng *rng);
uint32_t bal_own_best(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng);

/* An eligible server, each with a probability in proportion to its weight, or BAL_NONE. A scan, unless all
 * have the same weight or the host knows better. */
uint32_t bal_draw_by_weight(struct bal_fleet *fleet, struct bal_rng *rng);

/* ---- what a policy answers ---- */

struct bal_decision {
    /* Where the batch goes. BAL_NONE: it cannot be placed, because no server is eligible or (policies with
     * BAL_MAY_REFUSE) none is on. BAL_HOLD (policies with BAL_MAY_HOLD): the host keeps the job and calls
     * route again after every report that the policy has taken, first come, first served within a class. */
    uint32_t server;
    uint32_t parts; /* 0: all of it to server; else fleet->shares[0..parts) say what goes where */
    uint32_t wake;  /* a switched-off server to start, or BAL_NONE; has no effect on a server that is already
                       starting */
    uint32_t move_to; /* the last job of the lowest rank on server moves there, or BAL_NONE; replies that are
                         old may name a server that has no such job any more */
};

static inline struct bal_decision bal_to(uint32_t server) {
    const struct bal_decision decision = {server, 0, BAL_NONE, BAL_NONE};
    return decision;
}

/* ---- what servers report by themselves ---- */

enum bal_report {
    BAL_REPORT_IDLE, /* it is idle: sent when it has run out of work (or a slot is free), and at any time as a
                        heartbeat */
    BAL_REPORT_STILL_IDLE, /* it is idle: sent at the times of a Poisson process of the declared rate */
    BAL_REPORT_OFF,        /* it is off */
    BAL_REPORT_ON,         /* its set-up is complete; it is on and idle */
    BAL_REPORT_SETUP,      /* it is in set-up */
    BAL_REPORT_BUSY,       /* it is on and not idle: retracts earlier reports */
    BAL_REPORT_GONE,       /* its state is unknown, or it has left: retracts all earlier reports */
    BAL_REPORT_LOAD, /* its load, in a struct bal_reply: sent after completions, in reply to bal_ask and at
                        any time as a heartbeat */
};

/* Which of them a policy wants; servers send no others, but for those that retract. */
enum {
    BAL_WANTS_IDLE = 1 << BAL_REPORT_IDLE,
    BAL_WANTS_STILL_IDLE = 1 << BAL_REPORT_STILL_IDLE,
    BAL_WANTS_POWER = 1 << BAL_REPORT_OFF | 1 << BAL_REPORT_ON | 1 << BAL_REPORT_SETUP,
    BAL_WANTS_LOAD = 1 << BAL_REPORT_LOAD,
    BAL_RETRACTS = 1 << BAL_REPORT_BUSY | 1 << BAL_REPORT_GONE,
};

/* The present state of a server, for bal_policy_sync_server(). */
enum bal_server_status { BAL_SERVER_ON, BAL_SERVER_OFF, BAL_SERVER_SETUP, BAL_SERVER_GONE };
struct bal_server_state {
    enum bal_server_status status;
    uint32_t slots; /* jobs that it works on at once; 0 is 1 */
    struct bal_reply load;
    bool offered_elsewhere; /* if it is idle, it has offered its slot to another dispatcher: to this one it is
                               not idle */
};

/* ---- what a policy declares ---- */

struct bal_param {
    const char *name;
    double low, high;     /* the range, both ends included */
    double default_value; /* the default; NaN: not given (its meaning is up to the policy) */
    bool whole;           /* whole numbers only */
    bool always_shown;    /* printed even when it has its default */
    const char *help;
    const char *const *words; /* NULL: a number; else the value is written as words[value], low is 0 and high
                                 the last of them */
};

/* The fleet a policy is set up for. */
struct bal_policy_context {
    uint32_t servers; /* the most there will ever be */
    double load;      /* arriving work over total capacity; NaN when unknown */
};

/* A server that has been idle for an exponential time of standby_rate switches itself off (rate 0: never);
 * one that receives a wake message is on after an exponential time of setup_rate. Rates are per mean service
 * time. A job that reaches a server which is off by then wakes it, or is lost if that `discards`. */
struct bal_power {
    double standby_rate;
    double setup_rate;
    bool discards;
};

enum {
    BAL_SYMMETRIC = 1,  /* renaming the servers renames the decisions and nothing else (Definition 3 there) */
    BAL_NEEDS_WORK = 2, /* uses the remaining work, so job sizes must be known on arrival */
    BAL_NEEDS_INDEX = 4,   /* looks for the shortest queue of all, or the fewest own requests: a host should
                              keep an index */
    BAL_MAY_REFUSE = 8,    /* may answer BAL_NONE though servers are eligible */
    BAL_TAKES_RANKS = 16,  /* looks at the class of a job */
    BAL_SERVES_RANKS = 32, /* its servers let urgent jobs interrupt others, unless the model says otherwise */
    BAL_MOVES_JOBS = 64,   /* may answer with move_to */
    BAL_MAY_HOLD = 512, /* may answer BAL_HOLD. A dispatcher that holds jobs has a backlog, and a server that
                           becomes idle reports to a dispatcher with a backlog first: see docs/embedding.md */
    BAL_NEEDS_OWN = 1024,        /* looks at own counts */
    BAL_NEEDS_TIME = 2048,       /* looks at the present time */
    BAL_ASKS = 4096,             /* probes without waiting: bal_ask() */
    BAL_READS_ONLY = 8192,       /* route and sample do not write the state */
    BAL_NEEDS_RESPONSES = 16384, /* needs responses: bal_policy_response() */
    BAL_TAKES_WEIGHTS = 32768,   /* made for servers of different weights: where there are none, another
                                    policy does the same */
    BAL_ABORTS = 65536,          /* may abort set-ups */
    BAL_DISCARDS = 131072,       /* its servers discard jobs that reach them when they are off */
    BAL_ASKS_IN_TURN = 262144,   /* probes one server after the other, and waits for each reply */
    BAL_ON_REQUEST = 524288,     /* compared where it is named, and not among all: a variant of another */
    BAL_ASKS_ALL = 1048576,      /* a sample of it is all servers, however many there are */
};

/* What a host can do, besides sending a job to a server. */
enum {
    BAL_CAN_PROBE = 1,           /* probe the queue length of a server */
    BAL_CAN_WORK = 2,            /* and its remaining work */
    BAL_CAN_IDLE = 4,            /* servers report that they are idle */
    BAL_CAN_STILL_IDLE = 8,      /* and that they still are, at a rate */
    BAL_CAN_POWER = 16,          /* servers switch off, are woken, and report it */
    BAL_CAN_LOAD = 32,           /* servers report their load */
    BAL_CAN_RANKS = 64,          /* jobs have classes */
    BAL_CAN_MOVE = 128,          /* jobs are moved from one server to another */
    BAL_CAN_REFUSE = 256,        /* jobs are turned away though servers are there */
    BAL_CAN_HOLD = 512,          /* jobs wait at the dispatcher */
    BAL_CAN_OWN = 1024,          /* own counts are kept */
    BAL_CAN_TIME = 2048,         /* the present time is known */
    BAL_CAN_RESPONSES = 4096,    /* responses are seen, and how long they took: bal_policy_response() */
    BAL_CAN_ASK = 8192,          /* probes can be sent without waiting for the reply */
    BAL_CAN_ABORT = 16384,       /* set-ups can be aborted */
    BAL_CAN_DISCARD = 32768,     /* servers that are off may discard what reaches them */
    BAL_CAN_ASK_IN_TURN = 65536, /* replies take no time, so that probes can be sent one after the other */
    BAL_CAN_ALL = (1 << 17) - 1,
};

struct bal_host {
    const char *name; /* in messages: "engine 'markov'" */
    unsigned can;
};

struct bal_policy_spec;

struct bal_policy {
    const char *name;
    const char *summary; /* the rule in one line */
    const char *paper;   /* where it comes from */
    const char *cost;    /* per job, raw: "d probes" */
    unsigned flags;
    unsigned wants; /* reports */
    const struct bal_param *params;
    unsigned param_count;

    /* required */
    struct bal_decision (*route)(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng);
    /* required of those that probe: names by bal_ask() the servers that route would probe for this job */
    void (*sample)(void *state, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng);
    /* optional: a policy without state leaves out size and init; one that wants no reports may have report
     * all the same, for those that retract */
    size_t (*size)(const double *value, const struct bal_policy_context *context);
    void (*init)(void *state, const double *value, const struct bal_policy_context *context);
    void (*report)(void *state, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load);
    /* optional: a response has come back after `time`; own counts are without it already. failed: it was none
     * that the client can use, however quick */
    void (*response)(void *state, struct bal_fleet *fleet, uint32_t server, double time, bool failed);
    /* required of those that keep reports of idle servers: how many they have now */
    uint32_t (*tokens)(const void *state);
    /* required with size: is the state one that the other functions can have left? No
     * hot path: up to O(servers^2) */
    bool (*is_consistent)(const void *state, const double *value, const struct bal_policy_context *context);
    /* flags that depend on the parameters, besides those above */
    unsigned (*more_flags)(const double *value);
    /* bits of dispatcher memory kept between two events; without it: 0 */
    double (*memory_bits)(const double *value, const struct bal_policy_context *context);
    /* rate of BAL_REPORT_STILL_IDLE for each idle server, in reports per mean service time */
    double (*report_rate)(const double *value, const struct bal_policy_context *context);
    /* the probability with which a completion is followed by a report of the load; one that leaves the server
     * idle always is. Above 1, a whole number: every so many completions of a server are, and no others.
     * Without it servers report their load only when they are asked */
    double (*load_share)(const double *value);
    /* how many uniform servers route takes by bal_drawn() for a job of one task, if it draws nothing else; 0
     * or without it: the host cannot draw them ahead */
    uint32_t (*draws)(const double *value);
    /* optional: the servers of which route takes a uniform one, by one draw, for each job of one task while
     * there are any, and which a server joins by reporting that it is idle; NULL: there is no such set. A
     * host may look into it to see where jobs that come soon are likely to go */
    const struct bal_set *(*pool)(const void *state);
    /* a server draws so many dispatchers uniformly and reports that it is idle to the one with the fewest
     * tokens; without it: 1 */
    uint32_t (*report_choices)(const double *value);
    /* required with BAL_WANTS_POWER: how servers switch themselves on and off */
    struct bal_power (*power)(const double *value);
    /* more than the ranges can say: parameters that must fit each other or the fleet */
    enum bal_code (*check)(const double *value, const struct bal_policy_context *context,
                           struct bal_error *err);
};

/* A policy with the values of its parameters, in the order of its table. */
struct bal_policy_spec {
    const struct bal_policy *policy;
    double value[BAL_PARAMS_MAX];
};

/* ---- the table ---- */

extern const struct bal_policy *const *const bal_policy_table;
extern const size_t bal_policy_count;
const struct bal_policy *bal_policy_at(size_t i);           /* NULL behind the last */
const struct bal_policy *bal_policy_find(const char *name); /* NULL when there is none */

/* Reads "name" or "name:key=value,...". Names that other software uses are accepted too ("least_conn",
 * "random two", "LEAST_REQUEST", "power of two choices"); printed names are Ballast's. On failure *spec is
 * untouched. */
enum bal_code bal_policy_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err);

/* The i-th of these other names and (unless NULL) the policy that it means; NULL behind the last. */
const char *bal_policy_alias_at(size_t i, const char **policy);

/* Writes the canonical text, which parses to the same spec; always terminated. Returns the length that a
 * large enough buffer would have needed. */
size_t bal_policy_print(const struct bal_policy_spec *spec, char *text, size_t size);

/* For a policy that switches servers off and leaves open what happens to a job when no server is on (`none`):
 * the job waits for one, as it does wherever real requests are routed. Other policies are unchanged. */
void bal_policy_wait_for_power(struct bal_policy_spec *spec);

/* A parameter by its name: where its value stands, NULL when the policy has none of that name; or the value,
 * then NaN. */
double *bal_policy_param(struct bal_policy_spec *spec, const char *name);
double bal_policy_value(const struct bal_policy_spec *spec, const char *name);

/* ---- using one ---- */

/* Does it fit the fleet and the host? NULL: a host that can do everything. */
enum bal_code bal_policy_check(const struct bal_policy_spec *spec, const struct bal_policy_context *context,
                               const struct bal_host *host, struct bal_error *err);
/* Has the view all that the policy will use (length, own, work, the array for its probes)? Call it once after
 * filling in the view: route itself does not check, and a policy that needs fleet.work on a host without it
 * would call a NULL pointer. */
enum bal_code bal_policy_check_fleet(const struct bal_policy_spec *spec, const struct bal_fleet *fleet,
                                     struct bal_error *err);
size_t bal_policy_size(const struct bal_policy_spec *spec, const struct bal_policy_context *context);
void bal_policy_init(const struct bal_policy_spec *spec, const struct bal_policy_context *context,
                     void *state);
double bal_policy_memory_bits(const struct bal_policy_spec *spec, const struct bal_policy_context *context);
double bal_policy_report_rate(const struct bal_policy_spec *spec, const struct bal_policy_context *context);
double bal_policy_load_share(const struct bal_policy_spec *spec);
uint32_t bal_policy_report_choices(const struct bal_policy_spec *spec);
/* All flags, also those that depend on the parameters; and what a host must be able to do. */
unsigned bal_policy_flags(const struct bal_policy_spec *spec);
unsigned bal_policy_needs(const struct bal_policy_spec *spec);
/* How many reports of idle servers (tokens) the policy has: servers use it to choose among dispatchers. */
uint32_t bal_policy_tokens(const struct bal_policy_spec *spec, const void *state);

/* Is the state as the policy can have left it? For a host whose worker has died while it held the lock: if
 * not, the state must be rebuilt (bal_policy_init, bal_policy_sync_server). */
bool bal_policy_is_consistent(const struct bal_policy_spec *spec, const struct bal_policy_context *context,
                              const void *state);

static inline struct bal_decision bal_policy_route(const struct bal_policy_spec *spec, void *state,
                                                   struct bal_fleet *fleet, const struct bal_job *job,
                                                   struct bal_rng *rng) {
    return spec->policy->route(state, fleet, job, rng);
}

/* For hosts whose probes take time: which servers would route probe for this job? They are left in
 * fleet->ask[0..asks), as many as fit, and counted. The host probes them, writes the replies to where
 * fleet->length, urgent and work read, and calls route with fleet->sample naming those that have answered
 * (none at all: route takes a uniform server). Between the two calls others may route and report. Returns
 * asks; 0: route needs no probes. */
uint32_t bal_policy_sample(const struct bal_policy_spec *spec, void *state, struct bal_fleet *fleet,
                           const struct bal_job *job, struct bal_rng *rng);

/* A message of a server. One that the policy does not want, or of a server that does not exist, is ignored;
 * returns whether it was taken. load: for BAL_REPORT_LOAD alone. */
static inline bool bal_policy_report(const struct bal_policy_spec *spec, void *state, struct bal_fleet *fleet,
                                     enum bal_report what, uint32_t server, const struct bal_reply *load) {
    const unsigned wants = spec->policy->wants | (spec->policy->report ? BAL_RETRACTS : 0);
    if ((unsigned)what > BAL_REPORT_LOAD || !(wants >> what & 1) || server >= fleet->servers ||
        (what == BAL_REPORT_LOAD && !load))
        return false;
    spec->policy->report(state, fleet, what, server, load);
    return true;
}

/* The present state of a server, as far as the policy wants reports of it: for heartbeats, and for a
 * dispatcher that has just started. What the policy knew of that server before is then forgotten. For a
 * policy without power states a server that is off or in set-up is gone. */
void bal_policy_sync_server(const struct bal_policy_spec *spec, void *state, struct bal_fleet *fleet,
                            uint32_t server, const struct bal_server_state *server_state);

/* A response of a server has come back, `time` after the job was sent there. Own counts are the host's: it
 * has taken this job off already. */
static inline void bal_policy_response(const struct bal_policy_spec *spec, void *state,
                                       struct bal_fleet *fleet, uint32_t server, double time, bool failed) {
    if (spec->policy->response && server < fleet->servers)
        spec->policy->response(state, fleet, server, time, failed);
}

#ifdef __cplusplus
}
#endif
#endif
