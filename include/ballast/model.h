/* SPDX-License-Identifier: BSD-2-Clause */
/* What is simulated: the servers and the work that arrives. */
#ifndef BALLAST_MODEL_H
#define BALLAST_MODEL_H

#include "ballast/arrivals.h"
#include "ballast/batch.h"
#include "ballast/curve.h"
#include "ballast/dist.h"
#include "ballast/error.h"
#include "ballast/failures.h"
#include "ballast/network.h"
#include "ballast/speeds.h"
#include "ballast/stealing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BLI_GROUPS_MAX = 32 };
enum { BLI_JOB_CLASSES_MAX = 8 }; /* of jobs */
#define BLI_SERVERS_MAX 100000000u
#define BLI_SLOTS_MAX 1000000000u /* of all servers together */
#define BLI_SLOTS_ALL UINT32_MAX  /* a server works on all jobs that it has */

/* Servers of equal speed. In continuous time a job of size x takes x / speed units of time. In slotted time
 * the number of jobs that a server can finish in a slot is drawn from its capacity distribution,
 * independently for each server and slot; its mean is the speed. Without a distribution (BLI_BATCH_NONE) the
 * capacity is always the speed, which must then be a whole number. */
struct bli_group {
    uint32_t count;
    double speed;
    struct bli_batch capacity;
};

struct bli_servers {
    unsigned groups;
    struct bli_group group[BLI_GROUPS_MAX];
};

/* Reads "100", "10k" or "50x1,50x10" (COUNTxSPEED), and for slotted time also "50x1,50xuniform(1,19)"
 * (COUNTxLAW, the distributions being those of batch.h that are bounded and at least 1). On failure *servers
 * is untouched. */
