/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the dispatcher: the contents of the block, and a process's view of it.
 *
 * dispatcher_block.c lays out the block and rebuilds it from the requests; dispatcher_servers.c applies the
 * list of servers; dispatcher_server_state.c keeps their state; dispatcher_check.c closes those that fail
 * their health checks (check.c); dispatcher_policy.c sets another policy; dispatcher_members.c knows who has
 * joined; dispatcher_slots.c finds slots; dispatcher_loads.c reads what servers report of their load;
 * dispatcher_backlog.c requests offers for requests that are held; dispatcher.c has the public operations.
 * The lock of the block must be held for all of it but posting a report of load, and the host holds it.
 * docs/internals.md has the states of a request, and which function changes them. */
#ifndef LIVE_DISPATCHER_PRIVATE_H
#define LIVE_DISPATCHER_PRIVATE_H

#include "ballast/live/dispatcher.h"
#include "base/latency_ewma.h"
#include "base/length_index.h"
#include "base/tournament.h"
#include "live/check_private.h"
#include "live/concurrency_private.h"
#include "live/drain_rate.h"
#include "live/join_private.h"
#include "live/ledger.h"
#include "live/workers.h"
#include "policy/closing.h"
#include "policy/ejection.h"
#include "policy/heard.h"
#include "policy/inquiry.h"
#include "policy/offers.h"
#include "policy/pace.h"
#include "policy/slot_requests.h"
#include "policy/slow_start_credit.h"
#include "policy/start_request.h"
#include "policy/tries.h"

#define NEVER UINT64_MAX
enum {
    ASKED_MAX = 64,   /* servers probed for a request, unless the policy probes all */
    INQUIRIES = 1024, /* requests that wait for replies at once */
    POLICY_TEXT = 256,
};

/* ---- requests ---- */

enum request_state {
    ASKING = BLI_ENTRY_FREE + 1, /* it waits for replies to probes */
    HELD,
    DECIDED, /* it goes to its server, and its process does not know yet */
    REFUSED, /* no server can take it, and its process does not know yet */
    SENT,
};

struct request {
    struct bli_ledger_entry entry;
    uint64_t since;    /* when it was sent; before that, when it came or was last tried */
    uint64_t waited;   /* of DECIDED and SENT */
    uint32_t server;   /* of DECIDED and SENT */
    uint32_t reason;   /* enum bal_reason, of DECIDED, REFUSED and SENT */
    uint32_t length;   /* of DECIDED and SENT: what the policy saw */
    uint32_t trial;    /* it is the one that tries an ejected server */
    uint32_t inquiry;  /* of ASKING */
    uint64_t deadline; /* of ASKING and HELD */
    struct bli_tries tries;
};

/* The servers that a request has probed. */
struct inquiry {
    uint64_t probe; /* the id, which ends in the index of the inquiry; 0: not in use */
    uint32_t request;
    uint32_t next; /* free one */
    struct bli_inquiry replies;
    uint32_t server[];
};

/* ---- servers ---- */

/* Why a server may not be chosen: enum bli_closed. */
#define REMOVED BLI_CLOSED_REMOVED
#define DOWN BLI_CLOSED_DOWN
#define FULL BLI_CLOSED_FULL
#define EJECTED BLI_CLOSED_EJECTED
#define SILENT BLI_CLOSED_SILENT
#define OFF BLI_CLOSED_OFF
#define DRAINING BLI_CLOSED_DRAINING
#define SUSPECT BLI_CLOSED_SUSPECT
#define FAILING BLI_CLOSED_FAILING
#define UNCHECKED BLI_CLOSED_UNCHECKED
#define WARMING BLI_CLOSED_WARMING

enum presence { NOT_THERE, LEAVING, THERE };

