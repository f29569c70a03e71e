/* The dispatcher from the inside: what lies in the block, and a process's view of it.
 *
 * dispatcher_block.c lays the block out and makes it anew from the requests, dispatcher_fleet.c keeps what is
 * known of servers, dispatcher.c is what can be done with it. */
#ifndef LIVE_DISPATCHER_PRIVATE_H
#define LIVE_DISPATCHER_PRIVATE_H

#include "ballast/live/dispatcher.h"
#include "base/by_length.h"
#include "base/pace.h"
#include "base/tournament.h"
#include "live/crew.h"
#include "live/ledger.h"
#include "policy/quarantine.h"

#define NEVER UINT64_MAX
enum {
    ASKED_MOST = 64,  /* servers asked for a request, unless the policy asks all */
    INQUIRIES = 1024, /* requests that wait for replies at once */
    WAKES = 8,        /* a wake is said so often */
    POLICY_TEXT = 256,
};

/* ---- requests ---- */

enum request_state {
    ASKING = BAL_ENTRY_FREE + 1, /* replies to probes are waited for */
    HELD,
    DECIDED, /* it goes to its server, and its process does not know yet */
    REFUSED, /* nobody can take it, and its process does not know yet */
    SENT,
};

struct request {
    struct bal_entry entry;
    uint64_t since;    /* when it was sent; before that, when it came or was last tried */
    uint64_t waited;   /* of DECIDED and SENT */
    uint32_t server;   /* of DECIDED and SENT */
    uint32_t reason;   /* enum bal_reason, of DECIDED, REFUSED and SENT */
    uint32_t length;   /* of DECIDED and SENT: what the policy saw */
    uint32_t tries;    /* the last BAL_TRIES_MAX are remembered */
    uint32_t trial;    /* it is the one that proves a server well */
    uint32_t inquiry;  /* of ASKING */
    uint64_t deadline; /* of ASKING and HELD */
    uint32_t tried[BAL_TRIES_MAX];
};

/* What a request has asked, and who has answered: those stand first. */
struct inquiry {
    uint64_t probe; /* the id, which ends in the number of the inquiry; 0: not in use */
    uint32_t request;
    uint32_t asked, answered;
    uint32_t next; /* free one */
    uint32_t server[];
};

/* ---- servers ---- */

/* Why a server may not be chosen. */
enum closed {
    ABSENT = 1,   /* there is none of that number, or it is leaving */
    DOWN = 2,     /* the configuration says so */
    FULL = 4,     /* it has as many requests of ours as it may have */
    SHUNNED = 8,  /* in quarantine, or by max_fails */
    SILENT = 16,  /* what was known of it has expired */
    RESTING = 32, /* off or in set-up, and the policy knows nothing of power */
    DRAINING = 64
};

enum presence { NOT_THERE, LEAVING, THERE };

/* What every request looks at stands first, so that it lies together. */
struct server {
    uint32_t presence; /* written last when a server joins */
    uint32_t closed;   /* why; 0: it is open */
    uint32_t most;
    uint32_t max_fails;
    uint64_t answered, failed, took_ns; /* since it joined */
    struct pace pace;                   /* without stations */
    uint64_t fail_ns;
    uint32_t taken_back; /* the policy has been told that it is gone */
    char name[BAL_SERVER_NAME];
    /* Of stations: */
    struct bal_window window;
    uint32_t power; /* enum bal_power_state */
    uint32_t slots;
    double latency; /* seconds; NaN: not told */
    uint64_t known_until;
    uint64_t tokens_seen; /* the last one that was offered to us */
    uint32_t tokens;      /* at hand */
    uint32_t wakes;       /* times that a wake is still to be said */
    uint64_t token_until, token_since;
    uint64_t wake_at;
};

/* ---- the block ---- */

/* As above. */
struct block {
    uint64_t magic;
    uint64_t size;
    uint64_t now;
    uint32_t busy;    /* an operation is under way, or was when somebody died */
    uint32_t present; /* servers that are THERE */
    uint32_t held_count;
    uint32_t deaf;       /* stations are heard by others, not any longer here */
    uint32_t weighted;   /* servers have different weights */
    uint32_t tree_valid; /* by_weight is up to date */
    struct bal_dispatcher_config config;
    struct bal_dispatcher_counts counts;
    char policy[POLICY_TEXT];
    struct bal_sender sender;
    struct bal_list asking;
    struct bal_list held[BAL_CLASSES_MAX];
    uint32_t hungry; /* as stations were told */
    uint32_t free_inquiry;
    uint64_t hungry_at;
    /* Of reports at a rate, where no stations send them: */
    uint64_t report_at; /* when the next is due */
    double service;     /* moving average of how long responses have taken, in seconds */
    double load;        /* and of the share of servers that had no free slot */
};

