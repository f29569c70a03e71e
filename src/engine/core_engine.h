/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine live-core: dispatchers and stations of the live core, the code that runs inside nginx, in
 * simulated time. No rule of the protocol is here; what is here is what surrounds the core: time, the
 * network, clients and apps.
 *
 * core_engine.c advances time, carries datagrams and measures; core_hosts.c makes the blocks of dispatchers
 * and stations, and makes them again when they restart; core_jobs.c follows a job: to its dispatcher, to a
 * station, perhaps to another one, and back. Arrivals, sizes and classes are those of the other engines.
 *
 * A mean service time is a second to the core, in nanoseconds of its own clock. Blocks have room for a number
 * of jobs; when that does not suffice the run begins again with more of it, and gives the same results as if
 * it had begun so. */
#ifndef ENGINE_CORE_ENGINE_H
#define ENGINE_CORE_ENGINE_H

#include "ballast/live/dispatcher.h"
#include "ballast/live/station.h"
#include "base/event_list.h"
#include "engine/engine.h"
#include "engine/links.h"
#include "engine/system.h"

#define NO_CORE UINT32_MAX /* no job, event, parcel or server */

/* What a measurement wants to know that no metric tells, since the warm-up. */
struct bli_core_counts {
    double since;                 /* when it ended */
    uint64_t datagrams, received; /* received: by dispatchers */
    uint64_t rides;               /* offers that came with a response and cost no datagram */
    uint64_t arrived, held;       /* jobs; held: at a dispatcher, for a while */
    size_t block;                 /* bytes of a dispatcher */
};

struct bli_core_options {
    double gap; /* so seldom a dispatcher wants heartbeats on average; 0: each station sends its own */
    struct bli_core_counts *counts; /* filled in; may be NULL */
    /* Dispatcher 0 begins, or ends, to work; may be NULL. */
    void (*works)(void *context, bool begins);
    void *context;
};

/* As bli_engine_core. */
enum bal_code bli_core_measure(const struct bli_model *model, const struct bal_policy_spec *policy,
                               const struct bli_run *run, const struct bli_core_options *options,
                               struct bli_trial *trial, struct bal_error *err);

/* Where a job is. Those on their way to a station, and to a dispatcher, are at none. */
enum core_place {
    AT_DISPATCHER, /* it is held, or waits for replies */
    TO_STATION,    /* that its dispatcher has chosen */
    AT_STATION,
    PASSED_ON, /* by that one, to another one */
    AT_GUEST,  /* there */
    PASSED_BACK,
    TO_DISPATCHER,
};

struct core_job {
    double arrival, size;
    uint64_t ticket, station_ticket, guest_ticket;
    uint64_t boot; /* of its dispatcher, when that got to know it; 0: it does not know it */
    uint32_t next_free;
    uint32_t version; /* of what happens to it next: what was foreseen before is void */
    uint32_t dispatcher;
    uint32_t station, guest; /* guest: the station it was passed to; NO_CORE: none */
    uint32_t failures;       /* servers at which it has failed */
    uint8_t rank;
    uint8_t place; /* enum core_place */
    bool alive, started;
    bool running; /* in a slot */
    bool offers;  /* its response comes with an offer: */
    struct bal_message offer;
};

enum core_event_type {
    DATAGRAM,       /* comes to a host */
    JOB_COMES,      /* to a station */
    JOB_ENDS,       /* its service */
    JOB_PASSED,     /* the response of the station that it was passed to */
    JOB_RETURNED,   /* that station could not be reached */
    JOB_ANSWERED,   /* the response is at the dispatcher */
    JOB_FAILED,     /* the news that there will be none is there */
    TIMERS,         /* of a host */
    FAILS_RETURNS,  /* a server, by its churn */
    PLANNED_CHANGE, /* enum event_part */
};

struct core_event {
    uint8_t type; /* enum core_event_type */
    uint8_t part; /* PLANNED_CHANGE */
    uint32_t host;
    uint32_t job; /* DATAGRAM: its parcel; PLANNED_CHANGE: which event */
    union {
        uint32_t version; /* of a job */
        uint32_t next_free;
    };
};

/* A message under way, to so many receivers. */
struct core_parcel {
    uint32_t receivers, next_free;
    struct bal_message message;
};