/* Members that every request reads come first, to share cache lines. */
struct server {
    uint32_t presence; /* written last when a server joins */
    uint32_t closed;   /* enum bli_closed; 0: it is open */
    uint32_t max_conns;
    uint32_t slots; /* requests that it works on at once: configured, or reported by its station */
    uint32_t max_fails;
    uint32_t drain;                     /* it is DOWN because it is to become empty */
    uint64_t answered, failed, took_ns; /* since it joined */
    struct latency_ewma latency_ewma;   /* without stations */
    uint64_t fail_ns;
    uint32_t retracted;    /* the policy knows that it is gone */
    uint32_t others;       /* without stations: requests there that are not ours, as it has reported ... */
    uint64_t others_until; /* ... and until when; 0: there are none */
    uint32_t unreported;   /* completions since its load was due, where every so many are reported */
    char name[BAL_SERVER_NAME];
    /* Of stations: */
    struct bal_replay_window window;
    uint32_t power; /* enum bal_power_state */
    double latency; /* seconds; NaN: not reported */
    uint64_t known_until;
    struct bli_pace pace;           /* of its heartbeats, in nanoseconds */
    struct bli_tokens tokens;       /* slots that it has offered to us */
    struct bli_start_request start; /* in nanoseconds */
    uint64_t token_until, token_since;
    uint64_t heard_at;               /* when its station's last message came that was not late */
    uint64_t member_until;           /* it has joined, and is removed then; 0: it is listed */
    uint64_t join_at;                /* when it is sent the next JOIN, if it is silent */
    uint32_t joined_there;           /* it has challenged our JOIN, so that we may be a member there */
    struct bal_address address;      /* of one that has joined */
    struct bli_slot_request request; /* for a slot; in nanoseconds */
    uint64_t host;                   /* the same for servers of the same address, whatever the port */
};

/* ---- the block ---- */

/* As above. */
struct block {
    uint64_t magic;
    uint64_t size;
    uint64_t now;
    uint32_t busy;    /* an operation is under way, or was when a process died */
    uint32_t present; /* servers that are THERE */
    uint32_t held_count;
    uint32_t detached;   /* messages of stations go to another dispatcher for good */
    uint32_t weighted;   /* servers have different weights ... */
    double weights;      /* ... and this is their sum */
    uint32_t tree_valid; /* by_weight is up to date */
    struct bal_dispatcher_config config;
    struct bal_dispatcher_counts counts;
    /* Another policy is written to the other side first: `policy[policies % 2]` decides. */
    char policy[2][POLICY_TEXT];
    uint32_t policies;       /* that have been set */
    uint32_t policy_started; /* its state is that of the policy with this number */
    struct bal_sender sender;
    struct bli_list asking;
    struct bli_list held[BAL_CLASSES_MAX];
    struct bli_joins joins;
    uint64_t members_at;          /* when members are next looked at */
    struct bli_backlog backlog;   /* of requests that are held; in nanoseconds */
    struct drain_rate drain_rate; /* of the hold queue */
    uint32_t free_inquiry;
    /* Of reports at a rate, where no stations send them: */
    uint64_t report_at; /* when the next is due */
    double service;     /* moving average of how long responses have taken, in seconds */
    double load;        /* and of the share of servers that had no free slot */
    /* Written without the lock: dispatcher_loads.c. */
    uint64_t loads; /* which servers have reported */
    uint64_t load_reports, load_malformed;
};

struct bal_dispatcher {
    struct block *block;
    struct bal_policy_spec policy;
    uint32_t policies; /* the number of that policy, as in the block */
    struct bal_policy_context setting;
    unsigned flags;    /* of the policy */
    bool probes;       /* it probes stations and waits */
    bool timed;        /* it needs reports at a rate, and no station sends them */
    bool reports_idle; /* the same of reports of servers that have a free slot ... */
    bool reports_load; /* ... and of the load that a response has left */
    bool crowded;      /* this process cannot let another request wait */
    uint32_t self;     /* this process's index; BLI_NOBODY: it is not registered */
    uint32_t servers;
    struct bal_fleet fleet;
    uint32_t (*shortest)(struct bal_fleet *fleet, struct bal_rng *rng); /* where all weights are alike */
    struct bal_rng rng;                                                 /* of the policy */
    struct bal_rng chance;                                              /* of everything else */
    struct bli_ledger ledger;
    struct bli_worker *worker;
    struct server *server;
    uint32_t *own, *urgent, *load, *urgent_load;
    double *weight;
    struct bal_set *open;
    struct bli_length_index by_own;   /* the lab's index: all that are THERE open, all weights alike */
    struct bli_tournament *by_weight; /* own over weight of open servers, in all other cases */
    struct bli_tournament *due;       /* when something of a server expires */
    struct bli_ejection *ejection;    /* in nanoseconds */
    struct bli_checks *checks;
    struct bli_slow_start *slow;     /* in nanoseconds */
    struct concurrency *concurrency; /* of each server, where slots are found; else NULL. max 0: given */
    uint32_t *loads;    /* the last report of each server, not applied yet: 1 + jobs; NULL: none */
    uint64_t *station;  /* id of each server's station */
    uint32_t *stations; /* a directory of them */
    uint32_t places;
    uint32_t *listed;  /* while servers are configured: an index of those in the list, `places` large ... */
    uint32_t *numbers; /* ... and the index of each; BAL_NONE: it is new */
    char *inquiries;
    uint32_t inquiry_room; /* servers in one */
    size_t inquiry_size;
    void *state;
    struct bli_outbox box;
    struct bal_policy_spec created; /* the policy that the block was created with */
    uint32_t ask[];                 /* inquiry_room of them */
};