struct bal_dispatcher {
    struct block *block;
    struct bal_policy_spec policy;
    struct bal_setting setting;
    unsigned flags; /* of the policy */
    bool probes;    /* it asks stations and waits */
    bool timed;     /* it wants reports at a rate, and no station sends them */
    bool says_idle; /* the same of reports of servers that have a free slot ... */
    bool says_load; /* ... and of the load that a response has left */
    uint32_t self;  /* its owner's number; BAL_NOBODY: it does not take part */
    uint32_t servers;
    struct bal_fleet fleet;
    uint32_t (*shortest)(struct bal_fleet *fleet, struct bal_rng *rng); /* where all weights are alike */
    struct bal_rng rng;                                                 /* of the policy */
    struct bal_rng chance;                                              /* of everything else */
    struct bal_ledger ledger;
    struct bal_owner *owner;
    struct server *server;
    uint32_t *own, *urgent, *load, *urgent_load;
    double *weight;
    struct bal_set *open;
    struct bal_by_length by_own;       /* the lab's index: all that are THERE open, all weights alike */
    struct bal_tournament *by_weight;  /* own over weight of open servers, in all other cases */
    struct bal_tournament *due;        /* when something of a server expires */
    struct bal_quarantine *quarantine; /* in nanoseconds */
    uint64_t *station;                 /* the id of each server's */
    uint32_t *stations;                /* a directory of them */
    uint32_t places;
    char *inquiries;
    uint32_t inquiry_room; /* servers in one */
    size_t inquiry_size;
    void *state;
    struct bal_outbox box;
    uint32_t ask[]; /* inquiry_room of them */
};

static inline struct request *request_at(const struct bal_dispatcher *d, uint32_t i) {
    return (struct request *)bal_ledger_entry(&d->ledger, i);
}

static inline struct inquiry *inquiry_at(const struct bal_dispatcher *d, uint32_t i) {
    return (struct inquiry *)(void *)(d->inquiries + (size_t)i * d->inquiry_size);
}

static inline bool is_under_way(const struct request *r) {
    return r->entry.state == DECIDED || r->entry.state == SENT;
}

/* Signed, because that is converted at once. */
static inline double seconds(uint64_t ns) {
    return (double)(int64_t)ns * 1e-9;
}

/* Is it that time? Times are compared as the index of what expires compares them. */
static inline bool has_come(const struct bal_dispatcher *d, uint64_t time) {
    return (double)d->block->now >= (double)time;
}

static inline bool wants(const struct bal_dispatcher *d, unsigned what) {
    return d->policy.policy->wants & what;
}

/* ---- dispatcher_block.c ---- */

/* Makes everything anew from the requests: somebody has died in the middle of an operation. */
void bal_dispatcher_rebuild(struct bal_dispatcher *d);

/* ---- dispatcher_fleet.c ---- */

/* The view that policies have, as of now: what changes in it. */
static inline void fleet_refresh(struct bal_dispatcher *d) {
    d->fleet.open = d->open->count == d->servers ? NULL : d->open;
    d->fleet.weight = d->block->weighted ? d->weight : NULL;
    d->fleet.now = seconds(d->block->now);
    d->fleet.shortest = d->block->weighted ? NULL : d->shortest;
}
/* What does not. */
void bal_fleet_set(struct bal_dispatcher *d);
/* A request goes there; has come back. rank: its class. */
void bal_fleet_own_up(struct bal_dispatcher *d, uint32_t server, uint32_t rank);
void bal_fleet_own_down(struct bal_dispatcher *d, uint32_t server, uint32_t rank);
/* Makes indexes anew; own counts are right already. */
void bal_fleet_reindex(struct bal_dispatcher *d);
/* A reason for not choosing it begins or ceases to hold. */
void bal_fleet_mark(struct bal_dispatcher *d, uint32_t server, enum closed reason, bool closed);
/* Tells the policy whether a server is idle; and all that is so at it. */
void bal_fleet_report(struct bal_dispatcher *d, uint32_t server);
void bal_fleet_tell(struct bal_dispatcher *d, uint32_t server);
/* Looks at quarantine and standing once more, and at when something expires. */
void bal_fleet_look(struct bal_dispatcher *d, uint32_t server);
/* When something of it expires, in nanoseconds; INFINITY: never. */
double bal_fleet_due(const struct bal_dispatcher *d, uint32_t server);
/* What a server of which nothing has been heard is taken for. */
void bal_fleet_greet(struct bal_dispatcher *d, uint32_t server);
/* A server that was leaving and has nothing left is not there any longer. */
void bal_fleet_bury(struct bal_dispatcher *d, uint32_t server);

/* ---- dispatcher_timed.c: of a dispatcher that is `timed` alone ---- */

/* Idle servers report, as many as are due by now; whether any has. */
bool bal_timed_report(struct bal_dispatcher *d);
/* A request has come; a response has taken so many seconds. */
void bal_timed_arrival(struct bal_dispatcher *d);
void bal_timed_response(struct bal_dispatcher *d, double took);

/* ---- dispatcher.c ---- */

/* Leaves a message to be sent, stamped. */
void bal_dispatcher_say(struct bal_dispatcher *d, struct bal_message message);
/* Somebody has died in the middle of an operation. */
void bal_dispatcher_resume(struct bal_dispatcher *d);
/* Reports at a rate, where they are made here. */
void bal_dispatcher_catch_up(struct bal_dispatcher *d);
/* Every operation begins and ends so. */
static inline void dispatcher_begin(struct bal_dispatcher *d, uint64_t now) {
    struct block *block = d->block;
    block->now = now > block->now ? now : block->now;
    const bool died = block->busy;
    __atomic_store_n(&block->busy, 1, __ATOMIC_RELEASE);
    if (__builtin_expect(died, 0))
        bal_dispatcher_resume(d);
    fleet_refresh(d);
    if (__builtin_expect(d->timed, 0))
        bal_dispatcher_catch_up(d);
}
static inline void dispatcher_end(struct bal_dispatcher *d) {
    __atomic_store_n(&d->block->busy, 0, __ATOMIC_RELEASE);
}

#endif
