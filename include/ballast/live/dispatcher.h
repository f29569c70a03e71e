/* SPDX-License-Identifier: BSD-2-Clause */
/* A dispatcher of a live system: one view of a fleet, which several processes share.
 *
 * All of its state lies in one flat block without pointers: servers by name, which of them may be chosen,
 * requests under way by process, requests that are held, the state of the policy, tokens, ejection, counters.
 * It uses no socket and no clock, and allocates nothing. The caller passes the time, in nanoseconds of a
 * monotonic clock (a step back counts as no time passed). Each process has its own stream of random numbers.
 * Messages to be sent are returned to the caller.
 *
 *     size_t size = bal_dispatcher_size(&policy, &config);
 *     bal_dispatcher_create(block, &policy, &config, now);            once, in shared memory, 8-byte aligned
 *     struct bal_dispatcher *d = malloc(bal_dispatcher_view_size(&policy, &config));      in each process
 *     bal_dispatcher_open(d, block, seed, &err);
 *     bal_dispatcher_join(d, now, pid, start_time);
 *     ... for each request:
 *     struct bal_dispatch to;
 *     bal_dispatcher_arrive(d, now, class, &to);      BAL_SEND to.server, BAL_WAIT for news, BAL_REFUSE
 *     bal_dispatcher_respond(d, now, to.ticket, BAL_OUTCOME_GOOD);
 *
 * There is one lock, which the caller provides. Hold it when you call any function below except check, size,
 * view_size, create, open and post_load. What bal_dispatcher_outgoing() returns belongs to the process and
 * may be read after the lock is released. Any lock will do that is freed when its owner dies: a robust mutex,
 * or one that another process breaks (nginx's master does so for its slab mutexes). A process may be killed
 * at any instruction, whether it holds the lock or not. The next call, from any process, finds that an
 * operation was not finished and rebuilds everything from the requests themselves (O(requests log requests +
 * servers^2), counted in `rebuilds`). When a process is known to be dead, bal_dispatcher_reap() releases what
 * it held.
 *
 * Two kinds of hosts. Without stations the dispatcher is the only one that sends to these servers: queue
 * lengths are its own requests in flight, and a response that leaves a server with a free slot is its report.
 * With stations in front of the servers, reports come as messages, tokens and all other information expire,
 * and a request waits for the replies to its probes.
 *
 * Costs: a request, a response and a message are O(1), or O(log servers) where the policy or an index needs
 * it, and as much again for each held request that can be sent. */
#ifndef BALLAST_LIVE_DISPATCHER_H
#define BALLAST_LIVE_DISPATCHER_H

#include "ballast/error.h"
#include "ballast/live/class_limit.h"
#include "ballast/live/concurrency.h"
#include "ballast/live/join.h"
#include "ballast/live/server_report.h"
#include "ballast/live/wire.h"
#include "ballast/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BAL_WORKERS_MAX = 256, /* processes that share a block at once */
    BAL_SERVER_NAME = 128, /* bytes of a server's name, the terminator included */
    BAL_TRIES_MAX = 4,     /* servers that a request remembers to have tried */
};

struct bal_dispatcher_config {
    uint32_t servers;   /* the maximum at any time, those that are leaving included */
    uint32_t workers;   /* processes, those that finish after a reload included; at most BAL_WORKERS_MAX */
    uint32_t requests;  /* under way or held, of all processes */
    uint32_t classes;   /* of requests, at most BAL_CLASSES_MAX; 0 is 1 */
    uint32_t slots;     /* requests that a server works on at once, where no station reports it; 0 is 1 */
    uint32_t min_slots; /* not 0: how many they should be is found for each server, from so many to `slots`.
                         * Without stations, and where no other dispatcher sends there */
    uint32_t held;      /* requests that are held at most; those beyond are sent at once */
    uint64_t hold_ns;   /* a request that has been held for so long is sent at once */
    bool refuse_beyond; /* rather than sent at once, requests beyond these two are refused; then a more urgent
                           one gets the place of the last one of the least urgent class */
    struct bal_class_limit class_limit[BAL_CLASSES_MAX]; /* of each class; used with refuse_beyond alone */
    bool backed;          /* servers elsewhere take over when all of these are closed, so that max_fails may
                             close the only one */
    uint32_t failures;    /* in a row, after which a server is ejected; 0: never */
    uint64_t back_off_ns; /* for so long the first time; then twice as long, up to 64 times */
    bool stations;        /* servers have stations, which report */
    uint64_t load_ns;     /* without stations: for so long a server's report of its load counts; 0: none is
                             read. Then queue lengths are what is there of all dispatchers, as far as
                             is known. Not with min_slots, and with policies that look at queues or free
                             slots */
    uint64_t probe_ns;    /* stations: how long a request waits for replies to probes */
    uint64_t grace_ns;    /* stations: how long a server that has not reported yet may be chosen */
    uint64_t beat_ns;     /* stations: how often backlogs and starts are announced */
    uint64_t gap_ns;     /* stations: they are asked to send heartbeats so seldom that on average one comes in
                            this time; backlogs are announced as seldom. 0: nothing is asked */
    uint32_t fleet;      /* stations: for messages; see wire.h */
    size_t policy_room;  /* for the state of policies that are set later: bal_dispatcher_policy_room(), or 0:
                            none will be */
    uint32_t probe_room; /* set when the block is created */
    uint64_t id, boot;
    struct bal_join_config join; /* stations that are not listed; `servers` includes them */
};

