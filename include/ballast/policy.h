/* The policy contract: how a dispatcher decides where work goes.
 *
 * A policy follows Definition 2 of Gamarnik, Tsitsiklis and Zubeldia (2016): servers report by themselves,
 * the dispatcher keeps a bounded memory, it may probe servers when a job arrives, and it decides from memory
 * and answers alone. A policy knows no clock, no engine and no socket. The same object runs in the simulator
 * and in a live dispatcher:
 *
 *     struct bal_policy_spec spec;
 *     struct bal_error err;
 *     if (bal_policy_parse("pod:d=2", &spec, &err))          ... err.text says why
 *     const struct bal_setting setting = {.servers = n, .load = 0.9};
 *     const struct bal_host host = {"this proxy", BAL_CAN_PROBE | BAL_CAN_IDLE};
 *     if (bal_policy_check(&spec, &setting, &host, &err))    ... does it fit this fleet and this host?
 *     void *state = malloc(bal_policy_size(&spec, &setting));
 *     bal_policy_init(&spec, &setting, state);
 *     if (bal_policy_check_fleet(&spec, &fleet, &err))       ... has the view all that it looks at?
 *     ... for each job:
 *     struct bal_decision to = bal_policy_route(&spec, state, &fleet, &job, &rng);
 *     ... and when a server says that it is idle:
 *     bal_policy_report(&spec, state, &fleet, BAL_REPORT_IDLE, server, NULL);
 *
 * The state is one flat block that the caller owns; a policy never allocates. A policy sees a server only
 * through bal_probe() and the functions beside it, which count: there is no other way to a queue length.
 *
 * On a real network (docs/embedding.md tells it at length):
 *
 * Servers that may not be chosen. setting.servers is a capacity: servers have the numbers 0 ... servers - 1,
 * and fleet.servers is the same number. Which of them may be chosen now is fleet.open, a set that the host
 * keeps: a server that is down, full, tried already by this request or not there at all is not in it. Joining
 * and leaving are changes of that set. Probes, decisions, wake and move_to name open servers alone; when
 * there is none the answer is BAL_NONE. NULL means that all are open, and costs nothing.
 *
 * Reports are statements of the present, not events: they may be lost, repeated, late or wrong. Whatever
 * came before, a policy believes the last one; a host repeats them (a heartbeat: bal_policy_tell) as often as
 * it can bear to be wrong, and takes them back (BAL_REPORT_BUSY, BAL_REPORT_GONE) when it knows better. A
 * number out of range is ignored.
 *
 * Slots. A server that works on k jobs at once is idle, here and in every report, when it has a free slot:
 * fewer than k jobs. It says so each time that a job leaves it with a free slot; to a policy that may hold
 * also when one has come and a slot is still free. Queue lengths and own counts are all jobs at the server,
 * in service or not.
 *
 * Speeds and weights. Most policies need not know them: a fast server is idle more often and its queue is
 * shorter. A host that has weights (twice the weight, twice the work; the speed, if it is known) says so in
 * fleet.weight, and may change them at any time. Policies that compare own counts then compare own count over
 * weight, those with the flag BAL_TAKES_WEIGHTS choose by them, and the others do not look at them.
 *
 * Time. A policy that needs the present time finds it in fleet.now. It may begin anywhere and have any unit;
 * response times, latencies and the policy's parameters that are times have the same one. In the lab it is
 * the mean service time, in a live dispatcher the second. A step back is taken for no time at all.
 *
 * Locking. One lock for a state: whoever calls route, sample, report, tell or response holds it. Policies
 * with the flag BAL_READS_ONLY do not write their state in route and sample, so that for these two a shared
 * lock will do. A fleet view and a random stream belong to one worker (thread or process); what the view
 * points to may be shared, under the same lock. A worker seeds its stream after the fork: two that draw the
 * same numbers choose the same servers. The state holds no pointers, so processes may map it at different
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

/* What a server says of itself: the reply to a probe, and a report of its load. */
struct bal_reply {
    uint32_t length; /* jobs there, those in service included */
    uint32_t urgent; /* those of rank 0 among them; 0 where there are no classes */
    double latency;  /* the time that a job which came now would take, by what jobs have taken there of late;
                        NaN: not told */
};