enum bal_code bli_servers_parse(const char *text, struct bli_servers *servers, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_servers_print(const struct bli_servers *servers, char *text, size_t size);
uint32_t bli_servers_count(const struct bli_servers *servers);
double bli_servers_capacity(const struct bli_servers *servers); /* work per unit of time */

enum bli_clock { BLI_CLOCK_CONTINUOUS, BLI_CLOCK_SLOTTED };
const char *bli_clock_text(enum bli_clock clock); /* "continuous", "slotted" */

/* In what order a server works (continuous time). Within a class first come, first served, but for the last
 * two, which know one class. */
enum bli_discipline {
    BLI_DISCIPLINE_AUTO,          /* as the policy requires: fifo for most */
    BLI_DISCIPLINE_FIFO,          /* blind to classes */
    BLI_DISCIPLINE_PREEMPTIVE,    /* a high job interrupts a low one, which goes on later where it stopped */
    BLI_DISCIPLINE_NONPREEMPTIVE, /* a high job is next, but waits for the one in service */
    BLI_DISCIPLINE_SHARING, /* processor sharing: a server works on all its jobs at once, each of n at 1/n
                               of its speed; one class of jobs */
    BLI_DISCIPLINE_LIFO,    /* last come, first served: after each job the one that came last of those that
                               wait; a job in service is never interrupted; one class of jobs */
};
const char *bli_discipline_text(enum bli_discipline discipline); /* "auto", "fifo", "preemptive",
                                                                    "nonpreemptive", "ps", "lifo" */

/* What a dispatcher knows of the speeds of its servers: they are the weights of its policy, or there are
 * none.
 */
enum bli_weights { BLI_WEIGHTS_SPEEDS, BLI_WEIGHTS_NONE };
const char *bli_weights_text(enum bli_weights weights); /* "speeds", "none" */

/* What servers draw, in watts. */
struct bli_watts {
    double busy, idle, setup, off;
};
#define BLI_WATTS_DEFAULT                                                                                    \
    { 200, 140, 200, 0 }

/* Reads four numbers in that order: "200,140,200,0". On failure *watts is untouched. */
enum bal_code bli_watts_parse(const char *text, struct bli_watts *watts, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_watts_print(const struct bli_watts *watts, char *text, size_t size);
/* The same, or the default if all are 0. */
struct bli_watts bli_watts_of(const struct bli_watts *watts);

/* Most jobs that wait at a dispatcher: one more is refused, unless a less urgent one waits there, whose place
 * it gets (then that one is refused). */
struct bli_hold_limit {
    bool given;                             /* all zero: no limit */
    uint32_t jobs;                          /* of all classes together */
    uint32_t classes;                       /* for so many classes there are limits of their own, ... */
    uint32_t of_class[BLI_JOB_CLASSES_MAX]; /* ... these, the most urgent first, each from 1 */
};

/* Reads "none", "20", or with a limit for each class, the most urgent first, "20,20,5". On failure *limit is
 * untouched. */
enum bal_code bli_hold_limit_parse(const char *text, struct bli_hold_limit *limit, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_hold_limit_print(const struct bli_hold_limit *limit, char *text, size_t size);

/* How servers start: so many of them, as fractions, have jobs, are in set-up, are off;
 * the others are idle and on. All zero: every server is idle and on. Under a policy that never switches
 * servers off those in set-up and off are idle and on too. Numbers of servers are rounded; the busy ones come
 * first in the order of the fleet, then those in set-up, then those that are off. In slotted time there are
 * busy ones and idle ones. */
struct bli_start {
    double busy, setup, off;
    uint32_t jobs; /* of each busy server; 0 means 1 */
};

/* The jobs of a busy server. */
static inline uint32_t bli_start_jobs(const struct bli_start *start) {
    return start->jobs > 1 ? start->jobs : 1;
}

/* Reads "idle" (all zero) or fractions such as "busy=0.3,off=0.7", "busy=0.1,setup=0.2,off=0.5"; their sum is
 * at most 1. "busy=0.3,jobs=5": each of them has five. On failure *start is untouched. */
enum bal_code bli_start_parse(const char *text, struct bli_start *start, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_start_print(const struct bli_start *start, char *text, size_t size);

/* Continuous time: load * capacity / mean size jobs arrive in a unit of time, in a Poisson process unless
 * `arrivals` is set, and are served first come, first served. Slotted time: a batch of independent size
 * arrives in each slot, on average load * capacity jobs; every job is one unit of a server's capacity
 * (docs/slotted.md). */
struct bli_model {
    struct bli_servers servers;
    enum bli_weights weights;
    struct bli_dist size; /* continuous time only */
    double load;
    enum bli_clock clock;
    struct bli_batch batch; /* slotted time only: jobs that arrive in a slot */
    bool split;             /* slotted time only: may a batch be divided among servers? */
    /* continuous time only: */
    uint32_t tasks; /* tasks of a job, routed together and divided among servers, each of a size of its own; 0
                     * means 1. Times are then those of tasks. */
    bool classes;   /* are there classes? Two, a high and a low one, unless class_count says otherwise */
    double high;    /* share of the high class, the most urgent one, 0 to 1 */
    uint32_t class_count;              /* how many classes there are, if more than two; else 0 */
    double share[BLI_JOB_CLASSES_MAX]; /* of each of them, the most urgent first: share[0] is high */
    enum bli_discipline discipline;
    struct bli_arrivals arrivals; /* all zero: a Poisson process */
    struct bli_curve curve;       /* factor of the arrival rate over time; the load is that at factor 1 */
    uint32_t buffer;              /* most jobs at a server; one more is lost; 0: no limit */
    struct bli_dist standby; /* event engine: distributions in place of the policy's exponential ones; mean 0:
                              * not given
                              */
    struct bli_dist setup;
    struct bli_dist reports; /* event engine: of the times between the reports of a server while it is idle,
                              * for policies that want some at a rate; scaled to that rate, so that its mean
                              * says nothing. Mean 0: exponential */
    uint32_t backlog; /* event engine: most jobs that the dispatcher holds, for policies that hold; one more
                       * goes to a uniform server. 0: no limit */
    struct bli_hold_limit hold_limit; /* network engine: for policies that hold jobs without a backlog */
    struct bli_watts watts;           /* all zero: the default */
    struct bli_start start;
    struct bli_dist patience; /* of the time after which a job gives up whose service has not begun; mean 0:
                               * none does. Event engine, and common queues */
    struct bli_failures failures; /* event engine: servers fail and are repaired */
    uint32_t slots; /* event engine: jobs that a server works on at once, each at its full speed unless
                     * `speeds` are given, which also allow BLI_SLOTS_ALL; 0 means 1. A server reports that it
                     * is idle whenever a job that leaves it leaves a slot free. */
    struct bli_speeds speeds; /* event engine: how fast a server is by the number of jobs in service */
    /* Work stealing (docs/stealing.md). In continuous time (event engine) a server that runs out of work
     * probes another server once. In slotted time it is the chain of policy `stealing`, whose jobs come from
     * generators at the servers themselves. */
    struct bal_steal steal; /* all zero: no stealing */
    bool others; /* is the victim always another server? Otherwise it is any server, the thief included */
    struct bal_placement placement; /* of the generators; policy `stealing` only */
    struct bli_network network;     /* all zero: one dispatcher next to its servers */
};

/* How many classes of jobs there are. */
static inline uint32_t bli_model_classes(const struct bli_model *model) {
    return !model->classes ? 1 : model->class_count > 2 ? model->class_count : 2;
}

/* Reads the shares of two or more classes, the most urgent first, "0.2,0.3,0.5": above 0, with a sum of 1.
 * Sets classes, high, class_count and share; on failure *model is untouched. */
enum bal_code bli_model_parse_classes(const char *text, struct bli_model *model, struct bal_error *err);
/* The canonical text; "none" without classes. Always terminated; returns the length needed. */
size_t bli_model_print_classes(const struct bli_model *model, char *text, size_t size);

/* The discipline of the servers; where the model leaves it open it is preemptive if the policy has the flag
 * BAL_SERVES_RANKS, else fifo. Without classes always fifo. */
enum bli_discipline bli_model_discipline(const struct bli_model *model, bool serves_ranks);

/* Do all jobs stay until they are served, and do servers never fail? Otherwise most theory does not apply. */
static inline bool bli_model_is_steady(const struct bli_model *model) {
    return !(model->patience.mean > 0) && !bli_failures_happen(&model->failures) && !model->hold_limit.given;
}

/* Do the jobs in service at a server share what it can do? */
static inline bool bli_model_shares(const struct bli_model *model) {
    return model->discipline == BLI_DISCIPLINE_SHARING || bli_speeds_given(&model->speeds);
}

/* What a server of speed 1 can do, in work per unit of time: its slots, or its speed with as many jobs in
 * service as suit it best. */
double bli_model_server_rate(const struct bli_model *model);

/* Are the times at which idle servers report those of a renewal process that is not Poisson? */
static inline bool bli_model_reports_renew(const struct bli_model *model) {
    return model->reports.mean > 0 && !bli_dist_is_exponential(&model->reports);
}

/* Has the fleet weights that tell its servers apart? In slotted time it has none. */
bool bli_model_is_weighted(const struct bli_model *model);

/* Work per unit of time that all servers can do: the sum of their speeds times the slots of each,
 * or times the largest of `speeds`. The load is
 * the work that arrives over this. */
double bli_model_capacity(const struct bli_model *model);

/* Jobs (tasks, where jobs have several) per unit of time or per slot. */
double bli_model_arrival_rate(const struct bli_model *model);

/* Does it make sense? The load must be positive, the mean size finite and positive. In slotted time
 * capacities must be bounded whole numbers from 1 and the mean of the batch must be open or fit the load. */
enum bal_code bli_model_check(const struct bli_model *model, struct bal_error *err);

/* Slotted time: the batch distribution, with its mean set from the load where it was open. */
enum bal_code bli_model_batch(const struct bli_model *model, struct bli_batch *batch, struct bal_error *err);

/* Slotted time, where the batch has a mean of its own: sets the load that this means. Otherwise does nothing.
 */
void bli_model_set_load(struct bli_model *model);

#ifdef __cplusplus
}
#endif
#endif