/* Checks that the configuration is valid and that the policy can run with it. */
enum bal_code bal_dispatcher_check(const struct bal_policy_spec *policy,
                                   const struct bal_dispatcher_config *config, struct bal_error *err);

/* Bytes of the block. The arguments must have passed bal_dispatcher_check(). */
size_t bal_dispatcher_size(const struct bal_policy_spec *policy, const struct bal_dispatcher_config *config);
void bal_dispatcher_create(void *block, const struct bal_policy_spec *policy,
                           const struct bal_dispatcher_config *config, uint64_t now);

/* Room for any policy of the table, with parameters that take as much as their defaults; only
 * config->servers and config->stations are looked at. */
size_t bal_dispatcher_policy_room(const struct bal_dispatcher_config *config);

struct bal_dispatcher;

/* A process's view of the block, in memory of its own, 8-byte aligned. BAL_E_FORMAT: this is no block of this
 * version. seed: of its random stream; two processes must not have the same. It needs no clean-up. */
size_t bal_dispatcher_view_size(const struct bal_policy_spec *policy,
                                const struct bal_dispatcher_config *config);
enum bal_code bal_dispatcher_open(struct bal_dispatcher *d, void *block, uint64_t seed,
                                  struct bal_error *err);
/* The same with the policy that the block was created with, where bal_policy_parse() may not know it, or may
 * know another one of its name: policies from files. */
enum bal_code bal_dispatcher_open_with(struct bal_dispatcher *d, void *block,
                                       const struct bal_policy_spec *policy, uint64_t seed,
                                       struct bal_error *err);

/* ---- processes ---- */

/* Registers this process. A process is identified by its pid and its start time, because pids are reused.
 * BAL_E_RANGE: config.workers processes are registered already. */
enum bal_code bal_dispatcher_join(struct bal_dispatcher *d, uint64_t now, uint64_t pid, uint64_t start,
                                  struct bal_error *err);
/* Unregisters this process; what it still holds is released. */
void bal_dispatcher_leave(struct bal_dispatcher *d, uint64_t now);

/* The i-th process, i < config.workers; false: no process has this index. For a host that looks for dead
 * processes. */
bool bal_dispatcher_worker(struct bal_dispatcher *d, uint32_t i, uint64_t *pid, uint64_t *start);
/* The i-th process is dead: its requests end. O(requests). */
void bal_dispatcher_reap(struct bal_dispatcher *d, uint64_t now, uint32_t i);

/* ---- the fleet ---- */

struct bal_dispatcher_server {
    const char *name;   /* identifies it: its address; shorter than BAL_SERVER_NAME */
    uint64_t station;   /* id of its station; ignored without stations */
    double weight;      /* 0 is 1 */
    uint32_t max_conns; /* requests under way at most; 0: any number */
    uint32_t slots;     /* requests that it works on at once, where no station reports it; 0: config.slots,
                         * or what is found */
    bool down;          /* not to be chosen */
    bool drain;         /* nor is this one: its requests are to end, so that it can be taken away */
    /* As in nginx: a server that has failed (BAL_OUTCOME_FAILED) so many times within so long is closed for
     * as long; then one request at a time tries it, and one that does not fail clears it. 0: never; nor is
     * the only server of a fleet, unless it is `backed`. All may be closed so. With stations both are
     * ignored: a server that could not be reached is closed until its station sends again. */
    uint32_t max_fails;
    uint64_t fail_ns;
};

