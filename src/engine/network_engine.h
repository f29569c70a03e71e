/* SPDX-License-Identifier: BSD-2-Clause */
/* The network engine from the inside: dispatchers and servers that know of each other only by messages.
 *
 * network_engine.c advances time and carries messages, network_dispatcher.c is what happens at dispatchers,
 * network_server.c what happens at servers, network_sharing.c at those whose jobs share what the server can
 * do, network_offers.c to whom servers offer their free slots, network_backlog.c how jobs that are held get
 * them, network_events.c what happens at stated times. The rules of offers and of jobs that are held are
 * those of live fleets, and the same code (policy/offers.h, policy/slot_requests.h). A message that takes no
 * time is delivered after what is being done now and before anything later; so with one dispatcher and no
 * delay results are bit-identical to those of the event engine.
 *
 * A job is a record that travels: it comes to a dispatcher, perhaps waits there for replies to probes or for
 * an idle server, goes to a server, perhaps to others by moving, stealing or failing, and its response goes
 * back. Its response time is from the first moment to the last. While it is at no server it is counted as
 * waiting. */
#ifndef ENGINE_NETWORK_ENGINE_H
#define ENGINE_NETWORK_ENGINE_H

#include "base/event_list.h"
#include "engine/links.h"
#include "engine/stretch.h"
#include "engine/system.h"
#include "policy/closing.h"
#include "policy/ejection.h"
#include "policy/heard.h"
#include "policy/hold_place.h"
#include "policy/inquiry.h"
#include "policy/offers.h"
#include "policy/slot_requests.h"
#include "policy/slow_start_credit.h"
#include "policy/start_request.h"
#include "policy/statement.h"
#include "policy/tries.h"

#include <math.h>

#define NO_INDEX UINT32_MAX      /* no job, server or dispatcher */
enum { TRIES = BLI_TRIES_KEPT }; /* a job that has failed so often is given up */

struct job {
    double arrival;
    double size;
    double left;   /* of it */
    double since;  /* when its service began or went on */
    double sent;   /* by its dispatcher, the last time */
    double joined; /* a server, the first since it was sent; NaN: it is on its way there */
    uint32_t next, before;
    uint32_t dispatcher;
    uint32_t server;  /* where it was sent last by its dispatcher */
    uint32_t version; /* of its completion: one that was foreseen before an interruption is void */
    struct bli_tries tries;
    uint8_t rank;
    uint8_t kind; /* JOB_GROUPS */
    bool started;
    bool moved;       /* or stolen, on the way to another server or there */
    uint8_t restarts; /* of its dispatcher until it was sent */
};

enum message_type {
    JOB,               /* a job comes to a server */
    RESPONSE,          /* its response comes to the dispatcher */
    FAILURE,           /* the news that the server is gone */
    LOST,              /* the news that its buffer is full, or that it is off and discards jobs */
    REPORT,            /* of a server */
    HEARTBEAT,         /* a heartbeat */
    PROBE,             /* to a server; job: the job that it is for, or NO_INDEX */
    REPLY,             /* and back */
    WAKE,              /* to a server */
    ABORT,             /* to a server: its set-up ends */
    MOVE,              /* to a server: its last low job goes to `other` */
    STEAL_REQUEST,     /* from server `other` to server: may I have some? */
    BACKLOG,           /* to a server: a dispatcher holds so many jobs (other), or wants none of its slots */
    RESUME,            /* to a server: a dispatcher can use its slots again */
    COMPLETE,          /* a service ends */
    POWER_TIMER,       /* standby or set-up ends */
    PROBE_TIMEOUT,     /* replies are not waited for any longer */
    HEARTBEAT_TIMER,   /* it is time for the heartbeat of a server */
    CHURN,             /* a server fails or returns */
    ELIGIBILITY_TIMER, /* a dispatcher finds out which servers are eligible */
    BACKLOG_TIMER,     /* it is time for a dispatcher to send its backlog message to all servers */
    SLOT_REQUEST_TIMEOUT, /* the answer to a backlog message to one server is not waited for any longer */
    START_TIMER,          /* it is time to send WAKE again to a server that has not answered */
    EVENT,                /* at a stated time; detail: enum event_part */
};

