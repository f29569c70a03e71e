/* The network engine from the inside: dispatchers and servers that know of each other only by messages.
 *
 * network.c advances time and carries messages, dispatcher.c is what happens at dispatchers, station.c what
 * happens at servers. A message that takes no time is delivered after what is being done now and before
 * anything later; so with one dispatcher and no delay all happens as in the event engine, to the last bit.
 *
 * A job is a record that travels: it comes to a dispatcher, perhaps waits there for replies to probes or for
 * an idle server, goes to a server, perhaps to others by moving, stealing or failing, and its response goes
 * back. Its response time is from the first moment to the last. While it is at no server it is counted as
 * waiting. */
#ifndef ENGINE_NETWORK_H
#define ENGINE_NETWORK_H

#include "base/agenda.h"
#include "engine/system.h"
#include "policy/quarantine.h"

#include <math.h>

#define NOBODY UINT32_MAX /* no job, server or dispatcher */
enum { TRIES = 4 };       /* a job that has failed so often is given up */

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
    uint32_t tries;
    uint32_t tried[TRIES]; /* servers at which it failed */
    uint8_t rank;
    bool started;
};

enum what {
    JOB,      /* a job comes to a server */
    ANSWER,   /* its response comes to the dispatcher */
    FAILURE,  /* the news that the server is gone */
    LOST,     /* the news that its buffer is full */
    REPORT,   /* of a server */
    PRESENT,  /* a heartbeat */
    PROBE,    /* to a server; job: whose inquiry, or NOBODY */
    REPLY,    /* and back */
    WAKE,     /* to a server */
    MOVE,     /* to a server: its last low job goes to `other` */
    STEAL,    /* from server `other` to server: may I have some? */
    HUNGRY,   /* a dispatcher holds so many jobs (other); 0: it has ceased to */
    COMPLETE, /* a service ends */
    TIMER,    /* standby or set-up ends */
    TIMEOUT,  /* replies are not waited for any longer */
    BEAT,     /* it is time for the heartbeat of a server */
    CHURN,    /* a server fails or returns */
    AGAIN,    /* a dispatcher looks which servers are open */
    HUNGER,   /* it is time for a dispatcher to repeat whether it holds jobs */
};

struct message {
    uint8_t what; /* enum what */
    uint8_t says; /* REPORT: enum bal_report. PRESENT: enum bal_standing. ANSWER: is it wrong? */
    uint32_t dispatcher, server;
    union {
        uint32_t job;
        uint32_t other;
    };
    union {
        uint32_t version;
        uint32_t promised; /* PRESENT: if it is idle, to another dispatcher */
        uint32_t next_free;
    };
    struct bal_reply load; /* PRESENT, REPLY, and reports of the load */
};

/* What a job has asked, and what came back. */
struct inquiry {
    uint32_t job;
    uint32_t version; /* one more each time it is used: late replies are void */
    uint32_t asked, answered;
    uint32_t *server; /* those asked, the answered ones first */
    struct bal_reply *reply;
    uint32_t next; /* free one */
};

struct list {
    uint32_t first, last, count;
};

struct network;

struct dispatcher {
    struct network *net;
    void *state;
    struct bal_fleet fleet;
    struct bal_rng rng;
    uint32_t *own;
    struct ranking ranking;      /* WEIGHED */
    struct bal_by_length by_own; /* INDEXED */
    uint32_t *length, *urgent;   /* what replies have said, where messages take time */
    double *heard;               /* of each server; kept where there are heartbeats */
    uint8_t *said; /* its last report, for when it is open again; kept where servers may be closed */
    struct bal_set *open;
    struct bal_quarantine *quarantine;
    double looks_at;     /* when the next AGAIN is due; INFINITY: none is */
    struct list held[2]; /* by rank */
    bool hungry;         /* as the servers were told */
};

enum power { ON, OFF, SETUP, DOWN };

struct station {
    struct list waiting[2]; /* by lane; an interrupted job is first */
    uint32_t running;
    uint32_t *in_slot; /* jobs in service */
    enum power power;
    uint32_t timer;  /* version of its TIMER */
    uint32_t holder; /* the dispatcher that it told last that it is idle; NOBODY: none knows */
    struct pace pace;
    double per_speed;
    bool fails_fast;
};

struct network {
    struct system system; /* first; its dispatcher is dispatcher 0 */
    const struct bal_model *model;
    const struct bal_network *wire;
    const struct bal_policy_spec *spec;
    unsigned flags; /* of the policy */
    double now;
    bool takes_time; /* messages may be late or lost, so that probes must be waited for */
    double timeout, sink_time;
    struct bal_arrival_source arrivals;
    struct bal_rng sizes, wires, churn, stealing;
    double spare_size; /* of a job that was refused: the next one gets it; NaN: none */
    struct bal_law standby, setup;
    /* RECORDED */
    struct bal_trace_cursor *cursor;
    struct bal_trace_job recorded;
    int64_t first;
    double seconds;
    struct bal_error *err;