static inline struct request *request_at(const struct bal_dispatcher *d, uint32_t i) {
    return (struct request *)bli_ledger_get(&d->ledger, i);
}

static inline struct inquiry *inquiry_at(const struct bal_dispatcher *d, uint32_t i) {
    return (struct inquiry *)(void *)(d->inquiries + (size_t)i * d->inquiry_size);
}

/* No list names it; not one that is leaving. */
static inline bool is_member(const struct server *s) {
    return s->member_until > 0 && s->presence == THERE;
}

static inline bool is_under_way(const struct request *r) {
    return r->entry.state == DECIDED || r->entry.state == SENT;
}

/* Does the server work on fewer requests than it could, as far as is known? Not with stations, which offer
 * their slots. */
static inline bool is_below_slots(const struct bal_dispatcher *d, uint32_t server) {
    return d->fleet.length[server] < d->server[server].slots;
}

/* Signed, because that is converted at once. */
static inline double seconds(uint64_t ns) {
    return (double)(int64_t)ns * 1e-9;
}

/* Is it that time? Times are compared as the index of what expires compares them. */
static inline bool is_due(const struct bal_dispatcher *d, uint64_t time) {
    return (double)d->block->now >= (double)time;
}

/* Which servers are open; a view for one call. */
static inline struct bli_closing closing_of(struct bal_dispatcher *d) {
    return (struct bli_closing){.closed = &d->server[0].closed,
                                .stride = sizeof *d->server,
                                .servers = d->servers,
                                .open = d->open,
                                .own = d->own,
                                .weight = d->weight,
                                .rng = &d->chance,
                                .backed = d->block->config.backed};
}

/* As its station has told last. One that drains takes nothing new, as if it had left. */
static inline enum bal_server_status dispatcher_server_status(const struct server *s) {
    static const enum bal_server_status status[] = {[BAL_POWER_OFF] = BAL_SERVER_OFF,
                                                    [BAL_POWER_SETUP] = BAL_SERVER_SETUP,
                                                    [BAL_POWER_ON] = BAL_SERVER_ON,
                                                    [BAL_POWER_DRAINING] = BAL_SERVER_GONE};
    return status[s->power];
}

static inline bool policy_wants(const struct bal_dispatcher *d, unsigned what) {
    return d->policy.policy->wants & what;
}

/* ---- dispatcher_block.c ---- */

/* Rebuilds everything from the requests: a process has died in the middle of an operation, or another policy
 * decides. */
void bli_dispatcher_rebuild(struct bal_dispatcher *d);
/* Where everything lies in the block, for the view's policy. */
void bli_dispatcher_lay_out(struct bal_dispatcher *d);

/* ---- dispatcher_policy.c ---- */

/* Another process has set another policy: this view takes it over. */
void bli_dispatcher_adopt_policy(struct bal_dispatcher *d);
/* Servers in the sample of a request, under that policy. */
uint32_t bli_dispatcher_probe_room(const struct bal_policy_spec *policy,
                                   const struct bal_dispatcher_config *config);

/* How long it lasts until all stations have sent a heartbeat, in nanoseconds, if they obey. */
static inline uint64_t heartbeat_round_ns(const struct bal_dispatcher *d) {
    const struct bal_dispatcher_config *config = &d->block->config;
    return (uint64_t)pace_beat((double)config->beat_ns,
                               pace_wanted(d->block->present, (double)config->gap_ns));
}