struct message {
    uint8_t type;   /* enum message_type */
    uint8_t detail; /* REPORT: enum bal_report. HEARTBEAT: enum bal_server_status. RESPONSE: is it wrong?
                     * BACKLOG: to this server alone? */
    uint32_t dispatcher, server;
    union {
        uint32_t job;
        uint32_t other;
    };
    uint32_t offered; /* HEARTBEAT, REPORT, RESPONSE: slots that it has been offered and has not used */
    uint32_t number;  /* of statements (policy/statement.h): of all that the sender has made */
    union {
        uint64_t token; /* HEARTBEAT, REPORT: the number of the last of these; RESPONSE: 0: it offers none */
        uint32_t version; /* of an inquiry, a timer, a service */
        uint32_t next_free;
    };
    struct bal_reply load; /* HEARTBEAT, REPLY, and reports of the load */
};

/* The probes of a job, and the replies. */
struct job_inquiry {
    uint32_t job;
    uint32_t version; /* one more each time it is used: late replies are void */
    struct bli_inquiry replies;
    uint32_t *server;
    uint32_t next; /* free one */
};

struct list {
    uint32_t first, last, count;
};

struct network;

/* An observer of the events of a run, as the playground uses it. It changes nothing. */
struct network_observer {
    void *context;
    void (*routes)(void *context, uint32_t job);                    /* the policy is about to route it */
    void (*sends)(void *context, const struct message *message);    /* it is on its way, and may get lost */
    void (*delivers)(void *context, const struct message *message); /* it has arrived, not yet processed */
};

/* What a dispatcher has seen of a server that offers its slots. */
struct seen {
    struct bli_tokens tokens;
    double until;   /* when these expire; used where there are heartbeats */
    uint8_t status; /* enum bal_server_status */
};

struct dispatcher {
    struct network *net;
    void *state;
    struct bal_fleet fleet;
    struct bal_rng rng;
    uint32_t *own;
    struct ranking ranking;            /* WEIGHT_INDEX */
    struct bli_length_index own_index; /* LENGTH_INDEX */
    uint32_t *length, *urgent; /* of each server, by its newest statement; probes use it where they take time
                                */
    struct bal_reply *load;    /* its last load, for when it is open again; NULL: the policy wants none */
    double *known_until;       /* when its last statement expires; kept where there are heartbeats */
    uint32_t *newest; /* the number of its newest statement; kept where messages may overtake each other */
    uint32_t *closed; /* enum bli_closed, of each server */
    struct bal_set *eligible;
    struct bli_start_request *start; /* of each server; kept where servers are switched on and off */
    struct bli_ejection *ejection;
    struct bli_slow_start *slow;           /* NULL: servers get all that is theirs at once */
    double looks_at;                       /* when the next ELIGIBILITY_TIMER is due; INFINITY: none is */
    struct list held[BLI_JOB_CLASSES_MAX]; /* by rank */
    uint32_t held_jobs;                    /* in all of them */
    struct seen *seen;                     /* NULL: servers do not offer their slots */
    /* of each server, where they do; not part of struct seen: few policies hold jobs and use it */
    struct bli_slot_request *request;
    struct bli_backlog backlog;
    uint32_t statements; /* as of a server: BACKLOG messages */
    uint8_t restarts;    /* so many until now: what was sent before is not known any longer */
};

enum power { ON, OFF, SETUP, DOWN };

/* A server that has come back and is not warm yet. */
struct cold_server {
    double since; /* NaN: it is warm */
    double begun; /* jobs that it has begun with since then */
};

struct net_server {
    struct list waiting[2]; /* by lane, up to two; an interrupted job is first */
    uint32_t running;
    uint32_t *in_slot; /* jobs in service */
    enum power power;
    uint32_t timer;      /* version of its POWER_TIMER */
    uint32_t offered;    /* slots that dispatchers have been offered and have not used */
    uint32_t statements; /* so many it has made */
    struct latency_ewma latency_ewma;
    double per_speed;
    bool fails_fast;
};

/* Of a server whose jobs share what it can do. */
struct net_sharing {
    double attained; /* what each job in service has got since the server was last idle, as of `since` */
    double since;
    uint32_t service; /* version of its COMPLETE */
    uint32_t room;    /* of in_slot */
};

