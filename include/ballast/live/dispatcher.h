/* A dispatcher of a live system: one view of a fleet, which several processes share.
 *
 * All it knows lies in one flat block without pointers: servers by name, which of them may be chosen,
 * requests under way by process, requests that are held, the state of the policy, tokens, quarantine,
 * counters. It knows no socket and no clock, and allocates nothing. Time is handed in, in nanoseconds of a
 * clock that does not go back (a step back is taken for no time at all); random numbers come from a stream of
 * each process; what is to be sent is handed out.
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
 * One lock, the caller's: whoever calls any function below, but for check, size, view_size, create and open,
 * holds it. What bal_dispatcher_out() hands out is the process's own and may be read afterwards.
 * It may be any lock that is freed when its owner dies: a robust mutex, or one that somebody else breaks
 * (nginx's master does so for its slab mutexes). A process may be killed at any instruction, with the lock in
 * its hand or without: the next call, whoever makes it, finds that an operation was not finished and makes
 * everything anew from the requests themselves (O(requests log requests + servers^2), counted in `rebuilds`).
 * When a process is known to be dead, bal_dispatcher_reap() gives back what it had.
 *
 * Two kinds of hosts. Without stations the dispatcher is the only one that sends to these servers: queue
 * lengths are its own requests in flight, and a response that leaves a server with a free slot is its report.
 * With stations beside the servers reports come as messages, tokens and all other knowledge expire, and
 * replies to probes are waited for.
 *
 * Costs: a request, a response and a message are O(1), or O(log servers) where the policy or an index needs
 * it, and as much again for each held request that finds a place. */
#ifndef BALLAST_LIVE_DISPATCHER_H
#define BALLAST_LIVE_DISPATCHER_H

#include "ballast/error.h"
#include "ballast/live/wire.h"
#include "ballast/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BAL_OWNERS_MAX = 256,  /* processes that share a block at once */
    BAL_SERVER_NAME = 128, /* bytes of a server's name, the terminator included */
    BAL_TRIES_MAX = 4,     /* servers that a request remembers to have tried */
};

struct bal_dispatcher_config {
    uint32_t servers;   /* the most that there will ever be at once, those that are leaving included */
    uint32_t owners;    /* processes, those that finish after a reload included; at most BAL_OWNERS_MAX */
    uint32_t requests;  /* under way or held, of all processes */
    uint32_t classes;   /* of requests, at most BAL_CLASSES_MAX; 0 is 1 */
    uint32_t slots;     /* requests that a server works on at once, where it has no station to tell; 0 is 1 */
    uint32_t held;      /* requests that are held at most; those beyond are sent at once */
    uint64_t hold_ns;   /* a request that has been held for so long is sent at once */
    bool refuse_beyond; /* rather than sent at once, requests beyond these two are refused */
    bool backed;        /* servers elsewhere take over when all of these are closed, so that max_fails may
                           close the only one */
    uint32_t failures;  /* in a row, after which a server is in quarantine; 0: never */
    uint64_t back_off_ns; /* for so long the first time; then twice as long, up to 64 times */
    bool stations;        /* servers have stations, which report */
    uint64_t probe_ns;    /* stations: how long replies to probes are waited for */
    uint64_t grace_ns;    /* stations: how long a server of which nothing is known yet may be chosen */
    uint64_t beat_ns;     /* stations: how often hunger and wakes are repeated */
    uint32_t fleet;       /* stations: for messages; see wire.h */
    uint64_t id, boot;
};

/* Does it make sense, and can the policy be hosted so? */
enum bal_code bal_dispatcher_check(const struct bal_policy_spec *policy,
                                   const struct bal_dispatcher_config *config, struct bal_error *err);

/* Bytes of the block. What it is called with has been checked. */
size_t bal_dispatcher_size(const struct bal_policy_spec *policy, const struct bal_dispatcher_config *config);
void bal_dispatcher_create(void *block, const struct bal_policy_spec *policy,
                           const struct bal_dispatcher_config *config, uint64_t now);

struct bal_dispatcher;

/* A process's view of the block, in memory of its own, 8-byte aligned. BAL_E_FORMAT: this is no block of this
 * version. seed: of its random stream; two processes must not have the same. It needs no end. */
size_t bal_dispatcher_view_size(const struct bal_policy_spec *policy,
                                const struct bal_dispatcher_config *config);
enum bal_code bal_dispatcher_open(struct bal_dispatcher *d, void *block, uint64_t seed,
                                  struct bal_error *err);

/* ---- processes ---- */