    uint32_t dispatchers;
    struct dispatcher *dispatcher;
    struct station *station;
    uint32_t *slots;        /* all in_slot rows */
    struct bal_set *hungry; /* dispatchers, as servers know them */

    struct job *job;
    uint32_t jobs, free_job;
    struct inquiry *inquiry;
    uint32_t inquiries, free_inquiry;

    struct message *message; /* those that are to be delivered at a time of their own */
    uint32_t messages, free_message;
    struct bal_agenda agenda; /* of these */
    struct message *fifo;     /* those that take no time, a ring */
    uint32_t fifo_first, in_fifo, fifo_room;
    uint64_t alive;     /* jobs in the system */
    uint64_t delivered; /* messages that took time */
    bool no_memory;
};

/* ---- network.c: jobs and messages ---- */

uint32_t bal_network_new_job(struct network *net); /* NOBODY: no memory */
void bal_network_free_job(struct network *net, uint32_t job);
void bal_list_push(struct network *net, struct list *list, uint32_t job);
void bal_list_push_first(struct network *net, struct list *list, uint32_t job);
void bal_list_remove(struct network *net, struct list *list, uint32_t job);

uint32_t bal_network_more_messages(struct network *net); /* a new one; NOBODY: no memory */
void bal_network_now(struct network *net, struct message message);

/* To be delivered then. Inline, as are those below, so that a message is written where it will be read. */
static inline void network_at(struct network *net, double time, struct message message) {
    uint32_t index = net->free_message;
    if (__builtin_expect(index == NOBODY, 0))
        index = bal_network_more_messages(net);
    else
        net->free_message = net->message[index].next_free;
    if (__builtin_expect(index == NOBODY || !bal_agenda_add(&net->agenda, time, index), 0)) {
        net->no_memory = true;
        return;
    }
    net->message[index] = message;
}

/* Sends a message on a connection: it takes its time. */
static inline void network_send_safely(struct network *net, struct message message) {
    if (net->wire->delay.mean > 0)
        network_at(net, net->now + bal_law_sample(&net->wire->delay, &net->wires), message);
    else
        bal_network_now(net, message);
}

/* A datagram, which may be lost. */
static inline void network_send(struct network *net, struct message message) {
    if (net->wire->loss > 0 && bal_rng_uniform(&net->wires) < net->wire->loss)
        return;
    network_send_safely(net, message);
}

/* A job is in the system but at no server, or ceases to be so. */
static inline void network_afloat(struct network *net) {
    tally_up(&net->system.tally, net->now, LEVELS - 1);
}
static inline void network_ashore(struct network *net) {
    tally_down(&net->system.tally, net->now, LEVELS - 1);
}

/* ---- dispatcher.c ---- */

enum bal_code bal_dispatchers_init(struct network *net, const struct bal_setting *setting);
void bal_dispatchers_fini(struct network *net);
/* A job that is at a server from the start is its dispatcher's. */
void bal_dispatcher_own(struct network *net, uint32_t job);
/* A new job, or one that has failed elsewhere: where does it go? */
void bal_dispatcher_take(struct network *net, uint32_t job);
void bal_dispatcher_told(struct network *net, const struct message *message);   /* REPORT, PRESENT, REPLY */
void bal_dispatcher_answer(struct network *net, const struct message *message); /* ANSWER, FAILURE, LOST */
void bal_dispatcher_timeout(struct network *net, const struct message *message);
void bal_dispatcher_look(struct network *net, uint32_t dispatcher);   /* which servers are open now */
void bal_dispatcher_hunger(struct network *net, uint32_t dispatcher); /* what it holds, said again */

/* ---- station.c ---- */

enum bal_code bal_stations_init(struct network *net);
void bal_stations_fini(struct network *net);
/* Standby and set-up times of those that begin so. */
void bal_stations_first_timers(struct network *net);
/* A job that is there from the start. */
void bal_station_begin(struct network *net, uint32_t server, uint32_t job);
void bal_station_told(struct network *net, const struct message *message); /* JOB, PROBE, WAKE, MOVE, STEAL */
void bal_station_complete(struct network *net, const struct message *message);
void bal_station_timer(struct network *net, const struct message *message);
void bal_station_beat(struct network *net, uint32_t server);
void bal_station_churn(struct network *net, uint32_t server);
/* A dispatcher has said that it holds so many jobs: idle servers whose token lies elsewhere answer. */
void bal_stations_feed(struct network *net, uint32_t dispatcher, uint32_t held);
/* An idle server says so again, at its rate. */
void bal_station_still_idle(struct network *net, uint32_t server);
bool bal_station_is_idle(const struct network *net, uint32_t server);

#endif