/* By what servers are compared, w being their weight, or 1. */
enum bal_own_rule {
    BAL_OWN_FEWEST,     /* own / w */
    BAL_OWN_SOONEST,    /* (own + 1) / w: how long a job that comes now would take */
    BAL_OWN_IDLE_FIRST, /* those with none before all others, the fastest first; then the soonest */
};

struct bal_fleet;

/* The servers as a dispatcher may see them. The host (an engine, a proxy) fills it in and keeps it up to
 * date; policies use the functions below, never the members. What a host cannot do may stay NULL. */
struct bal_fleet {
    uint32_t servers;
    const uint32_t *length;   /* jobs at each server, the one in service included */
    const uint32_t *urgent;   /* those of rank 0 among them; NULL where there are no classes */
    uint64_t probes;          /* how many servers have been asked, ever */
    struct bal_share *shares; /* room for one share per server; NULL where batches are never split */
    /* Optional answers of a host that keeps an index; each must return a uniform one of the best open
     * servers, or BAL_NONE when none is open. */
    uint32_t (*shortest)(struct bal_fleet *fleet, struct bal_rng *rng);
    uint32_t (*least_work)(struct bal_fleet *fleet, struct bal_rng *rng);
    uint32_t (*fewest_own)(struct bal_fleet *fleet, struct bal_rng *rng); /* by own count over weight */
    uint32_t (*best_own)(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng);
    /* ... and this one an open server, each with a probability in proportion to its weight. */
    uint32_t (*draw_by_weight)(struct bal_fleet *fleet, struct bal_rng *rng);
    /* Time until a job that joins now would begin: until the server has finished what it has or, if it works
     * on several jobs at once, until the first of its slots is free. Required by policies that need work. */
    double (*work)(struct bal_fleet *fleet, uint32_t server);
    void *host; /* for the host's own use in the functions above */

    const struct bal_set *open; /* the servers that may be chosen, a set of capacity `servers`; NULL: all */
    const uint32_t *own;        /* requests of this dispatcher at each server that are not answered yet */
    const double *weight;       /* of each server, above 0; NULL: all alike */
    double now;

    /* Probes that route does not wait for. Room for ask_room names; the policy leaves those to be asked in
     * ask[0..asks), and the host sets asks back to 0 when it has taken them. */
    uint32_t *ask;
    uint32_t ask_room, asks;
    /* Servers that have been probed for this job already and have answered: see bal_policy_sample(). NULL:
     * route probes by itself. */
    const uint32_t *sample;
    uint32_t samples;
    /* The uniform servers of this job, drawn ahead from the stream that is handed to route, by a host that
     * wants to know early which queues will be looked at: as many as the policy says. NULL: not drawn. */
    const uint32_t *drawn;
};

/* What arrives. */
struct bal_job {
    uint32_t count; /* jobs in the batch, at least 1 */
    uint32_t rank;  /* class: 0 is the most urgent */
    bool split;     /* may the batch be divided among servers? */
    bool at_once;   /* it may not be held, or not any longer */
    uint32_t held;  /* asked again for one that is held: how many are, itself included; 0: it is new */
};

/* May this server be chosen? Any number may be asked for. */
static inline bool bal_is_open(const struct bal_fleet *fleet, uint32_t server) {
    return server < fleet->servers && (!fleet->open || bal_set_contains(fleet->open, server));
}

static inline uint32_t bal_open_count(const struct bal_fleet *fleet) {
    return fleet->open ? fleet->open->count : fleet->servers;
}

/* The i-th open server, in an order that holds until the set changes. */
static inline uint32_t bal_open_at(const struct bal_fleet *fleet, uint32_t i) {
    return fleet->open ? fleet->open->slot[i] : i;
}

/* A uniform open server, or BAL_NONE. */
static inline uint32_t bal_draw(const struct bal_fleet *fleet, struct bal_rng *rng) {
    if (__builtin_expect(!fleet->open, 1))
        return bal_rng_below(rng, fleet->servers);
    return fleet->open->count ? bal_set_uniform(fleet->open, rng) : BAL_NONE;
}