/* Whether there are other servers behind these now, for requests that none of these may get; `backed` of the
 * configuration until it is called. */
void bal_dispatcher_set_backed(struct bal_dispatcher *d, uint64_t now, bool backed);

/* Sets the list of servers. Servers that were listed before, and members, keep their index, counts and state.
 * Servers that are not listed any longer get no more requests; their indexes are reused when their last
 * request has ended. On failure nothing has changed, with one exception: where indexes are missing
 * (BAL_E_RANGE), those servers are added that fit, unless that would leave no server at all: call it again
 * when requests have ended. A call with the same list changes nothing. O(servers log servers). */
enum bal_code bal_dispatcher_configure(struct bal_dispatcher *d, uint64_t now,
                                       const struct bal_dispatcher_server *servers, uint32_t count,
                                       struct bal_error *err);

/* For a block that replaces another one, where the configuration has changed: the members of that one are
 * members here from the start. Those that are listed, too many or not allowed are left out. Call it once,
 * after bal_dispatcher_configure(). O(servers + count). */
void bal_dispatcher_adopt_members(struct bal_dispatcher *d, uint64_t now, const struct bal_member *members,
                                  uint32_t count);

/* ---- the policy ---- */

/* From now on another policy decides, in all processes. Requests under way stay where they are, those that
 * are held go on waiting or are sent, as it wants; what the old one had learned is forgotten, and the new one
 * is told the state of each server. O(requests log requests + servers^2). A block whose `policy_room` is 0
 * takes no other policy, and none takes one that switches servers off or moves requests, if it is not the one
 * it was created with. On failure nothing has changed. The one that decides already changes nothing. */
enum bal_code bal_dispatcher_set_policy(struct bal_dispatcher *d, uint64_t now,
                                        const struct bal_policy_spec *policy, struct bal_error *err);
/* Whether that would succeed for a block that was created with the policy `created`. */
enum bal_code bal_dispatcher_check_policy(const struct bal_policy_spec *created,
                                          const struct bal_dispatcher_config *config,
                                          const struct bal_policy_spec *policy, struct bal_error *err);

/* ---- requests ---- */

enum bal_dispatch_verdict {
    BAL_SEND,   /* to.server */
    BAL_WAIT,   /* it is held, or waits for replies: the decision comes later, by next_decision */
    BAL_REFUSE, /* no server can take it; the ticket is void */
};

/* Why the decision is BAL_SEND or BAL_REFUSE. */
enum bal_reason {
    BAL_REASON_TOKEN,     /* the server was known to have a free slot */
    BAL_REASON_ELSE,      /* the policy's choice without a free slot known */
    BAL_REASON_RETRY,     /* it has been tried at another server before, whatever has happened since */
    BAL_REASON_HELD,      /* it was held */
    BAL_REASON_NONE_OPEN, /* no server may be chosen, or none that the request has not tried; nor is it held
                             when all are down or have failed */
    BAL_REASON_NO_ROOM,   /* it would have to be held, and the hold queue is full */
    BAL_REASON_TOO_LONG,  /* it has been held for too long */
    BAL_REASON_LEDGER,    /* config.requests are under way */
    BAL_REASONS,
};

const char *bal_reason_name(enum bal_reason reason); /* "token"; "?" when there is none */

struct bal_dispatch {
    enum bal_dispatch_verdict verdict;
    uint32_t server;
    uint64_t ticket;
    enum bal_reason reason; /* of SEND and REFUSE */
    uint32_t rank;          /* the class in which it is */
    uint32_t length;        /* SEND: of the server, as the policy saw it, this request not included */
    uint64_t waited_ns;     /* held or for replies, since it came or was last tried; 0 while it waits */
    /* REFUSE, for NO_ROOM and TOO_LONG: how long until those have gone that are held now, are as urgent or
     * more so, and the request itself, at the rate at which responses came while requests were held; 0: it is
     * not known yet. More urgent ones that are still to come are not foreseen. */
    uint64_t retry_ns;
};