/* A dispatcher, or behind all of them a station. */
struct core_host {
    union {
        struct bal_dispatcher *dispatcher;
        struct bal_station *station;
        void *view;
    };
    void *block;
    uint32_t *job; /* of each place of its ledger */
    uint64_t timers_at, boot;
    bool down;
};

/* A server that has come back and is not warm yet. */
struct core_app {
    double cold_since; /* NaN: it is warm */
    double begun;      /* jobs that it has begun with since then */
    double per_speed;
    bool fails_fast;
};

/* Jobs for which there is room: under way at each dispatcher, and waiting at each station. */
struct core_room {
    uint32_t requests, queue;
};

struct core {
    struct system system; /* first */
    const struct bli_model *model;
    const struct bli_network *wire;
    const struct bal_policy_spec *spec;
    const struct bli_core_options *options;
    double now;            /* a whole number of ns, as all times of events */
    uint64_t clock, begun; /* of the core, and at time 0 */
    double scale;          /* ns in a unit of time */
    uint32_t dispatchers, servers;
    struct bal_dispatcher_config dispatcher_config;
    struct bal_station_config station_config;
    uint32_t station_places; /* of its ledger */
    struct core_host *host;
    struct core_app *app;
    struct core_job *job;
    struct core_event *event;
    struct core_parcel *parcel;
    uint32_t jobs, free_job, events, free_event, parcels, free_parcel;
    struct bli_event_list agenda; /* by ns since time 0 */
    uint64_t handled;
    struct links links;
    struct bli_arrival_source arrivals;
    struct bal_rng sizes, origins, wires, churn;
    double spare_size; /* of a job that was refused: the next one gets it; NaN: none */
    double arrival;    /* when the next job comes, ... */
    double arrives;    /* ... in ns */
    double timeout, fail_fast_time;
    bool no_memory;
    struct core_room room;
    bool no_requests, no_queue; /* there is too little of that */
    uint32_t probing_rank;      /* of the job whose dispatcher works; for the probes of each class */
    bool counting;
    struct bli_core_counts counts;
};

enum {
    DISPATCHER_ID = 1,
    STATION_ID = 1 << 16,
    CORE_TRIES = 4, /* a job that has failed so often is given up */
    BLI_CORE_REQUESTS_MAX = 1 << 24,
};

/* ---- core_engine.c ---- */

/* After so much time from now, which is not below 0. */
void bli_core_schedule(struct core *core, double after, struct core_event event);
void bli_core_flush(struct core *core, uint32_t host); /* after every operation of a host */

static inline double core_delay(struct core *core) {
    return core->wire->delay.mean > 0 ? bli_dist_sample(&core->wire->delay, &core->wires) : 0;
}

static inline uint32_t core_station(const struct core *core, uint32_t server) {
    return core->dispatchers + server;
}

/* A job is in the system but at no station, or ceases to be so. */
static inline void core_transit_begin(struct core *core) {
    tally_up(&core->system.tally, core->now, LEVELS - 1);
}
static inline void core_transit_end(struct core *core) {
    tally_down(&core->system.tally, core->now, LEVELS - 1);
}

/* ---- core_hosts.c ---- */

/* The room that suffices for most models. */
struct core_room bli_core_first_room(const struct bli_model *model);
/* The blocks that the model needs, with that room. */
enum bal_code bli_core_configure(struct core *core, const struct core_room *room, struct bal_error *err);
enum bal_code bli_core_hosts_init(struct core *core, struct bal_error *err);
void bli_core_hosts_fini(struct core *core);
void bli_core_restart_dispatcher(struct core *core, uint32_t dispatcher);
void bli_core_server_fails(struct core *core, uint32_t server);
void bli_core_server_returns(struct core *core, uint32_t server);

/* ---- core_jobs.c ---- */

uint32_t bli_core_new_job(struct core *core); /* it is alive and in transit; NO_CORE: no memory */
void bli_core_job_arrives(struct core *core, uint32_t job); /* at its dispatcher, which does not know it */
void bli_core_job_event(struct core *core, const struct core_event *event);
/* Decisions on jobs that have waited. */
void bli_core_read_decisions(struct core *core, uint32_t host);
/* What a failing server does to the jobs that it has, or has passed on. */
void bli_core_fail_jobs(struct core *core, uint32_t server);

#endif