/* The i-th of the uniform servers that a policy draws for a job, or BAL_NONE. */
static inline uint32_t bal_drawn(const struct bal_fleet *fleet, uint32_t i, struct bal_rng *rng) {
    return fleet->drawn ? fleet->drawn[i] : bal_draw(fleet, rng);
}

/* Asks one server for its queue length. Costs one probe (a query and a reply), unless the host has asked for
 * this job already: then this is the reply. */
static inline uint32_t bal_probe(struct bal_fleet *fleet, uint32_t server) {
    fleet->probes += !fleet->sample;
    return fleet->length[server];
}

/* The same of a server that tells its urgent jobs apart; without its latency. */
static inline struct bal_reply bal_probe_ranks(struct bal_fleet *fleet, uint32_t server) {
    fleet->probes += !fleet->sample;
    const struct bal_reply reply = {fleet->length[server], fleet->urgent ? fleet->urgent[server] : 0, 0};
    return reply;
}

/* Asks all open servers and returns a uniform one of those with the shortest queue / the least work, or
 * BAL_NONE. Costs one probe for each, whatever structure the host uses to answer; without one it is a scan of
 * O(servers). */
uint32_t bal_probe_shortest(struct bal_fleet *fleet, struct bal_rng *rng);
uint32_t bal_probe_least_work(struct bal_fleet *fleet, struct bal_rng *rng);

/* Asks a server and does not wait: the reply comes later as a report of its load, or never. Costs one probe.
 * Returns false, and nothing is asked, when there is no room. */
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

/* What a rule compares, of a server that has `more` requests than it has been sent so far; less is better. */
static inline double bal_own_key(const struct bal_fleet *fleet, uint32_t server, enum bal_own_rule rule,
                                 uint32_t more) {
    const double own = (double)fleet->own[server] + more, weight = bal_weight(fleet, server);
    if (rule == BAL_OWN_IDLE_FIRST && own == 0)
        return -weight;
    return (rule == BAL_OWN_FEWEST ? own : own + 1) / weight;
}

/* A uniform one of the open servers with the fewest own requests (over their weight), or of those that are
 * best by a rule, or BAL_NONE. O(1) or O(log servers) where the host keeps an index, else a scan. */
uint32_t bal_own_fewest(struct bal_fleet *fleet, struct bal_rng *rng);
uint32_t bal_own_best(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng);

/* An open server, each with a probability in proportion to its weight, or BAL_NONE. A scan, unless all have
 * the same weight or the host knows better. */
uint32_t bal_draw_by_weight(struct bal_fleet *fleet, struct bal_rng *rng);

/* ---- what a policy answers ---- */

struct bal_decision {
    /* Where the batch goes. BAL_NONE: it cannot be placed, because no server is open or (policies with
     * BAL_MAY_REFUSE) none is on. BAL_HOLD (policies with BAL_MAY_HOLD): the host keeps the job and asks
     * again, first come, first served within a class, after every report that the policy has taken. */
    uint32_t server;
    uint32_t parts;   /* 0: all of it to server; else fleet->shares[0..parts) say what goes where */
    uint32_t wake;    /* a switched-off server to start, or BAL_NONE; said again to one that is starting it
                         means nothing */
    uint32_t move_to; /* the last job of the lowest rank on server moves there, or BAL_NONE; replies that are
                         old may name a server that has no such job any more */
};

static inline struct bal_decision bal_to(uint32_t server) {
    const struct bal_decision decision = {server, 0, BAL_NONE, BAL_NONE};
    return decision;
}

/* ---- what servers tell by themselves ---- */

enum bal_report {
    BAL_REPORT_IDLE, /* it is idle: said when it has run out of work (or a slot is free), and at any time
                        as a heartbeat */
    BAL_REPORT_STILL_IDLE, /* it is idle, said at the times of a Poisson process of the declared rate */
    BAL_REPORT_OFF,        /* it is off */
    BAL_REPORT_ON,         /* its set-up is complete; it is on and idle */
    BAL_REPORT_SETUP,      /* it is in set-up */
    BAL_REPORT_BUSY,       /* it is on and not idle: takes back what was said before */
    BAL_REPORT_GONE,       /* nothing is known of it any longer, or it has left: takes everything back */
    BAL_REPORT_LOAD, /* its load, in a struct bal_reply: said after completions, in answer to bal_ask and
                        at any time as a heartbeat */
};