/* ---- dispatcher_servers.c ---- */

/* Updates what depends on the list of servers: their count, weights, ejection, directory. */
void bli_dispatcher_servers_changed(struct bal_dispatcher *d);
/* A station has joined: its server; BAL_NONE: there is no room for it. */
uint32_t bli_dispatcher_add_member(struct bal_dispatcher *d, const struct bal_member *member);
void bli_dispatcher_remove_silent_members(struct bal_dispatcher *d);

/* ---- dispatcher_members.c ---- */

/* A message of a sender that is no server. FRESH: *server is its server now. */
enum bal_receipt bli_dispatcher_receive_unknown(struct bal_dispatcher *d, const struct bal_message *message,
                                                uint32_t *server);
/* A station has sent a challenge: the answer to our JOIN, if one was sent. */
void bli_dispatcher_answer_challenge(struct bal_dispatcher *d, uint32_t server, uint64_t nonce);
/* With each beat: removes members that are silent, and asks to join where nothing is heard. */
void bli_dispatcher_update_members(struct bal_dispatcher *d);

/* ---- dispatcher_slots.c ---- */

/* The slots of a server are to be found, or are given. */
void bli_dispatcher_find_slots(struct bal_dispatcher *d, uint32_t server, bool found);
/* Time has passed with the requests that are there: before their number changes. */
void bli_dispatcher_slots_pass(struct bal_dispatcher *d, uint32_t server);
/* One of them, which still counts, has been answered well. */
void bli_dispatcher_slots_end(struct bal_dispatcher *d, uint32_t server);
/* Its slots are as many as may be used now, and the policy knows. */
void bli_dispatcher_slots_update(struct bal_dispatcher *d, uint32_t server);
struct bal_concurrency_view bli_dispatcher_slots_view(const struct bal_dispatcher *d, uint32_t server);
void bli_dispatcher_slots_rebuild(struct bal_dispatcher *d);

/* ---- dispatcher_loads.c ---- */

/* Servers have reported: their queues change, and the policy knows. */
void bli_dispatcher_apply_loads(struct bal_dispatcher *d);
/* Time has passed: what it has reported may have expired. */
void bli_dispatcher_expire_load(struct bal_dispatcher *d, uint32_t server);
/* The own count of a server has changed. */
void bli_dispatcher_update_load(struct bal_dispatcher *d, uint32_t server);
void bli_dispatcher_rebuild_loads(struct bal_dispatcher *d);
const char *bli_dispatcher_find_load_fault(const struct bal_dispatcher *d, uint32_t server);

/* ---- dispatcher_server_state.c ---- */

/* Updates the part of the policies' view that changes with time. */
static inline void refresh_fleet_view(struct bal_dispatcher *d) {
    d->fleet.eligible = d->open->count == d->servers ? NULL : d->open;
    d->fleet.weight = d->block->weighted ? d->weight : NULL;
    d->fleet.now = seconds(d->block->now);
    d->fleet.shortest = d->block->weighted ? NULL : d->shortest;
}
/* Sets the part that does not change. */
void bli_dispatcher_init_fleet_view(struct bal_dispatcher *d);
/* A request goes to the server; has come back. rank: its class. */
void bli_dispatcher_server_add_request(struct bal_dispatcher *d, uint32_t server, uint32_t rank);
void bli_dispatcher_server_remove_request(struct bal_dispatcher *d, uint32_t server, uint32_t rank);
/* Rebuilds the indexes; own counts are right already. */
void bli_dispatcher_rebuild_indexes(struct bal_dispatcher *d);
/* A reason for not choosing it begins or ceases to hold. */
void bli_dispatcher_server_mark(struct bal_dispatcher *d, uint32_t server, enum bli_closed reason,
                                bool closed);