/* How a request went at a server. */
enum bal_outcome {
    BAL_OUTCOME_GOOD,
    BAL_OUTCOME_BAD,    /* an answer that the client cannot use (5xx): counts for the ejection */
    BAL_OUTCOME_FAILED, /* none at all: counts for the ejection and for max_fails */
};

/* A request has come. class: 0 is the most urgent; numbers too large mean the last class. */
void bal_dispatcher_arrive(struct bal_dispatcher *d, uint64_t now, uint32_t rank, struct bal_dispatch *to);
/* The response has come, or will not come. A void ticket is ignored, here and below; returns whether it was
 * good. */
bool bal_dispatcher_respond(struct bal_dispatcher *d, uint64_t now, uint64_t ticket,
                            enum bal_outcome outcome);
/* The same, and the request is to be tried elsewhere: where does it go now? Not where it has been, as far as
 * it remembers: after BAL_TRIES_MAX servers it forgets the one that it tried first. The host must bound the
 * number of retries. */
bool bal_dispatcher_retry(struct bal_dispatcher *d, uint64_t now, uint64_t ticket, enum bal_outcome outcome,
                          struct bal_dispatch *to);
/* Can this process let one more request wait? From now on, until it says otherwise; at first it can. One that
 * cannot is refused, with NO_ROOM, and takes no other's place. Without the lock. */
void bal_dispatcher_set_crowded(struct bal_dispatcher *d, bool crowded);
/* The client has gone away, whatever the request was doing. It does not count for or against the server. */
bool bal_dispatcher_cancel(struct bal_dispatcher *d, uint64_t now, uint64_t ticket);

/* The next decision on a request of this process that has waited. After being woken, call it until it returns
 * false. */
bool bal_dispatcher_next_decision(struct bal_dispatcher *d, uint64_t now, struct bal_dispatch *to);

/* ---- received messages, and time ---- */

/* A message from a station; bal_receiver_open() has verified it. */
enum bal_receipt bal_dispatcher_receive(struct bal_dispatcher *d, uint64_t now,
                                        const struct bal_message *message);
/* The same for a message that came with a response. Its token counts, but it does not prove that datagrams
 * get through: a silent server stays silent. */
enum bal_receipt bal_dispatcher_receive_piggyback(struct bal_dispatcher *d, uint64_t now,
                                                  const struct bal_message *message);

/* A server has reported its load, with a response that is still counted here; NULL: what it has sent is no
 * report. Without the lock: what has been posted takes effect with the next call of any other function, of
 * any process. Of several the last one counts. How many requests of others are there is the number that the
 * report says, less those of this dispatcher at that moment; it is believed for config.load_ns. A report
 * never makes a queue shorter than the requests of this dispatcher. */
void bal_dispatcher_post_load(struct bal_dispatcher *d, uint32_t server,
                              const struct bal_load_report *report);

/* Time has passed: expires old information, decides requests that have waited long enough, repeats backlog
 * and start messages. Returns when it must be called again at the latest; UINT64_MAX: not before another
 * call. */
uint64_t bal_dispatcher_run_timers(struct bal_dispatcher *d, uint64_t now);

/* From now on another dispatcher receives the stations' messages in place of this one. Requests that wait are
 * sent, none waits for tokens or replies any longer, and no server is considered silent. This cannot be
 * undone; a second call changes nothing. */
void bal_dispatcher_detach_stations(struct bal_dispatcher *d, uint64_t now);

/* ---- outgoing messages and wake-ups ---- */

/* Messages that the calls since the last time have queued for sending. Messages beyond the capacity are lost,
 * as datagrams may be. message.receiver is the station's id, or BAL_EVERYONE: then it goes to every server in
 * the list. Valid until the next call. */
const struct bal_message *bal_dispatcher_outgoing(struct bal_dispatcher *d, uint32_t *count);

/* A process for which there are decisions, this one included; BAL_NONE: no more. Each is returned once. */
uint32_t bal_dispatcher_next_to_wake(struct bal_dispatcher *d);
/* Points to a flag: is there any? The pointer is valid as long as the view. */
const bool *bal_dispatcher_wake_pending(const struct bal_dispatcher *d);

/* The index of this process among them. */
uint32_t bal_dispatcher_worker_number(const struct bal_dispatcher *d);

/* ---- inspection ---- */