/* Which of them a policy wants; servers send no others, but for those that take back. */
enum {
    BAL_WANTS_IDLE = 1 << BAL_REPORT_IDLE,
    BAL_WANTS_STILL_IDLE = 1 << BAL_REPORT_STILL_IDLE,
    BAL_WANTS_POWER = 1 << BAL_REPORT_OFF | 1 << BAL_REPORT_ON | 1 << BAL_REPORT_SETUP,
    BAL_WANTS_LOAD = 1 << BAL_REPORT_LOAD,
    BAL_TAKES_BACK = 1 << BAL_REPORT_BUSY | 1 << BAL_REPORT_GONE,
};

/* What is so at a server now, for bal_policy_tell(). */
enum bal_standing { BAL_STANDING_ON, BAL_STANDING_OFF, BAL_STANDING_SETUP, BAL_STANDING_GONE };
struct bal_present {
    enum bal_standing standing;
    uint32_t slots; /* jobs that it works on at once; 0 is 1 */
    struct bal_reply load;
    bool promised; /* if it is idle, another dispatcher has been told so: to this one it is not */
};

/* ---- what a policy declares ---- */

struct bal_param {
    const char *name;
    double low, high;  /* the range, both ends included */
    double fallback;   /* the default; NaN: not given (the policy says what that means) */
    bool whole;        /* whole numbers only */
    bool always_shown; /* printed even when it has its default */
    const char *help;
    const char *const *words; /* NULL: a number; else the value is written as words[value], low is 0 and high
                                 the last of them */
};

/* The fleet a policy is set up for. */
struct bal_setting {
    uint32_t servers; /* the most there will ever be */
    double load;      /* arriving work over total capacity; NaN when unknown */
};

/* A server that has been idle for an exponential time of standby_rate switches itself off (rate 0: never);
 * one that is told to wake is on after an exponential time of setup_rate. Rates are per mean service time. */
struct bal_power {
    double standby_rate;
    double setup_rate;
};

enum {
    BAL_SYMMETRIC = 1,  /* renaming the servers renames the decisions and nothing else (Definition 3 there) */
    BAL_NEEDS_WORK = 2, /* asks for remaining work, so job sizes must be known on arrival */
    BAL_NEEDS_INDEX = 4,   /* asks for the shortest of all, or the fewest own: a host does well to keep an
                              index */
    BAL_MAY_REFUSE = 8,    /* may answer BAL_NONE though servers are open */
    BAL_TAKES_RANKS = 16,  /* looks at the class of a job */
    BAL_SERVES_RANKS = 32, /* its servers let urgent jobs interrupt others, unless the model says otherwise */
    BAL_MOVES_JOBS = 64,   /* may answer with move_to */
    BAL_MAY_HOLD = 512,    /* may answer BAL_HOLD. A dispatcher that holds jobs is hungry, and a server that
                              becomes idle tells a hungry dispatcher before others: see docs/embedding.md */
    BAL_NEEDS_OWN = 1024,  /* looks at own counts */
    BAL_NEEDS_TIME = 2048, /* looks at the present time */
    BAL_ASKS = 4096,       /* asks without waiting: bal_ask() */
    BAL_READS_ONLY = 8192, /* route and sample do not write the state */
    BAL_NEEDS_RESPONSES = 16384, /* must be told of responses */
    BAL_TAKES_WEIGHTS = 32768,   /* made for servers of different weights: where there are none, another
                                    policy does the same */
};

