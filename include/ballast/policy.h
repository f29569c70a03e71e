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
 *     if (bal_policy_check(&spec, &setting, &err))           ... does it fit this fleet?
 *     void *state = malloc(bal_policy_size(&spec, &setting));
 *     bal_policy_init(&spec, &setting, state);
 *     ... for each job:
 *     struct bal_decision to = bal_policy_route(&spec, state, &fleet, &job, &rng);
 *     ... and when a server says that it has become idle:
 *     bal_policy_report(&spec, state, BAL_REPORT_IDLE, server);
 *
 * The state is one flat block that the caller owns; a policy never allocates. A policy sees a server only
 * through bal_probe() and the functions beside it, which count: there is no other way to a queue length. */
#ifndef BALLAST_POLICY_H
#define BALLAST_POLICY_H

#include "ballast/error.h"
#include "ballast/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BAL_NONE UINT32_MAX  /* no server */
enum { BAL_PARAMS_MAX = 8 }; /* most parameters of a policy */

/* ---- what a policy is shown ---- */

/* A part of a batch and where it goes. */
struct bal_share {
    uint32_t server;
    uint32_t count;
};

/* The servers as a dispatcher may see them. The host (an engine, a proxy) fills it in and keeps it up to
 * date; policies use the functions below, never the members. */
struct bal_fleet {
    uint32_t servers;
    const uint32_t *length;   /* jobs at each server, the one in service included */
    const uint32_t *urgent;   /* those of rank 0 among them; NULL where there are no classes */
    uint64_t probes;          /* how many servers have been asked, ever */
    struct bal_share *shares; /* room for one share per server; NULL where batches are never split */
    /* Optional answers of a host that keeps an index; each must return a uniform one of the best servers. */
    uint32_t (*shortest)(struct bal_fleet *fleet, struct bal_rng *rng);
    uint32_t (*least_work)(struct bal_fleet *fleet, struct bal_rng *rng);
    /* Time until a job that joins now would begin: until the server has finished what it has or, if it works
     * on several jobs at once, until the first of its slots is free. Required by policies that need work. */
    double (*work)(struct bal_fleet *fleet, uint32_t server);
    void *host; /* for the host's own use in the functions above */
};

/* What arrives. */
struct bal_job {
    uint32_t count; /* jobs in the batch, at least 1 */
    uint32_t rank;  /* class: 0 is the most urgent */
    bool split;     /* may the batch be divided among servers? */
};

/* Asks one server for its queue length. Costs one probe (a query and a reply). */
static inline uint32_t bal_probe(struct bal_fleet *fleet, uint32_t server) {
    fleet->probes++;
    return fleet->length[server];
}

/* The reply of a server that tells its urgent jobs apart. Costs one probe. */
struct bal_reply {
    uint32_t length;
    uint32_t urgent;
};
static inline struct bal_reply bal_probe_ranks(struct bal_fleet *fleet, uint32_t server) {
    fleet->probes++;
    const struct bal_reply reply = {fleet->length[server], fleet->urgent ? fleet->urgent[server] : 0};
    return reply;
}

/* Asks all servers and returns a uniform one of those with the shortest queue / the least work. Costs one
 * probe per server, whatever structure the host uses to answer; without one it is a scan of O(servers). */
uint32_t bal_probe_shortest(struct bal_fleet *fleet, struct bal_rng *rng);
uint32_t bal_probe_least_work(struct bal_fleet *fleet, struct bal_rng *rng);

/* ---- what a policy answers ---- */

struct bal_decision {
    uint32_t server;  /* where the batch goes; BAL_NONE: it cannot be placed (only policies with
                         BAL_MAY_REFUSE) */
    uint32_t parts;   /* 0: all of it to server; else fleet->shares[0..parts) say what goes where */
    uint32_t wake;    /* a switched-off server to start, or BAL_NONE */
    uint32_t move_to; /* the last job of the lowest rank on server moves there, or BAL_NONE */
};

static inline struct bal_decision bal_to(uint32_t server) {
    const struct bal_decision decision = {server, 0, BAL_NONE, BAL_NONE};
    return decision;
}

/* ---- what servers tell by themselves ---- */

enum bal_report {
    BAL_REPORT_IDLE,       /* it has just run out of work */
    BAL_REPORT_STILL_IDLE, /* it is idle, said at the times of a Poisson process of the declared rate */
    BAL_REPORT_OFF,        /* it has switched itself off */
    BAL_REPORT_ON,         /* its set-up is complete; it is on and idle */
    BAL_REPORT_SETUP,      /* it is in set-up; said to a dispatcher that begins, and not otherwise */
};