/* This process takes part from now on. A process is known by its number and the time of its start, for
 * numbers are used again. BAL_E_RANGE: as many as there is room for take part already. */
enum bal_code bal_dispatcher_join(struct bal_dispatcher *d, uint64_t now, uint64_t pid, uint64_t start,
                                  struct bal_error *err);
/* It takes part no longer; what it still has is given back. */
void bal_dispatcher_leave(struct bal_dispatcher *d, uint64_t now);

/* The i-th process, i < config.owners; false: nobody. For a host that looks for the dead. */
bool bal_dispatcher_owner(struct bal_dispatcher *d, uint32_t i, uint64_t *pid, uint64_t *start);
/* The i-th process is dead: its requests are not under way any longer. O(requests). */
void bal_dispatcher_reap(struct bal_dispatcher *d, uint64_t now, uint32_t i);

/* ---- the fleet ---- */

struct bal_dispatcher_server {
    const char *name; /* by which it is known, its address; shorter than BAL_SERVER_NAME */
    uint64_t station; /* id of its station; without stations not looked at */
    double weight;    /* 0 is 1 */
    uint32_t most;    /* requests under way at most; 0: any number */
    bool down;        /* not to be chosen */
    /* As in nginx: a server that has failed (BAL_OUTCOME_FAILED) so many times within so long is closed for
     * as long; then one request at a time tries it, and one that does not fail clears it. 0: never; nor is
     * the only server of a fleet, unless it is `backed`. All may be closed so. */
    uint32_t max_fails;
    uint64_t fail_ns;
};

/* The servers from now on. Those that were there before keep their number, counts and whatever is known of
 * them; those that are not named any longer get no more requests, and their numbers are used again when the
 * last one has come back. On failure nothing has changed. Saying the same again changes nothing. O(servers),
 * and O(servers) more for each that is new. */
enum bal_code bal_dispatcher_configure(struct bal_dispatcher *d, uint64_t now,
                                       const struct bal_dispatcher_server *servers, uint32_t count,
                                       struct bal_error *err);

/* ---- requests ---- */

enum bal_dispatch_verdict {
    BAL_SEND,   /* to.server */
    BAL_WAIT,   /* it is held, or replies are waited for: the verdict comes as news */
    BAL_REFUSE, /* nobody can take it; the ticket is void */
};

/* Why: of BAL_SEND and of BAL_REFUSE. */
enum bal_reason {
    BAL_REASON_TOKEN,     /* the server was known to have a free slot */
    BAL_REASON_ELSE,      /* the policy's choice without that */
    BAL_REASON_RETRY,     /* it has been tried elsewhere before, whatever has happened since */
    BAL_REASON_HELD,      /* it was held */
    BAL_REASON_NONE_OPEN, /* no server may be chosen, or none that the request has not tried; nor is it held
                             when all are down or have failed */
    BAL_REASON_NO_ROOM,   /* it would have to be held, and there are as many as may be */
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
};

/* How a request went at a server. */
enum bal_outcome {
    BAL_OUTCOME_GOOD,
    BAL_OUTCOME_BAD,    /* an answer that the client cannot use (5xx): counts for the quarantine */
    BAL_OUTCOME_FAILED, /* none at all: counts for the quarantine and for max_fails */
};

/* A request has come. class: 0 is the most urgent; numbers too large mean the last class. */
void bal_dispatcher_arrive(struct bal_dispatcher *d, uint64_t now, uint32_t rank, struct bal_dispatch *to);
/* The response is here, or will not come. A void ticket is ignored, here and below; returns whether it was
 * good. */
bool bal_dispatcher_respond(struct bal_dispatcher *d, uint64_t now, uint64_t ticket,
                            enum bal_outcome outcome);
/* The same, and the request is to be tried elsewhere: where does it go now? Not where it has been, as far as
 * it remembers: after BAL_TRIES_MAX servers it forgets the one that it tried first. How often is for the host
 * to bound. */
bool bal_dispatcher_retry(struct bal_dispatcher *d, uint64_t now, uint64_t ticket, enum bal_outcome outcome,
                          struct bal_dispatch *to);
/* The client has gone away, whatever the request was doing. This says nothing about the server. */
bool bal_dispatcher_cancel(struct bal_dispatcher *d, uint64_t now, uint64_t ticket);

/* The next verdict on a request of this process that has waited: call it, after being woken, until it returns
 * false. */
bool bal_dispatcher_news(struct bal_dispatcher *d, uint64_t now, struct bal_dispatch *to);

/* ---- what is heard, and time ---- */