/* What a host can do, besides sending a job to a server. */
enum {
    BAL_CAN_PROBE = 1,        /* tell the queue length of a server */
    BAL_CAN_WORK = 2,         /* and its remaining work */
    BAL_CAN_IDLE = 4,         /* servers report that they are idle */
    BAL_CAN_STILL_IDLE = 8,   /* and that they still are, at a rate */
    BAL_CAN_POWER = 16,       /* servers switch off, are woken, and report it */
    BAL_CAN_LOAD = 32,        /* servers report their load */
    BAL_CAN_RANKS = 64,       /* jobs have classes */
    BAL_CAN_MOVE = 128,       /* jobs are moved from one server to another */
    BAL_CAN_REFUSE = 256,     /* jobs are turned away though servers are there */
    BAL_CAN_HOLD = 512,       /* jobs wait at the dispatcher */
    BAL_CAN_OWN = 1024,       /* own counts are kept */
    BAL_CAN_TIME = 2048,      /* the present time is known */
    BAL_CAN_RESPONSES = 4096, /* responses are seen, and how long they took: bal_policy_response() */
    BAL_CAN_ASK = 8192,       /* probes are sent that nobody waits for */
    BAL_CAN_ALL = (1 << 14) - 1,
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
     * all the same, for those that take back */
    size_t (*size)(const double *value, const struct bal_setting *setting);
    void (*init)(void *state, const double *value, const struct bal_setting *setting);
    void (*report)(void *state, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load);
    /* optional: a response has come back after `time`; own counts are without it already. failed: it was none
     * that the client can use, however quick */
    void (*response)(void *state, struct bal_fleet *fleet, uint32_t server, double time, bool failed);
    /* required of those that keep reports of idle servers: how many they have now */
    uint32_t (*tokens)(const void *state);
    /* required with size: is the state one that the other functions can have left? No
     * hot path: up to O(servers^2) */
    bool (*sound)(const void *state, const double *value, const struct bal_setting *setting);
    /* flags that depend on the parameters, besides those above */
    unsigned (*more_flags)(const double *value);
    /* bits of dispatcher memory kept between two events; without it: 0 */
    double (*memory_bits)(const double *value, const struct bal_setting *setting);
    /* rate of BAL_REPORT_STILL_IDLE for each idle server, in reports per mean service time */
    double (*report_rate)(const double *value, const struct bal_setting *setting);
    /* the probability with which a completion is followed by a report of the load; one that leaves the server
     * idle always is. Without it servers report their load only when they are asked */
    double (*load_share)(const double *value);
    /* how many uniform servers route takes by bal_drawn() for a job of one task, if it draws nothing else; 0
     * or without it: the host cannot draw them ahead */
    uint32_t (*draws)(const double *value);
    /* optional: the servers of which route takes a uniform one, by one draw, for each job of one task while
     * there are any, and which a server joins by saying that it is idle; NULL: not so. A host may look into
     * it to see where jobs that come soon are likely to go */
    const struct bal_set *(*pool)(const void *state);
    /* of how many dispatchers, drawn uniformly, a server tells the one with the fewest tokens that it is
     * idle; without it: 1 */
    uint32_t (*report_choices)(const double *value);
    /* required with BAL_WANTS_POWER: how servers switch themselves on and off */
    struct bal_power (*power)(const double *value);
    /* more than the ranges can say: parameters that must fit each other or the fleet */
    enum bal_code (*check)(const double *value, const struct bal_setting *setting, struct bal_error *err);
};

/* A policy with the values of its parameters, in the order of its table. */
struct bal_policy_spec {
    const struct bal_policy *policy;
    double value[BAL_PARAMS_MAX];
};

/* ---- the table ---- */

extern const struct bal_policy *const bal_policy_table[];
extern const size_t bal_policy_count;
const struct bal_policy *bal_policy_at(size_t i);           /* NULL behind the last */
const struct bal_policy *bal_policy_find(const char *name); /* NULL when there is none */

/* Reads "name" or "name:key=value,...". Names under which others know a policy are taken too ("least_conn",
 * "random two", "LEAST_REQUEST", "power of two choices"): what is printed is ours. On failure *spec is
 * untouched. */
enum bal_code bal_policy_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err);

/* The i-th of these other names and (unless NULL) the policy that it means; NULL behind the last. */
const char *bal_policy_known_as(size_t i, const char **policy);

/* Writes the canonical text, which parses to the same spec; always terminated. Returns the length that a
 * large enough buffer would have needed. */
