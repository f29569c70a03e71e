/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the event engine, and what its parts share.
 *
 * event.c is the loop; event_server.h is what happens at a server; event_sharing.h at one that works on all
 * its jobs at once; event_stealing.h how servers steal; event_work.c knows the work that is left at each,
 * event_timers.c when servers switch off and on and idle ones report, event_backlog.c which jobs wait at the
 * dispatcher, event_failure.c what becomes of jobs whose server fails for
 * good, and event_repair.c of those whose server is repaired.
 */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include "base/heap.h"
#include "base/tournament.h"
#include "engine/calendar.h"
#include "engine/patience.h"
#include "engine/stretch.h"
#include "engine/system.h"

enum { ARRIVAL, LEFT, WORDS }; /* the words of a queued job; LEFT is the work that is left of it */

/* The jobs that the dispatcher holds, in a circle. */
struct held_job {
    double arrival, size;
};
struct backlog {
    uint32_t most, first, count;
    struct held_job *job;
};

struct event_engine {
    struct system system;            /* first: the policy's view of the fleet points to it */
    struct bli_calendar completions; /* of each busy server, or slot */
    double next_prefetch;            /* PREFETCH: when to fetch what coming completions will look at */
    struct bli_arrival_source arrivals;
    struct bal_rng sizes;
    const struct bli_dist *dist;
    double *per_speed; /* 1 / speed of each server; NULL when all are 1 */
    double *since;     /* when the service of the current job began or went on (CLASS_QUEUES) */
    /* TRACE_JOBS */
    struct bli_trace_cursor *cursor;
    struct bli_trace_job recorded; /* the next job; of size 0: there is none */
    int64_t first;                 /* time 0 */
    double seconds;                /* that a nanosecond between arrivals takes: 1e-9 / speedup */
    struct bal_error *err;
    /* for policies that use the remaining work */
    double *free_at;              /* when each slot will have finished what it has; below 0: is idle */
    struct bli_tournament *least; /* by free_at, that of the first slot to be free */
    /* for policies that switch servers off */
    struct bli_heap timers; /* ends of standby and of set-up */
    struct bli_dist standby, setup;
    /* RARE */
    struct bli_heap reports; /* when each idle server reports next */
    struct bli_dist report_gap;
    struct backlog backlog;
    struct sharing *sharing; /* PROCESSOR_SHARING: of each server */
    struct stretch stretch;
    /* FAIL_STOP */
    double fails_at;          /* INFINITY: it has happened */
    struct bal_set *eligible; /* the servers that are left */
    struct patience patience; /* ABANDONMENT */
    double endures;           /* so long the job that has just come is going to wait */
    struct repairs *repairs;  /* REPAIRABLE */
    /* STEALING */
    struct bal_rng stealing;
    const struct bal_steal *steal;
    bool others;
    double now;
};

static inline double service_duration(const struct event_engine *event, uint32_t server, double size) {
    return event->per_speed ? size * event->per_speed[server] : size;
}

/* ---- the work that is left ---- */

/* For policies that use it. reference: without an index of the least. */
enum bal_code bli_event_set_up_work(struct event_engine *event, bool reference);

static inline bool knows_work(const struct event_engine *event) {
    return event->free_at != NULL;
}

/* A job arrives at a server; a slot of it has become free; recounts its work after jobs have been taken or
 * added. */
void bli_event_add_work(struct event_engine *event, uint32_t server, double now, double size);
void bli_event_end_work(struct event_engine *event, uint32_t server, double now);
void bli_event_recount_work(struct event_engine *event, uint32_t server, double now, uint32_t words);

/* ---- timers ---- */

enum bal_code bli_event_set_up_timers(struct event_engine *event, const struct bli_model *model);
/* Servers whose standby or set-up ends before the next event switch off or come on. */
enum bal_code bli_event_run_timers(struct event_engine *event, double until);

/* Reports of idle servers at the times of renewal processes, each of which begins when its server becomes
 * idle. Where jobs wait at the dispatcher, also Poisson processes: it must know of each report at once. */
enum bal_code bli_event_set_up_reports(struct event_engine *event, const struct bli_model *model);
enum bal_code bli_event_run_reports(struct event_engine *event, double until);

/* ---- jobs that wait at the dispatcher ---- */

enum bal_code bli_event_set_up_backlog(struct event_engine *event, uint32_t most);
/* A job has arrived. */
enum bal_code bli_event_route_or_hold(struct event_engine *event, double now);
/* Servers have reported: jobs that wait go where the policy now sends them. */
enum bal_code bli_event_send_held(struct event_engine *event, double now);

/* ---- failure ---- */

enum bal_code bli_event_set_up_failure(struct event_engine *event, const struct bli_run *run);
/* All servers that are to fail do so, and their jobs are dispatched to those that are left. */
enum bal_code bli_event_fail_servers(struct event_engine *event, double now, unsigned features);

/* ---- failures and repairs ---- */

/* REPAIRABLE. Reports to the policy which servers are up, unless failures are not seen. */
struct repairs {
    const struct bli_failures *how;
    struct bal_rng rng;
    struct bli_heap changes; /* when each server fails next, or is back */
    struct bal_set *down;
    uint32_t *held; /* of a server that is down: jobs in its slots that go on when it is back */
};

enum bal_code bli_event_set_up_repairs(struct event_engine *event, const struct bli_model *model);
void bli_event_fini_repairs(struct event_engine *event);
/* A server fails, or is back. */
enum bal_code bli_event_change_server(struct event_engine *event, double now, unsigned features);

static inline bool is_down(const struct event_engine *event, uint32_t server, unsigned features) {
    return features & REPAIRABLE && bal_set_contains(event->repairs->down, server);
}

/* When that happens next. */
static inline double next_change(const struct event_engine *event) {
    return event->repairs->changes.slot[0].time;
}

#endif