struct bal_dispatcher_counts {
    uint64_t arrived, sent, answered, failed, retried, cancelled, reaped;
    uint64_t reasons[BAL_REASONS];  /* decisions, by reason */
    uint64_t held;                  /* requests that were held */
    uint64_t overdue, overflow;     /* not held, or no longer: held for too long; the hold queue was full */
    uint64_t replaced;              /* of overflow: its place went to a more urgent request */
    uint64_t crowded;               /* of overflow: its process could not let it wait */
    uint64_t refused, no_room;      /* for any reason but this one; the ledger was full */
    uint64_t tokens, used, expired; /* offered to us; used by a request; gone unused */
    uint64_t probes, unsent;        /* servers asked; messages beyond the capacity */
    uint64_t load_reports;          /* that servers have posted ... */
    uint64_t load_malformed;        /* ... and what they have sent in place of one */
    uint64_t unheard;               /* sent to a server whose station is silent, by requests in flight */
    uint64_t rebuilds;
    uint64_t void_tickets;
    uint64_t receipts[BAL_RECEIPTS];           /* received messages, by receipt */
    uint64_t messages_sent[BAL_MSG_TYPES];     /* messages by type; one to everyone counts for each server */
    uint64_t messages_received[BAL_MSG_TYPES]; /* that were fresh or late */
};

struct bal_server_view {
    const char *name; /* NULL: there is no such server */
    bool open;        /* may be chosen now */
    bool leaving;     /* is not in the configuration any longer */
    /* These two last until a request has succeeded there. The server is closed until it may be tried, and
     * while it is being tried. */
    bool ejected;      /* after failures in a row */
    bool shut;         /* by max_fails */
    bool on_trial;     /* one request is trying it; no other request goes there meanwhile */
    uint64_t until;    /* of ejected and shut: when it may be tried; 0 for neither */
    bool down;         /* by the configuration */
    bool joined;       /* a member: no list names it */
    uint64_t heard_at; /* when its station's last message came; 0: none has */
    bool drain;        /* gets nothing new, by the configuration; it is empty when in_flight is 0 */
    bool full;         /* has as many requests of ours as it may have */
    bool silent;       /* stations: it has sent nothing for too long */
    double weight;
    uint32_t max_conns;
    uint32_t in_flight;
    uint32_t jobs;   /* waiting and in service, of all dispatchers where it or its station reports */
    uint32_t others; /* of these, those that its own report adds to ours; 0 also when it has expired */
    uint32_t slots;  /* as configured, or as its station reports, or as found */
    struct bal_concurrency_view concurrency;
    uint32_t tokens;      /* at hand */
    uint64_t token_since; /* when the last one came; 0: none has */
    enum bal_server_status status;
    uint64_t answered, failed; /* tries since it joined, those that failed included */
    uint64_t took_ns;          /* how long all of them took */
};

/* Stations that have joined: at most `room` of them; returns how many there are. Each is a server whose name
 * is its address. The version changes whenever they do. */
uint32_t bal_dispatcher_members(const struct bal_dispatcher *d, struct bal_member *members, uint32_t room);
/* The same without those whose station is silent: for bal_dispatcher_adopt_members(), since a new server may
 * be chosen for a moment before anything is heard of it. */
uint32_t bal_dispatcher_heard_members(const struct bal_dispatcher *d, struct bal_member *members,
                                      uint32_t room);
uint64_t bal_dispatcher_members_version(const struct bal_dispatcher *d);
struct bal_dispatcher_counts bal_dispatcher_counts(const struct bal_dispatcher *d);
/* number < config.servers. */
struct bal_server_view bal_dispatcher_server(const struct bal_dispatcher *d, uint32_t number);
/* With stations: for how long that server has been overdue, that is, has sent nothing since its last message
 * expired, while another server is open; 0: it is not overdue, or none is open. O(1). */
uint64_t bal_dispatcher_silent_for(const struct bal_dispatcher *d, uint64_t now, uint32_t number);
/* Requests that are held now, of a class; of all: rank is BAL_CLASSES_MAX. */
uint32_t bal_dispatcher_held(const struct bal_dispatcher *d, uint32_t rank);

/* Checks that counts, lists, indexes, open servers and the state of the policy agree with the requests. For
 * tests and debugging: O(requests + servers^2). NULL: they do, else what does not. */
const char *bal_dispatcher_find_inconsistency(const struct bal_dispatcher *d);

#ifdef __cplusplus
}
#endif
#endif