/* Tells the policy whether a server is idle; and all that is so at it. */
void bli_dispatcher_report_idle(struct bal_dispatcher *d, uint32_t server);
void bli_dispatcher_report_state(struct bal_dispatcher *d, uint32_t server);
/* Updates ejection and status, and when something of the server expires. */
void bli_dispatcher_server_refresh(struct bal_dispatcher *d, uint32_t server);
/* When something of it expires, in nanoseconds; INFINITY: never. */
double bli_dispatcher_server_next_expiry(const struct bal_dispatcher *d, uint32_t server);
/* Updates when that is in the index. */
void bli_dispatcher_server_update_expiry(struct bal_dispatcher *d, uint32_t server);
/* Sets the state that a server has before its first message. */
void bli_dispatcher_server_reset(struct bal_dispatcher *d, uint32_t server);
/* Removes a server that was leaving and has no requests left. */
void bli_dispatcher_server_release(struct bal_dispatcher *d, uint32_t server);

/* ---- dispatcher_backlog.c ---- */

/* Requests are held, or are not any longer: requests offers from stations, or sends all of them that there is
 * no backlog. */
void bli_dispatcher_backlog_update(struct bal_dispatcher *d);
/* A server is closed, or was when an offer came: its offers go back where they cannot be used. */
void bli_dispatcher_backlog_decline(struct bal_dispatcher *d, uint32_t server);
/* It is open: its station may make offers again. */
void bli_dispatcher_backlog_reopen(struct bal_dispatcher *d, uint32_t server);
/* It is another server, or is removed: forgets what was requested or declined. */
void bli_dispatcher_backlog_reset(struct bal_dispatcher *d, uint32_t server);
/* Its station has sent a message; time has passed. */
void bli_dispatcher_backlog_answered(struct bal_dispatcher *d, uint32_t server);
void bli_dispatcher_backlog_expire(struct bal_dispatcher *d, uint32_t server);

/* ---- dispatcher_check.c ---- */

/* The server has joined, left, or is down or not any longer. */
void bli_dispatcher_check_update(struct bal_dispatcher *d, uint32_t server);

/* ---- dispatcher_slow_start.c ---- */

/* The server has joined, or has come back. */
void bli_dispatcher_begin_slow_start(struct bal_dispatcher *d, uint32_t server);
/* A request has come (`arrival`), or time has passed, while servers warm up. */
void bli_dispatcher_warm_up(struct bal_dispatcher *d, bool arrival);
/* One that warms up was chosen. */
void bli_dispatcher_warming_chosen(struct bal_dispatcher *d, uint32_t server);
/* No other server can take a request: those that warm up may; false: none does. */
bool bli_dispatcher_lift_slow_start(struct bal_dispatcher *d);

/* ---- dispatcher_timed.c: of a dispatcher that is `timed` alone ---- */

/* Makes the reports of idle servers that are due by now; returns whether there were any. */
bool bli_timed_report(struct bal_dispatcher *d);
/* A request has come; a response has taken so many seconds. */
void bli_timed_arrival(struct bal_dispatcher *d);
void bli_timed_response(struct bal_dispatcher *d, double took);

/* ---- dispatcher.c ---- */

/* Stamps a message and queues it for sending. */
void bli_dispatcher_enqueue_message(struct bal_dispatcher *d, struct bal_message message);
/* Servers have opened or closed: sends those requests that need not be held any longer. */
void bli_dispatcher_dispatch_held(struct bal_dispatcher *d);
/* A process has died in the middle of an operation. */
void bli_dispatcher_recover(struct bal_dispatcher *d);
/* Reports at a rate, where they are made here. */
void bli_dispatcher_make_due_reports(struct bal_dispatcher *d);
/* Every operation begins and ends so. */
static inline void dispatcher_begin(struct bal_dispatcher *d, uint64_t now) {
    struct block *block = d->block;
    block->now = now > block->now ? now : block->now;
    const bool died = block->busy;
    __atomic_store_n(&block->busy, 1, __ATOMIC_RELEASE);
    if (__builtin_expect(d->policies != block->policies, 0))
        bli_dispatcher_adopt_policy(d);
    if (__builtin_expect(died, 0))
        bli_dispatcher_recover(d);
    refresh_fleet_view(d);
    if (__builtin_expect(d->loads != NULL, 0) && __atomic_load_n(&block->loads, __ATOMIC_RELAXED))
        bli_dispatcher_apply_loads(d);
    if (__builtin_expect(d->timed, 0))
        bli_dispatcher_make_due_reports(d);
}
static inline void dispatcher_end(struct bal_dispatcher *d) {
    __atomic_store_n(&d->block->busy, 0, __ATOMIC_RELEASE);
}

#endif