/* A message of a station that bal_receiver_open() has found genuine. */
enum bal_receipt bal_dispatcher_hear(struct bal_dispatcher *d, uint64_t now,
                                     const struct bal_message *message);

/* Time has passed: knowledge expires, requests have waited long enough, hunger and wakes are repeated.
 * Returns when it must be called again at the latest; UINT64_MAX: something else will happen first. */
uint64_t bal_dispatcher_pass(struct bal_dispatcher *d, uint64_t now);

/* Others hear what stations say, in this dispatcher's place and for good: requests that wait are sent, none
 * waits any longer for tokens or replies, and nobody is taken for silent. There is no way back; saying it
 * again changes nothing. */
void bal_dispatcher_deafen(struct bal_dispatcher *d, uint64_t now);

/* Asks all stations for the present: for a dispatcher that begins on a fleet which runs already. */
void bal_dispatcher_resync(struct bal_dispatcher *d, uint64_t now);

/* ---- what is handed out ---- */

/* Messages that the calls since the last time have left to be sent, at most so many as there is room for;
 * those beyond are lost, as datagrams may be. message.receiver is the station's id, or BAL_EVERYONE: then it
 * goes to every server that is there. Valid until the next call. */
const struct bal_message *bal_dispatcher_out(struct bal_dispatcher *d, uint32_t *count);

/* A process for which there is news, this one included; BAL_NONE: no more. Each is told once. */
uint32_t bal_dispatcher_woken(struct bal_dispatcher *d);
/* Where it stands whether there is any; the same for as long as the view lasts. */
const bool *bal_dispatcher_wakes(const struct bal_dispatcher *d);

/* Which number this process has among them. */
uint32_t bal_dispatcher_self(const struct bal_dispatcher *d);

/* ---- looking at it ---- */

struct bal_dispatcher_counts {
    uint64_t arrived, sent, answered, failed, retried, cancelled, reaped;
    uint64_t reasons[BAL_REASONS];  /* verdicts, by why */
    uint64_t held;                  /* requests that were held */
    uint64_t overdue, overflow;     /* that were not, or not any longer: their time was over, or no room */
    uint64_t refused, no_room;      /* for any reason but this one; the ledger was full */
    uint64_t tokens, used, expired; /* offered to us; used by a request; gone unused */
    uint64_t probes, unsent;        /* servers asked; messages for which there was no room */
    uint64_t rebuilds;
    uint64_t void_tickets;
    uint64_t receipts[BAL_RECEIPTS]; /* messages heard, by what became of them */
    uint64_t said[BAL_MSG_TYPES];    /* messages by type; one to everyone counts for each server */
    uint64_t heard[BAL_MSG_TYPES];   /* that were fresh or late */
};

struct bal_server_view {
    const char *name; /* NULL: there is no such server */
    bool open;        /* may be chosen now */
    bool leaving;     /* is not in the configuration any longer */
    /* Of these two: until a request has proved it well; it is closed until it may be tried, and while it is.
     */
    bool quarantined; /* after failures in a row */
    bool shut;        /* by max_fails */
    bool on_trial;    /* one request is proving it well; nobody else goes there until it has */
    uint64_t until;   /* of quarantined and shut: when it may be tried; 0 for neither */
    bool down;        /* by the configuration */
    bool full;        /* has as many requests of ours as it may have */
    bool silent;      /* stations: nothing has been heard of it for too long */
    uint32_t in_flight;
    uint32_t jobs;        /* waiting and in service, of all dispatchers where its station tells */
    uint32_t slots;       /* stations: as they tell */
    uint32_t tokens;      /* at hand */
    uint64_t token_since; /* when the last one came; 0: none has */
    enum bal_standing standing;
    uint64_t answered, failed; /* tries since it joined, those that failed included */
    uint64_t took_ns;          /* how long all of them took */
};

struct bal_dispatcher_counts bal_dispatcher_counts(const struct bal_dispatcher *d);
/* number < config.servers. */
struct bal_server_view bal_dispatcher_server(const struct bal_dispatcher *d, uint32_t number);
/* Requests that are held now, of a class; of all: rank is BAL_CLASSES_MAX. */
uint32_t bal_dispatcher_held(const struct bal_dispatcher *d, uint32_t rank);

/* Is everything as the requests say: counts, lists, indexes, open servers, the state of the policy? For tests
 * and for the suspicious: O(requests + servers^2). NULL: it is, else what is not. */
const char *bal_dispatcher_unsound(const struct bal_dispatcher *d);

#ifdef __cplusplus
}
#endif
#endif