size_t bal_policy_print(const struct bal_policy_spec *spec, char *text, size_t size);

/* A parameter by its name: where its value stands, NULL when the policy has none of that name; or the value,
 * then NaN. */
double *bal_policy_param(struct bal_policy_spec *spec, const char *name);
double bal_policy_value(const struct bal_policy_spec *spec, const char *name);

/* ---- using one ---- */

/* Does it fit the fleet and the host? NULL: a host that can do everything. */
enum bal_code bal_policy_check(const struct bal_policy_spec *spec, const struct bal_setting *setting,
                               const struct bal_host *host, struct bal_error *err);
/* Has the view what the policy will look at (length, own, work, room for what it asks)? For whoever has just
 * filled it in: route itself does not look, and a policy that needs fleet.work on a host without it would
 * call a function that is not there. */
enum bal_code bal_policy_check_fleet(const struct bal_policy_spec *spec, const struct bal_fleet *fleet,
                                     struct bal_error *err);
size_t bal_policy_size(const struct bal_policy_spec *spec, const struct bal_setting *setting);
void bal_policy_init(const struct bal_policy_spec *spec, const struct bal_setting *setting, void *state);
double bal_policy_memory_bits(const struct bal_policy_spec *spec, const struct bal_setting *setting);
double bal_policy_report_rate(const struct bal_policy_spec *spec, const struct bal_setting *setting);
double bal_policy_load_share(const struct bal_policy_spec *spec);
uint32_t bal_policy_report_choices(const struct bal_policy_spec *spec);
/* All flags, also those that depend on the parameters; and what a host must be able to do. */
unsigned bal_policy_flags(const struct bal_policy_spec *spec);
unsigned bal_policy_needs(const struct bal_policy_spec *spec);
/* Reports of idle servers that are at hand: what a server that chooses among dispatchers asks for. */
uint32_t bal_policy_tokens(const struct bal_policy_spec *spec, const void *state);

/* Is the state as the policy can have left it? For a host whose worker has died with the lock in its hand: if
 * not, it must begin anew (bal_policy_init, bal_policy_tell). */
bool bal_policy_sound(const struct bal_policy_spec *spec, const struct bal_setting *setting,
                      const void *state);

static inline struct bal_decision bal_policy_route(const struct bal_policy_spec *spec, void *state,
                                                   struct bal_fleet *fleet, const struct bal_job *job,
                                                   struct bal_rng *rng) {
    return spec->policy->route(state, fleet, job, rng);
}

/* For hosts whose probes take time: which servers would route probe for this job? They are left in
 * fleet->ask[0..asks), as many as fit, and counted. The host asks them, puts what they answer where
 * fleet->length, urgent and work look, and calls route with fleet->sample naming those that have answered
 * (none at all: route takes a uniform server). Between the two calls others may route and report. Returns
 * asks; 0: route needs no probes. */
uint32_t bal_policy_sample(const struct bal_policy_spec *spec, void *state, struct bal_fleet *fleet,
                           const struct bal_job *job, struct bal_rng *rng);

/* A message of a server. One that the policy does not want, or of a server that does not exist, is ignored;
 * returns whether it was taken. load: for BAL_REPORT_LOAD alone. */
static inline bool bal_policy_report(const struct bal_policy_spec *spec, void *state, struct bal_fleet *fleet,
                                     enum bal_report what, uint32_t server, const struct bal_reply *load) {
    const unsigned wants = spec->policy->wants | (spec->policy->report ? BAL_TAKES_BACK : 0);
    if ((unsigned)what > BAL_REPORT_LOAD || !(wants >> what & 1) || server >= fleet->servers ||
        (what == BAL_REPORT_LOAD && !load))
        return false;
    spec->policy->report(state, fleet, what, server, load);
    return true;
}

/* All that is so at a server now, as far as the policy wants to hear it: for heartbeats, and to a dispatcher
 * that begins. What the policy knew of that server before is then forgotten. To one that knows nothing of
 * power a server that is off or in set-up is gone. */
void bal_policy_tell(const struct bal_policy_spec *spec, void *state, struct bal_fleet *fleet,
                     uint32_t server, const struct bal_present *present);

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