struct network {
    struct system system; /* first; its dispatcher is dispatcher 0 */
    const struct bli_model *model;
    const struct bli_network *wire;
    const struct bal_policy_spec *spec;
    unsigned flags; /* of the policy */
    double now;
    bool discards;   /* servers that are off do so with jobs that reach them */
    bool takes_time; /* messages may be late or lost, so that probes must be waited for */
    double timeout, sink_time;
    struct links links;
    struct bli_arrival_source arrivals;
    struct bal_rng sizes, origins, wires, churn, stealing;
    double spare_size; /* of a job that was refused: the next one gets it; NaN: none */
    struct bli_dist standby, setup;
    /* TRACE_JOBS */
    struct bli_trace_cursor *cursor;
    struct bli_trace_job recorded;
    int64_t first;
    double seconds;
    struct bal_error *err;

    uint32_t dispatchers;
    struct dispatcher *dispatcher;
    struct net_server *net_server;
    struct cold_server *cold; /* of each server; NULL: they come back warm */
    uint32_t *slots;          /* all in_slot rows; NULL: a server works on all its jobs, and each row grows */
    uint32_t most_running;    /* jobs in service at a server */
    struct net_sharing *sharing; /* of each server; NULL: they do not share */
    struct stretch stretch;
    struct list *lane;        /* GRADED, in place of `waiting`: a row of each server, by rank */
    bool offers;              /* servers offer their free slots; else they report each of them */
    char *books;              /* what servers have offered, one after the other (network_offers.c) */
    size_t book_size;         /* bytes of each */
    uint32_t *newest_backlog; /* of each server, of each dispatcher: the number of its newest one */
    struct bal_set *everyone; /* all dispatchers */

    struct job *job;
    uint32_t jobs, free_job;
    struct job_inquiry *inquiry;
    uint32_t inquiries, free_inquiry;

    struct message *message; /* those that are to be delivered at a time of their own */
    uint32_t messages, free_message;
    struct bli_event_list events; /* of these */
    struct message *fifo;         /* those that take no time, a ring */
    uint32_t fifo_first, in_fifo, fifo_room;
    uint64_t alive;     /* jobs in the system */
    uint64_t delivered; /* messages that took time */
    bool no_memory;
    double arrives;                          /* when the next job comes */
    const struct network_observer *observer; /* NULL: no observer */
};

/* ---- network_engine.c: a run, step by step ---- */

/* A run that stands at time 0. Model, policy and run must stay where they are. */
enum bal_code bli_network_open(const struct bli_model *model, const struct bal_policy_spec *policy,
                               const struct bli_run *run, struct network **net, struct bal_error *err);
/* The next event, and all that follows from it at once. Other than BAL_OK: the run is over. */
enum bal_code bli_network_step(struct network *net);
/* Frees it. code: what the last step returned; if the run is over, handles it as bli_system_end does. */
enum bal_code bli_network_close(struct network *net, enum bal_code code, struct bli_trial *trial,
                                struct bal_error *err);

/* ---- network_engine.c: jobs and messages ---- */

uint32_t bli_network_new_job(struct network *net); /* NO_INDEX: no memory */
void bli_network_free_job(struct network *net, uint32_t job);
void bli_list_push(struct network *net, struct list *list, uint32_t job);
void bli_list_push_first(struct network *net, struct list *list, uint32_t job);
void bli_list_remove(struct network *net, struct list *list, uint32_t job);

uint32_t bli_network_grow_messages(struct network *net); /* a new one; NO_INDEX: no memory */
void bli_network_deliver_now(struct network *net, struct message message);

/* To be delivered then. Inline, as are those below, so that a message is written where it will be read. */
static inline void network_schedule(struct network *net, double time, struct message message) {
    uint32_t index = net->free_message;
    if (__builtin_expect(index == NO_INDEX, 0))
        index = bli_network_grow_messages(net);
    else
        net->free_message = net->message[index].next_free;
    if (__builtin_expect(index == NO_INDEX || !bli_event_list_add(&net->events, time, index), 0)) {
        net->no_memory = true;
        return;
    }
    net->message[index] = message;
}