/* Which of them a policy wants; servers send no others. */
enum {
    BAL_WANTS_IDLE = 1 << BAL_REPORT_IDLE,
    BAL_WANTS_STILL_IDLE = 1 << BAL_REPORT_STILL_IDLE,
    BAL_WANTS_POWER = 1 << BAL_REPORT_OFF | 1 << BAL_REPORT_ON | 1 << BAL_REPORT_SETUP,
};

/* ---- what a policy declares ---- */

struct bal_param {
    const char *name;
    double low, high;  /* the range, both ends included */
    double fallback;   /* the default; NaN: not given (the policy says what that means) */
    bool whole;        /* whole numbers only */
    bool always_shown; /* printed even when it has its default */
    const char *help;
};

/* The fleet a policy is set up for. */
struct bal_setting {
    uint32_t servers;
    double load; /* arriving work over total capacity; NaN when unknown */
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
    BAL_NEEDS_INDEX = 4,   /* asks for the shortest of all: a host does well to keep an index */
    BAL_MAY_REFUSE = 8,    /* may answer BAL_NONE */
    BAL_TAKES_RANKS = 16,  /* looks at the class of a job */
    BAL_SERVES_RANKS = 32, /* its servers let urgent jobs interrupt others, unless the model says otherwise */
    BAL_MOVES_JOBS = 64,   /* may answer with move_to */
    BAL_POOLED = 128,      /* one common queue: there is no route and nothing to host */
    BAL_GENERATED = 256,   /* jobs are made at the servers: nor is there here */
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

    /* required but for BAL_POOLED and BAL_GENERATED */
    struct bal_decision (*route)(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng);
    /* optional: a policy without state leaves out size and init, one that wants no reports leaves out report
     */
    size_t (*size)(const double *value, const struct bal_setting *setting);
    void (*init)(void *state, const double *value, const struct bal_setting *setting);
    void (*report)(void *state, enum bal_report what, uint32_t server);
    /* bits of dispatcher memory kept between two events; without it: 0 */
    double (*memory_bits)(const double *value, const struct bal_setting *setting);
    /* rate of BAL_REPORT_STILL_IDLE for each idle server, in reports per mean service time */
    double (*report_rate)(const double *value, const struct bal_setting *setting);
    /* required with BAL_WANTS_POWER, optional with BAL_POOLED: how servers switch themselves on and off */
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

/* Rules of one common queue, to compare with: they are found, parsed and simulated by name like policies, but
 * have the flag BAL_POOLED and no route. A dispatcher cannot host them; bal_policy_check() says so. */
extern const struct bal_policy *const bal_pooled_table[];
extern const size_t bal_pooled_count;
/* The same for systems without a dispatcher, whose jobs are made at the servers: flag BAL_GENERATED. */
extern const struct bal_policy *const bal_generated_table[];
extern const size_t bal_generated_count;

/* All of them, the policies first; NULL behind the last. */
const struct bal_policy *bal_policy_at(size_t i);

const struct bal_policy *bal_policy_find(const char *name); /* NULL when there is none */

/* Reads "name" or "name:key=value,...". On failure *spec is untouched. */
enum bal_code bal_policy_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err);

/* Writes the canonical text, which parses to the same spec; always terminated. Returns the length that a
 * large enough buffer would have needed. */
size_t bal_policy_print(const struct bal_policy_spec *spec, char *text, size_t size);

/* A parameter by its name: where its value stands, NULL when the policy has none of that name; or the value,
 * then NaN. */
double *bal_policy_param(struct bal_policy_spec *spec, const char *name);
double bal_policy_value(const struct bal_policy_spec *spec, const char *name);

/* ---- using one ---- */

enum bal_code bal_policy_check(const struct bal_policy_spec *spec, const struct bal_setting *setting,
                               struct bal_error *err);
size_t bal_policy_size(const struct bal_policy_spec *spec, const struct bal_setting *setting);
void bal_policy_init(const struct bal_policy_spec *spec, const struct bal_setting *setting, void *state);
double bal_policy_memory_bits(const struct bal_policy_spec *spec, const struct bal_setting *setting);
double bal_policy_report_rate(const struct bal_policy_spec *spec, const struct bal_setting *setting);

static inline struct bal_decision bal_policy_route(const struct bal_policy_spec *spec, void *state,
                                                   struct bal_fleet *fleet, const struct bal_job *job,
                                                   struct bal_rng *rng) {
    return spec->policy->route(state, fleet, job, rng);
}

/* A report that the policy does not want is ignored. */
static inline void bal_policy_report(const struct bal_policy_spec *spec, void *state, enum bal_report what,
                                     uint32_t server) {
    if (spec->policy->wants & 1u << what)
        spec->policy->report(state, what, server);
}

#ifdef __cplusplus
}
#endif
#endif