/* Sends a message on a connection: it takes its time. */
static inline void network_send_reliable(struct network *net, struct message message) {
    if (__builtin_expect(net->observer != NULL, 0))
        net->observer->sends(net->observer->context, &message);
    if (net->wire->delay.mean > 0)
        network_schedule(net, net->now + bli_dist_sample(&net->wire->delay, &net->wires), message);
    else
        bli_network_deliver_now(net, message);
}

/* A datagram, which may be lost. */
static inline void network_send(struct network *net, struct message message) {
    if (net->links.loss > 0 && bal_rng_uniform(&net->wires) < net->links.loss)
        return;
    if (message.type != STEAL_REQUEST && link_is_cut(&net->links, message.dispatcher, message.server))
        return;
    network_send_reliable(net, message);
}

/* What has become of a job, to its dispatcher; it waits for the end of a cut. */
void bli_network_send_after_cut(struct network *net, uint32_t server, struct message message);
static inline void network_send_news(struct network *net, uint32_t server, struct message message) {
    if (__builtin_expect(net->links.cuts != 0, 0))
        bli_network_send_after_cut(net, server, message);
    else
        network_send_reliable(net, message);
}

/* A job is in the system but at no server, or ceases to be so. */
static inline void transit_begin(struct network *net) {
    tally_up(&net->system.tally, net->now, LEVELS - 1);
}
static inline void transit_end(struct network *net) {
    tally_down(&net->system.tally, net->now, LEVELS - 1);
}

/* ---- network_dispatcher.c ---- */

enum bal_code bli_net_dispatchers_init(struct network *net, const struct bal_policy_context *setting);
void bli_net_dispatchers_fini(struct network *net);
/* A job that is at a server from the start is its dispatcher's. */
void bli_net_dispatcher_count_own(struct network *net, uint32_t job);
/* A new job, or one that has failed elsewhere: where does it go? */
void bli_net_dispatcher_receive_job(struct network *net, uint32_t job);
void bli_net_dispatcher_receive_report(struct network *net, const struct message *message);   /* REPORT,
                                                                                                 HEARTBEAT,
                                                                                                 REPLY */
void bli_net_dispatcher_receive_response(struct network *net, const struct message *message); /* RESPONSE,
                                                                                                 FAILURE, LOST
                                                                                               */
void bli_net_dispatcher_probe_timeout(struct network *net, const struct message *message);
void bli_net_dispatcher_start_timer(struct network *net, const struct message *message);
/* It forgets all that it knew, but not the jobs that it has. */
void bli_net_dispatcher_restart(struct network *net, uint32_t dispatcher);
void bli_net_dispatcher_update_eligible(struct network *net, uint32_t dispatcher); /* which servers are open
                                                                                      now */
static inline uint32_t net_dispatcher_held(const struct dispatcher *d) {
    return d->held_jobs;
}

/* ---- network_server.c ---- */

enum bal_code bli_net_servers_init(struct network *net);
void bli_net_servers_fini(struct network *net);
/* Standby and set-up times of those that begin so. */
void bli_net_servers_start_timers(struct network *net);
/* A job that is there from the start. */
void bli_net_server_add_initial_job(struct network *net, uint32_t server, uint32_t job);
void bli_net_server_receive(struct network *net, const struct message *message); /* JOB, PROBE, WAKE, ABORT,
                                                                               MOVE, STEAL_REQUEST */
void bli_net_server_complete(struct network *net, const struct message *message);
void bli_net_server_power_timer(struct network *net, const struct message *message);
void bli_net_server_heartbeat_timer(struct network *net, uint32_t server);
void bli_net_server_fail_or_repair(struct network *net, uint32_t server); /* by its churn */
void bli_net_server_fail(struct network *net, uint32_t server);
void bli_net_server_repair(struct network *net, uint32_t server);
/* A report to one dispatcher; the present state; and the same as a heartbeat, which offers again what has not
 * been used. */
void bli_net_server_send_report(struct network *net, uint32_t server, enum bal_report what,
                                uint32_t dispatcher);
void bli_net_server_send_state(struct network *net, uint32_t server, uint32_t dispatcher);
void bli_net_server_send_heartbeat(struct network *net, uint32_t server, uint32_t dispatcher);
static inline uint32_t net_server_next_statement(struct network *net, uint32_t server) {
    return ++net->net_server[server].statements;
}
/* An idle server reports again that it is idle, at its rate. */
void bli_net_server_report_still_idle(struct network *net, uint32_t server);
bool bli_net_server_is_idle(const struct network *net, uint32_t server);

/* ---- network_sharing.c ---- */

/* Do its jobs in service share it? Those that fail fast answer each by itself. */
static inline bool net_server_shares(const struct network *net, const struct net_server *s) {
    return __builtin_expect(net->sharing != NULL, 0) && !s->fails_fast;
}
/* A COMPLETE: does the service end now, or was it foreseen before something changed? */
static inline bool net_service_ends(const struct network *net, const struct message *message) {
    return message->version == (net_server_shares(net, &net->net_server[message->server])
                                    ? net->sharing[message->server].service
                                    : net->job[message->job].version);
}
enum bal_code bli_network_sharing_init(struct network *net);
void bli_network_sharing_fini(struct network *net);
/* Room for one more job in service; false: there is no memory. */
bool bli_network_sharing_make_room(struct network *net, uint32_t server);
/* A job begins to share; it leaves. */
void bli_network_sharing_join(struct network *net, uint32_t server, uint32_t job);
void bli_network_sharing_leave(struct network *net, uint32_t server, uint32_t job);

/* ---- network_offers.c: those that return nothing have no effect where slots are not offered ---- */

enum bal_code bli_network_offers_init(struct network *net);
void bli_network_offers_fini(struct network *net);
/* So many slots are free at the start, and each has been offered to a random dispatcher, without a message.
 * Returns how many offers that are. */
uint32_t bli_network_offers_start(struct network *net, uint32_t server, uint32_t slots);
/* Slots are free: offers them by a report of that kind. */
void bli_network_offers_fill(struct network *net, uint32_t server, enum bal_report report);
/* A service is about to end: who gets the slot (NO_INDEX: that is not decided yet); and an offer of it that
 * is sent with the response, if it is the dispatcher of the job. */
uint32_t bli_network_offers_reserve(struct network *net, uint32_t server, uint32_t job,
                                    struct message *response);
/* It has ended. */
void bli_network_offers_end_reservation(struct network *net, uint32_t server, uint32_t dispatcher,
                                        bool rides);
/* A job of a dispatcher has come; a slot is in use that may have been offered; the server is not on any
 * longer. forget: it does not know any longer who has a backlog. */
void bli_network_offers_use(struct network *net, uint32_t server, uint32_t dispatcher);
void bli_network_offers_trim(struct network *net, uint32_t server);
void bli_network_offers_clear(struct network *net, uint32_t server, bool forget);
/* Its heartbeats have been sent. */
void bli_network_offers_beat(struct network *net, uint32_t server);
/* A dispatcher for a report. */
uint32_t bli_network_offers_draw(struct network *net, uint32_t server);
/* Where slots are offered: fetches into the cache what a job of a dispatcher will need at the server. */
void bli_network_offers_prefetch(const struct network *net, uint32_t server);
struct bli_offer_party *bli_network_offers_party(const struct network *net, uint32_t server,
                                                 uint32_t dispatcher);
void bli_network_offers_receive_backlog(struct network *net, const struct message *message); /* BACKLOG */
void bli_network_offers_resume(struct network *net, const struct message *message);          /* RESUME */

/* ---- network_events.c ---- */

void bli_network_events_init(struct network *net);
void bli_network_event(struct network *net, const struct message *message); /* EVENT */

/* ---- network_backlog.c ---- */

/* Jobs are held, or no longer held, or an answer has come. */
void bli_network_backlog_update(struct network *net, uint32_t dispatcher);
/* BACKLOG_TIMER; SLOT_REQUEST_TIMEOUT. */
void bli_network_backlog_timer(struct network *net, uint32_t dispatcher);
void bli_network_backlog_request_timeout(struct network *net, uint32_t dispatcher, uint32_t server);
/* Where slots are offered: a message of a server has come. */
void bli_network_backlog_server_reported(struct dispatcher *d, uint32_t server);
/* A server has been closed, or a closed one has made an offer; it is open again. */
void bli_network_backlog_server_ineligible(struct dispatcher *d, uint32_t server);
void bli_network_backlog_server_eligible(struct dispatcher *d, uint32_t server);

#endif
